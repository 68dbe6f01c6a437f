//! When a receiver acknowledges (RFC 9293 §3.8.6.3, RFC 5681 §4.2), with what Linux adds: quick ACKs and SACK
//! compression. Linux's behaviour was measured from recordings (docs/generated/validation.md).

use crate::options::Agreed;
use crate::settings::DelayedAck;
use crate::units::{Bytes, Span, Time};

/// When the ACK that an arriving segment calls for is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AckTiming {
    /// Nothing to acknowledge.
    None,
    /// Send an ACK immediately.
    Immediate,
    /// Delay the ACK until this time at most.
    DelayedUntil(Time),
    /// Hold back a duplicate ACK until this time at most; later ones join it.
    CompressedUntil(Time),
    /// Send an ACK immediately of what was held back; that of this segment is held back until a time, or follows at once.
    Released(Option<Time>),
}

/// What decides how long the ACK of a FIN may wait for a FIN of our own (Linux).
#[derive(Clone, Copy, Debug)]
pub(crate) struct FinAck {
    /// Received and not yet acknowledged, the FIN included.
    pub(crate) unacknowledged: Bytes,
    /// The peer's segment size as far as it has shown: its largest payload, or the 536 B that any host accepts.
    pub(crate) segment: Bytes,
    /// The FIN is all that was ever received.
    pub(crate) alone: bool,
}

/// What an in-order segment brought with it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InOrder {
    /// It filled a gap, or part of one.
    pub(crate) filled_gap: bool,
    /// Everything up to the FIN has arrived.
    pub(crate) fin: Option<FinAck>,
    /// It ended a write: it carries PSH or is shorter than segments before it.
    pub(crate) pushed: bool,
    /// The application has read it.
    pub(crate) is_read: bool,
    /// The receive window opened further with it.
    pub(crate) window_grew: bool,
}

/// What is received and not yet acknowledged, and when it must be.
#[derive(Clone, Debug)]
// Hot fields first; see connection.rs.
#[repr(C)]
pub(crate) struct AckPolicy {
    mss: Bytes,
    /// Idle time after which quick ACKs are granted again: the sender's minimum RTO.
    idle_threshold: Span,
    policy: DelayedAck,
    last_data_at: Time,
    /// In-order segments not yet acknowledged.
    delayed: u32,
    /// ACKs that are not delayed (Linux's quickack counter).
    quick_acks: u32,
    /// Duplicate ACKs sent immediately since `rcv_nxt` moved.
    duplicates: u32,
    /// Duplicate ACKs held back.
    compressed: u32,
    /// A segment that calls for an ACK has arrived since the last ACK.
    owed: bool,
    /// The initial quick ACKs have been granted, or used up.
    started: bool,
    /// Segments that ended a write and have arrived since the last ACK.
    pushed: u8,
    /// The application has answered what arrived at once, and is likely to do so again (Linux's pingpong mode).
    answers: bool,
}

impl AckPolicy {
    /// Duplicate ACKs that are never held back: fast retransmit needs three (RFC 5681 §3.2).
    const MIN_UNCOMPRESSED: u32 = 3;
    /// Quick ACKs at a first mark (Linux since 4.19).
    const AT_ECN_SIGNAL: u32 = 2;
    /// Maximum held back (Linux's tcp_comp_sack_nr).
    const MAX_COMPRESSED: u32 = 44;

    pub(crate) fn new(policy: DelayedAck, mss: Bytes, idle_threshold: Span) -> AckPolicy {
        AckPolicy {
            policy,
            mss,
            idle_threshold,
            delayed: 0,
            owed: false,
            quick_acks: 0,
            started: false,
            pushed: 0,
            answers: false,
            last_data_at: Time::ZERO,
            duplicates: 0,
            compressed: 0,
        }
    }

    /// Applies what the handshake agreed. Without SACK the sender counts duplicate ACKs, so none is held back.
    pub(crate) fn agree(&mut self, agreed: &Agreed) {
        self.mss = agreed.mss;
        if !agreed.sack {
            self.policy.compression = Span::ZERO;
        }
    }

    /// True if what ended a write waits for its ACK, which Linux sends when the application has read it.
    pub(crate) fn is_pushed(&self) -> bool {
        self.pushed > u8::from(self.answers)
    }

    /// Data is sent: an answer, if something arrived a moment ago (Linux, tcp_event_data_sent).
    pub(crate) fn on_data_sent(&mut self, now: Time) {
        let answer = self.started && now.since(self.last_data_at) < self.policy.timeout;
        self.answers |= answer && self.policy.interactive;
    }

    /// An ACK has been delayed in vain: no answer came (Linux, tcp_delack_timer_handler).
    pub(crate) fn on_delay_over(&mut self) {
        self.answers = false;
    }

    /// The next ACK is not delayed.
    fn is_quick(&self) -> bool {
        self.quick_acks > 0 && !self.answers
    }

