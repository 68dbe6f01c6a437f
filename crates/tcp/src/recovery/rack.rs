//! RACK (RFC 8985): a segment is lost when one sent later was delivered and an RTT and the reordering window have passed
//! since it was sent. [`crate::scoreboard::RackTimeout`] applies this rule; here is what it depends on.

use crate::scoreboard::{Delivered, SendOrder};
use crate::units::{Bytes, Span, Time};

/// Recoveries without a DSACK after which the reordering window returns to its minimum (RFC 8985 §6.2 step 4).
const REO_WND_PERSIST: u32 = 16;

/// What is known of the newest delivered segment, and of reordering.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// RACK.xmit_ts, RACK.end_seq: the segment sent last among those delivered.
    newest: Option<SendOrder>,
    /// RACK.rtt: RTT of the segment reported last.
    rtt: Span,
    /// Something arrived since the last search for losses.
    advanced: bool,
    /// Reordering has been seen.
    pub(crate) reordering_seen: bool,
    /// The reordering window in quarters of the least RTT.
    reo_wnd_mult: u64,
    /// Recoveries before `reo_wnd_mult` returns to one.
    reo_wnd_persist: u32,
    /// A DSACK has arrived and has not been acted on yet.
    dsack_seen: bool,
    /// Delivered when `reo_wnd_mult` last rose: it does so once per round.
    raised_at: Bytes,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            newest: None,
            rtt: Span::ZERO,
            advanced: false,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_seen: false,
            raised_at: Bytes::ZERO,
        }
    }
}

/// What the reordering window depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReoWndInput {
    /// In recovery, or as many segments have been reported beyond the gap as mean loss (DupThresh).
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
        let order = segment.order();
        if self.newest.is_none_or(|newest| order > newest) {
            self.newest = Some(order);
        }
    }

    /// The newest delivered segment if something arrived since the last call: then a search for losses is due.
    pub(crate) fn take_advance(&mut self) -> Option<SendOrder> {
        std::mem::take(&mut self.advanced).then_some(self.newest).flatten()
    }

    /// The newest delivered segment, for the reordering timer.
    pub(crate) fn newest(&self) -> Option<SendOrder> {
        self.newest
    }

    /// The next search is due even if nothing arrives: loss marks have been cleared.
    pub(crate) fn recheck(&mut self) {
        self.advanced = true;
    }

    /// RACK.rtt + RACK.reo_wnd: after this time a segment sent before the newest delivered one is lost.
    pub(crate) fn rack_timeout(&self, input: &ReoWndInput) -> Span {
        self.rtt + self.reo_wnd(input)
    }

    /// RTT of the segment reported last.
    pub(crate) fn rtt(&self) -> Span {
        self.rtt
    }

    /// RACK.reo_wnd (§6.2 step 4).
    fn reo_wnd(&self, input: &ReoWndInput) -> Span {
        if !self.reordering_seen && input.loss_is_evident {
            return Span::ZERO;
        }
        let quarters = input.min_rtt.unwrap_or_default().saturating_mul(self.reo_wnd_mult) / 4;
        quarters.min(input.srtt.unwrap_or_default())
    }

    /// A DSACK (RFC 2883) arrived: something was retransmitted without need.
    pub(crate) fn on_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// Raises the reordering window once per round with a DSACK. `prior_delivered` is the rate sample's.
    pub(crate) fn update_reo_wnd(&mut self, prior_delivered: Bytes, delivered: Bytes) {
        if prior_delivered < self.raised_at {
            self.dsack_seen = false;
        }
        if std::mem::take(&mut self.dsack_seen) {
            self.reo_wnd_mult = (self.reo_wnd_mult + 1).min(255);
            self.raised_at = delivered;
            self.reo_wnd_persist = REO_WND_PERSIST;
        } else if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// A recovery ended without being undone.
    pub(crate) fn on_recovery_end(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
    }

    /// A recovery was undone by DSACKs.
    pub(crate) fn on_undone_by_dsack(&mut self) {
        self.reo_wnd_persist = (self.reo_wnd_persist + 1).min(REO_WND_PERSIST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::SeqNo;

    fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }

    #[test]
    fn settling_time_of_algorithms_7_5() {
        let input = ReoWndInput { loss_is_evident: false, min_rtt: Some(ms(40)), srtt: Some(ms(45)) };
        let mut rack = Rack::default();
        assert_eq!(rack.rack_timeout(&input), ms(10));
        rack.reo_wnd_mult = 5;
        assert_eq!(rack.rack_timeout(&input), ms(45), "at most SRTT");
        let evident = ReoWndInput { loss_is_evident: true, ..input };
        assert_eq!(rack.rack_timeout(&evident), Span::ZERO);
        rack.reordering_seen = true;
        assert_eq!(rack.rack_timeout(&evident), ms(45));
    }

    #[test]
    fn dsacks_raise_reo_wnd_once_per_round_and_sixteen_recoveries_lower_it() {
        let mut rack = Rack::default();
        rack.on_dsack();
        rack.update_reo_wnd(Bytes(0), Bytes(1000));
        rack.on_dsack();
        rack.update_reo_wnd(Bytes(500), Bytes(1500));
        assert_eq!(rack.reo_wnd_mult, 2, "the same round");
        rack.on_dsack();
        rack.update_reo_wnd(Bytes(1000), Bytes(2000));
        assert_eq!(rack.reo_wnd_mult, 3);
        for _ in 0..REO_WND_PERSIST {
            assert_eq!(rack.reo_wnd_mult, 3);
            rack.on_recovery_end();
            rack.update_reo_wnd(Bytes(5000), Bytes(6000));
        }
        assert_eq!(rack.reo_wnd_mult, 1);
    }

    #[test]
    fn a_retransmission_acknowledged_too_fast_is_ignored() {
        let mut rack = Rack::default();
        let segment = Delivered {
            end: SeqNo(100),
            bytes: Bytes(99),
            transmissions: 2,
            sent_at: Time::ZERO,
            tx: crate::scoreboard::TxState::default(),
        };
        rack.on_delivered(Time::ZERO + ms(5), &segment, Some(ms(10)));
        assert_eq!(rack.take_advance(), None);
        rack.on_delivered(Time::ZERO + ms(10), &segment, Some(ms(10)));
        assert_eq!(rack.take_advance(), Some(SendOrder { sent_at: Time::ZERO, end: SeqNo(100) }));
        assert_eq!(rack.take_advance(), None, "once");
    }
}
