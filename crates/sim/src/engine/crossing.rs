//! Packets on their way from one part of a world to another, where a run is divided ([`crate::parallel`]).

use tcp::units::Time;

use crate::engine::event::EventKey;
use crate::engine::event_list::TieBreak;
use crate::ids::{FlowId, LinkId};
use crate::packet::MovedPacket;

/// The place of an event in the order of all events of a run, but for those that only the order of insertion tells apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct EventPlace {
    pub(crate) key: EventKey,
    pub(crate) tie_break: TieBreak,
}

/// A packet on a link whose far end is in another part.
#[derive(Debug)]
pub(crate) struct Crossing {
    pub(crate) link: LinkId,
    /// The key of the event at which its transmission begins.
    pub(crate) starts: EventKey,
    pub(crate) arrives: Time,
    pub(crate) packet: MovedPacket,
    /// The event that has put it on the link, and the observation of metrics that was next then.
    pub(crate) place: EventPlace,
    pub(crate) next_observation: Time,
}

/// The packets that have left a part since they were last taken away.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// The event being handled, and the observation of metrics that is next.
    pub(crate) place: EventPlace,
    pub(crate) next_observation: Time,
    pub(crate) packets: Vec<Crossing>,
    /// By node: true if it is in another part.
    pub(crate) elsewhere: Vec<bool>,
    /// Flows that had an input, and flows of which a packet was dropped, with the event; taken after each event.
    pub(crate) inputs: Vec<FlowId>,
    pub(crate) drops: Vec<(FlowId, EventPlace)>,
}
