//! From the description of a radio to the rules of its channel.

use tcp::units::{Bytes, Rate, Span};

use super::energy::{EnergyModel, Receives};
use super::errors::{Code, Grade, Header, Mode};
use super::lrwpan;
use super::phy::{Coding, Phy};
use super::propagation::{LIGHT, LIGHT_NS2, Propagation, Reach};
use super::queue::Order;
use super::receiver::Reception;
use crate::radio::dcf::rate_control::RateControl;
use crate::radio::dcf::rules::Rules;
use crate::scenario::{
    ArpDef, Consumption, EnergyDef, EnergyProfile, Frequency, LogDistanceDef, Power, Preamble, PropagationDef,
    RadioDef, RadioProfile, RateControlDef, ScenarioError, Standard, TwoRayDef, join,
};

/// A channel's rules and reach.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Radio {
    pub(crate) rules: Rules,
    pub(crate) propagation: Propagation,
    /// Signals weaker than this many watts are left out of account.
    pub(crate) floor: f64,
    /// Metres per second.
    pub(crate) light: f64,
    /// What a station consumes, if that is modelled.
    pub(crate) energy: Option<EnergyModel>,
}

impl Radio {
    /// Who can read whom.
    pub(crate) fn reach(&self) -> Reach {
        Reach::new(self.propagation, self.rules.least_power())
    }
}

/// ns-2's thresholds, watts, and its ratio of capture.
const NS2_RECEIVE: f64 = 3.652e-10;
const NS2_CARRIER_SENSE: f64 = 1.559e-11;
const NS2_CAPTURE: f64 = 10.0;
/// Noise of 20 MHz with a noise figure of 7 dB.
const NOISE_DBM: f64 = -93.966;
/// ns-3's thresholds, also those of std.
const SENSITIVITY_DBM: f64 = -82.0;
const ENERGY_DETECT_DBM: f64 = -62.0;

/// ns-3 notices a frame above this ratio.
const NOTICE_DB: f64 = 4.0;

/// Rates of a standard in kb/s with the ratio that each needs in dB, the half-way point of a frame of 1536 B, and
/// what it is made of.
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

fn table(standard: Standard) -> &'static [Row] {
    match standard {
        Standard::Dsss => &CCK[..2],
        Standard::B => &CCK,
        Standard::A | Standard::G => &OFDM,
        Standard::Lrwpan => unreachable!("802.15.4 is built elsewhere"),
    }
}

/// The rates that every station understands.
fn basic_rates(standard: Standard) -> &'static [u64] {
    match standard {
        Standard::Dsss | Standard::B => &[1_000, 2_000],
        Standard::A | Standard::G => &[6_000, 12_000, 24_000],
        Standard::Lrwpan => unreachable!("802.15.4 is built elsewhere"),
    }
}

fn kbps(rate: u64) -> Rate {
    Rate::from_bps(rate * 1000).expect("the rates of the tables are above zero")
}

/// Fills in what a radio leaves to its profile; errors start at `path`.
pub(crate) fn filled(def: &RadioDef, path: &str) -> Result<RadioDef, ScenarioError> {
    if def.standard == Some(Standard::Lrwpan) {
        return lrwpan::build::filled(def, path);
    }
    if def.lrwpan.is_some() {
        let error = ScenarioError::new(join(path, "lrwpan"), "is of 802.15.4");
        return Err(error.with_hint("write standard = \"802.15.4\" beside it, or leave it out"));
    }
    filled_dcf(def, path)
}

fn propagation_of(profile: RadioProfile) -> PropagationDef {
    match profile {
        RadioProfile::Ns2 => PropagationDef::TwoRay(TwoRayDef::default()),
        RadioProfile::Std => PropagationDef::LogDistance(LogDistanceDef::default()),
        RadioProfile::Ns3 => {
            PropagationDef::LogDistance(LogDistanceDef { loss_at_1m_db: Some(46.6777), ..LogDistanceDef::default() })
        }
    }
}

