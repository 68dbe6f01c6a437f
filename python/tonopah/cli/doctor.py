"""`tonopah doctor`: checks that this installation is complete and that its engine gives the expected results bit for bit.

The self-test compares fingerprints of every packet event of a few runs, wired, wireless and over satellites, with those in
`data/selftest.json`. `python -m tonopah.cli.doctor` rewrites that file after a change of the engine that moves them on purpose.
"""

import argparse
import ctypes
import importlib.metadata
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tonopah._core import __file__ as engine_file
from tonopah._core import build_profile, engine_build, engine_version, fingerprint
from tonopah.cc.last_call import VIRTUAL
from tonopah.cli.arguments import add_common
from tonopah.errors import EngineError, ScenarioError
from tonopah.execution.options import cores, memory_free, memory_total
from tonopah.scenario.worlds import drop_tail, dumbbell, link

EXPECTED = Path(__file__).parents[1] / "data" / "selftest.json"
PACKAGES = ("jinja2", "matplotlib", "numpy", "pandas", "pyarrow", "pydantic", "rich", "scipy", "tomli", "tomli-w")
OPTIONAL = ("dask", "distributed")
MIN_MEMORY_BYTES = 1_000_000_000
"""Less memory than studies of large networks need; a warning."""
MIN_DISK_BYTES = 500_000_000
BUILDS = {
    "debug": ("warning", "not optimised: runs take many times as long; make setup"),
    "release": ("ok", "built for tests, less optimised than by make setup"),
    "thin": ("ok", "optimised; a little faster, for minutes of building: make install-optimised"),
    "dist": ("ok", "optimised as a whole"),
    "profile-guided": ("ok", "optimised as a whole, with a profile of what runs often"),
}
"""How the engine was optimised, by the profile of its build: a state and what to say. The bits of results are the same."""
TIME_LIMIT_S = 10.0
"""CPU time after which the self-test starts no further run."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `doctor`."""
    add_common(command, check_installation, "tonopah doctor --json")
    command.add_argument("--folder", default=".", metavar="DIR", help="folder for results (default: the current one)")


