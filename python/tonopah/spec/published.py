"""Published tables (`[[published]]`): the numbers of a report as it printed them, with what each column is.

A row is one record (an algorithm, an application), a column one quantity; consistency.py holds them against each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tonopah._core import parse_quantity
from tonopah.errors import InputError
from tonopah.spec.validation import distinct, filled, keys, one_of, tables, texts, typed
from tonopah.units import SI_UNITS

QUANTITIES = (
    "throughput", "offered", "sent", "received", "dropped", "delivery", "drop", "delay", "jitter", "received_bytes",
    "generated_bytes", "jain",
)  # fmt: skip
UNITS = {
    "": 1.0, "%": 0.01, "packets": 1.0, "b/s": 1.0, "bit/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9,
    "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "B": 1.0, "bytes": 1.0, "kB": 1e3, "MB": 1e6, "J": 1.0, "J/s": 1.0,
}  # fmt: skip
GIVEN = {"duration": "duration", "interval": "duration", "packet": "size", "offered": "rate"}
"""What the text around a table states, and the kind of quantity that it is."""


@dataclass(frozen=True)
class Column:
    """A column as printed: name, unit, and which quantity it `is`, if a rule is to look at it."""

    name: str
    unit: str = ""
    quantity: str = ""


@dataclass(frozen=True)
class Best:
    """What the text says about a column: whose value is the highest or lowest; `per` splits the table, `by` groups it."""

    column: str
    who: str
    highest: bool
    by: str
    per: str = ""
    of: str = "mean"
    text: str = ""


@dataclass(frozen=True)
class Change:
    """A difference in percent that the text or table states, with the digits as printed."""

    column: str
    of: str
    to: str
    percent: str


@dataclass(frozen=True)
class Published:
    """A published table; cells are text as printed, so that their digits count, or empty where the original has nothing."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    given: dict[str, float] = field(default_factory=dict)
    best: tuple[Best, ...] = ()
    changes: tuple[Change, ...] = ()

    def label(self, row: tuple[str, ...]) -> str:
        """Return what a row is about: its cells in the columns without number."""
        named = [f"{column.name} {cell}" if numeric(cell) else cell for column, cell in self.names(row)]
        return ", ".join(named) or f"row {self.rows.index(row) + 1}"

    def names(self, row: tuple[str, ...]) -> list[tuple[Column, str]]:
        """Return the cells that name a row: of leading columns that are no quantity."""
        count = next((i for i, column in enumerate(self.columns) if column.quantity or column.unit), len(self.columns))
        return list(zip(self.columns, row, strict=True))[:count]

    def cell(self, row: tuple[str, ...], name: str) -> str:
        """Return the cell of a row in the named column."""
        return row[[column.name for column in self.columns].index(name)]


def numeric(cell: str) -> bool:
    """Tell whether a cell is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def parse_published(entry: Mapping[str, Any], path: str) -> Published:
    """Return one `[[published]]`."""
    allowed = {
        "id": str, "caption": str, "columns": list, "rows": list, "given": dict, "claims": list, "differences": list,
    }  # fmt: skip
    keys(entry, path, allowed, required=("id", "caption", "columns", "rows"))
    filled(entry["columns"], f"{path}.columns")
    columns = tuple(parse_column(column, f"{path}.columns[{i}]") for i, column in tables(entry, "columns", path))
    distinct([column.name for column in columns], f"{path}.columns")
    rows = tuple(parse_row(row, f"{path}.rows[{i}]", columns) for i, row in enumerate(entry["rows"]))
    table = Published(entry["id"], entry["caption"], columns, rows, parse_given(entry.get("given", {}), f"{path}.given"))
    best = [parse_best(claim, f"{path}.claims[{i}]", table) for i, claim in tables(entry, "claims", path)]
    changes = [parse_change(change, f"{path}.differences[{i}]", table) for i, change in tables(entry, "differences", path)]
    return Published(table.id, table.caption, columns, rows, table.given, tuple(best), tuple(changes))


def parse_column(entry: Mapping[str, Any], path: str) -> Column:
    """Return one column."""
    keys(entry, path, {"name": str, "unit": str, "is": str}, required=("name",))
    one_of(entry.get("unit", ""), f"{path}.unit", UNITS)
    if "is" in entry:
        one_of(entry["is"], f"{path}.is", QUANTITIES)
    return Column(entry["name"], entry.get("unit", ""), entry.get("is", ""))


def parse_row(row: Any, path: str, columns: tuple[Column, ...]) -> tuple[str, ...]:
    """Return the cells of one row as text."""
    typed(row, path, list)
    if len(row) != len(columns):
        raise InputError(path, f"has {len(row)} cells", f"{len(columns)}, one for each column; empty text where there is none")
    cells = []
    for i, (value, column) in enumerate(zip(row, columns, strict=True)):
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InputError(f"{path}[{i}]", f"{value!r} is neither a number nor text")
        cell = value.strip() if isinstance(value, str) else repr(value)
        if column.quantity and cell and not numeric(cell):
            raise InputError(f"{path}[{i}]", f"{value!r} is not a number", f"the column is {column.quantity}")
        cells.append(cell)
    return tuple(cells)


def parse_given(entry: Mapping[str, Any], path: str) -> dict[str, float]:
    """Return what the text states, in SI units."""
    keys(entry, path, {**dict.fromkeys(GIVEN, str), "flows": int})
    given: dict[str, float] = {}
    for key, value in entry.items():
        try:
            given[key] = float(value) if key == "flows" else parse_quantity(value, GIVEN[key])
        except ValueError:
            unit = SI_UNITS[GIVEN[key]]
            raise InputError(f"{path}.{key}", f"{value!r} has the wrong unit", f"a value in {unit}, with its unit") from None
    return given


def parse_best(entry: Mapping[str, Any], path: str, table: Published) -> Best:
    """Return what the text says about the best of a column."""
    allowed = {"column": str, "highest": str, "lowest": str, "by": str, "per": str, "of": str, "text": str}
    keys(entry, path, allowed, required=("column",))
    if ("highest" in entry) == ("lowest" in entry):
        raise InputError(path, "needs highest or lowest", 'highest = "CUBIC"')
    names = [column.name for column in table.columns]
    by = entry.get("by", names[0])
    for key, name in (("column", entry["column"]), ("by", by), *((("per", entry["per"]),) if "per" in entry else ())):
        one_of(name, f"{path}.{key}", names)
    one_of(entry.get("of", "mean"), f"{path}.of", ("mean", "sum"))
    key = "highest" if "highest" in entry else "lowest"
    one_of(entry[key], f"{path}.{key}", dict.fromkeys(table.cell(row, by) for row in table.rows))
    return Best(
        entry["column"], entry[key], key == "highest", by, entry.get("per", ""), entry.get("of", "mean"), entry.get("text", "")
    )


def parse_change(entry: Mapping[str, Any], path: str, table: Published) -> Change:
    """Return a stated difference."""
    percent = entry.get("percent")
    keys({**entry, "percent": ""}, path, {"column": str, "of": str, "to": str, "percent": str}, required=("column", "of", "to"))
    if isinstance(percent, bool) or not isinstance(percent, str | int | float) or not numeric(str(percent)):
        raise InputError(f"{path}.percent", f"{percent!r} is not a number")
    one_of(entry["column"], f"{path}.column", [column.name for column in table.columns])
    labels = texts([row[0] for row in table.rows], f"{path}.of")
    for key in ("of", "to"):
        one_of(entry[key], f"{path}.{key}", labels)
    return Change(entry["column"], entry["of"], entry["to"], str(percent).strip())
