"""One-sided tests, and the adjustment of p values for their number."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tonopah.stats.estimate import finite, is_rounding


def p_greater(values: ArrayLike, bound: float = 0.0) -> float:
    """Test "the mean is greater than `bound`" by the one-sided t test.

    Parameters
    ----------
    values : array_like, shape (n,)
        One value for each replicate; missing values are excluded.
    bound : float
        In the unit of `values`.

    Returns
    -------
    float
        The p value; NaN for fewer than two replicates, 0 or 1 where all replicates agree.

    References
    ----------
    NIST/SEMATECH e-Handbook of Statistical Methods, §7.2.2.
    """
    from scipy.stats import ttest_1samp

    x = finite(values)
    if len(x) < 2:
        return math.nan
    if is_rounding(float(np.std(x, ddof=1)), x, bound):
        return 0.0 if float(np.mean(x)) > bound else 1.0
    return float(ttest_1samp(x, bound, alternative="greater").pvalue)


def p_less(values: ArrayLike, bound: float = 0.0) -> float:
    """Test "the mean is less than `bound`"; see `p_greater`."""
    return p_greater(-np.asarray(values, dtype=float), -bound)


def welch_p_greater(a: ArrayLike, b: ArrayLike) -> float:
    """Test "mean a is greater than mean b" for independent samples with unequal variances (Welch's t test).

    Parameters
    ----------
    a, b : array_like, shapes (n,) and (m,)
        One value for each replicate, in one unit; missing values are excluded.

    Returns
    -------
    float
        The one-sided p value; NaN for fewer than two replicates of either, 0 or 1 where all replicates agree.

    References
    ----------
    B. L. Welch, Biometrika 34, 1947, 28-35; degrees of freedom by Satterthwaite (NIST/SEMATECH e-Handbook §1.3.5.3).
    """
    from scipy.stats import ttest_ind_from_stats

    x, y = finite(a), finite(b)
    if min(len(x), len(y)) < 2:
        return math.nan
    means, deviations = (float(np.mean(x)), float(np.mean(y))), (float(np.std(x, ddof=1)), float(np.std(y, ddof=1)))
    if is_rounding(math.hypot(deviations[0] / math.sqrt(len(x)), deviations[1] / math.sqrt(len(y))), x, y):
        return 0.0 if means[0] > means[1] else 1.0
    # From means and deviations, since `ttest_ind` warns of lost precision where one of the samples is constant.
    test = ttest_ind_from_stats(
        means[0], deviations[0], len(x), means[1], deviations[1], len(y), equal_var=False, alternative="greater"
    )
    return float(test.pvalue)


def sign_test_greater(values: ArrayLike, bound: float = 0.0) -> float:
    """Test "the median is greater than `bound`" by the exact one-sided sign test.

    Parameters
    ----------
    values : array_like, shape (n,)
        One value for each replicate; missing values, and ties with the bound, are excluded.
    bound : float
        In the unit of `values`.

    Returns
    -------
    float
        The p value; NaN for fewer than two replicates, 1 where all are ties.

    References
    ----------
    W. J. Dixon, A. M. Mood, "The statistical sign test", J. Am. Stat. Assoc. 41, 1946, 557-566.
    """
    from scipy.stats import binomtest

    x = finite(values)
    if len(x) < 2:
        return math.nan
    distances = x - bound
    distances = distances[~is_rounding(np.abs(distances), x, bound)]
    if not len(distances):
        return 1.0
    return float(binomtest(int(np.sum(distances > 0)), len(distances), alternative="greater").pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values for their number by Holm's step-down method.

    Parameters
    ----------
    p_values : sequence of float
        NaN stands for a test that was not made: it stays NaN and is not counted.

    Returns
    -------
    list of float
        The adjusted p values in the same order.

    References
    ----------
    S. Holm, Scand. J. Statist. 6, 1979, 65-70.
    """
    adjusted = [math.nan] * len(p_values)
    order = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    running = 0.0
    for rank, (p, i) in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * p))
        adjusted[i] = running
    return adjusted
