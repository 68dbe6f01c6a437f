//! 802.11n: aggregates of MPDUs (A-MPDU) to one neighbour, block ACKs and block ACK requests.

use std::collections::VecDeque;

use tcp::units::{Bytes, Span, Time};

use super::DcfMac;
use super::block_ack::{BlockAck, BlockAckRequest, Mpdu};
use super::station::{Response, Station, TxState};
use crate::engine::context::Context;
use crate::ids::StationId;
use crate::radio::airtime::AirtimeQueues;
use crate::radio::frame::{Content, Frame, Kind};
use crate::radio::phy::BLOCK_ACK;
use crate::radio::service::{MacIndication, MacRequest};

/// Limits of an A-MPDU (IEEE 802.11-2016 §9.7.3, §19.3.9.2.3): its bytes, and the duration of a mixed-format HT PPDU.
const MAX_LENGTH: Bytes = Bytes(65_535);
const MAX_DURATION: Span = Span::from_micros(5_484);
/// MPDU delimiter; each subframe but the last is padded to a multiple of it.
const DELIMITER: Bytes = Bytes(4);

/// The end of each MPDU within the PSDU.
fn ends(window: impl Iterator<Item = Bytes>, overhead: Bytes) -> Vec<Bytes> {
    let mut at = Bytes::ZERO;
    let end = |size: Bytes| {
        at = Bytes(at.0.next_multiple_of(DELIMITER.0)) + DELIMITER + size + overhead;
        at
    };
    window.map(end).collect()
}

impl DcfMac {
    /// Starts the exchange of a station with channel access: a block ACK request if one is due, else all MPDUs of the
    /// window, filled from the queue.
    pub(super) fn start_block_ack(&mut self, ctx: &mut Context, at: StationId, to: StationId) {
        let data_rate = self.rules.rate_between(at, Some(to));
        let rate = self.rules.control_rate(data_rate);
        let answer = self.rules.phy.airtime(BLOCK_ACK, rate);
        let originator = self.stations[at.index()].block_acks.originator(to);
        if originator.request == BlockAckRequest::Due {
            let start = originator.start();
            self.stations[at.index()].tx_state = TxState::AwaitsBlockAck;
            let duration = self.rules.phy.sifs + answer;
            let end = self.transmit(ctx, at, Kind::BlockAckRequest { start }, Some(to), rate, duration);
            return self.wait(ctx, at, end + self.rules.block_ack_timeout());
        }
        let psdu = self.fill_window(ctx, at, to);
        if psdu <= self.rules.rts_threshold {
            return self.send_data(ctx, at);
        }
        let phy = &self.rules.phy;
        let cts = phy.ack_airtime(rate);
        let duration = phy.sifs * 3 + cts + phy.airtime(psdu, data_rate) + answer;
        self.stations[at.index()].tx_state = TxState::AwaitsCts;
        let end = self.transmit(ctx, at, Kind::Rts, Some(to), rate, duration);
        self.wait(ctx, at, end + self.rules.response_timeout());
    }

    /// Fills the window from the queue up to the limits of an aggregate; returns the bytes of the PSDU.
    fn fill_window(&mut self, ctx: &mut Context, at: StationId, to: StationId) -> Bytes {
        let rate = self.rules.rate_between(at, Some(to));
        let Station { block_acks, queue, airtime, current, .. } = &mut self.stations[at.index()];
        queue.drop_expired(ctx.now, &mut self.air.messages, &mut self.air.indications);
        let originator = block_acks.originator(to);
        let overhead = self.rules.mac_overhead;
        let sizes = |window: &VecDeque<Mpdu>| window.iter().map(|mpdu| mpdu.request.size).collect::<Vec<Bytes>>();
        let is_over = airtime.is_some() && current.is_some_and(|current| current.filled);
        while self.rules.aggregates && originator.has_room() && !is_over {
            let shared = |queues: &mut Box<AirtimeQueues>| queues.first_to(ctx, to);
            let own = queue.first_to(to).map(|next| next.size);
            let Some(size) = own.or_else(|| airtime.as_mut().and_then(shared)) else { break };
            let all = sizes(&originator.window).into_iter().chain([size]);
            let length = ends(all, overhead).last().copied().unwrap_or(Bytes::ZERO);
            if length > MAX_LENGTH || self.rules.phy.airtime(length, rate) > MAX_DURATION {
                break;
            }
            let shared = |queues: &mut Box<AirtimeQueues>| queues.take_to(ctx, to);
            let next = queue.take_to(to).or_else(|| airtime.as_mut().and_then(shared));
            originator.admit(next.expect("a queue has a request for this neighbour"));
        }
        let first = *originator.window.front().expect("a block-ACK exchange has MPDUs");
        if let Some(current) = current {
            (current.request, current.sequence) = (first.request, first.sequence);
            current.filled = true;
        }
        match sizes(&originator.window).as_slice() {
            [one] => *one + overhead,
            all => ends(all.iter().copied(), overhead).last().copied().unwrap_or(Bytes::ZERO),
        }
    }

