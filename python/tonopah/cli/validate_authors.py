"""`tonopah validate authors`."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import add_case_arguments, add_command
from tonopah.errors import InputError
from tonopah.execution.progress import show_progress
from tonopah.terminal.grid import print_grids
from tonopah.validate import authors, authors_page

EXAMPLES = (
    "tonopah validate authors --full               run all, rewrite docs/generated/validation-authors.md",
    "tonopah validate authors --check              fewer runs, write nothing, exit code 1 if a number disagrees",
    "tonopah validate authors --check --case '000/satellite/*' --json",
)


def add_authors(commands: Any) -> None:
    """Add the command with its arguments."""
    command = add_command(commands, "authors", "compare with the numbers of the reports' authors", compare_authors, *EXAMPLES)
    command.description = (
        "Run the authors' own networks and compare each stored number, computed by the author's definition.\n"
        "Without --full two chaotic networks have fewer runs (000 mixed 3 of 10, 004 fairness 10 of 20), and no page is written."
    )
    add_case_arguments(command)
    command.add_argument("--out", metavar="DIR", help="folder of the page (default: docs/generated, in a checkout)")
    command.add_argument("--full", action="store_true", help="all runs; rewrite the page")


def page_folder(arguments: argparse.Namespace) -> Path | None:
    """Return the folder of the page, or None if none is to be written: a page of some cases or runs only would mislead."""
    if arguments.check or (arguments.case and not arguments.out) or not arguments.full:
        return None
    if arguments.out:
        return Path(arguments.out)
    for root in (Path.cwd(), Path(__file__).parents[3]):
        if (root / "docs").is_dir() and (root / "crates" / "tcp").is_dir():
            return root / "docs" / "generated"
    raise InputError("--out", "this is not a checkout, so there is no folder for the page", "name one, or use --check")


def compare_authors(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah validate authors`."""
    if not arguments.full and arguments.out:
        raise InputError("--out", "a page is of all runs", "--full")
    cases = authors.select(arguments.case, arguments.full)
    folder = page_folder(arguments)
    with show_progress(authors.count_runs(cases), 0, quiet=arguments.json or not sys.stderr.isatty()) as step:
        results = authors.validate(cases, arguments.jobs, step)
    if arguments.json:
        print(json.dumps([authors.as_json(result) for result in results]))
    else:
        print_grids(authors_page.table(results))
    if folder:
        print(f"page: {authors_page.write(results, folder)}", file=sys.stderr)
    return 1 if arguments.check and any(result.agrees is False for result in results) else 0
