"""Studies on a cluster: the same bits as here, whatever happens to its workers."""

import os
import signal
import socket
import threading

import pytest

import tonopah as tp
from tonopah import _core
from tonopah.cli import main
from tonopah.execution import dask_cluster, worker
from tonopah.execution.options import ExecutionOptions
from tonopah.execution.processes import Job
from tonopah.scenario.document import to_toml

distributed = pytest.importorskip("distributed")
# What Dask leaves open at its end is not ours.
pytestmark = pytest.mark.filterwarnings("default")


DEADLY = """
    def on_ack(self, ack, view):
        import os
        with open(f"/proc/{os.getppid()}/stat") as file:
            os.kill(int(file.read().rpartition(")")[2].split()[1]), 9)
"""


@pytest.fixture
def study(study_document, tmp_path):
    study_document["scenario"]["duration"] = "4s"
    (tmp_path / "small.toml").write_text(to_toml(study_document))
    return tp.Study.load(tmp_path / "small.toml")


@pytest.fixture
def expected(study, tmp_path):
    study.run(quiet=True, out=tmp_path / "here")
    return study.table().to_csv()


@pytest.fixture(scope="module")
def two_workers():
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with distributed.LocalCluster(processes=True, **settings) as made:
        yield made


def test_two_workers_one_of_them_killed_give_the_same_table(study, expected, two_workers, tmp_path, monkeypatch):
    killed = []
    take = dask_cluster.ClusterRunner.collect

    def received(self, future):
        if not killed:
            pid = next(iter(self.client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return take(self, future)

    monkeypatch.setattr(dask_cluster.ClusterRunner, "collect", received)
    how = ExecutionOptions(executor="dask", scheduler=two_workers.scheduler_address)
    assert study.run(quiet=True, out=tmp_path / "there", options=how) == len(study.plan.runs)
    assert killed and study.table().to_csv() == expected
    assert len(list((study.folder / "series").iterdir())) == 2


def test_a_worker_that_is_stopped_has_its_runs_taken_by_the_other(study, expected, two_workers, tmp_path, monkeypatch, capsys):
    stopped = []
    take = dask_cluster.ClusterRunner.collect

    def received(self, future):
        if not stopped:
            stopped.append(next(iter(self.client.run(os.getpid).values())))
            os.kill(stopped[0], signal.SIGSTOP)
        return take(self, future)

    monkeypatch.setattr(dask_cluster.ClusterRunner, "collect", received)
    monkeypatch.setattr(dask_cluster, "SILENT_S", 10)
    monkeypatch.setattr(dask_cluster, "LOOK_S", 1)
    monkeypatch.setattr(dask_cluster, "NO_WORKERS_S", 600)
    how = ExecutionOptions(executor="dask", scheduler=two_workers.scheduler_address)
    try:
        assert study.run(quiet=True, out=tmp_path / "stopped", options=how) == len(study.plan.runs)
    finally:
        os.kill(stopped[0], signal.SIGKILL)
    assert study.table().to_csv() == expected
    assert "has not been heard of for 10 s; others repeat its runs" in capsys.readouterr().err


def test_a_scheduler_that_takes_a_connection_and_says_nothing_is_named(study, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        options = ExecutionOptions(executor="dask", scheduler=f"tcp://127.0.0.1:{mute.getsockname()[1]}")
        with pytest.raises(tp.InputError, match="does not answer: nothing within 1 s"):
            study.run(quiet=True, out=tmp_path / "out", options=options)


def test_a_dask_whose_clusters_are_open_is_refused(monkeypatch):
    monkeypatch.setattr(distributed, "__version__", "2024.12.1")
    with pytest.raises(tp.InputError, match=r"distributed 2024\.12\.1 would let other machines reach the cluster"):
        dask_cluster.start_cluster(1)


def test_a_cluster_of_its_own_is_started_and_ended(study, expected, tmp_path, capsys):
    command = ["study", "run", study.source, "--out", str(tmp_path / "own"), "--executor", "dask", "--jobs", "2"]
    assert main.main(command) == 0, capsys.readouterr().err
    assert tp.Study.open(tmp_path / "own").table().to_csv() == expected


def test_a_run_that_ends_its_workers_stops_the_study_with_its_name(study_document, two_workers, tmp_path, monkeypatch):
    from test_python_algorithm import GOOD

    # It kills the worker of the cluster, two processes above its own.
    deadly = GOOD + DEADLY
    (tmp_path / "my.py").write_text(deadly)
    study_document["compare"]["cc"] = ["newreno", "my.py:Good"]
    # Beginning a process again takes seconds; once is enough here.
    monkeypatch.setattr(two_workers.scheduler, "allowed_failures", 0)
    # On a loaded machine a worker takes longer to come back than a study waits for it.
    monkeypatch.setattr(dask_cluster, "NO_WORKERS_S", 600)
    study_document |= {"replicates": 1, "sweep": [], "figure": [{"kind": "bar", "y": ["goodput_bps"]}], "claim": [], "quick": {}}
    (tmp_path / "deadly.toml").write_text(to_toml(study_document))
    study = tp.Study.load(tmp_path / "deadly.toml")
    how = ExecutionOptions(executor="dask", scheduler=two_workers.scheduler_address)
    with pytest.raises(tp.RunFailedError, match=r"ended its worker repeatedly.*with Good, seed 1"):
        study.run(quiet=True, out=tmp_path / "out", options=how)
    assert study.missing() < len(study.plan.runs), "what was finished is stored"


def test_another_engine_on_a_worker_is_refused(study):
    run = next(iter(study.plan.runs.values()))
    answers = worker.run_batch([Job(run.scenario, run.seed)], "another")
    assert "install the same package there" in answers[0].failed and not answers[0].summary
    assert worker.run_batch([Job(run.scenario, run.seed)], _core.engine_build())[0].summary


def test_a_scheduler_that_does_not_answer_is_named(study, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_S", 1)
    command = ["study", "run", study.source, "--out", str(tmp_path / "out"), "--scheduler"]
    before = set(threading.enumerate())
    assert main.main([*command, "tcp://127.0.0.1:9", "--executor", "dask"]) == 2
    assert "scheduler: tcp://127.0.0.1:9 does not answer" in capsys.readouterr().err
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == "IO loop"]
    assert main.main([*command, "tcp://127.0.0.1:9"]) == 2
    assert "add --executor dask" in capsys.readouterr().err


def test_batches_are_long_enough_and_leave_work_for_all():
    runner = dask_cluster.ClusterRunner(None, ExecutionOptions())
    runner.waiting.extend(range(10_000))
    assert runner.batch_size(2) == 1
    runner.seconds, runner.count = 0.5, 50
    assert runner.batch_size(2) == 100
    assert runner.batch_size(10_000) == 1
    runner.seconds = 500.0
    assert runner.batch_size(2) == 1
