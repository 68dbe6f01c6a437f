"""The numbers of a script from what it sees of its runs: which flows, which length, which metric."""

import math
from bisect import bisect
from collections.abc import Sequence

import numpy as np

from tonopah._core import parse_quantity
from tonopah.authors import metrics_ns2, metrics_ns3, worlds_000, worlds_002
from tonopah.authors.packets import Frame, Numbers, Packet, Seen, as_in_ns2, attempts, frames

TRAFFIC_S = 19.0
"""From the first write of author 000's wired network to the end of the run."""


def length_s(seen: Seen) -> float:
    """Return the length of a run."""
    return parse_quantity(str(seen.scenario["duration"]), "duration")


def wired_000(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers and those of all flows."""
    lines = as_in_ns2(runs[0].lines)
    first = metrics_ns2.first_flows([(flow["from"], flow["to"]) for flow in runs[0].scenario["flow"]])
    return metrics_ns2.author_000_wired(lines, first) | metrics_ns2.all_flows(lines, TRAFFIC_S)


def satellite_000(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers over the flows of both runs, which share nothing."""
    apart = [
        Packet(
            line.time_s, line.event, line.flow + 100 * number, line.to_sink, line.size_bytes, line.seq, line.payload_bytes,
            line.syn, line.fin, line.ack,
        )
        for number, run in enumerate(runs) for line in run.lines
    ]  # fmt: skip
    return metrics_ns2.author_000_satellite(sorted(apart, key=lambda line: line.time_s))


def mixed_000(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers, of stations and of every hop, and those of packets from end to end."""
    seen, end_s = runs[0], length_s(runs[0])
    from_station = [flow["from"].startswith(worlds_000.STATION) for flow in seen.scenario["flow"]]
    lines = as_in_ns2(seen.places)
    ends = [line for line in lines if line.event != "transmitted"]
    return metrics_ns2.author_000_mixed(lines, from_station, end_s) | metrics_ns2.all_flows(
        ends, end_s - worlds_000.MIXED_START_S
    )


def wireless_000(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers, with the energy of the sink from its series."""
    seen = runs[0]
    sink = int(seen.scenario["flow"][0]["to"].removeprefix("n"))
    energy = {name: np.asarray(values) for name, values in seen.series["energy"].items()}
    mine = energy["id"] == sink
    t_s, joules = energy["t_s"][mine], energy["value"][mine]
    return metrics_ns2.author_000_wireless(
        as_in_ns2(seen.lines), length_s(seen), lambda at_s: float(np.interp(at_s, t_s, joules))
    )


def flowmonitor(runs: Sequence[Seen]) -> Numbers:
    """Return the pooled numbers of data and ACK flows."""
    return metrics_ns3.author_ns3(metrics_ns3.directions(runs[0].lines), length_s(runs[0]))


def flooded(runs: Sequence[Seen]) -> Numbers:
    """Return the pooled numbers over 6LoWPAN, errors of ICMPv6 taken for receptions."""
    seen = runs[0]
    ends = [(flow["from"], flow["to"]) for flow in seen.scenario["flow"]]
    lines = metrics_ns3.over_6lowpan(seen.places, ends, length_s(seen))
    return metrics_ns3.author_ns3(metrics_ns3.directions(lines), length_s(seen))


def hosts_001(runs: Sequence[Seen]) -> Numbers:
    """Return the author's sum of integer rates, and the counts of both directions."""
    flows = metrics_ns3.directions(runs[0].lines)
    pooled = metrics_ns3.author_ns3(flows, length_s(runs[0]))
    total = metrics_ns3.sum_of_integer_rates(flows)
    return {"throughput_sum_of_data_and_ack_flow": total} | {name: pooled[name] for name in ("sent", "received", "delay")}


def wifi_002(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers; energy is a mean over the nodes."""
    seen = runs[0]
    network = seen.summary["network"]
    duplicates = sum(one.duplicate and one.frame.size_bytes >= worlds_000.SEGMENT_BYTES for one in attempts(frames(seen.trace)))
    nodes = seen.scenario["network"]["nodes"]
    return metrics_ns2.author_002(seen.places, duplicates, length_s(seen), network["energy_j"], nodes)


LRWPAN_FRAME_BYTES = 53
"""A data packet of author 002 over ns-2's 802.15.4: its 1070 B in eight bits, and 7 B of MAC."""
LRWPAN_TURNAROUND_S = 192e-6


def dropped_frames(sent: Sequence[Frame]) -> int:
    """Return how many data frames of author 002 the MAC of their station drops: in error, disturbed, or there already.

    A frame that begins while its station transmits, or turns its radio to transmission, does not reach the MAC.
    """
    own: dict[str, list[Frame]] = {}
    for frame in sent:
        own.setdefault(frame.source, []).append(frame)
    starts = {source: [frame.start_s - LRWPAN_TURNAROUND_S for frame in mine] for source, mine in own.items()}

    def transmits(station: str, at_s: float) -> bool:
        index = bisect(starts.get(station, []), at_s) - 1
        return index >= 0 and at_s < own[station][index].end_s

    return sum(
        one.frame.size_bytes == LRWPAN_FRAME_BYTES and (not one.received or one.duplicate)
        and not transmits(one.frame.target, one.frame.start_s)
        for one in attempts(sent)
    )  # fmt: skip


def lrwpan_002(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers of the network whose batteries are empty after five seconds.

    The trace of ns-2 ends with the last frame, unless a packet still waits in the queue of a station that has stalled: then it
    ends with the run. A station without energy writes no line, and one that hears nothing is charged nothing.
    """
    seen, end_s = runs[0], length_s(runs[0])
    nodes = seen.summary["nodes"]
    sent = frames(seen.trace)
    last_s = max((frame.end_s for frame in sent), default=0.0)
    out_s = [math.inf if node["energy_out_s"] is None else node["energy_out_s"] for node in nodes]
    waits = any(node["mac_stalled_s"] is not None and empty_s > last_s for node, empty_s in zip(nodes, out_s, strict=True))
    source = next(i for i, node in enumerate(nodes) if node["node"] == seen.summary["flows"][0]["from"])
    writes_until_s = out_s[source] if nodes[source]["mac_stalled_s"] is None else math.inf
    spare_j = [worlds_002.IDLE_W * max(0.0, min(empty_s, end_s) - last_s) for empty_s in out_s]
    return metrics_ns2.author_002(
        [line for line in seen.places if line.time_s <= writes_until_s], dropped_frames(sent),
        end_s if waits else last_s, worlds_002.BATTERY_J * len(nodes) - sum(spare_j), len(nodes),
        metrics_ns2.LRWPAN_BYTES_002,
    ) | {"traffic_end": last_s}  # fmt: skip


def uav_004(runs: Sequence[Seen]) -> Numbers:
    """Return the author's means over the data and the ACK flow, and what its window and its losses were like."""
    seen = runs[0]
    bits = 8 * seen.summary["network"]["delivered_bytes"]
    window = seen.series["cwnd"]
    return metrics_ns3.author_004_uav(seen.lines, bits, window["t_s"], window["value"])


def fair_004(runs: Sequence[Seen]) -> Numbers:
    """Return the author's indices of both groups."""
    return metrics_ns3.author_004_fairness(metrics_ns3.directions(runs[0].lines))
