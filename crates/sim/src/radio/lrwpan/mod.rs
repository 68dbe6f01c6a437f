//! A PAN of IEEE 802.15.4 at 2.4 GHz without beacons: unslotted CSMA/CA, acknowledgments, and datagrams in frames
//! (IEEE 802.15.4-2011).
//!
//! A station does not listen while it backs off, so an attempt has two events: the end of its channel assessment, which
//! asks the receiver what was in the air meanwhile, and the start of the frame. A bystander has none.

pub(crate) mod build;
mod csma;
mod exchange;
mod reassembly;
pub(crate) mod rules;
pub(crate) mod sixlowpan;
mod station;
#[cfg(test)]
mod tests;
mod transmit;

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::Time;

use super::contention::Contention;
use super::energy::{EnergyModel, Meter};
use super::frame::{Content, Frames};
use super::hearing::{Hearer, Hearing};
use super::queue::{InterfaceQueue, Request};
use super::receiver::{Receiver, Waits};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::{ChannelId, NodeId, StationId};
use crate::packet::{DropReason, TTL};
use crate::radio::dcf::{Counts, Draws, Upcall};
use crate::radio::messages::Messages;
use reassembly::Reassembly;
use rules::{Ends, PanRules};
use sixlowpan::FrameSizes;
use station::{Job, Phase, Station};

/// The channel.
#[derive(Debug)]
pub(crate) struct Pan {
    channel: ChannelId,
    rules: PanRules,
    waits: Waits,
    /// The node of each station.
    nodes: Vec<NodeId>,
    stations: Vec<Station>,
    pub(super) hearing: Hearing,
    frames: Frames,
    pub(super) messages: Messages,
    numbers: u64,
    /// Buffer for those who hear a frame.
    hearers: Vec<Hearer>,
    pub(super) upcalls: VecDeque<Upcall>,
}

impl Pan {
    pub(crate) fn new(
        channel: ChannelId,
        rules: PanRules,
        nodes: Vec<NodeId>,
        hearing: Hearing,
        draws: impl Fn(usize, Draws) -> Rng,
    ) -> Pan {
        let station = |index| Station {
            receiver: Receiver::new(draws(index, Draws::FrameError)),
            contention: Contention::new(0, draws(index, Draws::Backoff)),
            draws: draws(index, Draws::Backoff),
            queue: InterfaceQueue::new(rules.queue_limit, rules.queue_order, rules.queue_lifetime),
            job: None,
            phase: Phase::Idle,
            step_at: None,
            over_at: None,
            ready_at: Time::ZERO,
            engaged_until: Time::ZERO,
            response: None,
            sequence: 0,
            datagrams: 0,
            taken: Vec::new(),
            reassembly: Reassembly::default(),
            counts: Counts::default(),
        };
        let waits = rules.waits();
        let stations = (0..hearing.stations()).map(station).collect();
        Pan {
            channel,
            rules,
            waits,
            nodes,
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
    pub(crate) fn with_energy(mut self, model: Option<EnergyModel>) -> Pan {
        self.stations.iter_mut().for_each(|station| station.receiver.meter = model.map(Meter::new));
        self
    }

    /// What the radio of a station has consumed up to now, if that is modelled.
    pub(super) fn meter(&mut self, station: StationId, now: Time) -> Option<&mut Meter> {
        let station = &mut self.stations[station.index()];
        station.receiver.meter.as_ref()?;
        station.settle(now, &self.waits);
        station.receiver.read_meter(now)
    }

    /// Measurements begin.
    pub(super) fn on_warmup_end(&mut self, now: Time) {
        for station in 0..self.stations.len() as u32 {
            self.stations[station as usize].counts = Counts::default();
            if let Some(meter) = self.meter(StationId(station), now) {
                meter.on_warmup_end();
            }
        }
    }

    /// What a station has done.
    pub(super) fn counts(&self, station: StationId) -> Counts {
        self.stations[station.index()].counts
    }

    /// Power from which on frames are readable if nothing disturbs them.
    pub(super) fn least_power(&self) -> f64 {
        self.rules.least_power()
    }

    /// Packets that a station holds: waiting, in its hands unless the next one has it, and left to it in part.
    pub(super) fn holds(&self, station: StationId) -> u64 {
        let station = &self.stations[station.index()];
        let packet = |content: Content| u64::from(matches!(content, Content::Packet(_)));
        let waiting: u64 = station.queue.iter().map(|request| packet(request.content)).sum();
        let in_hand = station.job.filter(|job| !job.handed_over).map_or(0, |job| packet(job.request.content));
        waiting + in_hand + station.reassembly.packets()
    }

    fn event(&self, event: RadioEvent) -> Event {
        Event::Radio { channel: self.channel, event }
    }

    /// The frames of what is to be sent; none if it does not fit.
    fn frames_of(&self, ctx: &Context, request: &Request) -> Option<FrameSizes> {
        match request.content {
            Content::Message(id) => self.rules.message_frames(self.messages.get(id), request),
            Content::Packet(id) => {
                let packet = ctx.packets.get(id);
                let next = request.to.map(|to| self.nodes[to.index()]);
                let goes_on = next != Some(packet.destination);
                let ends = Ends {
                    passed_on: packet.ttl != TTL,
                    goes_on,
                    leaves: goes_on && !self.nodes.contains(&packet.destination),
                };
                self.rules.packet_frames(&packet, request.size, ends)
            }
        }
    }

    /// Takes something to send.
    pub(super) fn enqueue(&mut self, ctx: &mut Context, at: StationId, request: Request) {
        if self.frames_of(ctx, &request).is_none() {
            self.stations[at.index()].counts.too_long += 1;
            return self.give_up(request, DropReason::TooLong);
        }
        if let Some(request) = self.stations[at.index()].queue.push(request) {
            self.messages.release(request.content);
            self.upcalls.push_back(Upcall::QueueFull { request });
        }
        if self.stations[at.index()].job.is_none() {
            self.next_job(ctx, at);
        }
    }

    /// Something will not be sent.
    fn give_up(&mut self, request: Request, reason: DropReason) {
        self.messages.release(request.content);
        self.upcalls.push_back(Upcall::Dropped { content: request.content, reason });
    }

    /// Gives back a request that waits for `to`, the way there being gone.
    pub(super) fn withdraw(&mut self, at: StationId, to: StationId) -> Option<Request> {
        let request = self.stations[at.index()].queue.take_for(to)?;
        self.messages.release(request.content);
        Some(request)
    }

    /// Takes the next datagram out of the queue, the station being between two.
    fn next_job(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        while let Some(request) = station.queue.pop_expired(ctx.now) {
            self.messages.release(request.content);
            self.upcalls.push_back(Upcall::Expired { request });
        }
        station.phase = Phase::Idle;
        let Some(request) = station.queue.pop() else { return };
        station.datagrams += 1;
        let datagram = station.datagrams;
        let sizes = self.frames_of(ctx, &request).expect("what does not fit is not taken in");
        let station = &mut self.stations[at.index()];
        station.job = Some(Job { request, sizes, datagram, index: 0, attempts: 0, handed_over: false });
        self.begin_frame(ctx, at);
    }
}
