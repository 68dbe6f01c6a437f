"""Cases about queues: what AQMs hold, what thresholds and buffers give, and how algorithms share a queue among themselves.

Tolerances were set before the first run; a comment says what the law leaves open.
"""

import math
from collections.abc import Iterator

from tonopah_dev.published import worlds as measures
from tonopah_dev.published.case import Allowed, PublishedCase, about, within
from tonopah_dev.published.worlds import PACKET_BYTES, Group, PublishedWorld

UDP_PAYLOAD_BYTES = PACKET_BYTES - 28


def many_flows() -> Iterator[PublishedCase]:
    """Utilisation with buffers of BDP / sqrt(n). Model, ns-2 and router of the source differ by up to 2 points."""
    # Figure 10: OC3, 100 flows, 1290 packets of BDP.
    for times, busy in ((0.5, 94.7), (1.0, 99.3), (2.0, 99.9)):
        groups = [Group("newreno", 10, rtt_ms) for rtt_ms in range(82, 122, 4)]
        world = PublishedWorld(groups, 155, 100, f"{round(129 * times)}p", 60, 20, 5, tcp={"profile": "rfc"})
        source = "Appenzeller et al. 2004, figure 10: 100 flows, buffer of x BDP / sqrt(n)"
        name = f"many-flows/{times:g}-x"
        yield PublishedCase(name, source, "utilisation, %", world, measures.utilisation, **about(busy, 2, 2))


def ared() -> Iterator[PublishedCase]:
    """Mean queue of adaptive RED, whose average has to stay in the middle fifth between its thresholds."""
    for low, high in ((5, 15), (20, 60)):
        for flows in (30, 60):
            # So many flows that p at the target lies between the limits of max_p, 0.01 and 0.5.
            queue = {"kind": "red", "adaptive": True, "min_threshold": low, "max_threshold": high, "limit": "500p"}
            world = PublishedWorld([Group("newreno", flows)], 50, 100, queue, 60, 20, 5)
            source = "Floyd, Gummadi, Shenker 2001: from min + 0.4 (max - min) to min + 0.6 (max - min)"
            name = f"ared/{low}-to-{high}-{flows}-flows"
            # The average is taken at arrivals, the mean over time: one packet more on each side.
            target, half = (low + high) / 2, 0.1 * (high - low) + 1
            measure = measures.queue_packets
            yield PublishedCase(name, source, "mean queue, packets", world, measure, **about(target, half, half), seeds=8)


def codel_drops(seconds: float, rate_pps: float, overload: float) -> tuple[int, float]:
    """Return how many packets CoDel drops in so many seconds of overload, and the longest queue: RFC 8289 §3 as a fluid.

    The queue passes the target when it holds 5 ms of packets; 100 ms later the first is dropped, and drop n + 1 follows drop n
    after 100 ms / sqrt(n), until the queue has fallen below the target.
    """
    target_s, interval_s = 0.005, 0.1
    growth = overload * rate_pps
    at, count, peak = target_s * rate_pps / growth + interval_s, 0, 0.0
    while at < seconds:
        queue = growth * at - count
        if queue < target_s * rate_pps:
            break
        peak = max(peak, queue)
        count += 1
        at += interval_s / math.sqrt(count)
    return count, peak


def codel() -> Iterator[PublishedCase]:
    """CoDel against UDP that does not answer: drops after interval / sqrt(n)."""
    rate_pps = 10e6 / 8 / PACKET_BYTES
    source = "RFC 8289 §3.4: the next drop after interval / sqrt(count)"
    queue = {"kind": "codel", "limit": "20000p"}

    def load(overload: float) -> list[Group]:
        rate = f"{(1 + overload) * rate_pps * UDP_PAYLOAD_BYTES * 8 / 1e6:.6f}Mbps"
        return [Group("", app={"kind": "cbr", "rate": rate, "size": f"{UDP_PAYLOAD_BYTES}B", "transport": "udp"})]

    for overload in (0.05, 0.1, 0.2):
        peak = codel_drops(60, rate_pps, overload)[1]
        world = PublishedWorld(load(overload), 10, 20, queue, 60)
        name = f"codel-law/peak-{overload:.0%}".replace("%", "-percent")
        # A fluid has no packets: one for the last arrival, one for the first, one in transmission.
        yield PublishedCase(name, source, "longest queue, packets", world, measures.queue_peak, **about(peak, 3, 3 + 0.03 * peak))
    for seconds in (5, 10):
        count = codel_drops(seconds, rate_pps, 1.0)[0]
        world = PublishedWorld(load(1.0), 10, 20, queue, seconds)
        yield PublishedCase(f"codel-law/drops-{seconds}-s", source, "drops", world, measures.law_drops, **within(count, 0.03))


