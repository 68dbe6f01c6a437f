"""What reports say in words: every sentence follows from numbers by a rule."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tonopah.analysis.sequential import confidence
from tonopah.judge.effects import Effect
from tonopah.judge.metrics import label
from tonopah.judge.scoreboard import Row
from tonopah.judge.subjects import Cast
from tonopah.judge.words import colour
from tonopah.metrics import count_text, show

ORDER = ("red", "orange", "yellow", "blue", "green", "grey")
MOST_POINTS = 3


def foot(cast: Cast) -> str:
    """Return the sentence at the end of every report."""
    against = f"{cast.baseline.label} and {cast.second.label}"
    asked = "RFC 9743 asks for judgement, and for experience in real networks (§3.1)"
    return f"Evidence from simulation, against {against}. {asked}."


def summary(rows: Sequence[Row]) -> list[str]:
    """Return the sentences above the scoreboard: counts of words, and the red rows with their points."""
    counts = Counter(row.word for row in rows)
    words = sorted(counts, key=lambda word: (ORDER.index(colour(word)), word))
    first = f"Of {count_text(len(rows), 'criterion').replace('criterions', 'criteria')}: "
    counted = first + ", ".join(f"{counts[word]} {word}" for word in words) + "."
    return [counted, *[red_sentence(row) for row in rows if row.colour == "red" and row.criterion.rule != "roll_up"]]


def red_sentence(row: Row) -> str:
    """Return what a red row is red for."""
    head = f"{row.criterion.id} {row.criterion.name}, {row.word}: "
    if row.starved:
        return head + "; ".join(f"{one.of} at {one.place}" for one in row.starved[:MOST_POINTS]) + "."
    if row.harmed:
        texts = [harm_text(one) for one in sorted(row.harmed, key=lambda one: -one.estimate.value)]
    else:
        texts = [
            f"{line.what} at {line.experiment}, {line.point}: {number(line.value)}, allowed {number(line.limit)}"
            for line in row.limits
            if not line.kept
        ]
    more = f"; and at {count_text(len(texts) - MOST_POINTS, 'more place')}" if len(texts) > MOST_POINTS else ""
    return head + "; ".join(texts[:MOST_POINTS]) + more + "."


def number(value: float) -> str:
    """Return a value of a bound; counts have no decimals."""
    return f"{value:.0f}" if float(value).is_integer() else show(value)


def harm_text(one: Effect) -> str:
    """Return one harm in words."""
    if one.metric == "goodput":
        values = [show(value / 1e6, 3) for value in (one.subject, one.baseline)]
        return f"{one.of} has {' instead of '.join(values)} Mb/s at {one.place}"
    known = label(one.metric)
    values = " instead of ".join(show(value * known.factor, 3) for value in (one.subject, one.baseline))
    return f"{known.label.lower()} of {one.of} is {values} {known.unit} at {one.place}"


def replicates_text(facts: Mapping[str, Any]) -> str:
    """Return how many replicates a report rests on; more than one look has wider intervals."""
    first, most, looks = facts["replicates"], facts["replicates_most"], facts["looks"]
    if looks == 1:
        return count_text(first, "replicate")
    return (
        f"{first} to {most} replicates, more where a row was unclear: intervals of {level_text(looks)} for at most {looks} looks"
    )


def level_text(looks: int) -> str:
    """Return the confidence of the intervals of effects."""
    return f"{100 * confidence(looks):.1f}".removesuffix(".0") + " %"


def metric_text(one: Effect | None) -> str:
    """Return the metric of an effect, and how many others are averaged with it."""
    if one is None:
        return ""
    others = f", mean with {count_text(one.metrics - 1, 'other')}" if one.metrics > 1 else ""
    return f"{label(one.metric).label} of {one.experiment}{others}"


def effect_text(one: Effect | None) -> str:
    """Return an effect with its interval: a ratio in times, a difference as it is; of harm, more of it is positive."""
    if one is None:
        return "–"
    found = one.estimate
    if one.kind == "harm" and one.better == "more":
        return estimate_text(-found.value, -found.high, -found.low, "harm")
    kind = "difference" if one.metric == "goodput" else "equal" if one.kind == "harm" or one.better == "equal" else one.kind
    return estimate_text(found.value, found.low, found.high, kind)


def estimate_text(value: float, low: float, high: float, kind: str) -> str:
    """Return an effect and its interval.

    Of the logarithm of a ratio `kind` is "log", or "equal" if it has no better side; of excess harm, more of it positive, "harm".
    """
    if math.isnan(value):
        return "–"
    bounds = [] if math.isnan(low) else [low, high]
    if kind not in ("log", "equal"):
        texts = [f"{bound:+.3f}" for bound in (value, *bounds)]
        name = " excess harm" if kind == "harm" else ""
        return texts[0] + name + (f" [{texts[1]}, {texts[2]}]" if bounds else "")
    turned = kind == "log" and value < 0
    ends = sorted(-bound for bound in bounds) if turned else bounds
    texts = [show(math.exp(min(bound, 50.0)), 3) for bound in (abs(value) if turned else value, *ends)]
    words = "as much" if kind == "equal" or value == 0 else "worse" if turned else "better"
    return f"{texts[0]} × {words}" + (f" [{texts[1]}, {texts[2]}]" if bounds else "")


def values_text(one: Effect | None, cast: Cast) -> str:
    """Return the values of subject and baseline."""
    if one is None or math.isnan(one.subject) or math.isnan(one.baseline):
        return ""
    known, beside = label(one.metric), "beside " if one.kind == "harm" else ""
    both = ((one.subject, cast.subject.name), (one.baseline, cast.baseline.name))
    return ", ".join(f"{show(value * known.factor, 3)} {known.unit}".rstrip() + f" {beside}{name}" for value, name in both)


def rule_text(row: Row, cast: Cast) -> str:
    """Return the rule that led to the word."""
    effect = row.primary
    if effect is None:
        return ""
    margin = f"a ratio of {math.exp(effect.margin):.2f}" if effect.kind == "log" else f"{effect.margin:g}"
    direction = (
        "a difference to either side is worse" if effect.better == "equal"
        else "less harm is better" if effect.kind == "harm" else "positive is better"
    )  # fmt: skip
    enough = f" {count_text(effect.needed, 'replicate')} would narrow the interval to that."
    p = "< 0.001" if effect.p_holm < 0.001 else f"{effect.p_holm:.3f}"
    return (
        f"An effect counts from {margin} on, against {cast.baseline.label}; {direction}. Adjusted p {p}, "
        f"n = {effect.estimate.n}.{enough if row.word == 'unclear' and effect.needed else ''}"
    )
