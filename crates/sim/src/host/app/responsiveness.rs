//! `responsiveness`: how long small exchanges take while the path is full (draft-ietf-ippm-responsiveness, TCP-only case).
//!
//! The connections of the load have the numbers below `flows`, those of the probes follow. Answers go before bulk data that has not
//! been handed to the send buffer, as streams of HTTP/2 do.

use std::collections::VecDeque;

use serde::Serialize;
use tcp::units::{Bytes, Span, Time};

use super::command::{Command, End, Input};
use super::durations::mean;

/// A connection of the load is added at this distance, and results are averages over these intervals.
const INTERVAL: Span = Span::from_millis(5000);
/// Intervals of an average, and averages that are to agree for a result to be stable.
const AVERAGED: u64 = 4;
/// The first probes.
const FIRST_PROBE: Span = Span::from_millis(1000);
/// A request, and its answer.
const REQUEST: Bytes = Bytes(328);
const ANSWER: Bytes = Bytes(1);
/// Bulk data is handed to the send buffer in such pieces when it has little left: TCP_NOTSENT_LOWAT.
const PIECE: Bytes = Bytes(131_072);
/// What a pair of probes takes of the path, headers, handshake and FINs included, both ways together (ours: 25 packets of 60 B).
const PAIR_BITS: f64 = 8.0 * 1500.0;
/// The part of the rate of the load that probes may take.
const PROBE_SHARE: f64 = 0.05;
/// The part of all samples, the least, that their mean is taken of.
const KEPT: f64 = 0.95;
/// Averages that differ less are stable: standard deviation / the last.
const STABLE: f64 = 0.05;

/// Connections, directions and distances.
#[derive(Clone, Debug)]
pub(crate) struct ResponsivenessPlan {
    pub(crate) flows: usize,
    /// Connections of probes, at most.
    pub(crate) probes: usize,
    pub(crate) client: End,
    /// The ends that send bulk data.
    pub(crate) loading: [bool; 2],
    /// Between two pairs of probes.
    pub(crate) every: Span,
}

/// A client, a server, and what they have measured.
#[derive(Debug)]
pub(crate) struct Responsiveness {
    plan: ResponsivenessPlan,
    started: Time,
    /// When the last thing happened.
    last: Time,
    loads: Vec<Load>,
    next_load: Time,
    next_probe: Time,
    /// Connection of the load that has the next probe.
    turn: usize,
    /// Of each connection of a probe: when it was opened, and after the handshake when the request was sent.
    foreign: Vec<Time>,
    /// Bytes of bulk data that have arrived.
    delivered: Bytes,
    samples: [Vec<Sample>; 3],
}

/// A connection of the load: what is under way from its source and from its sink.
#[derive(Clone, Debug, Default)]
struct Load {
    connected: bool,
    messages: [VecDeque<Message>; 2],
    asked: VecDeque<Time>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Message {
    /// The request that a load begins with.
    Begin,
    Piece,
    Request,
    Answer,
}

/// What is timed.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// SYN to SYN-ACK of a new connection.
    Handshake,
    /// Request to answer on it.
    Foreign,
    /// Request to answer on a connection of the load.
    Loaded,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    began: Time,
    ended: Time,
}

/// What a measurement of responsiveness found, in round trips per minute: over the last four intervals of 5 s.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ResponsivenessSummary {
    /// Mean of both that follow.
    pub rpm: Option<f64>,
    /// Of new connections: handshakes and exchanges.
    pub rpm_foreign: Option<f64>,
    /// Of exchanges on connections of the load.
    pub rpm_loaded: Option<f64>,
    /// 1 if the last four averages have a standard deviation below 5 % of the last, 0 if not.
    pub rpm_stable: Option<f64>,
    /// Exchanges on new connections that were answered.
    pub probes_answered: u64,
}

impl Responsiveness {
    pub(crate) fn new(plan: ResponsivenessPlan) -> Responsiveness {
        let (loads, foreign) = (Vec::new(), Vec::new());
        let [started, last, next_load, next_probe] = [Time::ZERO; 4];
        let (turn, delivered, samples) = (0, Bytes::ZERO, Default::default());
        Responsiveness { plan, started, last, loads, next_load, next_probe, turn, foreign, delivered, samples }
    }

