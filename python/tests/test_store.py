"""The store keeps what was stored, whatever happens to the process, the disk or the file."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from conftest import edit, read_only
from test_isolation import until

import tonopah as tp
from tonopah import _core
from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.execution import runner
from tonopah.execution.options import ExecutionOptions
from tonopah.store import database as database_file
from tonopah.store import store
from tonopah.store.store import Store
from tonopah.study.stored import stored_runs

HOLD = (
    "import sys, time; from tonopah.store.store import Store; s = Store(sys.argv[1]); print('held', flush=True); time.sleep(60)"
)
FULL = """
import resource, signal, sys
from tonopah.cli.main import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def study(study_file, tmp_path):
    study = tp.Study.load(study_file)
    study.folder = tmp_path / "out"
    return study


def python(*arguments, **options):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def test_a_summary_is_stored_as_the_engine_gave_it_but_for_the_resolved_scenario():
    text = '{"flows":[{"from":"a,","hops":null}],"conservation":{"sent":1},"resolved":{"network":{"x":{"a":1,"resolved":{}}}}}'
    whole = {"flows": [{"from": "a,", "hops": None}], "conservation": {"sent": 1}}
    assert json.loads(store.stored_summary(text, None)) == whole
    assert json.loads(store.stored_summary(text, {"back": 1.5, "none": None})) == whole | {"derived": {"back": 1.5, "none": None}}
    assert json.loads(store.stored_summary(json.dumps(whole), None)) == whole
    scenario = {"duration": "1s", "network": {"kind": "dumbbell"}, "flow": [{"from": "left0", "to": "right0"}]}
    text = _core.run(json.dumps(scenario), 1)[0].json()
    assert json.loads(store.stored_summary(text, None)) == {k: v for k, v in json.loads(text).items() if k != "resolved"}


def test_results_of_another_engine_are_not_used(study, monkeypatch, capsys):
    study.run(quiet=True)
    total = len(study.plan.runs)
    monkeypatch.setattr("tonopah.store.store.engine_build", lambda: "another")
    assert study.missing() == total
    with pytest.raises(tp.InputError, match=rf"contains no finished run.*it has {total} runs of engine \d"):
        study.report()
    with pytest.raises(tp.InputError, match=rf"contains no finished run.*it has {total} runs of engine \d"):
        study.figures()
    assert study.run(quiet=True, jobs=2) == total
    with Store(study.folder, create=False) as store:
        assert store.other_builds() == {}
    edit(study, "UPDATE runs SET build = 'old' WHERE seed = 1")
    assert main.main(["study", "run", study.source, "--out", str(study.folder)]) == 0
    edit(study, "UPDATE runs SET build = 'old', id = 'x' || id WHERE seed = 1")
    main.main(["study", "run", study.source, "--out", str(study.folder)])
    assert f"results of engine {_core.engine_version()} (old)" in capsys.readouterr().err


def test_a_store_of_the_first_version_is_brought_up_to_date(study):
    study.run(quiet=True)
    for column in ("build", "series", "digest", "series_digest"):
        edit(study, f"ALTER TABLE runs DROP COLUMN {column}")
    edit(study, "ALTER TABLE study DROP COLUMN digest")
    edit(study, "PRAGMA application_id = 0")
    edit(study, "PRAGMA user_version = 0")
    with Store(study.folder, create=False) as store:
        assert store.ids() == set()
        assert store.other_builds() == {f"{_core.engine_version()} (build unknown)": len(study.plan.runs)}
    assert study.run(quiet=True) == len(study.plan.runs)


def test_a_store_of_the_second_version_is_brought_up_to_date_and_its_runs_are_repeated(study, capsys):
    total = study.run(quiet=True)
    edit(study, "ALTER TABLE runs DROP COLUMN series_digest")
    edit(study, "ALTER TABLE study DROP COLUMN digest")
    edit(study, "UPDATE runs SET build = 'older'")
    edit(study, "PRAGMA user_version = 2")
    assert tp.Study.open(study.folder).missing() == total
    with Store(study.folder, create=False) as store:
        assert store.other_builds() == {f"{_core.engine_version()} (older)": total}
    assert study.run(quiet=True) == total


