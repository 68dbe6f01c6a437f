"""Speed: data packets delivered per CPU second on a dumbbell, ours and ns-2's in turn.

The dumbbell: N senders, 100 Mb/s, 20 ms and 1 ms on each side (44 ms round trip), queue of one BDP, 1448 B segments,
delayed ACKs, windows that do not limit. CPU seconds are user + system of the whole simulation, set-up included.

Ours is the full endpoint, Linux's Reno with SACK, RACK-TLP and timestamps: what is compared with the other simulators' default
TCP must not be faster for doing less. ns-2 runs `Agent/TCP/Newreno` with `TCPSink/DelAck`: Reno's window without SACK.
"""

import resource
import shutil
import statistics
import subprocess
import time
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from tonopah import _core
from tonopah.errors import RunFailedError
from tonopah.scenario import to_json

if TYPE_CHECKING:
    from rich.table import Table

QUEUE_PACKETS = 366
"""One BDP: 100 Mb/s · 44 ms / 1500 B."""


def dumbbell(flows: int, duration_s: int) -> dict[str, Any]:
    """Return the scenario."""
    access = {"rate": "1Gbps", "delay": "1ms"}
    queue = {"kind": "drop_tail", "limit": f"{QUEUE_PACKETS}p"}
    bottleneck = {"rate": "100Mbps", "delay": "20ms", "queue": queue}
    return {
        "duration": f"{duration_s}s",
        "network": {"kind": "dumbbell", "pairs": flows, "access": access, "bottleneck": bottleneck},
        "tcp": {"cc": {"name": "reno", "profile": "linux"}, "recovery": "rack", "timestamps": True, "mss": "1448B"},
        "flow": [
            {"from": f"left{i}", "to": f"right{i}", "app": {"kind": "bulk"}, "start": f"{100 * i // flows}ms"}
            for i in range(flows)
        ],
    }


def ours(flows: int, duration_s: int) -> tuple[int, float]:
    """Run the dumbbell here; return data packets delivered and CPU seconds."""
    import json

    scenario = to_json(dumbbell(flows, duration_s))
    before = time.process_time()
    summary, _ = _core.run(scenario, 1)
    spent = time.process_time() - before
    return json.loads(summary)["network"]["received_packets"], spent


def ns2(flows: int, duration_s: int) -> tuple[int, float]:
    """Run the dumbbell in ns-2; return data packets delivered and CPU seconds of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with as_file(files(__name__) / "dumbbell.tcl") as script:
        command = ["ns", str(script), str(flows), str(duration_s), str(QUEUE_PACKETS)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # ns-2 mixes remarks of its own into the output; ours is the line that begins with "delivered".
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("delivered ")]
    if done.returncode != 0 or len(lines) != 1:
        raise RunFailedError(f"ns-2 failed on the dumbbell of {flows} flows: {(done.stderr or done.stdout).strip()[-300:]}")
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return int(lines[0][1]), spent


def measure(sizes: list[int], duration_s: int, repeats: int, against: str | None) -> list[dict[str, Any]]:
    """Return one row for each number of flows: packets, CPU seconds and packets per CPU second; ratios taken in turn.

    Each repeat runs ours and then the other, so that a machine that slows down slows both. Raises RunFailedError when
    the other simulator is not installed.
    """
    if against == "ns2" and shutil.which("ns") is None:
        raise RunFailedError("ns-2 is not installed: there is no program `ns` (Debian: apt-get install ns2)")
    rows = []
    for flows in sizes:
        pairs = [(ours(flows, duration_s), ns2(flows, duration_s) if against else None) for _ in range(repeats)]
        mine = [packets / spent for (packets, spent), _ in pairs]
        row = {"flows": flows, "duration_s": duration_s, "repeats": repeats, "packets": pairs[0][0][0]}
        row |= {
            "cpu_s": statistics.median(spent for (_, spent), _ in pairs),
            "packets_per_cpu_s": statistics.median(mine),
        }
        if against:
            theirs = [other[0] / other[1] for _, other in pairs if other]
            row |= {
                "ns2_packets": pairs[0][1][0] if pairs[0][1] else None,
                "ns2_packets_per_cpu_s": statistics.median(theirs),
            }
            row["ratio"] = statistics.median(a / b for a, b in zip(mine, theirs, strict=True))
        rows.append(row)
    return rows


def as_table(rows: list[dict[str, Any]]) -> "Table":
    """Return the measurements as a table for people."""
    from tonopah.render import plain_table

    first = rows[0]
    table = plain_table(f"dumbbell, 100 Mb/s, 44 ms, {first['duration_s']} s simulated, median of {first['repeats']}")
    names = ["flows", "data packets", "CPU s", "packets per CPU s"]
    names += ["ns-2 data packets", "ns-2 packets per CPU s", "ratio"] if "ratio" in first else []
    for name in names:
        table.add_column(name, justify="right")
    for row in rows:
        cells = [f"{row['flows']:,}", f"{row['packets']:,}", f"{row['cpu_s']:.2f}", f"{row['packets_per_cpu_s']:,.0f}"]
        if "ratio" in row:
            cells += [f"{row['ns2_packets']:,}", f"{row['ns2_packets_per_cpu_s']:,.0f}", f"{row['ratio']:.2f}"]
        table.add_row(*cells)
    return table
