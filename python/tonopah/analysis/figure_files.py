"""The numbers of figures as CSV files, and the folder that holds them.

The folder is written as a whole beside the old one and takes its place at once: no file of an earlier version of the study stays.
"""

import csv
import io
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tonopah.analysis.figure_model import FigureAxis, FigureData, Series
from tonopah.analysis.tables import safe_text

OURS = (".csv", ".svg", ".pdf", ".png", ".pgf")
"""Endings of the files of figures; any other file in their folder is somebody else's and is kept."""


def short(value: float | None) -> float | int | None:
    """Return a whole number without its decimal point."""
    return int(value) if value is not None and value.is_integer() and abs(value) < 1e15 else value


def with_unit(key: str, unit: str) -> str:
    """Return the heading of a column."""
    return f"{key} ({unit})" if unit and not key.endswith(f"_{unit}") else key


def as_csv(figure: FigureData) -> str:
    """Return the numbers of a figure as CSV (RFC 4180, lines end as in Unix)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([safe_text(cell) for cell in row] for row in csv_rows(figure))
    return text.getvalue()


def csv_rows(figure: FigureData) -> Iterator[list[Any]]:
    """Yield heading and rows: a row for each value, single replicates and published numbers at the end."""
    who = "flow" if any(one.flow is not None and one.label.startswith(f"{one.flow}:") for one in figure.series) else "algorithm"
    if figure.kind in ("ecdf", "series"):
        yield [who, with_unit(figure.x.key, figure.x.unit), with_unit(figure.y.key, figure.y.unit)]
        yield from ([one.label, short(x), short(y)] for one in figure.series for x, y in zip(one.x, one.y, strict=True))
        return
    if figure.kind == "scatter":
        yield from scatter_rows(figure, who)
        return
    axes = [axis for axis in (None if figure.kind == "bar" else figure.x, figure.rows) if axis]
    extra = bool(figure.published or any(one.points for one in figure.series))
    names = [with_unit(axis.key, axis.unit) for axis in axes]
    yield [who, *names, "metric", "unit", "value", "low", "high", "n", *(["role"] if extra else [])]
    for one in figure.series:
        for i, value in enumerate(one.y):
            at = [place(axis, values[i]) for axis, values in zip(axes, (one.x, one.row), strict=False)]
            interval = [short(one.low[i]), short(one.high[i]), one.n[i]]
            yield [one.label, *at, figure.y.key, figure.y.unit, short(value), *interval, *(["estimate"] if extra else [])]
    for label, x, value, role in single_points(figure.series, figure):
        at = [place(axis, x) for axis in axes]
        yield [label, *at, figure.y.key, figure.y.unit, short(value), None, None, 1 if role == "replicate" else None, role]


def scatter_rows(figure: FigureData, who: str) -> Iterator[list[Any]]:
    """Yield heading and rows of a scatter figure: both metrics with their intervals."""
    ends = [with_unit(axis.key, axis.unit) for axis in (figure.x, figure.y)]
    yield [who, *(name for end in ends for name in (end, f"low of {end}", f"high of {end}")), "n"]
    for one in figure.series:
        values = (one.x, one.x_low, one.x_high, one.y, one.low, one.high)
        yield [one.label, *(short(value[0]) for value in values), one.n[0]]


def single_points(series: list[Series], figure: FigureData) -> Iterator[tuple[str, float | None, float | None, str]]:
    """Yield label, place, value and role of what stands beside estimates."""
    for one in series:
        for x, y in zip(one.points.x, one.points.y, strict=True) if one.points else ():
            yield one.label, x, y, "replicate"
    for printed in figure.published:
        for x, y in zip(printed.x, printed.y, strict=True):
            yield printed.label, x, y, "published"


def place(axis: FigureAxis, value: float | None) -> Any:
    """Return a place on an axis: its number, or its tick where the values of the study file are no numbers."""
    tick = dict(zip(axis.values, axis.ticks, strict=True)).get(value) if value is not None else None
    try:
        float(tick or 0)
    except ValueError:
        return tick
    return short(value)


def write_figures(figures: Iterable[FigureData], folder: Path) -> None:
    """Write the numbers of all figures into `folder`, in place of what earlier figures left there. Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    new, old = aside / "new", aside / "old"
    try:
        new.mkdir()
        for figure in figures:
            (new / f"{figure.id}.csv").write_text(as_csv(figure), encoding="utf-8")
        if folder.exists():
            folder.rename(old)
        try:
            new.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
        # What this program did not write it does not remove.
        for kept in (path for path in (old.iterdir() if old.is_dir() else ()) if path.suffix not in OURS or path.is_dir()):
            kept.rename(folder / kept.name)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
