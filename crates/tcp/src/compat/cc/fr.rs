//! TCP-FR, "faster recovery": after a loss the window is what the path carries, not half of what was sent.
//!
//! The returning ACKs give an estimate of bandwidth, BWE; times the minimum RTT it is the path's capacity, to which ssthresh
//! is set on a loss (Casetti, Gerla, Lee, Mascolo, Sanadidi, MILCOM 2000). GFR, "gradual faster
//! recovery", lets ssthresh rise towards it while nothing is lost, so that slow start goes on. The rest is NewReno as in
//! ns-3, where the study ran: growth by the ACK, in slow start only in the study, whose text takes the linear increase out.
//! Profile `report` is its text; profile `code` has what the study's code did besides its text, without its window of one byte after a time-out,
//! which ns-3 overwrites with one segment, and its endless bandwidth from two ACKs at once, which count as one. As in the study, it wants
//! TCP of profile `ns3`, which hands its smoothed RTT to algorithms.

use crate::cc::algorithm::{Algorithm, Internal, Requirements, Setup};
use crate::cc::controller::CongestionControl;
use crate::cc::parameters::{Param, ParamValues, Profile, Value};
use crate::cc::signals::{Ack, Congestion, View};
use crate::cc::window::{IdleRule, Window};
use crate::units::{Bytes, Span, Time};

/// Faster recovery by a bandwidth estimate.
pub(crate) const FR: Algorithm = Algorithm {
    name: "fr",
    title: "TCP-FR: ssthresh from a bandwidth estimate, with GFR",
    reference: "Casetti et al. 2000, TCP with faster recovery",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "report", set: TEXT, recovery: None },
        Profile { name: "code", set: QUIRKS, recovery: None },
        Profile { name: "paper", set: PAPER, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Fr::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("bandwidth_bps", "estimated bandwidth"),
    Internal::of("least_rtt_s", "minimum RTT"),
    Internal::of("capacity_bytes", "bandwidth times minimum RTT"),
];

const QUIRKS: &[(&str, Value)] = &[
    ("one_segment_per_ack", Value::Flag(true)),
    ("bits_as_bytes", Value::Flag(true)),
    ("no_linear_growth", Value::Flag(true)),
    ("clock_from_zero", Value::Flag(true)),
    ("floor", Value::Number(1.0)),
];

const TEXT: &[(&str, Value)] = &[("no_linear_growth", Value::Flag(true))];

const PAPER: &[(&str, Value)] = &[("gfr_interval", Value::Number(500.0)), ("count_dupacks", Value::Flag(true))];

const PARAMS: &[Param] = &[
    Param::number("alpha", 0.0..=0.999, 0.8).doc("weight of the old bandwidth estimate").source("the study's report"),
    Param::number("a", 1.0..=16.0, 1.0)
        .doc("ssthresh = BWE x RTTmin / a: 1 where few connections share the path, 2 where many do")
        .source("the study's report"),
    Param::flag("gfr", true)
        .doc("in congestion avoidance below BWE x RTTmin, ssthresh rises halfway to it")
        .source("the study's report"),
    Param::number("gfr_interval", 0.0..=60_000.0, 0.0)
        .unit("ms")
        .doc("ssthresh rises at most this often; 0: on every ACK")
        .source("the study on every ACK, the paper every 500 ms"),
    Param::flag("count_dupacks", false)
        .doc("a duplicate ACK that reports nothing else stands for one delivered segment")
        .source("the paper counts returning ACKs"),
    Param::flag("one_segment_per_ack", false)
        .doc("quirk: an ACK counts one segment whatever it covers, so that delayed ACKs halve the estimate")
        .source("quirk 1 of the study's code"),
    Param::flag("bits_as_bytes", false)
        .doc("quirk: BWE x RTTmin in bits is taken for bytes, eight times too much")
        .source("quirk 2 of the study's code"),
    Param::flag("no_linear_growth", false)
        .doc("no growth in congestion avoidance but through GFR")
        .source("the study's report and code; the paper grows as Reno"),
    Param::number("floor", 1.0..=16.0, 2.0)
        .unit("segments")
        .doc("least ssthresh after a loss; 1 stands for the study's code, which has none")
        .source("RFC 5681"),
    Param::flag("clock_from_zero", false)
        .doc("quirk: the first sample spreads its bytes over all time since the start of the run")
        .source("quirk 5 of the study's code"),
];

/// No path holds more; a bandwidth from ACKs that were bunched together can say anything.
const MAX_BYTES: f64 = (1_u64 << 40) as f64;

#[derive(Debug)]
struct Fr {
    window: Window,
    initial_window: Bytes,
    alpha: f64,
    a: f64,
    gfr: bool,
    gfr_interval: Span,
    count_dupacks: bool,
    one_segment_per_ack: bool,
    bits_as_bytes: bool,
    no_linear_growth: bool,
    /// In segments.
    floor: u64,
    /// BWE in bit/s; 0 before the first sample.
    bandwidth: f64,
    /// When the last sample ended.
    sampled: Time,
    /// Delivered since, because no time has passed.
    pending: Bytes,
    /// Counted on duplicate ACKs; the ACK that covers it does not count it again.
    counted: Bytes,
    least_rtt: Option<Span>,
    /// When GFR may raise ssthresh again.
    gfr_due: Time,
}

