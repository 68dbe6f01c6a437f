//! The order of work on an ACK: what it reports, the RTT, loss and state, growth, timers.

use super::{Repair, Sender};
use crate::cc::{Ack, Cause, Lost, RttSample, State};
use crate::ecn::Marks;
use crate::options::Clock;
use crate::rate::Newest;
use crate::scoreboard::{News, Seen, ages};
use crate::segment::{Flags, Segment};
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

/// An ACK on its way through the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) now: Time,
    pub(super) news: News,
    /// The newest segment that it reports.
    pub(super) newest: Option<Newest>,
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
        let mut arrived = Arrived {
            now,
            news: News::default(),
            newest: None,
            marks: Marks::default(),
            advances: segment.ack > self.snd_una,
            duplicate: false,
            reports_duplicate: false,
            echo: segment.timestamps.map(|timestamps| timestamps.echo),
            prior_una: self.snd_una,
            prior_lost: self.board.lost_in_all(),
            restarts_timers: false,
            ack: Ack { prior_flight, prior_pipe, one_way: one_way(segment), ..Ack::default() },
            round_start: false,
        };
        self.take_reports(segment, &mut arrived);
        self.snd_una = segment.ack;
        if !arrived.advances {
            let bare = !segment.flags.intersects(Flags::SYN.with(Flags::FIN)) && segment.len == 0;
            let about_data = !window_changed && !self.board.is_empty() && !arrived.reports_duplicate;
            arrived.duplicate = bare && about_data;
        }
        arrived.marks = self.feedback.on_ack(segment, arrived.news.delivered, self.mss);
        arrived.restarts_timers = arrived.news.acked_segments > 0;
        arrived.ack.cumulative_segments = arrived.news.acked_segments;
        self.delivered_ce += arrived.marks.ce;
        if arrived.advances {
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

    /// What the ACK reports, selectively first, and perhaps a duplicate (RFC 2883).
    fn take_reports(&mut self, segment: &Segment, arrived: &mut Arrived) {
        let seen = match &self.repair {
            Repair::Classic(_) => return self.take_number(segment.ack, arrived),
            Repair::Modern(modern) => Seen { point: modern.point, highest_sacked: self.board.highest_sacked() },
        };
        if !segment.sack.is_empty() || self.board.has_reported() {
            self.take_blocks(segment, seen, arrived);
        }
        let Sender { repair, board, sampler, rtt, .. } = self;
        let Repair::Modern(modern) = repair else { return };
        let Arrived { now, news, newest, echo, .. } = arrived;
        let (now, echo) = (*now, *echo);
        board.advance(segment.ack, seen, news, |delivered| {
            sampler.on_delivered(now, delivered, newest);
            modern.on_delivered(now, delivered, echo, rtt.min());
        });
    }

    /// Without reports there is only the number.
    #[inline(never)]
    fn take_number(&mut self, ack: u64, arrived: &mut Arrived) {
        let Sender { board, sampler, .. } = self;
        let Arrived { now, news, newest, .. } = arrived;
        board.advance(ack, Seen::default(), news, |delivered| sampler.on_delivered(*now, delivered, newest));
    }

    /// What the SACK option reports.
    #[inline(never)]
    fn take_blocks(&mut self, segment: &Segment, seen: Seen, arrived: &mut Arrived) {
        let Sender { repair, board, sampler, rtt, .. } = self;
        let Repair::Modern(modern) = repair else { return };
        let Arrived { now, news, newest, .. } = arrived;
        arrived.reports_duplicate = modern.on_duplicate_report(segment, self.snd_una);
        let mut blocks = [(0, 0); 4];
        let mut count = 0;
        for block in segment.sack.blocks() {
            // What lies below the acknowledgment is old or a duplicate; what was never sent cannot be reported.
            if block.0 < block.1 && block.1 > segment.ack && block.1 <= self.snd_nxt {
                blocks[count] = block;
                count += 1;
            }
        }
        board.sack(&blocks[..count], seen, news, |delivered| {
            sampler.on_delivered(*now, delivered, newest);
            // A report of something out of order echoes an older timestamp than its own (RFC 7323 §4.3).
            modern.on_delivered(*now, delivered, None, rtt.min());
        });
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
        ack.rate = self.sampler.sample(arrived.newest.as_ref(), self.rtt.min(), lost_total);
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
        if self.board.has_losses() {
            self.tell_these_losses(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_these_losses(&mut self, now: Time) {
        let view = self.view(now, false);
        for loss in self.board.take_losses() {
            let lost = Lost {
                seq: loss.seq,
                bytes: loss.bytes,
                sent_at: loss.sent_at,
                tx_in_flight: loss.stamp.in_flight(),
                lost_since: loss.total.saturating_sub(loss.stamp.lost),
                app_limited: loss.stamp.app_limited(),
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
