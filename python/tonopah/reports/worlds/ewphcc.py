"""The networks of the EWPHCC report (ns-2.35, `hishamcse/EWPHCC-Congestion-Control-NS2-Project` at 4ba9713) as scenarios.

Each function takes the point of a sweep; the seeds, rates and sizes that the scripts fix stand here once.
"""

import copy
import math
from dataclasses import dataclass
from typing import Any

from tonopah.reports.worlds import SILENCE, Scenario
from tonopah.reports.worlds.draws import SRAND, drawn, uniform
from tonopah.reports.worlds.ticks import phases_s

SEGMENT_BYTES = 1000
WRITE_BYTES = 200
"""What an application of the EWPHCC report writes at a time; ns-2 sends a whole segment for it."""

MIXED_WRITE_BYTES = 4
"""The same in its mixed network."""

NEVER = 2**32 - 1
"""As a number of repetitions of the SYN: ns-2 never gives up."""


@dataclass(frozen=True)
class Agent:
    """A sender of ns-2 as the scripts use it."""

    cc: Any
    one_way: bool
    """No SYN and no header on its packets: Vegas, and what builds on it."""

    def tcp(self, header: bool = False) -> dict[str, Any]:
        """Return its settings; with `header` its packets have one in any case."""
        common = {
            "profile": "ns2",
            "cc": copy.deepcopy(self.cc),
            "syn_retries": NEVER,
        }
        headers = "plain" if header or not self.one_way else "acks"
        agent = {"kind": "ns2", "headers": headers, "whole_segments": True}
        return common | {"agent": agent} | ({"handshake": False} if self.one_way else {})


AGENTS = {
    "tahoe": Agent({"name": "tahoe", "profile": "ns2", "real_window": True}, False),
    "vegas": Agent({"name": "vegas", "profile": "ns2"}, True),
    "ewphcc": Agent({"name": "ewphcc"}, True),
}


def agent_of(algorithm: Any) -> Agent:
    """Return the sender of an algorithm; one that the script does not have gets the agent of Tahoe."""
    return AGENTS[algorithm] if isinstance(algorithm, str) and algorithm in AGENTS else Agent(algorithm, False)


def writes(per_s: float, seconds: float, write_bytes: int = WRITE_BYTES) -> dict[str, Any]:
    """Return an application of `per_s` writes a second.

    It ends after `seconds` by falling silent: what has been written is still sent, as in ns-2, where nothing closes. A write
    that falls on the end of a transmission comes before it in ns-2, whose scheduler takes the older of two events at one
    time; here links come first, so writes are early by up to 2.5e-8 of their time.
    """
    on = {"kind": "constant", "length": f"{seconds}s"}
    rate = f"{per_s * (1 + 2.5e-8):.12g}pps"
    return {"kind": "on_off", "rate": rate, "size": f"{write_bytes}B", "on": on, "off": SILENCE}


def writes_until(per_s: float, start_s: float, stop_s: float) -> dict[str, Any]:
    """Return the application of `writes` in a run that keeps time in doubles: as many as ns-2's sums leave before the stop."""
    at_s, count = start_s, 0
    while at_s < stop_s:
        at_s, count = at_s + 1 / per_s, count + 1
    on = {"kind": "constant", "length": f"{(count - 0.5) / per_s}s"}
    return {"kind": "on_off", "rate": f"{per_s:.12g}pps", "size": f"{WRITE_BYTES}B", "on": on, "off": SILENCE}


def drop_tail(ns2_limit: int) -> str:
    """Return ns-2's queue: its limit counts the packet in transmission, ours what waits."""
    return f"{ns2_limit - 1}p"


# ---------------------------------------------------------------- EWPHCC, wired


