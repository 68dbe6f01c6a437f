//! ns-2.35's TCP-Linux at work: a sender that takes its algorithm from Linux 2.6 and nothing else of it. Laid beside traces of
//! ns-2, whose names its fields bear in their comments.
//!
//! A segment is lost once something four segments above it is reported, however little else is. So is a retransmission, once
//! something is reported that was sent for the first time after it, or a retransmission five later. An episode ends when all
//! that was outstanding at its beginning is acknowledged; then everything reported is forgotten. There is no Disorder.

use std::collections::VecDeque;

use super::LINUX_MAX_BURST;
use super::tick_timer::{Damping, TickTimer};
use crate::cc::{Cause, RttSample, State};
use crate::config::TcpConfig;
use crate::options::Clock;
use crate::scoreboard::{Chunk, PriorAckState};
use crate::segment::Segment;
use crate::sender::ack_context::{AckContext, AckReport, AckVerdict};
use crate::sender::core::{CongestionSign, SenderCore};
use crate::seq::SeqNo;
use crate::timers::Timers;
use crate::units::{Bytes, Span, Time};

/// A tick of its clock.
const TICK: Span = Span::from_millis(1);
/// A segment is lost if the highest report ends so many segments after its beginning.
const REACH: u64 = 5;
/// A retransmission is lost if one that was sent more than so many later has arrived.
const RETRANSMISSIONS_AHEAD: u64 = 4;

/// A retransmission that is believed in the network.
#[derive(Clone, Copy, Debug)]
struct Resent {
    seq: SeqNo,
    /// How many were sent before it.
    number: u64,
    /// `snd_nxt` when it was sent.
    snd_nxt: SeqNo,
}

/// The recovery of TCP-Linux.
#[derive(Debug)]
pub(crate) struct LinuxAgent {
    mss: Bytes,
    /// Where the episode under way, or the last one, ends.
    recover: SeqNo,
    /// `next_pkts_in_flight_`: what may be in the network while the rate is being halved. It never rises.
    halving: Bytes,
    /// By sequence number.
    resent: Vec<Resent>,
    retransmissions: u64,
    /// `acked_rtx_id_`: the retransmission that arrived last.
    arrived: Option<u64>,
    timer: TickTimer,
    /// When segments were sent, from the one on whose timestamp the receiver echoes.
    sent: VecDeque<Time>,
}

impl LinuxAgent {
    pub(super) fn new(config: &TcpConfig, mss: Bytes) -> LinuxAgent {
        LinuxAgent {
            mss,
            recover: SeqNo::default(),
            halving: Bytes::ZERO,
            resent: Vec::new(),
            retransmissions: 0,
            arrived: None,
            timer: TickTimer::new(config.rto, TICK, Damping::OfFalls),
            sent: VecDeque::new(),
        }
    }

    pub(super) fn recover(&self) -> SeqNo {
        self.recover
    }

    /// The window in force.
    pub(super) fn window(&self, cwnd: Bytes) -> Bytes {
        cwnd.max(self.halving)
    }

    /// Reads what an ACK reports, its number first.
    pub(super) fn read_report(&mut self, core: &mut SenderCore, now: Time, segment: &Segment, report: &mut AckReport) {
        if let Some(stamps) = segment.timestamps {
            while self.sent.front().is_some_and(|sent| Clock::at(*sent) < stamps.echo) {
                self.sent.pop_front();
            }
        }
        core.read_cumulative(now, segment.ack, report);
        let (blocks, count) = core.blocks_of(segment);
        let SenderCore { board, sampler, .. } = core;
        let AckReport { summary, newest, .. } = report;
        board.sack(&blocks[..count], PriorAckState::default(), summary, |delivered| {
            sampler.on_delivered(now, delivered, newest);
        });
    }

    /// The order of work on an ACK: losses, the timer, growth, the state, the rate.
    pub(super) fn on_ack(&mut self, core: &mut SenderCore, ack: &AckContext, timers: &mut Timers) {
        let lost = self.find_losses(core);
        self.restart_timer(core, ack.now, timers);
        let summary = &ack.report.summary;
        let cwnd = core.cc.window().cwnd;
        let stamp = self.sent.front().filter(|_| ack.advances).map(|sent| whole_ticks(*sent, ack.now));
        let verdict = AckVerdict {
            acked: summary.acked,
            acked_segments: summary.acked_segments,
            may_grow: ack.advances && ack.prior.pipe + self.mss * LINUX_MAX_BURST >= cwnd,
            echoed: stamp.map(|sample| sample.latest),
            ..AckVerdict::default()
        };
        let good = ack.advances && !summary.sacked && core.state == State::Open;
        let rtt = stamp.filter(|_| good);
        core.report_ack(&AckContext { rtt, ..*ack }, &verdict);
        if core.state != State::Open && core.snd_una >= self.recover {
            self.end_episode(core, ack.now);
        } else if core.state != State::Recovery && lost {
            self.begin_recovery(core, ack.now);
        }
        self.halving = self.halving.min(core.board.pipe() + self.mss);
    }

