"""A picture of each slip: bars with it and without it for each of the compared, and crosses for what the original printed."""

import re
from collections.abc import Iterator
from pathlib import Path

from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, PublishedPoints, Series, as_numbers
from tonopah.plot.look import Look
from tonopah.plot.picture import write_picture
from tonopah.reports.mechanisms.numbers import Shown, Side
from tonopah.scenario.paths import fetch
from tonopah.spec.model import StudySpec

APART = 2.6
"""Distance of two pairs of bars; those of a pair are 1 apart."""


def write(found: list[Shown], spec: StudySpec, folder: Path) -> list[Path]:
    """Write a picture of each slip whose two numbers have one unit, and its numbers beside it; return their paths."""
    look = Look(titled=True)
    return [write_picture(figure(one, spec), look, "svg", folder) for one in found if is_drawn(one)]


def is_drawn(one: Shown) -> bool:
    """Tell whether a slip has numbers, and both the same unit."""
    return bool(one.rows) and all(a.metric.unit == b.metric.unit for a, b in one.rows)


def figure(one: Shown, spec: StudySpec) -> FigureData:
    """Return a slip as a figure."""
    metric, mechanism = one.rows[0][0].metric, one.mechanism
    series, at, ticks = [], [], []
    for i, pair in enumerate(one.rows):
        for side, (number, words) in enumerate(zip(pair, ("with", "without"), strict=True)):
            at.append(APART * i + side)
            ticks.append(f"{number.label}, {words}")
            series.append(bar(number, ticks[-1], at[-1], side))
    printed = list(crosses(one, spec))
    n = max(side.found.n for pair in one.rows for side in pair)
    title = f"{mechanism.id}, n = {n}: {one.rows[0][0].part}"
    name = re.sub(r"\W+", "-", mechanism.id.lower()).strip("-")
    axis = FigureAxis("of", "Of", values=at, ticks=ticks)
    return FigureData(
        f"slip-{name}", mechanism.part, "bar", title, mechanism.text, axis, FigureScale(metric.column, metric.label, metric.unit),
        series, published=printed,
    )  # fmt: skip


def bar(side: Side, label: str, at: float, style: int) -> Series:
    """Return a number with its interval, if it has one."""
    found = side.found
    known = not found.unbounded and found.low < found.high
    low, high = as_numbers([found.low if known else float("nan")]), as_numbers([found.high if known else float("nan")])
    return Series(label, style, as_numbers([at]), as_numbers([found.value]), low, high, [found.n])


def crosses(one: Shown, spec: StudySpec) -> Iterator[PublishedPoints]:
    """Yield what the original printed of the number with the slip, at the nominal point."""
    part = spec.part(one.mechanism.part)
    for i, (number, _) in enumerate(one.rows):
        mine = [p for p in part.printed if (p.column.metric, p.label) == (number.metric.column, number.label)]
        nominal = [p for p in mine if all(str(fetch(part.scenario, axis)) == str(value) for axis, value in p.at.items())]
        values = as_numbers(dict.fromkeys(p.value * number.metric.factor for p in nominal))
        if values:
            yield PublishedPoints(f"{number.label}, printed", as_numbers([APART * i] * len(values)), values, 2)
