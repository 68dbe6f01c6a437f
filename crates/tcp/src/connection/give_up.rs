//! When a connection whose peer does not answer is given up (RFC 9293 §3.8.3: R2 and the user time-out).

use super::Connection;
use super::exceptional::Exceptional;
use crate::sender::Unanswered;
use crate::settings::RtoBounds;
use crate::timers::Timer;
use crate::units::{Span, Time};

impl Connection {
    /// What only a connection in trouble needs, made if it is the first time.
    pub(super) fn exceptional(&mut self) -> &mut Exceptional {
        self.exceptional.get_or_insert_default()
    }

    /// A retransmission timed out, or a probe of a closed window is due. True if the connection is to be given up.
    #[cold]
    #[inline(never)]
    pub(super) fn on_no_answer(&mut self, now: Time, unanswered: Unanswered, rto: RtoBounds) -> bool {
        let retries = u32::from(self.retries2);
        let timers = &mut self.timers;
        let waiting = self.exceptional.get_or_insert_default();
        if unanswered.timeouts + unanswered.probes == 1 {
            waiting.since = now;
            if waiting.user_timeout > Span::ZERO {
                timers.arm(Timer::UserTimeout, now + waiting.user_timeout);
            }
        }
        // RFC 9293 §3.8.6.1: while probes are answered the connection stays open.
        if std::mem::take(&mut waiting.answered) || unanswered.probes == 0 {
            waiting.probes = 0;
        }
        waiting.probes += u32::from(unanswered.probes > 0);
        let timed_out = unanswered.timeouts > 1 && now.since(waiting.since) >= time_of(retries, rto);
        retries > 0 && (timed_out || waiting.probes > retries)
    }
}

/// The time that so many retransmissions take if the first time-out is the least, and each the double of the one before up to
/// the greatest. Like Linux's, R2 is a time: a connection with a longer time-out makes fewer attempts.
fn time_of(retries: u32, rto: RtoBounds) -> Span {
    let mut timeout = rto.min.max(rto.granularity).max(Span::from_millis(1));
    let mut total = Span::ZERO;
    for _ in 0..=retries.min(10_000) {
        total += timeout;
        timeout = timeout.saturating_mul(2).min(rto.max);
    }
    total
}