def dctcp() -> Iterator[PublishedCase]:
    """Measure the sawtooth of DCTCP, and the marks that senders of scalable controls receive in a round."""
    for flows in (2, 10):
        queue = {"kind": "drop_tail", "limit": "1000p", "mark_threshold": 40}
        # The law has one reduction at one instant; profile linux reduces over a round trip.
        tcp = {"ecn": "dctcp", "ack_every": 1, "cwnd_reduction": "immediate", "tso_defer": False}
        record = {"series": ["queue"], "every": "10us"}
        world = PublishedWorld([Group("dctcp", flows)], 10_000, 0.1, queue, 0.5, 0.1, 0.001, tcp=tcp, record=record)
        amplitude = math.sqrt(2 * flows * (world.bdp_packets + 40)) / 2
        source, measure = "Alizadeh et al. 2010, eq. 8 to 10: sqrt(2 N (C RTT + K)) / 2", measures.queue_amplitude
        # A fluid; windows of whole packets are half a packet off for each flow.
        limits = about(amplitude, 0.15 * amplitude, 0.15 * amplitude + flows / 2)
        yield PublishedCase(f"dctcp-amplitude/{flows}-flows", source, "amplitude, packets", world, measure, **limits)
    for cc in ("dctcp", "prague"):
        queue = {"kind": "pie", "target": "5ms", "mark_p": 1.0, "ecn": True, "limit": "4000p"}
        world = PublishedWorld([Group(cc, 20)], 100, 40, queue, 60, 20, 5)
        source = "De Schepper et al. 2016: W = 2 / p"
        # W = 2 / p has a cut of p/2 and one segment more in each round. Linux does not grow in the round of a cut: 1. After a cut
        # a second one waits for a round to pass: up to 1 + sqrt(3).
        limits = Allowed(reference=2.0, low=1.0, high=1 + math.sqrt(3))
        yield PublishedCase(f"marks/{cc}-law", source, "p W", world, measures.marks_per_round, **limits, seeds=8)


def latecomer() -> Iterator[PublishedCase]:
    """LEDBAT that starts later takes the queue of the first for its base delay, and the first yields."""
    groups = [Group("ledbat"), Group("ledbat", start_s=40)]
    world = PublishedWorld(groups, 10, 40, "1000p", 160, 100)
    source = "Carofiglio et al. 2010; RFC 6817: the latecomer starves the first"
    yield PublishedCase("ledbat/latecomer", source, "share of the second", world, measures.second_share, **about(1.0, 0.2, 0.0))


def bbr() -> Iterator[PublishedCase]:
    """BBR alone and among themselves in a deep buffer, and over RTTs."""
    for flows, low, high, reference, source in (
        # The gain of 1.25 fills a quarter of a BDP, for one round in eight.
        (1, 0.0, 0.25, 0.0, "Cardwell et al. 2016: drained after each probe"),
        (2, 0.75, 1.5, 1.0, "Hock et al. 2017: inflight of 2 BDP, 1 to 1.5 BDP in the queue"),
        (6, 0.75, 1.5, 1.0, "Hock et al. 2017: inflight of 2 BDP, 1 to 1.5 BDP in the queue"),
    ):
        world = PublishedWorld([Group("bbr", flows)], 50, 40, f"{8 * 167}p", 60, 20, 2)
        limits = Allowed(reference=reference, low=low, high=high)
        name = f"bbr-queue/{flows}-flows"
        yield PublishedCase(name, source, "mean wait, RTTs", world, measures.queue_rtts, **limits, seeds=1 if flows == 1 else 8)
    world = PublishedWorld([Group("bbr3", 1, 50), Group("bbr3", 1, 10)], 10, 50, "100p", 120, 40, 1)
    bounds = Allowed(reference=0.75, low=0.55, high=1.0)
    source = "Zeynali et al. 2024: the longer RTT has more"
    yield PublishedCase("bbr-rtt/bbr3-50-10-ms", source, "share of the longer", world, measures.first_share, **bounds, seeds=8)
