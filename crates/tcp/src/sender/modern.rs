//! Judging an ACK by what it reports: SACK (RFC 6675) or RACK (RFC 8985), with the states and their ends, F-RTO
//! (RFC 5682), undo (RFC 3522, RFC 3708) and the descent. The order of work and the corner cases are Linux's, also
//! without SACK, where a duplicate ACK stands for one segment that has left the network.

mod state;

use super::ack::Arrived;
use super::{Repair, Sender};
use crate::cc::{State, Window};
use crate::config::TcpConfig;
use crate::options::{Agreed, Clock};
use crate::recovery::{Rack, Undo, Way};
use crate::scoreboard::Delivered;
use crate::segment::Segment;
use crate::settings::RecoveryKind;
use crate::timers::Timers;
use crate::units::{Bytes, Span, Time};

/// The estimate of reordering, in segments, does not go beyond this (Linux tcp_max_reordering).
const MOST_REORDERING: u64 = 300;

/// A probe for a lost tail that has not been judged yet (RFC 8985 §7).
#[derive(Clone, Copy, Debug)]
pub(super) struct TailProbe {
    /// TLP.end_seq: `snd_nxt` when it left.
    pub(super) end: u64,
    /// It repeated the last segment.
    pub(super) repeats: bool,
    /// The receiver has reported it as a duplicate.
    pub(super) was_duplicate: bool,
}

/// Who goes first when both new data and lost segments could leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum First {
    /// What is lost.
    #[default]
    Lost,
    /// New data: F-RTO wants to see what is reported of it (RFC 5682 §2.1 step 2b).
    New,
}

/// Recovery by SACK or time.
/// Fields lie in memory as written, those of every segment together.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Modern {
    pub(super) kind: RecoveryKind,
    pub(super) sack: bool,
    pub(super) tail_probes: bool,
    pub(super) first: First,
    pub(super) probe_due: bool,
    /// F-RTO watches the time-out under way.
    pub(super) frto: bool,
    frto_wanted: bool,
    undo_wanted: bool,
    /// This episode has had its rescue retransmission (RFC 6675 §4, NextSeg rule 4).
    pub(super) rescued: bool,
    /// ACKs since `snd_una` last moved that report something beyond a gap, or without SACK repeat themselves.
    pub(super) duplicates: u32,
    /// New data that the first of them let go, in Disorder: not in FlightSize (RFC 6675 §5 step 4.2).
    pub(super) limited: Bytes,
    /// Where the episode under way, or the last one, ends.
    pub(super) point: u64,
    /// Segments by which something may be out of order without being lost; only ever more than `threshold` once seen.
    pub(super) reordering: u64,
    pub(super) probe: Option<TailProbe>,
    pub(super) rack: Rack,
    mss: Bytes,
    threshold: u32,
    pub(super) way: Way,
    pub(super) undo: Undo,
}

impl Modern {
    pub(super) fn new(config: &TcpConfig, agreed: Agreed) -> Modern {
        let by_time = config.recovery == RecoveryKind::Rack;
        Modern {
            kind: config.recovery,
            sack: agreed.sack,
            tail_probes: config.tlp && agreed.sack && by_time,
            frto_wanted: config.frto && by_time,
            undo_wanted: config.undo && by_time,
            mss: agreed.mss,
            threshold: config.dup_thresh,
            reordering: u64::from(config.dup_thresh),
            rack: Rack::default(),
            way: Way::new(config.cwnd_reduction, agreed.mss),
            undo: Undo::default(),
            point: 0,
            frto: false,
            first: First::Lost,
            probe: None,
            probe_due: false,
            rescued: false,
            duplicates: 0,
            limited: Bytes::ZERO,
        }
    }

    /// The window in force.
    pub(super) fn window(&self, state: State, cwnd: Bytes) -> Bytes {
        if state.in_cwnd_reduction() { self.way.window() } else { cwnd }
    }

    /// An ACK reports a segment for the first time.
    pub(super) fn on_delivered(&mut self, now: Time, segment: &Delivered, echo: Option<u32>, min_rtt: Option<Span>) {
        // The echo is older than the last transmission: this is the original, the retransmission was for nothing.
        let spurious = segment.transmissions > 1 && echo.is_some_and(|echo| echo < Clock::at(segment.sent_at));
        if self.sack && !spurious {
            self.rack.on_delivered(now, segment, min_rtt);
        }
    }

    /// Looks for the report of a duplicate (RFC 2883): a first block below the acknowledgment or inside the second.
    pub(super) fn on_duplicate_report(&mut self, segment: &Segment, prior_una: u64) -> bool {
        let mut blocks = segment.sack.blocks();
        let Some((start, end)) = blocks.next().filter(|_| self.sack) else { return false };
        let inside = blocks.next().is_some_and(|second| second.0 <= start && end <= second.1);
        if end > segment.ack && !inside {
            return false;
        }
        match &mut self.probe {
            Some(probe) if probe.repeats && end >= probe.end => probe.was_duplicate = true,
            _ => self.rack.on_duplicate_report(),
        }
        self.undo.on_duplicate_report(end, prior_una);
        true
    }

    /// Something that was sent once arrived late.
    fn on_reordering(&mut self, from: u64, highest_sacked: u64) {
        let extent = highest_sacked.saturating_sub(from);
        if extent == 0 {
            return;
        }
        if extent > self.reordering * self.mss.0 {
            self.reordering = extent.div_ceil(self.mss.0).min(MOST_REORDERING);
        }
        self.rack.reordering_seen = true;
    }

