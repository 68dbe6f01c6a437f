//! What one station hears: signals on their way and in the air, the frame it is locked
//! on, whether the medium is busy, and the reservations it has heard of.
//!
//! Lazy: signals are noted when they are sent and looked at when the station acts. Every rule depends on physical times
//! alone, so the order in which stations are looked at changes nothing.

mod reception;

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::backoff::Backoff;
use super::energy::{EnergyMeter, RadioState, RxCriterion};
use super::errors::{PhyHeader, RateMode, ReceptionState};
use crate::ids::StationId;

/// A signal makes the medium busy for decisions this long after it begins: those of the same slot go ahead.
const GUARD: Span = Span::from_nanos(5);
/// The end of time.
const NEVER: Time = Time::from_nanos(u64::MAX);

/// How frames are received, and when the medium is busy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Reception {
    /// ns-2: thresholds of power, and the first frame survives what is weaker by a ratio. Powers in watts.
    Capture { carrier_sense: f64, receive: f64, ratio: f64 },
    /// The worst ratio of the signal to noise and interference decides. Powers in watts.
    Sinr { sensitivity: f64, energy_detect: f64, noise: f64 },
    /// Bits survive by chance, at the ratio of the moment; a frame is noticed above a ratio. Powers in watts.
    Errors { sensitivity: f64, energy_detect: f64, noise: f64, preamble_detection: f64 },
}

impl Reception {
    /// Signals below this power are never read.
    pub(super) fn min_readable_power(&self) -> f64 {
        match *self {
            Reception::Capture { receive, .. } => receive,
            Reception::Sinr { sensitivity, .. } | Reception::Errors { sensitivity, .. } => sensitivity,
        }
    }

    /// Frames that need this ratio are readable from this power on, without interference.
    pub(super) fn min_rx_power(&self, ratio: f64) -> f64 {
        match *self {
            Reception::Capture { receive, .. } => receive,
            Reception::Sinr { sensitivity, noise, .. } | Reception::Errors { sensitivity, noise, .. } => {
                sensitivity.max(noise * ratio)
            }
        }
    }
}

/// The times and rules that a station goes by.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MacTiming {
    pub(super) slot: Span,
    pub(super) difs: Span,
    pub(super) eifs: Span,
    pub(super) reception: Reception,
    pub(super) rate_modes: Vec<RateMode>,
    pub(super) preamble: PhyHeader,
}

/// A frame on its way to one station, or arriving there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    /// The frame's number: the same at all stations.
    pub(super) number: u64,
    pub(super) from: StationId,
    pub(super) start: Time,
    pub(super) end: Time,
    /// Power in watts.
    pub(super) power: f64,
    /// Index of its rate.
    pub(super) rate_index: u8,
    /// The station is to hear of its end.
    pub(super) wanted: bool,
    /// How long it reserves the medium beyond its end, for stations that it is not meant for.
    pub(super) duration: Span,
    /// An RTS reserves it for so long only if nobody answers.
    pub(super) nav_timeout: Option<Span>,
    pub(super) state: SignalState,
}

/// What has become of an arrival.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum SignalState {
    /// It has not begun.
    Pending,
    /// It is in the air; the worst ratio so far.
    Readable(f64),
    /// It is in the air and cannot be read any more.
    Unreadable,
}

/// One station's ear.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// Signals that have not begun, by start and sender.
    pending: VecDeque<Signal>,
    /// Signals in the air, by number, so that powers add up to the same sum whenever they are looked at. Few: what has
    /// ended is gone from here, and what has not begun would only be passed over.
    on_air: Vec<Signal>,
    /// Nothing starts or ends here before.
    next_boundary_at: Time,
    /// Number of the frame the receiver is locked on; after a collision in ns-2 the one that ends last.
    lock: Option<u64>,
    reception_state: ReceptionState,
    /// Its own transmission ends then.
    transmitting_until: Option<Time>,
    idle_since: Time,
    nav: Time,
    /// An RTS reserved the medium: until when if unanswered, until when if something follows it.
    rts_nav: Option<(Time, Time)>,
    /// The last frame was bad: EIFS applies.
    eifs_applies: bool,
    /// Frames that ended, of those the station wanted to hear of.
    ended: Vec<(u64, bool)>,
    /// Draws the fate of frames.
    rng: Rng,
    /// What the radio consumes, if that is modelled.
    pub(super) meter: Option<EnergyMeter>,
    /// It consumes as much as when it receives: it assesses the medium (802.15.4).
    pub(super) assessing: bool,
}

