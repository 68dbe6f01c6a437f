//! The ways to recover from loss. Here alone it is asked which one a connection has.

use super::ack_context::AckContext;
use super::core::SenderCore;
use super::linux_agent::LinuxAgent;
use super::sack_recovery::SackRecovery;
use super::segments::Outgoing;
use crate::config::TcpConfig;
use crate::options::Agreed;
use crate::recovery::DupAckRecovery;
use crate::scoreboard::Chunk;
use crate::seq::SeqNo;
use crate::settings::RecoveryKind;
use crate::timers::Timers;
use crate::units::{Bytes, Time};

/// How losses are detected and repaired.
#[derive(Debug)]
pub(super) enum LossRecovery {
    /// By duplicate ACKs (RFC 5681, RFC 6582).
    DupAck(DupAckRecovery),
    /// By SACK (RFC 6675) or time (RFC 8985).
    Sack(SackRecovery),
    /// As ns-2.35's TCP-Linux.
    Linux(Box<LinuxAgent>),
}

impl LossRecovery {
    pub(super) fn new(config: &TcpConfig, agreed: Agreed) -> LossRecovery {
        match config.recovery {
            // RFC 6675 builds on SACK; without it NewReno remains.
            RecoveryKind::Sack if !agreed.sack => {
                LossRecovery::DupAck(DupAckRecovery::new(config, RecoveryKind::NewReno, agreed.mss))
            }
            RecoveryKind::Sack if config.one_way_agent && agreed.timestamps => {
                LossRecovery::Linux(Box::new(LinuxAgent::new(config, agreed.mss)))
            }
            RecoveryKind::Sack | RecoveryKind::Rack => LossRecovery::Sack(SackRecovery::new(config, agreed)),
            by_duplicates => LossRecovery::DupAck(DupAckRecovery::new(config, by_duplicates, agreed.mss)),
        }
    }

    /// Judges an ACK: detects loss, changes the state, reports to the algorithm, sets the timers.
    #[inline]
    pub(super) fn on_ack(&mut self, core: &mut SenderCore, ack: &AckContext, timers: &mut Timers) {
        match self {
            LossRecovery::DupAck(recovery) => recovery.on_ack(core, ack, timers),
            LossRecovery::Sack(recovery) => recovery.on_ack(core, ack, timers),
            LossRecovery::Linux(recovery) => recovery.on_ack(core, ack, timers),
        }
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6).
    pub(super) fn on_rto(&mut self, core: &mut SenderCore, now: Time) {
        match self {
            LossRecovery::DupAck(recovery) => recovery.on_rto(core, now),
            LossRecovery::Sack(recovery) => recovery.on_rto(core, now),
            LossRecovery::Linux(recovery) => recovery.on_rto(core, now),
        }
    }

    /// How much may be in the network now.
    #[inline]
    pub(super) fn send_window(&self, core: &SenderCore) -> Bytes {
        let cwnd = core.cc.window().cwnd;
        match self {
            _ if core.owns_window => cwnd,
            LossRecovery::DupAck(recovery) => recovery.window(core.state, cwnd),
            LossRecovery::Sack(recovery) => recovery.window(cwnd),
            LossRecovery::Linux(recovery) => recovery.window(cwnd),
        }
    }

    /// New data is about to be sent.
    #[inline]
    pub(super) fn on_new_data(&mut self, core: &SenderCore, now: Time, chunk: Chunk) {
        match self {
            LossRecovery::DupAck(recovery) => {
                let bytes = Bytes(u64::from(chunk.len));
                recovery.on_new_data(core.state, bytes, core.board.pipe() + bytes, core.cc.window().cwnd);
                recovery.on_agent_new_data(chunk.seq, chunk.seq + bytes, now);
            }
            LossRecovery::Sack(recovery) => recovery.on_new_data(core.state, chunk),
            LossRecovery::Linux(recovery) => recovery.on_new_data(core, now),
        }
    }

    /// A segment has been retransmitted.
    #[inline]
    pub(super) fn on_retransmission(&mut self, core: &SenderCore, now: Time, chunk: Chunk) {
        match self {
            LossRecovery::DupAck(recovery) => recovery.on_retransmission(chunk.seq, now),
            LossRecovery::Sack(recovery) => recovery.on_retransmission(now, chunk),
            LossRecovery::Linux(recovery) => recovery.on_retransmission(core, now, chunk),
        }
    }

    /// True if the next retransmission is sent whatever the window says.
    #[inline]
    pub(super) fn forces_retransmit(&self) -> bool {
        matches!(self, LossRecovery::DupAck(recovery) if recovery.force_retransmit())
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
            LossRecovery::DupAck(_) | LossRecovery::Linux(_) => false,
            LossRecovery::Sack(recovery) => recovery.continue_frto(snd_nxt),
        }
    }

    /// In recovery with nothing else to send: a segment that is not believed lost (RFC 6675 §4, NextSeg rules 3 and 4).
    pub(super) fn poll_hole(&mut self, core: &mut SenderCore, now: Time) -> Option<Outgoing> {
        let window = self.send_window(core);
        match self {
            LossRecovery::DupAck(_) | LossRecovery::Linux(_) => None,
            LossRecovery::Sack(recovery) => recovery.poll_hole(core, now, window),
        }
    }

    /// Segments by which something may be out of order without being lost: three, or more once seen.
    pub(super) fn reordering(&self) -> u64 {
        match self {
            LossRecovery::DupAck(recovery) => recovery.threshold().into(),
            LossRecovery::Sack(recovery) => recovery.reordering(),
            LossRecovery::Linux(_) => 3,
        }
    }

    /// The send loop ran dry, or the application has written.
    #[inline]
    pub(super) fn on_burst_end(&mut self) {
        if let LossRecovery::DupAck(recovery) = self {
            recovery.on_burst_end();
        }
    }

    /// The recovery of one of ns-2's one-way agents.
    pub(super) fn one_way_agent(&mut self) -> Option<&mut DupAckRecovery> {
        match self {
            LossRecovery::DupAck(recovery) if recovery.agent.is_some() => Some(recovery),
            _ => None,
        }
    }

    /// Where the episode under way, or the last one, ends.
    pub(super) fn recover(&self) -> SeqNo {
        match self {
            LossRecovery::DupAck(recovery) => recovery.recover(),
            LossRecovery::Sack(recovery) => recovery.recover(),
            LossRecovery::Linux(recovery) => recovery.recover(),
        }
    }
}
