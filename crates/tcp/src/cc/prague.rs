//! Prague: DCTCP for the Internet, with the finer signal of L4S (draft-briscoe-iccrg-prague-congestion-control).
//!
//! Its packets carry ECT(1), its receiver counts marks (AccECN), and it paces, so that a queue may mark at a threshold of a
//! millisecond. As in DCTCP an average alpha of the share of marks decides how far the window comes down, at most once per
//! round trip; unlike there, every unmarked segment makes it grow, also on the way down, and fractions of a segment count.
//! After some hundred round trips a short RTT grows and falls as if it were `target_rtt`, so that RTTs share fairly. Written
//! after the kernel of the L4S team. `prague/fallback.rs` has its test for queues that mark as RFC 3168 has it, which is off
//! by default as there. Not modelled: its other two ways to be independent of the RTT, and windows below one segment.

mod fallback;

use self::fallback::Fallback;
use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile};
use super::signals::{Ack, Cause, Congestion, State, View};
use super::window::Window;
use crate::seq::SeqNo;
use crate::settings::EcnMode;
use crate::units::{Bytes, Rate, Span, Time};

/// DCTCP for L4S.
pub(super) const PRAGUE: Algorithm = Algorithm {
    name: "prague",
    title: "Prague: DCTCP for the Internet, with L4S marks",
    reference: "draft-briscoe-iccrg-prague-congestion-control; RFC 9331; the kernel of the L4S team",
    requirements: Requirements { owns_window: true, ecn: Some(EcnMode::L4s), ..Requirements::NONE },
    starts: None,
    params: PARAMS,
    profiles: &[Profile { name: "linux", set: &[], recovery: None }],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Prague::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("alpha", "share of marked bytes, smoothed"),
    Internal::of("target", "window aimed at, segments"),
    Internal::of("classic_ecn", "how surely the queue that marks is a classic one, 0 to 1"),
    Internal::of("increase", "segments that a window of unmarked ones adds"),
];

const PARAMS: &[Param] = &[
    Param::number("gain", 1.0 / 1024.0..=1.0, 1.0 / 16.0)
        .doc("weight of the last round trip in alpha")
        .source("L4S team's tcp_prague: PRAGUE_SHIFT_G"),
    Param::number("first_alpha", 0.0..=1.0, 1.0)
        .doc("alpha until a mark has been seen; 1 makes the first reduction a halving")
        .source("L4S team's tcp_prague: prague_init"),
    Param::flag("rtt_independence", true)
        .doc("an RTT below `target_rtt` grows by (RTT / target)^2 and reacts once per target")
        .source("L4S team's tcp_prague: prague_rtt_scaling"),
    Param::number("target_rtt", 0.0001..=1.0, 0.025)
        .unit("s")
        .doc("the RTT that shorter ones behave like")
        .source("L4S team's tcp_prague: prague_rtt_target"),
    Param::flag("fallback", false)
        .doc("alpha counts as 0.625 at least in reductions while the queue is surely one that marks as RFC 3168 has it")
        .source("Briscoe, Ahmed, arXiv 1911.00710; L4S team's tcp_prague: prague_ecn_fallback, off"),
    Param::number("transition", 0.0..=1e6, 500.0)
        .unit("round trips")
        .doc("round trips after slow start until the RTT ceases to matter")
        .source("L4S team's tcp_prague: prague_rtt_transition"),
];

/// The window does not step below this many segments on marks.
const MIN_WINDOW: f64 = 2.0;

/// IPv4, and TCP with timestamps.
const HEADERS: Bytes = Bytes(52);

/// A burst lasts 2^-12 s, about 250 us.
const BURST_SHIFT: u32 = 12;

