//! What routing protocols do where a scenario does not say: the standard, ns-2.35 and ns-3.37, side by side. A row has the values of
//! the profiles `std`, `ns2` and `ns3`, in this order; DSR has no `ns3`, and a column for each of its profiles.

use tcp::units::{Bytes, Span};

use super::dsr::{DsrRules, Sizes};
use crate::packet::header::{IP_HEADER, UDP_HEADER};
use crate::scenario::{AodvProfile, DsdvProfile, DsrProfile, RadioProfile, Row};

/// The implementation of DSDV.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DsdvAgent {
    /// A change is advertised when it has settled.
    Settling,
    /// A change is advertised at once, unless the hop count changed.
    Prompt,
}

pub(super) struct DsdvTable {
    pub(super) agent: Row<DsdvAgent>,
    pub(super) settling: Row<Span>,
    pub(super) domain_filter: Row<bool>,
    /// Size of the headers of a message.
    pub(super) header: Row<Bytes>,
    /// Updates longer than the MTU are split.
    pub(super) splits_updates: Row<bool>,
    /// The MAC reports link failures, and a packet that it gave up is routed again.
    pub(super) link_feedback: Row<bool>,
    /// Header on every packet of a transport.
    pub(super) packet_header: Row<Bytes>,
    /// Initial TTL, if the protocol sets one.
    pub(super) ttl: Row<Option<u8>>,
    pub(super) buffers_inside_only: Row<bool>,
    /// Packets that wait for routes at a station, and how long.
    pub(super) buffer: Row<usize>,
    pub(super) lifetime: Row<Option<Span>>,
}

pub(super) const DSDV: DsdvTable = DsdvTable {
    agent: Row([DsdvAgent::Settling, DsdvAgent::Settling, DsdvAgent::Prompt]),
    settling: Row([Span::from_millis(6_000), Span::from_millis(6_000), Span::from_millis(5_000)]),
    domain_filter: Row([true, false, true]),
    header: Row([Bytes(IP_HEADER.0 + UDP_HEADER.0), IP_HEADER, IP_HEADER]),
    splits_updates: Row([true, false, false]),
    link_feedback: Row([true, false, false]),
    packet_header: Row([Bytes::ZERO, Bytes(20), Bytes::ZERO]),
    ttl: Row([None, Some(32), None]),
    buffers_inside_only: Row([false, true, false]),
    buffer: Row([usize::MAX, usize::MAX, 500]),
    lifetime: Row([None, None, Some(BUFFER_LIFETIME)]),
};

/// Maximum time that a packet is buffered for a route, but in most implementations of DSDV.
pub(super) const BUFFER_LIFETIME: Span = Span::from_millis(30_000);

pub(super) struct AodvTable {
    pub(super) active_timeout: Row<Span>,
    pub(super) hellos: Row<bool>,
    /// Hops of the first ring (TTL_START).
    pub(super) ttl_start: Row<u32>,
    /// Initial TTL of packets, if the protocol sets one.
    pub(super) ttl: Row<Option<u8>>,
}

pub(super) const AODV: AodvTable = AodvTable {
    active_timeout: Row([Span::from_millis(3_000), Span::from_millis(10_000), Span::from_millis(3_000)]),
    hellos: Row([false, false, true]),
    ttl_start: Row([1, 5, 1]),
    ttl: Row([None, Some(32), None]),
};

/// A profile of DSR.
pub(super) struct DsrColumn {
    pub(super) rules: DsrRules,
    /// Header on every packet of a transport.
    pub(super) packet_header: Bytes,
    /// The queues of stations serve routing messages, then acknowledgments, then all else.
    pub(super) serves_by_class: bool,
}

const DSR_STD: DsrColumn = DsrColumn {
    rules: DsrRules {
        period: Span::from_millis(500),
        backoff: 2,
        sizes: Sizes::Rfc,
        flow_state: false,
        check_delay: false,
    },
    packet_header: Bytes::ZERO,
    serves_by_class: false,
};

const DSR_NS2: DsrColumn = DsrColumn {
    rules: DsrRules {
        period: Span::from_millis(2_000),
        backoff: 4,
        sizes: Sizes::Growing,
        flow_state: true,
        check_delay: true,
    },
    packet_header: Bytes(20),
    serves_by_class: true,
};

pub(super) fn dsr(profile: Option<DsrProfile>) -> &'static DsrColumn {
    match profile {
        Some(DsrProfile::Ns2) => &DSR_NS2,
        Some(DsrProfile::Std) | None => &DSR_STD,
    }
}

/// The profile of DSDV that goes with a radio.
pub(super) fn dsdv_of(radio: RadioProfile) -> DsdvProfile {
    match radio {
        RadioProfile::Std => DsdvProfile::Std,
        RadioProfile::Ns2 => DsdvProfile::Ns2,
        RadioProfile::Ns3 => DsdvProfile::Ns3,
    }
}

/// The profile of AODV that goes with a radio.
pub(super) fn aodv_of(radio: RadioProfile) -> AodvProfile {
    match radio {
        RadioProfile::Std => AodvProfile::Std,
        RadioProfile::Ns2 => AodvProfile::Ns2,
        RadioProfile::Ns3 => AodvProfile::Ns3,
    }
}

/// The profile of DSR that goes with a radio.
pub(super) fn dsr_of(radio: RadioProfile) -> DsrProfile {
    match radio {
        RadioProfile::Ns2 => DsrProfile::Ns2,
        RadioProfile::Std | RadioProfile::Ns3 => DsrProfile::Std,
    }
}
