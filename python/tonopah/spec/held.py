"""Published tables that are held against runs: which number is about which of them."""

from typing import Any

from tonopah.errors import InputError
from tonopah.spec.columns import check_metric, own_columns
from tonopah.spec.model import Part, PrintedNumber
from tonopah.spec.part import axes_hint
from tonopah.spec.published import Published, numeric
from tonopah.spec.resolution import choose_part
from tonopah.spec.validation import cut, list_allowed, shorten


def check_published(table: Published, path: str, parts: list[Part]) -> None:
    """Refuse a table whose part, axis, columns or rows are not there. Raises InputError."""
    if not table.part:
        for i, column in enumerate(table.columns):
            if column.metric:
                raise InputError(f"{path}.columns[{i}].metric", "has no meaning without part")
        return
    part = choose_part(table.part, path, parts)
    if table.over and part.sweep_over({table.over}) is None:
        raise InputError(f"{path}.over", f"no sweep varies {cut(table.over)} alone", axes_hint(part.sweeps))
    own = own_columns(part.derived, {})
    for i, column in enumerate(table.columns):
        if column.metric:
            check_metric(column.metric, f"{path}.columns[{i}].metric", "run", own)
    for i, row in enumerate(table.rows):
        if label_of(table, row, part) is None:
            raise InputError(f"{path}.rows[{i}][0]", f"{shorten(row[0])} is unknown", list_allowed(part.labels, value=row[0]))


def label_of(table: Published, row: tuple[str, ...], part: Part) -> str | None:
    """Return which of the compared a row is about, whatever its capitals."""
    wanted = table.labels.get(row[0], row[0]).casefold()
    return next((label for label in part.labels if label.casefold() == wanted), None)


def printed_numbers(table: Published, part: Part) -> list[PrintedNumber]:
    """Return the numbers of a table that runs of a part are held against."""
    if table.part != part.id:
        return []
    made = []
    sweep = part.sweep_over({table.over}) if table.over else None
    for row in table.rows:
        at: dict[str, Any] = {}
        if sweep is not None:
            value = next((v for v in part.sweeps[sweep].vary[table.over] if same(v, row[1])), None)
            if value is None:
                continue
            at = {table.over: value}
        label = label_of(table, row, part)
        for column, cell in zip(table.columns, row, strict=True):
            if label and column.metric and numeric(cell):
                made.append(PrintedNumber(table.id, label, at, column, cell))
    return made


def same(value: Any, cell: str) -> bool:
    """Tell whether a cell holds a value of an axis."""
    return str(value) == cell or (numeric(cell) and numeric(str(value)) and float(str(value)) == float(cell))
