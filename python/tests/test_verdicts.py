"""The verdicts: what each means, how that of a claim follows, and how many replicates would decide."""

import math

import numpy as np
import pandas as pd
import pytest
from test_claims import FLOWS, RISES, STAYS, judge_many, verdict, world

import tonopah as tp
from tonopah.analysis import claims
from tonopah.analysis.verdicts import Judgement, most
from tonopah.spec.plan import PartPlan, Plan
from tonopah.spec.reader import parse_spec

OVER = {"over": "network.flows"}
SWEEP = [{"vary": {"network.flows": FLOWS}}]
TURNS, DIPS = [10, 20, 30, 22, 12], [30, 20, 10, 18, 28]


def differs(means, replicates=10, noise=0.2, **condition):
    """Judge a difference of cubic from reno at the nominal point."""
    test = {"metric": "goodput_bps", "difference": {"of": "cubic", "to": "reno"}, **condition}
    return claims.judge(*world(means, test, noise=noise, replicates=replicates))[0]


@pytest.mark.parametrize(
    ("values", "trend", "expected"),
    [
        (TURNS, "rises, then falls", "supported"), (DIPS, "rises, then falls", "contradicted"),
        (RISES, "rises, then falls", "contradicted"), (RISES[::-1], "rises, then falls", "contradicted"),
        (DIPS, "falls, then rises", "supported"), (TURNS, "falls, then rises", "contradicted"),
        ([10, 30, 20, 20, 12], "rises, then falls", "supported"), (STAYS, "rises, then falls", "undecided"),
        # What does as it is said is no failure because of its first step (F5 of the study tcp-fr).
        (TURNS, "decreasing", "contradicted"), ([40, 41, 30, 20, 10], "decreasing", "supported"),
    ],
)  # fmt: skip
def test_shapes(values, trend, expected):
    assert verdict({"reno": values}, trend=trend, **OVER).verdict == expected


def test_a_turn_says_where_it_is():
    sentence = verdict({"reno": TURNS}, trend="rises, then falls", **OVER).sentence
    assert "the highest inside is at 30, the effect is its distance from 50" in sentence


def test_no_effect_is_not_undecided():
    same = {"reno": STAYS, "cubic": [30.01] * 5}
    assert differs(same, above_percent=0, margin_percent=1).verdict == "no effect"
    assert differs(same, below_percent=0, margin_percent=1).verdict == "no effect"
    # Without a margin nobody has said what would be an effect.
    assert differs(same, below_percent=0, noise=5).verdict == "undecided"
    assert differs({"reno": STAYS, "cubic": [30.6] * 5}, above_percent=0, margin_percent=1).verdict == "supported"
    assert verdict({"reno": STAYS}, trend="increasing", margin_percent=3, **OVER).verdict == "no effect"
    assert verdict(same, order=["reno", "cubic"], margin_percent=3).verdict == "no effect"


def test_an_effect_within_the_margin_is_none_even_if_it_is_significant():
    means = {"reno": STAYS, "cubic": [30.15] * 5}
    assert differs(means, above_percent=0).verdict == "supported"
    assert differs(means, above_percent=0, margin_percent=1).verdict == "no effect"
    assert differs(means, below_percent=0).verdict == "contradicted"
    assert differs(means, below_percent=0, margin_percent=1).verdict == "no effect"


def equal_runs(replicates=10):
    """Return a random world in which both algorithms do the same."""
    spec, plan, tables = world({"reno": STAYS, "cubic": STAYS}, [], replicates=replicates)
    table = tables[""]
    reno = table[table["algorithm"] == "reno"].set_index(["seed", "network.flows"])["goodput_bps"]
    keys = zip(table["seed"], table["network.flows"], strict=True)
    table["goodput_bps"] = [reno[key] for key in keys]
    return spec, plan, tables


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_equal_runs_show_equality(statistic):
    # Bug B4: difference 0 [0, 0] %, "not supported", p = 0.51.
    _, plan, tables = equal_runs()
    of = {"metric": "goodput_bps", "difference": {"of": "cubic"}}
    tests = {"same": [of | {"within_percent": 5}], "more": [of | {"above_percent": 0}]}
    document = {"question": "?", "scenario": {}, "statistic": statistic, "compare": {"cc": ["reno", "cubic"]}, "sweep": SWEEP}
    document["claim"] = [{"id": name, "text": name, "test": test} for name, test in tests.items()]
    same, more = claims.judge(parse_spec(document), plan, tables)
    # Ten equal pairs: equality is what all of them show. Without a margin nothing is no effect.
    assert (same.verdict, more.verdict) == ("supported", "undecided")
    effect = same.tests[0].readings[0].effect
    assert (effect.value, effect.n) == (0, 10)
    assert statistic == "median" or (math.isnan(effect.low) and "up to 31 %" in same.tests[0].readings[0].sentence)


