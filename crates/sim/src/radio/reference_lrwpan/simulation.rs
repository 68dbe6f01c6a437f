//! The simulation: at every decision a station goes through all transmissions again.

use std::collections::{BTreeMap, VecDeque};

use tcp::rng::Rng;

use crate::radio::build::lrwpan::LrWpanRadio;
use crate::radio::receiver::Reception;

/// Nanoseconds of the standard (IEEE 802.15.4-2011 §6.4, §8).
const PERIOD: u64 = 320_000;
const CCA: u64 = 128_000;
const TURNAROUND: u64 = 192_000;
const ACK_WAIT: u64 = 864_000;
const BYTE: u64 = 32_000;
/// From when on a signal is sensed.
const GUARD: u64 = 5;

#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) at: u64,
    pub(super) station: usize,
    pub(super) to: Option<usize>,
    pub(super) size: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Sent {
    from: usize,
    to: Option<usize>,
    is_ack: bool,
    sequence: u32,
    start: u64,
    length: u64,
}

/// What a station does next.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Step {
    Request(usize),
    /// End of a CCA, with NB and BE.
    Cca(u32, u32),
    Send,
    Ack(usize),
    Timeout,
    /// The end of a frame, by its number, arrives.
    Arrival(usize),
}

#[derive(Debug)]
struct Station {
    rng: Rng,
    queue: VecDeque<Request>,
    current: Option<Request>,
    attempts: u32,
    numbered: bool,
    awaits_ack: bool,
    sequence: u32,
    next_frame_at: u64,
    responding_until: u64,
    /// Times of the pending CCA or transmission, and of the timeout; steps at other times are stale.
    access_at: Option<u64>,
    timeout_at: Option<u64>,
    response: bool,
}

/// What a receiver is found to be at an instant.
#[derive(Debug, Default)]
struct Heard {
    busy: bool,
    /// The last instant at which it was busy.
    idle_since: u64,
    transmitting: bool,
    /// Frames received without error, by number.
    good: Vec<usize>,
}

pub(super) struct Reference<'a> {
    radio: &'a LrWpanRadio,
    places: &'a [[f64; 2]],
    stations: Vec<Station>,
    requests: &'a [Request],
    air: Vec<Sent>,
    planned: usize,
    steps: BTreeMap<(u64, u8, usize, usize), Step>,
    now: u64,
    log: Vec<String>,
}

