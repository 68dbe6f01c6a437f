//! The part of the schema that says what datagrams ask of the network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dscp::Dscp;

/// What datagrams ask of the network.
#[derive(Clone, Copy, Default, Debug)]
pub struct DatagramKeys {
    /// Their ECN field.
    pub ecn: Option<DatagramEcn>,
    /// Their code point.
    pub dscp: Option<Dscp>,
}

/// ECN field of datagrams. The application counts marks and does not answer to them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatagramEcn {
    /// Not ECN-capable.
    #[default]
    Off,
    /// ECT(0): a queue may mark instead of dropping.
    Ect0,
    /// ECT(1): low latency, low loss, scalable throughput (RFC 9331); `ect1` is the same.
    #[serde(alias = "ect1")]
    L4s,
}
