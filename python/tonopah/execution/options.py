"""How the runs of a study are carried out: where, how many at a time, and within which limits."""

import os
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from tonopah._core import parse_quantity
from tonopah.errors import InputError

MIN_MEMORY_BYTES = 256 * 1024**2
"""The limit of a run is never below this; a small network needs some megabytes."""


class Limits(NamedTuple):
    """Limits of one run; None is no limit. Memory counts what grows: packets, events, series, segments in flight."""

    events: int | None = None
    memory_bytes: int | None = None


NO_LIMITS = Limits()


class Shard(NamedTuple):
    """Shard `index` (from 1) of `count` shards of a study of about equal size."""

    index: int  # pyright: ignore[reportIncompatibleMethodOverride]
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]


@dataclass(frozen=True)
class ExecutionOptions:
    """How to carry out a study.

    `jobs`: threads, or processes of a local cluster (default: all cores). `executor`: "local" or "dask". `scheduler`: address
    of a running Dask scheduler. `shard`: run only these. `max_hours`: start no run after that time. `limits`: of each run.
    `wait`: wait until no other process is writing to the folder, instead of giving up. `keep_late`: a run by the kernel counts,
    and is marked, though its packets were late.
    """

    jobs: int | None = None
    executor: str = "local"
    scheduler: str | None = None
    shard: Shard | None = None
    max_hours: float | None = None
    limits: Limits = field(default_factory=Limits)
    wait: bool = False
    keep_late: bool = False

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
    def run_limits(self) -> Limits:
        """The limits of each run; the default for memory is that of this machine, shared among concurrent runs."""
        if self.limits.memory_bytes is not None:
            return self.limits
        total = memory_total()
        return self.limits._replace(memory_bytes=max(MIN_MEMORY_BYTES, total // self.threads) if total else None)


BATCH_CPUS = ("SLURM_CPUS_PER_TASK", "PBS_NUM_PPN", "NSLOTS", "LSB_DJOB_NUMPROC")
"""How many CPUs a batch system gave a job, where it need not bind it to them: Slurm, PBS, SGE and LSF."""


def cores() -> int:
    """Return the number of cores this process may use: those that it is bound to, and no more than its job got."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given = [int(text) for name in BATCH_CPUS if (text := os.environ.get(name, "")).isdecimal() and text.isascii()]
    return max(1, min([bound, *given]))


def memory_total() -> int | None:
    """Return the memory of this machine in bytes, if known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None


def memory_free() -> int | None:
    """Return the memory that is available to programs, in bytes, if known."""
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
        raise InputError("shard", f"{text!r} is not a shard", "like 1/4 to 4/4")
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
