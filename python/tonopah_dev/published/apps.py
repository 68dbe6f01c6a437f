"""Cases about data centres and applications: what papers, books and users of both measured.

Most numbers are from others' accounts of the papers, without their tables. Tolerances are 2 or 3 % where a law of windows and
round trips is behind the number, 10 to 20 % where a network of machines was measured; what a paper says in words alone (that
time-outs begin, that a tail is better) is 1 or 0 here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from tonopah.scenario.worlds import PACKET_BYTES, Graph, drop_tail
from tonopah_dev.published import worlds as measures
from tonopah_dev.published.access import of_flow
from tonopah_dev.published.case import Allowed, PublishedCase, about, within
from tonopah_dev.published.worlds import Series, Summary, WrittenWorld

HPBN = "High Performance Browser Networking, chapter 2: 20 kB over 56 ms, 40 ms of server"
DCTCP = "Alizadeh et al. 2010"
BELSHE = "Belshe 2010, More bandwidth doesn't matter (much)"
LAN = {"rate": "1Gbps", "delay": "20us"}
LINUX: dict[str, Any] = {"profile": "linux", "buffers": "tuned"}
HAPPENS = Allowed(reference=1.0, low=1.0, high=1.0)
NEVER = Allowed(reference=0.0, low=0.0, high=0.0)
PORT_BYTES = 1_000_000
"""Memory of the switch of `memory`."""

Measure = Callable[[Any, Summary, Series], float]


def answers() -> Iterator[PublishedCase]:
    """Yield answers of known sizes: handshake, round trips of the window, time of the server."""
    for name, window, requests, ms in (("window-4", 4, 1, 264), ("window-10", 10, 1, 208), ("open", 4, "all", 96)):
        tcp = LINUX | {"cc": "newreno", "mss": "1460B", "timestamps": False, "initial_window": f"{window}p"}
        app = asking("20kB", per_connection=requests, server_time="40ms")
        world = paths([(56, "1Gbps", {"app": app})], tcp, 10)
        measure = of_flow(0, "request_p50_s", 1e3)
        yield PublishedCase(f"answer/{name}", HPBN, "median, ms", world, measure, **within(ms, 0.02))
    source = "Dukkipati et al. 2010, An argument for increasing TCP's initial congestion window"
    for size in ("10kB", "30kB"):
        flows = [(70, "3Mbps", {"app": asking(size), "tcp": {"initial_window": f"{n}p"}}) for n in (3, 10)]
        # What the larger window saves of a round trip depends on how much of the next one the link fills.
        yield PublishedCase(
            f"answer/{size}-3-to-10", source, "saved, round trips", paths(flows, LINUX, 20), saved_rtts, **about(1, 0.25, 0.25)
        )


def windows() -> Iterator[PublishedCase]:
    """Yield a window a round trip: of old clients, and of Linux hosts that nobody has tuned."""
    games, netperf = "measured: NUSspli, pull request 491", "netperf, measured: libdatachannel, issue 409"
    for kib, rtt_ms, mbps, part, source in (
        (64, 95, 5.5, 0.03, games), (256, 95, 22, 0.03, games), (None, 20, 1219, 0.1, netperf), (None, 52, 436, 0.12, netperf),
    ):  # fmt: skip
        flow = {"tcp": {"recv_buffer": f"{kib}KiB"} if kib else {"buffers": "stock"}}
        world = paths([(rtt_ms, "20Gbps", flow)], LINUX, 4, warmup="1s")
        name = f"window/{f'{kib}-kib' if kib else 'linux'}-{rtt_ms}-ms"
        yield PublishedCase(name, source, "goodput, Mb/s", world, of_flow(0, "goodput_bps", 1e-6), **within(mbps, part))


def queues() -> Iterator[PublishedCase]:
    """Yield long flows of DCTCP and TCP before one port, and answers of 20 kB beside them."""
    for k in (20, 65):
        world = star(2, k, seconds=3)
        quantity = "mean queue, packets"
        yield PublishedCase(f"dctcp-queue/k{k}", f"{DCTCP} §4.1: about K", quantity, world, longest_mean, **within(k, 0.2))
    world = star(2, None, seconds=5, cc="newreno")
    limits = Allowed(reference=1.0, low=0.95, high=1.0)
    yield PublishedCase("dctcp-queue/tcp", f"{DCTCP} §4.1: fills it", "share of the buffer", world, longest_of_466, **limits)
    world = star(2, 65, seconds=0.5, rate="10Gbps")
    source = f"{DCTCP} §3.4: K = 65 at 10 Gb/s"
    yield PublishedCase("dctcp-queue/10-gbps", source, "share of the link", world, share_of_10_gbps, **within(1.0, 0.03))
    app = asking("20kB", requests=300, think="1ms")
    source = f"{DCTCP} §4.2.2, queue build-up"
    world = star(2, None, app, seconds=8, limit="700kB", cc="newreno")
    yield PublishedCase("build-up/tcp", source, "median, ms", world, of_flow(2, "request_p50_s", 1e3), **within(19, 0.1))
    world = star(2, 20, app, seconds=2, limit="700kB")
    # K packets at 1 Gb/s are 0.24 ms.
    yield PublishedCase("build-up/dctcp", source, "wait, ms", world, longest_wait_ms, reference=0.24, low=0.0, high=1.0)


def incast() -> Iterator[PublishedCase]:
    """Yield from how many servers on answers of 1 MB together suffer time-outs, in a hundredth of the rounds or more."""
    source = f"{DCTCP} §4.2.1: TCP from 10 servers on, DCTCP not before 35"
    for cc, servers, limits in (("newreno", 10, HAPPENS), ("dctcp", 20, NEVER), ("dctcp", 40, HAPPENS)):
        app = {"kind": "incast", "total": "1MB", "rounds": 100}
        world, name = fetching([(servers, app)], cc, "10ms"), "tcp" if cc == "newreno" else cc
        yield PublishedCase(f"incast-1-mb/{name}-{servers}", source, "1: time-outs", world, times_out, **limits)
    source = f"{DCTCP} §2.3.2: a better tail, a worse median"
    for name, servers, key, limits in (("mean-40", 40, "qct_s", HAPPENS), ("median-5", 5, "qct_p50_s", NEVER)):
        apps = [(servers, {"kind": "incast", "total": "1MB", "rounds": 50, "jitter": jitter}) for jitter in ("0s", "10ms")]
        world = fetching(apps, "newreno", "300ms")
        yield PublishedCase(f"incast-jitter/{name}", source, "1: jitter helps", world, jitter_helps(key), **limits)


def pages() -> Iterator[PublishedCase]:
    """Yield the mean page of 2010 over lines of several rates and round trips."""
    for name, mbps, used, low, high in (("1-mbps", 1, 0.69, 0.59, 0.79), ("10-mbps", 10, 0.16, 0.10, 0.25)):
        world = paths([(60, f"{mbps}Mbps", {"app": page(60)})], LINUX, 30)
        limits = Allowed(reference=used, low=low, high=high)
        yield PublishedCase(f"page/{name}", BELSHE, "share of the line", world, share_used(mbps), **limits, seeds=32)
    world = paths([(60, f"{mbps}Mbps", {"app": page(60)}) for mbps in (5, 10)], LINUX, 30)
    limits = Allowed(reference=5.0, low=2.0, high=12.0)
    yield PublishedCase("page/5-to-10-mbps", BELSHE, "faster, %", world, faster_percent, **limits, seeds=32)
    world = paths([(rtt, "5Mbps", {"app": page(rtt)}) for rtt in (60, 120, 240)], LINUX, 60)
    source = f"{BELSHE}: linear in the round trip"
    yield PublishedCase("page/round-trips", source, "slope / slope", world, slopes, **within(1.0, 0.25), seeds=32)


def memory() -> Iterator[PublishedCase]:
    """Yield the longest queue of ports that are sent twice what they carry, and share memory with dynamic thresholds."""
    source = "Choudhury, Hahne 1998: alpha / (1 + n alpha) of the memory for each of n busy ports"
    for alpha, ports in product((0.5, 1.0, 2.0), (1, 4)):
        world, law = overloaded(alpha, ports), alpha / (1 + alpha * ports)
        yield PublishedCase(
            f"shared-memory/alpha-{alpha:g}-{ports}", source, "share of the memory", world, longest_share, **within(law, 0.02)
        )


def asking(response: str, **keys: Any) -> dict[str, Any]:
    """Return an application that asks for answers of this size, each on a connection of its own unless told otherwise."""
    app = {"kind": "request_response", "requests": 10, "per_connection": 1, "response": response, "think": "100ms"}
    return app | keys


def page(rtt_ms: float) -> dict[str, Any]:
    """Return the mean page of 2010; how deep it is and what takes time on the hosts is a guess."""
    own = {"dns": f"{rtt_ms}ms", "server_time": "50ms", "depth": 4, "parse": "60ms"}
    return {"kind": "page", "preset": "web2010", **own}


def paths(
    flows: Sequence[tuple[float, str, Mapping[str, Any]]], tcp: Mapping[str, Any], seconds: float, **keys: Any
) -> WrittenWorld:
    """Return flows each over a path of its own, of this RTT and rate."""
    graph = Graph()
    for number, (rtt_ms, rate, flow) in enumerate(flows):
        source, sink = f"s{number}", f"d{number}"
        graph.nodes += [{"name": source}, {"name": sink}]
        graph.connect(source, sink, rate=rate, delay=f"{rtt_ms / 2}ms", queue="100000p")
        graph.add_flow(source, sink, **flow)
    return WrittenWorld(graph.scenario(f"{seconds}s", {"cc": "cubic", **tcp}, **keys))


def star(
    flows: int, mark: int | None, app: Mapping[str, Any] | None = None, *, seconds: float, rate: str = "1Gbps",
    limit: str = "466p", cc: str = "dctcp",
) -> WrittenWorld:  # fmt: skip
    """Return long flows to one sink, and behind them one with an application."""
    marks = {} if mark is None else {"mark_threshold": mark}
    link = {"rate": rate, "delay": "20us"}
    network = {
        "kind": "star", "nodes": 6, "flows": 0, "source": {**link, "queue": "1000p"},
        "sink": {**link, "queue": drop_tail(limit, **marks)},
    }  # fmt: skip
    listed: list[dict[str, Any]] = [{"from": f"src{i}", "to": "sink0", "start_jitter": "1ms"} for i in range(flows)]
    listed += [] if app is None else [{"from": f"src{flows}", "to": "sink0", "app": app}]
    tcp = LINUX | {"cc": cc, "rto_min": "10ms"} | ({} if app is None else {"initial_window": "2p"})
    return WrittenWorld({"duration": f"{seconds}s", "warmup": f"{seconds / 5}s", "network": network, "tcp": tcp, "flow": listed})


def fetching(apps: Sequence[tuple[int, Mapping[str, Any]]], cc: str, rto_min: str) -> WrittenWorld:
    """Return for each application a switch with 100 kB before the host that asks so many servers."""
    graph = Graph()
    for number, (servers, app) in enumerate(apps):
        switch, client = f"switch{number}", f"client{number}"
        graph.nodes += [{"name": switch}, {"name": client}]
        for i in range(servers):
            graph.add_host(f"srv{number}.{i}", switch, **LAN)
        graph.connect(switch, client, **LAN, queue=drop_tail("100kB", mark_threshold=20))
        graph.add_flow(f"srv{number}.*", client, app=app)
    tcp = LINUX | {"cc": cc, "rto_min": rto_min, "tlp": False}
    return WrittenWorld(graph.scenario("60s", tcp))


def overloaded(alpha: float, ports: int) -> WrittenWorld:
    """Return datagrams of twice the rate of each of several ports of a switch with shared memory."""
    graph = Graph()
    graph.nodes.append({"name": "switch", "shared_buffer": {"size": f"{PORT_BYTES}B", "alpha": alpha}})
    for i in range(ports):
        graph.add_host(f"s{i}", "switch", rate="10Gbps", delay="1us")
        graph.add_host(f"d{i}", "switch", rate="100Mbps", delay="1us")
        graph.add_flow(f"s{i}", f"d{i}", app={"kind": "cbr", "transport": "udp", "rate": "200Mbps", "size": "1472B"})
    return WrittenWorld(graph.scenario("0.3s", LINUX))


def saved_rtts(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return by how many round trips of 70 ms the median answer of the second flow is earlier."""
    first, second = (float(flow["request_p50_s"]) for flow in summary["flows"][:2])
    return (first - second) / 0.07


