//! ACK aggregation: how much ACKs acknowledge in a burst beyond what the bandwidth explains (Linux's extra_acked); the window
//! must bridge the gap before them.
//!
//! Segments acknowledged since an epoch began, less what the bandwidth would have delivered. An epoch ends when the
//! bandwidth has caught up. The largest excess of five to ten rounds counts.

use super::rate;
use crate::units::Time;

/// An epoch ends with that many segments, whatever they say.
const LONGEST_EPOCH: u64 = 1 << 20;
/// No more is added to the window than the bandwidth delivers in this time.
const MAX_MICROS: u64 = 100_000;

/// Profile `linux`; segments throughout.
#[derive(Debug)]
pub(in crate::cc) struct Aggregation {
    wanted: bool,
    epoch_start: Time,
    epoch_acked: u64,
    /// Largest excess of the current and of the previous five rounds.
    excess: [u64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    pub(in crate::cc) fn new(now: Time, wanted: bool) -> Aggregation {
        Aggregation { wanted, epoch_start: now, epoch_acked: 0, excess: [0; 2], current: 0, rounds: 0 }
    }

    /// A new epoch.
    pub(in crate::cc) fn restart(&mut self, now: Time) {
        self.epoch_start = now;
        self.epoch_acked = 0;
    }

    /// `acked` segments have been reported. Where they begin a round: after so many the older half of the memory is forgotten.
    pub(in crate::cc) fn on_ack(&mut self, now: Time, acked: u64, round: Option<u32>, bw: u64, cwnd: u64) {
        if let Some(rounds) = round {
            self.rounds += 1;
            if self.rounds >= rounds {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.excess[self.current] = 0;
            }
        }
        let mut expected = rate::segments(bw, now.since(self.epoch_start).as_micros());
        if self.epoch_acked <= expected || self.epoch_acked + acked >= LONGEST_EPOCH {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(LONGEST_EPOCH - 1);
        let excess = self.epoch_acked.saturating_sub(expected).min(cwnd);
        self.excess[self.current] = self.excess[self.current].max(excess);
    }

    /// What to add to the window.
    pub(in crate::cc) fn extra(&self, bw: u64) -> u64 {
        let excess = self.excess[0].max(self.excess[1]);
        if self.wanted { excess.min(rate::segments(bw, MAX_MICROS)) } else { 0 }
    }
}