fn filled_dcf(def: &RadioDef, path: &str) -> Result<RadioDef, ScenarioError> {
    let ns2 = def.profile == RadioProfile::Ns2;
    let standard = def.standard.unwrap_or(match def.profile {
        RadioProfile::Std => Standard::B,
        RadioProfile::Ns2 => Standard::Dsss,
        RadioProfile::Ns3 => Standard::A,
    });
    let lowest = kbps(table(standard)[0].0);
    let highest = kbps(table(standard)[table(standard).len() - 1].0);
    let arf = def.rate_control == Some(RateControlDef::Arf);
    let data_rate = def.data_rate.unwrap_or(if arf || def.profile == RadioProfile::Std { highest } else { lowest });
    let basic_rate = def.basic_rate.unwrap_or(lowest);
    let up_to_data = basic_rates(standard).iter().map(|rate| kbps(*rate)).filter(|rate| *rate <= data_rate);
    let control_rate = def.control_rate.or(if ns2 { Some(basic_rate) } else { up_to_data.max() }).unwrap_or(lowest);
    for (field, rate) in [("data_rate", data_rate), ("basic_rate", basic_rate), ("control_rate", control_rate)] {
        check_rate(standard, rate, &join(path, field))?;
    }
    let five_gigahertz = standard == Standard::A;
    let frequency = def.frequency.unwrap_or(match (ns2, five_gigahertz) {
        (true, _) => Frequency(914e6),
        (false, true) => Frequency(5150e6),
        (false, false) => Frequency(2412e6),
    });
    let power = def.power.unwrap_or_else(|| match def.profile {
        RadioProfile::Std => Power::from_dbm(20.0),
        RadioProfile::Ns2 => Power(0.281_838_15),
        RadioProfile::Ns3 => Power::from_dbm(16.0206),
    });
    let ns3 = def.profile == RadioProfile::Ns3;
    let filled = RadioDef {
        profile: def.profile,
        standard: Some(standard),
        data_rate: Some(data_rate),
        control_rate: Some(control_rate),
        basic_rate: Some(basic_rate),
        rate_control: def.rate_control.or(Some(RateControlDef::Fixed)),
        preamble: def.preamble.or(Some(Preamble::Long)),
        rts_threshold: def.rts_threshold.or(Some(if ns2 { Bytes(0) } else { Bytes(65_535) })),
        short_retries: def.short_retries.or(Some(7)),
        long_retries: def.long_retries.or(Some(4)),
        queue_limit: def.queue_limit.or(Some(if ns3 { 500 } else { 50 })),
        queue_lifetime: def.queue_lifetime.or(ns3.then(|| Span::from_millis(500))),
        propagation: def.propagation.or(Some(propagation_of(def.profile))),
        max_range: def.max_range,
        power: Some(power),
        frequency: Some(frequency),
        range_multiplier: def.range_multiplier.or(Some(1.0)),
        energy: def
            .energy
            .map(|energy| filled_energy(&energy, if ns2 { EnergyProfile::Ns2 } else { EnergyProfile::Ns3 })),
        arp: def.arp.or(Some(if ns2 { ArpDef::Ns2 } else { ArpDef::None })),
        lrwpan: None,
    };
    check(&filled, path)?;
    Ok(filled)
}

/// What radios draw in ns-2's and ns-3's energy models and in data sheets, watts; `own` is that of the radio's profile.
pub(super) fn filled_energy(def: &EnergyDef, own: EnergyProfile) -> EnergyDef {
    let profile = def.profile.unwrap_or(own);
    let [tx, rx, idle] = match profile {
        EnergyProfile::Ns2 => [0.660, 0.395, 0.0],
        EnergyProfile::Ns3 => [1.14, 0.939, 0.819],
        EnergyProfile::Cc2420 => [52.2e-3, 56.4e-3, 1.278e-3],
    };
    EnergyDef {
        profile: Some(profile),
        tx: def.tx.or(Some(Consumption(tx))),
        rx: def.rx.or(Some(Consumption(rx))),
        idle: def.idle.or(Some(Consumption(idle))),
        initial: def.initial,
    }
}

/// The model that a filled-in description stands for.
pub(super) fn energy_model(def: &EnergyDef, reception: Reception) -> EnergyModel {
    let watts = |draw: Option<Consumption>| draw.expect("filled-in energy has powers").0;
    // ns-2 hears nothing below its carrier sense; elsewhere preambles are sensed from the sensitivity on.
    let least = match reception {
        Reception::Capture { carrier_sense, .. } => carrier_sense,
        Reception::Sinr { sensitivity, .. } | Reception::Errors { sensitivity, .. } => sensitivity,
    };
    let ns2 = def.profile == Some(EnergyProfile::Ns2);
    EnergyModel {
        receives: if ns2 { Receives::Signals { least } } else { Receives::Frames },
        tx: watts(def.tx),
        rx: watts(def.rx),
        idle: watts(def.idle),
        initial: def.initial.map(|energy| energy.0),
    }
}

fn check_rate(standard: Standard, rate: Rate, path: &str) -> Result<(), ScenarioError> {
    if table(standard).iter().any(|(known, ..)| kbps(*known) == rate) {
        return Ok(());
    }
    let known: Vec<String> = table(standard).iter().map(|(known, ..)| format!("\"{}\"", kbps(*known))).collect();
    Err(ScenarioError::new(path, format!("{rate} is not a rate of this standard; known: {}", known.join(", "))))
}