impl Fr {
    fn new(values: &ParamValues, setup: &Setup) -> Fr {
        let gfr_interval = Span::from_secs_f64(values.number("gfr_interval") / 1e3);
        Fr {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            initial_window: setup.initial_window,
            alpha: values.number("alpha"),
            a: values.number("a"),
            gfr: values.flag("gfr"),
            gfr_interval,
            count_dupacks: values.flag("count_dupacks"),
            one_segment_per_ack: values.flag("one_segment_per_ack"),
            bits_as_bytes: values.flag("bits_as_bytes"),
            no_linear_growth: values.flag("no_linear_growth"),
            floor: values.number("floor") as u64,
            bandwidth: 0.0,
            sampled: if values.flag("clock_from_zero") { Time::ZERO } else { setup.now },
            pending: Bytes::ZERO,
            counted: Bytes::ZERO,
            least_rtt: None,
            gfr_due: setup.now + gfr_interval,
        }
    }

    /// What the ACK adds to the estimate.
    fn delivered(&mut self, ack: &Ack, mss: Bytes) -> Bytes {
        if ack.acked == Bytes::ZERO {
            if !self.count_dupacks || ack.duplicate == 0 {
                return Bytes::ZERO;
            }
            self.counted += mss;
            return mss;
        }
        if self.one_segment_per_ack {
            return mss;
        }
        let known = self.counted.min(ack.acked);
        self.counted -= known;
        ack.acked - known
    }

    fn sample_bandwidth(&mut self, delivered: Bytes, now: Time) {
        self.pending += delivered;
        if self.pending == Bytes::ZERO || now <= self.sampled {
            return;
        }
        // s = 8 pkt_size / (now - last_ack_time); BWE = alpha BWE + (1 - alpha) s
        let sample = 8.0 * self.pending.as_f64() / now.since(self.sampled).as_secs_f64();
        self.bandwidth = self.alpha * self.bandwidth + (1.0 - self.alpha) * sample;
        self.sampled = now;
        self.pending = Bytes::ZERO;
    }

    /// BWE x RTTmin in bytes, once both are known.
    fn capacity(&self) -> Option<f64> {
        let bits = self.bandwidth * self.least_rtt?.as_secs_f64();
        let bytes = if self.bits_as_bytes { bits } else { bits / 8.0 };
        (bytes > 0.0).then_some(bytes.min(MAX_BYTES))
    }

    /// if cwnd > ssthresh and cwnd < BWE RTTmin: ssthresh += (BWE RTTmin - ssthresh) / 2. Looked at on ACKs, the only
    /// times at which it matters, also where the paper has a timer.
    fn raise_ssthresh(&mut self, now: Time) {
        if !self.gfr || now < self.gfr_due {
            return;
        }
        self.gfr_due = now + self.gfr_interval;
        let Window { cwnd, ssthresh } = self.window;
        if let Some(capacity) = self.capacity()
            && cwnd > ssthresh
            && cwnd.as_f64() < capacity
        {
            self.window.ssthresh += Bytes(((capacity - ssthresh.as_f64()) / 2.0) as u64);
        }
    }
}

impl CongestionControl for Fr {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if let Some(rtt) = ack.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt.latest, |least| least.min(rtt.latest)));
        }
        let delivered = self.delivered(ack, view.mss);
        self.sample_bandwidth(delivered, view.now);
        if !view.may_grow || ack.acked == Bytes::ZERO {
            return;
        }
        if self.window.in_slow_start() || !self.no_linear_growth {
            self.window.grow_per_ack(ack.acked_segments.max(1), view.mss);
        }
        if !self.window.in_slow_start() {
            self.raise_ssthresh(view.now);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.counted = Bytes::ZERO;
        // ssthresh = BWE RTTmin / a. While nothing is known, half of the flight.
        let known = self.capacity().map(|capacity| Bytes((capacity / self.a) as u64));
        let ssthresh = known.unwrap_or(Bytes(event.flight.0 / 2)).max(view.mss * self.floor);
        self.window.reduce(ssthresh, event);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        // The next sample is not to take the idle period for a slow path.
        self.sampled = view.now;
        self.pending = Bytes::ZERO;
        self.window.on_idle(idle, view, self.initial_window, IdleRule::Restart);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("bandwidth_bps", self.bandwidth);
        if let Some(rtt) = self.least_rtt {
            put("least_rtt_s", rtt.as_secs_f64());
        }
        if let Some(capacity) = self.capacity() {
            put("capacity_bytes", capacity);
        }
    }
}

#[cfg(test)]
mod tests;
