//! What one station hears: signals on their way and in the air, the frame it is locked
//! on, whether the medium is busy, and the reservations it has heard of.
//!
//! Lazy: signals are noted when they are sent and looked at when the station acts. Every rule depends on physical times
//! alone, so the order in which stations are looked at changes nothing.

mod reception;

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::contention::Contention;
use super::energy::{Activity, Meter, Receives};
use super::errors::{Grade, Header, Ordeal};
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
    Errors { sensitivity: f64, energy_detect: f64, noise: f64, notice: f64 },
}

impl Reception {
    /// Signals below this power are never read.
    pub(super) fn readable_power(&self) -> f64 {
        match *self {
            Reception::Capture { receive, .. } => receive,
            Reception::Sinr { sensitivity, .. } | Reception::Errors { sensitivity, .. } => sensitivity,
        }
    }

    /// Frames that need this ratio are readable from this power on, without interference.
    pub(super) fn least_power(&self, ratio: f64) -> f64 {
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
pub(super) struct Waits {
    pub(super) slot: Span,
    pub(super) difs: Span,
    pub(super) eifs: Span,
    pub(super) reception: Reception,
    pub(super) grades: Vec<Grade>,
    pub(super) preamble: Header,
}

/// A frame on its way to one station, or arriving there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// The frame's number: the same at all stations.
    pub(super) number: u64,
    pub(super) from: StationId,
    pub(super) start: Time,
    pub(super) end: Time,
    /// Power in watts.
    pub(super) power: f64,
    /// Index of its rate.
    pub(super) grade: u8,
    /// The station is to hear of its end.
    pub(super) wanted: bool,
    /// How long it reserves the medium beyond its end, for stations that it is not meant for.
    pub(super) reserves: Span,
    /// An RTS reserves it for so long only if nobody answers.
    pub(super) unanswered: Option<Span>,
    pub(super) fate: Fate,
}

/// What has become of an arrival.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Fate {
    /// It has not begun.
    Coming,
    /// It is in the air; the worst ratio so far.
    Heard(f64),
    /// It is in the air and cannot be read any more.
    Lost,
}

