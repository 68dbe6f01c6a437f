"""The sentences that a report says first: they follow from the results."""

import re

from test_claims import FALLS, RISES, STAYS, world

from tonopah.analysis import claims
from tonopah.analysis.answer import answer
from tonopah.analysis.paired import paired_differences
from tonopah.analysis.telling import Found, tell
from tonopah.spec.part import USUAL_METRICS
from tonopah.spec.plan import PartPlan, Plan
from tonopah.spec.reader import parse_spec

FIGURE = {"kind": "line", "x": "network.flows", "y": ["goodput_bps"]}


def answered(means, tests, quick=False, **study):
    """Return the answer of a study of claims C0, C1, … with one test each."""
    _, plan, tables = world(means, [])
    document = {
        "question": "?", "scenario": {}, "compare": {"cc": list(means)}, "figure": [FIGURE],
        "sweep": [{"label": "Flows", "vary": {"network.flows": [10, 20, 30, 40, 50]}}],
        "claim": [{"id": f"C{i}", "text": f"Claim {i}.", "test": test} for i, test in enumerate(tests)], **study,
    }  # fmt: skip
    spec = parse_spec(document)
    return answer(spec, plan, tables, claims.judge(spec, plan, tables, quick), quick)


def trend(direction):
    return {"metric": "goodput_bps", "trend": direction, "over": "network.flows"}


def test_the_first_claim_and_the_counts():
    found = answered({"reno": RISES}, [trend("increasing"), trend("decreasing"), trend("flat")])
    assert found.counts == {"supported": 1, "contradicted": 2}
    assert found.sentences[0].startswith("“Claim 0” (C0): the runs support it (goodput of reno increasing over flows; 40.0 [")
    assert found.sentences[0].endswith("] Mb/s, 10 replicates).")
    assert found.sentences[1] == "Of 3 claims, 1 is supported and 2 are contradicted."
    assert (found.figure.metric, found.figure.over) == ("goodput_bps", "network.flows")


def test_a_headline_names_a_claim():
    found = answered({"reno": FALLS}, [trend("flat"), trend("increasing")], headline="C1")
    assert found.sentences[0].startswith("“Claim 1” (C1): the runs contradict it (")


def test_a_quick_run_shows_effects_and_judges_nothing():
    found = answered({"reno": RISES}, [trend("increasing"), trend("flat")], quick=True)
    assert found.counts == {"not judged": 2}
    assert "it is not judged with --quick (goodput of reno increasing over flows; 40.0 [" in found.sentences[0]
    assert "judges none of the 2 claims" in found.sentences[1]


def test_without_claims_where_each_is_higher_or_lower_than_the_baseline_and_by_how_much():
    found = answered({"reno": STAYS, "cubic": [33] * 5, "bic": [30, 30, 30, 36, 27]}, [])
    (said,) = found.sentences
    assert said.startswith("Goodput over flows is highest with cubic at 10, 20, 30 and 50, with bic at 40; against reno, ")
    assert "bic is higher at 40 (" in said and ", lower at 50 (" in said and ", not told apart at 10, 20 and 30 (most at " in said
    assert "; cubic is higher at all 5 points (most at " in said
    assert said.endswith("; 10 replicates.")
    assert (found.figure.metric, found.figure.over, found.counts) == ("goodput_bps", "network.flows", {})


def test_a_headline_that_is_a_figure_tells_of_its_axis_beside_the_claims():
    headline = {"metric": "goodput_bps", "over": "network.flows"}
    found = answered({"reno": STAYS, "cubic": [33] * 5}, [trend("flat")], headline=headline)
    assert found.sentences[0].startswith("Goodput over flows: against reno, cubic is higher at all 5 points (most at ")
    assert found.sentences[1] == "It is the only claim of the study."


