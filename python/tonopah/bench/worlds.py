"""The worlds of `tonopah bench`. A new one is an entry in WORLDS; a peer runs it if it has a program for its kind of network."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

SIDE_M = 500.0
SPEED_M_S = 10.0
SEED = 1
GROWTH = "flows"
"""With this begin the names of the worlds that show how cost grows with the number of flows."""


@dataclass(frozen=True)
class World:
    """A scenario, and the settings of the program of a peer."""

    name: str
    title: str
    seconds: float
    """Simulated."""
    build: Callable[[float], dict[str, Any]]
    """Makes the scenario for a number of simulated seconds."""
    hops: str
    """What a data packet passes on its way, in every simulator."""
    peers: tuple[str, ...] = ("ns2", "ns3")
    """Who has what it takes."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the world file for peers."""
    radio: bool = False
    """Chance has so large a part in it that two simulators need not deliver the same."""


def dumbbell(flows: int, seconds: float, gbps: float = 0.1) -> dict[str, Any]:
    """Return N pairs of hosts around one link: 44 ms round trip, a queue of one BDP, windows that do not limit.

    The full endpoint: Linux's Reno with SACK, RACK-TLP, timestamps. What is compared with the other simulators' default TCP
    must not be faster for doing less.
    """
    packets = math.floor(gbps * 1e9 * 0.044 / 8 / 1500)
    access_gbps = max(1.0, gbps)
    access = {"rate": f"{access_gbps:g}Gbps", "delay": "1ms", "queue": "100000p"}
    bottleneck = {"rate": f"{gbps:g}Gbps", "delay": "20ms", "queue": {"kind": "drop_tail", "limit": f"{packets}p"}}
    return {
        "duration": f"{seconds:g}s",
        "network": {"kind": "dumbbell", "pairs": flows, "access": access, "bottleneck": bottleneck},
        "tcp": {"cc": {"name": "reno", "profile": "linux"}, "recovery": "rack", "timestamps": True, "mss": "1448B"},
        "flow": [
            {"from": f"left{i}", "to": f"right{i}", "app": {"kind": "bulk"}, "start": f"{100 * i // flows}ms"}
            for i in range(flows)
        ],
    }


def growing(flows: int, seconds: float) -> dict[str, Any]:
    """Return a dumbbell whose bottleneck has 1 Mb/s for each flow; the endpoint, the path and its queue as in `dumbbell`.

    A window of four segments for a BDP of 3.7 keeps the link busy and a queue standing without losses, so that a packet means the
    same work at every size, and from the first round trip on: at 100,000 flows a run cannot last many.
    """
    rate_mbps = flows
    queue = math.floor(rate_mbps * 1e6 * 0.044 / 8 / 1500)
    return {
        "duration": f"{seconds:g}s",
        "network": {
            "kind": "dumbbell",
            # A dumbbell has at most so many pairs; beyond, pairs carry two flows.
            "pairs": min(flows, 50_000),
            "flows": flows,
            "access": {"rate": "1Gbps", "delay": "1ms", "queue": "100000p"},
            "bottleneck": {"rate": f"{rate_mbps}Mbps", "delay": "20ms", "queue": {"kind": "drop_tail", "limit": f"{queue}p"}},
        },
        "tcp": {
            "cc": {"name": "reno", "profile": "linux"}, "recovery": "rack", "timestamps": True, "mss": "1448B",
            "recv_buffer": f"{4 * 1448}B",
        },
        "traffic": {"app": {"kind": "bulk"}, "start_jitter": "100ms"},
    }  # fmt: skip


def web(flows_per_s: int, seconds: float) -> dict[str, Any]:
    """Return flows of 10 kB that come and go, about a thousand at a time: a handshake, seven segments, a close.

    The endpoint as in `dumbbell`; 62 ms round trip, the link at 82 % of its rate.
    """
    access = {"rate": "1Gbps", "delay": "1ms", "queue": "100000p"}
    bottleneck = {"rate": f"{flows_per_s / 10_000:g}Gbps", "delay": "29ms", "queue": {"kind": "drop_tail", "limit": "5000p"}}
    return {
        "duration": f"{seconds:g}s",
        "network": {"kind": "dumbbell", "pairs": 50, "access": access, "bottleneck": bottleneck},
        "tcp": {"cc": {"name": "reno", "profile": "linux"}, "recovery": "rack", "timestamps": True, "mss": "1448B"},
        "record": {"flows": "none"},
        "workload": [
            {
                "name": "web", "from": ["left*"], "to": ["right*"],
                "arrivals": {"kind": "poisson", "rate": f"{flows_per_s}/s"}, "size": {"kind": "constant", "bytes": "10kB"},
            }
        ],
    }  # fmt: skip


