//! The order of work on an ACK: what it reports, the RTT, loss and state, growth, timers.

use super::{Repair, Sender};
use crate::cc::{Ack, Cause, Lost, RttSample, State};
use crate::ecn::Marks;
use crate::options::Clock;
use crate::scoreboard::{Delivered, Loss, News, Seen, ages};
use crate::segment::{Flags, Segment};
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

/// An ACK on its way through the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) now: Time,
    pub(super) news: News,
    /// Congestion that it reports.
    pub(super) marks: Marks,
    /// It moves `snd_una`.
    pub(super) advances: bool,
    /// It carries no data, no new window and acknowledges nothing: another segment has arrived out of order.
    pub(super) duplicate: bool,
    /// It reports that something arrived twice.
    pub(super) reports_duplicate: bool,
    /// Timestamp that it echoes.
    pub(super) echo: Option<u32>,
    /// `snd_una` before.
    pub(super) prior_una: u64,
    /// Marked lost since the start, before this ACK was judged.
    pub(super) prior_lost: Bytes,
    /// It gives the timers of loss a new start.
    pub(super) restarts_timers: bool,
    /// What it tells the algorithm.
    pub(super) ack: Ack,
    pub(super) round_start: bool,
}

impl Sender {
    /// Takes the acknowledgment that a segment carries.
    pub(crate) fn on_ack(&mut self, now: Time, segment: &Segment, timers: &mut Timers) {
        if segment.ack < self.snd_una || segment.ack > self.snd_nxt {
            return;
        }
        // RFC 9293 §3.10.7.4, fifth check: a segment older than the last that told the window does not tell it, unless
        // it acknowledges more: `rwnd` counts from `snd_una`.
        let tells_window = segment.ack > self.snd_una || segment.seq >= self.window_told_by;
        let window_changed = tells_window && self.rwnd != segment.window;
        if tells_window {
            self.rwnd = segment.window;
            self.window_told_by = segment.seq;
        }
        self.on_window(timers);
        if self.only_receives && segment.sack.is_empty() && self.feedback.ignores(segment) {
            return;
        }
        let (prior_flight, prior_pipe) = (self.board.flight(), self.board.pipe());
        let (prior_una, prior_lost) = (self.snd_una, self.board.lost_in_all());
        let mut news = News::default();
        let reports_duplicate = self.take_reports(now, segment, &mut news);
        let advances = segment.ack > prior_una;
        self.snd_una = segment.ack;
        let bare = segment.len == 0 && !segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::FIN);
        let mut arrived = Arrived {
            now,
            news,
            marks: self.feedback.on_ack(segment, news.delivered, self.mss),
            advances,
            duplicate: bare && !advances && !window_changed && !self.board.is_empty() && !reports_duplicate,
            reports_duplicate,
            echo: segment.timestamps.map(|timestamps| timestamps.echo),
            prior_una,
            prior_lost,
            restarts_timers: news.acked_segments > 0,
            ack: Ack { prior_flight, prior_pipe, one_way: one_way(segment), ..Ack::default() },
            round_start: false,
        };
        arrived.ack.cumulative_segments = arrived.news.acked_segments;
        self.delivered_ce += arrived.marks.ce;
        if advances {
            self.timeouts_in_a_row = 0;
            arrived.round_start = self.round.on_advance(self.snd_una, self.snd_nxt);
        }
        arrived.ack.rtt = self.sample_rtt(&mut arrived);
        match self.repair {
            Repair::Classic(_) => self.judge_classic(&mut arrived, timers),
            Repair::Modern(_) => self.judge_modern(&mut arrived, timers),
        }
        self.arm_algorithm_timer(timers);
    }

    /// What the ACK reports, selectively first; true if a duplicate is reported (RFC 2883).
    fn take_reports(&mut self, now: Time, segment: &Segment, news: &mut News) -> bool {
        let Sender { repair, board, sampler, rtt, .. } = self;
        let echo = segment.timestamps.map(|timestamps| timestamps.echo);
        let Repair::Modern(modern) = repair else {
            board.advance(segment.ack, Seen::default(), news, |delivered| sampler.on_delivered(now, delivered));
            return false;
        };
        let seen = Seen { point: modern.point, highest_sacked: board.highest_sacked() };
        let duplicate = modern.on_duplicate_report(segment, self.snd_una);
        let mut each = |delivered: &Delivered, echo: Option<u32>| {
            sampler.on_delivered(now, delivered);
            modern.on_delivered(now, delivered, echo, rtt.min());
        };
        if !segment.sack.is_empty() || board.has_reported() {
            let mut blocks = [(0, 0); 4];
            let mut count = 0;
            for block in segment.sack.blocks() {
                // What lies below the acknowledgment is old or a duplicate; what was never sent cannot be reported.
                if block.0 < block.1 && block.1 > segment.ack && block.1 <= self.snd_nxt {
                    blocks[count] = block;
                    count += 1;
                }
            }
            // A report of something out of order echoes an older timestamp than its own (RFC 7323 §4.3).
            board.sack(&blocks[..count], seen, news, |delivered| each(delivered, None));
        }
        board.advance(segment.ack, seen, news, |delivered| each(delivered, echo));
        duplicate
    }

    /// Takes the RTT that the ACK shows: of the oldest segment for the time-out, of the newest for the algorithm.
    fn sample_rtt(&mut self, arrived: &mut Arrived) -> Option<RttSample> {
        let (now, news) = (arrived.now, &arrived.news);
        // Karn: nothing from an ACK that covers something sent twice.
        let acked = ages(news.acked_sent, now).filter(|_| !news.retransmission_acked);
        let sacked = ages(news.sacked_sent, now);
        let (oldest, latest) = match (acked, sacked) {
            (Some(ages), None) => ages,
            (Some((oldest, _)), Some((_, latest))) => (oldest, latest),
            (None, Some(ages)) => {
                // A report of something sent after the oldest segment says that the path is alive.
                let head = self.board.head();
                arrived.restarts_timers |= head.is_some_and(|head| ages.0 > now.since(head.sent_at));
                ages
            }
            (None, None) => {
                // Timestamps tell even then, to a millisecond (RFC 7323 §4).
                let echo = arrived.echo.filter(|_| news.acked_segments > 0)?;
                let age = Clock::at(now).saturating_sub(echo);
                let span = Span::from_millis(u64::from(age.max(1)));
                (span, span)
            }
        };
        self.rtt.note_min(latest);
        self.rtt.sample(oldest, self.snd_una, self.snd_nxt);
        Some(RttSample { latest, oldest })
    }

    /// The receiver has said how much it takes.
    fn on_window(&mut self, timers: &mut Timers) {
        if self.snd_una + self.rwnd.0 > self.snd_nxt {
            self.window_probes = 0;
            timers.stop(Timer::Persist);
        }
    }

    /// Growth, and the algorithm's own measurements.
    pub(super) fn tell_algorithm(&mut self, arrived: &mut Arrived, may_grow: bool) {
        let ack = &mut arrived.ack;
        let lost_total = self.board.lost_in_all();
        ack.ce = arrived.marks.ce;
        ack.echo = arrived.marks.echo;
        ack.lost = lost_total.saturating_sub(arrived.prior_lost);
        ack.rate = self.sampler.sample(self.rtt.min(), lost_total);
        self.tell_losses(arrived.now);
        let mut view = self.view(arrived.now, arrived.round_start);
        view.may_grow &= may_grow;
        self.cc.on_ack(&arrived.ack, &view);
        if self.state < State::Cwr && self.cc.wants_reduction() {
            self.reduce_by_wish(arrived.now);
        }
    }

    /// Tells the algorithm of what was newly marked lost.
    #[inline]
    pub(super) fn tell_losses(&mut self, now: Time) {
        let losses = self.board.take_losses();
        if !losses.is_empty() {
            self.tell_these_losses(now, losses);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_these_losses(&mut self, now: Time, losses: Vec<Loss>) {
        let view = self.view(now, false);
        for loss in losses {
            let lost = Lost {
                seq: loss.seq,
                bytes: loss.bytes,
                sent_at: loss.sent_at,
                tx_in_flight: loss.stamp.in_flight,
                lost_since: loss.total.saturating_sub(loss.stamp.lost),
                app_limited: loss.stamp.app_limited,
            };
            self.cc.on_lost(&lost, &view);
        }
    }

    /// The algorithm sees congestion of its own: the window comes down as after an ECN echo, from the next ACK on.
    #[cold]
    #[inline(never)]
    fn reduce_by_wish(&mut self, now: Time) {
        match self.repair {
            Repair::Classic(_) => self.begin_cwr(now, Cause::Algorithm),
            Repair::Modern(_) => {
                self.modern().undo.forget();
                self.begin_descent(now, Cause::Algorithm, Bytes::ZERO);
                self.state = State::Cwr;
            }
        }
    }
}

/// The other side's clock when it answered less ours when the answered segment left (RFC 7323 §3).
fn one_way(segment: &Segment) -> Option<Span> {
    let stamps = segment.timestamps?;
    Some(Span::from_millis(u64::from(stamps.value.wrapping_sub(stamps.echo))))
}
