//! Events. An event holds no reference, only ids, so it can be printed and compared.

use tcp::units::Time;

use crate::ids::{ChannelId, EndpointId, FlowId, FrameId, LinkId, PacketId, StationId};

/// When something happens: the time, and the rank among events of that time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Moment(u64);

impl Moment {
    /// Two bits hold the rank.
    const RANK_BITS: u32 = 2;

    pub(crate) fn new(time: Time, rank: u64) -> Moment {
        Moment(time.as_nanos() << Moment::RANK_BITS | rank)
    }

    /// As the schedule sorts them.
    pub(crate) fn key(self) -> u64 {
        self.0
    }

    pub(crate) fn of_key(key: u64) -> Moment {
        Moment(key)
    }

    pub(crate) fn time(self) -> Time {
        Time::from_nanos(self.0 >> Moment::RANK_BITS)
    }
}

/// Something that happens at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The last bit of a packet reaches the far end of a link.
    Arrive {
        /// The link it travelled.
        link: LinkId,
        /// The packet.
        packet: PacketId,
    },
    /// A transmitter is free and its queue holds something.
    LinkReady {
        /// The link.
        link: LinkId,
    },
    /// A deadline of an endpoint may have come.
    Wake {
        /// The endpoint.
        endpoint: EndpointId,
    },
    /// An application acts.
    App {
        /// Its flow.
        flow: FlowId,
    },
    /// A change of the network that the scenario foresees.
    Change {
        /// Index in the list of changes.
        index: u32,
    },
    /// Something on a channel of radio.
    Radio {
        /// The channel.
        channel: ChannelId,
        /// What.
        event: RadioEvent,
    },
    /// Paths among moving stations are found anew, or an access point has a beacon due.
    WirelessRefresh {
        /// Their channel.
        channel: ChannelId,
    },
    /// Satellites have moved: links and routes change.
    Constellation,
    /// Series are sampled.
    Sample,
    /// Transient over: measurements start.
    WarmupEnds,
    /// The run is over.
    Stop,
}

/// Something that happens to a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RadioEvent {
    /// A frame ends at a station that it is meant for.
    FrameEnd {
        /// The station.
        station: StationId,
        /// The frame.
        frame: FrameId,
    },
    /// The backoff of a station may have run out.
    ChannelAccess {
        /// The station.
        station: StationId,
    },
    /// SIFS has passed since a frame that is to be answered.
    Respond {
        /// The station that answers.
        station: StationId,
    },
    /// The wait for an answer is over, or a broadcast.
    ExchangeOver {
        /// The station that sent.
        station: StationId,
    },
    /// Fragments at a station may have waited too long for the others.
    ReassemblyTimeout {
        /// The station.
        station: StationId,
    },
    /// A timer of a station's routing protocol may be due.
    RoutingTimer {
        /// The station.
        station: StationId,
    },
}

impl Event {
    /// Rank of the arrival of a packet.
    pub(crate) const ARRIVE: u64 = 0;
    /// Rank of a transmitter that becomes free.
    pub(crate) const LINK_READY: u64 = 1;

    /// Order among events of the same moment that were scheduled at the same moment: arrivals by link.
    #[inline]
    pub(crate) fn tie(self) -> u32 {
        if let Event::Arrive { link, .. } = self { link.0 } else { 0 }
    }

    /// Rank among events of the same instant: ends of transmissions and receptions first, then
    /// decisions to transmit, the rest, and last the end of the run.
    #[inline]
    pub(crate) fn rank(self) -> u64 {
        match self {
            Event::Arrive { .. } | Event::Radio { event: RadioEvent::FrameEnd { .. }, .. } => Event::ARRIVE,
            Event::Radio { event: RadioEvent::RoutingTimer { .. }, .. } => 2,
            Event::LinkReady { .. } | Event::Radio { .. } => Event::LINK_READY,
            Event::Wake { .. }
            | Event::App { .. }
            | Event::Change { .. }
            | Event::WirelessRefresh { .. }
            | Event::Constellation
            | Event::WarmupEnds => 2,
            Event::Sample | Event::Stop => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_stays_small() {
        assert!(size_of::<Event>() <= 16);
    }
}
