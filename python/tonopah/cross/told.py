"""What a comparison of engines says: tables for a terminal, facts for programs, and a sentence."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tonopah.cross.comparison import Absent, Arm, Compare, Comparison, Row
from tonopah.cross.measures import GOODPUT, Compared
from tonopah.cross.worlds import Margins
from tonopah.metrics import count_text, show
from tonopah.stats import Estimate, or_none
from tonopah.terminal.grid import Grid

FORMAT = 1
DIGITS = 3
ORDER = ("different", "undecided", "equivalent")
"""The words, the worst first."""
MEANING = "= equivalent, ≠ different, ? undecided, of all metrics"


def worst(rows: Sequence[Row]) -> str:
    """Return the worst word of some rows; a dash if there are none."""
    return min((row.word for row in rows), key=ORDER.index, default="–")


def goodput_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the rows on the goodput of flows."""
    return [row for row in rows if row.metric.key.startswith(GOODPUT)]


def of_engine(one: Compare, name: str) -> list[Row]:
    """Return the rows of an engine."""
    return [row for row in one.rows if row.engine == name]


def grids(comparison: Comparison) -> list[Grid]:
    """Return the tables: of one world metric by metric, of several a line for each world and engine."""
    if len(comparison.worlds) == 1:
        return [world_grid(comparison.worlds[0])]
    first = comparison.engines[0].name
    rows = []
    for one in comparison.worlds:
        for arm in one.arms[1:]:
            mine = of_engine(one, arm.engine.name)
            counts = Counter(row.word for row in mine)
            numbers = [str(counts[word]) if mine else "" for word in ("equivalent", "different", "undecided")]
            rows.append([one.world.label, arm.engine.name, worst(goodput_rows(mine)), *numbers])
    return [Grid(f"Engines against {first}", ("world", "engine", "goodput", "=", "≠", "?"), rows, 2, MEANING)]


def world_grid(one: Compare) -> Grid:
    """Return the table of one world: each metric with its value in the first engine, and below it the others."""
    found = {(row.metric.key, row.engine): row for row in one.rows}
    first, *others = one.carried
    rows = []
    for metric in one.metrics:
        rows.append([metric.shown, estimate_text(first.estimate(metric)), "", ""])
        for arm in others:
            row = found.get((metric.key, arm.engine.name))
            cells = [change_text(row), row.word] if row else ["", "absent"]
            rows.append([f"  {arm.engine.name}", estimate_text(arm.estimate(metric)), *cells])
    columns = ("metric", "mean [95 %]", "difference [95 %]", "verdict")
    return Grid(f"{first.engine.name}, and below it the others", columns, rows, 1)


def estimate_text(found: Estimate) -> str:
    """Return a mean with its interval."""
    ends = "" if math.isnan(found.low) else f" [{show(found.low, DIGITS)}, {show(found.high, DIGITS)}]"
    return f"{show(found.value, DIGITS)}{ends}"


def change_text(row: Row) -> str:
    """Return a difference with its interval: percent, or of an index as it is."""
    effect, percent = row.found.effect, row.found.unit == "%"
    value, low, high = (signed(end, percent=percent) for end in (effect.value, effect.low, effect.high))
    ends = "" if math.isnan(effect.low) else f" [{low}, {high}]"
    return f"{value}{' %' if percent else ''}{ends}"


