"""What each claim becomes where something else is assumed: sensitivity.json and a page, and the same table in the study's report.

Table and page are made from the content of sensitivity.json alone, so that the report shows what was stored.
"""

import json
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.analysis.evidence import Outcome
from tonopah.analysis.sensitivity import AlteredClaim, AlteredReading, AlteredWorld, Sensitivity
from tonopah.errors import RunFailedError
from tonopah.report.document import template_environment
from tonopah.report.formatting import interval_text
from tonopah.report.sensitivity_file import FILE, FORMAT
from tonopah.report.verdicts import estimate_entry
from tonopah.spec.model import StudySpec
from tonopah.writing import replace_file

PAGE = "sensitivity.html"


def write_sensitivity(
    facts: dict[str, Any], spec: StudySpec, worlds: list[AlteredWorld], found: list[Sensitivity], out: Path
) -> Path:
    """Write sensitivity.json and the page into `out` and return the path of the page; `facts` say of which study."""
    content = {
        "format": FORMAT,
        **facts,
        "tonopah": engine_version(),
        "criteria": spec.criteria,
        "assumptions": assumption_entries(spec, worlds),
        "hang": [hanging_entry(one, effect) for one in found for effect in one.effects if effect.hangs],
        "claims": [claim_entry(one) for one in found],
    }
    page = template_environment().get_template("sensitivity_page.html.j2").render(sensitivity=content, version=engine_version())
    try:
        out.mkdir(parents=True, exist_ok=True)
        replace_file(out / FILE, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        replace_file(out / PAGE, page)
    except OSError as error:
        raise RunFailedError(f"{out}: the report cannot be written: {error}") from error
    return out / PAGE


def assumption_entries(spec: StudySpec, worlds: list[AlteredWorld]) -> list[dict[str, Any]]:
    """Return what is assumed, with its alternatives; a parameter that parts assume differently stands once for each value."""
    titles = {part.id: part.title for part in spec.parts}
    made: dict[tuple[str, str], dict[str, Any]] = {}
    for world in worlds:
        key = world.assumption.parameter, world.assumption.value
        entry = made.setdefault(key, {"parameter": key[0], "value": key[1], "alternatives": []})
        changes = {place.part: dict(place.alternative.changes) for place in world.places}
        entry["alternatives"].append({
            "value": world.value, "reason": world.reason or None, "set": changes,
            "parts": [titles[part] for part in changes if titles.get(part)],
        })  # fmt: skip
    return list(made.values())


def hanging_entry(one: Sensitivity, effect: AlteredClaim) -> dict[str, Any]:
    """Return a verdict that hangs on an assumption."""
    world = effect.world
    return {
        "claim": one.verdict.claim.id, "parameter": world.assumption.parameter, "assumed": world.assumption.value,
        "value": world.value, "before": one.verdict.verdict, "after": effect.verdict.verdict,
    }  # fmt: skip


def claim_entry(one: Sensitivity) -> dict[str, Any]:
    """Return a claim in all worlds that it reads."""
    verdict = one.verdict
    return {
        "id": verdict.claim.id, "text": verdict.claim.text, "verdict": verdict.verdict, "sentence": verdict.sentence,
        "worlds": [world_entry(effect) for effect in one.effects],
    }  # fmt: skip


def world_entry(effect: AlteredClaim) -> dict[str, Any]:
    """Return a claim in one world."""
    world = effect.world
    return {
        "parameter": world.assumption.parameter, "assumed": world.assumption.value, "value": world.value,
        "verdict": effect.verdict.verdict, "sentence": effect.verdict.sentence, "hangs": effect.hangs,
        "largest": change_entry(effect.largest) if effect.largest else None,
        "readings": [change_entry(change) for change in effect.changes],
    }  # fmt: skip


def change_entry(change: AlteredReading) -> dict[str, Any]:
    """Return a reading of a criterion as the study assumes, and in a world."""
    return {
        "asked": change.before.asked, "reading": change.before.reading or None,
        "before": outcome_entry(change.before),
        "after": outcome_entry(change.after),
    }  # fmt: skip


def outcome_entry(outcome: Outcome) -> dict[str, Any]:
    """Return an effect with its interval, as numbers and as text, and the verdict on it."""
    entry = estimate_entry(outcome.effect, outcome.unit) | {"text": interval_text(outcome.effect, outcome.unit)}
    return entry | {"verdict": outcome.verdict}
