"""`python -m tonopah_dev.bench`."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tonopah.cli.arguments import positive, require_place
from tonopah.execution.progress import show_progress
from tonopah.terminal.grid import console
from tonopah_dev.bench import batch, measure, page, tables, threads
from tonopah_dev.bench.worlds import WORLDS
from tonopah_dev.command import run_command

EXAMPLES = (
    "python -m tonopah_dev.bench                                  all scenarios here, and a study on one core and on all",
    "python -m tonopah_dev.bench --only wifi40,leo10 --runs 5     two of them, more often",
    "python -m tonopah_dev.bench --against ns2,ns2-lean,ns3 --page docs/generated/performance.md",
)

ABOUT = (
    "Measure CPU time and memory on standard scenarios, here and in ns-2 and ns-3 in turn.\n\nscenarios:\n"
    + "\n".join(f"  {world.name:<11} {world.title}" for world in WORLDS)
    + "\n  study       runs of a study per second on one core and on all, and the overhead of each"
    + "\n  threads     one run on one thread and on all cores: parking lot, fat tree, constellation"
    + "\n  lab         time and memory of `tonopah serve` and its page in Chromium; stands alone"
)
LAB = "lab"
"""Not a scenario: the server and the page of `tonopah serve`, in Chromium."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench`."""
    command.add_argument("--only", metavar="NAMES", help="only these scenarios, separated by commas")
    command.add_argument(
        "--against", metavar="PEERS", help="ns2, ns2-lean, ns3 or some of them: run the same scenarios there, in turn"
    )
    command.add_argument("--runs", type=positive, default=3, metavar="N", help="runs of each, for the median (default: 3)")
    command.add_argument("--seconds", type=positive, metavar="S", help="simulated seconds (default: each scenario's own)")
    limit = "stop a peer's run after S seconds of CPU time (default: 600)"
    command.add_argument("--limit", type=positive, default=600, metavar="S", help=limit)
    command.add_argument("--page", metavar="PATH", help="write the results as a page, like docs/generated/performance.md")


def measure_lab(arguments: argparse.Namespace) -> int:
    """Measure the lab."""
    from dataclasses import asdict

    from tonopah_dev.browser.measure import lines
    from tonopah_dev.browser.measure import measure as measure_page

    measured = measure_page(arguments.runs)
    print(json.dumps([asdict(one) for one in measured]) if arguments.json else "\n".join(lines(measured)))
    return 0


def measure_speed(arguments: argparse.Namespace) -> int:
    """Carry out `bench`."""
    if arguments.only == LAB:
        return measure_lab(arguments)
    require_place("--page", arguments.page)
    wanted = measure.Options(
        worlds=measure.select(arguments.only),
        against=measure.peers_of(arguments.against),
        runs=arguments.runs,
        seconds=arguments.seconds,
        limit_s=float(arguments.limit),
        study=measure.selects(arguments.only, measure.STUDY),
        threads=measure.selects(arguments.only, measure.THREADS),
    )
    sides = sum(1 + sum(peer in world.peers for peer in wanted.against) for world in wanted.worlds)
    turns = sides + wanted.study + wanted.threads * len(threads.WORLDS)
    with show_progress(turns * wanted.runs, 0, quiet=arguments.json or not sys.stderr.isatty()) as step:
        results = measure.measure(wanted, step)
        study = batch.measure_study(wanted.runs, step) if wanted.study else None
        shared = threads.measure_threads(wanted.runs, step, wanted.seconds) if wanted.threads else None
    facts = page.facts(wanted)
    if arguments.page:
        page.write(Path(arguments.page), facts, results, wanted, study, shared)
        print(f"page: {arguments.page}", file=sys.stderr)
    if arguments.json:
        print(json.dumps({**facts, "worlds": results, "study": study, "threads": shared}))
        return 0
    out = console()
    if facts["profile"] == "debug":
        out.print("This engine was built without optimisation: the times mean nothing.")
    for table in tables.terminal_tables(results, wanted.runs, study, shared):
        out.print(table)
    for line in page.remarks(results):
        out.print(line)
    return 0


def main(given: Sequence[str] | None = None) -> int:
    """Carry out the command and return its exit code."""
    return run_command("bench", ABOUT, add_arguments, measure_speed, *EXAMPLES, given=given)


if __name__ == "__main__":
    sys.exit(main())
