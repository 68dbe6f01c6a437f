"""Cases from measurements of people who build L4S (tests of its kernel of November 2020, github.com/heistp/l4s-tests) and QUIC.

Tolerances of L4S: 3 Mb/s of a line of 50 Mb/s, 0.06 of its rate, for goodput and shares; 5 % for a largest RTT. They are those by
which the same measurements were judged when they were first tried, before these rows were written. Of reordering they are what is
said there. Policers and the burst of a shaper are in `access.py`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tonopah.scenario.worlds import Graph
from tonopah_dev.published import worlds as measures
from tonopah_dev.published.case import Allowed, PublishedCase, about, within
from tonopah_dev.published.worlds import Group, PublishedWorld, Series, Summary, WrittenWorld

SOURCE = "L4S kernel, measured: github.com/heistp/l4s-tests, November 2020"
PRAGUE = {"name": "prague", "rtt_independence": False}
"""As in that kernel."""
QUEUES: Mapping[str, Any] = {
    "dualpi2": {"kind": "dualpi2"},
    "fifo": {"kind": "drop_tail", "limit": "1000p"},
    "one-fq_codel-queue": {"kind": "fq_codel", "queues": 1, "ecn": True},
}
PAIRS = (
    ("dualpi2", "cubic", 10, "prague", 10, 12.65, 34.57), ("dualpi2", "prague", 10, "prague", 10, 23.5, 22.75),
    ("dualpi2", "cubic", 20, "prague", 20, 14.94, 32.39), ("dualpi2", "prague", 20, "prague", 10, 15.84, 30.77),
    ("dualpi2", "prague", 80, "prague", 20, 5.80, 41.48), ("dualpi2", "cubic", 80, "prague", 80, 17.85, 29.58),
    ("dualpi2", "cubic", 80, "prague", 20, 6.43, 40.69), ("dualpi2", "prague", 80, "cubic", 20, 22.43, 24.89),
    ("dualpi2", "cubic", 80, "cubic", 20, 14.75, 32.73), ("dualpi2", "prague", 160, "prague", 10, 1.56, 45.46),
    ("dualpi2", "cubic", 160, "prague", 10, 4.87, 41.67), ("dualpi2", "cubic", 160, "cubic", 10, 10.74, 36.50),
    ("fifo", "cubic", 20, "prague", 20, 35.44, 12.24), ("fifo", "prague", 20, "cubic", 20, 5.88, 41.63),
    ("fifo", "prague", 80, "cubic", 80, 3.95, 43.59), ("fifo", "prague", 10, "prague", 10, 26.04, 21.69),
    ("fifo", "prague", 160, "prague", 10, 10.35, 37.36), ("fifo", "cubic", 160, "cubic", 10, 17.22, 30.27),
    ("one-fq_codel-queue", "cubic", 20, "prague", 20, 1.94, 45.70),
)  # fmt: skip
"""Queue, algorithm and RTT in ms of two flows over 50 Mb/s, and the steady goodput of each in Mb/s."""
CALLS = (
    ("prague-alone", PRAGUE, None, 18.27), ("prague-and-call-in-l", PRAGUE, "l4s", 2.29),
    ("prague-and-call-in-c", PRAGUE, "off", 12.64), ("cubic-alone", "cubic", None, 16.22),
    ("cubic-and-call-in-l", "cubic", "l4s", 13.39), ("cubic-and-call-in-c", "cubic", "off", 14.53),
)  # fmt: skip
"""A flow beside a video call of 2.3 Mb/s, whose ECN field is given: its goodput in Mb/s over 20 Mb/s, 160 ms, DualPI2."""


CAUSES = {
    "l4s-fifo/cubic-20-prague-20": "Ours are 45 and 5 Mb/s, as the two were measured in the other order; cause unknown.",
    "l4s-fifo/prague-160-prague-10": "Ours has 0.32, not 0.22, with the longer RTT (0.23 in 0.28.0). The cause is not known.",
    "l4s-call/prague-and-call-in-c": "Ours has 15.6 Mb/s: it yields less to a call in the other queue. The cause is not known.",
    "l4s-call/cubic-alone": "Ours has 17.0 Mb/s. The cause is not known.",
}
"""Of the cases that do not agree, after their first run."""


def pairs() -> Iterator[PublishedCase]:
    """Yield two flows in a queue of 50 Mb/s."""
    for queue, one, one_ms, other, other_ms, mbps, beside in PAIRS:
        groups = [group(one, one_ms), group(other, other_ms)]
        world = PublishedWorld(groups, 50, min(one_ms, other_ms), QUEUES[queue], 180, 120)
        share = mbps / (mbps + beside)
        name = f"l4s-{queue}/{one}-{one_ms}-{other}-{other_ms}"
        allowed = about(share, min(share, 0.06), 0.06)
        yield PublishedCase(
            name,
            SOURCE,
            f"share of {one}",
            world,
            measures.first_share,
            **allowed,
            seeds=8 if queue == "dualpi2" else 1,
            cause=CAUSES.get(name, ""),
        )


def group(cc: str, rtt_ms: float) -> Group:
    """Return a flow; those without a form of ECN of their own ask for classic marks."""
    return Group(PRAGUE, 1, rtt_ms) if cc == "prague" else Group(cc, 1, rtt_ms, tcp={"ecn": "classic"})


def calls() -> Iterator[PublishedCase]:
    """Yield a flow beside a real video call in DualPI2."""
    for name, cc, ecn, mbps in CALLS:
        call = [Group("", app={"kind": "rtc", "rate": "2.3Mbps", "ecn": ecn})] if ecn else []
        world = PublishedWorld([Group(cc), *call], 20, 160, QUEUES["dualpi2"], 120, 40)
        case, seeds = f"l4s-call/{name}", 1 if name == "prague-alone" else 8
        cause, allowed = CAUSES.get(case, ""), about(mbps, 1.2, 1.2)
        yield PublishedCase(case, SOURCE, "goodput, Mb/s", world, first_mbps, **allowed, seeds=seeds, cause=cause)


def steps() -> Iterator[PublishedCase]:
    """Yield the largest RTT of Prague through fq_codel, 80 ms, when the line falls from 50 to 1 Mb/s."""
    changes = [{"at": "30s", "rate": "1Mbps"}]
    record = {"series": ["rtt"], "every": "change"}
    world = PublishedWorld([Group(PRAGUE)], 50, 80, {"kind": "fq_codel"}, 90, changes=changes, record=record)
    yield PublishedCase("l4s-step/50-to-1-mbps", SOURCE, "largest RTT, ms", world, largest_rtt_ms, **within(4346, 0.05))


WITHOUT_COST = "1.001, 0.992 with 0.28.0: that in order is no faster."


def reordering() -> Iterator[PublishedCase]:
    """Yield BBR over 1 Gb/s and 197 ms with a quarter of the packets 5 ms early, beside the same in order.

    Measured by a user of QUIC: 512 MiB with netem's `delay 5ms reorder 25% 50%` have 632 to 710 Mb/s of 828 where losses are told
    by time alone, and 125 where a packet that three have overtaken is lost. That path loses 1 % by itself, so that all up to the
    whole agrees with the first. TCP does other things than QUIC with a window after a loss, so that all up to a fifth agrees with
    the second.
    """
    source = "QUIC, BBR, measured: github.com/quinn-rs/quinn issue 2711, July 2026"
    measured = (("by-time", "rack", 671 / 828, 632 / 828, 1.0), ("by-three", "sack", 125 / 828, 0.0, 0.2))
    for name, recovery, reference, low, high in measured:
        graph = Graph("s0", "a0", "b0", "s1", "a1", "b1", "c")
        early = {"kind": "early", "gap": 1, "p": 0.25, "correlation": 0.5}
        for number, reorder in enumerate(({"reorder": early}, {})):
            ends = [f"{kind}{number}" for kind in "sab"]
            graph.connect(*ends[:2], rate="1Gbps", delay="96ms", queue={"kind": "drop_tail", "limit": "1bdp"})
            graph.connect(*ends[1:], rate="10Gbps", delay="5ms", queue="unlimited", reverse={"delay": "0ms"}, **reorder)
            graph.connect(ends[2], "c", rate="10Gbps", delay="0ms", queue="unlimited")
            graph.add_flow(ends[0], "c", cc="bbr", app={"kind": "bulk", "bytes": "512MiB"})
        tcp = {"profile": "linux", "recv_buffer": "1GB", "initial_recv_window": "unlimited", "recovery": recovery}
        world, limits = WrittenWorld(graph.scenario("60s", tcp)), Allowed(reference=reference, low=low, high=high)
        cause = WITHOUT_COST if name == "by-time" else ""
        yield PublishedCase(
            f"reordering/{name}", source, "share of that in order", world, of_that_in_order, **limits, cause=cause
        )


def of_that_in_order(world: WrittenWorld, summary: Summary, series: Series) -> float:
    """Return the goodput of the first flow as a share of the second's."""
    first, second = measures.goodputs(summary)
    return first / second


def first_mbps(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Return the goodput of the first flow."""
    return measures.goodputs(summary)[0] / 1e6


def largest_rtt_ms(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Return the largest RTT of the first flow."""
    return float(max(series["rtt"]["value"])) * 1e3
