//! Veno: Reno that asks the delay whether a loss means congestion (Fu, Liew 2003).
//!
//! N, the segments that wait in the network, is what Vegas estimates: W less what base RTT and actual RTT leave of it. A
//! loss with N below 3 is taken for chance and costs a fifth of the window; above, half. From N = 3 on the window grows
//! every second round only. Profile `linux` is the kernel's module, which judges N anew on each ACK, the other profile its
//! port to a simulator. Not modelled: the paper's smoothed RTT and its new base RTT after each loss, which neither has.

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::reno_window::{RenoWindow, SLOW_START_LIMIT, UNLIMITED};
use super::round_rtt::{RoundRtt, is_cong_avoid_called};
use super::signals::{Ack, Congestion, View};
use super::window::{IdleRule, Window};
use crate::units::{Bytes, Span};

/// Reno that distinguishes random losses from congestion.
pub(super) const VENO: Algorithm = Algorithm {
    name: "veno",
    title: "Veno: smaller cuts where the delay says that a loss was chance",
    reference: "Fu, Liew 2003, TCP Veno",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[Profile { name: "linux", set: &[], recovery: None }, Profile { name: "ns3", set: NS3, recovery: None }],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Veno::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] =
    &[Internal::of("waiting", "own segments in the queue (N)"), Internal::of("base_rtt_s", "minimum RTT")];

const NS3: &[(&str, Value)] = &[
    ("resolution", Value::Number(1.0)),
    ("slow_start_limit", Value::Number(1.0)),
    ("from_flight", Value::Flag(true)),
    ("forgets_samples", Value::Flag(true)),
];

const PARAMS: &[Param] = &[
    Param::number("beta", 0.5..=1000.0, 3.0)
        .unit("segments")
        .doc("queued segments from which on a loss means congestion")
        .source("Fu, Liew 2003; Linux tcp_veno"),
    Param::number("random_loss_beta", 0.1..=1.0, 0.8)
        .doc("what remains of the window after a loss by chance; after congestion it is half")
        .source("Fu, Liew 2003; Linux tcp_veno: 4/5"),
    Param::number("resolution", 1.0..=1e6, 2.0)
        .unit("1/segment")
        .doc("waiting segments are counted in such parts, rounded up")
        .source("Linux counts half segments, ns-3 whole ones"),
    SLOW_START_LIMIT.default(UNLIMITED).source("RFC 5681 eq. 2; RFC 3465 calls it L; Linux has no limit"),
    Param::flag("from_flight", false)
        .doc(
            "ssthresh from the flight, instead of from cwnd in whole segments; idle windows restart instead of \
             halving",
        )
        .source("ns-3 takes the flight, Linux cwnd"),
    Param::flag("forgets_samples", false)
        .doc(
            "counts RTT samples from zero after each ACK; growth needs three and is thus Reno's while each ACK \
             brings one",
        )
        .source("ns-3 tcp-veno; its round is one ACK"),
];

/// Growth goes by the delay once there are more samples than this.
const TOO_FEW_SAMPLES: u64 = 2;

#[derive(Debug)]
struct Veno {
    reno: RenoWindow,
    delay: RoundRtt,
    /// N in parts of a segment.
    waiting: u64,
    /// The next increment in congestion is due, not put off for a round.
    due: bool,
    /// N that means congestion, in parts.
    beta: u64,
    parts: u64,
    random_loss_beta: f64,
    from_flight: bool,
    forgets_samples: bool,
}

impl Veno {
    fn new(values: &ParamValues, setup: &Setup) -> Veno {
        let parts = values.number("resolution") as u64;
        Veno {
            reno: RenoWindow::new(values, setup, IdleRule::of(!values.flag("from_flight"))),
            delay: RoundRtt::default(),
            waiting: 0,
            due: true,
            beta: libm::round(values.number("beta") * parts as f64) as u64,
            parts,
            random_loss_beta: values.number("random_loss_beta"),
            from_flight: values.flag("from_flight"),
            forgets_samples: values.flag("forgets_samples"),
        }
    }

    /// N = W - W base / least. Without a sample since the last judgement, as after recovery, the kernel's minimum RTT is
    /// infinite, which makes the whole window wait.
    fn judge(&mut self, view: &View) {
        let w = u128::from(self.reno.window.cwnd.segments(view.mss) * self.parts);
        let (base, least) = (self.delay.base.unwrap_or(0), self.delay.least.unwrap_or(u64::MAX));
        let flowing = w * u128::from(base) / u128::from(least);
        self.waiting = (w - flowing) as u64;
    }

    fn is_congested(&self) -> bool {
        self.waiting >= self.beta
    }

    fn grow(&mut self, ack: &Ack, view: &View, by_delay: bool) {
        let acked = self.reno.slow_start(ack, view);
        if acked == Bytes::ZERO || self.reno.window.in_slow_start() {
            return;
        }
        let per_increment = self.reno.window.cwnd;
        if !(by_delay && self.is_congested()) {
            self.reno.counter.grow(&mut self.reno.window, acked, per_increment, view.mss);
        } else if self.reno.counter.is_overdue(acked, per_increment) {
            // Every second window of acknowledged data buys a segment.
            if self.due {
                self.reno.window.cwnd += view.mss;
            }
            self.due = !self.due;
        }
    }
}

