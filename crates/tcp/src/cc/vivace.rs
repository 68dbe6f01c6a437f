//! PCC Vivace: the rate climbs the gradient of a measured utility (Dong et al., NSDI 2018).
//!
//! Time is cut into monitor intervals of about an RTT, each sent at a rate of its own. What became of an interval's packets
//! gives its utility: more rate is good, a growing RTT and loss are bad. A pair of intervals a little above and a little
//! below the rate tells the slope, and the rate takes a step up it, the longer the more steps went the same way, within a
//! bound. The constants are the paper's. An interval that the application limited, or in which a receiver or a pause left less
//! than half of the rate to be sent, says nothing of its rate, which the paper and PCC-Uspace leave open: nothing doubles and no
//! step is taken after it, but where most of it was harm the rate falls to what was used, by half at most. Not modelled: the
//! paper's second look at a pair whose measurements contradict each other, and the scavenger's and the loss-tolerant utility.

mod ascent;
mod monitor;

use std::collections::VecDeque;

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile};
use super::signals::{Ack, Cause, Congestion, Lost, Sent, View};
use super::window::Window;
use crate::rng::Rng;
use crate::units::{Bytes, Rate, Span};
use ascent::Ascent;
use monitor::{Interval, Utility};

/// Online learning of the rate.
pub(super) const VIVACE: Algorithm = Algorithm {
    name: "vivace",
    title: "PCC Vivace: a rate that climbs the gradient of its utility",
    reference: "Dong et al. 2018, PCC Vivace: Online-Learning Congestion Control",
    requirements: Requirements { owns_window: true, random: true, ..Requirements::NONE },
    starts: None,
    params: PARAMS,
    profiles: &[Profile { name: "paper", set: &[], recovery: None }],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Vivace::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("rate_bps", "rate in force"),
    Internal::of("base_bps", "rate around which it probes"),
    Internal::of("utility", "utility of the last interval"),
];

const PARAMS: &[Param] = &[
    Param::number("exponent", 0.1..=1.0, 0.9)
        .doc("utility of a rate of x Mb/s is x to this power, less what delay and loss cost")
        .source("Vivace (2018), as in WebRTC's module pcc: t"),
    Param::number("delay_cost", 0.0..=1e5, 900.0)
        .doc("what each Mb/s costs per second of RTT growth in a second")
        .source("Vivace (2018), as in WebRTC's module pcc: b"),
    Param::number("loss_cost", 0.0..=1e5, 11.35)
        .doc("what each Mb/s costs at a loss rate of 1")
        .source("Vivace (2018), as in WebRTC's module pcc: c"),
    Param::number("slope_floor", 0.0..=1.0, 0.01)
        .doc("a smaller RTT growth counts as none")
        .source("Vivace (2018), as in WebRTC's module pcc"),
    Param::number("probe", 0.005..=0.5, 0.05)
        .doc("how far the two intervals of a pair lie above and below the rate")
        .source("Vivace (2018), as in WebRTC's module pcc: epsilon"),
    Param::number("step", 0.001..=100.0, 1.0)
        .unit("Mb/s")
        .doc("the change of rate for a gradient of 1 per Mb/s, before confidence amplifies it")
        .source("Vivace (2018), as in WebRTC's module pcc: theta_0"),
    Param::number("bound", 0.001..=1.0, 0.05)
        .doc("initial maximum change as a part of the rate")
        .source("Vivace (2018), as in WebRTC's module pcc: omega_0"),
    Param::number("bound_step", 0.0..=1.0, 0.1)
        .doc("what each change that met the bound adds to it")
        .source("Vivace (2018), as in WebRTC's module pcc: delta"),
    Param::number("interval_packets", 2.0..=1000.0, 20.0)
        .unit("segments")
        .doc("a monitor interval is an RTT, or the time of this many segments if that is longer")
        .source("PCC-Uspace: kMinimumPacketsPerInterval"),
];

