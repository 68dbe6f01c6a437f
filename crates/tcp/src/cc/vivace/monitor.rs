//! Monitor intervals: what was sent in a stretch of time, what became of it, and what that was worth.

use crate::cc::parameters::ParamValues;
use crate::cc::signals::{Ack, View};
use crate::units::{Bytes, Span, Time};

/// This many segments that were sent after an interval have to arrive before what is missing of it counts as lost
/// (RFC 5681 §3.2).
const SEGMENTS_AFTER: u64 = 3;

/// A monitor interval.
#[derive(Clone, Debug)]
pub(super) struct Interval {
    /// The rate it was to be sent at, in Mb/s.
    pub(super) rate: f64,
    from: Time,
    planned: Span,
    /// When the next one is to begin; once it is closed, when the next segment left.
    pub(super) until: Time,
    /// Not closed yet.
    pub(super) sending: bool,
    pub(super) sent: Bytes,
    pub(super) lost: Bytes,
    /// The application, not the rate, decided what was sent.
    app_limited: bool,
    /// Arrived of what was sent after it.
    after: Bytes,
    rtts: Regression,
}

impl Interval {
    pub(super) fn new(rate: f64, from: Time, until: Time) -> Interval {
        Interval {
            rate,
            from,
            planned: until.since(from),
            until,
            sending: true,
            sent: Bytes::ZERO,
            lost: Bytes::ZERO,
            app_limited: false,
            after: Bytes::ZERO,
            rtts: Regression::default(),
        }
    }

    /// Nothing more is sent in it.
    pub(super) fn close(&mut self, now: Time) {
        self.until = now;
        self.sending = false;
    }

    /// Something sent at that time belongs to it.
    pub(super) fn covers(&self, sent_at: Time) -> bool {
        self.from <= sent_at && (self.sending || sent_at < self.until)
    }

    /// An ACK reports segments of which the newest was sent at that time.
    pub(super) fn on_news(&mut self, newest: Time, ack: &Ack, view: &View) {
        if self.covers(newest) {
            self.app_limited |= view.app_limited || ack.rate.is_some_and(|rate| rate.app_limited);
            if let Some(rtt) = ack.rtt {
                self.rtts.take(newest.since(self.from), rtt.latest);
            }
        } else if newest >= self.until {
            self.after = self.after.saturating_add(ack.acked);
        }
    }

    /// What became of it is known.
    pub(super) fn is_known(&self, mss: Bytes) -> bool {
        !self.sending && self.after >= mss * SEGMENTS_AFTER
    }

    /// Something else than its rate decided what was sent: the application, or a receiver's window or a pause, which left less
    /// than half of it. So much was sent by the interval before it in the start, so that it tries nothing new.
    pub(super) fn is_limited(&self) -> bool {
        self.app_limited || self.sent_mbps() < self.rate / 2.0
    }

    /// The rate it was really sent at, in Mb/s.
    fn sent_mbps(&self) -> f64 {
        let time = self.until.since(self.from).as_secs_f64().max(1e-9);
        self.sent.as_f64() * 8.0 / 1e6 / time
    }

    /// Of what the application limited: the rate at which it was sent, in Mb/s, were it spread over the interval's time.
    pub(super) fn used_mbps(&self) -> f64 {
        self.sent.as_f64() * 8.0 / 1e6 / self.planned.as_secs_f64().max(1e-9)
    }

    fn loss_rate(&self) -> f64 {
        (self.lost.as_f64() / self.sent.0.max(1) as f64).min(1.0)
    }
}

/// A line through RTTs over the times at which their segments left: means, and sums of products of distances from them.
#[derive(Clone, Copy, Debug, Default)]
struct Regression {
    n: f64,
    time: f64,
    rtt: f64,
    time_time: f64,
    time_rtt: f64,
}

impl Regression {
    fn take(&mut self, time: Span, rtt: Span) {
        let (time, rtt) = (time.as_secs_f64(), rtt.as_secs_f64());
        self.n += 1.0;
        let before = time - self.time;
        self.time += before / self.n;
        self.rtt += (rtt - self.rtt) / self.n;
        self.time_time += before * (time - self.time);
        self.time_rtt += before * (rtt - self.rtt);
    }

    /// Seconds of RTT per second; 0 if there are too few to tell.
    fn slope(&self) -> f64 {
        if self.time_time > 0.0 { self.time_rtt / self.time_time } else { 0.0 }
    }
}

/// The utility function of Vivace (2018).
#[derive(Clone, Copy, Debug)]
pub(super) struct Utility {
    exponent: f64,
    delay_cost: f64,
    loss_cost: f64,
    slope_floor: f64,
}

impl Utility {
    pub(super) fn new(values: &ParamValues) -> Utility {
        Utility {
            exponent: values.number("exponent"),
            delay_cost: values.number("delay_cost"),
            loss_cost: values.number("loss_cost"),
            slope_floor: values.number("slope_floor"),
        }
    }

    /// u = x^t - b x max(0, dRTT/dt) - c x L
    pub(super) fn value(&self, mbps: f64, slope: f64, loss_rate: f64) -> f64 {
        libm::pow(mbps, self.exponent) - self.delay_cost * mbps * slope.max(0.0) - self.loss_cost * mbps * loss_rate
    }

    /// So much of an interval was lost that nothing sent would have been worth more, however little that was.
    pub(super) fn is_harmful(&self, interval: &Interval) -> bool {
        self.value(interval.used_mbps(), 0.0, interval.loss_rate()) < 0.0
    }

    /// What an interval was worth.
    pub(super) fn of(&self, interval: &Interval) -> f64 {
        let slope = interval.rtts.slope();
        let slope = if slope.abs() < self.slope_floor { 0.0 } else { slope };
        self.value(interval.sent_mbps(), slope, interval.loss_rate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::config::CcConfig;

    /// Computed apart from this code, at 10 Mb/s.
    #[test]
    fn vectors_of_algorithms_8_18() {
        let utility = Utility::new(&CcConfig::by_name("vivace", None, &[]).unwrap().values);
        for (slope, loss, wanted) in [(0.0, 0.0, 7.943_282), (0.0, 0.05, 2.268_282), (0.001, 0.0, -1.056_718)] {
            let value = utility.value(10.0, slope, loss);
            assert!((value - wanted).abs() < 1e-6, "{slope}, {loss}: {value}");
        }
        assert_eq!(utility.value(10.0, -0.5, 0.0), utility.value(10.0, 0.0, 0.0));
    }

    #[test]
    fn the_slope_of_a_line() {
        let mut line = Regression::default();
        assert_eq!(line.slope(), 0.0);
        for i in 0..20 {
            line.take(Span::from_millis(i), Span::from_micros(20_000 + 50 * i));
        }
        assert!((line.slope() - 0.05).abs() < 1e-9, "{}", line.slope());
        let mut once = Regression::default();
        (0..3).for_each(|_| once.take(Span::from_millis(5), Span::from_millis(20)));
        assert_eq!(once.slope(), 0.0, "all at one time");
    }

    #[test]
    fn an_interval_is_known_once_three_later_segments_have_arrived() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut interval = Interval::new(1.0, at(0), at(10));
        interval.sent = Bytes(1250);
        interval.close(at(10));
        let ack = Ack { acked: Bytes(1000), ..Ack::default() };
        for (sent_at, known) in [(9, false), (10, false), (11, false), (12, true)] {
            interval.on_news(at(sent_at), &ack, &View::default());
            assert_eq!(interval.is_known(Bytes(1000)), known, "{sent_at}");
        }
        assert!((interval.sent_mbps() - 1.0).abs() < 1e-9);
    }
}
