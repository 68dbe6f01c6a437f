//! 802.11: defaults of a radio by profile, and the parameters of its MAC and medium.

use tcp::units::{Bytes, Rate, Span};

use super::{parts, sensitivity};
use crate::mobility::Track;
use crate::radio::dcf::rate_control::RateControl;
use crate::radio::dcf::rules::DcfRules;
use crate::radio::energy::EnergyModel;
use crate::radio::errors::{Code, Mode, PhyHeader, RateMode};
use crate::radio::medium::Medium;
use crate::radio::phy::{Coding, Phy, is_ht};
use crate::radio::profiles::{BasicRates, ControlRate, DCF, DataRate, linear};
use crate::radio::propagation::{Propagation, RadioRange};
use crate::scenario::{Frequency, Preamble, RadioDef, RateControlDef, ScenarioError, Standard, join};

/// Parameters of an 802.11 channel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DcfRadio {
    pub(crate) rules: DcfRules,
    pub(crate) propagation: Propagation,
    /// Watts below which signals are ignored.
    pub(crate) floor: f64,
    /// Metres per second.
    pub(crate) speed_of_light: f64,
    /// Energy model of a station, if any.
    pub(crate) energy: Option<EnergyModel>,
}

impl DcfRadio {
    /// The range within which data frames are readable.
    pub(crate) fn range(&self) -> RadioRange {
        RadioRange::new(self.propagation, self.rules.min_rx_power())
    }

    /// The medium of stations on these tracks.
    pub(crate) fn medium(&self, tracks: Vec<Track>) -> Medium {
        Medium::new(self.propagation, self.floor, self.speed_of_light, tracks)
    }
}

/// A rate in kb/s, the SINR in dB at which half of all frames of 1536 B survive, and the modulation.
type Row = (u64, f64, Mode);

const fn ofdm(points: u32, code: Code) -> Mode {
    Mode::Ofdm { points, code }
}

const OFDM: [Row; 8] = [
    (6_000, 3.43, ofdm(2, Code::Half)),
    (9_000, 6.29, ofdm(2, Code::ThreeQuarters)),
    (12_000, 6.44, ofdm(4, Code::Half)),
    (18_000, 9.30, ofdm(4, Code::ThreeQuarters)),
    (24_000, 12.92, ofdm(16, Code::Half)),
    (36_000, 16.02, ofdm(16, Code::ThreeQuarters)),
    (48_000, 20.76, ofdm(64, Code::TwoThirds)),
    (54_000, 22.00, ofdm(64, Code::ThreeQuarters)),
];
const CCK: [Row; 4] =
    [(1_000, -4.0, Mode::Dbpsk), (2_000, 1.0, Mode::Dqpsk), (5_500, 5.7, Mode::Cck5), (11_000, 10.0, Mode::Cck11)];

/// HtMcs0 to HtMcs7: one spatial stream, 20 MHz, guard interval of 800 ns.
const HT: [Row; 8] = [
    (6_500, 3.43, ofdm(2, Code::Half)),
    (13_000, 6.44, ofdm(4, Code::Half)),
    (19_500, 9.30, ofdm(4, Code::ThreeQuarters)),
    (26_000, 12.92, ofdm(16, Code::Half)),
    (39_000, 16.02, ofdm(16, Code::ThreeQuarters)),
    (52_000, 20.76, ofdm(64, Code::TwoThirds)),
    (58_500, 22.00, ofdm(64, Code::ThreeQuarters)),
    (65_000, 23.16, ofdm(64, Code::FiveSixths)),
];

/// The rates of data frames.
fn table(standard: Standard) -> &'static [Row] {
    match standard {
        Standard::Dsss => &CCK[..2],
        Standard::B => &CCK,
        Standard::A | Standard::G => &OFDM,
        Standard::N => &HT,
        Standard::Lrwpan => unreachable!("802.15.4 is built elsewhere"),
    }
}

/// The rates of broadcasts and control frames: those of 802.11n are not HT.
fn control_table(standard: Standard) -> &'static [Row] {
    if standard == Standard::N { &OFDM } else { table(standard) }
}

/// The rates of all frames.
fn all_rates(standard: Standard) -> Vec<Rate> {
    let control = control_table(standard).iter().filter(|_| standard == Standard::N);
    table(standard).iter().chain(control).map(|(rate, ..)| kbps(*rate)).collect()
}

