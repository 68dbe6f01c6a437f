"""A figure of lines as a small picture for a table: the shapes alone, without axes."""

import math
from collections.abc import Callable, Sequence

from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale

WIDTH, HEIGHT, EDGE = 160, 36, 4
STYLES = ("2.6", "1.2", '1.2" stroke-dasharray="2 2')
"""Of the lines, the first thick, the third dotted."""


def sparkline(figure: FigureData, shown: Sequence[int]) -> str:
    """Return the lines of a figure with these numbers, at most three, as a small picture; nothing without values."""
    lines = [figure.series[number] for number in shown]
    known = [value for one in lines for value in one.y if value is not None]
    if not known:
        return ""
    up, across = scaled(figure.y, known), scaled(figure.x, figure.x.values)
    drawn = []
    for number, one in reversed(list(enumerate(lines))):
        dots = [
            f"{EDGE + (WIDTH - 2 * EDGE) * across(x):.1f},{HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * up(y):.1f}"
            for x, y in zip(one.x, one.y, strict=True)
            if x is not None and y is not None
        ]
        drawn.append(
            f'<polyline points="{" ".join(dots)}" fill="none" stroke="var(--s{number})" stroke-width="{STYLES[number]}"/>'
        )
    return f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(drawn)}</svg>'


def sample(number: int) -> str:
    """Return the line of a small picture alone, for its legend."""
    line = f'<line x1="0" x2="26" y1="4" y2="4" stroke="var(--s{number})" stroke-width="{STYLES[number]}"/>'
    return f'<svg viewBox="0 0 26 8" aria-hidden="true">{line}</svg>'


def scaled(axis: FigureAxis | FigureScale, values: Sequence[float]) -> Callable[[float], float]:
    """Return what gives the place of a value on an axis, from 0 for the least to 1 for the largest."""
    scale = math.log if axis.log and min(values) > 0 else float
    low, high = scale(min(values)), scale(max(values))
    return lambda value: (scale(value) - low) / (high - low or 1)
