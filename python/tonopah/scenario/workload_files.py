"""Files that workloads name: distributions of sizes, and lists of arrivals."""

import io
import math
from typing import Any

from tonopah.errors import InputError
from tonopah.scenario.csv_files import read_csv

MAX_ROWS = 10_000_000
"""Lines of a file."""

MAX_SHOWN = 40
"""Letters of a line that a message repeats."""

MAX_BYTES = 1e12
"""Largest size of a flow: 1 TB."""

MAX_TIME_S = 1e7
"""Longest time of a scenario."""

COLUMNS = ("t_s", "from", "to", "bytes")
"""Columns of a list of arrivals."""


def read_sizes(data: bytes, source: str) -> list[list[float]]:
    """Return the points of a cumulative distribution function, of shares from 0 to 1.

    A line has the size in bytes and, in its last column, the cumulative probability, by spaces or commas. A last
    probability above 1 makes all of them percent. Empty lines and those that begin with # are left out.
    """
    points: list[list[float]] = []
    lines: list[int] = []
    for line, text in enumerate(data.decode("utf-8-sig", errors="replace").splitlines(), 1):
        words = text.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        values = [number(word) for word in words]
        if len(values) not in (2, 3) or not all(map(math.isfinite, values)):
            raise wrong(line, f"{text[:MAX_SHOWN]!r} is not a size and a probability", "two numbers, or three", source)
        if not 0 <= values[0] <= MAX_BYTES:
            raise wrong(line, f"the size {values[0]:g} is wrong", "from 0 to 1e12 bytes", source)
        point = [values[0], values[-1]]
        if points and (point[0] < points[-1][0] or point[1] < points[-1][1]):
            raise wrong(line, f"{text[:MAX_SHOWN]!r} is below the line before it", "neither column decreases", source)
        points.append(point)
        lines.append(line)
    if not 2 <= len(points) <= MAX_ROWS:
        raise InputError("", f"has {len(points):,} points", f"2 to {MAX_ROWS:,}", source)
    whole = 100.0 if points[-1][1] > 1 else 1.0
    if points[0][1] < 0:
        raise wrong(lines[0], f"the probability {points[0][1]:g} is wrong", "from 0 on", source)
    if abs(points[-1][1] / whole - 1) > 1e-9:
        raise wrong(lines[-1], f"the last probability is {points[-1][1]:g}", "1, or 100 percent", source)
    return [[size, min(share / whole, 1.0)] for size, share in points[:-1]] + [[points[-1][0], 1.0]]


def read_arrivals(data: bytes, source: str) -> list[list[Any]]:
    """Return the arrivals of a CSV file with the column `t_s`, and of `from`, `to` and `bytes` those that it has."""
    table = read_csv(io.StringIO(data.decode("utf-8-sig", errors="replace"), newline=""), source)
    header = [word.strip() for word in next(table, (1, []))[1]]
    if "t_s" not in header or len(set(header)) < len(header) or not set(header) <= set(COLUMNS):
        raise wrong(1, f"{','.join(header)[:MAX_SHOWN]!r} is not the header", "t_s and some of from, to, bytes", source)
    column = [header.index(name) if name in header else len(header) for name in COLUMNS]
    rows: list[list[Any]] = []
    before = 0.0
    for line, words in table:
        # What no column has is empty.
        cells = [*map(str.strip, words), ""]
        if not any(cells):
            continue
        at = number(cells[column[0]]) if len(words) == len(header) else math.nan
        if not before <= at <= MAX_TIME_S:
            shown = ",".join(words)[:MAX_SHOWN]
            raise wrong(line, f"{shown!r} is wrong", f"{','.join(header)}, with times that do not decrease", source)
        source_node, sink, size = (cells[place] for place in column[1:])
        if size and (not 1 <= (value := number(size)) <= MAX_BYTES or value != int(value)):
            raise wrong(line, f"the size {size[:MAX_SHOWN]!r} is wrong", "a whole number of bytes from 1 to 1e12", source)
        before = at
        rows.append([f"{round(at * 1e9)}ns", source_node or None, sink or None, f"{int(float(size))}B" if size else None])
    if not 1 <= len(rows) <= MAX_ROWS:
        raise InputError("", f"has {len(rows):,} arrivals", f"1 to {MAX_ROWS:,}", source)
    return rows


def number(word: str) -> float:
    """Return a word as a number, NaN if it is none."""
    try:
        return float(word)
    except ValueError:
        return math.nan


def wrong(line: int, message: str, allowed: str, source: str) -> InputError:
    """Return the error of a line."""
    return InputError(f"line {line}", message, allowed, source)
