"""Draws a figure with matplotlib from its data: `FigureData` in, a matplotlib figure out."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Numbers, Series
from tonopah.analysis.figure_scale import common_ranges, scale_key
from tonopah.plot import style
from tonopah.plot.labels import broken, fit_labels, log_ticks
from tonopah.plot.look import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_LEGEND = 12
"""A legend of more entries would be larger than its figure."""
MAX_CELLS = 144
"""Values are written into the cells of a heat map with at most as many."""
STEPS = {"after": "steps-post", "before": "steps-pre", "": "default"}
ZERO = "#333333"
MARK = "#555555"
DODGE = 0.06
"""Intervals of several algorithms stand side by side, this share of the distance between two points apart."""
MARGIN = 0.05
LETTER = 0.6
"""Width of a letter, in sizes of the text."""
NAME_GAP = 1.05
"""Distance of the names beside a scatter figure, in sizes of the text."""


def plain(text: str) -> str:
    """Return text as it is; a format with a language of its own escapes it instead."""
    return text


@contextmanager
def drawn(
    data: FigureData, look: Look, text: Callable[[str], str] = plain, changes: Mapping[str, Any] | None = None
) -> "Iterator[Figure]":
    """Yield a figure, drawn; it must be saved inside this context, which holds its style."""
    with style.settings(look.settings() | dict(changes or {})) as plt:
        figure = plt.figure(figsize=(look.width_in, look.height_in or default_height(data, look)))
        try:
            Chart(figure, data, look, text).draw()
            fit_labels(figure)
            yield figure
        finally:
            plt.close(figure)


def default_height(data: FigureData, look: Look) -> float:
    """Return a height in inches that leaves room for the legend and for the rows of a heat map."""
    line = look.size_pt / 72 * 1.6
    without = data.kind in ("bar", "scatter", "heatmap") or len(data.series) > MAX_LEGEND
    entries = 0 if without else len(data.series) + bool(data.marks)
    if data.kind == "heatmap" and data.rows:
        across = panels_across(data, look)
        panel = 0.75 * look.width_in / across * min(1.2, max(0.5, len(data.rows.values) / max(1, len(data.x.values))))
        return (max(0.8, panel) + 2.5 * line) * -(-len(data.series) // across) + 2 * line
    if data.kind == "scatter":
        return max(0.58 * look.width_in, (len(data.series) * NAME_GAP + 5) * look.size_pt / 72)
    share = 0.42 if data.wide and look.width_in > 4.5 else 0.58
    return share * look.width_in + line * -(-entries // legend_columns(data, look))


def legend_columns(data: FigureData, look: Look) -> int:
    """Return how many entries of the legend stand side by side."""
    # An entry is its line and its text; a letter is about 0.6 of its size wide.
    longest = max((len(one.label) for one in data.series), default=1)
    entry = look.size_pt / 72 * (4.4 + 0.55 * longest)
    return max(1, min(5, int(0.97 * look.width_in / entry)))


def panels_across(data: FigureData, look: Look) -> int:
    """Return how many panels of a heat map stand side by side: the values in a cell need about four letters."""
    cells = 0.75 * 72 * look.width_in / ((3.1 if data.baseline else 2.6) * (look.size_pt - 1))
    most = max(1, min(len(data.series), int(cells / max(2, len(data.x.values)))))
    # Rows of equal length: four panels are two by two, not three and one.
    return -(-len(data.series) // -(-len(data.series) // most))


def by_rows(entries: list[Any], columns: int) -> list[Any]:
    """Return the entries of a legend, which matplotlib fills by columns, so that they read by rows."""
    return [entry for column in range(columns) for entry in entries[column::columns]]


class Chart:
    """One figure while it is drawn."""

    def __init__(self, figure: "Figure", data: FigureData, look: Look, text: Callable[[str], str]):
        self.figure, self.data, self.look, self.text = figure, data, look, text

    def draw(self) -> None:
        """Draw everything."""
        if self.data.kind == "heatmap":
            self.heatmap()
            return
        axes = self.figure.subplots()
        draw = {
            "line": self.line, "difference": self.difference, "bar": self.bar, "scatter": self.scatter, "ecdf": self.ecdf,
            "cdf": self.cdf, "series": self.series,
        }  # fmt: skip
        draw[self.data.kind](axes)
        for i, mark in enumerate(self.data.marks):
            label = "" if i else self.text(mark.label)
            if mark.until is not None:
                axes.axvspan(mark.x, mark.until, color=MARK, alpha=0.12, linewidth=0, label=label, zorder=0)
            else:
                axes.axvline(mark.x, color=MARK, linewidth=0.8, linestyle=":", label=label, zorder=1)
        for printed in self.data.published:
            colour = self.line_style(printed.style)["color"]
            axes.plot(
                numbers(printed.x), numbers(printed.y), linestyle="", marker="x", color=colour, label=self.text(printed.label)
            )
        if self.look.titled:
            letters = 72 * self.look.width_in / (0.6 * self.look.size_pt)
            axes.set_title(broken(self.text(self.data.title), letters), loc="left")
        axes.set_ylabel(self.text(self.data.y.title))
        self.scale_y(axes)
        if self.data.kind == "scatter":
            self.names(axes)
        else:
            self.legend(axes)

    def line_style(self, index: int) -> dict[str, Any]:
        """Return colour, line style and marker of the index-th algorithm."""
        made = style.line_style(index)
        size = 0.55 * max(4.0, 8.0 - 1.6 * index) if self.look.width_in < 4.5 else 0.75 * max(4.0, 8.0 - 1.6 * index)
        return made | {
            "color": self.look.colours[index % len(self.look.colours)],
            "markersize": max(3.0, size),
            "markeredgewidth": 1.0,
        }

    def line(self, axes: "Axes") -> None:
        """Draw metrics along an axis: lines with markers, bands for intervals, points for single replicates."""
        for i, one in enumerate(self.data.series):
            look = self.line_style(one.style)
            axes.plot(numbers(one.x), numbers(one.y), label=self.text(one.label), zorder=3 + i, **look)
            axes.fill_between(numbers(one.x), numbers(one.low), numbers(one.high), color=look["color"], alpha=0.18, linewidth=0)
            self.replicates(axes, one, 0.0)
        self.swept(axes)

    def difference(self, axes: "Axes") -> None:
        """Draw differences with their intervals side by side, and a line at zero."""
        axes.axhline(0, color=ZERO, linewidth=0.8, zorder=2)
        for i, one in enumerate(self.data.series):
            look, aside = self.line_style(one.style), DODGE * (i - (len(self.data.series) - 1) / 2)
            at, low, high = self.beside(one.x, aside), numbers(one.low), numbers(one.high)
            axes.plot(at, numbers(one.y), label=self.text(one.label), zorder=3, **look)
            axes.vlines(at, low, high, color=look["color"], linewidth=1.0, zorder=2)
            axes.plot(at, low, at, high, linestyle="", marker="_", color=look["color"], markersize=4, zorder=2)
            self.replicates(axes, one, aside)
        self.swept(axes)

    def beside(self, places: Numbers, aside: float) -> np.ndarray:
        """Return places moved by a share of the least distance between two of them."""
        at = numbers(places)
        known = np.sort(np.log(self.data.x.values) if self.data.x.log else np.asarray(self.data.x.values))
        step = float(np.min(np.diff(known), initial=np.inf)) if len(known) > 1 else 1.0
        return at * np.exp(aside * step) if self.data.x.log else at + aside * step

    def replicates(self, axes: "Axes", one: Series, aside: float) -> None:
        """Draw single replicates."""
        if one.points:
            at, colour = self.beside(one.points.x, aside), self.line_style(one.style)["color"]
            axes.plot(at, numbers(one.points.y), linestyle="", marker=".", markersize=3.5, color=colour, alpha=0.7, zorder=2)

    def bar(self, axes: "Axes") -> None:
        """Draw bars with their intervals."""
        for one in self.data.series:
            colour, hatch = self.line_style(one.style)["color"], style.HATCHES[one.style % len(style.HATCHES)]
            x, y, low, high = (numbers(values) for values in (one.x, one.y, one.low, one.high))
            axes.bar(x, y, width=0.6, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5)
            known = np.isfinite(low) & np.isfinite(high)
            axes.vlines(x[known], low[known], high[known], color="#222222", linewidth=1.0)
            axes.plot(x[known], low[known], x[known], high[known], linestyle="", marker="_", color="#222222", markersize=7)
            if one.points:
                count = len(one.points.x)
                aside = 0.03 * (np.arange(count) - (count - 1) / 2)
                axes.plot(numbers(one.points.x) + aside, numbers(one.points.y), linestyle="", marker="o", markersize=3,
                          color="white", markeredgecolor="#222222", markeredgewidth=0.8)  # fmt: skip
        ticks = [self.text(tick) for tick in self.data.x.ticks]
        letters = 72 * self.look.width_in / (0.6 * self.look.size_pt)
        crowded = sum(len(tick) + 2 for tick in ticks) > 0.85 * letters
        axes.set_xticks(self.data.x.values, ticks, rotation=30 if crowded else 0, ha="right" if crowded else "center")
        axes.grid(axis="x", visible=False)

    def scatter(self, axes: "Axes") -> None:
        """Draw one metric against another: a marker with both intervals for each algorithm."""
        for one in self.data.series:
            look: dict[str, Any] = self.line_style(one.style) | {"linestyle": ""}
            x, y = numbers(one.x), numbers(one.y)
            axes.plot(x, y, zorder=4, **look)
            axes.vlines(x, numbers(one.low), numbers(one.high), color=look["color"], linewidth=1.0, zorder=3)
            axes.hlines(y, numbers(one.x_low), numbers(one.x_high), color=look["color"], linewidth=1.0, zorder=3)
        self.continuous(axes)

    def names(self, axes: "Axes") -> None:
        """Write the names of a scatter figure beside it, in the order of their markers, with a line to each."""
        from scipy.optimize import isotonic_regression

        shown = [one for one in self.data.series if one.x[0] is not None and one.y[0] is not None]
        height, gap = 72 * self.figure.get_figheight() - 4 * self.look.size_pt, NAME_GAP * self.look.size_pt
        at = np.column_stack([numbers([one.x[0] for one in shown]), numbers([one.y[0] for one in shown])])
        places = axes.transAxes.inverted().transform(axes.transData.transform(at))[:, 1] * height
        order, steps = np.argsort(places, kind="stable"), gap * np.arange(len(shown))
        # Long names are smaller, so that the panel keeps half of the width.
        longest = max((len(one.label) for one in shown), default=1)
        size = min(self.look.size_pt - 1, 0.45 * 72 * self.look.width_in / (LETTER * longest))
        # The least moves, in squares, that leave `gap` between two names.
        moved = np.asarray(isotonic_regression(places[order] - steps).x) if shown else steps
        moved = np.clip(moved, 0, max(0.0, height - gap * (len(shown) - 1))) + steps
        for place, i in zip(moved, order, strict=True):
            line = {"arrowstyle": "-", "color": self.line_style(shown[i].style)["color"], "linewidth": 0.5, "alpha": 0.6}
            axes.annotate(
                self.text(shown[i].label),
                tuple(at[i]),
                (1.04, place / height),
                textcoords="axes fraction",
                va="center",
                fontsize=size,
                annotation_clip=False,
                arrowprops=line | {"shrinkB": 3, "relpos": (0, 0.5)},
            )

    def ecdf(self, axes: "Axes") -> None:
        """Draw empirical distributions."""
        for one in self.data.series:
            x, y = numbers(one.x[:1] + one.x), numbers([0.0, *one.y] if one.x else [])
            look: dict[str, Any] = self.line_style(one.style) | {"marker": ""}
            axes.step(x, y, where="post", label=self.text(one.label), **look)
        self.continuous(axes)

    def cdf(self, axes: "Axes") -> None:
        """Draw distributions over packets, with bands for intervals over replicates."""
        for one in self.data.series:
            look: dict[str, Any] = self.line_style(one.style) | {"marker": ""}
            axes.plot(numbers(one.x), numbers(one.y), label=self.text(one.label), **look)
            axes.fill_between(numbers(one.x), numbers(one.low), numbers(one.high), color=look["color"], alpha=0.18, linewidth=0)
        self.continuous(axes)

    def continuous(self, axes: "Axes") -> None:
        """Label a horizontal axis of numbers, linear or logarithmic."""
        axes.set_xlabel(self.text(self.data.x.title))
        axes.set_xscale("log" if self.data.x.log else "linear")
        if self.data.x.log:
            log_ticks(axes, axes.xaxis, self.look.size_pt, self.text)

    def series(self, axes: "Axes") -> None:
        """Draw sampled variables over time."""
        for one in self.data.series:
            look = self.line_style(one.style)
            axes.plot(numbers(one.x), numbers(one.y), drawstyle=STEPS[self.data.step], linewidth=1.0, label=self.text(one.label),
                      color=look["color"], linestyle=look["linestyle"])  # fmt: skip
        axes.set_xlabel(self.text(self.data.x.title))
        axes.margins(x=0.01)

    def swept(self, axes: "Axes") -> None:
        """Put ticks at the swept values, as many as have room."""
        axis = self.data.x
        axes.set_xlabel(self.text(axis.title))
        axes.set_xscale("log" if axis.log else "linear")
        places, ticks = self.with_room(axis)
        axes.set_xticks(places, [self.text(tick) for tick in ticks])
        axes.set_xticks([], minor=True)

    def with_room(self, axis: FigureAxis) -> tuple[list[float], list[str]]:
        """Return the places and texts of ticks that do not touch."""
        at = np.log(axis.values) if axis.log else np.asarray(axis.values)
        span, letter = float(np.ptp(at)) or 1.0, 0.62 * self.look.size_pt / 72 / (0.78 * self.look.width_in)
        kept: list[int] = []
        for i in np.argsort(at, kind="stable"):
            need = letter * (len(axis.ticks[i]) / 2 + (len(axis.ticks[kept[-1]]) / 2 if kept else 0) + 1)
            if not kept or (at[i] - at[kept[-1]]) / span >= need:
                kept.append(int(i))
        return [axis.values[i] for i in kept], [axis.ticks[i] for i in kept]

    def scale_y(self, axes: "Axes") -> None:
        """Set the vertical axis: its own range or the common one, with a margin, never beyond what a share can be."""
        scale = self.data.y if self.look.common_scale or self.data.kind in ("ecdf", "cdf") else own_scale(self.data)
        axes.set_yscale("log" if scale.log else "linear")
        if scale.min is None or scale.max is None:
            return
        if scale.log:
            room = (scale.max / scale.min) ** MARGIN if scale.max > scale.min else 1.5
            axes.set_ylim(scale.min / room, scale.max * room)
            log_ticks(axes, axes.yaxis, self.look.size_pt, self.text)
            return
        room = MARGIN * (scale.max - scale.min) or 0.05 * abs(scale.max) or 1.0
        # A quantity that begins at zero stands on its axis.
        low = scale.min if scale.min == 0 and self.data.kind != "line" else scale.min - room
        high = scale.max + room if self.data.kind not in ("ecdf", "cdf") else 1.02
        if scale.unit == "%" and self.data.kind != "difference":
            # A share below 0 or above 100 % does not exist; room for the marker is left.
            low, high = max(low, -room), min(high, 100 + room)
        axes.set_ylim(low, high)

    def legend(self, axes: "Axes") -> None:
        """Put the legend below; one of too many entries is left out, since the caption says what is shown."""
        handles, labels = axes.get_legend_handles_labels()
        if self.data.kind != "bar" and 0 < len(handles) <= MAX_LEGEND + 1:
            columns = min(len(handles), legend_columns(self.data, self.look))
            handles, labels = by_rows(handles, columns), by_rows(labels, columns)
            self.figure.legend(handles, labels, loc="outside lower center", ncols=columns, handlelength=2.4, columnspacing=1.0)

    def heatmap(self) -> None:
        """Draw a panel for each algorithm with one scale of colours, and the values in their cells."""
        from matplotlib import colormaps

        data, rows = self.data, self.data.rows or self.data.x
        across = panels_across(data, self.look)
        panels = self.figure.subplots(-(-len(data.series) // across), across, sharex=True, sharey=True, squeeze=False)
        # As many colours as can be told apart; each is a shape in a vector picture.
        name = "PuOr" if data.baseline else "cividis" if data.y.middle is None else "RdBu"
        colours = colormaps[name].resampled(64)
        image = None
        for axes in panels.flat[len(data.series) :]:
            axes.set_visible(False)
        for axes, one in zip(panels.flat, data.series, strict=False):
            grid = numbers(one.y).reshape(len(rows.values), len(data.x.values))
            # Cells as shapes: a paper enlarges them without steps, and PGF cannot contain an image.
            image = axes.pcolormesh(
                grid,
                cmap=colours,
                vmin=data.y.min,
                vmax=data.y.max,
                edgecolors="face",
                linewidth=0.1,
            )
            self.write_cells(axes, grid, image, 0.75 * self.look.width_in / across)
            axes.set_xticks(centres(data.x), [self.text(tick) for tick in data.x.ticks])
            axes.set_yticks(centres(rows), [self.text(tick) for tick in rows.ticks])
            axes.set_title(self.text(one.label))
            axes.tick_params(length=0, labelbottom=True)
            axes.grid(visible=False)
        self.figure.supxlabel(self.text(data.x.title), fontsize=self.look.size_pt)
        self.figure.supylabel(self.text(rows.title), fontsize=self.look.size_pt, ha="left", multialignment="center")
        if image is not None:
            bar = self.figure.colorbar(image, ax=list(panels.flat), label=self.text(self.data.y.title))
            bar.solids.set_rasterized(False)  # pyright: ignore[reportOptionalMemberAccess]

    def write_cells(self, axes: "Axes", grid: np.ndarray, image: Any, width_in: float) -> None:
        """Write the values into the cells, in black or white, whichever is readable."""
        room = 72 * width_in / grid.shape[1]
        size = min(self.look.size_pt - 1, room / (3.1 if self.data.baseline else 2.6))
        if grid.size > MAX_CELLS or size < 4:
            return
        for (i, j), value in np.ndenumerate(grid):
            red, green, blue, _ = image.cmap(image.norm(value)) if np.isfinite(value) else (1, 1, 1, 1)
            # Relative luminance, WCAG 2.2.
            dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45
            digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
            shown = f"{value:.{digits}f}" if np.isfinite(value) else "–"
            axes.text(j + 0.5, i + 0.5, shown, ha="center", va="center", color="white" if dark else "black", fontsize=size)


def numbers(values: Numbers) -> np.ndarray:
    """Return values as an array; what was not measured is NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def centres(axis: FigureAxis) -> list[float]:
    """Return the middles of the cells of a heat map."""
    return [i + 0.5 for i in range(len(axis.values))]


def own_scale(data: FigureData) -> FigureScale:
    """Return the vertical axis with the range of this figure alone."""
    bare = replace(data.y, min=None, max=None)
    return common_ranges([data])[scale_key(data)].applied(bare)
