//! Frames that have come, their acknowledgments, retries, and what becomes of datagrams.

use tcp::units::Time;

use super::rules::{ACK, ACK_WAIT, TURNAROUND, airtime};
use super::station::{Job, Phase};
use super::{Pan, Upcall};
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::ids::{FrameId, StationId};
use crate::packet::DropReason;
use crate::radio::frame::{Content, Frame, Kind, Part};
use crate::radio::lrwpan::reassembly::Progress;

impl Pan {
    /// The frame under way leaves, the medium having been idle.
    pub(super) fn send_frame(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        let job = station.job.expect("a station that turns to sending has a frame");
        if job.attempts == 0 {
            station.sequence += 1;
        }
        let acknowledged = self.rules.acks && job.request.to.is_some();
        station.phase = if acknowledged { Phase::AwaitsAck } else { Phase::Sends };
        let end = self.transmit_data(ctx, at, &job);
        let space = self.rules.space(job.sizes.psdu(job.index));
        // Without an ACK the next frame waits for the end of the space, and at least until this one has arrived.
        let wait = if acknowledged { ACK_WAIT } else { space.max(TURNAROUND) };
        let station = &mut self.stations[at.index()];
        station.over_at = Some(end + wait);
        station.ready_at = end + space;
        ctx.schedule(end + wait, self.event(RadioEvent::ExchangeOver { station: at }));
    }

    /// A frame that a station waits for has ended there.
    pub(crate) fn on_frame_end(&mut self, ctx: &mut Context, at: StationId, id: FrameId) {
        let (frame, last) = self.frames.read(id);
        let station = &mut self.stations[at.index()];
        station.settle(ctx.now, &self.waits);
        if station.receiver.verdict(frame.number) {
            match frame.kind {
                Kind::Data(content) => self.on_data(ctx, at, &frame, content),
                _ => self.on_ack(ctx, at, &frame),
            }
        }
        if let (true, Kind::Data(content)) = (last, frame.kind) {
            self.messages.release(content);
        }
    }

    fn on_data(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, content: Content) {
        let station = &mut self.stations[at.index()];
        if frame.to.is_some() && self.rules.acks {
            if station.response.is_some() || station.receiver.sending() {
                return;
            }
            let due = ctx.now + TURNAROUND;
            station.response = Some((due, frame.from));
            station.engaged_until = due + airtime(ACK);
            ctx.schedule(due, self.event(RadioEvent::Respond { station: at }));
        }
        let station = &mut self.stations[at.index()];
        match station.taken.iter_mut().find(|(from, _)| *from == frame.from) {
            Some((_, last)) if *last == frame.sequence => return,
            Some((_, last)) => *last = frame.sequence,
            None => station.taken.push((frame.from, frame.sequence)),
        }
        let Part { of, .. } = frame.part;
        let left_here = match (of > 1).then(|| station.reassembly.add(ctx.now, frame.from, frame.part)) {
            None => None,
            Some(Progress::Whole(left_here)) => left_here,
            Some(Progress::Waits(expires)) => {
                if let Some(expires) = expires {
                    ctx.schedule(expires, self.event(RadioEvent::ReassemblyTimeout { station: at }));
                }
                return;
            }
        };
        match content {
            Content::Packet(packet) => {
                let sender = &mut self.stations[frame.from.index()].job;
                let datagram = frame.part.datagram;
                let in_hand = sender.as_mut().filter(|job| job.datagram == datagram && !job.handed_over);
                if let Some(job) = in_hand {
                    job.handed_over = true;
                } else if left_here.is_none() {
                    // The sender has given it up, and nobody has it any more.
                    return;
                }
                self.upcalls.push_back(Upcall::Packet { at, from: frame.from, packet });
            }
            Content::Message(id) => {
                self.messages.retain(content);
                self.upcalls.push_back(Upcall::Message { at, from: frame.from, message: id });
            }
        }
    }

    /// A frame that is to be acknowledged ended a turnaround ago.
    pub(crate) fn on_respond(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        let Some((_, to)) = station.response.take_if(|(due, _)| *due == ctx.now) else { return };
        self.transmit_ack(ctx, at, to);
    }

    fn on_ack(&mut self, ctx: &mut Context, at: StationId, frame: &Frame) {
        let station = &mut self.stations[at.index()];
        let Some(job) = station.job.filter(|job| job.request.to == Some(frame.from)) else { return };
        if station.phase != Phase::AwaitsAck {
            return;
        }
        let space = self.rules.space(job.sizes.psdu(job.index));
        self.frame_is_through(ctx, at, ctx.now + space);
    }

    /// The wait for an ACK, or a frame without one, is over.
    pub(crate) fn on_exchange_over(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        if station.over_at != Some(ctx.now) {
            return;
        }
        station.over_at = None;
        let Some(job) = &mut station.job else { return };
        if station.phase == Phase::Sends {
            let ready_at = station.ready_at;
            return self.frame_is_through(ctx, at, ready_at);
        }
        station.counts.failures += 1;
        job.attempts += 1;
        if job.attempts <= self.rules.max_retries {
            station.ready_at = ctx.now;
            return self.begin_frame(ctx, at);
        }
        station.counts.given_up += 1;
        let (request, lost) = (job.request, !job.handed_over);
        self.upcalls.push_back(Upcall::GivenUp { at, request, lost });
        self.end_job(ctx, at);
    }

    /// The next frame of the datagram, or the next datagram, not before `ready_at`.
    fn frame_is_through(&mut self, ctx: &mut Context, at: StationId, ready_at: Time) {
        let station = &mut self.stations[at.index()];
        (station.over_at, station.ready_at) = (None, ready_at);
        let job = station.job.as_mut().expect("a frame that is through belongs to a datagram");
        (job.index, job.attempts) = (job.index + 1, 0);
        if job.index < job.sizes.count {
            return self.begin_frame(ctx, at);
        }
        let job = *job;
        if let (Content::Packet(packet), Some(to), false) = (job.request.content, job.request.to, job.handed_over)
            && !self.stations[to.index()].reassembly.leave(at, job.datagram, packet)
        {
            // It was sent, nobody has it, and nobody was to say so.
            let content = job.request.content;
            self.upcalls.push_back(Upcall::Dropped { content, reason: DropReason::Loss });
        }
        self.end_job(ctx, at);
    }

    /// The datagram is given up before its last frame, without word to routing.
    pub(super) fn drop_job(&mut self, ctx: &mut Context, at: StationId, reason: DropReason) {
        let job = self.stations[at.index()].job.expect("a station that attempts has a datagram");
        if !job.handed_over {
            self.upcalls.push_back(Upcall::Dropped { content: job.request.content, reason });
        }
        self.end_job(ctx, at);
    }

    /// The station is done with its datagram.
    fn end_job(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        station.over_at = None;
        if let Some(Job { request, datagram, index, sizes, .. }) = station.job.take() {
            self.messages.release(request.content);
            // What the next station has of a datagram that was given up is of no use.
            if let (Some(to), true) = (request.to, index < sizes.count) {
                self.stations[to.index()].reassembly.forget(at, datagram);
            }
        }
        self.next_job(ctx, at);
    }

    /// A datagram may have waited too long for its missing fragments.
    pub(crate) fn on_forget(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        while let Some(packet) = station.reassembly.pop_expired(ctx.now) {
            station.counts.reassembly_timeouts += 1;
            if let Some(packet) = packet {
                let (content, reason) = (Content::Packet(packet), DropReason::Reassembly);
                self.upcalls.push_back(Upcall::Dropped { content, reason });
            }
        }
    }
}
