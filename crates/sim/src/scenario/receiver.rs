//! The part of the schema that describes receivers which break the rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::settings::Misbehaviour;
use tcp::units::{Bytes, Span};

use super::tagged::tagged_enum;

tagged_enum! {
    /// A receiver that misleads its sender, to be served faster than others (Savage, Cardwell, Wetherall, Anderson 1999).
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum ReceiverDef ("a receiver") {
        /// Acknowledges each segment in several ACKs: a sender that counts ACKs and not bytes opens its window as often.
        "ack_division" => AckDivision(AckDivisionDef),
        /// Sends duplicates of its last ACK: a sender that takes each for a segment that has left the network sends on.
        "dupack_spoofing" => DupAckSpoofing(DupAckSpoofingDef),
        /// Acknowledges data before it arrives: its sender sees a shorter path, and no loss. What was lost never comes.
        "optimistic" => Optimistic(OptimisticDef),
    }
}

/// ACKs for parts of a segment.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckDivisionDef {
    /// ACKs for a segment, at equal steps of its bytes: 2 to 1000.
    #[serde(default = "ten")]
    pub parts: u32,
}

/// Duplicate ACKs without cause.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DupAckSpoofingDef {
    /// Duplicates at a time: 1 to 10000.
    pub copies: u32,
    /// Time from one time to the next, from the first ACK of data on until the peer has closed: at least 1 ms.
    pub every: Span,
}

/// ACKs of data on its way.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OptimisticDef {
    /// How far ACKs are ahead of what has arrived, once as much has arrived: 1B to 1GB.
    pub ahead: Bytes,
}

impl Default for OptimisticDef {
    fn default() -> OptimisticDef {
        OptimisticDef { ahead: Bytes(100_000) }
    }
}

impl Default for DupAckSpoofingDef {
    fn default() -> DupAckSpoofingDef {
        DupAckSpoofingDef { copies: 100, every: Span::from_millis(1000) }
    }
}

fn ten() -> u32 {
    10
}

impl ReceiverDef {
    /// What it does.
    pub(super) fn misbehaviour(self) -> Misbehaviour {
        match self {
            ReceiverDef::AckDivision(AckDivisionDef { parts }) => Misbehaviour::AckDivision { parts },
            ReceiverDef::DupAckSpoofing(DupAckSpoofingDef { copies, every }) => {
                Misbehaviour::DupAckSpoofing { copies, every }
            }
            ReceiverDef::Optimistic(OptimisticDef { ahead }) => Misbehaviour::Optimistic { ahead },
        }
    }

    /// The receiver that does this.
    pub(super) fn of(misbehaviour: Misbehaviour) -> ReceiverDef {
        match misbehaviour {
            Misbehaviour::AckDivision { parts } => ReceiverDef::AckDivision(AckDivisionDef { parts }),
            Misbehaviour::DupAckSpoofing { copies, every } => {
                ReceiverDef::DupAckSpoofing(DupAckSpoofingDef { copies, every })
            }
            Misbehaviour::Optimistic { ahead } => ReceiverDef::Optimistic(OptimisticDef { ahead }),
        }
    }
}