/// The basic rate set, kb/s.
fn basic_rates(standard: Standard) -> &'static [u64] {
    match standard {
        Standard::Dsss | Standard::B => &[1_000, 2_000],
        Standard::A | Standard::G | Standard::N => &[6_000, 12_000, 24_000],
        Standard::Lrwpan => unreachable!("802.15.4 is built elsewhere"),
    }
}

fn kbps(rate: u64) -> Rate {
    Rate::from_bps(rate * 1000).expect("the rates of the tables are above zero")
}

/// The definition of an 802.11 radio with the defaults of its profile; errors start at `path`.
pub(super) fn with_defaults(def: &RadioDef, path: &str) -> Result<RadioDef, ScenarioError> {
    let profile = def.profile;
    let standard = def.standard.unwrap_or(DCF.standard[profile]);
    let filled = RadioDef {
        profile,
        standard: Some(standard),
        rate_control: def.rate_control.or(Some(RateControlDef::Fixed)),
        preamble: def.preamble.or(Some(Preamble::Long)),
        rts_threshold: def.rts_threshold.or(Some(DCF.rts_threshold[profile])),
        short_retries: def.short_retries.or(Some(7)),
        long_retries: def.long_retries.or(Some(4)),
        queue_limit: def.queue_limit.or(Some(DCF.queue_limit[profile])),
        queue_lifetime: def.queue_lifetime.or(DCF.queue_lifetime[profile]).or(msdu_lifetime(standard)),
        propagation: def.propagation.or(Some(DCF.propagation[profile])),
        max_range: def.max_range,
        power: def.power.or(Some(DCF.power[profile].power())),
        frequency: def.frequency.or(DCF.frequency[profile]).or(Some(band(standard))),
        frame_error: def.frame_error,
        aggregation: def.aggregation.or((standard == Standard::N).then_some(true)),
        range_multiplier: def.range_multiplier.or(Some(1.0)),
        energy: def.energy.map(|energy| parts::energy_with_defaults(&energy, DCF.energy[profile])),
        arp: def.arp.or(Some(DCF.arp[profile])),
        lrwpan: None,
        ..with_rates(def, standard)
    };
    let filled = sensitivity::with_thresholds(filled, (standard, &all_rates(standard)), path)?;
    check_rates(&filled, standard, path)?;
    check_ht(def, standard, path)?;
    parts::check(&filled, path)?;
    Ok(filled)
}

/// The definition with its three rates.
fn with_rates(def: &RadioDef, standard: Standard) -> RadioDef {
    let rates = table(standard);
    let adapts = matches!(def.rate_control, Some(RateControlDef::Arf | RateControlDef::Aarf));
    let highest = adapts || DCF.data_rate[def.profile] == DataRate::Highest;
    let data_rate = def.data_rate.unwrap_or(kbps(rates[if highest { rates.len() - 1 } else { 0 }].0));
    let basic_rate = def.basic_rate.unwrap_or(kbps(control_table(standard)[0].0));
    let up_to_data = basic_rates(standard).iter().map(|rate| kbps(*rate)).filter(|rate| *rate <= data_rate);
    let control_rate = match DCF.control_rate[def.profile] {
        ControlRate::UpToData => up_to_data.max().unwrap_or(basic_rate),
        ControlRate::Basic => basic_rate,
    };
    RadioDef {
        data_rate: Some(data_rate),
        control_rate: def.control_rate.or(Some(control_rate)),
        basic_rate: Some(basic_rate),
        ..def.clone()
    }
}

/// How long the MAC tries to deliver an MSDU: dot11EDCATableMSDULifetime, 500 time units of 1024 us, of stations with QoS.
fn msdu_lifetime(standard: Standard) -> Option<Span> {
    (standard == Standard::N).then_some(Span::from_millis(512))
}

/// The carrier frequency of a standard.
fn band(standard: Standard) -> Frequency {
    if matches!(standard, Standard::A | Standard::N) { Frequency(5150e6) } else { Frequency(2412e6) }
}

