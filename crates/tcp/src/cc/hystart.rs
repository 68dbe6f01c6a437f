//! HyStart: leaves slow start before it overshoots (Ha, Rhee 2011), as Linux does since 5.6 (algorithms.md §3.1 c, d).
//!
//! Two signs end slow start: ACKs that keep coming closely spaced for longer than half the base delay, or a round whose
//! least RTT has risen by an eighth of it. Both are looked for on each RTT sample once the window has 16 segments;
//! rounds begin by sequence number, whatever the window. The clock is in microseconds.

use super::{Ack, Param, ParamKind, Value, Values, View, Window};
use crate::units::Time;

pub(super) const ENABLED: Param = Param {
    name: "hystart",
    kind: ParamKind::Flag,
    default: Value::Flag(false),
    unit: "",
    doc: "leave slow start when ACK spacing or RTT says the path is full",
    source: "Linux tcp_cubic, hystart = 1; RFC 9438 section 4.10 leaves it open",
};

pub(super) const LOW_WINDOW: Param = Param {
    name: "hystart_low_window",
    kind: ParamKind::Number { min: 0.0, max: 1e6 },
    default: Value::Number(16.0),
    unit: "segments",
    doc: "HyStart looks for an exit from this window on",
    source: "Linux tcp_cubic, hystart_low_window",
};

pub(super) const ACK_DELTA: Param = Param {
    name: "hystart_ack_delta",
    kind: ParamKind::Number { min: 0.0, max: 1e3 },
    default: Value::Number(2.0),
    unit: "ms",
    doc: "ACKs further apart than this are not one train",
    source: "Linux tcp_cubic, hystart_ack_delta_us",
};

/// Samples of a round before its delay is judged (Linux HYSTART_MIN_SAMPLES).
const MIN_SAMPLES: u32 = 8;
/// Bounds of the delay threshold in µs (Linux HYSTART_DELAY_MIN, HYSTART_DELAY_MAX; since December 2014).
const MIN_RISE: u64 = 4_000;
const MAX_RISE: u64 = 16_000;
/// Bytes that a sender hands down at once at most (Linux sk_gso_max_size).
const LARGEST_BUNDLE: u64 = 65_536;

/// The detector of one connection. Times and delays in µs.
#[derive(Debug)]
pub(super) struct HyStart {
    enabled: bool,
    low_window: u64,
    ack_delta: u64,
    /// Packets leave at the pace of an RTT, so that a train as long as the whole delay is normal.
    paced: bool,
    /// Least sample; 0 before the first.
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
    end_seq: u64,
    /// Least sample of the round; absent before the first.
    least_rtt: Option<u64>,
    samples: u32,
}

impl Round {
    fn begin(view: &View) -> Round {
        let now = micros(view.now);
        Round { start: now, last_ack: now, end_seq: view.snd_nxt, ..Round::default() }
    }
}

fn micros(time: Time) -> u64 {
    time.as_nanos() / 1_000
}

/// How long ACKs may be held back where segments are put together on the way, in µs: the time of four of the largest
/// bundles at the rate of slow start, 2 cwnd/srtt, at most 1 ms (Linux hystart_ack_delay). The recordings show it: with
/// none the kernel would leave slow start one or two ACKs earlier than it does.
fn ack_delay(view: &View, window: &Window) -> u64 {
    let Some(srtt) = view.srtt else { return 0 };
    let time = u128::from(4 * LARGEST_BUNDLE) * u128::from(srtt.as_micros()) / u128::from((2 * window.cwnd.0).max(1));
    time.min(1_000) as u64
}

impl HyStart {
    /// A detector for a sender that does not pace.
    pub(super) fn new(values: &Values) -> HyStart {
        HyStart {
            enabled: values.flag("hystart"),
            low_window: values.number("hystart_low_window") as u64,
            ack_delta: (values.number("hystart_ack_delta") * 1e3) as u64,
            paced: false,
            delay_min: 0,
            found: false,
            round: Round::default(),
        }
    }

    /// Least RTT sample taken, in µs; 0 before the first.
    pub(super) fn delay_min(&self) -> u64 {
        self.delay_min
    }

    /// After a time-out everything starts again.
    pub(super) fn reset(&mut self, view: &View) {
        self.delay_min = 0;
        self.found = false;
        self.round = Round::begin(view);
    }

