//! Frame exchanges: received frames, acknowledgments, retransmissions, and the end of datagrams.

use tcp::units::Time;

use super::LrWpanMac;
use super::rules::{ACK_PSDU, ACK_WAIT, TURNAROUND_TIME, airtime};
use super::station::{CurrentDatagram, TxState};
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::ids::{FrameId, StationId};
use crate::packet::DropReason;
use crate::radio::frame::{Content, Fragment, Frame, Kind};
use crate::radio::lrwpan::reassembly::Progress;
use crate::radio::service::{MacIndication, Unanswered};

impl LrWpanMac {
    /// Transmits the current frame, the CCA having found the medium idle.
    pub(super) fn send_frame(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        let current = station.current.expect("a station in turnaround has a frame");
        if self.is_held_up(ctx.now, at, current.sizes.psdu(current.index)) {
            return;
        }
        let station = &mut self.stations[at.index()];
        if !current.numbered {
            station.sequence += 1;
            station.current = Some(CurrentDatagram { numbered: true, ..current });
        }
        let acknowledged = self.rules.acks && current.request.to.is_some();
        station.tx_state = if acknowledged { TxState::AwaitsAck } else { TxState::SendsUnacknowledged };
        let end = self.transmit_data(ctx, at, &current);
        let ifs = self.rules.ifs(current.sizes.psdu(current.index));
        // Without an ACK the next frame waits for the interframe space, and at least until this one has arrived.
        let wait = if acknowledged { ACK_WAIT } else { ifs.max(TURNAROUND_TIME) };
        let station = &mut self.stations[at.index()];
        station.exchange_ends = Some(end + wait);
        station.next_frame_at = end + ifs;
        ctx.schedule(end + wait, self.event(RadioEvent::ExchangeOver { station: at }));
    }

    /// Handles the end of a frame at a station that receives it.
    pub(super) fn on_frame_end(&mut self, ctx: &mut Context, at: StationId, id: FrameId) {
        let (frame, last) = self.air.frames.read(id);
        let station = &mut self.stations[at.index()];
        station.advance_to(ctx.now, &self.timing);
        let result = station.receiver.take_result(frame.number);
        self.on_heard(ctx, at, &frame, result.is_ok());
        match (result, frame.kind) {
            (Err(obstacle), kind) if frame.to == Some(at) => {
                let why = self.air.why(obstacle, frame.from, self.rules.reception.sensed_power(), ctx.now);
                let whose = if kind == Kind::Ack { at } else { frame.from };
                self.stations[whose.index()].counters.blame(why);
            }
            (Err(_), _) => {}
            (Ok(()), Kind::Data(content)) => self.on_data(ctx, at, &frame, content),
            (Ok(()), _) => self.on_ack(ctx, at, &frame),
        }
        if let (true, Kind::Data(content)) = (last, frame.kind) {
            self.air.messages.release(content);
        }
    }

    fn on_data(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, content: Content) {
        if let Some(header) = frame.mesh {
            return self.on_mesh_frame(ctx, at, frame, header);
        }
        let station = &mut self.stations[at.index()];
        if frame.to.is_some() && self.rules.acks {
            if station.response.is_some() || station.receiver.transmitting() {
                return self.stations[frame.from.index()].counters.blame(Unanswered::ReceiverBusy);
            }
            let due = ctx.now + TURNAROUND_TIME;
            station.response = Some((due, frame.from));
            station.responding_until = due + airtime(ACK_PSDU);
            ctx.schedule(due, self.event(RadioEvent::Respond { station: at }));
            self.on_response_planned(ctx, at);
        }
        let station = &mut self.stations[at.index()];
        match station.duplicate_cache.iter_mut().find(|(from, _)| *from == frame.from) {
            Some((_, last)) if *last == frame.sequence => return,
            Some((_, last)) => *last = frame.sequence,
            None => station.duplicate_cache.push((frame.from, frame.sequence)),
        }
        let Fragment { count, .. } = frame.fragment;
        let adopted = match (count > 1).then(|| station.reassembly.add(ctx.now, frame.from, frame.fragment)) {
            None => None,
            Some(Progress::Complete(adopted)) => adopted,
            Some(Progress::Incomplete(expires)) => {
                if let Some(expires) = expires {
                    ctx.schedule(expires, self.event(RadioEvent::ReassemblyTimeout { station: at }));
                }
                return;
            }
        };
        match content {
            Content::Packet(packet) => {
                let sender = &mut self.stations[frame.from.index()].current;
                let tag = frame.fragment.tag;
                let in_hand = sender.as_mut().filter(|current| current.tag == tag && !current.delivered);
                if let Some(current) = in_hand {
                    current.delivered = true;
                } else if adopted.is_none() {
                    // The sender has given it up: the packet is lost.
                    return;
                }
                self.air.indications.push_back(MacIndication::Packet { at, from: frame.from, packet });
            }
            Content::Message(id) => {
                self.air.messages.retain(content);
                self.air.indications.push_back(MacIndication::Message { at, from: frame.from, message: id });
            }
        }
    }