/// RTT before there is one (RFC 6298 §2.1).
const UNKNOWN_RTT: Span = Span::from_millis(1000);
/// Intervals under observation in slow start; without news of the oldest the rate stays.
const MAX_OPEN: usize = 4;
/// Mb/s that no rate passes.
const MAX_RATE: f64 = 1e6;

/// What the intervals are for.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Stage {
    /// The rate doubles with each interval while utility rises; rate and utility of the last one that is known. `grows`: the
    /// newest news was of an interval sent at its rate. One that something else limited says nothing of its rate, so
    /// that nothing doubles after it until one does.
    Starting { known: Option<(f64, f64)>, grows: bool },
    /// A pair of intervals above and below the rate, then their news; `high_first` is their order.
    Probing { sent: u8, high_first: bool },
}

#[derive(Debug)]
struct Vivace {
    initial_window: Bytes,
    mss: Bytes,
    utility: Utility,
    ascent: Ascent,
    probe: f64,
    interval_packets: f64,
    rng: Rng,
    /// The rate around which it probes, in Mb/s.
    base: f64,
    phase: Stage,
    /// Intervals whose packets are out, the last of them perhaps still being sent.
    open: VecDeque<Interval>,
    /// Of the pair: the first one's utility, once known.
    first: Option<f64>,
    last_utility: f64,
    srtt: Option<Span>,
}

impl Vivace {
    fn new(values: &ParamValues, setup: &Setup) -> Vivace {
        let rtt = setup.handshake_rtt.unwrap_or(UNKNOWN_RTT);
        Vivace {
            initial_window: setup.initial_window,
            mss: setup.mss,
            utility: Utility::new(values),
            ascent: Ascent::new(values),
            probe: values.number("probe"),
            interval_packets: values.number("interval_packets"),
            rng: Rng::stream(setup.seed, "vivace"),
            base: mbps(setup.initial_window, rtt).min(MAX_RATE),
            phase: Stage::Starting { known: None, grows: false },
            open: VecDeque::new(),
            first: None,
            last_utility: 0.0,
            srtt: setup.handshake_rtt,
        }
    }

    fn rtt(&self) -> Span {
        self.srtt.unwrap_or(UNKNOWN_RTT)
    }

    /// Two segments per RTT are the least rate.
    fn least(&self) -> f64 {
        mbps(self.mss * 2, self.rtt()).min(MAX_RATE)
    }

    /// The rate in force: of the interval being sent, else the base.
    fn rate(&self) -> f64 {
        self.open.back().filter(|interval| interval.sending).map_or(self.base, |interval| interval.rate)
    }

    /// The next interval's rate, after one that was sent at its rate or not; absent while what is out has to be waited for.
    fn next_rate(&mut self, was_used: bool) -> Option<f64> {
        match &mut self.phase {
            Stage::Starting { grows, .. } => {
                if *grows && was_used && self.open.len() < MAX_OPEN {
                    self.base = (2.0 * self.base).min(MAX_RATE);
                }
                (self.open.len() < MAX_OPEN).then_some(self.base)
            }
            Stage::Probing { sent: 2.., .. } => None,
            Stage::Probing { sent, high_first } => {
                *sent += 1;
                let high = *high_first == (*sent == 1);
                Some(self.base * if high { 1.0 + self.probe } else { 1.0 - self.probe })
            }
        }
    }

    /// Drops what is out and begins a pair.
    fn begin_pair(&mut self) {
        self.base = self.base.clamp(self.least(), MAX_RATE);
        self.open.clear();
        self.first = None;
        self.phase = Stage::Probing { sent: 0, high_first: self.rng.chance(0.5) };
    }

