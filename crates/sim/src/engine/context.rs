//! The context every handler receives: the time, the schedule, the packets, what is measured and what is recorded.
//! It holds no component, so that a component can be changed while it is in use.

use tcp::Segment;
use tcp::units::{Bytes, Time};

use crate::engine::event::{Event, Moment};
use crate::engine::event_list::{Place, Schedule};
use crate::engine::trace::{Record, Sink};
use crate::ids::{LinkId, PacketId};
use crate::metrics::FlowMetrics;
use crate::packet::{DropReason, Packet, PacketHeader, PacketStore};

/// Time, schedule, packets, measurements.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) now: Time,
    /// The same with the rank of the event being handled.
    moment: Moment,
    /// Before then nobody looks at what is measured: the next sample, the end of the warm-up or of the run.
    pub(crate) looked_at: Time,
    schedule: Schedule<Event>,
    pub(crate) packets: PacketStore,
    pub(crate) flows: Vec<FlowMetrics>,
    pub(crate) sink: Option<Box<dyn Sink>>,
    /// Events handled.
    pub(crate) events: u64,
}

impl Context {
    pub(crate) fn new(flows: usize, sink: Option<Box<dyn Sink>>) -> Context {
        Context {
            now: Time::ZERO,
            moment: Moment::default(),
            looked_at: Time::ZERO,
            schedule: Schedule::default(),
            packets: PacketStore::default(),
            flows: vec![FlowMetrics::default(); flows],
            sink,
            events: 0,
        }
    }

    /// Has `event` happen at `at`, not before now.
    pub(crate) fn schedule(&mut self, at: Time, event: Event) {
        debug_assert!(at >= self.now, "{event:?} was scheduled in the past");
        let place = Place { pushed: self.moment.key(), tie: event.tie() };
        self.schedule.push(Moment::new(at, event.rank()).key(), place, event);
    }

    /// The same for an arrival that would be scheduled at `from` if it were not known already.
    pub(crate) fn expect(&mut self, from: Moment, at: Time, link: LinkId, packet: PacketId) {
        debug_assert!(at >= self.now, "an arrival over {link:?} was scheduled in the past");
        let place = Place { pushed: from.key(), tie: link.0 };
        self.schedule.push(Moment::new(at, Event::ARRIVE).key(), place, Event::Arrive { link, packet });
    }

    /// Moves on to the next event.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let (key, event) = self.schedule.pop()?;
        self.moment = Moment::of_key(key);
        self.now = self.moment.time();
        self.events += 1;
        Some(event)
    }

    /// When the event being handled happens.
    pub(crate) fn moment(&self) -> Moment {
        self.moment
    }

    /// Events that wait.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.schedule.len()
    }

    /// About how much memory packets and future events take.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.packets.held_bytes() + (self.schedule.len() * size_of::<(u64, Event)>()) as u64
    }

    /// A packet with a segment enters the network.
    #[inline]
    pub(crate) fn admit_segment(&mut self, header: &PacketHeader, segment: &Segment) -> PacketId {
        let id = self.packets.insert_segment(header, segment);
        self.admitted(header, Bytes(u64::from(segment.len)), id)
    }

    /// A datagram enters the network.
    pub(crate) fn admit_datagram(&mut self, header: &PacketHeader, bytes: Bytes) -> PacketId {
        let id = self.packets.insert_datagram(header, bytes);
        self.admitted(header, bytes, id)
    }

    #[inline]
    fn admitted(&mut self, header: &PacketHeader, payload: Bytes, id: PacketId) -> PacketId {
        self.flows[header.to.flow().index()].on_sent(self.now, header, payload);
        if self.sink.is_some() {
            let packet = self.packets.get(id);
            self.record(&Record::Sent { packet: &packet });
        }
        id
    }

    /// A packet reaches its destination and leaves the network.
    #[inline]
    pub(crate) fn deliver(&mut self, id: PacketId) -> Packet {
        let packet = self.packets.remove(id);
        self.flows[packet.to.flow().index()].on_received(self.now, &packet);
        self.record(&Record::Delivered { packet: &packet });
        packet
    }

    /// The network gives a packet up, on `link` if it was on one.
    #[inline(never)]
    pub(crate) fn drop(&mut self, id: PacketId, reason: DropReason, link: Option<LinkId>) {
        let packet = self.packets.remove(id);
        self.flows[packet.to.flow().index()].on_dropped(&packet, reason);
        self.record(&Record::Dropped { packet: &packet, reason, link });
    }

    /// The queue of `link` marks a packet CE.
    #[inline(never)]
    pub(crate) fn mark(&mut self, id: PacketId, link: LinkId) {
        let packet = self.packets.mark(id);
        self.flows[packet.to.flow().index()].on_marked(&packet);
        self.record(&Record::Marked { packet: &packet, link });
    }

    #[inline]
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        self.record_at(self.now, record);
    }

    /// The same for what is known before it happens.
    #[inline]
    pub(crate) fn record_at(&mut self, at: Time, record: &Record<'_>) {
        if let Some(sink) = &mut self.sink {
            sink.record(at, record);
        }
    }
}
