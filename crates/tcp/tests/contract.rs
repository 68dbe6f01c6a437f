//! What every algorithm keeps, whatever happens: each profile against long random sequences of legal events.
//!
//! cwnd is at least one segment and stays finite; it is not larger after congestion or silence, grows only where
//! growth is allowed, and never shrinks on an ACK. Sizes, times and parameters are drawn from the extremes.

use tcp::cc::{
    ALGORITHMS, Ack, Algorithm, Cause, Choice, Congestion, CongestionControl, ParamKind, RttSample, Setup, State,
    Value, View, Window,
};
use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

const RUNS: u64 = 100;
const STEPS: u64 = 5_000;
/// No window that an ACK of a gigabyte at a time can bring about in `STEPS` steps comes near.
const SANE: Bytes = Bytes(1 << 50);

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
fn choice(rng: &mut Rng, algorithm: &Algorithm, profile: &str) -> Choice {
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
    Choice::new(algorithm.name, Some(profile), overrides).expect("values are in range")
}

/// A sender's outside: enough of it to tell an algorithm a consistent story.
struct World {
    rng: Rng,
    cc: Box<dyn CongestionControl>,
    view: View,
    cwnd: Bytes,
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
        let setup = Setup { now: Time::ZERO, mss, initial_window, initial_ssthresh, handshake_rtt };
        let cc = choice(&mut rng, algorithm, profile).build(&setup);
        let view = View { mss, snd_una: 1, snd_nxt: 1, rwnd: Bytes(1 << 30), ..View::default() };
        World { rng, cc, view, cwnd: initial_window, undone: None }
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
        view.snd_nxt = view.snd_nxt.max(view.snd_una + view.flight.0);
        view.rto = span(&mut self.rng);
        view.srtt = self.rng.chance(0.9).then(|| span(&mut self.rng));
        view.min_rtt = view.srtt;
        view.cwnd_limited = self.rng.chance(0.7);
        view.may_grow = !matches!(view.state, State::Cwr | State::Recovery) && view.cwnd_limited;
    }

    fn step(&mut self) {
        self.advance();
        match self.rng.below(40) {
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
        self.cc.observe(&mut |name, value| assert!(value.is_finite(), "{name} = {value}"));
        self.cwnd = window.cwnd;
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
        view.snd_una += acked.0;
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
        self.ack(&Ack { acked, acked_segments, partial, rtt, prior_flight, ..Ack::default() });
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
        self.cc.on_ack(ack, &self.view);
        let after = self.cc.window();
        assert!(after.cwnd >= before.cwnd, "{before:?} shrank to {after:?} on {ack:?}");
        let may_grow = self.view.may_grow && ack.acked > Bytes::ZERO;
        assert!(may_grow || after.cwnd == before.cwnd, "{before:?} grew to {after:?} on {ack:?}");
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
        let event = Congestion { cause, state_before, flight, first, loss_window };
        self.cc.on_congestion(&event, &self.view);
        let after = self.cc.window();
        // RFC 5681 eq. 4: two segments are the floor.
        assert!(after.cwnd <= before.cwnd.max(self.view.mss * 2), "{before:?} grew to {after:?} on {cause:?}");
        assert!(first || after.ssthresh == before.ssthresh, "{before:?} to {after:?}: ssthresh once per episode");
        self.undone = if first { Some(before) } else { self.undone };
        self.view.state = match cause {
            Cause::Timeout => State::Loss,
            Cause::Ecn => State::Cwr,
            _ => State::Recovery,
        };
    }

    /// The episode under way was spurious.
    fn undo(&mut self) {
        let Some(before) = self.undone.take() else { return };
        let reduced = self.cc.window();
        self.cc.on_undo(before, &self.view);
        let after = self.cc.window();
        assert!(after.cwnd >= reduced.cwnd, "{reduced:?} shrank to {after:?} by undoing");
        assert!(after.cwnd <= before.cwnd.max(reduced.cwnd), "{before:?}, {reduced:?} grew to {after:?} by undoing");
        self.view.state = State::Open;
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
        assert!(after.cwnd <= before.cwnd, "{before:?} grew to {after:?} after silence");
    }
}

#[test]
fn every_algorithm_keeps_the_contract_in_every_profile() {
    for algorithm in ALGORITHMS {
        for profile in algorithm.profiles {
            for seed in 0..RUNS {
                let rng = Rng::stream(seed, &format!("contract/{}/{}", algorithm.name, profile.name));
                let mut world = World::new(rng, algorithm, profile.name);
                for _ in 0..STEPS {
                    world.step();
                }
            }
        }
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
