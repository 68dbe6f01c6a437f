"""Tests that compare: an order of variants, the difference of two, and the difference of two parts.

A difference in percent is that of two means, 100 · (mean a / mean b - 1), or the median of the differences of pairs.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tonopah.analysis.evidence import Data, Outcome, modes_text, unfinished_text
from tonopah.analysis.testing import PValues, Rule, decided, lowest, outcome, simultaneous, within
from tonopah.metrics import show
from tonopah.spec.claim import BetweenParts, ComparisonCriterion, Order
from tonopah.stats import Estimate, Exact, Mean, Quantity
from tonopah.stats.kinds import FEWEST_EVENTS
from tonopah.stats.making import TOO_FEW_EVENTS


def order(criterion: Order, group: list[Data]) -> Outcome:
    """Test an order from low to high: each neighbour above the one before, by paired tests (mean over the points)."""
    common = sorted(set.intersection(*(set(data.seeds) for data in group)))
    if not common:
        return Outcome("The algorithms have no replicate in common.")
    method, labels, unit, kind = group[0].method, criterion.order, "%", group[0].metric.kind
    sides = [data.mean(data.places(common)) for data in group]
    means = [mean for mean, _ in sides]
    steps = [method.ratio(high, low, kind, (more, less)) for (low, less), (high, more) in itertools.pairwise(sides)]
    steps = with_events(steps, *group)
    if any(math.isnan(step.value) or math.isinf(step.value) for step in steps):
        # A metric that is zero for one of them has no ratio, but an order.
        steps = [method.quantity(high - low) for low, high in itertools.pairwise(means)]
        unit = group[0].metric.unit

    def rule(quantities: Sequence[Quantity]) -> PValues:
        margin = criterion.margin_percent if unit == "%" else None
        none = max(within(step, margin) for step in quantities)
        return PValues(max(step.p_greater() for step in quantities), lowest([step.p_less() for step in quantities]), none)

    worst = int(np.argmin([step.value for step in steps]))
    looks = 1 if decided(rule(steps).holds, method.alpha) else len(steps)
    values = ", ".join(f"{label} {show(method.centre(mean))}" for label, mean in zip(labels, means, strict=True))
    sentence = f"{method.statistic.capitalize()}s: {values} {group[0].metric.unit}".rstrip()
    sentence += f"; the effect is {labels[worst + 1]} against {labels[worst]}."
    shown = steps[worst]
    return outcome(sentence, simultaneous(shown, method, looks), unit, steps, rule, shown.test, looks=looks, shown=shown)


def difference(criterion: ComparisonCriterion, of: Data, to: Data, names: tuple[str, str]) -> Outcome:
    """Test a difference in percent of one variant (or part) to another against its bound."""
    method, common = of.method, sorted(set(of.seeds) & set(to.seeds))
    apart = isinstance(criterion, BetweenParts) and not criterion.paired
    if not common and not apart:
        return Outcome("They have no complete replicate in common.")
    rows = [None if apart else data.places(common) for data in (of, to)]
    ratio = method.independent_ratio if apart else method.ratio
    if criterion.points == "mean":
        sides = [[data.mean(chosen) for data, chosen in zip((of, to), rows, strict=True)]]
    else:
        sides = [[data.at_point(i, chosen) for data, chosen in zip((of, to), rows, strict=True)] for i in range(len(of.labels))]
    points = [(a, b) for (a, _), (b, _) in sides]
    ratios = [ratio(a, b, of.metric.kind, (more, less)) for (a, more), (b, less) in sides]
    ratios = with_events(ratios, of, to)
    if any(math.isnan(one.value) or math.isinf(one.value) for one in ratios):
        return Outcome(f"{names[1]} is zero there, so that a difference in percent has no meaning.")
    rule = rule_of(criterion, method.alpha)
    best, looks = decisive_point(criterion, ratios, rule, method.alpha)
    effect = simultaneous(ratios[best], method, looks)
    mean_a, mean_b = (method.centre(side) for side in points[best])
    sentence = f"{names[0]}: {of.text(mean_a)}; {names[1]}: {of.text(mean_b)}"
    if criterion.points != "mean":
        extreme = "best" if criterion.points == "any" else "worst"
        sentence += f" at {of.labels[best]}, the {extreme} of {len(points)} points"
    if criterion.bound == "published":
        sentence += f"; {published_note(criterion.percent, effect)}"
    test = ratios[best].test if criterion.bound != "within" else f"{ratios[best].test}, two one-sided"
    groups = "".join(modes_text(name, values, of) for name, values in zip(names, points[best], strict=True))
    said = f"{sentence}.{groups}{unfinished_text(of, to)}"
    return outcome(said, effect, "%", ratios, rule, test, 1 if criterion.bound in ("above", "below") else 2, looks, ratios[best])


def with_events(ratios: list[Quantity], *sides: Data) -> list[Quantity]:
    """Return comparisons that decide nothing where a proportion is of too few events on all sides together."""
    if sides[0].metric.kind != "proportion" or not sum(one.events for one in sides) < FEWEST_EVENTS:
        return ratios
    return [replace(one, undecided=TOO_FEW_EVENTS) if isinstance(one, Mean | Exact) else one for one in ratios]


def rule_of(criterion: ComparisonCriterion, alpha: float) -> Rule:
    """Return how the p values of a difference follow from those of its points; `alpha` is the level of the interval."""

    def rule(quantities: Sequence[Quantity]) -> PValues:
        found = [compare(criterion, one, alpha) for one in quantities]
        holds, opposite = [p.holds for p in found], [p.opposite for p in found]
        none = max(p.none for p in found)
        if criterion.points == "any":
            return PValues(lowest(holds), max(opposite), none)
        return PValues(max(holds), lowest(opposite), none)

    return rule


def decisive_point(criterion: ComparisonCriterion, ratios: Sequence[Quantity], rule: Rule, alpha: float) -> tuple[int, int]:
    """Return the point that decides, and for how many looks its interval has to hold.

    Where one point is enough it was chosen among all; where all are needed, each stands for itself.
    """
    ranked, whole = [compare(criterion, one, alpha) for one in ratios], rule(ratios)
    holds = [1.0 if math.isnan(p.holds) else p.holds for p in ranked]
    if criterion.points == "any":
        return int(np.argmin(holds)), 1 if decided(whole.opposite, alpha) or decided(whole.none, alpha) else len(ratios)
    return int(np.argmax(holds)), 1 if decided(whole.holds, alpha) or decided(whole.none, alpha) else len(ratios)


def compare(criterion: ComparisonCriterion, ratio: Quantity, alpha: float) -> PValues:
    """Return the p values of the condition of a criterion at one point.

    Where the opposite has two sides (within, published), the p value is that of the nearer one: it agrees with the interval.
    """
    above, below, percent = ratio.p_greater, ratio.p_less, criterion.percent
    none = within(ratio, criterion.margin_percent) if criterion.claims_effect else 1.0
    match criterion.bound:
        case "above":
            return PValues(above(percent), below(percent), none)
        case "below":
            return PValues(below(percent), above(percent), none)
        case "within":
            return PValues(within(ratio, percent), min(above(percent), below(-percent)))
        case _:
            same = above(0) if percent >= 0 else below(0)
            elsewhere = min(above(percent), below(percent))
            # Supported by its sign, unless the interval excludes the published value.
            return PValues(1.0 if elsewhere < alpha else same, elsewhere, none)


def inside(value: float, estimate: Estimate) -> bool:
    """Tell whether a value is inside an interval."""
    return estimate.low <= value <= estimate.high


def published_note(percent: float, estimate: Estimate) -> str:
    """Compare the published effect with the measured interval in words."""
    published = f"the published {percent:+g} %"
    if math.isnan(estimate.low):
        return f"{published} cannot be compared: there is no interval"
    if estimate.low == estimate.high == 0:
        return f"{published} is absent: no replicate has any difference"
    where = "inside" if inside(percent, estimate) else "outside"
    sign = "the same" if estimate.value * percent > 0 else "the opposite"
    unclear = ", and the interval contains zero" if inside(0.0, estimate) else ""
    return f"{published} is {where} the interval and has {sign} sign{unclear}"
