"""The tests of claims that compare: an order of variants, the difference of two, and the difference of two parts.

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
from tonopah.spec.claim import Criterion
from tonopah.stats import Estimate, Method


def test_order(test: Criterion, group: list[Data], asked: str) -> Outcome:
    """Order from low to high: each neighbour above the one before, by paired tests on replicates (mean over the points)."""
    common = sorted(set.intersection(*(set(data.seeds) for data in group)))
    if len(common) < 2:
        return Outcome(asked, "The algorithms have fewer than 2 replicates in common.")
    method = group[0].method
    means = [data.of(common).mean(axis=1) for data in group]
    steps = [high - low for low, high in itertools.pairwise(means)]
    worst = int(np.argmin([method.centre(step) for step in steps]))
    effect = method.difference_percent(means[worst + 1], means[worst])
    p_for = max(method.p_greater(step) for step in steps)
    p_against = min(1.0, len(steps) * min(method.p_less(step) for step in steps))
    values = ", ".join(f"{label} {show(method.centre(mean))}" for label, mean in zip(test.order, means, strict=True))
    sentence = f"{method.statistic.capitalize()}s: {values} {group[0].shown.unit}".rstrip()
    sentence += f"; the effect is {test.order[worst + 1]} against {test.order[worst]}."
    return Outcome(asked, sentence, effect, "%", p_for, p_against)


@dataclass(frozen=True)
class Contrast:
    """The ratio of two variants at one place: its p values against a bound, and its estimate."""

    name: str
    estimate: Estimate
    above: Callable[[float], float]
    """p value of "the difference is above this many percent"."""
    below: Callable[[float], float]
    values: tuple[float, float]
    """Centres of the two."""


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


def test_difference(test: Criterion, of: Data, to: Data, names: tuple[str, str], asked: str) -> Outcome:
    """Difference of one variant (or part) to another in percent against a bound, a margin or a published effect."""
    common = sorted(set(of.seeds) & set(to.seeds))
    if test.parts and not test.paired:
        if min(len(of.values), len(to.values)) < 2:
            return Outcome(asked, "A part has fewer than 2 complete replicates.")
        a, b, join = of.values, to.values, unpaired
    elif len(common) < 2:
        return Outcome(asked, f"{len(common)} complete replicate{'s' * (len(common) != 1)} in common; at least 2 are needed.")
    else:
        a, b, join = of.of(common), to.of(common), paired
    if test.points == "mean":
        contrasts = [join("", a.mean(axis=1), b.mean(axis=1), of.method)]
    else:
        contrasts = [join(label, a[:, i], b[:, i], of.method) for i, label in enumerate(of.labels)]
    if any(contrast.values[1] <= 0 or math.isnan(contrast.estimate.value) for contrast in contrasts):
        return Outcome(asked, f"{names[1]} is zero there, so that a difference in percent has no meaning.")
    judged = [judge_contrast(test, contrast) for contrast in contrasts]
    if test.points == "any":
        best = int(np.argmin([p_for for p_for, _ in judged]))
        p_for, p_against = min(1.0, len(judged) * judged[best][0]), max(p for _, p in judged)
    else:
        best = int(np.argmax([p_for for p_for, _ in judged]))
        p_for, p_against = judged[best][0], min(1.0, len(judged) * min(p for _, p in judged))
    shown = contrasts[best]
    sentence = f"{names[0]}: {show(shown.values[0])} {of.shown.unit}".rstrip()
    sentence += f"; {names[1]}: {show(shown.values[1])} {of.shown.unit}".rstrip()
    if shown.name:
        sentence += f" at {shown.name}, the {'best' if test.points == 'any' else 'worst'} of {len(contrasts)} points"
    sentence += published_note(test, shown.estimate) + "."
    return Outcome(asked, sentence, shown.estimate, "%", p_for, p_against)


def judge_contrast(test: Criterion, contrast: Contrast) -> tuple[float, float]:
    """Return the p values for and against the condition of a test at one place."""
    above, below = contrast.above, contrast.below
    if test.above_percent is not None:
        return above(test.above_percent), below(test.above_percent)
    if test.below_percent is not None:
        return below(test.below_percent), above(test.below_percent)
    if test.within_percent is not None:
        margin = test.within_percent
        return max(above(-margin), below(margin)), min(1.0, 2 * min(above(margin), below(-margin)))
    published = test.published_percent
    assert published is not None
    same, other = (above(0), below(0)) if published >= 0 else (below(0), above(0))
    return (same if inside(published, contrast.estimate) else 1.0), other


def inside(value: float, estimate: Estimate) -> bool:
    """Tell whether a value is inside an interval."""
    return estimate.low <= value <= estimate.high


def published_note(test: Criterion, estimate: Estimate) -> str:
    """Return how the published effect stands to the measured interval."""
    if test.published_percent is None:
        return ""
    published = f"; the published {test.published_percent:+g} %"
    if math.isnan(estimate.low):
        return f"{published} cannot be compared: the interval is unbounded"
    where = "is inside the interval" if inside(test.published_percent, estimate) else "is outside the interval"
    if estimate.low == estimate.high == 0:
        return f"{published} is not there: no replicate has any difference"
    sign = "has the same sign" if estimate.value * test.published_percent > 0 else "has the other sign"
    unclear = ", and the interval holds zero" if inside(0.0, estimate) else ""
    return f"{published} {where} and {sign}{unclear}"
