"""`tonopah kernel`: kernels in virtual time."""

import argparse

from tonopah.cli.parser import add_modules

COMMANDS = {
    "build": "build a Linux that runs in virtual time (User-Mode Linux), for --on uml",
}
"""Commands by name with their summary; the module `cli.kernel_NAME` has `add_arguments`."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the commands of `kernel`."""
    command.epilog = "example: tonopah kernel build"
    add_modules(command, COMMANDS, "tonopah.cli.kernel_")
