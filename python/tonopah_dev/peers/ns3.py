"""ns-3: its programs in C++, compiled against the installed libraries and run on a world file."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tonopah.errors import RunFailedError
from tonopah.peers.compiled import MISSING, compile_program, compiler, version
from tonopah.peers.compiled import is_installed as has_modules
from tonopah.peers.ns3 import NAME
from tonopah_dev.peers import process, world_file
from tonopah_dev.peers.outcome import PeerOutcome, PeerStopped, outcome_of

__all__ = ["MODULES", "NAME", "Programs", "compiler", "is_installed", "require", "version"]

MODULES = {
    "dumbbell": ("applications", "core", "internet", "network", "nix-vector-routing", "point-to-point", "traffic-control"),
    "adhoc": ("applications", "core", "dsdv", "internet", "mobility", "network", "propagation", "traffic-control", "wifi"),
}
"""Kinds of network that ns-3 has, with the modules that their programs use. It has no satellites."""


def is_installed() -> bool:
    """Tell whether the libraries and a compiler are there."""
    return has_modules(MODULES["dumbbell"])


def require() -> None:
    """Raise RunFailedError if ns-3 is not installed."""
    if not is_installed():
        raise RunFailedError(MISSING)


class Programs:
    """The compiled programs, in `folder`; each is compiled once, when it is first run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def program(self, kind: str) -> Path:
        """Return the program for a kind of network."""
        path = self.folder / kind
        if path.exists():
            return path
        compile_program(Path(__file__).with_name(f"{kind}.cc"), path, MODULES[kind])
        return path

    def run(
        self, scenario: Mapping[str, Any], seed: int, cpu_limit_s: float | None = None, **extra: Any
    ) -> PeerOutcome | PeerStopped:
        """Run a scenario in ns-3: the same places, movement, flows and start times; all other random draws are its own."""
        kind = scenario["network"]["kind"]
        program = self.program(kind)
        with tempfile.TemporaryDirectory() as folder:
            world = Path(folder, "world.txt")
            world.write_text(world_file.write(scenario, seed, **extra))
            done = process.run([str(program), str(world)], cpu_limit_s=cpu_limit_s)
        return outcome_of(done, NAME, f"{kind} with seed {seed}")