    /// Transmits the window as an aggregate.
    pub(super) fn send_aggregate(&mut self, ctx: &mut Context, at: StationId, to: Option<StationId>) {
        self.stations[at.index()].tx_state = TxState::AwaitsBlockAck;
        let (phy, rate) = (self.rules.phy, self.rules.rate_between(at, to));
        let duration = phy.sifs + phy.airtime(BLOCK_ACK, self.rules.control_rate(rate));
        let end = self.transmit(ctx, at, Kind::Aggregate, to, rate, duration);
        self.wait(ctx, at, end + self.rules.block_ack_timeout());
    }

    /// Bytes of the aggregate of a station's window; `None` for a single MPDU.
    pub(super) fn aggregate_length(&mut self, at: StationId, to: StationId) -> Option<Bytes> {
        let overhead = self.rules.mac_overhead;
        let window = &self.stations[at.index()].block_acks.originator(to).window;
        let all = ends(window.iter().map(|mpdu| mpdu.request.size), overhead);
        all.last().copied().filter(|_| all.len() > 1)
    }

    /// Counts the MPDUs of an aggregate that is transmitted.
    pub(super) fn count_aggregate(&mut self, at: StationId, to: StationId, number: u64) {
        let (rate, overhead) = (self.rules.rate_between(at, Some(to)), self.rules.mac_overhead);
        let Station { block_acks, counters, .. } = &mut self.stations[at.index()];
        block_acks.transmission = number;
        for mpdu in &block_acks.originator(to).window {
            counters.data_frames += 1;
            if let Content::Message(_) = mpdu.request.content {
                counters.messages += 1;
                counters.message_bytes += mpdu.request.size;
                counters.message_airtime += rate.transmission_time(mpdu.request.size + overhead);
            }
        }
    }

    /// Handles the end of an aggregate: the MPDUs that have survived are received, and acknowledged by a block ACK.
    pub(super) fn on_aggregate(&mut self, ctx: &mut Context, at: StationId, frame: &Frame) {
        let sender = &mut self.stations[frame.from.index()].block_acks;
        let is_present = sender.transmission == frame.number;
        let window: Vec<Mpdu> = sender.originator(at).window.iter().copied().collect();
        let ends = ends(window.iter().map(|mpdu| mpdu.request.size), self.rules.mac_overhead);
        let rate_index = self.rules.rate_index(frame.rate);
        let station = &mut self.stations[at.index()];
        let survived = station.receiver.take_mpdus(&ends, rate_index, &self.timing);
        if !is_present || survived.iter().all(|good| !good) {
            return;
        }
        if station.response.is_some() || station.receiver.transmitting() {
            return self.leave_unanswered(frame.from);
        }
        let rate = self.rules.control_rate(frame.rate);
        self.respond(ctx, at, Response::BlockAck { to: frame.from, rate });
        for (mpdu, _) in window.iter().zip(survived).filter(|(_, good)| *good) {
            self.receive_mpdu(at, frame.from, mpdu.sequence, mpdu.request.content);
        }
    }

    /// Puts an MPDU into the reordering buffer and passes up what is in order.
    pub(super) fn receive_mpdu(&mut self, at: StationId, from: StationId, sequence: u32, content: Content) {
        let mut released = Vec::new();
        let recipient = self.stations[at.index()].block_acks.recipient(from);
        if recipient.receive(sequence, content, &mut released) {
            // The buffer's reference becomes that of the indication.
            self.air.messages.retain(content);
            let window = &mut self.stations[from.index()].block_acks.originator(at).window;
            window.iter_mut().filter(|mpdu| mpdu.sequence == sequence).for_each(|mpdu| mpdu.delivered = true);
        }
        self.pass_up(at, from, released);
    }

    fn pass_up(&mut self, at: StationId, from: StationId, released: Vec<Content>) {
        self.air.indications.extend(released.into_iter().map(|content| match content {
            Content::Packet(packet) => MacIndication::Packet { at, from, packet },
            Content::Message(message) => MacIndication::Message { at, from, message },
        }));
    }

