"""Estimates of one sample with their intervals."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95
FEWEST = 4
"""Fewer replicates give no interval and no p value in a study: with three, the t interval of a mean reaches 4.3 standard errors
on each side, and whether they are normal cannot be seen."""
NEXT_TO_NOTHING = 1000.0
"""A difference of so many percent without an interval is one to next to nothing."""
ROUNDING = 1e-12
"""Values that differ by less than this share of the largest differ by rounding only."""


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval.

    Parameters
    ----------
    value, low, high : float
        The estimate and the bounds of its interval, in the unit of the sample; the bounds are NaN where `n` allows none.
    n : int
        Replicates that it rests on.
    longer : int
        Those of them whose value is only known to be larger: the estimate is then a lower bound.
    """

    value: float
    low: float
    high: float
    n: int
    longer: int = 0

    def scaled(self, factor: float) -> "Estimate":
        """Return the same in another unit."""
        return replace(self, value=self.value * factor, low=self.low * factor, high=self.high * factor)

    @property
    def unbounded(self) -> bool:
        """Tell whether it is a ratio to next to nothing: its interval has no end, or it has none and is ten times as much."""
        return self.n >= FEWEST and (math.isinf(self.high) or (math.isnan(self.low) and abs(self.value) > NEXT_TO_NOTHING))

    @property
    def half_width(self) -> float:
        """The longer side of the interval; NaN without bounds."""
        return max(self.high - self.value, self.value - self.low)


def without_interval(value: float, n: int) -> Estimate:
    """Return an estimate without bounds."""
    return Estimate(value, math.nan, math.nan, n)


NOT_MEASURED = without_interval(math.nan, 0)


def or_none(value: Any) -> Any:
    """Return a value that JSON can hold: None for a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def finite(values: ArrayLike) -> NDArray[np.float64]:
    """Return the finite values of a sample."""
    array = np.asarray(values, dtype=float)
    return array[np.isfinite(array)]


def pairs(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the replicates in which both were measured; `a[k]` and `b[k]` come from the same seed."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both]


def is_rounding(spread: float | NDArray[np.float64], *samples: ArrayLike) -> Any:
    """Tell whether a spread is no more than rounding beside the largest magnitude in the samples."""
    return spread <= ROUNDING * max(float(np.max(np.abs(sample))) for sample in samples)


def t_quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t distribution with these degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def slope(x: ArrayLike, y: ArrayLike) -> Any:
    """Fit a straight line by least squares and return its slope.

    Parameters
    ----------
    x : array_like, shape (n,)
        Where the points are, at least two of them.
    y : array_like, shape (n,) or (m, n)
        The points, or a row of them for each replicate.

    Returns
    -------
    float or array
        In the unit of `y` per unit of `x`, for each row; NaN where all `x` are equal.

    References
    ----------
    NIST/SEMATECH e-Handbook of Statistical Methods, §4.1.4.1.
    """
    place, values = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    from_middle = place - place.mean()
    squares = float(np.sum(from_middle**2))
    slopes = values @ from_middle / squares if squares > 0 else np.full(values.shape[:-1], math.nan)
    return float(slopes) if values.ndim == 1 else slopes


def jain(values: ArrayLike) -> float:
    """Return Jain's fairness index, (Σx)² / (n Σx²).

    Parameters
    ----------
    values : array_like, shape (n,)
        What each flow got, such as goodputs; missing values are excluded.

    Returns
    -------
    float
        1/n (one flow has all) to 1 (all have the same); NaN where all are 0.

    References
    ----------
    R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984.
    """
    x = finite(values)
    squares = float(np.sum(x * x))
    return float(np.sum(x)) ** 2 / (len(x) * squares) if squares > 0 else math.nan
