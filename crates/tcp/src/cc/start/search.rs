//! SEARCH: slow start ends once what is delivered falls behind what was sent a round trip earlier (draft-chung-ccwg-search-09).
//!
//! Both are counted in bins of 0.35 of the first RTT. While the path keeps up, the ten last bins brought as much as had been
//! sent in the ten bins that ended a round trip before them; once a quarter is missing, it is in a queue. Interpolation goes
//! back by a bin where the RTT is no whole number of them.

use crate::cc::signals::{Ack, View};
use crate::units::{Bytes, Span, Time};

/// Bins that are compared; W of the draft.
const W: u64 = 10;
/// Bins that are kept: a power of two above W, `extra_bins` and one.
const KEPT: u64 = 64;

/// The parameters of SEARCH.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchConfig {
    /// The share that must be missing.
    pub thresh: f64,
    /// A round trip of as many bins is not judged.
    pub extra_bins: u32,
    /// The window comes down to the bytes of an empty round trip; otherwise slow start ends where it is.
    pub drain: bool,
}

impl SearchConfig {
    /// The most that `extra_bins` may be.
    pub const MOST_BINS: u32 = 50;
}

impl Default for SearchConfig {
    fn default() -> SearchConfig {
        SearchConfig { thresh: 0.26, extra_bins: 15, drain: true }
    }
}

/// What an ACK has shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Step {
    /// The first bin begins.
    Begins,
    /// The bin under way goes on.
    Waits,
    /// Everything has been forgotten.
    Forgets,
    /// There are too few bins yet.
    Warms,
    /// The round trip is too long.
    Inflated,
    /// Nothing was sent in the time compared.
    Nothing,
    /// So large a share is missing.
    GoesOn { norm: f64 },
    /// That is enough. `target`: the bytes of one empty round trip.
    Ends { norm: f64, target: Bytes },
}

/// What has been counted up to the end of a bin.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    acked: u64,
    sent: u64,
}

/// The bins.
#[derive(Debug)]
struct Bins {
    /// Number of the bin under way, and its end.
    last: u64,
    end: Time,
    counted: [Counted; KEPT as usize],
}

impl Bins {
    fn at(&self, index: u64) -> Counted {
        self.counted[(index % KEPT) as usize]
    }

    fn acked(&self, from: u64, to: u64) -> u64 {
        self.at(to).acked - self.at(from).acked
    }

    fn sent(&self, from: u64, to: u64) -> u64 {
        self.at(to).sent - self.at(from).sent
    }
}

/// The detector of one connection.
#[derive(Debug)]
pub(super) struct Search {
    config: SearchConfig,
    initial_window: Bytes,
    sent: u64,
    /// The newest RTT.
    rtt: Option<Span>,
    /// The RTT that the length of bins is from.
    initial_rtt: Option<Span>,
    bins: Option<Bins>,
}

impl Search {
    pub(super) fn new(config: SearchConfig, initial_window: Bytes) -> Search {
        Search { config, initial_window, sent: 0, rtt: None, initial_rtt: None, bins: None }
    }

    pub(super) fn drains(&self) -> bool {
        self.config.drain
    }

    /// A segment is sent, for the first time or again.
    pub(super) fn on_sent(&mut self, bytes: Bytes) {
        self.sent += bytes.0;
    }

    /// The bytes of an empty round trip, if this ACK shows that slow start is to end.
    pub(super) fn on_ack(&mut self, ack: &Ack, view: &View) -> Option<Bytes> {
        self.rtt = ack.rtt.map(|sample| sample.latest).or(self.rtt);
        if ack.rate.is_some_and(|sample| sample.app_limited) {
            // What the application held back was not missing.
            self.bins = None;
            return None;
        }
        match self.step(view.now, view.delivered.0) {
            Step::Ends { target, .. } => Some(target),
            _ => None,
        }
    }

    /// An ACK at `now`, with which `acked` bytes have been delivered in all.
    pub(super) fn step(&mut self, now: Time, acked: u64) -> Step {
        let Some(rtt) = self.rtt else { return Step::Waits };
        let initial = *self.initial_rtt.get_or_insert(rtt);
        // Bins of WINDOW / W = 3.5 RTT / 10
        let bin = Span::from_nanos((initial.as_nanos() * 35 / 100).max(1));
        let counted = Counted { acked, sent: self.sent };
        let Some(bins) = &mut self.bins else {
            self.bins = Some(Bins { last: 0, end: now + bin, counted: [counted; KEPT as usize] });
            return Step::Begins;
        };
        if now <= bins.end {
            return Step::Waits;
        }
        let passed = now.since(bins.end).as_nanos() / bin.as_nanos() + 1;
        if passed > W {
            (self.bins, self.initial_rtt, self.rtt) = (None, None, None);
            return Step::Forgets;
        }
        let before = bins.at(bins.last);
        (1..passed).for_each(|skipped| bins.counted[((bins.last + skipped) % KEPT) as usize] = before);
        bins.last += passed;
        bins.end = bins.end + bin * passed;
        bins.counted[(bins.last % KEPT) as usize] = counted;
        self.judge(bin, rtt, initial)
    }

