//! Hosts: drive connections and applications. After any input the segments of the connection go to the network, its events
//! to the application, and a `Wake` is scheduled for its next timeout at the latest.

pub(crate) mod app;
mod conversation;
pub(crate) mod flow;
pub(crate) mod foreign;
mod foreign_app;
mod foreign_drive;
pub(crate) mod resume;
pub(crate) mod session;
mod slots;
mod streams;
pub(crate) mod transport;

use std::collections::VecDeque;

use tcp::settings::Headers;
use tcp::units::{Bytes, Time};
use tcp::{Ecn, Event as TcpEvent, Segment, TcpConfig, Timestamps};

use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::host::app::App;
use crate::host::flow::{Flow, OnFull, SinkAgent};
use crate::host::resume::Store;
use crate::host::session::Session;
use crate::host::transport::Transport;
use crate::ids::{EndpointId, FlowId, NodeId};
use crate::network::Network;
use crate::packet::header::{IP_HEADER, UDP_HEADER};
use crate::packet::{Datagram, Packet, PacketHeader, Payload, TTL};

/// Size of an endless write: more than any run can send.
const ENDLESS: u64 = 1 << 60;

/// All flows: those of the scenario, then the slots of workloads, of which the free ones hold what was there before.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(crate) flows: Vec<Flow>,
    pub(crate) sessions: Vec<Session>,
    /// Ends of conversations that have something to say.
    unsettled: VecDeque<EndpointId>,
    /// Sessions of flows that are gone.
    free_sessions: Vec<usize>,
    /// What connections have left to the next ones.
    store: Store,
}

impl Hosts {
    pub(crate) fn new(flows: Vec<Flow>, sessions: Vec<Session>) -> Hosts {
        Hosts { flows, sessions, unsettled: VecDeque::new(), free_sessions: Vec::new(), store: Store::default() }
    }

    /// Source and sink of each flow.
    pub(crate) fn ends(&self) -> Vec<(NodeId, NodeId)> {
        self.flows.iter().map(|flow| (flow.source, flow.sink)).collect()
    }

    /// Handles an event of the application of a flow: it starts, writes, or stops.
    pub(crate) fn on_app(&mut self, ctx: &mut Context, network: &mut Network, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        if flow.finished {
            return;
        }
        if let App::Conversation(member) = &flow.app {
            let session = member.session;
            return self.on_conversation(ctx, network, id, session);
        }
        if flow.stop.is_some_and(|stop| ctx.now >= stop) {
            flow.finish(ctx.now);
        } else {
            if !flow.started {
                flow.started = true;
                flow.app.start(ctx.now);
                if let Transport::Foreign(foreign) = &mut flow.transport {
                    foreign.begin(ctx.now);
                    self.drain_foreign(ctx, network, id.sink());
                }
            }
            let flow = &mut self.flows[id.index()];
            flow.tick(ctx, network, id);
        }
        self.drain_connection(ctx, network, id.source());
    }

    /// Handles a `Wake`: a timer of the connection may be due.
    pub(crate) fn on_wake(&mut self, ctx: &mut Context, network: &mut Network, endpoint: EndpointId) {
        let now = ctx.now;
        let flow = &mut self.flows[endpoint.flow().index()];
        let Some(side) = flow.side(endpoint) else { return self.on_foreign_wake(ctx, network, endpoint) };
        if side.wake_at != Some(now) {
            return;
        }
        side.wake_at = None;
        let before = side.connection.timeouts();
        side.at(ctx.seconds()).on_timeout(now);
        if side.connection.timeouts() != before {
            ctx.rehashes.add(ctx.by_serial(endpoint.peer()), now);
        }
        self.drain_connection(ctx, network, endpoint);
    }

    /// Handles the arrival of a packet at its endpoint.
    pub(crate) fn on_packet(&mut self, ctx: &mut Context, network: &mut Network, packet: &Packet) {
        let to = packet.to;
        let flow = &mut self.flows[to.flow().index()];
        if flow.sink_agent != SinkAgent::Own && (!to.is_source() || flow.sink_agent == SinkAgent::Outside) {
            return self.redirect(ctx, network, packet);
        }
        match &packet.payload {
            Payload::Udp(Datagram { carried: true, .. }) => self.on_foreign_packet(ctx, network, packet),
            Payload::Udp(Datagram { number, .. }) if matches!(flow.app, App::Conversation(_)) => {
                self.on_member_datagram(ctx, network, packet, *number);
            }
            Payload::Udp(Datagram { bytes, .. }) => {
                flow.read += bytes.0;
                let metrics = &mut ctx.flows[to.flow().index()].interval;
                metrics.delivered_bytes += *bytes;
                metrics.on_message(ctx.now.since(packet.sent_at));
            }
            Payload::Tcp(segment) => {
                if packet.retransmission && !to.is_source() {
                    flow.count_needless(segment);
                }
                if let Some(side) = flow.side(to) {
                    side.at(ctx.seconds()).on_segment(ctx.now, segment);
                    if to.is_source()
                        && let Some(rtt) = side.connection.take_rtt_sample()
                    {
                        ctx.flows[to.flow().index()].interval.on_rtt(rtt);
                    }
                }
                self.drain_connection(ctx, network, to);
            }
        }
    }

