//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-01): LEDBAT on round-trip times, with a slow start, a multiplicative decrease, and
//! slowdowns in which it empties its own queue, so that late comers measure the base delay.

use super::{DelayHistory, PARAMS};
use crate::cc::algorithm::Setup;
use crate::cc::controller::CongestionControl;
use crate::cc::parameters::ParamValues;
use crate::cc::signals::{Ack, Cause, Congestion, View};
use crate::cc::window::Window;
use crate::units::{Bytes, Span, Time};

/// The window is never below this, and this in a slowdown, in segments.
const LEAST: f64 = 2.0;
/// Slow start ends for the first time at this part of the target.
const FIRST_EXIT: f64 = 0.75;
/// The time from one slowdown to the next is so many times as long as one.
const PAUSE: u64 = 9;
/// TARGET of profile `ledbat++`, in ms.
pub(super) const TARGET_MS: f64 = 60.0;
/// GAIN is at least one over this.
const SLOWEST: f64 = 16.0;

/// The window of one sender, in segments.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    /// TARGET in seconds.
    target: f64,
    w: f64,
    ssthresh: f64,
    delays: DelayHistory,
    slowdown: Slowdown,
}

/// Where it stands between slowdowns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slowdown {
    FirstSlowStart,
    /// The next one begins then.
    Next(Time),
    /// The window is two segments.
    Reduced {
        since: Time,
        until: Time,
    },
    /// Slow start up to the window before.
    Regains {
        since: Time,
    },
}

impl Control {
    /// That of a receiver: the settings of profile `ledbat++`.
    pub(crate) fn of_receiver() -> Control {
        Control::new(TARGET_MS / 1e3, LEAST, DelayHistory::new(&ParamValues::defaults(PARAMS)))
    }

    /// The window.
    pub(crate) fn segments(&self) -> f64 {
        self.w
    }

    pub(super) fn new(target: f64, w: f64, delays: DelayHistory) -> Control {
        Control { target, w, ssthresh: f64::INFINITY, delays, slowdown: Slowdown::FirstSlowStart }
    }

    /// An RTT sample.
    pub(crate) fn note(&mut self, rtt: Span, now: Time) {
        self.delays.note(rtt, now);
    }

    /// GAIN: slower on short paths, where ACKs come often.
    fn gain(&self) -> f64 {
        let base = self.delays.base().map_or(0.0, Span::as_secs_f64);
        1.0 / libm::ceil(2.0 * self.target / base).min(SLOWEST)
    }

    /// `segments` are acknowledged, and the window is in use if it `may_grow`.
    pub(crate) fn on_ack(&mut self, segments: f64, now: Time, srtt: Span, may_grow: bool) {
        let Some(queue) = self.delays.queueing() else { return };
        if self.slow_down(now, srtt) {
            return;
        }
        let gain = self.gain();
        let first = self.ssthresh == f64::INFINITY;
        let change = if self.w < self.ssthresh && first && queue > FIRST_EXIT * self.target {
            self.ssthresh = self.w;
            self.slowdown = Slowdown::Next(now + srtt * 2);
            0.0
        } else if self.w < self.ssthresh {
            gain * segments
        } else if queue <= self.target {
            gain * segments / self.w
        } else {
            // W += max(GAIN - W (queue / TARGET - 1), -W / 2) per round trip
            (gain - self.w * (queue / self.target - 1.0)).max(-self.w / 2.0) * segments / self.w
        };
        if change < 0.0 || may_grow {
            self.w = (self.w + change).max(LEAST);
        }
        self.regain(now);
    }

    /// A slowdown begins or ends; true while the window is two segments for it.
    fn slow_down(&mut self, now: Time, srtt: Span) -> bool {
        match self.slowdown {
            Slowdown::Next(at) if now >= at => {
                (self.ssthresh, self.w) = (self.w, LEAST);
                self.slowdown = Slowdown::Reduced { since: now, until: now + srtt * 2 };
            }
            Slowdown::Reduced { since, until } if now >= until => self.slowdown = Slowdown::Regains { since },
            _ => {}
        }
        matches!(self.slowdown, Slowdown::Reduced { .. })
    }

    /// The window before the slowdown is reached again: that sets the time of the next.
    fn regain(&mut self, now: Time) {
        if let Slowdown::Regains { since } = self.slowdown
            && self.w >= self.ssthresh
        {
            self.slowdown = Slowdown::Next(now + now.since(since) * PAUSE);
        }
    }

    /// A loss: half of the window.
    pub(crate) fn halve(&mut self, now: Time, srtt: Span) {
        self.w = (self.w / 2.0).max(LEAST);
        self.ssthresh = self.w;
        if self.slowdown == Slowdown::FirstSlowStart {
            self.slowdown = Slowdown::Next(now + srtt * 2);
        }
        self.regain(now);
    }
}

