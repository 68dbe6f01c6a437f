//! One channel and its 802.11 stations: who sends when, who hears it, and what comes of it (networks.md §6.3, §6.4).
//!
//! A station with something to send has one pending access; a bystander has no events at all. Frames that nobody waits
//! for leave nothing behind but their signals.

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::contention::Contention;
use super::frame::{Content, Frame, FrameId, Frames, Kind, StationId};
use super::hearing::{Hearer, Hearing};
use super::message::{Message, Messages};
use super::queue::{InterfaceQueue, Request};
use super::rate_control::{Ladder, RateControl};
use super::receiver::{Arrival, Fate, Receiver, Waits};
use super::rules::Rules;
use crate::channel::ChannelId;
use crate::core::Core;
use crate::event::{Event, RadioEvent};
use crate::record::{AirFrame, Record};

/// Where a station is in the exchange under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Nothing to send.
    Idle,
    /// A frame waits for the medium.
    Contending,
    AwaitsCts,
    /// The CTS has come; the data follow.
    Cleared,
    AwaitsAck,
    Broadcasts,
}

/// The frame a station holds until it is through or given up.
#[derive(Clone, Copy, Debug)]
struct Job {
    request: Request,
    sequence: u32,
    /// Of the attempt under way.
    rate: Rate,
    /// Attempts that failed: of RTS and of short frames; of long frames.
    short_failures: u32,
    long_failures: u32,
    /// The receiver has it, though the sender may not know.
    handed_over: bool,
}

/// What a station is about to answer.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Response {
    Cts { to: StationId, rate: Rate, reserves: Span },
    Ack { to: StationId, rate: Rate },
    Data,
}

/// What a station has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) data_frames: u64,
    pub(crate) control_frames: u64,
    /// Attempts without an answer.
    pub(crate) failures: u64,
    /// Frames given up.
    pub(crate) given_up: u64,
    /// Time on the air.
    pub(crate) airtime: Span,
}

/// One station.
#[derive(Debug)]
struct Station {
    receiver: Receiver,
    contention: Contention,
    queue: InterfaceQueue,
    ladder: Ladder,
    job: Option<Job>,
    phase: Phase,
    /// When the pending `Access` is due; one at another time is stale.
    access_at: Option<Time>,
    /// When the wait for a CTS or an ACK, or a broadcast, is over.
    over_at: Option<Time>,
    response: Option<(Time, Response)>,
    sequence: u32,
    /// The last sequence number taken from each sender.
    taken: Vec<(StationId, u32)>,
    counts: Counts,
}

/// What the network layer is told.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Upcall {
    /// A packet has reached `at`.
    Packet { at: StationId, from: StationId, packet: crate::packet::PacketId },
    /// A message has reached `at`.
    Message { at: StationId, from: StationId, message: Message },
    /// `at` has given up; `lost` if nobody has what it was to deliver.
    GivenUp { at: StationId, request: Request, lost: bool },
    /// `at` has dropped a request: its queue was full.
    QueueFull { request: Request },
    /// `at` has dropped a request that had waited too long.
    Expired { request: Request },
}

/// What a station draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Draws {
    Backoff,
    FrameError,
}

impl Draws {
    /// As the names of random streams have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Draws::Backoff => "backoff",
            Draws::FrameError => "frame_error",
        }
    }
}

/// The channel.
#[derive(Debug)]
pub(crate) struct Air {
    channel: ChannelId,
    rules: Rules,
    waits: Waits,
    stations: Vec<Station>,
    hearing: Hearing,
    frames: Frames,
    pub(crate) messages: Messages,
    numbers: u64,
    /// Buffer for those who hear a frame.
    hearers: Vec<Hearer>,
    pub(crate) upcalls: VecDeque<Upcall>,
}

