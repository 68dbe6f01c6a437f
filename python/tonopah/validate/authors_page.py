"""What `tonopah validate authors` shows: a table for the terminal, and the page docs/validation-authors.md."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tonopah.authors.numbers import stored
from tonopah.template import render
from tonopah.terminal.grid import plain_table
from tonopah.validate.authors import Row
from tonopah.validate.authors_cases import all_cases

if TYPE_CHECKING:
    from rich.table import Table

HERE = Path(__file__).parent
PAGE = "validation-authors.md"
COLUMNS = ("point", "number", "author", "stock simulator", "ours", "allowed", "")


def cells(row: Row) -> list[str]:
    """Return a row of the table."""
    verdict = "" if row.agrees is None else "agrees" if row.agrees else "DISAGREES"
    author = "" if row.author is None else f"{row.author:.6g}"
    return [row.case, row.metric.replace("_", " "), author, row.stock, row.ours, row.allowed, verdict]


def counts(rows: Sequence[Row]) -> tuple[int, int]:
    """Return how many rows agree, of how many that have a goal."""
    judged = [row for row in rows if row.agrees is not None]
    return sum(bool(row.agrees) for row in judged), len(judged)


def table(rows: Sequence[Row]) -> "Table":
    """Return the comparison for a terminal: what has a goal."""
    agreed, judged = counts(rows)
    made = plain_table(f"The authors' numbers: {agreed} of {judged} agree")
    for name in COLUMNS:
        made.add_column(name, justify="right" if name in COLUMNS[2:6] else "left", no_wrap=True)
    for row in rows:
        if row.agrees is not None:
            made.add_row(*cells(row))
    return made


def write(rows: Sequence[Row], folder: Path) -> Path:
    """Write the page; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    path.write_text(text(rows), encoding="utf-8")
    return path


def left_out() -> list[tuple[str, int]]:
    """Return the networks with stored numbers that no case repeats, and how many these are."""
    known = {tuple(case.name.split("/")) for case in all_cases()}
    missing: dict[str, int] = {}
    for key, by_origin in stored().items():
        if key not in known:
            name = f"{key[0]}, {key[1]}"
            missing[name] = missing.get(name, 0) + sum(len(v) for origin in by_origin.values() for v in origin.values())
    return list(missing.items())


def text(rows: Sequence[Row]) -> str:
    """Return the page."""
    agreed, judged = counts(rows)
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        seed, network, *point = row.case.split("/")
        groups.setdefault(f"{seed}, {network}", []).append(["/".join(point), *cells(row)[1:]])
    return render(HERE / "authors.md.j2", groups=groups, agreed=agreed, judged=judged, columns=COLUMNS, left_out=left_out())
