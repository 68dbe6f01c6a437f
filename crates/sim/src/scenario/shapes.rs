//! The part of the schema that describes wired networks of several bottlenecks or several paths.

use super::link::{LinkDef, LinkOptions};
use super::paths::PathRouting;
use super::shared_buffer::SharedBufferDef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Routers in a row: long flows pass all links between them, cross flows one each.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ParkingLot {
    /// Links between routers, each a bottleneck.
    pub hops: u64,
    /// Pairs of hosts at the two ends of the row.
    pub long: u64,
    /// Pairs of hosts at each link between routers, one host on either side of it.
    pub cross: u64,
    /// Flows to generate from `traffic`; flow i goes from source to destination of pair i, the long ones first, modulo the pairs.
    /// Default: one for each pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// Links of the hosts. Default: 1 Gbps, 1 ms, queue of 1000 packets.
    pub access: LinkOptions,
    /// Links between routers, forward from r0 on. Default: 10 Mbps, 10 ms, queue of 100 packets. Where hosts alone have a delay
    /// and these links none, all flows have the same RTT.
    pub link: LinkOptions,
    /// Which path a packet takes. Default: `single`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Default for ParkingLot {
    fn default() -> ParkingLot {
        let (access, link) = (LinkOptions::default(), LinkOptions::default());
        ParkingLot { hops: 3, long: 1, cross: 1, flows: None, access, link, routing: None }
    }
}

/// Leaf switches with hosts, each joined to every spine switch (a Clos network of two tiers).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LeafSpine {
    /// Leaf switches.
    pub leaves: u64,
    /// Spine switches: the number of paths between two leaves.
    pub spines: u64,
    /// Hosts on each leaf.
    pub hosts: u64,
    /// Flows to generate from `traffic`; flow i goes from host i, modulo the hosts.
    pub flows: u64,
    /// Where they go.
    #[serde(skip_serializing_if = "FabricEnds::is_half")]
    pub ends: FabricEnds,
    /// Links between hosts and leaves. Default: 10 Gbps, 1 us, queue of 100 packets.
    pub host_link: LinkOptions,
    /// Links between leaves and spines. Default: 40 Gbps, 1 us, queue of 100 packets.
    pub fabric: LinkOptions,
    /// Links that differ, such as `{ from = "leaf0", to = "spine1", rate = "10Gbps" }`; with `changes` they break and come back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkDef>,
    /// Memory that the ports of its switches, each its own, share. Default: none, each queue has its own limit; with
    /// it queues that are not given have no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBufferDef>,
    /// Which path a packet takes. Default: `ecmp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Default for LeafSpine {
    fn default() -> LeafSpine {
        let (host_link, fabric) = (LinkOptions::default(), LinkOptions::default());
        let (ends, links) = (FabricEnds::Half, Vec::new());
        let (shared_buffer, routing) = (None, None);
        LeafSpine { leaves: 4, spines: 4, hosts: 16, flows: 0, ends, host_link, fabric, links, shared_buffer, routing }
    }
}

/// Three tiers of switches with k ports each (Al-Fares, Loukissas, Vahdat 2008): k pods of k/2 edge and k/2 aggregation switches,
/// (k/2)² core switches, k³/4 hosts, (k/2)² paths between two pods.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FatTree {
    /// Ports of a switch: even, 2 to 160; 160 are 1,024,000 hosts.
    pub k: u64,
    /// Flows to generate from `traffic`; flow i goes from host i, modulo the hosts.
    pub flows: u64,
    /// Where they go.
    #[serde(skip_serializing_if = "FabricEnds::is_half")]
    pub ends: FabricEnds,
    /// All links. Default: 10 Gbps, 1 us, queue of 100 packets.
    pub link: LinkOptions,
    /// Links that differ, such as `{ from = "agg0_0", to = "core1", rate = "1Gbps" }`; with `changes` they break and come back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkDef>,
    /// Memory that the ports of its switches, each its own, share. Default: none, each queue has its own limit; with
    /// it queues that are not given have no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBufferDef>,
    /// Which path a packet takes. Default: `ecmp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Default for FatTree {
    fn default() -> FatTree {
        let (ends, links) = (FabricEnds::Half, Vec::new());
        FatTree { k: 4, flows: 0, ends, link: LinkOptions::default(), links, shared_buffer: None, routing: None }
    }
}

/// Where the generated flows of a data centre go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FabricEnds {
    /// To the host half of all hosts further on, modulo the hosts.
    #[default]
    Half,
    /// To another host at random, so that of as many flows as hosts each receives one (permutation traffic); the next as many have
    /// another permutation.
    Permutation,
}

impl FabricEnds {
    fn is_half(&self) -> bool {
        *self == FabricEnds::Half
    }
}