def check_installation(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah doctor`; exit code 1 if something is wrong."""
    found = examine(Path(arguments.folder))
    if arguments.json:
        print(json.dumps(found))
    else:
        marks = {"ok": "ok  ", "absent": "-   ", "warning": "!   ", "wrong": "X   "}
        for check in found["checks"]:
            print(f"{marks[check['state']]} {check['name']:<14} {check['text']}")
    return 0 if found["ok"] else 1


def examine(folder: Path) -> dict[str, Any]:
    """Return every check: name, state (`ok`, `absent` if optional, `warning`, `wrong`) and text."""
    checks = [engine(), optimisation(), python(), packages(), dask(), virtual_time(), processor(), memory()]
    checks += [
        *peers(),
        programs(),
        algorithms_of_kernel(),
        kernel_in_virtual_time(),
        writable(folder),
        disk(folder),
        self_test(),
    ]
    return {
        "ok": all(check["state"] != "wrong" for check in checks),
        "engine": engine_version(),
        "build": engine_build(),
        "checks": checks,
    }


def check(name: str, state: str, text: str, **facts: Any) -> dict[str, Any]:
    """Return one check."""
    return {"name": name, "state": state, "text": text, **facts}


def engine() -> dict[str, Any]:
    """Return version, build and file of the engine."""
    return check("engine", "ok", f"{engine_version()}, build {engine_build()}, {engine_file}")


def optimisation() -> dict[str, Any]:
    """Tell how the engine was optimised."""
    profile = build_profile()
    state, text = BUILDS.get(profile, ("ok", "a profile of your own"))
    return check("optimisation", state, f"{profile}: {text}", profile=profile)


def python() -> dict[str, Any]:
    """Return version and platform of Python."""
    state = "ok" if sys.version_info >= (3, 11) else "wrong"
    return check("python", state, f"{platform.python_version()} on {platform.platform()}, {sys.executable}")


def version_of(package: str) -> str | None:
    """Return the version of an installed package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def packages() -> dict[str, Any]:
    """Return the versions of the packages that Tonopah needs."""
    versions = {name: version_of(name) for name in PACKAGES}
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        return check("packages", "wrong", f"missing: {', '.join(missing)}", versions=versions)
    return check("packages", "ok", ", ".join(f"{k} {v}" for k, v in versions.items()), versions=versions)


def dask() -> dict[str, Any]:
    """Tell whether studies can run on a cluster."""
    versions = {name: version_of(name) for name in OPTIONAL}
    if not all(versions.values()):
        return check("dask", "absent", "not installed; for clusters: pip install '.[dask]' in the checkout")
    return check("dask", "ok", str(versions["distributed"]))


def virtual_time() -> dict[str, Any]:
    """Tell whether libraries with a transport get the time of the run and random numbers of its seed."""
    if not VIRTUAL.is_file():
        return check("virtual.so", "absent", "a transport in a library that reads clocks or draws by itself is not repeatable")
    try:
        ctypes.CDLL(str(VIRTUAL)).tonopah_virtual_watch(None)
    except (OSError, AttributeError) as error:
        return check("virtual.so", "warning", f"cannot be loaded: {error}; runs go on without it")
    return check("virtual.so", "ok", str(VIRTUAL))


def processor() -> dict[str, Any]:
    """Return the number of concurrent runs."""
    return check("cores", "ok", f"{cores()} of {os.cpu_count()} may be used", cores=cores())


def memory() -> dict[str, Any]:
    """Return total and free memory."""
    total, free = memory_total(), memory_free()
    if total is None:
        return check("memory", "warning", "unknown")
    state = "ok" if (free or total) >= MIN_MEMORY_BYTES else "warning"
    text = f"{total / 1e9:.1f} GB" + (f", {free / 1e9:.1f} GB of them free" if free is not None else "")
    return check("memory", state, text, total_bytes=total, free_bytes=free)


def programs() -> dict[str, Any]:
    """Tell whether this machine lets programs run in our network (`tonopah emulate`), and what to do if not."""
    if sys.platform != "linux":
        return check("emulate", "absent", "programs run in the network on Linux alone")
    from tonopah.kernel.machine import lacking

    missing = lacking()
    return check("emulate", "absent", missing) if missing else check("emulate", "ok", "programs run in the network of a scenario")


def algorithms_of_kernel() -> dict[str, Any]:
    """Tell which algorithms the kernel has, for `tonopah run --on linux`."""
    if sys.platform != "linux":
        return check("run --on linux", "absent", "Linux alone")
    from tonopah.kernel.plan import available

    return check("run --on linux", "ok", f"Linux {platform.release()}: {', '.join(available()) or 'no algorithm known'}")


def kernel_in_virtual_time() -> dict[str, Any]:
    """Tell whether a kernel in virtual time has been built, for `--on uml`."""
    if sys.platform != "linux":
        return check("--on uml", "absent", "Linux alone")
    from tonopah.kernel.virtual import algorithms, lacking, newest

    if missing := lacking():
        return check("--on uml", "absent", missing)
    kernel = newest()
    return check("--on uml", "ok", f"{kernel}: {', '.join(algorithms(kernel))}")


def peers() -> list[dict[str, Any]]:
    """Tell which other simulators the machine has, for `tonopah cross`."""
    from tonopah.peers.known import PEERS

    missing = {name: peer.lacking() for name, peer in PEERS.items()}
    return [check(f"cross --on {name}", "absent" if lacks else "ok", lacks or "it is there") for name, lacks in missing.items()]


def writable(folder: Path) -> dict[str, Any]:
    """Tell whether results can be written."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(b"tonopah")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return check("write access", "wrong", f"{folder.resolve()}: {error.strerror}")
    return check("write access", "ok", str(folder.resolve()))


def disk(folder: Path) -> dict[str, Any]:
    """Return the free disk space."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return check("disk", "warning", f"{folder}: {error.strerror}")
    return check("disk", "ok" if free >= MIN_DISK_BYTES else "warning", f"{free / 1e9:.1f} GB free", free_bytes=free)


def worlds() -> dict[str, dict[str, Any]]:
    """Return the scenarios of the self-test by name."""
    path = link("10Mbps", "10ms", drop_tail(30))
    lossy = path | {"loss": {"kind": "packet", "p": 0.005}}
    red = path | {"queue": {"kind": "red", "limit": "50p", "ecn": True}}
    pairs = {"pairs": 2, "flows": 2}
    radio = {
        "kind": "adhoc",
        "nodes": 9,
        "flows": 2,
        "area": {"x": "400m", "y": "400m"},
        "placement": {"kind": "grid", "columns": 3, "spacing": "150m"},
    }
    return {
        "newreno, drop-tail": dumbbell("5s", path, {"cc": "newreno"}, **pairs),
        "cubic, random loss": dumbbell("5s", lossy, {"cc": "cubic"}, **pairs),
        "bbr, random loss": dumbbell("5s", lossy, {"cc": "bbr"}, **pairs),
        "vegas, RED with ECN": dumbbell("5s", red, {"cc": "vegas", "ecn": "classic"}, **pairs),
        "newreno, ad hoc, DSDV": {"duration": "20s", "tcp": {"cc": "newreno"}, "network": radio | {"routing": {"kind": "dsdv"}}},
        "newreno, ad hoc, AODV": {"duration": "5s", "tcp": {"cc": "newreno"}, "network": radio | {"routing": {"kind": "aodv"}}},
        "cubic, satellites": {
            "duration": "10s",
            "tcp": {"cc": "cubic"},
            "network": {"kind": "constellation", "preset": "starlink", "terminals": ["London", "New York"], "flows": 1},
        },
    }


def fingerprints(enough_s: float, note: Callable[[str, str], None]) -> float:
    """Pass the fingerprint of each run of the self-test to `note` until `enough_s` is used up.

    Returns the CPU time used.
    """
    # CPU time, so that the load of the machine does not count.
    started = time.process_time()
    for name, world in worlds().items():
        if time.process_time() - started > enough_s:
            break
        note(name, fingerprint(json.dumps(world), 1))
    return time.process_time() - started


def self_test() -> dict[str, Any]:
    """Compare the fingerprints of this engine with the expected ones."""
    expected, found = json.loads(EXPECTED.read_text(encoding="utf-8")), {}
    try:
        seconds = fingerprints(TIME_LIMIT_S, found.__setitem__)
    except (ScenarioError, EngineError) as error:
        return check("self-test", "wrong", str(error), fingerprints=found)
    differ = [name for name, value in found.items() if expected.get(name) != value]
    if differ:
        return check("self-test", "wrong", f"other packet events than expected: {'; '.join(differ)}", fingerprints=found)
    return check("self-test", "ok", f"{len(found)} of {len(expected)} runs as expected, {seconds:.1f} s", fingerprints=found)


def record() -> None:
    """Write the expected fingerprints of the self-test."""
    found: dict[str, str] = {}
    fingerprints(float("inf"), found.__setitem__)
    EXPECTED.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
