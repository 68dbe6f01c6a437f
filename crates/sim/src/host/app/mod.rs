//! Applications: when they write, and how much. They are independent of the transport.

pub(crate) mod command;
pub(crate) mod conversation;
mod durations;
pub(crate) mod incast;
pub(crate) mod member;
pub(crate) mod page;
pub(crate) mod plans;
pub(crate) mod request_response;
pub(crate) mod responsiveness;
pub(crate) mod rtc;
pub(crate) mod script;
pub(crate) mod transfer;
pub(crate) mod video;
pub(crate) mod voice;

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use member::Member;
use script::Script;

/// An application on the sending side of a flow.
#[derive(Clone, Debug)]
pub(crate) enum App {
    /// One write at the start; `None` is an endless one.
    Bulk { bytes: Option<Bytes> },
    /// Packets at a constant rate.
    Cbr { size: Bytes, ticks: Ticks, phases: Option<Box<Phases>> },
    /// Packets at a constant rate during periods of activity.
    OnOff { size: Bytes, ticks: Ticks, activity: Box<Activity> },
    /// Writes at given times.
    Script(Box<Script>),
    /// A part in a conversation, which says what is written.
    Conversation(Box<Member>),
}

/// Other rates that an application has later on.
#[derive(Clone, Debug)]
pub(crate) struct Phases {
    start: Time,
    /// After the start: when, and the distance of messages in nanoseconds, absent for silence. In the order of time.
    coming: VecDeque<(Span, Option<f64>)>,
}

impl Phases {
    /// These; `None` without any.
    pub(crate) fn of(coming: Vec<(Span, Option<f64>)>) -> Option<Box<Phases>> {
        (!coming.is_empty()).then(|| Box::new(Phases { start: Time::ZERO, coming: coming.into() }))
    }

    /// The next message after `now`, which `ticks` would give unless a phase begins before; `None` if silence lasts.
    fn next(&mut self, now: Time, ticks: &mut Ticks) -> Option<Time> {
        let mut next = Some(ticks.next(now));
        while let Some((at, interval)) = self.coming.front().copied() {
            let begin = self.start + at;
            if next.is_some_and(|next| next < begin) {
                break;
            }
            self.coming.pop_front();
            next = interval.map(|interval| {
                *ticks = Ticks { origin: begin, ..Ticks::every(interval) };
                if begin > now { begin } else { ticks.next(now) }
            });
        }
        next
    }
}

/// When an application of `on_off` is active.
#[derive(Clone, Debug)]
pub(crate) struct Activity {
    on: Period,
    off: Period,
    until: Time,
    rng: Rng,
}

/// Instants at a constant interval, each rounded on its own, so that no error accumulates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    origin: Time,
    interval_nanos: f64,
    count: u64,
}

/// How long a period lasts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Period {
    /// Always the same.
    Constant(Span),
    /// Exponential with this mean.
    Exponential(Span),
    /// Pareto with this mean and shape.
    Pareto(Span, f64),
}

impl Ticks {
    pub(crate) fn every(interval_nanos: f64) -> Ticks {
        Ticks { origin: Time::ZERO, interval_nanos, count: 0 }
    }

    fn restart(&mut self, origin: Time) {
        *self = Ticks { origin, ..Ticks::every(self.interval_nanos) };
    }

    /// The first tick after `now`.
    fn next(&mut self, now: Time) -> Time {
        loop {
            self.count += 1;
            let offset = libm::round(self.count as f64 * self.interval_nanos) as u64;
            let tick = self.origin + Span::from_nanos(offset);
            if tick > now {
                return tick;
            }
            // Blocked for long: skip the ticks that passed, by one division instead of a loop.
            let passed = now.since(self.origin).as_nanos() as f64 / self.interval_nanos;
            self.count = self.count.max(passed as u64);
        }
    }
}

impl Activity {
    pub(crate) fn new(on: Period, off: Period, rng: Rng) -> Activity {
        Activity { on, off, until: Time::ZERO, rng }
    }

    /// A period of activity begins now.
    fn begin(&mut self, now: Time) {
        self.until = now + self.on.sample(&mut self.rng);
    }

    /// After the period of activity, or after `now`, which may be later, comes a pause; the start of the next one.
    fn resume(&mut self, now: Time) -> Time {
        let next = self.until.max(now) + self.off.sample(&mut self.rng);
        self.begin(next);
        next
    }
}

impl Period {
    pub(crate) fn sample(self, rng: &mut Rng) -> Span {
        match self {
            Period::Constant(span) => span,
            Period::Exponential(mean) => Span::from_secs_f64(rng.exponential(mean.as_secs_f64())),
            Period::Pareto(mean, shape) => Span::from_secs_f64(rng.pareto(shape, mean.as_secs_f64())),
        }
    }
}

impl App {
    /// This application where every write is filled up to a multiple of `unit`; its times stay.
    pub(crate) fn with_writes_of(mut self, unit: Bytes) -> App {
        let size = match &mut self {
            App::Bulk { bytes } => bytes.as_mut(),
            App::Cbr { size, .. } | App::OnOff { size, .. } => Some(size),
            App::Conversation(member) => Some(&mut member.unit),
            App::Script(script) => {
                script.fill(unit);
                None
            }
        };
        if let Some(size) = size {
            *size = Bytes(size.0.next_multiple_of(unit.0));
        }
        self
    }

