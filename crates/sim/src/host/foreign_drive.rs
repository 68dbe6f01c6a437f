//! Drives whole transports that are not ours: hands them datagrams and what applications write, takes their datagrams, holds
//! these until they depart, and reads what has arrived. After each call come events until there is none, then datagrams until there
//! is none, then the next time-out.

use tcp::units::{Bytes, Span};

use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::foreign::ForeignDatagram;
use crate::host::Hosts;
use crate::host::app::command::End;
use crate::host::flow::Flow;
use crate::host::foreign::{Side, seconds};
use crate::host::streams::grouped;
use crate::host::transport::Transport;
use crate::ids::EndpointId;
use crate::network::Network;
use crate::packet::{Datagram, DropReason, Packet, PacketHeader, TTL};

/// Datagrams or events at one instant, and time-outs at one.
const MOST_AT_ONCE: u32 = 65_536;
const MOST_TIMEOUTS: u32 = 1_000;

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
