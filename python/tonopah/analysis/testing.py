"""Tests of statements on several quantities: their p values, the interval that agrees with them, and how many replicates decide.

A rule computes the p values of a criterion from its quantities. Since a quantity can say what more replicates of the same spread
would show, the rule also tells how many are needed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tonopah.analysis.evidence import Outcome
from tonopah.stats import FEWEST, Estimate, Method, Quantity, confidence_of_each

POWER = 0.8
"""Probability with which the replicates that are said to be needed decide, if the effect is the observed one."""
MOST_NEEDED = 10_000
"""More replicates are not proposed: the effect is as good as on the bound."""

ONE_RUN = (
    "One run alone has no interval: where nothing in the world is random, all replicates are that run. "
    "Let something vary (start_jitter, loss, placement), or add replicates."
)


@dataclass(frozen=True)
class PValues:
    """p values of "it holds", "the opposite holds", and "the effect is within the margin"."""

    holds: float
    opposite: float
    none: float = 1.0
    """1 where no margin is declared."""


Rule = Callable[[Sequence[Quantity]], PValues]


def outcome(
    sentence: str,
    effect: Estimate,
    unit: str,
    quantities: Sequence[Quantity],
    rule: Rule,
    test: str,
    sides: int = 1,
    looks: int = 1,
) -> Outcome:
    """Return the outcome of a test: its p values, or what is missing where there are too few replicates."""
    n = min(quantity.n for quantity in quantities)
    ask = partial(needed, tuple(quantities), rule)
    if n == 1:
        return Outcome(f"{sentence} {ONE_RUN}", effect, unit, test=test, sides=sides)
    if n < FEWEST:
        few = f"{n} replicates are too few for an interval or a test: {FEWEST} are needed at least."
        return Outcome(
            f"{sentence} {few}", effect, unit, verdict="undecided", test=test, sides=sides, replicates_for=ask if n > 1 else None
        )
    p = rule(quantities)
    if looks > 1:
        sentence += f" The interval holds for {looks} looks together: its error level is divided by {looks}."
    return Outcome(sentence, effect, unit, p.holds, p.opposite, p.none, test=test, sides=sides, replicates_for=ask)


def needed(quantities: Sequence[Quantity], rule: Rule, alpha: float) -> int | None:
    """Return the replicates with which one of the p values would be below `alpha`, if effect and spread are the observed ones.

    With probability `POWER`, by the normal approximation: the expected statistic has to exceed the critical value by that much.
    """
    from scipy.special import ndtr, ndtri

    # The critical value of N(0, 1), moved by what the statistic falls below its mean in a fifth of all cases.
    level = float(ndtr(ndtri(alpha) - ndtri(POWER)))

    def decides(n: int) -> bool:
        p = rule([quantity.at(n) for quantity in quantities])
        return any(value < level for value in (p.holds, p.opposite, p.none))

    low = max(FEWEST - 1, min(quantity.n for quantity in quantities))
    high = low + 1
    while not decides(high):
        if high >= MOST_NEEDED:
            return None
        low, high = high, min(MOST_NEEDED, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high


def within(quantity: Quantity, margin: float | None) -> float:
    """Return the p value of "it is within ± this many percent" by two one-sided tests.

    D. J. Schuirmann, J. Pharmacokin. Biopharm. 15, 1987, 657-680. Without a margin only a change of exactly zero in every
    replicate is within it.
    """
    if not quantity.judged:
        return 1.0
    if margin is None:
        return 0.0 if quantity.certain and quantity.p_greater(0.0) == quantity.p_less(0.0) else 1.0
    return max(quantity.p_greater(-margin), quantity.p_less(margin))


def lowest(p_values: Sequence[float]) -> float:
    """Return the p value of "one of these holds": the lowest, times their number (Bonferroni)."""
    return min(1.0, len(p_values) * min(p_values))


def simultaneous(quantity: Quantity, method: Method, looks: int) -> Estimate:
    """Return the interval that holds for all of several looks together (Bonferroni)."""
    return quantity.interval(confidence_of_each(method.confidence, looks))


def decided(p: float, alpha: float) -> bool:
    """Tell whether a p value decides; one that was not computed does not."""
    return not math.isnan(p) and p < alpha
