"""Quantities: interval and p values come from one distribution, stay within bounds, and tell how many replicates decide."""

import math

import numpy as np
import pytest
from test_stats import FIRST, SECOND

from tonopah import stats

CONFIDENCES = (0.9, 0.95, 0.995)


def made(kind, draw, n):
    """Return a random quantity of a kind."""
    a, b = draw.gamma(2.0, 1.0, n) + 0.05, draw.gamma(3.0, 1.0, n) + 0.05
    return {
        "mean": lambda: stats.mean_of(a - b),
        "log": lambda: stats.mean_of(a, (0.0, math.inf)),
        "logit": lambda: stats.mean_of(a / (a + b), (0.0, 1.0)),
        "ratio": lambda: stats.ratio_of(a, b),
        "apart": lambda: stats.independent_ratio_of(a, b[: n - 1]),
        "relative": lambda: stats.relative_of(a - b, b),
        "median": lambda: stats.median_of(np.round(a - b, 1)),
        "median ratio": lambda: stats.median_ratio_of(a, b),
    }[kind]()


KINDS = ("mean", "log", "logit", "ratio", "apart", "relative", "median", "median ratio")


@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_and_the_tests_agree(kind):
    draw = np.random.default_rng(3)
    for n in (4, 5, 7, 12, 20):
        for _ in range(20):
            quantity = made(kind, draw, n)
            for confidence in CONFIDENCES:
                found, alpha = quantity.interval(confidence), (1 - confidence) / 2
                if math.isnan(found.low):
                    # Only what holds in every replicate is then decided.
                    assert quantity.no_interval or not quantity.p_greater(-1e9) < alpha
                    continue
                width = found.high - found.low
                for share in (-1.0, -0.1, -0.001, 0.001, 0.3, 0.7, 0.999, 1.001, 1.1, 2.0):
                    bound = found.low + share * width
                    assert (quantity.p_greater(bound) < alpha) == (found.low > bound)
                    assert (quantity.p_less(bound) < alpha) == (found.high < bound)


@pytest.mark.parametrize("bounds", [(0.0, math.inf), (0.0, 1.0)])
def test_an_interval_stays_within_the_bounds_of_the_metric(bounds):
    # Jain's index ± its t interval gave 1.021, goodput -0.6 Mb/s (issue 19, gap 13).
    jain = [0.999, 0.71, 0.99, 0.9]
    t = stats.mean_interval(jain)
    assert t.high > 1
    found = stats.Method().interval(jain, bounds)
    assert found.value == pytest.approx(t.value) and found.low >= 0 and found.high <= bounds[1]
    low = stats.Method().interval([0.0] * 3 + [0.1, 0.2, 0.4, 0.6, 0.9], bounds)
    assert 0 <= low.low < low.value < low.high <= bounds[1]
    assert math.isnan(stats.Method().interval([0.0, 0.0, 0.0, 0.9], bounds).low), "four that are mostly zero have no interval"


def test_bounds_that_the_values_exceed_are_none():
    found = stats.Method().interval([0.9, 1.1, 1.0, 0.97], (0.0, 1.0))
    assert found.low < found.value < found.high


def test_a_difference_never_falls_below_minus_100_percent():
    a, b = [0.0, 0.1, 5.0, 0.2], [4.1, 6.0, 2.2, 4.0]
    assert math.isnan(stats.Method().difference_percent(a, b).low), "with a zero, four pairs have no exact interval"
    found = stats.Method().difference_percent(a * 2, [*b, *(1.1 * value for value in b)])
    assert -100 < found.low < found.value < found.high < math.inf
    # No spread is no certainty: that nothing came in all four runs does not say that nothing ever does.
    nothing = stats.Method().difference_percent([0.0] * 4, b)
    assert nothing.value == -100 and math.isnan(nothing.low)


def test_a_baseline_that_is_nearly_always_zero_gives_no_end_and_decides_nothing():
    vague = stats.ratio_of([0.02] * 10, [1e-6, *[0.0] * 9])
    assert vague.interval(0.95).high == math.inf and vague.p_less(0) > 0.4


def test_a_ratio_of_small_spread_is_that_of_fieller():
    x, y = np.array(SECOND) / 100 + 10, np.array(FIRST) / 100 + 10
    found, n, t = stats.ratio_of(x, y).interval(0.95), len(x), stats.t_quantile(0.975, 9)
    for bound in (found.low, found.high):
        rest = x - (1 + bound / 100) * y
        assert abs(rest.mean()) / (rest.std(ddof=1) / math.sqrt(n)) == pytest.approx(t, rel=2e-3)


def test_welch_on_students_sleep_data():
    # As independent groups: t = 1.8608, 17.776 degrees of freedom, two-sided p = 0.07939 (Welch 1947). Far from zero the log
    # ratio is the difference.
    found = stats.independent_ratio_of(np.array(SECOND) + 1e6, np.array(FIRST) + 1e6)
    assert 2 * found.p_greater() == pytest.approx(0.07939, abs=5e-5)
    assert found.degrees == pytest.approx(17.776, abs=1e-2)


def test_sign_test_on_students_sleep_data():
    # Nine of ten differences are positive, one is zero and speaks for neither: (1 + 10) / 1024.
    found = stats.median_of(np.subtract(SECOND, FIRST))
    assert found.p_greater() == pytest.approx(11 / 1024)
    assert stats.median_of([1] * 8 + [-1] * 2).p_greater() == pytest.approx(56 / 1024)
    assert stats.median_of([1.0] * 8).p_greater(1.0) == 1.0
    # Ten replicates: the second and the ninth (David and Nagaraja, table 7.1: 97.9 %).
    assert found.interval(0.95) == stats.Estimate(1.3, 0.8, 2.4, 10) or found.interval(0.95).low == pytest.approx(0.8)
    assert math.isnan(stats.median_of([1, 2, 3, 4, 5]).interval(0.95).low)
    assert stats.median_of([1, 2, 3, 4, 5, 6]).interval(0.95).low == 1


def test_equal_replicates_are_no_certainty_and_equal_algorithms_differ_by_nothing():
    a = [3.0, 5.0, 4.0, 8.0]
    for method in (stats.Method(), stats.Method("median")):
        assert method.difference_percent(a, a).value == 0
    same = stats.ratio_of(a, a)
    assert same.certain and math.isnan(same.interval(0.95).low)
    assert (same.p_greater(-5), same.p_less(5), same.p_greater(0), same.p_less(0)) == (0.5**4, 0.5**4, 1, 1)
    zero = stats.ratio_of([0.0] * 4, [0.0] * 4)
    assert (zero.value, zero.certain) == (0, True)
    assert math.isnan(stats.ratio_of(a, [0.0] * 4).value)
    assert stats.median_ratio_of([1.0] * 6, [0.0] * 6).value == math.inf


def test_more_replicates_of_the_same_spread():
    a = np.random.default_rng(1).normal(1, 2, 10)
    found = stats.mean_of(a)
    assert found.at(40).error == pytest.approx(found.error / 2)
    assert found.at(10).p_greater() == found.p_greater()
    assert found.at(1000).p_greater() < 1e-6
    assert stats.median_of(a).at(1000).p_greater() < 1e-6
