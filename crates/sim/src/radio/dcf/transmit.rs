//! A frame leaves a station: what the records and the counts say of it, and all that hear it take note.

use tcp::units::{Bytes, Rate, Span, Time};

use super::{Air, Station};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::engine::trace::{AirFrame, Record};
use crate::ids::StationId;
use crate::radio::frame::{Content, Frame, Kind, Part};
use crate::radio::hearing::Hearer;
use crate::radio::receiver::{Arrival, Fate};

impl Air {
    /// A frame leaves now: every station that hears it takes note. Gives its end.
    pub(super) fn transmit(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        kind: Kind,
        to: Option<StationId>,
        rate: Rate,
        reserves: Span,
    ) -> Time {
        let now = ctx.now;
        let station = &mut self.stations[at.index()];
        let size = station.job.filter(|_| matches!(kind, Kind::Data(_))).map_or(Bytes::ZERO, |job| job.request.size);
        let length = self.rules.airtime(kind, size, rate);
        let end = now + length;
        station.receiver.settle(now, &self.waits, &mut station.contention);
        station.receiver.send(now, end, &self.waits, &mut station.contention);
        if station.receiver.exhausted() {
            // As in ns-2: nothing leaves, and nobody is told; the MAC waits for answers in vain.
            return end;
        }
        station.counts.airtime += length;
        if let Kind::Data(Content::Message(_)) = kind {
            station.counts.messages += 1;
            station.counts.message_bytes += size;
            station.counts.message_airtime += length;
        }
        match kind {
            Kind::Data(_) => station.counts.data_frames += 1,
            _ => station.counts.control_frames += 1,
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
        self.numbers += 1;
        let frame =
            Frame { kind, from: at, to, sequence, size, rate, reserves, number: self.numbers, part: Part::WHOLE };
        let mut hearers = std::mem::take(&mut self.hearers);
        self.hearing.of(at, now, &mut hearers);
        self.reach(ctx, &frame, length, &hearers);
        self.hearers = hearers;
        end
    }

    /// Notes a frame at all that hear it, and has those that it is meant for hear of its end.
    fn reach(&mut self, ctx: &mut Context, frame: &Frame, length: Span, hearers: &[Hearer]) {
        let readable = self.rules.reception.readable_power();
        let meant = |hearer: &Hearer| frame.to.is_none_or(|to| to == hearer.station) && hearer.power >= readable;
        let readers = hearers.iter().filter(|hearer| meant(hearer)).count();
        let id = (readers > 0).then(|| self.frames.insert(*frame, readers as u32));
        if let (Some(_), Kind::Data(content)) = (id, frame.kind) {
            self.messages.retain(content);
        }
        let grade = self.rules.grade(frame.rate) as u8;
        let unanswered = if frame.kind == Kind::Rts { self.rules.unanswered(frame.rate) } else { None };
        for hearer in hearers {
            let start = ctx.now + hearer.delay;
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
            self.note(ctx, hearer.station, arrival);
            if let Some(frame) = id.filter(|_| wanted) {
                ctx.schedule(arrival.end, self.event(RadioEvent::FrameEnd { station: hearer.station, frame }));
            }
        }
    }

    /// A signal is on its way to a station; the station's access may have to come sooner for it.
    fn note(&mut self, ctx: &mut Context, at: StationId, arrival: Arrival) {
        /// Signals are looked at when so many have gathered at a station that does nothing itself.
        const MOST: usize = 24;
        let Station { receiver, contention, access_at, .. } = &mut self.stations[at.index()];
        let planned = access_at.filter(|access| *access > arrival.end + self.waits.difs);
        if planned.is_some() && !self.rules.bad_frames_reserve() {
            receiver.settle(ctx.now, &self.waits, contention);
            let early = receiver.early(&arrival, &self.waits, contention);
            if planned.is_some_and(|access| early < access) {
                *access_at = Some(early);
                ctx.schedule(
                    early,
                    Event::Radio { channel: self.channel, event: RadioEvent::ChannelAccess { station: at } },
                );
            }
        } else if receiver.backlog() >= MOST {
            receiver.settle(ctx.now, &self.waits, contention);
        }
        receiver.expect(arrival);
    }
}
