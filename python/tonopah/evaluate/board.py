"""The scoreboard for programs and for Markdown."""

import math
from collections.abc import Sequence
from typing import Any

from tonopah._core import engine_version
from tonopah.evaluate import sentences
from tonopah.evaluate.evaluation import Evaluation, facts
from tonopah.evaluate.labels import label
from tonopah.evaluate.scoreboard import Compared, Row
from tonopah.evaluate.subjects import Cast

FORMAT = 1


def number(value: float) -> float | None:
    """Return a number as JSON can hold it."""
    return None if math.isnan(value) or math.isinf(value) else value


def scoreboard(evaluation: Evaluation, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the scoreboard for programs."""
    return {"format": FORMAT, **facts(evaluation), "criteria": [row_facts(row) for row in rows], "harm": harm_facts(rows)}


def row_facts(row: Row) -> dict[str, Any]:
    """Return a row for programs."""
    criterion = row.criterion
    return {
        "id": criterion.id,
        "section": criterion.section,
        "level": criterion.level,
        "name": criterion.name,
        "verdict": row.word,
        "second_word": row.second_word or None,
        "at_one_point": row.worst_point or None,
        "points_worse": [f"{one.experiment}, {one.point}" for one in row.points if one.effect.is_worse],
        "primary": compared_facts(row.primary) if row.primary else None,
        "secondary": [compared_facts(one) for one in row.secondary],
        "bound": [{**vars(line), "value": number(line.value), "baseline": number(line.baseline)} for line in row.limits] or None,
        "experiments": criterion.experiments,
        "gap": row.reason or None,
        "runs": row.runs,
    }


def compared_facts(one: Compared) -> dict[str, Any]:
    """Return a comparison for programs."""
    found, known = one.effect.estimate, label(one.metric)
    return {
        "metric": one.metric,
        "kind": one.kind,
        "unit": known.unit,
        "value_subject": number(one.value_subject * known.factor),
        "value_baseline": number(one.value_baseline * known.factor),
        "effect": number(found.value),
        "low": number(found.low),
        "high": number(found.high),
        "p": number(one.effect.p),
        "p_holm": number(one.effect.p_holm),
        "margin": one.effect.margin,
        "n": found.n,
    }


def harm_facts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the excess harm at every point, for programs."""
    return [
        {
            "criterion": row.criterion.id,
            "victim": one.point.victim,
            "experiment": one.point.experiment,
            "point": one.point.point,
            "metric": one.point.metric,
            "excess": number(one.estimate.value),
            "low": number(one.estimate.low),
            "high": number(one.estimate.high),
            "p_holm": number(one.p_holm),
            "n": one.estimate.n,
        }
        for row in rows
        for one in row.harm
    ]


def markdown(evaluation: Evaluation, rows: Sequence[Row]) -> str:
    """Return the scoreboard as a table of Markdown."""
    cast, level = evaluation.cast, sentences.level_text(len(evaluation.schedule))
    head = [
        f"# {cast.subject.label}",
        "",
        f"Against {cast.baseline.label} and {cast.second.label}; Tonopah {engine_version()}, {evaluation.mode}, "
        f"{sentences.replicates_text(facts(evaluation))}.",
        "",
        *[f"{text}\n" for text in sentences.summary(rows)],
        f"| criterion | {evaluation.definitions.document} | verdict | seen | effect [{level} interval] | n |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    foot = [sentences.foot(cast), "", f"`{evaluation.command}`", ""]
    return "\n".join([*head, *(markdown_row(row, cast) for row in rows), "", *foot])


def markdown_row(row: Row, cast: Cast) -> str:
    """Return a row as a line of the table."""
    criterion = row.criterion
    word = ", ".join(text for text in (row.word, row.second_word, row.worst_point and f"at {row.worst_point}") if text)
    kept = f"{sum(line.kept for line in row.limits)} of {len(row.limits)} bounds kept" if row.limits else ""
    seen = (
        f"{sentences.metric_text(row.primary)}: {sentences.values_text(row.primary, cast)}" if row.primary else kept or row.reason
    )
    effect = sentences.effect_text(row.primary)
    cells = (f"{criterion.id} {criterion.name}", f"§{criterion.section}, {criterion.level}", word, seen, effect)
    return f"| {' | '.join(cells)} | {row.n or '–'} |"