impl Air {
    pub(crate) fn new(channel: ChannelId, rules: Rules, hearing: Hearing, draws: impl Fn(usize, Draws) -> Rng) -> Air {
        let station = |index| Station {
            receiver: Receiver::new(draws(index, Draws::FrameError)),
            contention: Contention::new(rules.phy.cw_min, draws(index, Draws::Backoff)),
            queue: InterfaceQueue::new(rules.queue_limit, rules.queue_order, rules.queue_lifetime),
            ladder: Ladder::default(),
            job: None,
            phase: Phase::Idle,
            access_at: None,
            over_at: None,
            response: None,
            sequence: 0,
            taken: Vec::new(),
            counts: Counts::default(),
        };
        let waits = rules.waits();
        let stations = (0..hearing.stations()).map(station).collect();
        Air {
            channel,
            rules,
            waits,
            stations,
            hearing,
            frames: Frames::default(),
            messages: Messages::default(),
            numbers: 0,
            hearers: Vec::new(),
            upcalls: VecDeque::new(),
        }
    }

    /// What a station has done.
    pub(crate) fn counts(&self, station: StationId) -> Counts {
        self.stations[station.index()].counts
    }

    fn event(&self, event: RadioEvent) -> Event {
        Event::Radio { channel: self.channel, event }
    }

    pub(crate) fn stations(&self) -> usize {
        self.stations.len()
    }

    /// The stations that can read a frame of `station` at `now` if nothing disturbs it.
    pub(crate) fn neighbours(&mut self, station: StationId, now: Time) -> Vec<StationId> {
        let mut hearers = Vec::new();
        self.hearing.of(station, now, &mut hearers);
        let least = self.rules.least_power();
        hearers.iter().filter(|hearer| hearer.power >= least).map(|hearer| hearer.station).collect()
    }

    /// By station: the access point that it hears best; the first if it hears none.
    pub(crate) fn belongings(&mut self, points: &[StationId]) -> Vec<StationId> {
        let mut best: Vec<(f64, StationId)> = vec![(0.0, points[0]); self.stations.len()];
        let mut hearers = Vec::new();
        for point in points {
            self.hearing.of(*point, Time::ZERO, &mut hearers);
            for hearer in &hearers {
                let best = &mut best[hearer.station.index()];
                if hearer.power > best.0 {
                    *best = (hearer.power, *point);
                }
            }
        }
        points.iter().for_each(|point| best[point.index()].1 = *point);
        best.into_iter().map(|(_, point)| point).collect()
    }

    /// Requests that wait at a station.
    pub(crate) fn waiting(&self, station: StationId) -> usize {
        self.stations[station.index()].queue.len()
    }

    /// Packets that a station holds: waiting, and in its hands unless the next one has it.
    pub(crate) fn holds(&self, station: StationId) -> u64 {
        let station = &self.stations[station.index()];
        let packet = |content: Content| u64::from(matches!(content, Content::Packet(_)));
        let waiting: u64 = station.queue.iter().map(|request| packet(request.content)).sum();
        waiting + station.job.filter(|job| !job.handed_over).map_or(0, |job| packet(job.request.content))
    }

    /// Takes something to send.
    pub(crate) fn enqueue(&mut self, core: &mut Core, at: StationId, request: Request) {
        let station = &mut self.stations[at.index()];
        if let Some(request) = station.queue.push(request) {
            self.messages.release(request.content);
            self.upcalls.push_back(Upcall::QueueFull { request });
        }
        if self.stations[at.index()].job.is_none() {
            self.next_job(core, at);
        }
    }

    /// Takes the next frame out of the queue, the station being between two.
    fn next_job(&mut self, core: &mut Core, at: StationId) {
        let station = &mut self.stations[at.index()];
        while let Some(request) = station.queue.pop_expired(core.now) {
            self.messages.release(request.content);
            self.upcalls.push_back(Upcall::Expired { request });
        }
        station.phase = Phase::Idle;
        let Some(request) = station.queue.pop() else { return };
        station.sequence += 1;
        let sequence = station.sequence;
        let rate = self.rules.phy.data_rate;
        station.job = Some(Job { request, sequence, rate, short_failures: 0, long_failures: 0, handed_over: false });
        station.phase = Phase::Contending;
        self.contend(core, at);
    }

