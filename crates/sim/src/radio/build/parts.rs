//! What radios of both standards have in common: propagation, energy, and the checks of their options.

use crate::radio::energy::{EnergyModel, RxCriterion};
use crate::radio::profiles::consumption;
use crate::radio::propagation::Propagation;
use crate::radio::receiver::Reception;
use crate::scenario::{Consumption, EnergyDef, EnergyProfile, PropagationDef, RadioDef, ScenarioError, join};

/// The energy model with the defaults of its profile, or of `own` if it names none.
pub(super) fn energy_with_defaults(def: &EnergyDef, own: EnergyProfile) -> EnergyDef {
    let profile = def.profile.unwrap_or(own);
    let [tx, rx, idle] = consumption(profile).watts;
    EnergyDef {
        profile: Some(profile),
        tx: def.tx.or(Some(Consumption(tx))),
        rx: def.rx.or(Some(Consumption(rx))),
        idle: def.idle.or(Some(Consumption(idle))),
        initial: def.initial,
    }
}

/// The energy model that a definition with defaults describes.
pub(super) fn energy_model(def: &EnergyDef, reception: Reception) -> EnergyModel {
    let watts = |draw: Option<Consumption>| draw.expect("filled-in energy has powers").0;
    // Signals count from the carrier-sense threshold on, where there is one, elsewhere from the sensitivity on.
    let min_power = match reception {
        Reception::Capture { carrier_sense, .. } | Reception::Addressed { carrier_sense, .. } => carrier_sense,
        Reception::Sinr { sensitivity, .. } | Reception::Errors { sensitivity, .. } => sensitivity,
    };
    let counts_signals = def.profile.is_some_and(|profile| consumption(profile).counts_signals);
    EnergyModel {
        rx_criterion: if counts_signals { RxCriterion::Signals { min_power } } else { RxCriterion::Frames },
        tx: watts(def.tx),
        rx: watts(def.rx),
        idle: watts(def.idle),
        initial: def.initial.map(|energy| energy.0),
    }
}

/// Checks the options that radios of both standards have.
pub(super) fn check(def: &RadioDef, path: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: String| Err(ScenarioError::new(join(path, field), message));
    if let Some(range) = def.max_range.filter(|range| range.0 <= 0.0) {
        return fail("max_range", format!("{range} is not above 0m"));
    }
    if let Some(multiplier) = def.range_multiplier.filter(|m| !(0.01..=100.0).contains(m)) {
        return fail("range_multiplier", format!("{multiplier} is not from 0.01 to 100"));
    }
    if let Some(p) = def.frame_error.filter(|p| !(0.0..=1.0).contains(p)) {
        return fail("frame_error", format!("{p} is not from 0 to 1"));
    }
    if def.queue_limit == Some(0) {
        return fail("queue_limit", "0 would hold nothing; at least 1".into());
    }
    if def.short_retries == Some(0) || def.long_retries == Some(0) {
        let field = if def.short_retries == Some(0) { "short_retries" } else { "long_retries" };
        return fail(field, "0 attempts would send nothing; at least 1".into());
    }
    match def.propagation {
        Some(PropagationDef::Range(range)) if range.distance.0 <= 0.0 => {
            fail("propagation.distance", format!("{} is not above 0m", range.distance))
        }
        Some(PropagationDef::TwoRay(two_ray)) if two_ray.antenna_height.0 <= 0.0 => {
            fail("propagation.antenna_height", format!("{} is not above 0m", two_ray.antenna_height))
        }
        Some(PropagationDef::LogDistance(log)) if !(1.0..=10.0).contains(&log.exponent) => {
            fail("propagation.exponent", format!("{} is not from 1 to 10", log.exponent))
        }
        _ => Ok(()),
    }
}

/// The propagation that a definition with defaults describes.
pub(super) fn propagation(def: &RadioDef, speed_of_light: f64) -> Propagation {
    let power = def.power.expect("a filled-in radio has a power").0;
    let frequency = def.frequency.expect("a filled-in radio has a frequency").0;
    let model = def.propagation.expect("a filled-in radio has a propagation");
    let multiplier = def.range_multiplier.unwrap_or(1.0);
    Propagation::new(&model, power, frequency, speed_of_light).scaled(multiplier, def.max_range)
}
