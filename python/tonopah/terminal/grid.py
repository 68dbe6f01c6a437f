"""Tables in a terminal: their style, and how they are fitted to its width."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tonopah.errors import plain
from tonopah.metrics import show

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

PIPE_WIDTH = 160


def console() -> "Console":
    """Return a console on standard output: as wide as the terminal, or wide enough for every table in a pipe."""
    from rich.console import Console

    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = shutil.get_terminal_size().columns if known else PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, soft_wrap=False)


def plain_table(title: str = "") -> "Table":
    """Return an empty table in the common style."""
    from rich import box
    from rich.table import Table

    return Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


@dataclass(frozen=True)
class Grid:
    """A table before it is fitted to a width: titles of columns may have a second line, the unit."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[str]]
    keys: int = 0
    """Leading columns of text. The first of them is repeated when the columns continue below."""
    note: str = ""
    """A line below it."""


GAP, EDGES = 3, 2
"""Letters between two columns, and outside the outer ones, in the common style."""


def fit(grid: Grid, width: int) -> list["RenderableType"]:
    """Return a grid as tables of at most this width. No number is cut: columns that do not fit continue in a further table."""
    from rich.cells import cell_len
    from rich.text import Text

    # Rows may hold what others wrote.
    grid = replace(grid, rows=[[plain(cell) for cell in row] for row in grid.rows])
    texts = [[name.split("\n"), *([row[i]] for row in grid.rows)] for i, name in enumerate(grid.columns)]
    widths = [max(cell_len(line) for cell in cells for line in cell) for cells in texts]
    # Long names are folded, so that a number stands beside them.
    widths = [min(own, width // 3) if i < grid.keys else own for i, own in enumerate(widths)]
    pieces: list[list[int]] = [[]]
    for i in range(len(grid.columns)):
        used = sum(widths[k] + GAP for k in pieces[-1]) + EDGES
        if len(pieces[-1]) > (grid.keys if len(pieces) == 1 else 1) and used + widths[i] > width:
            pieces.append([0] if grid.keys else [])
        pieces[-1].append(i)
    tables: list[RenderableType] = [Text(grid.title, style="bold")]
    for piece in pieces if grid.rows else []:
        table = plain_table()
        for i in piece:
            is_text = i < grid.keys and not all(row[i].isdigit() for row in grid.rows)
            table.add_column(
                grid.columns[i],
                justify="left" if is_text else "right",
                no_wrap=not is_text,
                overflow="fold",
                min_width=widths[i],
                max_width=widths[i],
            )
        for row in grid.rows:
            table.add_row(*(row[i] for i in piece))
        tables.append(table)
    return [*tables, *([Text(f" {grid.note}\n")] if grid.note else [])]


def print_grids(*grids: Grid) -> None:
    """Print grids on standard output, each fitted to its width."""
    shown = console()
    for grid in grids:
        for table in fit(grid, shown.width):
            shown.print(table)


def print_answer(sentences: Sequence[str]) -> None:
    """Print the answer of a report, each sentence on lines of its own, folded between words."""
    shown = console()
    for sentence in sentences:
        shown.print(sentence, soft_wrap=not sys.stdout.isatty() and "COLUMNS" not in os.environ)


Columns = Sequence[tuple[str, str, float, str]]
"""Columns of numbers: heading, key in the summary, factor and unit."""


def headings(columns: Columns) -> tuple[str, ...]:
    """Return the titles of columns, each with its unit below."""
    return tuple(f"{name}\n{unit}" if unit else name for name, _, _, unit in columns)


def cells(values: Mapping[str, Any], columns: Columns) -> list[str]:
    """Return the numbers of a row."""
    return [cell(values.get(key), factor) for _, key, factor, _ in columns]


def cell(value: Any, factor: float) -> str:
    """Return one value as it is shown; counts keep all their digits."""
    if isinstance(value, int) and factor == 1.0:
        return f"{value:,}"
    return str(value) if isinstance(value, str) else show(None if value is None else value * factor)


def row_grid(title: str, values: Mapping[str, Any], columns: Columns) -> Grid:
    """Return a table with one row."""
    return Grid(title, headings(columns), [cells(values, columns)])
