"""Files that links and workloads name: traces of opportunities (mahimahi), rates over time, distributions, arrivals.

The engine knows no files: `file` gets the contents beside it, as the engine takes them, and the SHA-256 of the file.
"""

import hashlib
import math
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tonopah.errors import InputError
from tonopah.scenario.files import read_file
from tonopah.scenario.paths import inner
from tonopah.scenario.rate_files import MAX_SHOWN, points_of, read_rates, read_table, set_delays
from tonopah.scenario.setdest import named_by
from tonopah.scenario.workload_files import read_arrivals, read_sizes

MAX_FILE_BYTES = 512 * 1024 * 1024
"""Limit of the size of a file, also of what a compressed one stands for."""

MOST_BPS, MOST_DELAY_S = 1e15, 1000.0
"""The greatest rate and delay of a link."""

MAX_LINES = 50_000_000
MAX_ROWS = 100_000
"""Lines of a trace, and rows of a table of delays."""

MAX_STAMP = 2**32 - 1
"""Largest time of a trace, in milliseconds."""


class Table(NamedTuple):
    """A table of a scenario that names a file, and the table in which it stands."""

    path: str
    key: str
    content: dict[str, Any]
    around: dict[str, Any]


def inline_link_files(scenario: dict[str, Any], folder: Path, source: str | None = None) -> None:
    """Give each table of a link or workload that names a file the contents of that file; names are relative to `folder`."""
    for table in named_tables(scenario, "", "", {}):
        reader = READERS.get((table.key, str(table.content.get("kind"))))
        if reader is None:
            continue
        if reader.key == "points" and isinstance(table.content.get("columns"), dict):
            reader = Reader(partial(read_columns, table), "points")
        try:
            fill(table.content, folder / table.content["file"], reader)
        except InputError as error:
            raise named_by(error, f"{table.path}.file", source) from None


def named_tables(value: Any, path: str, key: str, around: dict[str, Any]) -> Iterator[Table]:
    """Yield the tables below `path` that name a file."""
    if isinstance(value, dict):
        if isinstance(value.get("file"), str):
            yield Table(path, key, value, around)
        for name, below in list(value.items()):
            yield from named_tables(below, f"{path}.{name}" if path else str(name), str(name), value)
    elif isinstance(value, list):
        for index, below in inner(value):
            yield from named_tables(below, f"{path}[{index}]", key, around)


def read_columns(table: Table, data: bytes, source: str) -> list[list[str]] | str:
    """Return the rates of a file whose columns a table names; the link around it gets its delays."""
    columns = table.content["columns"]
    if not all(isinstance(name, str) for name in columns.values()) or not {"time", "rate"} <= set(columns):
        raise InputError("", "columns: names those of time and rate, as text", "and perhaps delay", source)
    rates = read_table(data, columns, source)
    # A resolved scenario has them already.
    if "delay" in columns and "sha256" not in table.content:
        if table.path.endswith("reverse.service"):
            raise InputError("", "columns.delay: a delay is of both directions", "name it in the link's own service", source)
        set_delays(table.around, rates, source)
    return points_of(rates, source)


def fill(table: dict[str, Any], path: Path, reader: "Reader") -> None:
    """Put the contents of the file at `path` into `table`."""
    data = read_file(path, "a file of a scenario", MAX_FILE_BYTES)
    digest = hashlib.sha256(data).hexdigest()
    contents = reader.read(decompressed(data, path), str(path))
    known = table.get("sha256", table.get("times"))
    if isinstance(known, str) and not known.removeprefix("sha256:").startswith(digest):
        message = f"is not the file that sha256 or times stands for: its SHA-256 is {digest}"
        raise InputError("", message, "remove what stands beside file", str(path))
    table[reader.key] = f"sha256:{digest} {contents}" if isinstance(contents, str) else contents
    if reader.key != "times":
        table["sha256"] = digest


def decompressed(data: bytes, path: Path) -> bytes:
    """Return the contents of a file, which is compressed if its name ends in `.gz` (RFC 1952)."""
    if path.suffix != ".gz":
        return data
    reader = zlib.decompressobj(wbits=31)
    try:
        text = reader.decompress(data, MAX_FILE_BYTES + 1)
    except zlib.error as error:
        raise InputError("", f"is not a gzip file: {error}", None, str(path)) from None
    if len(text) > MAX_FILE_BYTES:
        raise InputError("", "is too large when decompressed", f"at most {MAX_FILE_BYTES:,} bytes", str(path))
    if not reader.eof or reader.unused_data:
        raise InputError("", "is not a whole gzip file", "one member, to its end", str(path))
    return text


