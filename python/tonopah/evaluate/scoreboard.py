"""The scoreboard: for each criterion what was found, and the word that follows by rule."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tonopah.analysis.sequential import confidence
from tonopah.evaluate import bounds
from tonopah.evaluate.definitions import Criterion, Term
from tonopah.evaluate.harm import EXCESS, HarmPoint
from tonopah.evaluate.harm_points import harm_points
from tonopah.evaluate.measured import Measured, PointValues, mean_of_terms
from tonopah.evaluate.subjects import Cast
from tonopah.evaluate.verdict import (
    COLOURS,
    Effect,
    Harmed,
    harmed,
    margin_of,
    starved_mostly,
    word_of,
    worst_word,
)
from tonopah.stats import NOT_MEASURED, Estimate, holm, mean_of

YIELDS = 0.35
"""Below this share of its fair share the subject yields."""


@dataclass(frozen=True)
class Compared:
    """A metric of subject and baseline, and their paired difference."""

    metric: str
    kind: str
    experiment: str
    value_subject: float
    value_baseline: float
    effect: Effect
    better: str = "more"
    metrics: int = 1
    """Metrics whose effects are averaged; the values are those of the first."""


@dataclass(frozen=True)
class PointEffect:
    """The difference at one point."""

    experiment: str
    point: str
    metric: str
    kind: str
    subject: float
    baseline: float
    second: float
    effect: Effect


@dataclass
class Row:
    """A line of the scoreboard, and what stands behind it."""

    criterion: Criterion
    word: str = "not tested"
    second_word: str = ""
    reason: str = ""
    primary: Compared | None = None
    against_second: Estimate = NOT_MEASURED
    secondary: list[Compared] = field(default_factory=list)
    points: list[PointEffect] = field(default_factory=list)
    worst_point: str = ""
    harm: list[Harmed] = field(default_factory=list)
    harmed: list[Harmed] = field(default_factory=list)
    starved: list[HarmPoint] = field(default_factory=list)
    limits: list[bounds.BoundLine] = field(default_factory=list)
    runs: int = 0

    @property
    def colour(self) -> str:
        """Colour of its word."""
        return COLOURS.get(self.word, "blue")

    @property
    def is_undecided(self) -> bool:
        """Tell whether its effect says nothing yet, so that more replicates could help."""
        return self.primary is not None and word_of(self.primary.effect, "") == "unclear"

    @property
    def n(self) -> int:
        """Replicates that its effect rests on."""
        return self.primary.effect.estimate.n if self.primary else 0


def judge(criteria: Sequence[Criterion], measured: Measured, cast: Cast) -> list[Row]:
    """Return the rows of the scoreboard, in the order of the criteria."""
    rows = [read_row(criterion, measured, cast) for criterion in criteria]
    with_effect = [row for row in rows if row.primary]
    adjusted = holm([row.primary.effect.p for row in with_effect if row.primary])
    for row, p in zip(with_effect, adjusted, strict=True):
        assert row.primary
        row.primary = replace(row.primary, effect=replace(row.primary.effect, p_holm=p))
    for row in rows:
        decide(row, measured, cast)
    for row in rows:
        if row.criterion.rule == "roll_up":
            below = [other for other in rows if other.criterion.id in row.criterion.of]
            row.word = worst_word([other.word for other in below])
            row.reason = ", ".join(f"{other.criterion.id} {other.word}" for other in below)
    return rows


def read_row(criterion: Criterion, measured: Measured, cast: Cast) -> Row:
    """Return a row with its effects, before the words."""
    row = Row(criterion, reason=criterion.gap)
    row.runs = sum(
        len(values) for name in criterion.experiments for one in measured.points.get(name, []) for values in one.arms.values()
    )
    if criterion.terms:
        row.primary = primary(criterion, measured)
        row.against_second = second_reference(criterion, measured)
        row.points = [found for term in criterion.terms for found in at_points(term, measured)]
        row.worst_point = worst_point(row)
    row.secondary = [one for term in criterion.secondary if (one := compare(term, measured)).effect.samples]
    if criterion.harm:
        points = harm_points(criterion.harm, measured, cast)
        row.harm, row.harmed = harmed([point for point in points if point.samples], measured.looks)
        row.starved = [point for point in points if point.starved]
        if not criterion.terms:
            row.primary = harm_effect(row, measured.looks)
    if criterion.bound:
        row.limits = bounds.lines(criterion.bound, measured)
    return row


def compare(term: Term, measured: Measured) -> Compared:
    """Return a metric of subject and baseline, with their difference."""
    samples = tuple(measured.effect(term, term.arms[0], term.arms[1]).values())
    margin = term.margin or margin_of(term.metric, term.kind)
    points = measured.at(term.experiment, term.where)
    values = [average([point.mean(arm, term.metric) for point in points]) for arm in term.arms[:2]]
    effect = Effect(samples, margin, term.better == "equal", looks=measured.looks)
    return Compared(term.metric, term.kind, term.experiment, values[0], values[1], effect, term.better)


def average(values: Sequence[float]) -> float:
    """Return the mean of what was measured."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def primary(criterion: Criterion, measured: Measured) -> Compared | None:
    """Return the effect that decides: the mean of the terms by replicate."""
    first = compare(criterion.terms[0], measured)
    samples = mean_of_terms([measured.effect(term, term.arms[0], term.arms[1]) for term in criterion.terms])
    if not samples:
        return None
    names = {(term.experiment, term.metric) for term in criterion.terms}
    return replace(first, effect=replace(first.effect, samples=samples), metrics=len(names))


