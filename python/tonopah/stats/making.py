"""Quantities from samples: what is compared, and by which test, follows from the kind of the metric and from the sample.

Means and ratios use Student's t distribution where the sample allows it (sample.py), on the logarithm of what is above zero and
on the logit of what has two bounds; else an exact test (exact.py), whose interval is printed only where it covers.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tonopah.stats.estimate import CONFIDENCE, ROUNDING, Estimate, finite, is_rounding, pairs
from tonopah.stats.exact import (
    Exact,
    Ranked,
    independent_ratio,
    paired_difference,
    paired_ratio,
)
from tonopah.stats.kinds import FEWEST_EVENTS, KINDS, KindName
from tonopah.stats.quantity import PERCENT_CHANGE, Mean, Median, Scale, Shift
from tonopah.stats.sample import Sample, another_value, has_heavy_tail, is_smooth, modes
from tonopah.stats.share import Share

Quantity = Mean | Median | Share | Exact
Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)
Flags = NDArray[np.bool_]
Longer = tuple[ArrayLike, ArrayLike] | None
"""Which values of two samples are only known to be larger."""
RATIO_TEST, APART_TEST = "paired t test of the log ratio", "Welch's t test of the log ratio"
TOO_FEW_EVENTS = f"fewer than {FEWEST_EVENTS} events on both sides together decide nothing"
TWO_MODES = "the replicates fall into two groups, for which no mean stands"
HEAVY = "few replicates dominate the mean (a heavy tail), for which no interval holds"


def mean_interval(values: ArrayLike, confidence: float = CONFIDENCE, bounds: Bounds = UNBOUNDED) -> Estimate:
    """Estimate the mean of two values or more by Student's t interval, mean ± t(1 - α/2, n - 1) · s / √n.

    For validation, where what is asked is known beforehand and runs are few; NIST/SEMATECH e-Handbook §1.3.5.2.

    Parameters
    ----------
    values : array_like, shape (n,)
        Independent values; missing ones are excluded.
    confidence : float
        Coverage of the interval, 0 to 1.
    bounds : pair of float
        Bounds of the values, within which the interval stays.

    Returns
    -------
    Estimate
        In the unit of `values`; without bounds for one value, NaN for none, of no width where all agree.
    """
    found = spread_of(finite(values), bounds)
    if found.n > 1 and found.certain:
        return Estimate(found.value, found.value, found.value, found.n)
    return found.interval(confidence, fewest=2)


def spread_of(x: Sample, bounds: Bounds = UNBOUNDED, mean: float | None = None) -> Mean:
    """Return the mean of a sample, taken as normal on the scale of its bounds; one that the values exceed is none."""
    n = len(x)
    if not n:
        return Mean(math.nan, math.nan, 0, 0)
    value, grain = float(np.mean(x)) if mean is None else mean, ROUNDING * float(np.max(np.abs(x)))
    deviation = float(np.std(x, ddof=1)) if n > 1 else math.nan
    if n < 2 or deviation <= grain:
        return Mean(value, 0.0, n - 1, n, grain, no_interval=no_spread(n))
    low = bounds[0] if x.min() >= bounds[0] else -math.inf
    high = bounds[1] if x.max() <= bounds[1] and math.isfinite(low) else math.inf
    scale = Scale(low, high)
    error = scale.stretch(value) * deviation / math.sqrt(n)
    if low == 0 and math.isinf(high) and x.min() > 0:
        # Of a log-normal sample (X.-H. Zhou, S. Gao, Statistics in Medicine 16, 1997, 783-790), where that is wider.
        variance = float(np.var(np.log(x), ddof=1))
        error = max(error, math.sqrt(variance / n + variance**2 / (2 * (n - 1))))
    return Mean(value, error, n - 1, n, grain, scale, f"t test{scale.name}")


def no_spread(n: int) -> str:
    """Return what n equal values leave open."""
    return f"all {n} replicates agree, which leaves another value a probability of up to {100 * another_value(n):.0f} %"


def mean_of(
    values: ArrayLike, bounds: Bounds = UNBOUNDED, kind: KindName = "positive", longer: ArrayLike | None = None
) -> Mean | Exact:
    """Return the mean of replicates of something that has bounds, as a quantity.

    Parameters
    ----------
    values : array_like, shape (n,)
        One value for each replicate; missing values are excluded.
    bounds : pair of float
        Bounds of the values. One that the values themselves exceed is none.
    kind : str
        What the values are (kinds.py).
    longer : array_like of bool, shape (n,), optional
        Which values are only known to be larger (a time until something that had not happened).
    """
    x = finite(values)
    found = spread_of(x, bounds)
    if longer is not None and (count := int(np.count_nonzero(np.asarray(longer)))):
        return replace(found, longer=count)
    if len(x) < 2 or found.certain:
        rare = KINDS[kind].events and len(x) and not np.any(x)
        return replace(found, undecided=found.no_interval) if rare else found
    if KINDS[kind].events:
        if kind == "count" and np.sum(x) < FEWEST_EVENTS:
            return replace(found, undecided=f"fewer than {FEWEST_EVENTS} events decide nothing")
        return by_signs(x, found, TWO_MODES) if modes(x) else found
    if modes(x):
        return by_signs(x, found, TWO_MODES)
    if found.scale.low == 0 and math.isinf(found.scale.high) and np.min(x) > 0 and has_heavy_tail(x):
        return by_signs(x, found, HEAVY)
    if is_smooth(x) and np.min(x) > found.scale.low and np.max(x) < found.scale.high:
        return found
    return paired_difference(x, found)


def by_signs(x: Sample, spread: Mean, why: str) -> Exact:
    """Return a mean that stands for nothing, so that only what holds in every replicate is decided (sign test)."""
    ends = np.array([np.min(x)]), np.array([np.max(x)])
    return Exact(float(np.mean(x)), len(x), *ends, 0.5 ** len(x), 1.0, spread, "sign test", no_interval=why)


def ratio_of(a: ArrayLike, b: ArrayLike, kind: KindName = "positive", longer: Longer = None) -> Mean | Exact:
    """Return how much `a` differs from the baseline `b` in percent, from paired replicates.

    Where the sample allows, the ratio is that of geometric means: the mean logarithm of the ratios of pairs, with a paired t test
    and an interval above -100 %. Else it is that of the means, with an exact test.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        One value for each replicate, in one unit; `a[k]` and `b[k]` come from the same seed. Pairs with a missing value are
        excluded. NaN where a mean is below zero, or that of b is zero; 0 where both are zero in all replicates.
    kind : str
        What the values are (kinds.py).
    longer : pair of array_like of bool, optional
        Which of them are only known to be larger: paired ranks.
    """
    x, y = pairs(a, b)
    if longer is not None and any(np.any(side) for side in longer):
        return ranked_ratio(x, y, *(np.asarray(side, bool) for side in longer))
    n, ratio = len(x), ratio_of_means(x, y)
    if math.isnan(ratio):
        return Mean(math.nan, math.nan, n - 1, n, test=RATIO_TEST)
    value, grain = 100 * (ratio - 1), 100 * ROUNDING
    normal = delta_ratio(x, y, value)
    if few_events(kind, x, y):
        return replace(normal, undecided=TOO_FEW_EVENTS)
    if n < 2 or normal.certain:
        return replace(normal, no_interval=no_spread(n)) if n > 1 else normal
    if np.min(x) > 0 and np.min(y) > 0 and is_smooth(logs := np.log(x / y)):
        of_logs = 100 * math.expm1(float(np.mean(logs)))
        error = float(np.std(logs, ddof=1)) / math.sqrt(n)
        return Mean(of_logs, error, n - 1, n, grain, PERCENT_CHANGE, RATIO_TEST)
    return paired_ratio(x, y, value, normal)


def few_events(kind: KindName, x: Sample, y: Sample) -> bool:
    """Tell whether there are too few events for a verdict; of proportions, whether there are none."""
    total = float(np.sum(x) + np.sum(y))
    return KINDS[kind].events and (total < FEWEST_EVENTS if kind == "count" else total == 0)


def delta_ratio(x: Sample, y: Sample, value: float) -> Mean:
    """Return the ratio of two means, whose logarithm is taken to be normal, its variance linearised."""
    n, grain = len(x), 100 * ROUNDING
    ratio = 1 + value / 100
    alike = n < 2 or is_rounding(float(np.std(x - ratio * y, ddof=1)), x, y)
    # Where one side is zero throughout, the other may be seldom so.
    if alike and (np.any(x) or not np.any(y) or np.min(y) > 0):
        return Mean(value, 0.0, n - 1, n, grain, PERCENT_CHANGE, RATIO_TEST)
    relative = x / np.mean(x) - y / np.mean(y) if ratio else -y / np.mean(y)
    return Mean(value, float(np.std(relative, ddof=1)) / math.sqrt(n), n - 1, n, grain, PERCENT_CHANGE, RATIO_TEST)


def ranked_ratio(x: Sample, y: Sample, longer_x: Flags, longer_y: Flags) -> Ranked:
    """Return the typical ratio of times in percent by signed ranks, of which some are only known to be larger.

    A statement "greater" takes the least ratios that are possible, "less" the greatest.
    """
    n = len(x)
    first, second = np.triu_indices(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Of two times that are zero neither is longer.
        logs = np.where(x == y, 0.0, np.log(x / y))
        least, most = np.where(longer_y, -np.inf, logs), np.where(longer_x, np.inf, logs)
        # Where one time is zero in this pair and the other in that, their middle may be anywhere.
        low, high, typical = (
            np.nan_to_num((part[first] + part[second]) / 2, nan=anywhere, posinf=np.inf, neginf=-np.inf)
            for part, anywhere in ((least, -np.inf), (most, np.inf), (logs, 0.0))
        )
        value = float(100 * np.expm1(np.median(typical)))
        spread = delta_ratio(x, y, value)
    below, above = (np.sort(100 * np.expm1(part)) for part in (low, high))
    count = int(np.count_nonzero(longer_x | longer_y))
    return Ranked(value, n, below, above, 0, 1, spread, "paired signed ranks", longer=count)


def difference_of(a: ArrayLike, b: ArrayLike, bounds: Bounds = UNBOUNDED, kind: KindName = "share") -> Mean | Exact:
    """Return how much `a` is above `b`, in their unit, from paired replicates of something that has bounds.

    The mean difference of the logits, as a difference to the mean of b: with it, the interval stays within the bounds.
    """
    x, y = pairs(a, b)
    n = len(x)
    found = spread_of(x - y)
    if n < 2 or found.certain:
        return replace(found, no_interval=no_spread(n)) if n > 1 else found
    if few_events(kind, x, y):
        return replace(found, undecided=TOO_FEW_EVENTS)
    low, high = bounds
    inside = np.min([x, y]) > low and np.max([x, y]) < high
    if not is_smooth(x - y) or not inside:
        return paired_difference(x - y, found)
    if not (math.isfinite(low) and math.isfinite(high)):
        return replace(found, test="paired t test of the difference")
    logits = np.log((x - low) / (high - x)) - np.log((y - low) / (high - y))
    scale = Shift(low, high, float(np.mean(y)))
    error = float(np.std(logits, ddof=1)) / math.sqrt(n)
    value = scale.back(float(np.mean(logits)))
    return Mean(value, error, n - 1, n, found.grain, scale, "paired t test of the logits")


def independent_ratio_of(a: ArrayLike, b: ArrayLike, kind: KindName = "positive", longer: Longer = None) -> Mean | Exact:
    """Return how much `a` differs from `b` in percent, from independent samples; see `ratio_of`.

    Values that are only known to be larger decide nothing here.

    Degrees of freedom by Welch (Biometrika 34, 1947, 28-35) and Satterthwaite (NIST/SEMATECH e-Handbook §1.3.5.3).
    """
    x, y = finite(a), finite(b)
    n, ratio = min(len(x), len(y)), ratio_of_means(x, y)
    if math.isnan(ratio):
        return Mean(math.nan, math.nan, n - 1, n, test=APART_TEST)
    value, grain = 100 * (ratio - 1), 100 * ROUNDING
    smooth = n > 1 and np.min(x) > 0 and np.min(y) > 0
    scaled = [np.log(x), np.log(y)] if smooth else [s / (np.mean(s) or 1.0) for s in (x, y)]
    errors = [0.0 if len(s) < 2 or is_rounding(float(np.std(s, ddof=1)), s, [1.0]) else float(np.std(s, ddof=1)) for s in scaled]
    parts = [deviation**2 / len(s) for deviation, s in zip(errors, scaled, strict=True)]
    if n < 2 or not any(parts):
        normal = Mean(value, 0.0, n - 1, n, grain, PERCENT_CHANGE, APART_TEST, no_interval=no_spread(n))
        return replace(normal, undecided=TOO_FEW_EVENTS) if few_events(kind, x, y) else normal
    freedom = sum(parts) ** 2 / sum(part**2 / (len(s) - 1) for part, s in zip(parts, scaled, strict=True))
    normal = Mean(value, math.sqrt(sum(parts)), freedom, n, grain, PERCENT_CHANGE, APART_TEST)
    if few_events(kind, x, y):
        return replace(normal, undecided=TOO_FEW_EVENTS)
    if longer is not None and any(np.any(side) for side in longer):
        return replace(normal, undecided="some of the times are only known to be longer, and the replicates are not paired")
    if smooth and is_smooth(scaled[0]) and is_smooth(scaled[1]):
        return replace(normal, value=100 * math.expm1(float(np.mean(scaled[0]) - np.mean(scaled[1]))))
    return independent_ratio(x, y, value, normal)


def ratio_of_means(x: Sample, y: Sample) -> float:
    """Return the ratio of two means: NaN where it has no meaning, 1 where both are zero in all replicates."""
    if not len(x) or not len(y):
        return math.nan
    above, below = float(np.mean(x)), float(np.mean(y))
    if not np.any(x) and not np.any(y):
        return 1.0
    return math.nan if above < 0 or below <= 0 else above / below


def relative_error(sample: Sample) -> float:
    """Return the standard error of a mean as a share of it."""
    return float(np.std(sample, ddof=1) / np.mean(sample) / math.sqrt(len(sample)))


def relative_of(change: ArrayLike, level: ArrayLike) -> Mean:
    """Return 100 · mean change / mean level from paired replicates: the change may have either sign.

    Where the mean of the level cannot be told from zero there is no interval; that is also where Fieller's has no ends
    (J. R. Statist. Soc. B 16, 1954, 175-185).
    """
    u, v = pairs(change, level)
    n, below = len(u), float(np.mean(v)) if len(v) else 0.0
    if not n or below <= 0:
        return Mean(math.nan, math.nan, n - 1, n)
    ratio, grain = float(np.mean(u)) / below, 100 * ROUNDING
    spread = float(np.std(u - ratio * v, ddof=1)) if n > 1 else 0.0
    error = 0.0 if n < 2 or is_rounding(spread, u, v) else 100 * spread / below / math.sqrt(n)
    test = "paired t test of the relative change"
    return Mean(100 * ratio, error, n - 1, n, grain, test=test, baseline_error=relative_error(v) if error else 0.0)


def median_of(values: ArrayLike) -> Median:
    """Return the median of replicates as a quantity; missing values are excluded, infinite ones are not."""
    x = np.asarray(values, dtype=float)
    x = np.sort(x[~np.isnan(x)])
    largest = max((abs(value) for value in x if math.isfinite(value)), default=0.0)
    return Median(tuple(float(value) for value in x), ROUNDING * largest)


def median_ratio_of(a: ArrayLike, b: ArrayLike) -> Median:
    """Return the median difference of `a` to the baseline `b` in percent, over pairs.

    A baseline of zero gives an infinite difference, and none at all where both are zero: they are equal.
    """
    x, y = pairs(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where((x == 0) & (y == 0), 1.0, x / y)
    return replace(median_of(100 * (ratios - 1)), grain=100 * ROUNDING)


def median_relative_of(change: ArrayLike, level: ArrayLike) -> Median:
    """Return the median of changes in percent of a level, over pairs."""
    u, v = pairs(change, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        return replace(median_of(np.where((u == 0) & (v == 0), 0.0, 100 * u / v)), grain=100 * ROUNDING)