def test_replicates_of_one_run_are_one_replicate():
    # Bug B1: ten copies of one run gave "supported, 3.915 [3.915, 3.915] %, n = 10, p < 0.001".
    spec, plan, tables = world({"reno": STAYS, "cubic": [31] * 5}, [])
    table = tables[""]
    for column in ("goodput_bps",):
        table[column] = [1e6 * (31 if label == "cubic" else 30) for label in table["algorithm"]]
    test = {"metric": "goodput_bps", "difference": {"of": "cubic"}, "above_percent": 0}
    document = {"question": "?", "scenario": {}, "compare": {"cc": ["reno", "cubic"]}, "sweep": SWEEP}
    document["claim"] = [{"id": "X", "text": "claimed", "test": test}]
    found = claims.judge(parse_spec(document), plan, tables)[0]
    outcome = found.tests[0].readings[0]
    assert (found.verdict, outcome.effect.n) == ("not testable", 1)
    assert outcome.effect.value == pytest.approx(100 / 30) and np.isnan(outcome.effect.low) and np.isnan(outcome.p_for)
    assert "nothing in the world is random" in found.sentence
    # The same metric in all replicates of a random world is evidence: something else differs.
    table["events"] = np.arange(len(table))
    assert claims.judge(parse_spec(document), plan, tables)[0].verdict == "supported"
    assert spec.claims


@pytest.mark.parametrize("replicates", [2, 3])
def test_few_replicates_have_no_interval_and_no_verdict(replicates):
    found = differs({"reno": STAYS, "cubic": [40] * 5}, replicates=replicates, above_percent=0)
    outcome = found.tests[0].readings[0]
    assert found.verdict == outcome.verdict == "undecided"
    assert np.isnan(outcome.effect.low) and outcome.effect.n == replicates
    assert found.needed == 4
    assert f"{replicates} replicates are too few" in found.sentence and "About 4 replicates would decide" in found.sentence


def test_the_replicates_that_are_said_to_be_needed_decide_four_times_of_five():
    said, labels, draw = [], ["reno", "cubic"], np.random.default_rng(2)

    def differences(n):
        table = pd.DataFrame([
            {"run": f"{label}{k}", "algorithm": label, "seed": k, "goodput_bps": 1e6 * (mean + draw.normal())}
            for k in range(n) for label, mean in zip(labels, (10.0, 10.4), strict=True)
        ])  # fmt: skip
        test = {"metric": "goodput_bps", "difference": {"of": "cubic"}, "above_percent": 0}
        document = {"question": "?", "scenario": {}, "compare": {"cc": labels}}
        document["claim"] = [{"id": "X", "text": "t", "test": test}]
        plan = Plan(parts={"": PartPlan(sweeps=[], base=set(table["run"]))})
        return claims.judge(parse_spec(document), plan, {"": table})[0]

    for _ in range(40):
        found = differences(40)
        if found.verdict == "undecided" and found.needed:
            said.append(found.needed)
    # Effect 0.4, standard deviation of a difference √2: (1.96 + 0.84)² · 2 / 0.16 = 98. The estimates scatter around it.
    assert len(said) > 10 and min(said) > 40
    decided = sum(differences(100).verdict == "supported" for _ in range(60))
    assert 0.6 < decided / 60 < 0.95


