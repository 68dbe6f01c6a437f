"""Workload G: connections of pages, interactive use and bulk transfers, in place of traces that are no longer at their address.

A connection is one flow of a `[[workload]]`, a transfer of the sum of its responses at its arrival: an open loop.
The page model is that of 3GPP2 for HTTP, the tail of bulk transfers that of SURGE (Barford, Crovella, SIGMETRICS 1998).
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import NormalDist

MEAN_BYTES = 45_715.0
"""Mean payload of a connection."""
HEADERS = 1.036
"""Bytes on the wire / payload."""
TOLERANCE = 0.05
"""A replicate whose load is off by more than this share has its draws repeated."""
MOST_TRIES = 1000
PREFILL_MOST = 20
SEGMENTS = {496: 0.10, 1460: 0.90}
"""Payload of full segments, and the share of connections that have it."""
CLASS_SHARES = {"page": 0.90, "interactive": 0.09, "bulk": 0.01}
BULK_LEAST, BULK_MOST, BULK_SHAPE = 133e3, 50e6, 1.1
PAGES_DRAWN, INTERACTIVE_DRAWN, BULK_DRAWN = 30_000, 1000, 10_000
"""Draws of each class from which the distribution of sizes is made."""


@dataclass(frozen=True)
class Draws:
    """The draws of one replicate at one point, common to all of its arms.

    They come from streams named by experiment, point and replicate, never by the algorithm. Each quantity has a stream of its
    own, so that a further flow does not shift the draws of the others. `random.random` of a seeded generator gives the same
    numbers in every version of Python.
    """

    name: str

    def stream(self, quantity: str) -> random.Random:
        """Return the stream of one quantity."""
        # A text as seed is hashed by SHA-512, whatever PYTHONHASHSEED is.
        return random.Random(f"{self.name}/{quantity}")

    def uniform(self, quantity: str, low: float, high: float) -> float:
        """Return a number of a uniform distribution."""
        return low + (high - low) * self.stream(quantity).random()


@dataclass(frozen=True)
class Connection:
    """A connection: start, payload in bytes, payload of its segments."""

    start_s: float
    size: int
    mss: int


def arrival_rate(load: float, rate_bps: float) -> float:
    """Return connections per second that offer `load` of a link's rate."""
    return load * rate_bps / (8 * MEAN_BYTES * HEADERS)


def prefill(load: float) -> int:
    """Return the connections that are there at the start: the mean of a processor-sharing queue, 20 at most."""
    return PREFILL_MOST if load >= 1 else round(min(PREFILL_MOST, load / (1 - load)))


def lognormal_of(mean: float, deviation: float) -> tuple[float, float]:
    """Return the two parameters of the lognormal distribution with this mean and standard deviation."""
    squared = math.log(1 + (deviation / mean) ** 2)
    return math.log(mean) - squared / 2, math.sqrt(squared)


FIRST, NEXT = lognormal_of(10_710, 25_032), lognormal_of(7758, 126_168)


@lru_cache(maxsize=16)
def connections(load: float, rate_bps: float, window_s: tuple[float, float], draws: Draws) -> tuple[list[Connection], float]:
    """Return the connections of a replicate by start, and the load that those of the measured interval offer.

    All arms of a replicate have the same, which are drawn once.
    """
    made, offered = [], 0.0
    for number in range(MOST_TRIES):
        made = draw(load, rate_bps, window_s[1], draws.stream(f"workload/{number}"))
        measured = sum(one.size for one in made if window_s[0] <= one.start_s < window_s[1])
        offered = 8 * HEADERS * measured / (rate_bps * (window_s[1] - window_s[0]))
        if abs(offered / load - 1) <= TOLERANCE:
            break
    return made, offered


def draw(load: float, rate_bps: float, length_s: float, stream: random.Random) -> list[Connection]:
    """Return connections that arrive as a Poisson process, after those that are there at the start."""
    starts = [0.0] * prefill(load)
    rate = arrival_rate(load, rate_bps)
    now = 0.0
    while (now := now - math.log(1 - stream.random()) / rate) < length_s:
        starts.append(now)
    return [one_connection(start, stream) for start in starts]


def one_connection(start_s: float, stream: random.Random) -> Connection:
    """Return a connection of a random class."""
    kind, pages = stream.random(), CLASS_SHARES["page"]
    some = pages + CLASS_SHARES["interactive"]
    size = page(stream) if kind < pages else interactive(stream) if kind < some else bulk(stream)
    mss = 496 if stream.random() < SEGMENTS[496] else 1460
    return Connection(start_s, max(1, round(size)), mss)


@cache
def sizes() -> list[list[float]]:
    """Return the distribution of the sizes of connections: bytes and their cumulative probabilities.

    Pages and interactive use are draws of a stream of their own, bulk transfers are the quantiles of their distribution.
    """
    stream = Draws("workload G").stream("sizes")
    below = 1 - (BULK_LEAST / BULK_MOST) ** BULK_SHAPE
    quantiles = (pareto(below * (i + 0.5) / BULK_DRAWN, BULK_SHAPE, BULK_LEAST) for i in range(BULK_DRAWN))
    weighed = [(page(stream), CLASS_SHARES["page"] / PAGES_DRAWN) for _ in range(PAGES_DRAWN)]
    weighed += [(interactive(stream), CLASS_SHARES["interactive"] / INTERACTIVE_DRAWN) for _ in range(INTERACTIVE_DRAWN)]
    weighed += [(size, CLASS_SHARES["bulk"] / BULK_DRAWN) for size in quantiles]
    weighed.sort()
    points, total = [[round(weighed[0][0], 1), 0.0]], 0.0
    for size, weight in weighed:
        total += weight
        # Points are an equal step apart in the probability, or in the logarithm of what is left.
        if total - points[-1][1] > 0.005 or 1 - total < 0.95 * (1 - points[-1][1]):
            points.append([round(size, 1), round(total, 9)])
    return [*points[:-1], [BULK_MOST, 1.0]]


def page(stream: random.Random) -> float:
    """Return the bytes of a page: its first response, and one for each embedded object."""
    objects = math.floor(truncated(lambda share: pareto(share, 1.1, 2.0), 2, 55, stream)) - 2
    first = truncated(lambda share: lognormal(share, *FIRST), 100, 2e6, stream)
    return first + sum(truncated(lambda share: lognormal(share, *NEXT), 50, 2e6, stream) for _ in range(objects))


def interactive(stream: random.Random) -> float:
    """Return the bytes of twenty short responses."""
    return sum(100 + 400 * stream.random() for _ in range(20))


def bulk(stream: random.Random) -> float:
    """Return the bytes of a bulk transfer."""
    return truncated(lambda share: pareto(share, BULK_SHAPE, BULK_LEAST), 0, BULK_MOST, stream)


def pareto(share: float, shape: float, least: float) -> float:
    """Return the quantile of a Pareto distribution."""
    return least / (1 - share) ** (1 / shape)


def lognormal(share: float, mu: float, sigma: float) -> float:
    """Return the quantile of a lognormal distribution."""
    return math.exp(mu + sigma * NormalDist().inv_cdf(max(share, 1e-15)))


def truncated(quantile: Callable[[float], float], low: float, high: float, stream: random.Random) -> float:
    """Return a draw within [low, high): draws outside are repeated."""
    while not low <= (value := quantile(stream.random())) < high:
        pass
    return value
