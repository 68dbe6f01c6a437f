//! A frame leaves a station: what the records and the counts say of it, and all that hear it take note.

use tcp::units::{Bytes, Span, Time};

use super::Pan;
use super::rules::{ACK, airtime, rate};
use super::station::Job;
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::engine::trace::{AirFrame, Record};
use crate::ids::StationId;
use crate::radio::frame::{Content, Frame, Kind, Part};
use crate::radio::receiver::{Arrival, Fate};

impl Pan {
    /// The frame under way of a datagram leaves now; gives its end.
    pub(super) fn transmit_data(&mut self, ctx: &mut Context, at: StationId, job: &Job) -> Time {
        let sequence = self.stations[at.index()].sequence;
        let part = Part { datagram: job.datagram, index: job.index, of: job.sizes.count };
        let size = job.sizes.psdu(job.index);
        let end = self.transmit(ctx, at, Kind::Data(job.request.content), job.request.to, (size, sequence, part));
        let station = &mut self.stations[at.index()];
        if let (Content::Message(_), false) = (job.request.content, station.receiver.exhausted()) {
            station.counts.message_airtime += airtime(size);
            if job.index == 0 {
                station.counts.messages += 1;
                station.counts.message_bytes += job.request.size;
            }
        }
        end
    }

    pub(super) fn transmit_ack(&mut self, ctx: &mut Context, at: StationId, to: StationId) {
        self.transmit(ctx, at, Kind::Ack, Some(to), (ACK, 0, Part::WHOLE));
    }

    fn transmit(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        kind: Kind,
        to: Option<StationId>,
        (size, sequence, part): (Bytes, u32, Part),
    ) -> Time {
        let now = ctx.now;
        let length = airtime(size);
        let end = now + length;
        let station = &mut self.stations[at.index()];
        station.settle(now, &self.waits);
        station.rests(now);
        station.receiver.send(now, end, &self.waits, &mut station.contention);
        if station.receiver.exhausted() {
            // Nothing leaves, and nobody is told.
            return end;
        }
        let counts = &mut station.counts;
        counts.airtime += length;
        match kind {
            Kind::Data(_) => counts.data_frames += 1,
            _ => counts.control_frames += 1,
        }
        let (rate, channel) = (rate(), u32::from(self.channel.0));
        let (from, addressee, recorded) = (at.0, to.map(|to| to.0), kind.recorded());
        let frame = AirFrame { channel, from, to: addressee, kind: recorded, sequence, size, rate, airtime: length };
        ctx.record(&Record::Frame { frame });
        self.numbers += 1;
        let frame =
            Frame { kind, from: at, to, sequence, size, rate, reserves: Span::ZERO, number: self.numbers, part };
        self.reach(ctx, &frame, length);
        end
    }

    /// Notes a frame at all that hear it, and has those that it is meant for hear of its end.
    fn reach(&mut self, ctx: &mut Context, frame: &Frame, length: Span) {
        /// Signals are looked at when so many have gathered at a station that does nothing itself.
        const MOST: usize = 24;
        let mut hearers = std::mem::take(&mut self.hearers);
        self.hearing.of(frame.from, ctx.now, &mut hearers);
        let readable = self.rules.reception.readable_power();
        let meant = |to: StationId, power: f64| frame.to.is_none_or(|only| only == to) && power >= readable;
        let readers = hearers.iter().filter(|hearer| meant(hearer.station, hearer.power)).count();
        let id = (readers > 0).then(|| self.frames.insert(*frame, readers as u32));
        if let (Some(_), Kind::Data(content)) = (id, frame.kind) {
            self.messages.retain(content);
        }
        for hearer in &hearers {
            let start = ctx.now + hearer.delay;
            let wanted = meant(hearer.station, hearer.power);
            let station = &mut self.stations[hearer.station.index()];
            if station.receiver.backlog() >= MOST {
                station.settle(ctx.now, &self.waits);
            }
            station.receiver.expect(Arrival {
                number: frame.number,
                from: frame.from,
                start,
                end: start + length,
                power: hearer.power,
                grade: 0,
                wanted,
                reserves: Span::ZERO,
                unanswered: None,
                fate: Fate::Coming,
            });
            if let Some(id) = id.filter(|_| wanted) {
                ctx.schedule(start + length, self.event(RadioEvent::FrameEnd { station: hearer.station, frame: id }));
            }
        }
        self.hearers = hearers;
    }
}
