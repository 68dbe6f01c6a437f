"""A kernel in virtual time: its building as far as it takes no compiler, and, where one has been built, what runs on it.

`make test-uml` builds a kernel first; without one its tests are skipped with the reason.
"""

import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="User-Mode Linux runs on Linux alone")

from tonopah.cli import main  # noqa: E402
from tonopah.errors import InputError, RunFailedError  # noqa: E402
from tonopah.export import pcapng  # noqa: E402
from tonopah.kernel import build, uml, virtual  # noqa: E402
from tonopah.kernel.emulate import Options  # noqa: E402
from tonopah.runs.simulation import run_prepared  # noqa: E402
from tonopah_dev.kernel_numbers import sent_again  # noqa: E402

MISSING = virtual.lacking() if sys.platform == "linux" else None
on_uml = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
WAIT_S = 300


def world(cc="cubic", rate="20Mbps", **more):
    """Return one flow over one bottleneck."""
    bottleneck = {"rate": rate, "delay": "10ms", "queue": {"kind": "drop_tail", "limit": "60p"}}
    network = {"kind": "dumbbell", "pairs": 1, "flows": 1, "bottleneck": bottleneck}
    return {"duration": "5s", "tcp": {"profile": "linux", "cc": cc}, "network": network, **more}


@pytest.fixture
def no_kernel(tmp_path, monkeypatch):
    """A machine on which none has been built."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def written(folder, document):
    """Write a scenario; return its path."""
    from tonopah.scenario.document import to_toml

    file = folder / "world.toml"
    file.write_text(to_toml(document), encoding="utf-8")
    return str(file)


def test_without_a_kernel_there_is_one_sentence_with_the_remedy(no_kernel, capsys):
    assert main.main(["run", written(no_kernel, world()), "--on", "uml"]) == 2
    assert capsys.readouterr().err.strip() == "error: no kernel in virtual time has been built (tonopah kernel build)"


@pytest.mark.parametrize("option", [["--spin"], ["--keep-late"], ["--twice"], ["--threads", "2"]])
def test_an_option_that_has_no_effect_there_is_refused(option, no_kernel, capsys):
    assert main.main(["run", written(no_kernel, world()), "--on", "uml", *option]) == 2
    assert option[0] in capsys.readouterr().err


def test_a_shell_is_no_program_in_virtual_time(no_kernel, capsys):
    assert main.main(["emulate", written(no_kernel, world()), "--on", "uml"]) == 2
    assert "COMMAND" in capsys.readouterr().err


def test_the_newest_kernel_is_taken(no_kernel):
    for name in ("6.1.99", "6.1.192", "6.12.3", "6.12.0-rc3", "build", "9.0"):
        (virtual.cache() / name).mkdir(parents=True)
        if name != "9.0":
            (virtual.cache() / name / virtual.PROGRAM).touch()
    assert [folder.name for folder in virtual.kernels()] == ["6.12.3", "6.12.0-rc3", "6.1.192", "6.1.99"]
    assert uml.engine() == "uml 6.12.3"


def test_a_guest_that_gives_nothing_is_an_error_with_the_end_of_its_console(tmp_path):
    (tmp_path / virtual.CONSOLE).write_text("one\n" * 9 + "Kernel panic - not syncing\n", encoding="utf-8")
    with pytest.raises(RunFailedError, match=r"ended before its time: .*Kernel panic - not syncing$"):
        virtual.answer(tmp_path)


HOLDING = """
import time
from tonopah.kernel import virtual
with virtual.guest_folder() as folder:
    (folder / virtual.JOB).touch()
    print(folder, flush=True)
    time.sleep(600)
