"""The choice between means and medians, in one place."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tonopah.stats.estimate import CONFIDENCE, NOT_MEASURED, Estimate, finite
from tonopah.stats.kinds import KindName
from tonopah.stats.making import (
    UNBOUNDED,
    Bounds,
    Longer,
    Quantity,
    independent_ratio_of,
    mean_of,
    median_of,
    median_ratio_of,
    median_relative_of,
    ratio_of,
    relative_of,
)
from tonopah.stats.share import share_of


@dataclass(frozen=True)
class Method:
    """Statistic and confidence by which replicates are summarised.

    Means go with what the kind of the metric asks for (making.py); medians with order statistics and the sign test, for results
    that a few replicates (partitioned networks) would dominate.

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

    @property
    def medians(self) -> bool:
        """Tell whether medians are taken."""
        return self.statistic == "median"

    def quantity(
        self, values: ArrayLike, bounds: Bounds = UNBOUNDED, kind: KindName = "positive", longer: ArrayLike | None = None
    ) -> Quantity:
        """Return the mean or median of something that has bounds; of outcomes, which are one bound or the other, the share."""
        if kind == "outcome":
            return share_of(values, bounds)
        return median_of(values) if self.medians else mean_of(values, bounds, kind, longer)

    def ratio(self, a: ArrayLike, b: ArrayLike, kind: KindName = "positive", longer: Longer = None) -> Quantity:
        """Return the difference of `a` to the baseline `b` in percent, from paired replicates."""
        return median_ratio_of(a, b) if self.medians else ratio_of(a, b, kind, longer)

    def independent_ratio(self, a: ArrayLike, b: ArrayLike, kind: KindName = "positive", longer: Longer = None) -> Quantity:
        """Return the difference of the means in percent, from independent replicates."""
        return independent_ratio_of(a, b, kind, longer)

    def relative(self, change: ArrayLike, level: ArrayLike) -> Quantity:
        """Return a change in percent of a level, from paired replicates."""
        return median_relative_of(change, level) if self.medians else relative_of(change, level)

    def interval(
        self, values: ArrayLike, bounds: Bounds = UNBOUNDED, kind: KindName = "positive", longer: ArrayLike | None = None
    ) -> Estimate:
        """Estimate what `quantity` returns, with an interval that stays within the bounds; without one below four replicates."""
        return self.quantity(values, bounds, kind, longer).interval(self.confidence)

    def difference_percent(self, a: ArrayLike, b: ArrayLike, kind: KindName = "positive", longer: Longer = None) -> Estimate:
        """Estimate the paired difference of `a` to the baseline `b` in percent; without interval below four replicates.

        There is nothing to show where the baseline is zero throughout, even if the other is too.
        """
        if not np.any(finite(b)):
            return NOT_MEASURED
        return self.ratio(a, b, kind, longer).interval(self.confidence)

    def centre(self, values: ArrayLike) -> float:
        """Return the mean or the median."""
        array = np.asarray(values, float)
        return float(np.median(array) if self.medians else np.mean(array))
