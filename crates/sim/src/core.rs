//! The context every handler receives: the time, the schedule, the packets, what is measured and what is recorded.
//! It holds no component, so that a component can be changed while it is in use.

use tcp::units::Time;

use crate::event::{Event, LinkId};
use crate::metrics::FlowMetrics;
use crate::packet::{DropReason, Packet, PacketId, Slab};
use crate::record::{Record, Sink};
use crate::schedule::Schedule;

/// Time, schedule, packets, measurements.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) now: Time,
    schedule: Schedule<Event>,
    pub(crate) packets: Slab,
    pub(crate) flows: Vec<FlowMetrics>,
    pub(crate) sink: Option<Box<dyn Sink>>,
    /// Events handled.
    pub(crate) events: u64,
}

/// Two bits of a key are the rank among events of one instant.
const RANK_BITS: u32 = 2;

impl Core {
    pub(crate) fn new(flows: usize, sink: Option<Box<dyn Sink>>) -> Core {
        Core {
            now: Time::ZERO,
            schedule: Schedule::default(),
            packets: Slab::default(),
            flows: vec![FlowMetrics::default(); flows],
            sink,
            events: 0,
        }
    }

    /// Has `event` happen at `at`, not before now.
    pub(crate) fn schedule(&mut self, at: Time, event: Event) {
        debug_assert!(at >= self.now, "{event:?} was scheduled in the past");
        self.schedule.push(at.as_nanos() << RANK_BITS | event.rank(), event);
    }

    /// Moves on to the next event.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let (key, event) = self.schedule.pop()?;
        self.now = Time::from_nanos(key >> RANK_BITS);
        self.events += 1;
        Some(event)
    }

    /// About how much memory packets and future events take.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.packets.held_bytes() + (self.schedule.len() * size_of::<(u64, Event)>()) as u64
    }

    /// A packet enters the network.
    pub(crate) fn admit(&mut self, packet: Packet) -> PacketId {
        self.flows[packet.to.flow().index()].on_sent(self.now, &packet);
        self.record(&Record::Sent { packet: &packet });
        self.packets.insert(packet)
    }

    /// A packet reaches its destination and leaves the network.
    pub(crate) fn deliver(&mut self, id: PacketId) -> Packet {
        let packet = self.packets.remove(id);
        self.flows[packet.to.flow().index()].on_received(self.now, &packet);
        self.record(&Record::Delivered { packet: &packet });
        packet
    }

    /// The network gives a packet up, on `link` if it was on one.
    pub(crate) fn drop(&mut self, id: PacketId, reason: DropReason, link: Option<LinkId>) {
        let packet = self.packets.remove(id);
        self.flows[packet.to.flow().index()].on_dropped(&packet, reason);
        self.record(&Record::Dropped { packet: &packet, reason, link });
    }

    /// The queue of `link` marks a packet CE.
    pub(crate) fn mark(&mut self, id: PacketId, link: LinkId) {
        let packet = self.packets.mark(id);
        self.flows[packet.to.flow().index()].on_marked(&packet);
        self.record(&Record::Marked { packet: &packet, link });
    }

    pub(crate) fn record(&mut self, record: &Record<'_>) {
        if let Some(sink) = &mut self.sink {
            sink.record(self.now, record);
        }
    }
}
