"""What a kernel's flows give in our network beside ours: the numbers of docs/kernel.md, on standard output.

`make emulate-numbers` takes seven minutes of real time, as root or with user namespaces, on two free cores; `make uml-numbers`
has a kernel in virtual time instead, which no load disturbs.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tonopah.export import pcapng
from tonopah.kernel import emulate, linux, uml
from tonopah.kernel.emulate import Options
from tonopah.kernel.running import Emulated
from tonopah.runs.simulation import run_prepared
from tonopah.validate.linux import measures, worlds
from tonopah.validate.linux.comparison import kernel_tracks
from tonopah.validate.linux.flow_track import our_track
from tonopah.validate.linux.recordings import LinuxCase, shipped
from tonopah.validate.trace.capture import packets, survey

ALGORITHMS = ("reno", "cubic", "bbr")
RATES_MBPS = (10, 50, 200)
DELAYS_MS = (20, 80)
BUFFERS_BDP = (0.5, 2)
QUEUES: dict[str, dict[str, Any]] = {
    "codel": {"kind": "codel", "ecn": True},
    "fq_codel": {"kind": "fq_codel", "ecn": True},
    "pie": {"kind": "pie", "ecn": True},
    "cake": {"kind": "cake", "rate": "19Mbps"},
    "dualpi2": {"kind": "dualpi2"},
}
GOODPUT, WINDOW = 0.03, 0.10
"""How far apart the two may be."""
DOWNLOAD_BYTES = 20_000_000
IN_VIRTUAL_TIME = "uml" in sys.argv[1:]
RECORDED_RECEIVER = {"recv_autotune": False, "recv_buffer": "67108864B"}
"""Of the recordings of 6.1: a buffer of a fixed size. Half of it becomes window, by two segments for each that arrives; each has
an ACK of its own until then: that ends after 11,564 segments."""
SCRIPTS = {
    "one": [200],
    "two in a window": [300, 305],
    "a tail": [396, 397, 398, 399, 400],
    "the same twice": [250, 281],
    "every other": [300, 302, 304, 306, 308, 310],
    "far apart": [150, 900, 1700],
}
"""Numbers of the packets that are lost."""


def world(rate_mbps: float, rtt_ms: float, queue: object, cc: str, ecn: str = "off") -> dict[str, Any]:
    """Return one flow over one bottleneck."""
    return {
        "duration": "10s",
        "warmup": "2s",
        "tcp": {"profile": "linux", "cc": cc, "ecn": ecn},
        "network": {
            "kind": "dumbbell",
            "pairs": 1,
            "flows": 1,
            "access": {"rate": "1Gbps", "delay": "0s"},
            "bottleneck": {"rate": f"{rate_mbps}Mbps", "delay": f"{rtt_ms / 2}ms", "queue": queue},
        },
    }


def on_kernel(scenario: dict[str, Any], pcap: str | None = None) -> Emulated:
    """Run a scenario on the kernel that the numbers are of."""
    return (uml if IN_VIRTUAL_TIME else linux).run(scenario, None, 1, pcap=pcap)


def in_its_network(scenario: dict[str, Any], command: list[str]) -> Emulated:
    """Run a command on the kernel that the numbers are of."""
    return (uml if IN_VIRTUAL_TIME else emulate).emulate(scenario, None, 1, command, Options())


def pair(scenario: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the summaries of a run on the kernel and of the simulation."""
    return on_kernel(scenario).summary, run_prepared(scenario, None, 1).summary


def differ(theirs: float | None, ours: float | None) -> float:
    """Return by how much of ours a value of the kernel's differs."""
    return float("nan") if theirs is None or not ours else theirs / ours - 1


