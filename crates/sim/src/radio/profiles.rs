//! What radios do where a scenario does not say: the standard, ns-2.35 and ns-3.37, side by side. A row has the values of the profiles
//! `std`, `ns2` and `ns3`, in this order; its field says what the values are of.

use tcp::units::{Bytes, Span};

use super::lrwpan::rules::Access;
use super::propagation::SPEED_OF_LIGHT;
use super::queue::QueueOrder;
use super::receiver::Reception;
use crate::scenario::{
    AccessFailureDef, ArpDef, EncapDef, EnergyProfile, Frequency, LogDistanceDef, LrwpanMacDef, NeighborDiscoveryDef,
    Power, PropagationDef, Row, Standard, TwoRayDef,
};

/// A power, in the unit of its source.
#[derive(Clone, Copy)]
pub(super) enum Level {
    Watts(f64),
    Dbm(f64),
}

impl Level {
    pub(super) fn power(self) -> Power {
        match self {
            Level::Watts(watts) => Power(watts),
            Level::Dbm(level) => Power::from_dbm(level),
        }
    }

    fn watts(self) -> f64 {
        self.power().0
    }
}

/// A rate of the standard that data frames have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DataRate {
    Lowest,
    Highest,
}

/// The rate that RTS, CTS and ACK have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ControlRate {
    /// The highest basic rate up to that of the data.
    UpToData,
    /// That of broadcasts.
    Basic,
}

/// The basic rate set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BasicRates {
    /// That of the standard.
    OfStandard,
    /// The rate of broadcasts alone.
    One,
}

/// Propagation over flat ground; log-distance with the loss at 1 m that frequency gives, and with 46.6777 dB, that of 5.15 GHz, which
/// scripts of ns-3 keep for 802.15.4 as well: there the range at 0 dBm is 41 m.
const TWO_RAY: PropagationDef = PropagationDef::TwoRay(TwoRayDef::DEFAULT);
const LOG_DISTANCE: PropagationDef = PropagationDef::LogDistance(LogDistanceDef::DEFAULT);
const LOG_DISTANCE_5GHZ: PropagationDef =
    PropagationDef::LogDistance(LogDistanceDef { loss_at_1m_db: Some(46.6777), ..LogDistanceDef::DEFAULT });

/// The speed of light in ns-2, metres per second.
pub(super) const ROUNDED_LIGHT: f64 = 3e8;

/// What an 802.11 radio is where its definition does not say, and the parts of its rules that no key sets.
pub(super) struct DcfTable {
    pub(super) standard: Row<Standard>,
    /// Why there is no 802.11n, if there is none.
    pub(super) ht_refusal: Row<Option<&'static str>>,
    pub(super) data_rate: Row<DataRate>,
    pub(super) control_rate: Row<ControlRate>,
    pub(super) basic_rates: Row<BasicRates>,
    /// That of the standard, if none.
    pub(super) frequency: Row<Option<Frequency>>,
    pub(super) power: Row<Level>,
    pub(super) propagation: Row<PropagationDef>,
    pub(super) speed_of_light: Row<f64>,
    /// One sensitivity for all rates; those of `build/sensitivity.rs`, if none.
    pub(super) sensitivity: Row<Option<Level>>,
    pub(super) cca_threshold: Row<Option<Level>>,
    /// Reception with the sensitivity of the lowest rate and the CCA threshold, in watts.
    pub(super) reception: Row<fn(f64, f64) -> Reception>,
    /// Signals below it are ignored: a tenth of the noise changes no SINR by more than half a decibel. If none, those below the CCA
    /// threshold.
    pub(super) floor: Row<Option<Level>>,
    /// Broadcasts are heeded only from where data frames could be read: the threshold of signal that implementations of ad hoc
    /// routing set against communication gray zones (Lundgren, Nordström, Tschudin, WoWMoM 2002, §4).
    pub(super) heeds_data_range: Row<bool>,
    /// Bytes that the MAC adds to an MSDU.
    pub(super) mac_overhead: Row<Bytes>,
    pub(super) rts_threshold: Row<Bytes>,
    pub(super) queue_limit: Row<u32>,
    /// MaxDelay of ns-3's queue. With 802.11n all have a lifetime.
    pub(super) queue_lifetime: Row<Option<Span>>,
    pub(super) queue_order: Row<QueueOrder>,
    pub(super) energy: Row<EnergyProfile>,
    pub(super) arp: Row<ArpDef>,
    /// The airtime of a DSSS frame is a whole number of microseconds.
    pub(super) whole_airtimes: Row<bool>,
    /// The fields of `DcfRules` of these names.
    pub(super) draws_below_window: Row<bool>,
    pub(super) backs_off_when_idle: Row<bool>,
    pub(super) expects_control_rate: Row<bool>,
    pub(super) eifs_after_timeout: Row<bool>,
    pub(super) responds_if_idle: Row<bool>,
    pub(super) whole_micros: Row<bool>,
    pub(super) rts_nav_reset: Row<bool>,
    /// An MPDU that is transmitted alone falls under the retry limit even where MPDUs are aggregated.
    pub(super) counts_single_mpdus: Row<bool>,
}

