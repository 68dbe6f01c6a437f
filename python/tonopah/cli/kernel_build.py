"""`tonopah kernel build`."""

import argparse
import json
import os
import sys

from tonopah.cli.arguments import add_common
from tonopah.cli.real_time import require_linux


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `kernel build`."""
    add_common(command, build_kernel, "tonopah kernel build", "tonopah kernel build --source linux-6.12 --jobs 8")
    command.description = f"{command.description} About 10 minutes of two cores, and 3 GB of disk while it builds."
    command.add_argument("--version", metavar="V", help="of a Debian package linux-source-V (default: what /usr/src has, or 6.1)")
    command.add_argument("--source", metavar="PATH", help="a tree of Linux sources, or a tar archive of one, instead")
    command.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes at a time (default: all cores)"
    )


def build_kernel(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah kernel build`."""
    require_linux()
    # Takes what Linux alone has.
    from tonopah.kernel.build import build

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    kernel = build(arguments.version, arguments.source, max(1, arguments.jobs), say)
    print(json.dumps({"kernel": str(kernel)}) if arguments.json else f"{kernel}: tonopah run SCENARIO --on uml")
    return 0
