//! The receiver of one station: signals pending and on the air, the frame it is locked on, clear channel assessment,
//! and the NAV.
//!
//! It is lazy: signals are added when they are transmitted and processed when the station acts. Every rule depends on
//! physical times alone, so the order in which stations are advanced changes nothing.

mod aggregate;
mod reception;
mod signal;

pub(crate) use reception::Reception;
pub(super) use signal::{Obstacle, Signal};

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use self::signal::{OnAir, SignalState};
use super::backoff::Backoff;
use super::energy::{EnergyMeter, RadioState, RxCriterion};
use super::errors::{RateMode, ReceptionState};

/// Time from the start of a signal until it makes the medium busy: stations that transmit in the same slot do not
/// defer.
const GUARD: Span = Span::from_nanos(5);
/// The end of time.
const NEVER: Time = Time::from_nanos(u64::MAX);

/// Timing and reception parameters of a station.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MacTiming {
    pub(super) slot: Span,
    pub(super) difs: Span,
    pub(super) eifs: Span,
    pub(super) reception: Reception,
    /// Probability that a decoded frame is in error all the same, before the MAC sees it.
    pub(super) frame_error: f64,
    pub(super) rate_modes: Vec<RateMode>,
}

/// The receiver of a station.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// Signals that have not started, by start and transmitter.
    pending: VecDeque<Signal>,
    /// Signals on the air, by number, so that the sum of their powers does not depend on when it is computed.
    on_air: Vec<OnAir>,
    /// No signal starts or ends here before this time.
    next_boundary_at: Time,
    /// Number of the frame that the receiver is locked on; after a collision with capture the one that ends last.
    lock: Option<u64>,
    reception_state: ReceptionState,
    aggregates_on_air: u32,
    /// While an aggregate is received, the SINR from instants after its start on.
    ratios: Vec<(Span, f64)>,
    /// End of its own transmission.
    transmitting_until: Option<Time>,
    idle_since: Time,
    nav: Time,
    /// After an RTS: the NAV if no frame follows within NAVTimeout, and the NAV if one does.
    rts_nav: Option<(Time, Time)>,
    /// The last frame was received in error: EIFS applies.
    eifs_applies: bool,
    /// Frames that the station has received, with success or failure, until it handles their end.
    ended: Vec<(u64, bool, Obstacle)>,
    /// Draws frame errors.
    rng: Rng,
    /// Energy meter, if energy is modelled.
    pub(super) meter: Option<EnergyMeter>,
    /// CCA in progress, which consumes as much as reception (802.15.4).
    pub(super) assessing: bool,
    /// It receives nothing any more: its transmitter is on for good.
    pub(super) deaf: bool,
}

