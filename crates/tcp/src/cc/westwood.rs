//! Westwood+: after a loss the window is what the path carried, not half of what was sent (Mascolo et al. 2001, 2004).
//!
//! Acknowledged bytes over a round trip are samples of the rate; a low-pass filter smooths them. When recovery is over,
//! cwnd and ssthresh become the estimated rate times the minimum RTT; growth is Reno's. Profile `linux` is the kernel's
//! form in bytes per millisecond, which counts duplicate ACKs and learns the minimum RTT anew after a time-out; the
//! other profile samples by a timer and has Tustin's filter. The filter of the first Westwood is left out.

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::jiffies::jiffies;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::reno_window::{RenoWindow, SLOW_START_LIMIT, UNLIMITED};
use super::signals::{Ack, Cause, Congestion, View};
use super::window::{IdleRule, Window};
use crate::seq::SeqNo;
use crate::units::{Bytes, Span, Time};

/// Reno with a window by bandwidth estimate after losses.
pub(super) const WESTWOOD: Algorithm = Algorithm {
    name: "westwood",
    title: "Westwood+: the window after a loss is the estimated bandwidth times the least RTT",
    reference: "Mascolo, Grieco, Ferorelli, Camarda, Piscitelli 2004, Performance Evaluation of Westwood+ TCP",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[Profile { name: "linux", set: &[], recovery: None }, Profile { name: "ns3", set: NS3, recovery: None }],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| {
        if values.flag("tustin") {
            Box::new(TimedWestwood::new(values, setup))
        } else {
            Box::new(LinuxWestwood::new(values, setup))
        }
    },
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("bandwidth_bps", "estimated bandwidth"),
    Internal::of("sampled_bps", "its last sample"),
    Internal::of("base_rtt_s", "minimum RTT; profile linux"),
];

const NS3: &[(&str, Value)] = &[("slow_start_limit", Value::Number(1.0)), ("tustin", Value::Flag(true))];

const PARAMS: &[Param] = &[
    SLOW_START_LIMIT.default(UNLIMITED).source("Linux tcp_slow_start; ns-3 and RFC 5681 eq. 2 have 1"),
    Param::number("least_window", 1.0..=1e4, 50.0)
        .unit("ms")
        .doc("a sample spans at least this long; profile linux")
        .source("Linux tcp_westwood, TCP_WESTWOOD_RTT_MIN"),
    Param::flag("tustin", false)
        .doc("samples by a timer of one RTT and Tustin's filter, instead of windows between ACKs and two filters")
        .source("ns-3 TcpWestwoodPlus"),
    Param::number("pole", 0.0..=0.99, 0.9)
        .doc("what remains of the estimate per sample; with tustin")
        .source("ns-3 TcpWestwoodPlus"),
];

/// A window has 32 bits in both; where an estimate would overflow them it stays at the most they hold.
const MAX_WINDOW: u64 = u32::MAX as u64;

/// Profile `linux`. Times in ticks, rates in bytes per tick, rounded down as the kernel does.
#[derive(Debug)]
struct LinuxWestwood {
    reno: RenoWindow,
    least_window: u64,
    rate: BandwidthFilter,
    rtt: u64,
    rtt_min: u64,
    /// The next RTT sample replaces `rtt_min`.
    relearn: bool,
}

/// The estimate, and the sample under way.
#[derive(Debug)]
struct BandwidthFilter {
    /// Samples after one filter, and after two.
    once: u64,
    twice: u64,
    since: u64,
    bytes: u64,
    /// `snd_una` up to which bytes are counted; absent before the first ACK.
    una: Option<SeqNo>,
    /// Counted ahead, one segment for each duplicate ACK.
    ahead: u64,
}

impl BandwidthFilter {
    /// The sample is complete.
    fn sample(&mut self, now: u64) {
        let sample = self.bytes / (now - self.since);
        if self.once == 0 && self.twice == 0 {
            (self.once, self.twice) = (sample, sample);
        } else {
            self.once = (7 * self.once + sample) / 8;
            self.twice = (7 * self.twice + self.once) / 8;
        }
        self.bytes = 0;
        self.since = now;
    }

    /// What an ACK adds. A duplicate stands for a segment that has arrived; what the next cumulative ACKs cover is less
    /// by what duplicates have reported.
    fn count(&mut self, view: &View) {
        let una = self.una.unwrap_or(view.snd_una);
        let mut bytes = view.snd_una.since(una).0;
        self.una = Some(view.snd_una);
        if bytes == 0 {
            self.ahead += view.mss.0;
            bytes = view.mss.0;
        }
        if bytes > view.mss.0 {
            if self.ahead >= bytes {
                self.ahead -= bytes;
                bytes = view.mss.0;
            } else {
                bytes -= self.ahead;
                self.ahead = 0;
            }
        }
        self.bytes += bytes;
    }
}

