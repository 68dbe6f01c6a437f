//! From the definition of a radio in a scenario to the parameters of its MAC and medium.

pub(crate) mod dcf;
pub(crate) mod lrwpan;
mod parts;
mod sensitivity;

use super::propagation::RadioRange;
use crate::scenario::{RadioDef, ScenarioError, Standard, join};

/// The definition of a radio with the defaults of its profile; errors start at `path`.
pub(crate) fn with_defaults(def: &RadioDef, path: &str) -> Result<RadioDef, ScenarioError> {
    if def.standard == Some(Standard::Lrwpan) {
        return lrwpan::with_defaults(def, path);
    }
    if def.lrwpan.is_some() {
        let error = ScenarioError::new(join(path, "lrwpan"), "applies to 802.15.4 only");
        return Err(error.with_hint("write standard = \"802.15.4\" beside it, or leave it out"));
    }
    dcf::with_defaults(def, path)
}

/// The range within which data frames are readable, from a definition with defaults.
pub(crate) fn range(def: &RadioDef) -> RadioRange {
    if def.standard == Some(Standard::Lrwpan) { lrwpan::build(def).range() } else { dcf::build(def).range() }
}
