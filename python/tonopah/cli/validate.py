"""`tonopah validate linux`, `queues` and `trace`. What runs studies is imported by the two that need it."""

import argparse
from typing import TYPE_CHECKING, Any

from tonopah.cli.arguments import add_case_arguments, add_command, refuse_option
from tonopah.cli.validate_trace import add_trace

if TYPE_CHECKING:
    from tonopah.validate.frame import Comparison

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
    from tonopah.validate.linux.comparison import AgainstLinux
    from tonopah.validate.linux.recordings import shipped

    return compare(AgainstLinux(shipped()), arguments)


def compare_queues(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah validate queues`."""
    from tonopah.validate.queues.comparison import AgainstLinuxQueues
    from tonopah.validate.queues.recordings import shipped

    return compare(AgainstLinuxQueues(shipped()), arguments)


def compare(comparison: "Comparison[Any, Any]", arguments: argparse.Namespace) -> int:
    """Carry out a comparison."""
    from tonopah.validate.frame import carry_out, exit_status

    results = carry_out(comparison, arguments)
    return exit_status(results) if arguments.check else 0
