"""A quantity that replicates estimate: its interval and the p values of statements on it, from one and the same distribution.

So a printed interval and a verdict cannot disagree: "above c" has a p value below α exactly if the interval of confidence 1 - 2α
is above c. A mean uses Student's t distribution on a scale on which its bounds are infinitely far away (the delta method: G. W.
Oehlert, Am. Statistician 46, 1992, 27-29), a median the order statistics, which is the sign test turned around.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tonopah.stats.estimate import CONFIDENCE, FEWEST, ROUNDING, Estimate, finite, is_rounding, pairs, t_quantile
from tonopah.stats.share import Share

Sample = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """A scale without bounds for values that have some: as they are, by their logarithm, or by their logit."""

    low: float = -math.inf
    high: float = math.inf

    def forward(self, value: float) -> float:
        """Return a value on the scale: infinite at a bound and beyond."""
        if math.isinf(self.low):
            return value
        if value <= self.low:
            return -math.inf
        if math.isinf(self.high):
            return math.log(value - self.low)
        return math.inf if value >= self.high else math.log((value - self.low) / (self.high - value))

    def back(self, place: float) -> float:
        """Return the value of a place on the scale."""
        if math.isinf(self.low):
            return place
        # Beyond e^700 there is no number: the interval then reaches as far as the quantity does.
        if math.isinf(self.high):
            return self.low + math.exp(min(place, 700.0))
        return self.low + (self.high - self.low) / (1 + math.exp(min(-place, 700.0)))

    def stretch(self, value: float) -> float:
        """Return how much longer a short way is on the scale, at a value inside the bounds."""
        if math.isinf(self.low):
            return 1.0
        if math.isinf(self.high):
            return 1 / (value - self.low)
        return (self.high - self.low) / ((value - self.low) * (self.high - value))

    @property
    def name(self) -> str:
        """Its name, as it follows the name of a test; empty for values as they are."""
        return "" if math.isinf(self.low) else " on the log scale" if math.isinf(self.high) else " on the logit scale"


LINEAR, PERCENT_CHANGE = Scale(), Scale(-100.0)


@dataclass(frozen=True)
class Mean:
    """A mean, a ratio or a relative change of means: value, and standard error on its scale.

    Parameters
    ----------
    value : float
        In the unit of the sample, or in percent.
    error, degrees : float
        Standard error on the scale, and its degrees of freedom; 0 where all replicates agree.
    n : int
        Replicates that it rests on.
    grain : float
        Values that differ by less differ by rounding.
    scale : Scale
        Where the value is taken to be normal.
    test : str
        Name of the test.
    baseline_error : float
        Relative standard error of the denominator, where it is a ratio.
    """

    value: float
    error: float
    degrees: float
    n: int
    grain: float = 0.0
    scale: Scale = LINEAR
    test: str = "t test"
    baseline_error: float = 0.0

    @property
    def vague(self) -> bool:
        """Tell whether the denominator cannot be told from zero: such a ratio may be anything (Fieller's condition)."""
        return self.baseline_error > 0 and self.baseline_error * t_quantile((1 + CONFIDENCE) / 2, self.degrees) >= 1

    @property
    def certain(self) -> bool:
        """Tell whether it has no error: all replicates agree."""
        return self.error == 0

    @property
    def judged(self) -> bool:
        """Tell whether there are enough replicates for an interval and p values."""
        return self.n >= FEWEST and not math.isnan(self.value)

    def interval(self, confidence: float, fewest: int = FEWEST) -> Estimate:
        """Return the value with its interval; without bounds for fewer replicates than `fewest`."""
        if self.n < fewest or math.isnan(self.value) or self.vague:
            return Estimate(self.value, math.nan, math.nan, self.n)
        if self.certain:
            return Estimate(self.value, self.value, self.value, self.n)
        place, half = self.scale.forward(self.value), self.error * t_quantile((1 + confidence) / 2, self.degrees)
        return Estimate(self.value, self.scale.back(place - half), self.scale.back(place + half), self.n)

    def p_greater(self, bound: float = 0.0) -> float:
        """Return the p value of "it is greater than `bound`"; NaN for fewer replicates than `FEWEST`."""
        return self.tail(bound, 1.0)

    def p_less(self, bound: float = 0.0) -> float:
        """Return the p value of "it is less than `bound`"."""
        return self.tail(bound, -1.0)

    def tail(self, bound: float, sign: float) -> float:
        """Return the p value of "it is on this side of `bound`"; 1 for a ratio that may be anything."""
        if not self.judged:
            return math.nan
        if self.vague:
            return 1.0
        if self.certain:
            return 0.0 if sign * (self.value - bound) > self.grain else 1.0
        from scipy.special import stdtr

        distance = self.scale.forward(self.value) - self.scale.forward(bound)
        return float(stdtr(self.degrees, -sign * distance / self.error))

    def at(self, n: int) -> "Mean":
        """Return the quantity as `n` replicates of the same spread would show it."""
        degrees = self.degrees * (n - 1) / max(1, self.n - 1)
        shrunk = math.sqrt(self.n / n)
        return replace(self, error=self.error * shrunk, degrees=degrees, n=n, baseline_error=self.baseline_error * shrunk)


@dataclass(frozen=True)
class Median:
    """A median, by order statistics (H. A. David, H. N. Nagaraja, Order Statistics, 3rd ed., 2003, §7.1).

    A value that equals the bound speaks neither for "greater" nor for "less". Below six replicates no 95 % interval exists.
    """

    ordered: tuple[float, ...]
    grain: float = 0.0
    size: int = 0
    """Replicates that are supposed; as many as there are if 0."""
    test: str = "sign test"

    @property
    def n(self) -> int:
        """Replicates that it rests on."""
        return self.size or len(self.ordered)

    @property
    def value(self) -> float:
        """The median."""
        return float(np.median(self.ordered)) if self.ordered else math.nan

    @property
    def certain(self) -> bool:
        """Tell whether all replicates agree."""
        return bool(self.ordered) and self.ordered[-1] - self.ordered[0] <= self.grain

    @property
    def judged(self) -> bool:
        """Tell whether there are enough replicates for p values."""
        return self.n >= FEWEST

    def interval(self, confidence: float) -> Estimate:
        """Return the value with the narrowest interval between two order statistics of at least this confidence."""
        from scipy.special import bdtr

        n, tail = len(self.ordered), (1 - confidence) / 2
        # k replicates below the median have the probability of k heads in n tosses of a coin.
        k = 0
        while k < n and bdtr(k, n, 0.5) < tail:
            k += 1
        if n < FEWEST or k == 0:
            return Estimate(self.value, math.nan, math.nan, n)
        return Estimate(self.value, self.ordered[k - 1], self.ordered[n - k], n)

    def p_greater(self, bound: float = 0.0) -> float:
        """Return the p value of "it is greater than `bound`"; NaN for fewer replicates than `FEWEST`."""
        return self.tail(sum(value - bound > self.grain for value in self.ordered))

    def p_less(self, bound: float = 0.0) -> float:
        """Return the p value of "it is less than `bound`"."""
        return self.tail(sum(bound - value > self.grain for value in self.ordered))

    def tail(self, count: int) -> float:
        """Return the probability that as many of the tosses of a coin, or more, are heads."""
        if not self.judged:
            return math.nan
        heads = round(count * self.n / len(self.ordered))
        from scipy.special import bdtrc

        return float(bdtrc(heads - 1, self.n, 0.5)) if heads else 1.0

    def at(self, n: int) -> "Median":
        """Return the quantity as `n` replicates of the same distribution would show it."""
        return replace(self, size=n)


Quantity = Mean | Median | Share


def mean_interval(values: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Estimate the mean of two values or more by Student's t interval, mean ± t(1 - α/2, n - 1) · s / √n.

    For validation, where what is asked is known beforehand and runs are few; NIST/SEMATECH e-Handbook §1.3.5.2.

    Parameters
    ----------
    values : array_like, shape (n,)
        Independent values; missing ones are excluded.
    confidence : float
        Coverage of the interval, 0 to 1.

    Returns
    -------
    Estimate
        In the unit of `values`; without bounds for one value, NaN for none.
    """
    return mean_of(values).interval(confidence, fewest=2)


def mean_of(values: ArrayLike, bounds: tuple[float, float] = (-math.inf, math.inf)) -> Mean:
    """Return the mean of replicates of something that has bounds, as a quantity.

    Parameters
    ----------
    values : array_like, shape (n,)
        One value for each replicate; missing values are excluded.
    bounds : pair of float
        Bounds of the values. One that the values themselves exceed is none.
    """
    x = finite(values)
    n = len(x)
    if not n:
        return Mean(math.nan, math.nan, 0, 0)
    mean, grain = float(np.mean(x)), ROUNDING * float(np.max(np.abs(x)))
    spread = float(np.std(x, ddof=1)) if n > 1 else math.nan
    if n < 2 or spread <= grain:
        return Mean(mean, 0.0, n - 1, n, grain)
    low = bounds[0] if x.min() >= bounds[0] else -math.inf
    high = bounds[1] if x.max() <= bounds[1] and math.isfinite(low) else math.inf
    scale = Scale(low, high)
    return Mean(mean, scale.stretch(mean) * spread / math.sqrt(n), n - 1, n, grain, scale, f"t test{scale.name}")


def ratio_of(a: ArrayLike, b: ArrayLike) -> Mean:
    """Return how much `a` differs from the baseline `b`, 100 · (mean a / mean b - 1), from paired replicates.

    The logarithm of a ratio of means is taken to be normal, its variance linearised, so that the interval stays above -100 %.
    Where the mean of b cannot be told from zero there is no interval; that is also where Fieller's has no ends (J. R. Statist.
    Soc. B 16, 1954, 175-185).

    Parameters
    ----------
    a, b : array_like, shape (n,)
        One value for each replicate, in one unit; `a[k]` and `b[k]` come from the same seed. Pairs with a missing value are
        excluded. NaN where a mean is below zero, or that of b is zero; 0 where both are zero in all replicates.
    """
    x, y = pairs(a, b)
    n = len(x)
    ratio = ratio_of_means(x, y)
    if math.isnan(ratio):
        return Mean(math.nan, math.nan, n - 1, n)
    value, grain = 100 * (ratio - 1), 100 * ROUNDING
    if n < 2 or ratio == 0 or is_rounding(float(np.std(x - ratio * y, ddof=1)), x, y):
        return Mean(value, 0.0, n - 1, n, grain, PERCENT_CHANGE, RATIO_TEST)
    relative = x / np.mean(x) - y / np.mean(y)
    error = float(np.std(relative, ddof=1)) / math.sqrt(n)
    return Mean(value, error, n - 1, n, grain, PERCENT_CHANGE, RATIO_TEST, relative_error(y))


RATIO_TEST, APART_TEST = "paired t test of the log ratio", "Welch's t test of the log ratio"


def independent_ratio_of(a: ArrayLike, b: ArrayLike) -> Mean:
    """Return 100 · (mean a / mean b - 1) of independent samples; see `ratio_of`.

    Degrees of freedom by Welch (Biometrika 34, 1947, 28-35) and Satterthwaite (NIST/SEMATECH e-Handbook §1.3.5.3).
    """
    x, y = finite(a), finite(b)
    n = min(len(x), len(y))
    ratio = ratio_of_means(x, y)
    if math.isnan(ratio):
        return Mean(math.nan, math.nan, n - 1, n)
    value, grain = 100 * (ratio - 1), 100 * ROUNDING
    deviations = [0.0 if len(s) < 2 or is_rounding(float(np.std(s, ddof=1)), s) else float(np.std(s, ddof=1)) for s in (x, y)]
    if n < 2 or ratio == 0 or not any(deviations):
        return Mean(value, 0.0, n - 1, n, grain, PERCENT_CHANGE, APART_TEST)
    parts = [(d / float(np.mean(s))) ** 2 / len(s) if d else 0.0 for d, s in zip(deviations, (x, y), strict=True)]
    freedom = sum(parts) ** 2 / sum(part**2 / (len(s) - 1) for part, s in zip(parts, (x, y), strict=True))
    return Mean(value, math.sqrt(sum(parts)), freedom, n, grain, PERCENT_CHANGE, APART_TEST, relative_error(y))


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
    """Return 100 · mean change / mean level from paired replicates: the change may have either sign."""
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
