"""Studies with algorithms in Python: in processes, with the same results, anew when the source has changed."""

import time
import weakref
from types import SimpleNamespace

import pytest
from test_python_algorithm import GOOD, RAISES

import tonopah as tp
from tonopah.cli import main
from tonopah.execution import processes
from tonopah.scenario.document import to_toml


@pytest.fixture
def study(study_document, tmp_path):
    (tmp_path / "my.py").write_text(GOOD)
    study_document["compare"]["cc"] = ["newreno", "my.py:Good", {"python": "my.py:Good", "factor": 3.0}]
    study_document["sweep"] = study_document["sweep"][:1]
    study_document["figure"] = study_document["figure"][:1]
    study_document |= {"replicates": 2, "vary": False}
    (tmp_path / "small.toml").write_text(to_toml(study_document))
    return tp.Study.load(tmp_path / "small.toml")


def test_a_study_runs_them_in_processes_with_the_same_results(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    assert study.spec.parts[0].labels == ["newreno", "Good", "Good factor=3.0"]
    assert study.run(quiet=True, jobs=2, out=tmp_path / "out") == 3 * 3 * 2 + 3
    good = study.table().query("algorithm == 'Good' and seed == 1 and `network.flows` == 2").iloc[0]
    point = {**study.spec.parts[0].scenario, "tcp": {"cc": f"{tmp_path}/my.py:Good"}}
    here = tp.run(point, set={"record": {}}).summary["network"]
    assert good["goodput_bps"] == here["goodput_bps"] and good["delay_s"] == here["delay_s"]
    assert tp.Study.open(tmp_path / "out").missing() == 0
    assert study.run(quiet=True) == 0


def test_an_edited_algorithm_is_run_anew_and_the_others_are_not(study, tmp_path):
    study.run(quiet=True, out=tmp_path / "out")
    before = set(study.plan.runs)
    (tmp_path / "my.py").write_text(GOOD.replace("4 *", "5 *"))
    assert study.run(quiet=True) == 2 * 3 * 2 + 2
    assert len(before & set(study.plan.runs)) == 3 * 2 + 1
    (tmp_path / "my.py").write_text(GOOD)
    assert study.run(quiet=True) == 0


def test_an_exception_in_a_process_stops_the_study_with_its_traceback(study, tmp_path, capsys):
    (tmp_path / "my.py").write_text(RAISES)
    assert main.main(["study", "run", study.source, "--out", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr().err
    assert "raise ValueError('too\\nlate')" in shown
    last = shown.splitlines()[-1]
    assert "my.py:Good: on_ack failed at 0.0" in last and "with Good" in last


def test_a_process_that_dies_stops_the_study(study, tmp_path):
    (tmp_path / "my.py").write_text(GOOD + "    def on_ack(self, ack, view):\n        import os\n        os._exit(9)\n")
    with pytest.raises(tp.RunFailedError, match="exit code 9"):
        study.run(quiet=True, out=tmp_path / "out")


def test_references_in_a_scenario_of_a_study_start_at_its_own_folder(study_document, tmp_path):
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds" / "my.py").write_text(GOOD)
    study_document["scenario"]["flow"] = [{"from": "s0", "to": "d0", "cc": "my.py:Good"}, {"from": "s0", "to": "d1"}]
    (tmp_path / "worlds" / "world.toml").write_text(to_toml(study_document["scenario"]))
    study_document["scenario"] = {"file": "worlds/world.toml"}
    (tmp_path / "small.toml").write_text(to_toml(study_document))
    assert tp.Study.load(tmp_path / "small.toml").spec.parts[0].scenario["flow"][0]["cc"] == "worlds/my.py:Good"


def test_series_are_let_go_when_they_are_done(monkeypatch):
    """A study keeps no series of runs that it has stored: those of a thousand runs would fill the memory."""

    class Series:
        pass

    class Idle:
        def __init__(self):
            self.process = SimpleNamespace(kill=lambda: None)

        def stop(self):
            pass

    alive = weakref.WeakSet()

    def answer_of(worker, job, is_over):
        series = Series()
        alive.add(series)
        return processes.Answer(summary="{}", series=series)

    seen = []
    monkeypatch.setattr(processes, "Worker", Idle)
    monkeypatch.setattr(processes, "answer_of", answer_of)
    count = 200

    def on_done(index, outcome, series):
        del series
        time.sleep(0.001)
        seen.append(index)
        # All jobs end at once here; those that are done by now are not among what is alive.
        assert len(alive) <= count - len(seen) + 3
        return True

    processes.run_many([processes.Job("", seed) for seed in range(count)], 2, on_done)
    assert sorted(seen) == list(range(count))
