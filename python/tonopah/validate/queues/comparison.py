"""Runs the recorded bottlenecks in the engine and judges what their queues did. The goals stand in the page too."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah.scenario.document import to_json
from tonopah.stats import CONFIDENCE, t_quantile
from tonopah.terminal.grid import Grid
from tonopah.validate.frame import CaseResult, Check, Comparison, close
from tonopah.validate.queues import worlds
from tonopah.validate.queues.recordings import QueueCase, QueueLibrary

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("wait, ms", "goodput, Mb/s", "drops", "marks", "drops of CBR", "share, %")
"""The goals, each a column: ours / kernel's."""
WAIT = 0.10
SIGNALS = 0.15
GOODPUT = 0.02
SHARE = 0.02
PACKETS = 1
"""Drops or marks per run that may differ where 15 % are less."""


@dataclass(frozen=True)
class QueueRun:
    """What one run gave, from `warm_s` on."""

    wait_s: float
    """Mean wait of the packets of TCP that were not dropped."""
    drops: int
    """Packets of TCP."""
    marks: int
    goodputs_bps: tuple[float, ...]
    """Of the TCP flows."""
    cbr_drops: int
    """Packets of the flows of constant rate."""

    @property
    def goodput_bps(self) -> float:
        """Of all TCP flows together."""
        return sum(self.goodputs_bps)

    def shares(self, case: QueueCase) -> list[float]:
        """Return each TCP flow's part of their goodput, flows that are alike in order of size."""
        flows = [case.flows[number] for number in case.tcp]
        groups: dict[tuple[Any, ...], list[float]] = {}
        for flow, goodput in zip(flows, self.goodputs_bps, strict=True):
            groups.setdefault(flow.alike, []).append(goodput / self.goodput_bps if self.goodput_bps else 0.0)
        return [share for group in groups.values() for share in sorted(group)]


@dataclass
class QueueResult(CaseResult[QueueCase]):
    """A case: the runs of both sides beside the goals."""

    ours: list[QueueRun] = field(default_factory=list)
    kernel: list[QueueRun] = field(default_factory=list)


@dataclass(frozen=True)
class AgainstLinuxQueues(Comparison[QueueCase, QueueResult]):
    """The comparison with recordings of Linux's queue disciplines; a run for each recorded one, with its starts."""

    library: QueueLibrary
    goal_keys = ("goal", "ours", "kernel", "allowed", "met")

    def cases(self) -> Sequence[QueueCase]:
        """Return all recorded cases."""
        return self.library.cases

    def missing(self, case: QueueCase) -> str | None:
        """Return what the engine lacks for a case, or None."""
        return worlds.missing(case)

    def jobs(self, case: QueueCase) -> Sequence[tuple[str, int]]:
        """Return the runs that a case needs."""
        return jobs_of(self.flows, case)

    @cached_property
    def flows(self) -> "pd.DataFrame":
        """The table of all recorded flows."""
        return self.library.flows()

    def read(self, case: QueueCase, index: int, summary: str, series: Any) -> QueueRun:
        """Return what a run of ours gave."""
        return run_of(case, json.loads(summary))

    def judge(self, case: QueueCase, runs: Sequence[QueueRun]) -> QueueResult:
        """Return the result of a case."""
        result = QueueResult(case, ours=list(runs), kernel=recorded(self.flows, case))
        result.checks = checks(result)
        return result

    def refuse(self, case: QueueCase, reason: str) -> QueueResult:
        """Return the result of a case that cannot be compared."""
        return QueueResult(case, reason)

    def facts(self, result: QueueResult) -> dict[str, Any]:
        """Return what a program is told of a result beside its goals."""
        return {"runs": len(result.ours)}

    def tables(self, results: Sequence[QueueResult]) -> list[Grid]:
        """Return the table of all cases."""
        return [table(results)]


def jobs_of(flows: "pd.DataFrame", case: QueueCase) -> list[tuple[str, int]]:
    """Return the runs that a case needs: one for each recorded run in the table of flows, with its starts."""
    jobs = []
    for rep, rows in flows[flows["case"] == case.number].groupby("rep"):
        starts = rows.sort_values("flow")["start_us"] / 1e6
        jobs.append((to_json(worlds.scenario(case, list(starts))), int(rep)))
    return jobs


def run_of(case: QueueCase, summary: dict[str, Any]) -> QueueRun:
    """Return what a run of ours gave. A packet's delay is its wait: nothing else on its way takes time."""
    tcp = [summary["flows"][number] for number in case.tcp]
    counts = [flow["received_packets"] for flow in tcp]
    delays = [flow["delay_s"] or 0.0 for flow in tcp]
    return QueueRun(
        wait_s=float(np.average(delays, weights=counts)),
        drops=sum(flow["dropped_packets"] for flow in tcp),
        marks=sum(flow["marked_packets"] for flow in tcp),
        goodputs_bps=tuple(flow["goodput_bps"] for flow in tcp),
        cbr_drops=sum(summary["flows"][number]["dropped_packets"] for number in case.cbr),
    )


