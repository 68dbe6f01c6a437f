//! 802.15.4: defaults of a radio by profile, and the parameters of its MAC and medium.

use tcp::units::{Bytes, Span};

use super::parts;
use crate::mobility::Track;
use crate::radio::energy::EnergyModel;
use crate::radio::lrwpan::rules::{Access, Encap, LrWpanRules};
use crate::radio::medium::Medium;
use crate::radio::profiles::{Detection, LRWPAN, OWN_MAC_DROPS, OWN_MAC_REFUSAL, own_access};
use crate::radio::propagation::{Propagation, RadioRange};
use crate::scenario::{
    AccessFailureDef, AddressLength, EncapDef, LrwpanDef, LrwpanMacDef, NeighborDiscoveryDef, RadioDef, RadioProfile,
    ScenarioError, join,
};

/// Parameters of an 802.15.4 channel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LrWpanRadio {
    pub(crate) rules: LrWpanRules,
    pub(crate) propagation: Propagation,
    /// Watts below which signals are ignored.
    pub(in crate::radio) floor: f64,
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
    let profile = def.profile;
    let settings = settings(def.lrwpan.unwrap_or_default(), profile);
    check_settings(&settings, &join(path, "lrwpan"))?;
    let filled = RadioDef {
        queue_limit: def.queue_limit.or(Some(50)),
        propagation: def.propagation.or(Some(LRWPAN.propagation[profile])),
        power: def.power.or(Some(LRWPAN.power[profile].power())),
        frequency: def.frequency.or(Some(LRWPAN.frequency[profile])),
        range_multiplier: def.range_multiplier.or(Some(1.0)),
        energy: def.energy.map(|energy| parts::energy_with_defaults(&energy, LRWPAN.energy[profile])),
        arp: def.arp.or(Some(LRWPAN.arp[profile])),
        lrwpan: Some(settings),
        ..def.clone()
    };
    parts::check(&filled, path)?;
    Ok(filled)
}

/// The settings with the defaults of the profile.
fn settings(def: LrwpanDef, profile: RadioProfile) -> LrwpanDef {
    LrwpanDef {
        mac: def.mac.or(Some(LrwpanMacDef::Std)),
        sensitivity: def.sensitivity.or(Some(LRWPAN.sensitivity[profile].power())),
        cca_threshold: def.cca_threshold.or(Some(LRWPAN.cca_threshold[profile].power())),
        encap: def.encap.or(Some(LRWPAN.encap[profile])),
        addresses: def.addresses.or(Some(AddressLength::Short)),
        acks: def.acks.or(Some(true)),
        mesh_under: def.mesh_under,
        neighbor_discovery: def.neighbor_discovery.or(Some(LRWPAN.neighbor_discovery[profile])),
        spaces: def.spaces.or(Some(LRWPAN.spaces[profile])),
        min_be: def.min_be.or(Some(3)),
        max_be: def.max_be.or(Some(5)),
        max_backoffs: def.max_backoffs.or(Some(4)),
        access_failure: def.access_failure.or(Some(access_failure(def.mac, profile))),
        max_retries: def.max_retries.or(Some(3)),
        retry_delay: def.retry_delay.or(Some(Span::ZERO)),
        board_time: def.board_time.or(Some(Span::ZERO)),
    }
}