def test_a_store_of_a_newer_version_is_refused_and_left_alone(study):
    study.run(quiet=True, replicates=1)
    edit(study, "PRAGMA user_version = 99")
    before = (study.folder / "runs.sqlite").read_bytes()
    with pytest.raises(tp.InputError, match=r"newer Tonopah .*version 99"):
        study.run(quiet=True)
    assert (study.folder / "runs.sqlite").read_bytes() == before


def test_a_database_of_another_program_is_refused_and_left_alone(study):
    study.folder.mkdir()
    edit(study, "CREATE TABLE customers (name TEXT)")
    before = (study.folder / "runs.sqlite").read_bytes()
    with pytest.raises(tp.InputError, match="another program"):
        study.run(quiet=True)
    assert (study.folder / "runs.sqlite").read_bytes() == before


def test_of_a_study_whose_store_is_being_made_nothing_is_stored_yet(study):
    assert stored_runs(study) == 0
    study.folder.mkdir()
    (study.folder / "runs.sqlite").touch()
    assert stored_runs(study) == 0
    study.run(quiet=True)
    assert stored_runs(study) == len(study.plan.runs)


def test_a_store_whose_tables_are_about_to_be_created_is_left_alone(study):
    study.folder.mkdir()
    path = study.folder / "runs.sqlite"
    path.touch()
    with pytest.raises(tp.InputError, match=r"contains no study .*its runs.sqlite is empty"):
        tp.Study.open(study.folder)
    assert path.read_bytes() == b""
    study.run(quiet=True)
    assert study.missing() == 0


def test_tables_that_are_created_while_their_version_is_read_are_not_those_of_another_program(tmp_path):
    path = tmp_path / "runs.sqlite"

    def create(statement):
        if "sqlite_master" in statement:
            with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as other, suppress(sqlite3.OperationalError):
                other.execute("CREATE TABLE runs (id TEXT PRIMARY KEY)")

    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.set_trace_callback(create)
        assert database_file.read_version(database, path) == 0


def test_tables_that_another_process_has_created_since_are_kept(study):
    study.run(quiet=True, replicates=1)
    expected = study.table()
    path = study.folder / "runs.sqlite"
    database = database_file.open_for_writing(path)
    database_file.migrate(database, path)
    database_file.close_after_writing(database)
    assert study.table().equals(expected)


def test_a_damaged_database_is_refused_and_left_alone(study):
    study.run(quiet=True)
    path = study.folder / "runs.sqlite"
    data = bytearray(path.read_bytes())
    # Every page but the first.
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises((tp.RunFailedError, tp.InputError), match=r"malformed.*nothing was changed.*\.recover"):
        study.run(quiet=True)
    assert path.read_bytes() == bytes(data)


def test_a_damaged_result_is_noticed_and_done_again(study):
    study.run(quiet=True)
    assert edit(study, "UPDATE runs SET summary = replace(summary, '1', '2') WHERE seed = 2") > 0
    changed = sum(run.seed == 2 for run in study.plan.runs.values())
    with pytest.raises(tp.RunFailedError, match="is damaged; run the study again"):
        study.table()
    assert study.run(quiet=True) == changed
    assert len(study.table()) == len(study.plan.runs) - 2


def test_series_that_are_gone_are_done_again(study):
    study.run(quiet=True)
    next((study.folder / "series").iterdir()).unlink()
    assert study.missing() == 1
    (study.folder / "series" / "half.123.tmp").write_text("what a killed process left")
    assert study.run(quiet=True) == 1
    assert not list((study.folder / "series").glob("*.tmp"))


