//! Frame exchanges: received frames, responses to them, and missing responses.

use tcp::units::{Span, Time};

use super::block_ack::BlockAck;
use super::station::{Response, TxState};
use super::{DcfMac, Station};
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::ids::{FrameId, StationId};
use crate::radio::dcf::rate_control::RateControl;
use crate::radio::frame::{Content, Frame, Kind};
use crate::radio::receiver::Obstacle;
use crate::radio::service::{MacIndication, Unanswered};

impl DcfMac {
    pub(super) fn send_data(&mut self, ctx: &mut Context, at: StationId) {
        let current = self.stations[at.index()].current.expect("a station that transmits data has a frame");
        let length = current.request.to.filter(|_| current.block_ack).and_then(|to| self.aggregate_length(at, to));
        if length.is_some() {
            return self.send_aggregate(ctx, at, current.request.to);
        }
        self.stations[at.index()].tx_state = TxState::AwaitsAck;
        let answer = self.rules.phy.ack_airtime(self.rules.control_rate(current.rate));
        let duration = self.rules.duration_field(self.rules.phy.sifs + answer);
        let end =
            self.transmit(ctx, at, Kind::Data(current.request.content), current.request.to, current.rate, duration);
        self.wait(ctx, at, end + self.rules.response_timeout());
    }

    /// Handles the end of a frame at a station that receives it.
    pub(super) fn on_frame_end(&mut self, ctx: &mut Context, at: StationId, id: FrameId) {
        let (frame, last) = self.air.frames.read(id);
        let station = &mut self.stations[at.index()];
        station.receiver.advance_to(ctx.now, &self.timing, &mut station.backoff);
        match station.receiver.take_result(frame.number) {
            Err(obstacle) => self.on_error(ctx.now, at, &frame, obstacle),
            Ok(()) => match frame.kind {
                Kind::Rts => self.on_rts(ctx, at, &frame),
                Kind::Cts => self.on_cts(ctx, at, &frame),
                Kind::Ack => self.on_ack(ctx, at, &frame),
                Kind::Data(content) if frame.to.is_some_and(|to| to != at) => {
                    self.air.messages.retain(content);
                    self.air.indications.push_back(MacIndication::Overheard { at, from: frame.from, content });
                }
                Kind::Data(content) => self.on_data(ctx, at, &frame, content),
                Kind::Aggregate => self.on_aggregate(ctx, at, &frame),
                Kind::BlockAck { start, received } => self.on_block_ack(ctx, at, &frame, BlockAck { start, received }),
                Kind::BlockAckRequest { start } => self.on_block_ack_request(ctx, at, &frame, start),
            },
        }
        if let (true, Kind::Data(content)) = (last, frame.kind) {
            self.air.messages.release(content);
        }
    }

    /// A frame for this station is in error, and will not be answered; or the answer itself is.
    fn on_error(&mut self, now: Time, at: StationId, frame: &Frame, obstacle: Obstacle) {
        if frame.to != Some(at) {
            return;
        }
        let why = self.air.why(obstacle, frame.from, self.rules.reception.sensed_power(), now);
        let is_answer = matches!(frame.kind, Kind::Cts | Kind::Ack | Kind::BlockAck { .. });
        let whose = if is_answer { at } else { frame.from };
        self.stations[whose.index()].counters.blame(why);
    }

    /// A frame of `from` is not answered, since its receiver has other things to do.
    pub(super) fn leave_unanswered(&mut self, from: StationId) {
        self.stations[from.index()].counters.blame(Unanswered::ReceiverBusy);
    }

