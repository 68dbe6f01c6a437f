"""Nobody gets into a cluster that a study starts, and a cluster that is lost ends the study with a sentence."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from test_isolation import descendants, tonopah, until

import tonopah as tp
from tonopah.execution import dask_cluster
from tonopah.execution.options import ExecutionOptions
from tonopah.scenario.document import to_toml

distributed = pytest.importorskip("distributed")
from distributed.comm.core import connect  # noqa: E402
from distributed.utils import LoopRunner  # noqa: E402

pytest.importorskip("cryptography")
# What Dask leaves open at its end is not ours.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


def listening(pids):
    """Return the addresses, as host and port, at which processes listen (proc(5))."""
    inodes = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                inodes |= set(re.findall(r"socket:\[(\d+)\]", str(link.readlink())))
            except OSError:
                continue
    found = set()
    for family in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{family}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                host, _, port = fields[1].partition(":")
                found.add((".".join(str(byte) for byte in reversed(bytes.fromhex(host))), int(port, 16)))
    return found


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=3) as response:
            return response.status
    except (urllib.error.HTTPError, OSError) as error:
        return getattr(error, "code", None)


def test_only_its_own_processes_can_talk_to_a_cluster_of_this_machine():
    before = listening([os.getpid(), *descendants(os.getpid())])
    with dask_cluster.start_cluster(1) as cluster:
        found = listening([os.getpid(), *descendants(os.getpid())]) - before
        assert len(found) >= 4, "scheduler, worker, and the HTTP servers that they start"
        assert {host for host, _ in found} == {"127.0.0.1"}
        assert cluster.scheduler_address.startswith("tls://")
        for _, port in found:
            for page in ("info/main/workers.html", "json/counts.json", "status", "metrics"):
                assert answers(f"http://127.0.0.1:{port}/{page}") in (None, 404)
        port = cluster.scheduler_address.rpartition(":")[2]
        others = {"tcp": distributed.Security(), "tls": distributed.Security.temporary()}
        for protocol, security in others.items():
            # Not a Client: one that finds no scheduler leaves its event loop running.
            connection = {"timeout": 2, **security.get_connection_args("client")}
            with pytest.raises((OSError, ValueError)):
                LoopRunner().run_sync(connect, f"{protocol}://127.0.0.1:{port}", **connection)
        with distributed.Client(cluster, set_as_default=False) as client:
            assert client.submit(sum, [1, 2]).result() == 3


def test_the_processes_of_a_cluster_import_nothing_of_the_working_directory(study_document, tmp_path):
    study_document |= {"replicates": 1, "sweep": [], "figure": [{"kind": "bar", "y": ["goodput_bps"]}], "claim": [], "quick": {}}
    (tmp_path / "small.toml").write_text(to_toml(study_document))
    for name in ("random", "signal", "queue", "pickle", "numpy"):
        (tmp_path / f"{name}.py").write_text("import os\nopen('imported', 'w').close()\nos._exit(3)\n")
    command = tonopah("study", "run", "small.toml", "--out", "out", "--executor", "dask", "--jobs", "1")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "imported").exists()


@pytest.fixture
def scheduler_and_worker(tmp_path):
    file = tmp_path / "scheduler.json"
    dask, quiet = [sys.executable, "-m", "dask"], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)]
    processes = [subprocess.Popen([*dask, "scheduler", *options], **quiet)]
    try:
        until(file.exists)
        options = ["--scheduler-file", str(file), "--no-nanny", "--nthreads", "1", "--no-dashboard"]
        processes.append(subprocess.Popen([*dask, "worker", *options], **quiet))
        yield *processes, re.search(r"tcp://[\d.:]+", file.read_text())[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.parametrize("lost", ["scheduler", "workers"])
def test_a_cluster_that_is_lost_ends_the_study_with_a_sentence(scheduler_and_worker, study_document, tmp_path, lost):
    scheduler, worker, address = scheduler_and_worker
    study_document["scenario"]["duration"] = "60s"
    study_document["replicates"] = 100
    (tmp_path / "long.toml").write_text(to_toml(study_document))
    command = tonopah("study", "run", tmp_path / "long.toml", "--out", tmp_path / "out", "--executor", "dask")
    process = subprocess.Popen([*command, "--scheduler", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out = tmp_path / "out"
    until(lambda: (out / "runs.sqlite-wal").exists() and stored(out) > 0)
    (scheduler if lost == "scheduler" else worker).send_signal(signal.SIGKILL)
    shown = process.communicate(timeout=300)[1]
    assert process.returncode == 1
    lines = [line for line in shown.splitlines() if "runs" not in line or line.startswith("error")]
    assert len(lines) == 1, shown
    why = {"scheduler": "its scheduler has ended or cannot be reached", "workers": "it has had no worker for a while"}[lost]
    assert lines[0].startswith(f"error: the cluster {address} is lost: {why} (finished runs are stored; run the same command")
    assert 0 < stored(out) < len(tp.Study.open(out).plan.runs)


def test_a_worker_that_ends_before_its_result_is_fetched_does_not_stop_the_study_for_ever(scheduler_and_worker, monkeypatch):
    monkeypatch.setattr(dask_cluster, "WATCH_S", 0.2)
    monkeypatch.setattr(dask_cluster, "NO_WORKERS_S", 1.0)
    _, worker, address = scheduler_and_worker
    with distributed.Client(address, set_as_default=False) as client:
        runner = dask_cluster.ClusterRunner(client, ExecutionOptions(executor="dask", scheduler=address))
        future = client.submit(sum, [1, 2])
        until(future.done)
        runner.in_flight[future] = [0]
        worker.kill()
        worker.wait()
        with pytest.raises(tp.RunFailedError, match="it has had no worker for a while"):
            runner.collect(future)


def stored(folder):
    try:
        study = tp.Study.open(folder)
        return len(study.plan.runs) - study.missing()
    except (tp.InputError, tp.RunFailedError):
        return 0


def test_a_scheduler_without_workers_is_waited_for_with_a_word(capsys, monkeypatch):
    class Client:
        status, asked = "running", 0

        class scheduler:  # noqa: N801
            address, ncores = "tcp://there:8786", None

        def sync(self, _, callback_timeout):
            self.asked += 1
            return {"worker": 2} if self.asked > 3 else {}

    monkeypatch.setattr(dask_cluster, "WATCH_S", 0.01)
    dask_cluster.ClusterRunner(Client(), ExecutionOptions()).await_first_worker()
    assert capsys.readouterr().err == "waiting for the first worker of tcp://there:8786\n"
