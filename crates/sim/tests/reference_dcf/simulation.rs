//! The reference: the list of events, and the effect of each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcp::rng::Rng;

use super::reception::{ReceptionModel, Signal, Started};
use super::station::{Motion, Station};

/// Nanoseconds from the start of a signal until the medium is busy.
const GUARD: u64 = 5;
/// Round-trip propagation delay that CTS and ACK timeouts allow for, nanoseconds.
pub(super) const MARGIN: u64 = 4000;

/// Durations in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) slot: u64,
    pub(crate) sifs: u64,
    pub(crate) rts: u64,
    /// Airtime of a CTS, and of an ACK.
    pub(crate) answer: u64,
    /// Airtime of an ACK at the lowest basic rate.
    pub(crate) slowest_answer: u64,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
}

impl Timing {
    pub(super) fn difs(&self) -> u64 {
        self.sifs + 2 * self.slot
    }

    pub(super) fn eifs(&self) -> u64 {
        self.sifs + self.slowest_answer + self.difs()
    }
}

/// Probability that a frame survives the interval between two instants, counted from its start, at an SINR.
type Survival = dyn Fn(&AirFrame, u64, u64, f64) -> f64;
/// SINR and power that a frame needs.
pub(crate) type Needed = dyn Fn(&AirFrame) -> (f64, f64);

/// Time, rank, transmitter of a signal, running number, and event.
type Entry = (u64, u8, usize, u64, Event);

/// Input of a simulation.
pub(crate) struct Setup {
    pub(crate) timing: Timing,
    pub(crate) reception: ReceptionModel,
    pub(crate) frame_error: f64,
    /// The departures of ns-2 apply.
    pub(crate) ns2: bool,
    pub(crate) rts_above: u64,
    pub(crate) short_retries: u32,
    pub(crate) long_retries: u32,
    pub(crate) stations: Vec<Motion>,
    /// Metres per second.
    pub(crate) light: f64,
    /// Weaker signals are ignored.
    pub(crate) floor: f64,
    /// Power in watts at a distance in metres.
    pub(crate) power: Box<dyn Fn(f64) -> f64>,
    /// Airtime of a data frame by size, unicast or broadcast.
    pub(crate) length: Box<dyn Fn(u64, bool) -> u64>,
    pub(crate) needed: Box<Needed>,
    /// Probability that a part of a frame survives at an SINR.
    pub(crate) survival: Box<Survival>,
    pub(crate) seed: u64,
    pub(crate) end: u64,
}

/// A request to transmit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) at: u64,
    pub(crate) station: usize,
    pub(crate) to: Option<usize>,
    /// MAC header included.
    pub(crate) size: u64,
}

/// Type of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Rts,
    Cts,
    Ack,
    Data,
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AirFrame {
    pub(crate) kind: Kind,
    pub(crate) from: usize,
    pub(crate) to: Option<usize>,
    pub(crate) length: u64,
    pub(super) duration: u64,
}

/// An event. Events at one instant are ordered by rank, signals then by transmitter, and the rest by insertion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Event {
    SendingEnds {
        station: usize,
    },
    SignalEnds {
        station: usize,
        frame: usize,
    },
    NavEnds {
        station: usize,
    },
    /// End of the interframe space.
    CountBegins {
        station: usize,
        count: u64,
    },
    SlotEnds {
        station: usize,
        count: u64,
    },
    AnswerIsDue {
        station: usize,
    },
    WaitIsOver {
        station: usize,
        wait: u64,
    },
    Offered {
        index: usize,
    },
    SignalStarts {
        station: usize,
        frame: usize,
    },
    NavOfRtsIsReset {
        station: usize,
        frame: usize,
    },
}

impl Event {
    fn rank(self) -> u8 {
        match self {
            Event::SendingEnds { .. } => 0,
            Event::SignalEnds { .. } | Event::NavEnds { .. } => 1,
            Event::CountBegins { .. }
            | Event::SlotEnds { .. }
            | Event::AnswerIsDue { .. }
            | Event::WaitIsOver { .. } => 2,
            Event::Offered { .. } => 3,
            Event::SignalStarts { .. } => 4,
            Event::NavOfRtsIsReset { .. } => 5,
        }
    }
}

/// The simulation.
pub(crate) struct ReferenceDcf {
    pub(super) setup: Setup,
    requests: Vec<Request>,
    pub(super) now: u64,
    made: u64,
    agenda: BinaryHeap<Reverse<Entry>>,
    pub(super) stations: Vec<Station>,
    frames: Vec<AirFrame>,
    log: Vec<String>,
    pub(crate) events: u64,
}

