"""Runs the cases of `tonopah validate published` on all cores and judges them."""

import fnmatch
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tonopah._core import run_many
from tonopah.errors import InputError, RunFailedError
from tonopah.scenario.document import to_json
from tonopah.stats import Estimate, mean_interval
from tonopah.validate.published_case import Case
from tonopah.validate.published_cases import all_cases


@dataclass(frozen=True)
class Result:
    """What the runs of a case gave."""

    case: Case
    values: Sequence[float]
    """One for each seed."""

    @property
    def estimate(self) -> Estimate:
        """Their mean with its 95 % interval."""
        return mean_interval(self.values)

    @property
    def agrees(self) -> bool:
        """The mean is within the tolerance."""
        return self.case.low <= self.estimate.value <= self.case.high


def select(glob: str | None) -> list[Case]:
    """Return the cases whose name matches; raise an error if there are none."""
    cases = [case for case in all_cases() if glob is None or fnmatch.fnmatchcase(case.name, glob)]
    if not cases:
        groups = sorted({case.name.partition("/")[0] for case in all_cases()})
        raise InputError("--case", f"no case matches {glob!r}", f"there are {', '.join(f'{group}/*' for group in groups)}")
    return cases


def runs_of(case: Case) -> list[tuple[str, int]]:
    """Return scenario and seed of each run of a case."""
    return [(to_json(case.world.scenario(seed)), seed) for seed in range(1, case.seeds + 1)]


def count_runs(cases: Sequence[Case]) -> int:
    """Return the number of runs that the cases need."""
    return len({job for case in cases for job in runs_of(case)})


def validate(cases: Sequence[Case], threads: int | None = None, step: Callable[[], None] = lambda: None) -> list[Result]:
    """Run the cases and return a result for each; `step` is called after every run. Cases of one world share its runs."""
    texts = [runs_of(case) for case in cases]
    jobs = list(dict.fromkeys(job for own in texts for job in own))
    outcomes: dict[int, Any] = {}

    def take(index: int, outcome: Any, series: Any) -> bool:
        outcomes[index] = outcome if isinstance(outcome, Exception) else (json.loads(outcome), series or {})
        step()
        return True

    run_many(jobs, threads or os.cpu_count() or 1, take)
    found = dict(zip(jobs, (outcomes[index] for index in range(len(jobs))), strict=True))
    results = []
    for case, own in zip(cases, texts, strict=True):
        for job in own:
            if isinstance(found[job], Exception):
                raise RunFailedError(f"case {case.name}, seed {job[1]}: {found[job]}")
        results.append(Result(case, [case.measure(case.world, *found[job]) for job in own]))
    return results


def as_json(result: Result) -> dict[str, Any]:
    """Return a result for machines."""
    case, estimate = result.case, result.estimate
    known = not estimate.unbounded and case.seeds > 1
    return {
        "case": case.name,
        "source": case.source,
        "quantity": case.quantity,
        "reference": case.reference,
        "allowed": [case.low, case.high],
        "ours": estimate.value,
        "interval": [estimate.low, estimate.high] if known else None,
        "values": list(result.values),
        "agrees": result.agrees,
        "cause": None if result.agrees else case.cause,
    }
