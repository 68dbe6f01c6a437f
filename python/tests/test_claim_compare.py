"""Differences, published effects, readings and comparisons of parts, on made-up replicates whose truth is known."""

import numpy as np
import pandas as pd
import pytest

import tonopah as tp
from tonopah.analysis import claims
from tonopah.spec.plan import PartPlan, Plan
from tonopah.spec.reader import parse_spec, reduce_spec

NODES = [20, 40, 60]
FLAT = [30.0, 30.0, 30.0]


def part(name, means, noise, replicates, seed):
    """Return the plan and table of a part: goodput (Mb/s) over the number of nodes; a second reading is the half of it."""
    draw, rows = np.random.default_rng(seed), []
    for k in range(1, replicates + 1):
        shared = draw.normal(0, noise)
        for label, values in means.items():
            for nodes, value in zip(NODES, values, strict=True):
                goodput = (value + shared + draw.normal(0, noise / 10)) * 1e6
                rows.append({"run": f"{name}-{label}-{nodes}-{k}", "algorithm": label, "seed": k, "network.nodes": nodes,
                             "goodput_bps": goodput, "throughput_bps": 60e6 - goodput, "loss_ratio": 0.0,
                             "marked_packets": goodput * (label == "ewphcc")})  # fmt: skip
    table = pd.DataFrame(rows)
    return PartPlan(sweeps=[set(table["run"])], base=set(table[table["network.nodes"] == 40]["run"])), table


def judge(tests, means, other=None, noise=0.2, replicates=10, **claim):
    parts = {"one": means} | ({"two": other} if other else {})
    document = {
        "question": "?", "scenario": {}, "replicates": replicates,
        "sweep": [{"label": "Nodes", "vary": {"network.nodes": NODES}}],
        "part": [{"id": name, "title": name, "compare": {"cc": list(of)}} for name, of in parts.items()],
        "claim": [{"id": "X", "text": "claimed", "part": "one", "test": tests, **claim}],
    }  # fmt: skip
    made = {name: part(name, of, noise, replicates, seed) for seed, (name, of) in enumerate(parts.items())}
    spec = parse_spec({k: v for k, v in document.items() if k != "claim"} | {"claim": document["claim"]})
    return claims.judge(spec, Plan(parts={n: m[0] for n, m in made.items()}), {n: m[1] for n, m in made.items()})[0]


def difference(means=None, **condition):
    means = means or {"vegas": FLAT, "ewphcc": [31.5, 31.5, 31.5]}
    return judge({"metric": "goodput_bps", "difference": {"of": "ewphcc"}, **condition}, means)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"above_percent": 0}, "supported"), ({"above_percent": 4}, "supported"), ({"above_percent": 6}, "contradicted"),
        ({"below_percent": 6}, "supported"), ({"below_percent": 0}, "contradicted"),
        ({"within_percent": 6}, "supported"), ({"within_percent": 4}, "contradicted"), ({"within_percent": 5}, "undecided"),
        ({"above_percent": 4, "over": "network.nodes"}, "supported"),
        ({"above_percent": 4, "at": {"network.nodes": 20}}, "supported"),
    ],
)  # fmt: skip
def test_differences_in_percent(condition, expected):
    verdict = difference(**condition)
    assert verdict.verdict == expected
    effect = verdict.tests[0].readings[0].effect
    assert effect.value == pytest.approx(5, abs=0.2) and effect.low < effect.value < effect.high


def test_differences_at_each_or_some_point():
    means = {"vegas": FLAT, "ewphcc": [33.0, 30.0, 29.0]}
    over = {"above_percent": 0, "over": "network.nodes"}
    assert difference(means, points="any", **over).verdict == "supported"
    assert difference(means, points="each", **over).verdict == "contradicted"
    # The mean over the points is above; only one point need be for "any", all for "each".
    assert difference(means, **over).verdict == "supported"
    assert "at 20, the best of 3 points" in difference(means, points="any", **over).sentence


