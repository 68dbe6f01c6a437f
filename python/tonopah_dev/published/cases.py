"""The cases of `python -m tonopah_dev.published`: what was published, and what is allowed.

Tolerances were set before the first run. A tolerance says what the law or the experiment leaves open: where a formula neglects
something, its reason stands beside it.
"""

import math
from collections.abc import Iterator
from typing import Any

from tonopah_dev.published import access, apps, beside, field, growth, queues, radio
from tonopah_dev.published import worlds as measures
from tonopah_dev.published.case import FAST_MBPS, Allowed, PublishedCase, about, every, within
from tonopah_dev.published.worlds import Group, PublishedWorld

PER_ACK = {"name": "reno", "per_ack": True}
"""Reno that counts ACKs, not bytes, as the laws for delayed ACKs suppose."""

VEGAS = (
    "The paper's limits are not those of ns-2's form, which rounds the backlog to whole packets, so that up to 3.5 stay, "
    "and takes for the base RTT the lowest mean of a round. In twelve seeds every flow has seen the path without a queue, "
    "and the flow with the most holds 3.8 to 4.0 packets by that RTT; with beta = 2 the five hold 1.4 to 2.0 each."
)


def all_cases() -> list[PublishedCase]:
    """Return the cases in the order of the page."""
    groups = (
        responses, growth.responses, pftk, buffers, queues.many_flows, growth.hystart, aqm, queues.ared, queues.codel, marks,
        queues.dctcp, delay_based, queues.latecomer, bbr, queues.bbr, beside.bbr, beside.l4s, fairness, growth.round_trips,
        start_and_end, growth.tails, growth.incast, radio.cases, access.access, field.pairs,
        field.calls, field.steps, field.reordering, apps.answers, apps.windows, apps.queues, apps.incast, apps.pages, apps.memory,
    )  # fmt: skip
    return [case for group in groups for case in group()]


def responses() -> Iterator[PublishedCase]:
    """Mean window where every 1/p-th packet is lost. Half of the time is left to come down from slow start."""
    cubic = {"name": "cubic", "profile": "rfc"}
    highspeed = {"name": "highspeed", "profile": "rfc"}
    tables: list[tuple[str, Any, int, float, float, float, dict[float, float]]] = [
        ("reno", "reno", 1, 100, 0.05, 300, {1e-4: math.sqrt(1.5e4)}),
        ("reno-delayed-acks", PER_ACK, 2, 100, 0.05, 300, {1e-4: math.sqrt(0.75e4)}),
        # Fast convergence, which the law lacks, takes up to 11 %.
        ("cubic-100ms", cubic, 1, 100, 0.15, 300, {1e-3: 38, 1e-4: 187, 1e-5: 1054}),
        ("cubic-10ms", cubic, 1, 10, 0.15, 60, {1e-3: 38, 1e-4: 120, 1e-5: 379}),
        # The law is that of a window at one point of its rule; the rule bends over a swing.
        ("highspeed", highspeed, 1, 100, 0.10, 300, {1e-3: 38, 1e-4: 263, 1e-5: 1795}),
    ]
    sources = {"reno": "Mathis et al. 1997", "cubic": "RFC 9438 §5.1, tables 1 and 2", "highspeed": "RFC 3649 table 5"}
    for name, cc, ack_every, rtt_ms, part, seconds, table in tables:
        for p, window in table.items():
            tcp = {"ack_every": ack_every, "quick_acks": 0, "initial_ssthresh": f"{round(window)}p"}
            losses = round(3 * window * seconds / (rtt_ms / 1e3) * p) + 10
            world = PublishedWorld(
                [Group(cc)], FAST_MBPS, rtt_ms, "1000000p", seconds, seconds / 2, loss=every(p, losses), tcp=tcp
            )
            source = sources[name.partition("-")[0]]
            case = f"response/{name}/{p:g}"
            yield PublishedCase(case, source, "window, segments", world, measures.window_segments, **within(window, part))


def pftk() -> Iterator[PublishedCase]:
    """Rate under random loss, against the full model. Its assumption of losses to the end of a round costs at high p: 15 %."""
    for p in (0.003, 0.01, 0.02, 0.05):
        tcp = {"profile": "rfc", "sack": False, "recovery": "reno"}
        world = PublishedWorld([Group(PER_ACK)], FAST_MBPS, 100, "1000000p", 600, 10, loss={"kind": "packet", "p": p}, tcp=tcp)
        name = f"pftk/{p:g}"
        yield PublishedCase(
            name, "Padhye et al. 1998, eq. 30", "rate / model", world, measures.pftk_ratio, **within(1.0, 0.15), seeds=8
        )


