//! Opportunities to deliver some bytes, of a trace or at random. mahimahi's packet delivery: what nobody uses is lost, and a packet
//! leaves at the opportunity that brings its last byte.

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::{Beside, Counts, Link};
use crate::engine::context::Context;
use crate::qdisc::QueuedPacket;
use crate::scenario::TraceService;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Opportunities, and the packet that has had a part of its bytes.
#[derive(Debug)]
pub(super) struct Opportunities {
    instants: Instants,
    pub(super) opportunity: Bytes,
    /// What is left of the opportunity that began last, and when that was.
    open: (Time, Bytes),
    /// A packet and its bytes still to send.
    pub(super) under_way: Option<(QueuedPacket, Bytes)>,
    pub(super) counted_before: u64,
    /// The opportunity that it waited for last.
    pub(super) awaits: Time,
}

/// When opportunities come. `next` and what belongs to it name the first that has not begun.
#[derive(Debug)]
enum Instants {
    Trace {
        millis: Vec<u32>,
        offset: Time,
        repeats: bool,
        round: u64,
        index: usize,
        /// When it comes; nothing after the last.
        next: Option<Time>,
    },
    Poisson {
        mean_nanos: f64,
        rng: Rng,
        next: Time,
        /// Opportunities that began before `next`.
        count: u64,
    },
}

impl Opportunities {
    fn new(instants: Instants, opportunity: Bytes) -> Opportunities {
        let open = (Time::ZERO, Bytes::ZERO);
        Opportunities { instants, opportunity, open, under_way: None, counted_before: 0, awaits: Time::ZERO }
    }

    pub(super) fn trace(def: &TraceService) -> Opportunities {
        let millis = def.times.as_ref().map_or_else(Vec::new, |times| times.millis.clone());
        let offset = Time::ZERO + def.offset;
        let next = millis.first().map(|first| offset + of_millis(*first));
        Opportunities::new(
            Instants::Trace { millis, offset, repeats: def.repeats, round: 0, index: 0, next },
            def.opportunity(),
        )
    }

    pub(super) fn poisson(rate: Rate, opportunity: Bytes, rng: Rng) -> Opportunities {
        let mean_nanos = opportunity.as_f64() * 8e9 / rate.as_bps() as f64;
        let mut instants = Instants::Poisson { mean_nanos, rng, next: Time::ZERO, count: 0 };
        instants.begin();
        Opportunities::new(instants, opportunity)
    }

    /// Number of opportunities after time 0 and up to `now`, which never decreases from call to call.
    pub(super) fn count(&mut self, now: Time) -> u64 {
        match &mut self.instants {
            Instants::Trace { millis, offset, repeats, .. } => {
                let until = |now| count_of_trace(millis, *repeats, now, *offset);
                until(now) - until(Time::ZERO)
            }
            Instants::Poisson { .. } => {
                self.instants.skip_to(now + Span::from_nanos(1));
                let Instants::Poisson { count, .. } = &self.instants else { return 0 };
                *count
            }
        }
    }

    pub(super) fn serve(&mut self, link: &mut Link, ctx: &mut Context, counts: &mut Counts) {
        while self.under_way.is_some() || link.queue.packets() > 0 {
            if self.open.0 != ctx.now || self.open.1 == Bytes::ZERO {
                let Some(next) = self.instants.skip_to(ctx.now) else { return };
                if next > ctx.now {
                    self.awaits = next;
                    return link.ask_at(ctx, next);
                }
                self.instants.begin();
                self.open = (ctx.now, self.opportunity);
            }
            let under_way = self.under_way.take().or_else(|| link.dequeue(ctx).map(|next| (next, next.size)));
            let Some((packet, left)) = under_way else { return };
            let sent = left.min(self.open.1);
            self.open.1 -= sent;
            counts.used += sent;
            if sent == left {
                link.depart(ctx, packet, ctx.now, Beside::NOTHING);
            } else {
                self.under_way = Some((packet, left - sent));
            }
        }
    }
}

fn of_millis(stamp: u32) -> Span {
    Span::from_millis(stamp.into())
}

/// Lines of a trace at or before `now`.
fn count_of_trace(millis: &[u32], repeats: bool, now: Time, offset: Time) -> u64 {
    let (Some(last), true) = (millis.last(), now >= offset) else { return 0 };
    let (since, period) = (now.since(offset).as_nanos() / NANOS_PER_MILLI, u64::from(*last));
    let rounds = if repeats { since / period } else { 0 };
    let within = since - rounds * period;
    rounds * millis.len() as u64 + millis.partition_point(|stamp| u64::from(*stamp) <= within) as u64
}

impl Instants {
    /// The first opportunity at or after `now` that has not begun; those before it are lost.
    fn skip_to(&mut self, now: Time) -> Option<Time> {
        match self {
            Instants::Trace { next, .. } if next.is_none_or(|next| next >= now) => *next,
            Instants::Trace { millis, offset, repeats, round, index, .. } => {
                let period = u64::from(*millis.last()?) * NANOS_PER_MILLI;
                // The last stamp of a round is at the instant 0 of the next, and comes first.
                let since = now.since(*offset).as_nanos() - 1;
                *round = if *repeats { since / period } else { 0 };
                let within = since - *round * period;
                *index = millis.partition_point(|stamp| u64::from(*stamp) * NANOS_PER_MILLI <= within);
                self.note_next()
            }
            Instants::Poisson { .. } => {
                self.jump_to(now);
                loop {
                    match self {
                        Instants::Poisson { next, .. } if *next >= now => return Some(*next),
                        _ => self.begin(),
                    }
                }
            }
        }
    }

    /// Notes when the opportunity of a trace comes that `round` and `index` name.
    fn note_next(&mut self) -> Option<Time> {
        let Instants::Trace { millis, offset, round, index, next, .. } = self else { return None };
        *next = millis
            .get(*index)
            .zip(millis.last())
            .map(|(stamp, period)| *offset + of_millis(*period).saturating_mul(*round) + of_millis(*stamp));
        *next
    }

    /// Skips so many opportunities that their number is as good as normal: the process has no memory.
    fn jump_to(&mut self, now: Time) {
        let Instants::Poisson { mean_nanos, rng, next, count } = self else { return };
        let skipped = now.as_nanos().saturating_sub(next.as_nanos()) as f64 / *mean_nanos;
        if skipped > 1e6 {
            *count += (skipped + skipped.sqrt() * rng.normal()) as u64;
            *next = now + Span::from_nanos((rng.exponential(*mean_nanos) as u64).max(1));
        }
    }

    /// The next opportunity begins.
    fn begin(&mut self) {
        match self {
            Instants::Trace { millis, repeats, round, index, .. } => {
                *index += 1;
                if *index == millis.len() && *repeats {
                    (*round, *index) = (*round + 1, 0);
                }
                self.note_next();
            }
            Instants::Poisson { mean_nanos, rng, next, count } => {
                *count += u64::from(*next > Time::ZERO);
                // At least a nanosecond, so that time goes on.
                let distance = (rng.exponential(*mean_nanos) as u64).max(1);
                *next = *next + Span::from_nanos(distance);
            }
        }
    }
}
