"""ns-3: its programs in C++, compiled against the installed libraries and run on a world file."""

import shlex
import shutil
import tempfile
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from tonopah.errors import RunFailedError
from tonopah_dev.peers import process, world_file
from tonopah_dev.peers.outcome import PeerOutcome, PeerStopped, outcome_of

NAME = "ns-3"
MISSING = "ns-3 is not installed: pkg-config does not know its libraries (Debian: apt-get install libns3-dev libgsl-dev g++)"
FLAGS = ("-std=c++17", "-O2")
MODULES = {
    "dumbbell": ("applications", "core", "internet", "network", "nix-vector-routing", "point-to-point", "traffic-control"),
    "adhoc": ("applications", "core", "dsdv", "internet", "mobility", "network", "propagation", "traffic-control", "wifi"),
}
"""Kinds of network that ns-3 has, with the modules that their programs use. It has no satellites."""


def is_installed() -> bool:
    """Tell whether the libraries and a compiler are there."""
    if shutil.which("pkg-config") is None or shutil.which("g++") is None:
        return False
    return process.run(["pkg-config", "--exists", *libraries("dumbbell")]).code == 0


def require() -> None:
    """Raise RunFailedError if ns-3 is not installed."""
    if not is_installed():
        raise RunFailedError(MISSING)


def libraries(kind: str) -> list[str]:
    """Return the names of the modules as pkg-config knows them."""
    return [f"ns3-{module}" for module in MODULES[kind]]


def version() -> str:
    """Return the version of the installed libraries, like "3.37"."""
    return process.run(["pkg-config", "--modversion", "ns3-core"]).output.strip() or "of unknown version"


def compiler() -> str:
    """Return the compiler and its flags."""
    line = process.run(["g++", "--version"]).output.splitlines()[0]
    return f"{line}, {' '.join(FLAGS)}"


class Programs:
    """The compiled programs, in `folder`; each is compiled once, when it is first run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def program(self, kind: str) -> Path:
        """Return the program for a kind of network."""
        path = self.folder / kind
        if path.exists():
            return path
        said = process.run(["pkg-config", "--cflags", "--libs", *libraries(kind)])
        # Debian's flags of 3.37 hold a stray "-I/usr\;".
        flags = [flag for flag in shlex.split(said.output) if not flag.endswith(";")]
        with (
            as_file(files("tonopah_dev.peers") / f"{kind}.cc") as source,
            as_file(files("tonopah_dev.peers") / "world.h") as header,
        ):
            done = process.run(["g++", *FLAGS, "-I", str(header.parent), "-o", str(path), str(source), *flags])
        if done.code != 0:
            why = next(
                (line for line in done.errors.splitlines() if "error" in line or "cannot find" in line), done.errors[-300:]
            )
            hint = " (Debian: apt-get install libgsl-dev)" if "gsl" in done.errors else ""
            raise RunFailedError(f"{kind}.cc does not compile against the installed ns-3: {why}{hint}")
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
