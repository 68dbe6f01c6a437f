"""Figures of metrics from the tables: along an axis, as difference to the baseline, as bars, distribution and heat map."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Points, PublishedPoints, Series, as_numbers
from tonopah.analysis.tables import difference, estimate, values_at
from tonopah.metrics import Metric, lower
from tonopah.names import figure_id
from tonopah.stats import FEWEST, Estimate, Method
from tonopah.units import numbers

if TYPE_CHECKING:
    import pandas as pd

Where = Mapping[str, Any]


@dataclass(frozen=True)
class SweptAxis:
    """A swept axis: its key in the tables, its values as in the study file, and its label for people."""

    key: str
    values: list[Any]
    label: str

    def shown(self, log: bool = False) -> FigureAxis:
        """Return the axis as figures show it: numbers in one unit, other values at 0, 1, 2 and so on."""
        if (found := numbers(self.values)) is None:
            places = [float(i) for i in range(len(self.values))]
            return FigureAxis(self.key, self.label, "", places, [str(value) for value in self.values])
        logarithmic = log and all(value > 0 for value in found[0])
        return FigureAxis(self.key, self.label, found[1], found[0], [f"{value:g}" for value in found[0]], logarithmic)


@dataclass(frozen=True)
class Request:
    """What the figures of one metric have in common: where its values are, what is compared, and how it is summarised."""

    part: str
    table: "pd.DataFrame"
    metric: Metric
    algorithms: list[str]
    baseline: str
    method: Method
    log: str = ""
    printed: Callable[[str], list[PublishedPoints]] = lambda _: []
    """What the original printed of the metric along an axis."""

    @property
    def name(self) -> str:
        """Column of the metric."""
        return self.metric.column

    @property
    def scale(self) -> FigureScale:
        """The vertical axis of its values."""
        return FigureScale(self.name, self.metric.label, self.metric.unit, log="y" in self.log)

    def figure_id(self, kind: str, *keys: str) -> str:
        """Return the id of a figure of the metric."""
        return figure_id(self.part, kind, *keys, self.name)

    def estimate(self, algorithm: str, where: Where) -> Estimate:
        """Return the metric with its interval at a point, in the unit of the axis."""
        found = estimate(self.table, self.metric, algorithm, where, self.method)
        return found.scaled(self.metric.factor)

    def replicates(self, algorithm: str, where: Where) -> list[float]:
        """Return the metric of each replicate at a point, in the unit of the axis."""
        return (values_at(self.table, self.name, algorithm, where).dropna() * self.metric.factor).tolist()

    def change(self, algorithm: str, where: Where) -> Estimate:
        """Return the difference to the baseline in percent; nothing is shown of one to next to nothing."""
        found = difference(self.table, self.name, algorithm, self.baseline, where, self.method)
        return Estimate(math.nan, math.nan, math.nan, found.n) if found.unbounded else found

    def changes(self, algorithm: str, where: Where) -> list[float]:
        """Return the difference to the baseline in percent of each pair of replicates."""
        mine, base = (values_at(self.table, self.name, label, where) for label in (algorithm, self.baseline))
        both = ((mine / base - 1) * 100).replace([np.inf, -np.inf], np.nan)
        return both.dropna().tolist()


def band(method: Method, series: Iterable[Series]) -> str:
    """Return the kind of points and intervals in words."""
    if all(value is None for one in series for value in one.low):
        return f"{method.statistic} over replicates"
    return f"{method.statistic} and {100 * method.confidence:.3g} % interval over replicates"


def line(request: Request, axis: SweptAxis) -> FigureData:
    """Return a metric along an axis, with its interval."""
    shown = axis.shown("x" in request.log)
    series = [
        along(algorithm, i, axis, shown, request.estimate, request.replicates) for i, algorithm in enumerate(request.algorithms)
    ]
    title = f"{request.metric.label} against {lower(axis.label)}"
    printed = request.printed(axis.key)
    note = " Crosses are the numbers that the original printed." if printed else ""
    caption = f"{title}; {band(request.method, series)}.{few_note(series)}{note}"
    name = request.figure_id("line", axis.key)
    return FigureData(name, request.part, "line", title, caption, shown, request.scale, series, published=printed)


def difference_line(request: Request, axis: SweptAxis) -> FigureData:
    """Return the paired difference to the baseline in percent along an axis."""
    shown = axis.shown("x" in request.log)
    series = [
        along(algorithm, i, axis, shown, request.change, request.changes)
        for i, algorithm in enumerate(request.algorithms)
        if algorithm != request.baseline
    ]
    title = f"{request.metric.label}: difference to {request.baseline}"
    how = f"{paired(request.method, series)}.{few_note(series)}{hidden_note(series)}"
    caption = f"{title} in percent, against {lower(axis.label)}; {how}"
    scale = FigureScale(request.name, title, "%")
    name = request.figure_id("difference", axis.key)
    return FigureData(name, request.part, "difference", title, caption, shown, scale, series, baseline=request.baseline)


def paired(method: Method, series: Iterable[Series]) -> str:
    """Return the kind of differences and their intervals in words."""
    if all(value is None for one in series for value in one.low):
        return f"{method.statistic} of replicates paired by seed"
    return f"{method.statistic} of replicates paired by seed, with its {100 * method.confidence:.3g} % interval"


def bar(request: Request) -> FigureData:
    """Return a metric at the nominal point."""
    series = []
    for i, algorithm in enumerate(request.algorithms):
        found = [request.estimate(algorithm, {})]
        series.append(estimated(algorithm, i, [float(i)], found, [request.replicates(algorithm, {})]))
    axis = FigureAxis("algorithm", "", "", [float(i) for i in range(len(series))], list(request.algorithms))
    caption = f"{request.metric.label} at the nominal point; {band(request.method, series)}.{few_note(series)}"
    return FigureData(request.figure_id("bar"), request.part, "bar", request.metric.label, caption, axis, request.scale, series)


def parts_line(requests: Sequence[Request], titles: Sequence[str]) -> FigureData:
    """Return a metric at the nominal points of several parts, of everything that all of them compare."""
    first = requests[0]
    places = [float(i) for i in range(len(requests))]
    series = []
    for i, algorithm in enumerate(first.algorithms):
        if all(algorithm in request.algorithms for request in requests):
            found = [request.estimate(algorithm, {}) for request in requests]
            series.append(estimated(algorithm, i, places, found, [request.replicates(algorithm, {}) for request in requests]))
    axis = FigureAxis("part", "Network", "", places, list(titles))
    title = f"{first.metric.label} of the networks"
    caption = f"{title}: {', '.join(titles)}; {band(first.method, series)}.{few_note(series)}"
    name = first.figure_id("parts", *(request.part for request in requests[1:]))
    return FigureData(name, first.part, "line", title, caption, axis, first.scale, series)


def scatter(request: Request, against: Request, axis: SweptAxis | None = None, value: Any = None) -> FigureData:
    """Return a metric against another, at a value of an axis or at the nominal point: both with intervals."""
    where = {axis.key: value} if axis else {}
    series = []
    for i, algorithm in enumerate(request.algorithms):
        over, up = against.estimate(algorithm, where), request.estimate(algorithm, where)
        one = estimated(algorithm, i, [over.value], [up], [[]])
        wide = estimated(algorithm, i, [over.value], [over], [[]])
        series.append(replace(one, x_low=wide.low, x_high=wide.high))
    places = [place for one in series for place in (*one.x, *one.x_low) if place is not None]
    logarithmic = "x" in request.log and all(place > 0 for place in places)
    horizontal = FigureAxis(against.name, against.metric.label, against.metric.unit, log=logarithmic)
    at = f"at {lower(axis.label)} {value}" if axis else "at the nominal point"
    title = f"{request.metric.label} against {lower(against.metric.label)}"
    caption = f"{title}, {at}; {band(request.method, series)}, of both metrics."
    keys = (axis.key, str(value)) if axis else ()
    name = figure_id(request.part, "scatter", *keys, against.name, request.name)
    shown = f"{title}: {value}" if axis else title
    return FigureData(name, request.part, "scatter", shown, caption, horizontal, request.scale, series)


def ecdf(request: Request) -> FigureData:
    """Return the empirical distribution of a metric over all flows of all replicates at the nominal point."""
    import pandas as pd

    series = []
    for i, algorithm in enumerate(request.algorithms):
        mine = request.table[request.table["algorithm"] == algorithm]
        values = np.sort(pd.to_numeric(mine[request.name], errors="coerce").dropna().to_numpy(float)) * request.metric.factor
        # What did not end lasts longer than what did: the curve ends at the share that is known.
        until_the_end = request.name in ("completion_s", "fct_s") and "unfinished_s" in mine.columns
        never = int(mine["unfinished_s"].notna().sum()) if until_the_end else 0
        share = np.arange(1, len(values) + 1) / max(1, len(values) + never)
        series.append(Series(algorithm, i, as_numbers(values), as_numbers(share), n=[len(values)]))
    axis = FigureAxis(request.name, request.metric.label, request.metric.unit, log="x" in request.log)
    counts = ", ".join(f"{one.label} {one.n[0]}" for one in series)
    caption = (
        f"Empirical distribution of {lower(request.metric.label)} over the flows of all replicates at the nominal point; "
        f"flows: {counts}."
    )
    scale = FigureScale("share", "Share of flows", "", 0.0, 1.0)
    title = f"{request.metric.label} of the flows"
    return FigureData(request.figure_id("ecdf"), request.part, "ecdf", title, caption, axis, scale, series, step="after")


def heatmap(request: Request, axis: SweptAxis, rows: SweptAxis) -> FigureData:
    """Return a metric over two crossed axes, a panel for each algorithm."""
    series = [cells(algorithm, i, axis, rows, request.estimate) for i, algorithm in enumerate(request.algorithms)]
    title = f"{request.metric.label} over {lower(axis.label)} and {lower(rows.label)}"
    caption = f"{title}: {request.method.statistic} over replicates; one scale of colours for all panels."
    name = request.figure_id("heatmap", axis.key, rows.key)
    # Cells have no distances: a logarithmic axis would change nothing.
    return FigureData(
        name, request.part, "heatmap", title, caption, axis.shown(), request.scale, series, rows=rows.shown(), wide=True
    )


def heatmap_difference(request: Request, axis: SweptAxis, rows: SweptAxis) -> FigureData:
    """Return the difference to the baseline over two crossed axes, a panel for each other algorithm."""
    series = [
        cells(algorithm, i, axis, rows, request.change)
        for i, algorithm in enumerate(request.algorithms)
        if algorithm != request.baseline
    ]
    title = f"{request.metric.label}: difference to {request.baseline}"
    over = f"over {lower(axis.label)} and {lower(rows.label)}"
    caption = f"{title} in percent, {over}; {paired(request.method, series)}.{hidden_note(series)}"
    name = figure_id(request.part, "heatmap-difference", axis.key, rows.key, request.name)
    scale = FigureScale(request.name, title, "%")
    return replace(
        FigureData(name, request.part, "heatmap", title, caption, axis.shown(), scale, series, rows=rows.shown(), wide=True),
        baseline=request.baseline,
    )


def along(
    algorithm: str,
    style: int,
    axis: SweptAxis,
    shown: FigureAxis,
    measure: Callable[[str, Where], Estimate],
    replicates: Callable[[str, Where], list[float]],
) -> Series:
    """Return one algorithm along an axis."""
    wheres = [{axis.key: value} for value in axis.values]
    found = [measure(algorithm, where) for where in wheres]
    few = [replicates(algorithm, where) if has_few(e) else [] for e, where in zip(found, wheres, strict=True)]
    return estimated(algorithm, style, shown.values, found, few)


def cells(algorithm: str, style: int, axis: SweptAxis, rows: SweptAxis, measure: Callable[[str, Where], Estimate]) -> Series:
    """Return one algorithm over two axes."""
    x, y = axis.shown().values, rows.shown().values
    places = [(i, j) for j in range(len(y)) for i in range(len(x))]
    found = [measure(algorithm, {axis.key: axis.values[i], rows.key: rows.values[j]}) for i, j in places]
    made = estimated(algorithm, style, [x[i] for i, _ in places], found, [[] for _ in places])
    return Series(made.label, style, made.x, made.y, made.low, made.high, made.n, row=as_numbers(y[j] for _, j in places))


def has_few(found: Estimate) -> bool:
    """Tell whether there are replicates that differ, but too few for an interval; one alone is the point itself."""
    return 1 < found.n < FEWEST and found.low != found.high


def estimated(algorithm: str, style: int, x: list[float], found: list[Estimate], replicates: list[list[float]]) -> Series:
    """Return estimates at places along an axis; few replicates are shown as points, without an interval."""
    # Replicates that agree are the point itself.
    shown = [
        (place, values) for place, e, values in zip(x, found, replicates, strict=True) if has_few(e) and len(set(values)) > 1
    ]
    single = [(place, value) for place, values in shown for value in values]
    bounded = [not has_few(e) for e in found]
    low = as_numbers(e.low if ok else math.nan for e, ok in zip(found, bounded, strict=True))
    high = as_numbers(e.high if ok else math.nan for e, ok in zip(found, bounded, strict=True))
    points = Points(as_numbers(place for place, _ in single), as_numbers(value for _, value in single)) if single else None
    return Series(
        algorithm, style, as_numbers(x), as_numbers(e.value for e in found), low, high, [e.n for e in found], points=points
    )


def few_note(series: Iterable[Series]) -> str:
    """Return what single points are, if there are any."""
    return f" Small points are single replicates: fewer than {FEWEST} give no interval." if any(
        one.points for one in series
    ) else ""  # fmt: skip


def hidden_note(series: Iterable[Series]) -> str:
    """Return why points are missing, if some are."""
    hidden = any(value is None and n > 1 for one in series for value, n in zip(one.y, one.n, strict=True))
    return (
        " A point is left out where the baseline cannot be told from zero, so that its interval has no bounds." if hidden else ""
    )
