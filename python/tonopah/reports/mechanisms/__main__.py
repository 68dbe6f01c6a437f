"""`python -m tonopah.reports.mechanisms FOLDER`: what the figures of an original measured, from the results of its study."""

import argparse
import json
import sys
from pathlib import Path

from tonopah.errors import RunFailedError, ScenarioError
from tonopah.metrics import show
from tonopah.reports.mechanisms.model import read
from tonopah.reports.mechanisms.numbers import Shown, Side, shown
from tonopah.reports.mechanisms.pictures import write
from tonopah.stats import Estimate
from tonopah.study.study import Study
from tonopah.terminal.grid import Grid, print_grids
from tonopah.writing import replace_file

FILE = "mechanisms.json"
"""Written into the folder of the results; docs/findings shows it."""
SLIPS = "slips"
"""Folder of the pictures in that of the results."""
COLUMNS = ("in the script", "of", "number with it", "without it", "what the figure measured")


def main(words: list[str] | None = None) -> int:
    """Carry out the command line; return the exit status."""
    command = argparse.ArgumentParser(prog="python -m tonopah.reports.mechanisms", description=str(__doc__).partition(": ")[2])
    command.add_argument("folder", metavar="FOLDER", help="results of a study, such as results/ewphcc")
    command.add_argument("--file", metavar="FILE", help="mechanisms of a study of one's own (TOML)")
    command.add_argument("--pictures", action="store_true", help="draw each slip into FOLDER/slips (SVG, and its numbers as CSV)")
    command.add_argument("--json", action="store_true", help="print results as JSON")
    arguments = command.parse_args(words)
    try:
        study = Study.open(arguments.folder)
        found = measured(study, arguments.file)
    except (ScenarioError, RunFailedError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ScenarioError) else 1
    text = json.dumps([one.as_json() for one in found])
    replace_file(Path(arguments.folder) / FILE, text)
    if arguments.pictures:
        for path in write(found, study.spec, Path(arguments.folder, SLIPS)):
            print(f"picture: {path}", file=sys.stderr)
    if arguments.json:
        print(text)
    else:
        print_grids(Grid("What the figures measured", COLUMNS, [row for one in found for row in rows(one)], keys=2))
    return 0


def measured(study: Study, file: str | None = None) -> list[Shown]:
    """Return the mechanisms of a study that was run. Raises InputError."""
    runs = {part.id: study.part_table(part) for part in study.spec.parts}
    return shown(read(study.name, study.spec, file), study.spec, study.plan, runs)


def rows(one: Shown) -> list[list[str]]:
    """Return a mechanism as rows: one for each of the compared."""
    made = [[one.mechanism.id, a.label, number(a), number(b), one.mechanism.text] for a, b in one.rows]
    return made or [[one.mechanism.id, "", "", "", "The runs for it are missing."]]


def number(side: Side) -> str:
    """Return a number with its interval, if it has one, and its unit."""
    found: Estimate = side.found
    known = not found.unbounded and found.low < found.high
    around = f" [{show(found.low)}, {show(found.high)}]" if known else ""
    return f"{show(found.value)}{around} {side.metric.unit}".strip()


if __name__ == "__main__":
    sys.exit(main())
