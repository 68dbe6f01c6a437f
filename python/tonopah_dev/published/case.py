"""What a case of `python -m tonopah_dev.published` is: a number that was published, and how it is found here."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from tonopah.validate.frame import Case
from tonopah_dev.published.worlds import Series, Summary

FAST_MBPS = 10_000
"""A bottleneck that never fills: losses alone set the rate."""


class World(Protocol):
    """What a case is run in: `PublishedWorld`, or a scenario as it is written."""

    def scenario(self, seed: int, /) -> dict[str, Any]:
        """Return the scenario of a seed."""
        ...


@dataclass(frozen=True)
class PublishedCase(Case):
    """One number that was published, and how it is found here."""

    source: str
    quantity: str
    world: World
    measure: Callable[[Any, Summary, Series], float]
    """Of the world, the summary and the series of a run."""
    reference: float
    low: float
    high: float
    """The case agrees if the 95 % interval of the mean over the seeds lies from `low` to `high`; of one, if the value does."""
    seeds: int = 1
    cause: str = ""
    """Why it disagrees; a case that agrees has none."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which the quantity lies whatever happens, and its interval too."""
        if self.quantity.startswith(("share", "Jain")):
            return 0.0, 1.0
        return (0.0, 100.0) if self.quantity.endswith("%") else (-math.inf, math.inf)

    @property
    def family(self) -> str:
        """What it has in common with others: the first part of its name."""
        return self.name.partition("/")[0]


class Allowed(TypedDict):
    """A reference, and the least and the largest value that agrees with it."""

    reference: float
    low: float
    high: float


def within(reference: float, part: float) -> Allowed:
    """Return a reference with a tolerance of a part of it on both sides."""
    return {"reference": reference, "low": reference * (1 - part), "high": reference * (1 + part)}


def about(reference: float, below: float, above: float) -> Allowed:
    """Return a reference with a tolerance in its own unit."""
    return {"reference": reference, "low": reference - below, "high": reference + above}


def every(p: float, losses: int) -> dict[str, Any]:
    """Lose the last of every 1/p data packets."""
    between = round(1 / p)
    return {"kind": "nth", "data_packets": [between * i - 1 for i in range(1, losses + 1)]}
