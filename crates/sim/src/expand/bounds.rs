//! What values may be, for the checks of links and applications. Each error names the field as the user wrote it.

use std::fmt::Display;

use tcp::units::Span;

use crate::scenario::{PeriodDef, ScenarioError, join};

/// Most points of a list of rates or delays.
pub(super) const MAX_POINTS: usize = 100_000;
/// Longest time of a scenario.
pub(super) const LONGEST: Span = Span::from_millis(10_000_000_000);

/// The error of a value that is not what is `allowed`.
pub(super) fn refuse(path: &str, field: &str, value: impl Display, allowed: &str) -> ScenarioError {
    ScenarioError::new(join(path, field), format!("{value} is not {allowed}"))
}

/// Refuses a time out of its range.
pub(super) fn span_within(path: &str, field: &str, span: Span, least: Span, most: Span) -> Result<(), ScenarioError> {
    let allowed = format!("a time from {least} to {most}");
    if (least..=most).contains(&span) { Ok(()) } else { Err(refuse(path, field, span, &allowed)) }
}

/// Refuses what is not a probability.
pub(super) fn probability(path: &str, field: &str, p: f64) -> Result<(), ScenarioError> {
    if (0.0..=1.0).contains(&p) { Ok(()) } else { Err(refuse(path, field, p, "a probability from 0 to 1")) }
}

/// Checks a distribution of periods.
pub(super) fn check_period(period: &PeriodDef, path: &str) -> Result<(), ScenarioError> {
    let (field, mean, shape) = match period {
        PeriodDef::Constant(constant) => ("length", constant.length, 2.0),
        PeriodDef::Exponential(exponential) => ("mean", exponential.mean, 2.0),
        PeriodDef::Pareto(pareto) => ("mean", pareto.mean, pareto.shape),
    };
    if mean == Span::ZERO {
        return Err(ScenarioError::new(join(path, field), "a period must be longer than 0s"));
    }
    if shape <= 1.0 || shape > 100.0 {
        return Err(ScenarioError::new(
            join(path, "shape"),
            format!("{shape} is not above 1 and up to 100: no mean exists"),
        ));
    }
    Ok(())
}

/// Nothing stands where the contents of a file would.
pub(super) fn no_contents(place: &str, key: &str, file: Option<&str>) -> ScenarioError {
    match file {
        Some(name) => {
            let message = format!("{name:?} has not been read; the Python package does that and gives {key}");
            ScenarioError::new(join(place, "file"), message)
        }
        None => ScenarioError::new(join(place, key), "is missing or empty").with_hint(format!("give file or {key}")),
    }
}
