"""A finished study in one file: equal bytes, the same report, and nothing believed that the file says of itself."""

import json
import random
import shutil
import stat
import sys
import zipfile

import pytest

import tonopah as tp
from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.store import pack
from tonopah.study import packing


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a finished study with its report: two algorithms, two replicates, series."""
    from conftest import STUDY, toml

    folder = tmp_path_factory.mktemp("finished")
    document = STUDY | {
        "sweep": [],
        "figure": [one for one in STUDY["figure"] if "x" not in one],
        "claim": STUDY["claim"][1:],
        "quick": {},
        "replicates": 2,
    }
    (folder / "small.toml").write_text(toml(document))
    study = tp.Study.load(folder / "small.toml")
    study.run(quiet=True, out=folder / "results" / "small")
    study.report(quiet=True)
    return study


@pytest.fixture(scope="module")
def packed(finished):
    """Return the packed study."""
    file = finished.folder.parents[1] / f"small{pack.SUFFIX}"
    packing.pack_results(finished.folder, file)
    return file


def call(capsys, *arguments):
    code = main.main(["study", *map(str, arguments)])
    found = capsys.readouterr()
    return code, found.out, found.err


def test_a_study_is_packed_and_its_report_is_the_same(finished, packed, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(finished.folder.parents[1])
    code, out, _ = call(capsys, "pack", "small", "--to", tmp_path / "again.zip")
    assert code == 0 and "MB, unpacked" in out and "6 files" in out
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()
    shutil.copy(packed, tmp_path / packed.name)
    code, out, err = call(capsys, "report", tmp_path / packed.name)
    assert code == 0 and f"report: {tmp_path / 'small' / 'report.html'}" in out and "edited" not in err
    for name in ("verdicts.json", "tables/runs.csv", "figures/series--cwnd.csv"):
        assert (tmp_path / "small" / name).read_bytes() == (finished.folder / name).read_bytes()
    assert not (tmp_path / "small" / "runs.sqlite").exists()


def test_the_index_shows_packed_studies(packed, tmp_path, capsys):
    shutil.copy(packed, tmp_path / packed.name)
    assert call(capsys, "index", tmp_path)[0] == 0
    page = (tmp_path / "index.html").read_text()
    assert "Does the number of flows matter?" in page and f"tonopah study report {packed.name}" in page
    assert call(capsys, "report", tmp_path / packed.name)[0] == 0
    assert call(capsys, "index", tmp_path)[0] == 0
    page = (tmp_path / "index.html").read_text()
    assert 'href="small/report.html"' in page and page.count("<section>") == 1


def test_a_damaged_file_in_the_folder_of_results_does_not_stop_a_report(packed, tmp_path, capsys):
    (tmp_path / "results").mkdir()
    shutil.copy(packed, tmp_path / "results" / packed.name)
    (tmp_path / "results" / f"other{pack.SUFFIX}").write_bytes(b"no archive")
    code, out, err = call(capsys, "report", tmp_path / "results" / packed.name)
    assert code == 0 and "report: " in out and "index: " not in out
    assert f"note: the index was not written: {tmp_path / 'results' / 'other'}{pack.SUFFIX}: is no packed study" in err


def test_only_a_finished_study_with_its_report_is_packed(finished, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(finished.folder, copy)
    (copy / "verdicts.json").unlink()
    code, _, err = call(capsys, "pack", copy, "--to", tmp_path / "x.zip")
    assert code == 2 and "has no verdicts.json" in err
    next((copy / "series").iterdir()).unlink()
    code, _, err = call(capsys, "pack", copy, "--to", tmp_path / "x.zip")
    assert code == 2 and "is not finished: 1 run" in err and not (tmp_path / "x.zip").exists()


def rewritten(packed, target, change):
    """Write an archive again after `change(list, members)`, where members are the bytes by name."""
    with zipfile.ZipFile(packed) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    listed = json.loads(members.pop(pack.LIST))
    change(listed, members)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(pack.LIST, json.dumps(listed))
        for name, content in members.items():
            info = name if isinstance(name, zipfile.ZipInfo) else pack.entry(name)
            archive.writestr(info, content)
    return target


def smuggle(name, listed, members):
    listed["files"][name] = {"bytes": 4, "sha256": "0" * 64}
    members[name] = b"evil"


def link(listed, members):
    info = pack.entry("verdicts.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    del members["verdicts.json"]
    members[info] = b"/etc/passwd"
    listed["files"]["verdicts.json"]["bytes"] = len(b"/etc/passwd")


HOSTILE = {
    "out of the folder": (lambda f, m: smuggle("../../evil.py", f, m), "names '../../evil.py'"),
    "absolute": (lambda f, m: smuggle("/tmp/evil", f, m), "names '/tmp/evil'"),
    "a program": (lambda f, m: smuggle("series/evil.py", f, m), "names 'series/evil.py'"),
    "not listed": (lambda f, m: m.update({"series/more.parquet": b""}), "does not hold what"),
    "listed only": (lambda f, m: m.pop("runs.sqlite"), "does not hold what"),
    "without a database": (lambda f, m: (m.pop("runs.sqlite"), f["files"].pop("runs.sqlite")), "has no runs.sqlite"),
    "a link": (link, "verdicts.json is not the file"),
    "another size": (lambda f, m: f["files"]["runs.sqlite"].update(bytes=5), "runs.sqlite is not the file"),
    "a size that is none": (lambda f, m: f["files"]["runs.sqlite"].update(bytes=-1), "cannot be read: ValueError"),
    "another content": (lambda f, m: m.update({"runs.sqlite": m["runs.sqlite"][:-1] + b"x"}), "runs.sqlite is damaged"),
    "no list": (lambda f, m: f.clear(), "cannot be read: KeyError"),
    "another format": (lambda f, m: f.update(format=3), "packed by another version"),
    "another engine": (lambda f, m: f.update(build="0" * 16), "results of engine"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_not_as_announced_is_refused(packed, tmp_path, capsys, case):
    change, words = HOSTILE[case]
    file = rewritten(packed, tmp_path / f"x{pack.SUFFIX}", change)
    code, _, err = call(capsys, "report", file)
    assert code == 2 and words in err and err.count("\n") == 1, err
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_sizes_are_bounded_before_anything_is_unpacked(packed, tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match="holds more than"), pack.unpacked(packed):
        pass
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(pack.LIST, b" " * (pack.LONGEST_LIST + 1))
    with pytest.raises(InputError, match="is too large"):
        pack.read_member(bomb)


def test_damage_anywhere_is_noticed(packed, tmp_path):
    whole, draw = packed.read_bytes(), random.Random(5)
    for _ in range(60):
        content = bytearray(whole)
        place = draw.randrange(len(content))
        content[place] ^= 1 << draw.randrange(8)
        if draw.random() < 0.2:
            content = content[:place]
        (tmp_path / "x.zip").write_bytes(content)
        try:
            with pack.unpacked(tmp_path / "x.zip") as folder:
                # What no digest covers, such as a date, changes nothing.
                assert (
                    pack.file_digest(folder / "runs.sqlite")
                    == json.loads(zipfile.ZipFile(packed).read(pack.LIST))["files"]["runs.sqlite"]["sha256"]
                )
        except InputError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"no archive"])
def test_a_file_that_is_no_archive_is_refused(tmp_path, capsys, content):
    (tmp_path / "x.study.zip").write_bytes(content)
    code, _, err = call(capsys, "report", tmp_path / "x.study.zip")
    assert code == 2 and "is no packed study" in err
    assert call(capsys, "index", tmp_path)[0] == 2


def test_a_study_is_reproduced_elsewhere_and_its_claims_have_commands(packed, tmp_path, capsys):
    shutil.copy(packed, tmp_path / packed.name)
    assert main.main(["reproduce", str(tmp_path / packed.name)]) == 0
    assert "the same: all " in capsys.readouterr().out
    text = pack.read_member(packed, pack.ARTIFACT).decode()
    assert "`tonopah reproduce PACK`" in text and "| C" in text
    machine = json.loads(pack.read_member(packed, pack.FACTS))["machine"]
    assert machine["engine"]["compiler"].startswith("rustc") and machine["python"] and machine["system"] and machine["processor"]


GENTLE = """
import helper
from tonopah import CongestionControl


