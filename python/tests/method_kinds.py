"""Error rates and coverage by kind of metric, where the truth is known: zeros, ties, two modes, tails and censoring.

python python/tests/method_kinds.py 500        # part of `make method`; its table is in docs/method.md
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tonopah.stats import Quantity, difference_of, mean_of, ratio_of

LEVEL = 0.025
SIZES = (5, 10, 30)
LOOKS = range(4, 31)
Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Case:
    """A law that both sides of a replicate have, so that every verdict on a difference is wrong."""

    kind: str
    what: str
    draw: Draw
    mean: float
    bounds: tuple[float, float] = (0.0, math.inf)
    limit: float = math.inf
    """Time at which what has not happened is no longer watched."""

    def compared(self, x: np.ndarray, y: np.ndarray) -> Quantity:
        """Return the comparison of two samples."""
        if self.kind in ("share", "outcome", "scale"):
            return difference_of(x, y, self.bounds, self.kind)
        if math.isfinite(self.limit):
            longer = (x > self.limit, y > self.limit)
            return ratio_of(np.minimum(x, self.limit), np.minimum(y, self.limit), self.kind, longer)
        return ratio_of(x, y, self.kind)


def lognormal(sigma: float) -> Draw:
    """Return a law of mean 1."""
    return lambda draw, n: np.exp(sigma * draw.normal(size=n) - sigma**2 / 2)


def often(share: float, one: Draw, other: Draw) -> Draw:
    """Return a mixture of two laws."""
    return lambda draw, n: np.where(draw.random(n) < share, one(draw, n), other(draw, n))


def zero(draw: np.random.Generator, n: int) -> np.ndarray:
    """Return zeros."""
    return np.zeros(n)


CASES = (
    Case("positive", "log-normal, 10 %", lognormal(0.1), 1.0),
    Case("positive", "log-normal, 60 %", lognormal(0.6), 1.0),
    Case("positive", "ties (steps of 5 %)", lambda draw, n: np.round(20 + 2 * draw.normal(size=n)) / 20, 1.0),
    Case("positive", "half zeros", often(0.5, zero, lognormal(0.3)), 0.5),
    Case("positive", "two modes, 1 in 2", often(0.5, lambda d, n: 0.1 * lognormal(0.03)(d, n), lognormal(0.03)), 0.55),
    Case("positive", "two modes, 1 in 5", often(0.2, lambda d, n: 0.1 * lognormal(0.03)(d, n), lognormal(0.03)), 0.82),
    Case("positive", "Pareto, index 1.5", lambda draw, n: (1 + draw.pareto(1.5, size=n)) / 3, 1.0),
    Case("share", "shares about a half", lambda draw, n: draw.beta(8, 8, size=n), 0.5, (0.0, 1.0)),
    Case("share", "Jain's index near 1", lambda draw, n: draw.beta(38, 2, size=n), 0.95, (0.0, 1.0)),
    Case(
        "share", "0.9, 1 in 5 0.1", often(0.2, lambda d, n: d.beta(10, 90, n), lambda d, n: d.beta(90, 10, n)), 0.74, (0.0, 1.0)
    ),
    Case("count", "0.05 events a run", lambda draw, n: draw.poisson(0.05, n).astype(float), 0.05),
    Case("count", "3 events a run", lambda draw, n: draw.poisson(3, n).astype(float), 3.0),
    Case("count", "clusters, 20 a run", lambda draw, n: draw.poisson(draw.gamma(1, 20, n)).astype(float), 20.0),
    Case("proportion", "0.2 % of 10 000", lambda draw, n: draw.binomial(10_000, draw.beta(4, 1996, n)) / 1e4, 0.002, (0.0, 1.0)),
    Case("time", "all end", lognormal(0.6), 1.0),
    Case("time", "a third has not ended", lognormal(0.6), math.nan, limit=1.1),
    Case("outcome", "1 in 10", lambda draw, n: (draw.random(n) < 0.1).astype(float), 0.1, (0.0, 1.0)),
    Case("outcome", "1 in 2", lambda draw, n: (draw.random(n) < 0.5).astype(float), 0.5, (0.0, 1.0)),
    Case("scale", "opinion scores", lambda draw, n: 1 + 3.5 * draw.beta(6, 2, n), 1 + 3.5 * 0.75, (1.0, 4.5)),
)


def wrong(case: Case, draw: np.random.Generator) -> tuple[float, float, bool, bool]:
    """Return whether a study of each size says more, or less, and whether one looked at at all sizes from 4 to 30 does."""
    x, y = case.draw(draw, LOOKS[-1]), case.draw(draw, LOOKS[-1])
    found = [case.compared(x[:n], y[:n]) for n in SIZES]
    sides = [[quantity.p_greater() < LEVEL for quantity in found], [quantity.p_less() < LEVEL for quantity in found]]
    looked = [case.compared(x[:n], y[:n]) for n in LOOKS]
    each = LEVEL / len(LOOKS)
    seen = [any(q.p_greater() < each for q in looked), any(q.p_less() < each for q in looked)]
    return float(np.mean(sides[0])), float(np.mean(sides[1])), *seen


def coverage(case: Case, draw: np.random.Generator, studies: int, n: int) -> tuple[float, float]:
    """Return in how many of the studies an interval of the mean is printed, and how many of these hold the truth."""
    printed = held = 0
    for _ in range(studies):
        if case.kind == "outcome" or math.isnan(case.mean):
            return 0.0, math.nan
        found = mean_of(case.draw(draw, n), case.bounds, case.kind).interval(0.95)
        printed += not math.isnan(found.low)
        held += found.low <= case.mean <= found.high
    return printed / studies, held / printed if printed else math.nan


HEAD = "| kind | law | wrong *more*, *less* | with 27 looks | interval of the mean: printed, holds, n 5 | n 10 | n 30 |"


def row(case: Case, studies: int, seed: int = 1) -> str:
    """Return the row of a case in the table of docs/method.md."""
    draw = np.random.default_rng(seed)
    rates = 100 * np.mean([wrong(case, draw) for _ in range(studies)], axis=0)
    held = [coverage(case, draw, 4 * studies, n) for n in SIZES]
    cells = ["–" if math.isnan(right) else f"{100 * share:.0f} %, {100 * right:.0f} %" for share, right in held]
    return f"| {' | '.join([case.kind, case.what, *(f'{a:.1f}, {b:.1f} %' for a, b in (rates[:2], rates[2:])), *cells])} |"


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    print(HEAD, "|" + " --- |" * 7, sep="\n")
    for one in CASES[int(sys.argv[2]) if len(sys.argv) > 2 else 0 :]:
        print(row(one, number), flush=True)
