//! The ways to recover from loss. Here alone it is asked which one a sender has.

use super::ack_context::{AckContext, AckReport};
use super::core::{HandshakeTiming, SenderCore};
use super::sack_recovery::{SackRecovery, TimeOut};
use super::segments::{NewData, Outgoing};
use crate::compat::{Recovery, SecondsClock};
use crate::config::TcpConfig;
use crate::options::Agreed;
use crate::recovery::DupAckRecovery;
use crate::scoreboard::Chunk;
use crate::segment::Segment;
use crate::seq::SeqNo;
use crate::settings::RecoveryKind;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Time};

/// How losses are detected and repaired.
#[derive(Debug)]
pub(super) enum LossRecovery {
    /// By duplicate ACKs (RFC 5681, RFC 6582).
    DupAck(DupAckRecovery),
    /// By SACK (RFC 6675) or time (RFC 8985).
    Sack(SackRecovery),
    /// As an agent of another simulator.
    Compat(Box<Recovery>),
}

impl LossRecovery {
    pub(super) fn new(config: &TcpConfig, agreed: Agreed) -> LossRecovery {
        if let Some(recovery) = Recovery::of(config, agreed) {
            return LossRecovery::Compat(Box::new(recovery));
        }
        match config.recovery {
            // RFC 6675 builds on SACK; without it NewReno remains.
            RecoveryKind::Sack if !agreed.sack => {
                LossRecovery::DupAck(DupAckRecovery::new(config, RecoveryKind::NewReno, agreed.mss))
            }
            RecoveryKind::Sack | RecoveryKind::Rack => LossRecovery::Sack(SackRecovery::new(config, agreed)),
            by_duplicates => LossRecovery::DupAck(DupAckRecovery::new(config, by_duplicates, agreed.mss)),
        }
    }

    /// The handshake is over.
    pub(super) fn start(&mut self, core: &mut SenderCore, handshake: HandshakeTiming, now: Time) {
        if let LossRecovery::Compat(recovery) = self {
            recovery.start(core, handshake, now);
        }
    }

    /// The clock of an agent of another simulator.
    pub(super) fn compat_mut(&mut self) -> Option<&mut SecondsClock> {
        match self {
            LossRecovery::Compat(recovery) => recovery.clock_mut(),
            LossRecovery::DupAck(_) | LossRecovery::Sack(_) => None,
        }
    }

    /// True if the sender is an agent of another simulator.
    pub(super) fn is_compat(&self) -> bool {
        matches!(self, LossRecovery::Compat(_))
    }

    /// True if segments sent together may count as one packet for the network card.
    pub(super) fn forms_tso_packets(&self) -> bool {
        matches!(self, LossRecovery::Sack(_))
    }

    /// Reads what an ACK reports.
    #[inline]
    pub(super) fn read_report(&mut self, core: &mut SenderCore, now: Time, segment: &Segment, report: &mut AckReport) {
        match self {
            LossRecovery::DupAck(_) => core.read_cumulative(now, segment.ack, report),
            LossRecovery::Sack(recovery) => recovery.read_report(core, now, segment, report),
            LossRecovery::Compat(recovery) => recovery.read_report(core, now, segment, report),
        }
    }

    /// Judges an ACK: detects loss, changes the state, reports to the algorithm, sets the timers.
    #[inline]
    pub(super) fn on_ack(&mut self, core: &mut SenderCore, ack: &AckContext, timers: &mut Timers) {
        match self {
            LossRecovery::DupAck(recovery) => recovery.on_ack(core, ack, timers),
            LossRecovery::Sack(recovery) => recovery.on_ack(core, ack, timers),
            LossRecovery::Compat(recovery) => recovery.on_ack(core, ack, timers),
        }
    }

    /// An ACK below `snd_una` may still report selectively what has arrived.
    pub(super) fn on_old_ack(&mut self, core: &mut SenderCore, now: Time, segment: &Segment, timers: &mut Timers) {
        if let LossRecovery::Sack(recovery) = self {
            recovery.on_old_ack(core, now, segment, timers);
            core.report_losses(now);
            core.arm_algorithm_timer(timers);
        }
    }

    /// The timers that RACK and TLP alone set.
    #[inline]
    pub(super) fn on_own_timers(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        let LossRecovery::Sack(recovery) = self else { return };
        if timers.expire(Timer::Reorder, now) {
            recovery.on_reorder_timer(core, now, timers);
        }
        if timers.expire(Timer::Tlp, now) {
            recovery.on_probe_timer(core, now, timers);
        }
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6).
    pub(super) fn on_rto(&mut self, core: &mut SenderCore, now: Time) {
        match self {
            LossRecovery::DupAck(recovery) => recovery.on_rto(core, now),
            LossRecovery::Sack(recovery) => recovery.on_rto(core, now),
            LossRecovery::Compat(recovery) => recovery.on_rto(core, now),
        }
    }

    /// The retransmission timer expired with nothing outstanding, which means nothing but to an agent.
    pub(super) fn on_idle_rto(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        if let LossRecovery::Compat(recovery) = self {
            recovery.on_idle_rto(core, now, timers);
        }
    }

    /// The time-out has been backed off; an agent keeps it by a clock of its own.
    pub(super) fn after_rto(&mut self, core: &mut SenderCore) {
        if let LossRecovery::Compat(recovery) = self {
            recovery.after_rto(core);
        }
    }