def longest_of_466(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return the longest queue as a share of its limit."""
    return max(link["queue_max_packets"] for link in summary["links"] if link["from"] == "gateway") / 466


def share_of_10_gbps(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return the goodput as a share of what 10 Gb/s carry of payload."""
    return sum(measures.goodputs(summary)) / (10e9 * measures.MSS_BYTES / PACKET_BYTES)


def faster_percent(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return by how much the page of the second flow is there earlier."""
    return 100 * (1 - load_s(summary, 1) / load_s(summary, 0))


def load_s(summary: Summary, flow: int) -> float:
    """Return the time of a page."""
    return float(summary["flows"][flow]["page_load_s"])


def share_used(mbps: float) -> Measure:
    """Return the measure that is the part of a line that a page uses while it loads."""
    return lambda world, summary, series: 8 * summary["flows"][0]["page_bytes"] / load_s(summary, 0) / (mbps * 1e6)


def slopes(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return the time that a page takes longer by a round trip twice as long again / by one twice as long, each a second."""
    near, middle, far = (load_s(summary, flow) for flow in range(3))
    return (far - middle) / 0.12 / ((middle - near) / 0.06)


def longest_mean(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return the mean length of the longest queue."""
    return float(max(link["queue_mean_packets"] for link in summary["links"]))


def longest_wait_ms(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return the mean wait in the queue of the sink."""
    return 1e3 * max(link["delay_queue_mean_s"] or 0.0 for link in summary["links"] if link["from"] == "gateway")


def longest_share(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return the largest backlog of a port as a part of the memory of the switch."""
    return max(link["queue_max_bytes"] for link in summary["links"] if link["from"] == "switch") / PORT_BYTES


def times_out(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return 1 if a hundredth of the rounds has a time-out."""
    return float(summary["flows"][0]["timeouts_per_round"] >= 0.01)


def jitter_helps(key: str) -> Measure:
    """Return the measure that is 1 if rounds with jitter take less time than those without."""
    return lambda world, summary, series: float(summary["flows"][1][key] < summary["flows"][0][key])
