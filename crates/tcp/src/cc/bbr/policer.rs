//! Is there a token-bucket policer on the path (Flach and others 2016)? Linux calls this long-term bandwidth.
//!
//! An interval of at least four rounds that begins and ends with a loss and lost a fifth of what it delivered is
//! suspect. Two suspect intervals in a row with about the same rate mean a policer: that rate is used for 48 rounds.

use super::rate;
use crate::units::Bytes;

/// Rounds in an interval, at least.
const MIN_ROUNDS: u32 = 4;
/// Rounds in an interval, at most.
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Lost of 256 delivered that make an interval suspect.
const LOSSY: u64 = 50;
/// Two rates are the same within one eighth,
const SAME_PART: u64 = 8;
/// or within this many bytes per second.
const SAME_BYTES: u64 = 500;
/// How long the rate is used.
const ROUNDS_OF_USE: u32 = 48;

/// What an ACK, or a time-out, says of losses; segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) milliseconds: u64,
    pub(super) delivered: u64,
    /// Marked lost in all.
    pub(super) lost: u64,
    /// Something was marked lost now.
    pub(super) new_loss: bool,
    pub(super) round_start: bool,
    pub(super) app_limited: bool,
    /// The gain cycle is under way.
    pub(super) cycling: bool,
}

/// What follows from a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Nothing new.
    Same,
    /// The rate has been used long enough.
    Over,
}

#[derive(Debug, Default)]
pub(super) struct Policer {
    wanted: bool,
    /// Rate of the last suspect interval; 0 if there is none.
    bw: u64,
    in_use: bool,
    sampling: bool,
    rounds: u32,
    /// At the start of the interval.
    delivered: u64,
    lost: u64,
    milliseconds: u64,
}

impl Policer {
    pub(super) fn new(wanted: bool) -> Policer {
        Policer { wanted, ..Policer::default() }
    }

    /// The policer's rate, while it is in use.
    pub(super) fn bw(&self) -> Option<u64> {
        self.in_use.then_some(self.bw)
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        *self = Policer::new(self.wanted);
    }

    fn begin_interval(&mut self, report: &Report) {
        self.milliseconds = report.milliseconds;
        self.delivered = report.delivered;
        self.lost = report.lost;
        self.rounds = 0;
    }

    pub(super) fn on_report(&mut self, report: &Report, mss: Bytes) -> Verdict {
        if self.in_use {
            self.rounds += u32::from(report.cycling && report.round_start);
            if self.rounds < ROUNDS_OF_USE {
                return Verdict::Same;
            }
            self.reset();
            return Verdict::Over;
        }
        if !self.sampling {
            // The first loss says that the tokens are used up; what came before says too much.
            if !report.new_loss || !self.wanted {
                return Verdict::Same;
            }
            self.begin_interval(report);
            self.sampling = true;
        }
        if report.app_limited {
            self.reset();
            return Verdict::Same;
        }
        self.rounds += u32::from(report.round_start);
        if self.rounds > MAX_ROUNDS {
            self.reset();
        } else if self.rounds >= MIN_ROUNDS && report.new_loss {
            self.judge_interval(report, mss);
        }
        Verdict::Same
    }

    fn judge_interval(&mut self, report: &Report, mss: Bytes) {
        let delivered = report.delivered.saturating_sub(self.delivered);
        let lost = report.lost.saturating_sub(self.lost);
        let milliseconds = report.milliseconds.saturating_sub(self.milliseconds);
        if delivered == 0 || milliseconds == 0 || lost.saturating_mul(256) < delivered.saturating_mul(LOSSY) {
            return;
        }
        let bw = rate::of(delivered, milliseconds * 1000);
        let difference = bw.abs_diff(self.bw);
        let same =
            difference * SAME_PART <= self.bw || rate::bytes_per_second(difference, rate::GAIN, 1, mss) <= SAME_BYTES;
        if self.bw > 0 && same {
            self.bw = (bw + self.bw) / 2;
            self.in_use = true;
            self.rounds = 0;
        } else {
            self.bw = bw;
            self.begin_interval(report);
        }
    }
}