    /// A packet whose own receiver takes none: another flow's does, or nobody.
    #[cold]
    #[inline(never)]
    fn redirect(&mut self, ctx: &mut Context, network: &mut Network, packet: &Packet) {
        if let SinkAgent::Of(flow) = self.flows[packet.to.flow().index()].sink_agent {
            self.on_packet(ctx, network, &Packet { to: flow.sink(), ..*packet });
        }
    }

    /// Drains a connection after an input: its events, its segments, its next timeout.
    fn drain_connection(&mut self, ctx: &mut Context, network: &mut Network, endpoint: EndpointId) {
        let flow = &mut self.flows[endpoint.flow().index()];
        if !flow.started {
            return;
        }
        if matches!(flow.app, App::Conversation(_)) {
            self.unsettled.push_back(endpoint);
            return self.settle(ctx, network);
        }
        while let Some(event) = flow.side(endpoint).and_then(|side| side.connection.poll_event()) {
            flow.on_tcp_event(ctx, endpoint, event);
        }
        self.transmit(ctx, network, endpoint);
    }

    /// Sends the segments of a connection, and schedules its next timeout.
    fn transmit(&mut self, ctx: &mut Context, network: &mut Network, endpoint: EndpointId) {
        let flow = &mut self.flows[endpoint.flow().index()];
        let (node, to) = (flow.node(endpoint), endpoint.peer());
        let destination = flow.node(to);
        let Flow { transport, highest_sent, highest_answered, cwnd_integral, headers, .. } = flow;
        let sides = match transport {
            Transport::Tcp(sides) => sides,
            Transport::Udp => return,
            Transport::Foreign(_) => return self.drain_foreign(ctx, network, endpoint),
        };
        let side = &mut sides[usize::from(!endpoint.is_source())];
        let path = |ctx: &Context| (node, destination, ctx.ends[endpoint.flow().index()].dscp);
        if let Some(resuming) = side.resuming.as_mut().filter(|resuming| resuming.asks()) {
            resuming.begin(&mut self.store, path(ctx), ctx.now, &mut side.connection);
        }
        ctx.record_told(endpoint, &mut side.connection);
        while let Some(segment) = side.at(ctx.seconds()).poll_segment(ctx.now) {
            let retransmission = if endpoint.is_source() {
                was_sent_before(highest_sent, &segment)
            } else {
                segment.len > 0 && was_sent_before(highest_answered, &segment)
            };
            let size = packet_size(*headers, &segment);
            let header = PacketHeader { to, destination, size, sent_at: ctx.now, retransmission, ttl: TTL };
            let id = ctx.admit_segment(&header, &segment);
            network.originate(ctx, node, id);
        }
        if let Some(resuming) = side.resuming.as_mut().filter(|end| end.is_due(ctx.now, &side.connection)) {
            resuming.look(&mut self.store, path(ctx), ctx.now, &side.connection);
        }
        if endpoint.is_source()
            && let Some(window) = side.connection.window()
        {
            cwnd_integral.update(ctx.now, window.cwnd);
        }
        if let Some(timeout) = side.connection.next_timeout()
            && side.wake_at.is_none_or(|pending| timeout < pending || (ctx.keeps_doubles() && timeout > pending))
        {
            side.wake_at = Some(timeout);
            ctx.schedule(timeout, Event::Wake { endpoint });
        }
    }
}

/// The length of the packet that carries a segment.
#[inline]
fn packet_size(headers: Headers, segment: &Segment) -> Bytes {
    match headers {
        Headers::Options => IP_HEADER + segment.header() + Bytes(u64::from(segment.len)),
        headers => plain_size(headers, segment),
    }
}

/// Size of a segment on the wire where options take no room.
#[cold]
#[inline(never)]
fn plain_size(headers: Headers, segment: &Segment) -> Bytes {
    let has_data = segment.len > 0;
    let options = match headers {
        Headers::Acks if has_data => return Bytes(u64::from(segment.len)),
        Headers::Fields if has_data && segment.timestamps.is_some() => 10,
        Headers::Fields if !has_data => 8 * segment.sack.blocks().len() as u64,
        _ => 0,
    };
    IP_HEADER + Segment::BARE_HEADER + Bytes(options + u64::from(segment.len))
}

/// Bytes of headers of a segment with data.
pub(crate) fn header_of(config: &TcpConfig) -> Bytes {
    let timestamps = config.timestamps.then_some(Timestamps { value: 0, echo: 0 });
    packet_size(config.headers(), &Segment { len: 1, timestamps, ..Segment::default() }) - Bytes(1)
}

/// True if an end has sent these bytes already; `highest_sent` is the number after the last it has.
fn was_sent_before(highest_sent: &mut u64, segment: &Segment) -> bool {
    let end = segment.end().0;
    let before = end <= *highest_sent;
    *highest_sent = end.max(*highest_sent);
    before && segment.len > 0
}