/// LEDBAT++ as an algorithm of the sender.
#[derive(Debug)]
pub(super) struct PlusPlus {
    control: Control,
    window: Window,
    initial: f64,
    mss: Bytes,
}

impl PlusPlus {
    pub(super) fn new(values: &ParamValues, setup: &Setup) -> PlusPlus {
        let mss = setup.mss;
        let initial = values.number("init_window").min(setup.initial_window.as_f64() / mss.as_f64());
        let control = Control::new(values.number("target") / 1e3, initial, DelayHistory::new(values));
        let mut made = PlusPlus { control, window: Window { cwnd: mss, ssthresh: Bytes::MAX }, initial, mss };
        made.show();
        made
    }

    /// The window in bytes.
    fn show(&mut self) {
        let bytes = |segments: f64| Bytes((segments * self.mss.as_f64()) as u64);
        // Infinity is Bytes::MAX.
        let [cwnd, ssthresh] = [self.control.w, self.control.ssthresh].map(|segments| bytes(segments).max(self.mss));
        self.window = Window { cwnd, ssthresh };
    }

    fn segments(&self, bytes: Bytes) -> f64 {
        bytes.as_f64() / self.mss.as_f64()
    }
}

impl CongestionControl for PlusPlus {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if let Some(sample) = ack.rtt {
            self.control.note(sample.latest, view.now);
        }
        if view.state.in_cwnd_reduction() || ack.acked == Bytes::ZERO {
            return;
        }
        self.control.on_ack(self.segments(ack.acked), view.now, view.srtt.unwrap_or_default(), view.may_grow);
        self.show();
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        if event.first {
            self.control.halve(view.now, view.srtt.unwrap_or_default());
        }
        if event.cause == Cause::Timeout {
            self.control.w = self.segments(event.loss_window);
        }
        self.show();
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn begin(&mut self, window: Window) {
        self.control.w = self.segments(window.cwnd);
        self.show();
    }

    fn on_undo(&mut self, before: Window, _view: &View) {
        self.control.w = self.control.w.max(self.segments(before.cwnd));
        self.show();
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        if view.slow_start_after_idle && idle > view.rto {
            self.control.w = self.control.w.min(self.initial);
            self.show();
        }
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.control.delays.observe(put);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::config::CcConfig;
    use crate::cc::vectors::{agree, vectors};

    fn control(w: f64, ssthresh: f64) -> Control {
        let values = CcConfig::by_name("ledbat", Some("ledbat++"), &[]).unwrap().values;
        Control { ssthresh, ..Control::new(values.number("target") / 1e3, w, DelayHistory::new(&values)) }
    }

    #[test]
    fn windows_of_the_vectors() {
        let all = vectors("ledbatpp");
        for (name, rows) in all.as_object().unwrap().iter().filter(|(_, rows)| rows.is_array()) {
            let mut sender =
                if name.starts_with("slow start") { control(2.0, f64::INFINITY) } else { control(20.0, 10.0) };
            // The vectors have no slowdowns: in theirs no time passes.
            for row in rows.as_array().unwrap() {
                let number = |key: &str| row[key].as_f64().unwrap();
                let now = Time::ZERO;
                sender.note(Span::from_secs_f64(number("rtt_s")), now);
                assert!(agree(sender.delays.queueing().unwrap(), number("queue_s")), "{name} {row}");
                assert!(agree(sender.gain(), number("gain")), "{name} {row}");
                sender.on_ack(1.0, now, Span::from_millis(100), true);
                assert!(agree(sender.w, number("w")), "{name}: {} {row}", sender.w);
            }
        }
    }

    #[test]
    fn slowdowns_of_the_vectors() {
        let all = vectors("ledbatpp");
        let at = |key: &str| Time::ZERO + Span::from_secs_f64(all["slowdown"][key].as_f64().unwrap());
        let srtt = Span::from_millis(100);
        let mut sender = control(40.0, f64::INFINITY);
        sender.note(Span::from_millis(40), at("slow start ends at s"));
        sender.halve(at("slow start ends at s"), srtt);
        assert_eq!((sender.w, sender.slowdown), (20.0, Slowdown::Next(at("reduced_at_s"))));
        assert!(sender.slow_down(at("reduced_at_s"), srtt));
        assert_eq!((sender.w, sender.ssthresh), (all["slowdown"]["window"].as_f64().unwrap(), 20.0));
        assert!(!sender.slow_down(at("held_until_s"), srtt), "slow start back");
        sender.w = 20.0;
        sender.regain(at("ssthresh regained at s"));
        assert_eq!(sender.slowdown, Slowdown::Next(at("next_at_s")));
    }
}
