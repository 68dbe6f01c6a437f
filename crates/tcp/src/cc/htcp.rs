//! H-TCP: the window grows faster the longer the last loss is ago (Leith, Shorten 2004).
//!
//! Up to a second after a loss it is Reno; then the increase alpha is a quadratic function of the time since. What a
//! loss leaves, beta, is the ratio of minimum and maximum RTT, which empties the queue just so, unless the throughput has
//! changed by more than a fifth since the last loss. Profile `linux` is the kernel's integer form in `linux.rs`, with
//! alpha scaled by the RTT; the other profiles are in real numbers.

mod linux;

use super::aimd::{Aimd, OF_CWND};
use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::reno_window::{SLOW_START_LIMIT, UNLIMITED};
use super::signals::{Ack, Congestion, State, View};
use super::window::Window;
use crate::units::{Bytes, Span, Time};

/// Growth by the time since the last loss.
pub(super) const HTCP: Algorithm = Algorithm {
    name: "htcp",
    title: "H-TCP: growth by the time since the last loss",
    reference: "Leith, Shorten 2004, H-TCP: TCP for high-speed and long-distance networks",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "linux", set: LINUX, recovery: None },
        Profile { name: "paper", set: &[], recovery: None },
        Profile { name: "ns3", set: NS3, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| {
        if values.flag("integer") {
            Box::new(linux::LinuxHtcp::new(values, setup))
        } else {
            Box::new(Real::new(values, setup))
        }
    },
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("alpha", "segments that a window of ACKs adds; profile linux"),
    Internal::of("beta", "factor of the window at a loss"),
    Internal::of("last_loss_s", "time of the last loss"),
    Internal::of("min_rtt_s", "minimum RTT since the last loss"),
    Internal::of("max_rtt_s", "maximum RTT since the last loss"),
    Internal::of("throughput", "largest throughput since the last loss, segments per second; profile linux"),
];

const LINUX: &[(&str, Value)] =
    &[("integer", Value::Flag(true)), ("slow_start_limit", UNLIMITED), ("of_cwnd", Value::Flag(true))];

const NS3: &[(&str, Value)] = &[("rtt_scaling", Value::Flag(false)), ("quirks", Value::Flag(true))];

const PARAMS: &[Param] = &[
    Param::flag("rtt_scaling", true)
        .doc("growth per second instead of per round: alpha in proportion to the RTT, 1 at 100 ms")
        .source("Leith, Shorten 2004; Linux use_rtt_scaling"),
    Param::flag("bandwidth_switch", true)
        .doc("half of the window goes when the throughput has changed by more than a fifth between two losses")
        .source("Leith, Shorten 2004; Linux use_bandwidth_switch"),
    Param::flag("integer", false)
        .doc("the kernel's arithmetic: whole segments, whole milliseconds, alpha and beta in 1/128")
        .source("Linux tcp_htcp"),
    Param::flag("quirks", false)
        .doc(
            "alpha counts bytes per ACK beside Reno's growth, beta is not limited and needs a rising throughput, RTTs \
             are forgotten at each loss; without integer",
        )
        .source("ns-3"),
    SLOW_START_LIMIT,
    OF_CWND,
];

/// alpha before scaling, for the time since the last loss: Leith, Shorten 2004, with Delta_L = 1 s.
fn alpha_of(since_loss: Span) -> f64 {
    let late = (since_loss.as_secs_f64() - 1.0).max(0.0);
    1.0 + 10.0 * late + late * late / 4.0
}

/// The other profiles: windows in segments, times in seconds, both real.
#[derive(Debug)]
struct Real {
    base: Aimd,
    rtt_scaling: bool,
    bandwidth_switch: bool,
    quirks: bool,
    beta: f64,
    last_loss: Time,
    rtts: Option<RttRange>,
    /// Acknowledged since the last loss, while all was well.
    acked: Bytes,
    /// Throughput between the last two losses, in bytes per second; absent before the second.
    throughput: Option<f64>,
    saved: Saved,
}

/// Minimum and maximum RTT.
#[derive(Clone, Copy, Debug)]
struct RttRange {
    least: Span,
    greatest: Span,
}

/// What an undone reduction returns to.
#[derive(Clone, Copy, Debug, Default)]
struct Saved {
    last_loss: Time,
    rtts: Option<RttRange>,
    acked: Bytes,
    throughput: Option<f64>,
}