    /// A time-out after this much had been reported says that reordering was overestimated.
    pub(super) fn on_time_out_in_disorder(&mut self, sacked_segments: usize) {
        if sacked_segments >= self.threshold as usize {
            self.reordering = self.reordering.min(u64::from(self.threshold));
        }
    }

    /// The episode begins; `before` is where an undo would return to.
    pub(super) fn begin_undo(&mut self, snd_una: u64, retransmitted: Bytes, before: Option<Window>) {
        let segments = retransmitted.0.div_ceil(self.mss.0) as u32;
        if self.undo_wanted || self.frto_wanted {
            self.undo.begin(snd_una, segments, before);
        }
    }

    /// A time-out begins or continues.
    pub(super) fn begin_frto(&mut self, allowed: bool) {
        self.frto = self.frto_wanted && allowed;
        self.first = First::Lost;
    }

    /// From this age on a time-out takes a segment for lost; by SACK all of them (RFC 6675 §5.1).
    pub(super) fn time_out_age(&self) -> Option<Span> {
        (self.kind == RecoveryKind::Rack && self.sack).then(|| self.rack.rtt())
    }

    /// Reports of duplicates show the episode to be spurious.
    fn is_explained(&self) -> bool {
        self.undo_wanted && self.undo.all_were_duplicates()
    }

    /// Eifel or duplicate reports show the episode to be spurious.
    fn is_spurious(&self, echo: Option<u32>) -> bool {
        self.undo_wanted && self.undo.is_spurious(echo)
    }
}

impl Sender {
    pub(super) fn modern(&mut self) -> &mut Modern {
        match &mut self.repair {
            Repair::Modern(modern) => modern,
            Repair::Classic(_) => unreachable!("the way to repair losses does not change"),
        }
    }

    pub(super) fn judge_modern(&mut self, arrived: &mut Arrived, timers: &mut Timers) {
        let delivered = self.sampler.delivered();
        let highest_sacked = self.board.highest_sacked().max(self.snd_una);
        let modern = self.modern();
        modern.first = First::Lost;
        if let Some(from) = arrived.news.late {
            modern.on_reordering(from, highest_sacked);
        }
        if let Some(newest) = &arrived.newest {
            modern.rack.adapt(newest.prior_delivered(), delivered);
        }
        let counts = if modern.sack { arrived.news.sacked } else { arrived.duplicate };
        if arrived.advances {
            (modern.duplicates, modern.limited) = (0, Bytes::ZERO);
        } else if counts {
            modern.duplicates += 1;
            arrived.ack.duplicate = modern.duplicates;
        }
        let descending = self.state.in_cwnd_reduction();
        self.count_without_sack(arrived);
        if let Some(probe) = self.modern().probe
            && self.snd_una >= probe.end
        {
            self.judge_tail_probe(arrived, probe);
        }
        let alarming = arrived.duplicate || arrived.news.sacked || arrived.reports_duplicate || arrived.marks.echo;
        if alarming || self.state != State::Open {
            self.judge_state(arrived, timers);
        }
        arrived.ack.partial = arrived.advances && self.state != State::Open;
        if arrived.restarts_timers {
            self.restart_timers(arrived.now, timers);
        }
        self.grow_or_descend(arrived, descending);
    }

    /// Without SACK the count of duplicates stands in for reports.
    fn count_without_sack(&mut self, arrived: &mut Arrived) {
        arrived.ack.acked = arrived.news.delivered;
        arrived.ack.acked_segments = arrived.news.delivered_segments;
        if !self.modern().sack {
            self.count_acknowledged(arrived);
        }
    }

    #[inline(never)]
    fn count_acknowledged(&mut self, arrived: &mut Arrived) {
        let mss = self.mss;
        if arrived.news.acked_segments > 0 {
            // One segment filled the hole; the others had sent their duplicate ACKs before.
            let (segments, bytes) = self.board.presumed();
            let acked = arrived.news.advanced;
            arrived.ack.acked = acked.saturating_sub(bytes).max(mss.min(acked));
            arrived.ack.acked_segments = arrived.ack.acked.0.div_ceil(mss.0) as u32;
            self.board.presume(segments.saturating_sub(arrived.news.acked_segments as usize - 1));
        }
    }

    /// Linux's order: PRR while the window comes down, else growth.
    fn grow_or_descend(&mut self, arrived: &mut Arrived, was_descending: bool) {
        let newly_lost = self.board.lost_in_all() > arrived.prior_lost;
        let news = &arrived.news;
        let progress = news.acked_segments > 0 || news.sacked;
        // Once reordering has been seen, Linux lets the window grow on reports alone.
        let on_reports = self.modern().way.is_linux() && self.modern().reordering > 3;
        let signs = if on_reports { progress } else { arrived.advances };
        // RFC 5681 §3.2 step 6: the ACK that ends the descent adds nothing, but in Linux it does.
        let may_grow = signs && (!was_descending || self.modern().way.is_linux());
        let delivered = arrived.ack.acked;
        let descends = self.state.in_cwnd_reduction();
        self.tell_algorithm(arrived, may_grow);
        if descends {
            self.descend(delivered, arrived.advances && !newly_lost);
        }
    }
}
