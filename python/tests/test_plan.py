"""Expansion of a study to runs."""

import json

import pytest

import tonopah as tp
from tonopah.scenario.paths import put
from tonopah.spec.plan import count_points, make_plan
from tonopah.spec.reader import parse_spec


def plan_of(document):
    return make_plan(parse_spec(document))


def test_identical_runs_are_shared(study_document):
    plan = plan_of(study_document)
    # Points: flows 2 (default), 4, 6; rate 600 (400 is the default); flows × nodes: 2×12 and 4×12 (the other two are known).
    points, algorithms, replicates, representative = 3 + 1 + 2, 2, 3, 2
    assert len(plan.runs) == points * algorithms * replicates + representative
    part = plan.parts[""]
    assert part.base <= part.sweeps[0]
    assert [len(ids) for ids in part.sweeps] == [18, 12, 24]


def test_ids_do_not_depend_on_the_order_or_on_defaults_that_are_written_out(study_document):
    before = set(plan_of(study_document).runs)
    study_document["sweep"].reverse()
    study_document["scenario"]["warmup"] = "0s"
    assert set(plan_of(study_document).runs) == before


def test_any_parameter_and_the_seed_change_the_id(study_document):
    before = plan_of(study_document)
    assert len({run.id for run in before.runs.values()}) == len(before.runs)
    put(study_document, "scenario.network.sink.delay", "6ms")
    assert not set(plan_of(study_document).runs) & set(before.runs)


def test_replicate_k_has_seed_k_for_every_algorithm(study_document):
    plan = plan_of(study_document)
    for algorithm in ("newreno", "cubic"):
        assert {run.seed for run in plan.runs.values() if run.algorithm == algorithm} == {1, 2, 3}


def test_only_representative_runs_record_series(study_document):
    plan = plan_of(study_document)
    assert set(plan.parts[""].representative) == {"newreno", "cubic"}
    for run in plan.runs.values():
        assert ("record" in json.loads(run.scenario)) == run.representative


def test_every_run_has_every_axis(study_document):
    for run in plan_of(study_document).runs.values():
        assert set(run.values) == {"network.flows", "network.nodes", "traffic.app.rate"}


def test_the_engines_refusal_names_the_point(study_document):
    study_document["sweep"][0]["vary"]["network.flows"] = [2, "many"]
    with pytest.raises(tp.InputError) as caught:
        plan_of(study_document)
    assert "scenario.network.flows" in str(caught.value)
    assert "network.flows = many" in str(caught.value)


def test_an_unknown_algorithm_is_refused(study_document):
    study_document["compare"]["cc"] = ["newreno", "nosuch"]
    with pytest.raises(tp.InputError, match="nosuch"):
        plan_of(study_document)


def test_a_study_of_a_billion_runs_is_refused(study_document):
    study_document["replicates"] = 100_000
    with pytest.raises(tp.InputError, match="at most 1,000,000"):
        plan_of(study_document)


@pytest.mark.parametrize(
    ("tcp", "cc", "change"),
    [({"profile": "linux"}, "reno", {"tcp.sack": False}), ({}, "tahoe", {"tcp.recovery": "newreno"})],
)
def test_settings_stated_beside_a_flows_own_algorithm_make_other_runs(tcp, cc, change):
    study = {
        "title": "One id", "question": "Does the setting matter?", "baseline": "default", "replicates": 4,
        "scenario": {
            "duration": "2s", "tcp": tcp, "flow": [{"from": "left0", "to": "right0"}],
            "network": {"kind": "dumbbell", "pairs": 1, "bottleneck": {"rate": "50Mbps", "delay": "20ms", "queue": "100p"}},
        },
        "compare": {"variant": [
            {"label": "default", "set": {"flow.0.cc": cc}}, {"label": "stated", "set": {"flow.0.cc": cc, **change}},
        ]},
        "figure": [{"kind": "bar", "y": ["goodput_bps"]}],
    }  # fmt: skip
    plan = plan_of(study)
    assert len(plan.parts[""].runs) == plan.measured == 8


def test_the_resolved_scenario_of_a_run_is_that_run():
    reno = {
        "duration": "5s", "tcp": {"profile": "linux"}, "flow": [{"from": "left0", "to": "right0", "cc": "reno"}],
        "network": {"kind": "dumbbell", "pairs": 1, "bottleneck": {"rate": "50Mbps", "delay": "20ms", "queue": "100p"}},
    }  # fmt: skip
    first = tp.run(reno)
    again = tp.run(first.summary["resolved"])
    assert again.summary == first.summary


def test_the_table_of_parameters_shows_what_a_flow_with_its_own_algorithm_runs_with():
    from tonopah.report.part import of_listed

    reno = {"profile": "linux", "cc": "reno"}
    flows = [{"from": "left0", "to": "right0", "tcp": reno}, {"from": "left1", "to": "right1", "tcp": {**reno, "sack": False}}]
    world = {"duration": "5s", "flow": flows, "network": {"kind": "dumbbell", "pairs": 2}}
    resolved = tp.check(world)["resolved"]
    shown = of_listed(resolved, "flow")
    assert (shown["flow.*.tcp.cc.name"], shown["flow.*.tcp.sack"]) == ("reno", "true, false")
    assert not resolved["tcp"]


@pytest.mark.parametrize("label", ["with SACK", "SACK"])
def test_the_engines_refusal_names_the_variant_with_one_with(study_document, label):
    study_document["compare"] = {"variant": [{"label": label, "set": {"tcp.sack": "perhaps"}}]}
    study_document |= {"baseline": label, "claim": []}
    with pytest.raises(tp.InputError, match=r"\[with SACK\]") as refused:
        plan_of(study_document)
    assert "with with" not in str(refused.value)


def test_the_points_of_sweeps_are_counted_as_they_are_checked(study_document):
    spec, counted = parse_spec(study_document), []
    make_plan(spec, on_point=lambda: counted.append(1))
    assert len(counted) == count_points(spec) == 2 * (3 + 2 + 4)
