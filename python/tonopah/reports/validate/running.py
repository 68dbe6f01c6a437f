"""Runs the networks of the cases, each point once, by the runner of studies."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from tonopah.digest import digest
from tonopah.execution.options import ExecutionOptions
from tonopah.execution.runner import run_locally
from tonopah.reports.counters.packets import Numbers
from tonopah.reports.networks import network
from tonopah.reports.networks.model import Network
from tonopah.reports.validate.cases import Case, same_point
from tonopah.reports.validate.judging import Check, judge
from tonopah.scenario.document import to_json
from tonopah.spec.plan import Run


@dataclass(frozen=True)
class Job:
    """A run of a point of a network; points that differ in name alone share their runs."""

    network: str
    point: tuple[tuple[str, Any], ...]
    seed: int

    def run(self) -> Run:
        """Return it as a run, observed by its network in the units of its script."""
        found = network(self.network)
        scenario = to_json(found.scenario(dict(self.point)))
        name = digest(self.network, scenario, str(self.seed))
        return Run(name, self.network, self.seed, dict(self.point), scenario, scenario, observer=found.place("numbers"))


def job(network: Network, point: Mapping[str, Any], seed: int) -> Job:
    """Return the run of a point with a seed."""
    return Job(network.name, tuple(sorted(network.complete(point).items())), seed)


def jobs_of(case: Case) -> list[Job]:
    """Return the runs of a case."""
    return [job(case.network, case.point, seed) for seed in case.seeds]


def other_jobs_of(case: Case) -> list[Job]:
    """Return the runs of the point that a case is held against, if there is one."""
    if case.contrast is not None:
        return [job(case.network, {**case.point, **case.contrast.other}, seed) for seed in case.seeds]
    if case.sign is not None:
        return [job(case.network, same_point(case, case.sign.other).point, seed) for seed in case.seeds]
    return jobs_of(case.first) if case.first is not None else []


def all_jobs(cases: Sequence[Case]) -> list[Job]:
    """Return the runs that the cases need, each once."""
    return list(dict.fromkeys(one for case in cases for one in [*jobs_of(case), *other_jobs_of(case)]))


def validate(cases: Sequence[Case], processes: int | None = None, step: Callable[[], None] = lambda: None) -> list[Check]:
    """Run the cases and return a check for each number; `step` is called after every run."""
    found = numbers_of(all_jobs(cases), processes, step)
    return [
        check for case in cases
        for check in judge(case, [found[one] for one in jobs_of(case)], [found[one] for one in other_jobs_of(case)])
    ]  # fmt: skip


def numbers_of(jobs: Sequence[Job], processes: int | None = None, step: Callable[[], None] = lambda: None) -> dict[Job, Numbers]:
    """Run the jobs and return the numbers of each in the units of its script; `step` is called after every run."""
    found: dict[Job, Numbers] = {}
    failed: list[Exception] = []

    def keep(index: int, outcome: str | Exception, series: Any) -> bool:
        if isinstance(outcome, Exception):
            failed.append(outcome)
            return False
        observed = json.loads(outcome)["observed"]["run"]
        found[jobs[index]] = {name: nan if number is None else number for name, number in observed.items()}
        step()
        return True

    run_locally([one.run() for one in jobs], keep, ExecutionOptions(jobs=processes))
    if failed:
        raise failed[0]
    return found
