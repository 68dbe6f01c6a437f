"""Metrics of radios: frames, channel access, routing and energy."""

from tonopah.metrics.metric import Metric

RADIOS = {
    "mac_data_frames": Metric("Data frames", "frames", 1.0, "Data frames sent, each attempt counted"),
    "mac_control_frames": Metric("Control frames", "frames", 1.0, "RTS, CTS and ACK sent"),
    "mac_failures": Metric(
        "Attempts without response", "frames", 1.0, "RTS and data frames sent for which no CTS or ACK was received"
    ),
    "mac_collisions": Metric(
        "Collisions",
        "frames",
        1.0,
        "Of the attempts without response, those that met a frame of a station which the sender senses",
    ),
    "mac_hidden": Metric("Hidden stations", "frames", 1.0, "Those that met a frame of a station which the sender does not sense"),
    "mac_receiver_busy": Metric(
        "Receiver busy",
        "frames",
        1.0,
        "Those whose receiver transmitted or was in another exchange; the rest was too weak, or in error",
    ),
    "mac_given_up": Metric("Frames given up", "frames", 1.0, "Frames discarded after the last attempt, data packets and others"),
    "message_count": Metric(
        "Messages", "messages", 1.0, "Messages of routing, address resolution and association sent, including repetitions"
    ),
    "message_bytes": Metric(
        "Bytes of messages", "kB", 1e-3, "Bytes of these messages at the network layer, with IP header, without MAC header"
    ),
    "reassociations": Metric(
        "Reassociations",
        "",
        1.0,
        "Stations that joined an access point after they had lost one (IEEE 802.11 §11.3), over the whole run",
    ),
    "mac_access_failures": Metric(
        "Access failures",
        "frames",
        1.0,
        "Frames discarded because the medium was busy at each attempt (IEEE 802.15.4-2011 §5.1.1.4)",
    ),
    "mac_too_long": Metric("Too long", "", 1.0, "Packets and messages that did not fit into frames of 802.15.4"),
    "reassembly_timeouts": Metric(
        "Reassembly timeouts", "", 1.0, "Datagrams discarded because fragments were missing after 60 s (RFC 4944 §5.3)"
    ),
    "airtime_s": Metric("Airtime", "s", 1.0, "Time spent transmitting, summed over all stations"),
    "energy_j": Metric(
        "Energy", "J", 1.0, "Energy consumed by all radios in the measurement interval: power × time in each state"
    ),
    "energy_power_w": Metric(
        "Power of all radios", "J/s", 1.0, "Energy consumed by all radios / length of the measurement interval"
    ),
    "energy_comm_j": Metric("Energy of communication", "J", 1.0, "Energy for sending and receiving, without idle"),
    "energy_per_packet_j": Metric(
        "Energy per packet", "J", 1.0, "Energy of all radios / data packets received; not measured if none was"
    ),
    "energy_per_byte_j": Metric(
        "Energy per byte", "µJ", 1e6, "Energy of all radios / payload bytes received; not measured if none was"
    ),
    "nodes_without_energy": Metric("Nodes without energy", "nodes", 1.0, "Nodes whose energy was exhausted before the end"),
}
