//! What the radios did and consumed.

use serde::Serialize;
use tcp::units::{Span, Time};

use super::NodeSummary;
use crate::ids::{NodeId, StationId};
use crate::metrics::FlowWindow;
use crate::metrics::report_defs::ratio;
use crate::network::Network;
use crate::radio::energy::{Consumed, EnergyMeter};
use crate::scenario::NodeDef;
use crate::simulation::Simulation;
use crate::wireless::WirelessSubnet;

/// What all radios sent in the measured part; absent without radios.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct NetworkRadio {
    /// Frames that carry something, each attempt counted.
    pub mac_data_frames: Option<u64>,
    /// RTS, CTS and ACK.
    pub mac_control_frames: Option<u64>,
    /// Attempts, of RTS or of data, that nobody answered.
    pub mac_failures: Option<u64>,
    /// Frames given up after the last attempt.
    pub mac_given_up: Option<u64>,
    /// Messages of routing, address resolution and access points, repetitions included.
    pub message_count: Option<u64>,
    /// Their bytes at the network layer.
    pub message_bytes: Option<u64>,
    /// Stations that joined an access point after they had lost one, over the whole run; absent without access points.
    pub reassociations: Option<u64>,
    /// Frames given up because the medium was busy at every assessment; of 802.15.4, as the next two.
    pub mac_access_failures: Option<u64>,
    /// Packets and messages that did not fit into frames.
    pub mac_too_long: Option<u64>,
    /// Datagrams of which fragments were missing for 60 s.
    pub reassembly_timeouts: Option<u64>,
    /// Time on the air, the sum over all stations.
    pub airtime_s: Option<f64>,
}

impl NetworkRadio {
    pub(super) fn of(network: &Network) -> NetworkRadio {
        let stations = |channel: &WirelessSubnet| 0..channel.nodes.len() as u32;
        let all = network.channels.iter().flat_map(|channel| {
            let counts = |station| (channel.mac.is_lrwpan(), channel.mac.counters(StationId(station)));
            stations(channel).map(counts).collect::<Vec<_>>()
        });
        let mut sum = NetworkRadio::default();
        let mut airtime = None;
        for (is_lrwpan, counts) in all {
            let add = |sum: &mut Option<u64>, count| *sum = Some(sum.unwrap_or(0) + count);
            add(&mut sum.mac_data_frames, counts.data_frames);
            add(&mut sum.mac_control_frames, counts.control_frames);
            add(&mut sum.mac_failures, counts.failures);
            add(&mut sum.mac_given_up, counts.given_up);
            add(&mut sum.message_count, counts.messages);
            add(&mut sum.message_bytes, counts.message_bytes.0);
            if is_lrwpan {
                add(&mut sum.mac_access_failures, counts.access_failures);
                add(&mut sum.mac_too_long, counts.too_long);
                add(&mut sum.reassembly_timeouts, counts.reassembly_timeouts);
            }
            airtime = Some(airtime.unwrap_or(Span::ZERO) + counts.airtime);
        }
        let reassociations =
            network.channels.iter().filter_map(WirelessSubnet::reassociations).reduce(|sum, count| sum + count);
        NetworkRadio { airtime_s: airtime.map(Span::as_secs_f64), reassociations, ..sum }
    }
}

/// Energy of all radios in the measured part; absent if it is not modelled.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct NetworkEnergy {
    /// Consumed.
    pub energy_j: Option<f64>,
    /// The part for sending and receiving, idle time left out.
    pub energy_comm_j: Option<f64>,
    /// Consumed by data packet received; absent if none was.
    pub energy_per_packet_j: Option<f64>,
    /// Consumed by byte of payload received; absent if none was.
    pub energy_per_byte_j: Option<f64>,
    /// Nodes whose energy ran out.
    pub nodes_without_energy: Option<u64>,
}

impl NetworkEnergy {
    pub(super) fn of(nodes: &[NodeSummary], all: &FlowWindow) -> NetworkEnergy {
        let sum =
            |part: fn(&NodeSummary) -> Option<f64>| nodes.iter().filter_map(part).reduce(|sum, joules| sum + joules);
        let total = sum(|node| node.energy_j);
        let out = nodes.iter().filter(|node| node.energy_out_s.is_some()).count() as u64;
        NetworkEnergy {
            energy_j: total,
            energy_comm_j: sum(|node| node.energy_tx_j.zip(node.energy_rx_j).map(|(tx, rx)| tx + rx)),
            energy_per_packet_j: total.and_then(|joules| ratio(joules, all.received as f64)),
            energy_per_byte_j: total.and_then(|joules| ratio(joules, all.received_bytes.as_f64())),
            nodes_without_energy: total.map(|_| out),
        }
    }
}

/// The nodes, with what their radios consumed.
pub(super) fn nodes(run: &mut Simulation, now: Time) -> Vec<NodeSummary> {
    // Of a constellation's satellites, those that had something to do.
    let used: Vec<bool> = run.network.nodes.iter().map(|node| run.sky.is_none() || node.handled() > 0).collect();
    let summary = |(index, def): (usize, &NodeDef)| {
        let metrics = run.network.nodes[index];
        let meter = run.network.meter(NodeId(index as u32), now);
        let energy = meter.map(EnergyMeter::consumed);
        NodeSummary {
            node: def.name.clone(),
            sent_packets: metrics.sent,
            received_packets: metrics.received,
            forwarded_packets: metrics.forwarded,
            dropped_packets: metrics.no_route,
            energy_j: energy.map(Consumed::total),
            energy_tx_j: energy.map(|energy| energy.tx),
            energy_rx_j: energy.map(|energy| energy.rx),
            energy_idle_j: energy.map(|energy| energy.idle),
            energy_out_s: meter.and_then(EnergyMeter::empty_at).map(Time::as_secs_f64),
        }
    };
    run.graph.node.iter().enumerate().filter(|(index, _)| used[*index]).map(summary).collect()
}
