//! Recovery by SACK (RFC 6675) or RACK-TLP (RFC 8985), with F-RTO (RFC 5682), undo (RFC 3522, RFC 3708) and the reduction
//! of the window (RFC 9937). The order of work and the corner cases are Linux's, also without SACK, where a duplicate ACK
//! stands for one segment that has left the network.
//!
//! `impl SackRecovery` lies in:
//!
//! - this file: what an ACK reports, and the order of work on it
//! - `transitions.rs`: the states and their ends, over the data of an episode (`episode.rs`)
//! - `detection.rs`: what is lost
//! - `timeout.rs`: the time-out and F-RTO
//! - `undo.rs`: spurious episodes
//! - `tail_probe.rs`: TLP

mod detection;
mod episode;
mod tail_probe;
mod timeout;
mod transitions;
mod undo;

use self::episode::Episode;
use super::ack_context::{AckContext, AckReport, AckVerdict};
use super::core::SenderCore;
use crate::cc::State;
use crate::config::TcpConfig;
use crate::options::{Agreed, Clock};
use crate::recovery::{Rack, Undo};
use crate::scoreboard::{Chunk, Delivered, PriorAckState};
use crate::segment::Segment;
use crate::seq::SeqNo;
use crate::settings::{CwndReductionKind, RecoveryKind};
use crate::timers::Timers;
use crate::units::{Bytes, Span, Time};

/// The estimate of reordering, in segments, does not exceed this (Linux: tcp_max_reordering).
const MAX_REORDERING: u64 = 300;

/// A tail loss probe that has not been judged yet (RFC 8985 §7).
#[derive(Clone, Copy, Debug)]
struct TailProbe {
    /// TLP.end_seq: `snd_nxt` when it was sent.
    end: SeqNo,
    /// TLP.is_retrans: it repeated the last segment.
    is_retransmission: bool,
    /// A DSACK has reported it.
    dsacked: bool,
}

/// What the time-out that a probe stands in for is counted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimeOut {
    /// An ACK has restarted it.
    FromNow,
    /// The last transmission of the oldest segment.
    FromHead,
}

/// An ACK as PRR has it (RFC 9937 §6.2): SafeACK, or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AckKind {
    /// It moves `snd_una` and shows no further loss.
    Safe,
    Other,
}

/// Recovery by SACK or time.
// Hot fields first; see connection.rs.
#[derive(Debug)]
#[repr(C)]
pub(super) struct SackRecovery {
    kind: RecoveryKind,
    sack: bool,
    tail_probes: bool,
    /// Until the next ACK new data is sent before what is lost: F-RTO waits for what is reported of it (RFC 5682 §2.1 step
    /// 2b). Not part of [`Episode::Loss`]: the same ACK may begin fast recovery, and this stays.
    new_data_first: bool,
    probe_due: bool,
    frto_enabled: bool,
    undo_enabled: bool,
    reduction_kind: CwndReductionKind,
    dup_thresh: u32,
    /// ACKs since `snd_una` last moved that report something beyond a gap, or without SACK are duplicates.
    duplicates: u32,
    /// New data that the first of them released, in Disorder: not in FlightSize (RFC 6675 §5 step 4.2). It outlives
    /// Disorder until `snd_una` moves, since a time-out excludes it too.
    limited_transmit: Bytes,
    /// RecoveryPoint: where the episode under way, or the last one, ends. It outlives the episode, as "recover" of
    /// RFC 6582 does: traces show it, and in Disorder it marks where that began.
    recover: SeqNo,
    /// Segments by which something may be out of order without being lost; more than `dup_thresh` once seen.
    reordering: u64,
    probe: Option<TailProbe>,
    rack: Rack,
    mss: Bytes,
    episode: Episode,
    /// Of the last episode, over or not: a DSACK may show it to be spurious after its end. It also counts the
    /// retransmissions outside of episodes.
    undo: Undo,
}

impl SackRecovery {
    pub(super) fn new(config: &TcpConfig, agreed: Agreed) -> SackRecovery {
        let by_time = config.recovery == RecoveryKind::Rack;
        SackRecovery {
            kind: config.recovery,
            sack: agreed.sack,
            tail_probes: config.tlp && agreed.sack && by_time,
            frto_enabled: config.frto && by_time,
            undo_enabled: config.undo && by_time,
            reduction_kind: config.cwnd_reduction,
            mss: agreed.mss,
            dup_thresh: config.dup_thresh,
            reordering: u64::from(config.dup_thresh),
            rack: Rack::default(),
            episode: Episode::None,
            undo: Undo::default(),
            recover: SeqNo::default(),
            new_data_first: false,
            probe: None,
            probe_due: false,
            duplicates: 0,
            limited_transmit: Bytes::ZERO,
        }
    }

    pub(super) fn recover(&self) -> SeqNo {
        self.recover
    }

    pub(super) fn reordering(&self) -> u64 {
        self.reordering
    }

