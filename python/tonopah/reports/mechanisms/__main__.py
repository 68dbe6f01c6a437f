"""`python -m tonopah.reports.mechanisms FOLDER`: what the figures of an original measured, from the results of its study."""

import argparse
import json
import sys
from pathlib import Path

from tonopah.errors import RunFailedError, ScenarioError
from tonopah.metrics import show
from tonopah.reports.mechanisms.model import read
from tonopah.reports.mechanisms.numbers import Shown, Side, shown
from tonopah.stats import Estimate
from tonopah.study.study import Study
from tonopah.terminal.grid import Grid, print_grids
from tonopah.writing import replace_file

FILE = "mechanisms.json"
"""Written into the folder of the results; docs/findings shows it."""
COLUMNS = ("in the script", "of", "number with it", "without it", "what the figure measured")


def main(words: list[str] | None = None) -> int:
    """Carry out the command line; return the exit status."""
    command = argparse.ArgumentParser(prog="python -m tonopah.reports.mechanisms", description=__doc__.partition(": ")[2])
    command.add_argument("folder", metavar="FOLDER", help="results of a study, such as results/ewphcc")
    command.add_argument("--file", metavar="FILE", help="mechanisms of a study of one's own (TOML)")
    command.add_argument("--json", action="store_true", help="print results as JSON")
    arguments = command.parse_args(words)
    try:
        found = measured(Path(arguments.folder), arguments.file)
    except (ScenarioError, RunFailedError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ScenarioError) else 1
    text = json.dumps([one.as_json() for one in found])
    replace_file(Path(arguments.folder) / FILE, text)
    if arguments.json:
        print(text)
    else:
        print_grids(Grid("What the figures measured", COLUMNS, [row for one in found for row in rows(one)], keys=2))
    return 0


def measured(folder: Path, file: str | None = None) -> list[Shown]:
    """Return the mechanisms of a study that was run. Raises InputError."""
    study = Study.open(folder)
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
