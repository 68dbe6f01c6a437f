"""ns-2: a scenario as a program in its Tcl, run, and counted from its trace.

Its TCP is TCP-Linux with selective acknowledgments and the agents' own loss recovery.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from tonopah.errors import RunFailedError
from tonopah.peers import events, plan
from tonopah.peers.outcome import result_of
from tonopah.peers.plan import ANY, Able
from tonopah.peers.program import program
from tonopah.runs.simulation import RunResult
from tonopah.writing import replace_file

NAME = "ns-2"
CONTROLS = (
    "reno", "cubic", "bic", "highspeed", "htcp", "hybla", "illinois", "scalable", "vegas", "veno", "westwood", "yeah",
)  # fmt: skip
RED = (
    "profile", "limit", "min_threshold", "max_threshold", "weight", "max_p", "gentle", "wait", "byte_mode",
    "queue_in_bytes", "mean_packet", "target_delay", "mark_p", "hard_drop", "interval",
)  # fmt: skip
NO_CODEL = "stock ns-2.35 has no CoDel"
ABLE = Able(
    NAME,
    controls={name: name for name in CONTROLS},
    queues={"drop_tail": {"limit": ANY}, "red": dict.fromkeys(RED, ANY)},
    # TCP-Linux has always selective acknowledgments.
    tcp={"ecn": ("off",), "sack": (True,), "ack_every": (1, 2)},
    follows=("mss", "timestamps", "recv_buffer", "initial_window"),
    lacks={"codel": NO_CODEL, "fq_codel": NO_CODEL},
)
planned = partial(plan.planned, ABLE)
"""How ns-2 carries a scenario."""
MISSING = "ns-2 is not installed: there is no program `ns` (Debian: apt-get install ns2)"
ASK_VERSION = "puts [ns-version]\nexit 0\n"


def is_installed() -> bool:
    """Tell whether ns-2 is installed."""
    return shutil.which("ns") is not None


def lacking() -> str | None:
    """Return what the machine lacks, with the remedy."""
    return None if is_installed() else MISSING


@cache
def version() -> str:
    """Return what ns-2 says of itself, like "2.35"."""
    done = subprocess.run(["ns", "-"], input=ASK_VERSION, capture_output=True, text=True, check=False)
    return done.stdout.split()[0] if done.returncode == 0 and done.stdout.split() else "of unknown version"


def run(scenario: Mapping[str, Any], name: str | None, seed: int, keep: Path | None = None) -> RunResult:
    """Run a scenario that was read from the file `name`: links and starts as we draw them with `seed`, all other draws its own.

    `keep` is a file that keeps the program. Raises InputError for what ns-2 cannot do, RunFailedError if it fails.
    """
    world = planned(scenario, name, seed)
    text = program(world, seed)
    if keep:
        replace_file(keep, text)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, one) for one in ("world.tcl", "events", "windows")]
        files[0].write_text(text, encoding="ascii")
        done = subprocess.run(["ns", *map(str, files)], capture_output=True, text=True, check=False)
        if done.returncode or not files[1].exists():
            said = (done.stderr or done.stdout).strip()[-300:] or f"exit code {done.returncode}"
            raise RunFailedError(f"{NAME} failed: {said}")
        trace = events.Trace(world)
        with files[1].open(encoding="ascii") as lines:
            trace.read(lines)
        with files[2].open(encoding="ascii") as lines:
            windows = events.windows_of(world, done.stdout, lines)
    return result_of(world, trace.flows, events.series_of(world, trace, windows), f"{NAME} {version()}")