/// One station's ear.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// Signals that have not begun, by start and sender.
    coming: VecDeque<Arrival>,
    /// Signals in the air, by number, so that powers add up to the same sum whenever they are looked at. Few: what has
    /// ended is gone from here, and what has not begun would only be passed over.
    air: Vec<Arrival>,
    /// Nothing starts or ends here before.
    due: Time,
    /// Number of the frame the receiver is locked on; after a collision in ns-2 the one that ends last.
    lock: Option<u64>,
    ordeal: Ordeal,
    /// Its own transmission ends then.
    sending_until: Option<Time>,
    idle_since: Time,
    nav: Time,
    /// An RTS reserved the medium: until when if unanswered, until when if something follows it.
    rts_heard: Option<(Time, Time)>,
    /// The last frame was bad: EIFS applies.
    after_bad: bool,
    /// Frames that ended, of those the station wanted to hear of.
    ended: Vec<(u64, bool)>,
    /// Draws the fate of frames.
    draws: Rng,
    /// What the radio consumes, if that is modelled.
    pub(super) meter: Option<Meter>,
    /// It consumes as much as when it receives: it assesses the medium (802.15.4).
    pub(super) listens: bool,
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
    pub(super) fn new(draws: Rng) -> Receiver {
        Receiver {
            coming: VecDeque::new(),
            air: Vec::new(),
            due: Time::ZERO,
            lock: None,
            ordeal: Ordeal::default(),
            sending_until: None,
            idle_since: Time::ZERO,
            nav: Time::ZERO,
            rts_heard: None,
            after_bad: false,
            ended: Vec::new(),
            draws,
            meter: None,
            listens: false,
        }
    }

    /// True while something is received or sent, or in the air strongly enough.
    pub(super) fn busy(&self, reception: &Reception) -> bool {
        self.sending_until.is_some() || self.lock.is_some() || self.energy_detected(reception)
    }

    pub(super) fn sending(&self) -> bool {
        self.sending_until.is_some()
    }

    /// True if the medium is reserved at `now`.
    pub(super) fn reserved(&self, now: Time) -> bool {
        self.nav > now
    }

    /// When the medium is, or was, free for slots to be counted, if it is idle.
    pub(super) fn free_at(&self, waits: &Waits) -> Time {
        self.idle_since.max(self.nav) + if self.after_bad { waits.eifs } else { waits.difs }
    }

    /// How the wanted frame `number` ended; it must have.
    pub(super) fn verdict(&mut self, number: u64) -> bool {
        let index = self.ended.iter().position(|(n, _)| *n == number).expect("a frame ends once, when it is over");
        self.ended.swap_remove(index).1
    }

    /// Notes a frame that will arrive.
    pub(super) fn expect(&mut self, arrival: Arrival) {
        self.due = self.due.min(arrival.start + GUARD);
        // Signals come in the order of their starts, but for their delays on the way.
        let later = |other: &Arrival| (other.start, other.from) > (arrival.start, arrival.from);
        self.coming.push_back(arrival);
        let mut place = self.coming.len() - 1;
        while place > 0 && later(&self.coming[place - 1]) {
            self.coming.swap(place - 1, place);
            place -= 1;
        }
    }

    /// So many signals are not looked at yet.
    pub(super) fn backlog(&self) -> usize {
        self.coming.len()
    }

    /// Looks at everything that has happened up to `now`; starts of signals strictly before.
    pub(super) fn settle(&mut self, now: Time, waits: &Waits, contention: &mut Contention) {
        while self.due <= now {
            if self.pass_alone(now, waits, contention) {
                continue;
            }
            let Some((at, boundary)) = self.next_boundary() else {
                self.due = NEVER;
                return;
            };
            self.due = at;
            if at > now || (at == now && boundary == Boundary::Start) {
                return;
            }
            if self.meter.is_some() && self.consume(at, boundary) {
                continue;
            }
            let (was_busy, free_at) = (self.busy(&waits.reception), self.free_at(waits));
            match boundary {
                Boundary::Start => self.start(at, waits),
                Boundary::End(index) => self.end(index, at, waits),
                Boundary::OwnEnd => {
                    self.sending_until = None;
                    self.after_bad = false;
                }
            }
            match (was_busy, self.busy(&waits.reception)) {
                (false, true) => contention.freeze(at, free_at, waits.slot),
                (true, false) => self.idle_since = at,
                _ => {}
            }
        }
    }

    /// Books what the radio did up to the next change; a signal that finds no energy left is forgotten: true.
    fn consume(&mut self, at: Time, boundary: Boundary) -> bool {
        // The guard decides who may send, not how long a signal lasts.
        let from = self.coming.front().filter(|_| boundary == Boundary::Start).map_or(at, |arrival| arrival.start);
        let activity = self.activity();
        let Some(meter) = &mut self.meter else { return false };
        meter.pass(from, activity);
        if boundary != Boundary::Start || !meter.empty() {
            return false;
        }
        if let Some(arrival) = self.coming.pop_front().filter(|arrival| arrival.wanted) {
            self.ended.push((arrival.number, false));
        }
        true
    }

    /// The meter, read at `now`; the station is settled up to then.
    pub(super) fn read_meter(&mut self, now: Time) -> Option<&mut Meter> {
        let activity = self.activity();
        let meter = self.meter.as_mut()?;
        meter.pass(now, activity);
        Some(meter)
    }

    /// True if the station has no energy left; it has just been looked at.
    pub(super) fn exhausted(&self) -> bool {
        self.meter.as_ref().is_some_and(Meter::empty)
    }

    fn activity(&self) -> Activity {
        let receives = match self.meter.as_ref().map(Meter::receives) {
            Some(Receives::Signals { least }) => self.air.iter().any(|arrival| arrival.power >= least),
            _ => self.lock.is_some(),
        };
        match (self.sending_until.is_some(), receives || self.listens) {
            (true, _) => Activity::Sends,
            (false, true) => Activity::Receives,
            (false, false) => Activity::Idles,
        }
    }

    /// The earliest start or end that has not been looked at. At one instant ends come first, and then the numbers of the
    /// senders decide: the order in which the engine had them send is no law of nature.
    fn next_boundary(&self) -> Option<(Time, Boundary)> {
        let mut first = self.sending_until.map(|end| (end, Boundary::OwnEnd));
        let ends = self.air.iter().enumerate().map(|(index, arrival)| ((arrival.end, arrival.from), index));
        if let Some(((end, _), index)) = ends.min()
            && first.is_none_or(|(at, _)| end < at)
        {
            first = Some((end, Boundary::End(index)));
        }
        if let Some(arrival) = self.coming.front()
            && first.is_none_or(|(at, _)| arrival.start + GUARD < at)
        {
            first = Some((arrival.start + GUARD, Boundary::Start));
        }
        first
    }

    fn power_in_the_air(&self) -> f64 {
        self.air.iter().map(|arrival| arrival.power).sum()
    }

    fn energy_detected(&self, reception: &Reception) -> bool {
        match reception {
            Reception::Capture { .. } => false,
            Reception::Sinr { energy_detect, .. } | Reception::Errors { energy_detect, .. } => {
                self.power_in_the_air() >= *energy_detect
            }
        }
    }

    /// The station sends until `end`; it is settled up to `now`. What it was receiving is lost.
    pub(super) fn send(&mut self, now: Time, end: Time, waits: &Waits, contention: &mut Contention) {
        self.read_meter(now);
        if !self.busy(&waits.reception) {
            contention.freeze(now, self.free_at(waits), waits.slot);
        }
        if let Some(held) = self.locked() {
            held.fate = Fate::Lost;
        }
        if !matches!(waits.reception, Reception::Capture { .. }) {
            self.lock = None;
        }
        self.sending_until = Some(end);
        self.due = self.due.min(end);
    }

    /// When the backoff runs out if nothing more is heard; while the medium is busy, not before that. The station is
    /// settled.
    pub(super) fn access(&self, waits: &Waits, contention: &Contention) -> Option<Time> {
        let slots = contention.slots?;
        if self.busy(&waits.reception) {
            return Some(self.busy_until() + waits.difs + waits.slot * u64::from(slots));
        }
        let planned = contention.access(self.free_at(waits), waits.slot);
        let coming = self.coming.iter().filter(|_| self.after_bad);
        coming.map(|arrival| self.early(arrival, waits, contention)).chain(planned).min()
    }

    /// The medium is busy at least until then.
    fn busy_until(&self) -> Time {
        let locked = self.lock.and_then(|lock| self.air.iter().find(|a| a.number == lock)).map(|a| a.end);
        let in_the_air = self.air.iter().map(|a| a.end);
        self.sending_until.max(locked).or_else(|| in_the_air.min()).unwrap_or(Time::ZERO)
    }

    /// The earliest access after an arrival that ends well and so puts DIFS in the place of EIFS.
    pub(super) fn early(&self, arrival: &Arrival, waits: &Waits, contention: &Contention) -> Time {
        let left = if self.busy(&waits.reception) {
            contention.slots.unwrap_or(0)
        } else {
            let free_at = self.idle_since.max(self.nav) + waits.difs;
            contention.left(arrival.start + GUARD, free_at, waits.slot)
        };
        arrival.end + waits.difs + waits.slot * u64::from(left)
    }
}