    /// Responds to an RTS if the NAV is idle and the station is in no other exchange.
    fn on_rts(&mut self, ctx: &mut Context, at: StationId, frame: &Frame) {
        let station = &self.stations[at.index()];
        let engaged = station.response.is_some() || !matches!(station.tx_state, TxState::Idle | TxState::Contending);
        let nav_busy = !self.rules.responds_if_idle && station.receiver.nav_busy(ctx.now);
        let reserved = ctx.now < station.reserved_until;
        if engaged || nav_busy || reserved || station.receiver.transmitting() {
            return self.leave_unanswered(frame.from);
        }
        let phy = &self.rules.phy;
        let elapsed = self.rules.duration_field(phy.ack_airtime(frame.rate)) + self.rules.duration_field(phy.sifs);
        let duration = frame.duration.saturating_sub(elapsed);
        self.respond(ctx, at, Response::Cts { to: frame.from, rate: frame.rate, duration });
    }

    fn on_cts(&mut self, ctx: &mut Context, at: StationId, frame: &Frame) {
        let station = &mut self.stations[at.index()];
        if station.tx_state == TxState::AwaitsCts && station.expects(frame.from) {
            station.exchange_ends = None;
            station.tx_state = TxState::Cleared;
            if let Some(current) = &mut station.current {
                current.short_failures = 0;
            }
            self.respond(ctx, at, Response::Data);
        }
    }

    fn on_data(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, content: Content) {
        let station = &mut self.stations[at.index()];
        if frame.to.is_some() {
            if station.response.is_some() || station.receiver.transmitting() {
                return self.leave_unanswered(frame.from);
            }
            let rate = self.rules.control_rate(frame.rate);
            self.respond(ctx, at, Response::Ack { to: frame.from, rate });
            if self.rules.block_acks {
                return self.receive_mpdu(at, frame.from, frame.sequence, content);
            }
        }
        let station = &mut self.stations[at.index()];
        match station.duplicate_cache.binary_search_by_key(&frame.from, |(from, _)| *from) {
            Ok(index) if station.duplicate_cache[index].1 == frame.sequence => return,
            Ok(index) => station.duplicate_cache[index].1 = frame.sequence,
            Err(index) => station.duplicate_cache.insert(index, (frame.from, frame.sequence)),
        }
        match content {
            Content::Packet(packet) => {
                let sender = &mut self.stations[frame.from.index()];
                if let Some(current) = sender.current.as_mut().filter(|current| current.sequence == frame.sequence) {
                    current.delivered = true;
                }
                self.air.indications.push_back(MacIndication::Packet { at, from: frame.from, packet });
            }
            Content::Message(id) => {
                self.air.messages.retain(content);
                self.air.indications.push_back(MacIndication::Message { at, from: frame.from, message: id });
            }
        }
    }

    fn on_ack(&mut self, ctx: &mut Context, at: StationId, frame: &Frame) {
        let station = &mut self.stations[at.index()];
        if station.tx_state == TxState::AwaitsAck && station.expects(frame.from) {
            if let Some(current) = station.current.filter(|current| current.block_ack) {
                station.block_acks.failures = 0;
                let ack = BlockAck { start: current.sequence + 1, received: 0 };
                return self.acknowledge(ctx, at, frame.from, ack);
            }
            if self.rules.rate_control != RateControl::Fixed {
                station.arf.on_success(frame.from, self.rules.rate_index(self.rules.phy.data_rate));
            }
            self.finish(ctx, at, ctx.now);
        }
    }

    pub(super) fn respond(&mut self, ctx: &mut Context, at: StationId, response: Response) {
        let due = ctx.now + self.rules.phy.sifs;
        self.stations[at.index()].response = Some((due, response));
        ctx.schedule(due, self.event(RadioEvent::Respond { station: at }));
    }