/// What holds for radios of any standard.
pub(super) fn check(def: &RadioDef, path: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: String| Err(ScenarioError::new(join(path, field), message));
    if let Some(range) = def.max_range.filter(|range| range.0 <= 0.0) {
        return fail("max_range", format!("{range} is not above 0m"));
    }
    if let Some(multiplier) = def.range_multiplier.filter(|m| !(0.01..=100.0).contains(m)) {
        return fail("range_multiplier", format!("{multiplier} is not from 0.01 to 100"));
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

/// Who can read whom, with a filled-in radio of any standard.
pub(crate) fn reach(def: &RadioDef) -> Reach {
    if def.standard == Some(Standard::Lrwpan) { lrwpan::build::build(def).reach() } else { build(def).reach() }
}

/// The rules that a filled-in radio of 802.11 stands for.
pub(crate) fn build(def: &RadioDef) -> Radio {
    let standard = def.standard.expect("a filled-in radio has a standard");
    let ns2 = def.profile == RadioProfile::Ns2;
    let data_rate = def.data_rate.expect("a filled-in radio has rates");
    let basic_rate = def.basic_rate.expect("a filled-in radio has rates");
    let phy = Phy {
        data_rate,
        control_rate: def.control_rate.expect("a filled-in radio has rates"),
        basic_rate,
        ..timing(standard, def.preamble == Some(Preamble::Short), !ns2)
    };
    let reception = if ns2 {
        Reception::Capture { carrier_sense: NS2_CARRIER_SENSE, receive: NS2_RECEIVE, ratio: NS2_CAPTURE }
    } else {
        let watts = |level| Power::from_dbm(level).0;
        let (sensitivity, energy_detect) = (watts(SENSITIVITY_DBM), watts(ENERGY_DETECT_DBM));
        let noise = watts(NOISE_DBM);
        match def.profile {
            RadioProfile::Ns3 => Reception::Errors { sensitivity, energy_detect, noise, notice: linear(NOTICE_DB) },
            RadioProfile::Std | RadioProfile::Ns2 => Reception::Sinr { sensitivity, energy_detect, noise },
        }
    };
    let grade = |(rate, needed, mode): &Row| Grade { rate: kbps(*rate), ratio: linear(*needed), mode: *mode };
    let rules = Rules {
        phy,
        reception,
        grades: table(standard).iter().map(grade).collect(),
        basic_rates: if ns2 {
            vec![basic_rate]
        } else {
            basic_rates(standard).iter().map(|rate| kbps(*rate)).collect()
        },
        rate_control: match def.rate_control {
            Some(RateControlDef::Arf) => RateControl::Arf,
            Some(RateControlDef::Fixed) | None => RateControl::Fixed,
        },
        preamble: preamble(&phy),
        header: if ns2 { Bytes(34) } else { Bytes(36) },
        rts_threshold: def.rts_threshold.unwrap_or(Bytes(65_535)),
        short_retries: def.short_retries.unwrap_or(7),
        long_retries: def.long_retries.unwrap_or(4),
        queue_limit: def.queue_limit.unwrap_or(50) as usize,
        queue_order: if ns2 { Order::RoutingFirst } else { Order::Fifo },
        queue_lifetime: def.queue_lifetime,
        draws_below_window: ns2,
        always_backs_off: ns2,
        answers_if_idle: ns2,
        whole_micros: ns2,
        rts_nav_reset: !ns2,
    };
    let light = if ns2 { LIGHT_NS2 } else { LIGHT };
    let (power, frequency) = (def.power.unwrap_or(Power(0.1)).0, def.frequency.unwrap_or(Frequency(2412e6)).0);
    let model = def.propagation.expect("a filled-in radio has a propagation");
    let propagation =
        Propagation::new(&model, power, frequency, light).scaled(def.range_multiplier.unwrap_or(1.0), def.max_range);
    // Below a tenth of the noise a signal changes no decision by more than half a decibel.
    let floor = if ns2 { NS2_CARRIER_SENSE } else { Power::from_dbm(NOISE_DBM - 10.0).0 };
    let energy = def.energy.map(|energy| energy_model(&energy, reception));
    Radio { rules, propagation, floor, light, energy }
}

fn linear(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

/// What precedes the bits of a frame: 48 bits of PLCP header after a preamble of DSSS, a symbol after one of OFDM.
pub(super) fn preamble(phy: &Phy) -> Header {
    let micros = Span::from_micros;
    match phy.coding {
        Coding::Dsss { preamble, .. } => {
            let (length, mode) =
                if preamble < micros(192) { (micros(24), Mode::Dqpsk) } else { (micros(48), Mode::Dbpsk) };
            Header { end: preamble, length, bits: 48.0, mode, tail: Span::ZERO }
        }
        Coding::Ofdm { extension } => {
            Header { end: micros(20), length: micros(4), bits: 24.0, mode: ofdm(2, Code::Half), tail: extension }
        }
    }
}

/// Slots, spaces and windows of a standard; the rates are placeholders.
fn timing(standard: Standard, short: bool, whole_micros: bool) -> Phy {
    let micros = Span::from_micros;
    let preamble = micros(if short { 96 } else { 192 });
    let (coding, slot, sifs, cw_min) = match standard {
        Standard::Dsss | Standard::B => (Coding::Dsss { preamble, whole_micros }, 20, 10, 31),
        Standard::A => (Coding::Ofdm { extension: Span::ZERO }, 9, 16, 15),
        Standard::G => (Coding::Ofdm { extension: micros(6) }, 9, 10, 15),
        Standard::Lrwpan => unreachable!("802.15.4 is built elsewhere"),
    };
    let rate = kbps(1000);
    Phy {
        coding,
        slot: micros(slot),
        sifs: micros(sifs),
        cw_min,
        cw_max: 1023,
        data_rate: rate,
        control_rate: rate,
        basic_rate: rate,
    }
}
