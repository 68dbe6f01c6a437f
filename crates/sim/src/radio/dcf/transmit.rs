//! A frame leaves a station: what the records and the counts say of it, and all that hear it take note.

use tcp::units::{Bytes, Rate, Span, Time};

use super::{DcfMac, Station};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::engine::trace::{AirFrame, Record};
use crate::ids::StationId;
use crate::radio::frame::{Content, Fragment, Frame, Kind};
use crate::radio::medium::Listener;
use crate::radio::receiver::{Signal, SignalState};

impl DcfMac {
    /// A frame leaves now: every station that hears it takes note. Gives its end.
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
        let station = &mut self.stations[at.index()];
        let size = station
            .current
            .filter(|_| matches!(kind, Kind::Data(_)))
            .map_or(Bytes::ZERO, |current| current.request.size);
        let length = self.rules.airtime(kind, size, rate);
        let end = now + length;
        station.receiver.advance_to(now, &self.timing, &mut station.backoff);
        station.receiver.send(now, end, &self.timing, &mut station.backoff);
        if station.receiver.depleted() {
            // As in ns-2: nothing leaves, and nobody is told; the MAC waits for answers in vain.
            return end;
        }
        station.counters.airtime += length;
        if let Kind::Data(Content::Message(_)) = kind {
            station.counters.messages += 1;
            station.counters.message_bytes += size;
            station.counters.message_airtime += length;
        }
        match kind {
            Kind::Data(_) => station.counters.data_frames += 1,
            _ => station.counters.control_frames += 1,
        }
        let sequence = if let Kind::Data(_) = kind { station.sequence } else { 0 };
        ctx.record(&Record::Frame {
            frame: AirFrame {
                channel: u32::from(self.channel.0),
                from: at.0,
                to: to.map(|to| to.0),
                kind: kind.recorded(),
                sequence,
                size,
                rate,
                airtime: length,
            },
        });
        self.last_number += 1;
        let frame = Frame {
            kind,
            from: at,
            to,
            sequence,
            size,
            rate,
            duration,
            number: self.last_number,
            fragment: Fragment::ONLY,
        };
        let mut listeners = std::mem::take(&mut self.listeners);
        self.medium.listeners_of(at, now, &mut listeners);
        self.reach(ctx, &frame, length, &listeners);
        self.listeners = listeners;
        end
    }

    /// Notes a frame at all that hear it, and has those that it is meant for hear of its end.
    fn reach(&mut self, ctx: &mut Context, frame: &Frame, length: Span, listeners: &[Listener]) {
        let readable = self.rules.reception.min_readable_power();
        let meant =
            |listener: &Listener| frame.to.is_none_or(|to| to == listener.station) && listener.power >= readable;
        let readers = listeners.iter().filter(|listener| meant(listener)).count();
        let id = (readers > 0).then(|| self.frames.insert(*frame, readers as u32));
        if let (Some(_), Kind::Data(content)) = (id, frame.kind) {
            self.messages.retain(content);
        }
        let rate_index = self.rules.rate_index(frame.rate) as u8;
        let nav_timeout = if frame.kind == Kind::Rts { self.rules.nav_timeout(frame.rate) } else { None };
        for listener in listeners {
            let start = ctx.now + listener.delay;
            let wanted = meant(listener);
            let duration = if frame.to == Some(listener.station) { Span::ZERO } else { frame.duration };
            let signal = Signal {
                number: frame.number,
                from: frame.from,
                start,
                end: start + length,
                power: listener.power,
                rate_index,
                wanted,
                duration,
                nav_timeout,
                state: SignalState::Pending,
            };
            self.note(ctx, listener.station, signal);
            if let Some(frame) = id.filter(|_| wanted) {
                ctx.schedule(signal.end, self.event(RadioEvent::FrameEnd { station: listener.station, frame }));
            }
        }
    }

    /// A signal is on its way to a station; the station's access may have to come sooner for it.
    fn note(&mut self, ctx: &mut Context, at: StationId, signal: Signal) {
        /// Signals are looked at when so many have gathered at a station that does nothing itself.
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