#[derive(Debug)]
struct Prague {
    /// What is in force. It follows `target` by at most a segment per ACK.
    window: Window,
    /// The window aimed at, in segments, with fractions.
    target: f64,
    alpha: f64,
    gain: f64,
    classic: Fallback,
    /// It decides about reductions.
    falls_back: bool,
    /// RTTs below this behave like it; absent if they need not.
    target_rtt: Option<Span>,
    transition: u64,
    mss: Bytes,
    srtt: Option<Span>,
    pipe: Bytes,
    marks_seen: bool,
    /// The window came down for a loss, and the episode lasts.
    in_loss: bool,
    /// `target` before the loss.
    before_loss: f64,
    reduced_at: Time,
    /// The round trip ends when this is acknowledged.
    round_end: SeqNo,
    rounds: u64,
    round_began: Time,
    delivered: Bytes,
    marked: Bytes,
    /// Segments that a window of unmarked ones adds.
    increase: f64,
}

impl Prague {
    fn new(values: &ParamValues, setup: &Setup) -> Prague {
        let target_rtt = Span::from_secs_f64(values.number("target_rtt"));
        Prague {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            target: setup.initial_window.as_f64() / setup.mss.as_f64(),
            alpha: values.number("first_alpha"),
            gain: values.number("gain"),
            classic: Fallback::new(setup.handshake_rtt),
            falls_back: values.flag("fallback"),
            target_rtt: values.flag("rtt_independence").then_some(target_rtt),
            transition: values.number("transition") as u64,
            mss: setup.mss,
            srtt: setup.handshake_rtt,
            pipe: Bytes::ZERO,
            marks_seen: false,
            in_loss: false,
            before_loss: 0.0,
            reduced_at: Time::ZERO,
            round_end: SeqNo::default(),
            rounds: 0,
            round_began: setup.now,
            delivered: Bytes::ZERO,
            marked: Bytes::ZERO,
            increase: 1.0,
        }
    }

    /// The time that must lie between two updates, or two reductions, besides a round trip.
    fn pause(&self) -> Option<Span> {
        let settled = !self.window.in_slow_start() && self.rounds >= self.transition;
        self.target_rtt.filter(|_| settled)
    }

    /// Growth by what arrived unmarked.
    fn grow(&mut self, unmarked: Bytes) {
        let mut rest = unmarked;
        if self.window.in_slow_start() {
            rest = self.window.slow_start(unmarked, unmarked);
            self.target = self.target.max(self.window.cwnd.as_f64() / self.mss.as_f64());
        }
        // One segment per window, times the scale: also while the window comes down, which keeps marks from saturating.
        let segments = rest.as_f64() / self.mss.as_f64();
        self.target += segments * self.increase / libm::ceil(self.target).max(1.0);
    }

    /// One step of the window in force towards the target.
    fn step(&mut self) {
        let wanted = Bytes((libm::ceil(self.target) * self.mss.as_f64()) as u64);
        let least = Bytes((MIN_WINDOW * self.mss.as_f64()) as u64);
        if self.window.cwnd > wanted && self.window.cwnd > least {
            self.window.cwnd = self.window.cwnd.saturating_sub(self.mss).max(wanted).max(least);
            self.window.ssthresh = self.window.cwnd;
        } else if self.window.cwnd < wanted {
            self.window.cwnd = self.window.cwnd.saturating_add(self.mss).min(wanted);
        }
    }

    /// A round trip, or the target if that is longer, has passed: alpha and the scale of growth.
    fn end_round(&mut self, view: &View) {
        let waits = self.pause().is_some_and(|pause| view.now.since(self.round_began) < pause);
        if view.snd_una < self.round_end || waits {
            return;
        }
        if self.marks_seen {
            let delivered = view.delivered.saturating_sub(self.delivered).0.max(1);
            let marked = view.delivered_ce.saturating_sub(self.marked);
            let share = (marked.as_f64() / delivered as f64).min(1.0);
            // RFC 8257 §3.3 step 6: alpha = alpha (1 - g) + g F
            self.alpha += self.gain * (share - self.alpha);
            self.classic.end_round(view);
        }
        (self.delivered, self.marked) = (view.delivered, view.delivered_ce);
        self.round_end = view.snd_nxt;
        self.round_began = view.now;
        self.rounds += u64::from(!self.window.in_slow_start());
        self.increase = self.scale();
    }

    /// Growth per window: (RTT / target)^2 gives all RTTs below the target the same gain in rate per second.
    fn scale(&self) -> f64 {
        match (self.pause(), self.srtt) {
            (Some(target), Some(rtt)) if rtt < target => {
                let part = rtt.as_secs_f64() / target.as_secs_f64();
                part * part
            }
            _ => 1.0,
        }
    }

