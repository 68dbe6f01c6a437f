"""Tests of statements on several quantities: their p values, the interval that agrees with them, and how many replicates decide.

A rule computes the p values of a criterion from its quantities. Since a quantity can say what more replicates of the same spread
would show, the rule also tells how many are needed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tonopah.analysis.evidence import Outcome
from tonopah.stats import CONFIDENCE, FEWEST, Estimate, Mean, Method, Quantity, confidence_of_each, t_quantile

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
    shown: Quantity | None = None,
) -> Outcome:
    """Return the outcome of a test: its p values, or what is missing where there are too few replicates.

    `shown` is the quantity of the effect, which says why it has no interval or decides nothing.
    """
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
    if shown and (why := shown.undecided or (shown.no_interval if math.isnan(effect.low) else "")):
        sentence += f" No interval: {why}."
    if looks > 1:
        sentence += f" The interval holds for {looks} looks together: its error level is divided by {looks}."
    shows = smallest_effect(shown, looks) if shown else None
    more = {"replicates_for": ask, "shows": shows, "interval_at": shown.interval if shown else None}
    return Outcome(sentence, effect, unit, p.holds, p.opposite, p.none, test=test, sides=sides, **more)


def smallest_effect(quantity: Quantity, looks: int = 1) -> float | None:
    """Return the smallest change from nothing that as many replicates of the same spread would have shown with `POWER`.

    In the unit of the quantity, upwards: the critical value and the quantile of the power, in standard errors (normal
    approximation). None where the spread says nothing of it.
    """
    from scipy.special import ndtri

    normal = quantity if isinstance(quantity, Mean) else getattr(quantity, "spread", None)
    if not isinstance(normal, Mean) or not normal.judged or normal.certain or quantity.undecided:
        return None
    alpha = (1 - CONFIDENCE) / 2 / looks
    if quantity.fewest > quantity.n:
        return None
    way = normal.error * (t_quantile(1 - alpha, normal.degrees) + float(ndtri(POWER)))
    zero = normal.scale.forward(0.0) if math.isfinite(normal.scale.forward(0.0)) else normal.scale.forward(normal.value)
    return normal.scale.back(zero + way) - (0.0 if math.isfinite(normal.scale.forward(0.0)) else normal.value)


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

    low = max(*(quantity.fewest - 1 for quantity in quantities), min(quantity.n for quantity in quantities))
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

    D. J. Schuirmann, J. Pharmacokin. Biopharm. 15, 1987, 657-680. Without a margin nothing is: replicates that agree are no
    certainty.
    """
    if not quantity.judged or margin is None:
        return 1.0
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
