"""`tonopah compare`: a candidate against a reference in the same worlds with the same draws, for continuous integration."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tonopah._core import engine_version
from tonopah.errors import InputError
from tonopah.judge import bounds
from tonopah.judge.definitions import Experiment, definitions, points, read
from tonopah.judge.effects import Better, Effect, adjusted, smallest
from tonopah.judge.metrics import label
from tonopah.judge.scoreboard import number
from tonopah.judge.study import JudgedStudy, Place, Results, make_part
from tonopah.judge.subjects import Cast, make_subject, read_subject
from tonopah.judge.words import WORDS
from tonopah.metrics import count_text, show
from tonopah.report.formatting import p_text
from tonopah.spec.validation import Model, list_allowed
from tonopah.stats import NOT_MEASURED, Mean, mean_of, ratio_of

FORMAT = 1
BESIDE = "cubic"
"""Who the two are beside in the experiments on sharing."""
ARMS = (("S", "B"), ("S:R", "B:R"), ("S:S", "B:B"))
"""Of candidate and reference in an experiment: alone, else beside the same other, else beside short flows of their own."""
REPLICATES, SMOKE_REPLICATES = 10, 5
BOUNDS = {"C1": "collapse", "C8": "feedback", "C18": "breaker"}
SHOWN = 5
ALL_ROWS = 30
"""Rows that the folded table shows; the JSON has all."""
HEAD = ["| metric | where | A | B | difference [95 % interval] | adjusted p |", "| --- | --- | --- | --- | --- | --- |"]


class Compared(Model):
    """A metric that is compared, and the loss that counts."""

    name: str
    experiments: list[str]
    threshold: float
    kind: Literal["relative", "absolute"] = "relative"
    better: Better = "more"
    """`equal`: a change to one side or the other is a regression."""


@dataclass(frozen=True)
class ComparedRow:
    """One metric at one point, or a bound that the reference keeps and the candidate does not."""

    effect: Effect
    threshold: float
    broken: bool = False

    @property
    def outcome(self) -> str:
        """What follows by rule."""
        if self.broken:
            return "regressed"
        return "identical" if self.effect.identical else WORDS["compare"][self.effect.verdict]

    @property
    def size(self) -> float:
        """How large the change is, measured by what counts."""
        value = self.effect.estimate.value
        return abs(value) / self.effect.margin if not math.isnan(value) and self.effect.margin else 0.0

    @property
    def change(self) -> str:
        """The difference as text."""
        value = self.effect.estimate.value
        return f"{value:+.1f} %" if self.effect.kind == "percent" else f"{self.effect.baseline:g} → {self.effect.subject:g}"


class Comparison(JudgedStudy):
    """The study of a candidate S and a reference B."""

    def __init__(
        self, cast: Cast, experiments: Sequence[Experiment], replicates: int, scale: float, out: Path, store: str | Path | None,
        apart: int,
    ):  # fmt: skip
        self.cast, self.replicates, self.scale, self.equivalence = cast, replicates, scale, False
        own = [one.model_copy(update={"arms": list(arms)}) for one in experiments if (arms := compared_arms(one))]
        parts = [make_part(one, at, cast, replicates, apart) for one in own if (at := points(one, "quick"))]
        super().__init__(cast.subject.label, parts, (), out, store)

    def compare(self, results: Results) -> list[ComparedRow]:
        """Return all rows; their effects are one family."""
        found = [
            (effect, metric.threshold * self.scale)
            for metric in compared_metrics()
            for name in metric.experiments
            for place in results.at(name)
            if (effect := compare_at(metric, place, self.scale))
        ]
        family = adjusted([effect for effect, _ in found])
        rows = [ComparedRow(effect, threshold) for effect, (_, threshold) in zip(family, found, strict=True)]
        return [*rows, *broken_bounds(results)]

    def failed(self, rows: Sequence[ComparedRow]) -> bool:
        """Tell whether there is a regression; with `equivalence`, whether anything is not shown to be the same."""
        bad = {"regressed", "unclear", "improved"} if self.equivalence else {"regressed"}
        return any(row.outcome in bad for row in rows)

    def facts(self, rows: Sequence[ComparedRow]) -> dict[str, Any]:
        """Return the comparison for programs."""
        return {
            "format": FORMAT,
            "a": self.cast.baseline.label,
            "b": self.cast.subject.label,
            "status": "regression" if self.failed(rows) else "ok",
            "threshold": self.scale * 0.05,
            "engine": engine_version(),
            "replicates": self.replicates,
            "command": self.command,
            "rows": [row_facts(row) for row in rows],
            "summary": summary(rows),
        }

    def headline(self, rows: Sequence[ComparedRow]) -> str:
        """Return the first line: what was found in numbers."""
        counts = summary(rows)
        found = [
            count_text(counts["regressed"], "regression"),
            count_text(counts["improved"], "improvement"),
            f"{counts['same']} unchanged",
            *([f"{counts['unclear']} unclear"] if counts["unclear"] else []),
        ]
        return f"Congestion control: {', '.join(found)} ({self.cast.baseline.label} → {self.cast.subject.label})"

    def markdown(self, rows: Sequence[ComparedRow]) -> str:
        """Return a comment for a pull request: at most about sixty lines."""
        lines = [self.headline(rows), ""]
        # Broken bounds first.
        ranked = sorted(rows, key=lambda row: (not row.broken, -row.size))
        for title, outcome in (("Regressions", "regressed"), ("Improvements", "improved")):
            if found := [row for row in ranked if row.outcome == outcome]:
                rest = f" ({len(found) - SHOWN} more in the file compare.json)" if len(found) > SHOWN else ""
                lines += [f"**{title}**{rest}", "", *HEAD, *(line(row) for row in found[:SHOWN]), ""]
        shown = ranked[:ALL_ROWS]
        lines += [f"<details><summary>{len(shown)} of {len(rows)} rows, the greatest changes first</summary>", "", *HEAD]
        lines += [*(line(row) for row in shown), "", "</details>", ""]
        seeds = f"seeds 1 to {self.replicates}, n = {self.replicates}"
        return "\n".join([*lines, f"Tonopah {engine_version()}, {seeds}; `{self.command}`", ""])


def compared_arms(experiment: Experiment) -> tuple[str, ...]:
    """Return the arms of candidate and reference in an experiment; nothing if it has none for both."""
    return next((arms for arms in ARMS if set(arms) <= set(experiment.arms)), ())


@cache
def compared_metrics() -> list[Compared]:
    """Return the metrics that are compared."""
    return [Compared.model_validate(table) for table in read("compare.toml")["metric"]]


def compare_at(metric: Compared, place: Place, scale: float) -> Effect | None:
    """Return one metric at one point; None where it was not measured."""
    mine, theirs = (place.metric(arm, metric.name) for arm in compared_arms(place.point.experiment))
    both = sorted(set(mine) & set(theirs))
    if not both:
        return None
    b, a = (np.array([values[k] for k in both]) for values in (mine, theirs))
    relative, least = metric.kind == "relative", smallest(metric.name)
    quantity: Mean = ratio_of(b + least, a + least) if relative else mean_of(b - a)
    return Effect(
        quantity, metric.threshold * scale * (100 if relative else 1), better=metric.better, equivalence=0.95,
        metric=metric.name, kind="percent" if relative else "difference", experiment=place.experiment, point=place.label,
        of=criterion_of(place.experiment), subject=float(b.mean()), baseline=float(a.mean()), identical=bool((a == b).all()),
    )  # fmt: skip


def criterion_of(experiment: str) -> str:
    """Return the first criterion that reads an experiment."""
    return next((one.id for one in definitions().criteria.values() if experiment in one.experiments), "")


def broken_bounds(results: Results) -> list[ComparedRow]:
    """Return the bounds that the candidate breaks and the reference keeps."""
    found = []
    for criterion, name in BOUNDS.items():
        before = {(line.experiment, line.point, line.what) for line in bounds.lines(name, results, "B") if not line.kept}
        for line in bounds.lines(name, results):
            if not line.kept and (line.experiment, line.point, line.what) not in before:
                effect = Effect(
                    mean_of([]), line.limit, metric=line.what, experiment=line.experiment, point=line.point, of=criterion,
                    subject=line.value, baseline=line.baseline,
                )  # fmt: skip
                found.append(ComparedRow(effect, line.limit, broken=True))
    return found


def summary(rows: Sequence[ComparedRow]) -> dict[str, int]:
    """Return how many rows have each outcome; what is identical is the same."""
    outcomes = ["same" if row.outcome == "identical" else row.outcome for row in rows]
    return {name: outcomes.count(name) for name in ("regressed", "improved", "same", "unclear")}


def row_facts(row: ComparedRow) -> dict[str, Any]:
    """Return a row for programs."""
    one, found = row.effect, NOT_MEASURED if row.broken else row.effect.estimate
    return {
        "criterion": one.of,
        "experiment": one.experiment,
        "point": one.point,
        "metric": one.metric,
        "a": number(one.baseline),
        "b": number(one.subject),
        "difference_percent" if one.kind == "percent" else "difference": number(found.value),
        "low": number(found.low),
        "high": number(found.high),
        "p": number(math.nan if row.broken else one.p),
        "p_holm": number(one.p_holm),
        "threshold": row.threshold,
        "outcome": row.outcome,
    }


def line(row: ComparedRow) -> str:
    """Return a row of a table of Markdown."""
    one, known = row.effect, label(row.effect.metric)
    if row.broken:
        both = f"{show(one.baseline)} | {show(one.subject)}"
        return f"| {one.metric}, a bound | {one.place} | {both} | allowed {show(row.threshold)} | |"
    found, percent = one.estimate, one.kind == "percent"
    change = f"{found.value:+.1f} %" if percent else f"{found.value:+.3f}"
    ends = ", ".join(f"{end:+.1f}" if percent else f"{end:+.3f}" for end in (found.low, found.high))
    values = [f"{show(value * known.factor, 3)} {known.unit}".strip() for value in (one.baseline, one.subject)]
    return f"| {known.label} | {one.place} | {values[0]} | {values[1]} | {change} [{ends}] | {p_text(one.p_holm)} |"


def begin(
    reference: str,
    candidate: str,
    size: str = "quick",
    experiments: Sequence[str | Experiment] = (),
    threshold_percent: float | None = None,
    replicates: int = 0,
    out: str | Path | None = None,
    store: str | Path | None = None,
    apart: int = 0,
) -> Comparison:
    """Return a comparison as the command line names it, in these experiments. Raises InputError.

    With `apart` the candidate has draws of its own, of seeds so far apart: to see how often nothing is found to differ.
    """
    known = definitions().experiments
    for name in experiments:
        if isinstance(name, str) and (name not in known or not compared_arms(known[name])):
            raise InputError("--experiments", f"{name!r} cannot be compared", list_allowed(known, value=name))
    wanted = list(experiments) or (list(known) if size == "full" else read("compare.toml")["plan"][size])
    cast = Cast(read_subject(candidate, "B"), read_subject(reference, "A"), make_subject(BESIDE))
    count = replicates or (SMOKE_REPLICATES if size == "smoke" else REPLICATES)
    # The default of a threshold is 5 % of goodput.
    scale = threshold_percent / 5 if threshold_percent else 1.0
    chosen = [known[one] if isinstance(one, str) else one for one in wanted]
    return Comparison(cast, chosen, count, scale, Path(out) if out else Path("results") / "compare", store, apart)
