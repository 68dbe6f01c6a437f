//! Which frames can be read: the three rules of reception.

use tcp::units::Time;

use super::{Arrival, Fate, Receiver, Reception, Waits};
use crate::radio::errors::Ordeal;

impl Receiver {
    pub(super) fn start(&mut self, index: usize, at: Time, waits: &Waits) {
        let before = self.lock;
        match waits.reception {
            Reception::Capture { receive, ratio, .. } => self.start_by_power(index, at, (receive, ratio), waits),
            Reception::Sinr { sensitivity, noise, .. } => self.start_by_ratio(index, sensitivity, noise),
            Reception::Errors { sensitivity, noise, notice, .. } => {
                self.arrivals[index].fate = Fate::Lost;
                let new = self.arrivals[index];
                let ratio = new.power / (noise + self.others(new.number));
                let free = self.lock.is_none() && self.sending_until.is_none();
                if free && new.power >= sensitivity && ratio >= notice {
                    self.lock = Some(new.number);
                    self.arrivals[index].fate = Fate::Heard(f64::INFINITY);
                    self.ordeal = Ordeal { chance: 1.0, ratio, since: at };
                } else {
                    self.suffer(at, noise, waits);
                }
            }
        }
        if before.is_none()
            && self.lock.is_some()
            && let Some((until, answered)) = self.rts_heard.take()
            && at <= until
        {
            self.nav = self.nav.max(answered);
        }
    }

    /// ns-2: locked on the first signal, whatever its power; a later one is ignored or destroys both.
    fn start_by_power(&mut self, index: usize, at: Time, (receive, ratio): (f64, f64), waits: &Waits) {
        let new = &mut self.arrivals[index];
        let readable = self.sending_until.is_none() && new.power >= receive;
        new.fate = if readable { Fate::Heard(f64::INFINITY) } else { Fate::Lost };
        let new = *new;
        if self.lock.is_none() {
            self.lock = Some(new.number);
            return;
        }
        self.arrivals[index].fate = Fate::Lost;
        let held = self.locked().expect("a lock is on a frame in the air");
        if held.power / new.power >= ratio {
            self.nav = self.nav.max(at + waits.eifs + new.end.since(new.start));
            return;
        }
        let longer = if new.end > held.end { new.number } else { held.number };
        held.fate = Fate::Lost;
        self.lock = Some(longer);
    }

    /// Locked on the first signal above the sensitivity; what else is in the air adds to the noise.
    fn start_by_ratio(&mut self, index: usize, sensitivity: f64, noise: f64) {
        self.arrivals[index].fate = Fate::Lost;
        let free = self.lock.is_none() && self.sending_until.is_none();
        if free && self.arrivals[index].power >= sensitivity {
            self.lock = Some(self.arrivals[index].number);
            self.arrivals[index].fate = Fate::Heard(f64::INFINITY);
        }
        let others = self.lock.map_or(0.0, |lock| self.others(lock));
        if let Some(held) = self.locked()
            && let Fate::Heard(worst) = held.fate
        {
            held.fate = Fate::Heard(worst.min(held.power / (noise + others)));
        }
    }

    /// What disturbs the frame in hand changes at `at`; a chunk of it ends.
    fn suffer(&mut self, at: Time, noise: f64, waits: &Waits) {
        let Some(held) = self.locked().copied() else { return };
        self.ordeal = Ordeal {
            chance: self.chance(&held, at, waits),
            ratio: held.power / (noise + self.others(held.number)),
            since: at,
        };
    }

    /// The chance that the frame in hand has survived until `at`.
    fn chance(&self, held: &Arrival, at: Time, waits: &Waits) -> f64 {
        let Ordeal { chance, ratio, since } = self.ordeal;
        let part = (since.since(held.start), at.since(held.start));
        let grade = &waits.grades[usize::from(held.grade)];
        chance * waits.preamble.survival(grade, held.end.since(held.start), part, ratio)
    }

    /// Power in the air besides that of one frame.
    pub(super) fn others(&self, number: u64) -> f64 {
        self.arrivals.iter().filter(|a| a.fate != Fate::Coming && a.number != number).map(|a| a.power).sum()
    }

    pub(super) fn locked(&mut self) -> Option<&mut Arrival> {
        let number = self.lock?;
        self.arrivals.iter_mut().find(|arrival| arrival.number == number)
    }

    pub(super) fn end(&mut self, index: usize, at: Time, waits: &Waits) {
        // In order, so that powers add up to the same sum whenever they are looked at.
        let arrival = self.arrivals.remove(index);
        let was_locked = self.lock == Some(arrival.number);
        let readable = was_locked && arrival.fate != Fate::Lost;
        let good = match (waits.reception, arrival.fate) {
            (Reception::Errors { .. }, _) if readable => self.draws.uniform() < self.chance(&arrival, at, waits),
            (Reception::Sinr { .. }, Fate::Heard(worst)) => {
                readable && worst >= waits.grades[usize::from(arrival.grade)].ratio
            }
            _ => readable,
        };
        if let Reception::Errors { noise, .. } = waits.reception
            && !was_locked
        {
            self.suffer(at, noise, waits);
        }
        if arrival.wanted {
            self.ended.push((arrival.number, good));
        }
        if !was_locked {
            return;
        }
        self.lock = None;
        if good {
            self.after_bad = false;
            self.reserve(at, &arrival);
        } else if let Reception::Capture { .. } = waits.reception {
            // A bad frame reserves the medium for EIFS, and DIFS follows; a station that sends does not notice it.
            if self.sending_until.is_none() {
                self.nav = self.nav.max(at + waits.eifs);
            }
        } else {
            self.after_bad = true;
        }
    }

    fn reserve(&mut self, at: Time, arrival: &Arrival) {
        let until = at + arrival.reserves;
        match arrival.unanswered {
            Some(wait) if arrival.reserves > wait => {
                self.nav = self.nav.max(at + wait);
                self.rts_heard = Some((at + wait, until));
            }
            _ => self.nav = self.nav.max(until),
        }
    }
}
