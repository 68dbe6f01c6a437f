"""What a scenario may say and seldom means: told once, carried by --json, and without effect on the run."""

import copy
import json
import warnings

import pytest

import tonopah as tp
from tonopah.cli.main import main
from tonopah.scenario.document import to_toml
from tonopah.spec.plan import make_plan
from tonopah.spec.reader import parse_spec
from tonopah.study.study import Study

WORLD = {
    "duration": "1s",
    "network": {
        "kind": "dumbbell",
        "pairs": 2,
        "bottleneck": {"rate": "10Mbps", "delay": "5ms", "queue": {"kind": "cake", "rate": "20Mbps"}},
    },
    "flow": [{"from": "left0", "to": "right0"}, {"from": "left1", "to": "right1"}],
}
PATH = "network.bottleneck.queue.rate"
MESSAGE = "20Mbps is above the rate of the link (10Mbps): the shaper never holds a full packet back"
WARNING = {"path": PATH, "message": MESSAGE}
STARVING = {"kind": "dualpi2", "scheduler": {"kind": "wrr", "classic_share": 0.0}}


@pytest.fixture
def world():
    return copy.deepcopy(WORLD)


@pytest.fixture
def file(world, tmp_path):
    path = tmp_path / "world.toml"
    path.write_text(to_toml(world))
    return str(path)


@pytest.fixture
def document(world):
    return {"question": "Who is faster?", "replicates": 2, "scenario": world, "compare": {"cc": ["newreno", "cubic"]}}


def test_a_run_warns_with_a_category_of_its_own_and_carries_what_it_warned_of(world):
    with pytest.warns(tp.ScenarioWarning) as caught:
        result = tp.run(world)
    assert [str(one.message) for one in caught] == [f"{PATH}: {MESSAGE}"]
    assert caught[0].filename == __file__
    assert result.warnings == result.summary["warnings"] == [WARNING]


def test_a_share_of_nothing_is_warned_of(world):
    world["network"]["bottleneck"]["queue"] = STARVING
    (warning,) = tp.check(world)["warnings"]
    assert warning["path"] == "network.bottleneck.queue.scheduler.classic_share"
    assert "starve" in warning["message"]


def test_a_scenario_that_means_what_it_says_has_no_warning_and_no_key(world):
    world["network"]["bottleneck"]["queue"]["rate"] = "9Mbps"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = tp.run(world)
    assert tp.check(world)["warnings"] == result.warnings == []
    assert "warnings" not in result.summary


def test_a_warning_is_no_part_of_what_identifies_a_run(world):
    assert "warnings" not in tp.check(world)["resolved"]


def test_the_commands_tell_each_warning_once_and_the_exit_code_stays(file, capsys):
    for command in (["check", file], ["check", file, "--expand"], ["run", file], ["run", file, "--events"]):
        assert main(command) == 0
        out, err = capsys.readouterr()
        assert err == f"warning: {file}: {PATH}: {MESSAGE}\n" and MESSAGE not in out, command


def test_json_carries_the_warnings(file, capsys):
    for command in ("check", "run"):
        assert main([command, file, "--json"]) == 0
        out, err = capsys.readouterr()
        assert (json.loads(out)["warnings"], err) == ([WARNING], "")


def test_a_study_tells_each_warning_once_whatever_the_number_of_its_runs(document, tmp_path, capsys):
    study = Study.load(document)
    study.run(jobs=1, out=tmp_path / "results")
    study.run(jobs=1, out=tmp_path / "results")
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line.startswith("warning")] == [f"warning: scenario.{PATH}: {MESSAGE}"]


def test_the_check_of_a_study_tells_them_too(document, tmp_path, capsys):
    file = tmp_path / "study.toml"
    file.write_text(to_toml(document))
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().err == f"warning: scenario.{PATH}: {MESSAGE}\n"
    assert main(["check", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == [f"scenario.{PATH}: {MESSAGE}"]


def test_in_a_study_of_parts_the_warning_names_the_part(document):
    scenario = document.pop("scenario")
    compare = document.pop("compare")
    quiet = copy.deepcopy(scenario)
    quiet["network"]["bottleneck"]["queue"]["rate"] = "9Mbps"
    parts = [{"id": "loud", "scenario": scenario, "compare": compare}, {"id": "quiet", "scenario": quiet, "compare": compare}]
    plan = make_plan(parse_spec(document | {"part": parts}))
    assert plan.warnings == [f"part loud.scenario.{PATH}: {MESSAGE}"]


def ported(**tcp):
    """Two flows of a script of ns-2, one of UDP, on 10 Mb/s with 44 ms."""
    app = {"kind": "cbr", "rate": "1Mbps", "size": "210B", "transport": "udp"}
    network = {"kind": "dumbbell", "pairs": 2, "access": {"rate": "1Gbps", "delay": "2ms"},
               "bottleneck": {"rate": "10Mbps", "delay": "18ms"}}  # fmt: skip
    flows = [{"from": "left0", "to": "right0"}, {"from": "left1", "to": "right1", "app": app}]
    return {"duration": "1s", "network": network, "tcp": {"profile": "ns2"} | tcp, "flow": flows}


def test_the_traps_of_scripts_of_ns2_are_warned_of_in_its_profile_alone():
    warned = {one["path"]: one["message"] for one in tp.check(ported(recovery="sack", sack=False))["warnings"]}
    assert set(warned) == {"tcp.sack", "flow[1].app.size", "tcp.recv_buffer"}
    # 20 packets of 1000 B in 44 ms.
    assert warned["tcp.recv_buffer"].startswith("a window of 20kB carries 3.64 of 10 Mb/s over the path of 1 flows")
    right = ported(recv_buffer="1MB", initial_ssthresh="1MB")
    right["flow"][1]["app"]["size"] = "182B"
    assert tp.check(right)["warnings"] == []
    assert tp.check(ported(profile="linux"))["warnings"] == []
