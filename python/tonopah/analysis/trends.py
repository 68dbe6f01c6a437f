"""Tests of one variant: trends, shapes and bounds. Each gives an effect, its p values and a sentence.

A test that must hold at several points needs all of them: its p value is the largest (intersection-union test; R. L. Berger,
Technometrics 24, 1982, 295-300). One that may hold at any of k points has k times the smallest (Bonferroni).
"""

import itertools
from collections.abc import Sequence

import numpy as np

from tonopah import stats
from tonopah.analysis.evidence import Data, Outcome, modes_text
from tonopah.analysis.testing import PValues, decided, lowest, outcome, simultaneous, within
from tonopah.metrics import show
from tonopah.spec.claim import Bound, Trend
from tonopah.stats import Quantity

ROUNDING = 1e-9
"""Changes below this share of the largest value are rounding: replicates without randomness do not change."""


def trend(criterion: Trend, data: Data) -> Outcome:
    """Return the outcome of a trend."""
    fewest = 2 if criterion.trend in ("increasing", "decreasing", "flat") else 3
    if len(data.at) < fewest:
        return Outcome(f"{len(data.at)} points are too few for this trend; it needs {fewest}.")
    match criterion.trend:
        case "flat":
            return trend_flat(data, criterion.margin or 0.0)
        case "saturating" | "falls, then levels off":
            return trend_saturating(data, 1.0 if criterion.trend == "saturating" else -1.0, criterion.margin)
        case "increasing" | "decreasing":
            return trend_slope(data, 1.0 if criterion.trend == "increasing" else -1.0, criterion.margin)
        case _:
            return trend_turn(data, 1.0 if criterion.trend == "rises, then falls" else -1.0, criterion.margin)


def without_rounding(changes: np.ndarray, data: Data) -> np.ndarray:
    """Return changes in which those that are rounding are zero."""
    return np.where(np.abs(changes) < ROUNDING * np.abs(data.values).max(), 0.0, changes)


def from_mean(data: Data) -> list[Quantity]:
    """Return how far each point is from the mean of all, in percent of it."""
    overall = data.values.mean(axis=1)
    distances = without_rounding(data.values - overall[:, None], data)
    return [data.method.relative(column, overall) for column in distances.T]


def flat_within(points: Sequence[Quantity], margin: float | None) -> float:
    """Return the p value of "every point is within the margin of the mean of all"."""
    return max(within(point, margin) for point in points)


def trend_slope(data: Data, sign: float, margin: float | None) -> Outcome:
    """Test "increasing" (sign 1) or "decreasing" (-1).

    The least-squares line of each replicate rises, and no way back, between any two points, is half as long as the whole way from
    the first point to the last. The opposite: the line falls, or some way back is longer than that.
    """
    method, ends = data.method, data.values[:, -1] - data.values[:, 0]
    changes = without_rounding(stats.slope(data.at, data.values) * (data.at[-1] - data.at[0]), data)
    ways = [data.values[:, j] - data.values[:, i] + ends / 2 for i, j in itertools.combinations(range(len(data.at)), 2)]
    held = [method.quantity(sign * changes), *(method.quantity(without_rounding(sign * way, data)) for way in ways)]
    count = len(held)

    def rule(quantities: Sequence[Quantity]) -> PValues:
        holding = quantities[:count]
        back = [quantity.p_less() for quantity in holding[1:]]
        # The line and the ways back share the error in equal parts.
        opposite = min(1.0, 2 * min(holding[0].p_less(), lowest(back)))
        return PValues(max(q.p_greater() for q in holding), opposite, flat_within(quantities[count:], margin))

    first, last = method.centre(data.values[:, 0]), method.centre(data.values[:, -1])
    sentence = f"From {data.labels[0]} to {data.labels[-1]} it goes from {show(first)} to {data.text(last)}"
    sentence += f"; the effect is the change of the fitted line.{way_back(data, sign)}"
    effect, quantities = method.quantity(changes), [*held, *from_mean(data)]
    looks = 1 if decided(rule(quantities).holds, method.alpha) else 2
    shown = simultaneous(effect, method, looks)
    test = f"{effect.test} of fitted lines"
    return outcome(sentence, shown, data.metric.unit, quantities, rule, test, looks=looks)


