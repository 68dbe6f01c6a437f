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
    # Two of them are 1.3: without this tie a t test is made.
    untied = stats.mean_of([*steps[:3], 1.3 + 1e-6, *steps[4:]])
    assert untied.p_greater() == pytest.approx(0.002833 / 2, abs=1e-6)
    assert untied.p_less() == pytest.approx(1 - 0.002833 / 2, abs=1e-6)
    # The exact test: only the signs of the difference that is 0 do not matter, so 2 of 1024.
    assert stats.mean_of(steps).p_greater() == pytest.approx(2 / 1024)


def test_mean_interval_of_one_two_three():
    # s = 1, t(0.975, 2) = 4.302653: half width 4.302653 / sqrt(3)
    estimate = stats.mean_interval([1, 2, 3])
    assert estimate.value == 2
    assert estimate.high - estimate.value == pytest.approx(4.302653 / math.sqrt(3), abs=1e-6)


def test_missing_values_are_left_out_and_few_values_have_no_interval():
    assert stats.mean_interval([1.0, math.nan, 3.0]).n == 2
    assert math.isnan(stats.mean_interval([5.0]).low)
    assert math.isnan(stats.mean_interval([]).value)
    assert math.isnan(stats.mean_of([1.0, 2.0, 4.0]).p_greater())
    assert math.isnan(stats.Method().interval([1.0, 2.0, 4.0]).low)


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
    assert stats.slope([10, 20, 40], [[1, 3, 7], [7, 5, 1]]) == pytest.approx([0.2, -0.2])


def test_medians_are_not_ruled_by_one_value():
    method = stats.Method("median")
    values, base = [10.0, 11, 12, 11, 10, 12, 11, 1000], [5.0, 5.5, 6, 5.5, 5, 6, 5.5, 5.5]
    assert method.interval(values).value == 11
    difference = method.difference_percent(values, base)
    assert (difference.value, difference.n) == (pytest.approx(100), 8)
    assert method.quantity(np.subtract(values, base)).p_greater() == pytest.approx(0.5**8)
    assert method.quantity(values).p_less(5) == pytest.approx(1.0)


def test_a_method_states_its_level():
    assert stats.Method().alpha == pytest.approx(0.025)
    wide, narrow = stats.Method(confidence=0.99).interval(FIRST), stats.Method().interval(FIRST)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_replicates_that_agree_to_rounding_have_an_interval_of_no_width():
    third = [0.1 + 0.2, 0.3, 0.3]
    assert stats.mean_interval(third).half_width == 0.0
    four = stats.mean_of([*third, 0.3])
    assert four.certain and four.p_greater(0.2) == 0.5**4 and four.p_greater(0.3) == four.p_less(0.3) == 1.0
    assert math.isnan(four.interval(0.95).low) and "up to 60 %" in four.no_interval


def test_a_line_through_points_above_one_another_has_no_slope():
    assert math.isnan(stats.slope([1, 1], [2, 3]))


def test_a_share_has_the_exact_interval_of_clopper_and_pearson():
    # 0 of 10: 1 - 0.025^(1/10); 3 of 10: 6.67 to 65.25 % (Clopper, Pearson 1934).
    none = stats.Method().interval([0.0] * 10, (0.0, 1.0), "outcome")
    assert (none.value, none.low) == (0, 0) and none.high == pytest.approx(1 - 0.025**0.1)
    some = stats.Method("median").interval([0.0] * 7 + [100.0] * 3, (0.0, 100.0), "outcome")
    assert (some.value, some.n) == (30, 10)
    assert (some.low, some.high) == (pytest.approx(6.674, abs=1e-3), pytest.approx(65.245, abs=1e-3))
    assert math.isnan(stats.Method().interval([0.0, 1.0, 1.0], (0.0, 1.0), "outcome").low)
    with pytest.raises(ValueError, match="lower bound or the upper"):
        stats.share_of([0.0, 0.5])


def test_the_binomial_test_agrees_with_the_interval_of_a_share():
    assert stats.Share(9, 10).p_greater(0.5) == pytest.approx(11 / 1024)
    assert stats.Share(0, 10).p_less(0.25) == pytest.approx(0.75**10)
    assert stats.Share(1, 10).p_greater(0.0) == 0 and stats.Share(0, 10).p_greater(0.0) == 1
    for count in range(11):
        share = stats.Share(count, 10, 0.0, 100.0)
        found = share.interval(0.95)
        for bound in (-1.0, *(found.low + x for x in (-1e-6, 1e-6)), *(found.high + x for x in (-1e-6, 1e-6)), 50.0, 101.0):
            assert (share.p_greater(bound) < 0.025) == (found.low > bound)
            assert (share.p_less(bound) < 0.025) == (found.high < bound)


def test_both_means_have_one_rule():
    values = [3.0, 1.0, 4.0, 1.5, 5.0]
    assert stats.mean_interval(values) == stats.mean_of(values).interval(stats.CONFIDENCE)
    assert math.isnan(stats.mean_of(values[:3]).interval(stats.CONFIDENCE).low)


def test_times_of_zero_on_either_side_leave_a_value_and_no_gap_among_the_ranks():
    """The middle of a pair that is infinitely shorter and one that is infinitely longer may be anywhere."""
    found = stats.ratio_of([0.0, 1.0, 2.0, 3.0, 0.0], [1.0, 0.0, 2.0, 1.0, 0.0], longer=([False] * 4 + [True], [False] * 5))
    assert found.value == 0.0 and not np.isnan(found.above).any() and not np.isnan(found.below).any()
    # Each sorted: what is undecided counts against a statement, on either side.
    assert (found.above[:5] == -100).all() and found.above[5] > -100
    assert (found.below[:3] == -100).all() and (found.below[6:] == np.inf).all()
    clean = stats.ratio_of([1.0, 2.0, 4.0], [2.0, 2.0, 2.0], longer=([False, False, True], [False] * 3))
    assert clean.value == 0.0
