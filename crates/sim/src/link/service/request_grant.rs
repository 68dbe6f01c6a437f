//! Grants that a modem asks for some time before it may send: the upstream of DOCSIS, and of other networks with a scheduler at
//! the far end.

use std::collections::VecDeque;

use tcp::units::{Bytes, Rate, Span, Time};

use super::{Beside, Counts, Link};
use crate::engine::context::Context;
use crate::qdisc::QueuedPacket;
use crate::scenario::RequestGrantService;

/// A modem.
#[derive(Debug)]
pub(super) struct RequestGrant {
    map: Span,
    loop_maps: u64,
    pub(super) rate: Rate,
    rides: bool,
    /// Bytes asked for, and when they may be sent.
    asked: VecDeque<(Time, Bytes)>,
    /// Bytes that may be sent now.
    granted: Bytes,
    /// The next packet: it is in transmission no sooner than its bytes are granted.
    pub(super) next: Option<QueuedPacket>,
}

impl RequestGrant {
    pub(super) fn new(def: &RequestGrantService, rate: Rate) -> RequestGrant {
        let RequestGrantService { map, loop_maps, rides, .. } = *def;
        RequestGrant { map, loop_maps, rate, rides, asked: VecDeque::new(), granted: Bytes::ZERO, next: None }
    }

    pub(super) fn serve(&mut self, link: &mut Link, ctx: &mut Context, counts: &mut Counts) {
        while let Some((_, bytes)) = self.asked.pop_front_if(|(at, _)| *at <= ctx.now) {
            self.granted += bytes;
            counts.grants += 1;
        }
        self.ask(link, ctx.now);
        if ctx.now >= link.free_at {
            self.transmit(link, ctx, counts);
        }
        if self.next.is_none() && link.queue.packets() == 0 {
            // A grant that nothing waits for is not kept.
            self.granted = Bytes::ZERO;
            return;
        }
        let map = self.map.as_nanos();
        let boundary = Time::from_nanos((ctx.now.as_nanos() / map + 1) * map);
        let asks = self.may_ask() && self.unasked(link) > Bytes::ZERO;
        let sends = self.granted > Bytes::ZERO && link.free_at > ctx.now;
        let granted = self.asked.front().map(|(at, _)| *at);
        let soonest = [asks.then_some(boundary), sends.then_some(link.free_at), granted].into_iter().flatten().min();
        link.ask_at(ctx, soonest.unwrap_or(boundary));
    }

    /// The link goes down.
    pub(super) fn interrupt(&mut self) -> Option<QueuedPacket> {
        self.asked.clear();
        self.granted = Bytes::ZERO;
        self.next.take()
    }

    /// At a boundary of maps it asks for what waits.
    fn ask(&mut self, link: &Link, now: Time) {
        let bytes = self.unasked(link);
        if now.as_nanos().is_multiple_of(self.map.as_nanos()) && bytes > Bytes::ZERO && self.may_ask() {
            self.asked.push_back((now + self.map.saturating_mul(self.loop_maps), bytes));
        }
    }

    fn may_ask(&self) -> bool {
        self.rides || self.asked.is_empty()
    }

    /// Bytes that wait and are neither granted nor asked for.
    fn unasked(&self, link: &Link) -> Bytes {
        let known = self.asked.iter().fold(self.granted, |sum, (_, bytes)| sum + *bytes);
        let waits = link.queue.bytes() + self.next.map_or(Bytes::ZERO, |next| next.size);
        waits.saturating_sub(known)
    }

    /// Begins the transmission of a packet, if its bytes are granted.
    fn transmit(&mut self, link: &mut Link, ctx: &mut Context, counts: &mut Counts) {
        if self.next.is_none() && self.granted > Bytes::ZERO {
            self.next = link.dequeue(ctx);
        }
        if let Some(packet) = self.next.take_if(|packet| packet.size <= self.granted) {
            self.granted -= packet.size;
            link.free_at = ctx.now + self.rate.transmission_time(packet.size);
            counts.used += packet.size;
            link.depart(ctx, packet, link.free_at, Beside::NOTHING);
        }
    }
}
