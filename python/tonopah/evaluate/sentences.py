"""What a report says in words: every sentence follows from numbers by a rule."""

import math
from collections import Counter
from collections.abc import Sequence

from tonopah.evaluate.labels import label
from tonopah.evaluate.scoreboard import Compared, Row
from tonopah.evaluate.subjects import Cast
from tonopah.evaluate.verdict import COLOURS, Harmed
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
    words = sorted(counts, key=lambda word: (ORDER.index(COLOURS.get(word, "blue")), word))
    first = f"Of {count_text(len(rows), 'criterion').replace('criterions', 'criteria')}: "
    counted = first + ", ".join(f"{counts[word]} {word}" for word in words) + "."
    return [counted, *[red_sentence(row) for row in rows if row.colour == "red" and row.criterion.rule != "roll_up"]]


def red_sentence(row: Row) -> str:
    """Return what a red row is red for."""
    head = f"{row.criterion.id} {row.criterion.name}, {row.word}: "
    if row.starved:
        return head + "; ".join(f"{one.victim} at {one.experiment}, {one.point}" for one in row.starved[:MOST_POINTS]) + "."
    if row.harmed:
        worst = sorted(row.harmed, key=lambda one: -one.estimate.value)
        return head + "; ".join(harm_text(one) for one in worst[:MOST_POINTS]) + more(len(worst)) + "."
    broken = [line for line in row.limits if not line.kept]
    texts = [
        f"{line.what} at {line.experiment}, {line.point}: {number(line.value)}, allowed {number(line.limit)}" for line in broken
    ]
    return head + "; ".join(texts[:MOST_POINTS]) + more(len(texts)) + "."


def number(value: float) -> str:
    """Return a value of a bound; counts have no decimals."""
    return f"{value:.0f}" if float(value).is_integer() else show(value)


def more(count: int) -> str:
    """Return how many are left out."""
    return f"; and at {count_text(count - MOST_POINTS, 'more place')}" if count > MOST_POINTS else ""


def harm_text(one: Harmed) -> str:
    """Return one harm in words."""
    point = one.point
    where = f"{point.experiment}, {point.point}"
    if point.metric == "goodput":
        values = [show(value / 1e6, 3) for value in (point.beside_subject, point.beside_baseline)]
        return f"{point.victim} has {' instead of '.join(values)} Mb/s at {where}"
    known = label(point.metric)
    values = " instead of ".join(show(value * known.factor, 3) for value in (point.beside_subject, point.beside_baseline))
    return f"{known.label.lower()} of {point.victim} is {values} {known.unit} at {where}"


def metric_text(one: Compared | None) -> str:
    """Return the metric of an effect, and how many others are averaged with it."""
    if one is None:
        return ""
    others = f", mean with {count_text(one.metrics - 1, 'other')}" if one.metrics > 1 else ""
    return f"{label(one.metric).label} of {one.experiment}{others}"


def effect_text(one: Compared | None) -> str:
    """Return an effect with its interval: a ratio in times, a difference as it is."""
    if one is None:
        return "–"
    found = one.effect.estimate
    if one.kind == "harm":
        return estimate_text(-found.value, -found.high, -found.low, "harm")
    return estimate_text(found.value, found.low, found.high, "equal" if one.effect.two_sided else one.kind)


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
    words = "as much" if kind == "equal" else "worse" if turned else "better"
    return f"{texts[0]} × {words}" + (f" [{texts[1]}, {texts[2]}]" if bounds else "")


def values_text(one: Compared | None, cast: Cast) -> str:
    """Return the values of subject and baseline."""
    if one is None or math.isnan(one.value_subject) or math.isnan(one.value_baseline):
        return ""
    known = label(one.metric)
    mine, theirs = (show(value * known.factor, 3) for value in (one.value_subject, one.value_baseline))
    beside = "beside " if one.kind == "harm" else ""
    return (
        f"{mine} {known.unit}".rstrip()
        + f" {beside}{cast.subject.name}, "
        + f"{theirs} {known.unit}".rstrip()
        + f" {beside}{cast.baseline.name}"
    )


def rule_text(row: Row, cast: Cast) -> str:
    """Return the rule that led to the word."""
    if not row.primary:
        return ""
    effect = row.primary.effect
    margin = f"a ratio of {math.exp(effect.margin):.2f}" if row.primary.kind == "log" else f"{effect.margin:g}"
    direction = (
        "a difference to either side is worse" if effect.two_sided
        else "less harm is better" if row.primary.kind == "harm" else "positive is better"
    )  # fmt: skip
    needed = (
        f" {count_text(effect.needed, 'replicate')} would narrow the interval to that."
        if row.word == "unclear" and effect.needed
        else ""
    )
    p = "< 0.001" if effect.p_holm < 0.001 else f"{effect.p_holm:.3f}"
    return (
        f"An effect counts from {margin} on, against {cast.baseline.label}; {direction}. "
        f"Adjusted p {p}, n = {effect.estimate.n}.{needed}"
    )