"""


def test_the_folder_of_a_killed_run_goes_with_the_next_and_that_of_a_living_one_stays(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    command, there = [sys.executable, "-c", HOLDING], {**os.environ, "TMPDIR": str(tmp_path)}
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=there) for _ in range(2)]
    try:
        living, killed = (Path(one.stdout.readline().strip()) for one in running)
        running[1].kill()
        running[1].wait()
        assert killed.parent == tmp_path and (killed / virtual.JOB).exists()
        with virtual.guest_folder() as own:
            assert set(tmp_path.iterdir()) == {own, living}
        assert (living / virtual.JOB).exists() and not own.exists()
    finally:
        for one in running:
            one.kill()
            one.communicate()


def sources(folder, name="linux-6.1"):
    """Return the few files of a tree of sources that are read before it is compiled."""
    tree = folder / name
    for file, text in (
        ("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n"),
        ("arch/x86/um/user-offsets.c", "DEFINE_LONGS(HOST_FP_SIZE, 2696);\n"),
    ):
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).write_text(text, encoding="utf-8")
    return tree


@pytest.mark.parametrize("packed", [False, True])
def test_sources_are_copied_and_edited_once(packed, tmp_path):
    tree, folder, said = sources(tmp_path), tmp_path / "build", []
    folder.mkdir()
    if packed:
        with tarfile.open(tmp_path / "linux.tar.xz", "w:xz") as archive:
            archive.add(tree, "linux-6.1")
        tree = tmp_path / "linux.tar.xz"
    made = build.unpacked(tree, folder, said.append)
    assert "default 1000\n" in (made / "arch/um/Kconfig").read_text(encoding="utf-8")
    assert "HOST_FP_SIZE, 12288)" in (made / "arch/x86/um/user-offsets.c").read_text(encoding="utf-8")
    (made / "object.o").touch()
    assert build.unpacked(tree, folder, said.append) == made
    assert (made / "object.o").exists()
    assert len(said) == 1
    if not packed:
        assert "default 100\n" in (tree / "arch/um/Kconfig").read_text(encoding="utf-8")


def test_what_is_no_tree_of_sources_is_refused_with_its_path(tmp_path):
    folder = tmp_path / "build"
    folder.mkdir()
    for given in (tmp_path / "empty", tmp_path / "file.tar"):
        given.mkdir() if given.suffix == "" else given.write_text("no archive", encoding="utf-8")
        with pytest.raises(InputError, match=f"--source: {given}"):
            build.unpacked(given, folder, str)
    with pytest.raises(InputError, match="--source: /no/such does not exist"):
        build.archive(None, "/no/such", folder, str)


def test_missing_tools_are_named_with_the_packages(monkeypatch):
    monkeypatch.setattr(build.os, "uname", lambda: os.uname_result(("Linux", "", "", "", "x86_64")))
    monkeypatch.setattr(build.shutil, "which", lambda tool: None if tool in ("flex", "bc") else tool)
    with pytest.raises(InputError, match=r"^flex, bc missing \(apt-get install make"):
        build.check_tools()
    monkeypatch.setattr(build.os, "uname", lambda: os.uname_result(("Linux", "", "", "", "aarch64")))
    with pytest.raises(InputError, match="x86_64 alone, this machine is aarch64"):
        build.check_tools()


@on_uml
@pytest.mark.parametrize("cc", ["reno", "cubic", "bbr"])
def test_the_same_world_gives_the_same_goodput_three_times_and_that_of_the_simulation(cc):
    scenario = world(cc) | {"record": {"series": ["cwnd"]}}
    found = [uml.run(scenario, None, 1) for _ in range(3)]
    goodputs = [result.summary["flows"][0]["goodput_bps"] for result in found]
    assert max(goodputs) / min(goodputs) - 1 < 0.001
    simulated = run_prepared(scenario, None, 1).summary["flows"][0]
    assert goodputs[0] == pytest.approx(simulated["goodput_bps"], rel=0.03)
    assert found[0].summary["engine"].startswith("uml ")
    assert len(found[0].series("cwnd")["t_s"]) > 100
    assert found[0].report["lateness"]["p99_s"] < 20e-6


@on_uml
def test_of_scripted_losses_the_segments_are_sent_again_that_the_simulation_sends_again(tmp_path):
    scenario = world("reno")
    scenario["network"]["bottleneck"] |= {"queue": "1000p", "loss": {"kind": "nth", "data_packets": [200, 201, 900]}}
    kernel = uml.run(scenario, None, 1, str(tmp_path / "kernel")).summary["flows"][0]
    ours = pcapng.run(scenario, None, 1, tmp_path / "ours").summary["flows"][0]
    assert kernel["drops"]["loss"] == 3
    assert kernel["retransmitted_packets"] == ours["retransmitted_packets"]
    again = [sent_again(tmp_path / name / "left0.pcapng") for name in ("kernel", "ours")]
    assert again[0] == again[1] == [200, 201, 898]


@on_uml
def test_what_the_guest_cannot_do_is_an_error_with_its_path(tmp_path, capsys):
    assert main.main(["run", written(tmp_path, world({"name": "cubic", "beta": 0.5})), "--on", "uml"]) == 2
    assert "tcp.cc.beta: 0.5 is not what the kernel has" in capsys.readouterr().err


@on_uml
def test_a_program_runs_in_virtual_time(tmp_path):
    server = f"exec {sys.executable} -m http.server 8000 --directory {tmp_path}"
    (tmp_path / "file").write_bytes(bytes(5_000_000))
    scenario = {**world(), "emulate": {"server": [{"host": "right0", "command": server}]}}
    scenario["network"]["flows"] = 0
    ask = (
        "import time, urllib.request; begun = time.monotonic(); time.sleep(100)\n"
        "print(len(urllib.request.urlopen('http://right0:8000/file').read()), time.monotonic() - begun)"
    )
    begun = time.monotonic()
    program = [sys.executable, "-c", f"exec({ask!r})"]
    done = subprocess.run(
        [sys.executable, "-m", "tonopah", "emulate", written(tmp_path, scenario), "--on", "uml", "--json", "--", *program],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    received, lasted = done.stderr.split()[-2:]
    assert int(received) == 5_000_000
    # 5 MB take 2 s of 20 Mb/s; the sleep before them takes no time of ours.
    assert 102 < float(lasted) < 103
    assert time.monotonic() - begun < 100
    assert json.loads(done.stdout)["emulation"]["programs"]


@on_uml
def test_the_code_of_a_program_is_told():
    assert uml.emulate(world(), None, 1, ["sh", "-c", "exit 7"], Options()).code == 7


@on_uml
def test_nothing_runs_on_when_the_parent_is_killed(tmp_path):
    document = world(rate="100Mbps") | {"duration": "1000s"}
    parent = subprocess.Popen([sys.executable, "-m", "tonopah", "run", written(tmp_path, document), "--on", "uml"])
    until = time.monotonic() + WAIT_S
    while not (guests := descendants(parent.pid)) and time.monotonic() < until:
        time.sleep(0.1)
    assert guests
    time.sleep(2)
    guests = descendants(parent.pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in guests) and time.monotonic() < until:
        time.sleep(0.1)
    assert not [pid for pid in guests if Path(f"/proc/{pid}").exists()]


def descendants(parent):
    """Return the processes that a process has begun, and those that these have."""
    found, new = set(), {parent}
    while new:
        found |= new
        new = {int(stat[0]) for stat in stats() if int(stat[3]) in found} - found
    return found - {parent}


def stats():
    """Yield the fields of the status of each process; its name without spaces."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        pid, _, rest = text.partition(" (")
        yield [pid, "", *rest.rpartition(") ")[2].split()]
