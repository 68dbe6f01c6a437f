//! Drives whole transports that are not ours: hands them datagrams and what applications write, takes their datagrams, holds
//! these until they depart, and reads what has arrived. After each call come events until there is none, then datagrams until there
//! is none, then the next time-out.

use std::collections::VecDeque;
use std::net::SocketAddrV4;

use tcp::units::{Bytes, Span, Time};

use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::foreign::{ForeignDatagram, ForeignEnd, ForeignKind, ForeignRole, ForeignSetup, ForeignStats};
use crate::host::Hosts;
use crate::host::app::command::End;
use crate::host::flow::Flow;
use crate::host::streams::{Streams, grouped};
use crate::host::transport::Transport;
use crate::ids::{EndpointId, FlowId, NodeId};
use crate::network::Network;
use crate::packet::wire::{Socket, UDP, sockets};
use crate::packet::{Datagram, DropReason, IP_HEADER, Packet, PacketHeader, TTL, UDP_HEADER};
use crate::scenario::NativeTransport;

/// Datagrams or events at one instant, and time-outs at one.
const MOST_AT_ONCE: u32 = 65_536;
const MOST_TIMEOUTS: u32 = 1_000;
/// The longest that a datagram may be held.
const LONGEST_HOLD: Span = Span::from_millis(10_000);

/// A connection of a whole transport.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(super) sides: [Side; 2],
    pub(super) streams: Streams,
    /// What it says of its datagrams, and what became of them.
    pub(crate) counts: ForeignCounts,
    /// The newest RTT and the losses that the source has told of.
    latest_rtt_s: f64,
    lost_before: f64,
}

/// What is counted of a transport besides.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct ForeignCounts {
    pub(crate) too_big: u64,
    /// It has said of a datagram that it carries nothing new.
    pub(crate) tells_retransmissions: bool,
}

/// One end.
#[derive(Debug)]
pub(super) struct Side {
    kind: &'static ForeignKind,
    options: Vec<f64>,
    pub(super) setup: ForeignSetup,
    pub(super) end: Option<Box<dyn ForeignEnd>>,
    pub(super) connected: bool,
    pub(super) closed: Option<u32>,
    /// The application is done with it: it is to be closed, and it has been.
    pub(super) closes: bool,
    done: bool,
    wake_at: Option<Time>,
    /// It has something to do at a later time.
    waits: bool,
    /// Datagrams that depart later.
    held: VecDeque<ForeignDatagram>,
    last_departure: Time,
    /// Time-outs at this time.
    timeouts: (Time, u32),
}

