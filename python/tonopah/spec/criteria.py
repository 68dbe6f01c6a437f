"""The criteria of a study in a canonical form, and their hash: what a claim is judged by, apart from the network.

To the criteria belong every condition of a claim with its margin, the derived metrics that it reads, the points of its axis, and
statistic and number of replicates of its parts. Words (the text of a claim, its mechanism, why something is not testable, labels
of figures) do not, nor does the network: an assumption about it has alternatives instead (docs/studies.md).
"""

import json
from collections.abc import Iterable
from typing import Any

from tonopah.digest import digest
from tonopah.spec.claim import BetweenParts, Bound, Claim, Criterion, NotTestable
from tonopah.spec.history import HASH_DIGITS
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.source import FromSource


def criteria_hash(claims: Iterable[Claim], parts: list[Part]) -> str:
    """Return the hash of all criteria of a study, of claims whose criteria name their parts."""
    content = {claim.id: claim_criteria(claim, parts) for claim in claims}
    return digest(json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False))[:HASH_DIGITS]


def claim_criteria(claim: Claim, parts: list[Part]) -> list[Any]:
    """Return the criteria of a claim as data of JSON."""
    return [criterion_facts(test, parts) for test in claim.tests]


def criterion_facts(criterion: Criterion, parts: list[Part]) -> dict[str, Any]:
    """Return everything that a criterion is judged by as data of JSON."""
    if isinstance(criterion, NotTestable):
        return {"not_testable": True}
    # Defaults are left out, so that a key that a later version adds does not change the hash of a study that lacks it.
    facts = criterion.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    read = [part for part in parts if part.id in parts_read(criterion)]
    return facts | {"read": [part_facts(criterion, part) for part in read]}


def parts_read(criterion: Criterion) -> tuple[str, ...]:
    """Return the ids of the parts whose runs a criterion reads."""
    return criterion.parts if isinstance(criterion, BetweenParts) else (criterion.part,)


def part_facts(criterion: Criterion, part: Part) -> dict[str, Any]:
    """Return what a criterion takes from a part."""
    # What a source counts is known by the names of its columns.
    own_derived = [derived for derived in part.derived if not isinstance(derived, FromSource)]
    metrics = [derived.identity() for derived in own_derived if set(derived.columns()) & set(criterion.metrics)]
    own = [{key: value for key, value in metric.items() if key != "version"} for metric in metrics]
    points = [{axis: [str(value) for value in values] for axis, values in vary.items()} for vary in axes_of(criterion, part)]
    return {
        "statistic": part.statistic, "replicates": part.replicates, "derived": own,
        "points": points,
    }  # fmt: skip


def axes_of(criterion: Criterion, part: Part) -> list[dict[str, list[Any]]]:
    """Return the axes over which a criterion has to hold, with their values."""
    over = getattr(criterion, "over", None)
    if over:
        return [sweep.vary for sweep in part.sweeps if set(sweep.vary) == {over}]
    if isinstance(criterion, Bound) and not criterion.at:
        return [sweep.vary for sweep in part.sweeps if len(sweep.vary) == 1]
    return []


def changed_since(spec: StudySpec) -> str:
    """Return the sentence that says that criteria were changed without an entry; empty where all is in order."""
    if not spec.history or spec.history[-1].hash == spec.criteria:
        return ""
    return f"criteria changed since {spec.history[-1].date} without an entry in [[history]]"