    /// The window in force.
    #[inline]
    pub(super) fn window(&self, cwnd: Bytes) -> Bytes {
        self.episode.reduction().map_or(cwnd, |reduction| reduction.window())
    }

    /// New data is about to be sent.
    #[inline]
    pub(super) fn on_new_data(&mut self, state: State, chunk: Chunk) {
        if let Some(reduction) = self.episode.reduction_mut() {
            reduction.on_sent(chunk.sequence_len());
        } else if state == State::Disorder {
            self.limited_transmit += Bytes(u64::from(chunk.len));
        }
    }

    /// A segment has been retransmitted.
    pub(super) fn on_retransmission(&mut self, now: Time, chunk: Chunk) {
        self.undo.on_retransmission(Clock::at(now));
        if let Some(reduction) = self.episode.reduction_mut() {
            reduction.on_sent(chunk.sequence_len());
        }
    }

    /// Reads what an ACK reports, selectively first.
    #[inline]
    pub(super) fn read_report(&mut self, core: &mut SenderCore, now: Time, segment: &Segment, report: &mut AckReport) {
        let prior = PriorAckState { recover: self.recover, highest_sacked: core.board.highest_sacked() };
        if !segment.sack.is_empty() || core.board.last_had_blocks() {
            self.read_blocks(core, now, segment, prior, report);
        }
        let tsecr = segment.timestamps.map(|timestamps| timestamps.echo);
        let SenderCore { board, sampler, rtt, .. } = core;
        let AckReport { summary, newest, .. } = report;
        board.advance(segment.ack, prior, summary, |delivered| {
            sampler.on_delivered(now, delivered, newest);
            self.on_delivered(now, delivered, tsecr, rtt.min());
        });
    }

    #[inline(never)]
    fn read_blocks(
        &mut self,
        core: &mut SenderCore,
        now: Time,
        segment: &Segment,
        prior: PriorAckState,
        report: &mut AckReport,
    ) {
        report.dsack = self.read_dsack(core, segment);
        let (blocks, count) = core.blocks_of(segment);
        let SenderCore { board, sampler, rtt, .. } = core;
        let AckReport { summary, newest, .. } = report;
        board.sack(&blocks[..count], prior, summary, |delivered| {
            sampler.on_delivered(now, delivered, newest);
            // An ACK of something out of order echoes an older timestamp than that segment's (RFC 7323 §4.3).
            self.on_delivered(now, delivered, None, rtt.min());
        });
    }

    /// An ACK reports a segment for the first time.
    #[inline]
    fn on_delivered(&mut self, now: Time, segment: &Delivered, tsecr: Option<u32>, min_rtt: Option<Span>) {
        // The echo is older than the last transmission: the original arrived, the retransmission was spurious.
        let spurious = segment.transmissions > 1 && tsecr.is_some_and(|echo| echo < Clock::at(segment.sent_at));
        if self.sack && !spurious {
            self.rack.on_delivered(now, segment, min_rtt);
        }
    }

    /// Looks for a DSACK (RFC 2883 §4): a first block below the acknowledgment or inside the second.
    fn read_dsack(&mut self, core: &SenderCore, segment: &Segment) -> bool {
        let mut blocks = segment.sack.blocks();
        let Some(first) = blocks.next().filter(|first| self.sack && !first.is_empty()) else { return false };
        let inside = blocks.next().is_some_and(|second| second.contains(first));
        if first.end > segment.ack && !inside {
            return false;
        }
        match &mut self.probe {
            Some(probe) if probe.is_retransmission && first.end >= probe.end => probe.dsacked = true,
            _ => self.rack.on_dsack(),
        }
        // What is still outstanding shows whether it was sent again; what has been acknowledged is taken to have been.
        let retransmissions = if first.end <= core.snd_una {
            (first.end - first.start).0.div_ceil(self.mss.0) as u32
        } else {
            core.board.retransmitted_inside(first)
        };
        self.undo.on_dsack(first.end, retransmissions);
        true
    }

    /// An ACK below `snd_una`: what it reports selectively counts, for losses and for undo. It restarts no timer, and
    /// neither the window nor its reduction follows from it: Linux calls the congestion control with ACKs in order alone.
    pub(super) fn on_old_ack(&mut self, core: &mut SenderCore, now: Time, segment: &Segment, timers: &mut Timers) {
        if !self.sack || segment.sack.is_empty() {
            return;
        }
        let prior = PriorAckState { recover: self.recover, highest_sacked: core.board.highest_sacked() };
        let before = core.prior();
        let mut report = AckReport::default();
        self.read_blocks(core, now, segment, prior, &mut report);
        if let Some(from) = report.summary.reordered_from {
            self.on_reordering(from, core.board.highest_sacked().max(core.snd_una));
        }
        // RFC 6675 §2: a duplicate ACK is one that reports something new, whatever its number.
        self.duplicates += u32::from(report.summary.sacked);
        let mut verdict = AckVerdict { acked: report.summary.delivered, ..AckVerdict::default() };
        let context = AckContext::old(now, before, &report);
        self.judge_state(core, &context, &mut verdict, timers);
        // RFC 9937 §6.2 counts what any ACK delivers.
        if core.state.in_cwnd_reduction() && self.reduction_kind != CwndReductionKind::LinuxPrr {
            self.reduce(core, verdict.acked, AckKind::Other);
        }
    }

