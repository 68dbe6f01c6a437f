"""Real programs and the kernel's TCP in our network: short runs, what is refused, what is left of a run that is killed.

What needs rights or devices that the machine lacks is skipped with the reason. Nothing asks how fast or how late a machine is.
"""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="real programs run in the network on Linux alone")

from kernel_worlds import MISSING, WAIT_S, real, tonopah, world, written  # noqa: E402

from tonopah.cli import main  # noqa: E402
from tonopah.errors import InputError, ScenarioError  # noqa: E402
from tonopah.kernel import device, plan, system, tcp_info  # noqa: E402
from tonopah.kernel.isolation import isolated  # noqa: E402

KILLS = int(os.environ.get("TONOPAH_EMULATION_KILLS", "1"))
ECHO = (
    "import socket; s = socket.create_server(('::', 7000), family=socket.AF_INET6, dualstack_ipv6=True)\n"
    "while True:\n c, _ = s.accept(); d = c.makefile('rb').readline(); c.sendall(d * 20000); c.close()"
)
ASK = (
    "import os, socket, sys\n"
    "for host in ('right0', os.environ['TONOPAH_HOST_right0'], os.environ['TONOPAH_HOST6_right0']):\n"
    " s = socket.create_connection((host, 7000)); s.sendall(b'0123456789' * 5 + b'\\n')\n"
    " n = sum(map(len, iter(lambda: s.recv(65536), b''))); assert n == 51 * 20000, n"
)


@real
def test_a_program_runs_in_the_network(tmp_path):
    server = f'exec {sys.executable} -c "{ECHO}"'
    document = world() | {"emulate": {"server": [{"host": "right0", "command": server}]}}
    document["flow"] = [{"from": "left0", "to": "right0", "tcp": {"profile": "linux", "cc": "cubic"}}]
    document["record"] = {"series": ["throughput", "queue"]}
    file, packets = written(tmp_path, document), tmp_path / "packets"
    options = ("--keep-late", "--json", "--pcap", str(packets), "--series", str(tmp_path / "series"))
    done = tonopah("emulate", file, *options, "--", sys.executable, "-c", ASK)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    programs = [flow for flow in summary["flows"] if flow["app"] == "program"]
    assert [flow["app"] for flow in summary["flows"][:1]] == ["bulk"]
    answered = [flow["reverse"]["delivered_bytes"] for flow in programs if flow["transport"] == "tcp" and flow.get("reverse")]
    assert answered == [51 * 20000] * 3
    assert {flow["cc"] for flow in programs} == {None}
    names = summary["emulation"]["programs"]
    assert [name["flow"] for name in names] == sorted(name["flow"] for name in names)
    assert {name["to"][0] for name in names if name["protocol"] == 6} == {"10.77.0.2", "fd77::2"}
    assert summary["emulation"]["lateness"]["packets"] > 1000
    assert sum(summary["emulation"]["lost_before_queues"].values()) == 0
    assert (tmp_path / "series" / "throughput.csv").stat().st_size > 0
    assert {file.name for file in packets.iterdir()} == {"left0.pcapng", "right0.pcapng"}
    first = (packets / "left0.pcapng").read_bytes()
    assert struct.unpack_from("<III", first) == (0x0A0D0D0A, 28, 0x1A2B3C4D)


@real
def test_what_a_program_returns_is_told(tmp_path):
    done = tonopah("emulate", written(tmp_path, world()), "--keep-late", "--", "sh", "-c", "exit 7")
    assert (done.returncode, done.stderr.strip()) == (1, "error: the command ended with exit code 7")
    done = tonopah("emulate", written(tmp_path, world()), "--", "no-such-program")
    assert done.returncode == 2
    assert "no-such-program: No such file or directory" in done.stderr


@real
def test_a_shell_is_opened_without_a_command(tmp_path):
    given = "echo $TONOPAH_HOST_right0; grep right0 /etc/hosts; exit 3\n"
    done = tonopah("emulate", written(tmp_path, world()), "--keep-late", input=given, env={**os.environ, "SHELL": "/bin/sh"})
    assert done.returncode == 0, done.stderr
    assert "10.77.0.2\n10.77.0.2 right0\nfd77::2 right0\n" in done.stdout


