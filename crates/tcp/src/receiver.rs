//! The receiving half: puts segments in order, decides when to acknowledge and how much more it takes.

mod ack_policy;
mod reassembly;
mod receive_window;

pub(crate) use ack_policy::AckWish;

use ack_policy::{AckPolicy, InOrder};
use reassembly::Reassembly;
use receive_window::{ReceiveWindow, ReceiverRtt};

use crate::config::TcpConfig;
use crate::options::{Agreed, Clock};
use crate::segment::{Flags, Sack, Segment};
use crate::units::{Bytes, Span, Time};

/// The receiving half.
/// Fields lie in memory as written, those of every segment together.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    rtt: ReceiverRtt,
    acks: AckPolicy,
    window: ReceiveWindow,
    /// In order and not yet read by the application.
    unread: Bytes,
    /// Where the FIN is, once it has been seen.
    fin_at: Option<u64>,
    mss: Bytes,
    /// The longest payload so far.
    longest: u32,
    auto_read: bool,
    sack: bool,
    reassembly: Reassembly,
}

impl Receiver {
    /// Expects the number after the SYN first.
    pub(crate) fn new(config: &TcpConfig) -> Receiver {
        Receiver {
            auto_read: config.auto_read,
            sack: false,
            mss: config.mss,
            reassembly: Reassembly::new(1),
            acks: AckPolicy::new(config.delayed_ack, config.mss, config.rto.min),
            window: ReceiveWindow::new(config),
            rtt: ReceiverRtt::new(None),
            fin_at: None,
            unread: Bytes::ZERO,
            longest: 0,
        }
    }

    /// The handshake is done.
    pub(crate) fn agree(&mut self, agreed: &Agreed, rtt: Option<Span>) {
        self.sack = agreed.sack;
        self.mss = agreed.mss;
        self.acks.agree(agreed);
        self.window.agree(agreed);
        self.rtt = ReceiverRtt::new(rtt);
    }

    /// Next number expected.
    pub(crate) fn rcv_nxt(&self) -> u64 {
        self.reassembly.rcv_nxt
    }

    /// The window to advertise.
    pub(crate) fn window(&self) -> Bytes {
        self.window.advertise(self.rcv_nxt(), self.unread)
    }

    /// The window of an ACK that says less than what has arrived.
    pub(crate) fn window_at(&self, ack: u64) -> Bytes {
        self.window.up_to_edge(ack)
    }