def recorded(table: "pd.DataFrame", case: QueueCase) -> list[QueueRun]:
    """Return the runs of the kernel from the table of flows."""
    runs = []
    for _, rows in table[table["case"] == case.number].groupby("rep"):
        own = rows.set_index("flow")
        tcp = own.loc[case.tcp]
        runs.append(
            QueueRun(
                wait_s=float(np.average(tcp["wait_mean_ns"], weights=tcp["wait_packets"])) / 1e9,
                drops=int(tcp["drops"].sum()),
                marks=int(tcp["marks"].sum()),
                goodputs_bps=tuple(float(value) for value in tcp["goodput_bps"]),
                cbr_drops=int(own.loc[case.cbr]["drops"].sum()),
            )
        )
    return runs


def checks(result: QueueResult) -> list[Check]:
    """Return the goals of a case: medians over the runs."""
    case, ours, kernel = result.case, result.ours, result.kernel
    made = [
        relative("wait, ms", 1e3, WAIT, [run.wait_s for run in ours], [run.wait_s for run in kernel]),
        relative("goodput, Mb/s", 1e-6, GOODPUT, [run.goodput_bps for run in ours], [run.goodput_bps for run in kernel]),
        counted("drops", [run.drops for run in ours], [run.drops for run in kernel]),
        counted("marks", [run.marks for run in ours], [run.marks for run in kernel]),
        counted("drops of CBR", [run.cbr_drops for run in ours], [run.cbr_drops for run in kernel]),
    ]
    if len(case.tcp) > 1:
        made.append(shares([run.shares(case) for run in ours], [run.shares(case) for run in kernel]))
    return [check for check in made if check]


def relative(name: str, factor: float, tolerance: float, ours: Sequence[float], kernel: Sequence[float]) -> Check:
    """Return a goal for the median of a quantity."""
    mine, theirs = float(np.median(ours)), float(np.median(kernel))
    goal = f"within {100 * tolerance:.0f} %"
    return Check(name, f"{factor * mine:.3f}", f"{factor * theirs:.3f}", goal, close(mine, theirs, tolerance))


def counted(name: str, ours: Sequence[int], kernel: Sequence[int]) -> Check | None:
    """Return a goal for the median of a count; None if neither side has any."""
    mine, theirs = float(np.median(ours)), float(np.median(kernel))
    if mine == theirs == 0:
        return None
    met = close(mine, theirs, SIGNALS) or abs(mine - theirs) <= PACKETS
    return Check(name, f"{mine:g}", f"{theirs:g}", f"within {100 * SIGNALS:.0f} %, or {PACKETS}", met)


def shares(ours: Sequence[Sequence[float]], kernel: Sequence[Sequence[float]]) -> Check:
    """Return the goal for the shares; shown is the one that lies farthest from the middle of its interval."""
    mine, theirs = np.mean(ours, axis=0), np.mean(kernel, axis=0)
    count = len(kernel)
    one_more = t_quantile((1 + CONFIDENCE) / 2, count - 1) * np.std(kernel, axis=0, ddof=1) * math.sqrt(1 + 1 / count)
    half = np.maximum(one_more, SHARE * theirs)
    worst = int(np.argmax(np.abs(mine - theirs) / half))
    goal = f"{100 * (theirs - half)[worst]:.2f} – {100 * (theirs + half)[worst]:.2f}"
    met = bool(np.all(np.abs(mine - theirs) <= half))
    return Check("share, %", f"{100 * mine[worst]:.2f}", f"{100 * theirs[worst]:.2f}", goal, met)


def cells(result: QueueResult) -> list[str]:
    """Return the row of a case: ours / kernel's for each goal, those that are missed in bold."""
    found = {check.name: check for check in result.checks}
    made = []
    for name in COLUMNS:
        check = found.get(name)
        text = f"{check.ours} / {check.theirs}" if check else ""
        made.append(text if check is None or check.met else f"**{text}**")
    return [result.case.name, *made, result.verdict]


def table(results: Sequence[QueueResult]) -> Grid:
    """Return the comparison for a terminal."""
    run = [result for result in results if result.refused is None]
    met = sum(result.met for result in run)
    title = f"Queue disciplines of Linux 6.1: {met} of {len(run)} cases meet all goals (ours / kernel)"
    columns = tuple(name.replace(", ", "\n") for name in ("case", *COLUMNS, "goals"))
    return Grid(title, columns, [[cell.replace("**", "") for cell in cells(result)] for result in run], keys=1)
