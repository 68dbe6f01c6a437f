"""How the runs of a study are carried out: where, how many at a time, and what they may take."""

import os
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from tonopah._core import parse_quantity
from tonopah.errors import InputError

LEAST_MEMORY = 256 * 1024**2
"""No run is stopped below this; a small world takes some megabytes."""


class Limits(NamedTuple):
    """What one run may take; None is no limit. Memory is about what grows: packets, events, series, segments in flight."""

    events: int | None = None
    memory_bytes: int | None = None


class Shard(NamedTuple):
    """Part `index` (from 1) of `count` about equal parts of a study."""

    index: int
    count: int


@dataclass(frozen=True)
class Execution:
    """How to carry out a study.

    `jobs`: threads, or processes of a local cluster (default: all cores). `executor`: "local" or "dask". `scheduler`: address
    of a running Dask scheduler. `shard`: only a part of the runs. `max_hours`: no run is started after so long. `limits`: of
    each run. `wait`: wait for another process that writes into the folder, instead of giving up.
    """

    jobs: int | None = None
    executor: str = "local"
    scheduler: str | None = None
    shard: Shard | None = None
    max_hours: float | None = None
    limits: Limits = field(default_factory=Limits)
    wait: bool = False

    def __post_init__(self) -> None:
        if self.executor not in ("local", "dask"):
            raise InputError("executor", f"{self.executor!r} is unknown", "local or dask")
        if self.scheduler and self.executor != "dask":
            raise InputError("scheduler", "only the executor dask has a scheduler", "add --executor dask")

    @property
    def threads(self) -> int:
        """The number of runs at a time on this machine."""
        return self.jobs or cores()

    @property
    def bounds(self) -> Limits:
        """The limits of each run: without one of memory, what this machine has, shared among the runs under way."""
        if self.limits.memory_bytes is not None:
            return self.limits
        total = memory_total()
        return self.limits._replace(memory_bytes=max(LEAST_MEMORY, total // self.threads) if total else None)


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_total() -> int | None:
    """Return the memory of this machine in bytes, if it tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None


def memory_free() -> int | None:
    """Return the memory that programs could still take, in bytes, if the system tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = re.search(r"MemAvailable:\s+(\d+) kB", file.read())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def parse_shard(text: str) -> Shard:
    """Return the shard that `i/n` names. Raises InputError."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise InputError("shard", f"{text!r} is not a part", "like 1/4 to 4/4")
    return Shard(int(found[1]), int(found[2]))


def parse_memory(text: str) -> int:
    """Return an amount of memory in bytes. Raises InputError."""
    try:
        size = parse_quantity(text, "size")
    except ValueError:
        size = 0.0
    if not size:
        raise InputError("memory", f"{text!r} is not an amount of memory", "like 500MB or 4GB")
    return int(size)
