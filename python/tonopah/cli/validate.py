"""`tonopah validate linux`, `queues`, `ns2`, `published` and `trace`."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import add_command, positive
from tonopah.cli.validate_trace import add_trace
from tonopah.errors import InputError
from tonopah.execution.progress import show_progress
from tonopah.peers import ns2 as peer
from tonopah.terminal.grid import print_grids
from tonopah.validate import (
    linux,
    logs,
    measures,
    ns2,
    ns2_page,
    page,
    published,
    published_page,
    queues,
    queues_page,
)
from tonopah.validate import queues_recordings as recorded_queues
from tonopah.validate.recordings import shipped
from tonopah.validate.terminal import not_compared, single_draws, tables

LINUX_EXAMPLES = (
    "tonopah validate linux                                    run all, rewrite docs/validation.md and its figures",
    "tonopah validate linux --check                            run all, write nothing, exit code 1 if a goal is missed",
    "tonopah validate linux --check --case 'reno-drop-*'       only some cases, of all kernels",
    "tonopah validate linux --check --case 6.1/cubic-two-flows",
    "tonopah validate linux --check --case '*-beside-cubic'    shares in several runs on both sides",
    "tonopah validate linux --case 6.1/reno-drop-one --log DIR windows and packets side by side",
)
QUEUES_EXAMPLES = (
    "tonopah validate queues                         run all, rewrite docs/validation-queues.md",
    "tonopah validate queues --check                 write nothing, exit code 1 if a goal is missed",
    "tonopah validate queues --check --case 'pie-*' --json",
)
NS2_EXAMPLES = (
    "tonopah validate ns2                      run 20 placements in both, rewrite docs/validation-ns2.md",
    "tonopah validate ns2 --check              write nothing, exit code 1 if a goal is missed",
    "tonopah validate ns2 --placements 3 --json --check",
)
PUBLISHED_EXAMPLES = (
    "tonopah validate published                      run all, rewrite docs/validation-published.md",
    "tonopah validate published --check              write nothing, exit code 1 if a case disagrees",
    "tonopah validate published --check --case 'copa/*' --json",
)
PLACEMENTS = 20
"""Number of placements whose values of ns-2 are stored in the package."""
CHECK = "write nothing; exit code 1 if a goal is missed"
OUT = "folder of the page (default: docs, in a checkout)"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the commands of `validate`, each with its arguments."""
    command.epilog = "example: tonopah validate linux --check"
    commands = command.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = add_command(commands, "linux", "compare with recordings of Linux 6.1 and 6.18", compare_linux, *LINUX_EXAMPLES)
    command.description = "Run every recorded case in the engine and compare windows, losses and goodput with Linux 6.1 and 6.18."
    command.add_argument("--case", metavar="GLOB", help="only cases whose name, or kernel/name, matches; no page without --out")
    command.add_argument("--check", action="store_true", help=CHECK)
    command.add_argument("--out", metavar="DIR", help=OUT)
    command.add_argument(
        "--log", metavar="DIR", help="write windows and packets of both sides to DIR, and their first difference"
    )
    command.add_argument("--jobs", type=positive, metavar="N", help="number of threads (default: all cores)")
    add_queues_arguments(
        add_command(commands, "queues", "compare queue disciplines with Linux 6.1", compare_queues, *QUEUES_EXAMPLES)
    )
    add_ns2_arguments(
        add_command(commands, "ns2", "compare an ad hoc network with ns-2 over many placements", compare_ns2, *NS2_EXAMPLES)
    )
    add_published_arguments(
        add_command(commands, "published", "compare with laws and published results", compare_published, *PUBLISHED_EXAMPLES)
    )
    add_trace(commands)


def add_queues_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `validate queues`."""
    command.description = "Run every recorded bottleneck and compare delay, drops, marks, goodput and shares with Linux 6.1."
    add_case_arguments(command)


def add_published_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `validate published`."""
    command.description = "Run the cases of laws and published experiments and compare each number with its reference."
    add_case_arguments(command)


def add_case_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of a comparison by cases."""
    command.add_argument("--case", metavar="GLOB", help="only cases whose name matches; no page without --out")
    command.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a case disagrees")
    command.add_argument("--out", metavar="DIR", help=OUT)
    command.add_argument("--jobs", type=positive, metavar="N", help="number of runs at a time (default: all cores)")


def add_ns2_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `validate ns2`."""
    command.description = (
        "Run the same ad hoc networks here and in ns-2 and compare throughput, delay, delivery ratio and energy.\n"
        "Without ns-2, its stored values are used."
    )
    placements = f"number of placements (default: {PLACEMENTS})"
    command.add_argument("--placements", type=positive, default=PLACEMENTS, metavar="N", help=placements)
    command.add_argument("--check", action="store_true", help=CHECK)
    command.add_argument("--out", metavar="DIR", help=OUT)
    command.add_argument("--stored", action="store_true", help="use the stored values of ns-2 even if it is installed")
    command.add_argument("--store", metavar="FILE", help="write the values of ns-2 to FILE, as the package stores them")