def signed(value: float, *, percent: bool) -> str:
    """Return a difference with its sign."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else show(value)
    return f"{value:+.0f}" if percent and abs(value) >= 10 else f"{value:+.1f}" if percent else f"{value:+.3f}"


def notes(comparison: Comparison) -> list[str]:
    """Return sentences on what is undecided, and on what is in no row; of several worlds on whole worlds alone."""
    found = []
    if len(comparison.worlds) == 1:
        [one] = comparison.worlds
        found += [f"{row.engine}, {row.metric.label}: {undecided_text(row)}" for row in one.rows if row.word == "undecided"]
        found += [absent_text(one, absent) for absent in one.absent]
    else:
        reasons = Counter((each.engine, each.reason) for one in comparison.worlds for each in one.absent if not each.metric)
        found += [f"not on {engine}, {count_text(count, 'world')}: {why}" for (engine, why), count in reasons.items()]
    return found + [f"{name}: {count_text(count, 'run')} left packets too late" for name, count in comparison.late.items()]


def undecided_text(row: Row) -> str:
    """Return what would decide a row."""
    why = row.found.sentence.strip()
    if row.needed is not None:
        return f"about {count_text(row.needed, 'replicate')} would decide"
    return why or "more replicates would hardly decide it: the difference is too near to the margin"


def absent_text(one: Compare, absent: Absent) -> str:
    """Return why something is in no row."""
    label = next((metric.label for metric in one.metrics if metric.key == absent.metric), "")
    return f"absent on {absent.engine}{f', {label}' if label else ''}: {absent.reason}"


def answer(comparison: Comparison) -> list[str]:
    """Return what was found in a sentence for each engine."""
    first, *others = comparison.engines
    found = []
    for engine in others:
        rows = [row for one in comparison.worlds for row in of_engine(one, engine.name)]
        counts = Counter(row.word for row in rows)
        told = ", ".join(f"{counts[word]} {word}" for word in reversed(ORDER))
        of_worlds = ""
        if len(comparison.worlds) > 1:
            good = Counter(worst(goodput_rows(of_engine(one, engine.name))) for one in comparison.worlds)
            carried = len(comparison.worlds) - good["–"]
            of_worlds = f"; goodput is equivalent in {good['equivalent']} of {count_text(carried, 'world')}"
        found.append(f"{engine.name} against {first.name}: of {count_text(len(rows), 'comparison')} {told}{of_worlds}.")
    return found


def facts(comparison: Comparison, command: str) -> dict[str, Any]:
    """Return the comparison for programs."""
    margins = {name: getattr(comparison.table, name) for name in Margins.model_fields}
    return {
        "format": FORMAT,
        "engines": {engine.name: comparison.versions.get(engine.name) for engine in comparison.engines},
        "first": comparison.engines[0].name,
        "margins": margins,
        "seed": comparison.seed,
        "command": command,
        "late": comparison.late,
        "answer": answer(comparison),
        "worlds": [world_facts(one) for one in comparison.worlds],
    }


def world_facts(one: Compare) -> dict[str, Any]:
    """Return a world for programs."""
    found = {(row.metric.key, row.engine): row for row in one.rows}
    metrics = []
    for metric in one.metrics:
        told = {arm.engine.name: arm for arm in one.carried if arm.of(metric.key)}
        engines = {name: engine_facts(metric, arm, found.get((metric.key, name))) for name, arm in told.items()}
        about = {"metric": metric.key, "label": metric.label, "unit": metric.unit, "kind": metric.kind}
        metrics.append({**about, "margin": metric.margin, "engines": engines})
    return {
        "label": one.world.label,
        "values": dict(one.world.values),
        "random": list(one.world.random),
        "replicates": {arm.engine.name: len(arm.values) for arm in one.carried},
        "metrics": metrics,
        "absent": [{"engine": each.engine, "metric": each.metric, "reason": each.reason} for each in one.absent],
    }


def engine_facts(metric: Compared, arm: Arm, row: Row | None) -> dict[str, Any]:
    """Return a metric of an engine for programs, and what it is beside the first."""
    mean = arm.estimate(metric)
    found: dict[str, Any] = {"mean": or_none(mean.value), "low": or_none(mean.low), "high": or_none(mean.high), "n": mean.n}
    found["values"] = [metric.factor * value for value in arm.of(metric.key)]
    if row:
        effect = row.found.effect
        ends = {"low": or_none(effect.low), "high": or_none(effect.high)}
        difference = {"value": or_none(effect.value), **ends, "unit": row.found.unit, "n": effect.n, "test": row.found.test}
        why = undecided_text(row) if row.word == "undecided" else ""
        found |= {"difference": difference, "verdict": row.word, "needed": row.needed, "why": why}
    return found