@real
def test_the_kernel_carries_the_flows_of_a_scenario(tmp_path):
    document = world(flows=1) | {"tcp": {"profile": "linux", "cc": "cubic"}}
    document["record"] = {"series": ["cwnd", "srtt", "queue", "goodput"]}
    document["flow"] = [
        {"from": "left0", "to": "right0"},
        {"from": "left0", "to": "right0", "app": {"kind": "bulk", "bytes": "100kB"}, "cc": "reno", "start": "500ms"},
        {"from": "right0", "to": "left0", "app": {"kind": "cbr", "rate": "100pps", "size": "500B", "transport": "udp"}},
    ]
    document["network"]["flows"] = 0
    series = tmp_path / "series"
    done = tonopah("run", written(tmp_path, document), "--on", "linux", "--keep-late", "--json", "--series", str(series))
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    bulk, transfer, datagrams = summary["flows"]
    assert summary["engine"].startswith("linux ")
    assert summary["duration_s"] == 2.0
    assert summary["sysctls"]["net.ipv4.tcp_no_metrics_save"] == "1"
    assert bulk["delivered_bytes"] > 100_000
    assert bulk["cwnd_mean_bytes"] > 1448
    assert bulk["recovery_count"] is None
    assert transfer["delivered_bytes"] == 100_000
    assert transfer["completion_s"] > 0
    assert 0 < datagrams["received_packets"] <= 200
    assert {file.name for file in series.iterdir()} == {"cwnd.csv", "srtt.csv", "queue.csv", "goodput.csv"}


def flow_of(app):
    """Return a flow of an application."""
    return {"from": "left0", "to": "right0", "app": app}


REFUSED = (
    ({"tcp": {"profile": "rfc"}}, "tcp.profile"),
    ({"tcp": {"profile": "linux", "cc": "vegas"}}, "tcp.cc"),
    ({"tcp": {"profile": "linux", "cc": {"name": "cubic", "beta": 0.5}}}, "tcp.cc.beta"),
    ({"tcp": {"profile": "linux", "cc": "cubic", "initial_window": "20000B"}}, "tcp.initial_window"),
    ({"tcp": {"profile": "linux", "cc": "cubic", "ecn": "l4s"}}, "tcp.ecn"),
    ({"record": {"series": ["send_window"]}}, "record.series"),
    ({"record": {"internals": "all"}}, "record"),
    ({"flow": [{"from": "left0", "to": "right0", "app": {"kind": "page"}}]}, "flow[0].app.kind"),
    ({"flow": [{"from": "left0", "to": "right0", "silent": True}]}, "flow[0].silent"),
    ({"flow": [flow_of({"kind": "request_response", "per_connection": 2})]}, "flow[0].app.per_connection"),
    ({"flow": [flow_of({"kind": "cbr", "rate": "1Mbps", "size": "1kB", "on_full": "drop"})]}, "flow[0].app.on_full"),
    ({"clock": "double"}, "clock"),
    ({"flow": [], "network": {**world()["network"], "flows": 0}}, "flow"),
)


@pytest.mark.parametrize(("more", "path"), REFUSED)
def test_what_the_kernel_cannot_do_is_refused_before_anything_starts(more, path, monkeypatch):
    monkeypatch.setattr(plan, "available", lambda: ["reno", "cubic", "bbr"])
    document = world() | {"tcp": {"profile": "linux", "cc": "cubic"}, "flow": [{"from": "left0", "to": "right0"}]} | more
    with pytest.raises(ScenarioError) as refused:
        plan.planned(document, None, 1)
    assert refused.value.path == path


SIMULATED = (
    ["--twice"], ["--events"], ["--qlog", "x.qlog"], ["--netanim", "x.xml"],
)  # fmt: skip


@pytest.mark.parametrize("option", SIMULATED, ids=lambda option: option[0])
def test_an_option_of_simulated_flows_alone_is_refused(option, tmp_path, capsys):
    assert main.main(["run", written(tmp_path, world()), "--on", "linux", *option]) == 2
    assert f"{option[0]}: is of simulated flows only (leave --on out)" in capsys.readouterr().err