impl Side {
    pub(super) fn new((kind, options): (&'static ForeignKind, Vec<f64>), setup: ForeignSetup) -> Side {
        Side {
            kind,
            options,
            setup,
            end: None,
            connected: false,
            closed: None,
            closes: false,
            done: false,
            wake_at: None,
            waits: false,
            held: VecDeque::new(),
            last_departure: Time::ZERO,
            timeouts: (Time::ZERO, 0),
        }
    }

    /// The next datagram, which keeps the contract.
    fn poll_transmit(&mut self, now: Time) -> Option<ForeignDatagram> {
        let end = self.end.as_mut()?;
        let datagram = end.poll_transmit(now)?;
        let depart = datagram.depart;
        let wrong = if depart < now {
            Some(format!("departs {} ns before the call", grouped(now.since(depart).as_nanos())))
        } else if depart < self.last_departure {
            let earlier = self.last_departure.since(depart).as_nanos();
            Some(format!("departs {} ns before the one before it", grouped(earlier)))
        } else if depart > now + LONGEST_HOLD {
            Some(format!("departs {} after the call, at most {LONGEST_HOLD} are allowed", depart.since(now)))
        } else {
            datagram.bytes.is_empty().then(|| "a datagram has 0 bytes".to_owned())
        };
        if let Some(wrong) = wrong {
            end.fail(now, &format!("poll_transmit failed at {}: {wrong}", seconds(now)));
        }
        self.last_departure = depart;
        Some(datagram)
    }

    /// When it is to be looked at, if at all.
    fn next_wake(&mut self, now: Time) -> Option<Time> {
        let timeout = self.end.as_mut().and_then(|end| end.next_timeout(now)).map(|at| at.max(now));
        [timeout, self.held.front().map(|datagram| datagram.depart)].into_iter().flatten().min()
    }
}

/// A time as text.
fn seconds(at: Time) -> String {
    format!("{} s", at.as_secs_f64())
}

impl Foreign {
    /// The connection of a flow whose `client` connects; `setups` are those of source and sink.
    pub(crate) fn new(ends: [(&'static ForeignKind, Vec<f64>); 2], setups: [ForeignSetup; 2], client: End) -> Foreign {
        let streams = Streams::new(ends[0].0.max_streams == 1, client);
        let [source, sink] = ends;
        let [at_source, at_sink] = setups;
        let sides = [Side::new(source, at_source), Side::new(sink, at_sink)];
        let counts = ForeignCounts::default();
        Foreign { sides, streams, counts, latest_rtt_s: f64::NAN, lost_before: 0.0 }
    }

    /// The connection of `flow` over this transport, which `client` opens. `nodes` are those of source and sink, called `places`.
    pub(crate) fn between(
        native: &NativeTransport,
        client: End,
        flow: FlowId,
        nodes: [NodeId; 2],
        places: [&str; 2],
        seeds: [u64; 2],
    ) -> Foreign {
        let sockets = sockets(flow.0, nodes).map(|Socket { address, port }| SocketAddrV4::new(address, port));
        let setup = |end: End| ForeignSetup {
            now: Time::ZERO,
            seed: seeds[end as usize],
            role: if end == client { ForeignRole::Client } else { ForeignRole::Server },
            mtu: native.mtu.expect("a complete transport has its MTU"),
            local: sockets[end as usize],
            remote: sockets[end.peer() as usize],
            place: places[end as usize].to_owned(),
            label: format!("flow{}-{}", flow.0, ["source", "sink"][end as usize]),
        };
        Foreign::new(native.ends(), [setup(End::Source), setup(End::Sink)], client)
    }

    /// What the source says of its sending half.
    pub(crate) fn stats(&self, now: Time) -> ForeignStats {
        self.sides[0].end.as_ref().map_or(ForeignStats::UNKNOWN, |end| end.stats(now))
    }

    /// The congestion window of the source, if it says so.
    pub(crate) fn cwnd(&self, now: Time) -> Option<Bytes> {
        let cwnd = self.stats(now).cwnd_bytes;
        (cwnd.is_finite() && cwnd >= 0.0).then_some(Bytes(cwnd as u64))
    }

    /// Packets that the source has taken for lost in the measurement interval, if it says so.
    pub(crate) fn declared_lost(&self, now: Time) -> Option<u64> {
        let lost = self.stats(now).lost_packets;
        (!lost.is_nan()).then(|| (lost - self.lost_before).max(0.0) as u64)
    }

    /// The measurement interval begins.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        let lost = self.stats(now).lost_packets;
        self.lost_before = if lost.is_nan() { 0.0 } else { lost };
        self.counts.too_big = 0;
    }

    /// What ended the connection: 0 if an end has closed it; absent while it lives.
    pub(crate) fn close_code(&self) -> Option<u32> {
        self.sides.iter().filter_map(|side| side.closed).max()
    }

    /// True if an end is closed.
    pub(super) fn has_closed_end(&self) -> bool {
        self.sides.iter().any(|side| side.done || side.closed.is_some())
    }

    /// True if an end is closed, and none waits for a time: nothing happens any more unless a datagram comes.
    pub(super) fn is_closed(&self) -> bool {
        self.has_closed_end() && !self.sides.iter().any(|side| side.waits)
    }

    /// Both ends come into being.
    pub(super) fn begin(&mut self, now: Time) {
        for side in &mut self.sides {
            side.setup.now = now;
            side.end.get_or_insert_with(|| (side.kind.create)(&side.setup, &side.options));
        }
    }

    /// The application at an end acts: streams open, data is written, the connection closes. True if the transport was called.
    fn pump(&mut self, now: Time, from: End) -> bool {
        let side = &mut self.sides[from as usize];
        let Some(end) = side.end.as_deref_mut().filter(|_| !side.done && side.closed.is_none()) else { return false };
        if std::mem::take(&mut side.closes) {
            side.done = true;
            end.close(now);
            return true;
        }
        if !side.connected {
            return false;
        }
        self.streams.pump(now, from, end)
    }

    /// Protocol number of IP.
    pub(crate) fn protocol(&self) -> u8 {
        self.sides[0].kind.protocol
    }

    fn header(&self) -> Bytes {
        if self.protocol() == UDP { IP_HEADER + UDP_HEADER } else { IP_HEADER }
    }
}

impl Hosts {
    /// A `Wake` of an end: datagrams depart, or a time-out is due.
    #[cold]
    #[inline(never)]
    pub(super) fn on_foreign_wake(&mut self, ctx: &mut Context, network: &mut Network, endpoint: EndpointId) {
        let now = ctx.now;
        let flow = &mut self.flows[endpoint.flow().index()];
        let Some(side) = flow.foreign_side(endpoint) else { return };
        if side.wake_at.take_if(|at| *at == now).is_none() {
            return;
        }
        while let Some(datagram) =
            flow.foreign_side(endpoint).and_then(|side| side.held.pop_front_if(|d| d.depart <= now))
        {
            launch(ctx, network, flow, endpoint, datagram);
        }
        let Some(side) = flow.foreign_side(endpoint) else { return };
        let Some(end) = &mut side.end else { return };
        if end.next_timeout(now).is_some_and(|at| at <= now) {
            let before = if side.timeouts.0 == now { side.timeouts.1 } else { 0 };
            side.timeouts = (now, before + 1);
            if before == MOST_TIMEOUTS {
                let times = grouped(MOST_TIMEOUTS.into());
                end.fail(now, &format!("next_timeout stays at {}: on_timeout was called {times} times", seconds(now)));
            }
            end.on_timeout(now);
        }
        self.drain_foreign(ctx, network, endpoint);
        self.settle(ctx, network);
    }

