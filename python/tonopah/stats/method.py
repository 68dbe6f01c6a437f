"""The choice between means and medians, in one place."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tonopah.stats.estimate import CONFIDENCE, Estimate, bootstrap_interval, mean_interval
from tonopah.stats.ratio import difference_percent, median_difference_percent
from tonopah.stats.significance import p_greater, sign_test_greater


@dataclass(frozen=True)
class Method:
    """Statistic and confidence by which replicates are summarised.

    Means go with t intervals, Fieller's for ratios, and t tests; medians with bootstrap intervals and the sign test,
    for results that a few replicates (partitioned networks) would dominate.

    Parameters
    ----------
    statistic : str
        "mean" or "median".
    confidence : float
        Coverage of intervals, 0 to 1.
    """

    statistic: str = "mean"
    confidence: float = CONFIDENCE

    @property
    def alpha(self) -> float:
        """Level of each one-sided test, so that verdict and two-sided interval agree."""
        return (1 - self.confidence) / 2

    def interval(self, values: ArrayLike) -> Estimate:
        """Estimate the mean or median; see `mean_interval` and `bootstrap_interval`."""
        if self.statistic == "median":
            return bootstrap_interval(values, np.median, self.confidence)
        return mean_interval(values, self.confidence)

    def difference_percent(self, a: ArrayLike, b: ArrayLike) -> Estimate:
        """Estimate the paired difference of `a` to the baseline `b` in percent."""
        return (median_difference_percent if self.statistic == "median" else difference_percent)(a, b, self.confidence)

    def p_greater(self, values: ArrayLike, bound: float = 0.0) -> float:
        """Test "the mean (median) is greater than `bound`" and return the one-sided p value."""
        return (sign_test_greater if self.statistic == "median" else p_greater)(values, bound)

    def p_less(self, values: ArrayLike, bound: float = 0.0) -> float:
        """Test "the mean (median) is less than `bound`" and return the one-sided p value."""
        return self.p_greater(-np.asarray(values, dtype=float), -bound)

    def centre(self, values: ArrayLike) -> float:
        """Return the mean or the median."""
        return float(np.median(values) if self.statistic == "median" else np.mean(values))
