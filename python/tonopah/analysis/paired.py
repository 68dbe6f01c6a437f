"""The paired differences of a study: every metric of its figures, of each label against the baseline, at each point.

Each is judged as a claim that says "higher": the words of a study without claims are those of one with them. The differences
of one metric over one axis are one family, whose p values are adjusted together.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tonopah.analysis.claims import judge
from tonopah.analysis.evidence import NOMINAL, Outcome
from tonopah.analysis.verdicts import Verdict
from tonopah.metrics import Metric, show
from tonopah.spec.claim import Claim, Compared, Difference
from tonopah.spec.model import Part, StudySpec
from tonopah.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import Plan

WORDS = {"supported": "higher", "contradicted": "lower", "undecided": "not told apart", "no effect": "the same"}
"""By verdict on "it is higher". Where nothing is judged the sign of the effect stands."""
DRAWN = ("line", "bar", "scatter", "heatmap")
"""Figures of metrics of runs."""
MOST_ROWS = 1000
"""More differences than that are in the tables only."""


@dataclass(frozen=True)
class Row:
    """The difference of one label to the baseline at one point, as it was judged."""

    label: str
    where: Mapping[str, Any]
    verdict: Verdict

    @property
    def outcome(self) -> Outcome:
        """The reading that was judged."""
        return self.verdict.tests[0].readings[0]

    @property
    def effect(self) -> Estimate:
        """The difference in percent, with the interval that agrees with the word."""
        adjusted = self.verdict.adjusted
        return self.outcome.effect if math.isnan(adjusted.value) else adjusted

    @property
    def word(self) -> str:
        """What it is: higher, lower, not told apart, the same; empty where there is no difference in percent."""
        found = self.outcome.effect
        if math.isnan(found.value):
            return ""
        if self.judged:
            return WORDS[self.verdict.verdict]
        open_sign = found.low < 0 < found.high
        return "not told apart" if open_sign else "higher" if found.value > 0 else "lower" if found.value < 0 else "the same"

    @property
    def judged(self) -> bool:
        """Tell whether there was enough to judge, and the study is not one of `--quick`."""
        return not math.isnan(self.outcome.p_for)

    @property
    def p(self) -> float:
        """The p value of "there is no difference", two-sided, adjusted for its family."""
        sides = [p for p in (self.verdict.p_for, self.verdict.p_against) if not math.isnan(p)]
        return min(1.0, 2 * min(sides)) if sides else math.nan

    @property
    def place(self) -> str:
        """The point in words."""
        return ", ".join(str(value) for value in self.where.values()) or NOMINAL

    @property
    def said(self) -> str:
        """The difference with its interval."""
        found = self.effect
        if found.value == found.low == found.high == 0:
            return "no difference in any replicate"
        ends = "" if math.isnan(found.low) else f" [{show(found.low, 3)}, {show(found.high, 3)}]"
        return f"{show(found.value, 3)}{ends} %"


@dataclass(frozen=True)
class Family:
    """The differences of one metric along one axis, over two, or at the nominal point."""

    part: Part
    metric: Metric
    axes: tuple[str, ...]
    rows: list[Row]


def families(spec: StudySpec) -> list[tuple[Part, str, tuple[str, ...]]]:
    """Return part, metric and axes of what the figures of a study show of runs."""
    drawn = ((part, figure) for part in spec.parts for figure in part.figures if figure.kind in DRAWN)
    named = ((part, y, tuple(axis for axis in (figure.x, figure.rows) if axis)) for part, figure in drawn for y in figure.y)
    return list({(part.id, y, axes): (part, y, axes) for part, y, axes in named}.values())


def paired_differences(spec: StudySpec, plan: "Plan", tables: "dict[str, pd.DataFrame]", quick: bool) -> Iterator[Family]:
    """Yield all families of a study, up to so many rows."""
    count = 0
    for part, name, axes in families(spec):
        count += (len(part.labels) - 1) * len(points(part, axes))
        if count > MOST_ROWS:
            return
        found = family(spec, plan, tables, part, name, axes, quick)
        if found.rows:
            yield found


def points(part: Part, axes: Sequence[str]) -> list[dict[str, Any]]:
    """Return the points of a sweep over these axes; the nominal point without any."""
    at = part.sweep_over(set(axes)) if axes else None
    vary = part.sweeps[at].vary if at is not None else {}
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*(vary.get(axis, ()) for axis in axes))]


def family(
    spec: StudySpec, plan: "Plan", tables: "dict[str, pd.DataFrame]", part: Part, name: str, axes: tuple[str, ...], quick: bool
) -> Family:
    """Return the differences of one metric; those that were not measured, or have no meaning in percent, are left out."""
    metric, rows = part.metric(name), []
    if name in tables[part.id].columns and (axes or plan.parts[part.id].base):
        rows = [(label, at) for at in points(part, axes) for label in part.labels if label != part.baseline]
    claims = [
        Claim.model_construct(
            id=str(number), text=f"{metric.label} of {label} is higher than of {part.baseline}", part=part.id, mechanism="",
            margin_percent=None, figure=None, not_testable="", tests=(criterion(part, name, label, at),),
        )
        for number, (label, at) in enumerate(rows)
    ]  # fmt: skip
    found = judge(replace(spec, claims=claims), plan, tables, quick)
    made = [Row(label, at, verdict) for (label, at), verdict in zip(rows, found, strict=True)]
    return Family(part, metric, axes, [row for row in made if row.word])


def criterion(part: Part, name: str, label: str, at: Mapping[str, Any]) -> Difference:
    """Return the criterion that one label has more of a metric than the baseline, at one point."""
    compared = Compared.model_construct(of=(label,), to=part.baseline)
    return Difference.model_construct(
        metrics=(name,), part=part.id, over=None, at=dict(at), difference=compared, above_percent=0.0, below_percent=None,
        within_percent=None, published_percent=None, margin_percent=None, points="mean",
    )  # fmt: skip
