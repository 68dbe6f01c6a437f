"""Whatever happens to a stored byte, to a file or to the folder: it is noticed, said in one sentence, and done again."""

import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import zipfile

import pytest
from conftest import edit, read_only

import tonopah as tp
from tonopah.cli import main
from tonopah.scenario.document import to_toml
from tonopah.store import store as stores
from tonopah.store.database import checksum
from tonopah.store.store import Store


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a study of 14 runs, two of them with series, all stored."""
    from conftest import STUDY

    folder = tmp_path_factory.mktemp("finished")
    document = STUDY | {"sweep": STUDY["sweep"][:1], "figure": [STUDY["figure"][0], STUDY["figure"][-1]], "replicates": 2}
    (folder / "small.toml").write_text(to_toml(document))
    study = tp.Study.load(folder / "small.toml")
    study.run(quiet=True, out=folder / "out")
    return study


@pytest.fixture
def study(finished, tmp_path):
    """Return the study with a copy of its results."""
    shutil.copytree(finished.folder, tmp_path / "out")
    copy = tp.Study.load(finished.source)
    copy.folder = tmp_path / "out"
    return copy


def series(study):
    return sorted((study.folder / "series").glob("*.parquet"))


def everything(study):
    """Return all that tables and figures are made of."""
    shown = [study.table().to_csv(), study.table("flow").to_csv()]
    with Store(study.folder, create=False) as store:
        shown += [store.series(path.stem, name).to_csv() for path in series(study) for name in ("cwnd", "queue")]
    return shown


def one_sentence(capsys, code, *arguments):
    """Return the only line that the command prints, an error with this exit code."""
    capsys.readouterr()
    assert main.main([*map(str, arguments)]) == code
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: ") and "internal error" not in lines[0], lines
    return lines[0]


NOT_UTF8 = "CAST(x'7bff7d' AS TEXT)"
ROWS = {
    **{f"{column} not UTF-8": f"{column} = {NOT_UTF8}" for column in ("summary", "scenario", "engine", "finished", "digest")},
    **{f"{column} a blob": f"{column} = CAST({column} AS BLOB)" for column in ("summary", "scenario", "engine", "digest")},
    "an empty summary": "summary = ''",
    "another number": "summary = replace(summary, '1', '2')",
    "another seed": "seed = seed + 1",
    "a seed that is none": "seed = 'abc'",
    "another engine": "engine = engine || '1'",
    "another scenario": "scenario = scenario || ' '",
    "another time": "finished = '2000-01-01T00:00:00+00:00'",
    "a later end": "wall_s = wall_s + 0.5",
    "an end that is none": "wall_s = 'abc'",
    "no end": "wall_s = NULL",
    "no digest": "digest = ''",
    "series that were not stored": "series = 1",
    "digest of series that were not stored": "series_digest = 'x'",
}


@pytest.mark.parametrize("damage", ROWS)
def test_a_run_is_repeated_whatever_in_its_row_is_damaged(finished, study, capsys, damage):
    assert edit(study, f"UPDATE runs SET {ROWS[damage]} WHERE id = (SELECT id FROM runs WHERE series = 0 LIMIT 1)") == 1
    said = one_sentence(capsys, 1, "study", "report", study.folder)
    assert "is damaged; run the study again" in said
    assert study.run(quiet=True) == 1
    assert "note: 1 stored results are damaged and are repeated: [with " in capsys.readouterr().err
    assert everything(study) == everything(finished)


def flip(path, draws):
    data = bytearray(path.read_bytes())
    at = draws.randrange(8 * len(data))
    data[at // 8] ^= 1 << at % 8
    path.write_bytes(data)


def swap(one, other):
    content = one.read_bytes(), other.read_bytes()
    one.write_bytes(content[1])
    other.write_bytes(content[0])


SERIES = {
    "cut": (1, lambda one, other: os.truncate(one, one.stat().st_size // 2)),
    "empty": (1, lambda one, other: os.truncate(one, 0)),
    "gone": (1, lambda one, other: one.unlink()),
    "another": (1, lambda one, other: shutil.copyfile(other, one)),
    "swapped": (2, swap),
    "garbage": (1, lambda one, other: one.write_bytes(b"PAR1" + bytes(100) + b"PAR1")),
    "longer": (1, lambda one, other: one.write_bytes(one.read_bytes() + b"\0")),
    "a folder": (1, lambda one, other: (one.unlink(), one.mkdir())),
    **{f"bit {i}": (1, lambda one, other, i=i: flip(one, random.Random(i))) for i in range(20)},
}


@pytest.mark.parametrize("damage", SERIES)
def test_a_run_is_repeated_whatever_in_its_series_is_damaged(finished, study, capsys, damage):
    count, do = SERIES[damage]
    one, other = series(study)
    do(one, other)
    with Store(study.folder, create=False) as store, pytest.raises(tp.RunFailedError, match=r"missing or damaged; run the study"):
        store.series(one.stem, "cwnd")
    if damage == "a folder":
        with pytest.raises(tp.RunFailedError, match="cannot be stored"):
            study.run(quiet=True)
        one.rmdir()
    assert study.run(quiet=True) == count
    assert everything(study) == everything(finished)


MANIFESTS = ["{", "{}", "[1]", "", "null", "1e999", "[" * 100_000, '{"name": 1}']


@pytest.mark.parametrize("value", MANIFESTS)
def test_a_damaged_entry_of_the_study_is_one_sentence_and_mended_by_its_next_start(finished, study, capsys, value):
    edit(study, "UPDATE study SET value = ? WHERE key = 'study'", value)
    said = one_sentence(capsys, 1, "study", "report", study.folder)
    assert "what is stored about the study is damaged; run it again with --out" in said
    # Also one that somebody wrote with a digest.
    if value in ("{}", '{"name": 1}'):
        edit(study, "UPDATE study SET digest = ? WHERE key = 'study'", checksum("study", value))
        assert "that this version cannot read" in one_sentence(capsys, 2, "study", "report", study.folder)
    assert study.run(quiet=True) == 0
    assert tp.Study.open(study.folder).missing() == 0


def test_one_changed_letter_of_the_stored_study_is_noticed(study, capsys):
    assert edit(study, "UPDATE study SET value = replace(value, 'matter', 'differ') WHERE key = 'study'") == 1
    assert "what is stored about the study is damaged" in one_sentence(capsys, 1, "study", "report", study.folder)
    edit(study, f"UPDATE study SET value = {NOT_UTF8} WHERE key = 'study'")
    assert "what is stored about the study is damaged" in one_sentence(capsys, 1, "study", "report", study.folder)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (f"ALTER TABLE runs RENAME TO old; CREATE VIEW runs AS {ENDLESS} SELECT i AS id FROM n", "it has the view 'runs'"),
        ("CREATE TRIGGER odd AFTER INSERT ON runs BEGIN DELETE FROM study; END", "it has the trigger 'odd'"),
        ("DROP TABLE study", "a database of another program"),
        ("PRAGMA user_version = -1", "a database of another program"),
    ],
)
def test_a_store_that_is_made_otherwise_is_refused_before_it_is_read(study, tmp_path, capsys, change, words):
    with sqlite3.connect(study.folder / "runs.sqlite") as database:
        database.executescript(change)
    database.close()
    for command in (("report", str(study.folder)), ("run", str(study.source), "--out", str(study.folder))):
        assert words in one_sentence(capsys, 2, "study", *command)


def test_errors_of_an_archive_name_the_archive(study, tmp_path, capsys):
    """And not the temporary folder into which it is unpacked."""
    packed = tmp_path / "s.study.zip"
    study.report(quiet=True)
    assert main.main(["study", "pack", str(study.folder), "--to", str(packed)]) == 0
    with zipfile.ZipFile(packed) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    facts = json.loads(files.pop("tonopah-study.json"))
    (tmp_path / "odd.sqlite").write_bytes(files["runs.sqlite"])
    with sqlite3.connect(tmp_path / "odd.sqlite") as database:
        database.execute("UPDATE study SET value = 'x' WHERE key = 'study'")
    database.close()
    content = files["runs.sqlite"] = (tmp_path / "odd.sqlite").read_bytes()
    facts["files"]["runs.sqlite"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in {"tonopah-study.json": json.dumps(facts), **files}.items():
            archive.writestr(name, data)
    said = one_sentence(capsys, 1, "study", "report", str(packed), "--out", str(tmp_path / "o"))
    assert f"{packed}/runs.sqlite: what is stored about the study is damaged" in said and "tonopah-" not in said.split("; run")[0]


def test_a_damaged_shard_is_not_merged(study, tmp_path, capsys):
    flip(series(study)[0], random.Random(1))
    said = one_sentence(capsys, 1, "study", "merge", study.folder, "--out", tmp_path / "merged")
    assert "is damaged; run that shard again" in said


def test_a_damaged_run_is_replaced_by_a_merge(finished, study, capsys):
    edit(study, "UPDATE runs SET summary = '{}' WHERE seed = 2")
    assert main.main(["study", "merge", str(finished.folder), "--out", str(study.folder)]) == 0
    capsys.readouterr()
    assert everything(study) == everything(finished)


# The store is checked beside the loss, so a loss of several files shows either of them; a folder goes at once by a rename.
LOSSES = {
    "database": (
        "runs.sqlite(-wal)? was deleted, moved or replaced",
        lambda folder: [p.unlink() for p in folder.glob("runs.sqlite*")],
    ),
    "log": ("runs.sqlite-wal was deleted", lambda folder: (folder / "runs.sqlite-wal").unlink()),
    "another database": (
        "runs.sqlite(-wal)? was deleted, moved or replaced",
        lambda folder: (folder / "runs.sqlite").rename(folder / "old") and (folder / "runs.sqlite").touch(),
    ),
    "folder": ("the folder was deleted or moved", lambda folder: shutil.rmtree(folder.rename(folder.with_name("gone")))),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_study_whose_store_vanishes_stops_at_the_next_commit_with_what_is_true(finished, tmp_path, loss):
    words, lose = LOSSES[loss]
    study, done = tp.Study.load(finished.source), []

    def on_progress():
        done.append(1)
        if len(done) == 5:
            study_commits_are_empty(study)
            lose(study.folder)

    with pytest.raises(tp.RunFailedError, match=f"{words}.*while the study was running") as error:
        study.run(quiet=True, jobs=1, out=tmp_path / "out", on_progress=on_progress, replicates=20)
    assert "stored results are kept" not in str(error.value)
    assert len(done) < len(study.plan.runs) / 2
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    study = tp.Study.load(finished.source)
    study.run(quiet=True, out=tmp_path / "out")
    assert everything(study) == everything(finished)


def study_commits_are_empty(study):
    """Wait until something is on disk, so that there is something to lose."""
    database = sqlite3.connect(study.folder / "runs.sqlite")
    while not database.execute("SELECT COUNT(*) FROM runs").fetchone()[0]:
        pass
    database.close()


def test_a_study_that_is_moved_in_the_middle_continues_where_it_is(finished, tmp_path):
    study, done = tp.Study.load(finished.source), []

    def on_progress():
        done.append(1)
        if len(done) == 5:
            study_commits_are_empty(study)
            (tmp_path / "out").rename(tmp_path / "elsewhere")

    with pytest.raises(tp.RunFailedError, match="if it was moved, continue with its new place as --out"):
        study.run(quiet=True, jobs=1, out=tmp_path / "out", on_progress=on_progress)
    study = tp.Study.load(finished.source)
    assert 0 < study.run(quiet=True, out=tmp_path / "elsewhere") < len(study.plan.runs)
    assert everything(study) == everything(finished)
    assert [path.read_bytes() for path in series(study)] == [path.read_bytes() for path in series(finished)]


def test_a_study_with_an_algorithm_in_python_that_is_moved_keeps_its_runs(study_document, tmp_path):
    from test_python_algorithm import GOOD

    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "my.py").write_text(GOOD)
    study_document["compare"]["cc"] = ["newreno", "my.py:Good"]
    study_document |= {"sweep": [], "claim": [], "quick": {}, "figure": [{"kind": "bar", "y": ["goodput_bps"]}]}
    (tmp_path / "here" / "small.toml").write_text(to_toml(study_document))
    study = tp.Study.load(tmp_path / "here" / "small.toml")
    study.run(quiet=True, out=tmp_path / "here" / "out", replicates=2)
    (tmp_path / "here").rename(tmp_path / "there")
    study = tp.Study.load(tmp_path / "there" / "small.toml")
    assert study.run(quiet=True, out=tmp_path / "there" / "out") == 2
    whole = tp.Study.load(tmp_path / "there" / "small.toml")
    whole.run(quiet=True, out=tmp_path / "whole")
    assert study.table().to_csv() == whole.table().to_csv()


def test_a_clock_that_is_set_back_changes_nothing(finished, tmp_path, monkeypatch):
    real, asked = stores.datetime.datetime, []

    class Clock(real):
        @classmethod
        def now(cls, zone=None):
            asked.append(1)
            return real.now(zone) - stores.datetime.timedelta(days=1000 * len(asked))

    study, done = tp.Study.load(finished.source), []

    class EnoughError(Exception):
        pass

    def on_progress():
        done.append(1)
        if len(done) == 5:
            raise EnoughError

    with pytest.raises(EnoughError):
        study.run(quiet=True, jobs=1, out=tmp_path / "out", on_progress=on_progress)
    before = study.missing()
    assert 0 < before < len(study.plan.runs)
    monkeypatch.setattr(stores.datetime, "datetime", Clock)
    monkeypatch.setattr("time.time", lambda: 0.0)
    for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]:
        os.utime(path, (2_000_000_000, 2_000_000_000))
    assert study.run(quiet=True) == before and len(asked) >= before
    assert everything(study) == everything(finished)
    assert [path.read_bytes() for path in series(study)] == [path.read_bytes() for path in series(finished)]


def leftovers(folder):
    return sorted(path.name for path in folder.glob("runs.sqlite-*"))


def test_a_finished_folder_has_one_database_and_nothing_beside_it(study_file, tmp_path, capsys):
    assert main.main(["study", "run", str(study_file), "--quick", "--out", str(tmp_path / "out")]) == 0
    assert leftovers(tmp_path / "out") == []
    assert main.main(["study", "report", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert leftovers(tmp_path / "out") == []


def test_an_interrupted_folder_has_nothing_beside_its_database_either(study_file, tmp_path):
    study = tp.Study.load(study_file)
    with pytest.raises(ZeroDivisionError):
        study.run(quiet=True, out=tmp_path / "out", on_progress=lambda: 1 / 0)
    assert leftovers(tmp_path / "out") == []


KILLED = """
import os, sys
import tonopah as tp
study, done = tp.Study.load(sys.argv[1]), []
def on_progress():
    done.append(1)
    if len(done) == 10:
        os._exit(9)
study.run(quiet=True, jobs=1, out=sys.argv[2], on_progress=on_progress)
"""


@pytest.mark.parametrize("index", [True, False])
def test_the_folder_of_a_killed_study_can_be_read_where_nothing_can_be_written(finished, public, index):
    folder = public / "out"
    assert subprocess.run([sys.executable, "-c", KILLED, finished.source, str(folder)], check=False).returncode == 9
    assert leftovers(folder) == ["runs.sqlite-shm", "runs.sqlite-wal"]
    if not index:
        (folder / "runs.sqlite-shm").unlink()
    study = tp.Study.load(finished.source)
    study.folder = folder
    with read_only(folder):
        missing = study.missing()
    assert 0 < missing < len(study.plan.runs)
    assert leftovers(folder) == ["runs.sqlite-shm", "runs.sqlite-wal"][not index :]
