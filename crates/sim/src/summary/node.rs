//! The summaries of nodes: packets, and transmissions and energy of their radios.

use serde::Serialize;
use tcp::units::{Span, Time};

use crate::ids::{NodeId, StationId};
use crate::metrics::IntervalMetrics;
use crate::metrics::ratio;
use crate::network::Network;
use crate::radio::energy::{Consumed, EnergyMeter};
use crate::scenario::NodeDef;
use crate::wireless::WirelessSubnet;
use crate::world::World;

/// A node.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NodeSummary {
    /// Its name.
    pub node: String,
    /// Packets its transports sent, over the whole run.
    pub sent_packets: u64,
    /// Packets it received as their destination.
    pub received_packets: u64,
    /// Packets it forwarded.
    pub forwarded_packets: u64,
    /// Packets for which it had no route.
    pub dropped_packets: u64,
    /// Most bytes that the queues of its ports held together, a packet that came included, over the whole run; absent, as the next
    /// one, where they share no memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer_max_bytes: Option<u64>,
    /// Packets for which that memory had no room; `drops.queue` of the links from here has them by port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer_drops: Option<u64>,
    /// Energy that its radio consumed in the measurement interval; absent, as all energy, if that is not modelled.
    pub energy_j: Option<f64>,
    /// Energy for transmission.
    pub energy_tx_j: Option<f64>,
    /// Energy for reception.
    pub energy_rx_j: Option<f64>,
    /// Energy for neither.
    pub energy_idle_j: Option<f64>,
    /// Time in which its radio transmitted, in the measurement interval; absent, as the next one, without a radio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub airtime_s: Option<f64>,
    /// Time in which others transmitted frames addressed to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub airtime_addressed_s: Option<f64>,
    /// Time at which its energy ran out, if it did.
    pub energy_out_s: Option<f64>,
    /// Time since which its MAC waited for ever at the end, if it did: only one that `lrwpan.mac` names does.
    pub mac_stalled_s: Option<f64>,
}

/// Frames and messages that all radios transmitted in the measurement interval; absent without radios.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct NetworkRadio {
    /// Frames that carry something, each attempt counted.
    pub mac_data_frames: Option<u64>,
    /// RTS, CTS and ACK.
    pub mac_control_frames: Option<u64>,
    /// Attempts, of RTS or of data, without a response.
    pub mac_failures: Option<u64>,
    /// Of these, those that met a frame of a station which the transmitter senses.
    pub mac_collisions: Option<u64>,
    /// Those that met a frame of a station which the transmitter does not sense.
    pub mac_hidden: Option<u64>,
    /// Those whose receiver transmitted, or was in another exchange. The rest was too weak, or in error.
    pub mac_receiver_busy: Option<u64>,
    /// Frames dropped at the retry limit.
    pub mac_given_up: Option<u64>,
    /// Messages of routing, address resolution and access points, retransmissions included.
    pub message_count: Option<u64>,
    /// Their bytes at the network layer.
    pub message_bytes: Option<u64>,
    /// Stations that joined an access point after they had lost one, over the whole run; absent without access points.
    pub reassociations: Option<u64>,
    /// Frames dropped by channel access failure; of 802.15.4, as the next two.
    pub mac_access_failures: Option<u64>,
    /// Packets and messages that did not fit into frames.
    pub mac_too_long: Option<u64>,
    /// Datagrams whose reassembly timed out after 60 s.
    pub reassembly_timeouts: Option<u64>,
    /// Airtime, the sum over all stations.
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
            add(&mut sum.mac_collisions, counts.collisions);
            add(&mut sum.mac_hidden, counts.hidden);
            add(&mut sum.mac_receiver_busy, counts.receiver_busy);
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

/// Energy of all radios in the measurement interval; absent if it is not modelled.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct NetworkEnergy {
    /// Consumed.
    pub energy_j: Option<f64>,
    /// Energy for transmission and reception, without idle time.
    pub energy_comm_j: Option<f64>,
    /// Energy per data packet received; absent if there is none.
    pub energy_per_packet_j: Option<f64>,
    /// Energy per byte of payload received; absent if there is none.
    pub energy_per_byte_j: Option<f64>,
    /// Nodes whose energy ran out.
    pub nodes_without_energy: Option<u64>,
}

impl NetworkEnergy {
    pub(super) fn of(nodes: &[NodeSummary], all: &IntervalMetrics) -> NetworkEnergy {
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

/// Summarizes the nodes, with the energy of their radios.
pub(super) fn nodes(world: &mut World, now: Time) -> Vec<NodeSummary> {
    // Of the satellites of a constellation only those that handled a packet.
    let used: Vec<bool> =
        world.network.nodes.iter().map(|node| world.constellation.is_none() || node.handled() > 0).collect();
    let summary = |(index, def): (usize, &NodeDef)| {
        let metrics = world.network.nodes[index];
        let memory = world.network.shared_buffers.as_ref().and_then(|memories| memories.of(NodeId(index as u32)));
        let memory = memory.map(|memory| (memory.max.0, memory.refused));
        let stalled_at = world.network.stalled_at(NodeId(index as u32));
        let radio = world.network.radio_counters(NodeId(index as u32));
        let meter = world.network.meter(NodeId(index as u32), now);
        let energy = meter.map(EnergyMeter::consumed);
        NodeSummary {
            node: def.name.clone(),
            sent_packets: metrics.sent,
            received_packets: metrics.received,
            forwarded_packets: metrics.forwarded,
            dropped_packets: metrics.no_route,
            shared_buffer_max_bytes: memory.map(|(max, _)| max),
            shared_buffer_drops: memory.map(|(_, refused)| refused),
            energy_j: energy.map(Consumed::total),
            energy_tx_j: energy.map(|energy| energy.tx),
            energy_rx_j: energy.map(|energy| energy.rx),
            energy_idle_j: energy.map(|energy| energy.idle),
            airtime_s: radio.map(|counts| counts.airtime.as_secs_f64()),
            airtime_addressed_s: radio.map(|counts| counts.addressed_airtime.as_secs_f64()),
            mac_stalled_s: stalled_at.map(Time::as_secs_f64),
            energy_out_s: meter.and_then(EnergyMeter::empty_at).map(Time::as_secs_f64),
        }
    };
    world.graph.node.iter().enumerate().filter(|(index, _)| used[*index]).map(summary).collect()
}
