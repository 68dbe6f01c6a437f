"""The words of engines held against one another, from values that are made up."""

import random

import numpy as np
import pytest

from tonopah.cross import judging
from tonopah.cross.measures import Compared

GOODPUT = Compared("goodput_bps.0", "Goodput", "Mb/s", 1e-6, "positive", 5.0)
RETRANSMISSIONS = Compared("retransmitted_packets", "Retransmissions", "", 1.0, "count", 20.0)
JAIN = Compared("jain", "Jain's index", "", 1.0, "share", 0.05)
RANDOM = (False, False)


def test_few_replicates_with_a_large_spread_are_undecided_and_the_number_that_is_said_decides():
    draws = random.Random(7)
    first = [1e6 * draws.lognormvariate(0, 0.05) for _ in range(2000)]
    mine = [1e6 * draws.lognormvariate(0, 0.05) for _ in range(2000)]
    few = judging.judge(GOODPUT, mine[:8], first[:8], RANDOM, np.nan)
    assert judging.word_of(few) == "undecided" and few.needed is not None and few.needed > 8
    many = judging.judge(GOODPUT, mine[: 4 * few.needed], first[: 4 * few.needed], RANDOM, np.nan)
    assert judging.word_of(many) == "equivalent" and many.needed is None
    assert -5 < many.effect.low < many.effect.high < 5


def test_word_and_interval_agree():
    draws, seen = random.Random(3), set()
    for case in range(200):
        shift, spread = draws.choice((1.0, 1.04, 1.06, 1.2)), draws.choice((0.01, 0.04))
        first = [draws.lognormvariate(0, spread) for _ in range(6)]
        found = judging.judge(GOODPUT, [shift * draws.lognormvariate(0, spread) for _ in first], first, RANDOM, np.nan)
        low, high = found.effect.low, found.effect.high
        inside, outside = low > -5 and high < 5, low > 5 or high < -5
        word = judging.word_of(found)
        assert word == ("equivalent" if inside else "different" if outside else "undecided") or np.isnan(low), case
        seen.add(word)
    assert seen == {"equivalent", "different", "undecided"}


@pytest.mark.parametrize("count", [1, 3])
def test_too_few_replicates_decide_nothing(count):
    found = judging.judge(GOODPUT, [1.0, 1.001, 1.002][:count], [2.0, 2.003, 2.001][:count], RANDOM, np.nan)
    assert judging.word_of(found) == "undecided"


def test_one_run_stands_beside_all_of_an_engine_that_varies():
    mine = [1.01e6, 1.012e6, 1.008e6, 1.011e6, 1.009e6]
    assert judging.word_of(judging.judge(GOODPUT, mine, [1e6], (False, True), np.nan)) == "equivalent"
    assert judging.word_of(judging.judge(GOODPUT, [1e6], mine, (True, False), np.nan)) == "equivalent"
    assert judging.word_of(judging.judge(GOODPUT, mine, [1.2e6], (False, True), np.nan)) == "different"


@pytest.mark.parametrize(
    ("value", "word"), [(1.0, "equivalent"), (1.049, "equivalent"), (0.94, "different"), (1.06, "different")]
)
def test_two_runs_in_which_nothing_can_vary_need_no_test(value, word):
    found = judging.judge(GOODPUT, [value], [1.0], (True, True), np.nan)
    assert judging.word_of(found) == word and found.effect.value == pytest.approx(100 * (value - 1))


def test_events_and_indices_are_compared_as_their_kinds_say():
    some = [10.0, 12.0, 11.0, 13.0, 9.0, 12.0]
    assert judging.word_of(judging.judge(RETRANSMISSIONS, some, [0.0] * 6, RANDOM, np.nan)) == "different"
    assert judging.word_of(judging.judge(RETRANSMISSIONS, [0.0] * 6, some, RANDOM, np.nan)) == "different"
    none = judging.judge(RETRANSMISSIONS, [0.0] * 6, [0.0] * 6, RANDOM, np.nan)
    assert judging.word_of(none) == "undecided" and "fewer than 10 events" in none.sentence
    assert judging.word_of(judging.judge(RETRANSMISSIONS, [0.0], [0.0], (True, True), np.nan)) == "equivalent"
    assert judging.word_of(judging.judge(RETRANSMISSIONS, [3.0], [0.0], (True, True), np.nan)) == "different"
    loss = Compared("loss_ratio", "Loss", "%", 100.0, "proportion", 20.0)
    ratios = [0.001, 0.0011, 0.0012, 0.001, 0.0011, 0.0009]
    assert judging.word_of(judging.judge(loss, ratios, ratios, RANDOM, 9.0)) == "undecided"
    assert judging.word_of(judging.judge(loss, ratios, ratios, RANDOM, 900.0)) == "equivalent"
    fair = [0.99, 0.98, 0.985, 0.975, 0.99, 0.98]
    unfair = [0.7, 0.71, 0.69, 0.72, 0.7, 0.68]
    assert judging.word_of(judging.judge(JAIN, [x - 0.001 for x in fair], fair, RANDOM, np.nan)) == "equivalent"
    assert judging.word_of(judging.judge(JAIN, unfair, fair, RANDOM, np.nan)) == "different"


@pytest.mark.parametrize("shift", [1.05, 1 / 1.05])
def test_at_the_margin_itself_either_word_is_seldom_wrong(shift):
    """Two one-sided tests at 2.5 %: the true ratio is the margin, or so near to it as its other side allows."""
    draws, seen = random.Random(11), {"equivalent": 0, "different": 0, "undecided": 0}
    for _ in range(1000):
        first = [draws.lognormvariate(0, 0.02) for _ in range(10)]
        mine = [shift * draws.lognormvariate(0, 0.02) for _ in first]
        seen[judging.word_of(judging.judge(GOODPUT, mine, first, RANDOM, np.nan))] += 1
    # 25 are expected of 1000; 40 have a probability below 0.3 %. A ratio of 1 / 1.05 is 0.24 % inside.
    assert seen["different"] <= 40 and seen["equivalent"] <= (40 if shift > 1 else 80) and seen["undecided"] > 850