def buffers() -> Iterator[PublishedCase]:
    """Utilisation over buffers, and what slow start loses."""
    for part, busy in ((0.01, 75.7), (0.25, 89.3), (0.5, 96.4), (1.0, 100.0)):
        rtt_ms, mbps = 100, 50
        limit = max(round(part * mbps * rtt_ms / 12), 1)
        tcp = {"profile": "rfc", "ack_every": 1}
        world = PublishedWorld([Group("newreno")], mbps, rtt_ms, f"{limit}p", 300, 150, tcp=tcp)
        source = "Appenzeller et al. 2004 §2: 3/4 of the link without a buffer, all of it with 1 BDP"
        case = f"buffer/{part:g}-bdp"
        yield PublishedCase(case, source, "utilisation, %", world, measures.utilisation, **about(busy, 2, 2))
    for mbps in (50.0, 100.0):
        bdp = round(mbps * 1e3 * 50 / 12000)
        world = PublishedWorld([Group("reno")], mbps, 50, f"{bdp}p", 3, tcp={"ack_every": 1})
        name = f"slow-start-loss/{mbps:g}-mbps"
        source = "B + D: the window that overflows is twice the one that fits"
        yield PublishedCase(name, source, "drops", world, measures.drops, **within(2 * bdp, 0.05))


def aqm() -> Iterator[PublishedCase]:
    """Queueing delay that AQMs hold, and what fair queueing makes of different algorithms."""
    for target_ms in (15, 20):
        for flows in (5, 20, 50):
            queue = {"kind": "pie", "target": f"{target_ms}ms", "limit": "2000p"}
            world = PublishedWorld([Group("newreno", flows)], 50, 40, queue, 60, 20, 5)
            name, wait = f"pie/{target_ms}-ms-{flows}-flows", measures.queue_ms
            yield PublishedCase(name, "RFC 8033 §5", "mean wait, ms", world, wait, **within(target_ms, 0.2), seeds=8)
    mixed = [Group("cubic", 1, 20), Group("reno", 1, 50), Group("vegas", 1, 100), Group("bbr", 1, 40)]
    world = PublishedWorld(mixed, 20, 20, {"kind": "fq_codel"}, 60, 20, 2)
    source = "RFC 8290: equal shares"
    yield PublishedCase("fq-codel/mixed", source, "Jain", world, measures.jain_index, **about(1.0, 0.05, 0), seeds=8)


def marks() -> Iterator[PublishedCase]:
    """DCTCP at its threshold, and flows that share an AQM which marks."""
    for flows, threshold in ((2, 40), (10, 40), (35, 40), (2, 20), (10, 20)):
        queue = {"kind": "drop_tail", "limit": "1000p", "mark_threshold": threshold}
        world = PublishedWorld(
            [Group("dctcp", flows)], 1000, 0.5, queue, 3, 1, 0.01, tcp={"ecn": "dctcp", "ack_every": 1, "tso_defer": False}
        )
        name = f"dctcp-peak/k{threshold}-{flows}-flows"
        source, peak = "Alizadeh et al. 2010, eq. 10: K + N", measures.queue_peak
        yield PublishedCase(name, source, "longest queue, packets", world, peak, **within(threshold + flows, 0.1), seeds=8)
    for cc in ("dctcp", "prague"):
        # 20 senders that start within a few round trips overload the queue; those that start within 5 s hardly do.
        for stagger_s in (5, 0.1):
            queue = {"kind": "pie", "target": "5ms", "mark_p": 1.0, "ecn": True, "limit": "4000p"}
            world = PublishedWorld([Group(cc, 20)], 100, 20, queue, 40, 15, stagger_s)
            source = "De Schepper et al. 2016: equal windows"
            name = f"marks/20-{cc}/{stagger_s:g}-s"
            yield PublishedCase(name, source, "Jain", world, measures.jain_index, **about(1.0, 0.05, 0), seeds=8)