def test_a_published_effect_is_supported_inside_the_interval_with_its_sign():
    assert difference(published_percent=5).verdict in ("supported", "undecided")
    noisy = {"vegas": FLAT, "ewphcc": [31.5, 31.5, 31.5]}
    inside = judge({"metric": "goodput_bps", "difference": {"of": "ewphcc"}, "published_percent": 5.02}, noisy, noise=3.0)
    assert inside.verdict == "supported"
    assert "the published +5.02 % is inside the interval and has the same sign" in inside.sentence
    outside = difference(published_percent=6.545)
    assert (outside.verdict, "outside the interval and has the same sign" in outside.sentence) == ("contradicted", True)
    assert difference(published_percent=-5).verdict == "contradicted"
    nothing = difference({"vegas": FLAT, "ewphcc": FLAT}, published_percent=0.01)
    assert nothing.verdict == "undecided"
    assert "the interval contains zero" in nothing.sentence


def test_a_difference_to_zero_has_no_meaning():
    test = {"metric": "marked_packets", "difference": {"of": "ewphcc"}, "above_percent": 0}
    verdict = judge(test, {"vegas": FLAT, "ewphcc": FLAT})
    assert verdict.verdict == "not testable"
    assert "vegas is zero there" in verdict.sentence
    # Where nobody loses anything there are no events to compare.
    nothing = judge({**test, "metric": "loss_ratio"}, {"vegas": FLAT, "ewphcc": FLAT})
    assert nothing.verdict == "undecided" and "fewer than 10 events" in nothing.sentence


def test_readings_have_a_verdict_each_and_definitions_have_to_agree():
    test = {"metric": ["goodput_bps", "throughput_bps"], "difference": {"of": ["a", "b"], "to": "vegas"},
            "above_percent": 0}  # fmt: skip
    verdict = judge(test, {"vegas": FLAT, "a": [31.0] * 3, "b": [32.0] * 3})
    assert [outcome.verdict for outcome in verdict.tests[0].readings] == ["supported"] * 2 + ["contradicted"] * 2
    # The two metrics are definitions of one quantity, and they disagree: no number of replicates decides it.
    assert (verdict.verdict, verdict.needed) == ("undecided", None)
    assert "The answer depends on the reading: supported by goodput_bps, a, goodput_bps, b; contradicted by" in verdict.sentence
    labels = judge(test | {"metric": "goodput_bps"}, {"vegas": FLAT, "a": [31.0] * 3, "b": [29.0] * 3})
    assert labels.verdict == "contradicted"
    agreeing = judge(test | {"metric": "goodput_bps"}, {"vegas": FLAT, "a": [31.0] * 3, "b": [32.0] * 3})
    assert (agreeing.verdict, agreeing.tests[0].note) == ("supported", "")


def test_a_quantity_under_two_definitions_counts_once():
    # 30 Mb/s by both definitions; the opposite of the second claim is almost shown.
    once = {"metric": "goodput_bps", "above": 30.15e6}
    twice = {**once, "metric": ["goodput_bps", "throughput_bps"]}
    p_once, p_twice, p_tests = (
        judge(tests, {"vegas": FLAT}).p_against for tests in (once, twice, [once, {**once, "metric": "throughput_bps"}])
    )
    readings = [judge({**once, "metric": name}, {"vegas": FLAT}).p_against for name in twice["metric"]]
    assert p_twice == max(readings)
    assert p_once == readings[0]
    assert p_tests == pytest.approx(min(1, 2 * min(readings)))


def test_what_no_simulator_can_test_does_not_count():
    tests = [{"metric": "goodput_bps", "above": 1e6}, {"not_testable": "Calculation takes no time."}]
    verdict = judge(tests, {"vegas": FLAT})
    assert verdict.verdict == "supported"
    assert verdict.sentence.endswith("Excluded: Calculation takes no time.")
    alone = judge([], {"vegas": FLAT}, not_testable="Taste.")
    assert (alone.verdict, alone.sentence) == ("not testable", "Taste.")
    assert judge({"not_testable": "Why."}, {"vegas": FLAT}).sentence == "Why."


