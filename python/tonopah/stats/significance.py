"""The adjustment of p values for their number."""

import math
from collections.abc import Sequence


def confidence_of_each(together: float, count: int) -> float:
    """Return the confidence of each of several intervals that hold with confidence `together` all at once (Bonferroni)."""
    return 1 - (1 - together) / count


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values for their number by Holm's step-down method.

    Parameters
    ----------
    p_values : sequence of float
        NaN stands for a test that was not made: it stays NaN and is not counted.

    Returns
    -------
    list of float
        The adjusted p values in the same order.

    References
    ----------
    S. Holm, Scand. J. Statist. 6, 1979, 65-70.
    """
    adjusted = [math.nan] * len(p_values)
    order = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    running = 0.0
    for rank, (p, i) in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * p))
        adjusted[i] = running
    return adjusted
