//! BIC: binary search for the window of the last loss (Xu, Harfoush, Rhee 2004), in the Linux kernel's form.
//!
//! After a loss the window approaches its last maximum by a quarter of the distance per round, 16 segments at most, and
//! beyond it probes slowly first and then ever faster. The curve is given as `cnt`, the acknowledged segments that buy
//! one. The kernel shortens `cnt` by the number of segments per ACK, which it takes for two at the start and which
//! truncation keeps near two for undelayed ACKs. The paper's own form (binary search to the midpoint, maximum step 32)
//! is left out: its details were not checked against the paper.

use super::aimd::{Aimd, OF_CWND};
use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::jiffies::{HZ, jiffies};
use super::parameters::{Param, ParamValues, Profile, Value};
use super::reno_window::{SLOW_START_LIMIT, UNLIMITED};
use super::signals::{Ack, Cause, Congestion, State, View};
use super::window::Window;
use crate::units::{Bytes, Span};

/// Binary search for the window.
pub(super) const BIC: Algorithm = Algorithm {
    name: "bic",
    title: "BIC: binary search for the window of the last loss",
    reference: "Xu, Harfoush, Rhee 2004, Binary Increase Congestion Control",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "linux", set: &[], recovery: None },
        Profile { name: "netsim", set: NETSIM, recovery: None },
        Profile { name: "ns3", set: NS3, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Bic::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("w_max", "window before the last loss, segments"),
    Internal::of("cnt", "acknowledged segments that add one"),
    Internal::of("ack_ratio", "segments per ACK"),
];

const NETSIM: &[(&str, Value)] = &[
    // NetSim shows the kernel's parameters for CUBIC; that its BIC is the kernel's too is an inference.
];

const NS3: &[(&str, Value)] = &[
    ("beta", Value::Number(0.8)),
    ("convergence", Value::Number(0.8)),
    // ns-3 asks for less than 14.
    ("low_window", Value::Number(13.0)),
    ("smooth_part", Value::Number(5.0)),
    ("ack_ratio", Value::Flag(false)),
    ("one_more", Value::Flag(true)),
    ("forgets", Value::Flag(false)),
    ("slow_start_limit", Value::Number(1.0)),
];

const PARAMS: &[Param] = &[
    Param::number("beta", 0.1..=0.99, 819.0 / 1024.0)
        .doc("what remains of the window after a loss")
        .source("Linux 819/1024, ns-3 0.8"),
    Param::number("max_increment", 1.0..=1000.0, 16.0)
        .unit("segments")
        .doc("maximum growth of the window per round")
        .source("Linux tcp_bic"),
    Param::number("low_window", 0.0..=1000.0, 14.0)
        .unit("segments")
        .doc("up to this window Reno's growth and cut")
        .source("Linux tcp_bic"),
    Param::number("smooth_part", 1.0..=1000.0, 20.0)
        .unit("rounds")
        .doc("rounds that the last four segments before the maximum take")
        .source("Linux 20, ns-3 5"),
    Param::flag("fast_convergence", true)
        .doc("a loss below the last maximum lowers the maximum, to make room for new flows")
        .source("Xu, Harfoush, Rhee 2004"),
    Param::number("convergence", 0.1..=1.0, 1843.0 / 2048.0)
        .doc("part of the window that the maximum is lowered to")
        .source("Linux (1 + beta) / 2, ns-3 0.8"),
    Param::flag("ack_ratio", true).doc("growth is faster by the number of segments per ACK").source("Linux"),
    Param::flag("one_more", false).doc("waits for one segment more than cnt").source("ns-3"),
    Param::flag("forgets", true).doc("a time-out wipes out what was learned").source("Linux"),
    SLOW_START_LIMIT.default(UNLIMITED),
    OF_CWND.default(Value::Flag(true)),
];

/// The part of the distance to the maximum that a round covers is one in this many (kernel: BICTCP_B).
const SEARCH: u64 = 4;
/// Ticks before `cnt` is worked out again for the same window.
const STALE: u64 = HZ / 32;
/// `cnt` at most this much before the first loss.
const CNT_BEFORE_LOSS: u64 = 20;
/// An ACK counts for no more segments than this. Linux has no bound, but the larger the ratio, the faster the window
/// grows and with it what an ACK covers.
const MAX_PER_ACK: u32 = 65_535;
/// log2 of the scale of the number of segments per ACK.
const RATIO_SHIFT: u32 = 4;

#[derive(Debug)]
struct Bic {
    base: Aimd,
    beta: f64,
    max_increment: u64,
    low_window: u64,
    smooth_part: u64,
    /// None without fast convergence.
    convergence: Option<f64>,
    ack_ratio: bool,
    one_more: bool,
    forgets: bool,
    search: Search,
    /// The state was Open after the last call: the kernel counts an ACK in the state that it finds.
    was_open: bool,
}

