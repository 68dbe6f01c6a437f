"""What the commands have in common whose packets come from a kernel."""

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from tonopah.errors import InputError
from tonopah.kernel.engines import ENGINES, KERNELS, SIMULATED
from tonopah.names import listed
from tonopah.scenario.document import names_source

SIMULATED_ONLY = ("qlog", "netanim", "events", "twice", "transport_logs")
"""Options of `run` that need a simulated sender."""


def add_engine(command: argparse.ArgumentParser) -> None:
    """Add the choice of who carries the flows of a run."""
    command.add_argument(
        "--on",
        choices=ENGINES,
        default=SIMULATED,
        help="who carries the flows: simulated senders (default), the TCP of this kernel, in real time, or that of a kernel in "
        "virtual time, which `tonopah kernel build` builds (docs/kernel.md)",
    )
    add_real_time(command)


def add_kernel(command: argparse.ArgumentParser) -> None:
    """Add the choice of the kernel that a program runs on."""
    command.add_argument(
        "--on",
        choices=KERNELS,
        default="linux",
        help="the kernel that programs run on: this one, in real time (default), or one in virtual time (docs/kernel.md)",
    )
    add_real_time(command)


def add_real_time(command: argparse.ArgumentParser) -> None:
    """Add the options of what runs in real time."""
    spinning = "do not sleep in the last 50 us before a packet is due: it keeps a core busy"
    command.add_argument("--spin", action="store_true", help=spinning)
    keeping = "exit code 0, and the results marked, though packets left too late (docs/kernel.md)"
    command.add_argument("--keep-late", action="store_true", help=keeping)


def require_linux() -> None:
    """Refuse another system. Raises InputError."""
    if sys.platform != "linux":
        raise InputError("", "real programs run in the network on Linux alone", "a virtual machine, or a container in one")


def check_engine(arguments: argparse.Namespace) -> None:
    """Refuse options that whoever carries the flows does not follow. Raises InputError."""
    check_real_time(arguments)
    if arguments.on == SIMULATED:
        return
    require_linux()
    if names_source(arguments.scenario):
        raise InputError("--on", "a source of reports is simulated only", "a scenario in a file")
    for option in SIMULATED_ONLY:
        if getattr(arguments, option):
            raise InputError(f"--{option.replace('_', '-')}", "is of simulated flows only", "leave --on out")
    if arguments.pcap_at != "hosts":
        raise InputError("--pcap-at", f"{arguments.pcap_at}: packets of a kernel are kept at hosts", "hosts")
    if arguments.threads > 1:
        raise InputError("--threads", "a run on a kernel has one thread", "leave it out")


def check_real_time(arguments: argparse.Namespace) -> None:
    """Refuse options of real time where none of the engines runs in it. Raises InputError."""
    for option, given in (("--spin", arguments.spin), ("--keep-late", arguments.keep_late)):
        if given and "linux" not in listed(arguments.on):
            raise InputError(option, "has no effect without --on linux", "--on linux")


def verdict(report: Mapping[str, Any], keep_late: bool, code: int = 0) -> int:
    """Say what was wrong with an emulation; return the exit code."""
    from tonopah.kernel.running import too_late

    late = too_late(report)
    if late:
        print(f"{'warning' if keep_late else 'error'}: {late}", file=sys.stderr)
    if code:
        print(f"error: the command ended with exit code {code}", file=sys.stderr)
    return 1 if code or (late and not keep_late) else 0
