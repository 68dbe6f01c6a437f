//! The naive world: the list of events, and what each of them does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcp::rng::Rng;

use super::ear::{Ear, Signal, Started};
use super::station::Station;

/// Nanoseconds that a signal takes to make the medium busy.
const GUARD: u64 = 5;
/// Nanoseconds of propagation there and back that a wait for an answer allows for.
pub(super) const MARGIN: u64 = 4000;

/// Lengths in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) slot: u64,
    pub(crate) sifs: u64,
    pub(crate) rts: u64,
    /// Of a CTS, and of an ACK.
    pub(crate) answer: u64,
    /// Of an answer at the lowest basic rate.
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

/// The chance that a frame outlives the part of it between two instants, counted from its start, at a ratio.
type Survival = dyn Fn(&AirFrame, u64, u64, f64) -> f64;

/// When, the rank, the sender of a signal, a running number, and what.
type Entry = (u64, u8, usize, u64, Happening);

/// Everything the world has to be told.
pub(crate) struct Setup {
    pub(crate) timing: Timing,
    pub(crate) ear: Ear,
    /// What ns-2 does otherwise.
    pub(crate) ns2: bool,
    pub(crate) rts_above: u64,
    pub(crate) short_retries: u32,
    pub(crate) long_retries: u32,
    pub(crate) stations: Vec<Walk>,
    /// Metres per second.
    pub(crate) light: f64,
    /// Weaker signals do not exist.
    pub(crate) floor: f64,
    /// Power in watts at a distance in metres.
    pub(crate) power: Box<dyn Fn(f64) -> f64>,
    /// Length of a data frame by its size, to one station or to all.
    pub(crate) length: Box<dyn Fn(u64, bool) -> u64>,
    /// Ratio that a frame needs.
    pub(crate) needed: Box<dyn Fn(&AirFrame) -> f64>,
    /// The chance that a frame outlives a stretch of itself at a ratio.
    pub(crate) survival: Box<Survival>,
    pub(crate) seed: u64,
    pub(crate) end: u64,
}

/// A straight way: from here with this velocity, in metres and seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub(crate) from: [f64; 2],
    pub(crate) velocity: [f64; 2],
}

/// A frame that a station is given to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) at: u64,
    pub(crate) station: usize,
    pub(crate) to: Option<usize>,
    /// With the MAC header.
    pub(crate) size: u64,
}

/// What a frame is.
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

/// Something that happens. Of events at one instant the rank decides, of signals then the number of the sender, and
/// last the order in which they were made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Happening {
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
    /// The time after a busy medium is over, or the wait before the count.
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

impl Happening {
    fn rank(self) -> u8 {
        match self {
            Happening::SendingEnds { .. } => 0,
            Happening::SignalEnds { .. } | Happening::NavEnds { .. } => 1,
            Happening::CountBegins { .. }
            | Happening::SlotEnds { .. }
            | Happening::AnswerIsDue { .. }
            | Happening::WaitIsOver { .. } => 2,
            Happening::Offered { .. } => 3,
            Happening::SignalStarts { .. } => 4,
            Happening::NavOfRtsIsReset { .. } => 5,
        }
    }
}

/// The world.
pub(crate) struct World {
    pub(super) setup: Setup,
    offers: Vec<Offer>,
    pub(super) now: u64,
    made: u64,
    agenda: BinaryHeap<Reverse<Entry>>,
    pub(super) stations: Vec<Station>,
    frames: Vec<AirFrame>,
    log: Vec<String>,
    pub(crate) events: u64,
}

impl World {
    pub(crate) fn new(setup: Setup, offers: Vec<Offer>) -> World {
        let stream = |i, what| Rng::stream(setup.seed, &format!("station/{i}/{what}"));
        let station = |i| Station::new(setup.timing.cw_min, stream(i, "backoff"), stream(i, "frame_error"));
        let stations = (0..setup.stations.len()).map(station).collect();
        let mut world = World {
            setup,
            now: 0,
            made: 0,
            agenda: BinaryHeap::new(),
            stations,
            frames: Vec::new(),
            log: Vec::new(),
            events: 0,
            offers,
        };
        for index in 0..world.offers.len() {
            world.plan(world.offers[index].at, Happening::Offered { index });
        }
        world
    }

    /// Lines of time, sender, kind, destination and sequence number of every frame.
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

