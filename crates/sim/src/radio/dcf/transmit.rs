//! Transmission of frames: trace, counters, and signals at all listeners.

use tcp::units::{Bytes, Rate, Span, Time};

use super::{DcfMac, Station};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::StationId;
use crate::radio::frame::{Content, Fragment, Frame, Kind};
use crate::radio::medium::Listener;
use crate::radio::receiver::Signal;

impl DcfMac {
    /// Transmits a frame now; returns its end.
    pub(super) fn transmit(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        kind: Kind,
        to: Option<StationId>,
        rate: Rate,
        duration: Span,
    ) -> Time {
        let now = ctx.now;
        let size = self.size_of(at, kind, to);
        let length = self.rules.airtime(kind, size, rate);
        let end = now + length;
        let station = &mut self.stations[at.index()];
        station.receiver.advance_to(now, &self.timing, &mut station.backoff);
        station.receiver.send(now, end, &self.timing, &mut station.backoff);
        if station.receiver.depleted() {
            // A depleted radio transmits nothing, and the MAC runs into its timeouts.
            return end;
        }
        self.air.last_number += 1;
        let number = self.air.last_number;
        self.count(at, kind, size, length);
        if let Some(to) = to {
            self.count_airtime(at, to, length);
        }
        if let (Kind::Aggregate, Some(to)) = (kind, to) {
            self.count_aggregate(at, to, number);
        }
        let sequence = self.sequence_of(at, kind);
        let fragment = Fragment::ONLY;
        let frame = Frame { kind, from: at, to, sequence, size, rate, duration, number, fragment, mesh: None };
        if ctx.sink.is_some() {
            self.record(ctx, &frame, length);
        }
        let mut listeners = std::mem::take(&mut self.air.listeners);
        self.air.medium.listeners_of(at, now, &mut listeners);
        self.reach(ctx, &frame, length, &listeners);
        self.air.listeners = listeners;
        end
    }

    /// Size of what a frame carries.
    fn size_of(&mut self, at: StationId, kind: Kind, to: Option<StationId>) -> Bytes {
        let size = match (kind, to) {
            (Kind::Data(_), _) => self.stations[at.index()].current.map(|current| current.request.size),
            (Kind::Aggregate, Some(to)) => self.aggregate_length(at, to),
            _ => None,
        };
        size.unwrap_or(Bytes::ZERO)
    }

    fn sequence_of(&self, at: StationId, kind: Kind) -> u32 {
        match kind {
            Kind::Data(_) | Kind::Aggregate => self.stations[at.index()].current.map_or(0, |current| current.sequence),
            _ => 0,
        }
    }

    /// Counts a frame that is transmitted; the MPDUs of an aggregate are counted with its number.
    fn count(&mut self, at: StationId, kind: Kind, size: Bytes, length: Span) {
        let counters = &mut self.stations[at.index()].counters;
        counters.airtime += length;
        if let Kind::Data(Content::Message(_)) = kind {
            counters.messages += 1;
            counters.message_bytes += size;
            counters.message_airtime += length;
        }
        match kind {
            Kind::Data(_) => counters.data_frames += 1,
            Kind::Aggregate => {}
            _ => counters.control_frames += 1,
        }
    }

    /// A frame takes airtime of the station at the other end, where an access point shares it (§3.2 of the paper: of both ways).
    fn count_airtime(&mut self, at: StationId, to: StationId, length: Span) {
        self.stations[to.index()].counters.addressed_airtime += length;
        for (point, station) in [(at, to), (to, at)] {
            if let Some(queues) = &mut self.stations[point.index()].airtime {
                queues.charge(station, length);
            }
        }
    }

    /// Adds the signal of a frame at all listeners, and schedules its end at those that receive it.
    fn reach(&mut self, ctx: &mut Context, frame: &Frame, length: Span, listeners: &[Listener]) {
        let readable = match frame.to {
            None if self.rules.heeds_data_range => self.rules.min_rx_power(),
            _ => self.rules.reception.min_readable_power(),
        };
        let everyone = self.rules.promiscuous && matches!(frame.kind, Kind::Data(_));
        let is_receiver = |listener: &Listener| {
            (everyone || frame.to.is_none_or(|to| to == listener.station)) && listener.power >= readable
        };
        let readers = listeners.iter().filter(|listener| is_receiver(listener)).count();
        let id = (readers > 0).then(|| self.air.frames.insert(*frame, readers as u32));
        if let (Some(_), Kind::Data(content)) = (id, frame.kind) {
            self.air.messages.retain(content);
        }
        let rate_index = self.rules.rate_index(frame.rate) as u8;
        let nav_timeout = if frame.kind == Kind::Rts { self.rules.nav_timeout(frame.rate) } else { None };
        for listener in listeners {
            let start = ctx.now + listener.delay;
            let is_received = is_receiver(listener);
            let duration = if frame.to == Some(listener.station) { Span::ZERO } else { frame.duration };
            let signal = Signal {
                number: frame.number,
                from: frame.from,
                start,
                end: start + length,
                power: listener.power,
                rate_index,
                is_received,
                aggregate: frame.kind == Kind::Aggregate,
                duration,
                nav_timeout,
            };
            self.add_signal(ctx, listener.station, signal);
            if let Some(frame) = id.filter(|_| is_received) {
                ctx.schedule(signal.end, self.event(RadioEvent::FrameEnd { station: listener.station, frame }));
            }
        }
    }

    /// Adds a signal at a station, whose channel access may have to be scheduled earlier because of it.
    fn add_signal(&mut self, ctx: &mut Context, at: StationId, signal: Signal) {
        /// Pending signals at which a bystander is advanced.
        const MAX_PENDING: usize = 24;
        let Station { receiver, backoff, access_at, .. } = &mut self.stations[at.index()];
        let planned = access_at.filter(|access| *access > signal.end + self.timing.difs);
        if planned.is_some() && !self.rules.errors_set_nav() {
            receiver.advance_to(ctx.now, &self.timing, backoff);
            let early_access = receiver.early_access(&signal, &self.timing, backoff);
            if planned.is_some_and(|access| early_access < access) {
                *access_at = Some(early_access);
                ctx.schedule(
                    early_access,
                    Event::Radio { channel: self.channel, event: RadioEvent::ChannelAccess { station: at } },
                );
            }
        } else if receiver.pending_signals() >= MAX_PENDING {
            receiver.advance_to(ctx.now, &self.timing, backoff);
        }
        receiver.add_signal(signal);
    }
}