    pub(super) fn on(&mut self, now: Time, input: Input, commands: &mut Vec<Command>) {
        self.last = now;
        match input {
            Input::Start => {
                (self.started, self.next_load, self.next_probe) = (now, now, now + FIRST_PROBE);
                self.on_due(now, commands);
            }
            Input::Due => self.on_due(now, commands),
            Input::Connected(connection) => self.on_connected(now, connection, commands),
            Input::Message { connection, reader } if connection < self.plan.flows => {
                self.on_load_message(now, connection, reader, commands);
            }
            Input::Message { connection, reader } => self.on_probe_message(now, connection, reader, commands),
            Input::Room { connection, end } => self.load(connection, end, commands),
            Input::Datagram { .. } => {}
        }
    }

    fn on_due(&mut self, now: Time, commands: &mut Vec<Command>) {
        if now >= self.next_load && self.loads.len() < self.plan.flows {
            self.open_load(commands);
            self.next_load = now + INTERVAL;
        }
        if now >= self.next_probe {
            self.probe(now, commands);
            self.next_probe = now + self.distance(now);
        }
        let loads_follow = self.loads.len() < self.plan.flows;
        commands.push(Command::Wake(if loads_follow { self.next_load.min(self.next_probe) } else { self.next_probe }));
    }

    /// To the next pair of probes: these take at most their share of what the load has achieved; nothing yet means a second.
    fn distance(&self, now: Time) -> Span {
        let rate = self.delivered.as_f64() * 8.0 / now.since(self.started).as_secs_f64();
        let least = if rate > 0.0 { Span::from_secs_f64(PAIR_BITS / (PROBE_SHARE * rate)) } else { FIRST_PROBE };
        self.plan.every.max(least)
    }

    fn open_load(&mut self, commands: &mut Vec<Command>) {
        let connection = self.loads.len();
        self.loads.push(Load::default());
        commands.push(Command::Open(connection));
        let client = self.plan.client;
        if self.plan.loading[client.peer() as usize] {
            self.send(connection, client, Message::Begin, commands);
        }
        self.load(connection, client, commands);
    }

    /// An end of a connection of the load sends the next piece of bulk data, if it is one that does.
    fn load(&mut self, connection: usize, end: End, commands: &mut Vec<Command>) {
        if self.plan.loading[end as usize] {
            self.send(connection, end, Message::Piece, commands);
            commands.push(Command::TellRoom { connection, end });
        }
    }

    fn send(&mut self, connection: usize, end: End, message: Message, commands: &mut Vec<Command>) {
        self.loads[connection].messages[end as usize].push_back(message);
        let bytes = match message {
            Message::Begin | Message::Request => REQUEST,
            Message::Piece => PIECE,
            Message::Answer => ANSWER,
        };
        commands.push(Command::Send { connection, end, bytes });
    }

    fn probe(&mut self, now: Time, commands: &mut Vec<Command>) {
        if self.foreign.len() < self.plan.probes {
            commands.push(Command::Open(self.plan.flows + self.foreign.len()));
            self.foreign.push(now);
        }
        let connected: Vec<usize> = (0..self.loads.len()).filter(|load| self.loads[*load].connected).collect();
        if !connected.is_empty() {
            let connection = connected[self.turn % connected.len()];
            self.turn += 1;
            self.loads[connection].asked.push_back(now);
            self.send(connection, self.plan.client, Message::Request, commands);
        }
    }

    fn on_connected(&mut self, now: Time, connection: usize, commands: &mut Vec<Command>) {
        match connection.checked_sub(self.plan.flows) {
            None => self.loads[connection].connected = true,
            Some(probe) => {
                self.add(Kind::Handshake, self.foreign[probe], now);
                self.foreign[probe] = now;
                commands.push(Command::Send { connection, end: self.plan.client, bytes: REQUEST });
            }
        }
    }

    fn on_load_message(&mut self, now: Time, connection: usize, reader: End, commands: &mut Vec<Command>) {
        let writer = reader.peer();
        match self.loads[connection].messages[writer as usize].pop_front() {
            Some(Message::Begin) => self.load(connection, reader, commands),
            Some(Message::Piece) => self.delivered += PIECE,
            Some(Message::Request) => self.send(connection, reader, Message::Answer, commands),
            Some(Message::Answer) => {
                let asked = self.loads[connection].asked.pop_front().expect("an answer follows a request");
                self.add(Kind::Loaded, asked, now);
            }
            None => {}
        }
    }

