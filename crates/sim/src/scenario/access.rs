//! The part of the schema that describes networks of access lines.

use super::link::LinkOptions;
use super::paths::PathRouting;
use super::queue::Queue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Servers behind one core, and homes with a line of their own each.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// Groups of homes with the same kind of line.
    pub lines: Vec<AccessLine>,
    /// Servers.
    pub servers: u64,
    /// Flows to generate from `traffic`, downloads; flow i goes from server i to host i, modulo their numbers.
    pub flows: u64,
    /// Links of the servers. Default: 10 Gbps, 0.1 ms, queue of 1000 packets.
    pub server: LinkOptions,
    /// Links from the core to the providers' ends of the lines. Default: 10 Gbps, 5 ms, queue of 1000 packets.
    pub core: LinkOptions,
    /// Links of the hosts of a home. Default: 1 Gbps, 0.1 ms, queue of 1000 packets.
    pub lan: LinkOptions,
    /// Which path a packet takes. Default: `single`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Default for Access {
    fn default() -> Access {
        Access {
            lines: vec![AccessLine::default()],
            servers: 4,
            flows: 0,
            server: LinkOptions::default(),
            core: LinkOptions::default(),
            lan: LinkOptions::default(),
            routing: None,
        }
    }
}

/// Homes with the same kind of line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccessLine {
    /// The line.
    pub preset: String,
    /// Homes.
    pub homes: u64,
    /// Hosts of each home.
    pub hosts: u64,
    /// What differs from the preset.
    pub link: LinkOptions,
}

impl Default for AccessLine {
    fn default() -> AccessLine {
        AccessLine { preset: "cable".into(), homes: 1, hosts: 1, link: LinkOptions::default() }
    }
}

/// One home.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Home {
    /// The line.
    pub preset: String,
    /// What differs from the preset.
    pub link: LinkOptions,
    /// Hosts.
    pub hosts: u64,
    /// Servers.
    pub servers: u64,
    /// Flows to generate from `traffic`, downloads; flow i goes from server i to host i, modulo their numbers.
    pub flows: u64,
    /// A shaper between line and gateway. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaper: Option<Shaper>,
    /// Links of the servers. Default: 10 Gbps, 0.1 ms, queue of 1000 packets.
    pub server: LinkOptions,
    /// Link from the core to the provider's end of the line. Default: 10 Gbps, 5 ms, queue of 1000 packets.
    pub core: LinkOptions,
    /// Links of the hosts. Default: 1 Gbps, 0.1 ms, queue of 1000 packets.
    pub lan: LinkOptions,
    /// Which path a packet takes. Default: `single`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Default for Home {
    fn default() -> Home {
        let Access { server, core, lan, .. } = Access::default();
        let AccessLine { preset, link, .. } = AccessLine::default();
        Home { preset, link, hosts: 4, servers: 1, flows: 0, shaper: None, server, core, lan, routing: None }
    }
}

/// A shaper that takes the queue from the line: CAKE in both directions at less than the line's rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Shaper {
    /// Its rate downstream as a part of the line's, above 0 and up to 1. It acts behind the line, on what has arrived (`ingress`
    /// of CAKE).
    pub down: f64,
    /// Its rate upstream as a part of the line's.
    pub up: f64,
    /// CAKE with its settings but the rate. Default: all of its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
}

impl Default for Shaper {
    fn default() -> Shaper {
        Shaper { down: 0.9, up: 0.9, queue: None }
    }
}

/// A client with several lines, and servers behind the node where they meet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Multihomed {
    /// Its lines, each a link with a preset or with values of its own; forward is towards the client.
    pub paths: Vec<LinkOptions>,
    /// Servers.
    pub servers: u64,
    /// Flows to generate from `traffic`, downloads; flow i comes from server i, modulo their number.
    pub flows: u64,
    /// Links of the servers. Default: 10 Gbps, 5 ms, queue of 1000 packets.
    pub server: LinkOptions,
    /// Which path a packet takes; `pins` bring a flow onto a line. Default: `single`, over the first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Default for Multihomed {
    fn default() -> Multihomed {
        let path = |preset: &str| LinkOptions { preset: Some(preset.into()), ..LinkOptions::default() };
        let paths = vec![path("wifi"), path("lte")];
        Multihomed { paths, servers: 1, flows: 0, server: LinkOptions::default(), routing: None }
    }
}