impl Real {
    fn new(values: &ParamValues, setup: &Setup) -> Real {
        let quirks = values.flag("quirks");
        Real {
            base: Aimd::new(values, setup),
            rtt_scaling: values.flag("rtt_scaling"),
            bandwidth_switch: values.flag("bandwidth_switch"),
            quirks,
            // None before the first loss, which doubles alpha.
            beta: if quirks { 0.0 } else { 0.5 },
            last_loss: setup.now,
            rtts: None,
            acked: Bytes::ZERO,
            throughput: None,
            saved: Saved::default(),
        }
    }

    fn measure(&mut self, ack: &Ack, view: &View) {
        if view.state == State::Open {
            self.acked += ack.acked;
        }
        if let Some(rtt) = ack.rtt.map(|rtt| rtt.latest) {
            let range = self.rtts.get_or_insert(RttRange { least: rtt, greatest: rtt });
            range.least = range.least.min(rtt);
            range.greatest = range.greatest.max(rtt);
        }
    }

    fn alpha(&self, now: Time) -> f64 {
        let mut alpha = alpha_of(now.since(self.last_loss));
        if let Some(range) = self.rtts.filter(|_| self.rtt_scaling) {
            // Linux keeps the scale within 0.5 to 10; at least a nanosecond, so that there is one
            let least = range.least.as_secs_f64().max(1e-9);
            alpha /= (0.1 / least).clamp(0.5, 10.0);
        }
        // Leith, Shorten 2004: alpha = 2 (1 - beta) alpha
        (2.0 * (1.0 - self.beta) * alpha).max(1.0)
    }

    /// What the loss that ends an epoch with this throughput leaves.
    fn beta(&self, throughput: f64) -> f64 {
        let before = self.throughput.filter(|before| *before > 0.0);
        let (Some(before), Some(range)) = (before, self.rtts) else { return 0.5 };
        let ratio = range.least.as_secs_f64().max(1e-9) / range.greatest.as_secs_f64().max(1e-9);
        let change = throughput / before - 1.0;
        if self.quirks {
            // The quotient is one of whole numbers: anything below twice the throughput counts as no change.
            if change > 0.0 && change < 1.0 { ratio } else { 0.5 }
        } else if self.bandwidth_switch && change.abs() > 0.2 {
            0.5
        } else {
            ratio.clamp(0.5, 0.8)
        }
    }
}

impl CongestionControl for Real {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.measure(ack, view);
        let acked = self.base.slow_start(ack, view);
        if acked == Bytes::ZERO {
            return;
        }
        let (w, alpha) = (self.base.exact(view.mss), self.alpha(view.now));
        let growth = if self.quirks {
            let bytes = view.mss.as_f64() / w + alpha;
            bytes / view.mss.as_f64()
        } else {
            // alpha / W per acknowledged segment
            alpha / w * (acked.as_f64() / view.mss.as_f64())
        };
        self.base.grow_by(growth, view.mss);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let w = self.base.at_loss(event, view.mss);
        if event.first {
            let Real { last_loss, rtts, acked, throughput, .. } = *self;
            self.saved = Saved { last_loss, rtts, acked, throughput };
            let epoch = view.now.since(last_loss).as_secs_f64().max(1e-9);
            let achieved = acked.as_f64() / epoch;
            self.beta = self.beta(achieved);
            self.throughput = Some(achieved);
            self.acked = Bytes::ZERO;
            self.rtts = rtts.filter(|_| !self.quirks);
        }
        self.last_loss = view.now;
        self.base.reduce(w * self.beta, event, view.mss);
    }

    fn after_round(&self, window: Bytes, view: &View) -> Bytes {
        window + Bytes((self.alpha(view.now) * view.mss.as_f64()) as u64)
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.base.reno.window
    }

    fn on_undo(&mut self, before: Window, _view: &View) {
        self.base.reno.window.restore(before);
        let Saved { last_loss, rtts, acked, throughput } = self.saved;
        (self.last_loss, self.rtts, self.throughput) = (last_loss, rtts, throughput);
        self.acked += acked;
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.base.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("beta", self.beta);
        put("last_loss_s", self.last_loss.as_secs_f64());
        if let Some(range) = self.rtts {
            put("min_rtt_s", range.least.as_secs_f64());
            put("max_rtt_s", range.greatest.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests;
