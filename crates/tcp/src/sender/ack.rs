//! The order of work on an ACK: the receiver's window, what it reports, marks, the RTT; then the recovery's judgement.

use super::Sender;
use super::ack_context::{AckContext, AckReport, Prior};
use super::core::SenderCore;
use crate::cc::RttSample;
use crate::options::Clock;
use crate::scoreboard::{AckSummary, PriorAckState};
use crate::segment::{Ecn, Flags, Segment};
use crate::seq::{SeqNo, SeqRange};
use crate::settings::RttAlgorithm;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

impl Sender {
    /// Processes the acknowledgment that a segment carries.
    pub(crate) fn on_ack(&mut self, now: Time, segment: &Segment, timers: &mut Timers) {
        let core = &mut self.core;
        if segment.ack < core.snd_una {
            return self.on_old_ack(now, segment, timers);
        }
        if segment.ack > core.snd_nxt {
            return;
        }
        core.more = false;
        let window_changed = core.update_window(segment, timers);
        if core.pure_receiver && segment.sack.is_empty() && core.feedback.ignores(segment) {
            return;
        }
        let prior = core.prior();
        let mut report = AckReport::default();
        self.recovery.read_report(core, now, segment, &mut report);
        let context = core.acknowledge(now, segment, window_changed, prior, &report);
        let at_one = core.cc.window().cwnd <= core.mss;
        self.recovery.on_ack(core, &context, timers);
        if context.marks.echo || core.feedback.waits {
            let waits = context.marks.echo && at_one && !self.recovery.is_compat();
            core.wait_after_mark(now, waits, timers);
        }
        core.arm_algorithm_timer(timers);
    }

    /// An ACK below `snd_una` was overtaken on its way back. Its window and its RTT are out of date, but what it reports
    /// selectively has arrived (RFC 2018 §5; RFC 6675 §5 updates the scoreboard on any ACK with SACK information).
    #[cold]
    #[inline(never)]
    fn on_old_ack(&mut self, now: Time, segment: &Segment, timers: &mut Timers) {
        let core = &mut self.core;
        // RFC 5961 §5.2: what is older than the largest window ever offered is not acceptable.
        if segment.ack + core.max_rwnd < core.snd_una {
            return;
        }
        self.recovery.on_old_ack(core, now, segment, timers);
    }
}

impl SenderCore {
    /// Takes over the receiver's window; true if it has changed.
    fn update_window(&mut self, segment: &Segment, timers: &mut Timers) -> bool {
        // RFC 9293 §3.10.7.4, fifth check: a segment older than the last that updated the window does not update it,
        // unless it acknowledges more: `rwnd` counts from `snd_una`.
        let updates = segment.ack > self.snd_una || segment.seq >= self.snd_wl1;
        let changed = updates && self.rwnd != segment.window;
        if updates {
            self.rwnd = segment.window;
            self.snd_wl1 = segment.seq;
        }
        if changed {
            self.max_rwnd = self.max_rwnd.max(self.rwnd);
        }
        let waits = timers.armed(Timer::Persist) && self.end > self.snd_nxt;
        if !waits || self.sendable(segment.ack + self.rwnd) > Bytes::ZERO {
            self.window_probes = 0;
            timers.stop(Timer::Persist);
        }
        changed
    }

    /// The blocks of an ACK that say something, and how many they are.
    pub(crate) fn blocks_of(&self, segment: &Segment) -> ([SeqRange; 4], usize) {
        let mut blocks = [SeqRange::default(); 4];
        let mut count = 0;
        for block in segment.sack.blocks() {
            // What lies below the acknowledgment is old or a duplicate; what was never sent cannot be reported.
            if !block.is_empty() && block.end > segment.ack.max(self.snd_una) && block.end <= self.snd_nxt {
                blocks[count] = block;
                count += 1;
            }
        }
        (blocks, count)
    }

    /// Reads the number of an ACK, which is all that it reports without SACK.
    #[inline(never)]
    pub(crate) fn read_cumulative(&mut self, now: Time, ack: SeqNo, report: &mut AckReport) {
        let SenderCore { board, sampler, .. } = self;
        let AckReport { summary, newest, .. } = report;
        board.advance(ack, PriorAckState::default(), summary, |delivered| sampler.on_delivered(now, delivered, newest));
    }

