"""Workload G: connections of pages, interactive use and bulk transfers, in place of traces that are no longer at their address.

A connection is one flow of a `[[workload]]`, a transfer of the sum of its responses at its arrival: an open loop.
The page model is that of 3GPP2 for HTTP, the tail of bulk transfers that of SURGE (Barford, Crovella, SIGMETRICS 1998).
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from tonopah.evaluate.draws import Draws

MEAN_BYTES = 45_715.0
"""Mean payload of a connection."""
HEADERS = 1.036
"""Bytes on the wire / payload."""
TOLERANCE = 0.05
"""A replicate whose load is off by more than this share has its draws repeated."""
MOST_TRIES = 1000
PREFILL_MOST = 20


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


def connections(load: float, rate_bps: float, window_s: tuple[float, float], draws: Draws) -> tuple[list[Connection], float]:
    """Return the connections of a replicate by start, and the load that those of the measured interval offer."""
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
    kind = stream.random()
    size = page(stream) if kind < 0.90 else interactive(stream) if kind < 0.99 else bulk(stream)
    mss = 496 if stream.random() < 0.10 else 1460
    return Connection(start_s, max(1, round(size)), mss)


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
    return truncated(lambda share: pareto(share, 1.1, 133e3), 0, 50e6, stream)


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