impl ReferenceDcf {
    pub(crate) fn new(setup: Setup, requests: Vec<Request>) -> ReferenceDcf {
        let stream = |i, what| Rng::stream(setup.seed, &format!("station/{i}/{what}"));
        let station = |i| Station::new(setup.timing.cw_min, stream(i, "backoff"), stream(i, "frame_error"));
        let stations = (0..setup.stations.len()).map(station).collect();
        let mut reference = ReferenceDcf {
            setup,
            now: 0,
            made: 0,
            agenda: BinaryHeap::new(),
            stations,
            frames: Vec::new(),
            log: Vec::new(),
            events: 0,
            requests,
        };
        for index in 0..reference.requests.len() {
            reference.plan(reference.requests[index].at, Event::Offered { index });
        }
        reference
    }

    /// Time, transmitter, type, receiver and sequence number of every frame, one line each.
    pub(crate) fn run(&mut self) -> Vec<String> {
        while let Some(Reverse((at, _, _, _, happening))) = self.agenda.pop() {
            if at >= self.setup.end {
                break;
            }
            self.now = at;
            self.events += 1;
            self.happen(happening);
        }
        std::mem::take(&mut self.log)
    }

    pub(super) fn plan(&mut self, at: u64, happening: Event) {
        self.made += 1;
        let sender = match happening {
            Event::SignalStarts { frame, .. } | Event::SignalEnds { frame, .. } => self.frames[frame].from,
            _ => 0,
        };
        self.agenda.push(Reverse((at, happening.rank(), sender, self.made, happening)));
    }

    fn happen(&mut self, happening: Event) {
        match happening {
            Event::SendingEnds { station } => {
                self.stations[station].sending = false;
                self.stations[station].bad = false;
                self.look(station);
            }
            Event::SignalStarts { station, frame } => self.signal_starts(station, frame),
            Event::SignalEnds { station, frame } => self.signal_ends(station, frame),
            Event::NavEnds { station } => self.look(station),
            Event::NavOfRtsIsReset { station, frame } => {
                if let Some((rts, before)) = self.stations[station].nav_of_rts
                    && rts == frame
                {
                    self.stations[station].nav = before.max(self.now);
                    self.stations[station].nav_of_rts = None;
                    self.look(station);
                }
            }
            Event::CountBegins { station, count } if self.stations[station].count == count => {
                self.count(station, false);
            }
            Event::SlotEnds { station, count } if self.stations[station].count == count => {
                self.count(station, true);
            }
            Event::CountBegins { .. } | Event::SlotEnds { .. } => {}
            Event::AnswerIsDue { station } => self.answer(station),
            Event::WaitIsOver { station, wait } if self.stations[station].wait == wait => self.wait_is_over(station),
            Event::WaitIsOver { .. } => {}
            Event::Offered { index } => {
                let request = self.requests[index];
                self.stations[request.station].queue.push_back(request);
                if self.stations[request.station].in_hand.is_none() {
                    self.next_frame(request.station);
                }
            }
        }
    }

    fn senses_idle(&self, station: usize) -> bool {
        let s = &self.stations[station];
        !s.sending && s.hears.locked.is_none() && !s.hears.loud(&self.setup.reception)
    }

    /// Handles a change between idle and busy. Rule 3: the backoff counter stops at once, and resumes DIFS or EIFS
    /// after.
    fn look(&mut self, station: usize) {
        let idle = self.senses_idle(station) && self.stations[station].nav <= self.now;
        let s = &mut self.stations[station];
        match (s.idle_since, idle) {
            (None, true) => {
                s.idle_since = Some(self.now);
                self.resume(station);
            }
            (Some(_), false) => {
                s.idle_since = None;
                s.count += 1;
            }
            _ => {}
        }
        let nav = self.stations[station].nav;
        if nav > self.now {
            self.plan(nav, Event::NavEnds { station });
        }
    }

    pub(super) fn space(&self, station: usize) -> u64 {
        let timing = &self.setup.timing;
        if self.stations[station].bad { timing.eifs() } else { timing.difs() }
    }

