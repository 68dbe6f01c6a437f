//! The context that every handler receives: the clock, the event list, the packets, the metrics of flows and the trace.
//! It holds no component of the network, so that a component can be borrowed together with it.

use tcp::units::{Bytes, Time};
use tcp::{Connection, Segment};

use crate::engine::crossing::{Crossing, EventPlace, Outbox};
use crate::engine::event::{Event, EventKey};
use crate::engine::event_list::{EventList, TieBreak};
use crate::engine::flow_ends::FlowEnds;
use crate::engine::rehashes::Rehashes;
use crate::engine::trace::{Record, Sink};
use crate::ids::{EndpointId, FlowId, LinkId, NodeId, PacketId};
use crate::metrics::{FlowMetrics, OrderMetrics, Waits};
use crate::packet::{Datagram, DropReason, Packet, PacketHeader, PacketStore, Payload};

/// Clock, event list, packets, metrics of flows, trace.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) now: Time,
    /// Time and rank of the event being handled.
    key: EventKey,
    /// The time of the event being handled as a sum of doubles, if events of one nanosecond are in the order of these.
    double: Option<f64>,
    /// No sample, end of the warm-up or end of the run is due before this time.
    pub(crate) next_observation: Time,
    event_list: EventList<Event>,
    pub(crate) packets: PacketStore,
    pub(crate) flows: Vec<FlowMetrics>,
    /// What queues may ask about flows.
    pub(crate) ends: Vec<FlowEnds>,
    /// The order of packets, where links can change it.
    pub(crate) order: Option<Box<OrderMetrics>>,
    /// How long packets of listed flows wait in queues, if that is recorded.
    pub(crate) waits: Option<Box<Waits>>,
    pub(crate) rehashes: Rehashes,
    pub(crate) sink: Option<Box<dyn Sink>>,
    /// Packets that leave the part of the world that is simulated here, if that is a part.
    pub(crate) outbox: Option<Box<Outbox>>,
    /// Events handled.
    pub(crate) events: u64,
}

impl Context {
    pub(crate) fn new(flows: usize, sink: Option<Box<dyn Sink>>) -> Context {
        Context {
            now: Time::ZERO,
            key: EventKey::default(),
            double: None,
            next_observation: Time::ZERO,
            event_list: EventList::default(),
            packets: PacketStore::default(),
            flows: vec![FlowMetrics::default(); flows],
            ends: Vec::new(),
            order: None,
            waits: None,
            rehashes: Rehashes::default(),
            sink,
            outbox: None,
            events: 0,
        }
    }

    /// A flow of a workload takes the slot `id`, which is free; `protocol` is that of its packets.
    pub(crate) fn open(&mut self, id: FlowId, ends: FlowEnds, protocol: u8) {
        match self.flows.get_mut(id.index()) {
            Some(metrics) => metrics.reopen(),
            None => self.flows.push(FlowMetrics::default()),
        }
        match self.ends.get_mut(id.index()) {
            Some(before) => *before = ends,
            None => self.ends.push(ends),
        }
        if let Some(order) = &mut self.order {
            order.open(id);
        }
        if let Some(sink) = &mut self.sink {
            sink.open(ends.serial, [ends.source, ends.sink], protocol);
        }
    }

    /// An endpoint by the serial number of its flow, which no other flow ever has: slots are used again.
    #[inline]
    pub(crate) fn by_serial(&self, to: EndpointId) -> EndpointId {
        let serial = self.ends[to.flow().index()].serial;
        if to.is_source() { serial.source() } else { serial.sink() }
    }

    /// Schedules `event` for `at`, which is not before now.
    pub(crate) fn schedule(&mut self, at: Time, event: Event) {
        debug_assert!(at >= self.now, "{event:?} was scheduled in the past");
        if let Some(now) = self.double {
            return self.schedule_double(now, at, event);
        }
        let tie_break = TieBreak { pushed: self.key.to_bits(), tie: event.tie() };
        self.event_list.push(EventKey::new(at, event.rank()).to_bits(), tie_break, event);
    }

    /// Schedules the arrival of a packet in the order in which an event at `from` would have scheduled it.
    #[inline]
    pub(crate) fn schedule_arrival(&mut self, from: EventKey, at: Time, link: LinkId, packet: PacketId) {
        debug_assert!(at >= self.now, "an arrival over {link:?} was scheduled in the past");
        let tie_break = TieBreak { pushed: from.to_bits(), tie: link.0 };
        self.event_list.push(EventKey::new(at, Event::ARRIVE).to_bits(), tie_break, Event::Arrive { link, packet });
    }

    /// From now on, and before anything is scheduled, time is kept in doubles too ([`crate::scenario::ClockDef::Double`]).
    pub(crate) fn keep_doubles(&mut self) {
        self.double = Some(0.0);
    }

    /// The time in doubles, in seconds, if it is kept.
    #[inline]
    pub(crate) fn seconds(&self) -> Option<f64> {
        self.double
    }

    /// True if time is kept in doubles too. The order of what a transmission leads to is then that of its start.
    #[inline]
    pub(crate) fn keeps_doubles(&self) -> bool {
        self.double.is_some()
    }

