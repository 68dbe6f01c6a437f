//! What every algorithm keeps, whatever happens: each profile against long random sequences of legal events.
//!
//! cwnd is at least one segment and stays finite, as does every observed value. Classic algorithms keep more: the
//! window is not larger after congestion or silence, grows only where growth is allowed, and never shrinks on an ACK.
//! Sizes, times and parameters are drawn from the extremes.

use std::collections::BTreeSet;

use tcp::SeqNo;
use tcp::cc::{
    ALGORITHMS, Ack, Algorithm, Cause, CcConfig, Congestion, CongestionControl, Head, Internal, Lost, ParamKind,
    RateSample, RttSample, Sent, Setup, State, Value, View, Window,
};
use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

const RUNS: u64 = 100;
const STEPS: u64 = 5_000;
/// No window that an ACK of a gigabyte at a time can bring about in `STEPS` steps comes near.
const SANE: Bytes = Bytes(1 << 50);

/// Algorithms whose window nothing but congestion and silence takes down.
const CLASSIC: [&str; 12] =
    ["tahoe", "reno", "newreno", "cubic", "bic", "highspeed", "scalable", "htcp", "hybla", "veno", "illinois", "cdg"];

/// A whole number from `low` to `high`, the same chance for each order of magnitude.
fn spread(rng: &mut Rng, low: u64, high: u64) -> u64 {
    let (a, b) = (libm::log(low as f64), libm::log(high as f64));
    (libm::exp(a + (b - a) * rng.uniform()) as u64).clamp(low, high)
}

/// Mostly the ends of the range that break things: nothing, a nanosecond, 100 s.
fn span(rng: &mut Rng) -> Span {
    match rng.below(8) {
        0 => Span::from_nanos(1),
        1 => Span::from_millis(100_000),
        _ => Span::from_nanos(spread(rng, 1, 100_000_000_000)),
    }
}

fn rtt(rng: &mut Rng) -> Option<RttSample> {
    let latest = rng.chance(0.8).then(|| span(rng))?;
    Some(RttSample { latest, oldest: latest + Span::from_millis(rng.below(200)) })
}

/// The profile as it is, or with parameters anywhere in their ranges.
fn cc_config(rng: &mut Rng, algorithm: &Algorithm, profile: &str) -> CcConfig {
    let mut overrides = Vec::new();
    for param in algorithm.params {
        let value = match param.kind {
            ParamKind::Number { min, max } => Value::Number(min + (max - min) * rng.uniform()),
            ParamKind::Flag => Value::Flag(rng.chance(0.5)),
        };
        if rng.chance(0.2) {
            overrides.push((param.name.to_owned(), value));
        }
    }
    let overrides = if rng.chance(0.5) { &overrides[..] } else { &[] };
    CcConfig::by_name(algorithm.name, Some(profile), overrides).expect("values are in range")
}

/// A sender's outside: enough of it to tell an algorithm a consistent story.
struct World {
    rng: Rng,
    cc: Box<dyn CongestionControl>,
    view: View,
    cwnd: Bytes,
    classic: bool,
    slow_starts: bool,
    internals: &'static [Internal],
    /// What it has shown of itself.
    observed: BTreeSet<&'static str>,
    /// The window before the episode under way.
    undone: Option<Window>,
}

