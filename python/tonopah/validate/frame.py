"""What all comparisons have in common: cases, the runs that each needs, what is checked, and how results are shown.

A comparison is a class derived from `Comparison`; `carry_out` is its command.
"""

import argparse
import fnmatch
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tonopah.errors import InputError, near_names
from tonopah.execution.progress import show_progress
from tonopah.execution.runner import run_scenarios
from tonopah.terminal.grid import Grid, print_grids

if TYPE_CHECKING:
    import pandas as pd

NOT_RUNNABLE = "not runnable"
FEW_RUNS = 10
"""Fewer runs than this show no progress: they end soon."""


@dataclass(frozen=True)
class Case:
    """One experiment that has a result elsewhere."""

    name: str

    @property
    def id(self) -> str:
        """Its name, unique among all cases of the comparison."""
        return self.name


@dataclass(frozen=True)
class Check:
    """One goal: what was found here and in the reference, what is allowed, and whether it is met."""

    name: str
    ours: str
    theirs: str
    goal: str
    met: bool


C = TypeVar("C", bound=Case)


@dataclass
class CaseResult(Generic[C]):
    """A case: its goals, or why it was not compared."""

    case: C
    refused: str | None = None
    checks: list[Check] = field(default_factory=list)

    @property
    def met(self) -> bool:
        """All goals are met."""
        return self.refused is None and all(check.met for check in self.checks)

    @property
    def verdict(self) -> str:
        """How many of the goals are missed, if any."""
        missed, total = sum(not check.met for check in self.checks), len(self.checks)
        return f"MISS {missed}/{total}" if missed else "pass"


R = TypeVar("R", bound="CaseResult[Any]")


class Comparison(Generic[C, R]):
    """A comparison: its cases, what is run of each, and what is checked."""

    goal_keys = ("name", "ours", "theirs", "goal", "met")
    """Keys of a goal in JSON, in the order of the fields of `Check`."""

    def cases(self) -> Sequence[C]:
        """Return all cases."""
        raise NotImplementedError

    def advice(self, pattern: str) -> str:
        """Return the cases that come close to a pattern that matches none."""
        near = near_names(pattern, sorted({case.name for case in self.cases()}))
        return f"did you mean {', '.join(near)}?" if near else f"like {self.cases()[0].name}"

    def missing(self, case: C) -> str | None:
        """Return why a case cannot be expressed here, or None."""
        return None

    def jobs(self, case: C) -> Sequence[tuple[str, int]]:
        """Return the runs that a case needs, each a scenario as JSON text and a seed."""
        raise NotImplementedError

    def read(self, case: C, index: int, summary: str, series: Any) -> Any:
        """Return what `judge` needs of a run, the one with this index among the jobs of the case."""
        raise NotImplementedError

    def judge(self, case: C, runs: Sequence[Any]) -> R:
        """Return the result of a case from what `read` returned of its runs."""
        raise NotImplementedError

    def refuse(self, case: C, reason: str) -> R:
        """Return the result of a case that cannot be compared."""
        raise NotImplementedError

    def finish(self, results: Sequence[R]) -> None:
        """Complete the results by what depends on all of them."""

    def facts(self, result: R) -> dict[str, Any]:
        """Return what a program is told of a result beside case, goals and verdict."""
        return {}

    def tables(self, results: Sequence[R]) -> Sequence[Grid]:
        """Return the tables for a terminal."""
        raise NotImplementedError

    def notes(self, results: Sequence[R]) -> Sequence[str]:
        """Return the lines below the tables."""
        return [f"{result.case.id}: {result.refused}" for result in results if result.refused is not None]


def select(comparison: Comparison[C, R], pattern: str | None) -> list[C]:
    """Return the cases whose name or id matches a glob pattern; all without one. Raises InputError if there is none."""
    found = [case for case in comparison.cases() if pattern is None or matches(case, pattern)]
    if not found:
        raise InputError("--case", f"{pattern!r} matches no case", comparison.advice(str(pattern)))
    return found


def matches(case: Case, pattern: str) -> bool:
    """Tell whether a glob pattern means this case."""
    return fnmatch.fnmatchcase(case.name, pattern) or fnmatch.fnmatchcase(case.id, pattern)


