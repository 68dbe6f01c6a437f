"""Replicates until a result is narrow enough: repeated confidence intervals in a group-sequential design.

A part is looked at after n1 < n2 < … < nK replicates. Every look makes its intervals at level 1 - 0.05/K, so that by Bonferroni's
inequality all looks together cover at 95 % or better, whichever look one stops at and why (C. Jennison, B. W. Turnbull,
"Interim analyses: the repeated confidence interval approach", J. R. Statist. Soc. B 51, 1989, 305-361; the error is spent in
equal shares). Unlike stopping by the ordinary interval (Y. S. Chow, H. Robbins, Ann. Math. Statist. 36, 1965, 457-462), which
is right only as the width goes to zero, this holds for every number of replicates, if the differences are normal. The price is a
wider interval.
"""

import math
from typing import TYPE_CHECKING

from tonopah.analysis.tables import difference, estimate
from tonopah.spec.model import Part
from tonopah.stats import CONFIDENCE, Estimate

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import PartPlan

GROWTH = 1.5
"""Each look has so many times the replicates of the one before."""


def schedule(first: int, at_most: int) -> list[int]:
    """Return the numbers of replicates at which one looks, the last being `at_most`."""
    looks = [min(max(2, first), at_most)]
    while looks[-1] < at_most:
        looks.append(min(at_most, math.ceil(looks[-1] * GROWTH)))
    return looks


def confidence(looks: int) -> float:
    """Return the confidence of the intervals at each of so many looks."""
    return 1 - (1 - CONFIDENCE) / looks


def widest(part: Part, plan: "PartPlan", table: "pd.DataFrame", metrics: tuple[str, ...]) -> tuple[float, str]:
    """Return the widest half-width in percent of what the figures of a part show, and where it is.

    Of differences to the baseline where there are others, else of the value itself. What has no value, or no meaning in
    percent because it is zero, is left out; an interval without bounds is infinitely wide.
    """
    worst, where = 0.0, ""
    for ids, at in places(part, plan):
        mine = table[table["run"].isin(ids)]
        for name in metrics or shown_metrics(part):
            if name not in mine.columns:
                continue
            for label in [label for label in part.labels if label != part.baseline] or part.labels:
                half = half_width(part, mine, name, label, at)
                if half > worst:
                    point = ", ".join(f"{axis} = {value}" for axis, value in at.items()) or "the nominal point"
                    worst, where = half, f"{part.metric(name).label} of {label}, {point}"
    return worst, where


def places(part: Part, plan: "PartPlan") -> list[tuple[set[str], dict[str, object]]]:
    """Return the nominal point and every point of sweeps with one axis: ids of runs, and values of the axis."""
    points: list[tuple[set[str], dict[str, object]]] = [(plan.base, {})]
    for ids, sweep in zip(plan.sweeps, part.sweeps, strict=True):
        if len(sweep.vary) == 1:
            axis, values = next(iter(sweep.vary.items()))
            points += [(ids, {axis: value}) for value in values]
    return points


def shown_metrics(part: Part) -> tuple[str, ...]:
    """Return the metrics of the figures of a part, time series left out."""
    return tuple(dict.fromkeys(y for figure in part.figures if figure.kind != "series" for y in figure.y))


def half_width(part: Part, table: "pd.DataFrame", name: str, label: str, at: dict[str, object]) -> float:
    """Return the half-width of one interval in percent; 0 where there is nothing to be narrow about."""
    if label != part.baseline:
        return half(difference(table, name, label, part.baseline, at, part.method))
    alone = estimate(table, name, label, at, part.method)
    return 100 * half(alone) / abs(alone.value) if alone.value else 0.0


def half(found: Estimate) -> float:
    """Return the longer side of an interval; infinite without bounds, 0 without value."""
    if math.isnan(found.value):
        return 0.0
    return math.inf if math.isnan(found.low) else max(found.high - found.value, found.value - found.low)
