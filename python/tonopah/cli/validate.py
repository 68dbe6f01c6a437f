"""`tonopah validate linux`, `queues` and `trace`."""

import argparse
from typing import Any

from tonopah.cli.arguments import add_case_arguments, add_command, refuse_option
from tonopah.cli.validate_trace import add_trace
from tonopah.validate import frame
from tonopah.validate.linux import recordings as linux_recordings
from tonopah.validate.linux.comparison import AgainstLinux
from tonopah.validate.queues import recordings as queue_recordings
from tonopah.validate.queues.comparison import AgainstLinuxQueues

LINUX_EXAMPLES = (
    "tonopah validate linux                                    run all",
    "tonopah validate linux --check                            exit code 1 if a goal is missed",
    "tonopah validate linux --check --case 'reno-drop-*'       only some cases, of all kernels",
    "tonopah validate linux --check --case 6.1/cubic-two-flows",
    "tonopah validate linux --check --case '*-beside-cubic'    shares in several runs on both sides",
)
QUEUES_EXAMPLES = (
    "tonopah validate queues                         run all",
    "tonopah validate queues --check                 exit code 1 if a goal is missed",
    "tonopah validate queues --check --case 'pie-*' --json",
)
PAGES = "in a checkout, python -m tonopah_dev.pages.{} DIR writes the page"
LOGS = "in a checkout, python -m tonopah_dev.case_log CASE DIR writes windows and packets side by side"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the commands of `validate`, each with its arguments."""
    command.epilog = "example: tonopah validate linux --check"
    commands = command.add_subparsers(title="commands", metavar="COMMAND", required=True)
    linux = add_command(commands, "linux", "compare with recordings of Linux 6.1 and 6.18", compare_linux, *LINUX_EXAMPLES)
    linux.description = "Run every recorded case in the engine and compare windows, losses and goodput with Linux 6.1 and 6.18."
    add_case_arguments(linux)
    refuse_option(linux, "--out", PAGES.format("validation"))
    refuse_option(linux, "--log", LOGS)
    queues = add_command(commands, "queues", "compare queue disciplines with Linux 6.1", compare_queues, *QUEUES_EXAMPLES)
    queues.description = "Run every recorded bottleneck and compare delay, drops, marks, goodput and shares with Linux 6.1."
    add_case_arguments(queues)
    refuse_option(queues, "--out", PAGES.format("validation_queues"))
    add_trace(commands)


def compare_linux(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah validate linux`."""
    return compare(AgainstLinux(linux_recordings.shipped()), arguments)


def compare_queues(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah validate queues`."""
    return compare(AgainstLinuxQueues(queue_recordings.shipped()), arguments)


def compare(comparison: frame.Comparison[Any, Any], arguments: argparse.Namespace) -> int:
    """Carry out a comparison."""
    results = frame.carry_out(comparison, arguments)
    return frame.exit_status(results) if arguments.check else 0
