//! The discovery of a path: when its requests are due, and how far they go.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::cache::MAX_PATH;
use super::sizes::Sizes;

/// NonpropRequestTimeout, MaxRequestPeriod (RFC 4728 §9).
const RING_ZERO_TIMEOUT: Span = Span::from_millis(30);
const MAX_REQUEST_PERIOD: Span = Span::from_millis(10_000);
/// SendBufferTimeout: a discovery ends when no packet can be waiting for it.
pub(super) const SEND_BUFFER_TIMEOUT: Span = Span::from_millis(30_000);
/// Packets leave the send buffer one by one, so that address resolution keeps up. It is looked through after one to two of
/// these for requests to repeat.
pub(super) const RELEASE_INTERVAL: Span = Span::from_millis(30);

/// Parameters that differ between profiles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct DsrRules {
    /// A request is repeated after this, then after periods that grow by this factor: 0.5 s and 2 in the RFC.
    pub(crate) period: Span,
    pub(crate) backoff: u64,
    pub(crate) sizes: Sizes,
    /// Stations remember the path of a flow, and most packets travel without their source route.
    pub(crate) flow_state: bool,
    /// Requests that are due wait until the send buffer is looked through.
    pub(crate) check_delay: bool,
}

/// A discovery in progress.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Discovery {
    /// When to flood, unless the neighbours have replied.
    flood_at: Option<Time>,
    /// When to begin again.
    next_at: Time,
    /// When the timer asks: as soon as one of the two is due, or when the send buffer is looked through after that.
    check_at: Time,
    period: Span,
    /// The last packet that can be waiting expires then.
    pub(super) until: Time,
}

impl Discovery {
    /// Begins now, for a packet that expires at `until`.
    pub(super) fn begin(now: Time, period: Span, until: Time) -> Discovery {
        Discovery { flood_at: None, next_at: now, check_at: now, period, until }
    }

    /// How often the request may be forwarded that is due now, if one is: first the neighbours alone are asked.
    pub(super) fn next_request(&mut self, now: Time, rules: DsrRules, rng: &mut Rng) -> Option<usize> {
        let hops = if self.flood_at.take_if(|at| *at <= now).is_some() {
            MAX_PATH
        } else if self.next_at <= now {
            self.flood_at = Some(now + RING_ZERO_TIMEOUT);
            self.next_at = now + self.period;
            self.period = (self.period * rules.backoff).min(MAX_REQUEST_PERIOD);
            0
        } else {
            return None;
        };
        let due = self.flood_at.unwrap_or(self.next_at);
        self.check_at = if rules.check_delay { due + until_check(rng) } else { due };
        Some(hops)
    }

    /// True if its timer asks for a request now.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.check_at <= now
    }

    /// When its timer asks for a request, or it ends.
    pub(super) fn next_timer(&self) -> Time {
        self.check_at.min(self.until)
    }
}

/// Time until a send buffer is looked through: again and again after 30 to 60 ms, in a phase that is not known.
fn until_check(rng: &mut Rng) -> Span {
    let (least, most) = (RELEASE_INTERVAL.as_nanos() as f64, 2.0 * RELEASE_INTERVAL.as_nanos() as f64);
    // Of the intervals an instant is the more often in one the longer it is.
    let interval = (least * least + rng.uniform() * (most * most - least * least)).sqrt();
    Span::from_nanos((rng.uniform() * interval) as u64)
}
