"""The networks of the TCP-FR and ASRAN reports (ns-3) as scenarios; reports/networks names their repositories and files."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tonopah.reports.worlds import SILENCE, Scenario, own_or

WIRE_QUEUE = {"kind": "fq_codel", "device": "100p", "guarded": "own"}
"""Of every wire of ns-3: FqCoDel above the queue of the device; CoDel asks what waits in the flow's own queue (RFC 8289 §5.4)."""
PPP = "2B"
"""Framing of ns-3's point-to-point links."""
CUBIC = {"name": "cubic", "profile": "ns3"}
CUBE_M = 25
"""Side of the field of both 802.15.4 networks."""
BIG_BUFFERS = {"recv_buffer": "2097152B", "send_buffer": "2097152B"}


def listed_flow(source: str, sink: str, app: dict[str, Any], start_s: float, stop_s: float) -> dict[str, Any]:
    """Return a flow whose application writes from exactly then until it falls silent.

    An application of ns-3 that stops leaves what it has written to TCP, which sends it to the end of the run.
    """
    on = {"kind": "constant", "length": f"{stop_s - start_s:g}s"}
    written = app | {"kind": "on_off", "on": on, "off": SILENCE}
    return {"from": source, "to": sink, "app": written, "start": f"{start_s:g}s", "start_jitter": "0s"}


def cbr(rate_bps: int, size_bytes: int) -> dict[str, Any]:
    """Return what an application of ns-3 writes: what does not fit into the buffer is lost to it."""
    return {"rate": f"{rate_bps}bps", "size": f"{size_bytes}B", "on_full": "drop"}


