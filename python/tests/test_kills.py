"""A study that is killed at random moments ends with the same table, byte for byte.

TONOPAH_KILLS=100 (`make kills`) sets how many kills there are.
"""

import os
import random
import signal
import subprocess
import sys
import time

import tonopah as tp
from tonopah.scenario.document import to_toml

KILLS = int(os.environ.get("TONOPAH_KILLS", "4"))


def start(study, folder):
    command = [sys.executable, "-m", "tonopah", "study", "run", study.source, "--out", str(folder), "--jobs", "2"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def until_runs_begin(process):
    for line in process.stderr:
        if "runs to do" in line:
            return


def ended(process):
    process.communicate()
    return process.returncode


def missing(folder):
    try:
        return tp.Study.open(folder).missing()
    except tp.InputError:
        return None


def test_killed_at_random_moments_the_table_is_the_same(study_document, tmp_path):
    # With series; drawing what a report draws would only take time.
    study_document["figure"] = study_document["figure"][-1:]
    (tmp_path / "small.toml").write_text(to_toml(study_document))
    whole = tp.Study.load(tmp_path / "small.toml")
    started = time.monotonic()
    process = start(whole, tmp_path / "whole")
    until_runs_begin(process)
    begun = time.monotonic()
    assert ended(process) == 0
    before_runs, runs_and_report = begun - started, time.monotonic() - begun
    whole.folder = tmp_path / "whole"
    expected = whole.table().to_csv().encode(), whole.table("flow").to_csv().encode()
    draws, kills, under_way, round_ = random.Random(1), 0, 0, 0
    while kills < KILLS:
        folder, round_ = tmp_path / f"killed{round_}", round_ + 1
        left = None
        while True:
            process = start(whole, folder)
            if kills < KILLS:
                # One in four may come while Python starts; the others while runs are done or the report is written.
                if draws.random() < 0.25:
                    time.sleep(draws.uniform(0, before_runs))
                else:
                    until_runs_begin(process)
                    time.sleep(draws.uniform(0, runs_and_report))
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    kills += 1
            if ended(process) == 0:
                break
            before, left = left, missing(folder)
            assert before is None or left <= before, "a finished run was lost"
            under_way += left is not None and 0 < left < len(whole.plan.runs)
        killed = tp.Study.open(folder)
        print(f"{kills} kills, study {round_} complete", flush=True)
        assert (killed.table().to_csv().encode(), killed.table("flow").to_csv().encode()) == expected
    print(f"{kills} kills in {round_} studies, {under_way} of them while some runs were stored and others missing")
    assert KILLS < 20 or under_way > KILLS // 10, "hardly any kill came while runs were done"
