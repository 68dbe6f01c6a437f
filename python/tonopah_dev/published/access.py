"""Cases about access lines and shapers: what those who build and run them reported, and the laws of frames and buckets.

A report names few of its conditions: where it has a range, or a word ("hundreds of ms"), that is the range here.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Unpack

from tonopah.scenario.worlds import PACKET_BYTES, Graph, dumbbell
from tonopah_dev.published.case import Allowed, PublishedCase, about, within
from tonopah_dev.published.worlds import MSS_BYTES, Series, Summary, WrittenWorld

LINUX = {"profile": "linux", "cc": "cubic"}
CELL_BYTES, CELL_PAYLOAD_BYTES = 53, 48
PPPOE_LLC_BYTES = 40
FRAME_BYTES = 46
"""PPPoE over Ethernet with preamble, gap and FCS."""


Measure = Callable[[Any, Summary, Series], float]


def udp(rate: str, size: str) -> dict[str, Any]:
    """Return an application that sends datagrams at a constant rate."""
    return {"kind": "cbr", "rate": rate, "size": size, "transport": "udp"}


def of_flow(index: int, key: str, factor: float = 1.0) -> Measure:
    """Return the measure that is a metric of a flow."""
    return lambda world, summary, series: float(summary["flows"][index][key]) * factor


def of_link(index: int, key: str, factor: float = 1.0) -> Measure:
    """Return the measure that is a metric of one direction of a link: 2 i and 2 i + 1 are those of link i."""
    return lambda world, summary, series: float(summary["links"][index][key]) * factor


def at(name: str, index: int, t_s: float, factor: float) -> Measure:
    """Return the measure that is the value of a series at a time."""

    def value(world: Any, summary: Summary, series: Series) -> float:
        own = series[name]["id"] == index
        times, values = series[name]["t_s"][own], series[name]["value"][own]
        return float(values[abs(times - t_s).argmin()]) * factor

    return value


def pair(seconds: float, bottleneck: Mapping[str, Any], *flows: Mapping[str, Any], **more: Any) -> WrittenWorld:
    """Return two pairs of hosts around a link, and flows from left to right unless they say otherwise."""
    own = [{"from": f"left{i}", "to": f"right{i}"} | dict(flow) for i, flow in enumerate(flows)]
    access = {"rate": "10Gbps", "delay": more.pop("access", "10us"), "queue": "100000p"}
    tcp = LINUX | more.pop("tcp", {})
    return WrittenWorld(dumbbell(f"{seconds}s", bottleneck, tcp, pairs=max(2, len(flows)), access=access, flow=own, **more))


UNKNOWN_END = "An interval from 60 to 155 Mb/s (5 seeds); 121 Mb/s with 0.28.0. The cause is not known."


def case(
    name: str, source: str, quantity: str, world: WrittenWorld, measure: Measure, seeds: int = 1, cause: str = "",
    **limits: Unpack[Allowed],
) -> PublishedCase:  # fmt: skip
    """Return a case of this group."""
    return PublishedCase(f"access/{name}", source, quantity, world, measure, **limits, seeds=seeds, cause=cause)


def frames() -> Iterator[PublishedCase]:
    """Count what a line carries beside the packets: least frames, cells, headers."""
    source = "CAKE 1 kb/s above a DOCSIS line of 2500: 1/2500 s for each second, whatever the size"
    for size in (16, 500, 1472):
        graph = Graph("pc", "router", "modem", "isp")
        fast = {"delay": "1us", "queue": "unlimited"}
        shaper = {"kind": "cake", "rate": "2501kbps", "overhead": "docsis", "tins": "besteffort"}
        graph.connect("pc", "router", rate="1Gbps", **fast)
        graph.connect("router", "modem", rate="100Mbps", delay="1us", queue=shaper, reverse={"queue": "unlimited"})
        graph.connect("modem", "isp", rate="2500kbps", delay="1ms", queue="unlimited", framing="docsis")
        graph.add_flow("pc", "isp", app=udp("4Mbps", f"{size}B"))
        world = WrittenWorld(graph.scenario("60s", {}, record={"series": ["queue_delay"], "every": "1s"}))
        yield case(f"docsis-mpu/{size}", source, "wait at 59 s, ms", world, at("queue_delay", 4, 59, 1e3), **within(23.4, 0.02))
    source = "ATM: 53 B on the line for each 48 B, the last cell filled up"
    for size in (16, 112, 400, 1472):
        graph = Graph("cpe", "bras")
        graph.connect("cpe", "bras", rate="1Mbps", delay="5ms", queue="100p", framing="pppoe_llcsnap")
        graph.add_flow("cpe", "bras", app=udp("10pps", f"{size}B"))
        cells = -(-(size + 28 + PPPOE_LLC_BYTES) // CELL_PAYLOAD_BYTES)
        limits = within(5 + cells * CELL_BYTES * 8 / 1e3, 1e-6)
        world = WrittenWorld(graph.scenario("5s", {}))
        yield case(f"atm-steps/{size}", source, "delay, ms", world, of_flow(0, "delay_s", 1e3), **limits)
    framing = {"bytes": FRAME_BYTES, "mpu": 0, "framing": "none"}
    line = {"rate": "100Mbps", "delay": "5ms", "queue": "100p", "framing": framing}
    world = pair(30, line, {}, access="1ms", tcp={"mss": "1452B", "profile": "rfc"}, warmup="10s")
    source = "PPPoE: 1452 of 1538 B"
    limits = within(100 * 1452 / 1538, 0.001)
    yield case("pppoe-goodput", source, "goodput, Mb/s", world, of_flow(0, "goodput_bps", 1e-6), **limits)


def buckets() -> Iterator[PublishedCase]:
    """Measure what the burst of a token bucket lets pass, and what a short queue costs."""
    huge = {"kind": "tbf", "rate": "10Mbps", "burst": "268435455B", "queue": {"kind": "drop_tail", "limit": "268466705B"}}
    line = {"rate": "2Gbps", "delay": "10us", "queue": huge}
    record = {"series": ["throughput"], "every": "1s", "bin": "1s"}
    world = pair(4, line, {}, tcp={"recv_buffer": "16MB"}, record=record)
    source = "Reported of a burst that had become 2^31 bits: in seconds 1, 2 and 3"
    for second, mbps in ((1, 1990), (2, 178), (3, 10.5)):
        # The reader counted bits of the network card, we the payload: 4 %; and seconds that are not ours.
        measure = at("throughput", 0, second, 1e-6)
        yield case(f"tbf-burst/second-{second}", source, "Mb/s", world, measure, **within(mbps, 0.1))
    source = "Reported of a bandwidth plug-in with a queue of 25 ms: 50 us idle, more than 10 ms under load"
    for name, queue, low, high in (("fifo", "31250B", 10.0, 30.0), ("fq-codel", {"kind": "fq_codel"}, 0.0, 1.3)):
        # In a fair queue a packet of its own waits for the tokens of one other at most: 1.2 ms.
        shaper = {"kind": "tbf", "rate": "10Mbps", "burst": "5kB", "queue": queue}
        line = {"rate": "1Gbps", "delay": "10us", "queue": shaper}
        world = pair(20, line, {}, {"app": udp("20.1pps", "64B")}, warmup="5s")
        limits = Allowed(reference=(low + high) / 2, low=low, high=high)
        yield case(f"tbf-latency/{name}", source, "mean delay, ms", world, of_flow(1, "delay_s", 1e3), **limits)
    source = "Vendors' rule for policers: a burst of 80 % of a second, in bits, for TCP; below the MTU nothing passes"
    for burst, mbps in (("1400B", 0.0), ("1MB", 10 * MSS_BYTES / PACKET_BYTES)):
        queue = {"kind": "policer", "rate": "10Mbps", "burst": burst, "queue": "1000p"}
        line = {"rate": "1Gbps", "delay": "100us", "queue": queue}
        world = pair(60, line, {}, access="50us", warmup="10s")
        # The sawtooth under a bucket: 5 %.
        measure, limits = of_flow(0, "goodput_bps", 1e-6), about(mbps, 0.05 * mbps, 0.05 * mbps)
        yield case(f"policer/{burst}", source, "goodput, Mb/s", world, measure, **limits)


def round_trip_ms(_world: Any, summary: Summary, _series: Series) -> float:
    """Return the mean of both ways together."""
    return 1e3 * sum(flow["delay_s"] for flow in summary["flows"])


def round_trips_lost(_world: Any, summary: Summary, _series: Series) -> float:
    """Return the share of round trips of which either way is lost, in percent."""
    there, back = (flow["received_packets"] / flow["sent_packets"] for flow in summary["flows"])
    return 100 * (1 - there * back)


def lines() -> Iterator[PublishedCase]:
    """Load lines by name."""
    up = {"from": "right0", "to": "left0"}
    voice = {"from": "right1", "to": "left1", "app": udp("50pps", "100B")}
    source = "Cable, reported of millions of modems: upload with PIE 15 to 30 ms, without about 250"
    for name, line, reference, low, high in (
        ("pie", {"preset": "cable"}, 22.5, 15.0, 30.0),
        ("fifo", {"preset": "cable", "reverse": {"queue": "625kB"}}, 250.0, 225.0, 275.0),
    ):
        world, limits = pair(60, line, up, voice, access="1ms", warmup="10s"), Allowed(reference=reference, low=low, high=high)
        measure = of_flow(1, "delay_p95_s", 1e3)
        yield case(f"cable-upload/{name}", source, "95th percentile, ms", world, measure, **limits)
    world = pair(60, {"preset": "lte"}, up, voice, access="1ms", warmup="10s")
    limits = Allowed(reference=500.0, low=100.0, high=1000.0)
    source = "LTE, reported: hundreds of ms under an upload"
    yield case("lte-upload", source, "mean delay, ms", world, of_flow(1, "delay_s", 1e3), **limits)
    ping = {"app": udp("10pps", "56B")}
    world = pair(12_000, {"preset": "starlink"}, {"from": "left0", "to": "right0"} | ping, up | ping)
    for name, quantity, measure, low, reference, high, source in (
        ("ping", "round trip, ms", round_trip_ms, 25.0, 33.0, 45.0, "Starlink, median of peak hours by the operator, 2024"),
        ("ping-lost", "%", round_trips_lost, 0.8, 1.0, 1.2, "Starlink, 1 to 2 % lost without congestion (Huston 2024)"),
    ):
        yield case(f"starlink/{name}", source, quantity, world, measure, **Allowed(reference=reference, low=low, high=high))
    source = "Starlink, measured by a user over 30 s in 2023"
    down = {"from": "left0", "to": "right0"}
    for name, direction, cc, low, high in (
        ("down-cubic", down, "cubic", 10.0, 30.0),
        ("down-bbr", down, "bbr", 120.0, 150.0),
        ("up-cubic", up, "cubic", 5.0, 6.0),
        ("up-bbr", up, "bbr", 25.0, 30.0),
    ):
        world = pair(150, {"preset": "starlink"}, direction | {"cc": cc}, access="2ms")
        limits = Allowed(reference=(low + high) / 2, low=low, high=high)
        cause = UNKNOWN_END if name == "down-bbr" else ""
        yield case(f"starlink/{name}", source, "goodput, Mb/s", world, of_flow(0, "goodput_bps", 1e-6), 5, cause, **limits)


def shaped() -> Iterator[PublishedCase]:
    """Shape behind the provider's queue, which stays empty."""
    source = "CAKE's `ingress` at 95 %, 32 flows, before it 2 MB at the provider: its queue stays empty"
    cake = {"kind": "cake", "rate": "47.5Mbps", "ingress": True}
    for name, queue, low, high in (("with", cake, 0.0, 5.0), ("without", "10000p", 160.0, 320.0)):
        graph = Graph("isp", "gateway", "home")
        # 2 MB at 50 Mb/s are 320 ms; CUBIC keeps half of a queue at least.
        graph.connect("isp", "gateway", rate="50Mbps", delay="1ms", queue="2MB")
        graph.connect("gateway", "home", rate="1Gbps", delay="1us", queue=queue, reverse={"queue": "10000p"})
        for i in range(32):
            graph.add_host(f"s{i}", "isp", rate="1Gbps", delay="10ms", queue="10000p")
            graph.add_flow(f"s{i}", "home", start=f"{i * 50}ms")
        world = WrittenWorld(graph.scenario("30s", LINUX, warmup="10s"))
        limits = Allowed(reference=low, low=low, high=high)
        yield case(f"ingress/{name}", source, "wait at the provider, ms", world, of_link(0, "delay_queue_mean_s", 1e3), **limits)


def access() -> Iterator[PublishedCase]:
    """Return all of them."""
    for group in (frames, buckets, lines, shaped):
        yield from group()
