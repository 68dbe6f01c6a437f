//! 802.15.4: defaults of a radio by profile, and the parameters of its MAC and medium.

use tcp::units::Bytes;

use super::parts;
use crate::mobility::Track;
use crate::radio::energy::EnergyModel;
use crate::radio::lrwpan::rules::{Encap, LrWpanRules};
use crate::radio::medium::Medium;
use crate::radio::propagation::{Propagation, RadioRange, SPEED_OF_LIGHT, SPEED_OF_LIGHT_NS2};
use crate::radio::queue::QueueOrder;
use crate::radio::receiver::Reception;
use crate::scenario::{
    AddressLength, ArpDef, EncapDef, EnergyProfile, Frequency, LogDistanceDef, LrwpanDef, LrwpanMacDef,
    NeighborDiscoveryDef, Power, PropagationDef, RadioDef, RadioProfile, ScenarioError, TwoRayDef, join,
};

/// The CC2420 (data sheet SWRS041): sensitivity, CCA threshold, and co-channel rejection.
const SENSITIVITY_DBM: f64 = -95.0;
const ENERGY_DETECT_DBM: f64 = -77.0;
const CO_CHANNEL_DB: f64 = 3.0;
/// Noise of 2 MHz with a noise figure of 7 dB.
const NOISE_DBM: f64 = -103.966;
/// Both thresholds of ns-2's scripts, the power at 15 m, and its capture ratio.
const NS2_THRESHOLD: f64 = 8.5457e-7;
const NS2_CAPTURE: f64 = 10.0;
/// ns-3.37: thermal noise of the 5 MHz over which it adds power up, the SNR from which it decodes, that at which half of all frames
/// of 60 B survive, and a CCA threshold of 10 dB above a sensitivity of -106.58 dBm.
const NS3_NOISE_DBM: f64 = -106.98;
const NS3_DETECTION_DB: f64 = -5.0;
const NS3_HALF_DB: f64 = -1.1;
const NS3_ENERGY_DETECT_DBM: f64 = -96.58;
/// MAC overhead of a frame in ns-2.
const NS2_HEADER: Bytes = Bytes(7);
/// Path loss of ns-3 at 1 m, that of 5.15 GHz, which its 802.15.4 scripts keep: the range at 0 dBm is 41 m.
const LOSS_AT_1M_DB: f64 = 46.6777;

/// Parameters of an 802.15.4 channel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LrWpanRadio {
    pub(crate) rules: LrWpanRules,
    pub(crate) propagation: Propagation,
    /// Watts below which signals are ignored.
    floor: f64,
    /// Metres per second.
    speed_of_light: f64,
    pub(crate) energy: Option<EnergyModel>,
}

impl LrWpanRadio {
    /// The range within which data frames are readable.
    pub(crate) fn range(&self) -> RadioRange {
        RadioRange::new(self.propagation, self.rules.min_rx_power())
    }

    /// The medium of stations on these tracks.
    pub(crate) fn medium(&self, tracks: Vec<Track>) -> Medium {
        Medium::new(self.propagation, self.floor, self.speed_of_light, tracks)
    }
}

/// The definition of an 802.15.4 radio with the defaults of its profile; errors start at `path`.
pub(super) fn with_defaults(def: &RadioDef, path: &str) -> Result<RadioDef, ScenarioError> {
    check(def, path)?;
    let (ns2, ns3) = (def.profile == RadioProfile::Ns2, def.profile == RadioProfile::Ns3);
    let own = if ns2 { EnergyProfile::Ns2 } else { EnergyProfile::Cc2420 };
    let propagation = def.propagation.unwrap_or(if ns2 {
        PropagationDef::TwoRay(TwoRayDef::default())
    } else {
        PropagationDef::LogDistance(LogDistanceDef { loss_at_1m_db: Some(LOSS_AT_1M_DB), ..LogDistanceDef::default() })
    });
    let lrwpan = def.lrwpan.unwrap_or_default();
    let encap = if ns2 { EncapDef::RawIpv4 } else { EncapDef::Sixlowpan };
    let (sensitivity, cca_threshold) = thresholds(def.profile);
    let settings = LrwpanDef {
        mac: lrwpan.mac.or(Some(LrwpanMacDef::Std)),
        sensitivity: lrwpan.sensitivity.or(Some(sensitivity)),
        cca_threshold: lrwpan.cca_threshold.or(Some(cca_threshold)),
        encap: lrwpan.encap.or(Some(encap)),
        addresses: lrwpan.addresses.or(Some(AddressLength::Short)),
        acks: lrwpan.acks.or(Some(true)),
        mesh_under: lrwpan.mesh_under,
        neighbor_discovery: lrwpan.neighbor_discovery.or(Some(if ns3 {
            NeighborDiscoveryDef::Ns3
        } else {
            NeighborDiscoveryDef::None
        })),
        spaces: lrwpan.spaces.or(Some(!ns2)),
        min_be: lrwpan.min_be.or(Some(3)),
        max_be: lrwpan.max_be.or(Some(5)),
        max_backoffs: lrwpan.max_backoffs.or(Some(4)),
        max_retries: lrwpan.max_retries.or(Some(3)),
    };
    check_settings(&settings, &join(path, "lrwpan"))?;
    let with_defaults = RadioDef {
        queue_limit: def.queue_limit.or(Some(50)),
        propagation: Some(propagation),
        power: def.power.or(Some(if ns2 { Power(0.281_838_15) } else { Power(1e-3) })),
        frequency: def.frequency.or(Some(Frequency(if ns2 { 914e6 } else { 2405e6 }))),
        range_multiplier: def.range_multiplier.or(Some(1.0)),
        energy: def.energy.map(|energy| parts::energy_with_defaults(&energy, own)),
        arp: def.arp.or(Some(if ns2 { ArpDef::Ns2 } else { ArpDef::None })),
        lrwpan: Some(settings),
        ..def.clone()
    };
    parts::check(&with_defaults, path)?;
    Ok(with_defaults)
}