@pytest.mark.parametrize("paired", [True, False])
def test_parts_are_compared(paired):
    test = {"metric": "goodput_bps", "parts": ["one", "two"], "paired": paired, "above_percent": 0, "over": "network.nodes"}
    wifi, lrwpan = {"newreno": [32.0] * 3}, {"newreno": FLAT}
    assert judge(test, wifi, lrwpan).verdict == "supported"
    assert judge(test, lrwpan, wifi).verdict == "contradicted"
    assert "one: " in judge(test, wifi, lrwpan).sentence
    assert judge(test, wifi, {"newreno": [32.0] * 3}).verdict == "undecided"


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ({"difference": {"of": "a"}}, "needs exactly one bound of the difference (one of above_percent"),
        ({"difference": {"of": "nosuch"}, "above_percent": 0}, "'nosuch' is unknown (allowed: vegas, a)"),
        ({"difference": {"of": "vegas"}, "above_percent": 0}, "compares vegas with itself"),
        ({"difference": {}, "above_percent": 0}, "difference.of: is missing"),
        ({"above": 0, "above_percent": 0}, "above_percent: has no meaning without a difference"),
        ({"above": 0, "at": {"network.nodes": 30}}, "at.network.nodes: '30' is unknown (allowed: 20, 40, 60)"),
        ({"above": 0, "at": {"tcp.mss": 30}}, "no sweep varies tcp.mss alone"),
        ({"above": 0, "over": "network.nodes", "points": "any"}, "points: has no meaning without difference"),
        ({"parts": ["one"], "above_percent": 0}, "parts: needs two parts"),
        ({"parts": ["one", "three"], "above_percent": 0}, "parts: 'three' is unknown"),
        ({"difference": {"of": "a"}, "above_percent": 0, "paired": True}, "paired: has meaning between parts only"),
        ({"trend": "increasing"}, "over: is missing"),
        ({"above": 0, "margin_percent": 3}, "margin_percent: has no meaning for a bound"),
    ],
)
def test_what_is_wrong_is_named(test, message):
    with pytest.raises(tp.InputError) as caught:
        judge({"metric": "goodput_bps", **test}, {"vegas": FLAT, "a": FLAT})
    assert message in str(caught.value)
    assert "claim[0].test[0]" in str(caught.value)


def test_replicates_without_a_value_are_named():
    test = {"metric": "goodput_bps", "above": 1e6}
    made = part("one", {"vegas": FLAT}, 0.2, 10, 0)
    made[0].sweeps.clear()
    made[1].loc[made[1]["seed"] == 3, "goodput_bps"] = np.nan
    document = {"question": "?", "scenario": {}, "compare": {"cc": ["vegas"]}, "claim": [{"id": "X", "text": "t", "test": test}]}
    found = claims.judge(parse_spec(document), Plan(parts={"": made[0]}), {"": made[1]})[0]
    assert found.sentence.endswith("1 of 10 replicates has no value and is excluded.")


def test_a_point_that_was_not_run_is_no_evidence():
    test = {"metric": "goodput_bps", "above": 1e6, "at": {"network.nodes": 20}}
    document = {"question": "?", "scenario": {}, "compare": {"cc": ["vegas"]}, "claim": [{"id": "X", "text": "t", "test": test}],
                "sweep": [{"vary": {"network.nodes": NODES}}], "quick": {"values": {"network.nodes": [40, 60]}}}  # fmt: skip
    plan, table = part("one", {"vegas": FLAT}, 0.2, 3, 0)
    found = claims.judge(reduce_spec(parse_spec(document)), Plan(parts={"": plan}), {"": table})[0]
    assert (found.verdict, "not among those that were run" in found.sentence) == ("not testable", True)
