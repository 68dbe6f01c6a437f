//! From the definition of a routing protocol in a scenario to the agents of a subnet.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span};

use super::aodv::AodvRules;
use super::dsdv::DsdvRules;
use super::dsr::SourceRoute;
use super::profiles::{self, AODV, BUFFER_LIFETIME, DSDV, DsdvAgent};
use super::route_buffer::BufferLimits;
use super::{Agent, Aodv, Dsdv, Dsr, PromptDsdv, RouteBuffer};
use crate::ids::{PacketId, StationId};
use crate::scenario::{AodvDef, DsdvDef, DsdvProfile, DsrDef, RadioProfile, RoutingDef, ScenarioError, join};

/// Maximum size of an update of `std` on 802.11.
pub(crate) const MTU: Bytes = Bytes(1500);

/// The routing agents of a subnet, and the properties of their protocol.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    pub(crate) agents: Vec<Agent>,
    /// By station, packets that wait for a route.
    pub(crate) buffers: Vec<RouteBuffer>,
    /// Header on every packet of a transport.
    pub(crate) packet_header: Bytes,
    /// Initial TTL, if the protocol sets one.
    pub(crate) ttl: Option<u8>,
    /// A packet that the MAC gave up is routed again instead of dropped.
    pub(crate) reroutes_failed: bool,
    /// The MAC reports link failures to the agent; queued packets for the same neighbour share the fate of the failed
    /// one.
    pub(crate) link_feedback: bool,
    /// Stations ignore messages from domains of other gateways.
    pub(crate) domain_filter: bool,
    /// A packet that leaves the domain is not buffered for a route to the gateway.
    pub(crate) buffers_inside_only: bool,
    /// DSR: the source routes of packets, by packet. An entry outlives its packet until the next one of the same number
    /// begins, so that late listeners can read it.
    pub(crate) source_routes: BTreeMap<u32, SourceRoute>,
}

impl Protocol {
    /// Bytes that a station adds to a packet.
    pub(crate) fn header(&self, at: StationId, packet: PacketId) -> Bytes {
        match (&self.agents[at.index()], self.source_routes.get(&packet.0)) {
            (Agent::Dsr(_), Some(route)) => self.packet_header + route.header,
            _ => self.packet_header,
        }
    }
}

/// The definition of a protocol with the defaults of its profile; errors start at `path`.
pub(crate) fn with_defaults(def: &RoutingDef, radio: RadioProfile, path: &str) -> Result<RoutingDef, ScenarioError> {
    match def {
        RoutingDef::Dsdv(dsdv) => dsdv_with_defaults(dsdv, radio, path).map(RoutingDef::Dsdv),
        RoutingDef::Aodv(aodv) => aodv_with_defaults(aodv, radio, path).map(RoutingDef::Aodv),
        RoutingDef::Dsr(dsr) => Ok(RoutingDef::Dsr(DsrDef { profile: dsr.profile.or(Some(profiles::dsr_of(radio))) })),
        RoutingDef::Shortest(_) | RoutingDef::AccessPoints(_) => Ok(def.clone()),
    }
}

fn dsdv_with_defaults(def: &DsdvDef, radio: RadioProfile, path: &str) -> Result<DsdvDef, ScenarioError> {
    let profile = def.profile.unwrap_or(profiles::dsdv_of(radio));
    let interval = def.update_interval.unwrap_or(Span::from_millis(15_000));
    let settling = def.settling.unwrap_or(DSDV.settling[profile]);
    within(interval, Span::from_millis(100), &join(path, "update_interval"))?;
    within(settling, Span::ZERO, &join(path, "settling"))?;
    let domain_filter = def.domain_filter.or(Some(DSDV.domain_filter[profile]));
    Ok(DsdvDef { profile: Some(profile), update_interval: Some(interval), settling: Some(settling), domain_filter })
}

fn aodv_with_defaults(def: &AodvDef, radio: RadioProfile, path: &str) -> Result<AodvDef, ScenarioError> {
    let profile = def.profile.unwrap_or(profiles::aodv_of(radio));
    let active_timeout = def.active_timeout.unwrap_or(AODV.active_timeout[profile]);
    within(active_timeout, Span::from_millis(100), &join(path, "active_timeout"))?;
    let hellos = def.hellos.or(Some(AODV.hellos[profile]));
    Ok(AodvDef { profile: Some(profile), active_timeout: Some(active_timeout), hellos })
}

