//! Events. An event holds no reference, only ids, so it can be printed and compared.

use tcp::units::Time;

use crate::ids::{ChannelId, EndpointId, FlowId, FrameId, LinkId, PacketId, StationId};

/// The sort key of an event: its time, and its rank among events of that time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct EventKey(u64);

impl EventKey {
    /// Two bits hold the rank.
    const RANK_BITS: u32 = 2;

    pub(crate) fn new(time: Time, rank: u64) -> EventKey {
        EventKey(time.as_nanos() << EventKey::RANK_BITS | rank)
    }

    /// As the event list sorts it.
    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> EventKey {
        EventKey(bits)
    }

    pub(crate) fn time(self) -> Time {
        Time::from_nanos(self.0 >> EventKey::RANK_BITS)
    }
}

/// Something that happens at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The last bit of a packet reaches the far end of a link.
    Arrive {
        /// The link.
        link: LinkId,
        /// The packet.
        packet: PacketId,
    },
    /// A transmitter is free and its queue holds something.
    LinkReady {
        /// The link.
        link: LinkId,
    },
    /// A timer of an endpoint may be due.
    Wake {
        /// The endpoint.
        endpoint: EndpointId,
    },
    /// An application acts.
    App {
        /// Its flow.
        flow: FlowId,
    },
    /// A flow of a workload arrives.
    Arrival {
        /// Index of the workload.
        workload: u32,
    },
    /// A scheduled change of a link.
    Change {
        /// Index in the list of changes.
        index: u32,
    },
    /// An event of a station on a wireless channel.
    Radio {
        /// The channel.
        channel: ChannelId,
        /// The event.
        event: RadioEvent,
    },
    /// Routes among mobile stations are recomputed, or an access point has a beacon due.
    WirelessRefresh {
        /// The channel.
        channel: ChannelId,
    },
    /// Links and routes of a constellation change.
    Constellation,
    /// Series are sampled.
    Sample,
    /// The warm-up ends and the measurement interval begins.
    WarmupEnds,
    /// The run ends.
    Stop,
}

/// An event of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RadioEvent {
    /// The end of a frame reaches a station that receives it.
    FrameEnd {
        /// The station.
        station: StationId,
        /// The frame.
        frame: FrameId,
    },
    /// The backoff of a station may have ended.
    ChannelAccess {
        /// The station.
        station: StationId,
    },
    /// A station sends its response: SIFS has passed since the frame.
    Respond {
        /// The station that responds.
        station: StationId,
    },
    /// The wait for a response times out, or a broadcast ends.
    ExchangeOver {
        /// The station that sent.
        station: StationId,
    },
    /// A station repeats a flooded frame (802.15.4).
    Repeat {
        /// The station.
        station: StationId,
    },
    /// The reassembly of a datagram at a station may time out.
    ReassemblyTimeout {
        /// The station.
        station: StationId,
    },
    /// A timer of a station's routing protocol may be due.
    RoutingTimer {
        /// The station.
        station: StationId,
    },
    /// A timer of a station's neighbor cache (RFC 4861) may be due.
    NeighborTimer {
        /// The station.
        station: StationId,
    },
}

impl Event {
    /// Rank of a packet's arrival.
    pub(crate) const ARRIVE: u64 = 0;
    /// Rank of a transmitter that becomes free.
    pub(crate) const LINK_READY: u64 = 1;

    /// Rank of what comes from applications and timers.
    pub(crate) const INPUT: u64 = 2;
    /// Rank of what looks at a run, or ends it.
    pub(crate) const OBSERVATION: u64 = 3;

    /// Order among events of one key that were scheduled at one key: arrivals by link.
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
            Event::Radio { event: RadioEvent::RoutingTimer { .. } | RadioEvent::NeighborTimer { .. }, .. } => {
                Event::INPUT
            }
            Event::LinkReady { .. } | Event::Radio { .. } => Event::LINK_READY,
            Event::Wake { .. }
            | Event::App { .. }
            | Event::Arrival { .. }
            | Event::Change { .. }
            | Event::WirelessRefresh { .. }
            | Event::Constellation
            | Event::WarmupEnds => Event::INPUT,
            Event::Sample | Event::Stop => Event::OBSERVATION,
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
