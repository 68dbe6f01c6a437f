"""Every queue with an example, and what it does to the same four flows, part of `make docs`.

`python -m tonopah_dev.pages.queues docs/generated` writes queues.md and queues.png.
"""

import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from tonopah._core import engine_version
from tonopah.plot import style
from tonopah.scenario.worlds import Graph, link
from tonopah.study.run import run
from tonopah_dev.pages.markdown import markdown_table

SECONDS = 60
WARMUP_S = 20
RATE_MBPS = 20
DELAY_MS = 10
PACKET_BYTES = 1500


class Example(NamedTuple):
    """A queue as a scenario writes it, and what to look at."""

    toml: str
    text: str


FLOWS = (
    ("CUBIC, 20 ms", {"cc": "cubic", "tcp": {"ecn": "classic"}}),
    ("CUBIC, 80 ms", {"cc": "cubic", "tcp": {"ecn": "classic"}}),
    ("Prague, 20 ms", {"cc": "prague"}),
    ("voice, 20 ms", {"app": {"kind": "cbr", "rate": "50pps", "size": "160B", "transport": "udp"}, "dscp": "EF", "priority": 0}),
)
"""The four flows: two that differ in their round-trip time only, a scalable one, and a sparse one; ends of a path of 20 Mb/s."""
EXTRA_MS = (0, 30, 0, 0)
"""What the way into the path adds to the delay of each flow."""

EXAMPLES = {
    "drop_tail": Example(
        '"100p"',
        "One line; who comes when it is full is dropped. Everybody waits for everybody, and the shorter round trip wins. With "
        '`{ kind = "drop_tail", limit = "100p", mark_threshold = 20 }` it is the switch of DCTCP.',
    ),
    "red": Example(
        '{ kind = "red", limit = "100p", adaptive = true, ecn = true }',
        "Drops or marks before the queue is full, by its average length.",
    ),
    "choke": Example(
        '{ kind = "choke", limit = "300p", ecn = true }',
        "RED in packets; above the lower threshold an arrival of the flow of a packet drawn from the queue goes, and takes that "
        "packet along. Flows that do not answer meet themselves most often.",
    ),
    "codel": Example(
        '{ kind = "codel", limit = "1000p", ecn = true }',
        "Drops or marks at the head once every packet of 100 ms has waited longer than 5 ms. One queue for all: a scalable flow "
        "that takes marks far more gently than a classic one pushes it aside.",
    ),
    "cobalt": Example(
        '{ kind = "cobalt" }',
        "CAKE's control of a queue alone: CoDel that goes back step by step, and a probability that grows with overflows (BLUE).",
    ),
    "htb": Example(
        '{ kind = "htb", classes = [{ name = "all", rate = "20Mbps" }, { name = "voice", parent = "all", rate = "2Mbps", '
        'ceiling = "20Mbps", priority = 0, dscp = ["EF"] }, { name = "rest", parent = "all", rate = "18Mbps", '
        'ceiling = "20Mbps", priority = 1, queue = { kind = "fq_codel" } }] }',
        "Classes with rates, ceilings and priorities, as Linux' htb: what one does not use the others borrow. Packets go to "
        "classes by host, DSCP, flow or workload, and each class has any queue.",
    ),
    "pie": Example(
        '{ kind = "pie", ecn = true }',
        "The same aim, a delay of 15 ms, by a probability at the entrance.",
    ),
    "fq_pie": Example(
        '{ kind = "fq_pie", profile = "linux", ecn = true }',
        "A queue for each flow, each with PIE, served in turn. `linux` is the kernel's; its gains are `tc`'s / 16.",
    ),
    "fq_codel": Example(
        '{ kind = "fq_codel" }',
        "A queue for each flow, each with CoDel, served in turn: equal shares, and a sparse flow hardly waits.",
    ),
    "drr": Example(
        '{ kind = "drr", by = "flow", limit = "400p" }',
        "Ideal fair queueing without control of delay: shares are equal, but each flow fills its own queue. "
        '`by = "source"` shares among hosts.',
    ),
    "sfq": Example(
        '{ kind = "sfq", perturb = "10s" }',
        "The same over hashed queues, at most 127 packets in all.",
    ),
    "fq": Example(
        '{ kind = "fq", flow_rate = "8Mbps" }',
        "A queue for each flow, none of them faster than a ceiling.",
    ),
    "tbf": Example(
        '{ kind = "tbf", rate = "18Mbps", burst = "30kB", queue = { kind = "fq_codel" } }',
        "A shaper below the rate of the line, so that the queue is this one and not the next: the queue inside decides all else. "
        "With `debt = true` it asks that queue only when it sends, as Linux's `htb`; otherwise the packet at its head waits "
        "outside.",
    ),
    "policer": Example(
        '{ kind = "policer", rate = "18Mbps", burst = "60kB", queue = "100p" }',
        'Drops what exceeds the rate at once. Nobody waits, and TCP pays. `action = "demote"` lets it pass as lower effort.',
    ),
    "priority": Example(
        '{ kind = "priority", by = "dscp", map = { EF = 0, LE = 1 }, bands = ["20p", { kind = "codel", ecn = true }] }',
        'Band 0 goes first, whatever waits behind. `by = "flow"` takes the key `priority` of a flow, `by = "ecn"` sends ECT(1) '
        "to band 0.",
    ),
    "cake": Example(
        '{ kind = "cake", rate = "18Mbps", tins = "diffserv3" }',
        "Shaper, classes, fair queueing of hosts and flows, and control of delay in one, for a home line. The rate is a little "
        'below what the modem sends, with `overhead = "docsis"` for its framing; above the rate of the link the shaper holds '
        "nothing back, which is a warning. Voice with DSCP EF has a tin of its own.",
    ),
    "dualpi2": Example(
        '{ kind = "dualpi2" }',
        "Two queues before one line: scalable flows, which send ECT(1), wait less than a millisecond, classic ones 15 ms; the "
        "coupling gives both about the same rate. `profile = \"rfc\"` is RFC 9332's own, the default is Linux's.",
    ),
}
"""The queues, in the order of the page. A table of the scenario is written as in a file."""