impl CongestionControl for Veno {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.delay.on_ack(ack);
        if self.delay.returns_to_open(view) {
            self.delay.least = None;
        }
        if !is_cong_avoid_called(ack, view) || !view.may_grow {
            return;
        }
        // In Disorder and after a time-out growth is Reno's.
        let open = view.state == super::State::Open;
        let by_delay = open && self.delay.samples > TOO_FEW_SAMPLES;
        if by_delay || (self.forgets_samples && self.delay.samples > 0) {
            self.judge(view);
        }
        self.grow(ack, view, by_delay);
        if open {
            self.delay.least = None;
        }
        if self.forgets_samples {
            (self.delay.least, self.delay.samples) = (None, 0);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let kept = if self.is_congested() { 0.5 } else { self.random_loss_beta };
        let base = if self.from_flight { event.flight } else { view.mss * self.reno.window.cwnd.segments(view.mss) };
        let mut ssthresh = Bytes((base.as_f64() * kept) as u64);
        if !self.from_flight {
            ssthresh = view.mss * ssthresh.segments(view.mss);
        }
        let ssthresh = ssthresh.max(view.mss * 2);
        self.reno.reduce(ssthresh, event);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.reno.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        if !self.from_flight {
            // The kernel begins again whenever something is sent with nothing outstanding, but the count of samples stays.
            (self.delay.base, self.delay.least, self.due) = (None, None, true);
        }
        self.reno.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("waiting", self.waiting as f64 / self.parts as f64);
        if let Some(base) = self.delay.base {
            put("base_rtt_s", base as f64 / 1e6);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use super::*;
    use crate::cc::signals::Cause;

    /// A sender in congestion avoidance with a base RTT of 100 ms whose last ACK had `rtt_ms`.
    fn after(profile: &str, cwnd: u64, rtt_ms: f64) -> Driver {
        let mut veno = Driver::new("veno", profile, &[], cwnd, Some(2));
        (0..3).for_each(|_| veno.ack(1, Some(100.0)));
        veno.ack(1, Some(rtt_ms));
        assert_eq!(veno.cwnd(), cwnd as f64);
        veno
    }

    /// N is 1.82 and 3.33; the kernel's halves round up to 2 and 3.5, as does its extra microsecond.
    #[test]
    fn vectors_of_algorithms_8_6() {
        for (rtt, waiting, ssthresh) in [(110.0, 2.0, 16.0), (120.0, 3.5, 10.0)] {
            let mut veno = after("linux", 20, rtt);
            assert_eq!(veno.internal("waiting"), waiting);
            veno.congestion(Cause::Rack);
            assert_eq!((veno.cwnd(), veno.ssthresh()), (ssthresh, ssthresh));
        }
    }

    #[test]
    fn in_congestion_every_second_window_adds_a_segment() {
        // The counter holds the 4 ACKs before. It is found full by the ACK after the window's last: 21 per increment.
        let mut veno = after("linux", 20, 120.0);
        let mut grown = Vec::new();
        for ack in 1..=150 {
            let before = veno.cwnd();
            veno.ack(1, Some(130.0));
            if veno.cwnd() > before {
                grown.push(ack);
            }
        }
        // 17 ACKs complete the first window; then 22 without and 22 with an increment, one more as the window grows.
        assert_eq!(
            grown,
            [17, 17 + 44, 17 + 44 + 46, 17 + 44 + 46 + 48].into_iter().take_while(|n| *n <= 150).collect::<Vec<_>>()
        );
    }

    #[test]
    fn without_samples_after_recovery_the_whole_window_waits() {
        let mut veno = after("linux", 20, 100.0);
        veno.congestion(Cause::Rack);
        assert_eq!(veno.cwnd(), 16.0);
        veno.recovered();
        veno.ack(1, None);
        assert_eq!(veno.internal("waiting"), 16.0);
        veno.ack(1, Some(100.0));
        assert_eq!(veno.internal("waiting"), 0.0);
    }

    #[test]
    fn in_ns3_growth_is_renos_but_the_cut_goes_by_the_delay() {
        let mut veno = after("ns3", 20, 130.0);
        (0..16).for_each(|_| veno.ack(1, Some(130.0)));
        assert_eq!((veno.cwnd(), veno.internal("waiting")), (21.0, 5.0));
        veno.congestion(Cause::DupAck);
        assert_eq!(veno.ssthresh(), 10.5);
    }

    #[test]
    fn silence_makes_it_measure_anew() {
        let mut veno = after("linux", 20, 120.0);
        let view = veno.view;
        veno.cc.on_idle(Span::from_millis(1), &view);
        veno.ack(1, Some(130.0));
        assert_eq!(veno.internal("waiting"), 0.0);
    }
}
