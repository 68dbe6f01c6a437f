"""Published tables (`[[published]]`): the numbers of a report as it printed them, with what each column is.

A row is one record (an algorithm, an application), a column one quantity; analysis/consistency.py holds them against each other.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from tonopah._core import parse_quantity
from tonopah.spec.validation import Filled, Many, Model, distinct, distinct_names, one_of, refuse, shorten
from tonopah.units import SI_UNITS

QUANTITIES = (
    "throughput", "offered", "sent", "received", "dropped", "delivery", "drop", "delay", "jitter", "received_bytes",
    "generated_bytes", "jain",
)  # fmt: skip
UNITS = {
    "": 1.0, "%": 0.01, "packets": 1.0, "b/s": 1.0, "bit/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9,
    "Kib/s": 1024.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "B": 1.0, "bytes": 1.0, "kB": 1e3, "MB": 1e6,
    "J": 1.0, "J/s": 1.0,
}  # fmt: skip
"""Units of columns as reports print them, and their SI values."""


def numeric(cell: str) -> bool:
    """Tell whether a cell is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


class Column(Model):
    """A column as printed."""

    name: str = Field(description="Its heading.")
    unit: Literal[*UNITS] = Field("", description="Unit of its numbers.")  # pyright: ignore[reportInvalidTypeForm]
    quantity: Literal["", *QUANTITIES] = Field(  # pyright: ignore[reportInvalidTypeForm]
        "", alias="is", description="The quantity that it holds, if a rule is to be applied to it."
    )

    metric: str = Field("", description="Column of the runs that holds ours, in a table with `part`.")
    within: float = Field(0.0, description="How far ours may be from it, in its unit.")
    within_percent: float = Field(0.0, description="How far ours may be from it, in percent of it.")
    within_factor: float = Field(0.0, description="Largest ratio of the two, either way.")

    @property
    def allowed(self) -> str:
        """How far ours may be, in words; empty if the table does not say."""
        if self.within_factor:
            return f"factor {self.within_factor:g}"
        if self.within_percent:
            return f"±{self.within_percent:g} %"
        return f"±{self.within:g} {self.unit}".rstrip() if self.within else ""

    def agrees(self, ours: float, printed: float) -> bool:
        """Whether a number in this unit is as near as is allowed; the last digit printed is no difference."""
        if self.within_factor:
            return ours > 0 and printed > 0 and 1 / self.within_factor <= ours / printed <= self.within_factor
        return abs(ours - printed) <= self.within + self.within_percent / 100 * abs(printed) + 1e-12


class Best(Model):
    """What the text says about a column: whose value is the highest or lowest."""

    column: str = Field(description="Heading of the column.")
    highest: str = Field("", description="Whose value is said to be the highest; this or `lowest`.")
    lowest: str = Field("", description="Whose value is said to be the lowest.")
    by: str = Field("", description="Column that groups the rows; the first if absent.")
    per: str = Field("", description="Column by whose cells the table is split: the best is sought in each piece.")
    of: Literal["mean", "sum"] = Field("mean", description="How a group is summarised.")
    text: str = Field("", description="Number of the claim in the report.")

    @model_validator(mode="after")
    def check_extreme(self) -> "Best":
        """Refuse both or none of the extremes."""
        if bool(self.highest) == bool(self.lowest):
            raise refuse("needs highest or lowest", 'highest = "CUBIC"')
        return self

    @property
    def who(self) -> str:
        """Who is named as the best."""
        return self.highest or self.lowest


