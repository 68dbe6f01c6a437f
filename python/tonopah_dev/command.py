"""What the developers' commands have in common: their parser, the messages of `tonopah`, and the folder of pages."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import add_case_arguments, add_common, positive
from tonopah.cli.main import guarded
from tonopah.cli.parser import Parser
from tonopah.errors import InputError
from tonopah.validate import frame


def run_command(
    name: str,
    about: str,
    add_arguments: Callable[[argparse.ArgumentParser], None],
    action: Callable[[argparse.Namespace], int],
    *examples: str,
    given: Sequence[str] | None = None,
) -> int:
    """Carry out the command `python -m tonopah_dev.NAME` and return its exit code."""
    parser = Parser(prog=f"python -m tonopah_dev.{name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common(parser, action, *examples)
    add_arguments(parser)
    return guarded(lambda: action(parser.parse_args(given)))


def pages_folder() -> Path:
    """Return the folder of generated pages of this checkout. Raises InputError."""
    for root in (Path.cwd(), Path(__file__).parents[2]):
        if (root / "docs").is_dir() and (root / "crates" / "tcp").is_dir():
            return root / "docs" / "generated"
    raise InputError("--out", "this is not a checkout, so there is no folder for the page", "name one, or use --check")


def page_folder(arguments: argparse.Namespace) -> Path | None:
    """Return the folder of the page, or None if none is to be written: a page of some cases only would mislead."""
    if arguments.check or (arguments.case and not arguments.out):
        return None
    return Path(arguments.out) if arguments.out else pages_folder()


def add_page_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of a comparison that writes a page."""
    add_case_arguments(command)
    command.add_argument("--out", metavar="DIR", help="folder of the page (default: docs/generated)")


def compare_and_write(
    comparison: frame.Comparison[Any, Any], write: Callable[[Any, Path], Path], arguments: argparse.Namespace
) -> int:
    """Carry out a comparison that writes a page, and return its exit code."""
    folder = page_folder(arguments)
    results = frame.carry_out(comparison, arguments)
    if folder:
        print(f"page: {write(results, folder)}", file=sys.stderr)
    return frame.exit_status(results) if arguments.check else 0


def write_page(
    name: str, comparison: frame.Comparison[Any, Any], write: Callable[[Any, Path], Path], given: Sequence[str] | None = None
) -> int:
    """Carry out `python -m tonopah_dev.pages.NAME FOLDER`: run all cases and write their page."""

    def add(command: argparse.ArgumentParser) -> None:
        command.add_argument("folder", metavar="FOLDER", help="folder of the page")
        command.add_argument("--case", metavar="GLOB", help="only cases whose name matches")
        command.add_argument("--jobs", type=positive, metavar="N", help="number of runs at a time (default: all cores)")

    def act(arguments: argparse.Namespace) -> int:
        results = frame.carry_out(comparison, arguments)
        print(f"page: {write(results, Path(arguments.folder))}", file=sys.stderr)
        return 0

    module = f"pages.{name}"
    return run_command(
        module, "Run all cases and write their page.", add, act, f"python -m tonopah_dev.{module} docs/generated", given=given
    )
