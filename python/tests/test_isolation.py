"""A run with an algorithm in Python depends on its scenario and its seed only, and its process ends with the study."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.cc import loading
from tonopah.execution import processes
from tonopah.scenario.document import to_toml

COUNTER = """
{imports}
class A(CongestionControl):
    "Grows by how many there have been."
    def __init__(self, setup):
        super().__init__(setup)
        {count}
        self.share = (1 + {state} % 5) / 10
    def on_ack(self, ack, view):
        if view.may_grow:
            self.cwnd_bytes += ack.acked_bytes * self.share
    def on_congestion(self, event, view):
        self.ssthresh_bytes = self.cwnd_bytes = max(0.5 * self.cwnd_bytes, 2 * view.mss_bytes)
A.seen = 0
"""
BASE = "from tonopah import CongestionControl"
KEEPERS = {
    "class": (BASE, "A.seen += 1", "A.seen"),
    "generator of the module": (f"{BASE}\nimport random\ndraws = random.Random(1)", "number = draws.randrange(5)", "number"),
    "module beside it": (f"{BASE}\nimport counter", "counter.seen += 1", "counter.seen"),
    "package beside it": (f"{BASE}\nfrom box import counter", "counter.seen += 1", "counter.seen"),
}
ELSEWHERE = {
    "base class": (BASE, "CongestionControl.seen = getattr(CongestionControl, 'seen', 0) + 1", "CongestionControl.seen"),
    "standard library": (f"{BASE}\nimport sys", "sys.seen = getattr(sys, 'seen', 0) + 1", "sys.seen"),
}


def write(folder, keeper):
    imports, count, state = (KEEPERS | ELSEWHERE)[keeper]
    folder.mkdir(exist_ok=True)
    (folder / "my.py").write_text(COUNTER.format(imports=imports, count=count, state=state))
    (folder / "counter.py").write_text("seen = 0\n")
    (folder / "box").mkdir(exist_ok=True)
    (folder / "box" / "__init__.py").touch()
    (folder / "box" / "counter.py").write_text("seen = 0\n")


@pytest.fixture
def study(study_document, tmp_path):
    """Return a study of 8 runs with an algorithm in Python and 8 without."""
    write(tmp_path, "class")
    study_document["compare"]["cc"] = ["newreno", "my.py:A"]
    study_document |= {
        "sweep": [],
        "figure": [{"kind": "bar", "y": ["goodput_bps"]}],
        "claim": [],
        "quick": {},
        "replicates": 7,
        "vary": False,
    }
    (tmp_path / "small.toml").write_text(to_toml(study_document))
    return tp.Study.load(tmp_path / "small.toml")


@pytest.mark.parametrize("keeper", KEEPERS | ELSEWHERE)
def test_what_a_run_leaves_reaches_no_other_whatever_the_number_of_processes(study, tmp_path, keeper):
    write(tmp_path, keeper)
    shown = []
    for jobs in (1, 3):
        study.run(quiet=True, jobs=jobs, out=tmp_path / f"out{jobs}")
        shown.append(study.table().to_csv())
    assert shown[0] == shown[1]
    if keeper in KEEPERS:
        seeds = [1, 3, 7]
        table = study.table().query("algorithm == 'A'").set_index("seed")
        point = {**study.spec.parts[0].scenario, "tcp": {"cc": f"{tmp_path}/my.py:A"}}
        alone = [tp.run(point, seed=seed, set={"record": {}}).summary["events"] for seed in seeds]
        assert [table["events"][seed] for seed in seeds] == alone


@pytest.mark.parametrize("keeper", KEEPERS)
def test_the_same_run_twice_in_one_process_is_the_same(dumbbell, tmp_path, keeper):
    write(tmp_path, keeper)
    dumbbell["tcp"]["cc"] = f"{tmp_path}/my.py:A"
    first, second = (tp.run(dumbbell).summary for _ in range(2))
    assert first == second


def test_modules_of_the_caller_stay_his(dumbbell, tmp_path, monkeypatch):
    write(tmp_path, "module beside it")
    monkeypatch.syspath_prepend(tmp_path)
    import counter

    counter.seen = 17
    dumbbell["tcp"]["cc"] = f"{tmp_path}/my.py:A"
    first = tp.run(dumbbell).summary
    assert sys.modules["counter"] is counter and counter.seen == 17
    counter.seen = 18
    assert tp.run(dumbbell).summary == first
    del sys.modules["counter"]


def test_two_algorithms_import_each_the_module_beside_it(dumbbell, tmp_path):
    for folder, start in (("a", 0), ("b", 3)):
        write(tmp_path / folder, "module beside it")
        (tmp_path / folder / "counter.py").write_text(f"seen = {start}\n")
    events = [tp.run(dumbbell, cc=f"{tmp_path}/{folder}/my.py:A").summary["events"] for folder in "abab"]
    assert events[:2] == events[2:] and events[0] != events[1]


def test_a_module_beside_an_algorithm_belongs_to_what_identifies_its_runs(study, tmp_path):
    write(tmp_path, "package beside it")
    study.run(quiet=True, out=tmp_path / "out")
    before = study.table().query("algorithm == 'A'")["events"].sum()
    helper = tmp_path / "box" / "counter.py"
    # The same size and time: what Python compares before it uses what it has compiled earlier.
    stamp = helper.stat().st_mtime_ns
    helper.write_text("seen = 2\n")
    os.utime(helper, ns=(stamp, stamp))
    assert study.run(quiet=True) == 8
    assert study.table().query("algorithm == 'A'")["events"].sum() != before
    helper.write_text("seen = 0\n")
    assert study.run(quiet=True) == 0


def test_code_is_what_its_digest_says_also_if_time_stands_still(dumbbell, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    events = set()
    for share in (10, 20, 30):
        write(tmp_path, "class")
        path = tmp_path / "my.py"
        path.write_text(path.read_text().replace("/ 10", f"/ {share}"))
        os.utime(path, (1_000_000_000, 1_000_000_000))
        events.add(tp.run(dumbbell, cc=f"{path}:A").summary["events"])
    assert len(events) == 3


def test_the_base_class_belongs_to_what_identifies_the_runs_of_a_class(tmp_path, monkeypatch):
    write(tmp_path, "class")
    before = loading.load("my.py:A", "cc", tmp_path).origin.digest
    write(tmp_path / "elsewhere", "class")
    assert loading.load("my.py:A", "cc", tmp_path / "elsewhere").origin.digest == before, "its folder does not matter"
    read = Path.read_bytes
    changed = {"base.py": b"# changed"}
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + changed.get(path.name, b""))
    write(tmp_path / "again", "class")
    assert loading.load("my.py:A", "cc", tmp_path / "again").origin.digest != before


def tonopah(*arguments):
    """Return the command line as an installed `tonopah` runs it: without the working directory among its folders."""
    return [sys.executable, "-P", "-c", "import sys; from tonopah.cli.main import main; sys.exit(main())", *map(str, arguments)]


def test_nothing_of_the_working_directory_is_imported(study, tmp_path):
    for name in ("random", "signal", "queue", "pickle", "ctypes", "struct", "numpy", "tonopah"):
        (tmp_path / f"{name}.py").write_text("import os\nopen('imported', 'w').close()\nos._exit(3)\n")
    command = tonopah("study", "run", study.source, "--out", tmp_path / "out", "--jobs", "2")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "imported").exists()


def test_a_worker_imports_what_its_parent_does_but_not_from_the_working_directory(tmp_path, monkeypatch):
    package = str(Path(tp.__file__).parents[1])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), "/usr/lib/some", package])
    assert processes.import_path() == ["/usr/lib/some", package]
    monkeypatch.chdir(package)
    assert processes.import_path() == [package, str(tmp_path), "/usr/lib/some"], "the package itself must be found"


def descendants(pid):
    """Return the processes below one."""
    found = []
    for path in Path("/proc").glob(f"{pid}/task/*/children"):
        for child in map(int, path.read_text().split()):
            found += [child, *descendants(child)]
    return found


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_end_with_their_parent_even_in_an_endless_loop(study, tmp_path):
    path = tmp_path / "my.py"
    endless = (
        f"    def on_ack(self, ack, view):\n        open({str(tmp_path / 'looping')!r}, 'w').close()\n        while True: pass\n"
    )
    path.write_text(path.read_text().replace("A.seen = 0\n", endless).replace("        A.seen += 1\n", "").replace("A.seen", "1"))
    command = tonopah("study", "run", study.source, "--out", tmp_path / "out", "--jobs", "2")
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        until((tmp_path / "looping").exists)
        below = descendants(process.pid)
        # The workers at least.
        assert len(below) >= 2
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    until(lambda: not any(map(is_running, below)))