    /// §6.3 rules 1 and 4: a fresh frame goes at once after DIFS of silence, else it waits for a backoff.
    fn contend(&mut self, core: &mut Core, at: StationId) {
        let now = core.now;
        let Station { receiver, contention, .. } = &mut self.stations[at.index()];
        receiver.settle(now, &self.waits, contention);
        let idle = !receiver.busy(&self.waits.reception);
        let free_at = receiver.free_at(&self.waits);
        if idle && contention.access(free_at, self.waits.slot).is_some_and(|access| access < now) {
            contention.slots = None;
        }
        if contention.slots.is_none() {
            let quiet = idle && free_at <= now;
            if quiet && !self.rules.always_backs_off {
                return self.start(core, at);
            }
            let reserved = receiver.reserved(now);
            let since = if self.rules.always_backs_off && idle && !reserved { now + self.waits.difs } else { now };
            contention.draw(since, self.rules.draws_below_window);
        }
        self.plan_access(core, at);
    }

    /// Sees that an `Access` is due no later than the backoff can run out.
    fn plan_access(&mut self, core: &mut Core, at: StationId) {
        let Station { receiver, contention, access_at, .. } = &mut self.stations[at.index()];
        let Some(access) = receiver.access(&self.waits, contention) else { return };
        if access <= core.now && !receiver.busy(&self.waits.reception) {
            return self.start(core, at);
        }
        let access = access.max(core.now);
        *access_at = Some(access);
        core.schedule(access, self.event(RadioEvent::Access { station: at }));
    }

    /// The backoff may have run out.
    pub(crate) fn on_access(&mut self, core: &mut Core, at: StationId) {
        let now = core.now;
        let Station { receiver, contention, access_at, phase, .. } = &mut self.stations[at.index()];
        if *access_at != Some(now) {
            return;
        }
        *access_at = None;
        if *phase != Phase::Contending {
            return;
        }
        receiver.settle(now, &self.waits, contention);
        let due = receiver.access(&self.waits, contention).is_some_and(|access| access <= now);
        if receiver.busy(&self.waits.reception) || !due {
            return self.plan_access(core, at);
        }
        self.start(core, at);
    }

    /// The exchange begins.
    fn start(&mut self, core: &mut Core, at: StationId) {
        let station = &mut self.stations[at.index()];
        station.contention.slots = None;
        let job = station.job.as_mut().expect("a station that contends has a frame");
        let (request, phy) = (job.request, &self.rules.phy);
        let Some(to) = request.to else {
            station.phase = Phase::Broadcasts;
            let end = self.transmit(core, at, Kind::Data(request.content), None, self.rules.phy.basic_rate, Span::ZERO);
            return self.wait(core, at, end);
        };
        if self.rules.rate_control == RateControl::Arf {
            job.rate = self.rules.grades[station.ladder.step(to)].rate;
        }
        if !self.rules.uses_rts(request.size) {
            return self.send_data(core, at);
        }
        let rate = self.rules.control_rate(job.rate);
        let answer = phy.answer(rate);
        let data = self.rules.data_airtime(request.size, job.rate);
        let reserves = self.rules.duration(phy.sifs * 3 + answer + data + answer);
        station.phase = Phase::AwaitsCts;
        let end = self.transmit(core, at, Kind::Rts, Some(to), rate, reserves);
        self.wait(core, at, end + self.rules.answer_wait());
    }

    fn send_data(&mut self, core: &mut Core, at: StationId) {
        let station = &mut self.stations[at.index()];
        let job = station.job.expect("data are sent by a station that has a frame");
        station.phase = Phase::AwaitsAck;
        let answer = self.rules.phy.answer(self.rules.control_rate(job.rate));
        let reserves = self.rules.duration(self.rules.phy.sifs + answer);
        let end = self.transmit(core, at, Kind::Data(job.request.content), job.request.to, job.rate, reserves);
        self.wait(core, at, end + self.rules.answer_wait());
    }

