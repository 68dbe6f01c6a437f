//! Delivery rate: how fast data arrives, sampled by each ACK (draft-ietf-ccwg-bbr §4.5).
//!
//! A sample spans the time between two transmissions an RTT apart and the time in which what was sent between them was
//! reported; the longer one counts, so that neither bursts of data nor bunched ACKs raise the rate.

use crate::cc::RateSample;
use crate::scoreboard::{Delivered, SendOrder, TxState};
use crate::units::{Bytes, Rate, Span, Time};

/// The sampler of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    delivered: Bytes,
    delivered_at: Time,
    first_sent_at: Time,
    /// Samples are application-limited until `delivered` exceeds this; zero if they are not.
    app_limited_until: Bytes,
    /// The newest valid rate, bit/s; 0 before the first. Eight bytes in every connection instead of sixteen.
    latest_bps: u64,
}

/// The newest segment that an ACK reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewestAcked {
    order: SendOrder,
    tx: TxState,
}

impl NewestAcked {
    /// Delivered in all when it was sent.
    pub(crate) fn prior_delivered(&self) -> Bytes {
        self.tx.delivered
    }
}

impl RateSampler {
    /// The newest valid rate.
    pub(crate) fn latest(&self) -> Option<Rate> {
        Rate::from_bps(self.latest_bps)
    }

    /// Everything delivered so far.
    pub(crate) fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// True while samples are application-limited.
    pub(crate) fn app_limited(&self) -> bool {
        self.app_limited_until > Bytes::ZERO
    }

    /// A segment leaves that brings the pipe to `in_flight`; `idle`: nothing was outstanding. `lost` is everything marked
    /// lost so far. That the pipe is empty does not make the path idle: after a time-out it is a guess, and an interval
    /// that begins anew on it is too short (draft-ietf-ccwg-bbr §4.1.2.2 looks at what is outstanding for this reason).
    pub(crate) fn on_sent(&mut self, now: Time, idle: bool, in_flight: Bytes, lost: Bytes) -> TxState {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        TxState {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            packed_in_flight: TxState::pack(in_flight, self.app_limited()),
            lost,
        }
    }

    /// An ACK reports a segment for the first time; `newest` is the newest one that it has reported so far.
    pub(crate) fn on_delivered(&mut self, now: Time, segment: &Delivered, newest: &mut Option<NewestAcked>) {
        self.delivered += segment.bytes;
        self.delivered_at = now;
        let order = segment.order();
        if newest.is_none_or(|newest| order > newest.order) {
            *newest = Some(NewestAcked { order, tx: segment.tx });
        }
    }

    /// The sample of an ACK, if it reported anything; `newest` is the newest segment that it reported.
    /// `lost` is everything marked lost.
    pub(crate) fn sample(
        &mut self,
        newest: Option<&NewestAcked>,
        min_rtt: Option<Span>,
        lost: Bytes,
    ) -> Option<RateSample> {
        if self.app_limited() && self.delivered > self.app_limited_until {
            self.app_limited_until = Bytes::ZERO;
        }
        let NewestAcked { order: SendOrder { sent_at, .. }, tx } = newest?;
        self.first_sent_at = *sent_at;
        let interval = sent_at.since(tx.first_sent_at).max(self.delivered_at.since(tx.delivered_at));
        let delivered = self.delivered - tx.delivered;
        let reliable = interval > Span::ZERO && min_rtt.is_none_or(|least| interval >= least);
        let rate = reliable.then(|| Rate::of(delivered, interval));
        self.latest_bps = rate.map_or(self.latest_bps, Rate::as_bps);
        Some(RateSample {
            rate,
            delivered,
            prior_delivered: tx.delivered,
            interval,
            sent_at: *sent_at,
            tx_in_flight: tx.in_flight(),
            lost: lost.saturating_sub(tx.lost),
            app_limited: tx.app_limited(),
        })
    }