    fn on_probe_message(&mut self, now: Time, connection: usize, reader: End, commands: &mut Vec<Command>) {
        if reader == self.plan.client {
            self.add(Kind::Foreign, self.foreign[connection - self.plan.flows], now);
            commands.push(Command::Close(connection));
        } else {
            commands.push(Command::Send { connection, end: reader, bytes: ANSWER });
        }
    }

    fn add(&mut self, kind: Kind, began: Time, ended: Time) {
        self.samples[kind as usize].push(Sample { began, ended });
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.samples.iter().map(|samples| (samples.capacity() * size_of::<Sample>()) as u64).sum()
    }

    /// Of what began in the measured time. Intervals count from the start; one that has not ended, at the end of the run or of the
    /// measurement, does not count.
    pub(super) fn summary(&self, warmup: Time, now: Time) -> ResponsivenessSummary {
        let end = if now.since(self.last) > INTERVAL { self.last } else { now };
        let intervals = end.since(self.started).as_nanos() / INTERVAL.as_nanos();
        let average = |last: u64| Rpm::of(self.within(warmup, last.saturating_sub(AVERAGED)..last));
        let Rpm { foreign, loaded, rpm } = average(intervals);
        let first = warmup.since(self.started).as_nanos().div_ceil(INTERVAL.as_nanos());
        let averages: Vec<f64> = (first + AVERAGED..=intervals).filter_map(|last| average(last).rpm).collect();
        let recent = averages.len().checked_sub(AVERAGED as usize).map(|from| &averages[from..]);
        let stable = recent.map(|recent| f64::from(u8::from(is_stable(recent))));
        let probes_answered =
            self.samples[Kind::Foreign as usize].iter().filter(|sample| sample.began >= warmup).count();
        ResponsivenessSummary {
            rpm,
            rpm_foreign: foreign,
            rpm_loaded: loaded,
            rpm_stable: stable,
            probes_answered: probes_answered as u64,
        }
    }

    /// The samples, by kind in ms, that ended in these intervals and began after `warmup`.
    fn within(&self, warmup: Time, intervals: std::ops::Range<u64>) -> [Vec<f64>; 3] {
        let at = |interval: u64| self.started + INTERVAL * interval;
        let (from, to) = (at(intervals.start), at(intervals.end));
        [0, 1, 2].map(|kind| {
            let samples = self.samples[kind].iter();
            let wanted = samples.filter(|sample| sample.began >= warmup && sample.ended > from && sample.ended <= to);
            wanted.map(|sample| 1e3 * sample.ended.since(sample.began).as_secs_f64()).collect()
        })
    }
}

/// Round trips per minute.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Rpm {
    foreign: Option<f64>,
    loaded: Option<f64>,
    rpm: Option<f64>,
}

impl Rpm {
    /// Of times in milliseconds.
    fn of([handshakes, exchanges, loaded]: [Vec<f64>; 3]) -> Rpm {
        let both = trimmed_mean(handshakes).zip(trimmed_mean(exchanges));
        let foreign = both.map(|(tcp, http)| 60_000.0 / ((tcp + http) / 2.0));
        let loaded = trimmed_mean(loaded).map(|loaded| 60_000.0 / loaded);
        Rpm { foreign, loaded, rpm: foreign.zip(loaded).map(|(foreign, loaded)| (foreign + loaded) / 2.0) }
    }
}

/// The mean of the least 95 %.
fn trimmed_mean(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let kept = ((KEPT * values.len() as f64) as usize).max(1).min(values.len());
    mean(&values[..kept])
}

fn is_stable(averages: &[f64]) -> bool {
    let (Some(mean), Some(last)) = (mean(averages), averages.last()) else { return false };
    let squares = averages.iter().map(|average| (average - mean) * (average - mean)).sum::<f64>();
    libm::sqrt(squares / averages.len() as f64) < STABLE * last
}

#[cfg(test)]
mod tests;