def delay_based() -> Iterator[PublishedCase]:
    """Queues that delay-based algorithms keep."""
    for flows, mbps, rtt_ms in ((1, 50, 50), (2, 48, 40), (5, 50, 50), (10, 100, 50)):
        world = PublishedWorld([Group("copa", flows)], mbps, rtt_ms, "4000p", 60, 30, 2 * flows)
        name, source, seeds = f"copa/{flows}-flows", "Arun, Balakrishnan 2018, §3: 1.25 / delta", 8 if flows > 1 else 1
        yield PublishedCase(
            f"{name}/queue", source, "packets/flow", world, measures.queue_per_flow, **about(2.5, 1.25, 1.25), seeds=seeds
        )
        yield PublishedCase(
            f"{name}/link", source, "utilisation, %", world, measures.utilisation, **about(100, 1, 0), seeds=seeds
        )
    for flows in (2, 5):
        # Each has to see the path without the queue of the others: they start together, with a small window.
        tcp = {"initial_window": "2p"}
        world = PublishedWorld([Group({"name": "vegas", "profile": "ns2"}, flows)], 10, 40, "200p", 100, 50, 0.02, tcp=tcp)
        source = "Brakmo, Peterson 1995: alpha 1, beta 3"
        per_flow, cause = measures.queue_per_flow, VEGAS if flows == 5 else ""
        name = f"vegas/{flows}-flows"
        yield PublishedCase(name, source, "packets/flow", world, per_flow, **about(2, 1, 1), seeds=8, cause=cause)
    alone = PublishedWorld([Group("ledbat")], 10, 40, "500p", 100, 50)
    yield PublishedCase(
        "ledbat/alone", "RFC 6817 §2.5: TARGET 100 ms", "mean wait, ms", alone, measures.queue_ms, **within(100, 0.05)
    )
    beside = PublishedWorld([Group("ledbat"), Group("reno")], 10, 40, "300p", 120, 60)
    yield PublishedCase(
        "ledbat/beside-reno", "RFC 6817 §1: yields", "share", beside, measures.first_share, **about(0, 0, 0.1), seeds=8
    )


def bbr() -> Iterator[PublishedCase]:
    """BBR under loss, and over RTTs."""
    for p, low, high in ((0.01, 90, 100), (0.05, 85, 100), (0.15, 70, 95), (0.25, 0, 40)):
        loss = {"kind": "packet", "p": p}
        # The receivers of 2016 did not compress ACKs: Linux does since 4.18.
        tcp = {"ack_compression": "0s"}
        world = PublishedWorld([Group("bbr")], 100, 100, "417p", 60, 10, loss=loss, loss_before_queue=True, tcp=tcp)
        bounds = Allowed(reference=(low + high) / 2, low=low, high=high)
        source = "Cardwell et al. 2016, figure 8"
        yield PublishedCase(f"bbr-loss/{p:g}", source, "goodput, %", world, measures.goodput_percent, **bounds, seeds=8)
    world = PublishedWorld([Group("bbr", 1, 50), Group("bbr", 1, 10)], 10, 50, "100p", 120, 40, 1)
    source = "Hock et al. 2017, Zeynali et al. 2024: the longer RTT has more"
    bounds = Allowed(reference=0.9, low=0.6, high=1.0)
    yield PublishedCase("bbr-rtt/50-10-ms", source, "share of the longer", world, measures.first_share, **bounds, seeds=8)


def fairness() -> Iterator[PublishedCase]:
    """Compare rates over two RTTs where each packet is lost with the same probability."""
    for cc, exponent in (("reno", 1.0), ({"name": "hybla", "profile": "paper"}, 0.0)):
        loss = {"kind": "packet", "p": 1e-3}
        world = PublishedWorld([Group(cc, 4, 25), Group(cc, 4, 100)], FAST_MBPS, 25, "1000000p", 300, 30, 1, loss=loss)
        name = "hybla" if exponent == 0 else "reno"
        source = "Caini, Firrincieli 2004: rate ~ RTT^-e, e = 1 for Reno, 0 for Hybla"
        yield PublishedCase(
            f"rtt-exponent/{name}", source, "e", world, measures.rtt_exponent, **about(exponent, 0.1, 0.1), seeds=8
        )


def start_and_end() -> Iterator[PublishedCase]:
    """Round trips of slow start, and the exponential backoff of the time-out."""
    for initial in (3, 10):
        for packets in (10, 30, 100):
            count = math.ceil(math.log2(packets / initial + 1))
            tcp = {"initial_window": f"{initial}p", "ack_every": 1}
            world = PublishedWorld([Group("reno")], FAST_MBPS, 100, "1000000p", 10, tcp=tcp, packets=packets)
            source = "Dukkipati et al. 2010: ceil(log2(S / IW + 1))"
            yield PublishedCase(
                f"initial-window/{initial}-of-{packets}", source, "rounds", world, measures.rounds, **about(count, 0.1, 0.1)
            )
    for outage_s, resumed in ((2, 3), (10, 15), (20, 31), (40, 63)):
        changes = [{"at": "150ms", "up": False}, {"at": f"{0.15 + outage_s}s", "up": True}]
        tcp = {"profile": "rfc", "tlp": False}
        world = PublishedWorld([Group("reno")], 10, 100, "100p", 100, changes=changes, tcp=tcp, packets=1)
        source = "RFC 6298 §5.5: 1 + 2 + 4 + … s"
        yield PublishedCase(
            f"backoff/{outage_s}-s", source, "until heard, s", world, measures.resumed_s, **about(resumed, 0.1, 0.2)
        )
