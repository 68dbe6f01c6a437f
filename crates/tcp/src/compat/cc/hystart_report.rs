//! HyStart as a report has it, in CUBIC of Linux 2.6.22, which ns-2's TCP-Linux runs: `cubic` of profile `linux26` but for the end of slow
//! start. ACKs make a train up to 4 ms apart, and the ACK that begins a round gives no sample. Two faults of the code as printed
//! and as committed are parameters. From W = 2 on an end is looked for, and W = ssthresh is slow start still.

use super::linux26::Linux26Cubic;
use crate::cc::algorithm::{Algorithm, Internal, Requirements, Setup};
use crate::cc::config::CcConfig;
use crate::cc::controller::CongestionControl;
use crate::cc::cubic::CUBIC;
use crate::cc::cubic::window::SETTLING;
use crate::cc::parameters::{Param, ParamValues, Profile};
use crate::cc::signals::{Ack, Cause, Congestion, View};
use crate::cc::window::Window;
use crate::seq::SeqNo;
use crate::units::Span;

/// Samples of a round before its delay is judged.
const MIN_SAMPLES: u32 = 8;
/// The rise of the delay that ends slow start: an eighth of the base delay, but not less or more, in µs.
const RISE: (u64, u64) = (4_000, 16_000);

const INTERNALS: &[Internal] = &[
    Internal::of("w_max", "window before the last loss, segments"),
    Internal::of("epoch_s", "start of the stage of congestion avoidance"),
    Internal::of("k_s", "time from there to w_max"),
    Internal::of("w_est", "window that Reno would have, segments"),
    Internal::of("cnt", "acknowledged segments that add one"),
    Internal::of("delay_min_s", "minimum RTT"),
    Internal::of("segments_per_ack", "segments per ACK"),
    Internal::of("exits_by_train", "ends of slow start that a train of ACKs brought"),
    Internal::of("exits_by_delay", "ends of slow start that a rise of the delay brought"),
];

/// HyStart of a report.
pub(crate) const HYSTART_REPORT: Algorithm = Algorithm {
    name: "hystart_report",
    title: "CUBIC of Linux 2.6.22 with HyStart as a report has it",
    reference: "a student report on ns-2.35, BUET 2023; docs/models.md",
    requirements: Requirements::NONE,
    starts: None,
    params: &[
        Param::number("hystart_ack_delta", 0.0..=1e3, 4.0)
            .unit("ms")
            .doc("ACKs further apart than this are not one train")
            .source("the report; 2 ms in Linux"),
        Param::flag("hystart_skip_first", true).doc("the ACK that begins a round gives no sample").source("the report"),
        Param::flag("curr_rtt_bug", false)
            .doc("quirk: the round's RTT is never set, so the ninth sample of any round ends slow start")
            .source("the report as printed"),
        Param::flag("unit_mix", false)
            .doc("quirk: the base delay in eighths of a millisecond is compared with microseconds")
            .source("a reading of the report"),
    ],
    profiles: &[Profile { name: "report", set: &[], recovery: None }],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(HyStartReport::new(values, setup)),
};

/// CUBIC with the detector of the report.
#[derive(Debug)]
struct HyStartReport {
    cubic: Linux26Cubic,
    detector: Detector,
}

/// Looks for the end of slow start. Times and delays in µs.
#[derive(Debug)]
struct Detector {
    ack_delta: u64,
    skip_first: bool,
    curr_rtt_bug: bool,
    unit_mix: bool,
    /// Packets leave at the pace of an RTT.
    paced: bool,
    /// Minimum sample; 0 before the first.
    delay_min: u64,
    found: bool,
    /// How often a train of ACKs was found, and how often a rise of the delay.
    exits: (u32, u32),
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
    least_rtt: Option<u64>,
    samples: u32,
}

impl Detector {
    fn new(values: &ParamValues, setup: &Setup) -> Detector {
        Detector {
            ack_delta: (values.number("hystart_ack_delta") * 1e3) as u64,
            skip_first: values.flag("hystart_skip_first"),
            curr_rtt_bug: values.flag("curr_rtt_bug"),
            unit_mix: values.flag("unit_mix"),
            paced: setup.paced,
            delay_min: 0,
            found: false,
            exits: (0, 0),
            round: Round::default(),
        }
    }