impl World {
    fn new(mut rng: Rng, algorithm: &Algorithm, profile: &str) -> World {
        let mss = Bytes(match rng.below(4) {
            0 => 1,
            1 => 65_535,
            _ => spread(&mut rng, 1, 65_535),
        });
        let initial_window = mss * (1 + rng.below(64));
        let initial_ssthresh = if rng.chance(0.5) { Bytes::MAX } else { mss * spread(&mut rng, 2, 1 << 20) };
        let handshake_rtt = rng.chance(0.5).then(|| span(&mut rng));
        let (paced, seed) = (rng.chance(0.5), rng.next_u64());
        let setup = Setup { initial_ssthresh, handshake_rtt, paced, seed, ..Setup::plain(mss, initial_window) };
        let mut cc = cc_config(&mut rng, algorithm, profile).build(&setup);
        let view = View {
            mss,
            snd_una: SeqNo::FIRST_DATA,
            snd_nxt: SeqNo::FIRST_DATA,
            rwnd: Bytes(1 << 30),
            ..View::default()
        };
        let classic = CLASSIC.contains(&algorithm.name);
        let cwnd = cc.window().cwnd;
        let internals = algorithm.internals;
        let slow_starts = algorithm.name == "tahoe";
        World { rng, cc, view, cwnd, classic, slow_starts, internals, observed: BTreeSet::new(), undone: None }
    }

    /// Time passes and everything that the algorithm does not decide is drawn anew.
    fn advance(&mut self) {
        if self.rng.chance(0.7) {
            let pause = span(&mut self.rng);
            self.view.now = self.view.now + pause;
        }
        let view = &mut self.view;
        view.flight = Bytes(self.rng.below(self.cwnd.0 + 1));
        view.pipe = view.flight;
        view.lost = Bytes(self.rng.below(view.flight.0 + 1));
        view.app_limited = self.rng.chance(0.2);
        view.slow_start_after_idle = self.rng.chance(0.5);
        view.snd_nxt = view.snd_nxt.max(view.snd_una + view.flight);
        view.rto = span(&mut self.rng);
        view.srtt = self.rng.chance(0.9).then(|| span(&mut self.rng));
        view.min_rtt = view.srtt;
        view.cwnd_limited = self.rng.chance(0.7);
        view.may_grow = !matches!(view.state, State::Cwr | State::Recovery) && view.cwnd_limited;
    }

    fn step(&mut self) {
        self.advance();
        self.call_timer();
        match self.rng.below(44) {
            40 => self.lost(),
            41..=43 => self.sent(),
            0 if self.rng.chance(0.2) => self.congestion(Cause::HeadTimeout),
            0 => self.congestion(Cause::DupAck),
            1 if self.rng.chance(0.3) => self.congestion(Cause::Timeout),
            2 => self.idle(),
            3 if self.rng.chance(0.5) => self.congestion(Cause::Ecn),
            4 => self.undo(),
            5..=7 => self.duplicate(),
            _ => self.new_data(),
        }
        let window = self.cc.window();
        assert!(window.cwnd >= self.view.mss, "{window:?} is below one segment of {:?}", self.view.mss);
        assert!(window.cwnd < SANE, "{window:?}");
        assert!(window.ssthresh >= self.view.mss, "{window:?}");
        let (internals, observed) = (self.internals, &mut self.observed);
        self.cc.observe(&mut |name, value| {
            assert!(value.is_finite(), "{name} = {value}");
            assert!(internals.iter().any(|internal| internal.name == name), "{name} is not in the list of internals");
            observed.insert(name);
        });
        self.cwnd = window.cwnd;
    }

    /// The algorithm's deadline, if it has one and it has passed.
    fn call_timer(&mut self) {
        if self.cc.next_timer().is_some_and(|at| at <= self.view.now) {
            self.cc.on_timer(&self.view);
        }
    }

    fn sent(&mut self) {
        let (now, seq, pipe) = (self.view.now, self.view.snd_nxt, self.view.pipe + self.view.mss);
        let retransmission = self.rng.chance(0.2);
        self.cc.on_sent(&Sent { now, seq, bytes: self.view.mss, pipe, retransmission });
    }

    fn lost(&mut self) {
        let bytes = Bytes(1 + self.rng.below(self.view.mss.0));
        self.view.lost_total += bytes;
        let lost = Lost {
            seq: self.view.snd_una + Bytes(self.rng.below(self.view.flight.0 + 1)),
            bytes,
            sent_at: self.earlier(),
            tx_in_flight: self.view.pipe,
            lost_since: bytes + Bytes(self.rng.below(1_000_000)),
            app_limited: self.view.app_limited,
        };
        self.cc.on_lost(&lost, &self.view);
    }

