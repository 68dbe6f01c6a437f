"""What a run of ns-2 gave, counted from its trace as the engine counts: summary and series of a run, as far as they are known.

A line of the trace is `EVENT TIME FROM TO TYPE SIZE FLAGS FLOW SOURCE SINK SEQUENCE UID`: `+` a packet joins a queue, `-` leaves
it, `d` is dropped, `r` is received (ns manual, section 26.4). Acknowledgments wait in queues and are in no count of flows.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tonopah.peers.plan import Flow, PeerPlan
from tonopah.runs.simulation import RunResult
from tonopah.stats import jain

DATA = ("tcp", "cbr")
SYN_BYTES = 40
"""Size of the packet with which an agent begins; it carries nothing."""


@dataclass
class Counted:
    """What is counted of a flow; counts and delays are those of the measurement interval."""

    sent: int = 0
    received: int = 0
    dropped: int = 0
    retransmitted: int = 0
    delays: list[float] = field(default_factory=list)
    on_the_way: dict[int, float] = field(default_factory=dict)
    """When a packet was sent, by its uid."""
    highest: int = -1
    """Sequence number of the newest segment sent."""
    arrived: set[int] = field(default_factory=set)
    """Segments beyond the first that is missing."""
    next: int = -1
    """The first segment that has not arrived; -1 before any."""
    delivered: int = 0
    """Segments delivered in order in the measurement interval."""


class Trace:
    """The counts of a trace while it is read."""

    def __init__(self, plan: PeerPlan):
        self.plan = plan
        self.flows = {flow.number: Counted() for flow in plan.flows}
        self.ends = {flow.number: (str(flow.source), str(flow.sink)) for flow in plan.flows}
        self.links = {(str(link.source), str(link.sink)): number for number, link in enumerate(plan.links)}
        self.waiting: dict[int, dict[str, int]] = defaultdict(dict)
        self.queues: dict[int, tuple[list[float], list[int]]] = {n: ([0.0], [0]) for n in range(len(plan.links))}
        self.drops: dict[int, list[float]] = defaultdict(list)

    def read(self, lines: Iterable[str]) -> None:
        """Count all lines."""
        for line in lines:
            event, time, source, sink, kind, size, _, flow, _, _, sequence, uid = line.split()
            now, link = float(time), self.links[source, sink]
            if event != "r":
                self.queued(event, now, link, uid, int(size))
            if kind in DATA and not (kind == "tcp" and int(size) == SYN_BYTES):
                self.counted(event, now, (source, sink), int(flow), int(sequence), uid)

    def queued(self, event: str, now: float, link: int, uid: str, size: int) -> None:
        """Follow the bytes in the queue of a link; what is lost on the medium had left it."""
        waiting, (times, sizes) = self.waiting[link], self.queues[link]
        if event == "d":
            self.drops[link].append(now)
        change = size if event == "+" else -waiting.pop(uid, 0)
        if event == "+":
            waiting[uid] = size
        times.append(now)
        sizes.append(sizes[-1] + change)

    def counted(self, event: str, now: float, link: tuple[str, str], number: int, sequence: int, uid: str) -> None:
        """Count a packet of a flow."""
        flow, (source, sink) = self.flows[number], self.ends[number]
        measured = now >= self.plan.warmup_s
        if event == "+" and link[0] == source:
            flow.on_the_way[int(uid)] = now
            flow.sent += measured
            flow.retransmitted += measured and sequence <= flow.highest
            flow.highest = max(flow.highest, sequence)
            flow.next = sequence if flow.next < 0 else flow.next
        elif event == "d":
            flow.on_the_way.pop(int(uid), None)
            flow.dropped += measured
        elif event == "r" and link[1] == sink:
            started = flow.on_the_way.pop(int(uid), now)
            self.arrived(flow, sequence, datagram=not self.plan.flows[number].cc, measured=measured)
            flow.received += measured
            if measured:
                flow.delays.append(now - started)

    def arrived(self, flow: Counted, sequence: int, *, datagram: bool, measured: bool) -> None:
        """Count what a sink receives: datagrams as they come, segments in order."""
        if datagram:
            flow.delivered += measured
        elif sequence >= flow.next:
            flow.arrived.add(sequence)
            while flow.next in flow.arrived:
                flow.arrived.remove(flow.next)
                flow.next += 1
                flow.delivered += measured


def result_of(plan: PeerPlan, trace: Trace, windows: Mapping[int, Sequence[tuple[float, float]]], engine: str) -> RunResult:
    """Return what was counted as the result of a run; what is not known is not there."""
    grid = np.arange(0.0, plan.duration_s, plan.every_s)
    sampled = {number: sampled_at(grid, changes) for number, changes in windows.items() if changes}
    flows = [flow_summary(plan, flow, trace.flows[flow.number], grid, sampled.get(flow.number)) for flow in plan.flows]
    totals = {key: sum(flow[key] for flow in flows) for key in ("sent_packets", "dropped_packets", "retransmitted_packets")}
    sent, dropped = totals["sent_packets"], totals["dropped_packets"]
    fair = jain([flow["goodput_bps"] for flow in flows if flow["goodput_bps"] is not None])
    network = {**totals, "loss_ratio": dropped / sent if sent else None, "jain": None if np.isnan(fair) else fair}
    links = [
        {"link": number, "from": plan.nodes[link.source], "to": plan.nodes[link.sink]} for number, link in enumerate(plan.links)
    ]
    window = [plan.warmup_s, plan.duration_s]
    summary = {"engine": engine, "window_s": window, "flows": flows, "links": links, "network": network}
    queues = {number: sampled_at(grid, list(zip(*queue, strict=True))) for number, queue in trace.queues.items()}
    dropped_so_far = {number: np.searchsorted(np.array(trace.drops[number]), grid, side="right") for number in trace.queues}
    return RunResult(summary, {name: columns(grid, found) for name, found in
                               (("cwnd", sampled), ("queue", queues), ("drops", dropped_so_far))})  # fmt: skip


def flow_summary(plan: PeerPlan, flow: Flow, counted: Counted, grid: "np.ndarray", window: "np.ndarray | None") -> dict[str, Any]:
    """Return the metrics of a flow."""
    stop = min(plan.duration_s, plan.duration_s if flow.stop_s is None else flow.stop_s)
    lifetime = max(0.0, stop - max(plan.warmup_s, flow.start_s))
    delays = np.array(counted.delays)
    measured = None if window is None else window[(grid >= plan.warmup_s) & (grid >= flow.start_s)]
    return {
        "flow": flow.number, "from": plan.nodes[flow.source], "to": plan.nodes[flow.sink], "lifetime_s": lifetime,
        "start_s": flow.start_s, "transport": "tcp" if flow.cc else "udp",
        "goodput_bps": 8 * flow.payload_bytes * counted.delivered / lifetime if lifetime else None,
        "sent_packets": counted.sent, "received_packets": counted.received, "dropped_packets": counted.dropped,
        "retransmitted_packets": counted.retransmitted,
        "delay_s": float(delays.mean()) if len(delays) else None,
        "delay_p95_s": float(np.percentile(delays, 95)) if len(delays) else None,
        "cwnd_mean_bytes": float(measured.mean()) if measured is not None and len(measured) else None,
    }  # fmt: skip


def sampled_at(grid: "np.ndarray", changes: Sequence[tuple[float, float]]) -> "np.ndarray":
    """Return a quantity at these times that keeps its value from one change to the next."""
    times, values = (np.array(column, dtype=float) for column in zip(*changes, strict=True))
    return values[np.maximum(np.searchsorted(times, grid, side="right") - 1, 0)]


def columns(grid: "np.ndarray", found: Mapping[int, "np.ndarray"]) -> dict[str, Any]:
    """Return a series of several owners in the order of time, as the engine gives one."""
    owners = sorted(found)
    values = np.stack([found[owner] for owner in owners], axis=1).ravel() if owners else np.array([])
    times = np.repeat(grid, len(owners))
    return {"t_s": times, "id": np.tile(np.array(owners, dtype=np.uint32), len(grid)), "value": values.astype(float)}


def windows_of(plan: PeerPlan, said: str, lines: Iterable[str]) -> dict[int, list[tuple[float, float]]]:
    """Return when the window of each flow changed, and to how many bytes, from lines `TIME NODE PORT NODE PORT cwnd_ PACKETS`.

    `said` is what the program printed: `flow NUMBER NODE PORT` of each agent.
    """
    agents = {}
    for line in said.splitlines():
        if line.startswith("flow "):
            _, number, node, port = line.split()
            agents[node, port] = int(number)
    found: dict[int, list[tuple[float, float]]] = {number: [] for number in agents.values()}
    for line in lines:
        time, node, port, _, _, _, packets = line.split()
        number = agents[node, port]
        found[number].append((float(time), float(packets) * plan.flows[number].payload_bytes))
    return found
