//! One channel and its 802.11 stations: who sends when, who hears it, and what comes of it.
//!
//! A station with something to send has one pending access; a bystander has no events at all. Frames that nobody waits
//! for leave nothing behind but their signals.

mod exchange;
mod management;
pub(crate) mod rate_control;
pub(crate) mod rules;
mod station;
mod transmit;

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::contention::Contention;
use super::energy::{EnergyModel, Meter};
use super::frame::{Content, Frames, Kind};
use super::hearing::{Hearer, Hearing};
use super::propagation::Reach;
use super::queue::{InterfaceQueue, Request};
use super::receiver::{Receiver, Waits};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::{ChannelId, MessageId, StationId};
use crate::mobility::{Point, Track};
use crate::radio::dcf::rate_control::{Ladder, RateControl};
use crate::radio::dcf::rules::Rules;
use crate::radio::messages::Messages;
pub(crate) use station::{Counts, Draws};
use station::{Job, Phase, Station};

/// What the network layer is told.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Upcall {
    /// A packet has reached `at`.
    Packet { at: StationId, from: StationId, packet: crate::ids::PacketId },
    /// A message has reached `at`, which becomes one of its users.
    Message { at: StationId, from: StationId, message: MessageId },
    /// `at` has given up; `lost` if nobody has what it was to deliver.
    GivenUp { at: StationId, request: Request, lost: bool },
    /// `at` has dropped a request: its queue was full.
    QueueFull { request: Request },
    /// `at` has dropped a request that had waited too long.
    Expired { request: Request },
    /// A station of 802.15.4 has dropped something.
    Dropped { content: Content, reason: crate::packet::DropReason },
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

    /// Has every radio consume energy.
    pub(crate) fn with_energy(mut self, model: Option<EnergyModel>) -> Air {
        self.stations.iter_mut().for_each(|station| station.receiver.meter = model.map(Meter::new));
        self
    }

    /// What the radio of a station has consumed up to now, if that is modelled.
    pub(crate) fn meter(&mut self, station: StationId, now: Time) -> Option<&mut Meter> {
        let Station { receiver, contention, .. } = &mut self.stations[station.index()];
        receiver.meter.as_ref()?;
        receiver.settle(now, &self.waits, contention);
        receiver.read_meter(now)
    }

    /// Where a station is; asked with times that never go back.
    pub(crate) fn place(&mut self, station: StationId, now: Time) -> Point {
        self.hearing.place(station, now)
    }

    /// Measurements begin.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        for station in 0..self.stations.len() as u32 {
            self.stations[station as usize].counts = Counts::default();
            if let Some(meter) = self.meter(StationId(station), now) {
                meter.on_warmup_end();
            }
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

    /// The ways of the stations.
    pub(crate) fn tracks(&self) -> &[Track] {
        self.hearing.tracks()
    }

    /// True if some station moves.
    pub(crate) fn moves(&self) -> bool {
        self.hearing.moves()
    }

    /// Who can read whom.
    pub(crate) fn data_reach(&self) -> Reach {
        let propagation = self.hearing.propagation.expect("only tests have a given relation");
        Reach::new(propagation, self.rules.least_power())
    }

    /// The stations that can read a frame of `station` at `now` if nothing disturbs it.
    pub(crate) fn neighbours(&mut self, station: StationId, now: Time) -> Vec<StationId> {
        let mut hearers = Vec::new();
        self.hearing.of(station, now, &mut hearers);
        let least = self.rules.least_power();
        hearers.iter().filter(|hearer| hearer.power >= least).map(|hearer| hearer.station).collect()
    }

    /// Requests that wait at a station.
    #[cfg(test)]
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
    pub(crate) fn enqueue(&mut self, ctx: &mut Context, at: StationId, request: Request) {
        let station = &mut self.stations[at.index()];
        if let Some(request) = station.queue.push(request) {
            self.messages.release(request.content);
            self.upcalls.push_back(Upcall::QueueFull { request });
        }
        if self.stations[at.index()].job.is_none() {
            self.next_job(ctx, at);
        }
    }

    /// Gives back a request that waits for `to`, the way there being gone.
    pub(crate) fn withdraw(&mut self, at: StationId, to: StationId) -> Option<Request> {
        let request = self.stations[at.index()].queue.take_for(to)?;
        self.messages.release(request.content);
        Some(request)
    }

    /// Takes the next frame out of the queue, the station being between two.
    fn next_job(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        while let Some(request) = station.queue.pop_expired(ctx.now) {
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
        self.contend(ctx, at);
    }

    /// A fresh frame goes at once after DIFS of silence, else it waits for a backoff.
    fn contend(&mut self, ctx: &mut Context, at: StationId) {
        let now = ctx.now;
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
                return self.start(ctx, at);
            }
            let reserved = receiver.reserved(now);
            let since = if self.rules.always_backs_off && idle && !reserved { now + self.waits.difs } else { now };
            contention.draw(since, self.rules.draws_below_window);
        }
        self.plan_access(ctx, at);
    }

    /// Sees that an `Access` is due no later than the backoff can run out.
    fn plan_access(&mut self, ctx: &mut Context, at: StationId) {
        let Station { receiver, contention, access_at, .. } = &mut self.stations[at.index()];
        let Some(access) = receiver.access(&self.waits, contention) else { return };
        if access <= ctx.now && !receiver.busy(&self.waits.reception) {
            return self.start(ctx, at);
        }
        let access = access.max(ctx.now);
        *access_at = Some(access);
        ctx.schedule(access, self.event(RadioEvent::ChannelAccess { station: at }));
    }

    /// The backoff may have run out.
    pub(crate) fn on_access(&mut self, ctx: &mut Context, at: StationId) {
        let now = ctx.now;
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
            return self.plan_access(ctx, at);
        }
        self.start(ctx, at);
    }

    /// The exchange begins.
    fn start(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        station.contention.slots = None;
        let job = station.job.as_mut().expect("a station that contends has a frame");
        let (request, phy) = (job.request, &self.rules.phy);
        let Some(to) = request.to else {
            station.phase = Phase::Broadcasts;
            let end = self.transmit(ctx, at, Kind::Data(request.content), None, self.rules.phy.basic_rate, Span::ZERO);
            return self.wait(ctx, at, end);
        };
        if self.rules.rate_control == RateControl::Arf {
            job.rate = self.rules.grades[station.ladder.step(to)].rate;
        }
        if !self.rules.uses_rts(request.size) {
            return self.send_data(ctx, at);
        }
        let rate = self.rules.control_rate(job.rate);
        let answer = phy.answer(rate);
        let data = self.rules.data_airtime(request.size, job.rate);
        let reserves = self.rules.duration(phy.sifs * 3 + answer + data + answer);
        station.phase = Phase::AwaitsCts;
        let end = self.transmit(ctx, at, Kind::Rts, Some(to), rate, reserves);
        self.wait(ctx, at, end + self.rules.answer_wait());
    }

    fn wait(&mut self, ctx: &mut Context, at: StationId, until: Time) {
        self.stations[at.index()].over_at = Some(until);
        ctx.schedule(until, self.event(RadioEvent::ExchangeOver { station: at }));
    }
}
