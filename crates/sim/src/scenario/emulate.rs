//! The part of the schema that says what a scenario cannot say of simulated hosts: real ones, for `tonopah emulate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hosts that real programs run on (docs/kernel.md). A simulation reads nothing of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EmulateDef {
    /// The host that the command runs on. Default: the first whose name begins with `left`, else the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_on: Option<String>,
    /// Nodes that programs can use, each a network namespace; at most 64. Default: every node with one link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// IPv4 network that the hosts have addresses in: the first gets `.0.1` of it.
    pub network: String,
    /// IPv6 network, likewise.
    pub network6: String,
    /// MTU of the hosts, 1280 to 65535 bytes.
    pub mtu: u32,
    /// Segmentation is left to the network: segments of up to 64 kB, each one packet to every queue. Default: packets of the MTU.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub offload: bool,
    /// Commands that run on hosts while the emulation lasts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub server: Vec<ServerDef>,
}

/// A command beside the one that is emulated, such as a server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerDef {
    /// The host that it runs on.
    pub host: String,
    /// The command, for `/bin/sh`.
    pub command: String,
}

impl Default for EmulateDef {
    fn default() -> EmulateDef {
        EmulateDef {
            run_on: None,
            hosts: Vec::new(),
            network: "10.77.0.0/16".to_owned(),
            network6: "fd77::/64".to_owned(),
            mtu: 1500,
            offload: false,
            server: Vec::new(),
        }
    }
}
