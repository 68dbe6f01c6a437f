"""Whether two engines agree in a metric: the words, by the tests of a study (analysis/testing.py, analysis/verdicts.py).

What is claimed is that an engine equals the first within the margin, by two one-sided tests, each at 2.5 %. Supported it is
*equivalent*; contradicted, the whole interval beyond the margin, *different*; else *undecided*, with the replicates that would
decide. What is compared follows from the kind of the metric (stats/kinds.py): a ratio in percent, of shares a difference. Fewer
than ten events on both sides together decide nothing; where the first has none at all, more than none is a difference.

Replicates are paired by their seed. Where an engine has one run, since nothing can vary, that run stands beside all of the other;
two such runs need no test. Each metric is a question of its own: no word is adjusted for their number.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tonopah.analysis.evidence import Outcome
from tonopah.analysis.testing import PValues, outcome, within
from tonopah.analysis.verdicts import conclude
from tonopah.cross.measures import Compared
from tonopah.stats import CONFIDENCE, Estimate, Exact, Mean, Quantity, difference_of, ratio_of
from tonopah.stats.kinds import FEWEST_EVENTS, KINDS
from tonopah.stats.making import TOO_FEW_EVENTS

WORDS = {"supported": "equivalent", "contradicted": "different"}
"""By verdict; all others are undecided."""
UNDECIDED = "undecided"
CERTAIN = "One run each, in which nothing can vary."
Compare = Mean | Exact
"""What stands for a comparison of two samples."""


def word_of(found: Outcome) -> str:
    """Return the word of an outcome."""
    return WORDS.get(found.verdict, UNDECIDED)


def judge(metric: Compared, mine: Sequence[float], first: Sequence[float], certain: tuple[bool, bool], events: float) -> Outcome:
    """Return whether an engine agrees with the first.

    Parameters
    ----------
    metric : Compared
        What is compared.
    mine, first : sequence of float
        Values of the engine and of the first in the order of seeds.
    certain : pair of bool
        Whether each of them has one run, since nothing in the world is random and the engine is deterministic.
    events : float
        Events that a proportion is of, on both sides together; NaN if nobody counted.
    """
    x, y = np.asarray(mine, float), np.asarray(first, float)
    if all(certain):
        return both_certain(metric, float(x[0]), float(y[0]))
    n = max(len(x), len(y))
    x, y = (np.full(n, values[0]) if sure else values for values, sure in zip((x, y), certain, strict=True))
    quantity, margin, unit = quantity_of(metric, x, y, events)
    if math.isnan(quantity.value):
        return Outcome("The first is zero there, so that a difference in percent has no meaning.", verdict=UNDECIDED)

    def rule(given: Sequence[Quantity]) -> PValues:
        [one] = given
        return PValues(within(one, margin), min(one.p_greater(margin), one.p_less(-margin)))

    test = f"{quantity.test}, two one-sided"
    return conclude(outcome("", quantity.interval(CONFIDENCE), unit, [quantity], rule, test, sides=2, shown=quantity))


def quantity_of(metric: Compared, x: np.ndarray, y: np.ndarray, events: float) -> tuple[Compare, float, str]:
    """Return what is compared, what of it counts as no difference, and its unit."""
    kind = metric.kind
    if KINDS[kind].effect == "difference":
        return difference_of(x, y, (0.0, 1.0), kind), metric.margin, ""
    found, margin, unit = ratio_of(x, y, kind), metric.margin, "%"
    if KINDS[kind].events and math.isnan(found.value):
        found, margin, unit = difference_of(metric.factor * x, metric.factor * y, kind=kind), 0.0, metric.unit
    if kind == "proportion" and events < FEWEST_EVENTS:
        found = replace(found, undecided=TOO_FEW_EVENTS)
    return found, margin, unit


def both_certain(metric: Compared, mine: float, first: float) -> Outcome:
    """Return the outcome of two runs in which nothing can vary: their difference is what it is."""
    difference = mine - first
    if KINDS[metric.kind].effect == "difference":
        value, unit, same = difference, "", abs(difference) <= metric.margin
    else:
        percent = 100 * difference / first if first else (0.0 if not difference else math.copysign(math.inf, difference))
        value, unit, same = percent, "%", abs(percent) <= metric.margin
    effect = Estimate(value, math.nan, math.nan, 1)
    return Outcome(CERTAIN, effect, unit, verdict="supported" if same else "contradicted", test="none is needed", sides=2)
