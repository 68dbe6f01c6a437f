"""`python -m tonopah_dev.ns2`: an ad hoc network here and in ns-2, over many placements."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tonopah.cli.arguments import add_case_arguments, positive
from tonopah.errors import InputError
from tonopah.validate import frame
from tonopah_dev.command import pages_folder, run_command
from tonopah_dev.ns2 import comparison, page
from tonopah_dev.peers import ns2 as peer

ABOUT = """Run the same ad hoc networks here and in ns-2 and compare throughput, delay, delivery ratio and energy.
Without ns-2, its stored values are used."""
EXAMPLES = (
    "python -m tonopah_dev.ns2                      run 20 placements in both, rewrite docs/generated/validation-ns2.md",
    "python -m tonopah_dev.ns2 --check              write nothing, exit code 1 if a goal is missed",
    "python -m tonopah_dev.ns2 --placements 3 --json --check",
)
PLACEMENTS = 20
"""Number of placements whose values of ns-2 are stored."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_case_arguments(command)
    placements = f"number of placements (default: {PLACEMENTS})"
    command.add_argument("--placements", type=positive, default=PLACEMENTS, metavar="N", help=placements)
    command.add_argument("--out", metavar="DIR", help="folder of the page (default: docs)")
    command.add_argument("--stored", action="store_true", help="use the stored values of ns-2 even if it is installed")
    command.add_argument("--store", metavar="FILE", help="write the values of ns-2 to FILE, as they are stored here")


def compare(arguments: argparse.Namespace) -> int:
    """Carry out the command."""
    if arguments.store:
        peer.require()
        if arguments.stored:
            raise InputError("--stored", "stored values are not stored again", "leave one of the two out")
    # The default of other sizes is no page: it would replace one of more placements.
    writes = not arguments.check and (arguments.out is not None or arguments.placements == PLACEMENTS)
    folder = Path(arguments.out) if arguments.out else pages_folder() if writes else None
    against = comparison.AgainstNs2(arguments.placements, arguments.stored or not peer.is_installed())
    (result,) = results = frame.carry_out(against, arguments)
    if arguments.store:
        Path(arguments.store).write_text(comparison.as_stored(result.placements), encoding="utf-8")
        print(f"stored: {arguments.store}", file=sys.stderr)
    if writes and folder:
        folder.mkdir(parents=True, exist_ok=True)
        print(f"page: {page.write(result.placements, folder)}", file=sys.stderr)
    return frame.exit_status(results) if arguments.check else 0


def main(given: Sequence[str] | None = None) -> int:
    """Carry out the command and return its exit code."""
    return run_command("ns2", ABOUT, add_arguments, compare, *EXAMPLES, given=given)


if __name__ == "__main__":
    sys.exit(main())