    fn wait(&mut self, core: &mut Core, at: StationId, until: Time) {
        self.stations[at.index()].over_at = Some(until);
        core.schedule(until, self.event(RadioEvent::ExchangeOver { station: at }));
    }

    /// A frame leaves now: every station that hears it takes note. Gives its end.
    fn transmit(
        &mut self,
        core: &mut Core,
        at: StationId,
        kind: Kind,
        to: Option<StationId>,
        rate: Rate,
        reserves: Span,
    ) -> Time {
        let now = core.now;
        let station = &mut self.stations[at.index()];
        let size = station.job.filter(|_| matches!(kind, Kind::Data(_))).map_or(Bytes::ZERO, |job| job.request.size);
        let length = self.rules.airtime(kind, size, rate);
        let end = now + length;
        station.receiver.settle(now, &self.waits, &mut station.contention);
        station.receiver.send(now, end, &self.waits, &mut station.contention);
        station.counts.airtime += length;
        match kind {
            Kind::Data(_) => station.counts.data_frames += 1,
            _ => station.counts.control_frames += 1,
        }
        let sequence = if let Kind::Data(_) = kind { station.sequence } else { 0 };
        core.record(&Record::Frame {
            frame: AirFrame {
                channel: u32::from(self.channel.0),
                from: at.0,
                to: to.map(|to| to.0),
                kind: kind.recorded(),
                sequence,
                rate,
                airtime: length,
            },
        });
        self.numbers += 1;
        let frame = Frame { kind, from: at, to, sequence, size, rate, reserves, number: self.numbers };
        let mut hearers = std::mem::take(&mut self.hearers);
        self.hearing.of(at, now, &mut hearers);
        self.reach(core, &frame, length, &hearers);
        self.hearers = hearers;
        end
    }

    /// Notes a frame at all that hear it, and has those that it is meant for hear of its end.
    fn reach(&mut self, core: &mut Core, frame: &Frame, length: Span, hearers: &[Hearer]) {
        let readable = self.rules.readable_power();
        let meant = |hearer: &Hearer| frame.to.is_none_or(|to| to == hearer.station) && hearer.power >= readable;
        let readers = hearers.iter().filter(|hearer| meant(hearer)).count();
        let id = (readers > 0).then(|| self.frames.insert(*frame, readers as u32));
        if let (Some(_), Kind::Data(content)) = (id, frame.kind) {
            self.messages.retain(content);
        }
        let grade = self.rules.grade(frame.rate) as u8;
        let unanswered = if frame.kind == Kind::Rts { self.rules.unanswered(frame.rate) } else { None };
        for hearer in hearers {
            let start = core.now + hearer.delay;
            let wanted = meant(hearer);
            let reserves = if frame.to == Some(hearer.station) { Span::ZERO } else { frame.reserves };
            let arrival = Arrival {
                number: frame.number,
                from: frame.from,
                start,
                end: start + length,
                power: hearer.power,
                grade,
                wanted,
                reserves,
                unanswered,
                fate: Fate::Coming,
            };
            self.note(core, hearer.station, arrival);
            if let Some(frame) = id.filter(|_| wanted) {
                core.schedule(arrival.end, self.event(RadioEvent::FrameEnd { station: hearer.station, frame }));
            }
        }
    }

    /// A signal is on its way to a station; the station's access may have to come sooner for it (§15.3).
    fn note(&mut self, core: &mut Core, at: StationId, arrival: Arrival) {
        /// Signals are looked at when so many have gathered at a station that does nothing itself.
        const MOST: usize = 24;
        let Station { receiver, contention, access_at, .. } = &mut self.stations[at.index()];
        let planned = access_at.filter(|access| *access > arrival.end + self.waits.difs);
        if planned.is_some() && !self.rules.bad_frames_reserve() {
            receiver.settle(core.now, &self.waits, contention);
            let early = receiver.early(&arrival, &self.waits, contention);
            if planned.is_some_and(|access| early < access) {
                *access_at = Some(early);
                core.schedule(early, Event::Radio { channel: self.channel, event: RadioEvent::Access { station: at } });
            }
        } else if receiver.backlog() >= MOST {
            receiver.settle(core.now, &self.waits, contention);
        }
        receiver.expect(arrival);
    }

