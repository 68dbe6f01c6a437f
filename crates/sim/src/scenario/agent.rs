//! The part of the schema that makes a sender an agent of another simulator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::TcpConfig;
use tcp::compat::{Agent, AgentKind};
use tcp::settings::{Headers, RecoveryKind};
use tcp::units::Span;

use super::error::{ScenarioError, join};

/// The agent of another simulator that the sender is, with its faults, for what is laid beside runs made there (docs/models.md).
/// `tcp.profile` gives its numbers. Keys of a flow's table stand over those of the scenario's.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentDef {
    /// Which agent. `ns2`: the sender keeps time, counts duplicate ACKs and answers time-outs as ns-2.35's one-way agents do; with recovery
    /// `tahoe`, `reno`, `newreno` or `vegas`. `ns2_linux`: ns-2.35's TCP-Linux; with recovery `sack` and timestamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<AgentKind>,
    /// Length of the headers of TCP and IP: `options`, 40 B and the options present; `plain`, 40 B (ns-2, its SYN too); `ns2`, 40 B, 10 B
    /// more for timestamps with data, 8 B more for each SACK block without (ns-2's TCP-Linux); `acks`, 40 B of packets without data
    /// and none with data (ns-2's Vegas agents). Default: `options`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Headers>,
    /// A write is filled up to whole segments (ns-2: an application that writes 4 B sends a segment). Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_segments: Option<bool>,
    /// How far into a tick of 10 ms the clock of the agent began; ns-2 draws it at random. Default: `0s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick_phase: Option<Span>,
}

impl AgentDef {
    /// The keys of `own` where set, else `base`'s.
    pub(super) fn over(own: Option<AgentDef>, base: Option<AgentDef>) -> Option<AgentDef> {
        let (Some(own), Some(base)) = (own, base) else { return own.or(base) };
        Some(AgentDef {
            kind: own.kind.or(base.kind),
            headers: own.headers.or(base.headers),
            whole_segments: own.whole_segments.or(base.whole_segments),
            tick_phase: own.tick_phase.or(base.tick_phase),
        })
    }

    /// The agent; errors start at `path`.
    pub(super) fn resolve(self, path: &str) -> Result<Agent, ScenarioError> {
        let Some(kind) = self.kind else {
            return Err(ScenarioError::new(path, "missing key `kind`").with_hint("ns2 or ns2_linux"));
        };
        let default = Agent::of(kind);
        Ok(Agent {
            kind,
            headers: self.headers.unwrap_or(default.headers),
            whole_segments: self.whole_segments.unwrap_or(default.whole_segments),
            tick_phase: self.tick_phase.unwrap_or(default.tick_phase),
        })
    }

    /// The definition of an agent, with every key.
    pub(super) fn of(agent: Agent) -> AgentDef {
        let Agent { kind, headers, whole_segments, tick_phase } = agent;
        AgentDef {
            kind: Some(kind),
            headers: Some(headers),
            whole_segments: Some(whole_segments),
            tick_phase: Some(tick_phase),
        }
    }
}

/// Refuses an agent beside a recovery that it does not have; the error's path starts at `path`.
pub(super) fn check(config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    let by_sack = matches!(config.recovery, RecoveryKind::Sack | RecoveryKind::Rack);
    let wrong = match config.agent.map(|agent| agent.kind) {
        Some(AgentKind::Ns2) if by_sack => "ns2 is for recovery tahoe, reno, newreno or vegas",
        Some(AgentKind::Ns2Linux) if config.recovery != RecoveryKind::Sack => "ns2_linux is for recovery sack",
        Some(AgentKind::Ns2Linux) if !config.timestamps => "ns2_linux needs timestamps",
        _ => return Ok(()),
    };
    Err(ScenarioError::new(join(path, "agent.kind"), wrong))
}
