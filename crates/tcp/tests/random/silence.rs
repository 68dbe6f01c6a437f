//! Time-outs in a row, each of which must take longer than the one before.

use tcp::units::{Span, Time};

use super::watch::{Outcome, ensure};

/// Retransmission time-outs since the last arrival: each must take longer than the previous one (RFC 6298 §5.5).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    timeouts: u64,
    /// The last time-out, or what was sent after it, for which a pacer may have waited.
    last: Option<Time>,
    sent: bool,
    interval: Span,
}

impl Silence {
    /// Something has arrived, or the interval that runs proves nothing.
    pub(crate) fn end(&mut self) {
        *self = Silence { timeouts: self.timeouts, ..Silence::default() };
    }

    pub(crate) fn check(&mut self, now: Time, timeouts: u64, sent: bool, rto_max: Span) -> Outcome {
        if timeouts == self.timeouts {
            if sent && !std::mem::replace(&mut self.sent, true) {
                self.last = self.last.map(|_| now);
            }
            return Ok(());
        }
        self.sent = sent;
        ensure(timeouts == self.timeouts + 1, || format!("{} time-outs at once", timeouts - self.timeouts))?;
        self.timeouts = timeouts;
        let interval = self.last.replace(now).map(|last| now.since(last));
        let least = (self.interval * 3 / 2).min(rto_max);
        self.interval = interval.unwrap_or_default();
        ensure(interval.is_none_or(|i| i >= least), || format!("time-out after {interval:?}, at least {least} is due"))
    }
}
