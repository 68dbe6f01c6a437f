"""The two sentences that a report says first: they follow from the results."""

from test_claims import FALLS, RISES, STAYS, world

from tonopah.analysis import claims
from tonopah.analysis.answer import answer
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
    return answer(spec, plan, tables, claims.judge(spec, plan, tables, quick))


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


def test_without_claims_the_most_and_the_least():
    found = answered({"reno": STAYS, "cubic": [33] * 5, "bic": [31] * 5}, [])
    assert "Goodput is highest with cubic, 3" in found.sentences[0]
    assert "and lowest with reno, " in found.sentences[0]
    assert found.sentences[1].startswith("The difference is 10.0 [") or found.sentences[1].startswith("The difference is 9.9")
    assert found.counts == {}


def test_a_study_without_anything_says_so():
    spec = parse_spec({"question": "?", "scenario": {}, "compare": {"cc": ["reno"]}})
    _, _, tables = world({"reno": STAYS}, [])
    found = answer(spec, Plan(parts={"": PartPlan(sweeps=[], base=set())}), tables, [])
    assert "neither a claim nor a figure" in found.text


def test_points_are_not_replicates_where_the_nominal_point_was_not_run():
    _, plan, tables = world({"reno": STAYS, "cubic": [33] * 5}, [])
    plan.parts[""].base.clear()
    document = {
        "question": "?", "scenario": {}, "compare": {"cc": ["reno", "cubic"]}, "figure": [FIGURE],
        "sweep": [{"label": "Flows", "vary": {"network.flows": [10, 20, 30, 40, 50]}}],
    }  # fmt: skip
    first, second = answer(parse_spec(document), plan, tables, []).sentences
    assert first.endswith("Mb/s, averaged over all points.")
    assert second.endswith("%, 10 replicates.")
