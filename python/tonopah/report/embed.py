"""Figures as a page carries them: compact, and in no more detail than a panel can show.

A series keeps the smallest and the largest sample of each of `INTERVALS` equal intervals, so that no peak is lost, and of equal
neighbours only the first, which a line of steps does not need. Its values are float32, its times steps of uint16.
"""

import base64
import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonopah.analysis.figure_model import FigureData, Numbers, spread

INTERVALS = 1000
"""More than the pixels that a panel is wide."""
SHARES = 400
"""Points of a distribution."""
DIGITS = 7
"""Significant digits of numbers, as many as a float32 has."""

Floats = NDArray[np.float64]


def page_data(figures: Iterable[FigureData]) -> str:
    """Return the data of all figures as JSON for a script element."""
    compact = {figure.id: page_figure(figure) for figure in figures}
    # In a script element only "<" could end it.
    return json.dumps(compact, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def page_figure(figure: FigureData) -> dict[str, Any]:
    """Return one figure as the script of the page reads it."""
    content: dict[str, Any] = figure.as_json() | {"heading": heading(figure), "caption": figure.caption + thinning_note(figure)}
    for one in content["series"]:
        if figure.kind == "series":
            x, y = thin_series(as_floats(one["x"]), as_floats(one["y"]))
            one |= {"x": pack_times(x), "y": pack_values(y)}
        elif figure.kind == "ecdf":
            one["x"], one["y"] = thin_distribution(one["x"], one["y"])
    return rounded({key: value for key, value in content.items() if value is not None})


def heading(figure: FigureData) -> str:
    """Return what stands above a panel: what is shown, and in which unit."""
    if figure.kind in ("ecdf", "cdf"):
        return f"{figure.x.title}: distribution"
    if figure.kind in ("series", "scatter"):
        return f"{figure.title} ({figure.y.unit})" if figure.y.unit else figure.title
    return figure.y.title


def thinning_note(figure: FigureData) -> str:
    """Return the sentence on samples that the page leaves out; empty if it holds them all."""
    if figure.kind == "series":
        longest = max((one.x for one in figure.series), key=len, default=[])
        if len(longest) <= 2 * INTERVALS:
            return ""
        width = (as_floats(longest)[-1] - as_floats(longest)[0]) / INTERVALS
        return (
            f" Shown: the smallest and the largest sample of every {width:.3g} {figure.x.unit}; figures/{figure.id}.csv has all."
        )
    if figure.kind == "ecdf" and any(len(one.x) > SHARES for one in figure.series):
        return f" Shown: {SHARES} of the steps; figures/{figure.id}.csv has all."
    return ""


def thin_series(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return a series without samples that a panel cannot show."""
    if len(x) > 2 * INTERVALS:
        interval = np.minimum((x - x[0]) / (x[-1] - x[0] or 1.0) * INTERVALS, INTERVALS - 1).astype(int)
        kept = extremes(interval, y)
        x, y = x[kept], y[kept]
    if len(x) > 2:
        kept = changes(y)
        x, y = x[kept], y[kept]
    return x, y


def changes(y: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """Return which samples differ from the one before, the first and the last among them."""
    same = (y[1:] == y[:-1]) | (np.isnan(y[1:]) & np.isnan(y[:-1]))
    changed: NDArray[np.bool_] = np.concatenate([[True], ~same])
    changed[-1] = True
    return changed


def extremes(interval: NDArray[np.integer[Any]], y: NDArray[np.floating[Any]]) -> NDArray[np.int_]:
    """Return the positions of the smallest and the largest sample of each interval, and of the very last.

    Where an interval has no number, of its first.
    """
    starts = np.flatnonzero(np.concatenate([[True], interval[1:] != interval[:-1]]))
    counts = np.diff(np.append(starts, len(y)))
    kept = [first_equal(y, np.repeat(extreme.reduceat(y, starts), counts), starts) for extreme in (np.fmin, np.fmax)]
    nothing = starts[np.isnan(np.fmin.reduceat(y, starts))]
    return np.unique(np.concatenate([*kept, nothing, [len(y) - 1]]))


def first_equal(y: NDArray[Any], wanted: NDArray[Any], starts: NDArray[np.int_]) -> NDArray[np.int_]:
    """Return the position of the first sample of each interval that is the wanted one."""
    found = np.flatnonzero(y == wanted)
    _, first = np.unique(np.searchsorted(starts, found, "right"), return_index=True)
    return found[first]


def thin_distribution(x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    """Return a distribution with its steps at equal shares, and its ends."""
    kept = spread(len(x), SHARES)
    return [x[i] for i in kept], [y[i] for i in kept]


def as_floats(values: Numbers) -> Floats:
    """Return numbers with NaN for what was not measured."""
    return np.array([math.nan if value is None else value for value in values], dtype=float)


def pack_values(values: Floats) -> dict[str, Any]:
    """Return values as little-endian float32 in base64."""
    return {"float32": base64.b64encode(values.astype("<f4").tobytes()).decode()}


def pack_times(times: Floats) -> dict[str, Any]:
    """Return rising times as multiples of a step, if they are, with their differences as uint16; else as float32."""
    if len(times) > 1:
        differences = np.diff(times)
        step = float(differences.min())
        counts = np.round(differences / step) if step > 0 else differences
        exact = step > 0 and bool(np.all(np.abs(counts * step - differences) <= 1e-6 * step + 1e-12 * times[-1]))
        if exact and counts.max() < 2**16:
            packed = np.concatenate([[0], counts]).astype("<u2").tobytes()
            # The step from the whole length: the error of one difference would add up.
            precise = float(f"{(times[-1] - times[0]) / counts.sum():.12g}")
            return {"first": float(times[0]), "step": precise, "steps": base64.b64encode(packed).decode()}
    return pack_values(times)


def rounded(value: Any) -> Any:
    """Return JSON data with numbers of `DIGITS` significant digits; times of series keep theirs."""
    if isinstance(value, float):
        short = float(f"{value:.{DIGITS}g}")
        return int(short) if short.is_integer() and abs(short) < 2**53 else short
    if isinstance(value, list):
        return [rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: one if key in ("first", "step") else rounded(one) for key, one in value.items()}
    return value
