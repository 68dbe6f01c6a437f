//! The MAC of a nonbeacon-enabled PAN (IEEE 802.15.4-2011, 2.4 GHz): unslotted CSMA/CA, acknowledgments, and the
//! fragmentation of datagrams.
//!
//! A station does not sense the medium during a backoff, so an attempt has two events: the end of its CCA, which asks
//! the receiver what was on the air meanwhile, and the start of the frame. A bystander has none.
//!
//! - here: the queue, and the frames of a datagram
//! - `access.rs`: which medium access a station has; `csma.rs`: that of the standard; `compat/lrwpan_ns2.rs`: another
//! - `exchange.rs`: received frames, acknowledgments, retransmissions
//! - `transmit.rs`: a frame goes on the air
//! - `mesh.rs`: mesh-under flooding

pub(crate) mod access;
mod csma;
mod exchange;
mod mesh;
mod mesh_station;
mod reassembly;
pub(crate) mod rules;
#[path = "../../compat/lrwpan_ns2.rs"]
mod sampled_cca;
pub(crate) mod sixlowpan;
mod station;
#[cfg(test)]
mod tests;
mod transmit;

use tcp::rng::Rng;
use tcp::units::Time;

use super::air::Air;
use super::backoff::Backoff;
use super::energy::{EnergyMeter, EnergyModel};
use super::frame::Content;
use super::medium::Medium;
use super::receiver::{MacTiming, Receiver};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::{ChannelId, NodeId, StationId};
use crate::packet::{DropReason, TTL};
use crate::radio::queue::StationQueue;
use crate::radio::service::{MacCounters, MacIndication, MacRequest};
use crate::radio::streams::RandomStream;
use mesh::Floods;
use mesh_station::MeshStation;
use reassembly::Reassembly;
use rules::{LrWpanRules, PathPosition};
use sixlowpan::FrameSizes;
use station::{CurrentDatagram, Station, TxState};

/// The MAC of the stations of a PAN.
#[derive(Debug)]
pub(crate) struct LrWpanMac {
    channel: ChannelId,
    rules: LrWpanRules,
    timing: MacTiming,
    /// The node of each station.
    nodes: Vec<NodeId>,
    stations: Vec<Station>,
    pub(super) air: Air,
    floods: Floods,
}

impl LrWpanMac {
    pub(crate) fn new(
        channel: ChannelId,
        rules: LrWpanRules,
        nodes: Vec<NodeId>,
        medium: Medium,
        rng: impl Fn(usize, RandomStream) -> Rng,
    ) -> LrWpanMac {
        let station = |index| Station {
            receiver: Receiver::new(rng(index, RandomStream::FrameError)),
            backoff: Backoff::new(0, rng(index, RandomStream::Backoff)),
            rng: rng(index, RandomStream::Backoff),
            queue: StationQueue::new(rules.queue_limit, rules.queue_order, rules.queue_lifetime),
            current: None,
            tx_state: TxState::Idle,
            csma_at: None,
            exchange_ends: None,
            next_frame_at: Time::ZERO,
            responding_until: Time::ZERO,
            response: None,
            sequence: 0,
            last_tag: 0,
            duplicate_cache: Vec::new(),
            reassembly: Reassembly::default(),
            mesh: MeshStation::default(),
            counters: MacCounters::default(),
        };
        let timing = rules.timing();
        let stations = (0..medium.stations()).map(station).collect();
        LrWpanMac { channel, rules, timing, nodes, stations, air: Air::new(medium), floods: Floods::default() }
    }

    /// Gives every radio an energy meter.
    pub(crate) fn with_energy(mut self, model: Option<EnergyModel>) -> LrWpanMac {
        self.stations.iter_mut().for_each(|station| station.receiver.meter = model.map(EnergyMeter::new));
        self
    }

    /// Energy meter of a station's radio, read at `now`; `None` if energy is not modelled.
    pub(super) fn meter(&mut self, station: StationId, now: Time) -> Option<&mut EnergyMeter> {
        let station = &mut self.stations[station.index()];
        station.receiver.meter.as_ref()?;
        station.advance_to(now, &self.timing);
        station.receiver.read_meter(now)
    }

    /// Starts the measurement interval.
    pub(super) fn on_warmup_end(&mut self, now: Time) {
        for station in 0..self.stations.len() as u32 {
            self.stations[station as usize].counters = MacCounters::default();
            if let Some(meter) = self.meter(StationId(station), now) {
                meter.on_warmup_end();
            }
        }
    }

    /// Counters of a station.
    pub(super) fn counters(&self, station: StationId) -> MacCounters {
        self.stations[station.index()].counters
    }

    /// Minimum power of readable frames, absent interference.
    pub(super) fn min_rx_power(&self) -> f64 {
        self.rules.min_rx_power()
    }

