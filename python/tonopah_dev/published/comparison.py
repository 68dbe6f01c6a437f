"""Runs the cases of `python -m tonopah_dev.published` on all cores and judges them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scipy.stats import binomtest

from tonopah.errors import RunFailedError
from tonopah.scenario.document import to_json
from tonopah.stats import Estimate, mean_interval
from tonopah.terminal.grid import Grid
from tonopah.validate.frame import CaseResult, Check, Comparison
from tonopah_dev.published.case import PublishedCase
from tonopah_dev.published.cases import all_cases

FEWEST_SIGNS = 6
"""Fewer cases of a family on one side are no surprise: 2 / 2^5 is above 5 %."""
COLUMNS = ("case", "quantity", "reference", "allowed", "ours (95 %)", "")


@dataclass
class PublishedResult(CaseResult[PublishedCase]):
    """What the runs of a case gave."""

    values: list[float] = field(default_factory=list)
    """One for each seed."""

    @property
    def estimate(self) -> Estimate:
        """Their mean with its 95 % interval, which stays within the bounds of the quantity."""
        return mean_interval(self.values, bounds=self.case.bounds)

    @property
    def word(self) -> str:
        """Agreement is shown if the whole interval is allowed; if only the mean is, more seeds would tell."""
        estimate, case = self.estimate, self.case
        if self.met:
            return "agrees"
        return "not shown" if case.low <= estimate.value <= case.high else "DISAGREES"


@dataclass(frozen=True)
class Bias:
    """On which side of their references the cases of a family lie."""

    family: str
    above: int
    below: int

    @property
    def p(self) -> float:
        """The p value of the two-sided sign test of "on either side with the same probability"."""
        return float(binomtest(self.above, self.above + self.below).pvalue)

    @property
    def text(self) -> str:
        """The sentence."""
        return f"{self.family}: {self.above} of {self.above + self.below} above the reference (sign test, p = {self.p:.2g})"


def biases(results: Sequence[PublishedResult]) -> list[Bias]:
    """Return the bias of every family with a reference in the middle of what is allowed, those that are least by chance first."""
    signs: dict[str, list[float]] = {}
    for result in results:
        case, value = result.case, result.estimate.value
        # A law that bounds from one side has nothing on the other.
        if case.low < case.reference < case.high and value != case.reference:
            signs.setdefault(case.family, []).append(value - case.reference)
    found = [Bias(family, sum(one > 0 for one in all_), sum(one < 0 for one in all_)) for family, all_ in signs.items()]
    return sorted((one for one in found if one.above + one.below >= FEWEST_SIGNS), key=lambda one: one.p)


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
            "word": result.word,
            "cause": None if result.met else case.cause,
        }

    def tables(self, results: Sequence[PublishedResult]) -> list[Grid]:
        """Return the table of all cases."""
        agreed = sum(result.met for result in results)
        title = f"Laws and published results: {agreed} of {len(results)} agree"
        return [Grid(title, COLUMNS, [cells(result) for result in results], keys=2)]

    def notes(self, results: Sequence[PublishedResult]) -> Sequence[str]:
        """Return the bias of each family."""
        return [*super().notes(results), *(f"bias of {one.text}" for one in biases(results))]


def judge(case: PublishedCase, values: Sequence[float]) -> PublishedResult:
    """Return the result of a case: the interval is within the tolerance, or it is not."""
    result = PublishedResult(case, values=list(values))
    estimate = result.estimate
    ours, ends = f"{estimate.value:.4g}", [estimate.value]
    if case.seeds > 1 and not estimate.unbounded:
        ours, ends = f"{ours} ({estimate.low:.4g} … {estimate.high:.4g})", [estimate.low, estimate.high]
    allowed = f"{case.low:.4g} … {case.high:.4g}"
    met = all(case.low <= end <= case.high for end in ends)
    result.checks = [Check(case.quantity, ours, f"{case.reference:.4g}", allowed, met)]
    return result


def cells(result: PublishedResult) -> list[str]:
    """Return a row of the table."""
    (check,) = result.checks
    return [result.case.name, check.name, check.theirs, check.goal, check.ours, result.word]