def adhoc(stations: int, seconds: float) -> dict[str, Any]:
    """Return stations that walk over a square and pass packets on: 802.11b at 11 Mb/s, ns-2's radio, DSDV, no RTS.

    Places and movement are drawn here, so that every simulator gets the same.
    """
    rng = np.random.default_rng([SEED, stations])
    places = rng.uniform(0, SIDE_M, (stations, 2))
    return {
        "duration": f"{seconds:g}s",
        "network": {
            "kind": "adhoc",
            "nodes": stations,
            "flows": stations // 2,
            "area": {"x": f"{SIDE_M:g}m", "y": f"{SIDE_M:g}m"},
            "placement": {"kind": "list", "positions": places.tolist()},
            "own_mobility": {
                f"n{i}": {"kind": "setdest", "orders": orders(rng, place, seconds)} for i, place in enumerate(places)
            },
            "radio": {
                "profile": "ns2", "standard": "b", "data_rate": "11Mbps", "basic_rate": "1Mbps", "control_rate": "1Mbps",
                "rts_threshold": "3000B",
            },
            "routing": {"kind": "dsdv"},
        },
        "tcp": {"profile": "ns2", "cc": "newreno", "mss": "1000B"},
        "traffic": {"app": {"kind": "bulk"}, "start": "1s"},
    }  # fmt: skip


def orders(rng: np.random.Generator, place: np.ndarray, seconds: float) -> list[dict[str, Any]]:
    """Return one station's way: straight to somewhere in the square at a constant speed, and on without a rest."""
    found, at = [], 0.0
    while at < seconds:
        goal = rng.uniform(0, SIDE_M, 2)
        found.append({"at": f"{round(at * 1e9)}ns", "x": float(goal[0]), "y": float(goal[1]), "speed": f"{SPEED_M_S:g}m/s"})
        at += float(np.hypot(*(goal - place))) / SPEED_M_S
        place = goal
    return found


def aggregated(stations: int, seconds: float) -> dict[str, Any]:
    """Return stations within 10 m, all in reach: 802.11n at 65 Mb/s, frames in A-MPDUs that block ACKs answer.

    The endpoint, the radio and the buffers are ns-3's; as many flows as stations send all that they can.
    """
    return {
        "duration": f"{seconds:g}s",
        "network": {
            "kind": "adhoc", "nodes": stations, "flows": stations, "area": {"x": "10m", "y": "10m"},
            "radio": {"profile": "ns3", "standard": "n", "data_rate": "65Mbps"}, "routing": {"kind": "shortest"},
        },
        "tcp": {"profile": "ns3", "cc": "newreno", "mss": "1472B"},
        "traffic": {"app": {"kind": "bulk"}, "start": "1s"},
    }  # fmt: skip