    /// Answers a block ACK request; what it passes is not waited for any longer.
    pub(super) fn on_block_ack_request(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, start: u32) {
        let station = &mut self.stations[at.index()];
        if station.response.is_some() || station.receiver.transmitting() {
            return self.leave_unanswered(frame.from);
        }
        let mut released = Vec::new();
        station.block_acks.recipient(frame.from).advance(start, &mut released);
        self.pass_up(at, frame.from, released);
        self.respond(ctx, at, Response::BlockAck { to: frame.from, rate: frame.rate });
    }

    pub(super) fn on_block_ack(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, ack: BlockAck) {
        let station = &mut self.stations[at.index()];
        if station.tx_state != TxState::AwaitsBlockAck || !station.expects(frame.from) {
            return;
        }
        self.acknowledge(ctx, at, frame.from, ack);
    }

    /// Removes what is acknowledged from the window, gives up what is too old, and continues with the rest.
    pub(super) fn acknowledge(&mut self, ctx: &mut Context, at: StationId, to: StationId, ack: BlockAck) {
        let originator = self.stations[at.index()].block_acks.originator(to);
        for mpdu in originator.on_block_ack(ack) {
            self.air.messages.release(mpdu.request.content);
        }
        self.give_up_old(at, to, ctx.now);
        self.finish_block_ack(ctx, at, to, ctx.now);
    }

    /// Gives up the MPDUs whose lifetime is over: under a block ACK agreement nothing else ends the attempts to transmit
    /// an MSDU (IEEE 802.11-2016 §10.22.2.11).
    fn give_up_old(&mut self, at: StationId, to: StationId, now: Time) {
        if let Some(lifetime) = self.rules.queue_lifetime {
            self.give_up(at, to, |request| request.since + lifetime < now);
        }
    }

    fn give_up(&mut self, at: StationId, to: StationId, over: impl Fn(&MacRequest) -> bool) {
        let Station { block_acks, counters, .. } = &mut self.stations[at.index()];
        for Mpdu { request, delivered, .. } in block_acks.originator(to).give_up(over) {
            counters.given_up += 1;
            self.air.messages.release(request.content);
            self.air.indications.push_back(MacIndication::GivenUp { at, request, lost: !delivered });
        }
    }

    /// Handles a CTS, ACK or block ACK that did not arrive. After an aggregate the recipient is asked what it has, until it
    /// answers or all of it is too old; the retry limit holds for an RTS, and for an MPDU that counts its failures.
    pub(super) fn on_block_ack_missing(&mut self, ctx: &mut Context, at: StationId, to: StationId) {
        let Station { counters, current, tx_state, block_acks, .. } = &mut self.stations[at.index()];
        let (Some(current), state) = (current, *tx_state) else { return };
        counters.failures += 1;
        let rts = state == TxState::AwaitsCts;
        let failures = if rts { &mut current.short_failures } else { &mut block_acks.failures };
        *failures += 1;
        let counted = rts || state == TxState::AwaitsAck && self.rules.counts_single_mpdus;
        if counted && *failures >= self.rules.short_retries {
            *failures = 0;
            self.give_up(at, to, |_| true);
        } else {
            self.give_up_old(at, to, ctx.now);
        }
        let originator = self.stations[at.index()].block_acks.originator(to);
        if originator.window.is_empty() {
            return self.finish_block_ack(ctx, at, to, ctx.now + self.rules.timeout_ifs());
        }
        if state == TxState::AwaitsBlockAck {
            originator.request = BlockAckRequest::Due;
        }
        self.retry(ctx, at);
    }

    /// Ends an exchange: what is left of the window, or a due request, contends again before anything else.
    fn finish_block_ack(&mut self, ctx: &mut Context, at: StationId, to: StationId, since: Time) {
        let station = &mut self.stations[at.index()];
        let originator = station.block_acks.originator(to);
        if originator.window.is_empty() && originator.request != BlockAckRequest::Due {
            return self.finish(ctx, at, since);
        }
        if let Some(current) = &mut station.current {
            current.short_failures = 0;
        }
        station.exchange_ends = None;
        station.receiver.advance_to(ctx.now, &self.timing, &mut station.backoff);
        station.backoff.cw = self.rules.phy.cw_min;
        station.backoff.draw(since, self.rules.draws_below_window);
        station.tx_state = TxState::Contending;
        self.plan_access(ctx, at);
    }
}

#[cfg(test)]
mod tests;