    /// alpha / 2 of the window, at most once per round trip and target.
    fn reduce_on_marks(&mut self, now: Time) {
        if self.pause().is_some_and(|pause| now.since(self.reduced_at) < pause) {
            return;
        }
        self.reduced_at = now;
        let alpha = if self.falls_back { self.alpha.max(self.classic.alpha()) } else { self.alpha };
        self.target = (self.target * (1.0 - alpha / 2.0)).max(1.0);
    }

    fn reduce_on_loss(&mut self, event: &Congestion, view: &View) {
        self.in_loss = true;
        if event.first {
            self.before_loss = self.target;
            self.target = (self.target / 2.0).max(1.0);
            // Departs from the kernel, which leaves ssthresh after a time-out: slow start would go on beyond the loss.
            self.window.ssthresh = Bytes((self.target * view.mss.as_f64()) as u64).max(view.mss * 2);
        }
        if event.cause == Cause::Timeout {
            self.window.cwnd = event.loss_window;
        }
    }
}

impl CongestionControl for Prague {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.srtt = view.srtt.or(self.srtt);
        self.pipe = view.pipe;
        self.classic.on_ack(ack, self.window.ssthresh.segments(view.mss));
        self.marks_seen |= ack.ce > Bytes::ZERO || ack.echo;
        self.in_loss &= view.state != State::Open;
        let unmarked = ack.acked.saturating_sub(ack.ce);
        if unmarked > Bytes::ZERO && !self.in_loss && view.cwnd_limited {
            self.grow(unmarked);
        }
        self.step();
        self.end_round(view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        if event.cause == Cause::Ecn {
            self.reduce_on_marks(view.now);
        } else {
            self.reduce_on_loss(event, view);
        }
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_undo(&mut self, before: Window, _view: &View) {
        self.in_loss = false;
        self.target = self.target.max(self.before_loss);
        self.window.restore(before);
    }

    /// The window in force per RTT, or what is in flight if that is more, twice as much far below ssthresh. As in Linux the
    /// rate counts headers and the pacer does not.
    fn pacing_rate(&self) -> Option<Rate> {
        let payload = self.window.cwnd.max(self.pipe).as_f64();
        let bytes = payload * (self.mss + HEADERS).as_f64() / self.mss.as_f64();
        let twice = self.window.cwnd < self.window.ssthresh / 2;
        self.srtt.map(|srtt| Rate::of(Bytes(if twice { 2.0 * bytes } else { bytes } as u64), srtt))
    }

    /// Bursts of 1/4096 s, whole segments and at least one (tcp_prague's prague_burst_shift).
    fn send_quantum(&self) -> Option<Bytes> {
        let segment = (self.mss + HEADERS).0;
        let segments = self.pacing_rate().map_or(0, |rate| (rate.as_bps() / 8 / segment) >> BURST_SHIFT);
        Some(self.mss * segments.max(1))
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("alpha", self.alpha);
        put("target", self.target);
        put("classic_ecn", self.classic.classic());
        put("increase", self.increase);
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS, near};
    use super::*;
    use crate::cc::parameters::Value;

    fn prague(changed: &[(&str, Value)], cwnd: u64) -> Driver {
        Driver::new("prague", "linux", changed, cwnd, Some(cwnd))
    }

    /// Alpha 0.1 and 50 segments give 47.5.
    #[test]
    fn marks_take_half_of_alpha() {
        let mut prague = prague(&[("first_alpha", Value::Number(0.1))], 50);
        prague.congestion(Cause::Ecn);
        assert!(near(prague.internal("target"), 47.5));
        assert_eq!(prague.cwnd(), 50.0);
        for cwnd in [49.0, 48.0, 48.0] {
            prague.ack_with(&Ack { acked: MSS, ce: MSS, ..Ack::default() });
            assert_eq!((prague.cwnd(), prague.ssthresh()), (cwnd, cwnd));
        }
    }

    /// An RTT of 5 ms grows by 0.04 of a segment per window.
    #[test]
    fn a_short_rtt_grows_by_the_square_of_its_part_of_the_target() {
        for (rtt, scale) in [(5.0, 0.04), (25.0, 1.0), (80.0, 1.0)] {
            let mut prague = prague(&[("transition", Value::Number(0.0))], 50);
            for _ in 0..2 {
                prague.pass(Span::from_millis(30));
                prague.ack(1, Some(rtt));
            }
            assert!(near(prague.internal("increase"), scale), "{rtt}");
            let before = prague.internal("target");
            prague.ack(1, Some(rtt));
            assert!(near(prague.internal("target") - before, scale / libm::ceil(before)), "{rtt}");
        }
    }

    #[test]
    fn unmarked_segments_make_it_grow_on_the_way_down_too_and_marked_ones_never() {
        let mut prague = prague(&[], 50);
        prague.congestion(Cause::Ecn);
        assert!(near(prague.internal("target"), 25.0));
        prague.ack_with(&Ack { acked: MSS * 2, ce: MSS, ..Ack::default() });
        assert!(near(prague.internal("target"), 25.0 + 1.0 / 25.0));
        prague.ack_with(&Ack { acked: MSS * 2, ce: MSS * 2, ..Ack::default() });
        assert!(near(prague.internal("target"), 25.0 + 1.0 / 25.0));
    }

    /// 50 segments of 1000 B and 52 B of headers each in 20 ms; a window whose target has fallen to one segment is two.
    #[test]
    fn it_paces_the_window_with_headers_and_never_less_than_two_segments_per_rtt() {
        let mut prague = prague(&[], 50);
        prague.ack(1, Some(20.0));
        let rate = |segments: u64| Some(Rate::of(Bytes(segments * 1052), Span::from_millis(20)));
        assert_eq!((MSS, prague.cc.pacing_rate()), (Bytes(1000), rate(prague.cwnd() as u64)));
        prague.view.pipe = MSS * 60;
        prague.ack(1, Some(20.0));
        assert_eq!(prague.cc.pacing_rate(), rate(60));
        prague.view.pipe = MSS;
        for _ in 0..60 {
            prague.congestion(Cause::Ecn);
            prague.ack_with(&Ack { acked: MSS, ce: MSS, ..Ack::default() });
        }
        assert!(near(prague.internal("target"), 1.0));
        assert_eq!((prague.cwnd(), prague.cc.pacing_rate()), (2.0, rate(2)));
    }

    /// At 20 ms, a segment lasts longer than 1/4096 s up to a window of 81 and a third of it at 250.
    #[test]
    fn a_burst_is_what_it_sends_in_a_quarter_of_a_millisecond() {
        for (cwnd, segments) in [(10, 1), (81, 1), (170, 2), (250, 3)] {
            let mut prague = prague(&[], cwnd);
            prague.ack_with(&Ack { acked: MSS, ce: MSS, ..Ack::default() });
            prague.ack(1, Some(20.0));
            assert_eq!(prague.cc.send_quantum(), Some(MSS * segments), "{cwnd}");
        }
    }

    #[test]
    fn alpha_waits_for_the_first_mark_and_then_follows_their_share() {
        let mut prague = prague(&[], 100);
        prague.ack(100, Some(80.0));
        assert_eq!(prague.internal("alpha"), 1.0);
        prague.view.delivered_ce += MSS * 25;
        prague.ack_with(&Ack { acked: MSS * 100, ce: MSS * 25, ..Ack::default() });
        assert!(near(prague.internal("alpha"), 0.953125));
    }

    #[test]
    fn losses_halve_and_hold_until_the_episode_is_over() {
        let mut prague = prague(&[], 40);
        let before = prague.cc.window();
        prague.congestion(Cause::Rack);
        assert!(near(prague.internal("target"), 20.0));
        prague.ack(1, None);
        assert!(near(prague.internal("target"), 20.0), "no growth in the episode");
        assert_eq!(prague.cwnd(), 39.0);
        prague.cc.on_undo(before, &prague.view);
        assert!(near(prague.internal("target"), 40.0));
        prague.congestion(Cause::Timeout);
        assert_eq!(prague.cwnd(), 1.0);
    }
}