    pub(super) fn plan(&mut self, at: u64, happening: Happening) {
        self.made += 1;
        let sender = match happening {
            Happening::SignalStarts { frame, .. } | Happening::SignalEnds { frame, .. } => self.frames[frame].from,
            _ => 0,
        };
        self.agenda.push(Reverse((at, happening.rank(), sender, self.made, happening)));
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::SendingEnds { station } => {
                self.stations[station].sending = false;
                self.stations[station].bad = false;
                self.look(station);
            }
            Happening::SignalStarts { station, frame } => self.signal_starts(station, frame),
            Happening::SignalEnds { station, frame } => self.signal_ends(station, frame),
            Happening::NavEnds { station } => self.look(station),
            Happening::NavOfRtsIsReset { station, frame } => {
                if let Some((rts, before)) = self.stations[station].nav_of_rts
                    && rts == frame
                {
                    self.stations[station].nav = before.max(self.now);
                    self.stations[station].nav_of_rts = None;
                    self.look(station);
                }
            }
            Happening::CountBegins { station, count } if self.stations[station].count == count => {
                self.count(station, false);
            }
            Happening::SlotEnds { station, count } if self.stations[station].count == count => {
                self.count(station, true);
            }
            Happening::CountBegins { .. } | Happening::SlotEnds { .. } => {}
            Happening::AnswerIsDue { station } => self.answer(station),
            Happening::WaitIsOver { station, wait } if self.stations[station].wait == wait => {
                self.wait_is_over(station)
            }
            Happening::WaitIsOver { .. } => {}
            Happening::Offered { index } => {
                let offer = self.offers[index];
                self.stations[offer.station].queue.push_back(offer);
                if self.stations[offer.station].in_hand.is_none() {
                    self.next_frame(offer.station);
                }
            }
        }
    }

    fn senses_idle(&self, station: usize) -> bool {
        let s = &self.stations[station];
        !s.sending && s.hears.locked.is_none() && !s.hears.loud(&self.setup.ear)
    }

    /// Has the medium become idle or busy? Rule 3: the counter stops at once, and goes on DIFS or EIFS after.
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
            self.plan(nav, Happening::NavEnds { station });
        }
    }

    pub(super) fn space(&self, station: usize) -> u64 {
        let timing = &self.setup.timing;
        if self.stations[station].bad { timing.eifs() } else { timing.difs() }
    }

    fn power(&self, from: usize, to: usize) -> (f64, u64) {
        let secs = self.now as f64 / 1e9;
        let place = |i: usize| {
            let Walk { from, velocity } = self.setup.stations[i];
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
        match (&self.setup.ear, &mut s.hears.locked) {
            (Ear::Capture { .. }, Some(held)) => held.spoilt = true,
            (_, locked) => *locked = None,
        }
        self.plan(self.now + length, Happening::SendingEnds { station });
        self.look(station);
        for other in (0..self.stations.len()).filter(|other| *other != station) {
            let (power, delay) = self.power(station, other);
            if power >= self.setup.floor {
                let start = self.now + delay;
                self.stations[other].hears.coming.push(Signal { frame, power, start, end: start + length });
                self.plan(start + GUARD, Happening::SignalStarts { station: other, frame });
                self.plan(start + length, Happening::SignalEnds { station: other, frame });
            }
        }
    }

    fn signal_starts(&mut self, station: usize, frame: usize) {
        let World { setup, stations, frames, now, .. } = self;
        let s = &mut stations[station];
        let index = s.hears.coming.iter().position(|signal| signal.frame == frame).unwrap();
        let signal = s.hears.coming.remove(index);
        let survive = |frame: usize, from, to, ratio| (setup.survival)(&frames[frame], from, to, ratio);
        match s.hears.start(&setup.ear, signal, *now, s.sending, &survive) {
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
        let World { setup, stations, frames, now, .. } = self;
        let s = &mut stations[station];
        let survive = |frame: usize, from, to, ratio| (setup.survival)(&frames[frame], from, to, ratio);
        s.hears.in_the_air.retain(|signal| signal.frame != frame);
        if let Ear::Chunks { noise, .. } = setup.ear {
            s.hears.next_chunk(noise, *now, &survive);
        }
        let Some(held) = s.hears.locked.filter(|held| held.signal.frame == frame) else {
            return self.look(station);
        };
        s.hears.locked = None;
        let air_frame = frames[frame];
        let good = !held.spoilt
            && match setup.ear {
                Ear::Capture { .. } => true,
                Ear::Ratio { .. } => held.ratio >= (setup.needed)(&air_frame),
                Ear::Chunks { .. } => s.chances.uniform() < held.chance,
            };
        if good {
            s.bad = false;
            if air_frame.to != Some(station) {
                self.overhear(station, frame);
            }
            self.look(station);
            self.take(station, air_frame);
            return;
        }
        match setup.ear {
            Ear::Capture { .. } if s.sending => {}
            Ear::Capture { .. } => s.nav = s.nav.max(*now + setup.timing.eifs()),
            _ => s.bad = true,
        }
        self.look(station);
    }

    /// Rule 7, with the reset of what an RTS reserved if nothing follows it.
    fn overhear(&mut self, station: usize, frame: usize) {
        let AirFrame { kind, duration, .. } = self.frames[frame];
        let Timing { slot, sifs, answer, .. } = self.setup.timing;
        let soon = 2 * sifs + answer + 2 * slot;
        let s = &mut self.stations[station];
        let before = s.nav;
        s.nav = before.max(self.now + duration);
        if kind == Kind::Rts && !self.setup.ns2 && duration > soon {
            s.nav_of_rts = Some((frame, before));
            self.plan(self.now + soon, Happening::NavOfRtsIsReset { station, frame });
        }
    }
}