    /// Transmits the response that is due SIFS after a frame.
    pub(super) fn on_respond(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        let Some((_, response)) = station.response.take_if(|(due, _)| *due == ctx.now) else { return };
        station.receiver.advance_to(ctx.now, &self.timing, &mut station.backoff);
        let idle = !station.receiver.busy(&self.timing.reception) && !station.receiver.nav_busy(ctx.now);
        match response {
            _ if station.receiver.transmitting() => {}
            Response::Cts { to, rate, duration } if idle || !self.rules.responds_if_idle => {
                let end = self.transmit(ctx, at, Kind::Cts, Some(to), rate, duration);
                if self.rules.responds_if_idle {
                    self.reserve(at, end + self.rules.data_wait(duration, rate));
                }
            }
            Response::Cts { .. } => {}
            Response::Ack { to, rate } => {
                self.transmit(ctx, at, Kind::Ack, Some(to), rate, Span::ZERO);
            }
            Response::BlockAck { to, rate } => {
                let BlockAck { start, received } = station.block_acks.recipient(to).block_ack();
                self.transmit(ctx, at, Kind::BlockAck { start, received }, Some(to), rate, Span::ZERO);
            }
            Response::Data if idle || !self.rules.responds_if_idle => self.send_data(ctx, at),
            // A medium that is busy after the CTS counts as a failure.
            Response::Data => self.retry(ctx, at),
        }
    }

    /// A station that has sent a CTS waits for the data frame until then; its backoff stands still meanwhile.
    fn reserve(&mut self, at: StationId, until: Time) {
        let station = &mut self.stations[at.index()];
        station.reserved_until = until;
        station.receiver.reserve(until);
    }

    /// Handles a CTS or ACK timeout, and the end of a broadcast.
    pub(super) fn on_exchange_over(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        if station.exchange_ends != Some(ctx.now) {
            return;
        }
        station.exchange_ends = None;
        let Some(current) = &mut station.current else { return };
        if let (true, Some(to)) = (current.block_ack, current.request.to) {
            return self.on_block_ack_missing(ctx, at, to);
        }
        let given_up = match station.tx_state {
            TxState::Broadcasts => return self.finish(ctx, at, ctx.now),
            TxState::AwaitsAck if current.request.size + self.rules.mac_overhead > self.rules.rts_threshold => {
                current.long_failures += 1;
                current.long_failures >= self.rules.long_retries
            }
            TxState::AwaitsAck | TxState::AwaitsCts => {
                current.short_failures += 1;
                current.short_failures >= self.rules.short_retries
            }
            TxState::Idle | TxState::Contending | TxState::Cleared | TxState::AwaitsBlockAck => return,
        };
        station.counters.failures += 1;
        if let (TxState::AwaitsAck, Some(to)) = (station.tx_state, current.request.to) {
            station.arf.on_failure(to, self.rules.rate_control);
        }
        if given_up {
            let (request, lost) = (current.request, !current.delivered);
            station.counters.given_up += 1;
            self.air.indications.push_back(MacIndication::GivenUp { at, request, lost });
            return self.finish(ctx, at, ctx.now + self.rules.timeout_ifs());
        }
        self.retry(ctx, at);
    }

    /// Retries the frame after a backoff from a doubled contention window (IEEE 802.11 §10.3.3).
    pub(super) fn retry(&mut self, ctx: &mut Context, at: StationId) {
        let Station { receiver, backoff, tx_state, .. } = &mut self.stations[at.index()];
        receiver.advance_to(ctx.now, &self.timing, backoff);
        backoff.widen_cw(self.rules.phy.cw_max);
        backoff.draw(ctx.now + self.rules.timeout_ifs(), self.rules.draws_below_window);
        *tx_state = TxState::Contending;
        self.plan_access(ctx, at);
    }

    /// Finishes a frame that was delivered or given up. A backoff from the minimum contention window follows in any
    /// case, from `since` at the earliest (IEEE 802.11 §10.3.4.3).
    pub(super) fn finish(&mut self, ctx: &mut Context, at: StationId, since: Time) {
        let Station { receiver, backoff, current, exchange_ends, .. } = &mut self.stations[at.index()];
        receiver.advance_to(ctx.now, &self.timing, backoff);
        backoff.cw = self.rules.phy.cw_min;
        backoff.draw(since, self.rules.draws_below_window);
        *exchange_ends = None;
        if let Some(current) = current.take().filter(|current| !current.block_ack) {
            self.air.messages.release(current.request.content);
        }
        self.next_frame(ctx, at);
    }
}
