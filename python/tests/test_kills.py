"""What is killed at random moments ends with the same results, byte for byte: `study run`, also of Python, `evaluate`, `break`.

TONOPAH_KILLS=100 (`make kills`) sets how many kills each gets; without it a study gets four, one of Python one, others none.
"""

import json
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import test_break
from conftest import STUDY, toml
from forked import Forked

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
        # Runs of a few hundredths of a second would nearly all be stored by the first commits.
        return Killed(study_of(home, scenario=STUDY["scenario"] | {"duration": "60s"}), tables, stored, KILLS or 4)
    if name == "study in Python":
        short = {"scenario": STUDY["scenario"] | {"duration": "300ms"}, "sweep": STUDY["sweep"][:1], "replicates": 2}
        python = {"compare": {"cc": ["newreno", f"{EXAMPLE}:Reno"]}}
        return Killed(study_of(home, **short, **python), tables, stored, KILLS or 1)
    if name == "evaluate":
        return Killed(["evaluate", "reno", "--criteria", "C8", "--replicates", "2", "--jobs", "2"], scores, stored, KILLS)
    (home / "space.toml").write_text(test_break.ACKS)
    space = ["--worlds", "6", "--only", "underuse", "--space", str(home / "space.toml"), "--jobs", "1"]
    return Killed(["break", test_break.FEW_ACKS, *space], lambda out: (out / "findings.json").read_bytes(), searched, KILLS)


def is_alive(process: int) -> bool:
    """Tell whether a process of the forks is running; one that ended is waited for there at once."""
    return Path(f"/proc/{process}").exists()


def until(process: int, command: Killed, folder: Path, most: int = 0) -> None:
    """Wait until more than `most` is done."""
    while is_alive(process) and (command.done(folder) or 0) <= most:
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["study", "study in Python", "evaluate", "break"])
def test_killed_at_random_moments_the_results_are_the_same(name, tmp_path):
    command = command_of(name, tmp_path)
    if not command.kills:
        pytest.skip("make kills")
    with Forked([*command.arguments, "--out", str(tmp_path / "warm")]) as forked:
        kill_often(forked, command, tmp_path, name)


def kill_often(forked: Forked, command: Killed, home: Path, name: str) -> None:
    whole = home / "whole"
    began = time.monotonic()
    everything = command.done(home / "warm") or 0
    process = forked.start([*command.arguments, "--out", str(whole)])
    until(process, command, whole)
    begun = time.monotonic()
    until(process, command, whole, everything - 1)
    all_done = time.monotonic()
    code = forked.wait()
    before_s, running_s, after_s = begun - began, all_done - begun, time.monotonic() - begun
    expected = command.result(whole)
    draws, kills, under_way, rounds = random.Random(1), 0, 0, 0
    while kills < command.kills:
        folder, rounds, left = home / f"killed{rounds}", rounds + 1, 0
        while True:
            process = forked.start([*command.arguments, "--out", str(folder)])
            if kills < command.kills:
                # A quarter before anything is stored, a half while runs are done, a quarter from then to the end of the report.
                if (when := draws.random()) < 0.25:
                    time.sleep(draws.uniform(0, before_s))
                else:
                    until(process, command, folder)
                    time.sleep(draws.uniform(0, running_s if when < 0.75 else after_s))
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            ended = forked.wait()
            kills += ended == -signal.SIGKILL
            if ended >= 0:
                break
            before, left = left, command.done(folder) or 0
            assert left >= before, "a finished run was lost"
            under_way += 0 < left < everything
        assert ended == code
        assert command.result(folder) == expected
        print(f"{name}: {kills} kills, round {rounds} complete", flush=True)
    times = f"{before_s:.1f} + {running_s:.1f} + {after_s - running_s:.1f} s"
    print(f"{name}: {kills} kills in {rounds} rounds ({times}), {under_way} of them while a part was stored")
    assert command.kills < 20 or under_way > command.kills // 10, "hardly any kill came while runs were done"
