"""What is compared of a run, the same of every engine: its metrics, from the summary and from the drops of links over time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tonopah.cross.worlds import Margins, World
from tonopah.metrics import metric
from tonopah.runs.simulation import RunResult
from tonopah.scenario.headers import IP_TCP_BYTES, IP_UDP_BYTES, TIMESTAMPS_BYTES
from tonopah.scenario.traps import shortest
from tonopah.stats.kinds import KindName
from tonopah.units import si

GOODPUT = "goodput_bps"
Measured = dict[str, float | None]


@dataclass(frozen=True)
class Compared:
    """A metric that is compared: name, label and unit, how it is compared, and what counts as no difference."""

    key: str
    label: str
    unit: str
    factor: float
    kind: KindName
    margin: float
    """Percent; of shares a difference."""
    absent: str = ""
    """Why an engine may not know it."""

    @property
    def shown(self) -> str:
        """Label with its unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


NO_PATH = "the delay of the empty path is not fixed: its links are not listed"
NO_WINDOW = "no flow has a congestion window that this engine tells"
NO_DELAY = "nothing was received, or this engine does not tell delays"


def compared(world: World, margins: Margins) -> list[Compared]:
    """Return what is compared in a world, in the order in which it is shown."""
    flows = len(world.graph.get("flow", ()))
    window, rate = metric("cwnd_mean_bytes"), metric(GOODPUT)
    found = [
        Compared(f"{GOODPUT}.{flow}", f"Goodput {flow}", rate.unit, rate.factor, "positive", margins.goodput)
        for flow in range(flows)
    ]
    if flows > 1:
        found.append(Compared("jain", "Jain's index", "", 1.0, "share", margins.jain))
    fixed = base_paths(world.graph) is not None
    delay = {"unit": "ms", "factor": 1e3, "kind": "positive", "margin": margins.delay, "absent": NO_DELAY if fixed else NO_PATH}
    found += [Compared("queueing_s", "Queue delay", **delay), Compared("queueing_p95_s", "Queue p95", **delay)]
    events = {"unit": "", "factor": 1.0, "kind": "count", "margin": margins.loss}
    found += [
        Compared("loss_ratio", "Loss", "%", 100.0, "proportion", margins.loss, "nothing was sent"),
        Compared("retransmitted_packets", "Retransmissions", **events),
        Compared("cwnd_mean_bytes", "Window", window.unit, window.factor, "positive", margins.window, NO_WINDOW),
        Compared("loss_episodes", "Loss episodes", **events),
    ]
    return found


def measured(result: RunResult, world: World) -> Measured:
    """Return the metrics of a run by name, in SI units; None of what its engine does not tell.

    `dropped_packets`, which the loss is a proportion of, is beside them.
    """
    summary = result.summary
    flows, network = summary["flows"], summary["network"]
    # Of the world's own flows: a kernel may list others.
    listed = flows[: len(world.graph.get("flow", ()))]
    found: Measured = {f"{GOODPUT}.{number}": flow.get(GOODPUT) for number, flow in enumerate(listed)}
    found |= {key: network.get(key) for key in ("jain", "loss_ratio", "retransmitted_packets", "dropped_packets")}
    paths = base_paths(world.graph)
    for key, own in (("queueing_s", "delay_s"), ("queueing_p95_s", "delay_p95_s")):
        found[key] = (
            mean_of_flows([less(flow.get(own), path[0]) for flow, path in zip(listed, paths, strict=False)]) if paths else None
        )
    found["cwnd_mean_bytes"] = mean_of_flows([flow.get("cwnd_mean_bytes") for flow in listed])
    longest = max((rtt for _, rtt in paths), default=0.0) if paths else 0.0
    found["loss_episodes"] = episodes(result, summary["window_s"], max(longest, si(world.scenario["record"]["every"])))
    return found


def mean_of_flows(values: Sequence[float | None]) -> float | None:
    """Return the mean over the flows that have a value."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return sum(known) / len(known) if known else None


def less(value: float | None, base: float) -> float | None:
    """Return what a delay is above another; a histogram's percentile may be a little below it."""
    return None if value is None else max(0.0, value - base)


def base_paths(graph: Mapping[str, Any]) -> list[tuple[float, float]] | None:
    """Return, for each flow, the one-way delay of a packet that finds every queue empty, and the base RTT without transmissions.

    In s, by the path with the fewest links. None where a path is not one of listed links.
    """
    found = []
    for flow in graph.get("flow", ()):
        path = shortest(graph, flow["from"], flow["to"])
        if path is None:
            return None
        bits = 8 * packet_bytes(flow, graph)
        found.append((sum(path.delays) + sum(bits / rate for rate in path.rates), 2 * sum(path.delays)))
    return found or None


def packet_bytes(flow: Mapping[str, Any], graph: Mapping[str, Any]) -> float:
    """Return the size of a flow's full packets on the wire."""
    app, tcp = flow["app"], flow.get("tcp") or graph["tcp"]
    if app.get("transport") == "udp":
        return si(app.get("size", "1000B")) + IP_UDP_BYTES
    return si(tcp["mss"]) + IP_TCP_BYTES + TIMESTAMPS_BYTES * bool(tcp["timestamps"])


def episodes(result: RunResult, window_s: Sequence[float], gap_s: float) -> float | None:
    """Return the loss episodes of the measurement interval: drops on a link of which none is later than a gap after another.

    The gap is the longest base RTT: what is dropped within one answers to one cause.
    """
    if "drops" not in result.names:
        return None
    table, count = result.series("drops"), 0
    for _, rows in table.groupby("link"):
        more = np.diff(rows["value"].to_numpy(), prepend=0.0) > 0
        times = rows["t_s"].to_numpy()[more]
        times = times[(times > window_s[0]) & (times <= window_s[1])]
        count += int(len(times) > 0) + int(np.count_nonzero(np.diff(times) > gap_s))
    return float(count)
