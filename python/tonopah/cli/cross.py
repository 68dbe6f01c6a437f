"""`tonopah cross`: a world, or many, on several engines, and whether they agree."""

import argparse
import json
import shlex
import sys
from pathlib import Path

from tonopah.cli.arguments import (
    add_code,
    add_common,
    add_set,
    changes,
    first_seed,
    positive,
    require_folder,
    scenario_source,
)
from tonopah.cli.execution import resumable
from tonopah.cli.real_time import add_real_time, check_real_time
from tonopah.cross import told
from tonopah.cross.comparison import Comparison, begin
from tonopah.cross.engines import ENGINES, Options, chosen
from tonopah.cross.worlds import worlds_of
from tonopah.execution.progress import show_progress
from tonopah.names import listed
from tonopah.terminal.grid import print_answer, print_grids
from tonopah.writing import replace_file

ALL = ",".join(ENGINES)
EXAMPLES = (
    f"tonopah cross dumbbell.toml --on {ALL}",
    "tonopah cross dumbbell.toml --on tonopah,linux --set tcp.cc=bbr --out report",
    "tonopah cross studies/cross.toml --on tonopah,uml --replicates 5 --json",
)
FACTS = "cross.json"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `cross`."""
    add_common(command, cross, *EXAMPLES)
    engines = "; ".join(f"{engine.name}: {engine.about}" for engine in ENGINES.values())
    command.description = (
        f"{command.description}\n\nEvery metric of every engine is held against that of the first by two one-sided tests:\n"
        "equivalent (the whole interval within the margin), different (all of it beyond), or\n"
        "undecided, with the replicates that would decide. Margins: goodput and the others in the\n"
        "table [cross] of the file; [[cross.sweep]] vary = { PATH = [VALUES] } makes many worlds."
    )
    command.add_argument("scenario", help="scenario (TOML), which may have a table [cross]; - is standard input")
    command.add_argument("--on", default="tonopah,linux", metavar="ENGINE,…", help=f"{engines} (default: tonopah,linux)")
    command.add_argument(
        "--replicates", type=positive, metavar="N", help="replicates of each engine (default: 10, or cross.replicates)"
    )
    command.add_argument("--seed", type=first_seed, default=1, help="seed of the first replicate (default: 1)")
    add_set(command)
    add_code(command, "a scenario")
    add_real_time(command)
    command.add_argument(
        "--out", metavar="DIR", help=f"write {FACTS} and figures, windows and queues of all engines; an interrupted run goes on"
    )
    command.add_argument("--keep", metavar="DIR", help="keep the programs that other simulators are given, one for each run")


def cross(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah cross`."""
    check_real_time(arguments)
    for option in ("out", "keep"):
        require_folder(f"--{option}", getattr(arguments, option))
    table, worlds = worlds_of(scenario_source(arguments.scenario), changes(arguments))
    comparison = begin(table, worlds, chosen(listed(arguments.on)), arguments.replicates, arguments.seed)
    keep = Path(arguments.keep) if arguments.keep else None
    out = Path(arguments.out) if arguments.out else None
    for folder in (keep, out):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    stored = f"what was measured is in {out}" if out else "nothing is kept without --out"
    with resumable(lambda: stored), show_progress(comparison.runs, 0, arguments.json) as step:
        comparison.carry_out(Options(arguments.spin, keep), step, out)
    facts = told.facts(comparison, shlex.join(["tonopah", *sys.argv[1:]]))
    if out:
        write(comparison, facts, out)
    if arguments.json:
        print(json.dumps(facts, allow_nan=False))
    else:
        print_grids(*told.grids(comparison))
        for note in told.notes(comparison):
            print(f"  {note}")
        if out:
            print(f"report: {out.resolve()}")
        print_answer(told.answer(comparison))
    return verdict(comparison, keep_late=arguments.keep_late)


def write(comparison: Comparison, facts: dict[str, object], folder: Path) -> None:
    """Write the facts and the figures of a comparison."""
    # Drawing takes longer to load than many a run takes.
    from tonopah.cross import figures

    replace_file(folder / FACTS, json.dumps(facts, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    for one in comparison.worlds:
        figures.write(one, folder)


def verdict(comparison: Comparison, *, keep_late: bool) -> int:
    """Say which runs in real time left packets too late; return the exit code."""
    for name, count in comparison.late.items():
        text = f"{name}: packets left too late in {count} runs: lower the rate or the load of the machine, or use --keep-late"
        print(f"{'warning' if keep_late else 'error'}: {text}", file=sys.stderr)
    return 1 if comparison.late and not keep_late else 0
