"""The tests of claims within one variant: trends and thresholds. Each gives an effect, two p values and a sentence.

A test that must hold at several points needs all of them: its p value is the largest (intersection-union test; R. L. Berger,
Technometrics 24, 1982, 295-300).
"""

import numpy as np

from tonopah import stats
from tonopah.analysis.evidence import Data, Outcome
from tonopah.metrics import show
from tonopah.spec.claim import Criterion
from tonopah.stats import Estimate


def test_slope(test: Criterion, data: Data, asked: str) -> Outcome:
    """Increasing or decreasing: the slope of each replicate's least-squares line, times the range.

    A significant step the other way between two neighbours (adjusted over the steps) spoils a trend.
    """
    sign, method = (1.0 if test.trend == "increasing" else -1.0), data.method
    width = data.at[-1] - data.at[0]
    changes = np.array([stats.slope(data.at, row) for row in data.values]) * width
    # Replicates without randomness differ by rounding only; that is no change.
    changes[np.abs(changes) < 1e-9 * np.abs(data.values).max()] = 0.0
    effect = method.interval(changes)
    first, last = method.centre(data.values[:, 0]), method.centre(data.values[:, -1])
    sentence = (
        f"From {data.labels[0]} to {data.labels[-1]} it goes from {show(first)} to {show(last)} {data.shown.unit}".rstrip()
        + "; the effect is the change of the fitted line."
    )
    steps = np.diff(data.values, axis=1)
    against = stats.holm([method.p_greater(-sign * steps[:, i]) for i in range(steps.shape[1])])
    p_for, p_against = method.p_greater(sign * changes), method.p_less(sign * changes)
    if p_for < method.alpha and min(against) < method.alpha:
        i = int(np.argmin(against))
        direction = "falls" if sign > 0 else "rises"
        sentence += f" But it {direction} from {data.labels[i]} to {data.labels[i + 1]}."
        p_for = 1.0
    return Outcome(asked, sentence, effect, data.shown.unit, p_for, p_against)


def test_flat(test: Criterion, data: Data, asked: str) -> Outcome:
    """Flat: every point is within the margin of the mean over all points, by two one-sided tests each.

    D. J. Schuirmann, J. Pharmacokin. Biopharm. 15, 1987, 657-680. The opposite: some point is beyond the margin.
    """
    method, overall = data.method, data.values.mean(axis=1)
    if method.centre(overall) == 0:
        return Outcome(asked, "The metric is zero on average, so that a relative margin has no meaning.")
    deviations = 100 * (data.values - overall[:, None]) / method.centre(overall)
    margin = test.margin_percent
    columns = [deviations[:, i] for i in range(deviations.shape[1])]
    worst = int(np.argmax([abs(method.centre(column)) for column in columns]))
    p_for = max(max(method.p_greater(c, -margin), method.p_less(c, margin)) for c in columns)
    p_against = min(1.0, len(columns) * min(min(method.p_greater(c, margin), method.p_less(c, -margin)) for c in columns))
    sentence = f"The point farthest from the overall mean of {show(method.centre(overall))} {data.shown.unit}".rstrip()
    sentence += f" is at {data.labels[worst]}; the effect is its distance."
    return Outcome(asked, sentence, method.interval(columns[worst]), "%", p_for, p_against)


def test_saturating(test: Criterion, data: Data, asked: str) -> Outcome:
    """Saturating: rises in the first step, and by less than half as fast in the last step (paired tests, both needed)."""
    del test
    method = data.method
    steps = np.diff(data.values, axis=1) / np.diff(data.at)
    first, last = steps[:, 0], steps[:, -1]
    p_for = max(method.p_greater(first), method.p_greater(first / 2 - last))
    p_against = method.p_less(np.array([stats.slope(data.at, row) for row in data.values]))
    share = method.difference_percent(last, first)
    effect = Estimate(share.value + 100, share.low + 100, share.high + 100, share.n)
    means = ", ".join(show(method.centre(column)) for column in data.values.T)
    sentence = (
        f"{method.statistic.capitalize()}s {means} {data.shown.unit}".rstrip() + "; the effect is the slope of the last step "
        f"({data.labels[-2]} to {data.labels[-1]}) in percent of the first ({data.labels[0]} to {data.labels[1]})."
    )
    return Outcome(asked, sentence, effect, "%", p_for, p_against)


def test_threshold(test: Criterion, data: Data, asked: str) -> Outcome:
    """Above or below a bound at every point: a one-sided test at each. The opposite: some point is on the other side."""
    sign, bound = (1.0, test.above) if test.above is not None else (-1.0, test.below)
    assert bound is not None
    bound, method = bound * data.shown.factor, data.method
    distances = sign * (data.values - bound)
    columns = [distances[:, i] for i in range(distances.shape[1])]
    worst = int(np.argmin([method.centre(column) for column in columns]))
    effect = method.interval(data.values[:, worst])
    p_for = max(method.p_greater(column) for column in columns)
    p_against = min(1.0, len(columns) * min(method.p_less(column) for column in columns))
    extreme = "lowest" if sign > 0 else "highest"
    sentence = f"The {extreme} of {len(columns)} points is at {data.labels[worst]}; the effect is its {method.statistic}."
    if len(columns) == 1:
        sentence = f"The effect is the {method.statistic} at {data.labels[0]}."
    return Outcome(asked, sentence, effect, data.shown.unit, p_for, p_against)