def test_packets_of_a_kernel_are_kept_at_hosts_alone(tmp_path, capsys):
    given = ["run", written(tmp_path, world()), "--on", "linux", "--pcap", str(tmp_path / "x"), "--pcap-at", "links"]
    assert main.main(given) == 2
    assert "--pcap-at: links: packets of a kernel are kept at hosts (hosts)" in capsys.readouterr().err


def test_a_plan_has_what_the_sockets_need(monkeypatch):
    monkeypatch.setattr(plan, "available", lambda: ["reno", "cubic", "bbr"])
    flow = {"from": "left0", "to": "right0", "app": {"kind": "cbr", "rate": "1Mbps", "size": "1250B"}, "stop": "1s", "dscp": "46"}
    found = plan.planned(world() | {"tcp": {"profile": "linux", "cc": "bbr", "nagle": False}, "flow": [flow]}, None, 1)
    only = found.flows[0]
    assert (only.cc, only.stop_s, only.dscp, only.nodelay, only.port) == ("bbr", 1.0, 46, True, 20_000)
    assert (found.hosts, found.mtu, found.duration_s) == (["left0", "right0"], 1500, 2.0)
    assert found.controls["net.ipv4.tcp_rmem"] == "4096 131072 6291456"
    # A buffer that is given stands for itself, with the window that is announced at first.
    own = {"profile": "linux", "cc": "bbr", "recv_buffer": "10MB", "send_buffer": "20MB"}
    given = plan.planned(world(flows=1) | {"tcp": own}, None, 1).controls
    assert (given["net.ipv4.tcp_rmem"], given["net.ipv4.tcp_wmem"]) == ("4096 10000000 10000000", "4096 16777216 20000000")


def test_a_parameter_that_is_called_native_is_no_library():
    own = {"profile": "linux", "cc": "vegas"}
    assert plan.planned(world(flows=1) | {"tcp": own}, None, 1, ["vegas"]).flows[0].cc == "vegas"


WRONG = (
    ({"run_on": "nowhere"}, "emulate.run_on"),
    ({"server": [{"host": "r0", "command": "true"}]}, "emulate.server[0].host"),
    ({"hosts": ["left0", "left0"]}, "emulate.hosts[1]"),
    ({"hosts": ["left0", "no"]}, "emulate.hosts[1]"),
    ({"mtu": 100}, "emulate.mtu"),
    ({"network": "10.77.0.0"}, "emulate.network"),
    ({"network": "10.77.0.0/30"}, "emulate.network"),
    ({"network6": "10.77.0.0/16"}, "emulate.network6"),
    ({"speed": 1}, "emulate.speed"),
)


@pytest.mark.parametrize(("table", "path"), WRONG)
def test_a_wrong_table_is_an_error_with_its_path(table, path, tmp_path, capsys):
    assert main.main(["check", written(tmp_path, world() | {"emulate": table})]) == 2
    assert f"{path}: " in capsys.readouterr().err


def test_radios_are_not_emulated(tmp_path, capsys):
    document = {"duration": "2s", "emulate": {}, "network": {"kind": "adhoc", "nodes": 4, "area": {"x": "100m", "y": "100m"}}}
    assert main.main(["check", written(tmp_path, document)]) == 2
    assert "emulate: networks with radio are simulated only" in capsys.readouterr().err


