"""Files are written as a whole or not at all, and an error of the disk names the file."""

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DUMBBELL

from tonopah.cli.main import guarded
from tonopah.scenario.document import to_toml
from tonopah.writing import replace_file, written_whole


def limited(kind, most):
    """Return what limits a process before it begins."""
    return lambda: resource.setrlimit(kind, (most, most))


@pytest.fixture
def world(tmp_path):
    (tmp_path / "w.toml").write_text(to_toml(DUMBBELL))
    return tmp_path


@pytest.mark.parametrize("option", ["--pcap", "--qlog", "--netanim", "--series", "--parquet"])
def test_a_disk_that_is_full_names_the_file_and_leaves_no_part_of_it(world, option):
    """A limit of the size of files stands for the full disk."""
    target = world / "out"
    command = [sys.executable, "-m", "tonopah", "run", "w.toml", "--json", option, str(target)]
    ended = subprocess.run(
        command, cwd=world, capture_output=True, text=True, preexec_fn=limited(resource.RLIMIT_FSIZE, 300), check=False
    )
    assert ended.returncode == 1 and ended.stderr.startswith(f"error: {target}") and "File too large" in ended.stderr
    assert not [path for path in world.rglob("*") if path.is_file() and path.name != "w.toml"]


def test_what_was_there_stays_until_all_is_written(tmp_path):
    target = tmp_path / "page.html"
    target.write_text("before")

    def broken():
        with written_whole(target) as file:
            file.write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=f"No space left on device: '{target}'"):
        broken()
    assert target.read_text() == "before" and os.listdir(tmp_path) == ["page.html"]
    replace_file(target, "after")
    assert target.read_text() == "after" and os.listdir(tmp_path) == ["page.html"]


def test_a_device_is_written_itself():
    with pytest.raises(OSError, match="/dev/full"):
        replace_file(Path("/dev/full"), "text")
    replace_file(Path("/dev/null"), "text")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "the memory is not enough"),
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (ImportError("no pyarrow"), "cannot be loaded: no pyarrow"),
    ],
)
def test_what_the_machine_lacks_is_no_internal_error(capsys, error, words):
    def act():
        raise error

    assert guarded(act) == 1
    said = capsys.readouterr().err
    assert words in said and "internal error" not in said


def test_a_study_in_python_runs_where_its_parent_ignores_the_end_of_children(tmp_path):
    file = tmp_path / "s.py"
    file.write_text("import tonopah\n" + (Path(__file__).parents[1] / "tonopah" / "examples" / "reno.py").read_text())
    (tmp_path / "s.toml").write_text(
        to_toml({"question": "q", "replicates": 1, "scenario": DUMBBELL, "compare": {"cc": ["s.py:Reno"]}})
    )
    command = [sys.executable, "-m", "tonopah", "study", "run", "s.toml", "--jobs", "1"]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
