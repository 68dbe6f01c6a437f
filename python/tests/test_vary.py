"""What varies between replicates of a study (`[vary]`), and which set of draws they are (`--seeds`)."""

import copy
import json

import pytest
from conftest import toml

from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.spec.plan import make_plan
from tonopah.spec.reader import parse_spec
from tonopah.study.study import Study

BOTTLENECK = {"rate": "10Mbps", "delay": "10ms", "queue": "50p"}
STUDY = {
    "question": "What differs?", "replicates": 3,
    "scenario": {
        "duration": "2s", "tcp": {"profile": "linux"},
        "network": {"kind": "dumbbell", "pairs": 2, "access": {"rate": "100Mbps", "delay": "2ms"}, "bottleneck": BOTTLENECK},
        "flow": [{"from": "left0", "to": "right0"}, {"from": "left1", "to": "right1"}],
    },
    "compare": {"cc": ["newreno", "cubic"]},
    "figure": [{"kind": "bar", "y": ["goodput_bps", "jain"]}],
}  # fmt: skip
SWEEP = [{"vary": {"network.bottleneck.delay": ["10ms", "20ms"]}}]


def plan(**keys):
    return make_plan(parse_spec(copy.deepcopy(STUDY) | keys))


def scenarios(found):
    return [json.loads(run.scenario) for run in found.runs.values()]


def test_a_study_varies_a_little_of_everything_by_default():
    found = plan()
    assert all(one["vary"] == {"delays": 0.02, "buffers": 1, "background": 0.01} for one in scenarios(found))
    assert all(flow["start_jitter"] == "rtt" for one in scenarios(found) for flow in one["flow"])
    said = found.parts[""].random
    assert said == ("starts of flows", "access delays (± 2 %)", "buffers (± 1 packets)", "datagrams in the background (1 %)")


def test_each_can_be_fixed_and_all_of_them():
    only = plan(vary={"delays": 0, "buffers": 0, "background": 0})
    assert only.parts[""].random == ("starts of flows",) and all("vary" not in one for one in scenarios(only))
    assert plan(vary={"starts": "0s", "delays": 0, "background": 0}).parts[""].random == ("buffers (± 1 packets)",)
    fixed = plan(vary=False)
    assert not fixed.parts[""].random and fixed.parts[""].replicates == 1
    assert "every seed gives the same run" in fixed.notes()[0]


def test_what_the_scenario_says_goes_before_and_twice_is_refused():
    scenario = STUDY["scenario"] | {"vary": {"buffers": 3}}
    found = plan(scenario=scenario)
    assert all(one["vary"] == {"delays": 0.02, "buffers": 3, "background": 0.01} for one in scenarios(found))
    with pytest.raises(InputError, match=r"vary\.buffers: has no effect: scenario\.vary\.buffers says it"):
        plan(scenario=scenario, vary={"buffers": 2})


def test_a_scenario_from_a_source_varies_only_what_its_script_draws():
    (part, *_) = Study.load("asran").spec.parts
    assert "source" in part.scenario and part.vary.starts == "rtt" and not part.vary.points
    assert (part.vary.delays, part.vary.buffers, part.vary.background) == (0, 0, 0)


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        (True, "vary: true says nothing"),
        ({"delays": 0.9}, "vary.delays: 0.9 is out of range (0 to 0.5)"),
        ({"background": -1.0}, "vary.background: -1 is out of range (0 to 0.1)"),
        ({"buffers": 1.5}, "vary.buffers: 1.5 is not a whole number"),
        ({"starts": "soon"}, "vary.starts: 'soon' is not a time"),
        ({"buffer": 1}, "vary.buffer: unknown key (allowed: starts, delays, buffers, background, points"),
    ],
)
def test_wrong_keys_are_refused_with_what_is_allowed(vary, said):
    with pytest.raises(InputError) as caught:
        plan(vary=vary)
    assert said in str(caught.value)


def test_points_of_a_sweep_have_other_draws_and_algorithms_at_one_point_the_same():
    found = plan(sweep=SWEEP)
    draws = {
        (run.values["network.bottleneck.delay"], json.loads(run.scenario)["vary"].get("draws")) for run in found.runs.values()
    }
    assert draws == {("10ms", None), ("20ms", '{"network.bottleneck.delay":"20ms"}')}
    same = plan(sweep=SWEEP, vary={"points": False})
    assert all("draws" not in one["vary"] for one in scenarios(same))
    # The nominal point is one of the sweep, however it is written.
    other = plan(sweep=[{"vary": {"network.bottleneck.delay": ["10000us", "20ms"]}}])
    assert len(other.runs) == len(found.runs)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(toml(STUDY), encoding="utf-8")
    return tmp_path


def test_another_set_of_seeds_stands_in_the_report_and_in_the_store(folder, capsys):
    assert main.main(["study", "run", "s.toml", "--seeds", "101"]) == 0
    study = Study.open("results/s")
    assert set(study.table()["seed"]) == {101, 102, 103} and study.manifest.seeds == 101
    page = (folder / "results/s/report.html").read_text(encoding="utf-8")
    assert "What differs between replicates (seeds 101 to 103): starts of flows, access delays (± 2 %)" in page
    assert "--seeds 101" in page
    assert {one["flow"] for one in study.table("flow").to_dict("records")} == {0, 1}, "the background is in no table"
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main.main(["study", "run", "s.toml", "--seeds", "0"])
    assert "a whole number from 1" in capsys.readouterr().err


def test_a_baseline_that_no_part_compares_is_refused():
    parts = [{"id": name} for name in ("a", "b")]
    with pytest.raises(InputError, match=r"baseline: no part compares 'qubic' \(labels: newreno, cubic; did you mean cubic\?\)"):
        plan(baseline="qubic", part=parts)
    assert plan(baseline="cubic", part=parts).parts["b"].runs


def test_a_study_with_a_sweep_and_nothing_else_shows_the_usual_metrics_and_their_difference():
    document = {key: value for key, value in STUDY.items() if key != "figure"} | {"sweep": SWEEP}
    (part,) = parse_spec(document).parts
    (figure, _) = part.figures
    assert (figure.kind, figure.x, figure.difference) == ("line", "network.bottleneck.delay", True)
    assert figure.y == ("goodput_bps", "delay_s", "loss_ratio")
