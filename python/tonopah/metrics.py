"""What the numbers in the tables are: name, unit for people, definition and where it comes from.

Tables hold SI units, named in the column (`goodput_bps`, `delay_s`); people are shown Mb/s, ms and percent.
"""

from dataclasses import dataclass, replace
from math import floor, isnan, log10
from typing import Any


@dataclass(frozen=True)
class Metric:
    """How a metric is shown: `shown = value * factor` in `unit`; `definition` says what it is and cites its source."""

    label: str
    unit: str
    factor: float
    definition: str = ""
    column: str = ""
    """Its name in the tables."""

    @property
    def axis(self) -> str:
        """Label with unit, for an axis or a column."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


MBPS, MS, PERCENT, COUNT = ("Mb/s", 1e-6), ("ms", 1e3), ("%", 100.0), ("packets", 1.0)

METRICS = {
    "goodput_bps": Metric(
        "Goodput", *MBPS, "New in-order payload handed to the application, per second of the window (RFC 2647 §3.17)"
    ),
    "goodput_per_node_bps": Metric(
        "Goodput per node", "kb/s", 1e-3, "Goodput of all flows / number of nodes, those that send nothing included"
    ),
    "throughput_bps": Metric(
        "Throughput", *MBPS, "All payload received by the transport, duplicates included, per second of the window"
    ),
    "offered_bps": Metric("Offered load", *MBPS, "Payload that the application writes, per second of the window"),
    "sent_packets": Metric("Packets sent", *COUNT, "Data packets handed to the network, retransmissions included"),
    "received_packets": Metric("Packets received", *COUNT, "Data packets that reached their destination"),
    "dropped_packets": Metric("Packets dropped", *COUNT, "Data packets dropped by queues or lost by links"),
    "drops.queue": Metric("Dropped: queue full", *COUNT, "Data packets that a full queue dropped"),
    "drops.loss": Metric("Dropped: lost", *COUNT, "Data packets that the medium lost"),
    "drops.link_down": Metric("Dropped: link down", *COUNT, "Data packets dropped because the link was down"),
    "drops.no_route": Metric("Dropped: no route", *COUNT, "Data packets dropped because no route led to their destination"),
    "drops.aqm": Metric(
        "Dropped: AQM", *COUNT, "Data packets that the queue's discipline dropped to keep the queue short (RFC 7567)"
    ),
    "drops.retry": Metric(
        "Dropped: given up", *COUNT, "Data packets that a station gave up after its last attempt (IEEE 802.11 §10.3.4.3)"
    ),
    "drops.expired": Metric("Dropped: waited too long", *COUNT, "Data packets that a station dropped for their age in its queue"),
    "drops.ttl": Metric("Dropped: time to live", *COUNT, "Data packets that had passed too many nodes (RFC 791)"),
    "drops.route_wait": Metric(
        "Dropped: no route in time", *COUNT, "Data packets that waited for a route: too long, or too many"
    ),
    "drops.arp": Metric("Dropped: no address", *COUNT, "Data packets that waited for the address of the next station"),
    "drops.reassociation": Metric(
        "Dropped: station gone", *COUNT, "Data packets that waited at an access point for a station that has joined another"
    ),
    "drops.access": Metric(
        "Dropped: medium busy", *COUNT, "Data packets whose station found the medium busy each time (IEEE 802.15.4-2011 §5.1.1.4)"
    ),
    "drops.too_long": Metric(
        "Dropped: too long", *COUNT, "Data packets that fit neither a frame of 127 B nor the 1280 B of 6LoWPAN (RFC 4944 §4)"
    ),
    "drops.reassembly": Metric(
        "Dropped: fragments missing", *COUNT, "Data packets of which some fragment did not come in 60 s (RFC 4944 §5.3)"
    ),
    "marked_packets": Metric(
        "Packets marked", *COUNT, "Data packets that a queue marked CE (congestion experienced) instead of dropping (RFC 3168)"
    ),
    "reordered_packets": Metric(
        "Packets reordered", *COUNT, "Data packets that the network delivered after one that was sent later (RFC 4737)"
    ),
    "retransmitted_packets": Metric("Retransmissions", *COUNT, "Data packets sent again"),
    "delivery_ratio": Metric(
        "Delivery ratio", *PERCENT, "Data packets received / sent; packets under way at the end count as sent"
    ),
    "loss_ratio": Metric("Loss ratio", *PERCENT, "Data packets dropped or lost / sent"),
    "segment_delivery_ratio": Metric("Segment delivery ratio", *PERCENT, "Distinct segments delivered / distinct segments sent"),
    "delay_s": Metric(
        "Delay", *MS, "Mean one-way delay of data packets, from the last transmission by TCP to reception (RFC 7679)"
    ),
    "delay_p95_s": Metric("Delay, 95th percentile", *MS, "95th percentile of the one-way delay of data packets (RFC 7679 §5)"),
    "delay_p99_s": Metric("Delay, 99th percentile", *MS, "99th percentile of the one-way delay of data packets (RFC 7679 §5)"),
    "app_delay_s": Metric("Application delay", *MS, "Mean time from the application's write to the in-order read"),
    "app_delay_p95_s": Metric(
        "Application delay, 95th percentile", *MS, "95th percentile of the time from write to in-order read"
    ),
    "jitter_s": Metric("Jitter", *MS, "Mean absolute difference of the delays of consecutive packets (RFC 3393)"),
    "jitter_rfc3550_s": Metric(
        "Jitter (RFC 3550)", *MS, "Smoothed difference of transit times, J += (|D| - J)/16 (RFC 3550 §6.4.1)"
    ),
    "srtt_s": Metric("Smoothed RTT", *MS, "SRTT at the end of the run (RFC 6298)"),
    "min_rtt_s": Metric("Minimum RTT", *MS, "Smallest RTT sample"),
    "cwnd_mean_bytes": Metric("Mean congestion window", "kB", 1e-3, "Time average of cwnd (RFC 5681)"),
    "completion_s": Metric("Completion time", "s", 1.0, "Start of the flow to its last byte delivered"),
    "jain": Metric("Jain's fairness index", "", 1.0, "(sum x)² / (n · sum x²) of the flows' goodputs (Jain, Chiu, Hawe 1984)"),
    "utilisation_max": Metric("Busiest link", *PERCENT, "Largest share of the window that a link is transmitting"),
    "flows_without_delivery": Metric("Flows without delivery", "flows", 1.0, "Flows that delivered no byte"),
    "hops": Metric("Hops at the start", "", 1.0, "Steps of the shortest path at the start; undefined without a path"),
    "path_share": Metric("Time with a path", *PERCENT, "Share of the instants, one a second, at which the flow had a path"),
    "components": Metric("Components", "", 1.0, "Sets of nodes that reach one another at the start; 1 is connected"),
    "largest_component": Metric("Largest component", "nodes", 1.0, "Nodes of the largest set that reach one another"),
    "mean_degree": Metric("Mean degree", "", 1.0, "Neighbours of a node at the start, on average"),
    "flows_without_path": Metric("Flows without a path", "flows", 1.0, "Flows whose ends could reach one another at no instant"),
    "placement_draws": Metric("Placements drawn", "", 1.0, "Until one was connected; the acceptance rate is 1 / its mean"),
    "goodput_reachable_bps": Metric("Goodput with a path", *MBPS, "Mean goodput of the flows that had a path at some instant"),
    "delivery_reachable_ratio": Metric(
        "Delivery ratio with a path", *PERCENT, "Received / sent data packets of the flows that had a path at some instant"
    ),
    "jain_reachable": Metric("Jain's index with a path", "", 1.0, "Over goodputs of the flows that had a path at some instant"),
    "rto_count": Metric("Timeouts", "", 1.0, "Retransmission timeouts (RFC 6298)"),
    "recovery_count": Metric("Recovery episodes", "", 1.0, "Loss-recovery episodes begun by duplicate ACKs or SACK (RFC 5681)"),
    "mac_data_frames": Metric("Data frames", "frames", 1.0, "Frames sent that carry something, each attempt counted"),
    "mac_control_frames": Metric("Control frames", "frames", 1.0, "RTS, CTS and ACK sent"),
    "mac_failures": Metric("Attempts without answer", "frames", 1.0, "RTS and data frames sent for which no CTS or ACK came"),
    "mac_given_up": Metric("Frames given up", "frames", 1.0, "Frames given up after the last attempt, data packets and others"),
    "message_count": Metric(
        "Messages", "messages", 1.0, "Messages of routing, address resolution and access points sent, repetitions included"
    ),
    "message_bytes": Metric(
        "Bytes of messages", "kB", 1e-3, "Their bytes at the network layer, IP header included, MAC header not"
    ),
    "reassociations": Metric(
        "Reassociations",
        "",
        1.0,
        "Stations that joined an access point after they had lost one (IEEE 802.11 §11.3), over the whole run",
    ),
    "mac_access_failures": Metric(
        "Access failures", "frames", 1.0, "Frames given up because the medium was always busy (IEEE 802.15.4-2011 §5.1.1.4)"
    ),
    "mac_too_long": Metric("Too long", "", 1.0, "Packets and messages that did not fit into frames of 802.15.4"),
    "reassembly_timeouts": Metric(
        "Reassembly time-outs", "", 1.0, "Datagrams of which fragments were missing for 60 s (RFC 4944 §5.3)"
    ),
    "airtime_s": Metric("Airtime", "s", 1.0, "Time that stations were sending, the sum over all of them"),
    "energy_j": Metric("Energy", "J", 1.0, "Energy that all radios consumed in the window: power times the time in each state"),
    "energy_power_w": Metric("Power of all radios", "J/s", 1.0, "Energy that all radios consumed / length of the window"),
    "energy_comm_j": Metric(
        "Energy of communication", "J", 1.0, "The part of the energy for sending and receiving, idle left out"
    ),
    "energy_per_packet_j": Metric(
        "Energy per packet", "J", 1.0, "Energy of all radios / data packets received; not measured if none was"
    ),
    "energy_per_byte_j": Metric(
        "Energy per byte", "µJ", 1e6, "Energy of all radios / payload bytes received; not measured if none was"
    ),
    "nodes_without_energy": Metric("Nodes without energy", "nodes", 1.0, "Nodes whose energy ran out before the end"),
    "cwnd": Metric("Congestion window", "kB", 1e-3, "cwnd (RFC 5681)"),
    "ssthresh": Metric("Slow-start threshold", "kB", 1e-3, "ssthresh (RFC 5681)"),
    "send_window": Metric("Send window", "kB", 1e-3, "What the sender may have outstanding now"),
    "srtt": Metric("Smoothed RTT", *MS, "SRTT (RFC 6298)"),
    "queue": Metric("Queue", "kB", 1e-3, "Bytes in the queue of a link"),
    "throughput": Metric("Throughput", *MBPS, "Payload received per bin"),
    "path_delay": Metric("Path delay", *MS, "Propagation delay of the route from source to sink"),
    "route_hops": Metric("Hops of the route", "", 1.0, "Steps of the way that a packet from source to sink would take now"),
    "state": Metric("State of recovery", "", 1.0, "0 open, 1 disorder, 2 window reduced, 3 recovery, 4 loss"),
    "retransmits": Metric("Retransmissions so far", *COUNT, "Segments sent again so far"),
    "pipe": Metric("Pipe", "kB", 1e-3, "Bytes estimated to be in the network (RFC 6675)"),
    "rto": Metric("Retransmission time-out", *MS, "RTO in force (RFC 6298)"),
    "acked": Metric("Acknowledged", "kB", 1e-3, "Payload acknowledged so far"),
    "energy": Metric("Energy consumed", "J", 1.0, "Energy that a node's radio consumed since the run began"),
    "position_x": Metric("x", "m", 1.0, "Position of a node along x"),
    "position_y": Metric("y", "m", 1.0, "Position of a node along y"),
    "position_z": Metric("z", "m", 1.0, "Position of a node along z"),
}

STUDENT = {
    "ns2_awk": "as the ns-2 scripts of the reports compute it from a trace (transport level)",
    "flowmonitor": "as ns-3's FlowMonitor computes it: IP level, headers included, the direction of the data",
    "netsim": "as NetSim computes it: application level, from generation to delivery",
}

SUFFIXES = {"_bps": MBPS, "_s": MS, "_ratio": PERCENT, "_packets": COUNT, "_bytes": ("kB", 1e-3)}


def metric(name: str) -> Metric:
    """Return how to show the metric `name`; unknown names are shown by the unit in their ending."""
    if name in METRICS:
        return replace(METRICS[name], column=name)
    profile, _, rest = name.partition(".")
    if rest and profile in STUDENT:
        known = metric(rest)
        return Metric(f"{known.label} [{profile}]", known.unit, known.factor, f"{known.label} {STUDENT[profile]}", name)
    for suffix, (unit, factor) in SUFFIXES.items():
        if name.endswith(suffix):
            return Metric(readable(name.removesuffix(suffix)), unit, factor, "", name)
    return Metric(readable(name), "", 1.0, "", name)


def readable(name: str) -> str:
    """Return a column name as words."""
    words = name.replace(".", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def show(value: float | None, digits: int = 4) -> str:
    """Return a number for people: `digits` significant digits, thousands apart; a dash for what was not measured."""
    if value is None or isnan(value):
        return "–"
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    if abs(value) < 1e-4:
        return f"{value:.{digits - 1}g}"
    return f"{value:.{max(0, digits - 1 - floor(log10(abs(value))))}f}"


def parameter(value: float | bool | str | None) -> str:
    """Return the value of an algorithm's parameter for people."""
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value).lower()


def parameter_range(entry: dict[str, Any]) -> str:
    """Return the range of an algorithm's parameter for people; a flag has none."""
    low, high = parameter(entry["min"]), parameter(entry["max"])
    return f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}" if high else ""
