//! cwnd and ssthresh, with the moves that the classic algorithms share (RFC 5681).

use super::signals::{Cause, Congestion, View};
use crate::units::{Bytes, Span};

/// The congestion window and the slow-start threshold, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: Bytes,
    /// Slow-start threshold; [`Bytes::MAX`] means "not set".
    pub ssthresh: Bytes,
}

/// How cwnd shrinks after an idle period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleRule {
    /// Down to the restart window after more than a time-out (RFC 5681 §4.1).
    Restart,
    /// Half for each time-out that has passed (RFC 2861), as in Linux.
    Halve,
}

impl IdleRule {
    /// The rule of implementations that count whole segments, as Linux, or bytes.
    pub fn of(whole_segments: bool) -> IdleRule {
        if whole_segments { IdleRule::Halve } else { IdleRule::Restart }
    }
}

impl Window {
    /// True below the threshold (RFC 5681 §3.1; at equality either is allowed, congestion avoidance is chosen).
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start: cwnd grows by `acked`, at most `limit`, up to ssthresh. Returns what was left at the threshold.
    /// RFC 5681 §3.1 eq. 2 with `limit` = 1 MSS; RFC 3465 with `limit` = L MSS.
    pub fn slow_start(&mut self, acked: Bytes, limit: Bytes) -> Bytes {
        let grown = self.cwnd.saturating_add(acked.min(limit)).min(self.ssthresh);
        let used = grown.saturating_sub(self.cwnd);
        self.cwnd = self.cwnd.max(grown);
        acked.min(limit).saturating_sub(used)
    }

    /// Growth by the ACK, not by what it acknowledges: a segment in slow start, whatever the threshold; beyond it
    /// max(1, MSS^2 / cwnd) bytes. A second segment on the ACK that crosses the threshold counts for both.
    pub fn grow_per_ack(&mut self, segments: u32, mss: Bytes) {
        let mut left = segments;
        if self.in_slow_start() && left > 0 {
            self.cwnd += mss;
            left -= 1;
        }
        if !self.in_slow_start() && left > 0 {
            self.cwnd += Bytes((mss.0 * mss.0 / self.cwnd.0.max(1)).max(1));
        }
    }

    /// Sets ssthresh, and cwnd to it.
    pub fn cut(&mut self, ssthresh: Bytes) {
        *self = Window { cwnd: ssthresh, ssthresh };
    }

    /// After a time-out: cwnd is the loss window, and ssthresh is set unless the episode has set it before (RFC 5681 §3.1).
    pub fn collapse(&mut self, ssthresh: Bytes, event: &Congestion) {
        self.cwnd = event.loss_window;
        if event.first {
            self.ssthresh = ssthresh;
        }
    }

    /// The classic response to congestion: cwnd to ssthresh, or after a time-out to the loss window.
    pub fn reduce(&mut self, ssthresh: Bytes, event: &Congestion) {
        if event.cause == Cause::Timeout {
            self.collapse(ssthresh, event);
        } else {
            self.cut(ssthresh);
        }
    }

    /// Undoes a reduction: cwnd is at least `before`'s, and ssthresh at least three quarters of that cwnd, as in Linux.
    pub fn restore(&mut self, before: Window) {
        self.cwnd = self.cwnd.max(before.cwnd);
        let three_quarters = Bytes(before.cwnd.0 / 2 + before.cwnd.0 / 4);
        self.ssthresh = self.ssthresh.max(before.ssthresh).max(three_quarters);
    }

    /// After an idle period, if `view` wants cwnd to shrink then.
    pub fn on_idle(&mut self, idle: Span, view: &View, initial_window: Bytes, rule: IdleRule) {
        match rule {
            _ if !view.slow_start_after_idle => {}
            IdleRule::Restart => self.after_idle(idle, view.rto, initial_window),
            IdleRule::Halve => self.halve_while_idle(idle, view, initial_window),
        }
    }

    /// After an idle period longer than the time-out, cwnd is at most the restart window (RFC 5681 §4.1).
    fn after_idle(&mut self, idle: Span, rto: Span, initial_window: Bytes) {
        if idle > rto {
            self.cwnd = self.cwnd.min(initial_window);
        }
    }