pub(super) const DCF: DcfTable = DcfTable {
    standard: Row([Standard::B, Standard::Dsss, Standard::A]),
    ht_refusal: Row([None, Some("ns-2 has no 802.11n; profile \"std\" or \"ns3\""), None]),
    data_rate: Row([DataRate::Highest, DataRate::Lowest, DataRate::Lowest]),
    control_rate: Row([ControlRate::UpToData, ControlRate::Basic, ControlRate::UpToData]),
    basic_rates: Row([BasicRates::OfStandard, BasicRates::One, BasicRates::OfStandard]),
    frequency: Row([None, Some(Frequency(914e6)), None]),
    power: Row([Level::Dbm(20.0), Level::Watts(0.281_838_15), Level::Dbm(16.0206)]),
    propagation: Row([LOG_DISTANCE, TWO_RAY, LOG_DISTANCE_5GHZ]),
    speed_of_light: Row([SPEED_OF_LIGHT, ROUNDED_LIGHT, SPEED_OF_LIGHT]),
    // Receive threshold and carrier sense of ns-2; RxSensitivity and CcaEdThreshold as in ns-3.
    sensitivity: Row([None, Some(Level::Watts(3.652e-10)), Some(Level::Dbm(-82.0))]),
    cca_threshold: Row([None, Some(Level::Watts(1.559e-11)), Some(Level::Dbm(-62.0))]),
    reception: Row([dcf_sinr, dcf_capture, dcf_errors]),
    floor: Row([Some(Level::Dbm(DCF_NOISE_DBM - 10.0)), None, Some(Level::Dbm(DCF_NOISE_DBM - 10.0))]),
    heeds_data_range: Row([true, false, false]),
    mac_overhead: Row([Bytes(36), Bytes(34), Bytes(36)]),
    rts_threshold: Row([Bytes(65_535), Bytes(0), Bytes(65_535)]),
    queue_limit: Row([50, 50, 500]),
    queue_lifetime: Row([None, None, Some(Span::from_millis(500))]),
    queue_order: Row([QueueOrder::Fifo, QueueOrder::RoutingFirst, QueueOrder::Fifo]),
    energy: Row([EnergyProfile::Ns3, EnergyProfile::Ns2, EnergyProfile::Ns3]),
    arp: Row([ArpDef::None, ArpDef::Table, ArpDef::None]),
    whole_airtimes: Row([true, false, true]),
    draws_below_window: Row([false, true, false]),
    backs_off_when_idle: Row([false, true, false]),
    expects_control_rate: Row([false, true, false]),
    eifs_after_timeout: Row([true, false, true]),
    responds_if_idle: Row([false, true, false]),
    whole_micros: Row([false, true, false]),
    rts_nav_reset: Row([true, false, true]),
    counts_single_mpdus: Row([false, false, true]),
};

/// Noise of 20 MHz with a noise figure of 7 dB.
pub(super) const DCF_NOISE_DBM: f64 = -93.966;
/// SINR from which ns-3 detects a preamble.
pub(super) const DCF_PREAMBLE_DETECTION_DB: f64 = 4.0;

