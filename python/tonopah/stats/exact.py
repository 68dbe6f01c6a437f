"""Exact tests and the intervals that they give when they are inverted.

Under the hypothesis that two sides of a replicate are alike they may be exchanged: the observed sum of differences x - c y is one
of 2^n equally probable ones (E. J. G. Pitman, J. R. Statist. Soc. Suppl. 4, 1937, 119-130). As many of them are as large as the
observed one as there are sets of replicates whose ratio, sum x / sum y, is at most c. So the ratios of all sets, in order, give
the p value of every c, and the interval (J. A. Hartigan, J. Am. Statist. Assoc. 64, 1969, 1303-1317). No sample is too odd for
that: zeros, ties, two modes. With less than six replicates 2^n is too small for 2.5 %.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tonopah.stats.estimate import FEWEST, ROUNDING, Estimate
from tonopah.stats.quantity import Mean

Sample = NDArray[np.float64]
ALL_SETS = 13
"""Up to so many replicates all sets are taken, of more a sample of `SETS`, always the same."""
SETS = 9_999


@dataclass(frozen=True)
class Exact:
    """A quantity whose p values are counts of places: "it is greater than c" has as many against it as are at c or below.

    Parameters
    ----------
    value : float
        The estimate.
    n : int
        Replicates that it rests on.
    above, below : array
        Places in order, for statements "greater" and "less"; they differ only where values are known to be at least so large.
    least, total : int
        Rearrangements that are against every statement, and all of them.
    spread : Mean
        The same as normal, for what more replicates would show.
    """

    value: float
    n: int
    above: Sample
    below: Sample
    least: float
    total: float
    spread: Mean = field(repr=False)
    test: str = "paired permutation test"
    no_interval: str = ""
    """Why none is printed although there are p values."""
    longer: int = 0
    """Values that are only known to be larger."""

    undecided: str = ""
    """Why nothing can be said whatever the numbers."""

    fewest = 6

    @property
    def certain(self) -> bool:
        """A sample is never certain."""
        return False

    @property
    def judged(self) -> bool:
        """Tell whether there are enough replicates for p values."""
        return self.n >= FEWEST and not math.isnan(self.value)

    def interval(self, confidence: float) -> Estimate:
        """Return the value with the interval that the test gives; without bounds where so few replicates have none."""
        tail = (1 - confidence) / 2 * (1 - 1e-9)
        places = min(len(self.above), len(self.below))
        silent = self.no_interval or self.undecided or not self.judged
        count = 0 if silent else bisect_left(range(places + 1), tail, key=self.against)
        if not 0 < count <= places:
            return Estimate(self.value, math.nan, math.nan, self.n, self.longer)
        return Estimate(self.value, float(self.above[count - 1]), float(self.below[-count]), self.n, self.longer)

    def p_greater(self, bound: float = 0.0) -> float:
        """Return the p value of "it is greater than `bound`"; NaN for fewer replicates than `FEWEST`."""
        return self.against(int(np.searchsorted(self.above, bound + self.grain(bound), "right")))

    def p_less(self, bound: float = 0.0) -> float:
        """Return the p value of "it is less than `bound`"."""
        return self.against(len(self.below) - int(np.searchsorted(self.below, bound - self.grain(bound), "left")))

    def grain(self, bound: float) -> float:
        """Return what differs from a bound by rounding."""
        return 1e3 * ROUNDING * max(1.0, abs(bound))

    def against(self, count: int) -> float:
        """Return the share of rearrangements that are against a statement."""
        if self.undecided and self.judged:
            return 1.0
        return min(1.0, (self.least + count) / self.total) if self.judged else math.nan

    def at(self, n: int) -> Mean:
        """Return the quantity as `n` replicates of the same spread would show it, by the normal approximation."""
        return self.spread.at(n)

    def logarithmic(self) -> "Exact":
        """Return a ratio as its logarithm, from one in percent."""
        with np.errstate(divide="ignore"):
            above, below, value = (np.log1p(np.asarray(part) / 100) for part in (self.above, self.below, self.value))
        return replace(self, above=above, below=below, value=float(value), spread=self.spread.logarithmic())


@lru_cache(maxsize=64)
def sets(n: int) -> NDArray[np.float64]:
    """Return sets of n replicates, a row for each: all but the empty one, or a sample."""
    if n <= ALL_SETS:
        return (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(float)
    return np.random.default_rng(n).integers(0, 2, (SETS, n)).astype(float)


@lru_cache(maxsize=64)
def splits(first: int, second: int) -> NDArray[np.float64]:
    """Return ways to deal two samples out again: 1 where a value is in the first."""
    draw, whole = np.random.default_rng(1000 * first + second), np.arange(first + second)
    return np.array([draw.permutation(whole) < first for _ in range(SETS)], dtype=float)


def divided(above: Sample, below: Sample) -> Sample:
    """Return ratios of sums; NaN where both are zero, which says nothing of any ratio."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(above / below)


def exact(value: float, n: int, places: Sample, total: int, spread: Mean, test: str) -> Exact:
    """Return a quantity from its places; those that are undefined are against every statement."""
    known = np.sort(places[~np.isnan(places)])
    return Exact(value, n, known, known, total - len(known), total, spread, test)


def paired_ratio(x: Sample, y: Sample, value: float, spread: Mean) -> Exact:
    """Return the ratio of the means in percent, from pairs of which the sides are exchanged."""
    chosen = sets(len(x))
    places = 100 * (divided(chosen @ x, chosen @ y) - 1)
    return exact(value, len(x), places, len(places) + 1, spread, "paired permutation test of the ratio")


def paired_difference(d: Sample, spread: Mean) -> Exact:
    """Return the mean of differences, or of a sample around its centre, whose signs are exchanged."""
    chosen = sets(len(d))
    places = divided(chosen @ d, chosen.sum(axis=1))
    return exact(float(np.mean(d)), len(d), places, len(places) + 1, spread, "permutation test of signs")


def independent_ratio(x: Sample, y: Sample, value: float, spread: Mean) -> Exact:
    """Return the ratio of the means in percent, of independent samples that are dealt out again."""
    first, second = len(x), len(y)
    dealt = splits(first, second)
    weights = dealt / first - (1 - dealt) / second
    moved, gained = np.mean(x) - weights[:, :first] @ x, weights[:, first:] @ y + np.mean(y)
    # Sums of the same numbers in another order differ by rounding.
    clean = [np.where(np.abs(part) < 1e-9 * max(np.mean(x), np.mean(y)), 0.0, part) for part in (moved, gained)]
    places = 100 * (divided(*clean) - 1)
    return exact(value, min(first, second), places, len(places) + 1, spread, "permutation test of the ratio")


@lru_cache(maxsize=64)
def rank_sums(n: int) -> Sample:
    """Return, for each sum of signed ranks of n pairs, the probability of as much or more (F. Wilcoxon, Biometrics 1, 1945)."""
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, n + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    return np.cumsum(ways[::-1])[::-1] / 2.0**n


@dataclass(frozen=True)
class Ranked(Exact):
    """The same by signed ranks: the places are the means of all pairs of values (J. L. Hodges, E. L. Lehmann, 1963).

    Ties with a bound count against a statement, so that the test is exact without them and careful with them.
    """

    def against(self, count: int) -> float:
        """Return the probability of as many places on the other side of a bound."""
        return float(rank_sums(self.n)[len(self.above) - count]) if self.judged else math.nan