def kilobits(packets_per_s: int, payload_bytes: int) -> int:
    """Return the rate of the TCP-FR report: N x payload x 8 / 1024 rounded down, in units of 1000 bit/s."""
    return 1000 * (packets_per_s * payload_bytes * 8 // 1024)


# ---------------------------------------------------------------- TCP-FR, two hosts


def fr_tcp(algorithm: Any, smoothed_rtt: bool = True, **slips: Any) -> dict[str, Any]:
    """Return TCP of ns-3 with an algorithm; `fr` is the author's class but for the slips that are changed.

    Without `smoothed_rtt` it has the RTT of each data segment, which ns-3 does not hand to it.
    """
    fr = {"name": "fr", "profile": "code", **slips}
    estimator = {} if smoothed_rtt else {"rtt_estimator": "rfc"}
    return {"profile": "ns3", "cc": own_or({"fr": fr, "cubic": CUBIC}, algorithm), **estimator}


def fr_hosts(algorithm: Any, packets_per_s: int, **slips: Any) -> Scenario:
    """Return one link with errors per byte, writes of 1024 B from 1 s to 9 s.

    ns-3's "classic recovery" changes cwnd in an episode only; what is lost it finds by SACK, as recovery
    of profile `ns3` does.
    """
    link = {
        "from": "a", "to": "b", "rate": "500kbps", "delay": "2ms", "overhead": PPP, "loss": {"kind": "byte", "rate": 1e-4},
        "queue": WIRE_QUEUE,
    }  # fmt: skip
    return {
        "duration": "10s", "network": {"kind": "graph"}, "node": [{"name": "a"}, {"name": "b"}], "link": [link],
        "tcp": fr_tcp(algorithm, **slips),
        "flow": [listed_flow("a", "b", cbr(kilobits(packets_per_s, 1024), 1024), 1, 9)],
    }  # fmt: skip


# ---------------------------------------------------------------- TCP-FR, 802.11


def fr_pairs(flows: int, stations: int) -> list[tuple[int, int]]:
    """Return who sends to whom: i to i, then, of what is left, station 0 to 1, 2 and so on, station 1 to 0, 2 and so on.

    Where nothing is left the script counts down from 0, an unsigned number, and all pairs get a connection.
    """
    count = flows // 2
    straight = [(i, i) for i in range(min(count, stations))]
    crossed = [(i, j) for i in range(stations) for j in range(stations) if i != j]
    return straight + (crossed if count == stations else crossed[: max(0, count - stations)])


def fr_dumbbell(
    tcp: Mapping[str, Any], stations: int, pairs: Sequence[tuple[int, int]], rate_bps: int, order: Sequence[str],
    times: tuple[float, float, float], range_m: float | None,
) -> Scenario:  # fmt: skip
    """Return two access points joined by 1 Mb/s, each with `stations` on a channel of its own; `order` is that of the grid.

    `times` are the start of the flows, their stop, and the end of the run.
    """
    nodes = [{"name": name, "x": 0.5 * (k % 3), "y": float(k // 3)} for k, name in enumerate(order)]
    radio: dict[str, Any] = {"profile": "ns3", "standard": "a", "rate_control": "aarf", "arp": "ns3"}
    if range_m is not None:
        radio["max_range"] = f"{range_m}m"
    channels = [
        {"stations": [ap, *(f"{side}{i}" for i in range(stations))], "radio": radio,
         "routing": {"kind": "access_points", "stations": [ap], "beacons": "airtime"}}
        for side, ap in (("left", "ap0"), ("right", "ap1"))
    ]  # fmt: skip
    wire = {"from": "ap0", "to": "ap1", "rate": "1Mbps", "delay": "2ms", "queue": WIRE_QUEUE, "overhead": PPP}
    start, stop, end = times
    app = cbr(rate_bps, 1024)
    return {
        "duration": f"{end:g}s", "network": {"kind": "graph"}, "node": nodes, "link": [wire], "channel": channels,
        "tcp": {**tcp, "mss": "1024B"},
        "flow": [listed_flow(f"left{i}", f"right{j}", app, start, stop) for i, j in pairs],
    }  # fmt: skip


def names(side: str, count: int) -> list[str]:
    """Return the names of the stations of a side."""
    return [f"{side}{i}" for i in range(count)]


def fr_wifi(algorithm: Any, nodes: int, flows: int, nodes_and_flows: int, packets_per_s: int, range_m: float) -> Scenario:
    """Return the dumbbell of `taskA.cc`; nothing arrives beyond `range_m`. `nodes_and_flows`, if not 0, stands for both."""
    nodes, flows = (nodes_and_flows, nodes_and_flows) if nodes_and_flows else (nodes, flows)
    stations = nodes // 2 - 1
    order = [*names("left", stations), "ap0", *names("right", stations), "ap1"]
    rate_bps = kilobits(packets_per_s, 1024)
    return fr_dumbbell(fr_tcp(algorithm), stations, fr_pairs(flows, stations), rate_bps, order, (1, 19, 22), range_m)


def fr_comparison(algorithm: Any, packets_per_s: int, **slips: Any) -> Scenario:
    """Return the dumbbell of `CompNetwork.cc`: four stations a side, four flows."""
    order = [*names("left", 4), *names("right", 4), "ap0", "ap1"]
    rate_bps = kilobits(packets_per_s, 1024)
    return fr_dumbbell(fr_tcp(algorithm, **slips), 4, [(i, i) for i in range(4)], rate_bps, order, (1, 24, 25), None)


# ---------------------------------------------------------------- TCP-FR and ASRAN, 802.15.4


def lrwpan(
    algorithm: Any, places: list[list[float]], speed: float, segment_bytes: int, flows: list[dict[str, Any]], duration: str,
    flooding: bool,
) -> Scenario:  # fmt: skip
    """Return stations of 802.15.4 that flood every frame over ten hops and move straight on in a cube of 25 m.

    Without `flooding` frames take shortest paths, which are known without messages. ns-3 draws a speed for each station once
    (alpha 1); here all have the mean. Its model puts a station that stands outside the cube on the nearest point of it when the
    run begins, so that rows of stations share a place.
    """
    cube = {"x": f"{CUBE_M}m", "y": f"{CUBE_M}m", "z": f"{CUBE_M}m"}
    inside = [[*(min(value, float(CUBE_M)) for value in place), 0.0] for place in places]
    mobility = {
        "kind": "gauss_markov", "alpha": 1.0, "interval": "5s", "speed": f"{speed / 2:g}m/s", "speed_noise": 0.0,
        "direction_noise": 0.0, "pitch_noise": 0.0, "field": cube,
    }  # fmt: skip
    flood = {"lrwpan": {"mesh_under": 10}} if flooding else {}
    network = {
        "kind": "adhoc", "nodes": len(places), "flows": 0, "area": cube, "mobility": mobility,
        "placement": {"kind": "list", "positions": inside},
        "radio": {"standard": "802.15.4", "profile": "ns3", "queue_limit": 100000, **flood},
        "routing": {"kind": "shortest"},
    }  # fmt: skip
    tcp = {"profile": "ns3", "cc": algorithm, "mss": f"{segment_bytes}B", **BIG_BUFFERS}
    return {"duration": duration, "network": network, "tcp": tcp, "flow": flows}


def fr_pan(
    algorithm: Any, nodes: int, flows: int, nodes_and_flows: int, packets_per_s: int, speed: float, flooding: bool
) -> Scenario:
    """Return the network of `taskA2.cc`: node i sends to node i - 1. `nodes_and_flows`, if not 0, stands for both."""
    nodes, flows = (nodes_and_flows, nodes_and_flows) if nodes_and_flows else (nodes, flows)
    wide = math.isqrt(nodes)
    places = [[0.5 * (k % wide), float(k // wide)] for k in range(nodes)]
    app = cbr(max(1000, kilobits(packets_per_s, 32)), 32)
    ends = [1 + i % (nodes - 1) for i in range(flows // 2)]
    listed = [listed_flow(f"n{i}", f"n{i - 1}", app, 1, 20) for i in ends]
    return lrwpan(algorithm, places, speed, 32, listed, "20s", flooding)


def asran_pan(
    nodes: int, flows: int, packets_per_s: int, speed: float, flooding: bool = True, algorithm: Any = "newreno"
) -> Scenario:
    """Return the network of `Task_A2.cc`: all send to station 0."""
    places = [[5.0 * (k % 3), 10.0 * (k // 3)] for k in range(nodes + 1)]
    app = cbr(packets_per_s * 100 * 8, 100)
    listed = [listed_flow(f"n{1 + f % nodes}", "n0", app, 0, 100) for f in range(flows)]
    return lrwpan(algorithm, places, speed, 100, listed, "100s", flooding)


# ---------------------------------------------------------------- ASRAN, wired


def asran_wired(nodes: int, flows: int, rate_bps: int, exchanged: bool = True, algorithm: Any = "cubic") -> Scenario:
    """Return pairs behind one gateway: 10 Mb/s 45 ms to it, 2 Mb/s 0.01 ms from it, with packet errors at both ends.

    Unless `exchanged` it is the other way round, as the report's table has it; the errors stay on the links to the sinks.
    """
    pairs = nodes // 2
    loss = {"kind": "packet", "p": 1e-4}
    long, slow = {"rate": "10Mbps", "delay": "45ms"}, {"rate": "2Mbps", "delay": "0.01ms"}
    first, second = (long, slow) if exchanged else (slow, long)
    wire = {"queue": WIRE_QUEUE, "overhead": PPP}
    links: list[dict[str, Any]] = []
    for i in range(pairs):
        links.append({"from": f"s{i}", "to": "gw", **first, **wire})
        links.append({"from": "gw", "to": f"d{i}", **second, **wire, "loss": loss, "reverse": {"loss": loss}})
    app = cbr(rate_bps, 512)
    listed = [listed_flow(f"s{j % pairs}", f"d{j % pairs}", app, 0.1, 50.1) for j in range(flows)]
    names = ["gw", *(f"{side}{i}" for i in range(pairs) for side in "sd")]
    return {
        "duration": "50.1s", "network": {"kind": "graph"}, "node": [{"name": name} for name in names], "link": links,
        "tcp": {"profile": "ns3", "cc": own_or({"cubic": CUBIC}, algorithm), **BIG_BUFFERS},
        "flow": listed,
    }  # fmt: skip


# ---------------------------------------------------------------- ASRAN, 802.11n


def wifi_n(places: list[list[float]], aggregation: bool, own_mobility: dict[str, Any]) -> dict[str, Any]:
    """Return stations of 802.11n with HtMcs7 that hear one another up to 60 m, with DSDV."""
    radio = {
        "profile": "ns3", "standard": "n", "data_rate": "65Mbps", "aggregation": aggregation,
        "propagation": {"kind": "range", "distance": "60m"},
    }  # fmt: skip
    return {
        "kind": "adhoc", "nodes": len(places), "flows": 0, "area": {"x": "200m", "y": "200m"},
        "placement": {"kind": "list", "positions": places}, "own_mobility": own_mobility, "radio": radio,
        "routing": {"kind": "dsdv", "profile": "ns3"},
    }  # fmt: skip


UAV_PLACES = [[50.0, 50.0], [130.0, 90.0], [10.0, 90.0], [80.0, 90.0], [50.0, 120.0], [50.0, 160.0]]


def asran_uav(algorithm: Any, aggregation: bool) -> Scenario:
    """Return `simulation.cc`: station 3, on the path from 0 to 5, leaves at 9.1 s. It records the window, as the script does."""
    leave = {"n3": {"kind": "waypoints", "points": [{"at": "9.1s", "x": 140.0, "y": 90.0, "jump": True}]}}
    # An ON-OFF application that is always on.
    app = cbr(100_000_000, 1472)
    return {
        "duration": "31s", "network": wifi_n(UAV_PLACES, aggregation, leave),
        "tcp": {"profile": "ns3", "mss": "1472B", "cc": algorithm},
        "flow": [listed_flow("n0", "n5", app, 2, 31)], "record": {"series": ["cwnd"], "every": "100ms"},
    }  # fmt: skip


FAIR_PLACES = [[20.0, 90.0], [65.0, 90.0], [20.0, 150.0], [65.0, 150.0], [40.0, 120.0], [60.0, 120.0]]
FAIR_FLOWS = ((0, 5), (2, 5), (1, 4), (3, 4))
"""Groups 0, 2 and 1, 3."""


def asran_fair(first: Any, second: Any) -> Scenario:
    """Return `fairness.cc`: group 0, 2 with one algorithm, group 1, 3 with another, or as the script runs it with the same."""
    app = cbr(10_000_000, 1472)
    algorithms = (first, first, second, second)
    return {
        "duration": "31s", "network": wifi_n(FAIR_PLACES, aggregation=True, own_mobility={}),
        "tcp": {"profile": "ns3", "mss": "1472B"},
        "flow": [
            listed_flow(f"n{a}", f"n{b}", app, 2, 31) | {"cc": cc}
            for (a, b), cc in zip(FAIR_FLOWS, algorithms, strict=True)
        ],
    }  # fmt: skip
