//! From the definition of a routing protocol in a scenario to the agents of a subnet.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span};

use super::aodv::AodvRules;
use super::dsdv::DsdvRules;
use super::dsr::{DsrRules, SourceRoute};
use super::route_buffer::BufferLimits;
use super::{Agent, Aodv, Dsdv, DsdvNs3, Dsr, RouteBuffer};
use crate::ids::{PacketId, StationId};
use crate::packet::header::{IP_HEADER, UDP_HEADER};
use crate::scenario::{
    AodvDef, AodvProfile, DsdvDef, DsdvProfile, DsrDef, DsrProfile, RadioProfile, RoutingDef, ScenarioError, join,
};

/// Initial TTL in ns-2.
const NS2_TTL: u8 = 32;
/// Header that ns-2's DSDV and DSR add to every packet of a transport.
const NS2_ROUTING_HEADER: Bytes = Bytes(20);
/// Maximum time that a packet is buffered for a route, in AODV and in ns-3's DSDV.
const LIFETIME: Span = Span::from_millis(30_000);
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
    /// ns-2: a packet that leaves the domain is not buffered for a route to the gateway (networks.md §9.4).
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
        RoutingDef::Dsr(dsr) => {
            let ns2 = radio == RadioProfile::Ns2;
            let profile = dsr.profile.unwrap_or(if ns2 { DsrProfile::Ns2 } else { DsrProfile::Std });
            Ok(RoutingDef::Dsr(DsrDef { profile: Some(profile) }))
        }
        RoutingDef::Shortest(_) | RoutingDef::AccessPoints(_) => Ok(def.clone()),
    }
}

fn dsdv_with_defaults(def: &DsdvDef, radio: RadioProfile, path: &str) -> Result<DsdvDef, ScenarioError> {
    let profile = def.profile.unwrap_or(match radio {
        RadioProfile::Std => DsdvProfile::Std,
        RadioProfile::Ns2 => DsdvProfile::Ns2,
        RadioProfile::Ns3 => DsdvProfile::Ns3,
    });
    let interval = def.update_interval.unwrap_or(Span::from_millis(15_000));
    let settling = def.settling.unwrap_or(Span::from_millis(if profile == DsdvProfile::Ns3 { 5_000 } else { 6_000 }));
    within(interval, Span::from_millis(100), &join(path, "update_interval"))?;
    within(settling, Span::ZERO, &join(path, "settling"))?;
    let domain_filter = def.domain_filter.or(Some(profile != DsdvProfile::Ns2));
    Ok(DsdvDef { profile: Some(profile), update_interval: Some(interval), settling: Some(settling), domain_filter })
}

fn aodv_with_defaults(def: &AodvDef, radio: RadioProfile, path: &str) -> Result<AodvDef, ScenarioError> {
    let profile = def.profile.unwrap_or(match radio {
        RadioProfile::Std => AodvProfile::Std,
        RadioProfile::Ns2 => AodvProfile::Ns2,
        RadioProfile::Ns3 => AodvProfile::Ns3,
    });
    let ns2 = profile == AodvProfile::Ns2;
    let active_timeout = def.active_timeout.unwrap_or(Span::from_millis(if ns2 { 10_000 } else { 3_000 }));
    within(active_timeout, Span::from_millis(100), &join(path, "active_timeout"))?;
    let hellos = def.hellos.unwrap_or(profile == AodvProfile::Ns3);
    Ok(AodvDef { profile: Some(profile), active_timeout: Some(active_timeout), hellos: Some(hellos) })
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
    let agents =
        (0..stations).map(|station| agent(def, StationId(station), mtu, rng(station))).collect::<Option<Vec<_>>>()?;
    let limits = match def {
        RoutingDef::Dsdv(def) => dsdv_limits(def),
        _ => BufferLimits { per_destination: 64, total: 64, lifetime: Some(LIFETIME) },
    };
    let dsdv = |profile| matches!(def, RoutingDef::Dsdv(def) if def.profile == Some(profile));
    let aodv = |profile| matches!(def, RoutingDef::Aodv(def) if def.profile == Some(profile));
    let dsr_ns2 = matches!(def, RoutingDef::Dsr(def) if def.profile == Some(DsrProfile::Ns2));
    Some(Protocol {
        agents,
        buffers: (0..stations).map(|_| RouteBuffer::new(limits)).collect(),
        packet_header: if dsdv(DsdvProfile::Ns2) || dsr_ns2 { NS2_ROUTING_HEADER } else { Bytes::ZERO },
        ttl: (dsdv(DsdvProfile::Ns2) || aodv(AodvProfile::Ns2)).then_some(NS2_TTL),
        reroutes_failed: dsdv(DsdvProfile::Std),
        link_feedback: dsdv(DsdvProfile::Std) || matches!(def, RoutingDef::Aodv(_) | RoutingDef::Dsr(_)),
        domain_filter: !matches!(def, RoutingDef::Dsdv(def) if def.domain_filter == Some(false)),
        buffers_inside_only: dsdv(DsdvProfile::Ns2),
        source_routes: BTreeMap::new(),
    })
}

fn agent(def: &RoutingDef, me: StationId, mtu: Bytes, rng: Rng) -> Option<Agent> {
    match def {
        RoutingDef::Shortest(_) | RoutingDef::AccessPoints(_) => None,
        RoutingDef::Dsdv(def) => {
            let interval = def.update_interval.expect("a filled-in DSDV has an interval");
            let settling = def.settling.expect("a filled-in DSDV has a settling time");
            let std = def.profile == Some(DsdvProfile::Std);
            let header = if std { IP_HEADER + UDP_HEADER } else { IP_HEADER };
            let rules = DsdvRules { interval, settling, header, mtu: std.then_some(mtu), link_feedback: std };
            Some(match def.profile {
                Some(DsdvProfile::Ns3) => Agent::DsdvNs3(DsdvNs3::new(me, interval, settling, rng)),
                _ => Agent::Dsdv(Dsdv::new(me, rules, rng)),
            })
        }
        RoutingDef::Aodv(def) => Some(Agent::Aodv(Aodv::new(me, aodv_rules(def), rng))),
        RoutingDef::Dsr(def) => {
            let ns2 = def.profile == Some(DsrProfile::Ns2);
            Some(Agent::Dsr(Dsr::new(me, if ns2 { DsrRules::NS2 } else { DsrRules::STD }, rng)))
        }
    }
}

fn dsdv_limits(def: &DsdvDef) -> BufferLimits {
    let ns3 = def.profile == Some(DsdvProfile::Ns3);
    BufferLimits { per_destination: 5, total: if ns3 { 500 } else { usize::MAX }, lifetime: ns3.then_some(LIFETIME) }
}

fn aodv_rules(def: &AodvDef) -> AodvRules {
    AodvRules {
        active_timeout: def.active_timeout.expect("a filled-in AODV has a timeout"),
        // ns-2 starts with a ring of 5.
        ttl_start: if def.profile == Some(AodvProfile::Ns2) { 5 } else { 1 },
        hellos: def.hellos.expect("a filled-in AODV has hellos or none"),
    }
}
