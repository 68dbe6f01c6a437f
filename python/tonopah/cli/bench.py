"""`tonopah bench`."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tonopah.bench.worlds import WORLDS
from tonopah.cli.arguments import positive

EXAMPLES = """examples:
  tonopah bench                                  all worlds here, and a study on one core and on all
  tonopah bench --only wifi40,leo10 --runs 5     two of them, more often
  tonopah bench --against ns2,ns3 --page docs/performance.md

example: tonopah bench --against ns2
"""


def add_bench(commands: Any) -> None:
    """Add `bench`."""
    command = commands.add_parser(
        "bench",
        help="measure speed, alone or beside ns-2 and ns-3",
        description="Measure CPU time and memory on standard worlds, here and in ns-2 and ns-3 in turn.\n\nworlds:\n"
        + "\n".join(f"  {world.name:<11} {world.title}" for world in WORLDS)
        + "\n  study       runs of a study per second on one core and on all, and the overhead of each",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(action=do_bench)
    command.add_argument("--json", action="store_true", help="print JSON for machines")
    command.add_argument("--only", metavar="WORLDS", help="only these, with commas between them")
    command.add_argument("--against", metavar="PEERS", help="ns2, ns3 or both with a comma: run the same world there, in turn")
    command.add_argument(
        "--runs", type=positive, default=3, metavar="N", help="runs of each world; medians are shown (default: 3)"
    )
    command.add_argument("--seconds", type=positive, metavar="S", help="simulated seconds (default: each world's own)")
    command.add_argument(
        "--limit", type=positive, default=600, metavar="S", help="stop a peer's run after S CPU seconds (default: 600)"
    )
    command.add_argument("--page", metavar="PATH", help="write the results as a page, like docs/performance.md")


def do_bench(options: argparse.Namespace) -> int:
    """Carry out `tonopah bench`."""
    from tonopah import terminal
    from tonopah.bench import batch, measure, page, tables
    from tonopah.execution.progress import progress

    wanted = measure.Options(
        worlds=measure.select(options.only),
        against=measure.peers_of(options.against),
        runs=options.runs,
        seconds=options.seconds,
        limit_s=float(options.limit),
        study=measure.selects_study(options.only),
    )
    sides = sum(1 + sum(peer in world.peers for peer in wanted.against) for world in wanted.worlds)
    with progress((sides + wanted.study) * wanted.runs, 0, quiet=options.json or not sys.stderr.isatty()) as step:
        results = measure.measure(wanted, step)
        study = batch.measure_study(wanted.runs, step) if wanted.study else None
    facts = page.facts(wanted)
    if options.page:
        Path(options.page).write_text(page.text(facts, results, wanted, study), encoding="utf-8")
        print(f"page: {options.page}", file=sys.stderr)
    if options.json:
        print(json.dumps({**facts, "worlds": results, "study": study}))
        return 0
    console = terminal.console()
    if not facts["optimised"]:
        console.print("This engine was built without optimisation: the times mean nothing.")
    for table in tables.terminal_tables(results, wanted.runs, study):
        console.print(table)
    for line in page.remarks(results):
        console.print(line)
    return 0
