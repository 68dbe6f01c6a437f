"""Replicates until a result is narrow enough: repeated confidence intervals in a group-sequential design.

Intervals are computed after n1 < n2 < … < nK replicates, each look at level 1 - 0.05/K, so that by Bonferroni's inequality all
looks together cover at 95 % or better, at whichever look the study stops and why (C. Jennison, B. W. Turnbull,
"Interim analyses: the repeated confidence interval approach", J. R. Statist. Soc. B 51, 1989, 305-361; the error is spent in
equal shares). Unlike stopping by the ordinary interval (Y. S. Chow, H. Robbins, Ann. Math. Statist. 36, 1965, 457-462), which
is right only as the width goes to zero, this holds for every number of replicates, if the differences are normal. The price is a
wider interval.
"""

import math
from typing import TYPE_CHECKING

from tonopah.analysis.evidence import DesignPoint, design_points
from tonopah.analysis.tables import difference, estimate
from tonopah.spec.model import Part
from tonopah.stats import CONFIDENCE, Estimate, confidence_of_each

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import PartPlan

GROWTH = 1.5
"""Ratio of the numbers of replicates of two looks. A part is then run at most 1.5 times as often as it needed."""


def schedule(first: int, at_most: int) -> list[int]:
    """Return the numbers of replicates at each look, the last of which is `at_most`."""
    looks = [min(max(2, first), at_most)]
    while looks[-1] < at_most:
        looks.append(min(at_most, math.ceil(looks[-1] * GROWTH)))
    return looks


def confidence(looks: int) -> float:
    """Return the confidence of the intervals at each of several looks."""
    return confidence_of_each(CONFIDENCE, looks)


def widest(part: Part, plan: "PartPlan", table: "pd.DataFrame", metrics: tuple[str, ...]) -> tuple[float, str]:
    """Return the widest half-width in percent of the metrics in the figures of a part, and where it is.

    It is that of differences to the baseline, or of the value itself in a part of one variant. Missing values, and values of
    zero, which have no percentage, are excluded; an interval without bounds is infinitely wide.
    """
    worst, where = 0.0, ""
    for point in design_points(part, plan):
        runs = table[table["run"].isin(point.runs)]
        for name in metrics or figure_metrics(part):
            if name not in runs.columns:
                continue
            for label in [label for label in part.labels if label != part.baseline] or part.labels:
                half = half_width(part, runs, name, label, point)
                if half > worst:
                    worst, where = half, f"{part.metric(name).label} of {label}, {point.name}"
    return worst, where


def figure_metrics(part: Part) -> tuple[str, ...]:
    """Return the metrics of the figures of a part, time series left out."""
    return tuple(dict.fromkeys(y for figure in part.figures if figure.kind != "series" for y in figure.y))


def half_width(part: Part, table: "pd.DataFrame", name: str, label: str, point: DesignPoint) -> float:
    """Return the half-width of one interval in percent: infinite without bounds, 0 without a value."""
    if label != part.baseline:
        change = difference(table, name, label, part.baseline, point.values, part.method)
        return finite_width(change)
    value = estimate(table, part.metric(name), label, point.values, part.method)
    return 100 * finite_width(value) / abs(value.value) if value.value else 0.0


def finite_width(found: Estimate) -> float:
    """Return the half-width of an estimate in its unit: infinite without bounds, 0 without a value."""
    if math.isnan(found.value):
        return 0.0
    return math.inf if math.isnan(found.low) else found.half_width
