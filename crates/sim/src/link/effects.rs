//! What a link does to packets beside serving them: delays that vary, order, copies, damage, hybrid ARQ. Each effect has a random
//! stream of its own.

use std::collections::BTreeSet;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::acks::{AckDecimator, AckReplacer};
use super::draw::{Correlated, Draw};
use crate::ids::PacketId;
use crate::scenario::{
    AcksDef, CopyAt, CorruptDef, DuplicateDef, FailureDef, FramingDef, HarqDef, JitterDef, LinkOptions, Overhead,
    PerDraw, ReorderDef,
};

/// Longest time for which a packet waits for the one that it changes places with.
const LONGEST_SWAP: Span = Span::from_millis(100);

/// The effects of a link, and the packets in flight, which may arrive in any order.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    jitter: Option<(Jitter, Rng)>,
    reorder: Option<(Reorder, Rng)>,
    duplicate: Option<(DuplicateDef, Rng)>,
    corrupt: Option<(CorruptDef, Rng)>,
    harq: Option<(Harq, Rng)>,
    pub(super) acks: Option<AckDecimator>,
    pub(super) newest: Option<AckReplacer>,
    /// When jitter, reorder, duplicate, corrupt and harq act.
    during: Stretches,
    /// In place of the overhead of the link.
    pub(super) framing: Option<FramingDef>,
    pub(super) in_flight: InFlight,
    /// A change of the path lets packets overtake.
    overtakes: bool,
    /// The packet that changes places with the next one, and when it goes on without.
    pub(super) swapped: Option<(PacketId, Time)>,
    /// Packets copied, over the whole run.
    pub(crate) duplicated: u64,
    /// Packets damaged, over the whole run.
    pub(crate) corrupted: u64,
}

/// Stretches of time, each from and to; none stands for all time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretches(Vec<[Time; 2]>);

impl Stretches {
    pub(crate) fn of(during: &[[Span; 2]]) -> Stretches {
        Stretches(during.iter().map(|stretch| stretch.map(|at| Time::ZERO + at)).collect())
    }

    /// True within a stretch.
    #[inline]
    pub(crate) fn act(&self, now: Time) -> bool {
        self.0.is_empty() || self.0.iter().any(|[from, until]| *from <= now && now < *until)
    }
}

/// Packets in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    alive: BTreeSet<PacketId>,
    /// Given up by hybrid ARQ.
    failed: BTreeSet<PacketId>,
    /// The link went down under them.
    doomed: BTreeSet<PacketId>,
}

/// How a packet in flight ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Arrives,
    /// Hybrid ARQ has given up.
    Failed,
    /// The link went down.
    LinkDown,
}

impl InFlight {
    pub(super) fn add(&mut self, packet: PacketId, end: End) {
        let packets = match end {
            End::Arrives => &mut self.alive,
            End::Failed => &mut self.failed,
            End::LinkDown => &mut self.doomed,
        };
        packets.insert(packet);
    }

    pub(super) fn on_link_down(&mut self) {
        self.doomed.append(&mut self.alive);
        self.doomed.append(&mut self.failed);
    }

    pub(super) fn remove(&mut self, packet: PacketId) -> End {
        if self.doomed.remove(&packet) {
            End::LinkDown
        } else if self.failed.remove(&packet) {
            End::Failed
        } else {
            self.alive.remove(&packet);
            End::Arrives
        }
    }
}

#[derive(Debug)]
struct Jitter {
    draw: Draw,
    per: PerDraw,
    reorder: bool,
    draws: Correlated,
    /// The draw that holds, and until when.
    last: (Span, Time),
}

#[derive(Debug)]
enum Reorder {
    Late { p: f64, by: Draw, draws: Correlated },
    Early { p: f64, gap: u64, seen: u64, draws: Correlated },
    Swap { p: f64 },
}

#[derive(Debug)]
struct Harq {
    p: Vec<f64>,
    rtt: Span,
    attempts: u64,
    arq: Option<Span>,
    in_order: bool,
}

/// What becomes of a packet that leaves the transmitter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flight {
    pub(super) arrives: Time,
    /// What becomes of it then.
    pub(super) end: End,
    /// It waits for its successor.
    pub(super) swaps: bool,
    /// A copy follows it.
    pub(super) copied: bool,
}

