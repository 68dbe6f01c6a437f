//! Messages of routing protocols, address resolution, beacons and association.

use tcp::units::Span;

use crate::ids::StationId;

/// A message.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Message {
    /// A DSDV update.
    Dsdv(Vec<RouteAdvertisement>),
    /// An AODV message.
    Aodv(AodvMessage),
    /// A DSR message.
    Dsr(DsrMessage),
    /// An ARP message.
    Arp(ArpMessage),
    /// A message of Neighbor Discovery.
    Ndp(NdpMessage),
    /// A beacon of an access point.
    Beacon,
    /// A step of authentication and association.
    Association(AssociationMessage),
}

/// The steps of authentication and association, each answered by the next (IEEE 802.11 §11.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AssociationMessage {
    AuthenticationRequest,
    AuthenticationResponse,
    AssociationRequest,
    AssociationResponse,
}

/// An entry of a DSDV update: the sender's route to a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RouteAdvertisement {
    pub(crate) destination: StationId,
    /// Hop count of the sender.
    pub(crate) metric: u32,
    /// Even: valid; odd: broken.
    pub(crate) sequence: u32,
}

/// AODV messages (RFC 3561 §5).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AodvMessage {
    Request(RouteRequest),
    Reply(RouteReply),
    /// RERR: unreachable destinations, with their sequence numbers.
    Error(Vec<Unreachable>),
}

/// RREQ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RouteRequest {
    /// RREQ ID, unique at the originator.
    pub(crate) id: u32,
    pub(crate) hops: u32,
    /// Hops that it may still be forwarded.
    pub(crate) ttl: u32,
    pub(crate) originator: StationId,
    pub(crate) originator_sequence: u32,
    pub(crate) destination: StationId,
    /// The latest sequence number known to the originator, if any.
    pub(crate) destination_sequence: Option<u32>,
}

/// RREP; as a hello message it is broadcast, about its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RouteReply {
    pub(crate) hops: u32,
    pub(crate) destination: StationId,
    pub(crate) destination_sequence: u32,
    pub(crate) originator: StationId,
    /// Lifetime of the route.
    pub(crate) lifetime: Span,
}

/// An entry of an RERR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unreachable {
    pub(crate) destination: StationId,
    pub(crate) sequence: u32,
}

/// ARP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArpMessage {
    /// Asks for the address of a station.
    Request(StationId),
    Reply,
}

/// Messages of Neighbor Discovery (RFC 4861 §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NdpMessage {
    /// Asks for the address of a station; the sender's own is tentative in duplicate address detection.
    Solicitation {
        target: StationId,
        is_tentative: bool,
    },
    /// The sender's address.
    Advertisement,
    RouterSolicitation,
}

/// DSR messages (RFC 4728 §6), with paths from end to end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DsrMessage {
    /// A route request on its way.
    Request {
        /// Unique at the originator.
        id: u32,
        target: StationId,
        /// From the originator to the station that sends it.
        path: Vec<StationId>,
        /// Hops after which it is not passed on; 0 asks neighbours only.
        hops: usize,
        /// The last error that the originator was told.
        error: Option<LinkError>,
    },
    /// A path, and the source route by which it is sent to its first station.
    Reply { route: Vec<StationId>, back: Vec<StationId> },
    /// A broken link, and the source route by which the source of a packet is told.
    Error { error: LinkError, back: Vec<StationId> },
}

/// A link that does not work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LinkError {
    pub(crate) from: StationId,
    pub(crate) to: StationId,
}