def test_a_quick_run_is_not_judged():
    spec, plan, tables = world(
        {"reno": RISES}, [{"metric": "goodput_bps", "trend": "increasing", **OVER}, {"not_testable": "Taste."}]
    )
    found = claims.judge(spec, plan, tables, quick=True)[0]
    outcome = found.tests[0].readings[0]
    assert (found.verdict, outcome.verdict) == ("not judged", "not judged")
    assert outcome.effect.value == pytest.approx(40, abs=0.2) and np.isnan(outcome.p_for)
    assert found.sentence.startswith("Not judged with --quick.")
    assert claims.comparisons([found]) == 0


def test_a_claim_is_the_worst_of_what_it_joins():
    rises, falls = ({"metric": "goodput_bps", "trend": t, **OVER} for t in ("increasing", "decreasing"))
    vague = {"metric": "goodput_bps", "above": 9.9e6, **OVER}
    none = {"metric": "goodput_bps", "difference": {"of": "b"}, "above_percent": 0, "margin_percent": 5}
    means = {"a": RISES, "b": RISES}

    def joined(*tests):
        return judge_many({"X": list(tests)}, means)[0].verdict

    assert joined(rises) == "supported"
    assert joined(rises, vague) == "undecided"
    assert joined(rises, vague, none) == "no effect"
    assert joined(rises, vague, none, falls) == "contradicted"
    assert joined(rises, {"not_testable": "Taste."}) == "supported"


def test_a_claim_among_many_may_be_undecided_though_its_criterion_is_supported():
    alone = {"metric": "goodput_bps", "above": 9.85e6, **OVER}
    found = judge_many({"X": [alone]}, {"reno": RISES})[0]
    bound = 9.85e6
    while found.verdict != "supported":
        bound -= 0.005e6
        alone = alone | {"above": bound}
        found = judge_many({"X": [alone]}, {"reno": RISES})[0]
    many = judge_many({f"X{i}": [alone] for i in range(40)}, {"reno": RISES})[0]
    assert (many.tests[0].verdict, many.verdict) == ("supported", "undecided")
    assert "By itself the claim is supported; with the number of claims" in many.sentence
    assert many.needed > 10


def test_the_sentence_is_that_of_the_test_that_is_contradicted_by_itself():
    """Among many claims it decides nothing; a test that holds before it, or is undecided, is not shown with its verdict."""
    bound, fails, holds = 9.85e6, {}, {"metric": "goodput_bps", "trend": "increasing", **OVER}
    vague, found = {"metric": "goodput_bps", "above": 9.9e6, **OVER}, None
    while found is None or found.verdict != "contradicted":
        bound += 0.005e6
        fails = {"metric": "goodput_bps", "above": bound, **OVER}
        found = judge_many({"X": [holds, vague, fails]}, {"reno": RISES})[0]
    many = judge_many({f"X{i}": [holds, vague, fails] for i in range(40)}, {"reno": RISES})[0]
    assert [test.verdict for test in many.tests] == ["supported", "undecided", "contradicted"] and many.verdict == "undecided"
    assert many.decisive is many.tests[2]
    said = [test.decisive.asked in many.sentence for test in many.tests]
    assert said == [False, False, True]
    assert "By itself the claim is contradicted; with the number of claims" in many.sentence