impl Effects {
    /// Those that `options` ask for, if there are any or if a change of the path lets packets overtake; `rng` makes the stream of
    /// each.
    pub(crate) fn of(options: &LinkOptions, rng: impl Fn(&'static str) -> Rng) -> Option<Box<Effects>> {
        let LinkOptions { jitter, reorder, duplicate, corrupt, harq, acks, framing, changes, during, .. } = options;
        let effects = Effects {
            jitter: jitter.as_ref().map(|def| (Jitter::of(def), rng("jitter"))),
            reorder: reorder.as_ref().map(|def| (Reorder::of(def), rng("reorder"))),
            duplicate: duplicate.as_ref().map(|def| (def.clone(), rng("duplicate"))),
            corrupt: corrupt.as_ref().map(|def| (def.clone(), rng("corrupt"))),
            harq: harq.as_ref().map(|def| (Harq::of(def), rng("harq"))),
            acks: match acks {
                Some(AcksDef::Decimate(def)) => Some(AckDecimator::new(def)),
                _ => None,
            },
            newest: matches!(acks, Some(AcksDef::Newest(_))).then(AckReplacer::default),
            framing: framing.and_then(|framing| match framing {
                Overhead::Raw => None,
                Overhead::Framed(framing) => Some(framing),
            }),
            during: Stretches::of(during),
            overtakes: changes.iter().any(|change| change.overtake),
            ..Effects::default()
        };
        let any = effects.reorders()
            || effects.jitter.is_some()
            || effects.duplicate.is_some()
            || effects.corrupt.is_some()
            || effects.harq.is_some()
            || acks.is_some()
            || effects.framing.is_some();
        any.then(|| Box::new(effects))
    }

    /// True if packets may overtake each other.
    pub(crate) fn reorders(&self) -> bool {
        self.reorder.is_some() || self.overtakes || !self.keeps_order()
    }

    /// Packets that it holds.
    pub(super) fn holds(&self) -> u64 {
        u64::from(self.swapped.is_some()) + self.acks.as_ref().map_or(0, AckDecimator::holds)
    }

    fn keeps_order(&self) -> bool {
        self.jitter.as_ref().is_none_or(|(jitter, _)| !jitter.reorder)
            && self.harq.as_ref().is_none_or(|(harq, _)| harq.in_order)
    }

    /// True if a packet is copied before the queue.
    pub(super) fn copies_at_entrance(&mut self, now: Time) -> bool {
        self.during.act(now) && self.copies(CopyAt::Entrance)
    }

    fn copies(&mut self, at: CopyAt) -> bool {
        self.duplicate.as_mut().is_some_and(|(def, rng)| def.at == at && rng.chance(def.p))
    }

    /// True if a packet of this size is damaged.
    pub(super) fn damages(&mut self, now: Time, size: Bytes) -> bool {
        let Some((def, rng)) = self.corrupt.as_mut().filter(|_| self.during.act(now)) else { return false };
        let damaged = rng.chance(match def {
            CorruptDef::Packet(damage) => damage.p,
            // p = 1 - (1 - BER)^(8 L)
            CorruptDef::Bit(damage) => -libm::expm1(8.0 * size.as_f64() * libm::log1p(-damage.ber)),
        });
        self.corrupted += u64::from(damaged);
        damaged
    }

    /// Decides about a packet that leaves the transmitter at `leaves`, with this propagation `delay`; jitter counts `times`.
    pub(super) fn fly(&mut self, leaves: Time, delay: Span, times: u64, last_arrival: &mut Time) -> Flight {
        let mut arrives = leaves + delay;
        if !self.during.act(leaves) {
            arrives = arrives.max(*last_arrival);
            *last_arrival = arrives;
            return Flight { arrives, end: End::Arrives, swaps: false, copied: false };
        }
        if let Some((jitter, rng)) = &mut self.jitter {
            arrives = match jitter.per {
                PerDraw::Batch => jitter.joins(arrives, rng, times),
                _ => arrives + jitter.at(leaves, rng) * times,
            };
        }
        let mut fails = false;
        if let Some((harq, rng)) = &mut self.harq {
            let extra = harq.attempt(rng);
            (arrives, fails) = (arrives + extra.0, extra.1);
        }
        let (mut out_of_order, mut swaps) = (false, false);
        if let Some((reorder, rng)) = &mut self.reorder {
            match reorder {
                Reorder::Late { p, by, draws } => {
                    if draws.chance(*p, rng) {
                        (arrives, out_of_order) = (arrives.max(*last_arrival) + by.sample(rng), true);
                    }
                }
                Reorder::Early { p, gap, seen, draws } => {
                    *seen += 1;
                    if seen.is_multiple_of(*gap) && draws.chance(*p, rng) {
                        (arrives, out_of_order) = (leaves, true);
                    }
                }
                Reorder::Swap { p } => swaps = self.swapped.is_none() && rng.chance(*p),
            }
        }
        if !out_of_order && self.keeps_order() {
            arrives = arrives.max(*last_arrival);
            // Nothing waits behind a packet that never arrives.
            *last_arrival = if fails { *last_arrival } else { arrives };
        }
        let end = if fails { End::Failed } else { End::Arrives };
        Flight { arrives, end, swaps: swaps && !fails, copied: !fails && self.copies(CopyAt::Exit) }
    }

    /// Holds a packet until the next one leaves.
    pub(super) fn hold(&mut self, packet: PacketId, arrives: Time) -> Time {
        let deadline = arrives + LONGEST_SWAP;
        self.swapped = Some((packet, deadline));
        deadline
    }
}

impl Jitter {
    fn of(def: &JitterDef) -> Jitter {
        Jitter {
            draw: Draw::of(&def.delay),
            per: def.per,
            reorder: def.reorder,
            draws: Correlated::of(def.correlation),
            last: (Span::ZERO, Time::ZERO),
        }
    }

