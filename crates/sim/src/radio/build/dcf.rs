//! 802.11: defaults of a radio by profile, and the parameters of its MAC and medium.

use tcp::units::{Bytes, Rate, Span};

use super::parts;
use crate::mobility::Track;
use crate::radio::dcf::rate_control::RateControl;
use crate::radio::dcf::rules::DcfRules;
use crate::radio::energy::EnergyModel;
use crate::radio::errors::{Code, Mode, PhyHeader, RateMode};
use crate::radio::medium::Medium;
use crate::radio::phy::{Coding, Phy, is_ht};
use crate::radio::propagation::{Propagation, RadioRange, SPEED_OF_LIGHT, SPEED_OF_LIGHT_NS2};
use crate::radio::queue::QueueOrder;
use crate::radio::receiver::Reception;
use crate::scenario::{
    ArpDef, EnergyProfile, Frequency, LogDistanceDef, Power, Preamble, PropagationDef, RadioDef, RadioProfile,
    RateControlDef, ScenarioError, Standard, TwoRayDef, join,
};

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

/// Thresholds of ns-2, watts, and its capture ratio.
const NS2_RECEIVE: f64 = 3.652e-10;
const NS2_CARRIER_SENSE: f64 = 1.559e-11;
const NS2_CAPTURE: f64 = 10.0;
/// Noise of 20 MHz with a noise figure of 7 dB.
const NOISE_DBM: f64 = -93.966;
/// Thresholds of ns-3, also used by `std`.
const SENSITIVITY_DBM: f64 = -82.0;
const ENERGY_DETECT_DBM: f64 = -62.0;

/// SINR from which ns-3 detects a preamble.
const PREAMBLE_DETECTION_DB: f64 = 4.0;

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

fn default_propagation(profile: RadioProfile) -> PropagationDef {
    match profile {
        RadioProfile::Ns2 => PropagationDef::TwoRay(TwoRayDef::default()),
        RadioProfile::Std => PropagationDef::LogDistance(LogDistanceDef::default()),
        RadioProfile::Ns3 => {
            PropagationDef::LogDistance(LogDistanceDef { loss_at_1m_db: Some(46.6777), ..LogDistanceDef::default() })
        }
    }
}

