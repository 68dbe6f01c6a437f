"""Runs the recorded bottlenecks in the engine and judges what their queues did. The goals stand in the page too."""

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah._core import run_many
from tonopah.scenario.document import to_json
from tonopah.stats import CONFIDENCE, t_quantile
from tonopah.validate import queues_worlds as worlds
from tonopah.validate.measures import Check, close
from tonopah.validate.queues_recordings import Case, Library

if TYPE_CHECKING:
    import pandas as pd

WAIT = 0.10
SIGNALS = 0.15
GOODPUT = 0.02
SHARE = 0.02
PACKETS = 1
"""Drops or marks per run that may differ where 15 % are less."""


@dataclass(frozen=True)
class Run:
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

    def shares(self, case: Case) -> list[float]:
        """Return each TCP flow's part of their goodput, flows that are alike in order of size."""
        flows = [case.flows[number] for number in case.tcp]
        groups: dict[tuple[Any, ...], list[float]] = {}
        for flow, goodput in zip(flows, self.goodputs_bps, strict=True):
            groups.setdefault(flow.alike, []).append(goodput / self.goodput_bps if self.goodput_bps else 0.0)
        return [share for group in groups.values() for share in sorted(group)]


@dataclass
class CaseResult:
    """A case: why it was not compared, or the runs of both sides and the goals."""

    case: Case
    refused: str | None = None
    ours: list[Run] = field(default_factory=list)
    kernel: list[Run] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    @property
    def met(self) -> bool:
        """All goals are met."""
        return self.refused is None and all(check.met for check in self.checks)


@dataclass(frozen=True)
class Job:
    """One run of a case, with the starts of a recorded one."""

    case: Case
    rep: int
    text: str


def jobs_of(library: Library, cases: Sequence[Case]) -> list[Job]:
    """Return the runs that the cases need: one for each recorded run, with its starts."""
    table = library.flows()
    jobs = []
    for case in cases:
        if worlds.missing(case) is None:
            for rep, rows in table[table["case"] == case.number].groupby("rep"):
                starts = rows.sort_values("flow")["start_us"] / 1e6
                jobs.append(Job(case, int(rep), to_json(worlds.scenario(case, list(starts)))))
    return jobs


def validate(
    library: Library,
    cases: Sequence[Case],
    jobs: Sequence[Job],
    threads: int | None = None,
    step: Callable[[], None] = lambda: None,
) -> list[CaseResult]:
    """Run the jobs of the cases and return a result for each case; `step` is called after every run."""
    table = library.flows()
    results = {case.name: CaseResult(case, worlds.missing(case), kernel=recorded(table, case)) for case in cases}
    runs: dict[int, Run] = {}

    def take(index: int, outcome: Any, series: Any) -> bool:
        case = jobs[index].case
        if isinstance(outcome, Exception):
            results[case.name].refused = f"not runnable: {outcome}"
        else:
            runs[index] = run_of(case, json.loads(outcome))
        step()
        return True

    run_many([(job.text, job.rep) for job in jobs], threads or os.cpu_count() or 1, take)
    for index in sorted(runs):
        results[jobs[index].case.name].ours.append(runs[index])
    for result in results.values():
        if result.refused is None:
            result.checks = checks(result)
    return list(results.values())


def run_of(case: Case, summary: dict[str, Any]) -> Run:
    """Return what a run of ours gave. A packet's delay is its wait: nothing else on its way takes time."""
    tcp = [summary["flows"][number] for number in case.tcp]
    counts = [flow["received_packets"] for flow in tcp]
    delays = [flow["delay_s"] or 0.0 for flow in tcp]
    return Run(
        wait_s=float(np.average(delays, weights=counts)),
        drops=sum(flow["dropped_packets"] for flow in tcp),
        marks=sum(flow["marked_packets"] for flow in tcp),
        goodputs_bps=tuple(flow["goodput_bps"] for flow in tcp),
        cbr_drops=sum(summary["flows"][number]["dropped_packets"] for number in case.cbr),
    )


def recorded(table: "pd.DataFrame", case: Case) -> list[Run]:
    """Return the runs of the kernel from the table of flows."""
    runs = []
    for _, rows in table[table["case"] == case.number].groupby("rep"):
        own = rows.set_index("flow")
        tcp = own.loc[case.tcp]
        runs.append(
            Run(
                wait_s=float(np.average(tcp["wait_mean_ns"], weights=tcp["wait_packets"])) / 1e9,
                drops=int(tcp["drops"].sum()),
                marks=int(tcp["marks"].sum()),
                goodputs_bps=tuple(float(value) for value in tcp["goodput_bps"]),
                cbr_drops=int(own.loc[case.cbr]["drops"].sum()),
            )
        )
    return runs


def checks(result: CaseResult) -> list[Check]:
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


def as_json(result: CaseResult) -> dict[str, Any]:
    """Return a result for machines."""
    goals = [
        {"goal": check.name, "ours": check.ours, "kernel": check.kernel, "allowed": check.goal, "met": check.met}
        for check in result.checks
    ]
    compared = result.refused is None
    return {
        "case": result.case.name, "refused": result.refused, "runs": len(result.ours), "goals": goals,
        "met": result.met if compared else None,
    }  # fmt: skip
