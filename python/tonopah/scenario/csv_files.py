"""Reads tables (CSV) that a scenario names."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from tonopah.errors import InputError
from tonopah.scenario.files import read_file

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_ROWS = 1_000_000


def read_csv(lines: Iterable[str], source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of CSV, each with the number of its line. Raises InputError for what is none, such as a cell without end."""
    table = csv.reader(lines)
    try:
        for cells in table:
            yield table.line_num, cells
    except csv.Error as error:
        raise InputError(f"line {table.line_num}", f"is no row of a table: {error}", None, source) from None


def read_table(path: Path, most: int = MAX_ROWS) -> list[tuple[str, dict[str, str]]]:
    """Return the rows of a CSV file with a header, each with its place. Raises InputError."""
    text = read_file(path, "a table", MAX_FILE_BYTES).decode("utf-8-sig", errors="replace")
    lines = read_csv(text.splitlines(), str(path))
    head = [name.strip() for name in next(lines, (1, []))[1]]
    if other := next((sign for sign in (";", "\t", "|") if len(head) == 1 and sign in head[0]), None):
        hint = f"by commas: {head[0].replace(other, ',')}"
        raise InputError("line 1", f"columns are separated by {'tabs' if other == chr(9) else other}", hint, str(path))
    if not head or not all(head) or len(set(head)) < len(head):
        raise InputError("line 1", "is no header", "a name for each column, all different", str(path))
    rows = []
    for number, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(head):
            raise InputError(f"line {number}", f"has {len(cells)} cells", f"{len(head)}, as the header", str(path))
        if len(rows) == most:
            raise InputError(f"line {number}", "is one row too many", f"at most {most:,}", str(path))
        rows.append((f"line {number}", {name: cell.strip() for name, cell in zip(head, cells, strict=True)}))
    if not rows:
        raise InputError("", "has no rows", None, str(path))
    return rows
