"""Radios and satellites as people measured them: testbeds, boards, users of satellites.

Where boards had what no default has (more attempts, random delays between them, a slow bus), the row says so.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tonopah_dev.published.case import PublishedCase, about, within
from tonopah_dev.published.worlds import Series, Summary, WrittenWorld

Table = dict[str, Any]
Measure = Callable[[WrittenWorld, Summary, Series], float]

THREAD = "boards with nRF52840: openthread issue 6337; 3 retries (with the 15 of these boards 53 over two hops)"
TCPLP = "Kumar et al. 2020 (TCPlp); as on its boards"
"""Ten attempts, up to 40 ms apart: `pkg/openthread/include/platform_config.h` of the authors' RIOT-OS."""
BOARDS = {"max_retries": 9, "retry_delay": "40ms"}
UDP = {"kind": "cbr", "transport": "udp"}


def cases() -> Iterator[PublishedCase]:
    """Return all cases."""
    for group in (boards, cards, calls, satellites):
        yield from group()


def chain(positions: Sequence[float], radio: Table, flows: Sequence[Table], seconds: int, **more: Any) -> WrittenWorld:
    """Return stations in a row, at these metres, without generated flows."""
    placed = {"kind": "list", "positions": [[x, 5.0] for x in positions]}
    network = {"kind": "adhoc", "nodes": len(positions), "flows": 0, "area": {"x": "20000m", "y": "10m"}, "placement": placed}
    return WrittenWorld(
        {"duration": f"{seconds}s", "warmup": f"{seconds // 10}s", "network": network | {"radio": radio}, "flow": flows} | more
    )


def hops(number: int, metres: float, radio: Table, seconds: int, **flow: Any) -> WrittenWorld:
    """Return a TCP flow over one hop, and far from it another over several."""
    far = 10_000.0
    positions = [0.0, metres, *(far + metres * hop for hop in range(number + 1))]
    flows = [{"from": "n0", "to": "n1", **flow}, {"from": "n2", "to": f"n{number + 2}", **flow}]
    return chain(positions, radio, flows, seconds)


def goodput(flow: int, unit: float) -> Measure:
    """Return a measure: the goodput of a flow."""
    return lambda _world, summary, _series: summary["flows"][flow]["goodput_bps"] / unit


def second_to_first(_world: WrittenWorld, summary: Summary, _series: Series) -> float:
    """Return the goodput of the second flow / that of the first."""
    first, second = (flow["goodput_bps"] for flow in summary["flows"])
    return second / first


def boards() -> Iterator[PublishedCase]:
    """802.15.4: UDP over routers, TCP over hops, round trips between two boards."""
    long = {"standard": "802.15.4", "lrwpan": {"addresses": "long"}}
    for number, kbps in ((1, 110), (2, 45)):
        app = UDP | {"rate": "200kbps", "size": "1128B"}
        world = chain([30.0 * i for i in range(number + 1)], long, [{"from": "n0", "to": f"n{number}", "app": app}], 60)
        yield PublishedCase(f"lrwpan/udp-{number}-hops", THREAD, "kb/s", world, goodput(0, 1e3), **within(kbps, 0.15), seeds=5)
    segments = {"mss": "462B", "send_buffer": "1848B", "recv_buffer": "1848B"}
    for number, part, low in ((2, 0.44, 0.38), (3, 0.30, 0.26)):
        world = hops(number, 30.0, {"standard": "802.15.4", "lrwpan": BOARDS}, 120, tcp=segments)
        source = f"{TCPLP}, 9 retries after 0 to 40 ms"
        allowed = about(part, part - low, part - low)
        yield PublishedCase(f"lrwpan/tcp-{number}-hops", source, "of one hop", world, second_to_first, **allowed, seeds=5)
    slow = {"standard": "802.15.4", "lrwpan": BOARDS | {"board_time": "4.1ms"}}
    world = chain([0.0, 30.0], slow, [{"from": "n0", "to": "n1", "tcp": segments}], 60)
    source = f"{TCPLP}, 8.2 ms a frame"
    yield PublishedCase("lrwpan/slow-bus", source, "kb/s", world, goodput(0, 1e3), **about(69.5, 5.5, 5.5))
    small = UDP | {"rate": "20pps", "size": "8B"}
    flows = [{"from": "n0", "to": "n1", "app": small}, {"from": "n1", "to": "n0", "start": "25ms", "app": small}]
    for name, radio in (("", {}), ("-boards", {"board_time": "1.475ms"})):
        world = chain([0.0, 5.0], {"standard": "802.15.4", "lrwpan": {"addresses": "long"} | radio}, flows, 60)
        if radio:
            source = "RIOT issue 4142; 2.95 ms a round trip in the boards"
            yield PublishedCase(f"lrwpan/ping{name}", source, "mean, ms", world, round_trip("delay_s"), **within(8.659, 0.02))
        else:
            above = "mean above the least, ms"
            yield PublishedCase("lrwpan/ping", "RIOT issue 4142", above, world, above_least, **within(2.25, 0.05))