    /// The oldest interval has its news.
    fn take(&mut self, interval: &Interval) {
        let value = self.utility.of(interval);
        self.last_utility = value;
        // Less than the rate was sent, and even that was too much. Without this a line that falls below the application's
        // rate is never noticed: all that is sent to it counts as limited by the application.
        if interval.is_limited() && self.utility.is_harmful(interval) {
            self.base = self.base.min(interval.used_mbps().max(self.base / 2.0));
            return self.begin_pair();
        }
        match self.phase {
            Stage::Starting { known, .. } if interval.is_limited() => {
                self.base = known.map_or(self.base, |(rate, _)| rate);
                self.phase = Stage::Starting { known, grows: false };
                // What is being sent has a rate beyond, which a pause would keep in force.
                if let Some(last) = self.open.back_mut() {
                    last.rate = last.rate.min(self.base);
                }
            }
            Stage::Starting { known: Some((rate, utility)), .. } if value < utility && interval.rate > rate => {
                self.base = rate;
                self.begin_pair();
            }
            Stage::Starting { .. } => {
                self.phase = Stage::Starting { known: Some((interval.rate, value)), grows: true };
            }
            // The rate of such an interval was not the one to be tried.
            Stage::Probing { .. } if interval.is_limited() => self.begin_pair(),
            Stage::Probing { high_first, .. } => match self.first {
                None => self.first = Some(value),
                Some(first) => {
                    let (high, low) = if high_first { (first, value) } else { (value, first) };
                    // Vivace: gamma = (u(r (1 + epsilon)) - u(r (1 - epsilon))) / (2 epsilon r)
                    let gradient = (high - low) / (2.0 * self.probe * self.base);
                    self.base += self.ascent.step(gradient, self.base);
                    self.begin_pair();
                }
            },
        }
    }
}

/// Mb/s.
fn mbps(bytes: Bytes, time: Span) -> f64 {
    Rate::of(bytes, time).as_bps() as f64 / 1e6
}

impl CongestionControl for Vivace {
    fn on_sent(&mut self, sent: &Sent) {
        if self.open.back().is_none_or(|interval| !interval.sending || sent.now >= interval.until) {
            let mut was_used = true;
            if let Some(last) = self.open.back_mut().filter(|interval| interval.sending) {
                last.close(sent.now);
                was_used = !last.is_limited();
            }
            if let Some(rate) = self.next_rate(was_used) {
                let packets = self.interval_packets * self.mss.as_f64() * 8.0 / (rate * 1e6);
                let length = self.rtt().max(Span::from_secs_f64(packets));
                self.open.push_back(Interval::new(rate, sent.now, sent.now + length));
            }
        }
        if let Some(interval) = self.open.back_mut().filter(|interval| interval.sending) {
            interval.sent += sent.bytes;
        }
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.srtt = view.srtt.or(self.srtt);
        let Some(newest) = ack.rate.map(|rate| rate.sent_at) else { return };
        for interval in &mut self.open {
            interval.on_news(newest, ack, view);
        }
        while let Some(interval) = self.open.front().filter(|interval| interval.is_known(self.mss)).cloned() {
            self.open.pop_front();
            self.take(&interval);
        }
    }

    fn on_lost(&mut self, lost: &Lost, _view: &View) {
        if let Some(interval) = self.open.iter_mut().find(|interval| interval.covers(lost.sent_at)) {
            interval.lost += lost.bytes;
        }
    }

    /// Losses are part of the utility. A time-out says that there is none: half the rate, and a new pair.
    fn on_congestion(&mut self, event: &Congestion, _view: &View) {
        if event.cause == Cause::Timeout {
            self.base /= 2.0;
            self.begin_pair();
        }
    }

    fn on_undo(&mut self, _before: Window, _view: &View) {}

    /// Twice what the rate needs, so that the rate decides.
    fn window(&mut self) -> Window {
        let needed = 2.0 * self.rate() * 1e6 / 8.0 * self.rtt().as_secs_f64();
        let cwnd = Bytes(needed as u64).max(self.initial_window).max(self.mss * 4);
        Window { cwnd, ssthresh: Bytes::MAX }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bps((self.rate() * 1e6).max(1.0) as u64)
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("rate_bps", self.rate() * 1e6);
        put("base_bps", self.base * 1e6);
        put("utility", self.last_utility);
    }
}

#[cfg(test)]
mod tests;