    /// A datagram has arrived at an end.
    #[cold]
    #[inline(never)]
    pub(super) fn on_foreign_packet(&mut self, ctx: &mut Context, network: &mut Network, packet: &Packet) {
        let payload = ctx.packets.take_left_payload();
        let flow = &mut self.flows[packet.to.flow().index()];
        let Transport::Foreign(foreign) = &mut flow.transport else { return };
        let Some(end) = &mut foreign.sides[End::of(packet.to) as usize].end else { return };
        end.on_datagram(ctx.now, &payload, packet.ecn());
        if packet.to.is_source() {
            let rtt_s = foreign.stats(ctx.now).latest_rtt_s;
            if rtt_s.is_finite() && rtt_s >= 0.0 && rtt_s.to_bits() != foreign.latest_rtt_s.to_bits() {
                foreign.latest_rtt_s = rtt_s;
                ctx.flows[packet.to.flow().index()].interval.on_rtt(Span::from_secs_f64(rtt_s));
            }
        }
        self.drain_foreign(ctx, network, packet.to);
        self.settle(ctx, network);
    }

    /// Drains an end after a call: its events, its datagrams, its next time-out.
    #[cold]
    #[inline(never)]
    pub(super) fn drain_foreign(&mut self, ctx: &mut Context, network: &mut Network, endpoint: EndpointId) {
        let (now, index, from) = (ctx.now, endpoint.flow().index(), End::of(endpoint));
        let mut count = 0;
        loop {
            while let Some(side) = self.flows[index].foreign_side(endpoint)
                && let Some(end) = &mut side.end
                && let Some(event) = end.poll_event(now)
            {
                count += 1;
                if count == MOST_AT_ONCE {
                    end.fail(now, &format!("{} events at {} without an end", grouped(count.into()), seconds(now)));
                }
                self.on_foreign_event(ctx, network, endpoint, event);
            }
            let Transport::Foreign(foreign) = &mut self.flows[index].transport else { return };
            if !foreign.pump(now, from) {
                break;
            }
            self.flows[index].after_foreign_write(ctx, endpoint);
        }
        self.transmit_foreign(ctx, network, endpoint);
    }

    fn transmit_foreign(&mut self, ctx: &mut Context, network: &mut Network, endpoint: EndpointId) {
        let now = ctx.now;
        let flow = &mut self.flows[endpoint.flow().index()];
        let mut count = 0;
        while let Some(datagram) = flow.foreign_side(endpoint).and_then(|side| side.poll_transmit(now)) {
            count += 1;
            let Some(side) = flow.foreign_side(endpoint) else { return };
            if let Some(end) = side.end.as_ref().filter(|_| count == MOST_AT_ONCE) {
                end.fail(now, &format!("{} datagrams at {} without an end", grouped(count.into()), seconds(now)));
            }
            if datagram.depart == now && side.held.is_empty() {
                launch(ctx, network, flow, endpoint, datagram);
            } else {
                side.held.push_back(datagram);
            }
        }
        let Some(side) = flow.foreign_side(endpoint) else { return };
        let next = side.next_wake(now);
        side.waits = next.is_some();
        if let Some(at) = next
            && side.wake_at.is_none_or(|pending| at < pending)
        {
            side.wake_at = Some(at);
            ctx.schedule(at, Event::Wake { endpoint });
        }
        if endpoint.is_source()
            && let Some(cwnd) = flow.cwnd(now)
        {
            flow.cwnd_integral.update(now, cwnd);
        }
    }
}

/// A datagram enters the network.
fn launch(ctx: &mut Context, network: &mut Network, flow: &mut Flow, from: EndpointId, datagram: ForeignDatagram) {
    let (node, to) = (flow.node(from), from.peer());
    let destination = flow.node(to);
    let Transport::Foreign(foreign) = &mut flow.transport else { return };
    let ForeignDatagram { bytes, ecn, retransmission, .. } = datagram;
    let payload = Bytes(bytes.len() as u64);
    let size = foreign.header() + payload;
    let mtu = foreign.sides[End::of(from) as usize].setup.mtu;
    foreign.counts.tells_retransmissions |= retransmission;
    let header = PacketHeader { to, destination, size, sent_at: ctx.now, retransmission, ttl: TTL };
    let id = ctx.admit_carried(&header, Datagram { bytes: payload, ecn, number: 0, carried: true }, bytes);
    if size > mtu {
        foreign.counts.too_big += 1;
        return ctx.drop(id, DropReason::TooLong, None);
    }
    network.originate(ctx, node, id);
}

impl Flow {
    /// An end of a whole transport.
    fn foreign_side(&mut self, endpoint: EndpointId) -> Option<&mut Side> {
        match &mut self.transport {
            Transport::Foreign(foreign) => Some(&mut foreign.sides[End::of(endpoint) as usize]),
            Transport::Tcp(_) | Transport::Udp => None,
        }
    }
}