    fn earlier(&mut self) -> Time {
        Time::from_nanos(self.rng.below(self.view.now.as_nanos() + 1))
    }

    /// What the rate sampler might say.
    fn rate(&mut self) -> Option<RateSample> {
        let interval = span(&mut self.rng);
        let delivered = Bytes(self.rng.below(self.view.delivered.0 + 1));
        self.rng.chance(0.8).then(|| RateSample {
            rate: self.rng.chance(0.8).then(|| Rate::of(delivered, interval)),
            delivered,
            prior_delivered: self.view.delivered - delivered,
            interval,
            sent_at: self.earlier(),
            tx_in_flight: Bytes(self.rng.below(self.cwnd.0 + 1)),
            lost: Bytes(self.rng.below(self.view.lost_total.0 + 1)),
            app_limited: self.rng.chance(0.2),
        })
    }

    fn new_data(&mut self) {
        let acked = match self.rng.below(10) {
            0 => Bytes(1),
            1 => Bytes(1_000_000_000),
            2 => Bytes(spread(&mut self.rng, 1, 1_000_000_000)),
            3 => self.cwnd,
            _ => self.view.mss * (1 + self.rng.below(2)),
        };
        let view = &mut self.view;
        view.snd_una += acked;
        view.snd_nxt = view.snd_nxt.max(view.snd_una);
        view.delivered += acked;
        view.round_start = self.rng.chance(0.1);
        view.round += u64::from(view.round_start);
        if self.rng.chance(0.2) {
            self.leave_episode();
        }
        let acked_segments = acked.0.div_ceil(self.view.mss.0) as u32;
        let partial = self.view.state != State::Open;
        let rtt = rtt(&mut self.rng);
        let prior_flight = self.view.flight + acked;
        let ce = if self.rng.chance(0.3) { Bytes(self.rng.below(acked.0 + 1)) } else { Bytes::ZERO };
        self.view.delivered_ce += ce;
        let ack = Ack {
            acked,
            acked_segments,
            cumulative_segments: acked_segments,
            partial,
            rtt,
            one_way: self.rng.chance(0.7).then(|| span(&mut self.rng)),
            prior_flight,
            prior_pipe: prior_flight,
            echo: ce > Bytes::ZERO,
            ce,
            rate: self.rate(),
            ..Ack::default()
        };
        self.ack(&ack);
    }

    fn duplicate(&mut self) {
        if self.view.state == State::Open {
            self.view.state = State::Disorder;
        }
        let duplicate = 1 + self.rng.below(100) as u32;
        self.ack(&Ack { duplicate, prior_flight: self.view.flight, ..Ack::default() });
    }

    fn ack(&mut self, ack: &Ack) {
        let before = self.cc.window();
        let may_grow = self.view.may_grow && ack.acked > Bytes::ZERO;
        self.cc.on_ack(ack, &self.view);
        let after = self.cc.window();
        if self.cc.wants_reduction() && self.view.state < State::Cwr {
            self.congestion(Cause::Algorithm);
        }
        if !self.classic {
            return;
        }
        assert!(after.cwnd >= before.cwnd, "{before:?} shrank to {after:?} on {ack:?}");
        // Tahoe's recovery is slow start: by SACK too, a segment for an ACK that goes forward.
        let repairs = self.slow_starts && self.view.state == State::Recovery && ack.cumulative_segments > 0;
        let most = if repairs { before.cwnd + self.view.mss } else { before.cwnd };
        assert!(may_grow || after.cwnd <= most, "{before:?} grew to {after:?} on {ack:?}");
    }

    fn leave_episode(&mut self) {
        let was = std::mem::take(&mut self.view.state);
        self.view.may_grow = self.view.cwnd_limited;
        self.undone = None;
        if matches!(was, State::Cwr | State::Recovery) {
            self.cc.on_recovery_end(&self.view);
        }
    }