/// The next change at a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Boundary {
    OwnEnd,
    /// End of the signal at this index of `on_air`.
    End(usize),
    /// Start of the first pending signal.
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
            aggregates_on_air: 0,
            ratios: Vec::new(),
            transmitting_until: None,
            idle_since: Time::ZERO,
            nav: Time::ZERO,
            rts_nav: None,
            eifs_applies: false,
            ended: Vec::new(),
            rng,
            meter: None,
            assessing: false,
            deaf: false,
        }
    }

    /// Physical carrier sense: true while the station receives or transmits, or the energy on the air exceeds the
    /// threshold.
    pub(super) fn busy(&self, reception: &Reception) -> bool {
        self.transmitting_until.is_some() || self.lock.is_some() || self.energy_detected(reception)
    }

    pub(super) fn transmitting(&self) -> bool {
        self.transmitting_until.is_some()
    }

    /// True while a frame is received.
    pub(super) fn receiving(&self) -> bool {
        self.lock.is_some()
    }

    /// Receives nothing any more.
    pub(super) fn deafen(&mut self) {
        (self.deaf, self.lock) = (true, None);
    }

    /// Charges a sampled CCA that ends at `end`, up to `now`, for which the receiver is advanced.
    pub(super) fn charge_cca(&mut self, now: Time, end: Time, charged: Span) {
        let active_until = self.active_until();
        if let Some(meter) = self.read_meter(now) {
            meter.charge_cca(active_until, end, charged);
        }
    }

    /// End of the last signal on the air so far, its own included.
    pub(super) fn active_until(&self) -> Time {
        let ends = self.on_air.iter().map(|other| other.signal.end);
        ends.chain(self.transmitting_until).max().unwrap_or(self.idle_since)
    }

    /// Virtual carrier sense: true if the NAV is set at `now`.
    pub(super) fn nav_busy(&self, now: Time) -> bool {
        self.nav > now
    }

    /// Sets the NAV, unless it reaches further.
    pub(super) fn reserve(&mut self, until: Time) {
        self.nav = self.nav.max(until);
    }

    /// End of the interframe space (DIFS or EIFS) after which slots are counted, if the medium stays idle.
    pub(super) fn ifs_end(&self, timing: &MacTiming) -> Time {
        self.idle_since.max(self.nav) + if self.eifs_applies { timing.eifs } else { timing.difs }
    }

    /// Whether frame `number`, which has ended, was received without error; what was in the way if not.
    pub(super) fn take_result(&mut self, number: u64) -> Result<(), Obstacle> {
        let index = self.ended.iter().position(|(n, ..)| *n == number).expect("a received frame has one result");
        let (_, good, obstacle) = self.ended.swap_remove(index);
        if good { Ok(()) } else { Err(obstacle) }
    }

    /// Adds a signal that will arrive.
    pub(super) fn add_signal(&mut self, signal: Signal) {
        self.next_boundary_at = self.next_boundary_at.min(signal.start + GUARD);
        // Signals are added in the order of transmission; propagation delays may change the order of arrival.
        let later = |other: &Signal| (other.start, other.from) > (signal.start, signal.from);
        self.pending.push_back(signal);
        let mut index = self.pending.len() - 1;
        while index > 0 && later(&self.pending[index - 1]) {
            self.pending.swap(index - 1, index);
            index -= 1;
        }
    }

    /// Removes the first pending signal. After the last one the next takes the place of the first, which is in the cache.
    #[inline]
    fn take_pending(&mut self) -> Option<Signal> {
        let first = self.pending.pop_front();
        if self.pending.is_empty() {
            self.pending.clear();
        }
        first
    }

    /// Number of signals not processed yet.
    pub(super) fn pending_signals(&self) -> usize {
        self.pending.len()
    }

    /// Processes all signals up to `now`; starts of signals strictly before.
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
            if self.meter.is_some() && self.charge(at, boundary) {
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

    /// Charges the energy up to the next change; true if the radio is depleted and its next signal was discarded.
    fn charge(&mut self, at: Time, boundary: Boundary) -> bool {
        // The guard delays carrier sense, not the signal.
        let from = self.pending.front().filter(|_| boundary == Boundary::Start).map_or(at, |signal| signal.start);
        let state = self.state();
        let Some(meter) = &mut self.meter else { return false };
        meter.account(from, state);
        if boundary != Boundary::Start || !meter.is_empty() {
            return false;
        }
        if let Some(signal) = self.take_pending().filter(|signal| signal.is_received) {
            self.ended.push((signal.number, false, Obstacle::default()));
        }
        true
    }

    /// The energy meter, read at `now`, up to which the receiver is advanced.
    pub(super) fn read_meter(&mut self, now: Time) -> Option<&mut EnergyMeter> {
        let state = self.state();
        let meter = self.meter.as_mut()?;
        meter.account(now, state);
        Some(meter)
    }

    /// True if the radio is depleted; the meter has just been read.
    pub(super) fn depleted(&self) -> bool {
        self.meter.as_ref().is_some_and(EnergyMeter::is_empty)
    }

    fn state(&self) -> RadioState {
        let receiving = match self.meter.as_ref().map(EnergyMeter::rx_criterion) {
            Some(RxCriterion::Signals { min_power }) => self.on_air.iter().any(|other| other.signal.power >= min_power),
            _ => self.lock.is_some(),
        };
        match (self.transmitting_until.is_some(), receiving || self.assessing) {
            (true, _) => RadioState::Tx,
            (false, true) => RadioState::Rx,
            (false, false) => RadioState::Idle,
        }
    }

    /// The earliest start or end that has not been processed. At one instant ends come first, then the lowest
    /// transmitter, so that the order of events in the engine does not matter.
    fn next_boundary(&self) -> Option<(Time, Boundary)> {
        let mut first = self.transmitting_until.map(|end| (end, Boundary::OwnEnd));
        let ends = self.on_air.iter().enumerate().map(|(index, other)| ((other.signal.end, other.signal.from), index));
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
        self.on_air.iter().map(|other| other.signal.power).sum()
    }

    fn energy_detected(&self, reception: &Reception) -> bool {
        match reception {
            Reception::Capture { .. } => false,
            Reception::Addressed { carrier_sense, .. } => self.total_power() >= *carrier_sense,
            Reception::Sinr { energy_detect, .. } | Reception::Errors { energy_detect, .. } => {
                self.total_power() >= *energy_detect
            }
        }
    }

    /// Transmits until `end`; the receiver is advanced to `now`. The frame it was receiving is lost.
    pub(super) fn send(&mut self, now: Time, end: Time, timing: &MacTiming, backoff: &mut Backoff) {
        self.read_meter(now);
        if !self.busy(&timing.reception) {
            backoff.freeze(now, self.ifs_end(timing), timing.slot);
        }
        if let Some(current) = self.locked() {
            current.state = SignalState::Unreadable;
        }
        self.on_air
            .iter_mut()
            .filter(|other| other.signal.is_received)
            .for_each(|other| other.obstacle.transmitted = true);
        if !matches!(timing.reception, Reception::Capture { .. }) {
            self.lock = None;
            self.ratios.clear();
        }
        self.transmitting_until = Some(end);
        self.next_boundary_at = self.next_boundary_at.min(end);
    }

    /// Time at which the backoff ends if no further signal arrives; while the medium is busy, a lower bound. The
    /// receiver is advanced.
    pub(super) fn access(&self, timing: &MacTiming, backoff: &Backoff) -> Option<Time> {
        let slots = backoff.slots?;
        if self.busy(&timing.reception) {
            return Some(self.busy_until() + timing.difs + timing.slot * u64::from(slots));
        }
        let planned = backoff.access(self.ifs_end(timing), timing.slot);
        let pending = self.pending.iter().filter(|_| self.eifs_applies);
        pending.map(|signal| self.early_access(signal, timing, backoff)).chain(planned).min()
    }

    /// Lower bound of the end of the busy period.
    fn busy_until(&self) -> Time {
        let locked =
            self.lock.and_then(|lock| self.on_air.iter().find(|a| a.signal.number == lock)).map(|a| a.signal.end);
        let in_the_air = self.on_air.iter().map(|a| a.signal.end);
        self.transmitting_until.max(locked).or_else(|| in_the_air.min()).unwrap_or(Time::ZERO)
    }

    /// The earliest channel access after a signal that, received without error, replaces EIFS by DIFS.
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
