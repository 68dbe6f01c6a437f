"""Rates over time from a table (CSV): the columns `t_s` and `rate_bps`, or those that `columns` names, with a delay perhaps."""

import io
import itertools
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tonopah.errors import InputError, near_names
from tonopah.scenario.csv_files import read_csv
from tonopah.scenario.files import instant

MAX_ROWS = 10_000_000
"""Rows of a table of rates."""

MAX_LISTED = 100_000
"""More rows become text, whose SHA-256 stands for them in what is shown."""

MAX_SHOWN = 40
"""Letters of a line that a message repeats."""

TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
RATE_UNITS = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Bps": 8.0, "kBps": 8e3, "MBps": 8e6}
PLAIN = {"time": "t_s", "rate": "rate_bps"}
"""The columns of a table without `columns`."""


class Column(NamedTuple):
    """Where a quantity stands in each row, and its unit in s or bit/s."""

    place: int
    unit: float


class Rates(NamedTuple):
    """The rows of a table: seconds from the first, bit/s, and one-way delays in seconds if it has them."""

    times: "array[float]"
    bps: "array[float]"
    delays: "array[float]"


def read_rates(data: bytes, source: str) -> list[list[str]] | str:
    """Return the rows of a CSV file with the columns `t_s` and `rate_bps` as the engine takes them."""
    return points_of(read_table(data, PLAIN, source), source)


def points_of(rates: Rates, source: str) -> list[list[str]] | str:
    """Return rates as the engine takes them: a list, or text if they are many."""
    rows = zip(rates.times, rates.bps, strict=True)
    if len(rates.times) > MAX_LISTED:
        return " ".join(f"{round(at * 1e9)} {round(bps)}" for at, bps in rows)
    return [[instant(at, "", source), f"{round(bps)}bps"] for at, bps in rows]


def changes_of(rates: Rates, source: str) -> list[dict[str, str]]:
    """Return the delays as changes of a link: those rows that differ from the one before."""
    return [{"at": instant(at, "", source), "delay": f"{round(delay * 1e9)}ns"} for at, delay in steps(rates.times, rates.delays)]


def steps(times: Iterable[float], values: Iterable[float]) -> Iterator[tuple[float, float]]:
    """Yield the values that differ from the one before, each with its time."""
    last = None
    for at, value in zip(times, values, strict=True):
        if value != last:
            yield at, value
        last = value


def read_table(data: bytes, columns: Mapping[str, str], source: str) -> Rates:
    """Return the rows of a CSV file. Empty lines are left out; where columns are named, times count from the first row."""
    lines = read_csv(io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", errors="replace", newline=""), source)
    _, header = next(lines, (1, []))
    places = find_columns(header, columns, source)
    time, rate = places["time"], places["rate"]
    delay = places.get("delay")
    rates = Rates(array("d"), array("d"), array("d"))
    begin, before = None, -1.0
    for line, cells in itertools.islice(lines, MAX_ROWS + 1):
        if not any(cells):
            continue
        where = f"line {line}"
        if len(cells) != len(header):
            shown = ",".join(cells)[:MAX_SHOWN]
            raise InputError(where, f"{shown!r} has {len(cells)} cells", f"{len(header)}, as the header", source)
        stamp = number(cells, time, where, source)
        begin = (0.0 if columns is PLAIN else stamp) if begin is None else begin
        at = stamp - begin
        if (not rates.times and at != 0) or not before < at <= 1e9:
            raise InputError(where, f"the time {at:g} is wrong", "times increase, from 0", source)
        bps = number(cells, rate, where, source)
        if not (bps == 0 or 1 <= bps <= 1e15):
            raise InputError(where, f"the rate {bps:g} is wrong", "bit/s: 0, or from 1 to 1e15", source)
        if delay is not None:
            rates.delays.append(number(cells, delay, where, source))
            if not 0 <= rates.delays[-1] <= 1000:
                raise InputError(where, f"the delay of {rates.delays[-1]:g} s is wrong", "from 0 to 1000 s", source)
        rates.times.append(at)
        rates.bps.append(bps)
        before = at
    if len(rates.times) > MAX_ROWS or not rates.times:
        raise InputError("", "has no rows" if not rates.times else "has too many rows", f"1 to {MAX_ROWS:,}", source)
    return rates


def find_columns(header: list[str], columns: Mapping[str, str], source: str) -> dict[str, Column]:
    """Return where the columns of a table are."""
    names = [name.strip() for name in header]
    if columns is PLAIN and names != list(PLAIN.values()):
        shown = ",".join(header)[:MAX_SHOWN]
        raise InputError("line 1", f"{shown!r} is not the header", "t_s,rate_bps; of other files give columns", source)
    found = {}
    for what in ("time", "rate", "delay"):
        if what not in columns:
            continue
        if columns[what] not in names:
            near = near_names(columns[what], names) or names
            message = f"there is no column {columns[what]!r}"
            raise InputError("line 1", message, f"columns: {', '.join(near)[:200]}", source)
        units = RATE_UNITS if what == "rate" else TIME_UNITS
        unit = columns.get(f"{what}_unit", "bps" if what == "rate" else "s")
        if unit not in units:
            raise InputError("", f"columns.{what}_unit: {unit!r} is unknown", f"one of {', '.join(units)}", source)
        found[what] = Column(names.index(columns[what]), 1.0 if columns is PLAIN else units[unit])
    return found


def number(cells: list[str], column: Column, where: str, source: str) -> float:
    """Return the number in a cell in the unit of its column."""
    try:
        value = float(cells[column.place]) * column.unit
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        text = ",".join(cells)[:MAX_SHOWN]
        raise InputError(where, f"{text!r} has no number in column {column.place + 1}", None, source)
    return value


def set_delays(link: dict[str, Any], rates: Rates, source: str) -> None:
    """Give a link the delays of a table: the first, and changes."""
    if link.get("changes"):
        raise InputError("", "columns.delay: stands beside changes of the link", "one of them", source)
    changes = changes_of(rates, source)
    link.setdefault("delay", changes[0]["delay"])
    link["changes"] = changes