    /// A frame that a station waits for has ended there.
    pub(crate) fn on_frame_end(&mut self, core: &mut Core, at: StationId, id: FrameId) {
        let (frame, last) = self.frames.read(id);
        let station = &mut self.stations[at.index()];
        station.receiver.settle(core.now, &self.waits, &mut station.contention);
        if station.receiver.verdict(frame.number) {
            match frame.kind {
                Kind::Rts => self.on_rts(core, at, &frame),
                Kind::Cts => self.on_cts(core, at, &frame),
                Kind::Ack => self.on_ack(core, at, &frame),
                Kind::Data(content) => self.on_data(core, at, &frame, content),
            }
        }
        if let (true, Kind::Data(content)) = (last, frame.kind) {
            self.messages.release(content);
        }
    }

    /// Rule 8: an RTS is answered if the medium is not reserved and nothing else is under way here.
    fn on_rts(&mut self, core: &mut Core, at: StationId, frame: &Frame) {
        let station = &self.stations[at.index()];
        let engaged = station.response.is_some() || !matches!(station.phase, Phase::Idle | Phase::Contending);
        let reserved = !self.rules.answers_if_idle && station.receiver.reserved(core.now);
        if engaged || reserved || station.receiver.sending() {
            return;
        }
        let phy = &self.rules.phy;
        let taken = self.rules.duration(phy.answer(frame.rate)) + self.rules.duration(phy.sifs);
        let reserves = frame.reserves.saturating_sub(taken);
        self.respond(core, at, Response::Cts { to: frame.from, rate: frame.rate, reserves });
    }

    fn on_cts(&mut self, core: &mut Core, at: StationId, frame: &Frame) {
        let station = &mut self.stations[at.index()];
        let expected =
            station.phase == Phase::AwaitsCts && station.job.and_then(|job| job.request.to) == Some(frame.from);
        if expected {
            station.over_at = None;
            station.phase = Phase::Cleared;
            if let Some(job) = &mut station.job {
                job.short_failures = 0;
            }
            self.respond(core, at, Response::Data);
        }
    }

    fn on_data(&mut self, core: &mut Core, at: StationId, frame: &Frame, content: Content) {
        let station = &mut self.stations[at.index()];
        if frame.to.is_some() {
            if station.response.is_some() || station.receiver.sending() {
                return;
            }
            let rate = self.rules.control_rate(frame.rate);
            self.respond(core, at, Response::Ack { to: frame.from, rate });
        }
        let station = &mut self.stations[at.index()];
        match station.taken.iter_mut().find(|(from, _)| *from == frame.from) {
            Some((_, last)) if *last == frame.sequence => return,
            Some((_, last)) => *last = frame.sequence,
            None => station.taken.push((frame.from, frame.sequence)),
        }
        match content {
            Content::Packet(packet) => {
                let sender = &mut self.stations[frame.from.index()];
                if let Some(job) = sender.job.as_mut().filter(|job| job.sequence == frame.sequence) {
                    job.handed_over = true;
                }
                self.upcalls.push_back(Upcall::Packet { at, from: frame.from, packet });
            }
            Content::Message(id) => {
                let message = self.messages.get(id).clone();
                self.upcalls.push_back(Upcall::Message { at, from: frame.from, message });
            }
        }
    }

