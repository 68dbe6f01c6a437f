"""The answer of a study in two sentences with numbers, made from its results alone.

With claims: the headline claim with its verdict, effect, interval and number of replicates; then how many claims have which
verdict. Without: which of the compared has the most and the least of the headline metric; then the difference of these two.
"""

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tonopah.analysis.evidence import VERDICTS
from tonopah.analysis.tables import difference, estimate
from tonopah.analysis.verdicts import Verdict
from tonopah.metrics import Metric, count_text, lower, show
from tonopah.spec.claim import FigureName
from tonopah.spec.model import Part, StudySpec
from tonopah.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import Plan

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


def answer(spec: StudySpec, plan: "Plan", tables: "dict[str, pd.DataFrame]", verdicts: list[Verdict]) -> Answer:
    """Return the answer of a study from its verdicts and the tables of runs of its parts."""
    found = Counter(verdict.verdict for verdict in verdicts)
    counts = {word: found[word] for word in reversed(VERDICTS) if found[word]}
    headline = spec.headline
    if verdicts and not isinstance(headline, FigureName):
        first = next((verdict for verdict in verdicts if verdict.claim.id == headline), verdicts[0])
        # A figure of another metric beside a claim says nothing of it: better none.
        return Answer([claim_sentence(first), counts_sentence(counts)], counts, first.figure)
    figure = headline if isinstance(headline, FigureName) else first_figure(spec)
    sentences = figure_sentences(spec, plan, tables, figure) if figure else []
    if verdicts:
        sentences = [*sentences[:1], counts_sentence(counts)]
    return Answer(sentences or ["This study has neither a claim nor a figure that would answer its question."], counts, figure)


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


def join(texts: list[str]) -> str:
    """Return parts of an enumeration as text."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def first_figure(spec: StudySpec) -> FigureName | None:
    """Return the first figure of the study that shows a metric."""
    figures = ((part, figure) for part in spec.parts for figure in part.figures if figure.kind != "series")
    return next((FigureName(metric=f.y[0], over=f.x or "", part=part.id) for part, f in figures), None)


def figure_sentences(spec: StudySpec, plan: "Plan", tables: "dict[str, pd.DataFrame]", figure: FigureName) -> list[str]:
    """Return who has the most and the least of a metric, and by how much they differ."""
    part = spec.part(figure.part)
    table, shown = tables[part.id], part.metric(figure.metric)
    base = table[table["run"].isin(plan.parts[part.id].base)]
    runs, where = base, "at the nominal point"
    if base.empty and figure.metric in table.columns:
        # Points are no replicates: each replicate counts once, with its mean over the points.
        runs, where = table.groupby(["algorithm", "seed"], as_index=False)[[figure.metric]].mean(), "averaged over all points"
        shown = replace(shown, kind="share")
    found = {label: estimate(runs, shown, label, {}, part.method) for label in part.labels}
    values = {label: one.scaled(shown.factor) for label, one in found.items() if not math.isnan(one.value)}
    title = f' in "{part.title}"' if len(spec.parts) > 1 else ""
    if not values:
        return [f"{shown.label}{title} was not measured."]
    ranked = sorted(values, key=lambda label: values[label].value)
    least, most = ranked[0], ranked[-1]
    if len(ranked) == 1:
        return [f"{shown.label}{title} of {most} is {value_text(values[most], shown)} {where}."]
    if values[least].value == values[most].value:
        return [f"{shown.label}{title} is the same for all {len(ranked)}, {value_text(values[most], shown)}, {where}."]
    first = f"{shown.label}{title} is highest with {most}, {value_text(values[most], shown)}, and lowest with {least}, "
    return [f"{first}{value_text(values[least], shown)}, {where}.", second_sentence(part, runs, shown, most, least)]


def second_sentence(part: Part, runs: "pd.DataFrame", shown: Metric, most: str, least: str) -> str:
    """Return the difference of the highest and the lowest."""
    change = difference(runs, shown.column, most, least, {}, part.method)
    if math.isnan(change.value):
        return f"The difference in percent has no meaning, since {lower(shown.label)} of {least} is zero."
    unclear = ""
    if not math.isnan(change.low) and change.low <= 0 <= change.high:
        unclear = "; the interval contains zero, so that the runs do not tell them apart"
    return f"The difference is {effect_text(change, '%')}, {replicates_text(change.n)}{unclear}."


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
