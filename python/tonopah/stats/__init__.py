"""Statistics over replicates; each function cites its definition.

The replicate is the unit: packets or flows of one run are not independent, runs with different seeds are
(Law, Simulation Modeling and Analysis, 5th ed., §9.4). Samples are one-dimensional, one value for each replicate, all in one
unit; missing values (None, NaN) are excluded.

A `Quantity` gives both the interval and the p values, so that they agree. The rule for replicates without spread: where all
agree, the value is certain, and a t test, which divides by the standard deviation, is undefined. Whether they agree because
nothing in the world is random is asked where the whole run is known (analysis/evidence.py).
"""

from tonopah.stats.estimate import (
    CONFIDENCE,
    FEWEST,
    NOT_MEASURED,
    Estimate,
    finite,
    jain,
    or_none,
    pairs,
    slope,
    t_quantile,
)
from tonopah.stats.method import UNBOUNDED, Bounds, Method
from tonopah.stats.quantity import (
    Mean,
    Median,
    Quantity,
    Scale,
    independent_ratio_of,
    mean_interval,
    mean_of,
    median_of,
    median_ratio_of,
    ratio_of,
    relative_of,
)
from tonopah.stats.share import Share, share_of
from tonopah.stats.significance import confidence_of_each, holm

__all__ = [
    "CONFIDENCE",
    "FEWEST",
    "NOT_MEASURED",
    "UNBOUNDED",
    "Bounds",
    "Estimate",
    "Mean",
    "Median",
    "Method",
    "Quantity",
    "Scale",
    "Share",
    "confidence_of_each",
    "finite",
    "holm",
    "independent_ratio_of",
    "jain",
    "mean_interval",
    "mean_of",
    "median_of",
    "median_ratio_of",
    "or_none",
    "pairs",
    "ratio_of",
    "relative_of",
    "share_of",
    "slope",
    "t_quantile",
]