def windows() -> Iterator[str]:
    """Yield the comparison of goodput and window for all algorithms, rates, delays and buffers."""
    yield "| algorithm | Mb/s | RTT ms | BDP | goodput, kernel | ours | differs | window | dropped, kernel | ours | p99 late ms |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    apart = []
    for cc in ALGORITHMS:
        for rate in RATES_MBPS:
            for rtt in DELAYS_MS:
                for buffer in BUFFERS_BDP:
                    kernel, ours = pair(world(rate, rtt, f"{buffer}bdp", cc))
                    one, other = kernel["flows"][0], ours["flows"][0]
                    goodput = differ(one["goodput_bps"], other["goodput_bps"])
                    window = differ(one["cwnd_mean_bytes"], other["cwnd_mean_bytes"])
                    apart.append((abs(goodput) <= GOODPUT, abs(window) <= WINDOW))
                    late = 1e3 * kernel["emulation"]["lateness"]["p99_s"]
                    yield (
                        f"| {cc} | {rate} | {rtt} | {buffer} | {one['goodput_bps'] / 1e6:.2f} | {other['goodput_bps'] / 1e6:.2f} "
                        f"| {100 * goodput:+.1f} % | {100 * window:+.1f} % "
                        f"| {one['dropped_packets']} | {other['dropped_packets']} | {late:.2f} |"
                    )
    within = [sum(column) for column in zip(*apart, strict=True)]
    yield f"\n{within[0]} of {len(apart)} within {GOODPUT:.0%} of goodput, {within[1]} within {WINDOW:.0%} of the mean window."


def disciplines() -> Iterator[str]:
    """Yield the comparison of the delay of queues that mark."""
    yield "\n| queue | delay ms, kernel | ours | differs | marked, kernel | ours |\n|---|---|---|---|---|---|"
    for name, queue in QUEUES.items():
        kernel, ours = (summary["flows"][0] for summary in pair(world(20, 40, queue, "cubic", "classic")))
        apart = 100 * differ(kernel["delay_s"], ours["delay_s"])
        yield (
            f"| {name} | {1e3 * kernel['delay_s']:.2f} | {1e3 * ours['delay_s']:.2f} | {apart:+.1f} % "
            f"| {kernel['marked_packets']} | {ours['marked_packets']} |"
        )


def download() -> Iterator[str]:
    """Yield how long a download takes, and what the simulation says of it."""
    scenario = world(50, 20, "1bdp", "cubic")
    del scenario["network"]["flows"], scenario["warmup"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "file").write_bytes(bytes(DOWNLOAD_BYTES))
        server = {"host": "right0", "command": f"exec {sys.executable} -m http.server 8000 --directory {folder} >/dev/null 2>&1"}
        command = ["curl", "-s", "-o", f"{folder}/got", "-w", "%{time_total}", "--stderr", "-", "http://right0:8000/file"]
        timed = ["sh", "-c", f"{' '.join(command)} > {folder}/seconds"]
        in_its_network({**scenario, "emulate": {"server": [server]}}, timed)
        seconds = float(Path(folder, "seconds").read_text(encoding="ascii"))
    flow = {"from": "right0", "to": "left0", "app": {"kind": "bulk", "bytes": f"{DOWNLOAD_BYTES}B"}}
    ours = run_prepared({**scenario, "flow": [flow]}, None, 1).summary["flows"][0]["completion_s"]
    yield f"\ncurl of 20 MB at 50 Mb/s: {seconds:.3f} s, simulated {ours:.3f} s, {100 * differ(seconds, ours):+.1f} %"


def beside() -> Iterator[str]:
    """Yield what a real flow gets beside eight simulated ones in one FQ-CoDel queue."""
    scenario = world(50, 20, {"kind": "fq_codel"}, "cubic")
    del scenario["network"]["flows"], scenario["warmup"]
    scenario["flow"] = [{"from": "left0", "to": "right0"}] * 8
    server = {"host": "right0", "command": "exec iperf3 -s"}
    command = ["iperf3", "-c", "right0", "-t", "12"]
    found = in_its_network({**scenario, "emulate": {"server": [server]}}, command).summary["flows"]
    simulated = [flow["goodput_bps"] for flow in found if flow["app"] == "bulk"]
    real = max(flow["goodput_bps"] for flow in found if flow["app"] == "program")
    yield (
        f"\nbeside eight simulated CUBIC flows in FQ-CoDel: iperf3 {real / 1e6:.2f} Mb/s, each of the others "
        f"{statistics.mean(simulated) / 1e6:.2f} ({min(simulated) / 1e6:.2f} to {max(simulated) / 1e6:.2f})"
    )