    /// The flow starts now.
    pub(crate) fn start(&mut self, now: Time) {
        match self {
            App::Bulk { .. } | App::Conversation(_) => {}
            App::Cbr { ticks, phases, .. } => {
                ticks.restart(now);
                phases.iter_mut().for_each(|phases| phases.start = now);
            }
            App::OnOff { ticks, activity, .. } => {
                ticks.restart(now);
                activity.begin(now);
            }
            App::Script(script) => script.start(now),
        }
    }

    /// Size of the write at a tick; `None` is an endless one.
    pub(crate) fn write(&self) -> Option<Bytes> {
        match self {
            App::Bulk { bytes } => *bytes,
            App::Cbr { size, .. } | App::OnOff { size, .. } => Some(*size),
            App::Script(script) => Some(script.now),
            App::Conversation(_) => Some(Bytes::ZERO),
        }
    }

    /// The next tick after `now`, if there is one.
    pub(crate) fn next_tick(&mut self, now: Time) -> Option<Time> {
        match self {
            App::Bulk { .. } | App::Conversation(_) => None,
            App::Script(script) => script.next(now),
            App::Cbr { ticks, phases: None, .. } => Some(ticks.next(now)),
            App::Cbr { ticks, phases: Some(phases), .. } => phases.next(now, ticks),
            App::OnOff { ticks, activity, .. } => {
                let tick = ticks.next(now);
                if tick <= activity.until {
                    return Some(tick);
                }
                let resume = activity.resume(now);
                ticks.restart(resume);
                Some(resume)
            }
        }
    }

    /// True if each write is a message, whose delay is measured.
    pub(crate) fn has_messages(&self) -> bool {
        matches!(self, App::Cbr { .. } | App::OnOff { .. } | App::Script(_))
    }

    /// True if the flow ends when its data has been delivered.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            App::Bulk { bytes } => bytes.is_some(),
            App::Cbr { .. } | App::OnOff { .. } | App::Script(_) => false,
            App::Conversation(member) => member.connection == 0 && member.ends,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_do_not_drift() {
        // 300 packets/s: the interval is not a whole number of nanoseconds.
        let mut app = App::Cbr { size: Bytes(100), ticks: Ticks::every(1e9 / 300.0), phases: None };
        let mut now = Time::ZERO;
        app.start(now);
        for _ in 0..3000 {
            now = app.next_tick(now).unwrap();
        }
        assert_eq!(now.as_nanos(), 10_000_000_000);
    }

    /// A write of 4 B or of 200 B is a segment; the rate of writes stays.
    #[test]
    fn writes_are_filled_up_to_whole_segments() {
        for (written, sent) in [(4, 1000), (200, 1000), (1000, 1000), (1001, 2000)] {
            let app = App::Cbr { size: Bytes(written), ticks: Ticks::every(4e7), phases: None };
            assert_eq!(app.clone().with_writes_of(Bytes(1)).write(), Some(Bytes(written)));
            let mut app = app.with_writes_of(Bytes(1000));
            assert_eq!(app.write(), Some(Bytes(sent)));
            assert_eq!(app.next_tick(Time::ZERO), Some(Time::from_nanos(40_000_000)));
        }
    }

    /// 10 messages/s for 0.25 s, silence up to 1 s, then 100 messages/s.
    #[test]
    fn phases_follow_one_another() {
        let phases = Phases::of(vec![(Span::from_millis(250), None), (Span::from_millis(1000), Some(1e7))]);
        let mut app = App::Cbr { size: Bytes(100), ticks: Ticks::every(1e8), phases };
        let (mut now, mut ticks) = (Time::from_nanos(5_000_000_000), Vec::new());
        app.start(now);
        for _ in 0..4 {
            now = app.next_tick(now).unwrap();
            ticks.push(now.as_nanos() / 1_000_000 - 5000);
        }
        assert_eq!(ticks, [100, 200, 1000, 1010]);
        // Blocked meanwhile, it goes on with the phase that it is in.
        let phases = Phases::of(vec![(Span::from_millis(250), None), (Span::from_millis(1000), Some(1e7))]);
        let mut late = App::Cbr { size: Bytes(100), ticks: Ticks::every(1e8), phases };
        late.start(Time::ZERO);
        assert_eq!(late.next_tick(Time::from_nanos(1_203_000_000)), Some(Time::from_nanos(1_210_000_000)));
        let mut ends =
            App::Cbr { size: Bytes(100), ticks: Ticks::every(1e8), phases: Phases::of(vec![(Span::ZERO, None)]) };
        ends.start(Time::ZERO);
        assert_eq!(ends.next_tick(Time::ZERO), None);
    }

    #[test]
    fn ticks_missed_while_blocked_are_skipped() {
        let mut ticks = Ticks::every(1e6);
        assert_eq!(ticks.next(Time::ZERO).as_nanos(), 1_000_000);
        assert_eq!(ticks.next(Time::from_nanos(10_500_000)).as_nanos(), 11_000_000);
    }

    #[test]
    fn on_off_writes_only_while_on() {
        let period = Period::Constant(Span::from_millis(10));
        let mut app = App::OnOff {
            size: Bytes(100),
            ticks: Ticks::every(4e6),
            activity: Box::new(Activity::new(period, period, Rng::stream(1, "app"))),
        };
        app.start(Time::ZERO);
        let mut now = Time::ZERO;
        let ticks: Vec<u64> = std::iter::from_fn(|| {
            now = app.next_tick(now)?;
            Some(now.as_nanos() / 1_000_000)
        })
        .take(6)
        .collect();
        assert_eq!(ticks, [4, 8, 20, 24, 28, 40]);
    }
}
