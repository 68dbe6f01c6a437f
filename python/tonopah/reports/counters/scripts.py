"""The numbers of a script from what it sees of its runs: which flows, which length, which metric."""

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tonopah._core import parse_quantity
from tonopah.reports.counters import ns2, ns3
from tonopah.reports.counters.packets import Frame, Numbers, Packet, Seen, as_in_ns2, attempts, frames
from tonopah.reports.worlds.ewphcc import MIXED_START_S, SEGMENT_BYTES, STATION
from tonopah.reports.worlds.hystart import BATTERY_J, IDLE_W

TRAFFIC_S = 19.0
"""From the first write of the EWPHCC report's wired network to the end of the run."""


def length_s(seen: Seen) -> float:
    """Return the length of a run."""
    return parse_quantity(str(seen.scenario["duration"]), "duration")


def ewphcc_wired(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers and those of all flows."""
    lines = as_in_ns2(runs[0].lines)
    first = ns2.first_flows([(flow["from"], flow["to"]) for flow in runs[0].scenario["flow"]])
    return ns2.ewphcc_wired(lines, first) | ns2.all_flows(lines, TRAFFIC_S)


def ewphcc_satellite(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers over the flows of both runs, which share nothing."""
    apart = [
        Packet(
            line.time_s, line.event, line.flow + 100 * number, line.to_sink, line.size_bytes, line.seq, line.payload_bytes,
            line.syn, line.fin, line.ack,
        )
        for number, run in enumerate(runs) for line in run.lines
    ]  # fmt: skip
    return ns2.ewphcc_satellite(sorted(apart, key=lambda line: line.time_s))


def ewphcc_mixed(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers, of stations and of every hop, and those of packets from end to end."""
    seen, end_s = runs[0], length_s(runs[0])
    from_station = [flow["from"].startswith(STATION) for flow in seen.scenario["flow"]]
    lines = as_in_ns2(seen.places)
    ends = [line for line in lines if line.event != "transmitted"]
    return ns2.ewphcc_mixed(lines, from_station, end_s) | ns2.all_flows(ends, end_s - MIXED_START_S)


def ewphcc_wireless(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers, with the energy of the sink from its series."""
    seen = runs[0]
    sink = int(seen.scenario["flow"][0]["to"].removeprefix("n"))
    energy = {name: np.asarray(values) for name, values in seen.series["energy"].items()}
    mine = energy["id"] == sink
    t_s, joules = energy["t_s"][mine], energy["value"][mine]
    return ns2.ewphcc_wireless(as_in_ns2(seen.lines), length_s(seen), lambda at_s: float(np.interp(at_s, t_s, joules)))


def flowmonitor(runs: Sequence[Seen]) -> Numbers:
    """Return the pooled numbers of data and ACK flows, and those of data alone."""
    end_s = length_s(runs[0])
    data, acks = (ns3.directions([line for line in runs[0].lines if line.to_sink == way]) for way in (True, False))
    return ns3.pool([*data, *acks], end_s) | {f"data_{name}": number for name, number in ns3.pool(data, end_s).items()}


def flooded(runs: Sequence[Seen]) -> Numbers:
    """Return the pooled numbers over 6LoWPAN, errors of ICMPv6 taken for receptions."""
    seen = runs[0]
    ends = [(flow["from"], flow["to"]) for flow in seen.scenario["flow"]]
    lines = ns3.over_6lowpan(seen.places, ends, length_s(seen))
    return ns3.pool(ns3.directions(lines), length_s(seen))


def fr_hosts(runs: Sequence[Seen]) -> Numbers:
    """Return the author's sum of integer rates, and the counts of both directions."""
    flows = ns3.directions(runs[0].lines)
    pooled = ns3.pool(flows, length_s(runs[0]))
    total = ns3.sum_of_integer_rates(flows)
    return {"throughput_sum_of_data_and_ack_flow": total} | {name: pooled[name] for name in ("sent", "received", "delay")}


def exits(seen: Seen) -> Numbers:
    """Return how often the HyStart report's algorithm ended slow start, over all flows; no number of one that does not say."""
    by_train, by_delay = (last_of_each(seen.series.get(f"cc.exits_by_{rule}")) for rule in ("train", "delay"))
    both = by_train + by_delay
    return {
        "exits": both, "hystart_exits_by_train": by_train, "hystart_exits_by_delay": by_delay,
        "any_exit": math.nan if math.isnan(both) else float(both > 0),
    }  # fmt: skip


def last_of_each(series: Mapping[str, Any] | None) -> float:
    """Return the sum over flows of a count that only rises; no number without it."""
    if series is None:
        return math.nan
    last: dict[int, float] = {}
    for flow, value in zip(series["id"], series["value"], strict=True):
        last[int(flow)] = float(value)
    return sum(last.values(), 0.0)


def hystart_wifi(runs: Sequence[Seen]) -> Numbers:
    """Return the author's numbers; energy is a mean over the nodes."""
    seen = runs[0]
    network = seen.summary["network"]
    duplicates = sum(one.duplicate and one.frame.size_bytes >= SEGMENT_BYTES for one in attempts(frames(seen.trace)))
    nodes = seen.scenario["network"]["nodes"]
    return ns2.hystart_script(seen.places, duplicates, length_s(seen), network["energy_j"], nodes) | exits(seen)


LRWPAN_FRAME_BYTES = 53
"""A data packet of the HyStart report over ns-2's 802.15.4: its 1070 B in eight bits, and 7 B of MAC."""
LRWPAN_TURNAROUND_S = 192e-6


def dropped_frames(sent: Sequence[Frame]) -> int:
    """Return how many data frames of the HyStart report the MAC of their station drops: in error, disturbed, or there already.

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


def hystart_lrwpan(runs: Sequence[Seen]) -> Numbers:
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
    spare_j = [IDLE_W * max(0.0, min(empty_s, end_s) - last_s) for empty_s in out_s]
    return ns2.hystart_script(
        [line for line in seen.places if line.time_s <= writes_until_s], dropped_frames(sent),
        end_s if waits else last_s, BATTERY_J * len(nodes) - sum(spare_j), len(nodes),
        ns2.HYSTART_LRWPAN_BYTES,
    ) | {"traffic_end": last_s} | exits(seen)  # fmt: skip


def asran_uav(runs: Sequence[Seen]) -> Numbers:
    """Return the author's means over the data and the ACK flow, and what its window and its losses were like."""
    seen = runs[0]
    bits = 8 * seen.summary["network"]["delivered_bytes"]
    window = seen.series["cwnd"]
    return ns3.asran_uav(seen.lines, bits, window["t_s"], window["value"])


def asran_fair(runs: Sequence[Seen]) -> Numbers:
    """Return the author's indices of both groups."""
    return ns3.asran_fairness(ns3.directions(runs[0].lines))