    /// How much may be in the network now.
    #[inline]
    pub(super) fn send_window(&self, core: &SenderCore) -> Bytes {
        let cwnd = core.cc.window().cwnd;
        match self {
            _ if core.owns_window || core.cc.start_owns_window() => cwnd,
            LossRecovery::DupAck(recovery) => recovery.window(core.state, cwnd),
            LossRecovery::Sack(recovery) => recovery.window(cwnd),
            LossRecovery::Compat(recovery) => recovery.window(core.state, cwnd),
        }
    }

    /// True if the window may be too small for a segment although nothing is outstanding.
    #[inline]
    pub(super) fn window_may_close(&self) -> bool {
        matches!(self, LossRecovery::Compat(recovery) if recovery.window_may_close())
    }

    /// What goes before all else: a tail loss probe (RFC 8985 §7.3).
    #[inline]
    pub(super) fn poll_first(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        let LossRecovery::Sack(recovery) = self else { return None };
        if recovery.take_probe_due() { recovery.poll_tail_probe(core, now, timers) } else { None }
    }

    /// New data that an agent sends whatever its window says.
    #[inline]
    pub(super) fn take_ahead(&mut self, core: &SenderCore) -> Option<NewData> {
        match self {
            LossRecovery::Compat(recovery) => recovery.take_ahead(core),
            LossRecovery::DupAck(_) | LossRecovery::Sack(_) => None,
        }
    }

    /// Sends new data.
    #[inline]
    pub(super) fn send_new(
        &mut self,
        core: &mut SenderCore,
        now: Time,
        new: &NewData,
        timers: &mut Timers,
    ) -> Outgoing {
        match self {
            LossRecovery::DupAck(recovery) => {
                let bytes = Bytes(u64::from(new.chunk.len));
                recovery.on_new_data(core.state, bytes, core.board.pipe() + bytes, core.cc.window().cwnd);
            }
            LossRecovery::Sack(recovery) => recovery.on_new_data(core.state, new.chunk),
            LossRecovery::Compat(recovery) => return recovery.send_new(core, now, new, timers),
        }
        core.send_new(now, new, timers)
    }

    /// A segment has been retransmitted.
    #[inline]
    pub(super) fn on_retransmission(&mut self, core: &mut SenderCore, now: Time, chunk: Chunk) {
        match self {
            LossRecovery::DupAck(recovery) => recovery.on_retransmission(),
            LossRecovery::Sack(recovery) => recovery.on_retransmission(now, chunk),
            LossRecovery::Compat(recovery) => recovery.on_retransmission(core, now, chunk),
        }
    }

    /// True if the next retransmission is sent whatever the window says.
    #[inline]
    pub(super) fn forces_retransmit(&self) -> bool {
        match self {
            LossRecovery::DupAck(recovery) => recovery.force_retransmit(),
            LossRecovery::Sack(_) => false,
            LossRecovery::Compat(recovery) => recovery.forces_retransmit(),
        }
    }

    /// RFC 8985 lets the retransmission of the oldest segment restart the timer, as Linux does; RFC 6298 §5.1 does not.
    #[inline]
    pub(super) fn retransmission_restarts_rto(&self) -> bool {
        matches!(self, LossRecovery::Sack(_))
    }

    /// True while new data is sent before what is lost (F-RTO, RFC 5682 §2.1 step 2b).
    #[inline]
    pub(super) fn new_data_goes_first(&self) -> bool {
        matches!(self, LossRecovery::Sack(recovery) if recovery.new_data_goes_first())
    }

    /// No new data could be sent for F-RTO: true if F-RTO goes on all the same.
    pub(super) fn continue_frto(&mut self, snd_nxt: SeqNo) -> bool {
        match self {
            LossRecovery::DupAck(_) | LossRecovery::Compat(_) => false,
            LossRecovery::Sack(recovery) => recovery.continue_frto(snd_nxt),
        }
    }

    /// In recovery with nothing else to send: a segment that is not believed lost (RFC 6675 §4, NextSeg rules 3 and 4).
    pub(super) fn poll_hole(&mut self, core: &mut SenderCore, now: Time) -> Option<Outgoing> {
        let window = self.send_window(core);
        match self {
            LossRecovery::DupAck(_) | LossRecovery::Compat(_) => None,
            LossRecovery::Sack(recovery) => recovery.poll_hole(core, now, window),
        }
    }

    /// Segments by which something may be out of order without being lost: three, or more once seen.
    pub(super) fn reordering(&self) -> u64 {
        match self {
            LossRecovery::DupAck(recovery) => recovery.threshold().into(),
            LossRecovery::Sack(recovery) => recovery.reordering(),
            LossRecovery::Compat(recovery) => recovery.reordering(),
        }
    }

    /// The send loop ran dry, or the application has written.
    #[inline]
    pub(super) fn on_burst_end(&mut self) {
        if let LossRecovery::Compat(recovery) = self {
            recovery.on_burst_end();
        }
    }

    /// Something was sent before the send loop ran dry: a tail loss probe is scheduled (RFC 8985 §7.2).
    #[inline]
    pub(super) fn after_burst(&self, core: &SenderCore, now: Time, timers: &mut Timers) {
        if let LossRecovery::Sack(recovery) = self {
            recovery.schedule_tail_probe(core, now, TimeOut::FromHead, timers);
        }
    }

    /// Where the episode under way, or the last one, ends.
    pub(super) fn recover(&self) -> SeqNo {
        match self {
            LossRecovery::DupAck(recovery) => recovery.recover(),
            LossRecovery::Sack(recovery) => recovery.recover(),
            LossRecovery::Compat(recovery) => recovery.recover(),
        }
    }
}