def to_digits(value: Any) -> str:
    """Return a number, or text that is one, as text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not numeric(str(value)):
        raise refuse(f"{shorten(value)} is not a number")
    return str(value).strip()


class Change(Model):
    """A difference in percent that the text or the table states."""

    column: str = Field(description="Heading of the column.")
    of: str = Field(description="First cell of the row that is compared.")
    to: str = Field(description="First cell of the row that it is compared with.")
    percent: Annotated[str, BeforeValidator(to_digits, json_schema_input_type=str | float)] = Field(
        description="The difference with the digits as printed."
    )


def given_as(kind: str) -> Any:
    """Return the type of a quantity of this kind, kept in SI units."""

    def convert(value: Any) -> float:
        try:
            return parse_quantity(value if isinstance(value, str) else "", kind)
        except ValueError:
            raise refuse(f"{shorten(value)} has the wrong unit", f"a value in {SI_UNITS[kind]}, with its unit") from None

    return Annotated[float, BeforeValidator(convert, json_schema_input_type=str)]


class Given(Model):
    """What the text around a table states."""

    duration: given_as("duration") | None = Field(None, description="Length of a run.")  # pyright: ignore[reportInvalidTypeForm]
    interval: given_as("duration") | None = Field(None, description="Time between two packets of an application.")  # pyright: ignore[reportInvalidTypeForm]
    packet: given_as("size") | None = Field(None, description="Size of a packet.")  # pyright: ignore[reportInvalidTypeForm]
    offered: given_as("rate") | None = Field(None, description="Offered load.")  # pyright: ignore[reportInvalidTypeForm]
    flows: int | None = Field(None, description="Number of flows.")
    acks_counted: bool | None = Field(
        None,
        description="Packets are those of data and ACKs, one ACK for two segments, and throughput is the mean of both flows.",
    )


def to_cells(row: Any) -> tuple[str, ...]:
    """Return the cells of a row as text, so that their digits count."""
    if not isinstance(row, list | tuple):
        raise refuse(f"{shorten(row)} is not an array")
    for i, value in enumerate(row):
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise refuse(f"{shorten(value)} is neither a number nor text", at=(i,))
    return tuple(value.strip() if isinstance(value, str) else repr(value) for value in row)


Row = Annotated[tuple[str, ...], BeforeValidator(to_cells, json_schema_input_type=list[str | float])]


class Published(Model):
    """A published table; an empty cell is one that the original leaves empty."""

    MISPLACED: ClassVar = {
        "numbers": ("is no key any more", "columns and rows: the shipped studies have those of the scripts"),
    }

    id: str = Field(description="Its number in the report; each has its own.")
    caption: str = Field(description="What it shows.")
    columns: Annotated[Filled[Column], AfterValidator(distinct_names)] = Field(description="Its columns.")
    rows: Many[Row] = Field(
        (), description='Its rows, or `{ file = "mine.csv" }`; a number is written as text where the original has trailing zeros.'
    )
    part: str = Field("", description="Part whose runs are held against it; the first column names what is compared there.")
    over: str = Field("", description="Axis of that part whose values the second column holds; its nominal point if absent.")
    labels: dict[str, str] = Field(
        default_factory=dict, description="What the part calls what the first column names, where that differs."
    )
    stated: Given = Field(default_factory=Given, alias="given", description="What the text around it states.")  # pyright: ignore[reportArgumentType]
    best: Many[Best] = Field((), alias="claims", description="What the text says about the best of a column.")
    changes: Many[Change] = Field((), alias="differences", description="Differences in percent that the text states.")

    @model_validator(mode="after")
    def check_rows(self) -> "Published":
        """Refuse rows that do not fit the columns."""
        for i, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                hint = f"{len(self.columns)}, one for each column; empty text where there is none"
                raise refuse(f"has {len(row)} cells", hint, ("rows", i))
            for j, (cell, column) in enumerate(zip(row, self.columns, strict=True)):
                if column.quantity and cell and not numeric(cell):
                    raise refuse(f"{shorten(cell)} is not a number", f"the column is {column.quantity}", ("rows", i, j))
        return self

    @model_validator(mode="after")
    def check_names(self) -> "Published":
        """Refuse statements about columns and rows that the table does not have."""
        names = [column.name for column in self.columns]
        for i, best in enumerate(self.best):
            at = ("claims", i)
            for key in ("column", "by", "per"):
                if key == "column" or getattr(best, key):
                    one_of(getattr(best, key), names, (*at, key))
            known = dict.fromkeys(self.cell(row, best.by or names[0]) for row in self.rows)
            one_of(best.who, known, (*at, "highest" if best.highest else "lowest"))
        labels = [row[0] for row in self.rows]
        if self.changes:
            distinct(tuple(labels))
        for i, change in enumerate(self.changes):
            one_of(change.column, names, ("differences", i, "column"))
            one_of(change.of, labels, ("differences", i, "of"))
            one_of(change.to, labels, ("differences", i, "to"))
        return self

    @property
    def given(self) -> dict[str, float]:
        """What the text states, in SI units; only what it states."""
        return {key: float(value) for key, value in self.stated.model_dump(exclude_none=True).items()}

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

    def group(self, row: tuple[str, ...], best: Best) -> str:
        """Return the group that a row belongs to."""
        return self.cell(row, best.by or self.columns[0].name)
