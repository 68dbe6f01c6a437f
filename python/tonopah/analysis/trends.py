"""Tests of one variant: trends and bounds. Each gives an effect, two p values and a sentence.

A test that must hold at several points needs all of them: its p value is the largest (intersection-union test; R. L. Berger,
Technometrics 24, 1982, 295-300).
"""

import numpy as np

from tonopah import stats
from tonopah.analysis.evidence import Data, Outcome
from tonopah.metrics import show
from tonopah.spec.claim import Bound, Trend
from tonopah.stats import Estimate

ROUNDING = 1e-9
"""Changes below this share of the largest value are rounding: replicates without randomness do not change."""


def trend(criterion: Trend, data: Data) -> Outcome:
    """Return the outcome of a trend."""
    if len(data.at) < (3 if criterion.trend == "saturating" else 2):
        return Outcome(f"{len(data.at)} points are too few for a trend.")
    match criterion.trend:
        case "flat":
            return trend_flat(data, criterion.margin or 0.0)
        case "saturating":
            return trend_saturating(data)
        case direction:
            return trend_slope(data, 1.0 if direction == "increasing" else -1.0)


def trend_slope(data: Data, sign: float) -> Outcome:
    """Test "increasing" (sign 1) or "decreasing" (-1): the slope of each replicate's least-squares line, times the range.

    A significant step the other way between two neighbours (adjusted over the steps) spoils a trend.
    """
    method, width = data.method, data.at[-1] - data.at[0]
    changes = np.array([stats.slope(data.at, row) for row in data.values]) * width
    changes[np.abs(changes) < ROUNDING * np.abs(data.values).max()] = 0.0
    first, last = method.centre(data.values[:, 0]), method.centre(data.values[:, -1])
    sentence = f"From {data.labels[0]} to {data.labels[-1]} it goes from {show(first)} to {data.text(last)}"
    sentence += "; the effect is the change of the fitted line."
    steps = np.diff(data.values, axis=1)
    against = stats.holm([method.p_greater(-sign * steps[:, i]) for i in range(steps.shape[1])])
    p_for, p_against = method.p_greater(sign * changes), method.p_less(sign * changes)
    if p_for < method.alpha and min(against) < method.alpha:
        i = int(np.argmin(against))
        direction = "falls" if sign > 0 else "rises"
        sentence += f" But it {direction} from {data.labels[i]} to {data.labels[i + 1]}."
        p_for = 1.0
    return Outcome(sentence, method.interval(changes), data.metric.unit, p_for, p_against)


def trend_flat(data: Data, margin_percent: float) -> Outcome:
    """Test "flat": every point is within the margin of the mean over all points, by two one-sided tests each.

    D. J. Schuirmann, J. Pharmacokin. Biopharm. 15, 1987, 657-680. The opposite: some point is beyond the margin.
    """
    method, overall, margin = data.method, data.values.mean(axis=1), margin_percent
    centre = method.centre(overall)
    if centre == 0:
        return Outcome("The metric is zero on average, so that a relative margin has no meaning.")
    columns = (100 * (data.values - overall[:, None]) / centre).T
    worst = int(np.argmax([abs(method.centre(column)) for column in columns]))
    p_for = max(max(method.p_greater(c, -margin), method.p_less(c, margin)) for c in columns)
    p_against = min(1.0, len(columns) * min(min(method.p_greater(c, margin), method.p_less(c, -margin)) for c in columns))
    sentence = f"The point farthest from the overall mean of {data.text(centre)} is at {data.labels[worst]}"
    return Outcome(f"{sentence}; the effect is its distance.", method.interval(columns[worst]), "%", p_for, p_against)


def trend_saturating(data: Data) -> Outcome:
    """Test "saturating": rises in the first step, and by less than half as fast in the last step (paired tests, both needed)."""
    method = data.method
    steps = np.diff(data.values, axis=1) / np.diff(data.at)
    first, last = steps[:, 0], steps[:, -1]
    p_for = max(method.p_greater(first), method.p_greater(first / 2 - last))
    p_against = method.p_less(np.array([stats.slope(data.at, row) for row in data.values]))
    share = method.difference_percent(last, first)
    effect = Estimate(share.value + 100, share.low + 100, share.high + 100, share.n)
    means = ", ".join(show(method.centre(column)) for column in data.values.T)
    sentence = (
        f"{method.statistic.capitalize()}s {means} {data.metric.unit}".rstrip() + "; the effect is the slope of the last step "
        f"({data.labels[-2]} to {data.labels[-1]}) in percent of the first ({data.labels[0]} to {data.labels[1]})."
    )
    return Outcome(sentence, effect, "%", p_for, p_against)


def threshold(criterion: Bound, data: Data) -> Outcome:
    """Test "above" or "below" a bound at every point, one-sided at each. The opposite: some point is on the other side."""
    sign, bound, method = 1.0 if criterion.side == "above" else -1.0, criterion.limit * data.metric.factor, data.method
    columns = (sign * (data.values - bound)).T
    worst = int(np.argmin([method.centre(column) for column in columns]))
    effect = method.interval(data.values[:, worst])
    p_for = max(method.p_greater(column) for column in columns)
    p_against = min(1.0, len(columns) * min(method.p_less(column) for column in columns))
    extreme = "lowest" if sign > 0 else "highest"
    sentence = f"The {extreme} of {len(columns)} points is at {data.labels[worst]}; the effect is its {method.statistic}."
    if len(columns) == 1:
        sentence = f"The effect is the {method.statistic} at {data.labels[0]}."
    return Outcome(sentence, effect, data.metric.unit, p_for, p_against)
