"""Scenarios of points: the dumbbell D(C, R, b) with its dither, and what an experiment adds to it."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from tonopah._core import parse_quantity
from tonopah.judge.definitions import Walk, World
from tonopah.judge.subjects import endpoint, make_subject, resuming
from tonopah.judge.workload import SEGMENTS, Draws, arrival_rate, connections, sizes
from tonopah.spec.vary import Vary

WIRE_BYTES = 1500
"""A full packet of the profile `linux`, headers included."""
ACCESS_FACTOR, ACCESS_LEAST_BPS = 4, 100e6
PAYLOAD_SHARE = 1448 / WIRE_BYTES
"""Payload of a full packet with timestamps."""
CENTRAL_SHARE = 0.1
"""Share of the smallest RTT that is the one-way delay of the bottleneck."""
WOBBLE = Vary().delays
"""Access delays are drawn within this share of their value, as in any study; here, since the path of a flow has to be known."""
CROSS_DELAY = "1ms"
CLASSES = ["30kB", "1MB"]
"""Upper edges of the classes of sizes whose slowdowns are told apart."""


@dataclass
class Built:
    """A scenario, and what is known of its flows that a summary does not tell."""

    scenario: dict[str, Any]
    rate_bps: float
    rtt_s: float
    groups: tuple[list[int], ...] = ([], [])
    """Flows of the first and of the second algorithm."""
    base_delay_s: dict[int, float] = field(default_factory=dict)
    """One-way delay of a full packet of each flow over empty queues."""
    ideal_s: dict[int, float] = field(default_factory=dict)
    """Time of a connection with an end over the empty path: base RTT and transmission."""
    bytes_of: dict[int, float] = field(default_factory=dict)
    """Payload of these connections."""
    roles: dict[int, str] = field(default_factory=dict)
    """Of flows of datagrams."""
    offered_load: float | None = None
    connections: int = 0
    """Of the workload."""


def seconds(text: str) -> float:
    """Return a duration in seconds."""
    return float(parse_quantity(text, "duration"))


def bits_per_second(text: str) -> float:
    """Return a rate in bit/s."""
    return float(parse_quantity(text, "rate"))


def queue_limit(world: World) -> int:
    """Return the limit of the bottleneck's queue in packets: `buffer` times the bandwidth-delay product, four at least."""
    rtts = rtts_of(world)
    rtt_s = seconds(world.buffer_rtt) if world.buffer_rtt else rtts[0] if len(rtts) == 1 else 0.040
    return max(4, round(world.buffer * bits_per_second(world.rate) * rtt_s / 8 / WIRE_BYTES))


def rtts_of(world: World) -> list[float]:
    """Return the base RTTs of the groups in seconds; one if all are alike."""
    return [seconds(text) for text in ([world.rtt] if isinstance(world.rtt, str) else world.rtt)]


def build(world: World, algorithms: Sequence[Any], draws: Draws) -> Built:
    """Return the scenario of a world whose groups of flows run these algorithms."""
    if world.scenario:
        return build_given(world, algorithms, draws)
    maker, usual = Dumbbell(world, draws), Vary()
    sizes = [world.flows] if isinstance(world.flows, int) else world.flows
    for group, count in enumerate(sizes):
        for _ in range(count):
            maker.add_flow(group, algorithms[group])
    if world.load:
        maker.add_workload(algorithms[1])
    for prefix, load, cc in zip("xy", world.loads, algorithms, strict=False):
        maker.add_drawn_workload(prefix, load, cc)
    for cross in world.cross:
        for turn in range(cross.count):
            start = time_text(seconds(cross.start) + turn * seconds(cross.every)) if turn else cross.start
            maker.add_datagrams(cross.app, cross.role, start, cross.stop)
    maker.built.scenario["vary"] = {"buffers": usual.buffers} | ({"background": usual.background} if world.background else {})
    return maker.built


