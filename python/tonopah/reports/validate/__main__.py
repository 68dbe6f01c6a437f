"""`python -m tonopah.reports.validate`: the numbers that the authors of the reports printed, beside ours."""

import argparse
import json
import sys
from pathlib import Path

from tonopah.errors import EngineError, InputError, LimitError, RunFailedError, ScenarioError
from tonopah.execution.progress import show_progress
from tonopah.reports.validate import cases, page
from tonopah.reports.validate.judging import as_json
from tonopah.reports.validate.running import all_jobs, validate
from tonopah.terminal.grid import print_grids

EXAMPLES = """examples:
  python -m tonopah.reports.validate --full     run all, write docs/generated/validation-authors.md
  python -m tonopah.reports.validate --check    fewer runs, write nothing, exit code 1 if a number disagrees
  python -m tonopah.reports.validate --check --case 'ewphcc/satellite/*' --json
  python -m tonopah.reports.validate --algorithm bbr --case 'ewphcc/wired/*/flows/*'     how many numbers BBR keeps"""
DESCRIPTION = """Run the networks of the reports' scripts and compare each stored number, computed by the script's definition.
Without --full two chaotic networks have fewer runs (ewphcc/mixed 3 of 10, asran/fairness 10 of 20), and no page is written."""


def parser() -> argparse.ArgumentParser:
    """Return the reader of the command line."""
    command = argparse.ArgumentParser(
        prog="python -m tonopah.reports.validate", description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    command.add_argument("--full", action="store_true", help="all runs; write the page")
    command.add_argument("--case", metavar="GLOB", help="only cases whose name matches; no page without --out")
    command.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a number disagrees")
    command.add_argument(
        "--algorithm", metavar="NAME", default="", help="run all with this algorithm: how many numbers a wrong one keeps"
    )
    command.add_argument("--out", metavar="DIR", help="folder of the page (default: docs/generated)")
    command.add_argument("--jobs", type=int, metavar="N", help="number of runs at a time (default: all cores)")
    command.add_argument("--json", action="store_true", help="print results as JSON")
    return command


def main(words: list[str] | None = None) -> int:
    """Carry out the command line; return the exit status."""
    arguments = parser().parse_args(words)
    try:
        return compare(arguments)
    except (ScenarioError, RunFailedError, LimitError, EngineError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ScenarioError) else 1


def compare(arguments: argparse.Namespace) -> int:
    """Run the cases, and show or write their results. Raises InputError."""
    if not arguments.full and arguments.out:
        raise InputError("--out", "a page is of all runs", "--full")
    if arguments.algorithm and (arguments.full or arguments.check):
        raise InputError("--algorithm", "runs a wrong algorithm on purpose", "neither --full nor --check")
    chosen = cases.select(arguments.case, arguments.full, arguments.algorithm)
    folder = Path(arguments.out or "docs/generated")
    # A page of some cases or runs only would mislead.
    writes = arguments.full and not arguments.check and (arguments.out or not arguments.case)
    if writes and not arguments.out and not folder.is_dir():
        raise InputError("--out", "there is no folder docs/generated here for the page", "name one, or use --check")
    with show_progress(len(all_jobs(chosen)), 0, quiet=arguments.json or not sys.stderr.isatty()) as step:
        checks = validate(chosen, arguments.jobs, step)
    if arguments.json:
        print(json.dumps([as_json(check) for check in checks]))
    else:
        print_grids(page.table(checks))
        print_grids(page.power_table(checks))
    if writes:
        print(f"page: {page.write(checks, folder)}", file=sys.stderr)
    return 1 if arguments.check and any(check.agrees is False for check in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