/// What happens next at a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Boundary {
    OwnEnd,
    /// Of a signal in the air, by its place there.
    End(usize),
    /// Of the first that is coming.
    Start,
}

impl Receiver {
    pub(super) fn new(rng: Rng) -> Receiver {
        Receiver {
            pending: VecDeque::new(),
            on_air: Vec::new(),
            next_boundary_at: Time::ZERO,
            lock: None,
            reception_state: ReceptionState::default(),
            transmitting_until: None,
            idle_since: Time::ZERO,
            nav: Time::ZERO,
            rts_nav: None,
            eifs_applies: false,
            ended: Vec::new(),
            rng,
            meter: None,
            assessing: false,
        }
    }

    /// True while something is received or sent, or in the air strongly enough.
    pub(super) fn busy(&self, reception: &Reception) -> bool {
        self.transmitting_until.is_some() || self.lock.is_some() || self.energy_detected(reception)
    }

    pub(super) fn transmitting(&self) -> bool {
        self.transmitting_until.is_some()
    }

    /// True if the medium is reserved at `now`.
    pub(super) fn nav_busy(&self, now: Time) -> bool {
        self.nav > now
    }

    /// When the medium is, or was, free for slots to be counted, if it is idle.
    pub(super) fn ifs_end(&self, timing: &MacTiming) -> Time {
        self.idle_since.max(self.nav) + if self.eifs_applies { timing.eifs } else { timing.difs }
    }

    /// How the wanted frame `number` ended; it must have.
    pub(super) fn take_result(&mut self, number: u64) -> bool {
        let index = self.ended.iter().position(|(n, _)| *n == number).expect("a frame ends once, when it is over");
        self.ended.swap_remove(index).1
    }

    /// Notes a frame that will arrive.
    pub(super) fn add_signal(&mut self, signal: Signal) {
        self.next_boundary_at = self.next_boundary_at.min(signal.start + GUARD);
        // Signals come in the order of their starts, but for their delays on the way.
        let later = |other: &Signal| (other.start, other.from) > (signal.start, signal.from);
        self.pending.push_back(signal);
        let mut index = self.pending.len() - 1;
        while index > 0 && later(&self.pending[index - 1]) {
            self.pending.swap(index - 1, index);
            index -= 1;
        }
    }

    /// So many signals are not looked at yet.
    pub(super) fn pending_signals(&self) -> usize {
        self.pending.len()
    }

    /// Looks at everything that has happened up to `now`; starts of signals strictly before.
    pub(super) fn advance_to(&mut self, now: Time, timing: &MacTiming, backoff: &mut Backoff) {
        while self.next_boundary_at <= now {
            if self.receive_alone(now, timing, backoff) {
                continue;
            }
            let Some((at, boundary)) = self.next_boundary() else {
                self.next_boundary_at = NEVER;
                return;
            };
            self.next_boundary_at = at;
            if at > now || (at == now && boundary == Boundary::Start) {
                return;
            }
            if self.meter.is_some() && self.consume(at, boundary) {
                continue;
            }
            let (was_busy, ifs_end) = (self.busy(&timing.reception), self.ifs_end(timing));
            match boundary {
                Boundary::Start => self.start(at, timing),
                Boundary::End(index) => self.end(index, at, timing),
                Boundary::OwnEnd => {
                    self.transmitting_until = None;
                    self.eifs_applies = false;
                }
            }
            match (was_busy, self.busy(&timing.reception)) {
                (false, true) => backoff.freeze(at, ifs_end, timing.slot),
                (true, false) => self.idle_since = at,
                _ => {}
            }
        }
    }

    /// Books what the radio did up to the next change; a signal that finds no energy left is forgotten: true.
    fn consume(&mut self, at: Time, boundary: Boundary) -> bool {
        // The guard decides who may send, not how long a signal lasts.
        let from = self.pending.front().filter(|_| boundary == Boundary::Start).map_or(at, |signal| signal.start);
        let state = self.state();
        let Some(meter) = &mut self.meter else { return false };
        meter.account(from, state);
        if boundary != Boundary::Start || !meter.is_empty() {
            return false;
        }
        if let Some(signal) = self.pending.pop_front().filter(|signal| signal.wanted) {
            self.ended.push((signal.number, false));
        }
        true
    }

