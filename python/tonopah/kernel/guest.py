"""The first process of a kernel in virtual time: does the work of a job and ends the machine (see `virtual`)."""

import ctypes
import os
import pickle
import platform
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tonopah.errors import RunFailedError
from tonopah.kernel import emulate as emulation
from tonopah.kernel import linux, plan, running, virtual
from tonopah.kernel.isolation import as_message
from tonopah.kernel.system import mount

POWER_OFF = 0x4321FEDC
"""LINUX_REBOOT_CMD_POWER_OFF of reboot(2)."""
PAGE_BYTES = 4096
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def describe() -> tuple[str, list[str]]:
    """Return the release of this kernel and its algorithms."""
    return platform.release(), plan.available()


def carry_flows(scenario: Mapping[str, Any], name: str | None, seed: int, how: plan.Plan, pcap: str | None) -> tuple[Any, ...]:
    """Carry the flows of a scenario as they have been planned."""
    return linux.inside(scenario, name, seed, how, running.Clock(virtual=True), pcap)


def run_program(
    scenario: Mapping[str, Any], name: str | None, seed: int, command: Sequence[str], pcap: str | None, apart: bool
) -> tuple[Any, ...]:
    """Run a command in the network of a scenario."""
    world, table = emulation.checked(scenario, name, seed)
    return emulation.inside(world, name, seed, command, table, emulation.Options(running.Clock(virtual=True), pcap, apart))


WORK = {"describe": describe, "carry_flows": carry_flows, "run_program": run_program}


def prepare(folder: Path) -> None:
    """Make a machine of the kernel: what programs expect to find, and memory for TCP."""
    for kind, target in (("proc", "/proc"), ("sysfs", "/sys")):
        # As it is in a container, whose parts these are.
        with suppress(OSError):
            mount(kind, target, kind)
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // PAGE_BYTES
    Path("/proc/sys/net/ipv4/tcp_mem").write_text(f"{pages // 4} {pages // 3} {pages // 2}", encoding="ascii")
    for number, file in ((0, os.devnull), (1, folder / virtual.OUTPUT), (2, folder / virtual.ERRORS)):
        opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)


def main() -> None:
    """Do the job of the folder that is named."""
    folder = Path(sys.argv[1])
    message: tuple[str, Any] = ("error", RunFailedError("the guest did nothing"))
    try:
        prepare(folder)
        job: virtual.Job = pickle.loads((folder / virtual.JOB).read_bytes())
        os.environ.clear()
        os.environ.update({"PATH": PATH, **job.environment})
        message = ("done", WORK[job.function](*job.arguments))
    except BaseException as error:
        message = ("error", error)
    sys.stdout.flush()
    sys.stderr.flush()
    # Written whole or not at all.
    (folder / "part").write_bytes(as_message(message))
    (folder / "part").rename(folder / virtual.RESULT)
    os.sync()
    ctypes.CDLL(None).reboot(POWER_OFF)


if __name__ == "__main__":
    main()
