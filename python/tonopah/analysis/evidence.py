"""What the tests of claims work on: replicates of one metric at the points that a test looks at."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah import stats
from tonopah.analysis.tables import values_at
from tonopah.metrics import Metric, lower
from tonopah.spec.claim import Criterion
from tonopah.spec.model import Part, StudySpec
from tonopah.stats import Estimate, Method
from tonopah.units import positions

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import Plan


@dataclass(frozen=True)
class Outcome:
    """The outcome of one reading of a test: what was asked, the effect with its interval in `unit`, and one sentence."""

    asked: str
    sentence: str
    effect: Estimate = stats.NOT_MEASURED
    unit: str = ""
    p_for: float = math.nan
    p_against: float = math.nan
    verdict: str = "not testable"
    reading: str = ""
    """What tells it from the other readings of its test; empty if it is the only one."""


@dataclass(frozen=True)
class Data:
    """Replicates of one metric and variant: `values[k, i]` of replicate k at point i, in shown units; complete rows only."""

    values: np.ndarray
    seeds: list[int]
    labels: list[str]
    at: list[float]
    shown: Metric
    method: Method

    def of(self, seeds: list[int]) -> np.ndarray:
        """Return the rows of these replicates."""
        return self.values[[self.seeds.index(seed) for seed in seeds]]


@dataclass(frozen=True)
class Evidence:
    """What is judged: the study, its runs, and a table of runs for each part."""

    spec: StudySpec
    plan: "Plan"
    tables: "dict[str, pd.DataFrame]"

    def data(self, part: Part, test: Criterion, column: str, label: str) -> Data:
        """Return the replicates of a variant: a column for each point of the test."""
        import pandas as pd

        shown, table = part.metric(column), self.tables[part.id]
        chosen = points_of(self, part, test)
        columns = [values_at(table[table["run"].isin(ids)], column, label, where) for ids, where, _ in chosen]
        complete = pd.concat(columns, axis=1).dropna() if columns else pd.DataFrame()
        values = complete.to_numpy(dtype=float) * shown.factor
        at = positions([where[test.over] for _, where, _ in chosen])[0] if test.over else [float(i) for i in range(len(chosen))]
        return Data(values, list(complete.index), [text for _, _, text in chosen], at, shown, part.method)


def points_of(evidence: Evidence, part: Part, test: Criterion) -> list[tuple[set[str], dict[str, Any], str]]:
    """Return the points that a test looks at: ids of their runs, values of the axes, and a name.

    With `over` those of the axis, with `at` that one, without them every point (thresholds) or the default point.
    """
    plan = evidence.plan.parts[part.id]
    if test.over:
        i = part.sweep_over({test.over})
        assert i is not None
        return [(plan.sweeps[i], {test.over: value}, str(value)) for value in part.sweeps[i].vary[test.over]]
    if test.at:
        i = part.sweep_over(set(test.at))
        assert i is not None
        # With --quick a point may be left out.
        there = all(str(value) in map(str, part.sweeps[i].vary[axis]) for axis, value in test.at.items())
        text = ", ".join(f"{axis} = {value}" for axis, value in test.at.items())
        return [(plan.sweeps[i], test.at, text)] if there else []
    points: list[tuple[set[str], dict[str, Any], str]] = [(plan.base, {}, "the default")]
    if test.above is None and test.below is None:
        return points
    for ids, sweep in zip(plan.sweeps, part.sweeps, strict=True):
        if len(sweep.vary) == 1:
            axis, values = next(iter(sweep.vary.items()))
            points += [(ids, {axis: value}, f"{axis} = {value}") for value in values]
    return points


def where_text(part: Part, test: Criterion) -> str:
    """Return where a test looks in words, to follow a statement."""
    if test.over:
        i = part.sweep_over({test.over})
        name = lower(part.sweeps[i].label if i is not None else test.over)
        return {"mean": f" over {name}", "each": f" at each {name}", "any": f" at some {name}"}[test.points]
    if test.at:
        return " at " + ", ".join(f"{axis} = {value}" for axis, value in test.at.items())
    return " at every point" if test.above is not None or test.below is not None else " at the default point"
