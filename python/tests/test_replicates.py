"""Replicates are replicates: what differs between them, and what is done where nothing does."""

import copy
import json

import pytest

import tonopah as tp
from tonopah.cli.main import main
from tonopah.spec.manifest import Target
from tonopah.spec.plan import make_plan
from tonopah.spec.reader import parse_spec
from tonopah.study.study import Study

RIVALS = {
    "question": "Who is faster?",
    "baseline": "newreno",
    "replicates": 4,
    "vary": {"delays": 0, "buffers": 0, "background": 0},
    "scenario": {
        "duration": "3s",
        "network": {"kind": "dumbbell", "pairs": 2, "bottleneck": {"rate": "10Mbps", "delay": "18ms", "queue": "30p"}},
        "flow": [{"from": "left0", "to": "right0"}, {"from": "left1", "to": "right1", "start": "1s"}],
    },
    "compare": {"cc": ["newreno", "cubic"]},
    "figure": [{"kind": "bar", "y": ["goodput_bps"]}],
}


@pytest.fixture
def rivals():
    return copy.deepcopy(RIVALS)


def plan_of(document):
    return make_plan(parse_spec(document))


def study_of(document, folder):
    study = Study.of("rivals", parse_spec(document), document, "rivals.toml")
    study.folder = folder
    return study


def starts(plan):
    """The starts of all flows by algorithm and seed."""
    found = {}
    for run in plan.parts[""].runs.values():
        flows = tp.run(json.loads(run.scenario), seed=run.seed).summary["flows"]
        found[run.algorithm, run.seed] = [flow["start_s"] for flow in flows]
    return found


def test_listed_flows_start_with_jitter_of_one_rtt_that_is_common_to_all_algorithms(rivals):
    found = starts(plan_of(rivals))
    for seed in range(1, 5):
        first, second = found["newreno", seed]
        assert 0 < first < 0.045
        assert 1 < second < 1.045
        assert found["cubic", seed] == [first, second]
    assert len({tuple(both) for both in found.values()}) == 4


def test_replicates_of_the_study_that_was_one_run_differ(rivals, tmp_path):
    study = study_of(rivals, tmp_path)
    study.run(quiet=True)
    values = study.table().groupby("algorithm")["goodput_bps"].nunique()
    assert (values == 4).all()


@pytest.mark.parametrize("where", ["traffic", "flow"])
def test_jitter_is_turned_off_where_the_scenario_says_so(rivals, where):
    if where == "traffic":
        rivals["scenario"]["traffic"] = {"start_jitter": "0s"}
    else:
        for flow in rivals["scenario"]["flow"]:
            flow["start_jitter"] = "0s"
    plan = plan_of(rivals)
    assert plan.parts[""].random == ()
    assert (plan.measured, plan.size) == (2, "4 runs: 2 measured, 2 for time series")
    assert "nothing in this scenario is random" in plan.notes()[0]


def test_a_study_in_which_nothing_is_random_is_run_once_and_says_so(rivals, tmp_path, capsys):
    rivals["scenario"]["traffic"] = {"start_jitter": "0s"}
    rivals["claim"] = [
        {"id": "C1", "text": "more", "test": {"metric": "goodput_bps", "difference": {"of": "cubic"}, "above_percent": 0}}
    ]
    study = study_of(rivals, tmp_path)
    study.run()
    assert "nothing in this scenario is random" in capsys.readouterr().err
    assert len(study.table()) == 2
    assert [part.replicates for part in study.spec.parts] == [1]
    assert "Nothing in this scenario is random" in study.report().read_text(encoding="utf-8")
    assert Study.open(tmp_path).missing() == 0
    # Asked for more, they are still the same run.
    study.resize(replicates=7)
    assert study.plan.measured == 2


def test_replicates_until_an_interval_is_narrow_need_chance(rivals, tmp_path):
    rivals["scenario"]["traffic"] = {"start_jitter": "0s"}
    with pytest.raises(tp.InputError, match=r"--until.*nothing in this scenario is random.*start_jitter"):
        study_of(rivals, tmp_path).run(until=Target(5.0), quiet=True)


