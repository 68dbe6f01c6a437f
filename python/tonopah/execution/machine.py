"""On what runs were made: machine, operating system, compiler, versions. Results do not depend on it."""

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tonopah._core import __file__ as engine_file
from tonopah._core import build_profile, engine_build, engine_version
from tonopah.execution.options import cores, memory_total

PACKAGES = ("numpy", "scipy", "pandas", "pyarrow")
"""Those that compute statistics or hold results."""
COMPILER = re.compile(rb"rustc version ([0-9][^\x00]*)")


@cache
def machine() -> dict[str, Any]:
    """Return what is known of this machine and this installation, as data of JSON."""
    return {
        "system": platform.platform(),
        "processor": processor_name(),
        "cores": cores(),
        "memory_bytes": memory_total(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "engine": {"version": engine_version(), "build": engine_build(), "profile": build_profile(), "compiler": compiler()},
        "c_compiler": c_compiler(),
    }


def processor_name() -> str:
    """Return the model of the processor."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def compiler() -> str:
    """Return the compiler of the engine, which writes its version into the file."""
    found = COMPILER.search(Path(engine_file).read_bytes())
    return f"rustc {found[1].decode(errors='replace')}" if found else ""


def c_compiler() -> str:
    """Return the first line of what the C compiler says of itself, where there is one: it makes subjects in C."""
    path = shutil.which(os.environ.get("CC", "cc"))
    if not path:
        return ""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.partition("\n")[0]