fn dcf_sinr(sensitivity: f64, energy_detect: f64) -> Reception {
    Reception::Sinr { sensitivity, energy_detect, noise: Level::Dbm(DCF_NOISE_DBM).watts() }
}

fn dcf_capture(receive: f64, carrier_sense: f64) -> Reception {
    Reception::Capture { carrier_sense, receive, ratio: CAPTURE }
}

fn dcf_errors(sensitivity: f64, energy_detect: f64) -> Reception {
    Reception::Errors {
        sensitivity,
        energy_detect,
        noise: Level::Dbm(DCF_NOISE_DBM).watts(),
        preamble_detection: linear(DCF_PREAMBLE_DETECTION_DB),
    }
}

/// Reception at a sensitivity and a CCA threshold, in watts.
pub(super) type Detector = fn(f64, f64) -> Detection;

/// How frames of 802.15.4 are received.
pub(super) struct Detection {
    pub(super) reception: Reception,
    /// SINR that a frame needs.
    pub(super) ratio: f64,
    /// Signals below so many watts are ignored: a tenth of the noise changes no SINR by more than half a decibel.
    pub(super) floor: f64,
}

/// What an 802.15.4 radio is where its definition does not say, and the parts of its rules that no key sets.
pub(super) struct LrWpanTable {
    pub(super) frequency: Row<Frequency>,
    pub(super) power: Row<Level>,
    pub(super) propagation: Row<PropagationDef>,
    pub(super) speed_of_light: Row<f64>,
    pub(super) sensitivity: Row<Level>,
    pub(super) cca_threshold: Row<Level>,
    /// Reception with these two.
    pub(super) detection: Row<Detector>,
    pub(super) encap: Row<EncapDef>,
    /// MAC overhead of every frame; that of the standard, by addresses, if none.
    pub(super) header: Row<Option<Bytes>>,
    /// 6LoWPAN compresses global addresses by a context.
    pub(super) has_context: Row<bool>,
    pub(super) neighbor_discovery: Row<NeighborDiscoveryDef>,
    pub(super) access_failure: Row<AccessFailureDef>,
    pub(super) spaces: Row<bool>,
    pub(super) queue_order: Row<QueueOrder>,
    pub(super) energy: Row<EnergyProfile>,
    pub(super) arp: Row<ArpDef>,
}

pub(super) const LRWPAN: LrWpanTable = LrWpanTable {
    frequency: Row([Frequency(2405e6), Frequency(914e6), Frequency(2405e6)]),
    power: Row([Level::Watts(1e-3), Level::Watts(0.281_838_15), Level::Watts(1e-3)]),
    propagation: Row([LOG_DISTANCE_5GHZ, TWO_RAY, LOG_DISTANCE_5GHZ]),
    speed_of_light: Row([SPEED_OF_LIGHT, ROUNDED_LIGHT, SPEED_OF_LIGHT]),
    // CC2420, data sheet SWRS041; both thresholds of ns-2's scripts, the power at 15 m; those of ns-3 follow from its noise.
    sensitivity: Row([Level::Dbm(-95.0), Level::Watts(8.5457e-7), Level::Dbm(NS3_NOISE_DBM + NS3_DETECTION_DB)]),
    // CC2420; that of ns-2; 10 dB above a sensitivity of -106.58 dBm.
    cca_threshold: Row([Level::Dbm(-77.0), Level::Watts(8.5457e-7), Level::Dbm(-96.58)]),
    detection: Row([lrwpan_sinr, lrwpan_capture, lrwpan_errors]),
    encap: Row([EncapDef::Sixlowpan, EncapDef::RawIpv4, EncapDef::Sixlowpan]),
    header: Row([None, Some(Bytes(7)), None]),
    has_context: Row([true, true, false]),
    neighbor_discovery: Row([NeighborDiscoveryDef::None, NeighborDiscoveryDef::None, NeighborDiscoveryDef::Hosts]),
    access_failure: Row([AccessFailureDef::Retry, AccessFailureDef::Drop, AccessFailureDef::Drop]),
    spaces: Row([true, false, true]),
    queue_order: Row([QueueOrder::Fifo, QueueOrder::RoutingFirst, QueueOrder::Fifo]),
    energy: Row([EnergyProfile::Cc2420, EnergyProfile::Ns2, EnergyProfile::Cc2420]),
    arp: Row([ArpDef::None, ArpDef::Table, ArpDef::None]),
};