    /// The order of work on an ACK: reordering, counts, the tail probe, the state, the timers, then growth or reduction.
    #[inline]
    pub(super) fn on_ack(&mut self, core: &mut SenderCore, ack: &AckContext, timers: &mut Timers) {
        debug_assert!(self.episode.is_shown_as(core.state), "{:?} is shown as {:?}", self.episode, core.state);
        let was_reducing = core.state.in_cwnd_reduction();
        self.new_data_first = false;
        if let Some(from) = ack.report.summary.reordered_from {
            self.on_reordering(from, core.board.highest_sacked().max(core.snd_una));
        }
        if let Some(newest) = &ack.report.newest {
            self.rack.update_reo_wnd(newest.prior_delivered(), core.sampler.delivered());
        }
        let mut verdict = self.count(core, ack);
        if let Some(probe) = self.probe
            && core.snd_una >= probe.end
        {
            self.judge_tail_probe(core, ack, probe, &verdict);
        }
        let suspicious = ack.duplicate || ack.report.summary.sacked || ack.report.dsack || ack.marks.echo;
        if suspicious || core.state != State::Open {
            self.judge_state(core, ack, &mut verdict, timers);
        }
        if core.marks_reduce_in_recovery(ack) {
            self.reduce_in_recovery(core, ack.now);
        }
        verdict.partial = ack.advances && core.state != State::Open;
        if verdict.restarts_timers {
            self.restart_timers(core, ack.now, timers);
        }
        self.grow_or_reduce(core, ack, &mut verdict, was_reducing);
    }

    /// What the ACK counts for, before anything is judged.
    #[inline]
    fn count(&mut self, core: &mut SenderCore, ack: &AckContext) -> AckVerdict {
        let summary = &ack.report.summary;
        // After a retransmission of the oldest segment a report of something sent before it restarts the timers too; of
        // something sent since, it does not, or the time-out would be put off for ever.
        let sacked_before_head =
            || summary.sacked_sent.zip(core.board.head()).is_some_and(|(sacked, head)| sacked.first < head.sent_at);
        let mut verdict = AckVerdict {
            acked: summary.delivered,
            acked_segments: summary.delivered_segments,
            restarts_timers: summary.acked_segments > 0 || sacked_before_head(),
            ..AckVerdict::default()
        };
        let counts = if self.sack { summary.sacked } else { ack.duplicate };
        if ack.advances {
            (self.duplicates, self.limited_transmit) = (0, Bytes::ZERO);
        } else if counts {
            self.duplicates += 1;
            verdict.duplicate = self.duplicates;
        }
        if !self.sack && summary.acked_segments > 0 {
            self.count_without_sack(core, ack, &mut verdict);
        }
        verdict
    }

    /// Without SACK the duplicate ACKs before stand for reports: one segment filled the hole, the others had sent their
    /// duplicate ACKs.
    #[inline(never)]
    fn count_without_sack(&mut self, core: &mut SenderCore, ack: &AckContext, verdict: &mut AckVerdict) {
        let mss = self.mss;
        let presumed = core.board.presumed();
        let acked = ack.report.summary.acked;
        verdict.acked = acked.saturating_sub(presumed.bytes).max(mss.min(acked));
        verdict.acked_segments = verdict.acked.0.div_ceil(mss.0) as u32;
        core.board.presume(presumed.segments.saturating_sub(ack.report.summary.acked_segments as usize - 1));
    }

    /// Linux's order: PRR while the window is being reduced, else growth.
    #[inline]
    fn grow_or_reduce(
        &mut self,
        core: &mut SenderCore,
        ack: &AckContext,
        verdict: &mut AckVerdict,
        was_reducing: bool,
    ) {
        let newly_lost = core.board.lost_total() > ack.prior.lost_total;
        let summary = &ack.report.summary;
        let linux = self.reduction_kind == CwndReductionKind::LinuxPrr;
        // Once reordering has been seen, Linux lets the window grow on SACK alone.
        let progress =
            if linux && self.reordering > 3 { summary.acked_segments > 0 || summary.sacked } else { ack.advances };
        // RFC 5681 §3.2 step 6: the ACK that ends the reduction adds nothing, but in Linux it does.
        verdict.may_grow = progress && (!was_reducing || linux);
        let reducing = core.state.in_cwnd_reduction();
        if core.report_ack(ack, verdict) {
            self.reduce_as_asked(core, ack.now);
        }
        if reducing {
            let kind = if ack.advances && !newly_lost { AckKind::Safe } else { AckKind::Other };
            self.reduce(core, verdict.acked, kind);
        }
    }
}
