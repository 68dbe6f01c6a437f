//! Messages of routing, address resolution and access points on their way.

use tcp::units::Span;

use crate::ids::StationId;

/// What such a message says.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Message {
    /// An update of DSDV.
    Dsdv(Vec<RouteAdvertisement>),
    /// A message of AODV.
    Aodv(AodvMessage),
    /// Address resolution: the sender asks, or answers.
    Arp(ArpMessage),
    /// An access point says that it is there.
    Beacon,
    /// A station joins an access point.
    Association(AssociationMessage),
}

/// The steps of joining: each is answered by the next (IEEE 802.11 §11.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AssociationMessage {
    AuthenticationRequest,
    AuthenticationResponse,
    AssociationRequest,
    AssociationResponse,
}

/// A line of a DSDV update: the way of its sender to a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RouteAdvertisement {
    pub(crate) destination: StationId,
    /// Hops of the sender.
    pub(crate) metric: u32,
    /// Even: alive; odd: broken.
    pub(crate) sequence: u32,
}

/// What stations say in AODV (RFC 3561 §5).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AodvMessage {
    Request(RouteRequest),
    Reply(RouteReply),
    /// Destinations that the sender cannot reach any more, with their sequence numbers.
    Error(Vec<Unreachable>),
}

/// RREQ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RouteRequest {
    /// Number of the request at its originator.
    pub(crate) id: u32,
    pub(crate) hops: u32,
    /// Stations that may still pass it on.
    pub(crate) ttl: u32,
    pub(crate) originator: StationId,
    pub(crate) originator_sequence: u32,
    pub(crate) destination: StationId,
    /// The latest the originator knows of, if any.
    pub(crate) destination_sequence: Option<u32>,
}

/// RREP; as a hello it goes to all, about its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RouteReply {
    pub(crate) hops: u32,
    pub(crate) destination: StationId,
    pub(crate) destination_sequence: u32,
    pub(crate) originator: StationId,
    /// How long the route is good.
    pub(crate) lifetime: Span,
}

/// A line of RERR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unreachable {
    pub(crate) destination: StationId,
    pub(crate) sequence: u32,
}

/// Address resolution of ns-2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArpMessage {
    /// Who is this?
    Request(StationId),
    Reply,
}
