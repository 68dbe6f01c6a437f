//! The receiving half: reassembles segments, decides when to acknowledge, and advertises the window.

mod ack_policy;
mod reassembly;
mod receive_window;
mod rledbat;

pub(crate) use ack_policy::AckTiming;

use ack_policy::{AckPolicy, FinAck, InOrder};
use reassembly::Reassembly;
use receive_window::{ReceiveWindow, ReceiverRtt};

use crate::config::TcpConfig;
use crate::options::{Agreed, Clock};
use crate::segment::{Flags, Sack, Segment};
use crate::seq::{SeqNo, SeqRange};
use crate::units::{Bytes, Span, Time};

/// The payload that any host accepts (RFC 9293 §3.7.1).
const DEFAULT_MSS: Bytes = Bytes(536);

/// No FIN has arrived yet.
const NO_FIN: SeqNo = SeqNo(u64::MAX);

/// The receiving half.
#[derive(Clone, Debug)]
// Hot fields first; see connection.rs.
#[repr(C)]
pub(crate) struct Receiver {
    rtt: ReceiverRtt,
    acks: AckPolicy,
    window: ReceiveWindow,
    /// Bytes received in order and not yet read by the application.
    unread: Bytes,
    /// The number after the FIN, once received.
    fin_end: SeqNo,
    mss: Bytes,
    /// Largest payload received so far.
    largest_payload: u32,
    auto_read: bool,
    sack: bool,
    reassembly: Reassembly,
    /// The number that the last ACK stated.
    last_ack_sent: SeqNo,
}

impl Receiver {
    /// A receiver that expects sequence number 1, the first after the SYN.
    pub(crate) fn new(config: &TcpConfig) -> Receiver {
        Receiver {
            auto_read: config.auto_read && config.read_interval == Span::ZERO,
            sack: false,
            mss: config.mss,
            reassembly: Reassembly::new(SeqNo::FIRST_DATA),
            acks: AckPolicy::new(config.delayed_ack, config.mss, config.rto.min),
            window: ReceiveWindow::new(config),
            rtt: ReceiverRtt::new(None),
            fin_end: NO_FIN,
            unread: Bytes::ZERO,
            largest_payload: 0,
            last_ack_sent: SeqNo::FIRST_DATA,
        }
    }

    /// Applies what the handshake agreed, and its RTT sample.
    pub(crate) fn agree(&mut self, agreed: &Agreed, rtt: Option<Span>) {
        self.sack = agreed.sack;
        self.mss = agreed.mss;
        self.acks.agree(agreed);
        self.window.agree(agreed);
        self.rtt = ReceiverRtt::new(rtt);
    }

    /// RCV.NXT: next sequence number expected.
    pub(crate) fn rcv_nxt(&self) -> SeqNo {
        self.reassembly.rcv_nxt
    }

    /// Largest payload received so far.
    pub(crate) fn largest_payload(&self) -> u32 {
        self.largest_payload
    }

    /// The window to advertise.
    pub(crate) fn window(&self) -> Bytes {
        self.window.advertise(self.rcv_nxt(), self.unread)
    }

    /// The window of an ACK for less than what has been received.
    pub(crate) fn window_at(&self, ack: SeqNo) -> Bytes {
        self.window.up_to_right_edge(ack)
    }

    /// True once everything up to and including the FIN has been received.
    pub(crate) fn fin_received(&self) -> bool {
        self.rcv_nxt() >= self.fin_end
    }

    /// Payload bytes received in order so far; the SYN has sequence number 0.
    pub(crate) fn in_order(&self) -> u64 {
        (self.rcv_nxt() - SeqNo::FIRST_DATA).0 - u64::from(self.fin_received())
    }

    /// Payload bytes received in order since `rcv_nxt` was `before`. If it has moved, it was not yet beyond the FIN.
    pub(crate) fn in_order_since(&self, before: SeqNo) -> u64 {
        if self.rcv_nxt() == before { 0 } else { (self.rcv_nxt() - before).0 - u64::from(self.fin_received()) }
    }

    /// Bytes waiting to be read.
    pub(crate) fn unread(&self) -> Bytes {
        self.unread
    }

    /// True if a delayed ACK is outstanding.
    pub(crate) fn has_delayed_ack(&self) -> bool {
        self.acks.has_delayed_ack()
    }

