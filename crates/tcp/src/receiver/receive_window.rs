//! The receive window: what is advertised (RFC 9293 §3.8.6), and the growth of the buffer behind it (dynamic
//! right-sizing, Fisk and Feng 2001, as in Linux).

use super::rledbat::Rledbat;
use crate::config::TcpConfig;
use crate::options::{Agreed, MAX_UNSCALED};
use crate::segment::Segment;
use crate::seq::SeqNo;
use crate::settings::ReceiverControl;
use crate::units::{Bytes, Span, Time};

/// The receive window of one endpoint.
#[derive(Clone, Debug)]
// Hot fields first; see connection.rs.
#[repr(C)]
pub(crate) struct ReceiveWindow {
    /// The window while nothing waits to be read; grows up to `buffer` (Linux's rcv_ssthresh).
    rcv_ssthresh: Bytes,
    /// Current buffer size.
    buffer: Bytes,
    /// Advertised windows are multiples of this power of two (RFC 7323 §2.3).
    unit: u64,
    /// Right edge of the largest window advertised (RFC 9293 §3.8.6).
    right_edge: SeqNo,
    sizing: Sizing,
    /// Upper bound of the buffer.
    max: Bytes,
    mss: Bytes,
    /// The most that the window field can state.
    field: Bytes,
}

impl ReceiveWindow {
    /// The window before the handshake.
    pub(crate) fn new(config: &TcpConfig) -> ReceiveWindow {
        let max = config.recv_buffer;
        let small = if config.recv_autotune { MAX_UNSCALED } else { Bytes::MAX };
        let buffer = max.min(small);
        let rcv_ssthresh = buffer.min(config.initial_recv_window);
        let sizing = match config.receiver_control {
            Some(ReceiverControl::Rledbat) => Sizing::Rledbat(Box::new(Rledbat::new(config.mss))),
            None if config.recv_autotune => Sizing::Right(RightSizing::new(config.mss)),
            None => Sizing::Fixed,
        };
        ReceiveWindow {
            max,
            buffer,
            rcv_ssthresh,
            unit: 1,
            mss: config.mss,
            right_edge: SeqNo::default(),
            sizing,
            field: Bytes::MAX,
        }
    }

    /// Applies what the handshake agreed: MSS and window scale.
    pub(crate) fn agree(&mut self, agreed: &Agreed) {
        self.unit = agreed.scale.unit();
        self.mss = agreed.mss;
        self.field = agreed.scale.max_window();
        self.max = self.max.min(self.field);
        self.buffer = self.buffer.min(self.max);
        // At least one unit of the window scale: less would round down to a zero window.
        self.rcv_ssthresh = self.rcv_ssthresh.max(Bytes(self.unit)).min(self.max);
        if let Sizing::Rledbat(control) = &mut self.sizing {
            control.agree(agreed.mss);
        }
    }

    /// What keeps the sender behind others, if anything does.
    pub(crate) fn control(&mut self) -> Option<&mut Rledbat> {
        match &mut self.sizing {
            Sizing::Rledbat(control) => Some(control),
            Sizing::Fixed | Sizing::Right(_) => None,
        }
    }

    /// The window while nothing waits to be read.
    fn open(&self) -> Bytes {
        match &self.sizing {
            Sizing::Rledbat(control) => self.rcv_ssthresh.min(control.window()),
            Sizing::Fixed | Sizing::Right(_) => self.rcv_ssthresh,
        }
    }

    /// The application sets the buffer (SO_RCVBUF), which ends its growth. What was advertised stays (RFC 9293 §3.8.6).
    pub(crate) fn resize(&mut self, buffer: Bytes) {
        let open = self.rcv_ssthresh >= self.buffer;
        self.max = buffer.min(self.field);
        self.buffer = self.max;
        self.sizing = Sizing::Fixed;
        self.rcv_ssthresh = if open { self.max } else { self.rcv_ssthresh.min(self.max) };
    }

    /// The window to advertise while `unread` bytes wait for the application.
    pub(crate) fn advertise(&self, rcv_nxt: SeqNo, unread: Bytes) -> Bytes {
        // RFC 9293 §3.8.6: do not shrink the window.
        let advertised = self.round_up(self.right_edge.since(rcv_nxt).0);
        let open = self.open();
        let free = open.min(self.buffer.saturating_sub(unread));
        // RFC 9293 §3.8.6.2.2: while data waits to be read, the right edge moves only by the SWS threshold or more.
        if unread > Bytes::ZERO && free.0 < advertised + self.sws_threshold().0 {
            return Bytes(advertised);
        }
        // What slows the growth of the window is rounded up (Linux); the buffer is a limit.
        let room = self.buffer.saturating_sub(unread).0 & !(self.unit - 1);
        Bytes(self.round_up(open.0).min(room).max(advertised))
    }

    /// The right edge: no advertised window ends before it.
    pub(crate) fn right_edge(&self) -> SeqNo {
        self.right_edge
    }

    fn round_up(&self, window: u64) -> u64 {
        (window + self.unit - 1) & !(self.unit - 1)
    }