impl<'a> Reference<'a> {
    pub(super) fn new(
        radio: &'a LrWpanRadio,
        places: &'a [[f64; 2]],
        requests: &'a [Request],
        rngs: Vec<Rng>,
    ) -> Reference<'a> {
        let station = |rng| Station {
            rng,
            queue: VecDeque::new(),
            current: None,
            attempts: 0,
            numbered: false,
            awaits_ack: false,
            sequence: 0,
            next_frame_at: 0,
            responding_until: 0,
            access_at: None,
            timeout_at: None,
            response: false,
        };
        let stations = rngs.into_iter().map(station).collect();
        let (air, steps, log) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut reference = Reference { radio, places, stations, requests, air, planned: 0, steps, now: 0, log };
        for (index, request) in requests.iter().enumerate() {
            reference.plan(request.at, request.station, Step::Request(index));
        }
        reference
    }

    fn plan(&mut self, at: u64, station: usize, step: Step) {
        let rank = if matches!(step, Step::Arrival(_)) { 0 } else { 1 };
        self.planned += 1;
        self.steps.insert((at, rank, station, self.planned), step);
    }

    fn reaches(&self, from: usize, to: usize) -> (f64, u64) {
        let [[ax, ay], [bx, by]] = [self.places[from], self.places[to]];
        let distance = ((ax - bx) * (ax - bx) + (ay - by) * (ay - by)).sqrt();
        (self.radio.propagation.rx_power(distance), (distance / 299_792_458.0 * 1e9).round() as u64)
    }

    /// Goes through all that was ever sent, as a station has heard it until now.
    fn listen(&self, at: usize) -> Heard {
        let Reception::Sinr { sensitivity, energy_detect, noise } = self.radio.rules.reception else {
            unreachable!("profile std has it")
        };
        /// In the order in which those of one instant happen.
        #[derive(PartialEq, Eq, PartialOrd, Ord)]
        enum What {
            OwnEnd,
            End,
            OwnStart,
            Start,
        }
        let mut changes: Vec<(u64, What, usize)> = Vec::new();
        for (number, sent) in self.air.iter().enumerate() {
            let (power, delay) = self.reaches(sent.from, at);
            if sent.from == at {
                changes.push((sent.start, What::OwnStart, number));
                changes.push((sent.start + sent.length, What::OwnEnd, number));
            } else if power >= self.radio.floor {
                changes.push((sent.start + delay + GUARD, What::Start, number));
                changes.push((sent.start + delay + sent.length, What::End, number));
            }
        }
        changes.retain(|(time, what, _)| *time < self.now || (*time == self.now && *what != What::Start));
        changes.sort_unstable();
        let mut heard = Heard::default();
        let (mut on_air, mut lock): (Vec<usize>, Option<(usize, f64)>) = (Vec::new(), None);
        let mut own: Option<usize> = None;
        for (time, what, number) in changes {
            let was_busy = heard.busy;
            let power = |number: usize| self.reaches(self.air[number].from, at).0;
            match what {
                What::OwnEnd if own == Some(number) => own = None,
                What::OwnEnd => {}
                What::OwnStart => (own, lock) = (Some(number), None),
                What::Start => {
                    on_air.push(number);
                    on_air.sort_unstable();
                    let free = lock.is_none() && own.is_none();
                    if free && power(number) >= sensitivity {
                        lock = Some((number, f64::INFINITY));
                    }
                    if let Some((locked, least)) = lock {
                        let others: f64 =
                            on_air.iter().filter(|other| **other != locked).map(|other| power(*other)).sum();
                        lock = Some((locked, least.min(power(locked) / (noise + others))));
                    }
                }
                What::End => {
                    on_air.retain(|other| *other != number);
                    if let Some((locked, least)) = lock.filter(|(locked, _)| *locked == number) {
                        lock = None;
                        if least >= self.radio.rules.ratio {
                            heard.good.push(locked);
                        }
                    }
                }
            }
            let energy: f64 = on_air.iter().map(|number| power(*number)).sum();
            heard.busy = own.is_some() || lock.is_some() || energy >= energy_detect;
            if was_busy && !heard.busy {
                heard.idle_since = time;
            }
        }
        heard.transmitting = own.is_some();
        heard
    }

    fn back_off(&mut self, at: usize, since: u64, nb: u32, be: u32) {
        let periods = self.stations[at].rng.below(1 << be);
        let due = since + PERIOD * periods + CCA;
        self.stations[at].access_at = Some(due);
        self.plan(due, at, Step::Cca(nb, be));
    }

    fn contend(&mut self, at: usize) {
        let station = &self.stations[at];
        let since = self.now.max(station.next_frame_at).max(station.responding_until);
        self.back_off(at, since, 0, self.radio.rules.min_be);
    }

    fn next(&mut self, at: usize) {
        let board = self.radio.rules.board_time.as_nanos();
        let station = &mut self.stations[at];
        (station.current, station.attempts, station.numbered) = (station.queue.pop_front(), 0, false);
        (station.awaits_ack, station.timeout_at) = (false, None);
        if station.current.is_some() {
            station.next_frame_at = station.next_frame_at.max(self.now + board);
            self.contend(at);
        }
    }

    fn try_again(&mut self, at: usize) {
        let longest = self.radio.rules.retry_delay.as_nanos();
        let station = &mut self.stations[at];
        station.attempts += 1;
        (station.awaits_ack, station.timeout_at) = (false, None);
        if station.attempts > self.radio.rules.max_retries {
            return self.next(at);
        }
        let delay = if longest > 0 { station.rng.below(longest + 1) } else { 0 };
        station.next_frame_at = self.now + delay;
        self.contend(at);
    }

    fn ifs(size: u64) -> u64 {
        if size <= 18 { 192_000 } else { 640_000 }
    }

    fn send(&mut self, sent: Sent) {
        let kind = if sent.is_ack { "ack" } else { "data" };
        let to = sent.to.map(|to| to as u32);
        self.log.push(format!("{} {} {kind} {to:?} {}", sent.start, sent.from, sent.sequence));
        let number = self.air.len();
        self.air.push(sent);
        for at in (0..self.places.len()).filter(|at| *at != sent.from && sent.to.is_none_or(|to| to == *at)) {
            let (power, delay) = self.reaches(sent.from, at);
            if power >= self.radio.rules.reception.min_readable_power() {
                self.plan(sent.start + delay + sent.length, at, Step::Arrival(number));
            }
        }
    }

    fn send_data(&mut self, at: usize) {
        let now = self.now;
        let header = self.radio.rules.unicast_header.0;
        let station = &mut self.stations[at];
        let request = station.current.expect("a station sends what it has");
        if !std::mem::replace(&mut station.numbered, true) {
            station.sequence += 1;
        }
        let size = request.size + header;
        let length = (6 + size) * BYTE;
        let end = now + length;
        station.awaits_ack = request.to.is_some();
        station.next_frame_at = end + Self::ifs(size);
        let wait = if request.to.is_some() { ACK_WAIT } else { Self::ifs(size).max(TURNAROUND) };
        station.timeout_at = Some(end + wait);
        let sent = Sent { from: at, to: request.to, is_ack: false, sequence: station.sequence, start: now, length };
        self.plan(end + wait, at, Step::Timeout);
        self.send(sent);
    }

    fn on_cca(&mut self, at: usize, nb: u32, be: u32) {
        let (now, began) = (self.now, self.now - CCA);
        if self.stations[at].responding_until > began {
            let since = self.stations[at].responding_until.max(now);
            return self.back_off(at, since, nb, be);
        }
        let heard = self.listen(at);
        if !heard.busy && heard.idle_since <= began {
            self.stations[at].access_at = Some(now + TURNAROUND);
            return self.plan(now + TURNAROUND, at, Step::Send);
        }
        let rules = &self.radio.rules;
        let (nb, be) = (nb + 1, (be + 1).min(rules.max_be));
        match (nb <= rules.max_backoffs, rules.retries_access) {
            (true, _) => self.back_off(at, now, nb, be),
            (false, true) => self.try_again(at),
            (false, false) => self.next(at),
        }
    }

    fn on_arrival(&mut self, at: usize, number: usize) {
        let (now, sent, heard) = (self.now, self.air[number], self.listen(at));
        if !heard.good.contains(&number) {
            return;
        }
        let station = &mut self.stations[at];
        if sent.is_ack {
            let request = station.current.filter(|current| station.awaits_ack && current.to == Some(sent.from));
            if let Some(request) = request {
                station.next_frame_at = now + Self::ifs(request.size + self.radio.rules.unicast_header.0);
                self.next(at);
            }
        } else if sent.to.is_some() && !station.response && !heard.transmitting {
            station.response = true;
            station.responding_until = now + TURNAROUND + 11 * BYTE;
            self.plan(now + TURNAROUND, at, Step::Ack(sent.from));
        }
    }

    /// The frames that are transmitted until then.
    pub(super) fn run(mut self, end: u64) -> Vec<String> {
        while let Some(((at, _, station, _), step)) = self.steps.pop_first() {
            self.now = at;
            if at >= end {
                break;
            }
            let is_due = |pending: &mut Option<u64>| pending.take_if(|due| *due == at).is_some();
            match step {
                Step::Request(index) => {
                    self.stations[station].queue.push_back(self.requests[index]);
                    if self.stations[station].current.is_none() {
                        self.next(station);
                    }
                }
                Step::Cca(nb, be) if is_due(&mut self.stations[station].access_at) => self.on_cca(station, nb, be),
                Step::Send if is_due(&mut self.stations[station].access_at) => self.send_data(station),
                Step::Ack(to) => {
                    self.stations[station].response = false;
                    let length = 11 * BYTE;
                    self.send(Sent { from: station, to: Some(to), is_ack: true, sequence: 0, start: at, length });
                }
                Step::Timeout if is_due(&mut self.stations[station].timeout_at) => {
                    if self.stations[station].awaits_ack { self.try_again(station) } else { self.next(station) }
                }
                Step::Arrival(number) => self.on_arrival(station, number),
                Step::Cca(..) | Step::Send | Step::Timeout => {}
            }
        }
        self.log
    }
}
