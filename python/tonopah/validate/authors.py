"""Runs the cases of `tonopah validate authors` on all cores and holds every number against what the authors stored."""

import fnmatch
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from tonopah.authors.observe import observe
from tonopah.authors.packets import Numbers
from tonopah.errors import InputError
from tonopah.stats import Estimate, mean_interval
from tonopah.validate.authors_cases import Case, all_cases


@dataclass(frozen=True)
class Row:
    """One number: the author's, that of the stock simulator with the author's script, ours."""

    case: str
    metric: str
    author: float | None
    stock: str
    """With its interval where there are several runs; empty if not measured."""
    ours: str
    value: float
    allowed: str
    """Empty where there is no goal."""
    agrees: bool | None


def select(glob: str | None) -> list[Case]:
    """Return the cases whose name matches; raise an error if there are none."""
    cases = [case for case in all_cases() if glob is None or fnmatch.fnmatchcase(case.name, glob)]
    if not cases:
        networks = sorted({"/".join(case.name.split("/")[:2]) for case in all_cases()})
        raise InputError("--case", f"no case matches {glob!r}", f"there are {', '.join(f'{network}/*' for network in networks)}")
    return cases


def run_seed(case: Case, seed: int) -> Numbers:
    """Run a case with one seed."""
    return case.network.count([observe(scenario, seed) for scenario in case.scenarios])


def run_job(job: tuple[str, int]) -> Numbers:
    """Run the named case with a seed, in a process of its own."""
    name, seed = job
    return run_seed(next(case for case in all_cases() if case.name == name), seed)


def count_runs(cases: Sequence[Case]) -> int:
    """Return the number of runs that the cases need."""
    return sum(len(case.seeds) for case in cases)


def validate(cases: Sequence[Case], processes: int | None = None, step: Callable[[], None] = lambda: None) -> list[Row]:
    """Run the cases and return a row for each number; `step` is called after every run."""
    jobs = [(case.name, seed) for case in cases for seed in case.seeds]
    found: dict[str, list[Numbers]] = {}
    with ProcessPoolExecutor(processes or os.cpu_count() or 1, multiprocessing.get_context("spawn")) as pool:
        for (name, _), numbers in zip(jobs, pool.map(run_job, jobs), strict=True):
            found.setdefault(name, []).append(numbers)
            step()
    return [row for case in cases for row in judge(case, found[case.name])]


def judge(case: Case, runs: Sequence[Numbers]) -> Iterator[Row]:
    """Yield a row for each number of a case that is stored or has a goal."""
    author, stock = case.references.get("author", {}), case.references.get("stock", {})
    network = case.network
    for metric in runs[0]:
        if metric not in author and metric not in stock:
            continue
        theirs = stock.get(metric, [])
        printed = author[metric][0] if metric in author else None
        ours, reference = mean_interval([run[metric] for run in runs]), mean_interval(theirs) if theirs else None
        allowed, agrees = "", None
        if case.judged and metric in network.overlap and reference is not None and len(theirs) > 1:
            allowed, agrees = "intervals overlap", overlap(ours, reference)
        elif case.judged and metric in network.goals:
            goal = network.goals[metric]
            allowed, agrees = goal.text, goal.met(ours.value, printed if printed is not None else mean_interval(theirs).value)
        yield Row(case.name, metric, printed, shown(reference), shown(ours), ours.value, allowed, agrees)


def overlap(a: Estimate, b: Estimate) -> bool:
    """Tell whether two intervals have a value in common."""
    return a.low <= b.high and b.low <= a.high


def shown(estimate: Estimate | None) -> str:
    """Return a mean with its interval, if there is one."""
    if estimate is None:
        return ""
    known = not estimate.unbounded and estimate.low < estimate.high
    return f"{estimate.value:.6g}" + (f" ({estimate.low:.4g} … {estimate.high:.4g})" if known else "")


def as_json(row: Row) -> dict[str, Any]:
    """Return a row for machines."""
    return asdict(row)