class Dumbbell:
    """Collects nodes, links and flows of D(C, R, b)."""

    def __init__(self, world: World, draws: Draws):
        self.world, self.draws = world, draws
        self.rate_bps, self.rtts = bits_per_second(world.rate), rtts_of(world)
        self.central_s = CENTRAL_SHARE * min(self.rtts)
        self.access_bps = max(ACCESS_FACTOR * self.rate_bps, ACCESS_LEAST_BPS)
        self.nodes: list[dict[str, Any]] = [{"name": "r0", "role": "router"}, {"name": "r1", "role": "router"}]
        self.links: list[dict[str, Any]] = [self.bottleneck()]
        self.flows: list[dict[str, Any]] = []
        self.workloads: list[dict[str, Any]] = []
        self.hosts = 0
        scenario = {
            "duration": world.duration, "warmup": world.warmup, "network": {"kind": "graph"},
            "tcp": {"profile": "linux", "recv_buffer": "256MB", **world.tcp},
            "node": self.nodes, "link": self.links, "flow": self.flows,
        }  # fmt: skip
        self.built = Built(scenario, self.rate_bps, min(self.rtts), ([], []))
        if world.load or world.loads:
            scenario |= {"workload": self.workloads}
        if world.loads:
            scenario |= {"record": {"flows": "none"}}
        if world.detour:
            self.add_detour()

    def bottleneck(self) -> dict[str, Any]:
        """Return the link from r0 to r1."""
        queue = dict(self.world.queue)
        if queue.get("kind") == "drop_tail":
            queue["limit"] = f"{self.world.limit or queue_limit(self.world)}p"
        link = {"from": "r0", "to": "r1", "rate": self.world.rate, "delay": time_text(self.central_s), "queue": queue}
        if self.world.walk:
            length_s = seconds(self.world.duration)
            steps = rate_walk(self.world.walk, self.rate_bps, length_s, self.draws.stream("walk"))
            points = [[time_text(at), f"{rate:.9g}bps"] for at, rate in steps]
            link["service"] = {"kind": "rate_trace", "points": points, "nominal_rate": self.world.rate}
        return link | self.world.link

    def add_detour(self) -> None:
        """Add the way by rx."""
        assert self.world.detour
        self.nodes.append({"name": "rx", "role": "router"})
        for ends in (("r0", "rx"), ("rx", "r1")):
            half = time_text(seconds(self.world.detour.delay) / 2)
            link = {"rate": self.world.detour.rate, "delay": half, "queue": f"{queue_limit(self.world)}p"}
            self.links.append({"from": ends[0], "to": ends[1], **link})

    def add_host(self, router: str, delay_s: float | str) -> str:
        """Add a host beside a router, so far away, and return its name."""
        name = f"h{self.hosts}"
        self.hosts += 1
        self.nodes.append({"name": name})
        ends = {"from": name, "to": router} if router == "r0" else {"from": router, "to": name, **self.world.far}
        delay = delay_s if isinstance(delay_s, str) else time_text(delay_s)
        self.links.append({**ends, "rate": f"{self.access_bps:.12g}bps", "delay": delay, "queue": "100000p"})
        return name

    def add_flow(self, group: int, cc: Any) -> None:
        """Add a flow with hosts of its own."""
        number = sum(len(known) for known in self.built.groups) // self.world.rounds
        rtt_s = self.rtts[group % len(self.rtts)]
        side_s = (rtt_s / 2 - self.central_s) / 2
        delays = [side_s * self.draws.uniform(f"access/{number}/{side}", 1 - WOBBLE, 1 + WOBBLE) for side in "ab"]
        ends = {"from": self.add_host("r0", delays[0]), "to": self.add_host("r1", delays[1])}
        starts = self.world.starts
        start_s = seconds(starts[number]) if number < len(starts) else 0.0
        if number >= len(starts):
            start_s = self.draws.uniform(f"start/{number}", 0.0, seconds(self.world.spread))
        app: dict[str, Any] = {"app": {"kind": "bulk", "bytes": self.world.bytes}} if self.world.bytes else {}
        app = {"app": self.world.app} if self.world.app and group == 0 else app
        own = self.world.tcp_of[group] if group < len(self.world.tcp_of) else {}
        played = endpoint(cc)
        own = played.get("tcp", {}) | own | self.marks(group, played["cc"])
        app |= {"tcp": own} if own else {}
        for turn in range(self.world.rounds):
            flow = len(self.flows)
            at_s = start_s + turn * seconds(self.world.every)
            self.flows.append({**ends, "cc": played["cc"], "start": time_text(at_s), "start_jitter": "0s", **app})
            self.built.groups[group].append(flow)
            self.note_path(flow, sum(delays) + self.central_s, self.world.bytes)

    def marks(self, group: int, cc: Any) -> dict[str, str]:
        """Return the marks that a flow asks for; one whose algorithm asks for its own is left alone."""
        wanted = self.world.ecn[min(group, len(self.world.ecn) - 1)] if self.world.ecn else ""
        return {"ecn": wanted} if wanted and not make_subject(cc).takes_marks else {}

    def note_path(self, flow: int, propagation_s: float, size: str = "") -> None:
        """Remember what a flow meets on an empty path."""
        wire_bits = 8 * WIRE_BYTES
        self.built.base_delay_s[flow] = propagation_s + wire_bits / self.rate_bps + 2 * wire_bits / self.access_bps
        if size:
            self.built.bytes_of[flow] = parse_quantity(size, "size")
            self.built.ideal_s[flow] = 2 * propagation_s + 8 * wire_bytes(parse_quantity(size, "size")) / self.rate_bps

    def add_datagrams(self, app: dict[str, Any], role: str, start: str = "0s", stop: str | None = None) -> None:
        """Add a flow of datagrams."""
        flow = {"from": self.add_host("r0", CROSS_DELAY), "to": self.add_host("r1", CROSS_DELAY), "app": app, "start": start}
        self.built.roles[len(self.flows)] = role
        self.flows.append({**flow, "start_jitter": "0s", **({"stop": stop} if stop else {})})

    def add_workload(self, cc: Any) -> None:
        """Add the connections of workload G; between which of its hosts, the engine draws."""
        ends = self.add_edges()
        cc = resuming(cc) if self.world.resumes else cc
        window = (seconds(self.world.warmup), seconds(self.world.duration))
        made, self.built.offered_load = connections(self.world.load, self.rate_bps, window, self.draws)
        self.built.connections = len(made)
        for mss in sorted({one.mss for one in made}):
            mine = [one for one in made if one.mss == mss]
            arrivals = {"kind": "list", "at": [time_text(one.start_s) for one in mine]}
            sizes = {"kind": "list", "bytes": [f"{one.size}B" for one in mine]}
            workload = {"name": f"mss{mss}", "from": ends[0], "to": ends[1], "arrivals": arrivals, "size": sizes}
            self.workloads.append({**workload, **with_mss(cc, mss)})

    def add_drawn_workload(self, prefix: str, load: float, cc: Any) -> None:
        """Add connections of workload G that the engine draws, with hosts of their own."""
        ends = self.add_edges()
        total = arrival_rate(load, self.rate_bps)
        for mss, share in SEGMENTS.items():
            arrivals = {"kind": "poisson", "rate": f"{share * total:.9g}/s"}
            size = {"kind": "cdf", "points": sizes()}
            workload = {"name": f"{prefix}-mss{mss}", "from": ends[0], "to": ends[1], "arrivals": arrivals, "size": size}
            self.workloads.append({**workload, "classes": CLASSES, **with_mss(cc, mss)})

    def add_edges(self) -> list[list[str]]:
        """Add the hosts of a workload on both sides."""
        sides = zip(("r0", "r1"), self.world.edges, strict=True)
        return [[self.add_host(router, delay) for delay in delays] for router, delays in sides]


