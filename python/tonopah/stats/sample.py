"""What a sample is like, which decides whether its mean stands for it and whether a t test may be made of it."""

import math

import numpy as np
from numpy.typing import NDArray

from tonopah.stats.estimate import FEWEST, ROUNDING

Sample = NDArray[np.float64]
GAP, CHANCE = 0.5, 0.05
"""Values fall into two groups where a gap between neighbours is wider than this share of their range, and than chance makes one
in this share of samples."""
FEWEST_IN_GROUP = 2
TAIL_INDEX, LOPSIDED, NARROW = 4.0, 2.0, 0.15
"""A sample has a heavy tail where the index of its upper half is below the first, its logarithms reach twice as far above
the median as below it, and their standard deviation is above the last. Ours, chosen by simulation (docs/method.md)."""


def modes(x: Sample) -> tuple[Sample, Sample] | None:
    """Return the two groups that a sample falls into, the lower first; None if it has one.

    There are two where the widest gap between neighbours is more than half of the range and has two values or more on either
    side. Of five values that one law draws every fourth sample has such a gap, so it is also held against chance: between n
    uniform values, the law of the dip test (J. A. Hartigan, P. M. Hartigan, Annals of Statistics 13, 1985, 70-84), one of k gaps
    exceeds a share g of the range with a probability of at most k (1 - g)^(n - 2).
    """
    ordered = np.sort(x)
    if len(x) < 2 * FEWEST_IN_GROUP or not math.isfinite(ordered[-1] - ordered[0]):
        return None
    gaps = np.diff(ordered)[FEWEST_IN_GROUP - 1 : len(x) - FEWEST_IN_GROUP]
    at = int(np.argmax(gaps))
    share = gaps[at] / (ordered[-1] - ordered[0]) if gaps[at] else 0.0
    if share <= GAP or len(gaps) * (1 - share) ** (len(x) - 2) > CHANCE:
        return None
    return ordered[: at + FEWEST_IN_GROUP], ordered[at + FEWEST_IN_GROUP :]


def has_ties(x: Sample) -> bool:
    """Tell whether values agree but for rounding."""
    return len(x) > 1 and bool(np.any(np.diff(np.sort(x)) <= ROUNDING * np.max(np.abs(x))))


def is_smooth(x: Sample) -> bool:
    """Tell whether a t test may be made: finite values, no ties, no two modes."""
    return bool(np.all(np.isfinite(x))) and not has_ties(x) and modes(x) is None


def has_heavy_tail(x: Sample) -> bool:
    """Tell whether few runs dominate the mean of a sample above zero, so that its interval would be too short.

    The tail index is that of B. M. Hill, Annals of Statistics 3, 1975, 1163-1174, of the upper half; below 2 is no variance.
    """
    logs, n = np.sort(np.log(x)), len(x)
    middle = float(np.median(logs))
    index = (n // 2) / max(float(np.sum(logs[n - n // 2 :] - logs[n - n // 2 - 1])), 1e-12)
    reaches = logs[-1] - middle > LOPSIDED * (middle - logs[0])
    return n >= FEWEST and bool(index < TAIL_INDEX and reaches and np.std(logs, ddof=1) > NARROW)


def another_value(n: int, tail: float = 0.025) -> float:
    """Return the largest probability of another value that n equal ones leave: 31 % of ten (Clopper and Pearson, 0 of n)."""
    return 1 - tail ** (1 / n)