    /// When the batch goes on that a packet joins, or begins.
    fn joins(&mut self, arrives: Time, rng: &mut Rng, times: u64) -> Time {
        if arrives > self.last.1 {
            self.last.1 = arrives + self.draws.sample(&self.draw, rng) * times;
        }
        self.last.1
    }

    fn at(&mut self, now: Time, rng: &mut Rng) -> Span {
        if let PerDraw::Time(per) = self.per {
            if now < self.last.1 {
                return self.last.0;
            }
            // Draws hold from multiples of this time on.
            let ends = (now.as_nanos() / per.as_nanos() + 1).saturating_mul(per.as_nanos());
            self.last = (self.draws.sample(&self.draw, rng), Time::from_nanos(ends));
            return self.last.0;
        }
        self.draws.sample(&self.draw, rng)
    }
}

impl Reorder {
    fn of(def: &ReorderDef) -> Reorder {
        match def {
            ReorderDef::Late(late) => {
                Reorder::Late { p: late.p, by: Draw::of(&late.by), draws: Correlated::of(late.correlation) }
            }
            ReorderDef::Early(early) => {
                Reorder::Early { p: early.p, gap: early.gap, seen: 0, draws: Correlated::of(early.correlation) }
            }
            ReorderDef::Swap(swap) => Reorder::Swap { p: swap.p },
        }
    }
}

impl Harq {
    fn of(def: &HarqDef) -> Harq {
        let HarqDef { p, rtt, attempts, arq, in_order } = def.clone();
        let p = match p {
            FailureDef::Each(p) => vec![p],
            FailureDef::ByAttempt(p) => p,
        };
        Harq { p, rtt, attempts, arq, in_order }
    }

    /// Draws attempts: the delay that failures add, and whether the packet is lost.
    fn attempt(&self, rng: &mut Rng) -> (Span, bool) {
        let mut extra = Span::ZERO;
        for round in 0..2 {
            for attempt in 0..self.attempts as usize {
                // The last probability holds for all further attempts.
                if !rng.chance(self.p[attempt.min(self.p.len() - 1)]) {
                    return (extra, false);
                }
                extra += self.rtt;
            }
            match self.arq {
                Some(arq) if round == 0 => extra += arq,
                _ => break,
            }
        }
        (extra, true)
    }
}