def low_rate(stations: int, network: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Return 802.15.4 stations that write 200 times a second 100 bytes into TCP, more than the radio carries."""
    return {
        "duration": f"{seconds:g}s",
        "network": {"kind": "adhoc", "nodes": stations, "radio": {"standard": "802.15.4"}, **network},
        "tcp": {"profile": "ns3", "cc": "newreno", "mss": "256B"},
        "traffic": {"app": {"kind": "cbr", "rate": "200pps", "size": "100B", "on_full": "drop"}},
    }


def satellites(flows: int, seconds: float) -> dict[str, Any]:
    """Return Iridium with two terminals for each flow between 60° south and north."""
    terminals = [
        {"name": f"t{i}", "lat_deg": latitude, "lon_deg": longitude} for i, (latitude, longitude) in enumerate(ground(2 * flows))
    ]
    return {
        "duration": f"{seconds:g}s",
        "network": {"kind": "constellation", "preset": "iridium", "profile": "ns2", "terminals": terminals, "flows": flows},
        "tcp": {"profile": "ns2", "cc": "newreno", "mss": "1000B"},
        "traffic": {"app": {"kind": "bulk"}, "start": "1s"},
    }


def ground(count: int) -> list[tuple[float, float]]:
    """Return latitudes and longitudes, each the farthest of 50 draws from those before (Mitchell's best candidate).

    Apart from each other, because terminals under the same satellite share its downlink: together they would load a few of them.
    """
    rng = np.random.default_rng([SEED, count])
    found = np.empty((0, 3))
    for _ in range(count):
        z, angle = rng.uniform(-math.sin(math.radians(60)), math.sin(math.radians(60)), 50), rng.uniform(-math.pi, math.pi, 50)
        flat = np.sqrt(1 - z**2)
        drawn = np.column_stack([flat * np.cos(angle), flat * np.sin(angle), z])
        nearest = (drawn @ found.T).max(axis=1, initial=-1.0)
        found = np.vstack([found, drawn[np.argmin(nearest)]])
    return [(math.degrees(math.asin(z)), math.degrees(math.atan2(y, x))) for x, y, z in found.tolist()]


def fat_tree(ports: int, flows_per_s: int, seconds: float) -> dict[str, Any]:
    """Return a fat tree of switches with so many ports, and the flows of a web search among all its hosts.

    Links of 10 Gb/s that mark from 65 packets on, for DCTCP; each flow on one of the equal paths.
    """
    queue = {"kind": "drop_tail", "limit": "250p", "mark_threshold": 65}
    return {
        "duration": f"{seconds:g}s",
        "network": {"kind": "fat_tree", "k": ports, "link": {"rate": "10Gbps", "delay": "1us", "queue": queue}},
        "tcp": {"cc": "dctcp", "mss": "1448B", "rto_min": "10ms"},
        "record": {"flows": "none"},
        "workload": [
            {
                "name": "search", "from": ["h*"], "to": ["h*"], "size": {"kind": "web_search"},
                "arrivals": {"kind": "poisson", "rate": f"{flows_per_s}/s"},
            }
        ],
    }  # fmt: skip


RENO = {"peer_window": 10_000, "peer_tcp": "TCP/Newreno", "peer_sink": "TCPSink/DelAck"}
SACK = {"peer_window": 100_000, "peer_tcp": "TCP/Sack1", "peer_sink": "TCPSink/Sack1/DelAck"}
"""What ns-2 runs against our full endpoint. Without SACK it would take minutes to repair the first overflow of a long path."""

CUBE = {
    "flows": 19, "pattern": "one_sink", "area": {"x": "25m", "y": "25m", "z": "25m"},
    "mobility": {"kind": "gauss_markov", "speed": "10m/s"},
}  # fmt: skip
FIELD = {
    "flows": 20, "area": {"x": "100m", "y": "100m"}, "mobility": {"kind": "random_waypoint", "speed": "4m/s", "pause": "2s"},
}  # fmt: skip
"""Networks of reports that docs/studies.md repeats: everybody to one station within reach, and any to any over several hops."""

WIRED = ("ns2", "ns2-lean", "ns3")

LINKS = "3 links"
FRAMES = "1 to 3 frames"
SPACE = "up, down, 1 to 9 between satellites"

WORLDS = (
    World("wired10", "dumbbell, 10 flows, 100 Mb/s", 60, partial(dumbbell, 10), LINKS, WIRED, settings=RENO),
    World("wired200", "dumbbell, 200 flows, 100 Mb/s", 60, partial(dumbbell, 200), LINKS, WIRED, settings=RENO),
    World("wired1000", "dumbbell, 1,000 flows, 100 Mb/s", 60, partial(dumbbell, 1000), LINKS, WIRED, settings=RENO),
    World("wired10g", "dumbbell, 10 flows, 10 Gb/s", 3, partial(dumbbell, 10, gbps=10.0), LINKS, WIRED, settings=SACK),
    World("web100k", "dumbbell, 100,000 flows of 10 kB, 1 Gb/s", 10, partial(web, 10_000), LINKS, peers=("ns2",), settings=RENO),
    World("wifi40", "ad hoc 802.11b, 40 stations, 20 flows", 100, partial(adhoc, 40), FRAMES, radio=True),
    World("wifi100", "ad hoc 802.11b, 100 stations, 50 flows", 100, partial(adhoc, 100), FRAMES, radio=True),
    World("wifi200", "ad hoc 802.11b, 200 stations, 100 flows", 100, partial(adhoc, 200), FRAMES, radio=True),
    World("wifin10", "802.11n, 10 stations, 10 flows, A-MPDU", 100, partial(aggregated, 10), "1 frame", peers=(), radio=True),
    World("lrwpan20", "802.15.4, 20 stations, 19 flows to one", 100, partial(low_rate, 20, CUBE), "1 link", peers=(), radio=True),
    World(
        "lrwpan40",
        "802.15.4, 40 stations, 20 flows, mesh",
        100,
        partial(low_rate, 40, FIELD),
        "1 to 4 links",
        peers=(),
        radio=True,
    ),
    # 56,000 flows/s of 1,711,250 B are 0.6 of 128 links of 10 Gb/s.
    World(
        "fattree8",
        "fat tree, 128 hosts, web search at load 0.6, 2,240 flows",
        0.04,
        partial(fat_tree, 8, 56_000),
        "2 to 6 links",
        peers=(),
    ),
    World("leo10", "Iridium, 20 terminals, 10 flows", 100, partial(satellites, 10), SPACE, peers=("ns2",)),
    World("leo50", "Iridium, 100 terminals, 50 flows", 100, partial(satellites, 50), SPACE, peers=("ns2",)),
    *(
        World(f"{GROWTH}{flows}", f"dumbbell, {flows:,} flows, 1 Mb/s each", seconds, partial(growing, flows), LINKS, peers=())
        for flows, seconds in ((10, 2400), (100, 240), (1000, 24), (10_000, 3), (100_000, 0.5))
    ),
)
"""In the order of the tables."""