    /// Transmits the ACK that is due a turnaround time after a frame.
    pub(super) fn on_respond(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        let Some((_, to)) = station.response.take_if(|(due, _)| *due == ctx.now) else { return };
        self.transmit_ack(ctx, at, to);
    }

    fn on_ack(&mut self, ctx: &mut Context, at: StationId, frame: &Frame) {
        let station = &mut self.stations[at.index()];
        let Some(current) = station.current.filter(|current| current.request.to == Some(frame.from)) else { return };
        if station.tx_state != TxState::AwaitsAck {
            return;
        }
        let ifs = self.rules.ifs(current.sizes.psdu(current.index));
        self.finish_frame(ctx, at, ctx.now + ifs);
    }

    /// Handles an ACK timeout, and the end of an unacknowledged frame.
    pub(super) fn on_exchange_over(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        if station.exchange_ends != Some(ctx.now) {
            return;
        }
        station.exchange_ends = None;
        if station.current.is_none() {
            return;
        }
        if station.tx_state == TxState::SendsUnacknowledged {
            let next_frame_at = station.next_frame_at;
            return self.finish_frame(ctx, at, next_frame_at);
        }
        station.counters.failures += 1;
        if self.tries_again(ctx, at) {
            return;
        }
        let station = &mut self.stations[at.index()];
        station.counters.given_up += 1;
        let Some(current) = &station.current else { return };
        let (request, lost) = (current.request, !current.delivered);
        self.air.indications.push_back(MacIndication::GivenUp { at, request, lost });
        self.finish_datagram(ctx, at);
    }

    /// Continues with the next frame of the datagram or the next datagram, not before `next_frame_at`.
    fn finish_frame(&mut self, ctx: &mut Context, at: StationId, next_frame_at: Time) {
        let station = &mut self.stations[at.index()];
        (station.exchange_ends, station.next_frame_at) = (None, next_frame_at);
        let current = station.current.as_mut().expect("a delivered frame belongs to a datagram");
        (current.index, current.attempts, current.forgiven) = (current.index + 1, 0, 0);
        current.numbered = false;
        if current.index < current.sizes.count {
            return self.start_frame(ctx, at);
        }
        let current = *current;
        if let (Content::Packet(packet), Some(to), false) =
            (current.request.content, current.request.to, current.delivered)
            && !self.stations[to.index()].reassembly.adopt(at, current.tag, packet)
        {
            // The receiver did not get it, and no ACK was requested.
            let content = current.request.content;
            self.air.indications.push_back(MacIndication::Dropped { content, reason: DropReason::Loss });
        }
        self.finish_datagram(ctx, at);
    }

    /// Drops the datagram before its last frame, without an indication of link failure to routing.
    pub(super) fn drop_datagram(&mut self, ctx: &mut Context, at: StationId, reason: DropReason) {
        let current = self.stations[at.index()].current.expect("a station in CSMA/CA has a datagram");
        if !current.delivered && current.mesh.is_none() {
            self.air.indications.push_back(MacIndication::Dropped { content: current.request.content, reason });
        }
        self.finish_datagram(ctx, at);
    }

    /// Finishes the datagram and continues with the next one.
    fn finish_datagram(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        station.exchange_ends = None;
        let current = station.current.take();
        if let Some(frame) = current.and_then(|current| current.mesh) {
            self.end_mesh_frame(frame.header.flood);
        } else if let Some(CurrentDatagram { request, tag, index, sizes, .. }) = current {
            self.air.messages.release(request.content);
            // The fragments of a dropped datagram are discarded at the receiver.
            if let (Some(to), true) = (request.to, index < sizes.count) {
                self.stations[to.index()].reassembly.discard(at, tag);
            }
        }
        self.next_datagram(ctx, at);
    }

    /// Handles the reassembly timeout.
    pub(super) fn on_reassembly_timeout(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        while let Some(packet) = station.reassembly.pop_expired(ctx.now) {
            station.counters.reassembly_timeouts += 1;
            if let Some(packet) = packet {
                let (content, reason) = (Content::Packet(packet), DropReason::Reassembly);
                self.air.indications.push_back(MacIndication::Dropped { content, reason });
            }
        }
    }
}
