"""What reports say in words: every sentence follows from numbers by a rule."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tonopah.analysis.sequential import confidence
from tonopah.analysis.telling import Found, tell
from tonopah.analysis.testing import smallest_effect
from tonopah.judge.effects import Effect
from tonopah.judge.findings import Finding
from tonopah.judge.metrics import label
from tonopah.judge.scoreboard import Row
from tonopah.judge.subjects import Cast
from tonopah.judge.words import colour
from tonopah.metrics import count_text, show
from tonopah.stats import Estimate

ORDER = ("red", "orange", "yellow", "blue", "green", "grey")
MOST_POINTS = 3


def foot(cast: Cast) -> str:
    """Return the sentence at the end of every report."""
    against = f"{cast.baseline.label} and {cast.second.label}"
    asked = "RFC 9743 asks for judgement, and for experience in real networks (§3.1)"
    return f"Evidence from simulation, against {against}. {asked}."


def summary(rows: Sequence[Row], cast: Cast) -> list[str]:
    """Return the sentences above the scoreboard: the answer, and the red rows with their points.

    The answer says of how many criteria each word is, and of a word that judges the place where it is most.
    """
    found = [Found(row.word, row.criterion.id, row_text(row), row_size(row)) for row in rows]
    words = sorted({row.word for row in rows}, key=lambda word: (ORDER.index(colour(word)), word))
    many = "one criterion" if len(rows) == 1 else f"{len(rows)} criteria"
    against = f"{cast.subject.label} against {cast.baseline.label} and {cast.second.label}"
    first = f"{against}: of {many} {tell(found, words, counted=True)}."
    return [first, *[red_sentence(row) for row in rows if row.colour == "red" and row.criterion.rule != "roll_up"]]


def row_text(row: Row) -> str:
    """Return what is seen where a row is worse or better; nothing of the others, and of bounds, which have a sentence."""
    return finding_text(row.decides) if row.decides and row.colour in ("red", "orange", "green") else ""


def row_size(row: Row) -> float:
    """Return how many times its margin the effect of a row is."""
    return abs(row.primary.estimate.value) / row.primary.margin if row.primary and row.primary.margin else 0.0


def red_sentence(row: Row) -> str:
    """Return what a red row is red for."""
    head = f"{row.criterion.id} {row.criterion.name}, {row.word}: "
    if row.starved:
        texts = [one.text for one in row.starved]
    elif row.decides and row.word == row.decides.word:
        also = [one for one in row.suspects if one is not row.decides]
        texts = [finding_text(row.decides), *(finding_text(one) for one in also)]
    else:
        texts = [
            f"{line.what} at {line.experiment}, {line.point}: {number(line.value)}, allowed {number(line.limit)}"
            + (f", broken in {line.often.count} of {line.often.runs} runs" if line.often else "")
            for line in row.limits
            if not line.kept
        ]
    more = f"; and at {count_text(len(texts) - MOST_POINTS, 'more place')}" if len(texts) > MOST_POINTS else ""
    return head + "; ".join(texts[:MOST_POINTS]) + more + "."


def number(value: float) -> str:
    """Return a value of a bound; counts have no decimals."""
    return f"{value:.0f}" if float(value).is_integer() else show(value)


def finding_text(one: Finding) -> str:
    """Return what is seen of a metric at a place: its value, and that beside the reference that decides."""
    known, shown = label(one.metric), one.shown
    whose = f" of {one.of}" if one.of and one.metric != "left" else f" to {one.of}" if one.of else ""
    name = known.label.removesuffix(" (flows beside)").removesuffix(" (first flows)") if one.of else known.label
    values = " instead of ".join(f"{show(value * known.factor, 3)}" for value in (shown.subject, shown.baseline))
    return f"{name[:1].lower()}{name[1:]}{whose} is {values} {known.unit}".rstrip() + f" at {one.where}"


def seen_text(row: Row, cast: Cast) -> str:
    """Return what decides a row: metric, place, and values beside the subject and beside the reference."""
    if row.decides is None:
        return ""
    arms = {arm: cast.arm(arm) for arm in row.decides.theirs}
    against = row.decides.shown.of if row.decides.shown.of in arms else next(iter(arms))
    settled = f"; not converged at {count_text(len(row.unsettled), 'place')}" if row.unsettled else ""
    return f"{finding_text(row.decides)} (against {arms[against]}){settled}"


def replicates_text(facts: Mapping[str, Any]) -> str:
    """Return how many replicates a report rests on; more than one look has wider intervals."""
    first, most, looks = facts["replicates"], facts["replicates_most"], facts["looks"]
    if most == first:
        return count_text(first, "replicate")
    more = "" if looks == 1 else f", more where a row was unclear: intervals of {level_text(looks)} for at most {looks} looks"
    return f"{count_text(first, 'replicate')}, and a second set of up to {most - first} to confirm what they say{more}"


def level_text(looks: int) -> str:
    """Return the confidence of the intervals of effects."""
    return f"{100 * confidence(looks):.1f}".removesuffix(".0") + " %"


def effect_text(one: Effect | None) -> str:
    """Return an effect with its interval: subject / reference, or the difference."""
    return "–" if one is None else estimate_text(one.estimate, one.kind, label(one.metric).factor, label(one.metric).unit)


def estimate_text(found: Estimate, kind: str, factor: float = 1.0, unit: str = "") -> str:
    """Return an effect and its interval: of a logarithm the ratio."""
    if math.isnan(found.value):
        return "–"
    ends = [] if math.isnan(found.low) else [found.low, found.high]
    if kind == "log":
        texts = [times_text(bound) for bound in (found.value, *ends)]
        return f"{texts[0]} ×" + (f" [{texts[1]}, {texts[2]}]" if ends else "")
    texts = [f"{factor * bound:+.3g}" for bound in (found.value, *ends)]
    return f"{texts[0]} {unit}".rstrip() + (f" [{texts[1]}, {texts[2]}]" if ends else "")


def times_text(log: float) -> str:
    """Return how many times as much, from the logarithm of it: where one side has none, 0 or ∞."""
    if math.isinf(log):
        return "0" if log < 0 else "∞"
    return show(math.exp(max(-50.0, min(log, 50.0))), 3)


def sets_text(one: Finding | None) -> str:
    """Return what each of the two sets of seeds shows."""
    if one is None or not one.second.samples:
        return ""
    first, second = (effect_text(each) for each in (one.first, one.second))
    return f"first set of seeds {first}, second {second}"


def rule_text(row: Row, cast: Cast) -> str:
    """Return the rule that led to the word."""
    one = row.decides
    if one is None:
        return ""
    shown = one.shown
    margin = f"a ratio of {math.exp(shown.margin):.2f}" if shown.kind == "log" else f"{shown.margin:g}"
    floor = f" and a difference of {show(one.least * label(one.metric).factor, 3)} {label(one.metric).unit}" if one.least else ""
    direction = {"less": "less is better", "more": "more is better", "equal": "a difference to either side is worse"}[one.better]
    enough = f" {count_text(shown.needed, 'replicate')} would narrow the interval to that."
    least = smallest_effect(shown.quantity, shown.looks)
    power = ""
    if row.word in ("unclear", "no worse") or row.word.startswith("like"):
        seen = "" if least is None else f"{math.exp(least):.2f} ×" if shown.kind == "log" else f"{show(least, 2)}"
        power = f" So many replicates show {seen} or more with 80 % probability." if seen else ""
    p = "< 0.001" if shown.p < 0.001 else f"{shown.p:.3f}"
    sets = f" {sets_text(one)[:1].upper()}{sets_text(one)[1:]}." if sets_text(one) else ""
    against = cast.arm(shown.of) if shown.of in one.theirs else "the references"
    return (
        f"An effect counts from {margin}{floor} on, against {against}; "
        f"{direction}. p {p}, n = {shown.estimate.n}.{power}{sets}{enough if row.word == 'unclear' and shown.needed else ''}"
    )
