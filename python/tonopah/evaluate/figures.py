"""The figures of a report: a metric over an axis, a line for each arm, with intervals."""

import math
import sys
from collections.abc import Iterable, Sequence

from tonopah._core import parse_quantity
from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series, as_numbers
from tonopah.evaluate.definitions import Criterion, Shown, shown
from tonopah.evaluate.labels import label
from tonopah.evaluate.measured import Measured, PointValues
from tonopah.evaluate.subjects import Cast
from tonopah.metrics import Metric
from tonopah.names import figure_id
from tonopah.stats import mean_of

AXIS_LABELS = {
    "buffer": ("Queue", "BDP"),
    "flows": ("Flows", ""),
    "rate": ("Rate", ""),
    "rtt": ("Round-trip time", ""),
    "case": ("Case", ""),
    "load": ("Load", ""),
    "other": ("Beside", ""),
}
ENOUGH = 2
"""Fewer points make no figure."""


def criterion_figures(criterion: Criterion, measured: Measured, cast: Cast) -> list[FigureData]:
    """Return the figures of a criterion that have data."""
    made = [figure for wanted in criterion.figures for figure in draw(criterion.id, wanted, measured, cast)]
    return [figure for figure in made if not figure.is_empty()]


def draw(owner: str, wanted: Shown, measured: Measured, cast: Cast) -> list[FigureData]:
    """Return one figure for each value of `by`."""
    points = measured.at(wanted.experiment, wanted.where)
    groups: dict[str, list[PointValues]] = {}
    for point in points:
        key = shown(dict(point.point.axes).get(wanted.by, "")) if wanted.by else ""
        groups.setdefault(key, []).append(point)
    return [
        one_figure(owner, wanted, key, group, cast)
        for key, group in groups.items()
        if len(positions(wanted.x, group)[0]) >= ENOUGH
    ]


def one_figure(owner: str, wanted: Shown, key: str, points: list[PointValues], cast: Cast) -> FigureData:
    """Return a figure of some points."""
    metric = label(wanted.metric)
    values, ticks, numeric = positions(wanted.x, points)
    name, unit = AXIS_LABELS.get(wanted.x, (wanted.x, ""))
    where = f", {AXIS_LABELS.get(wanted.by, (wanted.by, ''))[0].lower()} {key}" if key else ""
    title = wanted.title or metric.label
    caption = f"Experiment {wanted.experiment}{where}. Means with 95 % intervals."
    caption += f" {metric.definition}." if metric.definition else ""
    return FigureData(
        figure_id(owner, "line", wanted.experiment.lower(), wanted.metric, *([wanted.by, key] if key else [])),
        owner,
        "line",
        title,
        caption,
        FigureAxis(wanted.x, name, unit, values, ticks, numeric and "x" in wanted.log),
        FigureScale(wanted.metric, f"{title}{where}", metric.unit, log="y" in wanted.log),
        [line(arm, number, wanted, metric, points, values, cast) for number, arm in enumerate(wanted.arms)],
    )


def positions(axis: str, points: Iterable[PointValues]) -> tuple[list[float], list[str], bool]:
    """Return the positions of the values of an axis, their texts, and whether they are numbers."""
    found = list(dict.fromkeys(shown(dict(one.point.axes).get(axis, "")) for one in points))
    numbers = [as_number(text) for text in found]
    if all(number is not None for number in numbers):
        pairs = sorted((number, text) for number, text in zip(numbers, found, strict=True) if number is not None)
        return [number for number, _ in pairs], [text for _, text in pairs], True
    return [float(i) for i in range(len(found))], found, False


def as_number(text: str) -> float | None:
    """Return the number of a value of an axis, of a rate in bit/s; None if it is none."""
    try:
        return float(text)
    except ValueError:
        pass
    for kind in ("rate", "duration"):
        try:
            return float(parse_quantity(text, kind))
        except ValueError:
            continue
    return None


def line(
    arm: str, number: int, wanted: Shown, metric: Metric, points: list[PointValues], values: list[float], cast: Cast
) -> Series:
    """Return the line of an arm."""
    texts = {text: place for place, text in zip(values, positions(wanted.x, points)[1], strict=True)}
    rows = []
    for point in points:
        found = mean_of(list(point.metric(arm, wanted.metric).values())).interval(0.95).scaled(metric.factor)
        rows.append((texts[shown(dict(point.point.axes).get(wanted.x, ""))], found))
    rows.sort(key=lambda row: row[0])
    least = sys.float_info.min if "y" in wanted.log else -math.inf
    return Series(
        arm_name(arm, cast),
        number,
        as_numbers(x for x, _ in rows),
        as_numbers(one.value if one.value >= least else math.nan for _, one in rows),
        as_numbers(one.low if one.low >= least else one.value for _, one in rows),
        as_numbers(one.high for _, one in rows),
        [one.n for _, one in rows],
    )


def arm_name(arm: str, cast: Cast) -> str:
    """Return an arm as people read it: who runs in it, beside whom."""
    first, _, second = arm.partition(":")
    names = {"O": "the other"}
    mine = names.get(first) or cast.name(first)
    return f"{mine} beside {names.get(second) or cast.name(second)}" if second else mine


SPARK_WIDTH, SPARK_HEIGHT, SPARK_EDGE = 160, 36, 4


ROLES = "SBR"
"""Who has the first, second and third line of a small picture."""


def sparkline(figure: FigureData, arms: Sequence[str]) -> str:
    """Return a figure as a small picture: the subject thick, the baseline thin, the second reference, if there is one, dotted."""
    lines = [one for one, arm, role in zip(figure.series, arms, ROLES, strict=False) if arm.startswith(role)]
    known = [value for one in lines for value in one.y if value is not None]
    if not known:
        return ""
    scale = (lambda v: math.log(max(v, 1e-12))) if figure.y.log and min(known) > 0 else (lambda v: v)
    low, high = scale(min(known)), scale(max(known))
    places = figure.x.values
    across = math.log if figure.x.log and min(places) > 0 else (lambda v: v)
    left, right = across(places[0]), across(places[-1])
    drawn = []
    for number, one in reversed(list(enumerate(lines))):
        dots = [
            f"{SPARK_EDGE + (SPARK_WIDTH - 2 * SPARK_EDGE) * (across(x) - left) / (right - left or 1):.1f},"
            f"{SPARK_HEIGHT - SPARK_EDGE - (SPARK_HEIGHT - 2 * SPARK_EDGE) * (scale(y) - low) / (high - low or 1):.1f}"
            for x, y in zip(one.x, one.y, strict=True)
            if x is not None and y is not None
        ]
        style = ("2.6", "1.2", '1.2" stroke-dasharray="2 2')[number]
        drawn.append(f'<polyline points="{" ".join(dots)}" fill="none" stroke="var(--s{number})" stroke-width="{style}"/>')
    return f'<svg class="spark" viewBox="0 0 {SPARK_WIDTH} {SPARK_HEIGHT}" aria-hidden="true">{"".join(drawn)}</svg>'