    /// There is room in the window and nothing to send: samples of what is in the network say little of the path.
    pub(crate) fn mark_app_limited(&mut self, pipe: Bytes) {
        self.app_limited_until = (self.delivered + pipe).max(Bytes(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::SeqNo;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// 10 packets of 1000 B at 0, 1, … 9 ms, RTT 50 ms, one ACK each, then clocked by the ACKs.
    #[test]
    fn vectors_of_algorithms_9_5() {
        let mut sampler = RateSampler::default();
        let mut sent: Vec<(Time, TxState)> =
            (0..10).map(|i| (at(i), sampler.on_sent(at(i), i == 0, Bytes::ZERO, Bytes::ZERO))).collect();
        let mut rates = Vec::new();
        for i in 0..11_usize {
            let (sent_at, tx) = sent[i];
            let now = sent_at + Span::from_millis(50);
            let end = 1000 * (i as u64 + 1);
            let mut newest = None;
            let segment = Delivered { end: SeqNo(end), bytes: Bytes(1000), transmissions: 1, sent_at, tx };
            sampler.on_delivered(now, &segment, &mut newest);
            rates.push(
                sampler.sample(newest.as_ref(), None, Bytes::ZERO).and_then(|sample| sample.rate).unwrap().as_bps()
                    as f64
                    / 8e3,
            );
            sent.push((now, sampler.on_sent(now, false, Bytes::ZERO, Bytes::ZERO)));
        }
        for (index, wanted) in [(0, 20.0), (1, 39.2157), (9, 169.4915), (10, 200.0)] {
            assert!((rates[index] - wanted).abs() < 1e-3, "packet {}: {} kB/s", index + 1, rates[index]);
        }
    }

    #[test]
    fn no_rate_over_less_than_the_least_rtt() {
        let mut sampler = RateSampler::default();
        let tx = sampler.on_sent(at(0), true, Bytes::ZERO, Bytes::ZERO);
        let segment = Delivered { end: SeqNo(1000), bytes: Bytes(1000), transmissions: 1, sent_at: at(0), tx };
        let mut newest = None;
        sampler.on_delivered(at(10), &segment, &mut newest);
        assert_eq!(sampler.sample(newest.as_ref(), Some(Span::from_millis(11)), Bytes::ZERO).unwrap().rate, None);
        assert_eq!(sampler.sample(None, None, Bytes::ZERO), None, "an ACK that reports nothing gives no sample");
    }

    /// A time-out has emptied the pipe, yet what was sent before is outstanding and arrives: the sample goes back to the
    /// last report before it.
    #[test]
    fn an_empty_pipe_is_not_an_idle_path() {
        let mut sampler = RateSampler::default();
        sampler.on_sent(at(0), true, Bytes::ZERO, Bytes::ZERO);
        let again = sampler.on_sent(at(300), false, Bytes::ZERO, Bytes(1000));
        let segment = Delivered { end: SeqNo(1000), bytes: Bytes(1000), transmissions: 2, sent_at: at(300), tx: again };
        let mut newest = None;
        sampler.on_delivered(at(350), &segment, &mut newest);
        let sample = sampler.sample(newest.as_ref(), None, Bytes(1000)).unwrap();
        assert_eq!(sample.interval, Span::from_millis(350));
    }

    #[test]
    fn application_limited_until_the_bubble_has_passed() {
        let mut sampler = RateSampler::default();
        sampler.mark_app_limited(Bytes(1000));
        let limited = sampler.on_sent(at(0), true, Bytes::ZERO, Bytes::ZERO);
        assert!(limited.app_limited());
        for (end, still) in [(1000, true), (2000, false)] {
            let segment =
                Delivered { end: SeqNo(end), bytes: Bytes(1000), transmissions: 1, sent_at: at(0), tx: limited };
            let mut newest = None;
            sampler.on_delivered(at(10), &segment, &mut newest);
            assert!(sampler.sample(newest.as_ref(), None, Bytes::ZERO).unwrap().app_limited);
            assert_eq!(sampler.app_limited(), still);
        }
    }
}