def way_back(data: Data, sign: float) -> str:
    """Return a sentence on the longest way back, where it is a tenth of the whole way or more."""
    centres = [sign * data.method.centre(column) for column in data.values.T]
    if centres[-1] <= centres[0]:
        return ""
    i, j = max(itertools.combinations(range(len(centres)), 2), key=lambda pair: centres[pair[0]] - centres[pair[1]])
    back = centres[i] - centres[j]
    if back <= (centres[-1] - centres[0]) / 10 or back <= ROUNDING * max(map(abs, centres)):
        return ""
    direction = "falls" if sign > 0 else "rises"
    return f" On the way it {direction} by {data.text(back)} from {data.labels[i]} to {data.labels[j]}."


def trend_turn(data: Data, sign: float, margin: float | None) -> Outcome:
    """Test "rises, then falls" (sign 1) or "falls, then rises" (-1).

    At one of the points inside, the metric is above both ends, the line fitted up to it rises and the one from it on falls.
    Since the data choose the point, its p value is multiplied by the number of candidates (Bonferroni). The opposite: every point
    inside is below one of the ends.
    """
    method, values = data.method, sign * data.values
    inside = range(1, len(data.at) - 1)

    def at(i: int) -> list[Quantity]:
        """Above the first, above the last, slope before, slope after: all above zero if the turn is here."""
        rise = stats.slope(data.at[: i + 1], values[:, : i + 1]) * (data.at[i] - data.at[0])
        fall = -stats.slope(data.at[i:], values[:, i:]) * (data.at[-1] - data.at[i])
        ways = (values[:, i] - values[:, 0], values[:, i] - values[:, -1], rise, fall)
        return [method.quantity(without_rounding(way, data)) for way in ways]

    turns = [at(i) for i in inside]

    def rule(quantities: Sequence[Quantity]) -> PValues:
        groups = [quantities[4 * k : 4 * k + 4] for k in range(len(turns))]
        holds = lowest([max(q.p_greater() for q in group) for group in groups])
        opposite = max(lowest([group[0].p_less(), group[1].p_less()]) for group in groups)
        return PValues(holds, opposite, flat_within(quantities[4 * len(turns) :], margin))

    best = max(range(len(turns)), key=lambda k: min(turns[k][0].value, turns[k][1].value))
    peak, end = best + 1, 0 if turns[best][0].value < turns[best][1].value else -1
    effect = data.method.relative(without_rounding(data.values[:, peak] - data.values[:, end], data), data.values.mean(axis=1))
    means = ", ".join(show(method.centre(column)) for column in data.values.T)
    word, unit = ("highest" if sign > 0 else "lowest"), data.metric.unit
    sentence = f"{method.statistic.capitalize()}s {means} {unit}".rstrip()
    sentence += (
        f"; the {word} inside is at {data.labels[peak]}, the effect is its distance from {data.labels[end]}, in percent of "
    )
    quantities = [*itertools.chain.from_iterable(turns), *from_mean(data)]
    looks = len(turns) if decided(rule(quantities).holds, method.alpha) else max(2, len(turns))
    sentence += "the mean of all."
    test = f"{turns[best][0].test} of both segments"
    return outcome(sentence, simultaneous(effect, method, looks), "%", quantities, rule, test, looks=looks)


def trend_flat(data: Data, margin: float) -> Outcome:
    """Test "flat": every point is within the margin of the mean over all points. The opposite: some point is beyond it."""
    method, points = data.method, from_mean(data)

    def rule(quantities: Sequence[Quantity]) -> PValues:
        beyond = [min(q.p_greater(margin), q.p_less(-margin)) for q in quantities]
        return PValues(flat_within(quantities, margin), lowest(beyond))

    centre = method.centre(data.values.mean(axis=1))
    if centre == 0 and np.any(data.values):
        return Outcome("The metric is zero on average, so that a relative margin has no meaning.")
    if centre == 0:
        points = [method.quantity(column) for column in data.values.T]
    worst = int(np.argmax([abs(point.value) for point in points]))
    sentence = f"The point farthest from the overall mean of {data.text(centre)} is at {data.labels[worst]}"
    sentence += "; the effect is its distance."
    looks = 1 if decided(rule(points).holds, method.alpha) else len(points)
    shown = simultaneous(points[worst], method, looks)
    return outcome(sentence, shown, "%", points, rule, f"{points[worst].test}, two one-sided", 2, looks)