def compare_linux(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah validate linux`."""
    library = shipped()
    cases = library.select(arguments.case)
    if arguments.log:
        for case in cases:
            print("\n  ".join(logs.write(library, case, Path(arguments.log))))
        return 0
    folder = page_folder(arguments)
    runs = len(linux.jobs_of(cases))
    with show_progress(runs, 0, quiet=runs < 10) as step:
        results = linux.validate(library, cases, arguments.jobs, step)
    if arguments.json:
        print(json.dumps([measures.as_json(result) for result in results]))
    else:
        print_grids(*tables(results))
        for line in [note for note in [single_draws(results)] if note] + not_compared(results):
            print(line)
    if folder:
        print(f"page: {page.write(library, results, folder)}", file=sys.stderr)
    missed = any(result.refused is None and not result.met for result in results)
    return 1 if arguments.check and missed else 0


def compare_queues(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah validate queues`."""
    library = recorded_queues.shipped()
    cases = library.select(arguments.case)
    folder = page_folder(arguments)
    jobs = queues.jobs_of(library, cases)
    with show_progress(len(jobs), 0, quiet=arguments.json or not sys.stderr.isatty()) as step:
        results = queues.validate(library, cases, jobs, arguments.jobs, step)
    if arguments.json:
        print(json.dumps([queues.as_json(result) for result in results]))
    else:
        print_grids(queues_page.table(results))
        for line in queues_page.refusals(results):
            print(line)
    if folder:
        print(f"page: {queues_page.write(library, results, folder)}", file=sys.stderr)
    missed = any(result.refused is None and not result.met for result in results)
    return 1 if arguments.check and missed else 0


def page_folder(arguments: argparse.Namespace) -> Path | None:
    """Return the folder of the page, or None if none is to be written: a page of some cases only would mislead."""
    if arguments.check or (arguments.case and not arguments.out):
        return None
    return Path(arguments.out) if arguments.out else page.default_folder()


def compare_ns2(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah validate ns2`."""
    if arguments.store:
        peer.require()
        if arguments.stored:
            raise InputError("--stored", "stored values are not stored again", "leave one of the two out")
    # The default of other sizes is no page: it would replace one of more placements.
    writes = not arguments.check and (arguments.out is not None or arguments.placements == PLACEMENTS)
    folder = Path(arguments.out) if arguments.out else page.default_folder() if writes else None
    with show_progress(arguments.placements, 0, quiet=arguments.json or not sys.stderr.isatty()) as step:
        comparison = ns2.compare(arguments.placements, arguments.stored or not peer.is_installed(), step)
    judged = ns2.judge(comparison)
    if arguments.store:
        Path(arguments.store).write_text(ns2.as_stored(comparison), encoding="utf-8")
        print(f"stored: {arguments.store}", file=sys.stderr)
    if arguments.json:
        runs = [
            {"seed": s, "ours": asdict(a), "ns2": asdict(b)}
            for s, (a, b) in enumerate(zip(comparison.mine, comparison.theirs, strict=True), 1)
        ]
        facts = {"version": comparison.version, "stored": comparison.stored, "measures": judged, "placements": runs}
        print(json.dumps(facts))
    else:
        print_grids(ns2_page.table(comparison))
    if writes and folder:
        folder.mkdir(parents=True, exist_ok=True)
        print(f"page: {ns2_page.write(comparison, folder)}", file=sys.stderr)
    return 1 if arguments.check and any(row["met"] is False for row in judged) else 0


def compare_published(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah validate published`."""
    return compare_cases(arguments, published.select(arguments.case), published, published_page)


def compare_cases(arguments: argparse.Namespace, cases: Any, numbers: Any, page: Any) -> int:
    """Run the cases of a module of numbers, and show or write their results as its page does."""
    folder = page_folder(arguments)
    with show_progress(numbers.count_runs(cases), 0, quiet=arguments.json or not sys.stderr.isatty()) as step:
        results = numbers.validate(cases, arguments.jobs, step)
    if arguments.json:
        print(json.dumps([numbers.as_json(result) for result in results]))
    else:
        print_grids(page.table(results))
    if folder:
        print(f"page: {page.write(results, folder)}", file=sys.stderr)
    return 1 if arguments.check and any(result.agrees is False for result in results) else 0
