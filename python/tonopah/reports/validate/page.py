"""What `python -m tonopah.reports.validate` shows: a table for the terminal, and the page docs/validation-authors.md."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tonopah.reports.numbers import stored
from tonopah.reports.validate.cases import all_cases
from tonopah.reports.validate.judging import Check
from tonopah.template import render
from tonopah.terminal.grid import Grid

HERE = Path(__file__).parent
PAGE = "validation-authors.md"
COLUMNS = ("point", "number", "author", "stock simulator", "ours", "allowed", "")


def cells(row: Check) -> list[str]:
    """Return a row of the table."""
    verdict = "" if row.agrees is None else "agrees" if row.agrees else "DISAGREES"
    return [row.case, row.metric.replace("_", " "), row.author, row.stock, row.ours, row.allowed, verdict]


def counts(rows: Sequence[Check]) -> tuple[int, int]:
    """Return how many rows agree, of how many that have a goal."""
    judged = [row for row in rows if row.agrees is not None]
    return sum(bool(row.agrees) for row in judged), len(judged)


def table(rows: Sequence[Check]) -> Grid:
    """Return the comparison for a terminal: what has a goal."""
    agreed, judged = counts(rows)
    title = f"The authors' numbers: {agreed} of {judged} agree"
    return Grid(title, COLUMNS, [cells(row) for row in rows if row.agrees is not None], keys=2)


def write(rows: Sequence[Check], folder: Path) -> Path:
    """Write the page; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    path.write_text(text(rows), encoding="utf-8")
    return path


def left_out() -> list[tuple[str, str, int]]:
    """Return what is stored and in no row: network, metric (empty if no case repeats the point), and how many numbers."""
    known = {tuple(case.name.split("/")): case for case in all_cases()}
    missing: dict[tuple[str, str], int] = {}
    for key, by_origin in stored().items():
        for metric, values in ((metric, values) for by_metric in by_origin.values() for metric, values in by_metric.items()):
            if key not in known or known[key].network.own_name(key[2], metric) is None:
                place = (f"{key[0]}, {key[1]}", metric.replace("_", " ") if key in known else "")
                missing[place] = missing.get(place, 0) + len(values)
    return [(*place, count) for place, count in missing.items()]


def text(rows: Sequence[Check]) -> str:
    """Return the page."""
    agreed, judged = counts(rows)
    groups: dict[str, list[list[str]]] = {}
    missed: Counter[str] = Counter()
    for row in rows:
        report, network, *point = row.case.split("/")
        groups.setdefault(f"{report}, {network}", []).append(["/".join(point), *cells(row)[1:]])
        if row.agrees is False:
            missed.update((report, f"{report}, {network}"))
    return render(
        HERE / "page.md.j2", groups=groups, agreed=agreed, judged=judged, columns=COLUMNS, missed=missed, left_out=left_out()
    )