def test_the_figure_that_decides():
    document = {
        "question": "?", "scenario": {}, "compare": {"cc": ["reno"]}, "sweep": [{"vary": {"network.flows": FLOWS}}],
        "figure": [
            {"kind": "line", "x": "network.flows", "y": ["goodput_bps"]}, {"kind": "bar", "y": ["goodput_bps", "delay_s"]},
        ],
        "claim": [
            {"id": "A", "text": "t", "test": {"metric": "goodput_bps", "trend": "increasing", **OVER}},
            {"id": "B", "text": "t", "test": {"metric": "goodput_bps", "above": 1}},
            {
                "id": "C", "text": "t", "test": {"metric": "goodput_bps", "above": 1}, "figure": {"metric": "delay_s"},
                "mechanism": "So.",
            },
            {"id": "D", "text": "t", "test": {"metric": "jain", "above": 1}},
        ],
    }  # fmt: skip
    _, plan, tables = world({"reno": RISES}, [])
    found = claims.judge(parse_spec(document), plan, tables)
    shown = [(one.figure.metric, one.figure.over) if one.figure else None for one in found]
    assert shown == [("goodput_bps", "network.flows"), ("goodput_bps", ""), ("delay_s", ""), None]
    assert [one.mechanism for one in found] == ["", "", "So.", ""]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"headline": "Z"}, "headline: 'Z' is unknown (claims: A; or a figure"),
        ({"headline": {"metric": "goodput"}}, "no figure shows goodput (allowed: goodput_bps; did you mean goodput_bps?)"),
        ({"headline": {"metric": "goodput_bps"}}, "headline.over: is missing (axes of these figures: network.flows)"),
        ({"headline": {"metric": "goodput_bps", "over": "network.nodes"}}, "no figure shows goodput_bps over network.nodes"),
        ({"claim": {"figure": {"metric": "delay_s"}}}, "claim[0].figure.metric: no figure shows delay_s"),
        ({"claim": {"figure": "line"}}, "claim[0].figure: 'line' is not a table"),
        ({"claim": {"margin_percent": 2}}, "claim[0].margin_percent: has no effect: no criterion has a use for it"),
        ({"test": {"above_percent": 3, "margin_percent": 4}}, "margin_percent: is larger than the claimed effect (at most 3)"),
        ({"test": {"below_percent": 3, "margin_percent": 1}}, "margin_percent: has no meaning: no difference at all satisfies"),
        ({"test": {"within_percent": 3, "margin_percent": 1}}, "margin_percent: has no meaning: no difference at all satisfies"),
        ({"test": {"above_percent": 0, "margin_percent": 0}}, "margin_percent: 0 is out of range (0.001 to 1000)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(change, message):
    test = {"metric": "goodput_bps", "difference": {"of": "cubic"}, **change.get("test", {"within_percent": 1})}
    document = {
        "question": "?", "scenario": {}, "compare": {"cc": ["reno", "cubic"]}, "sweep": [{"vary": {"network.flows": FLOWS}}],
        "figure": [{"kind": "line", "x": "network.flows", "y": ["goodput_bps"]}],
        "claim": [{"id": "A", "text": "t", "test": test, **change.get("claim", {})}],
    }  # fmt: skip
    with pytest.raises(tp.InputError) as caught:
        parse_spec(document | {key: value for key, value in change.items() if key == "headline"})
    assert message in str(caught.value)


def test_the_most_of_unknown_numbers_is_unknown():
    assert (most([3, 7]), most([3, None]), most([])) == (7, None, None)
    assert Judgement.__dataclass_fields__["needed"].default is None


def test_with_several_looks_the_p_value_agrees_with_the_wider_interval():
    spec, plan, tables = world({"reno": STAYS, "cubic": [30.05] * 5}, [], replicates=12)
    test = {"metric": "goodput_bps", "difference": {"of": "cubic"}, "above_percent": 0}
    document = {"question": "?", "scenario": {}, "compare": {"cc": ["reno", "cubic"]}, "sweep": SWEEP}
    document["claim"] = [{"id": "X", "text": "claimed", "test": test}]
    spec, found = parse_spec(document), {}
    for looks in (1, 5, 50, 5000):
        spec.parts[0].confidence = 1 - 0.05 / looks
        outcome = claims.judge(spec, plan, tables)[0].tests[0].readings[0]
        assert (outcome.verdict == "supported") == (outcome.effect.low > 0)
        found[looks] = outcome
    assert found[50].p_for == pytest.approx(10 * found[5].p_for)
    assert [found[1].verdict, found[5000].verdict] == ["supported", "undecided"]


def test_two_parts_that_stop_each_on_its_own_have_the_product_of_their_looks():
    document = {
        "question": "?", "scenario": {}, "compare": {"cc": ["reno"]}, "part": [{"id": "one"}, {"id": "two"}],
        "claim": [{"id": "X", "text": "t", "test": {"metric": "goodput_bps", "parts": ["one", "two"], "above_percent": 0}}],
    }  # fmt: skip
    spec = parse_spec(document)
    spec.parts[0].confidence, spec.parts[1].confidence = 1 - 0.05 / 4, 1 - 0.05 / 3
    assert claims.method_of(spec.claims[0].tests[0], spec).confidence == pytest.approx(1 - 0.05 / 12)
