"""ns-2: its programs in Tcl, run on a world file."""

import tempfile
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from tonopah.errors import RunFailedError
from tonopah.peers.ns2 import MISSING, NAME, is_installed, version
from tonopah_dev.peers import process, world_file
from tonopah_dev.peers.outcome import PeerOutcome, PeerStopped, outcome_of

__all__ = ["MISSING", "NAME", "is_installed", "require", "run", "start_cpu_s", "version"]


def require() -> None:
    """Raise RunFailedError if ns-2 is not installed."""
    if not is_installed():
        raise RunFailedError(MISSING)


def start_cpu_s() -> float:
    """Return the CPU seconds of a run in which nothing happens."""
    return process.run(["ns", "-"], "set ns [new Simulator]\nexit 0\n").cpu_s


def run(scenario: Mapping[str, Any], seed: int, cpu_limit_s: float | None = None, **extra: Any) -> PeerOutcome | PeerStopped:
    """Run a scenario in ns-2: the same places, movement, flows and start times; all other random draws are its own.

    `extra` settings of the world file: `trace` (file for the events of agents), `frames=1` (count frames, which is slow).
    """
    kind = scenario["network"]["kind"]
    with tempfile.TemporaryDirectory() as folder, as_file(files("tonopah_dev.peers") / f"{kind}.tcl") as script:
        world = Path(folder, "world.tcl")
        world.write_text(world_file.write(scenario, seed, **extra))
        done = process.run(["ns", str(script), str(world)], cpu_limit_s=cpu_limit_s)
    return outcome_of(done, NAME, f"{kind} with seed {seed}")
