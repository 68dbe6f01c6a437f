//! The reception models: which frames are received.

use tcp::units::{Span, Time};

use super::{GUARD, MacTiming, NEVER, Obstacle, OnAir, Receiver, Signal, SignalState};
use crate::radio::backoff::Backoff;
use crate::radio::errors::ReceptionState;

/// Reception model: which frames are received, and when the medium is busy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Reception {
    /// Power thresholds and capture; the first frame survives interference weaker by `ratio`. Powers in watts.
    Capture { carrier_sense: f64, receive: f64, ratio: f64 },
    /// The receiver locks on frames that are addressed to it, of two on the stronger, and the minimum SINR over
    /// the frame decides; any signal makes the medium busy. Powers in watts.
    Addressed { carrier_sense: f64, receive: f64 },
    /// The minimum SINR over the frame decides. Powers in watts.
    Sinr { sensitivity: f64, energy_detect: f64, noise: f64 },
    /// Bits survive at random, with the bit error rate at the SINR of the moment; preambles are detected from an SINR
    /// on. Powers in watts.
    Errors { sensitivity: f64, energy_detect: f64, noise: f64, preamble_detection: f64 },
}

impl Reception {
    /// Power below which signals are never readable.
    pub(in crate::radio) fn min_readable_power(&self) -> f64 {
        match *self {
            Reception::Capture { receive, .. } | Reception::Addressed { receive, .. } => receive,
            Reception::Sinr { sensitivity, .. } | Reception::Errors { sensitivity, .. } => sensitivity,
        }
    }

    /// Power of a signal that makes the medium busy.
    pub(in crate::radio) fn sensed_power(&self) -> f64 {
        match *self {
            Reception::Capture { carrier_sense, .. } | Reception::Addressed { carrier_sense, .. } => carrier_sense,
            Reception::Sinr { sensitivity, energy_detect, .. }
            | Reception::Errors { sensitivity, energy_detect, .. } => sensitivity.min(energy_detect),
        }
    }

    /// Minimum power of frames that need this SINR, absent interference.
    pub(in crate::radio) fn min_rx_power(&self, ratio: f64) -> f64 {
        match *self {
            Reception::Capture { receive, .. } | Reception::Addressed { receive, .. } => receive,
            Reception::Sinr { sensitivity, noise, .. } | Reception::Errors { sensitivity, noise, .. } => {
                sensitivity.max(noise * ratio)
            }
        }
    }
}

impl Receiver {
    /// Processes the ordinary case, a signal that starts and ends while no other is on the air, in one step; returns
    /// whether it was so. The general case gives the same in two steps.
    pub(super) fn receive_alone(&mut self, now: Time, timing: &MacTiming, backoff: &mut Backoff) -> bool {
        let Reception::Capture { receive, .. } = timing.reception else { return false };
        let Some(first) = self.pending.front() else { return false };
        let Signal { number, start, end, power, rate_index, is_received, duration, nav_timeout, .. } = *first;
        let busy = self.transmitting_until.is_some() || !self.on_air.is_empty();
        let met = self.pending.get(1).is_some_and(|next| next.start + GUARD < end);
        if busy || met || end > now || self.meter.is_some() {
            return false;
        }
        let at = start + GUARD;
        let least = timing.rate_modes[usize::from(rate_index)].sensitivity.max(receive);
        let good = power >= least && !self.corrupted(timing);
        backoff.freeze(at, self.ifs_end(timing), timing.slot);
        self.confirm_rts_nav(at);
        if is_received {
            self.ended.push((number, good, Obstacle::default()));
        }
        self.take_pending();
        if good {
            self.eifs_applies = false;
            self.set_nav(end, duration, nav_timeout);
        } else {
            self.nav = self.nav.max(end + timing.eifs);
        }
        self.idle_since = end;
        self.next_boundary_at = self.pending.front().map_or(NEVER, |next| next.start + GUARD);
        true
    }

    /// Extends the NAV of an RTS if the signal that the receiver locks on at `at` follows within NAVTimeout.
    fn confirm_rts_nav(&mut self, at: Time) {
        if let Some((until, answered)) = self.rts_nav.take()
            && at <= until
        {
            self.nav = self.nav.max(answered);
        }
    }

