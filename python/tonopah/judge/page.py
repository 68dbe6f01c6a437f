"""The report of an evaluation: one self-contained page that opens with the scoreboard, and the same for programs."""

import datetime
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tonopah.analysis.figure_files import write_figures
from tonopah.analysis.figure_model import FigureData, Series
from tonopah.analysis.figure_values import Request, SweptAxis, line
from tonopah.errors import RunFailedError
from tonopah.judge import sentences
from tonopah.judge.definitions import Criterion, Shown, shown
from tonopah.judge.effects import EQUIVALENCE, LEVEL, Effect
from tonopah.judge.evaluation import SCALES, Evaluation
from tonopah.judge.metrics import label
from tonopah.judge.scoreboard import Row, by_setting
from tonopah.judge.statement import Statement, statement_rows
from tonopah.judge.study import Place, Results, axes_of, replicate_of
from tonopah.judge.subjects import Cast
from tonopah.judge.thresholds import TABLE
from tonopah.judge.words import colour
from tonopah.metrics import show
from tonopah.names import figure_id
from tonopah.plot.spark import sample, sparkline
from tonopah.report.document import render_page
from tonopah.report.formatting import p_text
from tonopah.report.panels import make_panels
from tonopah.stats import UNBOUNDED, Method, confidence_of_each
from tonopah.units import numbers
from tonopah.writing import replace_file, written_whole

UNITS_SHOWN = 3.0
"""The axis of effects reaches so many margins to each side."""
AXIS_LABELS = {"rtt": "Round-trip time", "other": "Beside", "buffer": "Queue"}
AXIS_UNITS = {"buffer": "BDP"}
ENOUGH = 2
"""Fewer points make no figure."""
SETTINGS = ("wired", "AQM", "wireless", "satellite", "data centre", "other")
ROLES = "SBR"
"""Who has the first, second and third line of a small picture."""


def write(evaluation: Evaluation, results: Results, rows: Sequence[Row], statement: Statement | None = None) -> Path:
    """Write report.html, scoreboard.json, scoreboard.md, tables/ and figures/ and return the path of the page."""
    out = evaluation.out
    figures = {row.criterion.id: list(criterion_figures(row.criterion, results, evaluation.cast)) for row in rows}
    try:
        (out / "tables").mkdir(parents=True, exist_ok=True)
        write_table(results, out / "tables")
        write_figures(itertools.chain(*figures.values()), out / "figures")
        replace_file(out / "scoreboard.json", json.dumps(evaluation.scoreboard(rows), indent=1, allow_nan=False) + "\n")
        replace_file(out / "scoreboard.md", evaluation.markdown(rows))
        replace_file(out / "report.html", render(evaluation, results, rows, figures, statement or {}))
    except OSError as error:
        raise RunFailedError(f"{out}: the report cannot be written: {error}") from error
    return out / "report.html"


def write_table(results: Results, folder: Path) -> None:
    """Write all metrics: a row for each point, arm and replicate."""
    import pandas as pd

    found = []
    for place in (place for places in results.places.values() for place in places if len(place.table)):
        table = place.table.drop(columns=["run", *axes_of(place.point)])
        table.insert(1, "point", place.label)
        table.insert(2, "replicate", [replicate_of(seed) for seed in table["seed"]])
        found.append(table.rename(columns={"part": "experiment", "algorithm": "arm"}))
    with written_whole(folder / "runs.csv") as file:
        (pd.concat(found) if found else pd.DataFrame()).to_csv(file, index=False)


def criterion_figures(criterion: Criterion, results: Results, cast: Cast) -> Iterator[FigureData]:
    """Yield the figures of a criterion that have data: one for each combination of the axes that are not drawn."""
    for wanted in criterion.figures:
        groups: dict[tuple[tuple[str, Any], ...], list[Place]] = {}
        for place in results.at(wanted.experiment, wanted.where):
            others = tuple((axis, value) for axis, value in axes_of(place.point).items() if axis != wanted.x)
            groups.setdefault(others, []).append(place)
        # An axis of one value is said by the experiment.
        varied = [axis for axis, values in by_axis(groups).items() if len(values) > 1]
        for others, places in groups.items():
            apart = {axis: value for axis, value in others if axis in varied}
            figure = one_figure(criterion.id, wanted, apart, places, cast)
            if len(figure.x.values) >= ENOUGH and not figure.is_empty():
                yield figure


def by_axis(groups: Any) -> dict[str, set[Any]]:
    """Return the values of the axes of groups."""
    found: dict[str, set[Any]] = {}
    for axis, value in itertools.chain(*groups):
        found.setdefault(axis, set()).add(value)
    return found


