"""The scoreboard: for each criterion what was found, and the word that follows by rule."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tonopah.analysis.sequential import confidence
from tonopah.judge import bounds, words
from tonopah.judge.definitions import Criterion, Term
from tonopah.judge.effects import EXCESS, Effect, adjusted, average, effect_of, margin_of, mean_of_terms, mostly
from tonopah.judge.harm import harm_points
from tonopah.judge.metrics import label
from tonopah.judge.study import Results
from tonopah.judge.subjects import Cast
from tonopah.stats import NOT_MEASURED, Estimate, mean_of

YIELDS = 0.35
"""Below this share of its fair share the subject yields."""


@dataclass
class Row:
    """A line of the scoreboard, and what stands behind it."""

    criterion: Criterion
    word: str = "not tested"
    second_word: str = ""
    reason: str = ""
    primary: Effect | None = None
    """The effect that decides."""
    against_second: Estimate = NOT_MEASURED
    secondary: list[Effect] = field(default_factory=list)
    points: list[Effect] = field(default_factory=list)
    worst_point: str = ""
    harm: list[Effect] = field(default_factory=list)
    starved: list[Effect] = field(default_factory=list)
    limits: list[bounds.BoundLine] = field(default_factory=list)
    runs: int = 0

    @property
    def harmed(self) -> list[Effect]:
        """The points at which a victim is surely harmed, and more than counts."""
        return [one for one in self.harm if one.verdict == "contradicted"]

    @property
    def colour(self) -> str:
        """Colour of its word."""
        return words.colour(self.word)

    @property
    def is_undecided(self) -> bool:
        """Tell whether its effect says nothing yet, so that more replicates could help."""
        return self.primary is not None and words.word_of(self.primary, "") == "unclear"

    @property
    def n(self) -> int:
        """Replicates that its effect rests on."""
        return self.primary.estimate.n if self.primary else 0


def judge(criteria: Sequence[Criterion], results: Results, cast: Cast) -> list[Row]:
    """Return the rows of the scoreboard, in the order of the criteria; their effects are one family."""
    rows = [read_row(criterion, results, cast) for criterion in criteria]
    with_effect = [row for row in rows if row.primary]
    for row, effect in zip(with_effect, adjusted([row.primary for row in with_effect if row.primary]), strict=True):
        row.primary = effect
    for row in rows:
        decide(row, results, cast)
    for row in (row for row in rows if row.criterion.rule == "roll_up"):
        below = [other for other in rows if other.criterion.id in row.criterion.of]
        row.word = words.worst_word([other.word for other in below])
        row.reason = ", ".join(f"{other.criterion.id} {other.word}" for other in below)
    return rows


def read_row(criterion: Criterion, results: Results, cast: Cast) -> Row:
    """Return a row with its effects, before the words."""
    row = Row(criterion, reason=criterion.gap)
    row.runs = sum(len(place.table) for name in criterion.experiments for place in results.at(name))
    if criterion.terms:
        row.primary = primary(criterion, results)
        row.against_second = second_reference(criterion, results)
        row.points = [found for term in criterion.terms for found in at_points(term, results)]
        row.worst_point = worst_point(row)
    row.secondary = [one for term in criterion.secondary if (one := compare(term, results)).samples]
    if criterion.harm:
        points = harm_points(criterion.harm, results, cast)
        row.harm = adjusted([point for point in points if point.samples])
        row.starved = [point for point in points if point.starved]
        if not criterion.terms:
            row.primary = harm_effect(row)
    if criterion.bound:
        row.limits = bounds.lines(criterion.bound, results)
    return row


def about(term: Term, results: Results) -> dict[str, Any]:
    """Return what effects of a term have in common."""
    better = "equal" if term.better == "equal" else "more"
    return {
        "margin": term.margin or margin_of(term.metric, term.kind), "better": better, "looks": results.looks,
        "metric": term.metric, "kind": term.kind, "experiment": term.experiment,
    }  # fmt: skip


def compare(term: Term, results: Results) -> Effect:
    """Return a metric of subject and baseline, with their difference."""
    samples = list(results.effect(term, term.arms[0], term.arms[1]).values())
    places = results.at(term.experiment, term.where)
    mine, theirs = (average([place.mean(arm, term.metric) for place in places]) for arm in term.arms[:2])
    return effect_of(samples, subject=mine, baseline=theirs, **about(term, results))


def primary(criterion: Criterion, results: Results) -> Effect | None:
    """Return the effect that decides: the mean of the terms by replicate."""
    samples = mean_of_terms([results.effect(term, term.arms[0], term.arms[1]) for term in criterion.terms])
    if not samples:
        return None
    names = {(term.experiment, term.metric) for term in criterion.terms}
    return replace(compare(criterion.terms[0], results), quantity=mean_of(samples), samples=samples, metrics=len(names))


def second_reference(criterion: Criterion, results: Results) -> Estimate:
    """Return the effect against the second reference, where every term has it."""
    if any(len(term.arms) < 3 for term in criterion.terms):
        return NOT_MEASURED
    samples = mean_of_terms([results.effect(term, term.arms[0], term.arms[2]) for term in criterion.terms])
    return mean_of(samples).interval(confidence(results.looks))


def at_points(term: Term, results: Results) -> list[Effect]:
    """Return the difference at each point of a term."""
    found = []
    for place in results.at(term.experiment, term.where):
        samples = list(place.differences(term, term.arms[0], term.arms[1]).values())
        if samples:
            means = [place.mean(arm, term.metric) if arm else math.nan for arm in (*term.arms, "")[:3]]
            values = dict(zip(("subject", "baseline", "second"), means, strict=True))
            found.append(effect_of(samples, point=place.label, **values, **about(term, results)))
    return adjusted(found)


def worst_point(row: Row) -> str:
    """Return the point that is worse by twice the margin; empty if none is."""
    bad = [one for one in row.points if one.is_worse and one.estimate.value <= -2 * one.margin]
    worst = min(bad, key=lambda one: one.estimate.value / one.margin, default=None)
    return worst.place if worst else ""


def harm_effect(row: Row) -> Effect | None:
    """Return the excess harm to goodput as an effect: its mean over points, of the victim that is harmed most."""
    by_victim: dict[str, list[Effect]] = {}
    for one in row.harm:
        if one.metric == "goodput":
            by_victim.setdefault(one.of, []).append(one)
    if not by_victim:
        return None
    # Less harm is better: the sign is turned.
    found = {
        victim: mean_of_terms([dict(enumerate(-sample for sample in one.samples)) for one in points])
        for victim, points in by_victim.items()
    }
    worst = min(found, key=lambda victim: average(found[victim]))
    points = by_victim[worst]
    values = {name: average([getattr(one, name) for one in points]) for name in ("subject", "baseline")}
    return effect_of(
        found[worst],
        EXCESS,
        looks=points[0].looks,
        metric="y_goodput_bps",
        kind="harm",
        experiment=points[0].experiment,
        **values,
    )


def decide(row: Row, results: Results, cast: Cast) -> None:
    """Set the words of a row: the first rule that holds."""
    rule = row.criterion.rule
    if rule == "marks" and not cast.subject.takes_marks:
        row.word, row.reason = "not applicable", f"{cast.subject.label} asks for no explicit signals"
    elif rule in ("measured", "marks"):
        row.word = measured_word(row, cast)
        row.second_word = second_word(row.criterion, results)
    else:
        row.word = words.UNJUDGED.get(rule, row.word)


def measured_word(row: Row, cast: Cast) -> str:
    """Return the word of a criterion that was measured."""
    if row.starved:
        return "starves others"
    if row.harmed:
        return "harmful to others"
    if not all(line.kept for line in row.limits):
        return "worse" if row.criterion.bound == "receivers" else "out of bounds"
    if row.primary is None:
        return "within bounds" if row.limits else "not tested"
    if low := below_floor(row):
        row.worst_point = low
        return "worse"
    word = words.word_of(row.primary, cast.baseline.name)
    if word == "better" and (missed := guard_broken(row)):
        row.reason = missed
        return "unclear"
    absolute = row.limits and row.criterion.bound != "receivers"
    return "within bounds" if word.startswith("like") and absolute else word


def below_floor(row: Row) -> str:
    """Return the first point at which the subject has less than the share of the baseline's mean that a term asks for."""
    floors = {(term.experiment, term.metric): term.floor for term in row.criterion.terms}
    low = (one for one in row.points if one.subject < floors.get((one.experiment, one.metric), 0.0) * one.baseline)
    return next((one.place for one in low), "")


