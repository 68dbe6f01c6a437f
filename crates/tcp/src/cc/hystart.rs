//! HyStart: leaves slow start before it overshoots (Ha, Rhee 2011), as Linux does since 5.6.
//!
//! Two signs end slow start: ACKs that keep coming closely spaced for longer than half the base delay, or a round whose
//! minimum RTT has risen by an eighth of it. Both are looked for on each RTT sample once the window has 16 segments;
//! rounds begin by sequence number, whatever the window. The clock is in microseconds. What other implementations do
//! differently are parameters (`params.rs`). `plus_plus.rs` has its successor.

mod params;
mod plus_plus;

use super::algorithm::Setup;
use super::parameters::ParamValues;
use super::signals::{Ack, View};
use crate::seq::SeqNo;
use crate::units::{Bytes, Time};

pub(super) use params::*;
pub(super) use plus_plus::PlusPlus;

/// Samples of a round before its delay is judged (Linux HYSTART_MIN_SAMPLES).
const MIN_SAMPLES: u32 = 8;
/// Maximum size of a TSO packet (Linux sk_gso_max_size).
const LARGEST_BUNDLE: u64 = 65_536;

/// What the forms of HyStart differ in. Times in µs.
#[derive(Clone, Copy, Debug)]
struct Form {
    enabled: bool,
    low_window: u64,
    ack_delta: u64,
    /// Share of the base delay after which a train is long.
    train: f64,
    /// Share of the base delay by which that of a round must rise, within `least_rise` and `most_rise`.
    rise: f64,
    least_rise: u64,
    most_rise: u64,
    cushion: bool,
    /// Tick of the clock.
    tick: u64,
    first_samples: bool,
}

/// The detector of one connection. Times and delays in µs.
#[derive(Debug)]
pub(crate) struct HyStart {
    form: Form,
    /// Packets leave at the pace of an RTT, so that a train as long as the whole delay is normal.
    paced: bool,
    /// Minimum sample; 0 before the first.
    delay_min: u64,
    found: bool,
    round: Round,
}

/// What is known of the round under way.
#[derive(Debug, Default)]
struct Round {
    start: u64,
    /// The last ACK of the train.
    last_ack: u64,
    /// The round is over when this has been acknowledged.
    end_seq: SeqNo,
    /// Minimum sample of the round; absent before the first.
    least_rtt: Option<u64>,
    samples: u32,
}

fn micros(time: Time) -> u64 {
    time.as_nanos() / 1_000
}

/// How long ACKs may be held back where segments are put together on the way, in µs: the time of four of the largest
/// bundles at the rate of slow start, 2 cwnd/srtt, at most 1 ms (Linux hystart_ack_delay). The recordings show it: with
/// none the kernel would leave slow start one or two ACKs earlier than it does.
fn ack_delay(view: &View, cwnd: Bytes) -> u64 {
    let Some(srtt) = view.srtt else { return 0 };
    let time = u128::from(4 * LARGEST_BUNDLE) * u128::from(srtt.as_micros()) / u128::from((2 * cwnd.0).max(1));
    time.min(1_000) as u64
}

impl Form {
    fn new(values: &ParamValues) -> Form {
        let micros = |name| (values.number(name) * 1e3) as u64;
        Form {
            enabled: values.flag("hystart"),
            low_window: values.number("hystart_low_window") as u64,
            ack_delta: micros("hystart_ack_delta"),
            train: values.number("hystart_train"),
            rise: values.number("hystart_rise"),
            least_rise: micros("hystart_least_rise"),
            most_rise: micros("hystart_most_rise"),
            cushion: values.flag("hystart_cushion"),
            tick: micros("hystart_clock").max(1),
            first_samples: values.flag("hystart_first_samples"),
        }
    }

    /// The time by the clock.
    fn now(&self, view: &View) -> u64 {
        micros(view.now) / self.tick * self.tick
    }

    /// Delays are kept in eighths of a tick; none is zero.
    fn delay(&self, micros: u64) -> u64 {
        let eighth = (self.tick / 8).max(1);
        (micros / eighth).max(1) * eighth
    }
}

impl HyStart {
    pub(crate) fn new(values: &ParamValues, setup: &Setup) -> HyStart {
        let form = Form::new(values);
        HyStart { form, paced: setup.paced, delay_min: 0, found: false, round: Round::default() }
    }

    /// As in Linux, whatever the algorithm.
    pub(super) fn linux(setup: &Setup) -> HyStart {
        let all = [ENABLED, LOW_WINDOW, ACK_DELTA, TRAIN, RISE, MIN_RISE, MAX_RISE, CUSHION, CLOCK, FIRST_SAMPLES];
        let mut detector = HyStart::new(&ParamValues::defaults(&all), setup);
        detector.form.enabled = true;
        detector
    }

    /// Minimum RTT sample taken, in µs; 0 before the first.
    pub(crate) fn delay_min(&self) -> u64 {
        self.delay_min
    }

    /// After a time-out everything starts again.
    pub(crate) fn reset(&mut self, view: &View) {
        self.delay_min = 0;
        self.found = false;
        self.begin_round(view);
    }

    fn begin_round(&mut self, view: &View) {
        let now = self.form.now(view);
        self.round = Round { start: now, last_ack: now, end_seq: view.snd_nxt, ..Round::default() };
    }

    /// Takes the RTT sample of an ACK; true if `slow_start` is to end at this cwnd.
    pub(crate) fn on_ack(&mut self, ack: &Ack, view: &View, cwnd: Bytes, slow_start: bool) -> bool {
        let Some(sample) = ack.rtt else { return false };
        let rtt = self.form.delay(sample.latest.as_micros());
        self.delay_min = if self.delay_min == 0 { rtt } else { self.delay_min.min(rtt) };
        if !self.form.enabled || self.found || !slow_start {
            return false;
        }
        if view.snd_una > self.round.end_seq {
            self.begin_round(view);
        }
        if cwnd.segments(view.mss) < self.form.low_window {
            return false;
        }
        let cushion = if self.form.cushion { ack_delay(view, cwnd) } else { 0 };
        self.found = self.train_is_long(self.form.now(view), cushion) || self.delay_has_risen(rtt);
        self.found
    }

    /// A gap above `ack_delta` leaves `last_ack` where it is, which ends the train for this round.
    fn train_is_long(&mut self, now: u64, cushion: u64) -> bool {
        if now.saturating_sub(self.round.last_ack) > self.form.ack_delta {
            return false;
        }
        self.round.last_ack = now;
        // thr = delay_min + ack_delay, halved unless paced
        let whole = if self.paced { 2.0 } else { 1.0 };
        let threshold = (self.delay_min + cushion) as f64 * self.form.train * whole;
        now.saturating_sub(self.round.start) > threshold as u64
    }

    fn delay_has_risen(&mut self, rtt: u64) -> bool {
        let judged = self.round.samples >= MIN_SAMPLES;
        if !(judged && self.form.first_samples) {
            self.round.least_rtt = Some(self.round.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if !judged {
            self.round.samples += 1;
            return false;
        }
        // curr_rtt > delay_min + clamp(delay_min / 8, 4 ms, 16 ms)
        let rise = (self.delay_min as f64 * self.form.rise) as u64;
        let threshold = self.delay_min + rise.min(self.form.most_rise).max(self.form.least_rise);
        self.round.least_rtt.is_some_and(|least| least > threshold)
    }
}

#[cfg(test)]
mod tests;
