//! The reasons why packets are dropped.

/// Why the network dropped a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// The queue was full.
    Queue,
    /// The medium lost it.
    Loss,
    /// The link was down, or went down under it.
    LinkDown,
    /// No route to the destination.
    NoRoute,
    /// Active queue management dropped it (RFC 7567).
    Aqm,
    /// The MAC reached its retry limit.
    Retry,
    /// Its lifetime in the queue of a station expired.
    Expired,
    /// Its TTL expired.
    Ttl,
    /// It waited for a route too long, or with too many others.
    RouteWait,
    /// It waited for address resolution of the next hop.
    Arp,
    /// It waited at an access point for a station that has associated with another.
    Reassociation,
    /// Channel access failure: every CCA found the medium busy (IEEE 802.15.4).
    Access,
    /// It did not fit into a frame, or into the fragments that the link allows.
    TooLong,
    /// Its reassembly timed out.
    Reassembly,
    /// A policer found that it does not conform.
    Policer,
    /// A link had damaged it; its destination drops it.
    Corrupt,
    /// A pure ACK that a later one made superfluous.
    AckFilter,
}

impl DropReason {
    /// All of them, in the order of their counters.
    pub const ALL: [DropReason; 17] = [
        DropReason::Queue,
        DropReason::Loss,
        DropReason::LinkDown,
        DropReason::NoRoute,
        DropReason::Aqm,
        DropReason::Retry,
        DropReason::Expired,
        DropReason::Ttl,
        DropReason::RouteWait,
        DropReason::Arp,
        DropReason::Reassociation,
        DropReason::Access,
        DropReason::TooLong,
        DropReason::Reassembly,
        DropReason::Policer,
        DropReason::Corrupt,
        DropReason::AckFilter,
    ];

    /// As written in tables.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Queue => "queue",
            DropReason::Loss => "loss",
            DropReason::LinkDown => "link_down",
            DropReason::NoRoute => "no_route",
            DropReason::Aqm => "aqm",
            DropReason::Retry => "retry",
            DropReason::Expired => "expired",
            DropReason::Ttl => "ttl",
            DropReason::RouteWait => "route_wait",
            DropReason::Arp => "arp",
            DropReason::Reassociation => "reassociation",
            DropReason::Access => "access",
            DropReason::TooLong => "too_long",
            DropReason::Reassembly => "reassembly",
            DropReason::Policer => "policer",
            DropReason::Corrupt => "corrupt",
            DropReason::AckFilter => "ack_filter",
        }
    }
}