def test_at_the_nominal_point_values_stand_beside_the_difference():
    _, plan, tables = world({"reno": STAYS, "cubic": [33] * 5}, [])
    document = {
        "question": "?", "scenario": {}, "compare": {"cc": ["reno", "cubic"]}, "figure": [{"kind": "bar", "y": ["goodput_bps"]}],
        "sweep": [{"label": "Flows", "vary": {"network.flows": [10, 20, 30, 40, 50]}}],
    }  # fmt: skip
    (said,) = answer(parse_spec(document), plan, tables, []).sentences
    assert re.match(r"Goodput is highest with cubic, 3[23]\.\d \[.*\] Mb/s, and lowest with reno, (29|30)\.\d \[", said)
    assert "; against reno, cubic is higher (" in said and said.endswith(" %); 10 replicates.")


def test_a_quick_study_without_claims_has_signs_and_says_that_nothing_is_judged():
    (said,) = answered({"reno": STAYS, "cubic": [33] * 5}, [], quick=True).sentences
    assert "cubic is higher at all 5 points (most at " in said and said.endswith("10 replicates, not judged with --quick.")


def test_the_table_of_differences_has_the_words_of_claims():
    _, plan, tables = world({"reno": STAYS, "cubic": [33] * 5}, [])
    document = {
        "question": "?", "scenario": {}, "compare": {"cc": ["reno", "cubic"]}, "figure": [FIGURE],
        "sweep": [{"label": "Flows", "vary": {"network.flows": [10, 20, 30, 40, 50]}}],
    }  # fmt: skip
    spec = parse_spec(document)
    (family,) = paired_differences(spec, plan, tables, False)
    assert [(row.label, row.place, row.word) for row in family.rows] == [
        ("cubic", str(n), "higher") for n in (10, 20, 30, 40, 50)
    ]
    claim = {"metric": "goodput_bps", "difference": {"of": "cubic"}, "above_percent": 0, "at": {"network.flows": 30}}
    (verdict,) = claims.judge(parse_spec({**document, "claim": [{"id": "C", "text": "C.", "test": claim}]}), plan, tables)
    alone = verdict.tests[0].readings[0].effect
    assert family.rows[2].outcome.effect == alone and family.rows[2].effect.half_width >= alone.half_width


def test_what_is_found_at_many_places_is_counted_and_named_where_it_is_most():
    found = [Found("lower", "a", "-1 %", 1), Found("higher", "b", "2 %", 2), Found("higher", "c", "5 %", 5)]
    assert tell(found, ("higher", "lower")) == "higher at b and c (most at c: 5 %), lower at a (-1 %)"
    assert tell(found[:1]) == "lower (-1 %)"
    many = [Found("worse", str(n), f"{n} ×", n) for n in range(9)]
    assert tell([*many, Found("like", "x")]) == "worse at 9 of 10 points (most at 8: 8 ×), like at x"
    assert tell([*many, Found("like", "x")], ("like",), counted=True) == "1 like, 9 worse (most at 8: 8 ×)"


def test_a_study_without_sweep_claim_or_figure_compares_what_most_ask_first():
    _, plan, tables = world({"reno": STAYS, "cubic": [33] * 5}, [])
    plan.parts[""].sweeps.clear()
    spec = parse_spec({"question": "?", "scenario": {}, "compare": {"cc": ["reno", "cubic"]}})
    assert [(figure.kind, *figure.y) for figure in spec.parts[0].figures][:1] == [("bar", *USUAL_METRICS)]
    said = answer(spec, plan, tables, []).sentences[0]
    assert said.startswith("Goodput is highest with cubic, ") and "; against reno, cubic is higher (" in said


def test_a_study_with_time_series_alone_says_so():
    scenario, figure = {"record": {"series": ["cwnd"]}}, {"kind": "series", "y": ["cwnd"]}
    spec = parse_spec({"question": "?", "scenario": scenario, "compare": {"cc": ["reno"]}, "figure": [figure]})
    _, _, tables = world({"reno": STAYS}, [])
    found = answer(spec, Plan(parts={"": PartPlan(sweeps=[], base=set())}), tables, [])
    assert "neither a claim nor a figure" in found.text