@dataclass
class Open(Generic[C]):
    """A case whose runs are not all there yet."""

    case: C
    left: int
    runs: dict[int, Any] = field(default_factory=dict)
    error: Exception | None = None


def compare(
    comparison: Comparison[C, R], cases: Sequence[C], threads: int | None = None, step: Callable[[], None] = lambda: None
) -> list[R]:
    """Run the cases and return a result for each; `step` is called after every run. Cases share the runs that are alike."""
    results: dict[int, R] = {}
    waiting: dict[tuple[str, int], list[tuple[int, int]]] = {}
    opened: dict[int, Open[C]] = {}
    for number, case in enumerate(cases):
        reason = comparison.missing(case)
        wanted = comparison.jobs(case) if reason is None else []
        for index, job in enumerate(wanted):
            waiting.setdefault(job, []).append((number, index))
        if wanted:
            opened[number] = Open(case, len(wanted))
        else:
            results[number] = comparison.judge(case, []) if reason is None else comparison.refuse(case, reason)
    jobs = list(waiting)

    def take(job: int, outcome: str | Exception, series: Any) -> bool:
        for number, index in waiting[jobs[job]]:
            one = opened[number]
            if isinstance(outcome, Exception):
                one.error = outcome
            else:
                one.runs[index] = comparison.read(one.case, index, outcome, series)
            one.left -= 1
            if not one.left:
                results[number] = closed(comparison, opened.pop(number))
        step()
        return True

    run_scenarios(jobs, take, threads)
    found = [results[number] for number in range(len(cases))]
    comparison.finish(found)
    return found


def closed(comparison: Comparison[C, R], one: Open[C]) -> R:
    """Return the result of a case whose runs are all there."""
    if one.error:
        return comparison.refuse(one.case, f"{NOT_RUNNABLE}: {one.error}")
    return comparison.judge(one.case, [run for _, run in sorted(one.runs.items())])


def count_runs(comparison: Comparison[C, R], cases: Sequence[C]) -> int:
    """Return the number of runs that the cases need."""
    return len({job for case in cases if comparison.missing(case) is None for job in comparison.jobs(case)})


def as_json(comparison: Comparison[C, R], result: R) -> dict[str, Any]:
    """Return a result for programs."""
    goals = [dict(zip(comparison.goal_keys, vars(check).values(), strict=True)) for check in result.checks]
    met = result.met if result.refused is None else None
    return {"case": result.case.id, "refused": result.refused, "met": met, "goals": goals, **comparison.facts(result)}


def goal_table(results: Sequence[CaseResult[Any]], theirs: str, every: bool) -> Grid:
    """Return the goals, `every` one or those that were missed, each with the name of its case; `theirs` names the reference."""
    rows = [
        [result.case.id, check.name, check.ours, check.theirs, check.goal, "pass" if check.met else "MISS"]
        for result in results
        for check in result.checks
        if every or not check.met
    ]
    return Grid("Goals" if every else "Goals missed", ("case", "goal", "ours", theirs, "allowed", ""), rows, keys=2)


def exit_status(results: Sequence[CaseResult[Any]]) -> int:
    """Return 1 if a case that was compared misses a goal."""
    return int(any(result.refused is None and not result.met for result in results))


def carry_out(comparison: Comparison[C, R], arguments: argparse.Namespace) -> list[R]:
    """Run the cases that the command line selects, print their results, and return them."""
    cases = select(comparison, arguments.case)
    runs = count_runs(comparison, cases)
    with show_progress(runs, 0, quiet=arguments.json or runs < FEW_RUNS) as step:
        results = compare(comparison, cases, arguments.jobs, step)
    if arguments.json:
        print(json.dumps([as_json(comparison, result) for result in results]))
    else:
        print_grids(*comparison.tables(results))
        for line in comparison.notes(results):
            print(line)
    return results


def close(ours: float, theirs: float, tolerance: float) -> bool:
    """Tell whether ours differs from the reference by at most this part of it."""
    return abs(ours - theirs) <= tolerance * abs(theirs) + 1e-12


def read_table(path: Path) -> "pd.DataFrame":
    """Return a recorded table, which holds differences of rows, with signed numbers: unsigned ones would wrap."""
    import pyarrow.parquet as pq

    return pq.read_table(path).to_pandas().astype("int64").cumsum() % 2**32