    /// Compares what was delivered in the last bins with what was sent in those a round trip before.
    fn judge(&self, bin: Span, rtt: Span, initial: Span) -> Step {
        let Some(bins) = &self.bins else { return Step::Waits };
        let (i, back) = (bins.last, rtt.as_nanos() / bin.as_nanos());
        if i.saturating_sub(back) <= W {
            return Step::Warms;
        }
        if back >= u64::from(self.config.extra_bins) {
            return Step::Inflated;
        }
        let prev = i - back;
        // The share of the bin before `prev` that a whole RTT reaches back to
        let fraction = (rtt.as_nanos() - back * bin.as_nanos()) as f64 / bin.as_nanos() as f64;
        let delivered = bins.acked(i - W, i) as f64;
        let sent =
            (1.0 - fraction) * bins.sent(prev - W, prev) as f64 + fraction * bins.sent(prev - 1 - W, prev - 1) as f64;
        if sent <= 0.0 {
            return Step::Nothing;
        }
        let norm = ((sent - delivered) / sent).max(0.0);
        if norm < self.config.thresh {
            return Step::GoesOn { norm };
        }
        let empty = initial.as_nanos().div_ceil(bin.as_nanos());
        Step::Ends { norm, target: Bytes(bins.acked(i - empty, i)).max(self.initial_window) }
    }
}

/// The way down to the target: one segment is sent for every three that are delivered.
#[derive(Debug)]
pub(super) struct Drain {
    target: Bytes,
    /// Delivered and not yet a third of anything, in segments.
    delivered: u64,
}

impl Drain {
    pub(super) fn to(target: Bytes) -> Drain {
        Drain { target, delivered: 0 }
    }

    /// The window after an ACK.
    pub(super) fn on_ack(&mut self, ack: &Ack, view: &View) -> Bytes {
        self.delivered += u64::from(ack.acked_segments);
        let due = self.delivered / 3;
        self.delivered %= 3;
        (view.pipe + view.mss * due).max(self.target)
    }

    pub(super) fn target(&self) -> Bytes {
        self.target
    }

    pub(super) fn is_over(&self, cwnd: Bytes) -> bool {
        cwnd <= self.target
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::cc::vectors::{agree, vectors};

    /// The vectors: 1000 B segments, two for an ACK; when a row is reached all but the last ACK's two segments have left.
    #[test]
    fn every_bin_of_the_vectors() {
        let vectors = vectors("search");
        let rows = vectors["rows"].as_array().unwrap();
        let mut search = Search::new(SearchConfig::default(), Bytes(10_000));
        let number = |row: &Value, key: &str| row[key].as_u64().unwrap();
        for row in rows {
            search.sent = number(row, "acked") + number(row, "cwnd") - 4000;
            search.rtt = Some(Span::from_micros(number(row, "rtt_us")));
            let now = Time::ZERO + Span::from_micros(number(row, "t_us"));
            let step = search.step(now, number(row, "acked"));
            let (event, norm) = match step {
                Step::Begins => ("init", None),
                Step::Warms => ("warm", None),
                Step::Inflated => ("inflated", None),
                Step::GoesOn { norm } => ("continue", Some(norm)),
                Step::Ends { norm, target } => {
                    assert_eq!(target.0, number(row, "target"));
                    ("exit", Some(norm))
                }
                Step::Waits | Step::Forgets | Step::Nothing => panic!("{step:?} at {row}"),
            };
            assert_eq!(event, row["event"], "{row}");
            if let Some(norm) = norm {
                assert!(agree(norm, row["norm"].as_f64().unwrap()), "{norm} {row}");
            }
        }
        assert_eq!(rows.last().unwrap()["event"], "exit");
    }

    #[test]
    fn a_pause_and_an_application_that_holds_back_forget_the_bins() {
        let mut search = Search::new(SearchConfig::default(), Bytes(10_000));
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        search.rtt = Some(Span::from_millis(100));
        assert_eq!(search.step(at(100), 1000), Step::Begins);
        // The bin ends at 135 ms; after ten more of 35 ms nothing is left of it.
        assert_eq!(search.step(at(135 + 10 * 35), 2000), Step::Forgets);
        assert_eq!(search.step(at(500), 3000), Step::Waits, "there is no RTT yet");
        search.rtt = Some(Span::from_millis(200));
        assert_eq!(search.step(at(510), 3000), Step::Begins);
        let limited = crate::cc::RateSample {
            rate: None,
            delivered: Bytes(1),
            prior_delivered: Bytes(1),
            interval: Span::from_millis(1),
            sent_at: at(500),
            tx_in_flight: Bytes(1),
            lost: Bytes::ZERO,
            app_limited: true,
        };
        let ack = Ack { rate: Some(limited), ..Ack::default() };
        assert_eq!(search.on_ack(&ack, &View { now: at(520), ..View::default() }), None);
        assert_eq!(search.step(at(600), 4000), Step::Begins);
        assert_eq!(search.step(at(670), 4000), Step::Waits, "bins keep their 70 ms");
        assert_eq!(search.step(at(671), 4000), Step::Warms);
    }

    #[test]
    fn one_segment_for_three_on_the_way_down() {
        let mut drain = Drain::to(Bytes(5_000));
        let ack = Ack { acked_segments: 1, ..Ack::default() };
        let windows: Vec<u64> = [9, 8, 7, 7, 6, 5, 5]
            .map(|pipe: u64| {
                drain.on_ack(&ack, &View { pipe: Bytes(1000) * pipe, mss: Bytes(1000), ..View::default() }).0 / 1000
            })
            .to_vec();
        assert_eq!(windows, [9, 8, 8, 7, 6, 6, 5]);
        assert!(drain.is_over(Bytes(5_000)) && !drain.is_over(Bytes(5_001)));
    }
}