/// Receiver sensitivity and CCA threshold of a profile.
fn thresholds(profile: RadioProfile) -> (Power, Power) {
    match profile {
        RadioProfile::Std => (Power::from_dbm(SENSITIVITY_DBM), Power::from_dbm(ENERGY_DETECT_DBM)),
        RadioProfile::Ns2 => (Power(NS2_THRESHOLD), Power(NS2_THRESHOLD)),
        RadioProfile::Ns3 => {
            (Power::from_dbm(NS3_NOISE_DBM + NS3_DETECTION_DB), Power::from_dbm(NS3_ENERGY_DETECT_DBM))
        }
    }
}

/// Refuses options of 802.11.
fn check(def: &RadioDef, path: &str) -> Result<(), ScenarioError> {
    let foreign = [
        ("data_rate", def.data_rate.is_some()),
        ("rate_control", def.rate_control.is_some()),
        ("control_rate", def.control_rate.is_some()),
        ("basic_rate", def.basic_rate.is_some()),
        ("preamble", def.preamble.is_some()),
        ("aggregation", def.aggregation.is_some()),
        ("rts_threshold", def.rts_threshold.is_some()),
        ("short_retries", def.short_retries.is_some()),
        ("long_retries", def.long_retries.is_some()),
    ];
    if let Some((field, _)) = foreign.iter().find(|(_, given)| *given) {
        let message = "applies to 802.11 only; 802.15.4 transmits at 250 kb/s and has its options in `lrwpan`";
        return Err(ScenarioError::new(join(path, field), message).with_hint("leave it out"));
    }
    Ok(())
}

fn check_settings(def: &LrwpanDef, path: &str) -> Result<(), ScenarioError> {
    // The ranges of IEEE 802.15.4-2011 §6.4.2, table 52.
    let (min_be, max_be) = (def.min_be.unwrap_or(3), def.max_be.unwrap_or(5));
    let fields = [
        ("min_be", min_be, 0, max_be),
        ("max_be", max_be, 3, 8),
        ("max_backoffs", def.max_backoffs.unwrap_or(4), 0, 5),
        ("max_retries", def.max_retries.unwrap_or(3), 0, 7),
        // RFC 4944 §5.2: four bits, of which 15 announces another byte.
        ("mesh_under", def.mesh_under.unwrap_or(1), 1, 14),
    ];
    let of_ipv6 = [
        ("mesh_under", def.mesh_under.is_some(), "floods 6LoWPAN frames"),
        ("neighbor_discovery", def.neighbor_discovery == Some(NeighborDiscoveryDef::Ns3), "belongs to IPv6"),
    ];
    let given = of_ipv6.into_iter().find(|(_, is_given, _)| *is_given && def.encap == Some(EncapDef::RawIpv4));
    if let Some((field, _, what)) = given {
        let error = ScenarioError::new(join(path, field), format!("{what}, and `encap` is \"raw_ipv4\""));
        return Err(error.with_hint("encap = \"sixlowpan\""));
    }
    if def.mac == Some(LrwpanMacDef::Ns2) && (def.encap != Some(EncapDef::RawIpv4) || def.acks == Some(false)) {
        let message = "that of ns-2 carries plain IPv4 in acknowledged frames";
        return Err(ScenarioError::new(join(path, "mac"), message).with_hint("encap = \"raw_ipv4\", acks = true"));
    }
    match fields.into_iter().find(|(_, value, min, max)| !(min..=max).contains(&value)) {
        Some((field, value, min, max)) => {
            Err(ScenarioError::new(join(path, field), format!("{value} is not from {min} to {max}")))
        }
        None => Ok(()),
    }
}