    /// Linux's way: cwnd halves for each time-out that has passed, in whole segments and not below the restart window
    /// (RFC 2861); ssthresh remembers three quarters of it.
    fn halve_while_idle(&mut self, idle: Span, view: &View, initial_window: Bytes) {
        let timeouts = idle.as_nanos().saturating_sub(1) / view.rto.as_nanos().max(1);
        if timeouts == 0 {
            return;
        }
        self.ssthresh = self.ssthresh.max(Bytes(self.cwnd.0 / 2 + self.cwnd.0 / 4));
        let floor = self.cwnd.min(initial_window);
        let halved = self.cwnd.segments(view.mss) >> timeouts.min(63);
        self.cwnd = (view.mss * halved).max(floor);
    }
}

/// Acknowledged bytes counted towards the next increment, as Linux's snd_cwnd_cnt counts segments (RFC 3465 §2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counter(Bytes);

impl Counter {
    /// Grows cwnd by one `mss` for each `per_increment` bytes acknowledged.
    pub fn grow(&mut self, window: &mut Window, acked: Bytes, per_increment: Bytes, mss: Bytes) {
        // The price of an increment may have fallen since the last ACK: one increment is then due already.
        if self.0 >= per_increment {
            self.0 = Bytes::ZERO;
            window.cwnd += mss;
        }
        self.0 += acked;
        if self.0 >= per_increment {
            let increments = self.0.0 / per_increment.0;
            self.0 -= per_increment * increments;
            window.cwnd += mss * increments;
        }
    }

    /// The older form, where the next ACK finds that the price has been reached and does not itself count; true if so.
    pub fn is_overdue(&mut self, acked: Bytes, per_increment: Bytes) -> bool {
        let overdue = self.0 >= per_increment;
        self.0 = if overdue { Bytes::ZERO } else { self.0 + acked };
        overdue
    }

    /// Resets the count.
    pub fn reset(&mut self) {
        self.0 = Bytes::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes(1460);

    #[test]
    fn slow_start_stops_at_the_threshold_and_returns_the_rest() {
        let mut window = Window { cwnd: Bytes(1000), ssthresh: Bytes(2000) };
        assert_eq!(window.slow_start(Bytes(1460), MSS), Bytes(460));
        assert_eq!(window.cwnd, Bytes(2000));
        let mut window = Window { cwnd: Bytes(1000), ssthresh: Bytes::MAX };
        assert_eq!(window.slow_start(Bytes(5000), MSS), Bytes::ZERO);
        assert_eq!(window.cwnd, Bytes(2460));
    }

    #[test]
    fn growth_per_ack_does_not_ask_how_much_was_acknowledged() {
        let mut window = Window { cwnd: MSS * 9, ssthresh: MSS * 10 };
        window.grow_per_ack(1, MSS);
        assert_eq!(window.cwnd, MSS * 10);
        for segments in [1, 2] {
            let mut window = Window { cwnd: MSS * 10, ssthresh: MSS * 10 };
            window.grow_per_ack(segments, MSS);
            assert_eq!(window.cwnd, MSS * 10 + Bytes(146));
        }
        // 2132900 / 2920000: no byte, hence one.
        let mut wide = Window { cwnd: MSS * 2000, ssthresh: MSS };
        wide.grow_per_ack(1, MSS);
        assert_eq!(wide.cwnd, MSS * 2000 + Bytes(1));
    }

    #[test]
    fn one_segment_per_window_of_acknowledged_bytes() {
        let mut window = Window { cwnd: MSS * 10, ssthresh: Bytes::ZERO };
        let mut counter = Counter::default();
        for _ in 0..9 {
            counter.grow(&mut window, MSS, MSS * 10, MSS);
        }
        assert_eq!(window.cwnd, MSS * 10);
        counter.grow(&mut window, MSS, MSS * 10, MSS);
        assert_eq!(window.cwnd, MSS * 11);
    }

    #[test]
    fn idle_restart_needs_silence_beyond_the_time_out() {
        let mut window = Window { cwnd: MSS * 50, ssthresh: MSS * 20 };
        let rto = Span::from_millis(1000);
        window.after_idle(rto, rto, MSS * 10);
        assert_eq!(window.cwnd, MSS * 50);
        window.after_idle(rto + Span::from_nanos(1), rto, MSS * 10);
        assert_eq!(window, Window { cwnd: MSS * 10, ssthresh: MSS * 20 });
    }
}