/// The definition of an 802.11 radio with the defaults of its profile; errors start at `path`.
pub(super) fn with_defaults(def: &RadioDef, path: &str) -> Result<RadioDef, ScenarioError> {
    let ns2 = def.profile == RadioProfile::Ns2;
    let standard = def.standard.unwrap_or(match def.profile {
        RadioProfile::Std => Standard::B,
        RadioProfile::Ns2 => Standard::Dsss,
        RadioProfile::Ns3 => Standard::A,
    });
    let lowest = kbps(table(standard)[0].0);
    let highest = kbps(table(standard)[table(standard).len() - 1].0);
    let adapts = matches!(def.rate_control, Some(RateControlDef::Arf | RateControlDef::Aarf));
    let data_rate = def.data_rate.unwrap_or(if adapts || def.profile == RadioProfile::Std { highest } else { lowest });
    let basic_rate = def.basic_rate.unwrap_or(kbps(control_table(standard)[0].0));
    let up_to_data = basic_rates(standard).iter().map(|rate| kbps(*rate)).filter(|rate| *rate <= data_rate);
    let control_rate = def.control_rate.or(if ns2 { Some(basic_rate) } else { up_to_data.max() }).unwrap_or(basic_rate);
    check_rate(table(standard), data_rate, &join(path, "data_rate"))?;
    for (field, rate) in [("basic_rate", basic_rate), ("control_rate", control_rate)] {
        check_rate(control_table(standard), rate, &join(path, field))?;
    }
    check_ht(def, standard, path)?;
    let five_gigahertz = matches!(standard, Standard::A | Standard::N);
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
    let with_defaults = RadioDef {
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
        propagation: def.propagation.or(Some(default_propagation(def.profile))),
        max_range: def.max_range,
        power: Some(power),
        frequency: Some(frequency),
        frame_error: def.frame_error,
        aggregation: def.aggregation.or((standard == Standard::N).then_some(true)),
        range_multiplier: def.range_multiplier.or(Some(1.0)),
        energy: def.energy.map(|energy| {
            parts::energy_with_defaults(&energy, if ns2 { EnergyProfile::Ns2 } else { EnergyProfile::Ns3 })
        }),
        arp: def.arp.or(Some(if ns2 { ArpDef::Ns2 } else { ArpDef::None })),
        lrwpan: None,
    };
    parts::check(&with_defaults, path)?;
    Ok(with_defaults)
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
    if def.profile == RadioProfile::Ns2 {
        return fail("standard", "ns-2 has no 802.11n; profile \"std\" or \"ns3\"");
    }
    if matches!(def.rate_control, Some(RateControlDef::Arf | RateControlDef::Aarf)) {
        return fail("rate_control", "with standard \"n\" the rate is \"fixed\"");
    }
    if def.frequency.is_some_and(|frequency| frequency.0 < 4.9e9) {
        return fail("frequency", "802.11n is modelled at 5 GHz; from 4900 MHz on");
    }
    Ok(())
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
    let standard = def.standard.expect("a filled-in radio has a standard");
    let ns2 = def.profile == RadioProfile::Ns2;
    let data_rate = def.data_rate.expect("a filled-in radio has rates");
    let basic_rate = def.basic_rate.expect("a filled-in radio has rates");
    let phy = Phy {
        data_rate,
        control_rate: def.control_rate.expect("a filled-in radio has rates"),
        basic_rate,
        ..phy_timing(standard, def.preamble == Some(Preamble::Short), !ns2)
    };
    let reception = if ns2 {
        Reception::Capture { carrier_sense: NS2_CARRIER_SENSE, receive: NS2_RECEIVE, ratio: NS2_CAPTURE }
    } else {
        let watts = |level| Power::from_dbm(level).0;
        let (sensitivity, energy_detect) = (watts(SENSITIVITY_DBM), watts(ENERGY_DETECT_DBM));
        let noise = watts(NOISE_DBM);
        match def.profile {
            RadioProfile::Ns3 => Reception::Errors {
                sensitivity,
                energy_detect,
                noise,
                preamble_detection: parts::linear(PREAMBLE_DETECTION_DB),
            },
            RadioProfile::Std | RadioProfile::Ns2 => Reception::Sinr { sensitivity, energy_detect, noise },
        }
    };
    let rate_mode = |(rate, needed, mode): &Row| {
        let rate = kbps(*rate);
        RateMode { rate, ratio: parts::linear(*needed), mode: *mode, header: header(&phy, rate) }
    };
    // Those of 802.11n are followed by the rates of its control frames.
    let control_modes = control_table(standard).iter().filter(|_| standard == Standard::N);
    let rules = DcfRules {
        phy,
        reception,
        frame_error: def.frame_error.unwrap_or(0.0),
        rate_modes: table(standard).iter().chain(control_modes).map(rate_mode).collect(),
        basic_rates: if ns2 {
            vec![basic_rate]
        } else {
            basic_rates(standard).iter().map(|rate| kbps(*rate)).collect()
        },
        rate_control: match def.rate_control {
            Some(RateControlDef::Arf) => RateControl::Arf,
            Some(RateControlDef::Aarf) => RateControl::Aarf,
            Some(RateControlDef::Fixed) | None => RateControl::Fixed,
        },
        mac_overhead: match (ns2, standard) {
            (true, _) => Bytes(34),
            // The QoS control field.
            (false, Standard::N) => Bytes(38),
            (false, _) => Bytes(36),
        },
        rts_threshold: def.rts_threshold.unwrap_or(Bytes(65_535)),
        short_retries: def.short_retries.unwrap_or(7),
        long_retries: def.long_retries.unwrap_or(4),
        queue_limit: def.queue_limit.unwrap_or(50) as usize,
        queue_order: if ns2 { QueueOrder::RoutingFirst } else { QueueOrder::Fifo },
        queue_lifetime: def.queue_lifetime,
        draws_below_window: ns2,
        always_backs_off: ns2,
        responds_if_idle: ns2,
        waits_after_cts: ns2,
        whole_micros: ns2,
        rts_nav_reset: !ns2,
        promiscuous: false,
        block_acks: standard == Standard::N,
        aggregates: def.aggregation == Some(true),
    };
    let speed_of_light = if ns2 { SPEED_OF_LIGHT_NS2 } else { SPEED_OF_LIGHT };
    let propagation = parts::propagation(def, speed_of_light);
    // A signal below a tenth of the noise changes no SINR by more than half a decibel.
    let floor = if ns2 { NS2_CARRIER_SENSE } else { Power::from_dbm(NOISE_DBM - 10.0).0 };
    let energy = def.energy.map(|energy| parts::energy_model(&energy, reception));
    DcfRadio { rules, propagation, floor, speed_of_light, energy }
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

/// Timing and contention windows of a standard; the rates are placeholders.
fn phy_timing(standard: Standard, short: bool, whole_micros: bool) -> Phy {
    let micros = Span::from_micros;
    let preamble = micros(if short { 96 } else { 192 });
    let (coding, slot, sifs, cw_min) = match standard {
        Standard::Dsss | Standard::B => (Coding::Dsss { preamble, whole_micros }, 20, 10, 31),
        Standard::N => (Coding::Ht, 9, 16, 15),
        Standard::A => (Coding::Ofdm { extension: Span::ZERO }, 9, 16, 15),
        Standard::G => (Coding::Ofdm { extension: micros(6) }, 9, 10, 15),
        Standard::Lrwpan => unreachable!("802.15.4 is built elsewhere"),
    };
    let rate = kbps(1000);
    Phy {
        coding,
        slot: micros(slot),
        sifs: micros(sifs),
        ifs_slots: if standard == Standard::N { 3 } else { 2 },
        cw_min,
        cw_max: 1023,
        data_rate: rate,
        control_rate: rate,
        basic_rate: rate,
    }
}
