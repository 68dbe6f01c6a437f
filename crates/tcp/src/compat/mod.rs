//! Senders of other simulators, with their faults: what runs that were made elsewhere are laid beside. An [`Agent`] is chosen in
//! the settings of an endpoint; a sender that is one recovers by `Recovery`, on the same `SenderCore` as any other. Beside the
//! tables of profiles only this folder names simulators.
//!
//! - `signals.rs`: what an agent asks of its algorithm, and tells it
//! - `recovery.rs`: which agent a sender is
//! - `one_way.rs`: ns-2.35's Tahoe, Reno, NewReno and Vegas, over recovery by duplicate ACKs; `send_ring.rs`: Vegas' notes
//! - `linux_agent.rs`: ns-2.35's TCP-Linux
//! - `tick_timer.rs`: their retransmission timers; `clock.rs`: time as a sum of doubles
//! - `cc/`: algorithms as other simulators and reports have them

pub mod cc;
mod clock;
mod linux_agent;
mod one_way;
mod recovery;
mod send_ring;
mod signals;
mod tick_timer;

pub use self::clock::SecondsClock;
pub(crate) use self::recovery::Recovery;
pub use self::signals::AgentSignals;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::settings::Headers;
use crate::units::Span;

/// Segments that Linux of old let leave at once (tcp_max_burst), where TCP-Linux follows it.
pub(crate) const LINUX_MAX_BURST: u64 = 3;

/// The agent of another simulator that a sender is, and how it counts what it sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Agent {
    /// Which agent.
    pub kind: AgentKind,
    /// What headers add to the length of a packet.
    pub headers: Headers,
    /// Every write is filled up to whole segments, as ns-2 counts what its applications write.
    pub whole_segments: bool,
    /// How far into a tick of `rto.granularity` the agent's clock began.
    pub tick_phase: Span,
}

/// The agents; docs/models.md lists what each does otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// ns-2.35's one-way agents, with recovery `tahoe`, `reno`, `newreno` or `vegas`.
    Ns2,
    /// ns-2.35's TCP-Linux, with recovery `sack` and timestamps.
    Ns2Linux,
}

impl Agent {
    /// An agent whose clock began with a tick, and whose packets are as long as any.
    pub fn of(kind: AgentKind) -> Agent {
        Agent { kind, headers: Headers::Options, whole_segments: false, tick_phase: Span::ZERO }
    }
}
