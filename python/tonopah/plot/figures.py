"""Table to figure: line with interval band, difference to the baseline, bars, ECDF, heat map, time series.

Every figure keeps its data: `RenderedFigure.data` holds the plotted values, in the units of the axes, and is written beside it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah.analysis.tables import difference, estimate, values_at
from tonopah.metrics import Metric, lower, metric
from tonopah.plot import style
from tonopah.stats import Estimate, Method
from tonopah.units import numbers, positions

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class RenderedFigure:
    """A finished figure: file name without extension, title, caption, SVG text, PDF, and the plotted data."""

    name: str
    title: str
    caption: str
    svg: str
    pdf: bytes
    data: "pd.DataFrame"
    wide: bool = False


@dataclass(frozen=True)
class Axis:
    """A swept axis: its key in the tables, its values as in the study file, and its label for people."""

    key: str
    values: list[Any]
    label: str

    @property
    def title(self) -> str:
        """Label with the unit of the values."""
        found = numbers(self.values)
        return f"{self.label} ({found[1]})" if found and found[1] and found[1] not in self.label else self.label


def band(method: Method) -> str:
    """Return the kind of points and intervals in words."""
    kind = "bootstrap" if method.statistic == "median" else "t"
    return f"{method.statistic} and {100 * method.confidence:.3g} % {kind} interval over replicates"


def line(table: "pd.DataFrame", axis: Axis, shown: Metric, algorithms: list[str], method: Method) -> RenderedFigure:
    """Draw a metric along an axis: a line with markers for each algorithm and a band for its interval."""
    name = shown.column
    rows = collect(axis, name, algorithms, lambda a, where: estimate(table, name, a, where, method).scaled(shown.factor))
    x, _ = positions(axis.values)
    with style.chart() as (figure, axes):
        for i, algorithm in enumerate(algorithms):
            y, low, high = columns(rows, algorithm)
            line_style = style.line_style(i)
            axes.plot(x, y, label=algorithm, zorder=3 + i, **line_style)
            axes.fill_between(x, low, high, color=line_style["color"], alpha=0.18, linewidth=0)
        label_x(axes, axis, x)
        axes.set_ylabel(shown.axis)
        limit_zoom(axes, shown)
        style.legend_below(figure, axes)
        pictures = style.svg(figure), style.pdf(figure)
    title = f"{shown.label} against {lower(axis.label)}"
    return render(("line", axis.key, name), title, f"{title}; {band(method)}.", pictures, rows)


def difference_line(
    table: "pd.DataFrame", axis: Axis, shown: Metric, algorithms: list[str], baseline: str, method: Method
) -> RenderedFigure:
    """Draw the paired difference to the baseline in percent along an axis, with intervals and a line at zero."""
    name, others = shown.column, [algorithm for algorithm in algorithms if algorithm != baseline]
    rows = collect(axis, name, others, lambda a, where: hide_unbounded(difference(table, name, a, baseline, where, method)))
    x, _ = positions(axis.values)
    step = min(np.diff(sorted(x)), default=1.0)
    with style.chart() as (figure, axes):
        axes.axhline(0, color="#333333", linewidth=1.0, zorder=2)
        for i, algorithm in enumerate(others):
            y, low, high = columns(rows, algorithm)
            line_style = style.line_style(algorithms.index(algorithm))
            # Intervals of several algorithms are drawn side by side.
            at = np.asarray(x) + step * 0.08 * (i - (len(others) - 1) / 2)
            axes.plot(at, y, label=f"{algorithm} against {baseline}", zorder=3, **line_style)
            axes.vlines(at, low, high, color=line_style["color"], linewidth=1.2, zorder=2)
            axes.plot(at, low, at, high, linestyle="", marker="_", color=line_style["color"], markersize=6, zorder=2)
        label_x(axes, axis, x)
        axes.set_ylabel(f"{shown.label}:\ndifference (%)")
        widen(axes, 0.5)
        style.legend_below(figure, axes)
        pictures = style.svg(figure), style.pdf(figure)
    title = f"{shown.label}: difference to {baseline}"
    kind = "bootstrap of pairs" if method.statistic == "median" else "Fieller"
    caption = (
        f"{title} in percent, against {lower(axis.label)}; paired by seed, {100 * method.confidence:.3g} % interval ({kind})."
    )
    return render(("difference", axis.key, name), title, caption, pictures, rows)


def bar(table: "pd.DataFrame", shown: Metric, algorithms: list[str], method: Method) -> RenderedFigure:
    """Draw a metric at the nominal point: a bar with its interval for each algorithm."""
    name = shown.column
    rows = collect(None, name, algorithms, lambda a, where: estimate(table, name, a, where, method).scaled(shown.factor))
    with style.canvas() as (figure, axes):
        for i, row in rows.iterrows():
            ends = [[row["value"] - row["low"]], [row["high"] - row["value"]]]
            axes.bar(
                i, row["value"], yerr=np.nan_to_num(ends), width=0.6, color=style.COLOURS[i % 7], hatch=style.HATCHES[i % 7],
                edgecolor="white", ecolor="#222222", capsize=5,
            )  # fmt: skip
        long = sum(len(algorithm) for algorithm in algorithms) > 50
        axes.set_xticks(range(len(algorithms)), [a.replace(" ", "\n") if long else a for a in algorithms])
        axes.set_ylabel(shown.axis)
        axes.grid(axis="x", visible=False)
        pictures = style.svg(figure), style.pdf(figure)
    caption = f"{shown.label} at the nominal point; {band(method)}."
    return render(("bar", name), shown.label, caption, pictures, rows)


def ecdf(flows: "pd.DataFrame", shown: Metric, algorithms: list[str]) -> RenderedFigure:
    """Draw the empirical distribution of a metric over all flows of all replicates at the nominal point."""
    import pandas as pd

    name, rows = shown.column, []
    with style.chart() as (figure, axes):
        for i, algorithm in enumerate(algorithms):
            values = np.sort(pd.to_numeric(flows[flows["algorithm"] == algorithm][name], errors="coerce").dropna()) * shown.factor
            share = np.arange(1, len(values) + 1) / max(1, len(values))
            line_style = style.line_style(i) | {"marker": ""}
            axes.step(values, share, where="post", label=f"{algorithm} ({len(values)} flows)", **line_style)
            rows.append(pd.DataFrame({"algorithm": algorithm, "value": values, "share": share}))
        axes.set_xlabel(shown.axis)
        axes.set_ylabel("Share of flows")
        axes.set_ylim(0, 1.02)
        style.legend_below(figure, axes)
        pictures = style.svg(figure), style.pdf(figure)
    caption = f"Empirical distribution of {lower(shown.label)} over the flows of all replicates at the nominal point."
    return render(("ecdf", name), f"{shown.label} of the flows", caption, pictures, pd.concat(rows, ignore_index=True))


def heatmap(table: "pd.DataFrame", axis: Axis, rows_axis: Axis, shown: Metric, algorithm: str, method: Method) -> RenderedFigure:
    """Draw a metric over two crossed axes as colours with the mean written in each cell."""
    import pandas as pd

    name, cells = shown.column, []
    for row in rows_axis.values:
        for value in axis.values:
            mean = estimate(table, name, algorithm, {axis.key: value, rows_axis.key: row}, method).scaled(shown.factor)
            cells.append(
                {
                    axis.key: value,
                    rows_axis.key: row,
                    "value": mean.value,
                    "low": mean.low,
                    "high": mean.high,
                    "n": mean.n,
                }
            )
    grid = np.array([cell["value"] for cell in cells]).reshape(len(rows_axis.values), len(axis.values))
    with style.canvas() as (figure, axes):
        image = axes.imshow(grid, cmap="cividis", aspect="auto", origin="lower")
        middle = (np.nanmin(grid) + np.nanmax(grid)) / 2 if np.isfinite(grid).any() else 0.0
        for (i, j), value in np.ndenumerate(grid):
            axes.text(j, i, f"{value:.3g}", ha="center", va="center", color="white" if value < middle else "black", fontsize=8)
        axes.set_xticks(range(len(axis.values)), [str(v) for v in axis.values])
        axes.set_yticks(range(len(rows_axis.values)), [str(v) for v in rows_axis.values])
        axes.set_xlabel(axis.label)
        axes.set_ylabel(rows_axis.label)
        axes.grid(visible=False)
        figure.colorbar(image, label=shown.axis)
        pictures = style.svg(figure), style.pdf(figure)
    title = f"{shown.label}, {algorithm}"
    caption = f"{title}: {method.statistic} over replicates for each {lower(axis.label)} and {lower(rows_axis.label)}."
    names = ("heatmap", axis.key, rows_axis.key, name, algorithm)
    return render(names, title, caption, pictures, pd.DataFrame(cells))


def series(frames: Mapping[str, "pd.DataFrame"], name: str, which: str, handovers: Sequence[float] = ()) -> RenderedFigure:
    """Draw a sampled variable over time for one representative run of each algorithm; `frames` hold t_s and value.

    Times of handovers to another satellite are marked.
    """
    import pandas as pd

    shown, rows = metric(name), []
    with style.chart(7.2, 3.2) as (figure, axes):
        for i, (algorithm, frame) in enumerate(frames.items()):
            line_style = {key: value for key, value in style.line_style(i).items() if key in ("color", "linestyle")}
            # A value holds until the next sample.
            axes.plot(
                frame["t_s"],
                frame["value"] * shown.factor,
                drawstyle="steps-post",
                linewidth=1.1,
                label=algorithm,
                **line_style,
            )
            rows.append(pd.DataFrame({"algorithm": algorithm, "t_s": frame["t_s"], "value": frame["value"] * shown.factor}))
        for i, time in enumerate(handovers):
            axes.axvline(time, color="#555555", linewidth=0.8, linestyle=":", label="" if i else "handover", zorder=1)
        axes.set_xlabel("Time (s)")
        axes.set_ylabel(shown.axis)
        axes.set_ylim(bottom=0)
        style.legend_below(figure, axes)
        pictures = style.svg(figure), style.pdf(figure)
    caption = f"{shown.label} of {which} over time, one representative run (nominal point, seed 1) of each algorithm."
    names = ("series", name) if which.endswith(" 0") or which.startswith("link") else ("series", name, which)
    made = render(names, f"{shown.label} over time", caption, pictures, pd.concat(rows, ignore_index=True))
    return replace(made, wide=True)


def collect(axis: Axis | None, name: str, algorithms: list[str], measure: Any) -> "pd.DataFrame":
    """Return the data of a figure: one row for each algorithm and point, with value, low, high and n."""
    import pandas as pd

    rows = []
    for algorithm in algorithms:
        for where in [{axis.key: value} for value in axis.values] if axis else [{}]:
            e: Estimate = measure(algorithm, where)
            rows.append(
                {
                    "algorithm": algorithm,
                    **where,
                    "metric": name,
                    "value": e.value,
                    "low": e.low,
                    "high": e.high,
                    "n": e.n,
                }
            )
    return pd.DataFrame(rows)


def hide_unbounded(change: Estimate) -> Estimate:
    """Return a difference, or NaN if its interval is unbounded."""
    return replace(change, value=math.nan) if change.unbounded else change


def columns(rows: "pd.DataFrame", algorithm: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return value, low and high of one algorithm along the axis."""
    mine = rows[rows["algorithm"] == algorithm]
    return mine["value"].to_numpy(float), mine["low"].to_numpy(float), mine["high"].to_numpy(float)