    /// True once everything up to and including the FIN has arrived.
    pub(crate) fn finished(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.rcv_nxt() > fin)
    }

    /// Payload bytes received in order so far; the SYN is number 0.
    pub(crate) fn in_order(&self) -> u64 {
        self.rcv_nxt() - 1 - u64::from(self.finished())
    }

    /// Payload bytes that have come in order since `rcv_nxt` was `before`. If it has moved it was not beyond the FIN.
    pub(crate) fn in_order_since(&self, before: u64) -> u64 {
        if self.rcv_nxt() == before { 0 } else { self.rcv_nxt() - before - u64::from(self.finished()) }
    }

    /// Bytes that wait for the application.
    pub(crate) fn unread(&self) -> Bytes {
        self.unread
    }

    /// True if in-order segments wait for their ACK.
    pub(crate) fn holds_back(&self) -> bool {
        self.acks.holds_back()
    }

    /// The application reads up to `bytes`. Gives how many there were.
    pub(crate) fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let taken = Bytes(bytes).min(self.unread);
        self.unread = self.unread.saturating_sub(taken);
        self.window.on_read(now, self.in_order() - self.unread.0, self.rtt.get());
        taken.0
    }

    /// True if the other side is to be told that there is room again.
    pub(crate) fn window_opens(&self) -> bool {
        !self.finished() && self.window.opens(self.rcv_nxt(), self.unread)
    }

    /// True if the segment's number lies where data is expected (RFC 9293 §3.10.7.4).
    pub(crate) fn expects(&self, seq: u64) -> bool {
        let rcv_nxt = self.rcv_nxt();
        seq == rcv_nxt || (rcv_nxt < seq && seq < rcv_nxt + self.window().0)
    }

    /// Takes a segment.
    pub(crate) fn on_segment(&mut self, now: Time, segment: &Segment) -> AckWish {
        let rcv_nxt = self.rcv_nxt();
        if segment.sequence_len() == 0 {
            // RFC 9293 §3.10.7.4, §3.8.4: not acceptable, so answered; keep-alives and probes of a closed window live on it.
            return if segment.seq < rcv_nxt { AckWish::Now } else { AckWish::None };
        }
        if segment.flags.contains(Flags::FIN) && self.fin_at.is_none() && segment.end() > rcv_nxt {
            self.fin_at = Some(segment.end() - 1);
        }
        // What lies beyond the window, or beyond the FIN (RFC 9293 §3.10.7.4), is cut off.
        let mut end = segment.end().min(self.fin_at.map_or(u64::MAX, |fin| fin + 1));
        if end > self.window.edge() {
            end = end.min(rcv_nxt + self.window().0);
        }
        if end <= segment.seq.max(rcv_nxt) {
            return self.on_nothing_new(segment);
        }
        if segment.seq > rcv_nxt {
            return self.on_beyond(now, segment, end);
        }
        self.on_in_order(now, segment, end)
    }

    /// The ACK tells the sender where we are (RFC 9293 §3.10.7.4), and what came twice (RFC 2883 §4.1.1).
    #[inline(never)]
    fn on_nothing_new(&mut self, segment: &Segment) -> AckWish {
        if segment.end() > self.rcv_nxt() {
            return AckWish::Now;
        }
        self.reassembly.on_duplicate(segment.seq, segment.end());
        self.acks.on_duplicate(self.window())
    }

    #[inline(never)]
    fn on_beyond(&mut self, now: Time, segment: &Segment, end: u64) -> AckWish {
        let known = self.reassembly.insert(segment.seq, end);
        // Without SACK a window that changed would hide that the ACK is a duplicate (RFC 5681 §2).
        let grew = self.sack && !known && self.window.grow(segment, self.unread);
        let wish = self.acks.on_beyond(now, grew, self.rtt.get());
        // RFC 2883 §4: a duplicate is reported at once.
        if known { AckWish::Now } else { wish }
    }

    fn on_in_order(&mut self, now: Time, segment: &Segment, end: u64) -> AckWish {
        let before = self.rcv_nxt();
        let gap = self.reassembly.advance(segment.seq, end);
        self.measure_rtt(now, segment);
        self.unread += Bytes(self.in_order_since(before));
        if self.auto_read {
            self.read(now, u64::MAX);
        }
        let pushed = segment.len < self.longest || segment.flags.contains(Flags::PSH);
        self.longest = self.longest.max(segment.len);
        let grew = self.window.grow(segment, self.unread);
        let what = InOrder { gap, fin: self.finished(), pushed, grew };
        let Receiver { acks, window, reassembly, unread, .. } = self;
        acks.on_in_order(now, what, || window.advertise(reassembly.rcv_nxt, *unread), self.rtt.get())
    }

    fn measure_rtt(&mut self, now: Time, segment: &Segment) {
        match segment.timestamps {
            Some(stamps) if u64::from(segment.len) >= self.mss.0 => {
                let ms = Clock::at(now).wrapping_sub(stamps.echo).max(1);
                self.rtt.on_echo(Span::from_millis(u64::from(ms)));
            }
            Some(_) => {}
            None => self.rtt.on_data(now, self.rcv_nxt(), self.window()),
        }
    }

    /// True if an ACK that leaves now has something to say beyond its number.
    pub(crate) fn has_report(&self) -> bool {
        self.sack && self.reassembly.has_report()
    }

    /// The SACK option of that ACK, in at most `room` blocks.
    pub(crate) fn report(&mut self, room: usize) -> Sack {
        self.reassembly.report(room)
    }

    /// Notes that an acknowledgment of everything received is leaving, with `window`.
    pub(crate) fn on_ack_sent(&mut self, window: Bytes) {
        self.acks.on_ack_sent();
        self.window.on_advertised(self.rcv_nxt(), window);
    }
}

#[cfg(test)]
mod tests;
