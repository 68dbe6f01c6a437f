//! The distributed coordination function (DCF) of IEEE 802.11, for all stations of a channel.
//!
//! A station with a frame to transmit has one pending channel access; a bystander has no events at all. A frame is
//! stored only while some station receives it; all other stations keep its signal alone.
//!
//! - here: the queue, contention, and the start of an exchange
//! - `exchange.rs`: received frames, responses, retries
//! - `transmit.rs`: a frame goes on the air
//! - `aggregate.rs`: aggregates and block ACKs of 802.11n
//! - `management.rs`: what access points and source routing ask for
//! - `record.rs`: frames for the trace

mod aggregate;
mod block_ack;
mod exchange;
mod management;
pub(crate) mod rate_control;
mod record;
pub(crate) mod rules;
mod station;
mod transmit;

use tcp::rng::Rng;
use tcp::units::{Rate, Span, Time};

use super::air::Air;
use super::airtime::AirtimeQueues;
use super::backoff::Backoff;
use super::energy::{EnergyMeter, EnergyModel};
use super::errors::RateMode;
use super::frame::Kind;
use super::medium::Medium;
use super::receiver::{MacTiming, Receiver};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::{ChannelId, StationId};
use crate::radio::dcf::rate_control::{ArfState, RateControl};
use crate::radio::dcf::rules::DcfRules;
use crate::radio::queue::StationQueue;
use crate::radio::service::{MacCounters, MacRequest};
use crate::radio::streams::RandomStream;
use block_ack::BlockAcks;
use station::{CurrentFrame, Station, TxState};

/// The MAC of the stations of a channel.
#[derive(Debug)]
pub(crate) struct DcfMac {
    channel: ChannelId,
    rules: DcfRules,
    timing: MacTiming,
    stations: Vec<Station>,
    pub(super) air: Air,
}

impl DcfMac {
    pub(crate) fn new(
        channel: ChannelId,
        rules: DcfRules,
        medium: Medium,
        rng: impl Fn(usize, RandomStream) -> Rng,
    ) -> DcfMac {
        let station = |index| Station {
            receiver: Receiver::new(rng(index, RandomStream::FrameError)),
            backoff: Backoff::new(rules.phy.cw_min, rng(index, RandomStream::Backoff)),
            queue: StationQueue::new(rules.queue_limit, rules.queue_order, rules.queue_lifetime),
            airtime: None,
            arf: ArfState::default(),
            current: None,
            tx_state: TxState::Idle,
            access_at: None,
            exchange_ends: None,
            response: None,
            reserved_until: Time::ZERO,
            sequence: 0,
            duplicate_cache: Vec::new(),
            block_acks: BlockAcks::default(),
            counters: MacCounters::default(),
        };
        let timing = rules.timing();
        let stations = (0..medium.stations()).map(station).collect();
        DcfMac { channel, rules, timing, stations, air: Air::new(medium) }
    }

    /// Gives every radio an energy meter.
    pub(crate) fn with_energy(mut self, model: Option<EnergyModel>) -> DcfMac {
        self.stations.iter_mut().for_each(|station| station.receiver.meter = model.map(EnergyMeter::new));
        self
    }

    /// These stations share airtime among those that they send to.
    pub(crate) fn share_airtime(&mut self, access_points: &[StationId], rng: impl Fn(StationId) -> Rng) {
        for point in access_points {
            let all = (0..self.stations.len() as u32).map(StationId);
            let rates: Vec<Rate> = all.map(|station| self.rules.rate_between(*point, Some(station))).collect();
            let queues = AirtimeQueues::new(&rates, &mut rng(*point));
            self.stations[point.index()].airtime = Some(Box::new(queues));
        }
    }

    /// Energy meter of a station's radio, read at `now`; `None` if energy is not modelled.
    pub(crate) fn meter(&mut self, station: StationId, now: Time) -> Option<&mut EnergyMeter> {
        let Station { receiver, backoff, .. } = &mut self.stations[station.index()];
        receiver.meter.as_ref()?;
        receiver.advance_to(now, &self.timing, backoff);
        receiver.read_meter(now)
    }