/// What 802.11n does not go together with.
fn check_ht(def: &RadioDef, standard: Standard, path: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: &str| Err(ScenarioError::new(join(path, field), message));
    if standard != Standard::N {
        return match def.aggregation {
            Some(_) => fail("aggregation", "applies to standard \"n\" only; leave it out"),
            None => Ok(()),
        };
    }
    if let Some(message) = DCF.ht_refusal[def.profile] {
        return fail("standard", message);
    }
    if matches!(def.rate_control, Some(RateControlDef::Arf | RateControlDef::Aarf)) {
        return fail("rate_control", "with standard \"n\" the rate is \"fixed\"");
    }
    if def.frequency.is_some_and(|frequency| frequency.0 < 4.9e9) {
        return fail("frequency", "802.11n is modelled at 5 GHz; from 4900 MHz on");
    }
    Ok(())
}

/// The three rates are of the standard.
fn check_rates(def: &RadioDef, standard: Standard, path: &str) -> Result<(), ScenarioError> {
    let rates = [
        ("data_rate", table(standard), def.data_rate),
        ("basic_rate", control_table(standard), def.basic_rate),
        ("control_rate", control_table(standard), def.control_rate),
    ];
    let known = |(field, table, rate): (&str, &[Row], Option<Rate>)| {
        rate.map_or(Ok(()), |rate| check_rate(table, rate, &join(path, field)))
    };
    rates.into_iter().try_for_each(known)?;
    if !def.rates.is_empty() && matches!(def.rate_control, Some(RateControlDef::Arf | RateControlDef::Aarf)) {
        let message = "rates of stations stand beside rate control, which would set them";
        return Err(ScenarioError::new(join(path, "rates"), message).with_hint("leave one of them out"));
    }
    def.rates
        .iter()
        .try_for_each(|(name, rate)| check_rate(table(standard), *rate, &join(path, &format!("rates.{name}"))))
}

fn check_rate(rates: &[Row], rate: Rate, path: &str) -> Result<(), ScenarioError> {
    if rates.iter().any(|(known, ..)| kbps(*known) == rate) {
        return Ok(());
    }
    let known: Vec<String> = rates.iter().map(|(known, ..)| format!("\"{}\"", kbps(*known))).collect();
    Err(ScenarioError::new(path, format!("{rate} is not a rate of this standard; known: {}", known.join(", "))))
}

/// The parameters that a definition with defaults describes.
pub(crate) fn build(def: &RadioDef) -> DcfRadio {
    let (standard, profile) = (def.standard.expect("a filled-in radio has a standard"), def.profile);
    let (phy, cca_threshold) = (phy(def, standard), def.cca_threshold.expect("a filled-in radio has a threshold").0);
    let rate_modes = rate_modes(def, &phy, standard);
    let lowest = rate_modes.iter().map(|rate_mode| rate_mode.sensitivity).fold(f64::INFINITY, f64::min);
    let reception = DCF.reception[profile](lowest, cca_threshold);
    let rules = DcfRules {
        rate_modes,
        basic_rates: match DCF.basic_rates[profile] {
            BasicRates::OfStandard => basic_rates(standard).iter().map(|rate| kbps(*rate)).collect(),
            BasicRates::One => vec![phy.basic_rate],
        },
        phy,
        reception,
        frame_error: def.frame_error.unwrap_or(0.0),
        rate_control: rate_control(def),
        mac_overhead: DCF.mac_overhead[profile] + qos_control(standard),
        rts_threshold: def.rts_threshold.unwrap_or(Bytes(65_535)),
        short_retries: def.short_retries.unwrap_or(7),
        long_retries: def.long_retries.unwrap_or(4),
        queue_limit: def.queue_limit.unwrap_or(50) as usize,
        queue_order: DCF.queue_order[profile],
        queue_lifetime: def.queue_lifetime,
        draws_below_window: DCF.draws_below_window[profile],
        backs_off_when_idle: DCF.backs_off_when_idle[profile],
        expects_control_rate: DCF.expects_control_rate[profile],
        eifs_after_timeout: DCF.eifs_after_timeout[profile],
        responds_if_idle: DCF.responds_if_idle[profile],
        whole_micros: DCF.whole_micros[profile],
        rts_nav_reset: DCF.rts_nav_reset[profile],
        heeds_data_range: DCF.heeds_data_range[profile],
        promiscuous: false,
        station_rates: Vec::new(),
        block_acks: standard == Standard::N,
        counts_single_mpdus: DCF.counts_single_mpdus[profile] || def.aggregation != Some(true),
        aggregates: def.aggregation == Some(true),
    };
    let speed_of_light = DCF.speed_of_light[profile];
    let floor = DCF.floor[profile].map_or(cca_threshold, |level| level.power().0).min(lowest).min(cca_threshold);
    let propagation = parts::propagation(def, speed_of_light);
    let energy = def.energy.map(|energy| parts::energy_model(&energy, reception));
    DcfRadio { rules, propagation, floor, speed_of_light, energy }
}

