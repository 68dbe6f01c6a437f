"""Programs in C++ against the libraries of ns-3 that the machine has."""

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tonopah.digest import digest
from tonopah.errors import RunFailedError
from tonopah.writing import cache_folder, written_whole

MISSING = "ns-3 is not installed: pkg-config does not know its libraries (Debian: apt-get install libns3-dev libgsl-dev g++)"
FLAGS = ("-std=c++17", "-O2")
LINKED = "gsl"
"""What ns-3's libraries are linked with, and Debian's package of them does not ask for."""


def is_installed(modules: Sequence[str]) -> bool:
    """Tell whether these modules of ns-3 are there, and a compiler."""
    if shutil.which("pkg-config") is None or shutil.which("g++") is None:
        return False
    return asked("--exists", *libraries(modules), LINKED).returncode == 0


def libraries(modules: Sequence[str]) -> list[str]:
    """Return the names of modules as pkg-config knows them."""
    return [f"ns3-{module}" for module in modules]


def asked(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Ask pkg-config."""
    return subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=False)


@cache
def version() -> str:
    """Return the version of the installed libraries, like "3.37"."""
    return asked("--modversion", "ns3-core").stdout.strip() or "of unknown version"


def compiler() -> str:
    """Return the compiler and its flags."""
    said = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=False).stdout
    return f"{said.splitlines()[0]}, {' '.join(FLAGS)}"


def compile_program(source: Path, program: Path, modules: Sequence[str]) -> None:
    """Compile a program. Raises RunFailedError with what the compiler says."""
    # Debian's flags of 3.37 hold a stray "-I/usr\;".
    flags = [flag for flag in shlex.split(asked("--cflags", "--libs", *libraries(modules)).stdout) if not flag.endswith(";")]
    command = ["g++", *FLAGS, "-I", str(source.parent), "-o", str(program), str(source), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.splitlines()
        why = next((line for line in lines if "error" in line or "cannot find" in line), done.stderr[-300:])
        raise RunFailedError(f"{source.name} does not compile against the installed ns-3: {why}")


def kept_program(source: Path, modules: Sequence[str]) -> Path:
    """Return a compiled program in the user's cache, compiled when it is first asked for. Raises RunFailedError, OSError."""
    folder = cache_folder("ns3")
    program = folder / digest(source.read_bytes(), version(), compiler(), *modules)
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with written_whole(program) as file:
            compile_program(source, file, modules)
    return program
