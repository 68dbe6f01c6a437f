//! When a receiver acknowledges (RFC 9293 §3.8.6.3, RFC 5681 §4.2), with what Linux adds: quick ACKs and the compression
//! of duplicate ACKs. What Linux does was learnt from recordings (docs/validation.md).

use crate::options::Agreed;
use crate::settings::DelayedAck;
use crate::units::{Bytes, Span, Time};

/// What an arriving segment asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AckWish {
    /// Nothing to acknowledge.
    None,
    /// An ACK at once.
    Now,
    /// An ACK by this time at the latest.
    By(Time),
    /// A duplicate ACK by this time at the latest; others wait with it.
    CompressedBy(Time),
}

/// What a segment that arrived in order brought with it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InOrder {
    /// There was a gap behind it.
    pub(crate) gap: bool,
    /// The last number has arrived.
    pub(crate) fin: bool,
    /// Its sender had no more to send: it says so, or it is shorter than others before it.
    pub(crate) pushed: bool,
    /// The window grew.
    pub(crate) grew: bool,
}

/// What has been received and is not yet acknowledged, and how soon it has to be.
/// Fields lie in memory as written, those of every segment together.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct AckPolicy {
    mss: Bytes,
    /// A silence as long as this brings quick ACKs again: the least time-out of a sender.
    silence: Span,
    policy: DelayedAck,
    last_data_at: Time,
    /// In-order segments not yet acknowledged.
    waiting: u32,
    /// ACKs that are not to be delayed.
    quick: u32,
    /// Duplicate ACKs sent at once since `rcv_nxt` moved.
    duplicates: u32,
    /// Duplicate ACKs that wait.
    compressed: u32,
    /// Something has arrived since the last ACK.
    owed: bool,
    /// The first quick ACKs have been granted, or others have been used up before.
    started: bool,
}

impl AckPolicy {
    /// Duplicate ACKs that are never held back: the sender needs three (RFC 5681 §3.2).
    const UNCOMPRESSED: u32 = 3;
    /// No more than this many are held back (Linux's tcp_comp_sack_nr).
    const MOST_COMPRESSED: u32 = 44;

    pub(crate) fn new(policy: DelayedAck, mss: Bytes, silence: Span) -> AckPolicy {
        AckPolicy {
            policy,
            mss,
            silence,
            waiting: 0,
            owed: false,
            quick: 0,
            started: false,
            last_data_at: Time::ZERO,
            duplicates: 0,
            compressed: 0,
        }
    }

    /// The handshake is done. Without SACK the sender counts duplicate ACKs, so none is held back.
    pub(crate) fn agree(&mut self, agreed: &Agreed) {
        self.mss = agreed.mss;
        if !agreed.sack {
            self.policy.compression = Span::ZERO;
        }
    }

    /// True if in-order segments wait for their ACK.
    pub(crate) fn holds_back(&self) -> bool {
        self.waiting > 0
    }

    /// A segment arrived in order. The window bounds the quick ACKs; it is asked for only if some are granted.
    pub(crate) fn on_in_order(
        &mut self,
        now: Time,
        what: InOrder,
        window: impl FnOnce() -> Bytes,
        rtt: Option<Span>,
    ) -> AckWish {
        self.owed = true;
        self.waiting += 1;
        self.duplicates = 0;
        let silent = now.since(self.last_data_at) > self.silence + rtt.unwrap_or(Span::ZERO);
        if !self.started || silent {
            self.started = true;
            self.grant(window());
        }
        self.last_data_at = now;
        self.on_growth(what.grew);
        // The application is about to close as well, and its FIN carries the ACK (Linux).
        let patient = what.fin && self.policy.push;
        let hurried = if patient { false } else { what.fin || self.quick > 0 || (what.pushed && self.policy.push) };
        // RFC 5681 §4.2: at once when a gap is filled in part or whole, and at the latest for every second segment.
        if what.gap || hurried || self.waiting >= self.policy.segments {
            AckWish::Now
        } else {
            AckWish::By(now + self.policy.timeout)
        }
    }

    /// A segment arrived beyond a gap; it is acknowledged at once (RFC 5681 §4.2), or as Linux does.
    pub(crate) fn on_beyond(&mut self, now: Time, grew: bool, rtt: Option<Span>) -> AckWish {
        self.owed = true;
        self.on_growth(grew);
        let compresses = self.policy.compression > Span::ZERO;
        if !compresses || self.quick > 0 || self.compressed >= AckPolicy::MOST_COMPRESSED {
            return AckWish::Now;
        }
        if self.duplicates < AckPolicy::UNCOMPRESSED {
            self.duplicates += 1;
            return AckWish::Now;
        }
        self.compressed += 1;
        let twentieth = rtt.map_or(self.policy.compression, |rtt| rtt / 20);
        AckWish::CompressedBy(now + self.policy.compression.min(twentieth))
    }

    /// Something arrived twice: an ACK was lost, or the sender was hasty.
    pub(crate) fn on_duplicate(&mut self, window: Bytes) -> AckWish {
        self.owed = true;
        self.grant(window);
        AckWish::Now
    }

    /// As many quick ACKs as half the window has segments, within bounds (Linux).
    #[inline(never)]
    fn grant(&mut self, window: Bytes) {
        let half = window.0 / (2 * self.mss.0);
        let granted = half.clamp(2, u64::from(u32::MAX)) as u32;
        self.quick = self.quick.max(granted.min(self.policy.quick));
    }

    /// While the window still grows the sender is likely to be in slow start, and wants its ACKs (Linux).
    fn on_growth(&mut self, grew: bool) {
        if grew && self.policy.quick > 0 {
            self.quick |= 1;
        }
    }

    /// Notes that an acknowledgment is leaving.
    pub(crate) fn on_ack_sent(&mut self) {
        if std::mem::take(&mut self.owed) && self.quick > 0 {
            self.quick -= 1;
            self.started |= self.quick == 0;
        }
        self.waiting = 0;
        self.compressed = 0;
    }
}

#[cfg(test)]
mod tests;
