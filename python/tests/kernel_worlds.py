"""Worlds of programs and of flows that the kernel carries, and whether this machine can make them."""

import subprocess
import sys

import pytest

from tonopah.scenario.document import to_toml

WAIT_S = 120


def missing():
    """Return what this machine lacks, if it lacks anything."""
    if sys.platform != "linux":
        return "real programs run in the network on Linux alone"
    from tonopah.kernel import machine

    return machine.lacking()


MISSING = missing()
real = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


def world(**network):
    """Return a dumbbell that programs use."""
    bottleneck = {"rate": "20Mbps", "delay": "5ms", "queue": {"kind": "fq_codel"}}
    return {"duration": "2s", "network": {"kind": "dumbbell", "pairs": 1, "bottleneck": bottleneck} | network}


def written(folder, document):
    """Write a scenario; return its path."""
    file = folder / "world.toml"
    file.write_text(to_toml(document), encoding="utf-8")
    return str(file)


def tonopah(*arguments, **more):
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tonopah", *arguments], capture_output=True, text=True, timeout=WAIT_S, check=False, **more
    )