    /// Marks what is lost, retransmissions first. True if anything is.
    fn find_losses(&mut self, core: &mut SenderCore) -> bool {
        let before = core.board.lost_total();
        let (snd_una, highest) = (core.snd_una, core.board.highest_sacked());
        let arrived = &mut self.arrived;
        self.resent.retain(|resent| {
            if resent.seq < snd_una {
                *arrived = (*arrived).max(Some(resent.number));
                return false;
            }
            if core.board.is_sacked(resent.seq) {
                *arrived = Some(resent.number);
                return false;
            }
            let overtaken = arrived.is_some_and(|number| resent.number + RETRANSMISSIONS_AHEAD < number);
            if overtaken || resent.snd_nxt < highest {
                core.board.mark_lost_at(resent.seq);
                return false;
            }
            true
        });
        core.board.mark_lost_before(highest, self.mss * REACH);
        core.board.lost_total() > before
    }

    /// Every ACK restarts the timer, and is a sample of the RTT: of duplicates, the age of what the receiver echoed before.
    fn restart_timer(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        if let Some(sent) = self.sent.front() {
            self.timer.sample((now.since(*sent) + TICK / 2).as_nanos() / TICK.as_nanos());
        }
        core.rtt.impose(self.timer.rto());
        let at = (!core.board.is_empty()).then(|| now + self.timer.rto());
        core.arm_rto(now, at, timers);
    }

    fn begin_recovery(&mut self, core: &mut SenderCore, now: Time) {
        core.totals.recoveries += 1;
        self.halving = core.cc.window().cwnd;
        self.report_congestion(core, now, Cause::Sack);
        self.recover = core.snd_nxt;
        core.state = State::Recovery;
    }

    fn end_episode(&mut self, core: &mut SenderCore, now: Time) {
        core.board.forget_reports();
        self.resent.clear();
        self.halving = Bytes::ZERO;
        core.state = State::Open;
        let view = core.view(now);
        core.cc.on_recovery_end(&view);
    }

    fn report_congestion(&self, core: &mut SenderCore, now: Time, cause: Cause) {
        let sign = CongestionSign {
            cause,
            first: true,
            again: false,
            limited_transmit: Bytes::ZERO,
            loss_window: self.mss,
            head: None,
        };
        core.report_congestion(now, &sign);
    }

    /// The timer expired: all that is not reported is lost. Each time-out lowers ssthresh.
    pub(super) fn on_rto(&mut self, core: &mut SenderCore, now: Time) {
        core.board.mark_lost_by_time_out(now, None);
        self.report_congestion(core, now, Cause::Timeout);
        core.state = State::Loss;
        self.recover = core.snd_nxt;
        self.halving = Bytes::ZERO;
        self.resent.clear();
        self.arrived = None;
        self.timer.back_off();
        core.rtt.impose(self.timer.rto());
    }

    /// New data is about to be sent.
    pub(super) fn on_new_data(&mut self, core: &SenderCore, now: Time) {
        self.on_sent(core.board.pipe(), now);
    }

    /// A segment has been retransmitted.
    pub(super) fn on_retransmission(&mut self, core: &SenderCore, now: Time, chunk: Chunk) {
        let resent = Resent { seq: chunk.seq, number: self.retransmissions, snd_nxt: core.snd_nxt };
        self.retransmissions += 1;
        let place = self.resent.partition_point(|other| other.seq < chunk.seq);
        self.resent.insert(place, resent);
        self.on_sent(core.board.pipe().saturating_sub(self.mss), now);
    }

    /// A segment leaves: while the rate is halved the next one follows when one less is in the network than before it.
    fn on_sent(&mut self, pipe_before: Bytes, now: Time) {
        self.halving = self.halving.min(pipe_before.max(self.mss));
        if self.sent.back() != Some(&now) {
            self.sent.push_back(now);
        }
    }
}

/// The RTT that Linux's algorithms see: from the tick nearest to the sending to the last one before the ACK.
fn whole_ticks(sent: Time, now: Time) -> RttSample {
    let rtt = Clock::age(Clock::at(sent + TICK / 2), now);
    RttSample { latest: rtt, oldest: rtt }
}