def second_reference(criterion: Criterion, measured: Measured) -> Estimate:
    """Return the effect against the second reference, where every term has it."""
    if any(len(term.arms) < 3 for term in criterion.terms):
        return NOT_MEASURED
    samples = mean_of_terms([measured.effect(term, term.arms[0], term.arms[2]) for term in criterion.terms])
    return mean_of(samples).interval(confidence(measured.looks))


def at_points(term: Term, measured: Measured) -> list[PointEffect]:
    """Return the difference at each point of a term."""
    margin = term.margin or margin_of(term.metric, term.kind)
    found = []
    for one in measured.at(term.experiment, term.where):
        samples = tuple(measured.differences(term, one, term.arms[0], term.arms[1]).values())
        if samples:
            own, base, second = (one.mean(arm, term.metric) if arm else math.nan for arm in (*term.arms, "")[:3])
            effect = Effect(samples, margin, term.better == "equal", looks=measured.looks)
            found.append(PointEffect(term.experiment, one.point.label, term.metric, term.kind, own, base, second, effect))
    adjusted = holm([one.effect.p for one in found])
    return [replace(one, effect=replace(one.effect, p_holm=p)) for one, p in zip(found, adjusted, strict=True)]


def worst_point(row: Row) -> str:
    """Return the point that is worse by twice the margin; empty if none is."""
    bad = [one for one in row.points if one.effect.is_worse and one.effect.estimate.value <= -2 * one.effect.margin]
    worst = min(bad, key=lambda one: one.effect.estimate.value / one.effect.margin, default=None)
    return f"{worst.experiment}, {worst.point}" if worst else ""


def harm_effect(row: Row, looks: int) -> Compared | None:
    """Return the excess harm to goodput as an effect: its mean over points, of the victim that is harmed most."""
    by_victim: dict[str, list[HarmPoint]] = {}
    for one in row.harm:
        if one.point.metric == "goodput":
            by_victim.setdefault(one.point.victim, []).append(one.point)
    if not by_victim:
        return None
    # Less harm is better: the sign is turned.
    effects = {
        victim: mean_of_terms([dict(enumerate(-sample for sample in point.samples)) for point in points])
        for victim, points in by_victim.items()
    }
    worst = min(effects, key=lambda victim: average(effects[victim]))
    points = by_victim[worst]
    values = (average([p.beside_subject for p in points]), average([p.beside_baseline for p in points]))
    return Compared("y_goodput_bps", "harm", points[0].experiment, *values, Effect(effects[worst], EXCESS, looks=looks), "more")


def decide(row: Row, measured: Measured, cast: Cast) -> None:
    """Set the words of a row: the first rule that holds."""
    criterion = row.criterion
    rules = {"author": "author states", "multipath": "not applicable", "gap": "not tested"}
    if criterion.rule == "marks" and not cast.subject.takes_marks:
        row.word, row.reason = "not applicable", f"{cast.subject.label} asks for no explicit signals"
    elif criterion.rule in rules:
        row.word = rules[criterion.rule]
    elif criterion.rule in ("measured", "marks"):
        row.word = measured_word(row, cast)
        row.second_word = second_word(criterion, measured)


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
    word = word_of(row.primary.effect, cast.baseline.name, gentle=row.primary.kind == "harm")
    if word == "better" and row.criterion.guard and (missed := guard_broken(row)):
        row.reason = missed
        return "unclear"
    absolute = row.limits and row.criterion.bound != "receivers"
    return "within bounds" if word.startswith("like") and absolute else word


def below_floor(row: Row) -> str:
    """Return the first point at which the subject has less than the share of the baseline's mean that a term asks for."""
    floors = {(term.experiment, term.metric): term.floor for term in row.criterion.terms}
    for one in row.points:
        if one.subject < floors.get((one.experiment, one.metric), 0.0) * one.baseline:
            return f"{one.experiment}, {one.point}"
    return ""


def guard_broken(row: Row) -> str:
    """Return why a gain does not count; empty if it does."""
    guard = row.criterion.guard
    assert guard
    for one in row.secondary:
        if one.metric == guard.metric and one.effect.estimate.value < -guard.margin:
            return f"{guard.metric} is {-one.effect.estimate.value:.2f} below that of the baseline"
    return ""


def second_word(criterion: Criterion, measured: Measured) -> str:
    """Return what happens to the subject itself beside others."""
    if not criterion.harm:
        return ""
    pairs: list[tuple[PointValues, str]] = [
        (one, victim.subject)
        for name in criterion.harm.experiments
        for one in measured.at(name, criterion.harm.where)
        for victim in criterion.harm.victims
        if victim.group == "y" and one.metric(victim.subject, "x_fair_share")
    ]
    if not pairs:
        return ""
    if sum(starved_mostly(list(one.metric(arm, "x_starved").values())) for one, arm in pairs) > len(pairs) / 2:
        return "is starved"
    return "yields" if average([one.mean(arm, "x_fair_share") for one, arm in pairs]) < YIELDS else ""