    fn on_ack(&mut self, core: &mut Core, at: StationId, frame: &Frame) {
        let station = &mut self.stations[at.index()];
        if station.phase == Phase::AwaitsAck && station.job.and_then(|job| job.request.to) == Some(frame.from) {
            if self.rules.rate_control == RateControl::Arf {
                station.ladder.succeed(frame.from, self.rules.grade(self.rules.phy.data_rate));
            }
            self.finish(core, at, core.now);
        }
    }

    fn respond(&mut self, core: &mut Core, at: StationId, response: Response) {
        let due = core.now + self.rules.phy.sifs;
        self.stations[at.index()].response = Some((due, response));
        core.schedule(due, self.event(RadioEvent::Respond { station: at }));
    }

    /// SIFS after a frame: its answer.
    pub(crate) fn on_respond(&mut self, core: &mut Core, at: StationId) {
        let station = &mut self.stations[at.index()];
        let Some((_, response)) = station.response.take_if(|(due, _)| *due == core.now) else { return };
        station.receiver.settle(core.now, &self.waits, &mut station.contention);
        let idle = !station.receiver.busy(&self.waits.reception) && !station.receiver.reserved(core.now);
        match response {
            _ if station.receiver.sending() => {}
            Response::Cts { to, rate, reserves } if idle || !self.rules.answers_if_idle => {
                self.transmit(core, at, Kind::Cts, Some(to), rate, reserves);
            }
            Response::Cts { .. } => {}
            Response::Ack { to, rate } => {
                self.transmit(core, at, Kind::Ack, Some(to), rate, Span::ZERO);
            }
            Response::Data if idle || !self.rules.answers_if_idle => self.send_data(core, at),
            // ns-2 takes a medium that is not idle after the CTS for a failure.
            Response::Data => self.retry(core, at),
        }
    }

    /// The wait for an answer, or a broadcast, is over.
    pub(crate) fn on_exchange_over(&mut self, core: &mut Core, at: StationId) {
        let station = &mut self.stations[at.index()];
        if station.over_at != Some(core.now) {
            return;
        }
        station.over_at = None;
        let Some(job) = &mut station.job else { return };
        let given_up = match station.phase {
            Phase::Broadcasts => return self.finish(core, at, core.now),
            Phase::AwaitsAck if job.request.size + self.rules.header > self.rules.rts_threshold => {
                job.long_failures += 1;
                job.long_failures >= self.rules.long_retries
            }
            Phase::AwaitsAck | Phase::AwaitsCts => {
                job.short_failures += 1;
                job.short_failures >= self.rules.short_retries
            }
            Phase::Idle | Phase::Contending | Phase::Cleared => return,
        };
        station.counts.failures += 1;
        if let (Phase::AwaitsAck, Some(to)) = (station.phase, job.request.to) {
            station.ladder.fail(to);
        }
        if given_up {
            let (request, lost) = (job.request, !job.handed_over);
            station.counts.given_up += 1;
            self.upcalls.push_back(Upcall::GivenUp { at, request, lost });
            return self.finish(core, at, core.now + self.rules.after_silence());
        }
        self.retry(core, at);
    }

    /// Rule 5.
    fn retry(&mut self, core: &mut Core, at: StationId) {
        let Station { receiver, contention, phase, .. } = &mut self.stations[at.index()];
        receiver.settle(core.now, &self.waits, contention);
        contention.widen(self.rules.phy.cw_max);
        contention.draw(core.now + self.rules.after_silence(), self.rules.draws_below_window);
        *phase = Phase::Contending;
        self.plan_access(core, at);
    }

    /// Rule 4: the frame is through or given up; a backoff follows in any case, counted from `since` at the earliest.
    fn finish(&mut self, core: &mut Core, at: StationId, since: Time) {
        let Station { receiver, contention, job, over_at, .. } = &mut self.stations[at.index()];
        receiver.settle(core.now, &self.waits, contention);
        contention.window = self.rules.phy.cw_min;
        contention.draw(since, self.rules.draws_below_window);
        *over_at = None;
        if let Some(job) = job.take() {
            self.messages.release(job.request.content);
        }
        self.next_job(core, at);
    }
}