def test_without_the_device_there_is_one_sentence_with_the_remedy(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(system, "TUN", str(tmp_path / "tun"))
    if MISSING is not None and "namespaces" in MISSING:
        pytest.skip(MISSING)
    assert main.main(["emulate", written(tmp_path, world()), "--", "true"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "tun cannot be opened: No such file or directory (modprobe tun" in said


def test_without_rights_there_is_one_sentence_with_the_remedy(tmp_path, monkeypatch, capsys):
    def refused(_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(system, "unshare", refused)
    assert main.main(["emulate", written(tmp_path, world()), "--", "true"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "may not make network namespaces: Operation not permitted (run as root" in said


@real
def test_who_is_not_root_gets_a_namespace_in_which_he_is(public):
    """As any user: without capabilities, and with the user namespaces of the machine."""
    if os.getuid() != 0 or not Path("/usr/bin/setpriv").exists():
        pytest.skip("needs root and setpriv to become another user")
    file = written(public, world())
    as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    allowed = subprocess.run([*as_user, "unshare", "-Urn", "true"], capture_output=True, check=False)
    reads = subprocess.run([*as_user, sys.executable, "-c", "import tonopah"], capture_output=True, check=False)
    device_is_open = subprocess.run([*as_user, "test", "-w", system.TUN], check=False)
    if allowed.returncode or reads.returncode or device_is_open.returncode:
        pytest.skip("another user may make no namespaces, use no TUN device, or cannot read this checkout")
    command = [
        *as_user,
        sys.executable,
        "-m",
        "tonopah",
        "emulate",
        file,
        "--keep-late",
        "--",
        "sh",
        "-c",
        "id -u; cat /proc/net/dev",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0\n")
    assert f"{device.NAME}:" in done.stdout


def left_over():
    """Return the processes, devices and mounts of this machine that an emulation could leave."""
    devices = Path("/proc/net/dev").read_text(encoding="ascii")
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    return devices.count("\n"), mounts, Path("/proc/net/route").read_text(encoding="ascii")


def processes_with(mark):
    """Return the processes whose environment or command line has a mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return [process for process in found if process != os.getpid()]


@real
@pytest.mark.parametrize("number", range(KILLS))
def test_nothing_is_left_when_the_parent_is_killed(number, tmp_path):
    mark = f"TONOPAH_TEST_{os.getpid()}_{number}"
    document = world() | {"emulate": {"server": [{"host": "right0", "command": f"{sys.executable} -m http.server 8000"}]}}
    before = left_over()
    command = [sys.executable, "-m", "tonopah", "emulate", written(tmp_path, document), "--", "sleep", "600"]
    parent = subprocess.Popen(command, env={**os.environ, mark: "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # With one kill in the middle of it, with more of them at any moment from the first on.
    if KILLS == 1:
        until = time.monotonic() + WAIT_S
        while len(processes_with(mark)) < 5 and time.monotonic() < until:
            time.sleep(0.05)
    else:
        time.sleep(random.Random(number).uniform(0.0, 3.0))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until = time.monotonic() + WAIT_S
    while processes_with(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_with(mark) == []
    assert left_over() == before


def test_what_work_in_a_process_of_its_own_raises_comes_back():
    if MISSING is not None and "namespaces" in MISSING:
        pytest.skip(MISSING)
    assert isolated(os.getpid) == 1

    def wrong():
        raise InputError("emulate.mtu", "is wrong", "right")

    with pytest.raises(InputError, match=r"emulate\.mtu: is wrong"):
        isolated(wrong)


def test_what_the_kernel_says_is_in_the_units_of_a_simulation():
    head = struct.pack("=8B", 1, 3, 2, 0, 0, 0, 0, 0)
    words = [0] * 24
    words[0], words[2], words[4:8], words[15:19], words[23] = 204_000, 1448, [10, 2, 1, 1], [40_000, 5_000, 7, 20], 6
    data = head + struct.pack("=24I", *words) + struct.pack("=4Q", 1000, 2000, 99, 0)
    data += struct.pack("=6I", 0, 0, 0, 30_000, 0, 0) + struct.pack("=4Q", 500, 0, 0, 0)
    found = tcp_info.TcpInfo.of(data)
    assert (found.cwnd, found.ssthresh, found.srtt, found.min_rtt) == (28960.0, 10136.0, 0.04, 0.03)
    assert (found.pacing_rate, found.delivery_rate, found.acked) == (8000.0, 4000.0, 99.0)
    assert (found.retransmits, found.state, found.pipe, found.outstanding) == (6.0, 3.0, 8 * 1448.0, 8 * 1448.0)
    assert tcp_info.total_timeouts(data) is None
    assert tcp_info.total_timeouts(data.ljust(240, b"\0") + b"\3\0") == 3
