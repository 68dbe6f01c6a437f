"""`tonopah study table`: the means of a study with their intervals, and the differences to the baseline, for papers."""

import argparse
import json

from tonopah.cli.arguments import add_common
from tonopah.cli.results import results_folder
from tonopah.report.paper_tables import latex
from tonopah.report.tables import ReportTable
from tonopah.spec.columns import check_metric, own_columns
from tonopah.study.study import Study
from tonopah.terminal.grid import Grid, print_grids

EXAMPLES = (
    "tonopah study table beside-cubic",
    "tonopah study table beside-cubic --metric newcomer --metric delay_s --latex > table.tex",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, show_tables, *EXAMPLES)
    command.add_argument("study", metavar="NAME", help="study that was run: its name, or its results folder")
    command.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="a column; may be repeated (default: those of the figures)"
    )
    command.add_argument("--latex", action="store_true", help="as LaTeX, with the rules of the package booktabs")


def show_tables(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study table`."""
    study = Study.open(results_folder(arguments.study))
    own = [column for part in study.spec.parts for column in own_columns(part.derived, part.scenario)]
    for name in arguments.metric:
        check_metric(name, "--metric", "run", own)
    tables = study.tables(*arguments.metric)
    if arguments.json:
        print(json.dumps([facts(table) for table in tables]))
    elif arguments.latex:
        print("\n".join(latex(table) for table in tables), end="")
    else:
        print_grids(*(grid(table) for table in tables))
    return 0


def facts(table: ReportTable) -> dict[str, object]:
    """Return a table for programs: its cells as they are shown, with the difference to the baseline beside the value."""
    rows = [[{"value": text, "difference": below or None} for text, below in row] for row in table.rows]
    return {"title": table.caption, "columns": table.head, "rows": rows}


def grid(table: ReportTable) -> Grid:
    """Return a table for a terminal, with differences in brackets."""
    keys = table.head.index("algorithm") + 1
    return Grid(table.caption, tuple(table.head), [[f"{a} ({b})" if b else a for a, b in row] for row in table.rows], keys)