class Gentle(CongestionControl):
    \"\"\"A window that stands.\"\"\"

    def on_ack(self, ack, view):
        self.cwnd_bytes = helper.SEGMENTS * 1448.0

    def on_congestion(self, event, view):
        self.cwnd_bytes = helper.SEGMENTS * 1448.0
"""


def test_a_comparison_is_packed_with_the_source_of_its_subject_and_reproduced(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gentle.py").write_text(GENTLE)
    (tmp_path / "helper.py").write_text("SEGMENTS = 20\n")
    command = ["compare", "cubic", "gentle.py:Gentle", "--experiments", "E9", "--replicates", "4", "--out", "made"]
    monkeypatch.setattr(sys, "argv", ["tonopah", *command])
    assert main.main(command) in (0, 1, 3)
    assert call(capsys, "pack", "made", "--to", "made.study.zip")[0] == 0
    assert set(pack.read_sources(tmp_path / "made.study.zip")) == {"gentle.py", "helper.py"}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move("made.study.zip", elsewhere / "made.study.zip")
    monkeypatch.chdir(elsewhere)
    assert main.main(["reproduce", "made.study.zip", "--code", "none"]) == 2
    assert "are code: gentle.py, helper.py" in capsys.readouterr().err
    assert main.main(["reproduce", "made.study.zip", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["same"] and told["values"] > 10
    # What was run is packed, not what became of the file.
    (tmp_path / "helper.py").write_text("SEGMENTS = 21\n")
    assert call(capsys, "pack", tmp_path / "made", "--to", "again.study.zip")[0] == 0
    assert pack.read_sources(elsewhere / "again.study.zip")["helper.py"] == b"SEGMENTS = 20\n"