    /// True if reading has freed enough of the buffer to send a window update (RFC 9293 §3.8.6.2.2).
    pub(crate) fn update_due(&self, rcv_nxt: SeqNo, unread: Bytes) -> bool {
        let advertised = self.right_edge.since(rcv_nxt).0;
        let gain = self.advertise(rcv_nxt, unread).0.saturating_sub(advertised);
        let closed = advertised < self.sws_threshold().0;
        (closed && gain >= self.sws_threshold().0) || gain >= self.buffer.0 / 2
    }

    /// RFC 9293 §3.8.6.2.2: min(Fr RCV.BUFF, Eff.snd.MSS) with Fr = 1/2.
    fn sws_threshold(&self) -> Bytes {
        self.mss.min(self.buffer / 2)
    }

    /// Records that `window` is advertised.
    pub(crate) fn on_advertised(&mut self, rcv_nxt: SeqNo, window: Bytes) {
        self.right_edge = self.right_edge.max(rcv_nxt + window);
    }

    /// The window of an ACK for less than `rcv_nxt`, with the same right edge.
    pub(crate) fn up_to_right_edge(&self, ack: SeqNo) -> Bytes {
        Bytes(self.round_up(self.right_edge.since(ack).0))
    }

    /// A segment arrived. True if the window opens further, which it does by two segments (Linux).
    pub(crate) fn grow(&mut self, segment: &Segment, unread: Bytes) -> bool {
        /// Shorter segments cost more memory than the data they carry (Linux).
        const MIN_PAYLOAD: u32 = 128;
        let room = self.buffer.saturating_sub(unread);
        let grows = self.rcv_ssthresh < room && segment.len >= MIN_PAYLOAD;
        if grows {
            self.rcv_ssthresh = room.min(self.rcv_ssthresh + self.mss * 2);
        }
        grows
    }

    /// The application has read `read` bytes in total.
    pub(crate) fn on_read(&mut self, now: Time, read: u64, rtt: Option<Span>) {
        let (Sizing::Right(right_sizing), Some(rtt)) = (&mut self.sizing, rtt) else { return };
        if let Some(wanted) = right_sizing.on_read(now, read, rtt, self.mss) {
            self.buffer = self.buffer.max(wanted.min(self.max));
        }
    }
}

/// What bounds the window besides the buffer.
#[derive(Clone, Debug)]
enum Sizing {
    Fixed,
    Right(RightSizing),
    Rledbat(Box<Rledbat>),
}

/// Dynamic right-sizing: what the application reads in a round trip bounds what the sender can use.
#[derive(Clone, Copy, Debug)]
struct RightSizing {
    since: Time,
    read_before: u64,
    /// Maximum read in one round trip so far.
    max_per_rtt: Bytes,
}

impl RightSizing {
    fn new(mss: Bytes) -> RightSizing {
        // RFC 6928: the initial window is what the first round trip is likely to bring.
        RightSizing { since: Time::ZERO, read_before: 0, max_per_rtt: mss * 10 }
    }

    /// The buffer needed, if a round trip has passed in which more was read than in any before.
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
        if copied <= self.max_per_rtt {
            return None;
        }
        // Twice what was read, to absorb the repair of a lost window, and 16 segments for bursts. Then twice the growth
        // since the last time: in slow start the window advertised now limits the round trip after the next.
        let steady = copied.0 * 2 + mss.0 * 16;
        let growth =
            (u128::from(steady) * u128::from(copied.0 - self.max_per_rtt.0) / u128::from(self.max_per_rtt.0)) as u64;
        self.max_per_rtt = copied;
        Some(Bytes(steady + 2 * growth))
    }
}

/// A receive window whose reception is timed.
#[derive(Clone, Copy, Debug)]
struct TimedWindow {
    right_edge: SeqNo,
    since: Time,
}

/// The round-trip time as measured by the receiver of data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiverRtt {
    estimate: Option<Span>,
    /// False until timestamps give a sample: the estimate is then the handshake's.
    measured: bool,
    /// Without timestamps: the window whose reception is being timed.
    timed: Option<TimedWindow>,
}

impl ReceiverRtt {
    /// Starts from the sample of the handshake, if any.
    pub(crate) fn new(handshake: Option<Span>) -> ReceiverRtt {
        ReceiverRtt { estimate: handshake, measured: false, timed: None }
    }

    /// The estimate.
    pub(crate) fn get(&self) -> Option<Span> {
        self.estimate
    }

    /// A full segment echoed our timestamp.
    pub(crate) fn on_echo(&mut self, sample: Span) {
        let before = self.estimate.filter(|_| self.measured);
        self.estimate = Some(before.map_or(sample, |before| (before * 7 + sample) / 8));
        self.measured = true;
    }

    /// Without timestamps: receiving a full window takes at least one round trip, so the minimum is kept.
    #[inline(never)]
    pub(crate) fn on_data(&mut self, now: Time, rcv_nxt: SeqNo, window: Bytes) {
        match self.timed {
            Some(timed) if rcv_nxt < timed.right_edge => return,
            Some(TimedWindow { since, .. }) => {
                let sample = now.since(since);
                self.estimate = Some(self.estimate.map_or(sample, |best| best.min(sample)));
            }
            None => {}
        }
        self.timed = Some(TimedWindow { right_edge: rcv_nxt + window, since: now });
    }
}

#[cfg(test)]
mod tests;