/// The parameters that a definition with defaults describes.
pub(crate) fn build(def: &RadioDef) -> LrWpanRadio {
    let (ns2, ns3) = (def.profile == RadioProfile::Ns2, def.profile == RadioProfile::Ns3);
    let lrwpan = def.lrwpan.expect("a filled-in radio of 802.15.4 has its settings");
    let watts = |level| Power::from_dbm(level).0;
    let sensitivity = lrwpan.sensitivity.expect("filled-in settings have a sensitivity").0;
    let energy_detect = lrwpan.cca_threshold.expect("filled-in settings have a threshold").0;
    let ns2_mac = lrwpan.mac == Some(LrwpanMacDef::Ns2);
    // A signal below the floor, a tenth of the noise, changes no SINR by more than half a decibel.
    let (reception, ratio, floor) = match def.profile {
        _ if ns2_mac => {
            let reception = Reception::Addressed { carrier_sense: energy_detect, receive: sensitivity };
            (reception, NS2_CAPTURE, energy_detect)
        }
        RadioProfile::Ns2 => {
            let reception = Reception::Sinr { sensitivity, energy_detect, noise: 0.0 };
            (reception, NS2_CAPTURE, sensitivity.min(energy_detect))
        }
        RadioProfile::Ns3 => {
            let noise = watts(NS3_NOISE_DBM);
            let preamble_detection = parts::linear(NS3_DETECTION_DB);
            let reception = Reception::Errors { sensitivity, energy_detect, noise, preamble_detection };
            (reception, parts::linear(NS3_HALF_DB), watts(NS3_NOISE_DBM - 10.0))
        }
        RadioProfile::Std => {
            let reception = Reception::Sinr { sensitivity, energy_detect, noise: watts(NOISE_DBM) };
            (reception, parts::linear(CO_CHANNEL_DB), watts(NOISE_DBM - 10.0))
        }
    };
    let long = lrwpan.addresses == Some(AddressLength::Long);
    // IEEE 802.15.4-2011 §5.2.1: frame control 2, sequence number 1, PAN ID 2, addresses, FCS 2. The broadcast address
    // is short.
    let header = |to, from| if ns2 { NS2_HEADER } else { Bytes(7 + to + from) };
    let own = if long { 8 } else { 2 };
    // RFC 4944 §5.2, §11.1: the mesh header has a byte and both addresses, the broadcast header 2 B.
    let mesh = if lrwpan.mesh_under.is_some() { Bytes(1 + 2 * own + 2) } else { Bytes::ZERO };
    let rules = LrWpanRules {
        encap: match lrwpan.encap {
            Some(EncapDef::RawIpv4) => Encap::RawIpv4,
            Some(EncapDef::Sixlowpan) | None => Encap::Sixlowpan { iid_bytes: own, has_context: !ns3 },
        },
        // The frames of a mesh are broadcast.
        unicast_header: if mesh > Bytes::ZERO { header(2, own) + mesh } else { header(own, own) },
        broadcast_header: header(2, own) + mesh,
        min_be: lrwpan.min_be.unwrap_or(3),
        max_be: lrwpan.max_be.unwrap_or(5),
        max_backoffs: lrwpan.max_backoffs.unwrap_or(4),
        max_retries: lrwpan.max_retries.unwrap_or(3),
        acks: lrwpan.acks != Some(false),
        ns2_mac,
        mesh_under: lrwpan.mesh_under.map(|radius| radius as u8),
        spaces: lrwpan.spaces != Some(false),
        reception,
        frame_error: def.frame_error.unwrap_or(0.0),
        ratio,
        queue_limit: def.queue_limit.unwrap_or(50) as usize,
        queue_order: if ns2 { QueueOrder::RoutingFirst } else { QueueOrder::Fifo },
        queue_lifetime: def.queue_lifetime,
    };
    let speed_of_light = if ns2 { SPEED_OF_LIGHT_NS2 } else { SPEED_OF_LIGHT };
    let propagation = parts::propagation(def, speed_of_light);
    let energy = def.energy.map(|energy| parts::energy_model(&energy, reception));
    LrWpanRadio { rules, propagation, floor, speed_of_light, energy }
}