def wired_pairs(nodes: int, flows: int, seed: int = SRAND) -> list[tuple[int, int]]:
    """Return source and sink of each flow; the places that the script draws first have no effect."""
    source = uniform(seed)
    for _ in range(2 * nodes):
        next(source)
    firsts = (drawn(source, 1000, nodes) % (nodes // 2) for _ in range(flows))
    return [(first, first + nodes // 2) for first in firsts]


def ewphcc_wired(
    algorithm: Any, nodes: int, flows: int, packets_per_s: int, header: bool = False, srand: int = SRAND, queue_packets: int = 10,
) -> Scenario:  # fmt: skip
    """Return pairs of nodes with a private link each; `header` gives Vegas packets of 1040 B.

    `queue_packets` limits the queues towards the sinks.
    """
    half = nodes // 2
    links = [
        {"from": f"n{i}", "to": f"n{i + half}", "rate": "1Mbps", "delay": "2ms", "queue": drop_tail(queue_packets),
         "reverse": {"queue": drop_tail(50)}}
        for i in range(half)
    ]  # fmt: skip
    # `rate_` is 200 N in bit/s, `packetSize_` 200 B.
    app = writes_until(packets_per_s / 8, 1.0, 19.5)
    pairs = wired_pairs(nodes, flows, srand)
    phases = phases_s(nodes, [first for first, _ in pairs], 2 if agent_of(algorithm).one_way else 1)
    listed = [
        {"from": f"n{a}", "to": f"n{b}", "app": app, "start": "1s", "start_jitter": "0s",
         "tcp": {"agent": {"tick_phase": f"{phase}s"}}}
        for (a, b), phase in zip(pairs, phases, strict=True)
    ]  # fmt: skip
    return {
        "duration": "20s", "clock": "double", "network": {"kind": "graph"}, "node": [{"name": f"n{i}"} for i in range(nodes)],
        "link": links,
        "tcp": agent_of(algorithm).tcp(header), "flow": listed,
    }  # fmt: skip


# ---------------------------------------------------------------- EWPHCC, satellite

EARTH_KM = 6378.0
GEO_KM = 42164.0
LIGHT_KM_PER_S = 299793.0
"""Of ns-2."""
BERKELEY, BOSTON, GEO_EAST = (37.9, -122.3), (42.3, -71.1), -100.0
SATELLITE_S = 9000
"""Length of the run."""
SPACE_OVERHEAD = "16B"
"""Framing of ns-2's satellite links."""


def geo_delay_ms(place: tuple[float, float]) -> float:
    """Return the propagation delay from a place on the ground to the geostationary satellite."""
    latitude, longitude = map(math.radians, place)
    cosine = math.cos(latitude) * math.cos(longitude - math.radians(GEO_EAST))
    return 1e3 * math.sqrt(EARTH_KM**2 + GEO_KM**2 - 2 * EARTH_KM * GEO_KM * cosine) / LIGHT_KM_PER_S


def ewphcc_geo(plane: Scenario) -> Scenario:
    """Return the two flows over the geostationary satellite beside a plane: two terminals, and a wired node behind each."""
    radio = {"rate": "1.5Mbps", "queue": drop_tail(50), "overhead": SPACE_OVERHEAD}
    wire = {"rate": "5Mbps", "delay": "2ms", "queue": drop_tail(50)}
    links = [
        {"from": "berkeley", "to": "geo", "delay": f"{geo_delay_ms(BERKELEY)}ms", **radio},
        {"from": "geo", "to": "boston", "delay": f"{geo_delay_ms(BOSTON)}ms", **radio},
        {"from": "w300", "to": "berkeley", **wire},
        {"from": "boston", "to": "w303", **wire},
    ]
    flows = [
        {"from": "berkeley", "to": "boston", "app": writes(1 / 60.01, SATELLITE_S), "start": "1s"},
        {"from": "w303", "to": "w300", "app": writes(1 / 300, SATELLITE_S), "start": "10s"},
    ]
    return {
        "duration": f"{SATELLITE_S}s", "network": {"kind": "graph"}, "tcp": plane["tcp"],
        "node": [{"name": name} for name in ("berkeley", "geo", "boston", "w300", "w303")],
        "link": links, "flow": [flow | {"start_jitter": "0s", "silent": plane["flow"][0]["silent"]} for flow in flows],
    }  # fmt: skip


def ewphcc_plane(algorithm: Any, satellites: int, altitude_km: float, answers: bool = False) -> Scenario:
    """Return the flow over one plane of polar satellites, between two terminals on the equator."""
    east, west = ({"name": name, "lat_deg": 0.0, "lon_deg": at} for name, at in (("east", 10.0), ("west", -10.0)))
    network = {
        "kind": "constellation", "preset": "iridium", "profile": "ns2", "planes": 1, "satellites": satellites,
        "altitude_km": altitude_km, "inclination_deg": 90.0, "node_deg": 0.0, "elevation_deg": 8.2, "terminals": [east, west],
    }  # fmt: skip
    app = writes(1 / 90.5, SATELLITE_S)
    flow = {"from": "east", "to": "west", "app": app, "start": "305s", "start_jitter": "0s", "silent": not answers}
    return {"duration": f"{SATELLITE_S}s", "network": network, "tcp": agent_of(algorithm).tcp(), "flow": [flow]}


# ---------------------------------------------------------------- EWPHCC, wireless

FAST_M_PER_S = 15
"""From this speed on the field is 1000 m wide."""
WIRELESS_POWER = {"profile": "ns2", "initial": "500J", "rx": "1W", "tx": "2W", "idle": "1W"}


@dataclass(frozen=True)
class Placed:
    """What the wireless script draws: where stations are and go, the sink, and the sources."""

    side_m: int
    places: list[list[float]]
    destinations: list[list[float]]
    sink: int
    sources: list[int]


def placed(nodes: int, flows: int, speed_m_per_s: float, seed: int = SRAND) -> Placed:
    """Return what the script draws: place and destination of every node, then the sink, then a source for each flow."""
    source, side = uniform(seed), 1000 if speed_m_per_s >= FAST_M_PER_S else 500
    drawn_places = [[drawn(source, 10000, side) + 0.5 for _ in range(4)] for _ in range(nodes)]
    sink = drawn(source, 1000, nodes)
    sources = []
    while len(sources) < flows:
        # A source that is the sink is drawn again.
        if (one := drawn(source, 1000, nodes)) != sink:
            sources.append(one)
    return Placed(side, [row[:2] for row in drawn_places], [row[2:] for row in drawn_places], sink, sources)


def ewphcc_wireless(
    algorithm: Any, nodes: int, flows: int, packets_per_s: int, speed: float, own_sinks: bool = False, routing: str = "dsr",
    srand: int = SRAND,
) -> Scenario:  # fmt: skip
    """Return moving stations that all send to one node: to one sink agent, or with `own_sinks` to one for each flow."""
    world = placed(nodes, flows, speed, srand)
    own = {
        f"n{i}": {"kind": "setdest", "orders": [{"at": "1s", "x": x, "y": y, "speed": f"{speed}m/s"}]}
        for i, (x, y) in enumerate(world.destinations)
    }
    network = {
        "kind": "adhoc", "nodes": nodes, "flows": 0, "area": {"x": f"{world.side_m}m", "y": f"{world.side_m}m"},
        "placement": {"kind": "list", "positions": world.places}, "own_mobility": own,
        "radio": {"profile": "ns2", "energy": WIRELESS_POWER}, "routing": {"kind": routing, "profile": "ns2"},
    }  # fmt: skip
    if routing == "aodv":
        network["routing"] = {"kind": "aodv"}
    app = writes(packets_per_s / 8, 19.0)
    agent = {} if own_sinks else {"sink_agent": "sink"}
    listed = [
        {"from": f"n{one}", "to": f"n{world.sink}", "app": app, "start": "1s", "start_jitter": "0s", **agent}
        for one in world.sources
    ]
    return {
        "duration": "20s", "network": network, "tcp": agent_of(algorithm).tcp(), "flow": listed,
        "record": {"series": ["energy"], "every": "100ms"},
    }  # fmt: skip


# ---------------------------------------------------------------- EWPHCC, mixed

STATION = "s"
STATIONS, ENDS = 10, 3
"""Stations, and those of them that have flows."""

MIXED_START_S, MIXED_APART_S = 2, 0.1
"""First write of the first flow, and how much later each further flow begins."""


def mixed_pairs(nodes: int, flows: int, seed: int = SRAND) -> list[tuple[str, str]]:
    """Return source and sink of each flow: from the ring to a station, then from a station to the ring, and so on."""
    source = uniform(seed)
    made = []
    for flow in range(flows):
        wired = f"w{drawn(source, 14789, nodes - STATIONS)}"
        station = f"{STATION}{drawn(source, 13997, ENDS)}"
        made.append((station, wired) if flow % 2 else (wired, station))
    return made


def ewphcc_mixed(algorithm: Any, nodes: int, flows: int, packets_per_s: int) -> Scenario:
    """Return a ring of wires, and stations that reach it by radio: all at one place, in the domain of the first base station."""
    ring = nodes - STATIONS
    wire = {"rate": "1Mbps", "delay": "2ms", "queue": drop_tail(50)}
    links = [{"from": f"w{i}", "to": f"w{(i + 1) % ring}", **wire} for i in range(ring)]
    links += [{"from": "w1", "to": base, **wire} for base in ("base0", "base1")]
    places = {"base0": (1.0, 2.0), "base1": (100.0, 100.0)} | {f"{STATION}{i}": (0.0, 0.0) for i in range(STATIONS)}
    channel = {
        "stations": list(places), "gateway": ["base0", "base1"], "radio": {"profile": "ns2"},
        "routing": {"kind": "dsdv", "profile": "ns2"},
    }  # fmt: skip
    listed = []
    for number, (source, sink) in enumerate(mixed_pairs(nodes, flows)):
        start_s = MIXED_START_S + MIXED_APART_S * number
        app = writes(packets_per_s / 8, 19.5 - start_s, MIXED_WRITE_BYTES)
        listed.append({"from": source, "to": sink, "app": app, "start": f"{start_s:g}s", "start_jitter": "0s"})
    return {
        "duration": "20s", "network": {"kind": "graph"}, "link": links, "channel": [channel],
        "node": [*({"name": f"w{i}"} for i in range(ring)), *({"name": n, "x": x, "y": y} for n, (x, y) in places.items())],
        "tcp": agent_of(algorithm).tcp(), "flow": listed,
    }  # fmt: skip