def read_text(name: str) -> str:
    """Return the text of a file, which may be compressed. Raises InputError."""
    path = Path(name)
    data = read_file(path, "a file that others wrote", MAX_FILE_BYTES)
    try:
        return decompressed(data, path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start}", "is not UTF-8 text", None, name) from None


def read_trace(data: bytes, source: str) -> str:
    """Return the times of a trace, a whole number of milliseconds on each line, as the engine takes them."""
    text = data.replace(b"\r\n", b"\n").removesuffix(b"\n")
    if not text:
        raise InputError("", "is empty", "a time in milliseconds on each line", source)
    # First of all: to look at each of hundreds of millions of lines takes minutes.
    if (lines := text.count(b"\n") + 1) > MAX_LINES:
        raise InputError("", f"has {lines:,} lines", f"at most {MAX_LINES:,}", source)
    # A letter, an empty line or a number without end.
    if wrong := re.search(rb"[^0-9\n]|^(?=\n)|(?<=\n)(?=\n)|(?<=\n)\Z|[0-9]{11}", text):
        line = text.count(b"\n", 0, wrong.start()) + 1
        raise InputError(f"line {line}", f"{shown(text, line)} is not a whole number of milliseconds", None, source)
    stamps = np.fromstring(text.decode("ascii"), dtype=np.int64, sep="\n")
    if (large := stamps > MAX_STAMP).any():
        line = int(large.argmax()) + 1
        raise InputError(f"line {line}", f"{shown(text, line)} is above {MAX_STAMP} ms", None, source)
    if (falls := np.diff(stamps) < 0).any():
        line = int(falls.argmax()) + 2
        raise InputError(f"line {line}", f"{shown(text, line)} is below the time before it", "times do not decrease", source)
    if stamps[-1] == 0:
        raise InputError(f"line {len(stamps)}", "the last time is 0", "it is the period of the trace", source)
    return text.decode("ascii")


def shown(text: bytes, line: int) -> str:
    """Return a line, numbered from 1, as a message repeats it."""
    return repr(text.split(b"\n", line)[line - 1][:MAX_SHOWN].decode("utf-8", errors="replace"))


def read_quantiles(data: bytes, source: str) -> list[list[Any]]:
    """Return the rows of a CSV file with the columns `q` and `delay_s`: an inverse distribution function."""
    rows: list[list[Any]] = []
    for line, [share, delay] in read_rows(data, ["q", "delay_s"], source):
        if not 0 <= share <= 1 or not 0 <= delay <= 1e6:
            raise InputError(f"line {line}", f"{share:g},{delay:g} is wrong", "q from 0 to 1, delay_s from 0 to 1e6", source)
        rows.append([share, f"{round(delay * 1e9)}ns"])
    return rows


def read_rows(data: bytes, columns: list[str], source: str) -> Iterator[tuple[int, list[float]]]:
    """Yield the rows of a CSV file with these columns, which a header names, and their lines. Empty lines are left out."""
    lines = data.decode("utf-8-sig", errors="replace").splitlines()
    header = ",".join(columns)
    if not lines or [word.strip() for word in lines[0].split(",")] != columns:
        raise InputError("line 1", f"{(lines or [''])[0][:MAX_SHOWN]!r} is not the header", header, source)
    if len(lines) > MAX_ROWS + 1:
        raise InputError("", f"has {len(lines):,} lines", f"at most {MAX_ROWS + 1:,}", source)
    for line, text in enumerate(lines[1:], 2):
        if not text.strip():
            continue
        try:
            values = [float(word) for word in text.split(",")]
        except ValueError:
            values = []
        if len(values) != len(columns) or not all(map(math.isfinite, values)):
            raise InputError(f"line {line}", f"{text[:MAX_SHOWN]!r} is not {len(columns)} numbers", header, source)
        yield line, values


class Reader(NamedTuple):
    """How a file is read, and the key that it stands for."""

    read: Callable[[bytes, str], Any]
    key: str


READERS = {
    ("service", "trace"): Reader(read_trace, "times"),
    ("service", "rate_trace"): Reader(read_rates, "points"),
    ("jitter", "file"): Reader(read_quantiles, "points"),
    ("by", "file"): Reader(read_quantiles, "points"),
    ("size", "cdf"): Reader(read_sizes, "points"),
    ("arrivals", "list"): Reader(read_arrivals, "rows"),
}
"""By key and kind of a table: how its file is read."""
