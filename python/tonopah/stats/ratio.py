"""Differences in percent: ratios of means or medians with their intervals.

The ratio of means and not the mean of ratios, so that a replicate with a baseline near zero does not dominate.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tonopah.stats.estimate import CONFIDENCE, RESAMPLES, Estimate, finite, is_certain, pairs, t_quantile, without_interval

Sample = NDArray[np.float64]


def difference_percent(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Estimate how much `a` differs from the baseline `b`, 100 · (mean a / mean b - 1), from paired replicates.

    The interval is Fieller's for a ratio of means of correlated normal variables.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        One value for each replicate, in one unit; `a[k]` and `b[k]` come from the same seed. Pairs with a missing value are
        excluded.
    confidence : float
        Coverage of the interval, 0 to 1.

    Returns
    -------
    Estimate
        In percent. Without bounds for one pair, and where mean b is not significantly different from 0; NaN where mean b is 0.

    References
    ----------
    E. C. Fieller, "Some problems in interval estimation", J. R. Statist. Soc. B 16, 1954, 175-185.
    """
    x, y = pairs(a, b)
    if estimate := simple_ratio(x, y, np.mean):
        return estimate
    covariance = np.cov(x, y, ddof=1) / len(x)
    return fieller(x, y, (covariance[0, 0], covariance[1, 1], covariance[0, 1]), confidence)


def independent_ratio_percent(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Estimate 100 · (mean a / mean b - 1) of independent samples, by Fieller's interval without covariance.

    The degrees of freedom are those of the smaller sample, which is never too many.

    Parameters
    ----------
    a, b : array_like, shapes (n,) and (m,)
        One value for each replicate, in one unit; missing values are excluded.
    confidence : float
        Coverage of the interval, 0 to 1.

    Returns
    -------
    Estimate
        In percent, with the size of the smaller sample as `n`. Without bounds for one replicate, and where mean b is not
        significantly different from 0; NaN where mean b is 0.

    References
    ----------
    E. C. Fieller, J. R. Statist. Soc. B 16, 1954, 175-185; B. L. Welch, Biometrika 34, 1947, 28-35.
    """
    x, y = finite(a), finite(b)
    if estimate := simple_ratio(x, y, np.mean):
        return estimate
    return fieller(x, y, (float(np.var(x, ddof=1)) / len(x), float(np.var(y, ddof=1)) / len(y), 0.0), confidence)


def simple_ratio(x: Sample, y: Sample, statistic: Any) -> Estimate | None:
    """Return the difference in percent where it has no interval, or one of no width; None where one is to be computed."""
    n = min(len(x), len(y))
    below = float(statistic(y)) if n else 0.0
    value = 100 * (float(statistic(x)) / below - 1) if below else math.nan
    if n < 2 or not below:
        return without_interval(value, n)
    return Estimate(value, value, value, n) if is_certain(x) and is_certain(y) else None


def fieller(x: Sample, y: Sample, variances: tuple[float, float, float], confidence: float) -> Estimate:
    """Return the ratio of means in percent with Fieller's interval.

    `variances` are those of the means (s² / n, not s²) of x and of y, and the covariance of the means.
    """
    n = min(len(x), len(y))
    ratio = float(np.mean(x) / np.mean(y))
    t = t_quantile((1 + confidence) / 2, n - 1)
    low, high = fieller_roots((float(np.mean(x)), float(np.mean(y))), variances, t)
    return Estimate(100 * (ratio - 1), 100 * (low - 1), 100 * (high - 1), n)


def fieller_roots(means: tuple[float, float], variances: tuple[float, float, float], t: float) -> tuple[float, float]:
    """Return the roots r of (x̄ - r ȳ)² = t² · var(x̄ - r ȳ), or NaN where the set between them is not an interval."""
    # (ȳ² - t² s_yy) r² - 2 (x̄ ȳ - t² s_xy) r + (x̄² - t² s_xx) = 0
    (x, y), (s_xx, s_yy, s_xy) = means, variances
    a = y**2 - t**2 * s_yy
    b = x * y - t**2 * s_xy
    c = x**2 - t**2 * s_xx
    if a <= 0:
        return math.nan, math.nan
    root = math.sqrt(max(0.0, b * b - a * c))
    return float((b - root) / a), float((b + root) / a)


def median_difference_percent(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Estimate:
    """Estimate 100 · (median a / median b - 1) with its percentile bootstrap interval over pairs.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        One value for each replicate, in one unit; `a[k]` and `b[k]` come from the same seed. Pairs with a missing value are
        excluded.
    confidence : float
        Coverage of the interval, 0 to 1.
    resamples : int
        Number of resamples of the pairs; they are drawn with a fixed seed.

    Returns
    -------
    Estimate
        In percent. Without bounds for one pair, and where the median of b is 0 in some resample; NaN where median b is 0.

    References
    ----------
    B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993, §13.3.
    """
    from scipy.stats import bootstrap

    x, y = pairs(a, b)
    if estimate := simple_ratio(x, y, np.median):
        return estimate
    value = 100 * (float(np.median(x) / np.median(y)) - 1)
    # numpy warns where it subtracts infinite ratios from one another; those resamples are asked for below.
    with np.errstate(invalid="ignore"):
        drawn = bootstrap(
            (x, y), median_percent, paired=True, vectorized=True, confidence_level=confidence, n_resamples=resamples,
            method="percentile", rng=np.random.default_rng(1),
        )  # fmt: skip
    if np.isinf(drawn.bootstrap_distribution).any():
        return without_interval(value, len(x))
    low, high = drawn.confidence_interval
    return Estimate(value, float(low), float(high), len(x))


def median_percent(x: Sample, y: Sample, axis: int = -1) -> Sample:
    """Return 100 · (median x / median y - 1), infinite where median y is zero."""
    below = np.median(y, axis=axis)
    return 100 * (np.divide(np.median(x, axis=axis), below, out=np.full_like(below, np.inf), where=below != 0) - 1)