fn rate_control(def: &RadioDef) -> RateControl {
    match def.rate_control {
        Some(RateControlDef::Arf) => RateControl::Arf,
        Some(RateControlDef::Aarf) => RateControl::Aarf,
        Some(RateControlDef::Fixed) | None => RateControl::Fixed,
    }
}

/// The QoS control field of a data frame.
fn qos_control(standard: Standard) -> Bytes {
    if standard == Standard::N { Bytes(2) } else { Bytes::ZERO }
}

/// What frames at each rate need; the rates of 802.11n are followed by those of its control frames.
fn rate_modes(def: &RadioDef, phy: &Phy, standard: Standard) -> Vec<RateMode> {
    let rate_mode = |(rate, needed, mode): &Row| {
        let rate = kbps(*rate);
        let sensitivity = sensitivity::at(def, rate);
        RateMode { rate, ratio: linear(*needed), sensitivity, mode: *mode, header: header(phy, rate) }
    };
    let control_modes = control_table(standard).iter().filter(|_| standard == Standard::N);
    table(standard).iter().chain(control_modes).map(rate_mode).collect()
}

/// What precedes the PSDU: a PLCP header of 48 bits after the DSSS preamble, a symbol after the OFDM preamble, L-SIG,
/// HT-SIG and training fields at HT rates.
pub(in crate::radio) fn header(phy: &Phy, rate: Rate) -> PhyHeader {
    let micros = Span::from_micros;
    let of_ofdm = |extension| PhyHeader {
        end: micros(20),
        length: micros(4),
        bits: 24.0,
        mode: ofdm(2, Code::Half),
        tail: extension,
    };
    match phy.coding {
        Coding::Dsss { preamble, .. } => {
            let (length, mode) =
                if preamble < micros(192) { (micros(24), Mode::Dqpsk) } else { (micros(48), Mode::Dbpsk) };
            PhyHeader { end: preamble, length, bits: 48.0, mode, tail: Span::ZERO }
        }
        Coding::Ht if is_ht(rate) => {
            PhyHeader { end: micros(36), length: micros(20), bits: 72.0, ..of_ofdm(Span::ZERO) }
        }
        Coding::Ofdm { extension } => of_ofdm(extension),
        Coding::Ht => of_ofdm(Span::ZERO),
    }
}

/// Timing, contention windows and rates.
fn phy(def: &RadioDef, standard: Standard) -> Phy {
    let micros = Span::from_micros;
    let preamble = micros(if def.preamble == Some(Preamble::Short) { 96 } else { 192 });
    let whole_micros = DCF.whole_airtimes[def.profile];
    let (coding, slot, sifs, cw_min) = match standard {
        Standard::Dsss | Standard::B => (Coding::Dsss { preamble, whole_micros }, 20, 10, 31),
        Standard::N => (Coding::Ht, 9, 16, 15),
        Standard::A => (Coding::Ofdm { extension: Span::ZERO }, 9, 16, 15),
        Standard::G => (Coding::Ofdm { extension: micros(6) }, 9, 10, 15),
        Standard::Lrwpan => unreachable!("802.15.4 is built elsewhere"),
    };
    Phy {
        coding,
        slot: micros(slot),
        sifs: micros(sifs),
        ifs_slots: if standard == Standard::N { 3 } else { 2 },
        cw_min,
        cw_max: 1023,
        data_rate: def.data_rate.expect("a filled-in radio has rates"),
        control_rate: def.control_rate.expect("a filled-in radio has rates"),
        basic_rate: def.basic_rate.expect("a filled-in radio has rates"),
    }
}
