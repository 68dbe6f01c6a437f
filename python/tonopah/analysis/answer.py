"""The answer of a study in a sentence or a few with numbers, made from its results alone.

With claims: the headline claim with its verdict, effect, interval and number of replicates; then how many claims have which
verdict. Without, or where a figure is the headline: who has most of its metric, and at which points each of the compared is
higher or lower than the baseline, by how much where it is most, and where the runs do not tell them apart.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tonopah.analysis.evidence import VERDICTS
from tonopah.analysis.paired import Family, Row, families, family
from tonopah.analysis.tables import estimate
from tonopah.analysis.telling import Found, join, tell
from tonopah.analysis.verdicts import Verdict
from tonopah.metrics import Metric, count_text, lower, show
from tonopah.spec.claim import FigureName
from tonopah.spec.model import Part, StudySpec
from tonopah.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import Plan

MOST_METRICS, MOST_PARTS, MOST_LABELS = 3, 4, 4
"""So many sentences, and so many of the compared in one."""
ORDER = ("higher", "lower", "the same", "not told apart")
MEANING = {
    "supported": "The runs support it",
    "contradicted": "The runs contradict it",
    "no effect": "The runs show no effect of the claimed size",
    "undecided": "The runs do not decide it",
    "not testable": "It cannot be tested",
    "not judged": "It is not judged with --quick",
}


@dataclass(frozen=True)
class Answer:
    """What a report says first: sentences, how many claims have which verdict, and the figure that shows it."""

    sentences: list[str]
    counts: dict[str, int] = field(default_factory=dict)
    figure: FigureName | None = None

    @property
    def text(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)


def answer(
    spec: StudySpec,
    plan: "Plan",
    tables: "dict[str, pd.DataFrame]",
    verdicts: list[Verdict],
    quick: bool = False,
    known: Sequence[Family] = (),
) -> Answer:
    """Return the answer of a study from its verdicts and the tables of runs of its parts; `known` is what is judged already."""
    found = Counter(verdict.verdict for verdict in verdicts)
    counts = {word: found[word] for word in reversed(VERDICTS) if found[word]}
    headline = spec.headline
    if verdicts and not isinstance(headline, FigureName):
        first = next((verdict for verdict in verdicts if verdict.claim.id == headline), verdicts[0])
        # A figure of another metric beside a claim says nothing of it: better none.
        return Answer([claim_sentence(first), counts_sentence(counts)], counts, first.figure)
    asked = asked_families(spec, headline) if isinstance(headline, FigureName) else first_families(spec)
    made = {(one.part.id, one.metric.column, one.axes): one for one in known}
    shown = [made.get((part.id, y, axes)) or family(spec, plan, tables, part, y, axes, quick) for part, y, axes in asked]
    sentences = [family_sentence(one, spec, plan, tables) for one in shown]
    figure = headline if isinstance(headline, FigureName) else None
    if asked and figure is None:
        part, name, axes = asked[0]
        figure = FigureName(metric=name, over=axes[0] if axes else "", part=part.id)
    if verdicts:
        sentences.append(counts_sentence(counts))
    return Answer(sentences or ["This study has neither a claim nor a figure that would answer its question."], counts, figure)


def asked_families(spec: StudySpec, asked: FigureName) -> list[tuple[Part, str, tuple[str, ...]]]:
    """Return what a figure shows; over the first sweep of its part where it names no axis and draws over one."""
    mine = [(part, y, axes) for part, y, axes in families(spec) if (part.id, y) == (asked.part, asked.metric)]
    found = [one for one in mine if (one[2][:1] == (asked.over,) if asked.over else not one[2])]
    return (found or mine)[:1] or [(spec.part(asked.part), asked.metric, (asked.over,) if asked.over else ())]


def first_families(spec: StudySpec) -> list[tuple[Part, str, tuple[str, ...]]]:
    """Return what is told of a study that names nothing: the first metric of each part, or the first few of a single one."""
    known = families(spec)
    if len(spec.parts) == 1:
        axes = known[0][2] if known else ()
        return [one for one in known if one[2] == axes][:MOST_METRICS]
    return list({part.id: (part, y, axes) for part, y, axes in reversed(known)}.values())[::-1][:MOST_PARTS]


def claim_sentence(verdict: Verdict) -> str:
    """Return a claim with what the runs say of it."""
    claim = f"“{verdict.claim.text.rstrip('.')}” ({verdict.claim.id})"
    said, decisive = MEANING[verdict.verdict], verdict.decisive
    if decisive is None or math.isnan(decisive.decisive.effect.value):
        return f"{claim}: {lower(said)}."
    outcome = decisive.decisive
    shown = outcome.effect if math.isnan(verdict.adjusted.value) else verdict.adjusted
    numbers = f"{effect_text(shown, outcome.unit)}, {replicates_text(shown.n)}"
    # The number of the test whose effect stands here: another test of the claim may need more.
    needed = outcome.needed if outcome.verdict == "undecided" and outcome.needed else verdict.needed
    more = f", about {count_text(needed, 'replicate')} would" if needed else ""
    return f"{claim}: {lower(said)}{more} ({lower(outcome.asked)}; {numbers})."


def counts_sentence(counts: dict[str, int]) -> str:
    """Return how many claims have which verdict, in words."""
    total = sum(counts.values())
    if counts.get("not judged"):
        rest = total - counts["not judged"]
        cannot = f", and {rest} cannot be tested" if rest else ""
        return f"A quick run shows effects and judges none of the {total} claims{cannot}; run the study in full for verdicts."
    listed = [f"{number} {'is' if number == 1 else 'are'} {phrase(word)}" for word, number in counts.items()]
    if total == 1:
        return "It is the only claim of the study."
    return f"Of {total} claims, {join(listed)}."


def phrase(verdict: str) -> str:
    """Return a verdict as it follows "is" or "are"."""
    return "without an effect of the claimed size" if verdict == "no effect" else verdict


def family_sentence(found: Family, spec: StudySpec, plan: "Plan", tables: "dict[str, pd.DataFrame]") -> str:
    """Return who has most of a metric, and where each of the compared is higher or lower than the baseline, by how much."""
    part, shown = found.part, found.metric
    title = f' in "{part.title}"' if len(spec.parts) > 1 else ""
    where = f" over {' and '.join(lower(part.axis_label(axis)) for axis in found.axes)}" if found.axes else ""
    lead = lead_text(found, plan, tables)
    if not lead:
        return f"{shown.label}{title} was not measured."
    if not found.rows:
        return f"{shown.label}{title}{where} is {lead}."
    told = [f"{label} is {tell(places(rows), ORDER)}" for label, rows in by_label(found.rows)]
    more = f"; {len(told) - MOST_LABELS} more in the table" if len(told) > MOST_LABELS else ""
    against = f"against {part.baseline}, {'; '.join(told[:MOST_LABELS])}{more}"
    # Of two over an axis it is said already who has more.
    first = ":" if found.axes and len(part.labels) == 2 else f" is {lead};"
    return f"{shown.label}{title}{where}{first} {against}; {sure_text(found.rows)}."


def lead_text(found: Family, plan: "Plan", tables: "dict[str, pd.DataFrame]") -> str:
    """Return who has most of a metric and who least: at the one point with values, else at which points."""
    part, shown = found.part, found.metric
    table = tables[part.id]
    points: list[dict[str, Any]] = list({row.place: dict(row.where) for row in found.rows}.values()) or [{}]
    at = part.sweep_over(set(found.axes)) if found.axes else None
    chosen = table[table["run"].isin(plan.parts[part.id].sweeps[at] if at is not None else plan.parts[part.id].base)]
    best: list[Found] = []
    values: dict[str, Estimate] = {}
    ranked: list[str] = []
    for where in points:
        values = {label: estimate(chosen, shown, label, where, part.method).scaled(shown.factor) for label in part.labels}
        ranked = sorted((label for label in values if not math.isnan(values[label].value)), key=lambda one: values[one].value)
        if ranked:
            best.append(Found(f"with {ranked[-1]}", ", ".join(map(str, where.values()))))
    if not best:
        return ""
    if len(points) > 1:
        return f"highest {tell(best)}"
    least, most = ranked[0], ranked[-1]
    if len(ranked) == 1:
        return f"{value_text(values[most], shown)} with {most}"
    if values[least].value == values[most].value:
        return f"the same for all {len(ranked)}, {value_text(values[most], shown)}"
    return f"highest with {most}, {value_text(values[most], shown)}, and lowest with {least}, {value_text(values[least], shown)}"


def by_label(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Return the differences of each label, those that are largest first."""
    groups = {label: [row for row in rows if row.label == label] for label in dict.fromkeys(row.label for row in rows)}
    return sorted(groups.items(), key=lambda group: -max(abs(row.effect.value) for row in group[1]))


def places(rows: Sequence[Row]) -> list[Found]:
    """Return the differences of a label as they are told."""
    return [Found(row.word, row.place, row.said, abs(row.effect.value)) for row in rows]


def sure_text(rows: Sequence[Row]) -> str:
    """Return how many replicates there were, and why nothing was judged."""
    counts = sorted({row.effect.n for row in rows})
    text = replicates_text(counts[-1]) if len(counts) == 1 else f"{counts[0]} to {replicates_text(counts[-1])}"
    if any(row.judged for row in rows):
        return text
    return f"{text}, not judged" + (" with --quick" if rows[0].verdict.verdict == "not judged" else ": too few")


def value_text(found: Estimate, shown: Metric) -> str:
    """Return a value of a metric with its interval and unit."""
    return effect_text(found, shown.unit)


def effect_text(found: Estimate, unit: str) -> str:
    """Return an effect with its interval and unit; without the interval where there is none."""
    value = show(found.value, 3)
    interval = "" if math.isnan(found.low) else f" [{show(found.low, 3)}, {show(found.high, 3)}]"
    return f"{value}{interval} {unit}".rstrip()


def replicates_text(n: int) -> str:
    """Return the number of replicates in words."""
    return "one replicate" if n == 1 else count_text(n, "replicate")
