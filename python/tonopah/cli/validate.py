"""`tonopah validate linux` and `tonopah validate ns2`."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import positive
from tonopah.errors import InputError
from tonopah.execution.progress import progress
from tonopah.validate import measures
from tonopah.validate.recordings import shipped

EXAMPLES = """examples:
  tonopah validate linux                                    run all, rewrite docs/validation.md and its figures
  tonopah validate linux --check                            run all, write nothing, exit code 1 if a goal is missed
  tonopah validate linux --check --case 'reno-drop-*'       only some cases, of all kernels
  tonopah validate linux --check --case 6.1/cubic-two-flows
  tonopah validate linux --case 6.1/reno-drop-one --log DIR windows and packets side by side
"""

NS2_EXAMPLES = """examples:
  tonopah validate ns2                      run 20 placements in both, rewrite docs/validation-ns2.md
  tonopah validate ns2 --check              write nothing, exit code 1 if a goal is missed
  tonopah validate ns2 --placements 3 --json --check

example: tonopah validate ns2
"""
PLACEMENTS = 20
"""So many are stored."""


def add_validate(commands: Any) -> None:
    """Add `validate linux` and `validate ns2`."""
    summary = "compare the engine with recordings of real stacks and with ns-2"
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

    add_ns2(inner)


def add_ns2(inner: Any) -> None:
    """Add `validate ns2`."""
    command = inner.add_parser(
        "ns2",
        help="compare an ad hoc network with ns-2 over many placements",
        description="Run the same ad hoc networks here and in ns-2 and compare throughput, delay, delivery ratio and energy.\n"
        "Without ns-2 its stored values are taken.",
        epilog=NS2_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(action=do_ns2)
    command.add_argument("--json", action="store_true", help="print JSON for machines")
    command.add_argument(
        "--placements", type=positive, default=PLACEMENTS, metavar="N", help=f"placements to run (default: {PLACEMENTS})"
    )
    command.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a goal is missed")
    command.add_argument("--out", metavar="DIR", help="folder of the page (default: docs, in a checkout)")
    command.add_argument("--stored", action="store_true", help="take ns-2's stored values even if it is installed")
    command.add_argument("--store", metavar="FILE", help="write ns-2's values to FILE, as they are kept in the package")


def do_linux(options: argparse.Namespace) -> int:
    """Carry out `tonopah validate linux`."""
    from tonopah.terminal import console
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
        screen = console()
        for table in terminal.tables(results):
            screen.print(table)
        for line in terminal.not_compared(results):
            screen.print(line)
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


def do_ns2(options: argparse.Namespace) -> int:
    """Carry out `tonopah validate ns2`."""
    from dataclasses import asdict

    from tonopah import terminal
    from tonopah.peers import ns2 as peer
    from tonopah.validate import ns2, ns2_page, page

    if options.store:
        peer.require()
        if options.stored:
            raise InputError("--stored", "values that are stored already are not stored again", "leave one of the two out")
    # The default of other sizes is no page: it would replace one of more placements.
    writes = not options.check and (options.out is not None or options.placements == PLACEMENTS)
    folder = Path(options.out) if options.out else page.default_folder() if writes else None
    with progress(options.placements, 0, quiet=options.json or not sys.stderr.isatty()) as step:
        comparison = ns2.compare(options.placements, options.stored or not peer.found(), step)
    judged = ns2.judge(comparison)
    if options.store:
        Path(options.store).write_text(ns2.as_stored(comparison), encoding="utf-8")
        print(f"stored: {options.store}", file=sys.stderr)
    if options.json:
        runs = [
            {"seed": s, "ours": asdict(a), "ns2": asdict(b)}
            for s, (a, b) in enumerate(zip(comparison.mine, comparison.theirs, strict=True), 1)
        ]
        told = {"version": comparison.version, "stored": comparison.stored, "measures": judged, "placements": runs}
        print(json.dumps(told))
    else:
        terminal.console().print(ns2_page.table(comparison))
    if writes and folder:
        folder.mkdir(parents=True, exist_ok=True)
        print(f"page: {ns2_page.write(comparison, folder)}", file=sys.stderr)
    return 1 if options.check and any(row["met"] is False for row in judged) else 0