    /// This segment and the next one have ACKs of their own (Linux).
    pub(crate) fn acknowledge_next_at_once(&mut self) {
        self.acks.on_ecn_signal(self.window());
    }

    /// Reads up to `bytes`; returns how many were available.
    pub(crate) fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let read = Bytes(bytes).min(self.unread);
        self.unread = self.unread.saturating_sub(read);
        self.window.on_read(now, self.in_order() - self.unread.0, self.rtt.get());
        read.0
    }

    /// Data is sent to the peer.
    #[inline]
    pub(crate) fn on_data_sent(&mut self, now: Time) {
        self.acks.on_data_sent(now);
    }

    /// The timer of delayed ACKs has expired.
    pub(crate) fn on_delay_over(&mut self) {
        self.acks.on_delay_over();
    }

    /// The application sets the receive buffer.
    pub(crate) fn set_buffer(&mut self, buffer: Bytes) {
        self.window.resize(buffer);
    }

    /// Forgets what was not read.
    pub(crate) fn discard(&mut self) {
        self.unread = Bytes::ZERO;
    }

    /// True if the application has read so much that an ACK is to be sent: the window opens, or nothing is left and a segment that ended a
    /// write waits for its ACK (Linux).
    pub(crate) fn ack_due_at_read(&self) -> bool {
        let is_pushed = self.unread == Bytes::ZERO && self.acks.is_pushed();
        !self.fin_received() && (is_pushed || self.window.update_due(self.rcv_nxt(), self.unread))
    }

    /// True if `seq` lies within the receive window (RFC 9293 §3.10.7.4).
    pub(crate) fn is_in_window(&self, seq: SeqNo) -> bool {
        let rcv_nxt = self.rcv_nxt();
        seq == rcv_nxt || (rcv_nxt < seq && seq < rcv_nxt + self.window())
    }

    /// True if the segment, or a part of it, lies in the window (RFC 9293 §3.10.7.4, first).
    pub(crate) fn accepts(&self, segment: &Segment) -> bool {
        self.is_in_window(segment.seq) || (segment.seq < self.rcv_nxt() && self.rcv_nxt() < segment.end())
    }

    /// Processes a segment (RFC 9293 §3.10.7.4).
    pub(crate) fn on_segment(&mut self, now: Time, segment: &Segment) -> AckTiming {
        let rcv_nxt = self.rcv_nxt();
        if segment.sequence_len() == Bytes::ZERO {
            // RFC 9293 §3.10.7.4, §3.8.4: not acceptable, so acknowledged; keep-alives and zero-window probes rely on it.
            return if segment.seq < rcv_nxt { AckTiming::Immediate } else { AckTiming::None };
        }
        if segment.flags.contains(Flags::FIN) && self.fin_end == NO_FIN && segment.end() > rcv_nxt {
            self.fin_end = segment.end();
        }
        // RFC 9293 §3.10.7.4: trim what lies beyond the window or the FIN.
        let mut end = segment.end().min(self.fin_end);
        if end > self.window.right_edge() {
            end = end.min(rcv_nxt + self.window());
        }
        if end <= segment.seq.max(rcv_nxt) {
            return self.on_not_acceptable(segment);
        }
        if segment.seq > rcv_nxt {
            return self.on_out_of_order(now, segment, end);
        }
        self.on_in_order(now, segment, end)
    }

    /// True if all of a range has been received.
    pub(crate) fn has_received(&self, range: SeqRange) -> bool {
        self.reassembly.has(range)
    }

    /// What is missing up to `seq` is waited for no more; returns how much that is.
    pub(crate) fn pass_over(&mut self, seq: SeqNo) -> Bytes {
        let missing = seq.since(self.rcv_nxt());
        self.reassembly.rcv_nxt += missing;
        missing
    }

    /// The ACK states RCV.NXT (RFC 9293 §3.10.7.4) and reports a duplicate (RFC 2883 §4.1.1).
    #[inline(never)]
    fn on_not_acceptable(&mut self, segment: &Segment) -> AckTiming {
        if segment.end() > self.rcv_nxt() {
            return AckTiming::Immediate;
        }
        self.reassembly.on_duplicate(SeqRange::new(segment.seq, segment.end()));
        self.acks.on_duplicate(self.window())
    }

    #[inline(never)]
    fn on_out_of_order(&mut self, now: Time, segment: &Segment, end: SeqNo) -> AckTiming {
        let range = SeqRange::new(segment.seq, end);
        let releases = self.acks.holds_back() && self.reassembly.displaces(range);
        if releases {
            self.reassembly.release();
            self.acks.on_released();
        }
        let known = self.reassembly.insert(range);
        if let Some(control) = self.window.control() {
            control.on_gap(now);
        }
        // Without SACK a window that changed would hide that the ACK is a duplicate (RFC 5681 §2).
        let grew = self.sack && !known && self.window.grow(segment, self.unread);
        let timing = self.acks.on_out_of_order(now, grew, self.rtt.get());
        match timing {
            AckTiming::CompressedUntil(deadline) if releases && !known => AckTiming::Released(Some(deadline)),
            _ if releases => AckTiming::Released(None),
            // RFC 2883 §4: a duplicate is reported immediately.
            _ if known => AckTiming::Immediate,
            timing => timing,
        }
    }

    fn on_in_order(&mut self, now: Time, segment: &Segment, end: SeqNo) -> AckTiming {
        let before = self.rcv_nxt();
        let filled_gap = self.reassembly.advance(SeqRange::new(segment.seq, end));
        self.measure_rtt(now, segment);
        let arrived = Bytes(self.in_order_since(before));
        self.unread += arrived;
        if let Some(control) = self.window.control() {
            control.on_in_order(now, arrived, self.rtt.get(), self.reassembly.has_gap());
        }
        if self.auto_read {
            self.read(now, u64::MAX);
        }
        let pushed = segment.len < self.largest_payload || segment.flags.contains(Flags::PSH);
        let is_read = self.unread == Bytes::ZERO;
        self.largest_payload = self.largest_payload.max(segment.len);
        let window_grew = self.window.grow(segment, self.unread);
        let fin = if self.fin_received() { Some(self.on_fin()) } else { None };
        let arrived = InOrder { filled_gap, fin, pushed, is_read, window_grew };
        let Receiver { acks, window, reassembly, unread, .. } = self;
        acks.on_in_order(now, arrived, || window.advertise(reassembly.rcv_nxt, *unread), self.rtt.get())
    }

    /// Everything up to the FIN has arrived.
    #[cold]
    fn on_fin(&mut self) -> FinAck {
        if self.acks.forgets_duplicates_at_fin() {
            self.reassembly.forget_duplicate();
        }
        FinAck {
            unacknowledged: self.rcv_nxt() - self.last_ack_sent,
            segment: Bytes(u64::from(self.largest_payload)).max(self.mss.min(DEFAULT_MSS)),
            alone: self.in_order() == 0,
        }
    }

    fn measure_rtt(&mut self, now: Time, segment: &Segment) {
        match segment.timestamps {
            Some(stamps) if u64::from(segment.len) >= self.mss.0 => {
                let ms = Clock::at(now).wrapping_sub(stamps.echo).max(1);
                let rtt = Span::from_millis(u64::from(ms));
                self.rtt.on_echo(rtt);
                if let Some(control) = self.window.control() {
                    control.on_echo(rtt, now);
                }
            }
            Some(_) => {}
            None => self.rtt.on_data(now, self.rcv_nxt(), self.window()),
        }
    }

    /// True if the next ACK carries a SACK option.
    pub(crate) fn has_sack(&self) -> bool {
        self.sack && self.reassembly.has_sack()
    }

    /// The SACK option of the next ACK, in at most `room` blocks.
    pub(crate) fn sack_option(&mut self, room: usize) -> Sack {
        self.reassembly.sack_option(room)
    }

    /// The SACK option of an ACK that was held back and leaves now.
    pub(crate) fn take_released(&mut self) -> Option<Sack> {
        self.reassembly.take_released()
    }

    /// Records that an ACK of everything received is sent, with `window`.
    pub(crate) fn on_ack_sent(&mut self, window: Bytes) {
        self.acks.on_ack_sent();
        self.last_ack_sent = self.rcv_nxt();
        self.window.on_advertised(self.rcv_nxt(), window);
    }
}

#[cfg(test)]
mod tests;
