"""Run, stop, resume, look."""

import fnmatch
import json
import re
import sqlite3
import tomllib
from pathlib import Path

import pytest

import tonopah as tp
from tonopah import _core
from tonopah.cli.main import main
from tonopah.spec.library import OTHERS, shipped
from tonopah.store.store import Store


@pytest.fixture
def study(study_file, tmp_path):
    study = tp.Study.load(study_file)
    study.folder = tmp_path / "out"
    return study


def test_a_study_runs_once(study):
    assert study.run(quiet=True, jobs=1) == len(study.plan.runs)
    assert study.run(quiet=True) == 0
    assert study.missing() == 0


def test_more_replicates_run_only_what_is_new(study):
    study.run(quiet=True, replicates=2)
    before = len(study.plan.runs)
    assert study.run(quiet=True, replicates=3) == len(study.plan.runs) - before


def test_an_interrupted_study_keeps_what_was_finished_and_goes_on(study, monkeypatch):
    real, stored = _core.run_many, []

    def stops_after_five(jobs, threads, on_done, *limits):
        def counted(index, outcome, series):
            more = on_done(index, outcome, series)
            stored.append(index)
            return more and len(stored) < 5

        real(jobs, threads, counted, *limits)
        raise KeyboardInterrupt

    monkeypatch.setattr("tonopah.execution.runner.run_many", stops_after_five)
    with pytest.raises(KeyboardInterrupt):
        study.run(quiet=True, jobs=1)
    monkeypatch.setattr("tonopah.execution.runner.run_many", real)
    left = study.missing()
    assert len(study.plan.runs) - left == len(stored) >= 5
    assert study.run(quiet=True) == left


@pytest.mark.parametrize(
    ("what", "error"), [("insert", sqlite3.OperationalError("disk is full")), ("put_series", OSError("disk is full"))]
)
def test_a_result_that_cannot_be_stored_stops_the_study(study, monkeypatch, what, error):
    def full(*_):
        raise error

    monkeypatch.setattr(Store, what, full)
    with pytest.raises(tp.RunFailedError, match="a result cannot be stored: disk is full"):
        study.run(quiet=True)


def test_results_do_not_depend_on_the_number_of_threads(study, tmp_path):
    study.run(quiet=True, jobs=1)
    one = study.table().sort_values("run", ignore_index=True)
    study.run(quiet=True, jobs=2, out=tmp_path / "two")
    assert one.equals(study.table().sort_values("run", ignore_index=True))


def test_tables_are_tidy(study):
    study.run(quiet=True)
    runs, flows = study.table(), study.table("flow")
    assert list(runs.columns[:3]) == ["run", "algorithm", "seed"]
    assert {"network.flows", "network.nodes", "traffic.app.rate"} <= set(runs.columns)
    assert {"goodput_bps", "drops.queue", "utilisation_max"} <= set(runs.columns)
    assert len(runs) == len(study.plan.runs) - 2
    assert runs["run"].is_unique
    assert not flows.duplicated(["run", "flow"]).any()
    assert flows.groupby("run").size().to_dict() == runs.set_index("run")["flows"].to_dict()


def test_a_study_without_claims_answers_on_the_page_in_python_and_as_the_last_lines_of_the_terminal(tmp_path, capsys):
    from conftest import STUDY, toml

    asked = {key: value for key, value in STUDY.items() if key != "claim"}
    (tmp_path / "asked.toml").write_text(toml(asked))
    assert main(["study", "run", str(tmp_path / "asked.toml"), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out.splitlines()
    answer = tp.Study.open(tmp_path / "out").answer.splitlines()
    assert " ".join(" ".join(printed).split()).endswith(" ".join(answer)) and re.search("[:;] against ", answer[0])
    found = json.loads((tmp_path / "out" / "verdicts.json").read_text())
    assert found["answer"] == answer and {row["word"] for row in found["differences"]} <= {"higher", "lower", "not told apart"}
    page = (tmp_path / "out" / "report.html").read_text()
    section = page[page.index('<section id="differences">') :].partition("</section>")[0]
    assert section.count("<tr>") == len(found["differences"]) + 1


def test_a_report_on_an_unfinished_study_says_so(study):
    study.run(quiet=True, replicates=2)
    with Store(study.folder) as store:
        store.remember("study", store.recall("study") | {"replicates": {"": 3}})
    again = tp.Study.open(study.folder)
    assert f"{again.missing()} of {len(again.plan.runs) - 2} runs are missing" in again.report().read_text()


def test_series_of_representative_runs_are_stored(study):
    study.run(quiet=True)
    with Store(study.folder) as store:
        cwnd = store.series(study.plan.parts[""].representative["cubic"].id, "cwnd")
        queue = store.series(study.plan.parts[""].representative["cubic"].id, "queue")
    assert list(cwnd.columns) == ["t_s", "flow", "value"]
    assert list(queue.columns) == ["t_s", "link", "value"]
    assert len(list((study.folder / "series").iterdir())) == 2


def test_a_stored_study_is_opened_as_it_was_run(study):
    study.run(quiet=True, quick=True, out=study.folder)
    again = tp.Study.open(study.folder)
    assert again.quick
    assert set(again.plan.runs) == set(study.plan.runs)


def test_a_folder_without_a_study_is_refused(tmp_path):
    with pytest.raises(tp.InputError, match=r"contains no study \(it has no runs.sqlite: running the study makes it\)"):
        tp.Study.open(tmp_path)
    (tmp_path / "runs.sqlite").write_bytes(b"not a database, but long enough to be read as one" * 100)
    with pytest.raises(tp.InputError, match="cannot be used as a store"):
        tp.Study.open(tmp_path)


def test_an_unknown_study_is_refused():
    with pytest.raises(tp.InputError, match="is neither a file nor a study"):
        tp.Study.load("nosuch")


def test_a_wheel_has_the_studies_of_the_source_tree():
    root = Path(__file__).parents[2]
    source = {path.stem for path in (root / "studies").glob("*.toml")}
    package = Path(tp.__file__).parent
    assert set(shipped()) == source - set(OTHERS) >= {"asran", "leo"} and source > set(OTHERS)
    assert all(path.parent == package / "studies" for path in shipped().values())
    patterns = [entry["path"] for entry in tomllib.loads((root / "pyproject.toml").read_text())["tool"]["maturin"]["include"]]
    for path in shipped().values():
        assert any(fnmatch.fnmatch(f"python/tonopah/studies/{path.name}", pattern) for pattern in patterns), path