def queue_of(example: Example) -> Any:
    """Return the value of the key `queue` that an example writes."""
    return tomllib.loads(f"queue = {example.toml}")["queue"]


def scenario(queue: Any) -> dict[str, Any]:
    """Return the world of the page: four flows through one `queue`."""
    network = Graph("in", "out")
    network.connect("in", "out", **link(f"{RATE_MBPS}Mbps", f"{DELAY_MS}ms", queue), reverse={"queue": "10000p"})
    for i, ((_, keys), extra_ms) in enumerate(zip(FLOWS, EXTRA_MS, strict=True)):
        network.add_host(f"sender{i}", "in", **link("1Gbps", f"{extra_ms}ms", "10000p"))
        network.add_flow(f"sender{i}", "out", start=f"{100 * i}ms", **keys)
    return network.scenario(f"{SECONDS}s", {"profile": "linux"}, warmup=f"{WARMUP_S}s")


def measure(queue: Any) -> list[tuple[float, float]]:
    """Return goodput in Mb/s and the 99th percentile of the queueing delay in ms of each flow."""
    flows = run(scenario(queue)).summary["flows"]
    sent_ms = 8 * PACKET_BYTES / (RATE_MBPS * 1e3)
    base = [DELAY_MS + extra + sent_ms for extra in EXTRA_MS]
    # A packet of voice is transmitted faster than the full one that the base allows for: not below zero.
    waits = [max(0.0, 1e3 * flow["delay_p99_s"] - least) for flow, least in zip(flows, base, strict=True)]
    return [(flow["goodput_bps"] / 1e6, wait) for flow, wait in zip(flows, waits, strict=True)]


def page(results: dict[str, list[tuple[float, float]]]) -> str:
    """Return docs/generated/queues.md."""
    rows = [
        [f"[`{kind}`](#{kind})"] + [f"{goodput:.2f} / {wait:.1f}" for goodput, wait in flows] for kind, flows in results.items()
    ]
    parts = [
        "<!-- Generated by `make docs`; edit python/tonopah_dev/pages/queues.py, not this file. -->\n",
        "# Queues\n",
        "`queue` of a link takes one of these; [scenario.md](scenario.md#queue) has every key, [models.md](../models.md#queues) "
        "what each leaves out.\n",
        "![What each queue does to the same four flows](queues.png)\n",
        f"The same four flows for {SECONDS} s over {RATE_MBPS} Mb/s: two of CUBIC, whose round trips are 20 and 80 ms, one of "
        "Prague (ECT(1)), and voice, 64 kb/s of datagrams with DSCP EF. TCP takes marks. Goodput in Mb/s / 99th percentile of "
        f"the queueing delay in ms, the first {WARMUP_S} s left out. Engine {engine_version()}.\n",
        markdown_table(["queue", *(name for name, _ in FLOWS)], rows),
    ]
    for kind, example in EXAMPLES.items():
        parts.append(f"## {kind}\n\n`queue = {example.toml}`\n\n{example.text}\n")
    return "\n".join(parts)


def draw(results: dict[str, list[tuple[float, float]]], path: Path) -> None:
    """Write the picture as PNG: goodput and delay of each flow, a row for each queue."""
    rows = range(len(results))
    with style.settings() as plt:
        figure, panels = plt.subplots(1, 2, figsize=(9, 0.36 * len(results) + 1.4), sharey=True)
        try:
            for index, (name, _) in enumerate(FLOWS):
                looks = style.line_style(index) | {"linestyle": "none", "label": name}
                panels[0].plot([flows[index][0] for flows in results.values()], rows, **looks)
                panels[1].plot([max(0.1, flows[index][1]) for flows in results.values()], rows, **looks)
            panels[0].set_yticks(list(rows), list(results))
            panels[0].invert_yaxis()
            panels[0].set_xlabel("Goodput (Mb/s)")
            panels[1].set_xscale("log")
            panels[1].set_xlabel("Queueing delay, 99th percentile (ms)")
            figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(FLOWS))
            style.write_png(figure, path)
        finally:
            plt.close(figure)


def main(folder: Path) -> None:
    """Write the page and its picture."""
    results = {kind: measure(queue_of(example)) for kind, example in EXAMPLES.items()}
    (folder / "queues.md").write_text(page(results), encoding="utf-8")
    draw(results, folder / "queues.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
