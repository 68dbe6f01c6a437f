"""The metrics of tables and figures: label, display unit, definition and source.

Tables hold SI units, named in the column (`goodput_bps`, `delay_s`); reports show Mb/s, ms and percent.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, isnan, log10
from typing import Any

from tonopah.metrics.applications import APPLICATIONS
from tonopah.metrics.kinds import declared
from tonopah.metrics.metric import COUNT, MBPS, MS, PERCENT, Group, Metric
from tonopah.metrics.radios import RADIOS
from tonopah.metrics.series import SENDERS_AND_LINKS
from tonopah.metrics.transports import TRANSPORTS
from tonopah.metrics.workloads import WORKLOADS, size_class

RTT_SAMPLES = (
    "{} of the sender's RTT samples, one for each acknowledgment: of the newest segment that it reports; segments sent twice "
    "give none, but for timestamps (RFC 6298 §3, RFC 7323 §4); percentiles are within 1 % of the value"
)
COMPLETIONS = (
    "{} of the completion times of one run's flows; those that did not complete lasted at least until its end (product-limit "
    "estimate of Kaplan and Meier, 1958): beyond `completion_known_share` it is a lower bound"
)

LIMITED = "Share of the time from the handshake or the end of the warm-up until all was acknowledged (as in tcp_info) in which"
FORWARD = "all packets from source to sink, those of the handshake included (the forward direction of RFC 5103 §2)"

METRICS = {
    "goodput_bps": Metric(
        "Goodput",
        *MBPS,
        "New in-order payload delivered to the application (RFC 2647 §3.17), per second: of a flow over its own life, from its "
        "start or the end of the warm-up to its completion, its stop or the end of the run; of all flows together over the "
        "measurement interval",
    ),
    "goodput_per_node_bps": Metric(
        "Goodput per node", "kb/s", 1e-3, "Goodput of all flows / number of nodes, including those that send nothing"
    ),
    "goodput_min_bps": Metric("Goodput of the slowest flow", *MBPS, "Smallest goodput of a flow"),
    "goodput_max_bps": Metric("Goodput of the fastest flow", *MBPS, "Largest goodput of a flow"),
    "delivered_bytes": Metric("Delivered", "kB", 1e-3, "New in-order payload delivered to the application"),
    "received_bytes": Metric("Received", "kB", 1e-3, "Payload received by the transport, including duplicates"),
    "throughput_bps": Metric(
        "Throughput", *MBPS, "Payload received by the transport, including duplicates, per second of the same time as goodput"
    ),
    "offered_bps": Metric("Offered load", *MBPS, "Payload written by the application, per second of the same time as goodput"),
    "sent_packets": Metric("Packets sent", *COUNT, "Data packets handed to the network, including retransmissions"),
    "received_packets": Metric("Packets received", *COUNT, "Data packets that reached their destination"),
    "in_flight_packets": Metric("Packets in flight", *COUNT, "Data packets that are queued or in flight at the end"),
    "ack_packets": Metric("Packets of sinks", *COUNT, "Packets that sinks handed to the network: ACKs and those of handshakes"),
    "dropped_packets": Metric("Packets dropped", *COUNT, "Data packets dropped by queues or lost by links"),
    "drops.queue": Metric("Dropped: queue full", *COUNT, "Data packets dropped by a full queue"),
    "drops.loss": Metric("Dropped: lost", *COUNT, "Data packets lost on the medium"),
    "drops.link_down": Metric("Dropped: link down", *COUNT, "Data packets dropped because the link was down"),
    "drops.no_route": Metric("Dropped: no route", *COUNT, "Data packets dropped for want of a route to their destination"),
    "drops.aqm": Metric("Dropped: AQM", *COUNT, "Data packets dropped by active queue management (RFC 7567)"),
    "drops.retry": Metric(
        "Dropped: retry limit", *COUNT, "Data packets dropped by a station after its last attempt (IEEE 802.11 §10.3.4.3)"
    ),
    "drops.expired": Metric("Dropped: lifetime", *COUNT, "Data packets that exceeded their lifetime in a station's queue"),
    "drops.ttl": Metric("Dropped: time to live", *COUNT, "Data packets whose time to live expired (RFC 791)"),
    "drops.route_wait": Metric(
        "Dropped: no route in time",
        *COUNT,
        "Data packets dropped while waiting for a route: after too long, or from a full buffer",
    ),
    "drops.arp": Metric(
        "Dropped: address resolution", *COUNT, "Data packets dropped while waiting for the address of the next hop"
    ),
    "drops.reassociation": Metric(
        "Dropped: station gone", *COUNT, "Data packets that waited at an access point for a station that has joined another"
    ),
    "drops.access": Metric(
        "Dropped: medium busy", *COUNT, "Data packets dropped after a channel access failure (IEEE 802.15.4-2011 §5.1.1.4)"
    ),
    "drops.too_long": Metric(
        "Dropped: too long", *COUNT, "Data packets larger than a frame of 127 B and than the 1280 B of 6LoWPAN (RFC 4944 §4)"
    ),
    "drops.reassembly": Metric(
        "Dropped: fragments missing", *COUNT, "Data packets of which some fragment did not arrive within 60 s (RFC 4944 §5.3)"
    ),
    "drops.ack_filter": Metric(
        "Dropped: ACK filter", *COUNT, "Pure ACKs dropped because a later one says what they say (queue kind `cake`)"
    ),
    "drops.policer": Metric(
        "Dropped: policer", *COUNT, "Data packets dropped by a policer for want of tokens (queue kind `policer`)"
    ),
    "drops.corrupt": Metric("Dropped: damaged", *COUNT, "Data packets that a link damaged and their destination dropped"),
    "forward.first_sent_s": Metric("First transmission", "s", 1.0, f"When the first packet was sent; {FORWARD}"),
    "forward.last_received_s": Metric("Last reception", "s", 1.0, f"When the last packet was received; {FORWARD}"),
    "forward.sent_packets": Metric("Packets sent, handshake included", *COUNT, f"Packets sent; {FORWARD}"),
    "forward.received_packets": Metric("Packets received, handshake included", *COUNT, f"Packets received; {FORWARD}"),
    "forward.dropped_packets": Metric("Packets dropped, handshake included", *COUNT, f"Packets dropped; {FORWARD}"),
    "forward.received_bytes": Metric("IP bytes received", "kB", 1e-3, f"Bytes of IP received, headers included; {FORWARD}"),
    "undelivered_bytes": Metric(
        "Undelivered", "kB", 1e-3, "Acknowledged by an optimistic receiver before they came, and passed over"
    ),
    "duplicated_packets": Metric("Packets duplicated", *COUNT, "Copies of data packets that links made"),
    "reordered_ratio": Metric("Reordered", *PERCENT, "Data packets reordered / received (RFC 4737 §4.1)"),
    "reorder_extent_p50": Metric(
        "Reordering extent, median", *COUNT, "Packets that arrived since the first sent later (RFC 4737 §4.2)"
    ),
    "reorder_extent_p95": Metric("Reordering extent, 95th percentile", *COUNT, "95th percentile of the reordering extent"),
    "reorder_extent_max": Metric("Reordering extent, maximum", *COUNT, "Largest reordering extent; 1024 stands for more"),
    "reorder_late_p95_s": Metric(
        "Late time, 95th percentile", *MS, "Time since the first packet sent later arrived (RFC 4737 §4.3)"
    ),
    "reorder_3_ratio": Metric("Reordered by three", *PERCENT, "Data packets after three sent later (RFC 4737 §5.4) / received"),
    "reorder_runs_mean": Metric("Runs in order", *COUNT, "Mean number of packets between two reordered ones (RFC 4737 §5.2)"),
    "marked_packets": Metric(
        "Packets marked", *COUNT, "Data packets marked CE (congestion experienced) by a queue instead of being dropped (RFC 3168)"
    ),
    "reordered_packets": Metric(
        "Packets reordered", *COUNT, "Data packets delivered after a packet that was sent later (RFC 4737)"
    ),
    "retransmitted_packets": Metric("Retransmissions", *COUNT, "Data packets retransmitted"),
    "delivery_ratio": Metric(
        "Delivery ratio", *PERCENT, "Data packets received / sent; packets in flight at the end count as sent"
    ),
    "drop_ratio": Metric("Drop ratio", *PERCENT, "Data packets dropped or lost / sent"),
    "loss_ratio": Metric("Loss ratio", *PERCENT, "Data packets dropped or lost / sent"),
    "segment_delivery_ratio": Metric("Segment delivery ratio", *PERCENT, "Distinct segments delivered / distinct segments sent"),
    "delay_s": Metric(
        "Delay", *MS, "Mean one-way delay of data packets, from the last transmission by TCP to reception (RFC 7679)"
    ),
    "delay_min_s": Metric("Minimum delay", *MS, "Smallest one-way delay of a data packet (RFC 7679 §5)"),
    "delay_added_p50_s": Metric(
        "Added delay, median", *MS, "Latency under load less idle: median of the one-way delay less its minimum (RFC 7679 §5)"
    ),
    "delay_added_p95_s": Metric(
        "Added delay, 95th percentile", *MS, "Latency under load less idle: 95th percentile of the one-way delay less its minimum"
    ),
    "delay_p50_s": Metric("Delay, median", *MS, "Median of the one-way delay of data packets (RFC 7679 §5)"),
    "delay_max_s": Metric("Maximum delay", *MS, "Largest one-way delay of a data packet (RFC 7679 §5)"),
    "delay_p95_s": Metric("Delay, 95th percentile", *MS, "95th percentile of the one-way delay of data packets (RFC 7679 §5)"),
    "delay_p99_s": Metric("Delay, 99th percentile", *MS, "99th percentile of the one-way delay of data packets (RFC 7679 §5)"),
    "app_delay_s": Metric("Application delay", *MS, "Mean time from the application's write to the in-order read"),
    "app_delay_p95_s": Metric(
        "Application delay, 95th percentile", *MS, "95th percentile of the time from write to in-order read"
    ),
    "app_jitter_s": Metric("Application jitter", *MS, "Mean absolute difference of consecutive application delays"),
    "jitter_s": Metric("Jitter", *MS, "Mean absolute difference of the delays of consecutive packets (RFC 3393)"),
    "jitter_rfc3550_s": Metric(
        "Jitter (RFC 3550)", *MS, "Smoothed difference of transit times, J += (|D| - J)/16 (RFC 3550 §6.4.1)"
    ),
    "rtt_s": Metric("RTT", *MS, RTT_SAMPLES.format("Mean")),
    "rtt_p50_s": Metric("RTT, median", *MS, RTT_SAMPLES.format("Median")),
    "rtt_p95_s": Metric("RTT, 95th percentile", *MS, RTT_SAMPLES.format("95th percentile")),
    "rtt_p99_s": Metric("RTT, 99th percentile", *MS, RTT_SAMPLES.format("99th percentile")),
    "srtt_s": Metric("Smoothed RTT", *MS, "SRTT at the end of the run (RFC 6298)"),
    "min_rtt_s": Metric("Minimum RTT", *MS, "Smallest RTT sample"),
    "cwnd_mean_bytes": Metric("Mean congestion window", "kB", 1e-3, "Time average of cwnd (RFC 5681)"),
    "lifetime_s": Metric(
        "Lifetime", "s", 1.0, "Part of the measurement interval from the start of the flow to its completion, its stop or the end"
    ),
    "completion_s": Metric(
        "Completion time",
        "s",
        1.0,
        "Start of the flow to its last byte delivered; of all flows the mean, restricted to the longest time where some did not "
        "complete",
    ),
    "completion_p50_s": Metric("Completion time, median", "s", 1.0, COMPLETIONS.format("Median")),
    "completion_p95_s": Metric("Completion time, 95th percentile", "s", 1.0, COMPLETIONS.format("95th percentile")),
    "completion_p99_s": Metric("Completion time, 99th percentile", "s", 1.0, COMPLETIONS.format("99th percentile")),
    "completion_max_s": Metric("Completion time, maximum", "s", 1.0, COMPLETIONS.format("Maximum")),
    "flows_unfinished": Metric(
        "Flows not completed",
        "flows",
        1.0,
        "Flows with an end that had not reached it when the run ended",
    ),
    "completion_known_share": Metric(
        "Known completion times",
        *PERCENT,
        "Share of the flows with an end whose completion time is known (product-limit estimate)",
    ),
    "unfinished_s": Metric("Unfinished after", "s", 1.0, "How long a flow had lasted that has an end and did not reach it"),
    "start_s": Metric("Start", "s", 1.0, "Time at which the flow starts"),
    "connected_s": Metric("Handshake", *MS, "Start of the flow to the end of its handshake (RFC 9293 §3.5)"),
    "jain": Metric(
        "Jain's fairness index",
        "",
        1.0,
        "(sum x)² / (n · sum x²) of the flows' goodputs, each over its own life, without flows that were over before the "
        "measurement interval (Jain, Chiu, Hawe 1984)",
    ),
    "jain_hosts": Metric(
        "Jain's index of hosts",
        "",
        1.0,
        "(sum x)² / (n · sum x²) of what the receiving hosts had delivered in the measurement interval, all flows to a host "
        "together; of the sending hosts where all flows have one receiver (Jain, Chiu, Hawe 1984)",
    ),
    "utilisation_max": Metric("Busiest link", *PERCENT, "Largest share of the measurement interval in which a link transmits"),
    "core_utilisation": Metric(
        "Core links", *PERCENT, "Mean utilisation of all links to and from the spines of `leaf_spine`, the cores of `fat_tree`"
    ),
    "bisection_share": Metric(
        "Bisection bandwidth",
        *PERCENT,
        "Goodput of all flows / the rate at which all hosts together can send, which a fabric of full bisection bandwidth "
        "carries (Al-Fares, Loukissas, Vahdat 2008)",
    ),
    "flows": Metric("Flows", "flows", 1.0, "Flows of the run"),
    "events": Metric("Events", "", 1.0, "Events that the simulator processed"),
    "conservation.sent": Metric("Sent", *COUNT, "Data packets sent over the whole run, its warm-up included"),
    "conservation.duplicated": Metric("Copies", *COUNT, "Copies of data packets that links made over the whole run"),
    "conservation.delivered": Metric("Delivered", *COUNT, "Data packets delivered over the whole run"),
    "conservation.dropped": Metric("Dropped", *COUNT, "Data packets dropped or lost over the whole run"),
    "conservation.in_flight": Metric("In flight", *COUNT, "Data packets queued or in flight when the run ends"),
    "flows_without_delivery": Metric("Flows without delivery", "flows", 1.0, "Flows that delivered no byte"),
    "hops": Metric("Hops at the start", "", 1.0, "Hops of the shortest path at the start; undefined without a path"),
    "path_share": Metric("Time with a path", *PERCENT, "Share of the samples, one per second, in which the flow had a path"),
    "components": Metric("Components", "", 1.0, "Sets of nodes that reach one another at the start; 1 is connected"),
    "largest_component": Metric("Largest component", "nodes", 1.0, "Nodes of the largest set that reach one another"),
    "mean_degree": Metric("Mean degree", "", 1.0, "Mean number of neighbours of a node at the start"),
    "flows_without_path": Metric("Flows without a path", "flows", 1.0, "Flows that had a path in no sample"),
    "placement_draws": Metric(
        "Placements drawn", "", 1.0, "Placements drawn until one was connected; the acceptance rate is 1 / its mean"
    ),
    "goodput_reachable_bps": Metric("Goodput with a path", *MBPS, "Mean goodput of the flows that had a path in some sample"),
    "delivery_reachable_ratio": Metric(
        "Delivery ratio with a path", *PERCENT, "Received / sent data packets of the flows that had a path in some sample"
    ),
    "jain_reachable": Metric(
        "Jain's index with a path", "", 1.0, "Jain's index of the goodputs of the flows that had a path in some sample"
    ),
    "rto_count": Metric("Timeouts", "", 1.0, "Retransmission timeouts (RFC 6298)"),
    "recovery_count": Metric("Recovery episodes", "", 1.0, "Loss-recovery episodes begun by duplicate ACKs or SACK (RFC 5681)"),
    "undone_count": Metric(
        "Reductions undone",
        "",
        1.0,
        "Reductions of cwnd undone, since nothing had been lost (RFC 3522, RFC 3708)",
    ),
    "resumed": Metric(
        "Windows resumed",
        *COUNT,
        "Ends whose window jumped to what an earlier connection had left, or to what was given (RFC 9959)",
    ),
    "jump_bytes": Metric(
        "Sent in the jump", "kB", 1e-3, "Bytes sent in a jump of the window before any of them was acknowledged"
    ),
    "retreats": Metric("Safe retreats", *COUNT, "Jumps of the window that congestion has ended (RFC 9959)"),
    "needless_retransmissions": Metric(
        "Needless retransmissions",
        *COUNT,
        "Retransmissions that reached the sink when it had all of their bytes, over the whole run",
    ),
    "app_limited_ratio": Metric(
        "Limited by the application", *PERCENT, f"{LIMITED} there was nothing more to send, or the send buffer was full"
    ),
    "cwnd_limited_ratio": Metric("Limited by cwnd", *PERCENT, f"{LIMITED} cwnd had no room for a segment"),
    "rwnd_limited_ratio": Metric(
        "Limited by the receiver", *PERCENT, f"{LIMITED} the receiver's window had no room for a segment"
    ),
    "pacing_limited_ratio": Metric("Limited by pacing", *PERCENT, f"{LIMITED} the next segment waited for its time"),
    "recovery_limited_ratio": Metric("In recovery", *PERCENT, f"{LIMITED} losses were being repaired, whatever else limited"),
}

METRICS |= RADIOS | SENDERS_AND_LINKS | APPLICATIONS | WORKLOADS | TRANSPORTS

METRICS = {name: declared(name, known) for name, known in METRICS.items()}

SUFFIXES = {
    "_bps": MBPS,
    "_s": MS,
    "_ratio": PERCENT,
    "_packets": COUNT,
    "_bytes": ("kB", 1e-3),
    "_kibps": ("kb/s of 1024 bit", 1.0),
}


GROUPS: dict[str, Group] = {}
"""Metrics that sources bring (spec/source.py), by the first word of their columns."""


def add(group: Group) -> None:
    """Make the metrics of a source known."""
    GROUPS[group.name] = group


def metric(name: str) -> Metric:
    """Return the metric `name`; the unit of an unknown one follows from the end of its name."""
    if name in METRICS:
        return replace(METRICS[name], column=name)
    profile, _, rest = name.partition(".")
    if rest and profile in GROUPS:
        return GROUPS[profile].metric(rest, metric(rest))
    if rest and profile == "workload":
        return of_workload(name, rest)
    if rest and profile == "cc":
        known = unknown(name, rest)
        return replace(known, label=f"{known.label} [algorithm]", definition="A variable of the algorithm (record.internals)")
    return unknown(name, name)


def unknown(name: str, key: str) -> Metric:
    """Return a metric of which only the end of its `key` says something: its unit."""
    for suffix, (unit, factor) in SUFFIXES.items():
        if key.endswith(suffix):
            return Metric(readable(key.removesuffix(suffix)), unit, factor, "", name)
    # Nothing is known of it: neither its unit nor its bounds.
    return Metric(readable(key), "", 1.0, "", name, (-math.inf, math.inf), "signed")


def of_workload(name: str, rest: str) -> Metric:
    """Return the metric `workload.NAME.KEY`, or `workload.NAME.class.CLASS.KEY`: what is after `workload.` is `rest`."""
    workload, _, key = rest.partition(".")
    group, found, below = key.partition(".")
    label, key = (below.rpartition(".")[0], below.rpartition(".")[2]) if found and group == "class" else ("", key)
    known = metric(key)
    where = f"{workload}, {size_class(label)}" if label else workload
    text = f"{known.definition}; flows of the workload {where}" if known.definition else ""
    return replace(known, label=f"{known.label} [{where}]", definition=text, column=name)


def readable(name: str) -> str:
    """Return a column name as words."""
    words = name.replace(".", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def show(value: float | None, digits: int = 4) -> str:
    """Format a number with `digits` significant digits and separated thousands; a dash for a missing value."""
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


def count_text(number: int, noun: str) -> str:
    """Return a number of things in words: 1 run, 2 runs, 1,102 runs."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def duration_text(seconds: float) -> str:
    """Format a duration with two significant digits."""
    value, unit = (seconds, "s") if seconds < 120 else (seconds / 60, "min") if seconds < 7200 else (seconds / 3600, "h")
    return f"{show(value, 2)} {unit}"


def parameter(value: float | bool | str | None) -> str:
    """Format the value of an algorithm's parameter."""
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value).lower()


def parameter_range(entry: dict[str, Any]) -> str:
    """Format the range of an algorithm's parameter; a flag has none."""
    low, high = parameter(entry["min"]), parameter(entry["max"])
    return f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}" if high else ""


def lower(text: str) -> str:
    """Return a label or sentence as part of another sentence: abbreviations and names keep their capitals."""
    return text if text[:2].isupper() or text.startswith("Jain") else text[:1].lower() + text[1:]


def busiest(links: Sequence[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """Return the busiest of the links of a summary, the busiest first; of equals the first."""
    return sorted(links, key=lambda link: -(link["utilisation"] or 0.0))[:most]
