"""Statistics against textbook values."""

import math

import numpy as np
import pytest

from tonopah import stats

# Student's sleep data (Biometrika 6, 1908, p. 20): extra hours of sleep of ten patients with two drugs.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_paired_difference_of_students_sleep_data():
    difference = stats.difference_interval(SECOND, FIRST)
    assert difference.value == pytest.approx(1.58)
    assert (difference.low, difference.high) == (pytest.approx(0.7001142, abs=1e-6), pytest.approx(2.4598858, abs=1e-6))
    assert difference.n == 10


def test_one_sided_p_values_of_students_sleep_data():
    steps = np.subtract(SECOND, FIRST)
    assert stats.p_greater(steps) == pytest.approx(0.002833 / 2, abs=1e-6)
    assert stats.p_less(steps) == pytest.approx(1 - 0.002833 / 2, abs=1e-6)


def test_mean_interval_of_one_two_three():
    # s = 1, t(0.975, 2) = 4.302653: half width 4.302653 / sqrt(3)
    estimate = stats.mean_interval([1, 2, 3])
    assert estimate.value == 2
    assert estimate.high - estimate.value == pytest.approx(4.302653 / math.sqrt(3), abs=1e-6)


def test_missing_values_are_left_out_and_few_values_have_no_interval():
    assert stats.mean_interval([1.0, math.nan, 3.0]).n == 2
    assert math.isnan(stats.mean_interval([5.0]).low)
    assert math.isnan(stats.mean_interval([]).value)
    assert math.isnan(stats.p_greater([1.0]))


def test_fieller_bounds_are_where_the_paired_t_test_turns():
    difference = stats.difference_percent(SECOND, [value + 10 for value in FIRST])
    y = np.array(FIRST) + 10
    for bound in (difference.low, difference.high):
        rest = np.array(SECOND) - (1 + bound / 100) * y
        t = abs(rest.mean()) / (rest.std(ddof=1) / math.sqrt(10))
        assert t == pytest.approx(stats.t_quantile(0.975, 9), rel=1e-9)
    assert difference.low < difference.value < difference.high


def test_fieller_with_a_constant_baseline_is_the_t_interval():
    difference, mean = stats.difference_percent(SECOND, [50.0] * 10), stats.mean_interval(SECOND)
    assert difference.low == pytest.approx(100 * (mean.low / 50 - 1))
    assert difference.high == pytest.approx(100 * (mean.high / 50 - 1))


def test_difference_in_percent_is_empty_where_the_baseline_is_zero():
    assert math.isnan(stats.difference_percent([1.0, 2.0], [0.0, 0.0]).value)
    unclear = stats.difference_percent([1.0, 2.0, 3.0], [-1.0, 1.0, 0.1])
    assert math.isnan(unclear.low)


def test_equal_replicates_are_certain():
    assert stats.p_greater([2.0, 2.0, 2.0], 1.0) == 0.0
    assert stats.p_greater([1.0, 1.0], 1.0) == 1.0
    assert stats.difference_percent([2.0, 2.0], [1.0, 1.0]) == stats.Estimate(100.0, 100.0, 100.0, 2)


def test_holm_steps_down():
    assert stats.holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert stats.holm([0.04, 0.001]) == pytest.approx([0.04, 0.002])
    assert stats.holm([math.nan, 0.02])[1] == pytest.approx(0.02)


def test_jain_index_vectors():
    assert stats.jain([1, 2, 3]) == pytest.approx(0.857143, abs=1e-6)
    assert stats.jain([4, 0, 0, 0]) == 0.25
    assert math.isnan(stats.jain([0, 0]))


def test_slope_of_a_line_is_exact():
    assert stats.slope([10, 20, 40], [1, 3, 7]) == pytest.approx(0.2)


def test_bootstrap_is_repeatable_and_close_to_the_t_interval():
    values = np.random.default_rng(7).normal(10, 2, 200)
    first = stats.bootstrap_interval(values, np.mean)
    assert first == stats.bootstrap_interval(values, np.mean)
    exact = stats.mean_interval(values)
    assert (first.low, first.high) == (pytest.approx(exact.low, abs=0.05), pytest.approx(exact.high, abs=0.05))
