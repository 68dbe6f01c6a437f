//! RACK's rule, without the walk over the segments.

use super::tx_state::SendOrder;
use crate::units::{Span, Time};

/// RACK's rule (RFC 8985 §6.2 step 5): a segment is lost if something sent later was delivered and `timeout` has passed
/// since it was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RackTimeout {
    pub(crate) now: Time,
    /// RACK.xmit_ts, RACK.end_seq: the segment sent last among those delivered.
    pub(crate) newest: SendOrder,
    /// RACK.rtt + RACK.reo_wnd
    pub(crate) timeout: Span,
}

/// What [`RackTimeout`] says of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RackVerdict {
    /// It was sent after the newest delivered one: nothing is known.
    SentLater,
    /// It is lost if it is not delivered within this time.
    Wait(Span),
    Lost,
}

impl RackTimeout {
    #[inline]
    pub(super) fn judge(&self, segment: SendOrder) -> RackVerdict {
        if segment > self.newest {
            return RackVerdict::SentLater;
        }
        let due = segment.sent_at + self.timeout;
        if due <= self.now { RackVerdict::Lost } else { RackVerdict::Wait(due.since(self.now)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::SeqNo;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// The newest delivered segment was sent at 10 ms and ends at 2001; the time-out is 50 ms.
    #[test]
    fn rfc_8985_6_2_step_5() {
        let newest = SendOrder { sent_at: at(10), end: SeqNo(2001) };
        let verdict = |now, sent_at, end| {
            let rack = RackTimeout { now, newest, timeout: Span::from_millis(50) };
            rack.judge(SendOrder { sent_at, end: SeqNo(end) })
        };
        assert_eq!(verdict(at(500), at(11), 1001), RackVerdict::SentLater);
        assert_eq!(verdict(at(500), at(10), 3001), RackVerdict::SentLater, "of the same time, the higher number");
        assert_eq!(verdict(at(59), at(10), 1001), RackVerdict::Wait(Span::from_millis(1)));
        assert_eq!(verdict(at(60), at(10), 1001), RackVerdict::Lost);
        assert_eq!(verdict(at(60), at(2), 1001), RackVerdict::Lost);
    }
}
