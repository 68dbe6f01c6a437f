"""The method of the verdicts, judged by studies whose truth is known, at a reduced size (`make method` for the full one)."""

import numpy as np
import pytest
from method_kinds import CASES, LEVEL, wrong
from method_simulation import judge, make_study, simulate
from scipy.stats import binom

from tonopah import stats
from tonopah.analysis import verdicts

STUDIES = 45


@pytest.fixture(scope="module")
def found():
    return simulate(STUDIES, seed=3)["all"]


def at_most(share: float, whole: int) -> float:
    """Return how many wrong ones of so many are compatible with a share, but for one case in a thousand."""
    return binom.ppf(0.999, whole, share)


def test_few_studies_have_a_wrong_verdict(found):
    assert found["studies wrong effect"] <= at_most(0.05, STUDIES)
    assert found["studies wrong no effect"] <= at_most(0.05, STUDIES)


def test_few_criteria_have_a_wrong_verdict(found):
    decided = found["criteria wrong supported"] + found["criteria wrong contradicted"]
    assert decided <= at_most(0.05, found["criteria"])
    assert found["criteria wrong no effect"] <= at_most(0.05, found["criteria"])


def test_verdicts_are_given(found):
    """A judge who never decides is never wrong."""
    for verdict in ("supported", "contradicted", "no effect"):
        assert found[f"criteria {verdict}"] > found["criteria"] / 20
        assert found[f"claims {verdict}"] > 0


def test_the_simulation_sees_a_method_that_is_wrong(monkeypatch):
    """Ten times the level, and no adjustment for the number of claims."""
    monkeypatch.setattr(verdicts, "ALPHA", 0.25)
    monkeypatch.setattr(stats, "holm", list)
    sloppy = simulate(20, seed=3)["all"]
    decided = sloppy["criteria wrong supported"] + sloppy["criteria wrong contradicted"]
    assert decided > at_most(0.05, sloppy["criteria"])
    assert sloppy["studies wrong effect"] / 20 > 0.1


def test_the_same_seed_gives_the_same_verdicts():
    made, tables = make_study(np.random.default_rng(5), "skewed", 8)
    assert [one.verdict for one in judge(made, tables)] == [one.verdict for one in judge(made, tables)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}, {case.what}")
def test_equal_laws_are_seldom_said_to_differ_whatever_is_measured(case):
    draw, studies = np.random.default_rng(2), 12
    rates = np.sum([wrong(case, draw) for _ in range(studies)], axis=0)
    # Three sizes of each study are not independent: their sum has at most the spread of the studies.
    assert max(rates[:2]) <= at_most(LEVEL, studies)
    assert max(rates[2:]) <= at_most(LEVEL, studies)
