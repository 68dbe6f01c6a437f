"""Holds the claims of a study against its parts: every label, axis and point that a criterion names has to be there."""

from typing import Any

from tonopah.errors import InputError
from tonopah.spec.claim import (
    BetweenParts,
    Bound,
    Claim,
    ComparisonCriterion,
    Criterion,
    Difference,
    FigureName,
    Measured,
    NotTestable,
    Order,
    Trend,
)
from tonopah.spec.columns import check_metric, own_columns
from tonopah.spec.history import HistoryEntry
from tonopah.spec.model import Part
from tonopah.spec.part import axes_hint
from tonopah.spec.validation import cut, list_allowed, shorten


def check_beside(parts: list[Part]) -> None:
    """Refuse a figure that shows parts that are not there, or that do not have its metrics."""
    for figure in (figure for part in parts for figure in part.figures):
        for i, name in enumerate(figure.beside):
            other = choose_part(name, f"{figure.path}.beside[{i}]", parts)
            for metric in figure.y:
                check_metric(metric, f"{figure.path}.y", "run", [column for one in other.derived for column in one.columns()])


def resolve_claim(claim: Claim, path: str, parts: list[Part]) -> Claim:
    """Return a claim whose criteria name their part and what they compare. Raises InputError."""
    tests = tuple(resolve(test, f"{path}.test[{i}]", claim.part, parts) for i, test in enumerate(claim.tests))
    if claim.margin_percent is not None:
        marked = tuple(with_margin(test, claim.margin_percent) for test in tests)
        if marked == tests:
            hint = "a criterion that claims an effect and has no margin of its own"
            raise InputError(f"{path}.margin_percent", "has no effect: no criterion has a use for it", hint)
        tests = marked
    figure = claim.figure and resolve_figure(claim.figure, f"{path}.figure", claim.part, parts)
    return claim.model_copy(update={"tests": tests, "figure": figure})


def with_margin(criterion: Criterion, margin: float) -> Criterion:
    """Return a criterion with the margin of its claim, where it has a use for one and has none of its own."""
    if not isinstance(criterion, Trend | Order | ComparisonCriterion) or criterion.margin_percent is not None:
        return criterion
    # A margin beyond the claimed effect would take effects of the claimed size for none.
    if isinstance(criterion, ComparisonCriterion) and not (
        criterion.claims_effect and margin <= abs(criterion.percent or margin)
    ):
        return criterion
    if isinstance(criterion, Trend) and criterion.trend == "flat":
        return criterion
    return criterion.model_copy(update={"margin_percent": margin})


def resolve_figure(figure: FigureName, path: str, default: str, parts: list[Part]) -> FigureName:
    """Return the name of a figure with its part; the part has to draw it. Raises InputError."""
    part = choose_part(figure.part or default, path, parts)
    drawn = [one for one in part.figures if one.kind != "series"]
    metrics = list(dict.fromkeys(y for one in drawn for y in one.y))
    if figure.metric not in metrics:
        raise InputError(f"{path}.metric", f"no figure shows {cut(figure.metric)}", list_allowed(metrics, value=figure.metric))
    axes = list(dict.fromkeys(one.x or "" for one in drawn if figure.metric in one.y))
    if figure.over not in axes:
        known = [axis for axis in axes if axis]
        if figure.over:
            message, hint = (
                f"no figure shows {cut(figure.metric)} over {cut(figure.over)}",
                list_allowed(known, value=figure.over),
            )
        else:
            message, hint = "is missing", list_allowed(known, "axes of these figures")
        raise InputError(f"{path}.over", message, hint)
    return figure.model_copy(update={"part": part.id})


def resolve_headline(headline: str | FigureName, claims: list[Claim], parts: list[Part]) -> str | FigureName:
    """Return what the report answers first, checked. Raises InputError."""
    if isinstance(headline, FigureName):
        return resolve_figure(headline, "headline", "", parts)
    ids = [claim.id for claim in claims]
    if headline and headline not in ids:
        hint = list_allowed(ids, "claims", headline) + '; or a figure, { metric = "goodput_bps", over = "network.flows" }'
        raise InputError("headline", f"{shorten(headline)} is unknown", hint)
    return headline


