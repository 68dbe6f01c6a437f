//! The naive world: the list of events, and what each of them does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcp::rng::Rng;

use super::ear::{Ear, Signal, Started};
use super::station::{Answer, InHand, State, Station};

/// Nanoseconds that a signal takes to make the medium busy (§15.2).
const GUARD: u64 = 5;
/// Nanoseconds of propagation there and back that a wait for an answer allows for (§6.3, rule 6).
const MARGIN: u64 = 4000;

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
    fn difs(&self) -> u64 {
        self.sifs + 2 * self.slot
    }

    fn eifs(&self) -> u64 {
        self.sifs + self.slowest_answer + self.difs()
    }
}

/// Everything the world has to be told.
pub(crate) struct Setup {
    pub(crate) timing: Timing,
    pub(crate) ear: Ear,
    /// The departures of §6.4.
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
    pub(crate) survival: Box<dyn Fn(&AirFrame, u64, u64, f64) -> f64>,
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
    duration: u64,
}

/// Something that happens. Of events at one instant the rank decides (§2), of signals then the number of the sender, and
/// last the order in which they were made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Happening {
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
    setup: Setup,
    offers: Vec<Offer>,
    now: u64,
    made: u64,
    agenda: BinaryHeap<Reverse<(u64, u8, usize, u64, Happening)>>,
    stations: Vec<Station>,
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

    fn plan(&mut self, at: u64, happening: Happening) {
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

    // ------------------------------------------------------------------------------------------------- the medium

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

    fn space(&self, station: usize) -> u64 {
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

    fn send(&mut self, station: usize, kind: Kind, to: Option<usize>, length: u64, duration: u64) {
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

    // ------------------------------------------------------------------------------------------------ the counter

    fn draw(&mut self, station: usize, not_before: u64) {
        let s = &mut self.stations[station];
        let values = if self.setup.ns2 { s.window } else { s.window + 1 };
        s.slots = Some(s.draws.below(u64::from(values)) as u32);
        s.not_before = not_before;
        self.resume(station);
    }

    fn resume(&mut self, station: usize) {
        let space = self.space(station);
        let s = &mut self.stations[station];
        s.count += 1;
        let (count, not_before) = (s.count, s.not_before);
        if let (Some(_), Some(since)) = (s.slots, s.idle_since) {
            self.plan(self.now.max(not_before).max(since + space), Happening::CountBegins { station, count });
        }
    }

    fn count(&mut self, station: usize, slot_over: bool) {
        let s = &mut self.stations[station];
        let Some(slots) = &mut s.slots else { return };
        *slots -= u32::from(slot_over);
        if *slots > 0 {
            let count = s.count;
            return self.plan(self.now + self.setup.timing.slot, Happening::SlotEnds { station, count });
        }
        s.slots = None;
        if s.state == State::Contends {
            self.begin(station);
        }
    }

    // ----------------------------------------------------------------------------------------------- the exchange

    /// Rules 1 and 12.
    fn next_frame(&mut self, station: usize) {
        let s = &mut self.stations[station];
        s.state = State::Idle;
        let Some(offer) = s.queue.pop_front() else { return };
        s.sequence += 1;
        s.in_hand = Some(InHand { offer, short: 0, long: 0 });
        s.state = State::Contends;
        if s.slots.is_some() {
            return;
        }
        let idle_since = s.idle_since;
        let long_idle = idle_since.is_some_and(|since| since + self.space(station) <= self.now);
        if long_idle && !self.setup.ns2 {
            return self.begin(station);
        }
        let difs = self.setup.timing.difs();
        let idle = self.stations[station].idle_since.is_some();
        self.draw(station, if self.setup.ns2 && idle { self.now + difs } else { self.now });
    }

    fn begin(&mut self, station: usize) {
        let offer = self.stations[station].in_hand.expect("a station that contends has a frame").offer;
        let Timing { sifs, rts, answer, .. } = self.setup.timing;
        match offer.to {
            None => {
                self.stations[station].state = State::Broadcasts;
                let length = (self.setup.length)(offer.size, true);
                self.send(station, Kind::Data, None, length, 0);
                self.wait(station, length);
            }
            Some(_) if offer.size > self.setup.rts_above => {
                self.stations[station].state = State::WaitsForCts;
                let duration = 3 * sifs + 2 * answer + (self.setup.length)(offer.size, false);
                self.send(station, Kind::Rts, offer.to, rts, duration);
                self.wait(station, rts + self.patience());
            }
            Some(_) => self.send_data(station),
        }
    }

    fn send_data(&mut self, station: usize) {
        let offer = self.stations[station].in_hand.expect("data are sent by a station that has a frame").offer;
        self.stations[station].state = State::WaitsForAck;
        let length = (self.setup.length)(offer.size, false);
        self.send(station, Kind::Data, offer.to, length, self.setup.timing.sifs + self.setup.timing.answer);
        self.wait(station, length + self.patience());
    }

    /// Rule 6.
    fn patience(&self) -> u64 {
        let Timing { sifs, answer, slowest_answer, .. } = self.setup.timing;
        sifs + MARGIN + if self.setup.ns2 { answer } else { slowest_answer }
    }

    fn wait(&mut self, station: usize, length: u64) {
        self.stations[station].wait += 1;
        let wait = self.stations[station].wait;
        self.plan(self.now + length, Happening::WaitIsOver { station, wait });
    }

    /// Rules 5 and 9.
    fn wait_is_over(&mut self, station: usize) {
        let Timing { cw_max, .. } = self.setup.timing;
        // The failure is as good as a bad frame: slots are counted from EIFS after the end of what was sent.
        let patience = self.patience();
        let from = if self.setup.ns2 { self.now } else { self.now - patience + self.setup.timing.eifs() };
        let s = &mut self.stations[station];
        let in_hand = s.in_hand.as_mut().expect("a station that waits has a frame");
        let over = match s.state {
            State::Broadcasts => return self.finish(station, self.now),
            State::WaitsForAck if in_hand.offer.size > self.setup.rts_above => {
                in_hand.long += 1;
                in_hand.long == self.setup.long_retries
            }
            State::WaitsForAck | State::WaitsForCts => {
                in_hand.short += 1;
                in_hand.short == self.setup.short_retries
            }
            other => panic!("nothing to wait for in {other:?}"),
        };
        if over {
            return self.finish(station, from);
        }
        s.window = (2 * s.window + 1).min(cw_max);
        s.state = State::Contends;
        self.draw(station, from);
    }

    /// Rule 4.
    fn finish(&mut self, station: usize, from: u64) {
        let s = &mut self.stations[station];
        s.window = self.setup.timing.cw_min;
        s.in_hand = None;
        s.wait += 1;
        self.draw(station, from);
        self.next_frame(station);
    }

    /// A good frame has ended at a station.
    fn take(&mut self, station: usize, frame: AirFrame) {
        if frame.to != Some(station) {
            return;
        }
        let Timing { sifs, answer, .. } = self.setup.timing;
        let s = &mut self.stations[station];
        let peer = s.in_hand.and_then(|in_hand| in_hand.offer.to) == Some(frame.from);
        match frame.kind {
            Kind::Rts => {
                let engaged = s.answer.is_some() || s.sending || !matches!(s.state, State::Idle | State::Contends);
                // Rule 8; in ns-2 the medium is looked at when the CTS is due.
                let reserved = s.nav > self.now && !self.setup.ns2;
                if !engaged && !reserved {
                    self.will_answer(station, Answer::Cts { to: frame.from, duration: frame.duration - answer - sifs });
                }
            }
            Kind::Cts if s.state == State::WaitsForCts && peer => {
                s.state = State::Cleared;
                s.wait += 1;
                s.in_hand.as_mut().expect("it has a frame").short = 0;
                self.will_answer(station, Answer::Data);
            }
            Kind::Data if s.answer.is_none() && !s.sending => {
                self.will_answer(station, Answer::Ack { to: frame.from });
            }
            Kind::Ack if s.state == State::WaitsForAck && peer => self.finish(station, self.now),
            _ => {}
        }
    }

    fn will_answer(&mut self, station: usize, answer: Answer) {
        self.stations[station].answer = Some(answer);
        self.plan(self.now + self.setup.timing.sifs, Happening::AnswerIsDue { station });
    }

    fn answer(&mut self, station: usize) {
        let Some(answer) = self.stations[station].answer.take() else { return };
        let length = self.setup.timing.answer;
        let idle = self.stations[station].idle_since.is_some();
        match answer {
            _ if self.stations[station].sending => {}
            Answer::Ack { to } => self.send(station, Kind::Ack, Some(to), length, 0),
            Answer::Cts { to, duration } if idle || !self.setup.ns2 => {
                self.send(station, Kind::Cts, Some(to), length, duration);
            }
            Answer::Cts { .. } => {}
            Answer::Data if idle || !self.setup.ns2 => self.send_data(station),
            Answer::Data => {
                let s = &mut self.stations[station];
                s.window = (2 * s.window + 1).min(self.setup.timing.cw_max);
                s.state = State::Contends;
                self.draw(station, self.now);
            }
        }
    }
}