def trend_saturating(data: Data, sign: float, margin: float | None) -> Outcome:
    """Test "saturating" (sign 1): it rises in the first step, less than half as fast in the last; "falls, then levels off" (-1).

    The opposite: the line goes the other way, or the last step is more than half as fast.
    """
    method = data.method
    steps = sign * without_rounding(np.diff(data.values, axis=1), data) / np.diff(data.at)
    first, share = method.quantity(steps[:, 0]), method.relative(steps[:, -1], steps[:, 0])
    line = method.quantity(sign * without_rounding(stats.slope(data.at, data.values) * (data.at[-1] - data.at[0]), data))
    means = ", ".join(show(method.centre(column)) for column in data.values.T)
    slow = (
        f"{method.statistic.capitalize()}s {means} {data.metric.unit}".rstrip() + "; the effect is the slope of the last step "
        f"({data.labels[-2]} to {data.labels[-1]}) in percent of the first ({data.labels[0]} to {data.labels[1]})."
    )

    def rule(quantities: Sequence[Quantity]) -> PValues:
        rises, slower, whole = quantities[:3]
        # Where the first step has no way, its share in the last has no meaning.
        below, beyond = (1.0, 1.0) if np.isnan(slower.value) else (slower.p_less(50.0), slower.p_greater(50.0))
        return PValues(max(rises.p_greater(), below), lowest([whole.p_less(), beyond]), flat_within(quantities[3:], margin))

    quantities = [first, share, line, *from_mean(data)]
    looks = 1 if decided(rule(quantities).holds, method.alpha) else 2
    shown = simultaneous(share, method, looks)
    return outcome(slow, shown, "%", quantities, rule, share.test, looks=looks)


def threshold(criterion: Bound, data: Data) -> Outcome:
    """Test "above" or "below" a bound at every point, one-sided at each. The opposite: some point is on the other side."""
    above, bound, method = criterion.side == "above", criterion.limit * data.metric.factor, data.method
    outcomes = data.metric.outcomes
    columns = [data.at_point(i) for i in range(len(data.labels))]
    points = [method.quantity(values, data.bounds, data.metric.kind, longer) for values, longer in columns]

    def rule(quantities: Sequence[Quantity]) -> PValues:
        over, under = [q.p_greater(bound) for q in quantities], [q.p_less(bound) for q in quantities]
        return PValues(max(over), lowest(under)) if above else PValues(max(under), lowest(over))

    worst = int((np.argmin if above else np.argmax)([point.value for point in points]))
    looks = 1 if decided(rule(points).holds, method.alpha) else len(points)
    extreme, statistic = "lowest" if above else "highest", "share of replicates" if outcomes else method.statistic
    sentence = f"The {extreme} of {len(points)} points is at {data.labels[worst]}; the effect is its {statistic}."
    if len(points) == 1:
        sentence = f"The effect is the {statistic} at {data.labels[0]}."
    shown = simultaneous(points[worst], method, looks)
    sentence += "" if outcomes else modes_text("it", columns[worst][0], data)
    if int(columns[worst][1].sum()):
        sentence += f" {percentile_longer(columns[worst][1])}"
    return outcome(sentence, shown, data.metric.unit, points, rule, points[worst].test, looks=looks, shown=points[worst])


def percentile_longer(longer: np.ndarray) -> str:
    """Return in how many replicates a time is only known to be longer."""
    return f"In {int(longer.sum())} of {len(longer)} replicates what is measured had not ended: it is at least that long."