    /// Starts the first pending signal.
    pub(super) fn start(&mut self, at: Time, timing: &MacTiming) {
        let Some(new) = self.take_pending() else { return };
        let before = self.lock;
        let obstacle = Obstacle { transmitted: self.transmitting_until.is_some(), strongest: None };
        let mut started = OnAir { signal: new, state: SignalState::Unreadable, obstacle };
        for other in &mut self.on_air {
            started.meet(&other.signal);
            other.meet(&new);
        }
        let index = self.on_air.iter().rposition(|other| other.signal.number < new.number).map_or(0, |index| index + 1);
        self.on_air.insert(index, started);
        self.aggregates_on_air += u32::from(new.aggregate);
        match timing.reception {
            Reception::Capture { receive, ratio, .. } => self.start_capture(index, at, (receive, ratio), timing),
            Reception::Addressed { .. } => self.start_addressed(index),
            Reception::Sinr { sensitivity, noise, .. } => self.start_sinr(index, sensitivity, noise),
            Reception::Errors { sensitivity, noise, preamble_detection, .. } => {
                let ratio = new.power / (noise + self.interference(new.number));
                let free = self.lock.is_none() && self.transmitting_until.is_none();
                if free && new.power >= sensitivity && ratio >= preamble_detection {
                    self.lock = Some(new.number);
                    self.on_air[index].state = SignalState::Readable(f64::INFINITY);
                    self.reception_state = ReceptionState { survival: 1.0, ratio, since: at };
                } else {
                    self.update_survival(at, noise, timing);
                }
            }
        }
        if before.is_none() && self.lock.is_some() {
            self.confirm_rts_nav(at);
        }
        self.follow_aggregate(at, timing.reception);
    }

    /// Notes what the change of interference at `at` means for the aggregate being received, if any.
    #[inline]
    fn follow_aggregate(&mut self, at: Time, reception: Reception) {
        let (Reception::Sinr { noise, .. } | Reception::Errors { noise, .. }) = reception else { return };
        if self.aggregates_on_air > 0 {
            self.note_ratio(at, noise);
        }
    }

    /// Capture: the receiver locks on the first signal, whatever its power; a later one is ignored (capture) or both
    /// collide.
    fn start_capture(&mut self, index: usize, at: Time, (receive, ratio): (f64, f64), timing: &MacTiming) {
        let new = self.on_air[index].signal;
        if self.lock.is_none() {
            if self.transmitting_until.is_none() && new.power >= receive {
                self.on_air[index].state = SignalState::Readable(f64::INFINITY);
            }
            self.lock = Some(new.number);
            return;
        }
        let current = self.locked().expect("the receiver locks on a signal on the air");
        if current.signal.power / new.power >= ratio {
            self.nav = self.nav.max(at + timing.eifs + new.end.since(new.start));
            return;
        }
        let longer = if new.end > current.signal.end { new.number } else { current.signal.number };
        current.state = SignalState::Unreadable;
        self.lock = Some(longer);
    }

    /// The receiver locks on the first signal above the sensitivity; all others are interference.
    fn start_sinr(&mut self, index: usize, sensitivity: f64, noise: f64) {
        let free = self.lock.is_none() && self.transmitting_until.is_none();
        let new = self.on_air[index].signal;
        if free && new.power >= sensitivity {
            self.lock = Some(new.number);
            self.on_air[index].state = SignalState::Readable(f64::INFINITY);
        }
        self.note_min_sinr(noise);
    }

    /// Addressed: the receiver locks on frames for its station alone, of two on the stronger.
    fn start_addressed(&mut self, index: usize) {
        let new = self.on_air[index].signal;
        let free = new.is_received && self.transmitting_until.is_none() && !self.deaf;
        if free && self.locked().is_none_or(|current| new.power > current.signal.power) {
            self.lock = Some(new.number);
            self.on_air[index].state = SignalState::Readable(f64::INFINITY);
        }
        self.note_min_sinr(0.0);
    }