    fn begin_round(&mut self, view: &View) {
        let now = view.now.as_nanos() / 1_000;
        self.round = Round { start: now, last_ack: now, end_seq: view.snd_nxt, ..Round::default() };
    }

    /// After a time-out an end is looked for again; the round goes on.
    fn reset(&mut self) {
        (self.delay_min, self.found) = (0, false);
    }

    /// Takes the RTT sample of an ACK, which counts towards the base delay if it is `settled`; true if slow start is to end.
    /// Where an end is looked for, the age of the echoed timestamp is a sample too, whatever was lost.
    fn on_ack(&mut self, ack: &Ack, view: &View, in_slow_start: bool, settled: bool) -> bool {
        let Some(rtt) = ack.echoed.or(ack.rtt.map(|sample| sample.latest)) else { return false };
        let rtt = rtt.as_micros().max(1);
        let looks = !self.found && in_slow_start;
        let begins = looks && view.snd_una > self.round.end_seq;
        if settled && (ack.rtt.is_some() || (looks && !begins)) {
            self.delay_min = if self.delay_min == 0 { rtt } else { self.delay_min.min(rtt) };
        }
        if !looks {
            return false;
        }
        if begins {
            self.begin_round(view);
            if self.skip_first {
                return false;
            }
        }
        let by_train = self.train_is_long(view.now.as_nanos() / 1_000);
        let by_delay = !by_train && self.delay_has_risen(rtt);
        self.exits.0 += u32::from(by_train);
        self.exits.1 += u32::from(by_delay);
        self.found = by_train || by_delay;
        self.found
    }

    /// The base delay that thresholds are made of.
    fn base(&self) -> u64 {
        // Eighths of a millisecond, compared with microseconds.
        if self.unit_mix { self.delay_min / 1_000 * 8 } else { self.delay_min }
    }

    /// A gap above `ack_delta` leaves `last_ack` where it is, which ends the train for this round.
    fn train_is_long(&mut self, now: u64) -> bool {
        if now.saturating_sub(self.round.last_ack) > self.ack_delta {
            return false;
        }
        self.round.last_ack = now;
        let threshold = if self.paced { self.base() } else { self.base() / 2 };
        now.saturating_sub(self.round.start) > threshold
    }

    fn delay_has_risen(&mut self, rtt: u64) -> bool {
        self.round.least_rtt = Some(self.round.least_rtt.map_or(rtt, |least| least.min(rtt)));
        if self.round.samples < MIN_SAMPLES {
            self.round.samples += 1;
            return false;
        }
        let threshold = self.base() + (self.base() / 8).min(RISE.1).max(RISE.0);
        self.curr_rtt_bug || self.round.least_rtt.is_some_and(|least| least > threshold)
    }
}

impl HyStartReport {
    fn new(values: &ParamValues, setup: &Setup) -> HyStartReport {
        let values_of_cubic = CcConfig::of(&CUBIC, Some("linux26"), &[]).expect("cubic has profile linux26").values;
        let cubic = Linux26Cubic::new(&values_of_cubic, setup);
        HyStartReport { cubic, detector: Detector::new(values, setup) }
    }
}

impl CongestionControl for HyStartReport {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        // As in Linux no RTT sample is taken for a while after an epoch began; an end is looked for before the first, too.
        let settled = self.cubic.epoch_age(view).is_none_or(|age| age >= SETTLING);
        if settled || !self.cubic.has_epoch() {
            let in_slow_start = self.cubic.base().in_slow_start();
            if self.detector.on_ack(ack, view, in_slow_start, settled) {
                let window = &mut self.cubic.base().window;
                window.ssthresh = window.cwnd;
            }
        }
        self.cubic.on_ack(ack, view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.cubic.on_congestion(event, view);
        if event.cause == Cause::Timeout {
            self.detector.reset();
        }
    }

    fn on_recovery_end(&mut self, view: &View) {
        self.cubic.on_recovery_end(view);
    }

    fn window_mut(&mut self) -> &mut Window {
        self.cubic.window_mut()
    }

    fn on_undo(&mut self, before: Window, view: &View) {
        self.cubic.on_undo(before, view);
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.cubic.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.cubic.observe(put);
        put("exits_by_train", f64::from(self.detector.exits.0));
        put("exits_by_delay", f64::from(self.detector.exits.1));
    }
}

#[cfg(test)]
mod tests;