def scripts() -> Iterator[str]:
    """Yield the comparison of scripted losses."""
    yield "\n| cc | script | lost, kernel | ours | segments sent again, kernel | ours |\n|---|---|---|---|---|---|"
    for cc in ALGORITHMS:
        for name, lost in SCRIPTS.items():
            scenario = world(10, 40, "1000p", cc)
            del scenario["warmup"]
            scenario["network"]["bottleneck"]["loss"] = {"kind": "nth", "data_packets": lost}
            drops, segments = zip(*(losses(scenario, by_kernel) for by_kernel in (True, False)), strict=True)
            yield f"| {cc} | {name} | {' | '.join(map(str, drops))} | {' | '.join(map(str, segments))} |"


def losses(scenario: dict[str, Any], by_kernel: bool) -> tuple[int, list[int]]:
    """Return how many packets of one flow were lost, and the numbers of the segments that were sent again."""
    with tempfile.TemporaryDirectory() as folder:
        run = on_kernel(scenario, folder) if by_kernel else pcapng.run(scenario, None, 1, Path(folder), "hosts")
        return run.summary["flows"][0]["dropped_packets"], sent_again(Path(folder, "left0.pcapng"))


def sent_again(file: Path) -> list[int]:
    """Return the numbers of the segments, from 0, that the sender of the first connection of a capture sent more than once."""
    found = packets(survey(file), 0, 1 << 62, 1 << 62)
    data = [packet for packet in found if packet.length]
    first, size = data[0].seq, max(packet.length for packet in data)
    times = Counter((packet.seq - first) // size for packet in data)
    return sorted((times - Counter(set(times))).elements())


def recordings() -> Iterator[str]:
    """Yield whether the cases of 6.1 with one flow that chance has no part in, recorded again, agree with their recordings."""
    steady = [case for case in shipped().cases if case.kernel == "6.1" and case.kind == "steady" and not worlds.draws(case)]
    yield "\n| case | checks | not met |\n|---|---|---|"
    # A flow that asks for ECN as DCTCP does is not carried.
    for case in (case for case in steady if case.algorithm(0) != "dctcp"):
        checks = measures.steady_checks(recorded_again(case))
        missed = [f"{check.name}: {check.ours} for {check.theirs} ({check.goal})" for check in checks if not check.met]
        yield f"| {case.id} | {len(checks)} | {'; '.join(missed)} |"


def recorded_again(case: LinuxCase) -> measures.FlowResult:
    """Return what a recorded case gives on the kernel beside its recording."""
    scenario = worlds.scenario(case)
    # What sets 6.1 apart it has by itself.
    for key in worlds.KERNEL[case.kernel]:
        del scenario["tcp"][key]
    scenario["tcp"] |= RECORDED_RECEIVER
    scenario["record"] = {"series": ["cwnd", *worlds.SERIES[1:]], "every": "10ms"}
    result = on_kernel(scenario)
    tables = {name: result.series(name) for name in scenario["record"]["series"]}
    columns = {
        name: {"t_s": table["t_s"].to_numpy(), "id": table["flow"].to_numpy(), "value": table["value"].to_numpy()}
        for name, table in tables.items()
    }
    # The kernel counts the SYN.
    columns["acked"]["value"] = columns["acked"]["value"] - 1
    track = our_track({**columns, "send_window": columns["cwnd"]}, 0)
    (kernel,) = kernel_tracks(shipped(), case)
    return measures.compare_flow(case.algorithm(0), kernel, track, None)


def main() -> None:
    """Print all numbers."""
    started = time.time()
    load = os.getloadavg()[0]
    for part in (windows, scripts, disciplines, download, beside, *([recordings] if IN_VIRTUAL_TIME else [])):
        try:
            for line in part():
                print(line, flush=True)
        except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            print(f"\n{part.__name__}: {error}", flush=True)
    print(f"\n{time.time() - started:.0f} s, load {load:.1f} to {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
