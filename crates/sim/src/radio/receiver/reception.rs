//! Which frames can be read: the three rules of reception.

use tcp::units::{Span, Time};

use super::{Arrival, Fate, GUARD, NEVER, Receiver, Reception, Waits};
use crate::radio::contention::Contention;
use crate::radio::errors::Ordeal;

impl Receiver {
    /// The ordinary case in one step: a signal that begins and ends while nothing else is in the air. True if that was so;
    /// [`Receiver::settle`] would have come to the same by two.
    pub(super) fn pass_alone(&mut self, now: Time, waits: &Waits, contention: &mut Contention) -> bool {
        let Reception::Capture { receive, .. } = waits.reception else { return false };
        let Some(first) = self.coming.front() else { return false };
        let Arrival { number, start, end, power, wanted, reserves, unanswered, .. } = *first;
        let busy = self.sending_until.is_some() || !self.air.is_empty();
        let met = self.coming.get(1).is_some_and(|next| next.start + GUARD < end);
        if busy || met || end > now || self.meter.is_some() {
            return false;
        }
        let (at, good) = (start + GUARD, power >= receive);
        contention.freeze(at, self.free_at(waits), waits.slot);
        self.follow_rts(at);
        if wanted {
            self.ended.push((number, good));
        }
        self.coming.pop_front();
        if good {
            self.after_bad = false;
            self.reserve(end, reserves, unanswered);
        } else {
            self.nav = self.nav.max(end + waits.eifs);
        }
        self.idle_since = end;
        self.due = self.coming.front().map_or(NEVER, |next| next.start + GUARD);
        true
    }

    /// The receiver locks on a signal at `at`: was it what an RTS had announced?
    fn follow_rts(&mut self, at: Time) {
        if let Some((until, answered)) = self.rts_heard.take()
            && at <= until
        {
            self.nav = self.nav.max(answered);
        }
    }

    /// The first signal that is coming begins.
    pub(super) fn start(&mut self, at: Time, waits: &Waits) {
        let Some(mut new) = self.coming.pop_front() else { return };
        let before = self.lock;
        new.fate = Fate::Lost;
        let index = self.air.iter().rposition(|other| other.number < new.number).map_or(0, |index| index + 1);
        self.air.insert(index, new);
        match waits.reception {
            Reception::Capture { receive, ratio, .. } => self.start_by_power(index, at, (receive, ratio), waits),
            Reception::Sinr { sensitivity, noise, .. } => self.start_by_ratio(index, sensitivity, noise),
            Reception::Errors { sensitivity, noise, notice, .. } => {
                let ratio = new.power / (noise + self.others(new.number));
                let free = self.lock.is_none() && self.sending_until.is_none();
                if free && new.power >= sensitivity && ratio >= notice {
                    self.lock = Some(new.number);
                    self.air[index].fate = Fate::Heard(f64::INFINITY);
                    self.ordeal = Ordeal { chance: 1.0, ratio, since: at };
                } else {
                    self.suffer(at, noise, waits);
                }
            }
        }
        if before.is_none() && self.lock.is_some() {
            self.follow_rts(at);
        }
    }

    /// ns-2: locked on the first signal, whatever its power; a later one is ignored or destroys both.
    fn start_by_power(&mut self, index: usize, at: Time, (receive, ratio): (f64, f64), waits: &Waits) {
        let new = self.air[index];
        if self.lock.is_none() {
            if self.sending_until.is_none() && new.power >= receive {
                self.air[index].fate = Fate::Heard(f64::INFINITY);
            }
            self.lock = Some(new.number);
            return;
        }
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
        let free = self.lock.is_none() && self.sending_until.is_none();
        if free && self.air[index].power >= sensitivity {
            self.lock = Some(self.air[index].number);
            self.air[index].fate = Fate::Heard(f64::INFINITY);
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
        self.air.iter().filter(|a| a.number != number).map(|a| a.power).sum()
    }

    pub(super) fn locked(&mut self) -> Option<&mut Arrival> {
        let number = self.lock?;
        self.air.iter_mut().find(|arrival| arrival.number == number)
    }

    pub(super) fn end(&mut self, index: usize, at: Time, waits: &Waits) {
        let arrival = self.air.remove(index);
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
            self.reserve(at, arrival.reserves, arrival.unanswered);
        } else if let Reception::Capture { .. } = waits.reception {
            // A bad frame reserves the medium for EIFS, and DIFS follows; a station that sends does not notice it.
            if self.sending_until.is_none() {
                self.nav = self.nav.max(at + waits.eifs);
            }
        } else {
            self.after_bad = true;
        }
    }

    /// A frame that ended at `at` reserves the medium; an RTS only for `unanswered` if nothing follows it.
    fn reserve(&mut self, at: Time, reserves: Span, unanswered: Option<Span>) {
        let until = at + reserves;
        match unanswered {
            Some(wait) if reserves > wait => {
                self.nav = self.nav.max(at + wait);
                self.rts_heard = Some((at + wait, until));
            }
            _ => self.nav = self.nav.max(until),
        }
    }
}
