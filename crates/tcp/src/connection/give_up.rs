//! When a connection whose peer does not answer is given up (RFC 9293 §3.8.3: R2 and the user time-out).

use crate::config::TcpConfig;
use crate::sender::Unanswered;
use crate::settings::RtoBounds;
use crate::timers::{Timer, Timers};
use crate::units::{Span, Time};

/// How long a connection waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Something has arrived since the last probe.
    pub(super) heard: bool,
    /// Probes of a closed window that nothing has answered.
    probes: u32,
    /// R2 as a number of retransmissions; 0: never.
    retries: u32,
    /// R2 as a time, from the first retransmission on.
    limit: Span,
    /// 0: none.
    user_timeout: Span,
    /// When the first retransmission or probe timed out.
    since: Time,
}

impl Patience {
    pub(super) fn new(config: &TcpConfig) -> Patience {
        Patience {
            heard: false,
            probes: 0,
            retries: config.retries2,
            limit: time_of(config.retries2, config.rto),
            user_timeout: config.user_timeout,
            since: Time::ZERO,
        }
    }

    /// A retransmission timed out, or a probe of a closed window is due. True if the connection is to be given up.
    #[cold]
    #[inline(never)]
    pub(super) fn on_no_answer(&mut self, now: Time, unanswered: Unanswered, timers: &mut Timers) -> bool {
        if unanswered.timeouts + unanswered.probes == 1 {
            self.since = now;
            if self.user_timeout > Span::ZERO {
                timers.arm(Timer::UserTimeout, now + self.user_timeout);
            }
        }
        // RFC 9293 §3.8.6.1: while probes are answered the connection stays open.
        if std::mem::take(&mut self.heard) || unanswered.probes == 0 {
            self.probes = 0;
        }
        self.probes += u32::from(unanswered.probes > 0);
        let timed_out = unanswered.timeouts > 1 && now.since(self.since) >= self.limit;
        self.retries > 0 && (timed_out || self.probes > self.retries)
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