def guard_broken(row: Row) -> str:
    """Return why a gain does not count; empty if it does."""
    guard = row.criterion.guard
    for one in row.secondary if guard else []:
        if guard and one.metric == guard.metric and one.estimate.value < -guard.margin:
            return f"{guard.metric} is {-one.estimate.value:.2f} below that of the baseline"
    return ""


def second_word(criterion: Criterion, results: Results) -> str:
    """Return what happens to the subject itself beside others."""
    pairs = [
        (place, victim.subject)
        for name in (criterion.harm.experiments if criterion.harm else ())
        for place in results.at(name, criterion.harm.where if criterion.harm else None)
        for victim in (criterion.harm.victims if criterion.harm else ())
        if victim.group == "y" and place.metric(victim.subject, "x_fair_share")
    ]
    if not pairs:
        return ""
    if sum(mostly(list(place.metric(arm, "x_starved").values())) for place, arm in pairs) > len(pairs) / 2:
        return "is starved"
    return "yields" if average([place.mean(arm, "x_fair_share") for place, arm in pairs]) < YIELDS else ""


def number(value: float) -> float | None:
    """Return a number as JSON can hold it."""
    return value if math.isfinite(value) else None


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
        "points_worse": [one.place for one in row.points if one.is_worse],
        "primary": effect_facts(row.primary) if row.primary else None,
        "secondary": [effect_facts(one) for one in row.secondary],
        "bound": [{**vars(line), "value": number(line.value), "baseline": number(line.baseline)} for line in row.limits] or None,
        "experiments": criterion.experiments,
        "gap": row.reason or None,
        "runs": row.runs,
    }


def effect_facts(one: Effect) -> dict[str, Any]:
    """Return an effect for programs."""
    found, known = one.estimate, label(one.metric)
    return {
        "metric": one.metric,
        "kind": one.kind,
        "unit": known.unit,
        "value_subject": number(one.subject * known.factor),
        "value_baseline": number(one.baseline * known.factor),
        "effect": number(found.value),
        "low": number(found.low),
        "high": number(found.high),
        "p": number(one.p),
        "p_holm": number(one.p_holm),
        "margin": one.margin,
        "n": found.n,
    }


def harm_facts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the excess harm at every point, for programs."""
    return [
        {
            "criterion": row.criterion.id, "victim": one.of, "experiment": one.experiment, "point": one.point,
            "metric": one.metric, "excess": number(one.estimate.value), "low": number(one.estimate.low),
            "high": number(one.estimate.high), "p_holm": number(one.p_holm), "n": one.estimate.n,
        }
        for row in rows
        for one in row.harm
    ]  # fmt: skip