def with_mss(cc: Any, mss: int) -> dict[str, Any]:
    """Return the algorithm of a workload whose segments have this size."""
    played = endpoint(cc)
    return {"cc": played["cc"], "tcp": {**played.get("tcp", {}), "mss": f"{mss}B"}}


def build_given(world: World, algorithms: Sequence[Any], draws: Draws) -> Built:
    """Return a scenario that an experiment gives as a whole; its listed flows get algorithms and random starts."""
    scenario = {**world.scenario, "duration": world.duration, "warmup": world.warmup}
    scenario["tcp"] = {"profile": "linux", "recv_buffer": "256MB", **world.tcp}
    built = Built(scenario, bits_per_second(world.rate), min(rtts_of(world)), ([], []))
    flows = []
    for number, flow in enumerate(world.scenario["flow"]):
        start_s = draws.uniform(f"start/{number}", 0.0, seconds(world.spread))
        flows.append({**flow, **endpoint(algorithms[0]), "start": time_text(start_s), "start_jitter": "0s"})
        built.groups[0].append(number)
    scenario["flow"] = flows
    return built


def wire_bytes(size: float) -> float:
    """Return the bytes that a connection of so much payload sends over the bottleneck, in full packets."""
    payload = WIRE_BYTES - 52
    return size + 52 * -(-size // payload)


def time_text(value_s: float) -> str:
    """Return a time as a scenario has it, to the nanosecond."""
    return f"{value_s:.9f}s"


def rate_walk(walk: Walk, first_bps: float, length_s: float, stream: random.Random) -> list[tuple[float, float]]:
    """Return times and rates in bit/s of a random walk, reflected at its bounds on the logarithmic scale."""
    low, high = (math.log2(parse_quantity(bound, "rate")) for bound in (walk.low, walk.high))
    every, place, found = parse_quantity(walk.every, "duration"), math.log2(first_bps), []
    normal = NormalDist(0.0, walk.step)
    for number in range(math.ceil(length_s / every)):
        found.append((number * every, 2.0**place))
        place += normal.inv_cdf(max(stream.random(), 1e-12))
        place = 2 * low - place if place < low else place
        place = min(max(2 * high - place if place > high else place, low), high)
    return found
