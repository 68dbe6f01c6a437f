"""Runs the cases of `python -m tonopah_dev.published` on all cores and judges them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tonopah.errors import RunFailedError
from tonopah.scenario.document import to_json
from tonopah.stats import Estimate, mean_interval
from tonopah.terminal.grid import Grid
from tonopah.validate.frame import CaseResult, Check, Comparison
from tonopah_dev.published.case import PublishedCase
from tonopah_dev.published.cases import all_cases

COLUMNS = ("case", "quantity", "reference", "allowed", "ours (95 %)", "")


@dataclass
class PublishedResult(CaseResult[PublishedCase]):
    """What the runs of a case gave."""

    values: list[float] = field(default_factory=list)
    """One for each seed."""

    @property
    def estimate(self) -> Estimate:
        """Their mean with its 95 % interval."""
        return mean_interval(self.values)


class AgainstPublished(Comparison[PublishedCase, PublishedResult]):
    """The comparison with laws and published results."""

    def cases(self) -> Sequence[PublishedCase]:
        """Return all cases."""
        return all_cases()

    def advice(self, pattern: str) -> str:
        """Return the groups of cases."""
        groups = sorted({case.name.partition("/")[0] for case in self.cases()})
        return f"there are {', '.join(f'{group}/*' for group in groups)}"

    def jobs(self, case: PublishedCase) -> Sequence[tuple[str, int]]:
        """Return the runs that a case needs. Cases of one world share them."""
        return [(to_json(case.world.scenario(seed)), seed) for seed in range(1, case.seeds + 1)]

    def read(self, case: PublishedCase, index: int, summary: str, series: Any) -> float:
        """Return the measure of a run."""
        return case.measure(case.world, json.loads(summary), series or {})

    def judge(self, case: PublishedCase, runs: Sequence[float]) -> PublishedResult:
        """Return the result of a case from the values of its runs."""
        return judge(case, runs)

    def refuse(self, case: PublishedCase, reason: str) -> PublishedResult:
        """Raise an error: every case is one that runs here."""
        raise RunFailedError(f"case {case.name}: {reason}")

    def facts(self, result: PublishedResult) -> dict[str, Any]:
        """Return what a program is told of a result beside its goal."""
        case, estimate = result.case, result.estimate
        return {
            "source": case.source,
            "quantity": case.quantity,
            "reference": case.reference,
            "allowed": [case.low, case.high],
            "ours": estimate.value,
            "interval": [estimate.low, estimate.high] if case.seeds > 1 and not estimate.unbounded else None,
            "values": result.values,
            "cause": None if result.met else case.cause,
        }

    def tables(self, results: Sequence[PublishedResult]) -> list[Grid]:
        """Return the table of all cases."""
        agreed = sum(result.met for result in results)
        title = f"Laws and published results: {agreed} of {len(results)} agree"
        return [Grid(title, COLUMNS, [cells(result) for result in results], keys=2)]


def judge(case: PublishedCase, values: Sequence[float]) -> PublishedResult:
    """Return the result of a case: the mean is within the tolerance, or it is not."""
    result = PublishedResult(case, values=list(values))
    estimate = result.estimate
    ours = f"{estimate.value:.4g}"
    if case.seeds > 1 and not estimate.unbounded:
        ours += f" ({estimate.low:.4g} … {estimate.high:.4g})"
    allowed = f"{case.low:.4g} … {case.high:.4g}"
    result.checks = [Check(case.quantity, ours, f"{case.reference:.4g}", allowed, case.low <= estimate.value <= case.high)]
    return result


def cells(result: PublishedResult) -> list[str]:
    """Return a row of the table."""
    (check,) = result.checks
    return [result.case.name, check.name, check.theirs, check.goal, check.ours, "agrees" if check.met else "DISAGREES"]
