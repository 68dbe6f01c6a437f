"""Code runs only where its owner said so: reading results executes nothing, and what is limited the loader itself refuses."""

import hashlib
import json
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from test_pack import rewritten

import tonopah
from tonopah.cc.loading import find_entry_points
from tonopah.cc.permission import NONE, Permission, permitting
from tonopah.cli.main import main
from tonopah.cli.reproduce import write_sources
from tonopah.errors import InputError
from tonopah.lab.studies import Studies
from tonopah.spec.source import installed, loaded
from tonopah.store.database import checksum
from tonopah.store.pack import unpacked
from tonopah.store.store import COLUMNS
from tonopah.study import packing
from tonopah.study.study import Study

RENO = (Path(tonopah.__file__).parent / "examples" / "reno.py").read_text()
STUDY = """question = "q"
replicates = 2
[scenario]
duration = "1s"
[scenario.network]
kind = "dumbbell"
pairs = 1
bottleneck = { rate = "2Mbps", delay = "8ms", queue = "20p", loss = { kind = "packet", p = 0.01 } }
[[scenario.flow]]
from = "left0"
to = "right0"
[compare]
cc = ["newreno", CC]
[[figure]]
kind = "bar"
y = ["goodput_bps"]
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with algorithms that leave a mark when their file is executed."""
    made = tmp_path / "folder"
    made.mkdir()
    code = f"{RENO}\nfrom pathlib import Path; Path({str(tmp_path / 'executed')!r}).touch()\n"
    for name in ("mine.py", "a b.py", "../outside.py"):
        (made / name).write_text(code)
    (made / "nested.py").write_text(f"{code}\nclass Outer: Inner = Reno\n")
    return made


def executed(tmp_path):
    """Tell whether an algorithm was executed since the last question."""
    mark = tmp_path / "executed"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


def write(folder, cc, name="s.toml"):
    (folder / name).write_text(STUDY.replace("CC", cc))
    return folder / name