def test_a_second_process_is_refused_or_waits(study, capsys):
    first = study.run(quiet=True, replicates=1)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(study.folder)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(tp.RunFailedError, match=f"in use by process {holder.pid} on .*--wait"):
        study.run(quiet=True, replicates=2)
    assert len(study.table()) == first - 2, "reading does not need the lock"
    waiting = subprocess.Popen(
        [sys.executable, "-m", "tonopah", "study", "run", study.source, "--out", str(study.folder), "--wait"],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert "waiting for process" in waiting.stderr.readline()
    # A lock does not outlive its process.
    holder.send_signal(signal.SIGKILL)
    assert waiting.wait(timeout=300) == 0
    waiting.stderr.close()
    holder.wait()
    holder.stdout.close()
    capsys.readouterr()


def test_a_full_disk_is_an_error_and_what_was_stored_stays(study):
    arguments = ["study", "run", study.source, "--out", str(study.folder), "--jobs", "1"]
    done = python("-c", FULL, 150_000, *arguments)
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ") and "cannot be stored" in last and "stored results are kept" in last, done.stderr
    left = study.missing()
    assert 0 < left < len(study.plan.runs)
    assert study.run(quiet=True) == left


def test_a_folder_that_cannot_be_written_is_refused_to_run_and_can_be_read(study, public):
    study.run(quiet=True, replicates=1)
    folder = shutil.copytree(study.folder, public / "out")
    with read_only(folder):
        with pytest.raises(tp.InputError, match=r"cannot be used as a store: .*([Pp]ermission|cannot be written)"):
            study.run(quiet=True, replicates=2, out=folder)
        study.resize(replicates=1)
        assert study.missing() == 0 and len(study.table()) == len(study.plan.runs) - 2


def test_a_change_that_a_killed_process_left_unfinished_is_taken_back(study, tmp_path, public):
    study.run(quiet=True, replicates=1)
    expected = study.table()
    killed = tmp_path / "killed"
    shutil.copytree(study.folder, killed)
    database = sqlite3.connect(study.folder / "runs.sqlite", isolation_level=None)
    # With a small cache SQLite writes changed pages before the end, and a journal of what they were.
    database.execute("PRAGMA cache_size = 1")
    database.execute("BEGIN")
    database.execute("UPDATE runs SET summary = summary || hex(randomblob(20000))")
    for file in ("runs.sqlite", "runs.sqlite-journal"):
        shutil.copyfile(study.folder / file, killed / file)
    database.execute("ROLLBACK")
    database.close()
    folder = shutil.copytree(killed, public / "out")
    with read_only(folder):
        assert tp.Study.open(folder).table().equals(expected)
    assert tp.Study.open(killed).table().equals(expected)


def test_shards_put_together_are_the_whole(study, study_file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study.run(quiet=True)
    whole = study.table()
    for index in (1, 2, 3):
        assert main.main(["study", "run", str(study_file), "--shard", f"{index}/3"]) == 0
    parts = sorted(str(path) for path in (tmp_path / "results").iterdir())
    assert [Path(part).name for part in parts] == [f"small.shard-{i}-of-3" for i in (1, 2, 3)]
    capsys.readouterr()
    assert main.main(["study", "merge", *parts[:2], "--out", "results/small", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == len(study.plan.runs) // 3
    assert main.main(["study", "merge", *parts, "--out", "results/small", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == 0
    merged = tp.Study.open("results/small")
    assert merged.table().to_csv() == whole.to_csv()
    assert len(list((merged.folder / "series").iterdir())) == 2
    assert main.main(["study", "report", "results/small"]) == 0


def test_two_results_of_one_run_are_refused_at_a_merge(study, study_file, tmp_path, capsys):
    study.run(quiet=True, replicates=1)
    shutil.copytree(study.folder, tmp_path / "b")
    with Store(tmp_path / "b") as store:
        run, summary = store.summaries(study.plan.runs)[0]
        store.put(run, json.dumps(summary | {"events": 1}), None, 1.0)
    assert main.main(["study", "merge", str(study.folder), str(tmp_path / "b"), "--out", str(tmp_path / "c")]) == 1
    assert "has a different result than" in capsys.readouterr().err
    other = tp.Study.load(study_file)
    other.run(quiet=True, replicates=2, out=tmp_path / "d")
    assert main.main(["study", "merge", str(study.folder), str(tmp_path / "d"), "--out", str(tmp_path / "e")]) == 2
    assert "holds another study, or another size of it" in capsys.readouterr().err


def test_the_time_is_limited(study, capsys, monkeypatch):
    with pytest.raises(tp.RunFailedError, match=r"stopped: --max-hours \S+ reached"):
        study.run(quiet=True, options=ExecutionOptions(jobs=1, max_hours=1e-9))
    assert len(study.plan.runs) - study.missing() == 0
    total = len(study.plan.runs)
    monkeypatch.setattr(runner.Batch, "is_time_up", lambda batch: batch.remaining <= total - 3)
    command = ["study", "run", study.source, "--out", str(study.folder), "--jobs", "1", "--max-hours", "1"]
    assert main.main([*command, "--json"]) == 1
    assert "run the same command to continue" in capsys.readouterr().err
    # What the engine has finished before it hears of it is stored, too: on a slow disk it is ahead.
    assert 0 < study.missing() <= total - 3
    # Time that is over with the last run was enough.
    monkeypatch.setattr(runner.Batch, "is_time_up", lambda batch: not batch.remaining)
    assert main.main(command) == 0
    assert study.missing() == 0


def test_a_run_that_takes_too_much_is_named_and_can_be_seen_again(study, capsys):
    arguments = ["study", "run", study.source, "--out", str(study.folder), "--jobs", "1"]
    assert main.main([*arguments, "--max-events", "5000"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert "after 5000 events: 5000 events are its limit [with newreno, seed 1" in last
    again = last.rsplit("tonopah run ", 1)[1].split()
    assert again[1] == "--seed"
    assert main.main(["run", *again, "--json"]) == 0
    with pytest.raises(_core.LimitError, match=r"need \d+ kB, its limit is 1 kB"):
        _core.run(
            json.dumps({**study.spec.parts[0].scenario, "duration": "1000s", "record": {"series": ["cwnd"]}}), 1, None, None, 1
        )


def test_a_signal_lets_runs_end_and_says_how_to_go_on(study, study_document, study_file, tmp_path):
    from conftest import toml

    study_document["scenario"]["duration"] = "60s"
    study_document["replicates"] = 20
    study_file.write_text(toml(study_document))
    command = [
        sys.executable,
        "-m",
        "tonopah",
        "study",
        "run",
        str(study_file),
        "--out",
        str(study.folder),
        "--jobs",
        "1",
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert any("runs to do" in line for line in iter(process.stderr.readline, "")), "the study did not begin"
    until(lambda: (begun := tp.Study.open(study.folder)).missing() < len(begun.plan.runs))
    process.send_signal(signal.SIGTERM)
    _, shown = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "stopping after the current runs" in shown
    assert f"are stored in {study.folder}" in shown and "to continue" in shown
    assert study_file.exists() and tp.Study.open(study.folder).missing() > 0


def test_a_lock_that_is_a_link_destroys_nothing(tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="cannot be used as a store"):
        Store(tmp_path / "out")
    assert (tmp_path / "precious").read_text() == "precious"


def test_tables_are_not_written_through_links(tmp_path):
    import pandas as pd

    from tonopah.analysis import tables

    (tmp_path / "precious").write_text("precious")
    (tmp_path / "runs.csv").symlink_to("precious")
    tables.write(pd.DataFrame({"a": [1]}), tmp_path, "runs")
    assert (tmp_path / "precious").read_text() == "precious" and (tmp_path / "runs.csv").read_text() == "a\n1\n"