    fn congestion(&mut self, cause: Cause) {
        let before = self.cc.window();
        let state_before = self.view.state;
        if cause != Cause::Timeout && matches!(state_before, State::Cwr | State::Recovery) {
            return;
        }
        let first = cause != Cause::Timeout || state_before != State::Loss || self.rng.chance(0.5);
        self.view.pipe = Bytes(self.rng.below(before.cwnd.0 / 2 + 1));
        let loss_window = self.view.mss + if self.rng.chance(0.5) { self.view.pipe } else { Bytes::ZERO };
        self.view.may_grow = false;
        let flight = self.view.flight;
        let head = Some(Head { sent_at: self.earlier(), transmissions: 1 + self.rng.below(4) as u32 });
        let event =
            Congestion { cause, state_before, flight, first, again: !first && cause == Cause::Rack, loss_window, head };
        self.cc.on_congestion(&event, &self.view);
        let after = self.cc.window();
        if self.classic {
            // RFC 5681 eq. 4: two segments are the floor.
            assert!(after.cwnd <= before.cwnd.max(self.view.mss * 2), "{before:?} grew to {after:?} on {cause:?}");
            assert!(first || after.ssthresh == before.ssthresh, "{before:?} to {after:?}: ssthresh once per episode");
        }
        self.undone = if first { Some(before) } else { self.undone };
        self.view.state = match cause {
            Cause::Timeout => State::Loss,
            Cause::Ecn | Cause::Algorithm => State::Cwr,
            _ => State::Recovery,
        };
    }

    /// The episode under way was spurious.
    fn undo(&mut self) {
        let Some(before) = self.undone.take() else { return };
        let reduced = self.cc.window();
        self.cc.on_undo(before, &self.view);
        self.view.state = State::Open;
        let after = self.cc.window();
        if !self.classic {
            return;
        }
        assert!(after.cwnd >= reduced.cwnd, "{reduced:?} shrank to {after:?} by undoing");
        assert!(after.cwnd <= before.cwnd.max(reduced.cwnd), "{before:?}, {reduced:?} grew to {after:?} by undoing");
    }

    fn idle(&mut self) {
        self.leave_episode();
        let before = self.cc.window();
        let silence = span(&mut self.rng);
        self.view.now = self.view.now + silence;
        self.view.flight = Bytes::ZERO;
        self.view.pipe = Bytes::ZERO;
        self.view.snd_una = self.view.snd_nxt;
        self.cc.on_idle(silence, &self.view);
        let after = self.cc.window();
        assert!(!self.classic || after.cwnd <= before.cwnd, "{before:?} grew to {after:?} after silence");
    }
}

#[test]
fn every_algorithm_keeps_the_contract_in_every_profile() {
    for algorithm in ALGORITHMS {
        let mut observed = BTreeSet::new();
        for profile in algorithm.profiles {
            for seed in 0..RUNS {
                let rng = Rng::stream(seed, &format!("contract/{}/{}", algorithm.name, profile.name));
                let mut world = World::new(rng, algorithm, profile.name);
                for _ in 0..STEPS {
                    world.step();
                }
                observed.append(&mut world.observed);
            }
        }
        let unseen = algorithm.internals.iter().filter(|internal| !observed.contains(internal.name));
        assert_eq!(unseen.map(|internal| internal.name).collect::<Vec<_>>(), [""; 0], "{}", algorithm.name);
    }
}

#[test]
fn the_same_events_give_the_same_windows() {
    for algorithm in ALGORITHMS {
        for profile in algorithm.profiles {
            let windows = || {
                let mut world = World::new(Rng::stream(1, "contract/repeat"), algorithm, profile.name);
                let windows = (0..STEPS).map(|_| (world.step(), world.cc.window()).1);
                windows.collect::<Vec<_>>()
            };
            assert!(windows() == windows(), "{} {}", algorithm.name, profile.name);
        }
    }
}