    /// Power of a transmission that makes the medium busy.
    pub(super) fn sensed_power(&self) -> f64 {
        self.rules.reception.sensed_power()
    }

    /// True if every station of the PAN is reached by flooding.
    pub(super) fn floods(&self) -> bool {
        self.rules.mesh_under.is_some()
    }

    /// Packets that a station holds: in its queue, in transmission unless the receiver already has it, and in
    /// reassembly after the sender is done.
    pub(super) fn holds(&self, station: StationId) -> u64 {
        if self.rules.mesh_under.is_some() {
            return self.floods.packets(station);
        }
        let station = &self.stations[station.index()];
        let in_hand = station.current.is_some_and(|current| !current.delivered && current.request.content.is_packet());
        station.queue.packets() + u64::from(in_hand) + station.reassembly.packets()
    }

    /// Handles an event of a station.
    pub(super) fn on_event(&mut self, ctx: &mut Context, event: RadioEvent) {
        match event {
            RadioEvent::FrameEnd { station, frame } => self.on_frame_end(ctx, station, frame),
            RadioEvent::ChannelAccess { station } => self.on_access(ctx, station),
            RadioEvent::Respond { station } => self.on_respond(ctx, station),
            RadioEvent::ExchangeOver { station } => self.on_exchange_over(ctx, station),
            RadioEvent::Repeat { station } => self.on_repeat(ctx, station),
            RadioEvent::ReassemblyTimeout { station } => self.on_reassembly_timeout(ctx, station),
            RadioEvent::RoutingTimer { .. } | RadioEvent::NeighborTimer { .. } => {
                unreachable!("timers of the network layer are not the MAC's")
            }
        }
    }

    fn event(&self, event: RadioEvent) -> Event {
        Event::Radio { channel: self.channel, event }
    }

    /// The frames of a request; `None` if it does not fit.
    fn frames_of(&self, ctx: &Context, request: &MacRequest) -> Option<FrameSizes> {
        match request.content {
            Content::Message(id) => self.rules.message_frames(self.air.messages.get(id), request),
            Content::Packet(id) => {
                let packet = ctx.packets.get(id);
                let next = request.to.map(|to| self.nodes[to.index()]);
                let before_last_hop = next != Some(packet.destination);
                let position = PathPosition {
                    after_first_hop: packet.ttl != TTL,
                    before_last_hop,
                    leaves_pan: before_last_hop && !self.nodes.contains(&packet.destination),
                };
                self.rules.packet_frames(&packet, request.size, position)
            }
        }
    }

    /// Accepts a request to transmit.
    pub(super) fn enqueue(&mut self, ctx: &mut Context, at: StationId, request: MacRequest) {
        let Some(sizes) = self.frames_of(ctx, &request) else {
            self.stations[at.index()].counters.too_long += 1;
            return self.drop_request(request, DropReason::TooLong);
        };
        if let Some(radius) = self.rules.mesh_under {
            return self.flood(ctx, at, request, sizes, radius);
        }
        self.stations[at.index()].queue.enqueue(request, &mut self.air.messages, &mut self.air.indications);
        if self.stations[at.index()].current.is_none() {
            self.next_datagram(ctx, at);
        }
    }

    /// Drops a request.
    fn drop_request(&mut self, request: MacRequest, reason: DropReason) {
        self.air.messages.release(request.content);
        self.air.indications.push_back(MacIndication::Dropped { content: request.content, reason });
    }

    /// Removes a queued request for `to`, to be routed again.
    pub(super) fn withdraw(&mut self, at: StationId, to: StationId) -> Option<MacRequest> {
        self.stations[at.index()].queue.withdraw(to, &mut self.air.messages)
    }

    /// Removes the next datagram from the queue, the previous one being finished.
    fn next_datagram(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        station.tx_state = TxState::Idle;
        if self.rules.mesh_under.is_some() {
            let next = self.next_mesh_frame(ctx.now, at);
            self.stations[at.index()].current = next;
            if next.is_some() {
                self.start_frame(ctx, at);
            }
            return;
        }
        let next = station.queue.next(ctx.now, &mut self.air.messages, &mut self.air.indications);
        let Some(request) = next else { return };
        station.last_tag += 1;
        let tag = station.last_tag;
        let sizes = self.frames_of(ctx, &request).expect("requests that do not fit are dropped before");
        let station = &mut self.stations[at.index()];
        station.current = Some(CurrentDatagram {
            request,
            sizes,
            tag,
            index: 0,
            attempts: 0,
            numbered: false,
            forgiven: 0,
            delivered: false,
            mesh: None,
        });
        self.start_frame(ctx, at);
    }
}
