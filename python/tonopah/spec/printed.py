"""Published tables that are held against runs: which number is about which of them, and the shipped numbers of scripts."""

from collections.abc import Mapping
from typing import Any

from tonopah.authors.network import MEDIAN, Network
from tonopah.authors.numbers import stored, stored_units
from tonopah.errors import InputError
from tonopah.spec import scripts
from tonopah.spec.columns import check_metric
from tonopah.spec.model import Part, PrintedNumber
from tonopah.spec.part import axes_hint
from tonopah.spec.published import Column, Published, numeric
from tonopah.spec.resolution import choose_part
from tonopah.spec.validation import cut, list_allowed, shorten

UNITS_OF_NUMBERS = {
    "kbit/s": "kb/s", "kb/s of 1024 bit": "Kib/s", "Mbit/s": "Mb/s", "bit/s": "bit/s", "1": "", "%": "%", "s": "s", "J": "J",
    "J/s": "J/s", "packets": "packets", "exits": "",
}  # fmt: skip
"""Units of the shipped numbers as those of published tables."""


def resolve_published(table: Published, path: str, parts: list[Part]) -> Published:
    """Return a table whose part and columns are there, with the cells of shipped numbers. Raises InputError."""
    if not table.part:
        for i, column in enumerate(table.columns):
            if column.metric:
                raise InputError(f"{path}.columns[{i}].metric", "has no meaning without part")
        return table
    part = choose_part(table.part, path, parts)
    if table.over and part.sweep_over({table.over}) is None:
        raise InputError(f"{path}.over", f"no sweep varies {cut(table.over)} alone", axes_hint(part.sweeps))
    if table.numbers:
        return with_numbers(table, path, part)
    own = [column for derived in part.derived for column in derived.columns()]
    for i, column in enumerate(table.columns):
        if column.metric:
            check_metric(column.metric, f"{path}.columns[{i}].metric", "run", own)
    for i, row in enumerate(table.rows):
        if label_of(table, row, part) is None:
            raise InputError(f"{path}.rows[{i}][0]", f"{shorten(row[0])} is unknown", list_allowed(part.labels, value=row[0]))
    return table


def label_of(table: Published, row: tuple[str, ...], part: Part) -> str | None:
    """Return which of the compared a row is about, whatever its capitals."""
    wanted = table.labels.get(row[0], row[0]).casefold()
    return next((label for label in part.labels if label.casefold() == wanted), None)


def with_numbers(table: Published, path: str, part: Part) -> Published:
    """Return a table with the shipped numbers of the script that its part follows."""
    if not scripts.is_script(part.scenario):
        raise InputError(f"{path}.numbers", f"part {part.id} follows no script", "scenario.author of that part")
    network = scripts.named(part.scenario)
    parameter = table.over.removeprefix(f"{scripts.KEY}.")
    found: list[tuple[str, str, Mapping[str, list[float]]]] = []
    for (seed, name, algorithm, axis, value), by_origin in stored().items():
        stands = seed == network.seed and name in network.stored_as() and network.axes.get(axis, "") == parameter
        point = network.point(algorithm, axis, value) if stands else None
        if point is not None and table.numbers in by_origin:
            label = label_at(part, network, {**point, **network.stored_as()[name]}, parameter)
            own = {metric.removesuffix(MEDIAN): numbers for metric, numbers in by_origin[table.numbers].items()}
            found += [(label, value, own)] if label else []
    names = [name for name in network.columns if any(name in numbers for _, _, numbers in found)]
    if not names:
        raise InputError(f"{path}.numbers", f"there are none of this network along {table.over or 'no axis'}")
    columns = [
        Column(name="compared"),  # pyright: ignore[reportCallIssue]
        *([Column(name=parameter)] if parameter else []),  # pyright: ignore[reportCallIssue]
        *(column_of(network, one) for one in names),
    ]
    rows = tuple(
        (label, *([value] if parameter else []), *(mean_text(numbers.get(name, [])) for name in names))
        for label, value, numbers in found
    )
    return table.model_copy(update={"columns": tuple(columns), "rows": rows})


def label_at(part: Part, network: Network, point: Mapping[str, Any], parameter: str) -> str | None:
    """Return what of a part has the parameters of a stored point, whatever the value on its axis; None if nothing has."""
    wanted = network.complete(point)
    for variant in part.variants:
        own = {path.removeprefix(f"{scripts.KEY}."): value for path, value in variant.changes.items()}
        here = scripts.parameters(part.scenario) | own
        if all(here[key] == value for key, value in wanted.items() if key != parameter):
            return variant.label
    return None


def column_of(network: Network, name: str) -> Column:
    """Return the column of a shipped number."""
    unit = UNITS_OF_NUMBERS[stored_units()[network.seed, name]]
    goal = network.goals.get(name)
    made = Column(name=name.replace("_", " "), unit=unit, metric=f"{network.metrics}.{network.columns[name][0]}")  # pyright: ignore[reportCallIssue]
    if goal is None:
        return made
    allowed = {"within": goal.absolute, "within_percent": 100 * goal.relative, "within_factor": goal.factor}
    return made.model_copy(update=allowed)


def mean_text(numbers: list[float]) -> str:
    """Return a number as text, of several runs their mean; empty if there is none."""
    return f"{sum(numbers) / len(numbers):.8g}" if numbers else ""


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
