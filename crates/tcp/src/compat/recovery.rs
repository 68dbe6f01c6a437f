//! Which agent of another simulator a sender is.

use super::AgentKind;
use super::clock::SecondsClock;
use super::linux_agent::LinuxAgent;
use super::one_way::OneWay;
use crate::cc::State;
use crate::config::TcpConfig;
use crate::options::Agreed;
use crate::scoreboard::Chunk;
use crate::segment::Segment;
use crate::sender::ack_context::{AckContext, AckReport};
use crate::sender::core::{HandshakeTiming, SenderCore};
use crate::sender::segments::{NewData, Outgoing};
use crate::seq::SeqNo;
use crate::settings::RecoveryKind;
use crate::timers::Timers;
use crate::units::{Bytes, Time};

/// The loss recovery of an agent. The methods are those of `LossRecovery`, which calls them.
#[derive(Debug)]
pub(crate) enum Recovery {
    /// By duplicate ACKs and the age of the oldest segment.
    OneWay(OneWay),
    /// TCP-Linux.
    Linux(LinuxAgent),
}

impl Recovery {
    /// Nothing if these settings describe a sender of the house. What the peer refuses, SACK or timestamps, TCP-Linux does
    /// without by being none.
    pub(crate) fn of(config: &TcpConfig, agreed: Agreed) -> Option<Recovery> {
        match (config.agent.map(|agent| agent.kind), config.recovery) {
            (Some(AgentKind::Ns2Linux), RecoveryKind::Sack) if agreed.sack && agreed.timestamps => {
                Some(Recovery::Linux(LinuxAgent::new(config, agreed.mss)))
            }
            (_, RecoveryKind::Sack | RecoveryKind::Rack) => None,
            (None | Some(AgentKind::Ns2Linux), RecoveryKind::Vegas) => {
                Some(Recovery::OneWay(OneWay::new(config, None, agreed.mss)))
            }
            (None | Some(AgentKind::Ns2Linux), _) => None,
            (Some(AgentKind::Ns2), _) => Some(Recovery::OneWay(OneWay::new(config, config.agent, agreed.mss))),
        }
    }

    pub(crate) fn start(&mut self, core: &mut SenderCore, handshake: HandshakeTiming, now: Time) {
        if let Recovery::OneWay(recovery) = self {
            recovery.start(core, handshake, now);
        }
    }

    pub(crate) fn clock_mut(&mut self) -> Option<&mut SecondsClock> {
        match self {
            Recovery::OneWay(recovery) => recovery.clock_mut(),
            Recovery::Linux(_) => None,
        }
    }

    pub(crate) fn read_report(&mut self, core: &mut SenderCore, now: Time, segment: &Segment, report: &mut AckReport) {
        match self {
            Recovery::OneWay(_) => core.read_cumulative(now, segment.ack, report),
            Recovery::Linux(recovery) => recovery.read_report(core, now, segment, report),
        }
    }

    pub(crate) fn on_ack(&mut self, core: &mut SenderCore, ack: &AckContext, timers: &mut Timers) {
        match self {
            Recovery::OneWay(recovery) => recovery.on_ack(core, ack, timers),
            Recovery::Linux(recovery) => recovery.on_ack(core, ack, timers),
        }
    }

    pub(crate) fn on_rto(&mut self, core: &mut SenderCore, now: Time) {
        match self {
            Recovery::OneWay(recovery) => recovery.on_rto(core, now),
            Recovery::Linux(recovery) => recovery.on_rto(core, now),
        }
    }

    pub(crate) fn on_idle_rto(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        if let Recovery::OneWay(recovery) = self {
            recovery.on_idle_rto(core, now, timers);
        }
    }

    pub(crate) fn after_rto(&mut self, core: &mut SenderCore) {
        if let Recovery::OneWay(recovery) = self {
            recovery.after_rto(core);
        }
    }

    pub(crate) fn window(&self, state: State, cwnd: Bytes) -> Bytes {
        match self {
            Recovery::OneWay(recovery) => recovery.window(state, cwnd),
            Recovery::Linux(recovery) => recovery.window(cwnd),
        }
    }

    pub(crate) fn window_may_close(&self) -> bool {
        matches!(self, Recovery::OneWay(recovery) if recovery.window_may_close())
    }

    pub(crate) fn take_ahead(&mut self, core: &SenderCore) -> Option<NewData> {
        match self {
            Recovery::OneWay(recovery) => recovery.take_ahead(core),
            Recovery::Linux(_) => None,
        }
    }

    pub(crate) fn send_new(
        &mut self,
        core: &mut SenderCore,
        now: Time,
        new: &NewData,
        timers: &mut Timers,
    ) -> Outgoing {
        match self {
            Recovery::OneWay(recovery) => recovery.send_new(core, now, new, timers),
            Recovery::Linux(recovery) => {
                recovery.on_new_data(core, now);
                core.send_new(now, new, timers)
            }
        }
    }

    pub(crate) fn on_retransmission(&mut self, core: &mut SenderCore, now: Time, chunk: Chunk) {
        match self {
            Recovery::OneWay(recovery) => recovery.on_retransmission(core, now, chunk),
            Recovery::Linux(recovery) => recovery.on_retransmission(core, now, chunk),
        }
    }

    pub(crate) fn forces_retransmit(&self) -> bool {
        matches!(self, Recovery::OneWay(recovery) if recovery.base.force_retransmit())
    }

    pub(crate) fn reordering(&self) -> u64 {
        match self {
            Recovery::OneWay(recovery) => recovery.base.threshold().into(),
            Recovery::Linux(_) => 3,
        }
    }

    pub(crate) fn on_burst_end(&mut self) {
        if let Recovery::OneWay(recovery) = self {
            recovery.on_burst_end();
        }
    }

    pub(crate) fn recover(&self) -> SeqNo {
        match self {
            Recovery::OneWay(recovery) => recovery.base.recover(),
            Recovery::Linux(recovery) => recovery.recover(),
        }
    }
}