def render(names: tuple[str, ...], title: str, caption: str, pictures: tuple[str, bytes], rows: "pd.DataFrame") -> RenderedFigure:
    """Return a figure with its file name made of `names`."""
    return RenderedFigure("-".join(slug(name) for name in names if name), title, caption, *pictures, rows)


def slug(text: str) -> str:
    """Return text as part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def label_x(axes: "Axes", axis: Axis, x: list[float]) -> None:
    """Put ticks at the swept values."""
    found = numbers(axis.values)
    axes.set_xticks(x, [f"{v:g}" for v in found[0]] if found else [str(v) for v in axis.values])
    axes.set_xlabel(axis.title)


def limit_zoom(axes: "Axes", shown: Metric) -> None:
    """Keep noise from filling the figure: the axis spans at least 2 % of the values (ratios: 0.2 percentage points)."""
    low, high = axes.get_ylim()
    if shown.unit == "%":
        widen(axes, 0.2)
        # A share below 0 or above 100 % does not exist; room for the marker is left.
        low, high = axes.get_ylim()
        axes.set_ylim(max(low, -0.05 * (high - low)), min(high, 100 + 0.05 * (high - low)))
    else:
        widen(axes, 0.02 * max(abs(low), abs(high)))


def widen(axes: "Axes", min_span: float) -> None:
    """Widen the vertical axis to a span of at least `min_span`."""
    low, high = axes.get_ylim()
    if high - low < min_span:
        middle = (low + high) / 2
        axes.set_ylim(middle - min_span / 2, middle + min_span / 2)


def is_measured(table: "pd.DataFrame", name: str, algorithms: list[str]) -> bool:
    """Tell whether the metric was measured at all."""
    return any(values_at(table, name, algorithm, {}).notna().any() for algorithm in algorithms)
