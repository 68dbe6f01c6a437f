"""`tonopah compare`: a candidate against a reference in the same worlds with the same draws, for continuous integration."""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tonopah._core import engine_version
from tonopah.errors import InputError
from tonopah.judge import bounds
from tonopah.judge.definitions import Experiment, definitions, points, read
from tonopah.judge.effects import Better, Effect, adjusted, effect_of, smallest
from tonopah.judge.metrics import label
from tonopah.judge.scoreboard import number
from tonopah.judge.study import JudgedStudy, Place, Results, make_part
from tonopah.judge.subjects import Cast, make_subject, read_subject
from tonopah.judge.words import WORDS
from tonopah.metrics import count_text, show
from tonopah.report.formatting import p_text
from tonopah.spec.validation import Model, list_allowed
from tonopah.stats import Mean, mean_of, ratio_of

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

    def compare(self, results: Results) -> list[Effect]:
        """Return all rows; their effects are one family."""
        found = [
            effect
            for metric in compared_metrics()
            for name in metric.experiments
            for place in results.at(name)
            if (effect := compare_at(metric, place, self.scale))
        ]
        return [*adjusted(found), *broken_bounds(results)]

    def failed(self, rows: Sequence[Effect]) -> bool:
        """Tell whether there is a regression; with `equivalence`, whether anything is not shown to be the same."""
        bad = {"regressed", "unclear", "improved"} if self.equivalence else {"regressed"}
        return any(outcome(row) in bad for row in rows)

    def facts(self, rows: Sequence[Effect]) -> dict[str, Any]:
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

    def headline(self, rows: Sequence[Effect]) -> str:
        """Return the first line: what was found in numbers."""
        counts = summary(rows)
        found = [
            count_text(counts["regressed"], "regression"),
            count_text(counts["improved"], "improvement"),
            f"{counts['same']} unchanged",
            *([f"{counts['unclear']} unclear"] if counts["unclear"] else []),
        ]
        return f"Congestion control: {', '.join(found)} ({self.cast.baseline.label} → {self.cast.subject.label})"

    def markdown(self, rows: Sequence[Effect]) -> str:
        """Return a comment for a pull request: at most about sixty lines."""
        lines = [self.headline(rows), ""]
        # Broken bounds first.
        ranked = sorted(rows, key=lambda row: (not row.broken, -size(row)))
        for title, wanted in (("Regressions", "regressed"), ("Improvements", "improved")):
            if found := [row for row in ranked if outcome(row) == wanted]:
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


def broken_bounds(results: Results) -> list[Effect]:
    """Return the bounds that the candidate breaks and the reference keeps."""
    found = []
    for criterion, name in BOUNDS.items():
        before = {(line.experiment, line.point, line.what) for line in bounds.lines(name, results, "B") if not line.kept}
        for line in bounds.lines(name, results):
            if not line.kept and (line.experiment, line.point, line.what) not in before:
                place = {"metric": line.what, "experiment": line.experiment, "point": line.point, "of": criterion}
                found.append(effect_of([], line.limit, subject=line.value, baseline=line.baseline, broken=True, **place))
    return found


def outcome(row: Effect) -> str:
    """Return what follows by rule."""
    return "identical" if row.identical else WORDS["compare"][row.verdict]


def size(row: Effect) -> float:
    """Return how large a change is, measured by what counts."""
    value = row.estimate.value
    return abs(value) / row.margin if not math.isnan(value) and row.margin else 0.0


def summary(rows: Sequence[Effect]) -> dict[str, int]:
    """Return how many rows have each outcome; what is identical is the same."""
    outcomes = ["same" if row.identical else outcome(row) for row in rows]
    return {name: outcomes.count(name) for name in ("regressed", "improved", "same", "unclear")}


def row_facts(row: Effect) -> dict[str, Any]:
    """Return a row for programs."""
    found, percent = row.estimate, row.kind == "percent"
    return {
        "criterion": row.of,
        "experiment": row.experiment,
        "point": row.point,
        "metric": row.metric,
        "a": number(row.baseline),
        "b": number(row.subject),
        "difference_percent" if percent else "difference": number(found.value),
        "low": number(found.low),
        "high": number(found.high),
        "p": None if row.broken else number(row.p),
        "p_holm": number(row.p_holm),
        "threshold": row.margin / 100 if percent else row.margin,
        "outcome": outcome(row),
    }


def line(row: Effect) -> str:
    """Return a row of a table of Markdown."""
    known, found = label(row.metric), row.estimate
    if row.broken:
        both = f"{show(row.baseline)} | {show(row.subject)}"
        return f"| {row.metric}, a bound | {row.place} | {both} | allowed {show(row.margin)} | |"
    percent = row.kind == "percent"
    change = f"{found.value:+.1f} %" if percent else f"{found.value:+.3f}"
    ends = ", ".join(f"{end:+.1f}" if percent else f"{end:+.3f}" for end in (found.low, found.high))
    values = [f"{show(value * known.factor, 3)} {known.unit}".strip() for value in (row.baseline, row.subject)]
    return f"| {known.label} | {row.place} | {values[0]} | {values[1]} | {change} [{ends}] | {p_text(row.p_holm)} |"


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
