//! Transmission of frames: trace, counters, and signals at all listeners.

use tcp::units::{Bytes, Span, Time};

use super::LrWpanMac;
use super::rules::{ACK_PSDU, airtime, rate};
use super::station::CurrentDatagram;
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::engine::trace::Record;
use crate::ids::StationId;
use crate::radio::frame::{Content, Fragment, Frame, Kind, MeshHeader};
use crate::radio::receiver::Signal;

/// What tells one frame from another.
struct FrameParts {
    size: Bytes,
    sequence: u32,
    fragment: Fragment,
    mesh: Option<MeshHeader>,
}

impl LrWpanMac {
    /// Transmits the current frame of a datagram; returns its end.
    pub(super) fn transmit_data(&mut self, ctx: &mut Context, at: StationId, current: &CurrentDatagram) -> Time {
        let sequence = self.stations[at.index()].sequence;
        let own = Fragment { tag: current.tag, index: current.index, count: current.sizes.count };
        let parts = FrameParts {
            size: current.sizes.psdu(current.index),
            sequence,
            fragment: current.mesh.map_or(own, |mesh| mesh.fragment),
            mesh: current.mesh.map(|mesh| mesh.header),
        };
        let (size, kind) = (parts.size, Kind::Data(current.request.content));
        let end = self.transmit(ctx, at, kind, current.request.to, parts);
        let station = &mut self.stations[at.index()];
        if let (Content::Message(_), false) = (current.request.content, station.receiver.depleted()) {
            station.counters.message_airtime += airtime(size);
            if current.index == 0 {
                station.counters.messages += 1;
                station.counters.message_bytes += current.request.size;
            }
        }
        end
    }

    pub(super) fn transmit_ack(&mut self, ctx: &mut Context, at: StationId, to: StationId) {
        let parts = FrameParts { size: ACK_PSDU, sequence: 0, fragment: Fragment::ONLY, mesh: None };
        self.transmit(ctx, at, Kind::Ack, Some(to), parts);
    }

    fn transmit(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        kind: Kind,
        to: Option<StationId>,
        parts: FrameParts,
    ) -> Time {
        let FrameParts { size, sequence, fragment, mesh } = parts;
        let now = ctx.now;
        let length = airtime(size);
        let end = now + length;
        let station = &mut self.stations[at.index()];
        station.advance_to(now, &self.timing);
        station.end_cca(now);
        station.receiver.send(now, end, &self.timing, &mut station.backoff);
        if station.receiver.depleted() {
            // A depleted radio transmits nothing.
            return end;
        }
        let counters = &mut station.counters;
        counters.airtime += length;
        match kind {
            Kind::Data(_) => counters.data_frames += 1,
            _ => counters.control_frames += 1,
        }
        self.air.last_number += 1;
        let frame = Frame {
            kind,
            from: at,
            to,
            sequence,
            size,
            rate: rate(),
            duration: Span::ZERO,
            number: self.air.last_number,
            fragment,
            mesh,
        };
        ctx.record(&Record::Frame { frame: frame.recorded(self.channel, length), mpdus: &[] });
        self.reach(ctx, &frame, length);
        end
    }

    /// Adds the signal of a frame at all listeners, and schedules its end at those that receive it.
    fn reach(&mut self, ctx: &mut Context, frame: &Frame, length: Span) {
        /// Pending signals at which a bystander is advanced.
        const MAX_PENDING: usize = 24;
        let mut listeners = std::mem::take(&mut self.air.listeners);
        self.air.medium.listeners_of(frame.from, ctx.now, &mut listeners);
        let readable = self.rules.reception.min_readable_power();
        let is_receiver = |to: StationId, power: f64| frame.to.is_none_or(|only| only == to) && power >= readable;
        let readers = listeners.iter().filter(|listener| is_receiver(listener.station, listener.power)).count();
        let id = (readers > 0).then(|| self.air.frames.insert(*frame, readers as u32));
        if let (Some(_), Kind::Data(content)) = (id, frame.kind) {
            self.air.messages.retain(content);
        }
        for listener in &listeners {
            let start = ctx.now + listener.delay;
            let is_received = is_receiver(listener.station, listener.power);
            let station = &mut self.stations[listener.station.index()];
            if station.receiver.pending_signals() >= MAX_PENDING {
                station.advance_to(ctx.now, &self.timing);
            }
            station.receiver.add_signal(Signal {
                number: frame.number,
                from: frame.from,
                start,
                end: start + length,
                power: listener.power,
                rate_index: 0,
                is_received,
                aggregate: false,
                duration: Span::ZERO,
                nav_timeout: None,
            });
            if let Some(id) = id.filter(|_| is_received) {
                ctx.schedule(start + length, self.event(RadioEvent::FrameEnd { station: listener.station, frame: id }));
            }
        }
        self.air.listeners = listeners;
    }
}