impl LinuxWestwood {
    fn new(values: &ParamValues, setup: &Setup) -> LinuxWestwood {
        LinuxWestwood {
            reno: RenoWindow::new(values, setup, IdleRule::Halve),
            least_window: values.number("least_window") as u64,
            rate: BandwidthFilter { once: 0, twice: 0, since: jiffies(setup.now), bytes: 0, una: None, ahead: 0 },
            // 20 s until there is a sample (TCP_WESTWOOD_INIT_RTT)
            rtt: 20_000,
            rtt_min: 20_000,
            relearn: true,
        }
    }

    /// The kernel checks the sample before it processes the RTT of the ACK and losses; so does this, whichever of
    /// the trait's calls comes first.
    fn look_at_sample(&mut self, now: Time) {
        let now = jiffies(now);
        if now - self.rate.since > self.rtt.max(self.least_window) {
            self.rate.sample(now);
        }
    }

    fn note_rtt_min(&mut self) {
        self.rtt_min = if self.relearn { self.rtt } else { self.rtt_min.min(self.rtt) };
        self.relearn = false;
    }

    /// Estimated rate times minimum RTT, in whole segments, at least two.
    fn estimate(&self, mss: Bytes) -> Bytes {
        let bytes = Bytes(self.rate.twice.saturating_mul(self.rtt_min).min(MAX_WINDOW));
        mss * bytes.segments(mss).max(2)
    }
}

impl CongestionControl for LinuxWestwood {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.look_at_sample(view.now);
        self.rate.count(view);
        self.note_rtt_min();
        if let Some(rtt) = ack.rtt {
            // usecs_to_jiffies rounds up
            self.rtt = rtt.latest.as_micros().max(1).div_ceil(1000);
        }
        self.reno.grow(ack, view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.reno.counter.reset();
        if event.cause != Cause::Timeout {
            // On the way down the target is Reno's; the estimate comes when the episode is over.
            let half = self.reno.window.cwnd.segments(view.mss) / 2;
            self.reno.window.cut(view.mss * half.max(2));
            return;
        }
        self.reno.window.collapse(self.estimate(view.mss), event);
        self.relearn |= event.first;
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.reno.window
    }

    fn on_recovery_end(&mut self, view: &View) {
        self.look_at_sample(view.now);
        self.reno.window.cut(self.estimate(view.mss));
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.reno.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("bandwidth_bps", self.rate.twice as f64 * 8e3);
        put("sampled_bps", self.rate.once as f64 * 8e3);
        put("base_rtt_s", self.rtt_min as f64 / 1e3);
    }
}

/// Westwood+ with samples by a timer. Rates in bytes per second.
#[derive(Debug)]
struct TimedWestwood {
    reno: RenoWindow,
    pole: f64,
    estimate: f64,
    last_sample: f64,
    /// Acknowledged since the last sample.
    acked: Bytes,
    /// When the sample under way ends, and how long it lasts.
    sampling: Option<(Time, Span)>,
}

impl TimedWestwood {
    fn new(values: &ParamValues, setup: &Setup) -> TimedWestwood {
        TimedWestwood {
            reno: RenoWindow::new(values, setup, IdleRule::Restart),
            pole: values.number("pole"),
            estimate: 0.0,
            last_sample: 0.0,
            acked: Bytes::ZERO,
            sampling: None,
        }
    }
}

impl CongestionControl for TimedWestwood {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.acked += ack.acked;
        // The first ACK after a sample starts the next one, which lasts a smoothed RTT.
        if let Some(srtt) = view.srtt.filter(|_| self.sampling.is_none()) {
            self.sampling = Some((view.now + srtt, srtt));
        }
        self.reno.grow(ack, view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        // ssthresh = max(B R_min, 2 MSS)
        let bytes = self.estimate * view.min_rtt.unwrap_or_default().as_secs_f64();
        let ssthresh = Bytes((bytes as u64).min(MAX_WINDOW)).max(view.mss * 2);
        self.reno.reduce(ssthresh, event);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.reno.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.reno.on_idle(idle, view);
    }

    fn next_timer(&self) -> Option<Time> {
        self.sampling.map(|(end, _)| end)
    }

    fn on_timer(&mut self, view: &View) {
        let Some((_, span)) = self.sampling.take_if(|(end, _)| *end <= view.now) else { return };
        let sample = std::mem::take(&mut self.acked).as_f64() / span.as_secs_f64().max(1e-9);
        // Tustin: B = p B + (1 - p) (x + x_before) / 2
        self.estimate = self.pole * self.estimate + (1.0 - self.pole) * (sample + self.last_sample) / 2.0;
        self.last_sample = sample;
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("bandwidth_bps", self.estimate * 8.0);
        put("sampled_bps", self.last_sample * 8.0);
    }
}

#[cfg(test)]
mod tests;
