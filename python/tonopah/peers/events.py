"""What a run of ns-2 gave, counted from its trace as the engine counts.

A line of the trace is `EVENT TIME FROM TO TYPE SIZE FLAGS FLOW SOURCE SINK SEQUENCE UID`: `+` a packet joins a queue, `-` leaves
it, `d` is dropped, `r` is received (ns manual, section 26.4). Acknowledgments wait in queues and are in no count of flows.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tonopah.peers.outcome import Counted, Samples, grid_of
from tonopah.peers.plan import PeerPlan

DATA = ("tcp", "cbr")
SYN_BYTES = 40
"""Size of the packet with which an agent begins; it carries nothing."""


@dataclass
class Followed(Counted):
    """What is counted of a flow, and what it is counted by."""

    on_the_way: dict[int, float] = field(default_factory=dict)
    """When a packet was sent, by its uid."""
    highest: int = -1
    """Sequence number of the newest segment sent."""
    arrived: set[int] = field(default_factory=set)
    """Segments beyond the first that is missing."""
    next: int = -1
    """The first segment that has not arrived; -1 before any."""


class Trace:
    """The counts of a trace while it is read."""

    def __init__(self, plan: PeerPlan):
        self.plan = plan
        self.flows = {flow.number: Followed() for flow in plan.flows}
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
            segments = self.arrived(flow, sequence, datagram=not self.plan.flows[number].cc)
            flow.delivered_bytes += measured * segments * self.plan.flows[number].payload_bytes
            flow.received += measured
            if measured:
                flow.delays.append(now - started)

    def arrived(self, flow: Followed, sequence: int, *, datagram: bool) -> int:
        """Return how many segments a packet lets a sink deliver: datagrams as they come, segments in order."""
        if datagram:
            return 1
        first = flow.next
        if sequence >= first:
            flow.arrived.add(sequence)
            while flow.next in flow.arrived:
                flow.arrived.remove(flow.next)
                flow.next += 1
        return flow.next - first


def series_of(plan: PeerPlan, trace: Trace, windows: Mapping[int, Sequence[tuple[float, float]]]) -> dict[str, Samples]:
    """Return windows of flows, and queues and drops of links so far, at the times of samples."""
    grid = grid_of(plan)
    return {
        "cwnd": {number: sampled_at(grid, changes) for number, changes in windows.items() if changes},
        "queue": {number: sampled_at(grid, list(zip(*queue, strict=True))) for number, queue in trace.queues.items()},
        "drops": {number: np.searchsorted(np.array(trace.drops[number]), grid, side="right") for number in trace.queues},
    }


def sampled_at(grid: "np.ndarray", changes: Sequence[tuple[float, float]]) -> "np.ndarray":
    """Return a quantity at these times that keeps its value from one change to the next."""
    times, values = (np.array(column, dtype=float) for column in zip(*changes, strict=True))
    return values[np.maximum(np.searchsorted(times, grid, side="right") - 1, 0)]


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