    /// Linux since 6.7, which has the interactive mode, delays no ACK for as long as the time-out of its sender (tcp_delack_max).
    fn longest_delay(&self) -> Span {
        if !self.policy.interactive {
            return self.policy.timeout;
        }
        let jiffy = Span::from_millis(1);
        self.policy.timeout.min(self.idle_threshold.max(jiffy * 2).saturating_sub(jiffy))
    }

    /// True if a delayed ACK is outstanding.
    pub(crate) fn has_delayed_ack(&self) -> bool {
        self.delayed > 0
    }

    /// A segment arrived in order. `window` bounds the quick ACKs; it is called only if some are granted.
    pub(crate) fn on_in_order(
        &mut self,
        now: Time,
        arrived: InOrder,
        window: impl FnOnce() -> Bytes,
        rtt: Option<Span>,
    ) -> AckTiming {
        self.owed = true;
        self.delayed += 1;
        self.duplicates = 0;
        self.pushed = self.pushed.saturating_add(u8::from(arrived.pushed && self.policy.push));
        let first = !self.started && self.policy.first;
        let idle = now.since(self.last_data_at) > self.idle_threshold + rtt.unwrap_or(Span::ZERO);
        if !self.started || idle {
            self.started = true;
            self.grant_quick_acks(window());
        }
        self.last_data_at = now;
        self.on_window_growth(arrived.window_grew);
        // RFC 5681 §4.2: immediately when a gap is filled in part or whole, and for every second segment.
        let every_second = self.delayed >= self.policy.segments;
        let immediate = match arrived.fin {
            // The application is about to close as well, and its FIN carries the ACK (Linux), unless more than one segment's
            // worth is due, or no delay could be measured because there was no data.
            Some(fin) if self.policy.push => fin.unacknowledged > fin.segment || fin.alone || self.policy.segments == 1,
            fin => fin.is_some() || every_second || first || self.is_quick() || (self.is_pushed() && arrived.is_read),
        };
        if arrived.filled_gap || immediate {
            AckTiming::Immediate
        } else {
            AckTiming::DelayedUntil(now + self.longest_delay())
        }
    }

    /// A duplicate that is not yet reported is forgotten with the FIN, as in Linux; RFC 2883 would report it.
    pub(crate) fn forgets_duplicates_at_fin(&self) -> bool {
        self.policy.push
    }

    /// A segment arrived out of order: immediate duplicate ACK (RFC 5681 §4.2), or SACK compression (Linux).
    pub(crate) fn on_out_of_order(&mut self, now: Time, grew: bool, rtt: Option<Span>) -> AckTiming {
        self.owed = true;
        self.on_window_growth(grew);
        let compresses = self.policy.compression > Span::ZERO;
        if !compresses || self.is_quick() || self.compressed >= AckPolicy::MAX_COMPRESSED {
            return AckTiming::Immediate;
        }
        if self.duplicates < AckPolicy::MIN_UNCOMPRESSED {
            self.duplicates += 1;
            return AckTiming::Immediate;
        }
        self.compressed += 1;
        let twentieth = rtt.map_or(self.policy.compression, |rtt| rtt / 20);
        AckTiming::CompressedUntil(now + self.policy.compression.min(twentieth))
    }

    /// True if duplicate ACKs are held back.
    pub(crate) fn holds_back(&self) -> bool {
        self.compressed > 0
    }

    /// What was held back leaves.
    pub(crate) fn on_released(&mut self) {
        self.compressed = 0;
    }

    /// A duplicate segment arrived: an ACK was lost, or the retransmission was spurious.
    pub(crate) fn on_duplicate(&mut self, window: Bytes) -> AckTiming {
        self.owed = true;
        self.answers = false;
        self.grant_quick_acks(window);
        AckTiming::Immediate
    }

    /// A first mark, or a retransmission that its ECN field shows: one ACK now, and one for what comes next, since the sender's
    /// window may be a single segment.
    pub(crate) fn on_ecn_signal(&mut self, window: Bytes) {
        self.answers = false;
        self.grant(window, AckPolicy::AT_ECN_SIGNAL);
    }

    /// Grants half a window's worth of quick ACKs, within bounds (Linux).
    #[inline(never)]
    fn grant_quick_acks(&mut self, window: Bytes) {
        self.grant(window, u32::MAX);
    }

    fn grant(&mut self, window: Bytes, most: u32) {
        let half = window.0 / (2 * self.mss.0);
        let granted = half.clamp(2, u64::from(u32::MAX)) as u32;
        self.quick_acks = self.quick_acks.max(granted.min(self.policy.quick).min(most));
    }

    /// While the window still grows the sender is likely to be in slow start, so its ACKs are not delayed (Linux).
    fn on_window_growth(&mut self, grew: bool) {
        if grew && self.policy.quick > 0 {
            self.quick_acks |= 1;
        }
    }

    /// Notes that an acknowledgment is leaving.
    pub(crate) fn on_ack_sent(&mut self) {
        if std::mem::take(&mut self.owed) && self.quick_acks > 0 {
            self.quick_acks -= 1;
            self.started |= self.quick_acks == 0;
        }
        self.delayed = 0;
        self.pushed = 0;
        self.compressed = 0;
    }
}

#[cfg(test)]
mod tests;
