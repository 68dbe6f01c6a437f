"""A quantity that replicates estimate: its interval and the p values of statements on it, from one and the same distribution.

So a printed interval and a verdict cannot disagree: "above c" has a p value below α exactly if the interval of confidence 1 - 2α
is above c. A mean uses Student's t distribution on a scale on which its bounds are infinitely far away (the delta method: G. W.
Oehlert, Am. Statistician 46, 1992, 27-29), a median the order statistics, which is the sign test turned around.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tonopah.stats.estimate import CONFIDENCE, FEWEST, Estimate, t_quantile

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


@dataclass(frozen=True)
class Shift(Scale):
    """Differences to a value `base` between bounds, by the difference of logits: with the base they stay within the bounds."""

    base: float = 0.5

    def forward(self, value: float) -> float:
        """Return the difference of the logits."""
        return super().forward(self.base + value) - super().forward(self.base)

    def back(self, place: float) -> float:
        """Return the difference of a place on the scale."""
        return super().back(super().forward(self.base) + place) - self.base


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
    undecided : str
        Why nothing can be said whatever the numbers; empty if something can.
    no_interval : str
        Why no interval is printed although there are p values.
    longer : int
        Values that are only known to be larger: nothing is less than a bound then.
    """

    value: float
    error: float
    degrees: float
    n: int
    grain: float = 0.0
    scale: Scale = LINEAR
    test: str = "t test"
    baseline_error: float = 0.0
    undecided: str = ""
    no_interval: str = ""
    longer: int = 0

    fewest = FEWEST

    @property
    def vague(self) -> bool:
        """Tell whether the denominator cannot be told from zero: such a ratio may be anything (Fieller's condition)."""
        if self.undecided:
            return True
        return self.baseline_error > 0 and self.baseline_error * t_quantile((1 + CONFIDENCE) / 2, self.degrees) >= 1

    @property
    def certain(self) -> bool:
        """Tell whether all replicates agree. That bounds the probability of another value, and not how large it is."""
        return self.error == 0

    @property
    def judged(self) -> bool:
        """Tell whether there are enough replicates for an interval and p values."""
        return self.n >= FEWEST and not math.isnan(self.value)

    def interval(self, confidence: float, fewest: int = FEWEST) -> Estimate:
        """Return the value with its interval; without bounds for fewer replicates than `fewest`."""
        if self.n < fewest or math.isnan(self.value) or self.vague or self.no_interval or self.certain:
            return Estimate(self.value, math.nan, math.nan, self.n, self.longer)
        place, half = self.scale.forward(self.value), self.error * t_quantile((1 + confidence) / 2, self.degrees)
        high = math.inf if self.longer else self.scale.back(place + half)
        return Estimate(self.value, self.scale.back(place - half), high, self.n, self.longer)

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
        if self.vague or (self.longer and sign < 0):
            return 1.0
        if self.certain:
            # All replicates on this side: the sign test.
            return 0.5**self.n if sign * (self.value - bound) > self.grain else 1.0
        from scipy.special import stdtr

        distance = self.scale.forward(self.value) - self.scale.forward(bound)
        return float(stdtr(self.degrees, -sign * distance / self.error))

    def logarithmic(self) -> "Mean":
        """Return a ratio as its logarithm, from one in percent; NaN of one that is none."""
        return replace(self, value=-math.inf if self.value <= -100 else math.log1p(self.value / 100), scale=LINEAR)

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
    undecided: str = ""
    no_interval: str = ""
    longer: int = 0
    size: int = 0
    """Replicates that are supposed; as many as there are if 0."""
    test: str = "sign test"

    fewest = FEWEST

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
