//! Hybla: a connection with a long RTT grows as fast as one with a reference RTT (Caini, Firrincieli 2004).
//!
//! With rho = RTT / RTT0, at least 1, slow start adds 2^rho - 1 segments per ACK and congestion avoidance rho^2 / W, so
//! that the rate, not the window, grows alike on all paths. A loss halves the window. RTT0 is 25 ms in the paper and in
//! Linux. Linux counts rho in eighths by its least smoothed RTT and starts from rho segments. The paper's
//! further parts (bandwidth estimate for the first ssthresh, packet spacing) are left out, as in Linux.

use super::aimd::{Aimd, OF_CWND};
use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::reno_window::{SLOW_START_LIMIT, UNLIMITED};
use super::signals::{Ack, Congestion, State, View};
use super::window::Window;
use crate::units::{Bytes, Span};

/// Growth in time instead of round trips.
pub(super) const HYBLA: Algorithm = Algorithm {
    name: "hybla",
    title: "Hybla: growth as with a reference RTT",
    reference: "Caini, Firrincieli 2004, TCP Hybla: a TCP enhancement for heterogeneous networks",
    requirements: Requirements::NONE,
    starts: None,
    params: PARAMS,
    profiles: &[
        Profile { name: "linux", set: LINUX, recovery: None },
        Profile { name: "paper", set: &[("start_from_rho", Value::Flag(true))], recovery: None },
        Profile { name: "ns3", set: NS3, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Hybla::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[Internal::of("rho", "RTT divided by the reference RTT")];

const LINUX: &[(&str, Value)] = &[
    ("eighths", Value::Flag(true)),
    ("start_from_rho", Value::Flag(true)),
    ("slow_start_limit", UNLIMITED),
    ("of_cwnd", Value::Flag(true)),
];

const NS3: &[(&str, Value)] = &[("rtt0", Value::Number(50.0)), ("per_segment", Value::Flag(true))];

const PARAMS: &[Param] = &[
    Param::number("rtt0", 1.0..=1000.0, 25.0).unit("ms").doc("the reference RTT").source("Linux 25 ms, ns-3 50 ms"),
    Param::flag("eighths", false)
        .doc("rho in eighths from the minimum smoothed RTT, growth in 1/128 segments, and only while nothing is lost")
        .source("Linux"),
    Param::flag("per_segment", false)
        .doc("congestion avoidance counts acknowledged segments instead of ACKs; without eighths")
        .source("ns-3"),
    Param::flag("start_from_rho", false)
        .doc("the initial window is rho segments")
        .source("Caini, Firrincieli 2004: W(0) = rho; Linux"),
    SLOW_START_LIMIT,
    OF_CWND,
];

/// Linux's limit of the window, in segments, and of the exponent in slow start; the others keep to it as well, for the
/// paper's growth knows no bound.
const MAX_SEGMENTS: u64 = 65_535;
const MAX_RHO: f64 = 16.0;
/// 2^(i/8), in 1/128.
const EIGHTH_POWERS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];

#[derive(Debug)]
struct Hybla {
    base: Aimd,
    rtt0: Span,
    eighths: bool,
    per_segment: bool,
    rho: f64,
    /// The RTT that rho was taken from; it follows a lower one.
    least: Option<Span>,
    /// Growth below one segment, in 1/128; with eighths.
    hundredths: u64,
    /// ACKs without growth; with eighths.
    idle_acks: u64,
}

impl Hybla {
    fn new(values: &ParamValues, setup: &Setup) -> Hybla {
        let mut hybla = Hybla {
            base: Aimd::new(values, setup),
            rtt0: Span::from_secs_f64(values.number("rtt0") / 1e3),
            eighths: values.flag("eighths"),
            per_segment: values.flag("per_segment"),
            rho: 1.0,
            least: None,
            hundredths: 0,
            idle_acks: 0,
        };
        hybla.learn(setup.handshake_rtt);
        if values.flag("start_from_rho") {
            let segments = libm::floor(hybla.rho) as u64;
            hybla.base.reno.window.cwnd = setup.mss * segments.min(MAX_SEGMENTS);
        }
        hybla
    }

    /// rho = max(RTT / RTT0, 1) of the minimum RTT.
    fn learn(&mut self, rtt: Option<Span>) {
        let Some(rtt) = rtt.filter(|rtt| self.least.is_none_or(|least| *rtt < least)) else { return };
        self.least = Some(rtt);
        let (rtt, rtt0) = (rtt.as_nanos(), self.rtt0.as_nanos());
        let rho = if self.eighths { (rtt.saturating_mul(8) / rtt0) as f64 / 8.0 } else { rtt as f64 / rtt0 as f64 };
        self.rho = rho.max(1.0);
    }

    /// Real numbers: the formulas as they are.
    fn grow(&mut self, acked: Bytes, mss: Bytes) {
        let window = &mut self.base.reno.window;
        if window.in_slow_start() {
            // 2^rho - 1 per ACK, up to ssthresh
            let more = (libm::exp2(self.rho.min(MAX_RHO)) - 1.0) * mss.as_f64();
            window.cwnd = window.cwnd.saturating_add(Bytes(more as u64)).min(window.ssthresh);
        } else {
            let units = if self.per_segment { acked.as_f64() / mss.as_f64() } else { 1.0 };
            // rho^2 / W; above what any path holds it no longer matters
            let w = self.base.exact(mss);
            self.base.grow_by(units * self.rho * self.rho / w, mss);
        }
    }

    /// Linux: rho in eighths, the increment in 1/128 of a segment, cwnd in whole ones.
    fn grow_in_eighths(&mut self, mss: Bytes) {
        let eighths = (self.rho * 8.0) as u64;
        let slow_start = self.base.reno.window.in_slow_start();
        let increment = if slow_start {
            (1 << (eighths / 8).min(MAX_RHO as u64)) * EIGHTH_POWERS[(eighths % 8) as usize] - 128
        } else {
            // rho^2 in 1/128 is twice its square in eighths
            2 * eighths * eighths / self.base.segments(mss)
        };
        self.idle_acks += u64::from(!slow_start && increment < 128);
        self.hundredths += increment % 128;
        let mut segments = increment / 128;
        if self.hundredths >= 128 {
            segments += 1;
            self.hundredths -= 128;
            self.idle_acks = 0;
        }
        // A window so large that the increment is nothing grows like Reno's.
        if increment == 0 && self.idle_acks >= self.base.segments(mss) {
            segments += 1;
            self.idle_acks = 0;
        }
        let window = &mut self.base.reno.window;
        let limit = if slow_start { window.ssthresh } else { Bytes::MAX };
        window.cwnd = window.cwnd.saturating_add(mss * segments).min(limit);
    }

    /// After a loss Linux is Reno until all is well.
    fn grow_like_reno(&mut self, ack: &Ack, view: &View) {
        let acked = self.base.slow_start(ack, view);
        if acked > Bytes::ZERO {
            self.base.grow_per(self.base.segments(view.mss), acked, view.mss);
        }
    }
}

impl CongestionControl for Hybla {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if ack.acked > Bytes::ZERO && !view.state.in_cwnd_reduction() {
            self.learn(if self.eighths { view.srtt } else { view.min_rtt });
        }
        if !view.may_grow || ack.acked == Bytes::ZERO {
            return;
        }
        let before = self.base.reno.window.cwnd;
        if !self.eighths {
            self.grow(ack.acked, view.mss);
        } else if view.state == State::Open {
            self.grow_in_eighths(view.mss);
        } else {
            self.grow_like_reno(ack, view);
        }
        let window = &mut self.base.reno.window;
        window.cwnd = window.cwnd.min(view.mss * MAX_SEGMENTS).max(before);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let w = self.base.at_loss(event, view.mss);
        self.idle_acks = 0;
        self.base.reduce(w / 2.0, event, view.mss);
    }

    fn after_round(&self, window: Bytes, view: &View) -> Bytes {
        window + Bytes((self.rho * self.rho * view.mss.as_f64()) as u64)
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.base.reno.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.base.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("rho", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use super::*;
    use crate::cc::config::CcConfig;
    use crate::cc::signals::Cause;

    /// RTT 100 ms: rho 4 with 25 ms and 2 with 50 ms.
    #[test]
    fn slow_start_adds_two_to_the_rho_less_one() {
        for (profile, growth) in [("linux", 15.0), ("paper", 15.0), ("ns3", 3.0)] {
            let mut sender = Driver::new("hybla", profile, &[("start_from_rho", Value::Flag(false))], 10, Some(100));
            sender.ack(1, Some(100.0));
            assert_eq!(sender.cwnd(), 10.0 + growth, "{profile}");
            // never beyond ssthresh
            (0..40).for_each(|_| sender.ack(1, Some(100.0)));
            assert!(sender.cwnd() >= 100.0 && sender.cwnd() < 140.0, "{profile}: {}", sender.cwnd());
        }
    }

    /// W = 16: rho^2 / W = 1 per ACK with 25 ms; 4 / W = 1/4 with 50 ms.
    #[test]
    fn congestion_avoidance_adds_rho_squared_per_window() {
        for (profile, growth) in [("linux", 1.0), ("paper", 1.0), ("ns3", 0.25)] {
            let mut sender = Driver::new("hybla", profile, &[("start_from_rho", Value::Flag(false))], 16, Some(2));
            sender.ack(1, Some(100.0));
            assert_eq!(sender.cwnd(), 16.0 + growth, "{profile}");
        }
    }

    /// 40 ms: rho 12/8; 2^(12/8) = 2 * 181/128, less 1 makes 1.83 per ACK: 1, 2 (.83), 4 (.66), 6 (.48).
    #[test]
    fn the_kernel_counts_in_eighths() {
        let mut sender = Driver::new("hybla", "linux", &[], 1, None);
        for cwnd in [2.0, 4.0, 6.0] {
            sender.ack(1, Some(40.0));
            assert_eq!((sender.internal("rho"), sender.cwnd()), (1.5, cwnd));
        }
    }

    #[test]
    fn the_initial_window_is_rho() {
        for (rtt_ms, segments) in [(10, 1), (40, 1), (100, 4), (600, 24)] {
            let mss = Bytes(1000);
            let mut cc = CcConfig::by_name("hybla", Some("linux"), &[])
                .expect("a registered profile")
                .build(&Setup { handshake_rtt: Some(Span::from_millis(rtt_ms)), ..Setup::plain(mss, mss * 10) });
            assert_eq!(cc.window().cwnd, mss * segments, "{rtt_ms} ms");
        }
    }

    #[test]
    fn a_loss_halves_and_a_time_out_makes_it_reno() {
        let mut sender = Driver::new("hybla", "linux", &[("start_from_rho", Value::Flag(false))], 101, None);
        sender.congestion(Cause::Timeout);
        assert_eq!((sender.cwnd(), sender.ssthresh()), (1.0, 50.0));
        sender.ack(1, Some(100.0));
        assert_eq!(sender.cwnd(), 2.0);
    }
}
