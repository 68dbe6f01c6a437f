//! From the description of a radio to the rules and the medium of its stations.

pub(crate) mod dcf;
pub(crate) mod lrwpan;
mod parts;

use super::propagation::RadioRange;
use crate::scenario::{RadioDef, ScenarioError, Standard, join};

/// Fills in what a radio leaves to its profile; errors start at `path`.
pub(crate) fn with_defaults(def: &RadioDef, path: &str) -> Result<RadioDef, ScenarioError> {
    if def.standard == Some(Standard::Lrwpan) {
        return lrwpan::with_defaults(def, path);
    }
    if def.lrwpan.is_some() {
        let error = ScenarioError::new(join(path, "lrwpan"), "is of 802.15.4");
        return Err(error.with_hint("write standard = \"802.15.4\" beside it, or leave it out"));
    }
    dcf::with_defaults(def, path)
}

/// Who can read whom, with a filled-in radio of any standard.
pub(crate) fn range(def: &RadioDef) -> RadioRange {
    if def.standard == Some(Standard::Lrwpan) { lrwpan::build(def).range() } else { dcf::build(def).range() }
}
