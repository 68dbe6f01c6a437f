"""Answer and verdicts as JSON beside the report (verdicts.json), for programs and for the index of a folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah.analysis.answer import Answer
from tonopah.analysis.claims import Verdict
from tonopah.analysis.evidence import Outcome
from tonopah.analysis.paired import Family, Row
from tonopah.analysis.testing import POWER
from tonopah.stats import Estimate, or_none
from tonopah.store.pack import VERDICTS

FILE = VERDICTS
FORMAT = 2
"""Raised when the meaning of a key changes or a key goes."""

READ = {"study": str, "title": str, "question": str, "answer": list, "counts": dict, "claims": list, "quick": bool, "runs": int,
        "finished": str, "tonopah": str}  # fmt: skip
"""What is read of it; a file without is of another tool, or was cut."""


def verdicts_json(facts: dict[str, Any], answer: Answer, verdicts: list[Verdict], differences: Sequence[Family] = ()) -> str:
    """Return answer and verdicts as JSON; `facts` say of which study, `differences` those of a study without claims."""
    content = {
        "format": FORMAT,
        **facts,
        "answer": list(answer.sentences),
        "counts": dict(answer.counts),
        "claims": [claim_entry(verdict) for verdict in verdicts],
        "differences": [difference_entry(family, row) for family in differences for row in family.rows],
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def difference_entry(family: Family, row: Row) -> dict[str, Any]:
    """Return a paired difference to the baseline at one point, with its word."""
    return {
        "part": family.part.id or None,
        "metric": family.metric.column,
        "of": row.label,
        "to": family.part.baseline,
        "at": dict(row.where),
        "word": row.word,
        "judged": row.judged,
        "effect": estimate_entry(row.outcome.effect, row.outcome.unit),
        "adjusted": estimate_entry(row.effect, row.outcome.unit),
        "p": or_none(row.p),
    }


def claim_entry(verdict: Verdict) -> dict[str, Any]:
    """Return a claim with its tests."""
    return {
        "id": verdict.claim.id,
        "text": verdict.claim.text,
        "verdict": verdict.verdict,
        "sentence": verdict.sentence,
        "mechanism": verdict.mechanism or None,
        "needed": verdict.needed,
        "effect": decisive_effect(verdict),
        "adjusted": adjusted_effect(verdict),
        "p_for": or_none(verdict.p_for),
        "p_against": or_none(verdict.p_against),
        "p_none": or_none(verdict.p_none),
        "tests": [
            {
                "verdict": test.verdict,
                "needed": test.needed,
                "note": test.note or None,
                "readings": [reading_entry(one) for one in test.readings],
            }
            for test in verdict.tests
        ],
    }


def decisive_effect(verdict: Verdict) -> dict[str, Any] | None:
    """Return the effect of the decisive reading of a claim; None for one without tests."""
    outcome = verdict.decisive.decisive if verdict.decisive else None
    return estimate_entry(outcome.effect, outcome.unit) if outcome else None


def adjusted_effect(verdict: Verdict) -> dict[str, Any] | None:
    """Return the same with the interval that agrees with the word on the claim, whatever the number of claims and looks."""
    outcome = verdict.decisive.decisive if verdict.decisive else None
    return estimate_entry(verdict.adjusted, outcome.unit) if outcome else None


def reading_entry(outcome: Outcome) -> dict[str, Any]:
    """Return one reading of a test: what was asked, and what the runs say."""
    return {
        "asked": outcome.asked,
        "reading": outcome.reading or None,
        "verdict": outcome.verdict,
        "sentence": outcome.sentence,
        "kind": outcome.kind or None,
        "n": outcome.effect.n,
        "censored": outcome.effect.longer,
        "looks": outcome.looks,
        "test": outcome.test or None,
        "effect": estimate_entry(outcome.effect, outcome.unit),
        "p_for": or_none(outcome.p_for),
        "p_against": or_none(outcome.p_against),
        "p_none": or_none(outcome.p_none),
        "needed": outcome.needed,
        "power": {"probability": POWER, "smallest_effect": or_none(outcome.shows), "replicates": outcome.needed},
    }


def estimate_entry(found: Estimate, unit: str) -> dict[str, Any]:
    """Return an estimate with its interval."""
    return {"value": or_none(found.value), "low": or_none(found.low), "high": or_none(found.high), "unit": unit, "n": found.n}


def read(folder: Path) -> dict[str, Any] | None:
    """Return the verdicts of a folder of results; None if it has none that this version can read."""
    try:
        return parse((folder / FILE).read_bytes())
    except OSError:
        return None


def parse(text: bytes) -> dict[str, Any] | None:
    """Return verdicts from their JSON; None if this version cannot read it."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    known = isinstance(content, dict) and content.get("format") == FORMAT
    return content if known and all(isinstance(content.get(key), kind) for key, kind in READ.items()) else None