/// What a time-out wipes out. Windows in segments, times in ticks.
#[derive(Clone, Debug)]
struct Search {
    cnt: u64,
    /// Window at the last loss; 0 before the first.
    last_max: u64,
    last_cwnd: u64,
    last_time: u64,
    /// Segments per ACK, in 1/16.
    ratio: u64,
}

impl Default for Search {
    fn default() -> Search {
        Search { cnt: 0, last_max: 0, last_cwnd: 0, last_time: 0, ratio: 2 << RATIO_SHIFT }
    }
}

impl Bic {
    fn new(values: &ParamValues, setup: &Setup) -> Bic {
        Bic {
            base: Aimd::new(values, setup),
            beta: values.number("beta"),
            max_increment: values.number("max_increment") as u64,
            low_window: values.number("low_window") as u64,
            smooth_part: values.number("smooth_part") as u64,
            convergence: values.flag("fast_convergence").then(|| values.number("convergence")),
            ack_ratio: values.flag("ack_ratio"),
            one_more: values.flag("one_more"),
            forgets: values.flag("forgets"),
            search: Search::default(),
            was_open: true,
        }
    }

    /// Segments per increment at window `w`, before the division by the segments per ACK.
    fn price(&self, w: u64) -> u64 {
        let last_max = self.search.last_max;
        let slowly = w * self.smooth_part / SEARCH;
        let fastest = w / self.max_increment;
        let price = if w < last_max {
            // A quarter of the distance, within what smooth_part and max_increment allow.
            match (last_max - w) / SEARCH {
                distance if distance > self.max_increment => fastest,
                0 | 1 => slowly,
                distance => w / distance,
            }
        } else if w < last_max + SEARCH {
            slowly
        } else if w < last_max + self.max_increment * (SEARCH - 1) {
            // A third of what the maximum has been passed by.
            w * (SEARCH - 1) / (w - last_max)
        } else {
            fastest
        };
        if last_max == 0 { price.min(CNT_BEFORE_LOSS) } else { price }
    }

    fn update_cnt(&mut self, w: u64, now: u64) {
        if self.search.last_cwnd == w && now - self.search.last_time <= STALE {
            return;
        }
        self.search.last_cwnd = w;
        self.search.last_time = now;
        let cnt = if w <= self.low_window {
            w
        } else if self.ack_ratio {
            (self.price(w) << RATIO_SHIFT) / self.search.ratio
        } else {
            self.price(w)
        };
        self.search.cnt = cnt.max(1);
    }

    fn learn(&mut self, w: u64) {
        let search = &mut self.search;
        search.last_max = match self.convergence {
            // last_max = W (1 + beta) / 2 if W < last_max
            Some(part) if w < search.last_max => (w as f64 * part) as u64,
            _ => w,
        };
    }
}

impl CongestionControl for Bic {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if self.was_open {
            // ratio = 15/16 ratio + 1/16 sample, as integers
            let ratio = self.search.ratio;
            self.search.ratio = ratio - (ratio >> RATIO_SHIFT) + u64::from(ack.cumulative_segments.min(MAX_PER_ACK));
        }
        self.was_open = view.state == State::Open;
        let acked = self.base.slow_start(ack, view);
        if acked > Bytes::ZERO {
            self.update_cnt(self.base.segments(view.mss), jiffies(view.now));
            self.base.grow_per(self.search.cnt + u64::from(self.one_more), acked, view.mss);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.was_open = false;
        let w = self.base.at_loss(event, view.mss);
        let kept = if w as u64 <= self.low_window { w / 2.0 } else { w * self.beta };
        if event.first {
            self.learn(self.base.segments(view.mss));
        }
        if event.cause == Cause::Timeout && self.forgets {
            self.search = Search::default();
        }
        self.base.reduce(kept, event, view.mss);
    }

    fn beta(&self) -> f64 {
        self.beta
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.base.reno.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.base.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("w_max", self.search.last_max as f64);
        put("cnt", self.search.cnt as f64);
        put("ack_ratio", self.search.ratio as f64 / f64::from(1 << RATIO_SHIFT));
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS};
    use super::*;

    /// `cnt` after one ACK at window `w` with a maximum of `last_max`, without the ratio of delayed ACKs.
    fn cnt(w: u64, last_max: u64) -> f64 {
        let setup = Setup { initial_ssthresh: MSS * 2, ..Setup::plain(MSS, MSS * w) };
        let set = [("ack_ratio".to_owned(), Value::Flag(false))];
        let config = crate::cc::config::CcConfig::by_name("bic", Some("linux"), &set).expect("a registered profile");
        let mut bic = Bic::new(&config.values, &setup);
        bic.search.last_max = last_max;
        bic.update_cnt(w, 0);
        bic.search.cnt as f64
    }