    /// Moves `snd_una` and measures what the ACK shows.
    #[inline]
    fn acknowledge<'a>(
        &mut self,
        now: Time,
        segment: &Segment,
        window_changed: bool,
        prior: Prior,
        report: &'a AckReport,
    ) -> AckContext<'a> {
        let advances = segment.ack > prior.snd_una;
        self.snd_una = segment.ack;
        let bare = !segment.flags.intersects(Flags::SYN.with(Flags::FIN)) && segment.len == 0;
        let repeats = !advances && bare && !window_changed && !report.dsack;
        let duplicate = repeats && !self.board.is_empty();
        let marks = self.feedback.on_ack(segment, report.summary.delivered, self.mss);
        self.delivered_ce += marks.ce;
        if self.feedback.cleared {
            (self.ecn, self.ecn_of_retransmissions) = (Ecn::NotEct, Ecn::NotEct);
        }
        let mut round_start = false;
        if advances {
            self.timeouts_in_a_row = 0;
            round_start = self.round.on_advance(self.snd_una, self.snd_nxt);
        }
        let tsecr = segment.timestamps.map(|timestamps| timestamps.echo);
        let rtt = match self.rtt.kind() {
            RttAlgorithm::Timestamps => self.smoothed_rtt(now, &report.summary, tsecr),
            RttAlgorithm::Rfc | RttAlgorithm::Linux => self.measure_rtt(now, &report.summary, tsecr),
        };
        let one_way = one_way(segment);
        AckContext { now, prior, report, marks, advances, repeats, duplicate, round_start, tsecr, rtt, one_way }
    }

    #[inline]
    fn measure_rtt(&mut self, now: Time, summary: &AckSummary, tsecr: Option<u32>) -> Option<RttSample> {
        let rtt = rtt_sample(now, summary, tsecr);
        if let Some(RttSample { latest, oldest }) = rtt {
            self.rtt.note_latest(latest);
            self.rtt.sample(oldest, self.snd_una, self.snd_nxt);
        }
        rtt
    }

    /// The age of the echoed timestamp is the sample, SRTT what algorithms get, its minimum the minimum RTT.
    #[inline(never)]
    fn smoothed_rtt(&mut self, now: Time, summary: &AckSummary, tsecr: Option<u32>) -> Option<RttSample> {
        if summary.acked_segments == 0 {
            return None;
        }
        if let Some(acked) = summary.acked_sent.filter(|_| !summary.retransmission_acked) {
            let age = tsecr.map(|echo| Clock::age(echo, now));
            let sample = age.unwrap_or(acked.rtt(now).oldest).max(Span::from_millis(1));
            self.rtt.sample(sample, self.snd_una, self.snd_nxt);
            self.rtt.srtt().into_iter().for_each(|srtt| self.rtt.note_latest(srtt));
        }
        self.rtt.srtt().map(|srtt| RttSample { latest: srtt, oldest: srtt })
    }
}

/// The RTT that an ACK shows: that of the oldest segment is for the time-out, that of the newest for the algorithm.
#[inline]
fn rtt_sample(now: Time, summary: &AckSummary, tsecr: Option<u32>) -> Option<RttSample> {
    // Karn: nothing from an ACK that covers something sent twice.
    let acked = summary.acked_sent.filter(|_| !summary.retransmission_acked).map(|times| times.rtt(now));
    let sacked = summary.sacked_sent.map(|times| times.rtt(now));
    match (acked, sacked) {
        (Some(acked), Some(sacked)) => Some(RttSample { oldest: acked.oldest, latest: sacked.latest }),
        (Some(rtt), None) | (None, Some(rtt)) => Some(rtt),
        (None, None) => {
            // Timestamps show it even then, to a millisecond (RFC 7323 §4).
            let echo = tsecr.filter(|_| summary.acked_segments > 0)?;
            let rtt = Clock::age(echo, now).max(Span::from_millis(1));
            Some(RttSample { latest: rtt, oldest: rtt })
        }
    }
}

/// The other side's clock when it answered less ours when the answered segment was sent (RFC 7323 §3).
fn one_way(segment: &Segment) -> Option<Span> {
    let stamps = segment.timestamps?;
    Some(Span::from_millis(u64::from(stamps.value.wrapping_sub(stamps.echo))))
}
