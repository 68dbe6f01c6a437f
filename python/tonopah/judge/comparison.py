"""`tonopah compare`: a candidate against a reference in the same worlds with the same draws, for continuous integration."""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tonopah._core import engine_version
from tonopah.analysis.telling import Found, tell
from tonopah.errors import InputError
from tonopah.judge import bounds
from tonopah.judge.definitions import Experiment, definitions, points, read
from tonopah.judge.effects import LEAST, Better, Effect, adjusted, effect_of
from tonopah.judge.metrics import label
from tonopah.judge.study import JudgedStudy, Place, Results, make_part
from tonopah.judge.subjects import Cast, make_subject, read_subject
from tonopah.judge.words import WORDS
from tonopah.metrics import count_text, show
from tonopah.report.formatting import p_text
from tonopah.spec.validation import Model, list_allowed
from tonopah.stats import Exact, Mean, difference_of, or_none, ratio_of

FORMAT = 2
BESIDE = "cubic"
"""Who the two are beside in the experiments on sharing."""
ARMS = (("S", "B"), ("S:R", "B:R"), ("S:S", "B:B"))
"""Of candidate and reference in an experiment: alone, else beside the same other, else beside short flows of their own."""
REPLICATES, SMOKE_REPLICATES = 14, 5
"""An exact test of 14 pairs has p values down to 2^-13, below 5 % after Holm's adjustment for 400 rows; of 10 it decides nothing
among 60."""
BOUNDS = {"C1": "collapse", "C8": "feedback", "C18": "breaker"}
SHOWN = 5
ALL_ROWS = 30
"""Rows that the folded table shows; the JSON has all."""
HEAD = ["| metric | where | A | B | difference [95 % interval] | counts from | adjusted p |", f"|{' --- |' * 7}"]
Status = Literal["regression", "unclear", "ok"]


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

    kind = "compare"

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

    def status(self, rows: Sequence[Effect]) -> Status:
        """Return whether there is a regression, or none is shown and none excluded somewhere.

        With `equivalence`, what is not shown to be the same is a regression.
        """
        bad = {"regressed", "unclear", "improved"} if self.equivalence else {"regressed"}
        if any(outcome(row) in bad for row in rows):
            return "regression"
        return "unclear" if any(may_regress(row) for row in rows) else "ok"

    def facts(self, rows: Sequence[Effect]) -> dict[str, Any]:
        """Return the comparison for programs."""
        return {
            "format": FORMAT,
            "a": self.cast.baseline.label,
            "b": self.cast.subject.label,
            "status": self.status(rows),
            "threshold": self.scale * 0.05,
            "engine": engine_version(),
            "replicates": self.replicates,
            "seeds": self.seeds,
            "command": self.command,
            "rows": [row_facts(row) for row in rows],
            "summary": summary(rows),
            "answer": [self.sentence(rows)],
        }

    def headline(self, rows: Sequence[Effect]) -> str:
        """Return the first line: what was found in numbers."""
        counts = summary(rows)
        found = [
            count_text(counts["regressed"], "regression"),
            count_text(counts["improved"], "improvement"),
            f"{counts['same']} unchanged",
            *([f"{counts['unclear']} unclear"] if counts["unclear"] else []),
            *([f"in {counts['may_regress']} of them a regression is not excluded"] if counts["may_regress"] else []),
        ]
        return f"Congestion control: {', '.join(found)} ({self.cast.baseline.label} → {self.cast.subject.label})"

    def sentence(self, rows: Sequence[Effect]) -> str:
        """Return what was found in a sentence: each outcome with the row where it is most."""
        found = [
            Found(
                "the same" if said(row) == "" else outcome(row), f"{label(row.metric).label}, {row.place}", said(row), size(row)
            )
            for row in rows
        ]
        told = tell(found, ("regressed", "improved", "the same", "unclear"), counted=True)
        against = f"{self.cast.subject.label} against {self.cast.baseline.label}"
        return f"{against}: of {count_text(len(rows), 'row')} {told}; {count_text(self.replicates, 'replicate')}."

    def markdown(self, rows: Sequence[Effect]) -> str:
        """Return a comment for a pull request: at most about sixty lines."""
        lines = [self.headline(rows), "", self.sentence(rows), ""]
        # Broken bounds first.
        ranked = sorted(rows, key=lambda row: (not row.broken, -size(row)))
        for title, wanted in SECTIONS.items():
            if found := [row for row in ranked if wanted(row)]:
                rest = f" ({len(found) - SHOWN} more in the file compare.json)" if len(found) > SHOWN else ""
                lines += [f"**{title}**{rest}", "", *HEAD, *(line(row) for row in found[:SHOWN]), ""]
        shown = ranked[:ALL_ROWS]
        lines += [f"<details><summary>{len(shown)} of {len(rows)} rows, the greatest changes first</summary>", "", *HEAD]
        lines += [*(line(row) for row in shown), "", "</details>", ""]
        seeds = f"replicates {self.seeds} to {self.seeds + self.replicates - 1}, n = {self.replicates}"
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
    relative, kind = metric.kind == "relative", label(metric.name).kind
    quantity: Mean | Exact = ratio_of(b, a, kind) if relative else difference_of(b, a, (0.0, 1.0), kind)
    return Effect(
        quantity, metric.threshold * scale * (100 if relative else 1), better=metric.better, equivalence=0.95,
        metric=metric.name, kind="percent" if relative else "difference", experiment=place.experiment, point=place.label,
        of=criterion_of(place.experiment), least=LEAST.get(metric.name, 0.0),
        subject=float(b.mean()), baseline=float(a.mean()), identical=bool((a == b).all()),
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


def may_regress(row: Effect) -> bool:
    """Tell whether nothing is decided and the interval has a regression of the size that counts in it."""
    found = row.estimate
    worst = {"more": found.low, "less": -found.high, "equal": -max(abs(found.low), abs(found.high))}[row.better]
    return outcome(row) == "unclear" and not worst > -row.margin


SECTIONS = {
    "Regressions": lambda row: outcome(row) == "regressed",
    "Unclear: a regression is not excluded": may_regress,
    "Improvements": lambda row: outcome(row) == "improved",
}
"""What a comment lists, each under its heading."""


def size(row: Effect) -> float:
    """Return how large a change is, measured by what counts."""
    value = row.estimate.value
    return abs(value) / row.margin if not math.isnan(value) and row.margin else 0.0


def summary(rows: Sequence[Effect]) -> dict[str, int]:
    """Return how many rows have each outcome; what is identical is the same."""
    outcomes = ["same" if row.identical else outcome(row) for row in rows]
    counts = {name: outcomes.count(name) for name in ("regressed", "improved", "same", "unclear")}
    return counts | {"may_regress": sum(map(may_regress, rows))}


def row_facts(row: Effect) -> dict[str, Any]:
    """Return a row for programs."""
    found, percent = row.estimate, row.kind == "percent"
    return {
        "criterion": row.of,
        "experiment": row.experiment,
        "point": row.point,
        "metric": row.metric,
        "a": or_none(row.baseline),
        "b": or_none(row.subject),
        "difference_percent" if percent else "difference": or_none(found.value),
        "low": or_none(found.low),
        "high": or_none(found.high),
        "p": None if row.broken else or_none(row.p),
        "p_holm": or_none(row.p_holm),
        "threshold": row.margin / 100 if percent else row.margin,
        "outcome": outcome(row),
        "may_regress": may_regress(row),
    }


def line(row: Effect) -> str:
    """Return a row of a table of Markdown."""
    known = label(row.metric)
    if row.broken:
        both = f"{show(row.baseline)} | {show(row.subject)}"
        return f"| {row.metric}, a bound | {row.place} | {both} | | allowed {show(row.margin)} | |"
    values = [f"{show(value * known.factor, 3)} {known.unit}".strip() for value in (row.baseline, row.subject)]
    both = f"{values[0]} | {values[1]}"
    return f"| {known.label} | {row.place} | {both} | {change_text(row)} | {threshold_text(row)} | {p_text(row.p_holm)} |"


def change_text(row: Effect) -> str:
    """Return a difference with its interval."""
    found, percent = row.estimate, row.kind == "percent"
    value, low, high = (f"{end:+.1f}" if percent else f"{end:+.3f}" for end in (found.value, found.low, found.high))
    ends = "" if math.isnan(found.low) else f" [{low}, {high}]"
    return (f"{value} %" if percent else value) + ends


def said(row: Effect) -> str:
    """Return the number of a row that changed, or may have."""
    if row.broken:
        return f"{show(row.baseline)} became {show(row.subject)}, allowed {show(row.margin)}"
    return "" if outcome(row) in ("same", "identical") else change_text(row)


def threshold_text(row: Effect) -> str:
    """Return the change from which on it counts as a regression."""
    size = f"{row.margin:.3g} %" if row.kind == "percent" else f"{row.margin:.3g}"
    return {"more": f"-{size}", "less": f"+{size}", "equal": f"± {size}"}[row.better]


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