/// Co-channel rejection of the CC2420, and noise of 2 MHz with a noise figure of 7 dB.
const CO_CHANNEL_DB: f64 = 3.0;
const LRWPAN_NOISE_DBM: f64 = -103.966;
/// Capture ratio of ns-2.
const CAPTURE: f64 = 10.0;
/// ns-3.37: thermal noise of the 5 MHz over which it adds power up, the SNR from which it decodes, and that at which half of all
/// frames of 60 B survive.
const NS3_NOISE_DBM: f64 = -106.98;
const NS3_DETECTION_DB: f64 = -5.0;
const NS3_HALF_DB: f64 = -1.1;

fn lrwpan_sinr(sensitivity: f64, energy_detect: f64) -> Detection {
    let noise = Level::Dbm(LRWPAN_NOISE_DBM).watts();
    Detection {
        reception: Reception::Sinr { sensitivity, energy_detect, noise },
        ratio: linear(CO_CHANNEL_DB),
        floor: Level::Dbm(LRWPAN_NOISE_DBM - 10.0).watts(),
    }
}

fn lrwpan_capture(sensitivity: f64, energy_detect: f64) -> Detection {
    Detection {
        reception: Reception::Sinr { sensitivity, energy_detect, noise: 0.0 },
        ratio: CAPTURE,
        floor: sensitivity.min(energy_detect),
    }
}

fn lrwpan_errors(sensitivity: f64, energy_detect: f64) -> Detection {
    let (noise, preamble_detection) = (Level::Dbm(NS3_NOISE_DBM).watts(), linear(NS3_DETECTION_DB));
    Detection {
        reception: Reception::Errors { sensitivity, energy_detect, noise, preamble_detection },
        ratio: linear(NS3_HALF_DB),
        floor: Level::Dbm(NS3_NOISE_DBM - 10.0).watts(),
    }
}

/// The medium access and the reception of a MAC of 802.15.4 that has its own; `None` for those of the standard, with the reception of
/// the profile.
pub(super) fn own_access(mac: Option<LrwpanMacDef>) -> Option<(Access, Detector)> {
    match mac {
        Some(LrwpanMacDef::Ns2) => Some((Access::SampledCca, lrwpan_addressed)),
        Some(LrwpanMacDef::Std) | None => None,
    }
}

/// Why a MAC of 802.15.4 that has its own medium access refuses other frames.
pub(super) const OWN_MAC_DROPS: &str = "the MAC of ns-2 drops what finds no access to the channel";
pub(super) const OWN_MAC_REFUSAL: &str = "that of ns-2 carries plain IPv4 in acknowledged frames";

fn lrwpan_addressed(sensitivity: f64, energy_detect: f64) -> Detection {
    Detection {
        reception: Reception::Addressed { carrier_sense: energy_detect, receive: sensitivity },
        ratio: CAPTURE,
        floor: energy_detect,
    }
}

/// What a radio consumes, and what counts as receiving.
pub(super) struct Consumed {
    /// Watts of sending, of receiving, and otherwise.
    pub(super) watts: [f64; 3],
    /// Every signal from the carrier-sense threshold on counts, whatever its destination; else the frame that is being received.
    pub(super) counts_signals: bool,
}

/// Consumption in ns-2 and ns-3, and by the data sheet of the CC2420.
pub(super) fn consumption(profile: EnergyProfile) -> Consumed {
    match profile {
        EnergyProfile::Ns2 => Consumed { watts: [0.660, 0.395, 0.0], counts_signals: true },
        EnergyProfile::Ns3 => Consumed { watts: [1.14, 0.939, 0.819], counts_signals: false },
        EnergyProfile::Cc2420 => Consumed { watts: [52.2e-3, 56.4e-3, 1.278e-3], counts_signals: false },
    }
}

/// Decibels as a ratio.
pub(super) fn linear(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}
