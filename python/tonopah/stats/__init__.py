"""Statistics over replicates; each function cites its definition.

The replicate is the unit: packets or flows of one run are not independent, runs with different seeds are
(Law, Simulation Modeling and Analysis, 5th ed., §9.4). Samples are one-dimensional, one value for each replicate, all in one
unit; missing values (None, NaN) are excluded.

A `Quantity` gives both the interval and the p values, so that they agree. What is compared and how follows from the kind of the
metric (kinds.py) and from the sample (making.py); docs/method.md says it in words, with error rates. No spread is no certainty:
replicates that agree bound the probability of another value. Whether they agree because nothing in the world is random is asked
where the whole run is known (analysis/evidence.py).
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
from tonopah.stats.exact import Exact
from tonopah.stats.making import (
    UNBOUNDED,
    Bounds,
    Quantity,
    difference_of,
    independent_ratio_of,
    mean_interval,
    mean_of,
    median_of,
    median_ratio_of,
    ratio_of,
    relative_of,
)
from tonopah.stats.method import Method
from tonopah.stats.quantity import Mean, Median, Scale
from tonopah.stats.sample import modes
from tonopah.stats.share import Share, share_of
from tonopah.stats.significance import confidence_of_each, holm

__all__ = [
    "CONFIDENCE",
    "FEWEST",
    "NOT_MEASURED",
    "UNBOUNDED",
    "Bounds",
    "Estimate",
    "Exact",
    "Mean",
    "Median",
    "Method",
    "Quantity",
    "Scale",
    "Share",
    "confidence_of_each",
    "difference_of",
    "finite",
    "holm",
    "independent_ratio_of",
    "jain",
    "mean_interval",
    "mean_of",
    "median_of",
    "median_ratio_of",
    "modes",
    "or_none",
    "pairs",
    "ratio_of",
    "relative_of",
    "share_of",
    "slope",
    "t_quantile",
]
