"""Tests that compare: an order of variants, the difference of two, and the difference of two parts.

A difference in percent is a ratio of means r = mean a / mean b. "r is above c" is tested as "the mean of a - c·b is above
zero", which is Fieller's test: it and the interval agree.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tonopah import stats
from tonopah.analysis.evidence import Data, Outcome
from tonopah.metrics import show
from tonopah.spec.claim import BetweenParts, Comparison, Order
from tonopah.stats import Estimate, Method


def order(criterion: Order, group: list[Data]) -> Outcome:
    """Test an order from low to high: each neighbour above the one before, by paired tests (mean over the points)."""
    common = sorted(set.intersection(*(set(data.seeds) for data in group)))
    if len(common) < 2:
        return Outcome("The algorithms have fewer than 2 replicates in common.")
    method, labels = group[0].method, criterion.order
    means = [data.rows(common).mean(axis=1) for data in group]
    steps = [high - low for low, high in itertools.pairwise(means)]
    worst = int(np.argmin([method.centre(step) for step in steps]))
    effect = method.difference_percent(means[worst + 1], means[worst])
    p_for = max(method.p_greater(step) for step in steps)
    p_against = min(1.0, len(steps) * min(method.p_less(step) for step in steps))
    values = ", ".join(f"{label} {show(method.centre(mean))}" for label, mean in zip(labels, means, strict=True))
    sentence = f"{method.statistic.capitalize()}s: {values} {group[0].metric.unit}".rstrip()
    sentence += f"; the effect is {labels[worst + 1]} against {labels[worst]}."
    return Outcome(sentence, effect, "%", p_for, p_against)


@dataclass(frozen=True)
class Contrast:
    """The ratio of two variants at one point: its estimate, and its p values against a bound."""

    name: str
    estimate: Estimate
    above: Callable[[float], float]
    """p value of "the difference is more than this many percent"."""
    below: Callable[[float], float]
    values: tuple[float, float]
    """Mean or median of each."""


def paired(name: str, a: np.ndarray, b: np.ndarray, method: Method) -> Contrast:
    """Return the contrast of replicates paired by seed."""
    return Contrast(
        name,
        method.difference_percent(a, b),
        lambda bound: method.p_greater(a - (1 + bound / 100) * b),
        lambda bound: method.p_less(a - (1 + bound / 100) * b),
        (method.centre(a), method.centre(b)),
    )


def unpaired(name: str, a: np.ndarray, b: np.ndarray, method: Method) -> Contrast:
    """Return the contrast of independent replicates (Welch)."""
    return Contrast(
        name,
        stats.independent_ratio_percent(a, b, method.confidence),
        lambda bound: stats.welch_p_greater(a, (1 + bound / 100) * b),
        lambda bound: stats.welch_p_greater((1 + bound / 100) * b, a),
        (float(np.mean(a)), float(np.mean(b))),
    )


def difference(criterion: Comparison, of: Data, to: Data, names: tuple[str, str]) -> Outcome:
    """Test a difference in percent of one variant (or part) to another against its bound."""
    common = sorted(set(of.seeds) & set(to.seeds))
    if isinstance(criterion, BetweenParts) and not criterion.paired:
        if min(len(of.values), len(to.values)) < 2:
            return Outcome("A part has fewer than 2 complete replicates.")
        a, b, contrast = of.values, to.values, unpaired
    elif len(common) < 2:
        return Outcome(f"{len(common)} complete replicate{'s' * (len(common) != 1)} in common; at least 2 are needed.")
    else:
        a, b, contrast = of.rows(common), to.rows(common), paired
    if criterion.points == "mean":
        contrasts = [contrast("", a.mean(axis=1), b.mean(axis=1), of.method)]
    else:
        contrasts = [contrast(label, a[:, i], b[:, i], of.method) for i, label in enumerate(of.labels)]
    if any(one.values[1] <= 0 or math.isnan(one.estimate.value) for one in contrasts):
        return Outcome(f"{names[1]} is zero there, so that a difference in percent has no meaning.")
    p_values = [compare(criterion, one) for one in contrasts]
    p_none = max(within_margin(criterion, one) for one in contrasts)
    if criterion.points == "any":
        best = int(np.argmin([p_for for p_for, _ in p_values]))
        p_for, p_against = min(1.0, len(p_values) * p_values[best][0]), max(p for _, p in p_values)
    else:
        best = int(np.argmax([p_for for p_for, _ in p_values]))
        p_for, p_against = p_values[best][0], min(1.0, len(p_values) * min(p for _, p in p_values))
    decisive = contrasts[best]
    sentence = f"{names[0]}: {of.text(decisive.values[0])}; {names[1]}: {of.text(decisive.values[1])}"
    if decisive.name:
        sentence += f" at {decisive.name}, the {'best' if criterion.points == 'any' else 'worst'} of {len(contrasts)} points"
    if criterion.bound == "published":
        sentence += f"; {published_note(criterion.percent, decisive.estimate)}"
    return Outcome(f"{sentence}.", decisive.estimate, "%", p_for, p_against, p_none)


def within_margin(criterion: Comparison, contrast: Contrast) -> float:
    """Return the p value of "the difference is within the margin"."""
    margin = criterion.margin_percent
    return 1.0 if margin is None else max(contrast.above(-margin), contrast.below(margin))


def compare(criterion: Comparison, contrast: Contrast) -> tuple[float, float]:
    """Return the p values for and against the condition of a criterion at one point."""
    above, below, percent = contrast.above, contrast.below, criterion.percent
    match criterion.bound:
        case "above":
            return above(percent), below(percent)
        case "below":
            return below(percent), above(percent)
        case "within":
            return max(above(-percent), below(percent)), min(1.0, 2 * min(above(percent), below(-percent)))
        case _:
            same, opposite = (above(0), below(0)) if percent >= 0 else (below(0), above(0))
            return (same if inside(percent, contrast.estimate) else 1.0), opposite


def inside(value: float, estimate: Estimate) -> bool:
    """Tell whether a value is inside an interval."""
    return estimate.low <= value <= estimate.high


def published_note(percent: float, estimate: Estimate) -> str:
    """Compare the published effect with the measured interval in words."""
    published = f"the published {percent:+g} %"
    if math.isnan(estimate.low):
        return f"{published} cannot be compared: the interval is unbounded"
    if estimate.low == estimate.high == 0:
        return f"{published} is absent: no replicate has any difference"
    where = "inside" if inside(percent, estimate) else "outside"
    sign = "the same" if estimate.value * percent > 0 else "the opposite"
    unclear = ", and the interval contains zero" if inside(0.0, estimate) else ""
    return f"{published} is {where} the interval and has {sign} sign{unclear}"