def resolve_history(history: tuple[HistoryEntry, ...], claims: list[Claim]) -> list[HistoryEntry]:
    """Return the history of the criteria, which names claims of the study. Raises InputError."""
    ids = [claim.id for claim in claims]
    for i, entry in enumerate(history):
        for name in entry.claims:
            if name not in ids:
                raise InputError(f"history[{i}].claims", f"{shorten(name)} is unknown", list_allowed(ids, "claims", name))
    return list(history)


def resolve(criterion: Criterion, path: str, default: str, parts: list[Part]) -> Criterion:
    """Return a criterion that names its part and what it compares."""
    if isinstance(criterion, NotTestable):
        return criterion
    if isinstance(criterion, BetweenParts):
        return resolve_between(criterion, path, parts)
    part = choose_part(criterion.part or default, path, parts)
    check_metrics(criterion, path, part)
    check_place(criterion, path, part)
    changes: dict[str, Any] = {"part": part.id}
    match criterion:
        case Difference():
            to = criterion.to or part.baseline
            check_labels((*criterion.algorithms, to), path, part)
            if to in criterion.algorithms:
                raise InputError(f"{path}.difference", f"compares {cut(to)} with itself")
            changes["difference"] = criterion.difference.model_copy(update={"to": to})
        case Order():
            check_labels(criterion.order, path, part)
        case Trend() | Bound():
            check_labels(criterion.algorithms, path, part)
            changes["algorithm"] = criterion.algorithms or (part.baseline,)
    return criterion.model_copy(update=changes)


def resolve_between(criterion: BetweenParts, path: str, parts: list[Part]) -> BetweenParts:
    """Return a criterion that compares two parts, checked."""
    ids = [part.id for part in parts]
    if len(criterion.parts) != 2:
        raise InputError(f"{path}.parts", "needs two parts", f"parts: {', '.join(ids)}")
    for part_id in criterion.parts:
        if part_id not in ids:
            raise InputError(f"{path}.parts", f"{shorten(part_id)} is unknown", list_allowed(ids, value=part_id))
        part = parts[ids.index(part_id)]
        check_metrics(criterion, path, part)
        check_place(criterion, path, part)
        check_labels(criterion.algorithms, f"{path}.algorithm", part)
        if part.statistic == "median" and not criterion.paired:
            hint = "medians are compared with paired = true"
            raise InputError(f"{path}.paired", f"is missing: {cut(part_id)} uses medians", hint)
    return criterion.model_copy(update={"part": criterion.parts[0]})


def check_metrics(criterion: Measured, path: str, part: Part) -> None:
    """Refuse a metric that runs of the part do not have."""
    own = own_columns(part.derived, part.scenario)
    for name in criterion.metrics:
        check_metric(name, f"{path}.metric", "run", own)


def choose_part(part_id: str, path: str, parts: list[Part]) -> Part:
    """Return the part that a criterion is about; in a study of one part it need not be named."""
    if not part_id and len(parts) == 1:
        return parts[0]
    ids = [part.id for part in parts]
    if not part_id:
        raise InputError(f"{path}.part", "is missing", f"parts: {', '.join(ids)}")
    if part_id not in ids:
        raise InputError(f"{path}.part", f"{shorten(part_id)} is unknown", list_allowed(ids, value=part_id))
    return parts[ids.index(part_id)]


def check_labels(labels: tuple[str, ...], path: str, part: Part) -> None:
    """Refuse a label that the part does not compare."""
    for label in labels:
        if label not in part.labels:
            raise InputError(path, f"{shorten(label)} is unknown", list_allowed(part.labels, value=label))


def check_place(criterion: Trend | Bound | Order | ComparisonCriterion, path: str, part: Part) -> None:
    """Refuse an axis or a point that no sweep of the part has."""
    if criterion.over and part.sweep_over({criterion.over}) is None:
        raise InputError(
            f"{path}.over", f"no sweep varies {cut(criterion.over)} alone", axes_hint(part.sweeps, (criterion.over,))
        )
    if not criterion.at:
        return
    found = part.sweep_over(set(criterion.at))
    if found is None:
        message = f"no sweep varies {cut(' and '.join(criterion.at))} alone"
        raise InputError(f"{path}.at", message, axes_hint(part.sweeps))
    for axis, value in criterion.at.items():
        known = [str(known) for known in part.sweeps[found].vary[axis]]
        if str(value) not in known:
            raise InputError(f"{path}.at.{axis}", f"{shorten(str(value))} is unknown", list_allowed(known))