def test_reading_results_executes_nothing(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(folder, '{ python = "mine.py:Reno" }')
    assert main(["study", "run", str(folder / "s.toml"), "--out", "r", "--jobs", "1"]) == 0
    table = Study.open("r").table()
    assert main(["study", "pack", "r", "--to", "r.study.zip"]) == 0
    assert executed(tmp_path)
    # What is read now is described by the results alone: the file is another, and then gone.
    (folder / "mine.py").write_text("raise SystemExit('executed')")
    packed = "r.study.zip"
    commands = ("report r", f"report {packed} --out o", "figure r --list", "merge r --out m", "pack r --to again.study.zip")
    for command in commands:
        assert main(["study", *command.split()]) == 0, command
        shutil.rmtree(folder, ignore_errors=True)
    assert Study.open("m").missing() == 0 and Study.open("r").table().equals(table)
    assert (tmp_path / "again.study.zip").read_bytes() == (tmp_path / "r.study.zip").read_bytes()
    with unpacked(tmp_path / "r.study.zip") as place:
        assert Study.open(place).missing() == 0
    capsys.readouterr()


PLUGIN = """from pathlib import Path
from tonopah.metrics.metric import Metric
from tonopah.spec.source import Observed, Sourced

Path(MARK).touch()


def make(name, given, path):
    shown = {"mine.answer": Metric("Answer", "", 1.0, "What it is.", "mine.answer")}
    scenario = {**given, "network": {**given["network"], "pairs": 1}}
    return Sourced(given, scenario, "a_plugin:observe", shown, identity={"version": 1}, title="Mine", about="As in mine.")


def observe(scenario, seed, summary, series):
    return Observed({"mine.answer": 42.0 + seed})
"""


def test_reading_results_imports_no_plug_in(tmp_path, monkeypatch, capsys):
    """Those of other packages: what they made of the scenarios is in the results, and they need not even be installed."""
    package, mark = tmp_path / "package", tmp_path / "executed"
    (package / "a_plugin-1.dist-info").mkdir(parents=True)
    (package / "a_plugin-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: a-plugin\nVersion: 1\n")
    points = "[tonopah.sources]\nmine = a_plugin:make\n[tonopah.algorithms]\nmine = a_plugin_cc:Reno\n"
    (package / "a_plugin-1.dist-info" / "entry_points.txt").write_text(points)
    touch = f"from pathlib import Path; Path({str(mark)!r}).touch()\n"
    (package / "a_plugin.py").write_text(PLUGIN.replace("MARK", repr(str(mark))))
    (package / "a_plugin_cc.py").write_text(f"{RENO}\n{touch}")
    monkeypatch.syspath_prepend(package)
    monkeypatch.setenv("PYTHONPATH", f"{package}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.chdir(tmp_path)
    find_entry_points.cache_clear()
    installed.cache_clear()
    text = STUDY.replace("CC", '"mine"').replace("pairs = 1\n", "").replace("[scenario]", '[scenario]\nsource = "mine:x"')
    (tmp_path / "s.toml").write_text(text.replace("goodput_bps", "mine.answer"))
    study = Study.load("s.toml")
    study.run(1, out="r", quiet=True)
    first = study.table()
    assert sorted(first["mine.answer"]) == [43.0, 43.0, 44.0, 44.0] and executed(tmp_path)
    for name in ("a_plugin", "a_plugin_cc"):
        sys.modules.pop(name)
    loaded.cache_clear()
    opened = Study.open("r")
    assert opened.missing() == 0 and opened.table().equals(first)
    for command in ("report r", "merge r --out m", "pack r --to r.study.zip", "report r.study.zip --out o"):
        assert main(["study", *command.split()]) == 0, command
    assert not executed(tmp_path) and "a_plugin" not in sys.modules
    shutil.rmtree(package)
    find_entry_points.cache_clear()
    installed.cache_clear()
    assert Study.open("m").table().equals(first)
    assert "As in mine." in (tmp_path / "r" / "report.html").read_text()
    # Who runs what was opened asks the plug-in anew.
    again = Study.open("m")
    with pytest.raises(InputError, match="no plug-in 'mine' is installed"):
        again.run(1, quiet=True)
    capsys.readouterr()


def test_results_without_a_description_say_so_and_get_one_by_another_run(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Study.load(write(folder, '"mine.py:Reno"'))
    study.run(1, out="r", quiet=True)
    opened = Study.open("r")
    opened.code = Permission(limited=True, stored={})
    with pytest.raises(InputError, match="is not described in the results"):
        opened.missing()
    # Who runs a study that was opened has it executed.
    opened.spec.parts[0].replicates = 3
    assert opened.run(1, out="r", quiet=True) > 0 and Study.open("r").missing() == 0


@pytest.mark.parametrize(
    "cc", ['"mine.py:Reno"', '"nested.py:Outer.Inner"', '"a b.py:Reno"', '{ python = "../outside.py:Reno" }', '"os:getcwd"']
)
def test_a_study_without_code_executes_none(folder, tmp_path, monkeypatch, capsys, cc):
    monkeypatch.chdir(tmp_path)
    file = write(folder, cc)
    assert main(["study", "run", str(file), "--code", "none"]) == 2
    assert "not executed here" in capsys.readouterr().err and not executed(tmp_path)


def test_below_a_folder_means_its_own_files_and_links_lead_nowhere(folder, tmp_path):
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    world = {"duration": "1s", "network": {"kind": "dumbbell", "flows": 1}}
    with permitting(Permission(limited=True, below=folder)):
        for reference in (f"{tmp_path}/outside.py:Reno", f"{folder}/link.py:Reno", "os:getcwd", "tonopah.examples.reno:Reno"):
            with pytest.raises(InputError, match="does not name a class in a file of the folder"):
                tonopah.check({**world, "tcp": {"cc": reference}})
        with pytest.raises(InputError, match="is a library"):
            tonopah.check({**world, "tcp": {"cc": str(folder / "libmine.so")}})
        assert not executed(tmp_path)
        assert tonopah.check({**world, "tcp": {"cc": f"{folder}/mine.py:Reno"}})
    assert executed(tmp_path)


def test_a_module_is_not_looked_for_where_nothing_is_executed(tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("raise SystemExit('executed')")
    monkeypatch.syspath_prepend(tmp_path)
    with permitting(NONE), pytest.raises(InputError, match="is not executed here"):
        tonopah.check({"duration": "1s", "network": {"kind": "dumbbell", "flows": 1}, "tcp": {"cc": "package.below:C"}})


VARIANTS = """[[compare.variant]]
label = "a"
set = { "tcp.cc" = "newreno" }
[[compare.variant]]
label = "b"
set = { "tcp.cc" = "REF" }"""


@pytest.mark.parametrize(
    ("allow", "change"),
    [
        (False, ("CC", '"nested.py:Outer.Inner"')),
        (False, ("CC", '"a b.py:Reno"')),
        (False, ("CC", '{ python = "mine.py:Reno", }')),
        (True, ('[compare]\ncc = ["newreno", CC]', VARIANTS.replace("REF", "../outside.py:Reno"))),
        (True, ("CC", '"os:getcwd"')),
    ],
)
def test_the_lab_refuses_what_the_loader_would_load(folder, tmp_path, allow, change):
    (folder / "s.toml").write_text(STUDY.replace(*change))
    with pytest.raises(InputError) as refused:
        Studies(folder, allow).status("s.toml", False)
    assert "mine" in str(refused.value) or "folder" in str(refused.value) or "does not execute" in str(refused.value)
    assert not executed(tmp_path)


def test_the_lab_looks_into_a_scenario_whatever_its_name(folder, tmp_path):
    world = 'duration="2s"\n[network]\nkind="dumbbell"\npairs=1\n[tcp]\ncc="mine.py:Reno"\n'
    (folder / "base.txt").write_text(f'{world}[[flow]]\nfrom="left0"\nto="right0"\n')
    two = "".join(f'[[compare.variant]]\nlabel="{sack}"\nset={{ "tcp.sack" = {sack} }}\n' for sack in ("true", "false"))
    (folder / "s.toml").write_text(f'question="q"\nreplicates=2\n[scenario]\nfile="base.txt"\n{two}')
    with pytest.raises(InputError, match="--allow-python"):
        Studies(folder, allow_python=False).status("s.toml", False)
    assert not executed(tmp_path)


def test_the_lab_starts_a_study_with_what_it_may_execute(folder, tmp_path):
    # The file is changed between the look and the start: the process that reads it anew refuses it.
    studies = Studies(folder, allow_python=False)
    file = write(folder, '"cubic"')
    studies.status("s.toml", False)
    before = file.stat()
    write(folder, '"mine.py:Reno"')
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    studies.start("s.toml", False)
    job = studies.jobs["s.toml", False]
    assert job.process.wait(300) == 2 and "not executed here" in job.log.read_text()
    assert not executed(tmp_path)


def test_the_lab_reads_foreign_results_without_executing_anything(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Study.load(write(folder, '{ python = "mine.py:Reno" }'))
    mine = tmp_path / "mine"
    study.run(1, out=mine / "results" / "s", quiet=True)
    write(mine, '"cubic"')
    executed(tmp_path)
    studies = Studies(mine, allow_python=False)
    assert studies.explore("s.toml", False, "goodput_bps", None, None)["figures"]
    assert studies.runs("s.toml", False, "", "newreno", {})["runs"]
    assert not executed(tmp_path)


def no_code(command, world, capsys, tmp_path):
    """Carry out a command that is to execute nothing of a scenario; return what it says."""
    assert main([command, str(world), "--code", "none"]) == 2
    assert not executed(tmp_path)
    return capsys.readouterr().err


@pytest.mark.parametrize("cc", ['"mine.py:Reno"', '{ transport = "mine.so" }', '{ native = "mine.so" }'])
def test_a_scenario_of_somebody_else_executes_nothing(folder, tmp_path, capsys, cc):
    world = folder / "w.toml"
    world.write_text(f'duration = "1s"\n[network]\nkind = "dumbbell"\nflows = 1\n[tcp]\ncc = {cc}\n')
    for command in ("run", "check", "emulate"):
        assert "which is not executed here" in no_code(command, world, capsys, tmp_path)


def test_a_command_of_a_scenario_of_somebody_else_is_not_executed(tmp_path, capsys):
    world = tmp_path / "w.toml"
    server = f"[[emulate.server]]\nhost = 'right0'\ncommand = 'touch {tmp_path}/executed'\n"
    world.write_text(f"duration = '1s'\n[network]\nkind = 'dumbbell'\n{server}")
    said = no_code("emulate", world, capsys, tmp_path)
    assert "emulate.server[0].command: 'touch " in said and "is a command, which is not executed here" in said


def test_what_is_limited_stays_so(folder, tmp_path):
    with permitting(NONE), permitting(Permission()), pytest.raises(InputError, match="is not executed here"):
        tonopah.check({"duration": "1s", "network": {"kind": "dumbbell", "flows": 1}, "tcp": {"cc": f"{folder}/mine.py:Reno"}})
    assert not executed(tmp_path)


@pytest.fixture
def packed(folder, tmp_path, monkeypatch):
    """A pack without any code."""
    monkeypatch.chdir(tmp_path)
    study = Study.load(write(folder, '"cubic"'))
    study.run(1, out="r", quiet=True)
    study.report(quiet=True)
    packing.pack_results(Path("r"), Path("r.study.zip"))
    return tmp_path / "r.study.zip"


@pytest.mark.parametrize("kind", ["study", "compare"])
def test_a_pack_without_code_executes_none_of_this_machine(packed, folder, tmp_path, capsys, kind):
    def forged(listed, members):
        facts = json.loads(members["facts.json"]) | {"kind": kind, "command": f"tonopah compare {folder}/mine.py:Reno cubic"}
        facts["document"]["compare"]["cc"] = ["newreno", {"python": f"{folder}/mine.py:Reno"}]
        for name, content in (("facts.json", json.dumps(facts).encode()), (packing.RESULTS[kind], b"{}")):
            members[name] = content
            listed["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    file = rewritten(packed, tmp_path / "theirs.study.zip", forged)
    assert main(["reproduce", str(file), "--out", str(tmp_path / "again")]) == 2
    assert "whose source is not in the pack" in capsys.readouterr().err and not executed(tmp_path)


def test_links_in_the_folder_of_a_repetition_destroy_nothing(tmp_path):
    home, precious = tmp_path / "again" / "source", tmp_path / "precious.py"
    home.mkdir(parents=True)
    precious.write_text("precious")
    (home / "a.py").symlink_to(precious)
    (home / "inner").symlink_to(tmp_path)
    write_sources({"a.py": b"theirs"}, home, [])
    with pytest.raises(InputError, match="leads out of it"):
        write_sources({"inner/precious.py": b"theirs"}, home, [])
    assert precious.read_text() == "precious" and (home / "a.py").read_bytes() == b"theirs"


def test_a_shard_names_no_file_outside(packed, tmp_path, capsys):
    with closing(sqlite3.connect("r/runs.sqlite")) as database:
        row = database.execute(f"SELECT {COLUMNS} FROM runs WHERE series = 1").fetchone()
        row = ("../../evil", *row[1:-1])
        shutil.copy(next(Path("r/series").iterdir()), tmp_path / "evil.parquet")
        database.execute(f"INSERT INTO runs ({COLUMNS}) VALUES ({', '.join('?' * 11)})", (*row, checksum(*row)))
        database.commit()
    (tmp_path / "below" / "m").mkdir(parents=True)
    assert main(["study", "merge", "r", "--out", "below/m"]) == 1
    assert "is damaged" in capsys.readouterr().err and not (tmp_path / "below" / "evil.parquet").exists()
