"""`tonopah compare`: a candidate against a reference in the same worlds with the same draws, for continuous integration."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tonopah._core import engine_version
from tonopah.errors import InputError
from tonopah.evaluate import bounds
from tonopah.evaluate.definitions import Experiment, definitions, read
from tonopah.evaluate.evaluation import Evaluation
from tonopah.evaluate.measured import Measured, PointValues, smallest
from tonopah.evaluate.plan import EvaluationPlan, make_plan
from tonopah.evaluate.subjects import Cast, make_subject, read_subject
from tonopah.evaluate.verdict import LEVEL, two_sided_p
from tonopah.spec.validation import Model, list_allowed
from tonopah.stats import Estimate, Mean, holm, mean_of, ratio_of

FORMAT = 1
BESIDE = "cubic"
"""Who the two are beside in the experiments on sharing."""
HOMOGENEOUS, BESIDE_OTHERS = ("S", "B"), ("S:R", "B:R")
OWN_SHORT_FLOWS = ("S:S", "B:B")
REPLICATES, SMOKE_REPLICATES = 10, 5
BOUNDS = {"C1": "collapse", "C8": "feedback", "C18": "breaker"}
Outcome = Literal["regressed", "improved", "same", "unclear", "identical"]


class Compared(Model):
    """A metric that is compared, and the loss that counts."""

    name: str
    experiments: list[str]
    threshold: float
    kind: Literal["relative", "absolute"] = "relative"
    better: Literal["more", "less", "either"] = "more"
    """`either`: a change to one side or the other is a regression."""


@dataclass(frozen=True)
class ComparedRow:
    """One metric at one point: reference, candidate, their difference, and what follows."""

    criterion: str
    experiment: str
    point: str
    metric: str
    a: float
    b: float
    difference: Estimate
    """In percent of the reference, or absolute."""
    unit: str
    p: float
    threshold: float
    better: str = "more"
    identical: bool = False
    p_holm: float = math.nan
    broken: bool = False
    """A bound that the reference keeps and the candidate does not."""

    @property
    def outcome(self) -> Outcome:
        """What follows by rule."""
        if self.broken:
            return "regressed"
        if self.identical:
            return "identical"
        size = self.difference.value / (100 if self.unit == "%" else 1)
        good = -size if self.better == "less" else -abs(size) if self.better == "either" else size
        if self.p_holm < LEVEL and good <= -self.threshold:
            return "regressed"
        if self.p_holm < LEVEL and good >= self.threshold:
            return "improved"
        return "same" if self.within() else "unclear"

    def within(self) -> bool:
        """Tell whether the interval excludes a difference that counts."""
        scale = 100 if self.unit == "%" else 1
        ends = (self.difference.low / scale, self.difference.high / scale)
        return all(abs(end) <= self.threshold for end in ends)

    @property
    def place(self) -> str:
        """Where it is."""
        return f"{self.experiment}, {self.point}"


@dataclass
class Comparison(Evaluation):
    """A comparison: the candidate is the subject of an evaluation, the reference its baseline."""

    names: Sequence[str] = ()
    """Experiments."""
    scale: float = 1.0
    """Of all thresholds."""
    equivalence: bool = False
    """Whether what is not shown to be the same is a regression."""
    apart: int = 0
    """Added to the seeds of the candidate: draws of its own, to see how often nothing is found to differ."""

    @property
    def experiments(self) -> list[Experiment]:
        """The experiments, with the arms that are compared."""
        chosen = [definitions().experiments[name] for name in self.names]
        return [one.model_copy(update={"arms": list(compared_arms(one))}) for one in chosen if compared_arms(one)]

    def plan(self, quiet: bool = True) -> EvaluationPlan:
        """Return all runs. Raises InputError."""
        if self.made is None:
            self.made = make_plan(self.cast, self.experiments, self.mode, self.replicates, apart=self.apart)
        return self.made

    def compare(self, measured: Measured) -> list[ComparedRow]:
        """Return all rows, with adjusted p values."""
        rows = [
            row
            for metric in compared_metrics()
            for name in metric.experiments
            if name in measured.points
            for point in measured.points[name]
            if (row := compare_at(metric, point, self.scale))
        ]
        adjusted = holm([math.nan if row.identical else row.p for row in rows])
        rows = [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]
        return [*rows, *broken_bounds(measured)]

    def failed(self, rows: Sequence[ComparedRow]) -> bool:
        """Tell whether there is a regression."""
        bad = {"regressed", "unclear", "improved"} if self.equivalence else {"regressed"}
        return any(row.outcome in bad for row in rows)


def compared_arms(experiment: Experiment) -> tuple[str, ...]:
    """Return the arms of reference and candidate in an experiment: alone, else beside the same other."""
    for arms in (HOMOGENEOUS, BESIDE_OTHERS, OWN_SHORT_FLOWS):
        if set(arms) <= set(experiment.arms):
            return arms
    return ()


@cache
def compared_metrics() -> list[Compared]:
    """Return the metrics that are compared."""
    return [Compared.model_validate(table) for table in read("compare.toml")["metric"]]


def compare_at(metric: Compared, point: PointValues, scale: float) -> ComparedRow | None:
    """Return one metric at one point; None where it was not measured."""
    candidate, reference = compared_arms(point.point.experiment)
    mine, theirs = point.metric(candidate, metric.name), point.metric(reference, metric.name)
    both = sorted(set(mine) & set(theirs))
    if not both:
        return None
    b, a = (np.array([values[k] for k in both]) for values in (mine, theirs))
    relative = metric.kind == "relative"
    least = smallest(metric.name)
    quantity: Mean = ratio_of(b + least, a + least) if relative else mean_of(b - a)
    return ComparedRow(
        criterion_of(point.point.experiment.id),
        point.point.experiment.id,
        point.point.label,
        metric.name,
        float(a.mean()),
        float(b.mean()),
        quantity.interval(0.95),
        "%" if relative else "",
        two_sided_p(quantity),
        metric.threshold * scale,
        metric.better,
        bool((a == b).all()),
    )


def criterion_of(experiment: str) -> str:
    """Return the first criterion that reads an experiment."""
    return next((one.id for one in definitions().criteria.values() if experiment in one.experiments), "")


def broken_bounds(measured: Measured) -> list[ComparedRow]:
    """Return the bounds that the candidate breaks and the reference keeps."""
    swapped = Measured(
        {
            name: [PointValues(one.point, {"S": one.arms.get("B", {}), "B": one.arms.get("B", {})}) for one in points]
            for name, points in measured.points.items()
        }
    )
    found = []
    for criterion, name in BOUNDS.items():
        before = {(line.experiment, line.point, line.what) for line in bounds.lines(name, swapped) if not line.kept}
        for line in bounds.lines(name, measured):
            if not line.kept and (line.experiment, line.point, line.what) not in before:
                none = Estimate(math.nan, math.nan, math.nan, 0)
                found.append(
                    ComparedRow(
                        criterion,
                        line.experiment,
                        line.point,
                        line.what,
                        line.baseline,
                        line.value,
                        none,
                        "",
                        math.nan,
                        line.limit,
                        broken=True,
                    )
                )
    return found


def begin(
    reference: str,
    candidate: str,
    mode: str = "quick",
    experiments: Sequence[str] = (),
    threshold_percent: float | None = None,
    replicates: int = 0,
    out: str | Path | None = None,
    store: str | Path | None = None,
    **options: Any,
) -> Comparison:
    """Return a comparison as the command line names it. Raises InputError."""
    plans = read("compare.toml")["plan"]
    known = definitions().experiments
    for name in experiments:
        if name not in known or not compared_arms(known[name]):
            raise InputError("--experiments", f"{name!r} cannot be compared", list_allowed(known, value=name))
    names = list(experiments) or (list(known) if mode == "full" else plans[mode])
    cast = Cast(read_subject(candidate, "B"), read_subject(reference, "A"), make_subject(BESIDE))
    folder = Path(out) if out else Path("results") / "compare"
    count = replicates or (SMOKE_REPLICATES if mode == "smoke" else REPLICATES)
    # The default of a threshold is 5 % of goodput.
    scale = threshold_percent / 5 if threshold_percent else 1.0
    made = Comparison(cast, "quick", (), count, folder, Path(store) if store else folder, names=names, scale=scale, **options)
    return made


def facts(comparison: Comparison, rows: Sequence[ComparedRow]) -> dict[str, Any]:
    """Return the comparison for programs."""
    counts = summary(rows)
    return {
        "format": FORMAT,
        "a": comparison.cast.baseline.label,
        "b": comparison.cast.subject.label,
        "status": "regression" if comparison.failed(rows) else "ok",
        "threshold": comparison.scale * 0.05,
        "engine": engine_version(),
        "replicates": comparison.replicates,
        "command": comparison.command,
        "rows": [row_facts(row) for row in rows],
        "summary": counts,
    }


def summary(rows: Sequence[ComparedRow]) -> dict[str, int]:
    """Return how many rows have each outcome; what is identical is the same."""
    outcomes = ["same" if row.outcome == "identical" else row.outcome for row in rows]
    return {name: outcomes.count(name) for name in ("regressed", "improved", "same", "unclear")}


def row_facts(row: ComparedRow) -> dict[str, Any]:
    """Return a row for programs."""

    def number(value: float) -> float | None:
        return value if math.isfinite(value) else None

    found = row.difference
    return {
        "criterion": row.criterion,
        "experiment": row.experiment,
        "point": row.point,
        "metric": row.metric,
        "a": number(row.a),
        "b": number(row.b),
        "difference_percent" if row.unit == "%" else "difference": number(found.value),
        "low": number(found.low),
        "high": number(found.high),
        "p": number(row.p),
        "p_holm": number(row.p_holm),
        "threshold": row.threshold,
        "outcome": row.outcome,
    }