def round_trip(delay: str) -> Measure:
    """Return a measure: both ways together, in milliseconds."""
    return lambda _world, summary, _series: 1e3 * sum(flow[delay] for flow in summary["flows"])


def above_least(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return by how many milliseconds the mean round trip is above the least."""
    return round_trip("delay_s")(world, summary, series) - round_trip("delay_min_s")(world, summary, series)


def cards() -> Iterator[PublishedCase]:
    """802.11: hops, carrier sense, the anomaly, saturated UDP."""
    fast = {"standard": "b", "data_rate": "11Mbps"}
    for number in (2, 3):
        world, source = hops(number, 60.0, fast, 30), "1 / hops where all sense one another (Roofnet, SIGCOMM 2004)"
        yield PublishedCase(
            f"wifi-b/{number}-hops", source, "of one hop", world, second_to_first, **within(1 / number, 0.1), seeds=5
        )
    full = UDP | {"rate": "30Mbps", "size": "1472B"}
    flows = [{"from": "n1", "to": "n0", "app": full}, {"from": "n2", "to": "n3", "app": full}]
    world = chain([475.0, 500.0, 650.0, 675.0], {"standard": "b"}, flows, 10)
    source = "Anastasi et al. 2003: carrier sense reaches 200 m"
    yield PublishedCase("wifi-b/carrier-sense-150-m", source, "sum, Mb/s", world, total, **about(6.5, 1.0, 0.6), seeds=2)
    slow = {"standard": "b", "rates": {"n2": "1Mbps"}}
    both = [{"from": "n1", "to": "n0", "app": full}, {"from": "n2", "to": "n0", "app": full}]
    world = chain([0.0, 3.0, 100.0], slow, both, 30)
    source = "Heusse et al. 2003: below that of the slow one"
    yield PublishedCase("wifi-b/anomaly", source, "fast station, Mb/s", world, goodput(0, 1e6), **about(0.85, 0.3, 0.15), seeds=2)
    for name, radio, rate, mbps, source in (
        ("wifi-a/udp-6", {"standard": "a", "data_rate": "6Mbps"}, "30Mbps", 5.35, "measured over one hop (second-hand)"),
        ("wifi-n/udp-mcs7", {"standard": "n"}, "90Mbps", 56.0, "measured with minstrel (second-hand)"),
    ):
        world = chain([0.0, 5.0], radio, [{"from": "n0", "to": "n1", "app": UDP | {"rate": rate, "size": "1472B"}}], 6)
        yield PublishedCase(name, source, "Mb/s", world, goodput(0, 1e6), **within(mbps, 0.08))


def total(_world: WrittenWorld, summary: Summary, _series: Series) -> float:
    """Return the goodput of all flows in Mb/s."""
    return sum(flow["goodput_bps"] for flow in summary["flows"]) / 1e6


def around(number: int) -> list[Table]:
    """Return a server, an access point and stations 5 m from it."""
    stations = [{"name": f"s{i}", "x": 55.0 - 0.01 * i, "y": 50.0} for i in range(number)]
    return [{"name": "srv"}, {"name": "ap", "x": 50.0, "y": 50.0}, *stations]


def cell(number: int, radio: Table, flows: Sequence[Table], seconds: int) -> WrittenWorld:
    """Return a cell with a server behind its access point."""
    names = ["ap", *(f"s{i}" for i in range(number))]
    wire = {"from": "srv", "to": "ap", "rate": "100Mbps", "delay": "1ms", "queue": "1000p"}
    channel = {"stations": names, "gateway": ["ap"], "radio": {"standard": "b", "data_rate": "11Mbps"} | radio}
    return WrittenWorld(
        {"duration": f"{seconds}s", "warmup": f"{seconds // 4}s", "network": {"kind": "graph"}, "node": around(number)}
        | {"link": [wire], "channel": [channel], "flow": flows}
    )


def calls() -> Iterator[PublishedCase]:
    """Voice through an access point, and its buffer between uploads and downloads."""
    voice = UDP | {"rate": "50pps", "size": "172B"}
    for number, allowed in ((15, about(0, 0, 1)), (16, about(10, 6, 15))):
        ends = [("srv", f"s{i}", 1 + 13 * i) for i in range(number)] + [(f"s{i}", "srv", 8 + 13 * i) for i in range(number)]
        flows = [{"from": a, "to": b, "start": f"{start % 20}.3ms", "app": voice} for a, b, start in ends]
        world, source = cell(number, {"preamble": "short"}, flows, 20), "15 calls of 20 ms: testbed of Columbia, 2007"
        yield PublishedCase(f"wifi-b/{number}-calls", source, "lost down, %", world, lost_down, **allowed, seeds=5)
    tcp = {"profile": "linux", "recv_buffer": "64kB"}
    ends = [(f"s{i}", "srv") for i in range(5)] + [("srv", f"s{i}") for i in range(5, 10)]
    flows = [{"from": a, "to": b, "start": f"{i / 10}s", "tcp": tcp} for i, (a, b) in enumerate(ends)]
    world, source = cell(10, {"queue_limit": 50}, flows, 40), "Pilosof et al. 2003: more than ten times"
    yield PublishedCase("wifi-b/up-to-down", source, "up / down", world, up_to_down, **about(20, 10, 1000), seeds=5)


def lost_down(_world: WrittenWorld, summary: Summary, _series: Series) -> float:
    """Return the share of packets from the server that are lost, in percent."""
    down = [flow for flow in summary["flows"] if flow["from"] == "srv"]
    return 100 * (1 - sum(flow["received_packets"] for flow in down) / sum(flow["sent_packets"] for flow in down))


def up_to_down(_world: WrittenWorld, summary: Summary, _series: Series) -> float:
    """Return the goodput of all uploads / that of all downloads."""
    parts = [[flow["goodput_bps"] for flow in summary["flows"] if (flow["to"] == "srv") is up] for up in (True, False)]
    return sum(parts[0]) / sum(parts[1])


def space(preset: str, terminals: Sequence[Table], flows: Sequence[Table], seconds: int, **more: Any) -> WrittenWorld:
    """Return a constellation."""
    network = {"kind": "constellation", "preset": preset, "terminals": terminals} | more.pop("links", {})
    return WrittenWorld({"duration": f"{seconds}s", "network": network, "flow": flows} | more)


def satellites() -> Iterator[PublishedCase]:
    """Satellites: the bent pipe, the least round trip, slow start."""
    terminals = [
        {"name": "user", "lat_deg": -35.3, "lon_deg": 149.1},
        {"name": "gw", "lat_deg": -33.9, "lon_deg": 151.2},
    ]
    flow = {"from": "gw", "to": "user", "app": UDP | {"rate": "90pps", "size": "1440B"}}
    one_way = "one way, mean, ms"
    for name, more in (("", {}), ("-gateway", {"links": {"gateways": ["gw"]}})):
        world, source = space("starlink", terminals, [flow], 300, **more), "geometry of 550 km and 25 degrees: 4 to 8 ms"
        yield PublishedCase(f"starlink/250-km{name}", source, one_way, world, one_way_ms("delay_s"), **about(6, 2, 2))
    ping = UDP | {"rate": "10pps", "size": "56B"}
    world = space("starlink", terminals, [{"from": a, "to": b, "app": ping} for a, b in (("user", "gw"), ("gw", "user"))], 300)
    source = "geometry of 550 km and 25 degrees: 9 to 16 ms"
    yield PublishedCase("starlink/250-km-ping", source, "mean, ms", world, round_trip("delay_s"), **about(12.5, 3.5, 3.5))
    below = [{"name": "eq", "lat_deg": 0.0, "lon_deg": -30.0}, {"name": "eq2", "lat_deg": 0.5, "lon_deg": -30.0}]
    links = {"uplink": {"rate": "144Mbps", "queue": "10000p"}, "downlink": {"rate": "144Mbps", "queue": "10000p"}}
    ping = UDP | {"rate": "20pps", "size": "64B"}
    world = space("geo", below, [{"from": "eq", "to": "eq2", "app": ping}], 60, links=links)
    source = "477 ms for both ways"
    yield PublishedCase("geo/least-delay", source, "ms", world, one_way_ms("delay_min_s"), **within(238.7, 0.005))
    tcp = {"profile": "linux", "recv_buffer": "60MB", "send_buffer": "60MB"}
    flows = [{"from": a, "to": b, "cc": cc} for a, b, cc in (("a", "b", "cubic"), ("c", "d", "bbr"))]
    four = [{"name": name, "lat_deg": 0.0, "lon_deg": -30.0 + 0.1 * i} for i, name in enumerate("abcd")]
    world = space("geo", four, flows, 10, links=links, tcp=tcp)
    source = "measured, 2021: BBR far ahead at the start"
    yield PublishedCase("geo/start-bbr-to-cubic", source, "BBR / CUBIC", world, second_to_first, **about(5, 3, 15), seeds=5)
    world = space("geo", four, flows, 60, links=links, tcp=tcp, warmup="30s")
    source = "measured, 2021: similar in the steady state"
    yield PublishedCase("geo/steady-bbr-to-cubic", source, "BBR / CUBIC", world, second_to_first, **within(1, 0.2), seeds=5)


def one_way_ms(delay: str) -> Measure:
    """Return a measure: a delay of the first flow in milliseconds."""
    return lambda _world, summary, _series: 1e3 * summary["flows"][0][delay]
