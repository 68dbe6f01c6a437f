"""Lets every text of a figure stand inside it: titles too long for their axis go on in the next line, and are smaller at last."""

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text

ROUNDS = 4
"""Titles in more lines leave less room for the others: so often it is looked again."""
LEAST_PT = 4.0
SMALLER = 0.9
WHOLE = 1e7
"""Numbers from here on, and the small ones, are written with a power of ten."""
SMALL = 1e-4
TICK_LETTERS = 5.0
"""Room of a tick beside the next one on a horizontal axis; on a vertical one it needs a line and a half."""
FEW = 5
BREAKS = re.compile(r"(?<=[ ,:×/])|(?=[.(=\[_])")
"""Where a title may go on in the next line: after a space, and before the next key of a path or a unit."""


def plain_number(value: float) -> str:
    """Return a number as a reader expects it at an axis: 200, not 2 × 10²."""
    return f"{value:.10g}" if SMALL <= abs(value) < WHOLE or value == 0 else f"{value:g}"


def log_ticks(axes: "Axes", axis: "Axis", size_pt: float, text: "Callable[[str], str]") -> None:
    """Put ticks on a logarithmic axis: 1, 2 and 5 of each decade, fewer where there is no room, round numbers within a decade."""
    from matplotlib.ticker import MaxNLocator

    across = axis is axes.xaxis
    low, high = sorted(axes.get_xlim() if across else axes.get_ylim())
    long_in = axes.figure.get_figwidth() if across else axes.figure.get_figheight()  # type: ignore[union-attr]
    most = max(2, int(0.7 * 72 * long_in / ((TICK_LETTERS if across else 1.6) * size_pt)))
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    found = [[m * 10.0**d for d in decades for m in steps if low <= m * 10.0**d <= high] for steps in ((1, 2, 5), (1, 3), (1,))]
    fitting = next((ticks for ticks in found if len(ticks) <= most), found[-1][:: max(1, -(-len(found[-1]) // most))])
    if len(fitting) < min(3, most):
        fitting = [tick for tick in MaxNLocator(min(most, FEW)).tick_values(low, high) if low <= tick <= high]
    axis.set_ticks(fitting, [text(plain_number(tick)) for tick in fitting])
    axis.set_ticks([], minor=True)


def broken(text: str, letters: float) -> str:
    """Return text in lines of at most so many letters, as far as there are places to break it."""
    lines = [""]
    for piece in BREAKS.split(text.replace("\n", " ")):
        if lines[-1] and len((lines[-1] + piece).rstrip()) > letters:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.strip() for line in lines if line.strip())


def fit_labels(figure: "Figure") -> None:
    """Break the titles of axes, panels and the entries of legends until nothing is cut at an edge; then make them smaller."""
    own = {id(text): text.get_text() for text in titles(figure)}
    for turn in range(2 * ROUNDS):
        figure.draw_without_rendering()
        cut = [text for text in titles(figure) if text.get_text() and overhang(figure, text) > 0]
        if not cut:
            return
        for text in cut:
            room, size = room_of(figure, text)
            if turn < ROUNDS:
                longest = max(len(line) for line in text.get_text().split("\n"))
                text.set_text(broken(own[id(text)], max(4.0, int(longest * room / size))))
            elif (points := float(text.get_fontsize())) > LEAST_PT:
                text.set_fontsize(max(LEAST_PT, SMALLER * points))


def titles(figure: "Figure") -> "list[Text]":
    """Return the texts that name something: titles of axes and panels, and the entries of legends."""
    found = [text for text in (figure._supxlabel, figure._supylabel) if text is not None]  # type: ignore[attr-defined]
    for axes in figure.axes:
        if axes.get_visible():
            found += [axes.xaxis.label, axes.yaxis.label, axes.title]
    return found + [text for legend in figure.legends for text in legend.get_texts()]


def overhang(figure: "Figure", text: "Text") -> float:
    """Return by how many pixels a text goes beyond the figure, or a title beyond its panel."""
    box, edge = text.get_window_extent(), figure.bbox
    return max(edge.x0 - box.x0, box.x1 - edge.x1, edge.y0 - box.y0, box.y1 - edge.y1, *panel_overhang(text), 0.0)


def panel_overhang(text: "Text") -> list[float]:
    """Return by how much the title of a panel is wider than its place: beside it stands another."""
    axes = text.axes
    if axes is None or text is not axes.title:
        return []
    return [text.get_window_extent().width - 1.1 * axes.get_window_extent().width]


def room_of(figure: "Figure", text: "Text") -> "tuple[float, float]":
    """Return how long a line of a text may be, and how long it is, in pixels along its direction; it keeps its middle."""
    box, edge = text.get_window_extent(), figure.bbox
    if text.axes is not None and text is text.axes.title:
        return 1.1 * text.axes.get_window_extent().width, box.width
    if text.get_rotation() == 90:
        middle = (box.y0 + box.y1) / 2
        return 2 * min(middle - edge.y0, edge.y1 - middle) - 2, box.height
    if text.get_horizontalalignment() == "left":
        return edge.x1 - max(box.x0, edge.x0) - 2, box.width
    middle = (box.x0 + box.x1) / 2
    return 2 * min(middle - edge.x0, edge.x1 - middle) - 2, box.width
