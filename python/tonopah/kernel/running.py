"""The network of an emulation on a thread of its own, beside the programs."""

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonopah._core import Emulation
from tonopah.errors import RunFailedError
from tonopah.kernel import device
from tonopah.kernel.hosts import Host
from tonopah.kernel.system import inside_network
from tonopah.runs.simulation import RunResult

PRIORITY = 1
"""Of SCHED_FIFO: before all ordinary processes, where the machine allows it."""
LEAST_BOUND_S = 0.5e-3
"""Of the lateness that 99 of 100 packets must not exceed, or a tenth of the least base RTT, if that is more."""


@dataclass(frozen=True)
class Clock:
    """By which clock a network runs: that of the machine, or that of a kernel in virtual time."""

    spin: bool = False
    """Do not sleep in the last 50 us before a packet is due."""
    virtual: bool = False
    """The clock stands while anything runs."""


class Emulated(RunResult):
    """What a run in real time gave: besides summary and series what is known of its emulation, and how its command ended."""

    def __init__(self, summary: dict[str, Any], series: Mapping[str, Mapping[str, Any]], report: dict[str, Any], code: int = 0):
        super().__init__({**summary, "emulation": report}, series)
        self.columns, self.report, self.code = series, report, code


class Network(threading.Thread):
    """A network in real time. It ends when `stop` is called or, if it carries flows of the scenario, with its duration."""

    def __init__(self, emulation: Emulation, hosts: Sequence[Host], captures: Mapping[str, int], clock: Clock, start_ns: int):
        super().__init__(daemon=True)
        self.emulation, self.hosts, self.clock, self.start_ns = emulation, hosts, clock, start_ns
        self.devices = [(os.dup(host.device), captures.get(host.name)) for host in hosts]
        self.reader, self.writer = os.pipe()
        self.given: tuple[str, dict[str, Any], str] | None = None
        self.failed: BaseException | None = None

    def run(self) -> None:
        """Carry packets."""
        try:
            scheduling = os.sched_param(PRIORITY)
            os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, scheduling)
        except OSError:
            pass
        try:
            epoch_ns = time.time_ns() - (time.monotonic_ns() - self.start_ns)
            kind = self.clock.spin, self.clock.virtual
            self.given = self.emulation.run(self.devices, self.reader, self.start_ns, epoch_ns, *kind)
        except BaseException as error:
            self.failed = error

    def stop(self) -> None:
        """Let it come to its end."""
        os.close(self.writer)

    def results(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return summary, series and what is known of the emulation itself, once it has ended. Raises RunFailedError.

        Known is also whether it was late, and what was lost before our queues.
        """
        self.join()
        if self.failed or not self.given:
            raise RunFailedError(f"the emulation failed: {self.failed}")
        summary, series, report = self.given
        return json.loads(summary), series, self.judged(json.loads(report))

    def judged(self, report: dict[str, Any]) -> dict[str, Any]:
        """Return a report of the network with whether it was late, and what was lost before our queues."""
        bound = max(LEAST_BOUND_S, (self.emulation.least_base_rtt_s or 0.0) / 10)
        p99 = report["lateness"]["p99_s"]
        lost = {}
        for host in self.hosts:
            with inside_network(host.namespace):
                lost[host.name] = device.dropped_before_us()
        late = {"bound_s": bound, "late": p99 is not None and p99 > bound}
        return {**report, "lateness": {**report["lateness"], **late}, "lost_before_queues": lost}


def too_late(report: Mapping[str, Any]) -> str | None:
    """Return what to say of an emulation whose packets were late, if they were."""
    lateness = report["lateness"]
    if not lateness["late"]:
        return None
    return (
        f"99 of 100 packets were up to {1e3 * lateness['p99_s']:.3g} ms late, more than {1e3 * lateness['bound_s']:.3g} ms: "
        "lower the rate of the scenario or the load of the machine, try --spin, or keep the results with --keep-late"
    )


def capture_files(folder: str | None, names: Sequence[str]) -> dict[str, int]:
    """Open a file for the packets of each host, if there is a folder for them. Raises OSError."""
    if folder is None:
        return {}
    Path(folder).mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    return {name: os.open(Path(folder, f"{name}.pcapng"), flags, 0o666) for name in names}