/// What follows a channel access failure where nothing is said.
fn access_failure(mac: Option<LrwpanMacDef>, profile: RadioProfile) -> AccessFailureDef {
    if own_access(mac).is_some() { AccessFailureDef::Drop } else { LRWPAN.access_failure[profile] }
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
        ("scheduler", def.scheduler.is_some()),
        ("rates", !def.rates.is_empty()),
        ("rts_threshold", def.rts_threshold.is_some()),
        ("sensitivity", def.sensitivity.is_some()),
        ("cca_threshold", def.cca_threshold.is_some()),
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
    // The ranges of IEEE 802.15.4-2011 §6.4.2, table 52; of `max_retries`, which ends at 7 there, that of OpenThread.
    let (min_be, max_be) = (def.min_be.unwrap_or(3), def.max_be.unwrap_or(5));
    let fields = [
        ("min_be", min_be, 0, max_be),
        ("max_be", max_be, 3, 8),
        ("max_backoffs", def.max_backoffs.unwrap_or(4), 0, 5),
        ("max_retries", def.max_retries.unwrap_or(3), 0, 15),
        // RFC 4944 §5.2: four bits, of which 15 announces another byte.
        ("mesh_under", def.mesh_under.unwrap_or(1), 1, 14),
    ];
    let of_ipv6 = [
        ("mesh_under", def.mesh_under.is_some(), "floods 6LoWPAN frames"),
        (
            "neighbor_discovery",
            !matches!(def.neighbor_discovery, None | Some(NeighborDiscoveryDef::None)),
            "belongs to IPv6",
        ),
    ];
    let given = of_ipv6.into_iter().find(|(_, is_given, _)| *is_given && def.encap == Some(EncapDef::RawIpv4));
    if let Some((field, _, what)) = given {
        let error = ScenarioError::new(join(path, field), format!("{what}, and `encap` is \"raw_ipv4\""));
        return Err(error.with_hint("encap = \"sixlowpan\""));
    }
    if def.mac != Some(LrwpanMacDef::Std) && def.access_failure == Some(AccessFailureDef::Retry) {
        let message = OWN_MAC_DROPS;
        return Err(ScenarioError::new(join(path, "access_failure"), message).with_hint("access_failure = \"drop\""));
    }
    if def.mac != Some(LrwpanMacDef::Std) && (def.encap != Some(EncapDef::RawIpv4) || def.acks == Some(false)) {
        let message = OWN_MAC_REFUSAL;
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
    let profile = def.profile;
    let lrwpan = def.lrwpan.expect("a filled-in radio of 802.15.4 has its settings");
    let sensitivity = lrwpan.sensitivity.expect("filled-in settings have a sensitivity").0;
    let cca_threshold = lrwpan.cca_threshold.expect("filled-in settings have a threshold").0;
    let (access, detection) = own_access(lrwpan.mac).unwrap_or((Access::Csma, LRWPAN.detection[profile]));
    let Detection { reception, ratio, floor } = detection(sensitivity, cca_threshold);
    let headers = Headers::new(&lrwpan, profile);
    let rules = LrWpanRules {
        encap: match lrwpan.encap {
            Some(EncapDef::RawIpv4) => Encap::RawIpv4,
            Some(EncapDef::Sixlowpan) | None => {
                Encap::Sixlowpan { iid_bytes: headers.own, has_context: LRWPAN.has_context[profile] }
            }
        },
        unicast_header: headers.unicast,
        broadcast_header: headers.broadcast,
        min_be: lrwpan.min_be.unwrap_or(3),
        max_be: lrwpan.max_be.unwrap_or(5),
        max_backoffs: lrwpan.max_backoffs.unwrap_or(4),
        max_retries: lrwpan.max_retries.unwrap_or(3),
        retries_access: lrwpan.access_failure == Some(AccessFailureDef::Retry),
        retry_delay: lrwpan.retry_delay.unwrap_or(Span::ZERO),
        board_time: lrwpan.board_time.unwrap_or(Span::ZERO),
        acks: lrwpan.acks != Some(false),
        access,
        mesh_under: lrwpan.mesh_under.map(|radius| radius as u8),
        spaces: lrwpan.spaces != Some(false),
        reception,
        frame_error: def.frame_error.unwrap_or(0.0),
        ratio,
        queue_limit: def.queue_limit.unwrap_or(50) as usize,
        queue_order: LRWPAN.queue_order[profile],
        queue_lifetime: def.queue_lifetime,
    };
    let speed_of_light = LRWPAN.speed_of_light[profile];
    let propagation = parts::propagation(def, speed_of_light);
    let energy = def.energy.map(|energy| parts::energy_model(&energy, reception));
    LrWpanRadio { rules, propagation, floor, speed_of_light, energy }
}

/// What the MAC adds to frames.
struct Headers {
    /// Bytes of a station's own address.
    own: u64,
    unicast: Bytes,
    broadcast: Bytes,
}

impl Headers {
    fn new(lrwpan: &LrwpanDef, profile: RadioProfile) -> Headers {
        let own = if lrwpan.addresses == Some(AddressLength::Long) { 8 } else { 2 };
        // IEEE 802.15.4-2011 §5.2.1: frame control 2, sequence number 1, PAN ID 2, addresses, FCS 2. The broadcast address is short.
        let header = |to, from| LRWPAN.header[profile].unwrap_or(Bytes(7 + to + from));
        // RFC 4944 §5.2, §11.1: the mesh header has a byte and both addresses, the broadcast header 2 B.
        let mesh = if lrwpan.mesh_under.is_some() { Bytes(1 + 2 * own + 2) } else { Bytes::ZERO };
        let broadcast = header(2, own) + mesh;
        // The frames of a mesh are broadcast.
        let unicast = if lrwpan.mesh_under.is_some() { broadcast } else { header(own, own) };
        Headers { own, unicast, broadcast }
    }
}