    /// Notes the SINR of the frame being received, if it is the lowest so far.
    fn note_min_sinr(&mut self, noise: f64) {
        let interference = self.lock.map_or(0.0, |lock| self.interference(lock));
        if let Some(current) = self.locked()
            && let SignalState::Readable(min_sinr) = current.state
        {
            current.state = SignalState::Readable(min_sinr.min(current.signal.power / (noise + interference)));
        }
    }

    /// Updates the probability of survival at `at`, where the interference changes.
    fn update_survival(&mut self, at: Time, noise: f64, timing: &MacTiming) {
        let Some(current) = self.locked().map(|current| current.signal) else { return };
        self.reception_state = ReceptionState {
            survival: self.survival(&current, at, timing),
            ratio: current.power / (noise + self.interference(current.number)),
            since: at,
        };
    }

    /// Probability that the frame being received has survived until `at`.
    fn survival(&self, current: &Signal, at: Time, timing: &MacTiming) -> f64 {
        let ReceptionState { survival, ratio, since } = self.reception_state;
        let part = (since.since(current.start), at.since(current.start));
        let rate_mode = &timing.rate_modes[usize::from(current.rate_index)];
        survival * rate_mode.survival(current.end.since(current.start), part, ratio)
    }

    /// Power on the air besides that of one frame.
    pub(super) fn interference(&self, number: u64) -> f64 {
        self.on_air.iter().map(|other| &other.signal).filter(|a| a.number != number).map(|a| a.power).sum()
    }

    pub(super) fn locked(&mut self) -> Option<&mut OnAir> {
        let number = self.lock?;
        self.on_air.iter_mut().find(|other| other.signal.number == number)
    }

    pub(super) fn end(&mut self, index: usize, at: Time, timing: &MacTiming) {
        let OnAir { signal, state, obstacle } = self.on_air.remove(index);
        self.aggregates_on_air -= u32::from(signal.aggregate);
        let was_locked = self.lock == Some(signal.number);
        let strong = signal.power >= timing.rate_modes[usize::from(signal.rate_index)].sensitivity;
        let readable = was_locked && state != SignalState::Unreadable && strong;
        let good = match (timing.reception, state) {
            _ if signal.aggregate => readable && self.header_survives(&signal, timing),
            (Reception::Errors { .. }, _) if readable => self.rng.uniform() < self.survival(&signal, at, timing),
            (Reception::Sinr { .. } | Reception::Addressed { .. }, SignalState::Readable(min_sinr)) => {
                readable && min_sinr >= timing.rate_modes[usize::from(signal.rate_index)].ratio
            }
            _ => readable,
        };
        let good = good && (signal.aggregate || !self.corrupted(timing));
        if let Reception::Errors { noise, .. } = timing.reception
            && !was_locked
        {
            self.update_survival(at, noise, timing);
        }
        if !was_locked {
            self.follow_aggregate(at, timing.reception);
        } else if signal.aggregate && !(good && signal.is_received) {
            self.ratios.clear();
        }
        if signal.is_received {
            self.ended.push((signal.number, good, obstacle));
        }
        if !was_locked {
            return;
        }
        self.lock = None;
        if good {
            self.eifs_applies = false;
            self.set_nav(at, signal.duration, signal.nav_timeout);
        } else if let Reception::Capture { .. } = timing.reception {
            // An erroneous frame sets the NAV for EIFS, and DIFS follows; a station that transmits does not notice it.
            if self.transmitting_until.is_none() {
                self.nav = self.nav.max(at + timing.eifs);
            }
        } else {
            self.eifs_applies = true;
        }
    }

    /// Draws whether a decoded frame is in error all the same.
    #[inline]
    pub(super) fn corrupted(&mut self, timing: &MacTiming) -> bool {
        timing.frame_error > 0.0 && self.rng.uniform() < timing.frame_error
    }

    /// Sets the NAV from the duration field of a frame that ended at `at`; that of an RTS holds only for `nav_timeout`
    /// unless a frame follows.
    fn set_nav(&mut self, at: Time, duration: Span, nav_timeout: Option<Span>) {
        let until = at + duration;
        match nav_timeout {
            Some(wait) if duration > wait => {
                self.nav = self.nav.max(at + wait);
                self.rts_nav = Some((at + wait, until));
            }
            _ => self.nav = self.nav.max(until),
        }
    }
}