    /// A table computed apart from this code by Linux's rule.
    #[test]
    fn cnt_follows_the_branches() {
        let expected = [
            (10, 100, 10.0),
            (14, 100, 14.0),
            (500, 1000, 31.0),
            (79, 100, 15.0),
            (92, 100, 46.0),
            (96, 100, 480.0),
            (99, 100, 495.0),
            (101, 100, 505.0),
            (110, 100, 33.0),
            (150, 100, 9.0),
            (15, 100, 1.0),
            // no loss yet: five per cent a round
            (500, 0, 20.0),
        ];
        for (w, last_max, value) in expected {
            assert_eq!(cnt(w, last_max), value, "{w} {last_max}");
        }
    }

    /// Fast convergence: losses at 100 and then at 80.
    #[test]
    fn a_loss_below_the_maximum_lowers_it() {
        let mut sender = Driver::new("bic", "linux", &[], 100, Some(2));
        sender.congestion(Cause::Sack);
        assert_eq!((sender.internal("w_max"), sender.cwnd()), (100.0, 79.0));
        sender.recovered();
        while sender.cwnd() < 80.0 {
            sender.ack(1, None);
        }
        sender.congestion(Cause::Sack);
        assert_eq!((sender.internal("w_max"), sender.cwnd()), (71.0, 63.0));
        // ns-3: beta 0.8, and 0.8 of the window is the new maximum.
        let mut sender = Driver::new("bic", "ns3", &[], 100, Some(2));
        sender.congestion(Cause::Sack);
        assert_eq!((sender.internal("w_max"), sender.cwnd()), (100.0, 80.0));
        sender.recovered();
        sender.congestion(Cause::Sack);
        assert_eq!((sender.internal("w_max"), sender.cwnd()), (64.0, 64.0));
        // Up to the low window half is taken.
        let mut small = Driver::new("bic", "linux", &[], 14, None);
        small.congestion(Cause::Sack);
        assert_eq!(small.cwnd(), 7.0);
    }

    /// From W to a maximum M a round adds a quarter of the distance, 16 at most; then a fifth of a segment.
    #[test]
    fn a_round_covers_a_quarter_of_the_distance() {
        let mut sender = Driver::new("bic", "linux", &[("ack_ratio", Value::Flag(false))], 1000, Some(2));
        sender.congestion(Cause::Sack);
        sender.recovered();
        let mut rounds = 0;
        while sender.cwnd() < 992.0 {
            let w = sender.cwnd();
            (0..w as u32).for_each(|_| sender.ack(1, None));
            let (growth, formula) = (sender.cwnd() - w, f64::min(16.0, (1000.0 - w) / 4.0));
            // cnt is rounded down, which makes 1/cnt up to 1 in 49 larger for 16 per round; the distance is rounded
            // down to whole quarters and shrinks within the round, at most by a quarter of itself; one segment counted
            // before or after
            assert!((0.7 * formula - 1.0..=1.03 * formula + 1.0).contains(&growth), "{w}: {growth} for {formula}");
            rounds += 1;
        }
        // 799 to 936 in steps of 16 is 9 rounds; ln(64 / 8) / ln(4/3) = 7.2 more, with rounding down 7 to 12
        assert!((16..=21).contains(&rounds), "{rounds}");
        (0..495).for_each(|_| sender.ack(1, None));
        assert!(sender.cwnd() <= 996.0, "{}", sender.cwnd());
    }

    /// Undelayed ACKs: 32/16 falls to 31/16 and stays, so that cnt 15 at W = 79 becomes 15 * 16 / 31 = 7.
    #[test]
    fn truncation_keeps_the_ack_ratio_near_two() {
        let mut sender = Driver::new("bic", "linux", &[], 100, Some(2));
        sender.congestion(Cause::Sack);
        sender.recovered();
        (0..30).for_each(|_| sender.ack(1, None));
        assert_eq!(sender.internal("ack_ratio"), 31.0 / 16.0);
        let mut sender = Driver::new("bic", "linux", &[], 100, Some(2));
        sender.congestion(Cause::Sack);
        sender.recovered();
        (0..7).for_each(|_| sender.ack(1, None));
        assert_eq!((sender.internal("cnt"), sender.cwnd()), (7.0, 80.0));
    }

    #[test]
    fn a_time_out_forgets_the_maximum() {
        let mut sender = Driver::new("bic", "linux", &[], 100, Some(2));
        sender.congestion(Cause::Timeout);
        assert_eq!((sender.cwnd(), sender.ssthresh(), sender.internal("w_max")), (1.0, 79.0, 0.0));
    }
}
