//! What CDG remembers of the delay: minimum and maximum RTT of the round and of the one before, the gradients and their sum,
//! and the two detectors that end slow start.

use std::collections::VecDeque;

use super::Settings;
use crate::cc::signals::{Ack, View};
use crate::seq::SeqNo;
use crate::units::{Bytes, Time};

/// A train of ACKs ends with a gap of this, in µs.
const TRAIN_GAP: u64 = 3_000;
/// Least threshold of both detectors, in µs.
const MIN_THRESHOLD: i64 = 125;
/// Samples of a round before its delay is judged.
const MIN_SAMPLES: u32 = 8;
/// A sum of gradients down to this, in µs, shows that a backoff helped.
const EFFECT: i64 = -32;
/// With `use_tolerance` sums are rounded to units of this many µs.
const TOLERANCE: i64 = 64;
/// Samples in a row that may be taken for those of delayed ACKs.
const MAX_DELAYED: u32 = 5;

/// Something of the minimum and the maximum RTT, in µs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair {
    pub(super) min: i64,
    pub(super) max: i64,
}

impl Pair {
    pub(super) fn less(self, other: Pair) -> Pair {
        Pair { min: self.min - other.min, max: self.max - other.max }
    }
}

/// What the queue is believed to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Queue {
    #[default]
    Unknown,
    NotFull,
    Full,
    /// A backoff is under way.
    Backoff,
}

/// What a restart after an idle period forgets.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Minimum and maximum RTT of the round; absent before its first sample.
    pub(super) rtt: Option<Pair>,
    pub(super) previous: Option<Pair>,
    pub(super) gradients: VecDeque<Pair>,
    pub(super) queue: Queue,
    /// Samples to come that may be of delayed ACKs.
    delayed: u32,
    /// The round is over when more than this has been acknowledged.
    pub(super) end: SeqNo,
    /// In segments.
    pub(super) shadow: u64,
    pub(super) backoffs: u64,
    pub(super) samples: u32,
    /// Minimum RTT for HyStart; 0 before the first.
    delay_min: i64,
    pub(super) last_ack: Option<u64>,
    train_start: u64,
}

fn micros(time: Time) -> u64 {
    time.as_nanos() / 1_000
}

/// Reported beyond a gap, which the view does not say outright: pipe = flight - sacked - lost + retransmitted.
fn sacked(view: &View) -> Bytes {
    (view.flight + view.retransmitted).saturating_sub(view.pipe + view.lost)
}

impl Memory {
    pub(super) fn new(end: SeqNo, shadow: u64) -> Memory {
        Memory { end, shadow, ..Memory::default() }
    }

    /// Takes a sample. After ACKs of several segments one that covers a single segment may have been delayed: it counts only
    /// if it lowers the minimum RTT.
    pub(super) fn sample(&mut self, rtt: i64, ack: &Ack, view: &View) {
        if sacked(view) == Bytes::ZERO {
            if ack.cumulative_segments == 1 && self.delayed > 0 {
                if let Some(pair) = &mut self.rtt {
                    pair.min = pair.min.min(rtt);
                }
                self.delayed -= 1;
                return;
            }
            if ack.cumulative_segments > 1 && self.delayed < MAX_DELAYED {
                self.delayed += 1;
            }
        }
        let pair = self.rtt.unwrap_or(Pair { min: rtt, max: rtt });
        self.rtt = Some(Pair { min: pair.min.min(rtt), max: pair.max.max(rtt) });
    }

    pub(super) fn begin_round(&mut self, view: &View) {
        self.end = view.snd_nxt;
        self.previous = self.rtt.take();
    }

    /// The sum of the gradients with that of the round that has ended, in µs; what the window does not hold yet is
    /// extrapolated.
    pub(super) fn gradient(&mut self, latest: Pair, settings: &Settings) -> i64 {
        if self.gradients.len() == settings.window {
            self.gradients.pop_front();
        }
        self.gradients.push_back(latest);
        let sum = |part: fn(&Pair) -> i64| self.gradients.iter().map(part).sum::<i64>();
        let (min, max) = (sum(|pair| pair.min), sum(|pair| pair.max));
        let gradient = if min > 0 { min } else { max };
        if min <= EFFECT || max <= EFFECT {
            self.backoffs = 0;
        }
        if settings.use_tolerance {
            self.judge_queue(min, max);
        }
        let (seen, wanted) = (self.gradients.len() as i64, settings.window as i64);
        gradient * wanted / seen
    }

    /// A queue whose minimum delay grows while the maximum does not is full.
    fn judge_queue(&mut self, min: i64, max: i64) {
        let round = |sum: i64| (sum + sum.signum() * TOLERANCE / 2) / TOLERANCE;
        let (min, max) = (round(min), round(max));
        if min > 0 && max <= 0 {
            self.queue = Queue::Full;
        } else if min > 0 || max < 0 {
            self.queue = Queue::NotFull;
        }
    }

    /// True if a detector says that the path is full.
    pub(super) fn slow_start_ends(&mut self, view: &View, settings: &Settings) -> bool {
        let least = self.rtt.map_or(0, |pair| pair.min);
        if self.delay_min == 0 || (least > 0 && least < self.delay_min) {
            self.delay_min = least;
        }
        if self.delay_min == 0 {
            return false;
        }
        if settings.hystart_train && self.train_is_long(view) {
            return true;
        }
        if !settings.hystart_delay {
            return false;
        }
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        least > (self.delay_min + self.delay_min / 8).max(MIN_THRESHOLD)
    }

    fn train_is_long(&mut self, view: &View) -> bool {
        let now = micros(view.now);
        match self.last_ack.filter(|_| view.cwnd_limited) {
            None => (self.last_ack, self.train_start) = (Some(now), now),
            Some(last) if now < last + TRAIN_GAP => {
                self.last_ack = Some(now);
                return now > self.train_start + (self.delay_min / 2).max(MIN_THRESHOLD) as u64;
            }
            Some(_) => {}
        }
        false
    }
}
