//! The receive window: what is advertised (RFC 9293 §3.8.6), and how the buffer behind it grows to what the path needs
//! (dynamic right-sizing, Fisk and Feng 2001, as in Linux).

use crate::config::TcpConfig;
use crate::options::{Agreed, UNSCALED};
use crate::segment::Segment;
use crate::units::{Bytes, Span, Time};

/// The window of one receiver.
/// Fields lie in memory as written, those of every segment together.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct ReceiveWindow {
    /// How far it has opened; grows up to `buffer`.
    open: Bytes,
    /// The buffer now.
    buffer: Bytes,
    /// Advertised windows are multiples of this power of two (RFC 7323 §2.3).
    unit: u64,
    /// The number after the last that may be sent: a promise.
    edge: u64,
    tuning: Option<Tuning>,
    /// The most it can ever be.
    most: Bytes,
    mss: Bytes,
}

impl ReceiveWindow {
    /// Before the handshake.
    pub(crate) fn new(config: &TcpConfig) -> ReceiveWindow {
        let most = config.recv_buffer;
        let small = if config.recv_autotune { UNSCALED } else { Bytes::MAX };
        let buffer = most.min(small);
        let open = buffer.min(config.initial_recv_window);
        let tuning = config.recv_autotune.then(|| Tuning::new(config.mss));
        ReceiveWindow { most, buffer, open, unit: 1, mss: config.mss, edge: 0, tuning }
    }

    /// The handshake settled what can be written into a segment.
    pub(crate) fn agree(&mut self, agreed: &Agreed) {
        self.unit = agreed.scale.unit();
        self.mss = agreed.mss;
        self.most = self.most.min(agreed.scale.most());
        self.buffer = self.buffer.min(self.most);
        // At least what the smallest window that can be written stands for: less would round down to none.
        self.open = self.open.max(Bytes(self.unit)).min(self.most);
    }

    /// The window to advertise while `unread` bytes wait for the application.
    pub(crate) fn advertise(&self, rcv_nxt: u64, unread: Bytes) -> Bytes {
        // RFC 9293 §3.8.6: a window is not taken back.
        let promised = self.round_up(self.edge.saturating_sub(rcv_nxt));
        let free = self.free(unread);
        // RFC 9293 §3.8.6.2.2: while data waits to be read, the edge stands still until it can move by a good step.
        if unread > Bytes::ZERO && free.0 < promised + self.step().0 {
            return Bytes(promised);
        }
        Bytes((free.0 & !(self.unit - 1)).max(promised))
    }

    /// What has been promised reaches up to this number, so that no advertised window ends before it.
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    fn round_up(&self, window: u64) -> u64 {
        (window + self.unit - 1) & !(self.unit - 1)
    }

    /// True if a reader has made so much room that the sender, who may be waiting, should be told without being asked.
    pub(crate) fn opens(&self, rcv_nxt: u64, unread: Bytes) -> bool {
        let promised = self.edge.saturating_sub(rcv_nxt);
        let gain = self.advertise(rcv_nxt, unread).0.saturating_sub(promised);
        let closed = promised < self.step().0;
        (closed && gain >= self.step().0) || gain >= self.buffer.0 / 2
    }

    fn free(&self, unread: Bytes) -> Bytes {
        self.open.min(self.buffer.saturating_sub(unread))
    }

    fn step(&self) -> Bytes {
        self.mss.min(self.buffer / 2)
    }

    /// Notes that `window` is being advertised.
    pub(crate) fn on_advertised(&mut self, rcv_nxt: u64, window: Bytes) {
        self.edge = self.edge.max(rcv_nxt + window.0);
    }

    /// The window of an ACK that says less than what has arrived, up to the same edge.
    pub(crate) fn up_to_edge(&self, ack: u64) -> Bytes {
        Bytes(self.round_up(self.edge.saturating_sub(ack)))
    }

    /// A segment arrived. True if the window opens further (Linux: by twice what its peer can send in one segment).
    pub(crate) fn grow(&mut self, segment: &Segment, unread: Bytes) -> bool {
        /// Segments shorter than this cost more memory than they carry data (Linux).
        const WORTHWHILE: u32 = 128;
        let room = self.buffer.saturating_sub(unread);
        let grows = self.open < room && segment.len >= WORTHWHILE;
        if grows {
            self.open = room.min(self.open + self.mss * 2);
        }
        grows
    }

    /// The application has read up to `read` bytes in all.
    pub(crate) fn on_read(&mut self, now: Time, read: u64, rtt: Option<Span>) {
        let (Some(tuning), Some(rtt)) = (&mut self.tuning, rtt) else { return };
        if let Some(wanted) = tuning.on_read(now, read, rtt, self.mss) {
            self.buffer = self.buffer.max(wanted.min(self.most));
        }
    }
}

/// How much the application reads in a round trip.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    since: Time,
    read_before: u64,
    /// The most in a round trip so far.
    best: Bytes,
}

impl Tuning {
    fn new(mss: Bytes) -> Tuning {
        // RFC 6928: what the first round trip is likely to bring.
        Tuning { since: Time::ZERO, read_before: 0, best: mss * 10 }
    }

    /// The buffer to have, if a round trip has passed in which more was read than in any before.
    fn on_read(&mut self, now: Time, read: u64, rtt: Span, mss: Bytes) -> Option<Bytes> {
        if now.since(self.since) < rtt {
            return None;
        }
        self.on_round_trip(now, read, mss)
    }

    #[inline(never)]
    fn on_round_trip(&mut self, now: Time, read: u64, mss: Bytes) -> Option<Bytes> {
        let copied = Bytes(read - self.read_before);
        (self.since, self.read_before) = (now, read);
        if copied <= self.best {
            return None;
        }
        // Twice what was read, so that a window can be lost and repaired, and some room for bursts. Then twice the
        // growth since the last time: in slow start what is told now governs the round trip after the next.
        let steady = copied.0 * 2 + mss.0 * 16;
        let growth = (u128::from(steady) * u128::from(copied.0 - self.best.0) / u128::from(self.best.0)) as u64;
        self.best = copied;
        Some(Bytes(steady + 2 * growth))
    }
}

/// The round-trip time as a receiver of data can tell it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiverRtt {
    estimate: Option<Span>,
    /// Until timestamps give a sample this is the handshake's.
    measured: bool,
    /// Without timestamps: when `.1` was seen for the first time, the window then ended at `.0`.
    window: Option<(u64, Time)>,
}

impl ReceiverRtt {
    /// From the handshake, if it gave a sample.
    pub(crate) fn new(handshake: Option<Span>) -> ReceiverRtt {
        ReceiverRtt { estimate: handshake, measured: false, window: None }
    }

    /// The estimate.
    pub(crate) fn get(&self) -> Option<Span> {
        self.estimate
    }

    /// A full segment echoed one of our timestamps.
    pub(crate) fn on_echo(&mut self, sample: Span) {
        let before = self.estimate.filter(|_| self.measured);
        self.estimate = Some(before.map_or(sample, |before| (before * 7 + sample) / 8));
        self.measured = true;
    }

    /// Without timestamps: a window is received in no less than a round trip, so the shortest such time is kept.
    #[inline(never)]
    pub(crate) fn on_data(&mut self, now: Time, rcv_nxt: u64, window: Bytes) {
        match self.window {
            Some((end, _)) if rcv_nxt < end => return,
            Some((_, since)) => {
                let sample = now.since(since);
                self.estimate = Some(self.estimate.map_or(sample, |best| best.min(sample)));
            }
            None => {}
        }
        self.window = Some((rcv_nxt + window.0, now));
    }
}

#[cfg(test)]
mod tests;
