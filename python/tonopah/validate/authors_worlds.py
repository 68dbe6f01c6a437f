"""The authors' networks as scenarios: what their scripts build, with the places and flows that their random numbers draw.

Each function takes the point of a sweep and returns scenarios; the seeds, rates and sizes that a script fixes stand here once.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MODULUS = 2**31 - 1
MULTIPLIER = 16807
SRAND = 19
"""The author's argument of Tcl's `srand`."""

SEGMENT_BYTES = 1000
WRITE_BYTES = 200
"""What an application of author 000 writes at a time; ns-2 sends a whole segment for it."""

SILENCE = {"kind": "constant", "length": "100000s"}
"""Longer than any run."""

NEVER = 2**32 - 1
"""As a number of repetitions of the SYN: ns-2 never gives up."""

Scenario = dict[str, Any]


def uniform(seed: int) -> Iterator[float]:
    """Yield the numbers that Tcl's `rand()` gives after `srand(seed)`, which takes the first itself (Park and Miller 1988)."""
    state = seed * MULTIPLIER % MODULUS
    while True:
        state = state * MULTIPLIER % MODULUS
        yield state / MODULUS


def drawn(source: Iterator[float], scale: int, count: int) -> int:
    """Return the author's `int(scale u) mod count`."""
    return int(scale * next(source)) % count


@dataclass(frozen=True)
class Agent:
    """A sender of ns-2 as the scripts use it."""

    cc: Mapping[str, Any]
    one_way: bool
    """No SYN and no header on its packets: Vegas, and what builds on it."""

    def tcp(self, header: bool = False) -> dict[str, Any]:
        """Return its settings; with `header` its packets have one in any case."""
        common = {"profile": "ns2", "cc": dict(self.cc), "whole_segments": True, "syn_retries": NEVER, "headers": "plain"}
        own = {"handshake": False, "headers": "plain" if header else "acks"}
        return common | (own if self.one_way else {})


AGENTS = {
    "tahoe": Agent({"name": "tahoe"}, False),
    "vegas": Agent({"name": "vegas", "profile": "ns2"}, True),
    "ewphcc": Agent({"name": "ewphcc"}, True),
}


def writes(per_s: float, seconds: float, write_bytes: int = WRITE_BYTES) -> dict[str, Any]:
    """Return an application of `per_s` writes a second.

    It ends after `seconds` by falling silent: what has been written is still sent, as in ns-2, where nothing closes. A write
    that falls on the end of a transmission comes before it in ns-2, whose scheduler takes the older of two events at one
    time; here links come first, so writes are early by up to 2.5e-8 of their time.
    """
    on = {"kind": "constant", "length": f"{seconds}s"}
    rate = f"{per_s * (1 + 2.5e-8):.12g}pps"
    return {"kind": "on_off", "rate": rate, "size": f"{write_bytes}B", "on": on, "off": SILENCE}


def drop_tail(ns2_limit: int) -> str:
    """Return ns-2's queue: its limit counts the packet in transmission, ours what waits."""
    return f"{ns2_limit - 1}p"


# ---------------------------------------------------------------- 000, wired


