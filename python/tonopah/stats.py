"""Statistics over replicates. Each function cites its definition; missing values (None, not-a-number) are left out.

The replicate is the unit: packets or flows of one run are not independent, runs with different seeds are
(Law, Simulation Modeling and Analysis, 5th ed., §9.4).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval from `n` replicates; the bounds are NaN where n does not allow them."""

    value: float
    low: float
    high: float
    n: int

    def scaled(self, factor: float) -> "Estimate":
        """Return the same in another unit."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.n)

    @property
    def unbounded(self) -> bool:
        """Tell whether several replicates gave no interval: a ratio to what cannot be told from zero."""
        return self.n > 1 and math.isnan(self.low)


NOTHING = Estimate(math.nan, math.nan, math.nan, 0)


def t_quantile(probability: float, degrees: int) -> float:
    """Return the quantile of Student's t distribution."""
    return float(special.stdtrit(degrees, probability))


def finite(values: ArrayLike) -> NDArray[np.float64]:
    """Return the finite ones among the values."""
    array = np.asarray(values, dtype=float)
    return array[np.isfinite(array)]


def mean_interval(values: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean with its t interval, mean ± t(1 - α/2, n - 1) · s / √n (NIST/SEMATECH e-Handbook §1.3.5.2)."""
    x = finite(values)
    n = len(x)
    if n == 0:
        return NOTHING
    mean = float(np.mean(x))
    if n == 1:
        return Estimate(mean, math.nan, math.nan, 1)
    half = t_quantile((1 + confidence) / 2, n - 1) * float(np.std(x, ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n)


def pairs(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the replicates in which both were measured; `a[k]` and `b[k]` come from the same seed."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both]


def difference_interval(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of the paired differences a - b with its t interval (Law, 5th ed., §10.2.1, "paired-t")."""
    x, y = pairs(a, b)
    return mean_interval(x - y, confidence)


def difference_percent(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Return how much `a` differs from the baseline `b` in percent, 100 · (mean a / mean b - 1), with its interval.

    The interval is Fieller's for a ratio of means of correlated normal variables (E. C. Fieller, "Some problems in
    interval estimation", J. R. Statist. Soc. B 16, 1954, 175-185). The ratio of means, not the mean of ratios, so that
    a replicate with a baseline near zero does not rule. The bounds are NaN when mean b is not clearly different from 0.
    """
    x, y = pairs(a, b)
    n = len(x)
    if n == 0 or np.mean(y) == 0:
        return Estimate(math.nan, math.nan, math.nan, n)
    ratio = float(np.mean(x) / np.mean(y))
    if n == 1:
        return Estimate(100 * (ratio - 1), math.nan, math.nan, 1)
    low, high = fieller(x, y, t_quantile((1 + confidence) / 2, n - 1))
    return Estimate(100 * (ratio - 1), 100 * (low - 1), 100 * (high - 1), n)


def fieller(x: NDArray[np.float64], y: NDArray[np.float64], t: float) -> tuple[float, float]:
    """Return Fieller's bounds of the ratio of means of paired values."""
    covariance = np.cov(x, y, ddof=1) / len(x)
    return fieller_roots(float(np.mean(x)), float(np.mean(y)), covariance[0, 0], covariance[1, 1], covariance[0, 1], t)


def fieller_roots(x: float, y: float, s_xx: float, s_yy: float, s_xy: float, t: float) -> tuple[float, float]:
    """Return the roots r of (x̄ - r ȳ)² = t² · var(x̄ - r ȳ), or NaN when the set between them is not an interval."""
    # (ȳ² - t² s_yy) r² - 2 (x̄ ȳ - t² s_xy) r + (x̄² - t² s_xx) = 0
    a = y**2 - t**2 * s_yy
    b = x * y - t**2 * s_xy
    c = x**2 - t**2 * s_xx
    if a <= 0:
        return math.nan, math.nan
    root = math.sqrt(max(0.0, b * b - a * c))
    return float((b - root) / a), float((b + root) / a)


def p_greater(values: ArrayLike, bound: float = 0.0) -> float:
    """Return the one-sided p value of "the mean is greater than `bound`" by the t test (NIST/SEMATECH §7.2.2)."""
    x = finite(values)
    n = len(x)
    if n < 2:
        return math.nan
    above, spread = float(np.mean(x)) - bound, float(np.std(x, ddof=1))
    # Values that agree to rounding are certain: replicates of a world without randomness are all the same.
    if spread <= 1e-12 * max(abs(bound), float(np.max(np.abs(x)))):
        return 0.0 if above > 0 else 1.0
    return float(special.stdtr(n - 1, -above / (spread / math.sqrt(n))))


def p_less(values: ArrayLike, bound: float = 0.0) -> float:
    """Return the one-sided p value of "the mean is less than `bound`"."""
    return p_greater(-np.asarray(values, dtype=float), -bound)


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Return the slope of the least-squares line through the points (NIST/SEMATECH §4.1.4.1)."""
    u = np.asarray(x, dtype=float) - np.mean(x)
    return float(np.sum(u * np.asarray(y, dtype=float)) / np.sum(u * u))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for their number (S. Holm, Scand. J. Statist. 6, 1979, 65-70); NaN stays NaN."""
    adjusted = [math.nan] * len(p_values)
    order = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    running = 0.0
    for rank, (p, i) in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * p))
        adjusted[i] = running
    return adjusted


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[..., Any] = np.median,
    confidence: float = CONFIDENCE,
    resamples: int = 5000,
    seed: int = 1,
) -> Estimate:
    """Return a statistic with its percentile bootstrap interval (Efron and Tibshirani 1993, §13.3), repeatable by `seed`.

    `statistic` takes `axis`, like those of numpy: all resamples are given to it at once.
    """
    x = finite(values)
    n = len(x)
    if n == 0:
        return NOTHING
    if n == 1:
        return Estimate(float(statistic(x, axis=0)), math.nan, math.nan, 1)
    drawn = np.random.default_rng(seed).integers(0, n, size=(resamples, n))
    low, high = np.quantile(statistic(x[drawn], axis=1), [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(float(statistic(x, axis=0)), float(low), float(high), n)


def median_difference_percent(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE, resamples: int = 5000) -> Estimate:
    """Return 100 · (median a / median b - 1) with its percentile bootstrap interval over pairs (the pair is resampled)."""
    x, y = pairs(a, b)
    n = len(x)
    if n == 0 or np.median(y) == 0:
        return Estimate(math.nan, math.nan, math.nan, n)
    value = 100 * float(np.median(x) / np.median(y) - 1)
    if n == 1:
        return Estimate(value, math.nan, math.nan, 1)
    drawn = np.random.default_rng(1).integers(0, n, size=(resamples, n))
    below = np.median(y[drawn], axis=1)
    if np.any(below == 0):
        return Estimate(value, math.nan, math.nan, n)
    ratios = 100 * (np.median(x[drawn], axis=1) / below - 1)
    low, high = np.quantile(ratios, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(value, float(low), float(high), n)


def sign_test_greater(values: ArrayLike, bound: float = 0.0) -> float:
    """Return the exact one-sided p value of "the median is greater than `bound`" by the sign test; ties are left out.

    W. J. Dixon, A. M. Mood, "The statistical sign test", J. Am. Stat. Assoc. 41, 1946, 557-566.
    """
    x = finite(values)
    if len(x) < 2:
        return math.nan
    distances = x - bound
    distances = distances[np.abs(distances) > 1e-12 * max(abs(bound), float(np.max(np.abs(x))))]
    return float(special.bdtrc(int(np.sum(distances > 0)) - 1, len(distances), 0.5)) if np.any(distances > 0) else 1.0


def independent_ratio_percent(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Return 100 · (mean a / mean b - 1) of samples that are not paired, with Fieller's interval without covariance.

    The degrees of freedom are the smaller sample's less one, which is never too many (Welch, Biometrika 34, 1947, 28-35).
    """
    x, y = finite(a), finite(b)
    n = min(len(x), len(y))
    if n == 0 or np.mean(y) == 0:
        return Estimate(math.nan, math.nan, math.nan, n)
    ratio = float(np.mean(x) / np.mean(y))
    if n == 1:
        return Estimate(100 * (ratio - 1), math.nan, math.nan, 1)
    variances = float(np.var(x, ddof=1)) / len(x), float(np.var(y, ddof=1)) / len(y)
    t = t_quantile((1 + confidence) / 2, n - 1)
    low, high = fieller_roots(float(np.mean(x)), float(np.mean(y)), variances[0], variances[1], 0.0, t)
    return Estimate(100 * (ratio - 1), 100 * (low - 1), 100 * (high - 1), n)


def welch_p_greater(a: ArrayLike, b: ArrayLike) -> float:
    """Return the one-sided p value of "mean a is greater than mean b", samples not paired, variances not equal.

    B. L. Welch, Biometrika 34, 1947, 28-35; degrees of freedom by Satterthwaite (NIST/SEMATECH §1.3.5.3).
    """
    x, y = finite(a), finite(b)
    if min(len(x), len(y)) < 2:
        return math.nan
    u, v = float(np.var(x, ddof=1)) / len(x), float(np.var(y, ddof=1)) / len(y)
    above = float(np.mean(x) - np.mean(y))
    if math.sqrt(u + v) <= 1e-12 * max(float(np.max(np.abs(x))), float(np.max(np.abs(y)))):
        return 0.0 if above > 0 else 1.0
    degrees = (u + v) ** 2 / (u * u / (len(x) - 1) + v * v / (len(y) - 1))
    return float(special.stdtr(degrees, -above / math.sqrt(u + v)))


@dataclass(frozen=True)
class Method:
    """How replicates are summarised: their mean or their median, and the confidence of intervals.

    Means go with t intervals, Fieller's for ratios, and t tests; medians with bootstrap intervals and the sign test,
    for results that a few replicates (partitioned networks) would rule.
    """

    statistic: str = "mean"
    confidence: float = CONFIDENCE

    @property
    def alpha(self) -> float:
        """Level of each one-sided test, so that verdict and two-sided interval agree."""
        return (1 - self.confidence) / 2

    def interval(self, values: ArrayLike) -> Estimate:
        """Return the mean or median with its interval."""
        if self.statistic == "median":
            return bootstrap_interval(values, np.median, self.confidence)
        return mean_interval(values, self.confidence)

    def difference_percent(self, a: ArrayLike, b: ArrayLike) -> Estimate:
        """Return the paired difference of `a` to the baseline `b` in percent with its interval."""
        return (median_difference_percent if self.statistic == "median" else difference_percent)(a, b, self.confidence)

    def p_greater(self, values: ArrayLike, bound: float = 0.0) -> float:
        """Return the one-sided p value of "the mean (median) is greater than `bound`"."""
        return (sign_test_greater if self.statistic == "median" else p_greater)(values, bound)

    def p_less(self, values: ArrayLike, bound: float = 0.0) -> float:
        """Return the one-sided p value of "the mean (median) is less than `bound`"."""
        return self.p_greater(-np.asarray(values, dtype=float), -bound)

    def centre(self, values: ArrayLike) -> float:
        """Return the mean or the median."""
        return float(np.median(values) if self.statistic == "median" else np.mean(values))


def jain(values: ArrayLike) -> float:
    """Return Jain's fairness index (Σx)² / (n Σx²), 1/n to 1 (Jain, Chiu, Hawe, DEC TR-301, 1984); NaN if all are 0."""
    x = finite(values)
    squares = float(np.sum(x * x))
    return float(np.sum(x)) ** 2 / (len(x) * squares) if squares > 0 else math.nan