    /// Starts the measurement interval.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        for station in 0..self.stations.len() as u32 {
            self.stations[station as usize].counters = MacCounters::default();
            if let Some(meter) = self.meter(StationId(station), now) {
                meter.on_warmup_end();
            }
        }
    }

    /// Counters of a station.
    pub(crate) fn counters(&self, station: StationId) -> MacCounters {
        self.stations[station.index()].counters
    }

    fn event(&self, event: RadioEvent) -> Event {
        Event::Radio { channel: self.channel, event }
    }

    /// Minimum power of readable data frames, absent interference.
    pub(super) fn min_rx_power(&self) -> f64 {
        self.rules.min_rx_power()
    }

    /// Rates in bit/s, with the power that data frames at them need.
    pub(super) fn needed_powers(&self) -> Vec<(u64, f64)> {
        let modes = self.rules.rate_modes.iter();
        let needed = |mode: &RateMode| self.rules.reception.min_rx_power(mode.ratio).max(mode.sensitivity);
        modes.map(|mode| (mode.rate.as_bps(), needed(mode))).collect()
    }

    /// Power of a transmission that makes the medium busy.
    pub(super) fn sensed_power(&self) -> f64 {
        self.rules.reception.sensed_power()
    }

    /// Handles an event of a station.
    pub(super) fn on_event(&mut self, ctx: &mut Context, event: RadioEvent) {
        match event {
            RadioEvent::FrameEnd { station, frame } => self.on_frame_end(ctx, station, frame),
            RadioEvent::ChannelAccess { station } => self.on_access(ctx, station),
            RadioEvent::Respond { station } => self.on_respond(ctx, station),
            RadioEvent::ExchangeOver { station } => self.on_exchange_over(ctx, station),
            RadioEvent::Repeat { .. } | RadioEvent::ReassemblyTimeout { .. } => {
                unreachable!("802.11 neither floods nor fragments")
            }
            RadioEvent::RoutingTimer { .. } | RadioEvent::NeighborTimer { .. } => {
                unreachable!("timers of the network layer are not the MAC's")
            }
        }
    }

    /// Requests in the queue of a station.
    #[cfg(test)]
    pub(crate) fn waiting(&self, station: StationId) -> usize {
        self.stations[station.index()].queue.len()
    }

    /// Packets that a station holds: in its queue, and in transmission unless the receiver already has it.
    pub(crate) fn holds(&self, station: StationId) -> u64 {
        let station = &self.stations[station.index()];
        let in_hand = station.current.filter(|current| !current.block_ack);
        let in_hand = in_hand.is_some_and(|current| !current.delivered && current.request.content.is_packet());
        let waiting = station.airtime.as_ref().map_or(0, |queues| queues.packets());
        station.queue.packets() + waiting + u64::from(in_hand) + station.block_acks.packets()
    }

    /// Accepts a request to transmit.
    pub(crate) fn enqueue(&mut self, ctx: &mut Context, at: StationId, request: MacRequest) {
        let Station { queue, airtime, .. } = &mut self.stations[at.index()];
        match (airtime, request.to) {
            (Some(queues), Some(to)) if request.content.is_packet() => queues.enqueue(ctx, to, &request),
            _ => queue.enqueue(request, &mut self.air.messages, &mut self.air.indications),
        }
        if self.stations[at.index()].current.is_none() {
            self.next_frame(ctx, at);
        }
    }

    /// Removes a queued request for `to`, to be routed again.
    pub(crate) fn withdraw(&mut self, at: StationId, to: StationId) -> Option<MacRequest> {
        self.stations[at.index()].queue.withdraw(to, &mut self.air.messages)
    }

    /// Removes the next frame from the queue, the previous one being finished.
    fn next_frame(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        station.tx_state = TxState::Idle;
        let next = station.queue.next(ctx.now, &mut self.air.messages, &mut self.air.indications);
        let shared = |queues: &mut Box<AirtimeQueues>| queues.next(ctx);
        let Some(request) = next.or_else(|| station.airtime.as_mut().and_then(shared)) else { return };
        station.sequence += 1;
        let sequence = station.sequence;
        let rate = self.rules.rate_between(at, request.to);
        let recipient = request.to.filter(|_| self.rules.block_acks);
        if let Some(to) = recipient {
            station.block_acks.originator(to).admit(request);
        }
        station.current = Some(CurrentFrame {
            request,
            sequence,
            rate,
            short_failures: 0,
            long_failures: 0,
            delivered: false,
            block_ack: recipient.is_some(),
            filled: false,
        });
        station.tx_state = TxState::Contending;
        self.contend(ctx, at);
    }

    /// A new frame is transmitted at once if the medium has been idle for DIFS, else after a backoff (IEEE 802.11
    /// §10.3.4.2).
    fn contend(&mut self, ctx: &mut Context, at: StationId) {
        let now = ctx.now;
        let Station { receiver, backoff, .. } = &mut self.stations[at.index()];
        receiver.advance_to(now, &self.timing, backoff);
        let idle = !receiver.busy(&self.timing.reception);
        let ifs_end = receiver.ifs_end(&self.timing);
        if idle && backoff.access(ifs_end, self.timing.slot).is_some_and(|access| access < now) {
            backoff.slots = None;
        }
        if backoff.slots.is_none() {
            let quiet = idle && ifs_end <= now;
            if quiet && !self.rules.backs_off_when_idle {
                return self.start(ctx, at);
            }
            let nav_busy = receiver.nav_busy(now);
            let since = if self.rules.backs_off_when_idle && idle && !nav_busy { now + self.timing.difs } else { now };
            backoff.draw(since, self.rules.draws_below_window);
        }
        self.plan_access(ctx, at);
    }

    /// Schedules a `ChannelAccess` no later than the backoff can end.
    fn plan_access(&mut self, ctx: &mut Context, at: StationId) {
        let Station { receiver, backoff, access_at, .. } = &mut self.stations[at.index()];
        let Some(access) = receiver.access(&self.timing, backoff) else { return };
        if access <= ctx.now && !receiver.busy(&self.timing.reception) {
            return self.start(ctx, at);
        }
        let access = access.max(ctx.now);
        *access_at = Some(access);
        ctx.schedule(access, self.event(RadioEvent::ChannelAccess { station: at }));
    }

    /// Handles a `ChannelAccess`: the backoff may have ended.
    fn on_access(&mut self, ctx: &mut Context, at: StationId) {
        let now = ctx.now;
        let Station { receiver, backoff, access_at, tx_state, .. } = &mut self.stations[at.index()];
        if *access_at != Some(now) {
            return;
        }
        *access_at = None;
        if *tx_state != TxState::Contending {
            return;
        }
        receiver.advance_to(now, &self.timing, backoff);
        let due = receiver.access(&self.timing, backoff).is_some_and(|access| access <= now);
        if receiver.busy(&self.timing.reception) || !due {
            return self.plan_access(ctx, at);
        }
        self.start(ctx, at);
    }

    /// Starts the frame exchange.
    fn start(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        station.backoff.slots = None;
        let current = station.current.as_mut().expect("a station with channel access has a frame");
        let (request, phy) = (current.request, &self.rules.phy);
        let Some(to) = request.to else {
            station.tx_state = TxState::Broadcasts;
            let end = self.transmit(ctx, at, Kind::Data(request.content), None, self.rules.phy.basic_rate, Span::ZERO);
            return self.wait(ctx, at, end);
        };
        if current.block_ack {
            return self.start_block_ack(ctx, at, to);
        }
        if self.rules.rate_control != RateControl::Fixed {
            current.rate = self.rules.rate_modes[station.arf.rate_index(to)].rate;
        }
        if !self.rules.uses_rts(request.size) {
            return self.send_data(ctx, at);
        }
        let rate = self.rules.control_rate(current.rate);
        let answer = phy.ack_airtime(rate);
        let data = self.rules.data_airtime(request.size, current.rate);
        let duration = self.rules.duration_field(phy.sifs * 3 + answer + data + answer);
        station.tx_state = TxState::AwaitsCts;
        let end = self.transmit(ctx, at, Kind::Rts, Some(to), rate, duration);
        self.wait(ctx, at, end + self.rules.response_timeout());
    }

    fn wait(&mut self, ctx: &mut Context, at: StationId, until: Time) {
        self.stations[at.index()].exchange_ends = Some(until);
        ctx.schedule(until, self.event(RadioEvent::ExchangeOver { station: at }));
    }
}
