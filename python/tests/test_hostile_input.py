"""What no scenario is: pipes, devices, links in circles, names that are no text, endless numbers. Each gets one short message.

Every case here was an internal error, a hang or the end of the memory once.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import STUDY, put_file

import tonopah as tp
from tonopah.cli import main
from tonopah.errors import MAX_TEXT, InputError, limit_text
from tonopah.importing import samples
from tonopah.scenario import csv_files, document
from tonopah.scenario.document import to_toml
from tonopah.scenario.files import read_file
from tonopah.scenario.paths import inner, parse_assignment
from tonopah.scenario.workload_files import read_arrivals
from tonopah.spec import library, reader

LONGEST_S = 2.0
DIGITS = "9" * 5000
STEPS = ".".join("a" * 20_000)


@pytest.fixture
def scenario(dumbbell, tmp_path):
    path = tmp_path / "dumbbell.toml"
    path.write_text(to_toml(dumbbell))
    return path


def refused(capsys, *arguments):
    """Return the message of a command that is refused in time, with exit code 2 and no word of an internal error."""
    started = time.process_time()
    try:
        code = main.main([str(argument) for argument in arguments])
    except SystemExit as stopped:
        code = stopped.code
    message = capsys.readouterr().err
    assert time.process_time() - started < LONGEST_S
    assert code == 2 and "internal error" not in message and "Traceback" not in message, message
    assert len(message) < MAX_TEXT + 1000
    return message


ODD = [("pipe", "is a pipe"), ("device", "is a device"), ("folder", "is a folder"), ("loop", "symbolic links")]


@pytest.mark.parametrize(("kind", "words"), ODD)
def test_only_regular_files_are_read(capsys, tmp_path, scenario, dumbbell, kind, words):
    odd = tmp_path / "odd.toml"
    put_file(odd, kind)
    for command in (("check", odd), ("run", odd), ("study", "run", odd)):
        message = refused(capsys, *command)
        assert words in message and "odd.toml" in message
    study = tmp_path / "study.toml"
    study.write_text(to_toml({**STUDY, "scenario": {"file": "odd.toml"}}))
    message = refused(capsys, "check", study)
    assert words in message and "study.toml: scenario.file: " in message
    moving = {"kind": "adhoc", "flows": 1, "area": {"x": "9m", "y": "9m"}, "mobility": {"kind": "setdest", "file": "odd.toml"}}
    scenario.write_text(to_toml({"duration": "1s", "network": moving}))
    message = refused(capsys, "check", scenario)
    assert words in message and "network.mobility.file: " in message
    served = {"kind": "dumbbell", "bottleneck": {"service": {"kind": "trace", "file": "odd.toml"}}}
    scenario.write_text(to_toml({"duration": "1s", "network": served}))
    message = refused(capsys, "check", scenario)
    assert words in message and "network.bottleneck.service.file: " in message
    scenario.write_text(to_toml(dumbbell))
    put_file(tmp_path / "odd.py", kind)
    message = refused(capsys, "check", scenario, "--set", "tcp.cc=odd.py:X")
    assert words in message and "tcp.cc: " in message


def test_a_file_is_read_up_to_its_limit(tmp_path, monkeypatch):
    path = tmp_path / "long"
    path.write_bytes(b"x" * 100)
    assert read_file(path, "a text", 100) == b"x" * 100
    with pytest.raises(InputError, match=r"long: is too large for a text \(at most 99 bytes\)"):
        read_file(path, "a text", 99)
    monkeypatch.setattr(document, "MAX_FILE_BYTES", 99)
    with pytest.raises(InputError, match="too large"):
        document.load(path)


@pytest.mark.parametrize("name", ["a\0b.toml", "\udcff.toml"])
def test_a_name_that_no_file_can_have_is_refused(capsys, tmp_path, scenario, name):
    with pytest.raises(InputError, match="is not the name of a file"):
        read_file(name, "a text", 9)
    with pytest.raises(InputError, match="is not the name of a file"):
        library.find(name)
    study = {**STUDY, "scenario": {"file": name}}
    with pytest.raises(InputError, match=r"scenario\.file"):
        reader.inline_scenarios(study, tmp_path)
    if "\0" in name:
        odd = scenario.with_name("null.toml")
        odd.write_text(scenario.read_text().replace('cc = "newreno"', 'cc = { python = "a\\u0000.py:X" }'))
        assert "tcp.cc.python: " in refused(capsys, "check", odd)
    else:
        # The argument as Python decodes it from a command line.
        assert "is not UTF-8 text" in refused(capsys, "check", scenario, "--set", "tcp.cc=\udcff")
        (tmp_path / "ok.toml").write_text(to_toml(STUDY))
        os.rename(tmp_path / "ok.toml", os.fsencode(tmp_path) + b"/\xff.toml")
        assert "UTF-8" in refused(capsys, "study", "run", tmp_path / "\udcff.toml", "--out", tmp_path / "out")
        assert not (tmp_path / "out").exists()
        assert "UTF-8" in refused(capsys, "study", "run", tmp_path / "ok.toml", "--out", tmp_path / "\udcff")


@pytest.mark.parametrize("name", ["...toml", "..toml", "....toml"])
def test_a_study_whose_file_has_no_name_is_refused(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(to_toml(STUDY))
    assert "gives the study no name" in refused(capsys, "study", "run", name, "--quick")
    assert os.listdir(tmp_path) == [name]


def test_the_number_of_a_study_may_end_in_dots_before_its_suffix(tmp_path):
    assert library.find(tmp_path / "a..toml").name == "a..toml"


@pytest.mark.parametrize(
    "change",
    [f"network.pairs={DIGITS}", f"flow.{DIGITS}.cc=reno", f"flow[{DIGITS}].cc=reno", f"flow.{'9' * 900}.cc=reno", f"{STEPS}=1"],
)
def test_endless_numbers_and_paths_are_refused_in_time(capsys, scenario, change):
    refused(capsys, "check", scenario, "--set", change)


@pytest.mark.parametrize(
    "text", [f"x = {DIGITS}", f"x = 0x{'f' * 9000}", f"{'.'.join('a' * 900)} = 1", f"x = {'[' * 70}{']' * 70}"]
)
def test_endless_numbers_and_depths_in_files_are_refused(capsys, tmp_path, text):
    path = tmp_path / "deep.toml"
    path.write_text(f"{text}\n")
    message = refused(capsys, "check", path)
    assert "deep.toml: " in message
    path.write_text(f'question = "?"\n{text}\n')
    refused(capsys, "check", path)


def test_an_endless_number_of_a_node_is_refused(capsys, tmp_path, scenario):
    (tmp_path / "m.tcl").write_text(f"$node_({DIGITS}) set X_ 1.0\n")
    moving = {"kind": "adhoc", "flows": 1, "area": {"x": "9m", "y": "9m"}, "mobility": {"kind": "setdest", "file": "m.tcl"}}
    scenario.write_text(to_toml({"duration": "1s", "network": moving}))
    assert "line 1" in refused(capsys, "check", scenario)


@pytest.mark.parametrize("option", ["--seed"])
def test_an_endless_argument_is_refused(capsys, scenario, option):
    assert "whole number" in refused(capsys, "run", scenario, option, DIGITS)
    refused(capsys, "run", scenario, option, "a" * 100_000)


def test_a_deep_document_is_refused_in_python_too(dumbbell):
    deep: dict = {}
    for _ in range(5000):
        deep = {"a": deep}
    for document_ in ({**dumbbell, "tcp": deep}, {**dumbbell, "flow": [deep]}):
        with pytest.raises(tp.ScenarioError, match="nested too deeply"):
            tp.check(document_)


def test_an_algorithm_file_that_ends_the_program_is_refused(capsys, tmp_path, scenario):
    (tmp_path / "ends.py").write_text("import sys\n\nsys.exit(7)\n")
    assert "ends.py cannot be loaded: SystemExit: 7 (line 3)" in refused(capsys, "check", scenario, "--set", "tcp.cc=ends.py:X")


@pytest.mark.parametrize("place", ["value", "key", "city", "label"])
def test_a_value_of_any_length_is_repeated_in_short(capsys, tmp_path, dumbbell, study_document, place):
    long, path = "x" * 3_000_000, tmp_path / "long.toml"
    document_ = {
        "value": {**dumbbell, "tcp": {"cc": long}},
        "key": {**dumbbell, long: 1},
        "city": {"duration": "1s", "network": {"kind": "constellation", "preset": "iridium", "terminals": [long, "Boston"]}},
        "label": {**study_document, "baseline": long},
    }[place]
    path.write_text(to_toml(document_))
    refused(capsys, "check", path)


def test_long_text_keeps_its_ends():
    assert limit_text("abc") == "abc"
    cut = limit_text("a" * 5000 + "z" * 5000)
    assert len(cut) < MAX_TEXT and cut.startswith("aaa") and cut.endswith("zzz") and "letters" in cut


def test_a_name_that_is_no_text_can_be_printed(tmp_path, scenario):
    """Standard output refuses what its encoding does not have; the series are written below such a folder."""
    command = [sys.executable, "-m", "tonopah", "run", str(scenario)]
    done = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and b"left0 \\u2192 right0" in done.stdout, done.stderr


def test_an_assignment_of_an_endless_number_is_kept_as_text():
    assert parse_assignment(f"a={DIGITS}") == ("a", DIGITS)


@pytest.mark.parametrize("letter", ["\x1b", "\x9b", "\r", "\x07", "\u202e"])
def test_text_that_a_terminal_would_obey_is_refused(tmp_path, capsys, letter):
    """In names, labels and keys, and in what the message repeats."""
    world = {"duration": "1s", "network": {"kind": "graph"}, "node": [{"name": f"a{letter}[31mb"}, {"name": "c"}]}
    with pytest.raises(tp.InputError, match=rf"node\[0\]\.name: .* holds the control character U\+{ord(letter):04X}"):
        tp.check(world)
    with pytest.raises(tp.InputError, match="holds the control character"):
        tp.check({"duration": "1s", f"net{letter}work": {}})
    (tmp_path / "x.toml").write_text(f'duration = "1s"\nname = "\\u{ord(letter):04x}"\n')
    for command in (["check", str(tmp_path / "x.toml")], ["check", f"no{letter}file.toml"]):
        assert main.main(command) == 2
        assert letter not in capsys.readouterr().err


CELL = "9" * 200_000


@pytest.mark.parametrize(
    "read",
    [
        csv_files.read_table,
        lambda path: read_arrivals(path.read_bytes(), str(path)),
        *((lambda path, one=one: one(path.read_text(), str(path))) for one in (samples.fcc, samples.irish_5g, samples.lumos_5g)),
        lambda path: samples.lens_table(path.read_text(), str(path)),
    ],
)
def test_a_cell_without_end_is_refused_with_its_line(tmp_path, read):
    """The module `csv` takes cells of 131,072 letters, and raises an error of its own for more: it was an internal one."""
    path = tmp_path / "odd.csv"
    path.write_text(f"t_s\n{CELL}\n")
    with pytest.raises(InputError, match="line 2: is no row of a table"):
        read(path)


def test_rows_of_plain_values_are_passed_over_and_tables_in_them_are_not():
    """Of a million arrivals each row was walked through six times."""
    table = {"cc": "x"}
    given = [["0ns", None, 1.5, 2, True], table, ["0ns", table], [["1ns"]], []]
    assert [(step, below) for step, below in inner(given)] == [(1, table), (2, ["0ns", table]), (3, [["1ns"]])]
    assert dict(inner({"rows": given[0], "tcp": table, "list": [table]})) == {"tcp": table, "list": [table]}
