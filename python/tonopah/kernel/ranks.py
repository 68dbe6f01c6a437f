"""The mean and the percentiles that summaries show, also of times that are only known to be longer."""

import math
from collections.abc import Iterable, Sequence

ROUNDING = 1e-12
"""By which products of quotients may differ from a share."""


def mean(values: Sequence[float]) -> float | None:
    """Return the mean of values, if there are any."""
    return sum(values) / len(values) if values else None


def nearest_rank(ordered: Sequence[float], share: float) -> float | None:
    """Return the value that a share of all does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)] if ordered else None


class Times:
    """Times until an end, and times of what has not ended, which lasts longer.

    Their distribution is the product-limit estimate (E. L. Kaplan, P. Meier, J. Am. Statist. Assoc. 53, 1958, 457-481), as in a
    simulation (crates/sim/src/metrics/product_limit.rs).
    """

    def __init__(self, ended: Iterable[float], longer: Iterable[float]):
        self.ended, self.longer = sorted(ended), sorted(longer)
        self.all = sorted([*self.ended, *self.longer])
        self.steps: list[tuple[float, float]] = []
        """Times at which something ended, each with the share that lasts longer."""
        surviving = 1.0
        for number, time in enumerate(self.ended):
            # What lasted exactly as long was there when this ended.
            left = len(self.ended) - number + sum(1 for lasted in self.longer if lasted >= time)
            surviving *= (left - 1) / left
            self.steps.append((time, surviving))

    @property
    def known(self) -> float | None:
        """The share whose time is known."""
        return len(self.ended) / len(self.all) if self.all else None

    @property
    def longest(self) -> float | None:
        """The longest time, ended or not."""
        return self.all[-1] if self.all else None

    def mean(self) -> float | None:
        """Return the mean, what lasts longer than the longest counted with the longest (restricted mean)."""
        if not self.longer or self.longest is None:
            return mean(self.ended)
        total, since, surviving = 0.0, 0.0, 1.0
        for time, left in self.steps:
            total += surviving * (time - since)
            since, surviving = time, left
        return total + surviving * (self.longest - since)

    def quantile(self, share: float) -> float | None:
        """Return the time that a share does not exceed; above the share that is known a lower bound, as if all had ended."""
        if not self.longer or share > (self.known or 0.0) + ROUNDING:
            return nearest_rank(self.all, share)
        return next((time for time, left in self.steps if 1.0 - left >= share - ROUNDING), self.longest)
