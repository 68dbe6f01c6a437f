"""The report of an evaluation: one self-contained page that opens with the scoreboard, and the same for programs."""

import datetime
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from markupsafe import Markup

from tonopah._core import engine_version
from tonopah.analysis.figure_files import write_figures
from tonopah.analysis.figure_model import FigureData
from tonopah.errors import RunFailedError
from tonopah.evaluate import board, sentences
from tonopah.evaluate.definitions import Experiment
from tonopah.evaluate.evaluation import Evaluation, facts
from tonopah.evaluate.figures import criterion_figures, sparkline
from tonopah.evaluate.labels import label
from tonopah.evaluate.measured import Measured
from tonopah.evaluate.scoreboard import Compared, PointEffect, Row
from tonopah.evaluate.statement import Statement, statement_rows
from tonopah.evaluate.verdict import EQUIVALENCE, LEVEL, Harmed
from tonopah.metrics import show
from tonopah.report import vendor
from tonopah.report.document import SCRIPTS, page_file, template_environment
from tonopah.report.embed import page_data
from tonopah.report.files import replace_file
from tonopah.report.formatting import p_text
from tonopah.report.panels import Panel, make_panels
from tonopah.stats import confidence_of_each

UNITS_SHOWN = 3.0
"""The axis of effects reaches so many margins to each side."""


@dataclass
class Section:
    """A criterion as the page shows it."""

    row: Row
    spark: Markup
    panels: list[Panel]
    rule: str
    effect: str
    values: str
    against_second: str
    labels: list[str]
    """Of the lines of its figures."""
    bar: tuple[float, float, float] | None
    """Effect and ends of its interval, as share of the axis from left to right."""
    experiments: list[tuple[str, Experiment, str]] = field(default_factory=list)
    """Id, definition, and scenario of a run of the experiments."""


def write(evaluation: Evaluation, measured: Measured, rows: Sequence[Row], statement: Statement | None = None) -> Path:
    """Write report.html, scoreboard.json, scoreboard.md, tables/ and figures/ and return the path of the page."""
    out = evaluation.folder
    figures = {row.criterion.id: criterion_figures(row.criterion, measured, evaluation.cast) for row in rows}
    try:
        (out / "tables").mkdir(parents=True, exist_ok=True)
        write_table(measured, out / "tables")
        write_figures((figure for found in figures.values() for figure in found), out / "figures")
        replace_file(out / "scoreboard.json", json.dumps(board.scoreboard(evaluation, rows), indent=1, allow_nan=False) + "\n")
        replace_file(out / "scoreboard.md", board.markdown(evaluation, rows))
        replace_file(out / "report.html", render(evaluation, rows, figures, statement or Statement()))
    except OSError as error:
        raise RunFailedError(f"{out}: the report cannot be written: {error}") from error
    return out / "report.html"


def write_table(measured: Measured, folder: Path) -> None:
    """Write all metrics: a row for each point, arm and replicate."""
    import pandas as pd

    rows = [
        {"experiment": name, "point": one.point.label, "arm": arm, "replicate": k, **values}
        for name, points in measured.points.items()
        for one in points
        for arm, found in one.arms.items()
        for k, values in found.items()
    ]
    pd.DataFrame(rows).to_csv(folder / "runs.csv", index=False)


def render(evaluation: Evaluation, rows: Sequence[Row], figures: dict[str, list[FigureData]], statement: Statement) -> str:
    """Return the HTML document."""
    sections = [section(evaluation, row, figures[row.criterion.id]) for row in rows]
    cast = evaluation.cast
    environment = template_environment("tonopah.evaluate")
    environment.filters |= {
        "show": show,
        "number": sentences.number,
        "holm": p_text,
        "point_effect": point_effect_text,
        "harm_value": harm_value_text,
        "label": label,
        "compared": sentences.effect_text,
        "metric_name": sentences.metric_text,
    }
    return environment.get_template("evaluation.html.j2").render(
        cast=cast,
        facts=facts(evaluation),
        confidence=sentences.level_text(len(evaluation.schedule)),
        replicates=sentences.replicates_text(facts(evaluation)),
        sections=sections,
        summary=sentences.summary(rows),
        foot=sentences.foot(cast),
        statement=[] if evaluation.mode == "tcpeval" else statement_rows(statement, rows),
        style=resources.files("tonopah.evaluate").joinpath("evaluation.css").read_text(encoding="utf-8"),
        date=datetime.date.today().isoformat(),
        version=engine_version(),
        labels=[cast.subject.name, cast.baseline.name, cast.second.name],
        data=page_data([figure for found in figures.values() for figure in found]),
        vendor=vendor.SCRIPTS,
        vendor_style=vendor.STYLE.text,
        scripts=[page_file(name) for name in SCRIPTS],
        level=LEVEL,
        equivalence=confidence_of_each(EQUIVALENCE, len(evaluation.schedule)),
    )


def section(evaluation: Evaluation, row: Row, figures: list[FigureData]) -> Section:
    """Return a criterion as the page shows it."""
    plan, cast = evaluation.plan(), evaluation.cast
    definitions = evaluation.definitions.experiments
    shown = [(name, definitions[name], plan.example[name]) for name in row.criterion.experiments if name in plan.example]
    second = row.against_second
    kind = row.primary.kind if row.primary else ""
    return Section(
        row,
        Markup(sparkline(figures[0], row.criterion.figures[0].arms) if figures else ""),
        make_panels(figures),
        sentences.rule_text(row, cast),
        sentences.effect_text(row.primary),
        sentences.values_text(row.primary, cast),
        sentences.estimate_text(second.value, second.low, second.high, kind),
        list(dict.fromkeys(line.label for figure in figures for line in figure.series)),
        bar(row.primary),
        shown,
    )


def bar(one: Compared | None) -> tuple[float, float, float] | None:
    """Return effect and interval on the common axis, from 0 at its left to 1 at its right end."""
    if one is None or math.isnan(one.effect.estimate.value):
        return None
    found = one.effect.estimate
    places = [(bound / one.effect.margin / UNITS_SHOWN + 1) / 2 for bound in (found.value, found.low, found.high)]
    value, low, high = (min(1.0, max(0.0, place)) if not math.isnan(place) else math.nan for place in places)
    return (value, value, value) if math.isnan(low) else (value, low, high)


def point_effect_text(one: PointEffect) -> str:
    """Return the effect at a point."""
    found = one.effect.estimate
    return sentences.estimate_text(found.value, found.low, found.high, one.kind)


def harm_value_text(one: Harmed) -> str:
    """Return an excess harm."""
    found = one.estimate
    return sentences.estimate_text(found.value, found.low, found.high, "difference" if one.point.metric == "goodput" else "equal")
