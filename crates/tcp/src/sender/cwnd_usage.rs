//! Congestion window validation (RFC 7661's aim, by Linux's rule): a window that is not used does not grow.

use crate::cc::Window;
use crate::seq::SeqNo;
use crate::units::Bytes;

/// How much of the window was used in the round under way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CwndUsage {
    limited: bool,
    max_flight: Bytes,
    /// The round ends when this is acknowledged.
    until: SeqNo,
}

impl CwndUsage {
    /// The send loop has run dry; `limited`: the window has no room for a segment more.
    #[inline]
    pub(crate) fn on_burst_end(&mut self, limited: bool, flight: Bytes, snd_una: SeqNo, snd_nxt: SeqNo) {
        let stale = snd_una >= self.until;
        if stale || limited || (!self.limited && flight > self.max_flight) {
            *self = CwndUsage { limited, max_flight: flight, until: snd_nxt };
        }
    }

    /// True if the window was full or, in slow start, at least half full (the rule of Linux's tcp_is_cwnd_limited).
    #[inline]
    pub(crate) fn is_limited(&self, window: Window) -> bool {
        self.limited || (window.in_slow_start() && window.cwnd < self.max_flight * 2)
    }
}
