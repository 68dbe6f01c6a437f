//! Frames that have come, their answers, and answers that never come.

use tcp::units::{Span, Time};

use super::station::{Phase, Response};
use super::{Air, Station, Upcall};
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::ids::{FrameId, StationId};
use crate::radio::dcf::rate_control::RateControl;
use crate::radio::frame::{Content, Frame, Kind};

impl Air {
    pub(super) fn send_data(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        let job = station.job.expect("data are sent by a station that has a frame");
        station.phase = Phase::AwaitsAck;
        let answer = self.rules.phy.answer(self.rules.control_rate(job.rate));
        let reserves = self.rules.duration(self.rules.phy.sifs + answer);
        let end = self.transmit(ctx, at, Kind::Data(job.request.content), job.request.to, job.rate, reserves);
        self.wait(ctx, at, end + self.rules.answer_wait());
    }

    /// A frame that a station waits for has ended there.
    pub(crate) fn on_frame_end(&mut self, ctx: &mut Context, at: StationId, id: FrameId) {
        let (frame, last) = self.frames.read(id);
        let station = &mut self.stations[at.index()];
        station.receiver.settle(ctx.now, &self.waits, &mut station.contention);
        if station.receiver.verdict(frame.number) {
            match frame.kind {
                Kind::Rts => self.on_rts(ctx, at, &frame),
                Kind::Cts => self.on_cts(ctx, at, &frame),
                Kind::Ack => self.on_ack(ctx, at, &frame),
                Kind::Data(content) => self.on_data(ctx, at, &frame, content),
            }
        }
        if let (true, Kind::Data(content)) = (last, frame.kind) {
            self.messages.release(content);
        }
    }

    /// Rule 8: an RTS is answered if the medium is not reserved and nothing else is under way here.
    fn on_rts(&mut self, ctx: &mut Context, at: StationId, frame: &Frame) {
        let station = &self.stations[at.index()];
        let engaged = station.response.is_some() || !matches!(station.phase, Phase::Idle | Phase::Contending);
        let reserved = !self.rules.answers_if_idle && station.receiver.reserved(ctx.now);
        if engaged || reserved || station.receiver.sending() {
            return;
        }
        let phy = &self.rules.phy;
        let taken = self.rules.duration(phy.answer(frame.rate)) + self.rules.duration(phy.sifs);
        let reserves = frame.reserves.saturating_sub(taken);
        self.respond(ctx, at, Response::Cts { to: frame.from, rate: frame.rate, reserves });
    }

    fn on_cts(&mut self, ctx: &mut Context, at: StationId, frame: &Frame) {
        let station = &mut self.stations[at.index()];
        let expected =
            station.phase == Phase::AwaitsCts && station.job.and_then(|job| job.request.to) == Some(frame.from);
        if expected {
            station.over_at = None;
            station.phase = Phase::Cleared;
            if let Some(job) = &mut station.job {
                job.short_failures = 0;
            }
            self.respond(ctx, at, Response::Data);
        }
    }

    fn on_data(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, content: Content) {
        let station = &mut self.stations[at.index()];
        if frame.to.is_some() {
            if station.response.is_some() || station.receiver.sending() {
                return;
            }
            let rate = self.rules.control_rate(frame.rate);
            self.respond(ctx, at, Response::Ack { to: frame.from, rate });
        }
        let station = &mut self.stations[at.index()];
        match station.taken.binary_search_by_key(&frame.from, |(from, _)| *from) {
            Ok(index) if station.taken[index].1 == frame.sequence => return,
            Ok(index) => station.taken[index].1 = frame.sequence,
            Err(index) => station.taken.insert(index, (frame.from, frame.sequence)),
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
                self.messages.retain(content);
                self.upcalls.push_back(Upcall::Message { at, from: frame.from, message: id });
            }
        }
    }

    fn on_ack(&mut self, ctx: &mut Context, at: StationId, frame: &Frame) {
        let station = &mut self.stations[at.index()];
        if station.phase == Phase::AwaitsAck && station.job.and_then(|job| job.request.to) == Some(frame.from) {
            if self.rules.rate_control == RateControl::Arf {
                station.ladder.succeed(frame.from, self.rules.grade(self.rules.phy.data_rate));
            }
            self.finish(ctx, at, ctx.now);
        }
    }

    fn respond(&mut self, ctx: &mut Context, at: StationId, response: Response) {
        let due = ctx.now + self.rules.phy.sifs;
        self.stations[at.index()].response = Some((due, response));
        ctx.schedule(due, self.event(RadioEvent::Respond { station: at }));
    }

    /// SIFS after a frame: its answer.
    pub(crate) fn on_respond(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        let Some((_, response)) = station.response.take_if(|(due, _)| *due == ctx.now) else { return };
        station.receiver.settle(ctx.now, &self.waits, &mut station.contention);
        let idle = !station.receiver.busy(&self.waits.reception) && !station.receiver.reserved(ctx.now);
        match response {
            _ if station.receiver.sending() => {}
            Response::Cts { to, rate, reserves } if idle || !self.rules.answers_if_idle => {
                self.transmit(ctx, at, Kind::Cts, Some(to), rate, reserves);
            }
            Response::Cts { .. } => {}
            Response::Ack { to, rate } => {
                self.transmit(ctx, at, Kind::Ack, Some(to), rate, Span::ZERO);
            }
            Response::Data if idle || !self.rules.answers_if_idle => self.send_data(ctx, at),
            // ns-2 takes a medium that is not idle after the CTS for a failure.
            Response::Data => self.retry(ctx, at),
        }
    }

    /// The wait for an answer, or a broadcast, is over.
    pub(crate) fn on_exchange_over(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        if station.over_at != Some(ctx.now) {
            return;
        }
        station.over_at = None;
        let Some(job) = &mut station.job else { return };
        let given_up = match station.phase {
            Phase::Broadcasts => return self.finish(ctx, at, ctx.now),
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
            return self.finish(ctx, at, ctx.now + self.rules.after_silence());
        }
        self.retry(ctx, at);
    }

    /// Rule 5.
    pub(super) fn retry(&mut self, ctx: &mut Context, at: StationId) {
        let Station { receiver, contention, phase, .. } = &mut self.stations[at.index()];
        receiver.settle(ctx.now, &self.waits, contention);
        contention.widen(self.rules.phy.cw_max);
        contention.draw(ctx.now + self.rules.after_silence(), self.rules.draws_below_window);
        *phase = Phase::Contending;
        self.plan_access(ctx, at);
    }

    /// Rule 4: the frame is through or given up; a backoff follows in any case, counted from `since` at the earliest.
    fn finish(&mut self, ctx: &mut Context, at: StationId, since: Time) {
        let Station { receiver, contention, job, over_at, .. } = &mut self.stations[at.index()];
        receiver.settle(ctx.now, &self.waits, contention);
        contention.window = self.rules.phy.cw_min;
        contention.draw(since, self.rules.draws_below_window);
        *over_at = None;
        if let Some(job) = job.take() {
            self.messages.release(job.request.content);
        }
        self.next_job(ctx, at);
    }
}
