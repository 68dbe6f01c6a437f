//! Rapid start (draft-kazuho-ccwg-rapid-start, November 2025): a window that triples per round trip while there is no queue, and a
//! recovery that falls by what is acknowledged and lost until the window fits the path.

use std::collections::VecDeque;

use crate::cc::signals::{Ack, View};
use crate::units::{Bytes, Rate, Span, Time};

/// K of the draft: eleven eighteenths of the way from beta to one.
const K: f64 = 11.0 / 18.0;
/// The least RTT may exceed the minimum by this, or by a tenth of it, whichever is less.
const RISE: Span = Span::from_millis(4);

/// Growth, and the pace of the first window.
#[derive(Debug, Default)]
pub(super) struct Rapid {
    /// RTT samples of the last minimum RTT, each less than those after it.
    least: VecDeque<(Time, Span)>,
    pace: Pace,
}

/// The first time the window is filled, it is spread over a round trip.
#[derive(Clone, Copy, Debug, Default)]
enum Pace {
    /// Nothing has been acknowledged.
    #[default]
    Waits,
    /// So much is still to be sent at this rate.
    Spreads {
        left: Bytes,
        rate: Rate,
    },
    Over,
}

/// Bytes by which the window grows for each that is acknowledged.
pub(super) fn factor(floor: Span, min_rtt: Span) -> u64 {
    let tenth = Span::from_nanos(min_rtt.as_nanos() / 10);
    if floor <= min_rtt + RISE.min(tenth) { 2 } else { 1 }
}

impl Rapid {
    /// Takes the RTT sample of an ACK; `window` is what was in force when it came.
    pub(super) fn on_ack(&mut self, ack: &Ack, view: &View, window: Bytes) {
        let Some(min_rtt) = view.min_rtt else { return };
        if let Some(sample) = ack.rtt {
            while self.least.pop_back_if(|(_, rtt)| *rtt >= sample.latest).is_some() {}
            self.least.push_back((view.now, sample.latest));
        }
        while self.least.len() > 1 && self.least.pop_front_if(|(at, _)| view.now.since(*at) > min_rtt).is_some() {}
        if matches!(self.pace, Pace::Waits) {
            self.pace = Pace::Spreads { left: window, rate: Rate::of(window, min_rtt) };
        }
    }

    /// The window has grown.
    pub(super) fn on_growth(&mut self, cwnd: Bytes, min_rtt: Option<Span>) {
        if let (Pace::Spreads { rate, .. }, Some(min_rtt)) = (&mut self.pace, min_rtt) {
            *rate = Rate::of(cwnd, min_rtt);
        }
    }

    /// Bytes by which the window grows for each that is acknowledged.
    pub(super) fn factor(&self, view: &View) -> u64 {
        match (self.least.front(), view.min_rtt) {
            (Some((_, floor)), Some(min_rtt)) => factor(*floor, min_rtt),
            _ => 1,
        }
    }

    pub(super) fn on_sent(&mut self, bytes: Bytes) {
        if let Pace::Spreads { left, .. } = &mut self.pace {
            *left = left.saturating_sub(bytes);
            if *left == Bytes::ZERO {
                self.pace = Pace::Over;
            }
        }
    }

    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        match self.pace {
            Pace::Spreads { rate, .. } => Some(rate),
            Pace::Waits | Pace::Over => None,
        }
    }
}

/// The first episode of loss or marks.
#[derive(Debug)]
pub(super) struct Fall {
    cwnd: f64,
    ack_factor: f64,
    loss_factor: f64,
    floor: f64,
    /// The window does not fall on from here.
    enough: f64,
    /// Delivered and marked lost in all, as far as it counts.
    delivered: Bytes,
    lost: Bytes,
}

impl Fall {
    /// From a window of `cwnd`; `beta` is what the algorithm keeps of it after a loss.
    pub(super) fn new(cwnd: Bytes, beta: f64, initial_window: Bytes, view: &View) -> Fall {
        let (silence, ack_factor) = (beta + K * (1.0 - beta), K * (1.0 - beta));
        let floor = cwnd.as_f64() * (silence - ack_factor / 3.0 - silence * 2.0 / 3.0);
        Fall {
            cwnd: cwnd.as_f64() * silence,
            ack_factor,
            loss_factor: silence,
            floor: floor.max(2.0 * view.mss.as_f64()),
            enough: initial_window.as_f64() * beta,
            delivered: view.delivered,
            lost: view.lost_total,
        }
    }

