"""The numbers of a script from what it sees of its runs: which flows, which length, which metric."""

from collections.abc import Sequence

import numpy as np

from tonopah._core import parse_quantity
from tonopah.authors import metrics_ns2, metrics_ns3, worlds_000
from tonopah.authors.packets import Numbers, Packet, Seen, as_in_ns2, duplicate_frames

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
    """Return the author's numbers, of stations and of every hop."""
    flows = runs[0].scenario["flow"]
    from_station = [flow["from"].startswith(worlds_000.STATION) for flow in flows]
    return metrics_ns2.author_000_mixed(as_in_ns2(runs[0].places), from_station, length_s(runs[0]))


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
    duplicates = duplicate_frames(seen.trace, worlds_000.SEGMENT_BYTES)
    nodes = seen.scenario["network"]["nodes"]
    return metrics_ns2.author_002(seen.places, duplicates, length_s(seen), network["energy_j"], nodes)


def uav_004(runs: Sequence[Seen]) -> Numbers:
    """Return the author's means over the data and the ACK flow, and what its window and its losses were like."""
    seen = runs[0]
    bits = 8 * seen.summary["network"]["delivered_bytes"]
    window = seen.series["cwnd"]
    return metrics_ns3.author_004_uav(seen.lines, bits, window["t_s"], window["value"])


def fair_004(runs: Sequence[Seen]) -> Numbers:
    """Return the author's indices of both groups."""
    return metrics_ns3.author_004_fairness(metrics_ns3.directions(runs[0].lines))