    /// Of equal sums the event that was scheduled first comes first. Positive doubles sort as their bits do.
    #[cold]
    #[inline(never)]
    fn schedule_double(&mut self, now: f64, at: Time, event: Event) {
        let sum = now + at.since(self.now).as_nanos() as f64 / 1e9;
        let last = event.rank() == Event::OBSERVATION;
        let key = EventKey::new(at, if last { Event::OBSERVATION } else { 0 });
        self.event_list.push(key.to_bits(), TieBreak { pushed: sum.to_bits(), tie: 0 }, event);
    }

    /// Advances the clock to the next event.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let (tie_break, event) = self.take_next()?;
        if self.double.is_some() {
            self.double = Some(f64::from_bits(tie_break.pushed));
        }
        Some(event)
    }

    #[inline]
    fn take_next(&mut self) -> Option<(TieBreak, Event)> {
        let (key, tie_break, event) = self.event_list.pop_with_tie_break()?;
        self.key = EventKey::from_bits(key);
        self.now = self.key.time();
        self.events += 1;
        Some((tie_break, event))
    }

    /// Time of the next event.
    pub(crate) fn next_time(&mut self) -> Option<Time> {
        self.event_list.next_key().map(|key| EventKey::from_bits(key).time())
    }

    fn take_before(&mut self, until: EventKey) -> Option<(TieBreak, Event)> {
        if self.event_list.next_key()? >= until.to_bits() {
            return None;
        }
        self.take_next()
    }

    /// Advances the clock to the next event whose key is before `until`, if there is one.
    pub(crate) fn next_before_key(&mut self, until: EventKey) -> Option<Event> {
        self.take_before(until).map(|(_, event)| event)
    }

    /// Advances the clock to an input from outside. What was due before has been handled.
    pub(crate) fn advance_to_input(&mut self, at: Time) {
        (self.key, self.now) = (EventKey::new(at, Event::INPUT), at);
    }

    /// Advances the clock to the next event before `until`, and notes its place for the packets that leave by it.
    pub(crate) fn next_before(&mut self, until: Time) -> Option<Event> {
        let (tie_break, event) = self.take_before(EventKey::new(until, 0))?;
        if let Some(outbox) = &mut self.outbox {
            outbox.place = EventPlace { key: self.key, tie_break };
            outbox.next_observation = self.next_observation;
        }
        Some(event)
    }

    /// True if a node is in another part of the world.
    pub(crate) fn is_other_part(&self, node: NodeId) -> bool {
        self.outbox.as_ref().is_some_and(|outbox| outbox.elsewhere[node.index()])
    }

    /// True if the far end of a link that leaves is in another part: `to`, or where the packet is for.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_elsewhere(&self, to: Option<NodeId>, id: PacketId) -> bool {
        self.is_other_part(to.unwrap_or_else(|| self.packets.forwarding_header(id).destination))
    }

    /// Hands a packet to the part of the world at the far end of `link`.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave(&mut self, link: LinkId, starts: EventKey, arrives: Time, id: PacketId) {
        let packet = self.packets.take(id);
        let outbox = self.outbox.as_mut().expect("only a part of a world has links that leave it");
        let Outbox { place, next_observation, .. } = **outbox;
        outbox.packets.push(Crossing { link, starts, arrives, packet, place, next_observation });
    }

    /// Time and rank of the event being handled.
    pub(crate) fn key(&self) -> EventKey {
        self.key
    }

    /// Number of future events.
    #[cfg(test)]
    pub(crate) fn future_events(&self) -> usize {
        self.event_list.len()
    }

    /// Forgets packets and future events: the run is over, and they have been counted.
    pub(crate) fn forget_future(&mut self) {
        (self.packets, self.event_list) = (PacketStore::default(), EventList::default());
    }

    /// Memory that packets and future events take, approximately.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.packets.held_bytes() + (self.event_list.len() * size_of::<(u64, Event)>()) as u64
    }

    /// Admits a packet with a TCP segment to the network.
    #[inline]
    pub(crate) fn admit_segment(&mut self, header: &PacketHeader, segment: &Segment) -> PacketId {
        let id = self.packets.insert_segment(header, segment);
        self.admitted(header, Bytes(u64::from(segment.len)), id)
    }

    /// Admits a UDP datagram to the network.
    pub(crate) fn admit_datagram(&mut self, header: &PacketHeader, datagram: Datagram) -> PacketId {
        let id = self.packets.insert_datagram(header, datagram);
        self.admitted(header, datagram.bytes, id)
    }

    /// Admits a datagram whose payload is carried to the network.
    #[cold]
    #[inline(never)]
    pub(crate) fn admit_carried(&mut self, header: &PacketHeader, datagram: Datagram, payload: Box<[u8]>) -> PacketId {
        let id = self.packets.insert_carried(header, datagram, payload);
        self.admitted(header, datagram.bytes, id)
    }

    #[inline(always)]
    fn admitted(&mut self, header: &PacketHeader, payload: Bytes, id: PacketId) -> PacketId {
        self.flows[header.to.flow().index()].on_sent(self.now, header, payload);
        if self.is_watched() {
            self.watch_sent(id);
        }
        id
    }

    /// True if somebody wants to know of each packet.
    #[inline]
    fn is_watched(&self) -> bool {
        self.order.is_some() || self.sink.is_some()
    }

    #[cold]
    #[inline(never)]
    fn watch_sent(&mut self, id: PacketId) {
        let packet = self.packets.get(id);
        if let Some(order) = &mut self.order {
            order.on_sent(packet.to.flow(), id, packet.has_data() && !packet.to.is_source());
        }
        self.record(&Record::Sent { packet: &packet });
    }

    /// Removes a packet that has reached its destination.
    #[inline]
    pub(crate) fn deliver(&mut self, id: PacketId) -> Packet {
        let packet = self.packets.remove(id);
        self.flows[packet.to.flow().index()].on_received(self.now, &packet);
        if self.is_watched() {
            self.watch_received(id, &packet);
        }
        packet
    }

    #[cold]
    #[inline(never)]
    fn watch_received(&mut self, id: PacketId, packet: &Packet) {
        if let Some(order) = &mut self.order {
            order.on_received(self.now, packet.to.flow(), id);
        }
        self.record(&Record::Delivered { packet });
    }

    /// Drops a packet now; `link` is the one that it is on, if any.
    pub(crate) fn drop(&mut self, id: PacketId, reason: DropReason, link: Option<LinkId>) {
        self.drop_at(self.now, id, reason, link);
    }

    /// Drops a packet at `at`, which may be in the future where the fast path decides early.
    #[inline(never)]
    pub(crate) fn drop_at(&mut self, at: Time, id: PacketId, reason: DropReason, link: Option<LinkId>) {
        let packet = self.packets.remove(id);
        self.flows[packet.to.flow().index()].on_dropped(&packet, reason);
        if let Some(outbox) = &mut self.outbox {
            outbox.drops.push((packet.to.flow(), outbox.place));
        }
        self.record_at(at, &Record::Dropped { packet: &packet, reason, link });
    }

    /// Copies a packet: a link has duplicated it.
    pub(crate) fn duplicate(&mut self, id: PacketId) -> PacketId {
        let packet = self.packets.get(id);
        self.flows[packet.to.flow().index()].on_duplicated(&packet);
        if let Some(sink) = &mut self.sink {
            sink.copied(&packet);
        }
        let copy = self.packets.copy(id);
        if let Some(order) = &mut self.order {
            order.on_copy(copy);
        }
        copy
    }

    /// Marks a packet CE in the queue of `link` (RFC 3168 §5).
    #[inline(never)]
    pub(crate) fn mark(&mut self, id: PacketId, link: Option<LinkId>) {
        let packet = self.packets.mark(id);
        self.flows[packet.to.flow().index()].on_marked(&packet);
        if let Some(link) = link {
            self.record(&Record::Marked { packet: &packet, link });
        }
    }

    /// A packet leaves the queue of a link for its transmitter.
    #[inline]
    pub(crate) fn note_wait(&mut self, link: LinkId, id: PacketId, since: Time) {
        if self.waits.is_some() {
            self.add_wait(link, id, since);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_wait(&mut self, link: LinkId, id: PacketId, since: Time) {
        let (flow, waited) = (self.packets.get(id).to.flow(), self.now.since(since));
        self.waits.iter_mut().for_each(|waits| waits.add(link, flow, waited));
    }

    /// Records what happens now.
    #[inline]
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        self.record_at(self.now, record);
    }

    /// Records what happens at `at`, which may be in the future.
    #[inline]
    pub(crate) fn record_at(&mut self, at: Time, record: &Record<'_>) {
        if self.sink.is_some() {
            self.pass_on(at, record);
        }
    }

    /// Records what a source has found out.
    #[inline]
    pub(crate) fn record_told(&mut self, endpoint: EndpointId, connection: &mut Connection) {
        if self.sink.is_some() && endpoint.is_source() {
            self.pass_on_told(endpoint, connection);
        }
    }

    #[cold]
    #[inline(never)]
    fn pass_on_told(&mut self, endpoint: EndpointId, connection: &mut Connection) {
        let (now, flow) = (self.now, self.by_serial(endpoint).flow());
        for told in connection.take_told() {
            self.sink.iter_mut().for_each(|sink| sink.told(now, flow, &told));
        }
    }

    /// Gives a record to the sink, with its flow by serial number.
    #[inline(never)]
    fn pass_on(&mut self, at: Time, record: &Record<'_>) {
        let named = record.packet().map(|packet| Packet { to: self.by_serial(packet.to), ..*packet });
        let Some(sink) = &mut self.sink else { return };
        if let Some(Packet { payload: Payload::Udp(datagram), .. }) = &named
            && datagram.carried
        {
            let has_left = matches!(record, Record::Delivered { .. } | Record::Dropped { .. });
            sink.payload(if has_left { self.packets.left_payload() } else { self.packets.payload(datagram) });
        }
        match &named {
            Some(packet) => sink.record(at, &record.about(packet)),
            None => sink.record(at, record),
        }
    }
}
