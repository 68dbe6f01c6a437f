"""What a criterion is judged by: replicates of one metric at its points."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah import stats
from tonopah.analysis.tables import values_at
from tonopah.metrics import Metric, lower, show
from tonopah.metrics.kinds import EVENTS, known_share
from tonopah.spec.claim import BetweenParts, Bound, ComparisonCriterion, Difference, Order, Trend
from tonopah.spec.model import Part, StudySpec
from tonopah.stats import Estimate, Method
from tonopah.units import positions

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import PartPlan, Plan

Testable = Trend | Bound | Order | Difference | BetweenParts
NOMINAL = "the nominal point"


VERDICTS = ("contradicted", "no effect", "undecided", "not testable", "supported", "not judged")
"""The words of a verdict, worst first; `not judged` is that of `--quick`."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one reading of a criterion: one sentence, and the effect with its interval in `unit`.

    The p values are not adjusted for the number of claims: they agree with the interval.
    """

    sentence: str
    effect: Estimate = stats.NOT_MEASURED
    unit: str = ""
    p_for: float = math.nan
    """Of "what is claimed holds"."""
    p_against: float = math.nan
    """Of "the opposite holds"."""
    p_none: float = math.nan
    """Of "the effect is within the margin"."""
    verdict: str = "not testable"
    needed: int | None = None
    """Replicates that would decide, where it is undecided and the observed spread tells."""
    test: str = ""
    """Name of the test."""
    sides: int = 1
    """2 where the opposite has two sides, each with its own p value, of which `p_against` is the smaller."""
    asked: str = ""
    """The question in words."""
    reading: str = ""
    """Metric and algorithm, where the criterion has several; empty if this reading is the only one."""
    label: str = ""
    """Algorithm, where the criterion has several; the readings of one label are definitions of one quantity."""
    looks: float = 1.0
    """Looks at the data that the p values are adjusted for: more than one with `--until`, or at several sizes."""
    kind: str = ""
    """What is measured (stats/kinds.py)."""
    shows: float | None = None
    """The smallest effect, in `unit`, that so many replicates would have shown with 80 %."""
    replicates_for: Callable[[float], int | None] | None = field(default=None, repr=False, compare=False)
    """Replicates that would decide at a level."""
    interval_at: Callable[[float], Estimate] | None = field(default=None, repr=False, compare=False)
    """The effect with an interval of another confidence."""


@dataclass(frozen=True)
class Data:
    """Replicates of one metric and variant: `values[k, i]` of replicate k at point i, in display units; complete rows only."""

    values: np.ndarray
    seeds: list[int]
    labels: list[str]
    at: list[float]
    metric: Metric
    method: Method
    longer: np.ndarray
    """Which values are only known to be larger: times until something that had not happened."""

    events: float = math.nan
    """Events that a proportion is of, in all replicates and points together; NaN where nobody counted them."""

    def mean(self, rows: list[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each replicate or those of some rows, the mean over the points, and whether it is a lower bound."""
        chosen = slice(None) if rows is None else rows
        return self.values[chosen].mean(axis=1), np.any(self.longer[chosen], axis=1)

    def at_point(self, i: int, rows: list[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the same at one point."""
        chosen = slice(None) if rows is None else rows
        return self.values[chosen, i], self.longer[chosen, i]

    def places(self, seeds: list[int]) -> list[int]:
        """Return where the rows of these replicates are."""
        return [self.seeds.index(seed) for seed in seeds]

    @property
    def bounds(self) -> stats.Bounds:
        """Bounds of the metric in display units."""
        low, high = self.metric.bounds
        return low * self.metric.factor, high * self.metric.factor

    def text(self, value: float) -> str:
        """Format a value with the unit of the metric."""
        return f"{show(value)} {self.metric.unit}".rstrip()


@dataclass(frozen=True)
class DesignPoint:
    """A point of the design: ids of its runs, values of the axes that differ from the nominal point, and a name."""

    runs: set[str]
    values: Mapping[str, Any]
    name: str


@dataclass(frozen=True)
class Evidence:
    """What claims are judged by: the study, its runs, and a table of runs for each part."""

    spec: StudySpec
    plan: "Plan"
    tables: "dict[str, pd.DataFrame]"

    def points(self, part: Part, criterion: Testable) -> list[DesignPoint]:
        """Return the points that a criterion covers in a part; none where --quick left it out."""
        return points_of(part, self.plan.parts[part.id], criterion)

    def data(self, part: Part, criterion: Testable, column: str, label: str) -> Data:
        """Return the replicates of a variant: a column for each point of the criterion."""
        import pandas as pd

        metric, table = part.metric(column), self.tables[part.id]
        points = self.points(part, criterion)
        rows = [table[table["run"].isin(point.runs)] for point in points]
        columns = [values_at(here, column, label, point.values) for here, point in zip(rows, points, strict=True)]
        complete = pd.concat(columns, axis=1).dropna() if columns else pd.DataFrame()
        if len(complete) > 1 and (complete == complete.iloc[0]).all(axis=None) and self.is_one_run(table, label, points):
            complete = complete.iloc[:1]
        values = complete.to_numpy(dtype=float) * metric.factor
        longer = np.zeros(values.shape, bool)
        for place, (here, point) in enumerate(zip(rows, points, strict=True)):
            longer[:, place] = only_longer(here, column, label, point.values).reindex(complete.index, fill_value=False)
        counts = EVENTS.get(column, f"{column}.events")
        counted = [values_at(here, counts, label, point.values).sum() for here, point in zip(rows, points, strict=True)]
        events = float(sum(counted)) if counts in table.columns else math.nan
        at = [point.values[criterion.over] for point in points] if criterion.over else list(range(len(points)))
        names = [point.name for point in points]
        return Data(values, list(complete.index), names, positions(at)[0], metric, part.method, longer, events)

    def is_one_run(self, table: "pd.DataFrame", label: str, points: list[DesignPoint]) -> bool:
        """Tell whether all replicates of a variant at these points are one run: nothing in its world is random.

        A metric may agree in all replicates of a random world. Then others differ, at least the number of events.
        """
        import pandas as pd

        measured = [name for name in table.columns if name not in ("part", "run", "algorithm", "seed")]
        mine = table[table["algorithm"] == label]
        for point in points:
            here = mine[mine["run"].isin(point.runs)]
            chosen = np.logical_and.reduce(
                [here[axis].astype(str) == str(value) for axis, value in point.values.items()] or [True]
            )
            rows: pd.DataFrame = here.loc[chosen, measured] if point.values else here[measured]
            if len(rows.drop_duplicates()) > 1:
                return False
        return True


def only_longer(table: "pd.DataFrame", column: str, label: str, where: Mapping[str, Any]) -> "pd.Series[bool]":
    """Tell, by seed, which values of a time are only known to be larger: of what did not end before the run did."""
    if limit := known_share(column):
        return values_at(table, limit[0], label, where) < limit[1] - 1e-9
    found = values_at(table, column, label, where) * 0.0
    for name in (f"{column}.unfinished", f"{column}.censored"):
        if name in table.columns:
            found += values_at(table, name, label, where)
    return found > 0


def points_of(part: Part, plan: "PartPlan", criterion: Testable) -> list[DesignPoint]:
    """Return the points that a criterion covers.

    With `over` those of the axis, with `at` that one, without them every point (of bounds) or the nominal point.
    """
    axes = {criterion.over} if criterion.over else set(criterion.at)
    for runs, sweep in zip(plan.sweeps, part.sweeps, strict=True):
        if axes and set(sweep.vary) == axes:
            if criterion.over:
                return [DesignPoint(runs, {criterion.over: value}, str(value)) for value in sweep.vary[criterion.over]]
            run = all(str(value) in map(str, sweep.vary[axis]) for axis, value in criterion.at.items())
            return [DesignPoint(runs, criterion.at, point_text(part, criterion.at))] if run else []
    points = design_points(part, plan)
    return points if isinstance(criterion, Bound) else points[:1]


def design_points(part: Part, plan: "PartPlan") -> list[DesignPoint]:
    """Return the nominal point and every point of sweeps with one axis."""
    points = [DesignPoint(plan.base, {}, NOMINAL)]
    for runs, sweep in zip(plan.sweeps, part.sweeps, strict=True):
        if len(sweep.vary) == 1:
            axis, values = next(iter(sweep.vary.items()))
            points += [DesignPoint(runs, {axis: value}, point_text(part, {axis: value})) for value in values]
    return points


def point_text(part: Part, values: Mapping[str, Any]) -> str:
    """Return the values of the axes at a point in words."""
    return ", ".join(f"{part.axis_label(axis)} = {value}" for axis, value in values.items())


def modes_text(name: str, values: np.ndarray, data: Data) -> str:
    """Return a sentence on replicates that fall into two groups: how many of which, and the worst; empty if they do not."""
    found = stats.modes(values)
    if found is None:
        return ""
    low, high = found
    groups = [f"in {len(group)} of {len(values)} runs {data.text(float(np.median(group)))}" for group in (low, high)]
    return f" Two groups: {name} has {', '.join(groups)}; the extremes are {show(low[0])} and {data.text(float(high[-1]))}."


def unfinished_text(*sides: Data) -> str:
    """Return a sentence on replicates whose time is only known to be longer; empty if there are none."""
    count, whole = sum(int(one.longer.sum()) for one in sides), sum(one.longer.size for one in sides)
    said = "had not ended in time: it is at least what stands here, and the comparison is by ranks"
    return f" In {count} of {whole} values what is measured {said}." if count else ""


def where_text(part: Part, criterion: Testable) -> str:
    """Return the points of a criterion in words, to follow a statement."""
    if criterion.over:
        i = part.sweep_over({criterion.over})
        name = lower(part.sweeps[i].label if i is not None else criterion.over)
        points = criterion.points if isinstance(criterion, ComparisonCriterion) else "mean"
        return {"mean": f" over {name}", "each": f" at each {name}", "any": f" at some {name}"}[points]
    if criterion.at:
        return f" at {point_text(part, criterion.at)}"
    return " at every point" if isinstance(criterion, Bound) else f" at {NOMINAL}"