/// Sends a datagram from an end of a flow.
fn send_datagram(
    ctx: &mut Context,
    network: &mut Network,
    flow: &Flow,
    from: EndpointId,
    bytes: Bytes,
    ecn: Ecn,
    number: u64,
) {
    let to = from.peer();
    let (destination, size) = (flow.node(to), IP_HEADER + UDP_HEADER + bytes);
    let header = PacketHeader { to, destination, size, sent_at: ctx.now, retransmission: false, ttl: TTL };
    let packet = ctx.admit_datagram(&header, Datagram { bytes, ecn, number, carried: false });
    network.originate(ctx, flow.node(from), packet);
}

impl Flow {
    /// Writes what is due, and schedules the next tick.
    fn tick(&mut self, ctx: &mut Context, network: &mut Network, id: FlowId) {
        let amount = self.app.write();
        if let Some(bytes) = amount {
            ctx.flows[id.index()].interval.offered_bytes += bytes;
        }
        match &self.transport {
            Transport::Udp => {
                let ecn = self.datagram_ecn;
                send_datagram(ctx, network, self, id.source(), amount.unwrap_or(Bytes::ZERO), ecn, 0);
            }
            Transport::Tcp(_) => self.write(ctx.now, amount),
            Transport::Foreign(_) => self.write_to_stream(ctx.now, amount),
        }
        if self.blocked == Bytes::ZERO {
            self.schedule_tick(ctx, id);
        }
        if self.app.is_finite() && self.blocked == Bytes::ZERO {
            self.finish(ctx.now);
        }
    }

    fn schedule_tick(&mut self, ctx: &mut Context, id: FlowId) {
        if let Some(next) = self.app.next_tick(ctx.now)
            && self.stop.is_none_or(|stop| next < stop)
        {
            ctx.schedule(next, Event::App { flow: id });
        }
    }

    fn write(&mut self, now: Time, amount: Option<Bytes>) {
        let Transport::Tcp(sides) = &mut self.transport else { return };
        let connection = &mut sides[0].connection;
        let wanted = amount.map_or(ENDLESS, |bytes| bytes.0);
        if self.on_full == OnFull::Drop && self.app.has_messages() && connection.send_space() < Bytes(wanted) {
            return;
        }
        self.blocked = Bytes(wanted - connection.write(wanted));
        self.written += wanted;
        if wanted > 0 && self.app.has_messages() {
            self.messages.push_back((self.written, now));
        }
    }

    /// Ends the application: data not yet sent is discarded, the connection closes.
    fn finish(&mut self, now: Time) {
        self.finished = true;
        match &mut self.transport {
            Transport::Tcp(sides) => {
                if !self.app.is_finite() {
                    sides[0].connection.abandon_unsent();
                }
                sides[0].connection.shutdown_write();
            }
            Transport::Foreign(foreign) if !self.app.is_finite() => foreign.streams.abandon(),
            Transport::Foreign(_) => {}
            // Nothing tells the sink of a datagram which is the last.
            Transport::Udp => self.ended_at = Some(now),
        }
    }

    fn on_tcp_event(&mut self, ctx: &mut Context, endpoint: EndpointId, event: TcpEvent) {
        let id = endpoint.flow();
        match event {
            TcpEvent::Connected if endpoint.is_source() => self.connected_at = Some(ctx.now),
            TcpEvent::Delivered(bytes) if !endpoint.is_source() => self.on_delivered(ctx, id, bytes),
            TcpEvent::Writable if endpoint.is_source() && !self.finished => self.on_writable(ctx, id),
            // The sink has no data to send: it closes when the source has.
            TcpEvent::PeerClosed if !endpoint.is_source() => {
                self.ended_at.get_or_insert(ctx.now);
                if let Some(side) = self.side(endpoint) {
                    side.connection.shutdown_write();
                }
            }
            _ => {}
        }
    }

    fn on_delivered(&mut self, ctx: &mut Context, id: FlowId, bytes: u64) {
        let metrics = &mut ctx.flows[id.index()].interval;
        metrics.delivered_bytes += Bytes(bytes);
        if self.read == 0 {
            self.first_byte_at = Some(ctx.now);
        }
        self.read += bytes;
        while let Some((_, written_at)) = self.messages.pop_front_if(|(end, _)| *end <= self.read) {
            metrics.on_message(ctx.now.since(written_at));
        }
        if self.app.is_finite() && Some(Bytes(self.read)) == self.app.write() {
            self.ended_at = Some(ctx.now);
        }
    }

    /// Writes the rest of a write that did not fit into the send buffer.
    fn on_writable(&mut self, ctx: &mut Context, id: FlowId) {
        let Transport::Tcp(sides) = &mut self.transport else { return };
        self.blocked -= Bytes(sides[0].connection.write(self.blocked.0));
        self.after_write(ctx, id);
    }

    /// What a write has left waits; behind a whole one the application goes on.
    fn after_write(&mut self, ctx: &mut Context, id: FlowId) {
        if self.blocked > Bytes::ZERO {
            return;
        }
        if self.app.is_finite() {
            self.finish(ctx.now);
        } else {
            self.schedule_tick(ctx, id);
        }
    }
}

#[cfg(test)]
mod tests;
