"""Random draws of worlds: from streams named by experiment, point and replicate, never by the algorithm.

Each quantity has a stream of its own, so that a further flow does not shift the draws of the others. Python's `random.random`
of a seeded generator gives the same numbers in every version.
"""

import math
import random
from dataclasses import dataclass
from statistics import NormalDist

from tonopah._core import parse_quantity
from tonopah.evaluate.definitions import Walk


@dataclass(frozen=True)
class Draws:
    """The draws of one replicate at one point, common to all of its arms."""

    name: str

    def stream(self, quantity: str) -> random.Random:
        """Return the stream of one quantity."""
        # A text as seed is hashed by SHA-512, whatever PYTHONHASHSEED is.
        return random.Random(f"{self.name}/{quantity}")

    def uniform(self, quantity: str, low: float, high: float) -> float:
        """Return a number of a uniform distribution."""
        return low + (high - low) * self.stream(quantity).random()


def rate_walk(walk: Walk, first_bps: float, length_s: float, stream: random.Random) -> list[tuple[float, float]]:
    """Return times and rates in bit/s of a random walk, reflected at its bounds on the logarithmic scale."""
    low, high = (math.log2(parse_quantity(bound, "rate")) for bound in (walk.low, walk.high))
    every, place, found = parse_quantity(walk.every, "duration"), math.log2(first_bps), []
    normal = NormalDist(0.0, walk.step)
    for number in range(math.ceil(length_s / every)):
        found.append((number * every, 2.0**place))
        place += normal.inv_cdf(max(stream.random(), 1e-12))
        place = 2 * low - place if place < low else place
        place = min(max(2 * high - place if place > high else place, low), high)
    return found