def one_figure(owner: str, wanted: Shown, others: dict[str, Any], places: list[Place], cast: Cast) -> FigureData:
    """Return a figure of some points."""
    import pandas as pd

    metric = replace(label(wanted.metric), bounds=UNBOUNDED)
    table = pd.concat([place.table for place in places])
    values = list(dict.fromkeys(axes_of(place.point)[wanted.x] for place in places))
    if (found := numbers(values)) is not None:
        values = [value for _, value in sorted(zip(found[0], values, strict=True))]
    axis = SweptAxis(wanted.x, values, AXIS_LABELS.get(wanted.x, wanted.x.capitalize()))
    request = Request(owner, table, metric, wanted.arms, wanted.arms[0], Method(), wanted.log)
    made = line(request, axis)
    where = "".join(f", {AXIS_LABELS.get(axis, axis).lower()} {shown(value)}" for axis, value in others.items())
    title = wanted.title or metric.label
    caption = f"Experiment {wanted.experiment}{where}. Means with 95 % intervals."
    keys = [shown(text) for pair in others.items() for text in pair]
    return replace(
        made,
        id=figure_id(owner, "line", wanted.experiment.lower(), wanted.metric, *keys),
        title=title,
        caption=caption + (f" {metric.definition}." if metric.definition else ""),
        x=replace(made.x, unit=made.x.unit or AXIS_UNITS.get(wanted.x, "")),
        y=replace(made.y, label=f"{title}{where}"),
        series=[drawable(one, cast.arm(arm), wanted.log) for one, arm in zip(made.series, wanted.arms, strict=True)],
    )


def drawable(one: Series, name: str, log: str) -> Series:
    """Return a line with its name, without what a logarithmic axis cannot show: values and lower ends that are not above zero."""
    if "y" not in log:
        return replace(one, label=name)
    y = [value if value is not None and value > 0 else None for value in one.y]
    low = [end if end is not None and end > 0 else value for end, value in zip(one.low, y, strict=True)]
    return replace(one, label=name, y=y, low=low)


def render(
    evaluation: Evaluation, results: Results, rows: Sequence[Row], figures: dict[str, list[FigureData]], statement: Statement
) -> str:
    """Return the HTML document."""
    cast = evaluation.cast
    names = (cast.subject.name, cast.baseline.name, cast.second.name)
    filters = {
        "show": show, "number": sentences.number, "holm": p_text, "label": label, "effect": sentences.effect_text,
        "finding": sentences.finding_text, "sets": sentences.sets_text, "colour": colour,
    }  # fmt: skip
    return render_page(
        "evaluation.html.j2",
        itertools.chain(*figures.values()),
        "tonopah.judge",
        filters,
        cast=cast,
        facts=evaluation.facts,
        confidence=sentences.level_text(evaluation.looks),
        replicates=sentences.replicates_text(evaluation.facts),
        sections=[section(evaluation, row, figures[row.criterion.id]) for row in rows],
        summary=sentences.summary(rows, evaluation.cast),
        foot=sentences.foot(cast),
        statement=[] if evaluation.mode == "tcpeval" else statement_rows(statement, rows),
        date=datetime.date.today().isoformat(),
        legend=[(Markup(sample(number)), name) for number, name in enumerate(names)],
        level=LEVEL,
        equivalence=confidence_of_each(EQUIVALENCE, evaluation.looks),
        margins=evaluation.by_margin(results) if evaluation.shows_margins else {},
        scales=SCALES,
        scenarios=by_setting(rows, cast),
        settings=SETTINGS,
        thresholds=TABLE,
    )


def section(evaluation: Evaluation, row: Row, figures: list[FigureData]) -> dict[str, Any]:
    """Return a criterion as the page shows it."""
    cast, known = evaluation.cast, {part.id for part in evaluation.spec.parts}
    run = [name for name in row.criterion.experiments if name in known]
    arms = row.criterion.figures[0].arms if figures else []
    lines = [number for number, (arm, role) in enumerate(zip(arms, ROLES, strict=False)) if arm.startswith(role)]
    return {
        "row": row,
        "spark": Markup(sparkline(figures[0], lines) if figures else ""),
        "panels": make_panels(figures),
        "rule": sentences.rule_text(row, cast),
        "effect": sentences.effect_text(row.primary),
        "seen": sentences.seen_text(row, cast),
        "labels": list(dict.fromkeys(line.label for figure in figures for line in figure.series)),
        "bar": bar(row.primary),
        "experiments": [(name, evaluation.suite.experiments[name], evaluation.example(name)) for name in run],
    }


def bar(one: Effect | None) -> tuple[float, float, float] | None:
    """Return effect and interval on the common axis, better to the right, from 0 at its left to 1 at its right end."""
    if one is None or math.isnan(one.estimate.value):
        return None
    found = one.estimate.scaled(-1.0) if one.better == "less" else one.estimate
    places = [(bound / one.margin / UNITS_SHOWN + 1) / 2 for bound in (found.value, found.low, found.high)]
    value, low, high = (min(1.0, max(0.0, place)) if not math.isnan(place) else math.nan for place in places)
    return (value, value, value) if math.isnan(low) else (value, low, high)
