"""Statistics against textbook values."""

import math

import numpy as np
import pytest

from tonopah import stats

# Student's sleep data (Biometrika 6, 1908, p. 20): extra hours of sleep of ten patients with two drugs.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_interval_of_the_differences_of_students_sleep_data():
    difference = stats.mean_interval(np.subtract(SECOND, FIRST))
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


def test_welch_on_students_sleep_data():
    # As two independent groups: t = 1.8608 with 17.776 degrees of freedom, two-sided p = 0.07939 (Welch 1947).
    assert 2 * stats.welch_p_greater(SECOND, FIRST) == pytest.approx(0.07939, abs=5e-6)
    assert stats.welch_p_greater(FIRST, SECOND) == pytest.approx(1 - 0.07939 / 2, abs=5e-6)
    assert stats.welch_p_greater([2.0, 2.0], [1.0, 1.0]) == 0.0
    assert math.isnan(stats.welch_p_greater([2.0], [1.0, 1.0]))


def test_sign_test_on_students_sleep_data():
    # Nine differences are positive and one is zero: 0.5 ** 9.
    assert stats.sign_test_greater(np.subtract(SECOND, FIRST)) == pytest.approx(0.5**9)
    # 8 of 10 above the bound: (1 + 10 + 45) / 1024.
    assert stats.sign_test_greater([1] * 8 + [-1] * 2) == pytest.approx(56 / 1024)
    assert stats.sign_test_greater([1.0, 1.0], 1.0) == 1.0


def test_ratio_of_independent_samples_is_wider_than_paired_and_agrees_with_a_constant_baseline():
    mean = stats.mean_interval(SECOND)
    against = stats.independent_ratio_percent(SECOND, [50.0] * 10)
    assert against.low == pytest.approx(100 * (mean.low / 50 - 1))
    y = [value + 10 for value in FIRST]
    paired, apart = stats.difference_percent(SECOND, y), stats.independent_ratio_percent(SECOND, y)
    assert apart.value == pytest.approx(paired.value)
    assert apart.high - apart.low > paired.high - paired.low


def test_medians_are_not_ruled_by_one_value():
    method = stats.Method("median")
    values, base = [10.0, 11, 12, 11, 10, 12, 11, 1000], [5.0, 5.5, 6, 5.5, 5, 6, 5.5, 5.5]
    assert method.interval(values).value == 11
    difference = method.difference_percent(values, base)
    assert (difference.value, difference.n) == (pytest.approx(100), 8)
    assert method.p_greater(np.subtract(values, base)) == pytest.approx(0.5**8)
    assert method.p_less(values, 5) == pytest.approx(1.0)


def test_a_method_states_its_level():
    assert stats.Method().alpha == pytest.approx(0.025)
    wide, narrow = stats.Method(confidence=0.99).interval(FIRST), stats.Method().interval(FIRST)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_ratio_of_medians_has_no_interval_where_a_resample_may_have_no_baseline():
    unclear = stats.median_difference_percent([1.0, 2.0, 3.0], [0.0, 0.0, 1.0])
    assert math.isnan(unclear.value)
    unclear = stats.median_difference_percent([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
    assert unclear.value == pytest.approx(100) and unclear.unbounded


def test_replicates_that_agree_to_rounding_have_an_interval_of_no_width():
    third = [0.1 + 0.2, 0.3, 0.3]
    assert stats.mean_interval(third).half_width == 0.0
    assert stats.p_greater(third, 0.2) == 0.0
    assert stats.welch_p_greater(third, [0.2, 0.1 + 0.1]) == 0.0
    assert 0.5 < stats.welch_p_greater([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]) < 1.0


def test_a_line_through_points_above_one_another_has_no_slope():
    assert math.isnan(stats.slope([1, 1], [2, 3]))