    /// The meter, read at `now`; the station is settled up to then.
    pub(super) fn read_meter(&mut self, now: Time) -> Option<&mut EnergyMeter> {
        let state = self.state();
        let meter = self.meter.as_mut()?;
        meter.account(now, state);
        Some(meter)
    }

    /// True if the station has no energy left; it has just been looked at.
    pub(super) fn depleted(&self) -> bool {
        self.meter.as_ref().is_some_and(EnergyMeter::is_empty)
    }

    fn state(&self) -> RadioState {
        let receiving = match self.meter.as_ref().map(EnergyMeter::rx_criterion) {
            Some(RxCriterion::Signals { min_power }) => self.on_air.iter().any(|signal| signal.power >= min_power),
            _ => self.lock.is_some(),
        };
        match (self.transmitting_until.is_some(), receiving || self.assessing) {
            (true, _) => RadioState::Tx,
            (false, true) => RadioState::Rx,
            (false, false) => RadioState::Idle,
        }
    }

    /// The earliest start or end that has not been looked at. At one instant ends come first, and then the numbers of the
    /// senders decide: the order in which the engine had them send is no law of nature.
    fn next_boundary(&self) -> Option<(Time, Boundary)> {
        let mut first = self.transmitting_until.map(|end| (end, Boundary::OwnEnd));
        let ends = self.on_air.iter().enumerate().map(|(index, signal)| ((signal.end, signal.from), index));
        if let Some(((end, _), index)) = ends.min()
            && first.is_none_or(|(at, _)| end < at)
        {
            first = Some((end, Boundary::End(index)));
        }
        if let Some(signal) = self.pending.front()
            && first.is_none_or(|(at, _)| signal.start + GUARD < at)
        {
            first = Some((signal.start + GUARD, Boundary::Start));
        }
        first
    }

    fn total_power(&self) -> f64 {
        self.on_air.iter().map(|signal| signal.power).sum()
    }

    fn energy_detected(&self, reception: &Reception) -> bool {
        match reception {
            Reception::Capture { .. } => false,
            Reception::Sinr { energy_detect, .. } | Reception::Errors { energy_detect, .. } => {
                self.total_power() >= *energy_detect
            }
        }
    }

    /// The station sends until `end`; it is settled up to `now`. What it was receiving is lost.
    pub(super) fn send(&mut self, now: Time, end: Time, timing: &MacTiming, backoff: &mut Backoff) {
        self.read_meter(now);
        if !self.busy(&timing.reception) {
            backoff.freeze(now, self.ifs_end(timing), timing.slot);
        }
        if let Some(held) = self.locked() {
            held.state = SignalState::Unreadable;
        }
        if !matches!(timing.reception, Reception::Capture { .. }) {
            self.lock = None;
        }
        self.transmitting_until = Some(end);
        self.next_boundary_at = self.next_boundary_at.min(end);
    }

    /// When the backoff runs out if nothing more is heard; while the medium is busy, not before that. The station is
    /// settled.
    pub(super) fn access(&self, timing: &MacTiming, backoff: &Backoff) -> Option<Time> {
        let slots = backoff.slots?;
        if self.busy(&timing.reception) {
            return Some(self.busy_until() + timing.difs + timing.slot * u64::from(slots));
        }
        let planned = backoff.access(self.ifs_end(timing), timing.slot);
        let pending = self.pending.iter().filter(|_| self.eifs_applies);
        pending.map(|signal| self.early_access(signal, timing, backoff)).chain(planned).min()
    }

    /// The medium is busy at least until then.
    fn busy_until(&self) -> Time {
        let locked = self.lock.and_then(|lock| self.on_air.iter().find(|a| a.number == lock)).map(|a| a.end);
        let in_the_air = self.on_air.iter().map(|a| a.end);
        self.transmitting_until.max(locked).or_else(|| in_the_air.min()).unwrap_or(Time::ZERO)
    }

    /// The earliest access after an arrival that ends well and so puts DIFS in the place of EIFS.
    pub(super) fn early_access(&self, signal: &Signal, timing: &MacTiming, backoff: &Backoff) -> Time {
        let left = if self.busy(&timing.reception) {
            backoff.slots.unwrap_or(0)
        } else {
            let ifs_end = self.idle_since.max(self.nav) + timing.difs;
            backoff.left(signal.start + GUARD, ifs_end, timing.slot)
        };
        signal.end + timing.difs + timing.slot * u64::from(left)
    }
}
