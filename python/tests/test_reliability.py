"""Limits, messages and the doctor."""

import json
import re
from pathlib import Path

import pytest

import tonopah as tp
from tonopah import _core
from tonopah.breaking import api as breaking
from tonopah.breaking import runs as breaking_runs
from tonopah.cc import last_call
from tonopah.cli import doctor, main, study_run
from tonopah.execution import dask_cluster, options, runner
from tonopah.execution.options import ExecutionOptions, Limits, Shard
from tonopah.kernel import hosts
from tonopah.lab.runs import FORGOTTEN_AFTER_S
from tonopah.lab.serve import ENDS_AFTER_S, HEAD_S
from tonopah.lab.session import SessionLimits
from tonopah.store import database


def test_a_defect_of_the_engine_leaves_what_shows_it_again(study_file, tmp_path, monkeypatch, capsys):
    def broken(jobs, threads, on_done, *limits):
        on_done(0, _core.EngineError("internal error, please report it: the books do not balance"), None)

    study = tp.Study.load(study_file)
    monkeypatch.setattr(runner, "run_many", broken)
    with pytest.raises(tp.RunFailedError, match=r"books do not balance \[with newreno, seed 1.*tonopah run .*--seed 1"):
        study.run(quiet=True, out=tmp_path / "out")
    monkeypatch.undo()
    kept = next((tmp_path / "out" / "failed").glob("*.toml"))
    assert main.main(["run", str(kept), "--seed", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    first = next(iter(study.plan.runs.values()))
    assert shown["flows"][0]["cc"] == first.algorithm


def test_a_study_says_what_is_to_be_expected(study_file, tmp_path, capsys):
    tp.Study.load(study_file).run(jobs=1, out=tmp_path / "out")
    shown = capsys.readouterr().err
    assert "estimate: 36 more runs take about" in shown and "MB of memory" in shown


def test_an_estimate_tells_when_the_time_will_not_do():
    text = runner.estimate(10.0, 10, 7200, ExecutionOptions(jobs=2, max_hours=1.0))
    assert text.startswith("estimate: 7200 more runs take about 2.0 h on 2 cores")
    assert text.endswith("--max-hours 1 will expire first; run the same command to continue")
    assert "max-hours" not in runner.estimate(10.0, 10, 3000, ExecutionOptions(jobs=2, max_hours=1.0))


def test_shards_are_equal_and_disjoint(study_file):
    plan = tp.Study.load(study_file).plan
    parts = [{run.id for run in runner.select_shard(plan, Shard(index, 5))} for index in range(1, 6)]
    assert set.union(*parts) == set(plan.runs) and sum(map(len, parts)) == len(plan.runs)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/0", "a/b", "1/4/2", "-1/4", "1/10000000"])
def test_a_shard_that_is_none_is_refused(text):
    with pytest.raises(tp.InputError, match="like 1/4"):
        options.parse_shard(text)


def test_amounts_of_memory():
    assert options.parse_memory("1.5GB") == 1_500_000_000
    assert options.parse_memory("4GiB") == 4 * 1024**3
    for text in ("0MB", "1", "GB", "-1GB", "4 GBps"):
        with pytest.raises(tp.InputError, match="like 500MB"):
            options.parse_memory(text)


def test_memory_is_shared_among_the_runs_under_way(monkeypatch):
    monkeypatch.setattr(options, "memory_total", lambda: 8_000_000_000)
    assert ExecutionOptions(jobs=4).run_limits == (None, 2_000_000_000)
    assert ExecutionOptions(jobs=4, limits=Limits(7, 5)).run_limits == (7, 5)
    assert ExecutionOptions(jobs=1000).run_limits.memory_bytes == options.MIN_MEMORY_BYTES
    monkeypatch.setattr(options, "memory_total", lambda: None)
    assert ExecutionOptions(jobs=4).run_limits == (None, None)


def test_wrong_options_are_refused(study_file, capsys):
    for arguments in (
        ["--max-hours", "0"],
        ["--max-events", "x"],
        ["--max-memory", "1"],
        ["--shard", "9/2"],
        ["--executor", "x"],
    ):
        with pytest.raises(SystemExit) as ended:
            main.main(["study", "run", str(study_file), *arguments])
        assert ended.value.code == 2, arguments
    capsys.readouterr()
    assert study_run.same_command() == "the same command"


def test_the_doctor_is_content_here(tmp_path, capsys):
    assert main.main(["doctor", "--json", "--folder", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] and found["build"] == _core.engine_build()
    states = {check["name"]: check["state"] for check in found["checks"]}
    assert states["engine"] == states["self-test"] == states["write access"] == "ok"
    assert main.main(["doctor", "--folder", str(tmp_path)]) == 0
    assert "self-test      7 of 7 runs as expected" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("profile", "state"), [("debug", "warning"), ("release", "ok"), ("thin", "ok"), ("dist", "ok"), ("profile-guided", "ok")]
)
def test_the_doctor_says_how_the_engine_was_optimised(profile, state, monkeypatch):
    assert _core.build_profile() in doctor.BUILDS
    monkeypatch.setattr(doctor, "build_profile", lambda: profile)
    found = doctor.optimisation()
    assert (found["state"], found["profile"]) == (state, profile)
    # Only where it could be better does it name a command.
    assert ("make " in found["text"]) == (profile in ("debug", "release", "thin"))


def test_the_doctor_sees_other_bits_and_a_folder_that_is_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "fingerprint", lambda scenario, seed: "0")
    assert main.main(["doctor", "--folder", str(tmp_path / "nowhere")]) == 1
    shown = capsys.readouterr().out
    assert "X    self-test      other packet events than expected: newreno, drop-tail" in shown
    assert "X    write access" in shown


def test_a_run_can_be_interrupted(tmp_path):
    import signal
    import threading

    world = {"duration": "100000s", "network": {"kind": "dumbbell", "pairs": 1, "flows": 1}}
    # A shell starts its background jobs with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(1.0, lambda: signal.raise_signal(signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            _core.run(json.dumps(world))
    finally:
        signal.signal(signal.SIGINT, before)


CLOCKED = {
    "until a scheduler answers": dask_cluster.CONNECT_S,
    "until a scheduler that has answered before": dask_cluster.ANSWER_S,
    "without any worker": dask_cluster.NO_WORKERS_S,
    "until a worker without heartbeats": dask_cluster.SILENT_S,
    "until a connection to a cluster has ended": dask_cluster.CLOSE_S,
    "until another process has written": database.BUSY_S,
    "until readers of a store have gone": database.CLOSING_MS / 1000,
    "`break` without": breaking.BUDGET_S,
    "`break`: an algorithm in Python": breaking_runs.PATIENCE_S,
    "a call of a library": last_call.CPU_LIMIT_S,
    "`emulate`: until a server listens": hosts.LONGEST_WAIT_S,
    "`doctor`: the self-test": doctor.TIME_LIMIT_S,
    "lab: a run without a tab": FORGOTTEN_AFTER_S,
    "lab: computing of a run": SessionLimits().seconds,
    "lab: requests under way": ENDS_AFTER_S,
    "lab: a connection that says nothing": HEAD_S,
}
CLOCKS = re.compile(r"time\.(monotonic|time|perf_counter)\(|\btimeout=|call_later|asyncio\.timeout|busy_timeout")
TELL_TIME = {
    "cli/study_run.py", "execution/dask_cluster.py", "execution/machine.py", "execution/progress.py", "execution/runner.py",
    "execution/worker.py",
    "cc/process.py", "cc/last_call.py", "kernel/hosts.py",
    "breaking/api.py", "breaking/search.py", "lab/moment.py", "lab/runs.py", "lab/serve.py", "lab/session.py", "lab/studies.py",
    "store/database.py", "validate/trace/opening.py", "packetdrill/calls.py",
}  # fmt: skip
"""What looks at a clock: for a limit of the table, `--max-hours`, progress, how long a run took, or a simulated one."""


def test_the_table_of_what_counts_wall_clock_time_is_that_of_the_code():
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?) \| (.*?) \|", page.partition("wall-clock time")[2].partition("## ")[0], re.MULTILINE)[1:]
    assert rows[0] == ("`--max-hours`", "as given") and len(rows) == len(CLOCKED) + 1
    for beginning, limit in CLOCKED.items():
        assert [shown for what, shown in rows if beginning in what] == [f"{limit:g} s"], beginning
    package = Path(tp.__file__).parent
    found = {
        path.relative_to(package).as_posix() for path in package.rglob("*.py") if CLOCKS.search(path.read_text(encoding="utf-8"))
    }
    assert found - TELL_TIME == set(), "a new limit in wall-clock time belongs into the table"
