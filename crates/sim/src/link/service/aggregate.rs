//! Bursts of packets that arrive together, each after a wait for access: 802.11 with A-MPDU aggregation, seen from above.

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::{Beside, Counts, Link};
use crate::engine::context::Context;
use crate::link::draw::Draw;
use crate::qdisc::QueuedPacket;
use crate::scenario::AggregateService;

/// A transmitter that aggregates.
#[derive(Debug)]
pub(super) struct Aggregate {
    access: Span,
    jitter: Option<(Draw, Rng)>,
    packets: u64,
    time: Span,
    pub(super) rate: Rate,
    /// When the wait for access ends; nothing while it does not wait.
    begins: Option<Time>,
    /// The packet that did not fit into the last burst.
    pub(super) held: Option<QueuedPacket>,
}

impl Aggregate {
    pub(super) fn new(def: &AggregateService, rate: Rate, jitter: Option<(Draw, Rng)>) -> Aggregate {
        let AggregateService { access, packets, time, .. } = *def;
        Aggregate { access, jitter, packets, time, rate, begins: None, held: None }
    }

    pub(super) fn serve(&mut self, link: &mut Link, ctx: &mut Context, counts: &mut Counts) {
        let waits = |aggregate: &Aggregate, link: &Link| aggregate.held.is_some() || link.queue.packets() > 0;
        if ctx.now < link.free_at {
            return if waits(self, link) {
                link.ask_at(ctx, link.free_at)
            };
        }
        match self.begins {
            None if waits(self, link) => {
                let jitter = self.jitter.as_mut().map_or(Span::ZERO, |(draw, rng)| draw.sample(rng));
                self.begins = Some(ctx.now + self.access + jitter);
            }
            Some(begins) if ctx.now >= begins => {
                self.begins = None;
                self.send_burst(link, ctx, counts);
                return if waits(self, link) {
                    link.ask_at(ctx, link.free_at.max(ctx.now))
                };
            }
            _ => {}
        }
        if let Some(begins) = self.begins {
            link.ask_at(ctx, begins);
        }
    }

    /// The link goes down.
    pub(super) fn interrupt(&mut self) -> Option<QueuedPacket> {
        self.begins = None;
        self.held.take()
    }

    fn send_burst(&mut self, link: &mut Link, ctx: &mut Context, counts: &mut Counts) {
        let (mut burst, mut bytes) = (Vec::new(), Bytes::ZERO);
        while (burst.len() as u64) < self.packets {
            let Some(next) = self.held.take().or_else(|| link.dequeue(ctx)) else { break };
            if !burst.is_empty() && self.rate.transmission_time(bytes + next.size) > self.time {
                self.held = Some(next);
                break;
            }
            bytes += next.size;
            burst.push(next);
        }
        if burst.is_empty() {
            return;
        }
        link.free_at = ctx.now + self.rate.transmission_time(bytes);
        counts.used += bytes;
        counts.bursts += 1;
        counts.burst_packets += burst.len() as u64;
        for packet in burst {
            link.depart(ctx, packet, link.free_at, Beside::NOTHING);
        }
    }
}