fn within(span: Span, min: Span, path: &str) -> Result<(), ScenarioError> {
    let max = Span::from_millis(3_600_000);
    if span < min || span > max {
        return Err(ScenarioError::new(path, format!("{span} is not from {min} to {max}")));
    }
    Ok(())
}

/// The agents that a definition with defaults describes; `None` if it has no messages. `mtu` is the longest
/// unfragmented message; `rng` gives the stream of a station.
pub(crate) fn protocol(def: &RoutingDef, stations: u32, mtu: Bytes, rng: impl Fn(u32) -> Rng) -> Option<Protocol> {
    let limits = buffer_limits(def);
    let protocol = Protocol {
        agents: (0..stations)
            .map(|station| agent(def, StationId(station), mtu, rng(station)))
            .collect::<Option<Vec<_>>>()?,
        buffers: (0..stations).map(|_| RouteBuffer::new(limits)).collect(),
        packet_header: Bytes::ZERO,
        ttl: None,
        reroutes_failed: false,
        link_feedback: true,
        domain_filter: true,
        buffers_inside_only: false,
        source_routes: BTreeMap::new(),
    };
    Some(match def {
        RoutingDef::Dsdv(def) => {
            let profile = profile_of(def);
            Protocol {
                packet_header: DSDV.packet_header[profile],
                ttl: DSDV.ttl[profile],
                reroutes_failed: DSDV.link_feedback[profile],
                link_feedback: DSDV.link_feedback[profile],
                domain_filter: def.domain_filter != Some(false),
                buffers_inside_only: DSDV.buffers_inside_only[profile],
                ..protocol
            }
        }
        RoutingDef::Aodv(def) => Protocol { ttl: AODV.ttl[def.profile.unwrap_or_default()], ..protocol },
        RoutingDef::Dsr(def) => Protocol { packet_header: profiles::dsr(def.profile).packet_header, ..protocol },
        RoutingDef::Shortest(_) | RoutingDef::AccessPoints(_) => protocol,
    })
}

/// True if the queues of stations serve routing messages, then acknowledgments, then all else.
pub(crate) fn serves_by_class(def: &DsrDef) -> bool {
    profiles::dsr(def.profile).serves_by_class
}

fn profile_of(def: &DsdvDef) -> DsdvProfile {
    def.profile.expect("a filled-in DSDV has a profile")
}

fn agent(def: &RoutingDef, me: StationId, mtu: Bytes, rng: Rng) -> Option<Agent> {
    match def {
        RoutingDef::Shortest(_) | RoutingDef::AccessPoints(_) => None,
        RoutingDef::Dsdv(def) => {
            let profile = profile_of(def);
            let interval = def.update_interval.expect("a filled-in DSDV has an interval");
            let settling = def.settling.expect("a filled-in DSDV has a settling time");
            let rules = DsdvRules {
                interval,
                settling,
                header: DSDV.header[profile],
                mtu: DSDV.splits_updates[profile].then_some(mtu),
                link_feedback: DSDV.link_feedback[profile],
            };
            Some(match DSDV.agent[profile] {
                DsdvAgent::Prompt => Agent::PromptDsdv(PromptDsdv::new(me, interval, settling, rng)),
                DsdvAgent::Settling => Agent::Dsdv(Dsdv::new(me, rules, rng)),
            })
        }
        RoutingDef::Aodv(def) => Some(Agent::Aodv(Aodv::new(me, aodv_rules(def), rng))),
        RoutingDef::Dsr(def) => Some(Agent::Dsr(Dsr::new(me, profiles::dsr(def.profile).rules, rng))),
    }
}

fn buffer_limits(def: &RoutingDef) -> BufferLimits {
    match def {
        RoutingDef::Dsdv(def) => {
            let profile = profile_of(def);
            BufferLimits { per_destination: 5, total: DSDV.buffer[profile], lifetime: DSDV.lifetime[profile] }
        }
        _ => BufferLimits { per_destination: 64, total: 64, lifetime: Some(BUFFER_LIFETIME) },
    }
}

fn aodv_rules(def: &AodvDef) -> AodvRules {
    AodvRules {
        active_timeout: def.active_timeout.expect("a filled-in AODV has a timeout"),
        ttl_start: AODV.ttl_start[def.profile.unwrap_or_default()],
        hellos: def.hellos.expect("a filled-in AODV has hellos or none"),
    }
}
