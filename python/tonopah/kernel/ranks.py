"""The mean and the percentiles that summaries show."""

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float | None:
    """Return the mean of values, if there are any."""
    return sum(values) / len(values) if values else None


def nearest_rank(ordered: Sequence[float], share: float) -> float | None:
    """Return the value that a share of all does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None
