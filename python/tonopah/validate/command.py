"""`tonopah validate linux`."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tonopah.runner import progress
from tonopah.validate import measures
from tonopah.validate.recordings import shipped

EXAMPLES = """examples:
  tonopah validate linux                                    run all, rewrite docs/validation.md and its figures
  tonopah validate linux --check                            run all, write nothing, exit code 1 if a goal is missed
  tonopah validate linux --check --case 'reno-drop-*'       only some cases, of all kernels
  tonopah validate linux --check --case 6.1/cubic-two-flows
  tonopah validate linux --case 6.1/reno-drop-one --log DIR windows and packets side by side
"""


def add_validate(commands: Any, positive: Callable[[str], int]) -> None:
    """Add `validate linux`."""
    summary = "compare the endpoint with recordings of real stacks"
    group = commands.add_parser("validate", help=summary, description=summary[0].upper() + summary[1:] + ".")
    inner = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = inner.add_parser(
        "linux",
        help="compare with recordings of Linux 6.1 and 6.18",
        description="Run every recorded case in the engine and compare windows, losses and goodput with Linux 6.1 and 6.18.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(action=do_linux)
    command.add_argument("--json", action="store_true", help="print JSON for machines")
    command.add_argument("--case", metavar="GLOB", help="only cases whose name, or kernel/name, matches; no page without --out")
    command.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a goal is missed")
    command.add_argument("--out", metavar="DIR", help="folder of the page (default: docs, in a checkout)")
    command.add_argument(
        "--log", metavar="DIR", help="write windows and packets of both sides into DIR, and where they differ first"
    )
    command.add_argument("--jobs", type=positive, metavar="N", help="threads (default: all cores)")


def do_linux(options: argparse.Namespace) -> int:
    """Carry out `tonopah validate linux`."""
    from tonopah import render
    from tonopah.validate import linux, logs, page, terminal

    library = shipped()
    cases = library.select(options.case)
    if options.log:
        for case in cases:
            print("\n  ".join(logs.write(library, case, Path(options.log))))
        return 0
    folder = page_folder(options)
    runs = len(linux.jobs_of(cases))
    with progress(runs, 0, quiet=runs < 10) as step:
        results = linux.validate(library, cases, options.jobs, step)
    if options.json:
        print(json.dumps([measures.as_json(result) for result in results]))
    else:
        console = render.console()
        for table in terminal.tables(results):
            console.print(table)
        for line in terminal.not_compared(results):
            console.print(line)
    if folder:
        print(f"page: {page.write(library, results, folder)}", file=sys.stderr)
    missed = any(result.refused is None and not result.met for result in results)
    return 1 if options.check and missed else 0


def page_folder(options: argparse.Namespace) -> Path | None:
    """Return the folder of the page, or None if none is to be written: a page of some cases only would mislead."""
    from tonopah.validate import page

    if options.check or (options.case and not options.out):
        return None
    return Path(options.out) if options.out else page.default_folder()