def test_only_the_parts_with_chance_get_replicates_until_they_are_narrow(rivals, tmp_path):
    still = {"id": "still", "scenario": {"traffic": {"start_jitter": "0s"}}}
    study = study_of({**rivals, "replicates": 2, "part": [{"id": "moving"}, still]}, tmp_path)
    (note,) = study.plan.notes()
    assert note.startswith("nothing in part still is random: every seed gives the same run")
    study.run(until=Target(1000.0, at_most=4), quiet=True)
    assert study.reached["still"].replicates == 1
    assert study.reached["moving"].replicates >= 2
    assert Study.open(tmp_path).missing() == 0


def test_chance_at_one_point_gives_every_point_of_the_part_its_replicates(rivals):
    rivals["scenario"]["traffic"] = {"start_jitter": "0s"}
    rivals["scenario"]["network"]["bottleneck"]["loss"] = {"kind": "packet", "p": 0.0}
    rivals["sweep"] = [{"vary": {"network.bottleneck.loss.p": [0.0, 0.01]}}]
    plan = plan_of(rivals)
    assert plan.parts[""].random == ("loss on links",)
    assert plan.measured == 2 * 2 * 4


def test_algorithms_that_draw_are_chance_too(rivals):
    rivals["scenario"]["traffic"] = {"start_jitter": "0s"}
    rivals["compare"]["cc"] = ["newreno", "bbr"]
    assert plan_of(rivals).parts[""].random == ("congestion control (bbr)",)


def test_the_engine_names_what_is_random_in_a_scenario(rivals):
    scenario = rivals["scenario"]
    assert tp.check(scenario)["random"] == []
    assert tp.check({**scenario, "traffic": {"start_jitter": "10ms"}})["random"] == ["starts of flows"]


def test_the_nominal_point_is_run_only_where_something_needs_it(rivals):
    rivals["sweep"] = [{"vary": {"network.bottleneck.rate": ["5Mbps", "20Mbps"]}}]
    assert plan_of(rivals).measured == 3 * 2 * 4, "the bars are of the nominal point"
    rivals["figure"] = [{"kind": "line", "x": "network.bottleneck.rate", "y": ["goodput_bps"]}]
    plan = plan_of(rivals)
    assert plan.measured == 2 * 2 * 4
    assert plan.parts[""].base == set()
    test = {"metric": "goodput_bps", "difference": {"of": "cubic"}, "above_percent": 0}
    rivals["claim"] = [{"id": "C1", "text": "more", "test": test}]
    assert plan_of(rivals).measured == 3 * 2 * 4, "a claim tests it"
    test["over"] = "network.bottleneck.rate"
    assert plan_of(rivals).measured == 2 * 2 * 4
    # A sweep that passes the nominal point has its runs anyway.
    rivals["sweep"][0]["vary"]["network.bottleneck.rate"] = ["5Mbps", "10Mbps"]
    plan = plan_of(rivals)
    assert plan.measured == 2 * 2 * 4
    assert len(plan.parts[""].base) == 2 * 4


def test_a_report_without_runs_of_the_nominal_point_is_complete(rivals, tmp_path):
    rivals |= {"replicates": 2, "sweep": [{"vary": {"network.bottleneck.rate": ["5Mbps", "20Mbps"]}}]}
    rivals["figure"] = [{"kind": "line", "x": "network.bottleneck.rate", "y": ["goodput_bps"]}]
    study = study_of(rivals, tmp_path)
    study.run(quiet=True)
    text = study.report().read_text(encoding="utf-8")
    assert "10 runs: 8 measured, 2 for time series" in text
    assert "network.bottleneck.delay" in text


def test_the_count_of_runs_is_the_same_everywhere(study_file, tmp_path, capsys):
    path, out = study_file, str(tmp_path / "r")
    assert main(["check", str(path)]) == 0
    checked = capsys.readouterr().out
    assert main(["study", "run", str(path), "--out", out]) == 0
    ran = capsys.readouterr()
    size = checked.strip().removeprefix("ok: a study of ")
    total, measured = size.split(" runs: ")[0], size.split(": ")[1].split()[0]
    assert size in ran.out
    assert f"{total} of {total} runs" in ran.err
    assert size in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert len((tmp_path / "r" / "tables" / "runs.csv").read_text().splitlines()) == int(measured) + 1
