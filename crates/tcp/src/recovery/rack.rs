//! RACK (RFC 8985): a segment is lost when something sent later has arrived and an RTT and a settling time have passed.

use crate::scoreboard::Delivered;
use crate::units::{Bytes, Span, Time};

/// After so many recoveries without a duplicate report the settling time returns to its least (RFC 8985 §6.2 step 4).
const PATIENCE: u32 = 16;

/// What is known of the newest segment that arrived, and of reordering.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Sending time and end of the segment sent last among those that arrived.
    newest: Option<(Time, u64)>,
    /// RTT of the segment reported last.
    rtt: Span,
    /// Something arrived since the last search for losses.
    advanced: bool,
    /// Reordering has been seen.
    pub(crate) reordering_seen: bool,
    /// The settling time in quarters of the least RTT.
    steps: u64,
    /// Recoveries before `steps` falls back to one.
    persist: u32,
    /// A duplicate was reported and not yet acted upon.
    duplicate_reported: bool,
    /// Delivered when `steps` last rose: once per round.
    raised_at: Bytes,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            newest: None,
            rtt: Span::ZERO,
            advanced: false,
            reordering_seen: false,
            steps: 1,
            persist: 0,
            duplicate_reported: false,
            raised_at: Bytes::ZERO,
        }
    }
}

/// What decides on the settling time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settling {
    /// In recovery, or as much has been reported beyond the gap as means loss.
    pub(crate) loss_is_evident: bool,
    pub(crate) min_rtt: Option<Span>,
    pub(crate) srtt: Option<Span>,
}

impl Rack {
    /// An ACK reports a segment (§6.2 steps 1 and 2).
    pub(crate) fn on_delivered(&mut self, now: Time, segment: &Delivered, min_rtt: Option<Span>) {
        let rtt = now.since(segment.sent_at);
        // The ACK of a retransmission may be meant for the original.
        if segment.transmissions > 1 && min_rtt.is_some_and(|least| rtt < least) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        let newest = (segment.sent_at, segment.end);
        if self.newest.is_none_or(|before| newest > before) {
            self.newest = Some(newest);
        }
    }

    /// A search for losses is due; asking uses it up.
    pub(crate) fn take_advance(&mut self) -> Option<(Time, u64)> {
        std::mem::take(&mut self.advanced).then_some(self.newest).flatten()
    }

    /// The newest segment that arrived, for the reordering timer.
    pub(crate) fn newest(&self) -> Option<(Time, u64)> {
        self.newest
    }

    /// Look again even without news: marks have been taken back.
    pub(crate) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// From this age on a segment sent before the newest one is lost.
    pub(crate) fn age(&self, settling: &Settling) -> Span {
        self.rtt + self.settling_time(settling)
    }

    /// RTT of the segment reported last.
    pub(crate) fn rtt(&self) -> Span {
        self.rtt
    }

    /// RACK.reo_wnd (§6.2 step 4).
    fn settling_time(&self, settling: &Settling) -> Span {
        if !self.reordering_seen && settling.loss_is_evident {
            return Span::ZERO;
        }
        let quarters = settling.min_rtt.unwrap_or_default().saturating_mul(self.steps) / 4;
        quarters.min(settling.srtt.unwrap_or_default())
    }

    /// The receiver reported a duplicate: something was sent again for nothing.
    pub(crate) fn on_duplicate_report(&mut self) {
        self.duplicate_reported = true;
    }

    /// Raises the settling time once per round with a duplicate report. `prior_delivered` is the rate sample's.
    pub(crate) fn adapt(&mut self, prior_delivered: Bytes, delivered: Bytes) {
        if prior_delivered < self.raised_at {
            self.duplicate_reported = false;
        }
        if std::mem::take(&mut self.duplicate_reported) {
            self.steps = (self.steps + 1).min(255);
            self.raised_at = delivered;
            self.persist = PATIENCE;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery ended without being undone.
    pub(crate) fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was undone by duplicate reports.
    pub(crate) fn on_undone_by_duplicates(&mut self) {
        self.persist = (self.persist + 1).min(PATIENCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }

    #[test]
    fn settling_time_of_algorithms_7_5() {
        let settling = Settling { loss_is_evident: false, min_rtt: Some(ms(40)), srtt: Some(ms(45)) };
        let mut rack = Rack::default();
        assert_eq!(rack.age(&settling), ms(10));
        rack.steps = 5;
        assert_eq!(rack.age(&settling), ms(45), "at most SRTT");
        let evident = Settling { loss_is_evident: true, ..settling };
        assert_eq!(rack.age(&evident), Span::ZERO);
        rack.reordering_seen = true;
        assert_eq!(rack.age(&evident), ms(45));
    }

    #[test]
    fn duplicates_raise_it_once_per_round_and_sixteen_recoveries_lower_it() {
        let mut rack = Rack::default();
        rack.on_duplicate_report();
        rack.adapt(Bytes(0), Bytes(1000));
        rack.on_duplicate_report();
        rack.adapt(Bytes(500), Bytes(1500));
        assert_eq!(rack.steps, 2, "the same round");
        rack.on_duplicate_report();
        rack.adapt(Bytes(1000), Bytes(2000));
        assert_eq!(rack.steps, 3);
        for _ in 0..PATIENCE {
            assert_eq!(rack.steps, 3);
            rack.on_recovery_end();
            rack.adapt(Bytes(5000), Bytes(6000));
        }
        assert_eq!(rack.steps, 1);
    }

    #[test]
    fn a_retransmission_acknowledged_too_fast_says_nothing() {
        let mut rack = Rack::default();
        let segment = Delivered {
            end: 100,
            bytes: Bytes(99),
            transmissions: 2,
            sent_at: Time::ZERO,
            stamp: crate::rate::Stamp::default(),
        };
        rack.on_delivered(Time::ZERO + ms(5), &segment, Some(ms(10)));
        assert_eq!(rack.take_advance(), None);
        rack.on_delivered(Time::ZERO + ms(10), &segment, Some(ms(10)));
        assert_eq!(rack.take_advance(), Some((Time::ZERO, 100)));
        assert_eq!(rack.take_advance(), None, "once");
    }
}