def wired_pairs(nodes: int, flows: int, seed: int = SRAND) -> list[tuple[int, int]]:
    """Return source and sink of each flow; the places that the script draws first have no effect."""
    source = uniform(seed)
    for _ in range(2 * nodes):
        next(source)
    firsts = (drawn(source, 1000, nodes) % (nodes // 2) for _ in range(flows))
    return [(first, first + nodes // 2) for first in firsts]


def wired_000(algorithm: str, nodes: int, flows: int, packets_per_s: int, header: bool = False, seed: int = SRAND) -> Scenario:
    """Return pairs of nodes with a private link each; `header` gives Vegas packets of 1040 B."""
    half = nodes // 2
    links = [
        {"from": f"n{i}", "to": f"n{i + half}", "rate": "1Mbps", "delay": "2ms", "queue": drop_tail(10),
         "reverse": {"queue": drop_tail(50)}}
        for i in range(half)
    ]  # fmt: skip
    # `rate_` is 200 N in bit/s, `packetSize_` 200 B.
    app = writes(packets_per_s / 8, 18.5)
    listed = [
        {"from": f"n{a}", "to": f"n{b}", "app": app, "start": "1s", "start_jitter": "0s"}
        for a, b in wired_pairs(nodes, flows, seed)
    ]
    return {
        "duration": "20s", "network": {"kind": "graph"}, "node": [{"name": f"n{i}"} for i in range(nodes)], "link": links,
        "tcp": AGENTS[algorithm].tcp(header), "flow": listed,
    }  # fmt: skip


# ---------------------------------------------------------------- 000, satellite

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


def geo_000(algorithm: str, answers: bool = False) -> Scenario:
    """Return the two flows over the geostationary satellite: two terminals, and a wired node behind each of them."""
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
        "duration": f"{SATELLITE_S}s", "network": {"kind": "graph"}, "tcp": AGENTS[algorithm].tcp(),
        "node": [{"name": name} for name in ("berkeley", "geo", "boston", "w300", "w303")],
        "link": links, "flow": [flow | {"start_jitter": "0s", "silent": not answers} for flow in flows],
    }  # fmt: skip


def plane_000(algorithm: str, satellites: int, altitude_km: float, answers: bool = False) -> Scenario:
    """Return the flow over one plane of polar satellites, between two terminals on the equator."""
    east, west = ({"name": name, "lat_deg": 0.0, "lon_deg": at} for name, at in (("east", 10.0), ("west", -10.0)))
    network = {
        "kind": "constellation", "preset": "iridium", "profile": "ns2", "planes": 1, "satellites": satellites,
        "altitude_km": altitude_km, "inclination_deg": 90.0, "node_deg": 0.0, "elevation_deg": 8.2, "terminals": [east, west],
    }  # fmt: skip
    app = writes(1 / 90.5, SATELLITE_S)
    flow = {"from": "east", "to": "west", "app": app, "start": "305s", "start_jitter": "0s", "silent": not answers}
    return {"duration": f"{SATELLITE_S}s", "network": network, "tcp": AGENTS[algorithm].tcp(), "flow": [flow]}


# ---------------------------------------------------------------- 001, two hosts


def hosts_001(algorithm: str, packets_per_s: int) -> Scenario:
    """Return one link with errors per byte, writes of 1024 B from 1 s to 9 s.

    ns-3's "classic recovery" changes cwnd in an episode only; what is lost it finds by SACK, as recovery
    of profile `ns3` does.
    """
    link = {
        "from": "a", "to": "b", "rate": "500kbps", "delay": "2ms", "overhead": "2B", "loss": {"kind": "byte", "rate": 1e-4},
        "queue": {"kind": "fq_codel", "device": "100p"},
    }  # fmt: skip
    app = {"kind": "cbr", "rate": f"{8 * packets_per_s}kbps", "size": "1024B", "on_full": "drop"}
    cc = {"newreno": {"name": "newreno"}, "fr": {"name": "fr", "profile": "seed_quirks"}}[algorithm]
    return {
        "duration": "10s", "network": {"kind": "graph"}, "node": [{"name": "a"}, {"name": "b"}], "link": [link],
        "tcp": {"profile": "ns3", "cc": cc},
        "flow": [{"from": "a", "to": "b", "app": app, "start": "1s", "stop": "9s", "start_jitter": "0s"}],
    }  # fmt: skip


# ---------------------------------------------------------------- 004, wired


def wired_004(nodes: int, flows: int, rate_bps: int = 1_000_000) -> Scenario:
    """Return pairs behind one gateway: 10 Mb/s 45 ms to it, 2 Mb/s 0.01 ms from it, with packet errors at both ends."""
    pairs = nodes // 2
    queue = {"kind": "fq_codel", "device": "100p"}
    loss = {"kind": "packet", "p": 1e-4}
    links: list[dict[str, Any]] = []
    for i in range(pairs):
        links.append({"from": f"s{i}", "to": "gw", "rate": "10Mbps", "delay": "45ms", "queue": queue, "overhead": "2B"})
        slow = {"rate": "2Mbps", "delay": "0.01ms", "queue": queue, "overhead": "2B", "loss": loss, "reverse": {"loss": loss}}
        links.append({"from": "gw", "to": f"d{i}", **slow})
    app = {"kind": "cbr", "rate": f"{rate_bps}bps", "size": "512B", "on_full": "drop"}
    listed = [
        {"from": f"s{j % pairs}", "to": f"d{j % pairs}", "app": app, "start": "0.1s", "stop": "50.1s", "start_jitter": "0s"}
        for j in range(flows)
    ]
    names = ["gw", *(f"{side}{i}" for i in range(pairs) for side in "sd")]
    buffers = {"recv_buffer": "2097152B", "send_buffer": "2097152B"}
    return {
        "duration": "50.1s", "network": {"kind": "graph"}, "node": [{"name": name} for name in names], "link": links,
        "tcp": {"profile": "ns3", "cc": {"name": "cubic", "profile": "ns3"}, **buffers},
        "flow": listed,
    }  # fmt: skip
