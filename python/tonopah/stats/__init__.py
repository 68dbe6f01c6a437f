"""Statistics over replicates; each function cites its definition.

The replicate is the unit: packets or flows of one run are not independent, runs with different seeds are
(Law, Simulation Modeling and Analysis, 5th ed., §9.4). Samples are one-dimensional, one value for each replicate, all in one
unit; missing values (None, NaN) are excluded.

Tests and intervals are those of scipy.stats, which is imported where it is used: it takes 0.6 s. Ours are Fieller's interval,
Holm's adjustment, Jain's index, and the rule for replicates without randomness: a scenario that draws nothing gives the same
value for every seed, so that its mean is certain and a t test, which divides by the standard deviation, is undefined.
"""

from tonopah.stats.estimate import (
    CONFIDENCE,
    NOT_MEASURED,
    Estimate,
    bootstrap_interval,
    finite,
    jain,
    mean_interval,
    pairs,
    slope,
    t_quantile,
)
from tonopah.stats.method import Method
from tonopah.stats.ratio import difference_percent, independent_ratio_percent, median_difference_percent
from tonopah.stats.significance import holm, p_greater, p_less, sign_test_greater, welch_p_greater

__all__ = [
    "CONFIDENCE",
    "NOT_MEASURED",
    "Estimate",
    "Method",
    "bootstrap_interval",
    "difference_percent",
    "finite",
    "holm",
    "independent_ratio_percent",
    "jain",
    "mean_interval",
    "median_difference_percent",
    "p_greater",
    "p_less",
    "pairs",
    "sign_test_greater",
    "slope",
    "t_quantile",
    "welch_p_greater",
]
