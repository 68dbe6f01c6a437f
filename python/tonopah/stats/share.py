"""The share of replicates in which something happens, from outcomes of yes and no."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tonopah.stats.estimate import FEWEST, Estimate, finite


@dataclass(frozen=True)
class Share:
    """A share of replicates, whose number of outcomes is binomial: interval and p values are exact.

    C. J. Clopper, E. S. Pearson, Biometrika 26, 1934, 404-413. That no replicate has the outcome is no certainty: of ten without
    one, the share may still be 31 %.

    Parameters
    ----------
    count, n : int
        Replicates with the outcome, and all of them.
    low, high : float
        Values of a replicate without and with it: 0 and 1, or 0 and 100 in percent.
    """

    count: int
    n: int
    low: float = 0.0
    high: float = 1.0
    test: str = "exact binomial test"

    fewest = FEWEST
    undecided = no_interval = ""
    longer = 0

    @property
    def value(self) -> float:
        """The share, in the unit of `low` and `high`."""
        return self.low + (self.high - self.low) * self.count / self.n if self.n else math.nan

    @property
    def certain(self) -> bool:
        """A share of a sample is never certain."""
        return False

    @property
    def judged(self) -> bool:
        """Tell whether there are enough replicates for an interval and p values."""
        return self.n >= FEWEST

    def interval(self, confidence: float) -> Estimate:
        """Return the share with its interval; without bounds for fewer replicates than `FEWEST`."""
        from scipy.special import betaincinv

        if not self.judged:
            return Estimate(self.value, math.nan, math.nan, self.n)
        without, tail = self.n - self.count, (1 - confidence) / 2
        low = float(betaincinv(self.count, without + 1, tail)) if self.count else 0.0
        high = float(betaincinv(self.count + 1, without, 1 - tail)) if without else 1.0
        width = self.high - self.low
        return Estimate(self.value, self.low + width * low, self.low + width * high, self.n)

    def p_greater(self, bound: float = 0.0) -> float:
        """Return the p value of "it is greater than `bound`"; NaN for fewer replicates than `FEWEST`."""
        return self.tail(self.count, (bound - self.low) / (self.high - self.low))

    def p_less(self, bound: float = 0.0) -> float:
        """Return the p value of "it is less than `bound`"."""
        return self.tail(self.n - self.count, (self.high - bound) / (self.high - self.low))

    def tail(self, count: int, share: float) -> float:
        """Return the probability of as many outcomes or more where each replicate has one with probability `share`."""
        from scipy.special import bdtrc

        if not self.judged:
            return math.nan
        if not 0 <= share < 1:
            # No share is beyond its bounds.
            return 0.0 if share < 0 else 1.0
        return float(bdtrc(count - 1, self.n, share)) if count else 1.0

    def at(self, n: int) -> "Share":
        """Return the share as `n` replicates would show it."""
        return replace(self, count=round(self.count * n / self.n), n=n)


def share_of(values: ArrayLike, bounds: tuple[float, float] = (0.0, 1.0)) -> Share:
    """Return the share of replicates with an outcome.

    Parameters
    ----------
    values : array_like, shape (n,)
        The upper bound for each replicate with the outcome, the lower for each without; missing values are excluded.
    bounds : pair of float
        These two.

    Raises
    ------
    ValueError
        If a value is neither.
    """
    x = finite(values)
    if not np.isin(x, bounds).all():
        raise ValueError("outcomes are either the lower bound or the upper one")
    return Share(int(np.count_nonzero(x == bounds[1])), len(x), *bounds)
