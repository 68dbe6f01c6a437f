"""The scenarios of the worlds of `python -m tonopah_dev.bench`: each function makes one for a number of simulated seconds."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tonopah.scenario.worlds import bulk, drop_tail, dumbbell, link

SIDE_M = 500.0
SPEED_M_S = 10.0
SEED = 1
RENO = {"cc": {"name": "reno", "profile": "linux"}, "recovery": "rack", "timestamps": True, "mss": "1448B"}
"""The full endpoint: SACK, RACK-TLP and timestamps of Linux."""


def wired(flows: int, seconds: float, gbps: float = 0.1) -> dict[str, Any]:
    """Return N pairs of hosts around one link: 44 ms round trip, a queue of one BDP, windows that do not limit.

    The full endpoint: Linux's Reno with SACK, RACK-TLP, timestamps. What is compared with the other simulators' default TCP
    must not be faster for doing less.
    """
    packets = math.floor(gbps * 1e9 * 0.044 / 8 / 1500)
    path = link(f"{gbps:g}Gbps", "20ms", drop_tail(packets))
    access = link(f"{max(1.0, gbps):g}Gbps", "1ms", "100000p")
    starts = [(f"left{i}", f"right{i}", f"{100 * i // flows}ms") for i in range(flows)]
    flow = [{"from": left, "to": right, "app": bulk(), "start": start} for left, right, start in starts]
    return dumbbell(f"{seconds:g}s", path, RENO, pairs=flows, access=access, flow=flow)


def growing(flows: int, seconds: float) -> dict[str, Any]:
    """Return a dumbbell whose bottleneck has 1 Mb/s for each flow; the endpoint, the path and its queue as in `wired`.

    A window of four segments for a BDP of 3.7 keeps the link busy and a queue standing without losses, so that a packet means the
    same work at every size, and from the first round trip on: at 100,000 flows a run cannot last many.
    """
    path = link(f"{flows}Mbps", "20ms", drop_tail(math.floor(flows * 1e6 * 0.044 / 8 / 1500)))
    traffic = {"app": bulk(), "start_jitter": "100ms"}
    tcp = {**RENO, "recv_buffer": f"{4 * 1448}B"}
    # A dumbbell has at most so many pairs; beyond, pairs carry two flows.
    ends = {"pairs": min(flows, 50_000), "flows": flows, "access": link("1Gbps", "1ms", "100000p")}
    return dumbbell(f"{seconds:g}s", path, tcp, **ends, traffic=traffic)


def web(flows_per_s: int, seconds: float) -> dict[str, Any]:
    """Return flows of 10 kB that come and go, about a thousand at a time: a handshake, seven segments, a close.

    The endpoint as in `wired`; 62 ms round trip, the link at 82 % of its rate.
    """
    path = link(f"{flows_per_s / 10_000:g}Gbps", "29ms", drop_tail(5000))
    arrivals = {"kind": "poisson", "rate": f"{flows_per_s}/s"}
    workload = {
        "name": "web",
        "from": ["left*"],
        "to": ["right*"],
        "arrivals": arrivals,
        "size": {"kind": "constant", "bytes": "10kB"},
    }
    keys = {"record": {"flows": "none"}, "workload": [workload]}
    return dumbbell(f"{seconds:g}s", path, RENO, pairs=50, access=link("1Gbps", "1ms", "100000p"), **keys)


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


def leaf_spine(hosts: int, flows_per_s: int, seconds: float) -> dict[str, Any]:
    """Return as many leaves as each has hosts, half as many spines, and the flows of `fat_tree` among all hosts."""
    leaves = math.isqrt(hosts)
    queue = {"kind": "drop_tail", "limit": "250p", "mark_threshold": 65}
    rates = {"host_link": "10Gbps", "fabric": "40Gbps"}
    links = {name: {"rate": rate, "delay": "1us", "queue": queue} for name, rate in rates.items()}
    network = {"kind": "leaf_spine", "leaves": leaves, "spines": leaves // 2, "hosts": leaves, **links}
    return {**fat_tree(2, flows_per_s, seconds), "network": network}


def constellation(planes: int, satellites_each: int, flows: int, seconds: float) -> dict[str, Any]:
    """Return Iridium with more planes, and more satellites in each; terminals and flows as in `satellites`, links faster."""
    world = satellites(flows, seconds)
    network = {**world["network"], "profile": "std", "planes": planes, "satellites": satellites_each}
    links = {"uplink": {"rate": "20Mbps"}, "downlink": {"rate": "20Mbps"}, "isl": {"rate": "1Gbps", "queue": "1000p"}}
    return {**world, "network": {**network, **links}, "tcp": RENO}


def parking_lot(hops: int, seconds: float) -> dict[str, Any]:
    """Return a chain of routers, a flow over each link and one over all."""
    link = {"rate": "100Mbps", "delay": "5ms", "queue": "1bdp"}
    return {
        "duration": f"{seconds:g}s",
        "network": {"kind": "parking_lot", "hops": hops, "access": {"rate": "1Gbps", "delay": "5ms"}, "link": link},
        "tcp": {"cc": "cubic"},
    }