    fn power(&self, from: usize, to: usize) -> (f64, u64) {
        let secs = self.now as f64 / 1e9;
        let place = |i: usize| {
            let Motion { from, velocity } = self.setup.stations[i];
            [from[0] + velocity[0] * secs, from[1] + velocity[1] * secs]
        };
        let (a, b) = (place(from), place(to));
        let distance = ((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1])).sqrt();
        ((self.setup.power)(distance), (distance / self.setup.light * 1e9).round() as u64)
    }

    pub(super) fn send(&mut self, station: usize, kind: Kind, to: Option<usize>, length: u64, duration: u64) {
        let sequence = if kind == Kind::Data { self.stations[station].sequence } else { 0 };
        let name = format!("{kind:?}").to_lowercase();
        self.log.push(format!("{} {station} {name} {to:?} {sequence}", self.now));
        let frame = self.frames.len();
        self.frames.push(AirFrame { kind, from: station, to, length, duration });
        let s = &mut self.stations[station];
        s.sending = true;
        match (&self.setup.reception, &mut s.hears.locked) {
            (ReceptionModel::Capture { .. }, Some(held)) => held.unreadable = true,
            (_, locked) => *locked = None,
        }
        self.plan(self.now + length, Event::SendingEnds { station });
        self.look(station);
        for other in (0..self.stations.len()).filter(|other| *other != station) {
            let (power, delay) = self.power(station, other);
            if power >= self.setup.floor {
                let start = self.now + delay;
                self.stations[other].hears.pending.push(Signal { frame, power, start, end: start + length });
                self.plan(start + GUARD, Event::SignalStarts { station: other, frame });
                self.plan(start + length, Event::SignalEnds { station: other, frame });
            }
        }
    }

    fn signal_starts(&mut self, station: usize, frame: usize) {
        let ReferenceDcf { setup, stations, frames, now, .. } = self;
        let s = &mut stations[station];
        let index = s.hears.pending.iter().position(|signal| signal.frame == frame).unwrap();
        let signal = s.hears.pending.remove(index);
        let survive = |frame: usize, from, to, ratio| (setup.survival)(&frames[frame], from, to, ratio);
        match s.hears.start(&setup.reception, signal, *now, s.sending, &survive) {
            Started::Lock => s.nav_of_rts = None,
            Started::Ignored => {
                let nav = self.now + self.setup.timing.eifs() + self.frames[frame].length;
                let s = &mut self.stations[station];
                s.nav = s.nav.max(nav);
            }
            Started::Noise => {}
        }
        self.look(station);
    }

    fn signal_ends(&mut self, station: usize, frame: usize) {
        let ReferenceDcf { setup, stations, frames, now, .. } = self;
        let s = &mut stations[station];
        let survive = |frame: usize, from, to, ratio| (setup.survival)(&frames[frame], from, to, ratio);
        s.hears.on_air.retain(|signal| signal.frame != frame);
        if let ReceptionModel::Chunks { noise, .. } = setup.reception {
            s.hears.next_chunk(noise, *now, &survive);
        }
        let Some(held) = s.hears.locked.filter(|held| held.signal.frame == frame) else {
            return self.look(station);
        };
        s.hears.locked = None;
        let air_frame = frames[frame];
        let (ratio, power) = (setup.needed)(&air_frame);
        let good = !held.unreadable
            && held.signal.power >= power
            && match setup.reception {
                ReceptionModel::Capture { .. } => true,
                ReceptionModel::Ratio { .. } => held.ratio >= ratio,
                ReceptionModel::Chunks { .. } => s.chances.uniform() < held.chance,
            };
        let good = good && (setup.frame_error == 0.0 || s.chances.uniform() >= setup.frame_error);
        if good {
            s.bad = false;
            if air_frame.to != Some(station) {
                self.overhear(station, frame);
            }
            self.look(station);
            self.take(station, air_frame);
            return;
        }
        match setup.reception {
            ReceptionModel::Capture { .. } if s.sending => {}
            ReceptionModel::Capture { .. } => s.nav = s.nav.max(*now + setup.timing.eifs()),
            _ => s.bad = true,
        }
        self.look(station);
    }

    /// Rule 7, with the reset of the NAV if no frame follows an RTS.
    fn overhear(&mut self, station: usize, frame: usize) {
        let AirFrame { kind, duration, .. } = self.frames[frame];
        let Timing { slot, sifs, answer, .. } = self.setup.timing;
        let soon = 2 * sifs + answer + 2 * slot;
        let s = &mut self.stations[station];
        let before = s.nav;
        s.nav = before.max(self.now + duration);
        if kind == Kind::Rts && !self.setup.ns2 && duration > soon {
            s.nav_of_rts = Some((frame, before));
            self.plan(self.now + soon, Event::NavOfRtsIsReset { station, frame });
        }
    }
}