    pub(super) fn cwnd(&self) -> Bytes {
        Bytes(self.cwnd.max(self.floor) as u64)
    }

    /// What has been delivered and marked lost since the last ACK takes the window down.
    pub(super) fn on_ack(&mut self, view: &View) {
        let acked = view.delivered.saturating_sub(self.delivered);
        let lost = view.lost_total.saturating_sub(self.lost);
        (self.delivered, self.lost) = (view.delivered, view.lost_total);
        self.take(acked.as_f64(), lost.as_f64());
    }

    fn take(&mut self, acked: f64, lost: f64) {
        let fallen = self.cwnd - self.ack_factor * acked - self.loss_factor * lost;
        self.cwnd = fallen.max(self.floor).max(self.enough.min(self.cwnd));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::signals::RttSample;
    use crate::cc::vectors::{agree, vectors};

    #[test]
    fn the_window_triples_while_there_is_no_queue() {
        let mut cwnd = 10_000;
        for row in vectors("rapid")["growth"].as_array().unwrap() {
            let micros = |key: &str| Span::from_micros(row[key].as_u64().unwrap());
            let factor = factor(micros("floor_us"), micros("min_us"));
            cwnd += factor * row["acked"].as_u64().unwrap();
            assert_eq!((factor + 1, cwnd), (row["factor"].as_u64().unwrap(), row["cwnd"].as_u64().unwrap()), "{row}");
        }
    }

    #[test]
    fn the_window_falls_by_what_is_acknowledged_and_lost() {
        for (name, beta) in [("recovery_0.7", 0.7), ("recovery_0.5", 0.5)] {
            let vectors = vectors("rapid");
            let rows = vectors[name].as_array().unwrap();
            let view = View { mss: Bytes(1000), ..View::default() };
            let mut fall = Fall::new(Bytes(300_000), beta, Bytes(10_000), &view);
            let ratio = |key: &str| {
                let (over, under) = rows[0][key].as_str().unwrap().split_once('/').unwrap();
                over.parse::<f64>().unwrap() / under.parse::<f64>().unwrap()
            };
            assert!(agree(fall.ack_factor, ratio("ack")) && agree(fall.loss_factor, ratio("loss")));
            assert!(agree(fall.floor, rows[0]["floor"].as_f64().unwrap()));
            for row in rows {
                let number = |key: &str| row[key].as_f64().unwrap_or(0.0);
                fall.take(number("acked"), number("lost"));
                assert!(agree(fall.cwnd, number("cwnd")), "{name}: {} {row}", fall.cwnd);
            }
        }
    }

    #[test]
    fn the_floor_of_the_rtt_is_that_of_the_last_minimum_and_the_first_window_is_spread() {
        let mut rapid = Rapid::default();
        let ms = Span::from_millis;
        for (at, rtt, factor) in [(100, 100, 2), (110, 120, 2), (190, 130, 2), (211, 140, 1), (212, 104, 2)] {
            let view = View { now: Time::ZERO + ms(at), min_rtt: Some(ms(100)), ..View::default() };
            let ack = Ack { rtt: Some(RttSample { latest: ms(rtt), oldest: ms(rtt) }), ..Ack::default() };
            rapid.on_ack(&ack, &view, Bytes(10_000));
            assert_eq!(rapid.factor(&view), factor, "at {at} ms");
        }
        rapid.on_growth(Bytes(30_000), Some(ms(100)));
        assert_eq!(rapid.pacing_rate(), Some(Rate::of(Bytes(30_000), ms(100))));
        rapid.on_sent(Bytes(9_000));
        assert!(rapid.pacing_rate().is_some());
        rapid.on_sent(Bytes(1_000));
        assert_eq!(rapid.pacing_rate(), None);
    }
}