    /// Takes the RTT sample of an ACK; on an exit from slow start ssthresh becomes cwnd.
    pub(super) fn on_ack(&mut self, ack: &Ack, view: &View, window: &mut Window) {
        let Some(sample) = ack.rtt else { return };
        let rtt = sample.latest.as_micros().max(1);
        self.delay_min = if self.delay_min == 0 { rtt } else { self.delay_min.min(rtt) };
        if !self.enabled || self.found || !window.in_slow_start() {
            return;
        }
        if view.snd_una > self.round.end_seq {
            self.round = Round::begin(view);
        }
        if window.cwnd.segments(view.mss) < self.low_window {
            return;
        }
        if self.train_is_long(micros(view.now), ack_delay(view, window)) || self.delay_has_risen(rtt) {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    /// A gap above `ack_delta` leaves `last_ack` where it is, which ends the train for this round.
    fn train_is_long(&mut self, now: u64, ack_delay: u64) -> bool {
        if now.saturating_sub(self.round.last_ack) > self.ack_delta {
            return false;
        }
        self.round.last_ack = now;
        // thr = delay_min + ack_delay, halved unless paced
        let threshold = self.delay_min + ack_delay;
        let threshold = if self.paced { threshold } else { threshold / 2 };
        now.saturating_sub(self.round.start) > threshold
    }

    fn delay_has_risen(&mut self, rtt: u64) -> bool {
        let least = self.round.least_rtt.map_or(rtt, |least| least.min(rtt));
        self.round.least_rtt = Some(least);
        if self.round.samples < MIN_SAMPLES {
            self.round.samples += 1;
            return false;
        }
        // curr_rtt > delay_min + clamp(delay_min / 8, 4 ms, 16 ms)
        least > self.delay_min + (self.delay_min / 8).clamp(MIN_RISE, MAX_RISE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::RttSample;
    use crate::units::{Bytes, Span};

    const MSS: Bytes = Bytes(1460);

    fn detector(delay_min: u64) -> HyStart {
        let (low_window, ack_delta) = (16, 2_000);
        let round = Round { end_seq: 1_000_000, ..Round::default() };
        HyStart { enabled: true, low_window, ack_delta, paced: false, delay_min, found: false, round }
    }

    /// Feeds one sample; true if slow start ended on it.
    fn feed(hystart: &mut HyStart, now_us: u64, rtt_us: u64, segments: u64, snd_una: u64) -> bool {
        let rtt = Span::from_micros(rtt_us);
        let ack = Ack { acked: MSS, rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..Ack::default() };
        let now = Time::from_nanos(now_us * 1_000);
        let view = View { now, mss: MSS, snd_una, snd_nxt: 2_000_000, ..View::default() };
        let mut window = Window { cwnd: MSS * segments, ssthresh: Bytes::MAX };
        hystart.on_ack(&ack, &view, &mut window);
        assert!(window.ssthresh == Bytes::MAX || window.ssthresh == window.cwnd);
        window.ssthresh == window.cwnd
    }

    /// The number of the first of `count` samples that ends slow start; the ACKs come 10 ms apart, hence in no train.
    fn exit_by_delay(hystart: &mut HyStart, rtt_us: u64, segments: u64, count: u64) -> Option<u64> {
        (1..=count).find(|i| feed(hystart, i * 10_000, rtt_us, segments, 1))
    }

    /// When the first of the ACKs that come `gap` apart ends slow start, in µs.
    fn exit_by_train(hystart: &mut HyStart, rtt_us: u64, gap: u64) -> Option<u64> {
        (1..=100).map(|i| i * gap).find(|now| feed(hystart, *now, rtt_us, 20, 1))
    }

    #[test]
    fn h1_delay_must_rise_above_an_eighth_on_the_ninth_sample() {
        assert_eq!(exit_by_delay(&mut detector(100_000), 112_400, 20, 40), None);
        assert_eq!(exit_by_delay(&mut detector(100_000), 112_500, 20, 40), None);
        assert_eq!(exit_by_delay(&mut detector(100_000), 112_600, 20, 40), Some(9));
    }

    #[test]
    fn h2_the_rise_is_held_between_4_and_16_ms() {
        for (delay_min, threshold) in [(20, 24), (200, 216), (32, 36), (128, 144)] {
            let (delay_min, threshold) = (delay_min * 1_000, threshold * 1_000);
            assert_eq!(exit_by_delay(&mut detector(delay_min), threshold, 20, 40), None);
            assert_eq!(exit_by_delay(&mut detector(delay_min), threshold + 1, 20, 40), Some(9));
        }
    }

    #[test]
    fn h3_a_gap_above_ack_delta_kills_the_train() {
        assert_eq!(exit_by_train(&mut detector(40_000), 40_000, 3_000), None);
        let mut broken = detector(40_000);
        assert!(!feed(&mut broken, 1_000, 40_000, 20, 1));
        assert!(!(4..60).any(|ms| feed(&mut broken, ms * 1_000, 40_000, 20, 1)));
    }

    #[test]
    fn h4_a_train_ends_slow_start_after_half_the_delay_or_all_of_it_when_paced() {
        assert_eq!(exit_by_train(&mut detector(40_000), 40_000, 1_000), Some(21_000));
        let mut paced = HyStart { paced: true, ..detector(40_000) };
        assert_eq!(exit_by_train(&mut paced, 40_000, 1_000), Some(41_000));
    }

    #[test]
    fn h6_never_below_the_low_window() {
        assert_eq!(exit_by_delay(&mut detector(40_000), 400_000, 15, 100), None);
        assert_eq!(exit_by_delay(&mut detector(40_000), 400_000, 16, 100), Some(9));
    }

    #[test]
    fn a_round_begins_below_the_low_window_too() {
        let mut hystart = detector(40_000);
        feed(&mut hystart, 500_000, 40_000, 10, 1_000_001);
        assert_eq!((hystart.round.start, hystart.round.end_seq), (500_000, 2_000_000));
    }

    #[test]
    fn found_once_until_a_time_out() {
        let mut hystart = detector(100_000);
        assert_eq!(exit_by_delay(&mut hystart, 200_000, 20, 40), Some(9));
        assert_eq!(exit_by_delay(&mut hystart, 200_000, 20, 40), None);
        hystart.reset(&View::default());
        assert_eq!((hystart.found, hystart.delay_min), (false, 0));
    }
}
