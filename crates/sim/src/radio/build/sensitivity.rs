//! 802.11: the power from which frames are readable, by rate, and from which the medium is busy.
//!
//! OFDM: the minima of IEEE 802.11-2016 (table 17-18; of 802.11n table 19-23), from -82 to -64 dBm, assume a noise figure of 10 dB and
//! 5 dB for the implementation. The radio of the profiles has a noise figure of 7 dB, and so 3 dB less. Data sheets have the same 17 dB
//! between 6 and 54 Mb/s: Alpha WUSN24 -82 to -65, Hirschmann BAT-R -94 to -77 dBm.
//!
//! DSSS and CCK, for which the standard has but two minima: data sheet of the Acer MPCI-101 (Agere), over its full range of temperature,
//! frames of 1024 B, FER of 8 %; its carrier detection is set below -95 dBm.

use std::collections::BTreeMap;

use tcp::units::Rate;

use crate::radio::profiles::{DCF, DCF_NOISE_DBM, DCF_PREAMBLE_DETECTION_DB};
use crate::scenario::{Power, RadioDef, ScenarioError, SensitivityDef, Standard, join};

/// A rate in kb/s, and the power that it needs, dBm.
const CCK: [(u64, f64); 4] = [(1_000, -89.0), (2_000, -86.0), (5_500, -83.0), (11_000, -80.0)];
const OFDM: [(u64, f64); 8] = [
    (6_000, -85.0),
    (9_000, -84.0),
    (12_000, -82.0),
    (18_000, -80.0),
    (24_000, -77.0),
    (36_000, -73.0),
    (48_000, -69.0),
    (54_000, -68.0),
];
const HT: [(u64, f64); 8] = [
    (6_500, -85.0),
    (13_000, -82.0),
    (19_500, -80.0),
    (26_000, -77.0),
    (39_000, -73.0),
    (52_000, -69.0),
    (58_500, -68.0),
    (65_000, -67.0),
];
/// Carrier detection of DSSS and CCK.
const CARRIER_DETECT_DBM: f64 = -95.0;

/// The definition with both thresholds; `rates` are those of the standard, control frames included. Errors start at `path`.
pub(super) fn with_thresholds(
    def: RadioDef,
    (standard, rates): (Standard, &[Rate]),
    path: &str,
) -> Result<RadioDef, ScenarioError> {
    let own = DCF.sensitivity[def.profile].map(super::super::profiles::Level::power);
    let of_standard = |rate: &Rate| own.unwrap_or_else(|| Power::from_dbm(typical(rate.as_bps() / 1000)));
    let sensitivity = match &def.sensitivity {
        Some(SensitivityDef::All(power)) => SensitivityDef::All(*power),
        Some(SensitivityDef::ByRate(given)) => {
            let mut all: BTreeMap<String, Power> =
                rates.iter().map(|rate| (rate.to_string(), of_standard(rate))).collect();
            for (name, power) in given {
                let rate: Option<Rate> = name.parse().ok().filter(|rate| rates.contains(rate));
                let Some(rate) = rate else {
                    let known: Vec<String> = rates.iter().map(|rate| format!("\"{rate}\"")).collect();
                    let message = format!("{name} is not a rate of this standard; known: {}", known.join(", "));
                    return Err(ScenarioError::new(join(path, &format!("sensitivity.{name}")), message));
                };
                all.insert(rate.to_string(), *power);
            }
            SensitivityDef::ByRate(all)
        }
        None => own.map_or_else(
            || SensitivityDef::ByRate(rates.iter().map(|rate| (rate.to_string(), of_standard(rate))).collect()),
            SensitivityDef::All,
        ),
    };
    let detection = match standard {
        Standard::Dsss | Standard::B => CARRIER_DETECT_DBM,
        // A preamble is detected from this SINR on.
        _ => DCF_NOISE_DBM + DCF_PREAMBLE_DETECTION_DB,
    };
    let cca = DCF.cca_threshold[def.profile].map(super::super::profiles::Level::power);
    let cca_threshold = def.cca_threshold.or(cca).or(Some(Power::from_dbm(detection)));
    Ok(RadioDef { sensitivity: Some(sensitivity), cca_threshold, ..def })
}

/// The sensitivity at a rate, dBm.
fn typical(kbps: u64) -> f64 {
    let known = CCK.iter().chain(&OFDM).chain(&HT).find(|(rate, _)| *rate == kbps);
    known.expect("the rates of the tables have a sensitivity").1
}

/// The sensitivity of a filled-in radio at a rate, watts.
pub(super) fn at(def: &RadioDef, rate: Rate) -> f64 {
    match def.sensitivity.as_ref().expect("a filled-in radio has a sensitivity") {
        SensitivityDef::All(power) => power.0,
        SensitivityDef::ByRate(all) => all[&rate.to_string()].0,
    }
}
