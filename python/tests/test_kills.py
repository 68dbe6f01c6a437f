"""What is killed at random moments ends with the same results, byte for byte: `study run`, also of Python, `evaluate` and `break`.

TONOPAH_KILLS=100 (`make kills`) sets how many kills each gets; without it a study gets four, one of Python one, the others none.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
import test_break
from conftest import STUDY, toml

import tonopah as tp
from tonopah.store.store import Store

KILLS = int(os.environ.get("TONOPAH_KILLS", "0"))
EXAMPLE = str(Path(tp.__file__).parent / "examples" / "reno.py")


class Killed(NamedTuple):
    """A command: its arguments, what it leaves, and how much of it is done, None before there is anything."""

    arguments: list[str]
    result: Callable[[Path], object]
    done: Callable[[Path], int | None]
    kills: int


def stored(folder: Path) -> int | None:
    try:
        with Store(folder, create=False) as store:
            return len(store.ids())
    except tp.InputError:
        return None


def searched(folder: Path) -> int | None:
    file = folder / "state.json"
    return json.loads(file.read_text())["state"]["runs"] if file.exists() else None


def tables(folder: Path) -> object:
    study = tp.Study.open(folder)
    return study.table().to_csv(), study.table("flow").to_csv()


def scores(folder: Path) -> object:
    with closing(sqlite3.connect(folder / "runs.sqlite")) as database:
        rows = database.execute("SELECT id, seed, scenario, summary FROM runs ORDER BY id").fetchall()
    return rows, (folder / "scoreboard.json").read_bytes()


def study_of(home: Path, **keys: object) -> list[str]:
    # With series; drawing what a report draws would only take time.
    document = {key: value for key, value in STUDY.items() if key != "quick"}
    (home / "small.toml").write_text(toml({**document, "figure": STUDY["figure"][-1:], **keys}))
    return ["study", "run", str(home / "small.toml"), "--jobs", "2"]


def command_of(name: str, home: Path) -> Killed:
    """Return a command by name; it writes what it needs into a folder."""
    if name == "study":
        return Killed(study_of(home), tables, stored, KILLS or 4)
    if name == "study in Python":
        short = {"scenario": STUDY["scenario"] | {"duration": "300ms"}, "sweep": STUDY["sweep"][:1], "replicates": 2}
        python = {"compare": {"cc": ["newreno", f"{EXAMPLE}:Reno"]}}
        return Killed(study_of(home, **short, **python), tables, stored, KILLS or 1)
    if name == "evaluate":
        return Killed(["evaluate", "reno", "--criteria", "C8", "--replicates", "2", "--jobs", "2"], scores, stored, KILLS)
    (home / "space.toml").write_text(test_break.ACKS)
    space = ["--worlds", "6", "--only", "underuse", "--space", str(home / "space.toml"), "--jobs", "1"]
    return Killed(["break", test_break.FEW_ACKS, *space], lambda out: (out / "findings.json").read_bytes(), searched, KILLS)


def start(arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tonopah", *arguments, "--out", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def until_begun(process: subprocess.Popen[bytes], command: Killed, folder: Path) -> None:
    while process.poll() is None and command.done(folder) is None:
        time.sleep(0.02)


@pytest.mark.parametrize("name", ["study", "study in Python", "evaluate", "break"])
def test_killed_at_random_moments_the_results_are_the_same(name, tmp_path):
    command = command_of(name, tmp_path)
    if not command.kills:
        pytest.skip("make kills")
    began = time.monotonic()
    process = start(command.arguments, tmp_path / "whole")
    until_begun(process, command, tmp_path / "whole")
    begun = time.monotonic()
    code = process.wait()
    before_s, after_s = begun - began, time.monotonic() - begun
    expected, everything = command.result(tmp_path / "whole"), command.done(tmp_path / "whole")
    draws, kills, under_way, rounds = random.Random(1), 0, 0, 0
    while kills < command.kills:
        folder, rounds, left = tmp_path / f"killed{rounds}", rounds + 1, 0
        while True:
            process = start(command.arguments, folder)
            if kills < command.kills:
                # One in four may come while Python starts; the others while runs are done or the report is written.
                if draws.random() < 0.25:
                    time.sleep(draws.uniform(0, before_s))
                else:
                    until_begun(process, command, folder)
                    time.sleep(draws.uniform(0, after_s))
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    kills += 1
            if (ended := process.wait()) >= 0:
                break
            before, left = left, command.done(folder) or 0
            assert left >= before, "a finished run was lost"
            under_way += 0 < left < everything
        assert ended == code
        assert command.result(folder) == expected
        print(f"{name}: {kills} kills, round {rounds} complete", flush=True)
    print(f"{name}: {kills} kills in {rounds} rounds, {under_way} of them while a part was stored")
    assert command.kills < 20 or under_way > command.kills // 10, "hardly any kill came while runs were done"
