"""Verdicts on made-up replicates whose truth is known."""

import numpy as np
import pandas as pd
import pytest

from tonopah.analysis import claims
from tonopah.spec.plan import PartPlan, Plan
from tonopah.spec.reader import parse_spec

FLOWS = [10, 20, 30, 40, 50]
RISES, LEVELS, FALLS, STAYS = [10, 20, 30, 40, 50], [10, 20, 28, 29, 29.2], [50, 40, 30, 20, 10], [30] * 5


def world(means: dict[str, list[float]], tests, noise: float = 0.2, replicates: int = 10):
    """Return spec, plan and table of a study in which goodput (Mb/s) has these means over the number of flows."""
    document = {
        "question": "?", "scenario": {}, "replicates": replicates, "compare": {"cc": list(means)},
        "sweep": [{"label": "Flows", "vary": {"network.flows": FLOWS}}],
        "claim": [{"id": "X", "text": "claimed", "test": tests}],
    }  # fmt: skip
    draw, rows = np.random.default_rng(5), []
    for seed in range(1, replicates + 1):
        shared = draw.normal(0, noise)
        for algorithm, values in means.items():
            for flows, value in zip(FLOWS, values, strict=True):
                measured = (value + shared + draw.normal(0, noise / 10)) * 1e6
                rows.append({"run": f"{algorithm}-{flows}-{seed}", "algorithm": algorithm, "seed": seed, "network.flows": flows,
                             "goodput_bps": measured, "delay_s": np.nan})  # fmt: skip
    table = pd.DataFrame(rows)
    part = PartPlan(sweeps=[set(table["run"])], base=set(table[table["network.flows"] == 20]["run"]))
    return parse_spec(document), Plan(parts={"": part}), {"": table}


def verdict(means, **test) -> claims.Verdict:
    return claims.judge(*world(means, {"metric": "goodput_bps", **test}))[0]


@pytest.mark.parametrize(
    ("values", "trend", "expected"),
    [
        (RISES, "increasing", "supported"), (FALLS, "increasing", "contradicted"), (STAYS, "increasing", "undecided"),
        (FALLS, "decreasing", "supported"), (RISES, "decreasing", "contradicted"),
        ([10, 20, 18, 40, 50], "increasing", "supported"), ([10, 50, 40, 30, 28], "increasing", "contradicted"),
        (STAYS, "flat", "supported"), (RISES, "flat", "contradicted"), ([30, 30, 30, 30, 31.9], "flat", "undecided"),
        (LEVELS, "saturating", "supported"), (RISES, "saturating", "contradicted"), (FALLS, "saturating", "contradicted"),
        ([50, 40, 31, 30, 30], "falls, then levels off", "supported"), (FALLS, "falls, then levels off", "contradicted"),
        (LEVELS, "falls, then levels off", "contradicted"), (RISES, "falls, then levels off", "contradicted"),
    ],
)  # fmt: skip
def test_trends(values, trend, expected):
    assert verdict({"reno": values}, trend=trend, over="network.flows").verdict == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [({"above": 9e6}, "supported"), ({"above": 9.85e6}, "undecided"), ({"above": 11e6}, "contradicted"),
     ({"below": 51e6}, "supported"), ({"below": 40e6}, "contradicted")],
)  # fmt: skip
def test_thresholds_hold_at_every_point(condition, expected):
    assert verdict({"reno": RISES}, **condition).verdict == expected


def test_order_is_paired_by_seed():
    # The difference of 0.1 is smaller than the noise of 0.2 that both share, and seen all the same.
    means = {"reno": STAYS, "cubic": [30.1] * 5}
    assert verdict(means, order=["reno", "cubic"], over="network.flows").verdict == "supported"
    assert verdict(means, order=["cubic", "reno"], over="network.flows").verdict == "contradicted"
    assert verdict(means, order=["reno", "cubic"]).verdict == "supported"


def test_a_claim_is_as_good_as_its_worst_test():
    spec, plan, tables = world({"reno": RISES}, [
        {"metric": "goodput_bps", "trend": "increasing", "over": "network.flows"},
        {"metric": "goodput_bps", "trend": "flat", "over": "network.flows"},
    ])  # fmt: skip
    found = claims.judge(spec, plan, tables)[0]
    assert [test.verdict for test in found.tests] == ["supported", "contradicted"]
    assert found.verdict == "contradicted"


def test_what_cannot_be_tested_says_why():
    assert (
        "no metric" in claims.judge(*world({"reno": RISES}, {"metric": "rto_count", "above": 1}))[0].tests[0].readings[0].sentence
    )
    unmeasured = claims.judge(*world({"reno": RISES}, {"metric": "delay_s", "above": 1}))[0]
    assert (unmeasured.verdict, unmeasured.tests[0].readings[0].sentence) == (
        "not testable",
        "No replicate has a value; at least 4 are needed.",
    )
    single = claims.judge(*world({"reno": RISES}, {"metric": "goodput_bps", "above": 1}, replicates=1))[0]
    assert single.verdict == "not testable"
    assert claims.judge(*world({"reno": RISES}, []))[0].verdict == "not testable"


def test_effect_and_interval_are_those_of_the_replicates():
    part = verdict({"reno": RISES}, trend="increasing", over="network.flows").tests[0].readings[0]
    assert part.effect.value == pytest.approx(40, abs=0.1)
    assert part.effect.low < part.effect.value < part.effect.high
    assert (part.effect.n, part.unit) == (10, "Mb/s")


def judge_many(texts: dict[str, list[dict]], means, **world_options) -> list[claims.Verdict]:
    """Judge several claims at once: the criteria of each by its id."""
    _, plan, tables = world(means, [], **world_options)
    document = {
        "question": "?", "scenario": {}, "compare": {"cc": list(means)},
        "sweep": [{"label": "Flows", "vary": {"network.flows": FLOWS}}],
        "claim": [{"id": name, "text": name, "test": tests} for name, tests in texts.items()],
    }  # fmt: skip
    return claims.judge(parse_spec(document), plan, tables)


def test_p_values_are_adjusted_for_the_number_of_claims_only():
    test = {"metric": "goodput_bps", "above": 9.8e6, "over": "network.flows"}
    means = {"reno": RISES}
    alone = judge_many({"X": [test]}, means)[0]
    assert judge_many({"X": [test] * 5}, means)[0].p_for == alone.p_for
    many = judge_many({name: [test] for name in "ABCDE"}, means)
    assert [verdict.p_for for verdict in many] == [pytest.approx(min(1, 5 * alone.p_for))] * 5
    assert claims.comparisons(many) == 5
    # What a single criterion shows agrees with its interval, whatever else is claimed.
    assert {verdict.tests[0].readings[0].p_for for verdict in many} == {alone.tests[0].readings[0].p_for}


def test_contradiction_by_one_of_many_is_adjusted_for_their_number():
    test = {"metric": "goodput_bps", "above": 10.1e6, "over": "network.flows"}
    alone, many = (judge_many({"X": [test] * n}, {"reno": RISES})[0].p_against for n in (1, 5))
    assert many == pytest.approx(min(1, 5 * alone))
