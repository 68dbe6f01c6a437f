"""Both ways of docs/cluster.md on a real batch system: Slurm on this machine, one node of two CPUs, with daemons of its own."""

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from test_isolation import until

import tonopah as tp
from tonopah.scenario.document import to_toml

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
MISSING = [name for name in NEEDED if not shutil.which(name, path=PATH)]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not found (Debian: apt-get install slurm-wlm)")
LONGEST_S, START_S, STOP_S = 300, 120, 20
DOCUMENT = Path(__file__).parents[2] / "docs" / "cluster.md"
CONFIGURATION = """ClusterName=tonopah
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=normal Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """Yield the environment in which the commands of a running Slurm, and `tonopah`, are found."""
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    facts = {"host": socket.gethostname().partition(".")[0], "ports": free_ports(2), "folder": folder, "user": getpass.getuser()}
    (folder / "slurm.conf").write_text(CONFIGURATION.format(**facts))
    program = folder / "bin" / "tonopah"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tonopah "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{folder}/bin:{PATH}"}
    environment["PYTHONPATH"] = f"{Path(tp.__file__).parents[1]}:{os.environ.get('PYTHONPATH', '')}"
    names = {"socket": "socket", "key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    files = [f"--{name}={folder}/munge.{end}" for name, end in names.items()]
    daemons = []

    def begin(*command):
        with (folder / f"{command[0]}.out").open("w") as out:
            daemons.append(subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT))

    try:
        begin("munged", "--foreground", "--force", *files)
        until((folder / "munge.socket").exists, START_S)
        begin("slurmctld", "-D", "-c")
        begin("slurmd", "-D")
        until(lambda: "idle" in shown(environment, "sinfo", "--noheader", "--format=%t"), START_S)
    except AssertionError:
        # A container may forbid what Slurm needs.
        told = {log.name: log.read_text()[-300:] for log in folder.glob("*.out")}
        stop(daemons)
        pytest.skip(f"Slurm does not start on this machine: {told}")
    try:
        yield environment
    finally:
        stop(daemons)


def stop(daemons):
    """End the daemons of this test; one that waits for a job of its own is killed, since nothing of it is needed any more."""
    for daemon in reversed(daemons):
        daemon.terminate()
    for daemon in daemons:
        try:
            daemon.wait(STOP_S)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def shown(environment, *command, cwd=None):
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False).stdout


def example(beginning):
    """Return the block of docs/cluster.md that begins so."""
    blocks = re.findall(r"^```\w+\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return next(block for block in blocks if block.startswith(beginning))


def adapted(text, *changes):
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new)
    return text


def array(study, jobs):
    """Return the job array of the page, for another study and on one CPU for each job."""
    changes = (("asran", study), ("1-20", f"1-{jobs}"), ("/20", f"/{jobs}"), ("task=4", "task=1"))
    return adapted(example("#!/bin/bash\n#SBATCH --array"), *changes)


def ended(environment, job):
    return lambda: not shown(environment, "squeue", "--noheader", "--jobs", job).strip()


@pytest.fixture
def study(study_document, tmp_path):
    study_document |= {"sweep": [], "figure": [{"kind": "bar", "y": ["goodput_bps"]}], "claim": [], "quick": {}}
    (tmp_path / "small.toml").write_text(to_toml(study_document))
    study = tp.Study.load(tmp_path / "small.toml")
    study.run(quiet=True, out=tmp_path / "here")
    return study


def submitted(environment, folder, script):
    (folder / "job.sh").write_text(script)
    job = shown(environment, "sbatch", "--parsable", "job.sh", cwd=folder).strip()
    assert job.isdigit(), "sbatch took no job"
    return job


def test_the_array_of_the_page_and_its_merge_are_the_study(slurm, study, tmp_path):
    script = array("small.toml", 3)
    job = submitted(slurm, tmp_path, script)
    until(ended(slurm, job), LONGEST_S)
    shards = sorted(str(path) for path in (tmp_path / "results").glob("small.shard-*-of-3"))
    told = [path.read_text() for path in tmp_path.glob("slurm-*.out")]
    assert len(shards) == 3, told
    assert shown(slurm, "tonopah", "study", "merge", *shards, "--out", "results/small", cwd=tmp_path), told
    assert tp.Study.open(tmp_path / "results" / "small").table().to_csv() == study.table().to_csv()


def test_the_signal_of_the_page_ends_a_job_in_order(slurm, study_document, tmp_path):
    study_document |= {
        "replicates": 100,
        "sweep": [],
        "figure": [{"kind": "bar", "y": ["goodput_bps"]}],
        "claim": [],
        "quick": {},
    }
    study_document["scenario"]["duration"] = "60s"
    (tmp_path / "long.toml").write_text(to_toml(study_document))
    script = array("long.toml", 1)
    job = submitted(slurm, tmp_path, script)
    stored = tmp_path / "results" / "long.shard-1-of-1"

    def runs():
        try:
            study = tp.Study.open(stored)
            return len(study.plan.runs) - study.missing()
        except (tp.InputError, tp.RunFailedError):
            return 0

    until(runs, LONGEST_S)
    # What `--signal=B:TERM@120` sends two minutes before the end of its time: to the batch shell, which is the study.
    shown(slurm, "scancel", "--batch", f"--signal={signal.SIGTERM.name[3:]}", f"{job}_1")
    until(ended(slurm, job), LONGEST_S)
    (told,) = (path.read_text() for path in tmp_path.glob("slurm-*.out"))
    assert "stored" in told and "Traceback" not in told, told
    # As many as the job has CPUs, though Slurm binds it to none here; said once the first runs have told their time.
    assert "more runs take" not in told or "on 1 cores" in told, told
    assert 0 < runs() < len(tp.Study.open(stored).plan.runs)


def test_the_cluster_of_the_page_is_the_study(slurm, study, tmp_path):
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    one_core = (
        ("cores=16", 'interface="lo", cores=1'),
        ("processes=16", "processes=1"),
        ("32GB", "2GB"),
        ("maximum=20", "maximum=2"),
    )
    script = adapted(example("from dask_jobqueue"), ("asran", "small.toml"), *one_core)
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, env=slurm, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=2 * LONGEST_S)
    assert done.returncode == 0, done.stderr
    assert tp.Study.open(tmp_path / "results" / "small").table().to_csv() == study.table().to_csv()
    assert (tmp_path / "results" / "small" / "report.html").is_file()
