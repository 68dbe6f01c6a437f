"""The verdict on each published claim: supported, not supported, contradicted or not testable, and why.

Every test works on replicates (never on packets or flows). It has two p values: of the claimed direction, and of the opposite
one. Both families are adjusted for the number of tests in the report (Holm 1979), each reading counted; a test is *supported*
when the first is below 2.5 %, *contradicted* when the second is, and otherwise *not supported*. The verdict on a claim is that of
its worst test, the verdict of a test that of its worst reading; a test declared not testable does not count.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tonopah import stats
from tonopah.analysis.comparisons import difference, order
from tonopah.analysis.evidence import Data, Evidence, Outcome, Testable, where_text
from tonopah.analysis.trends import threshold, trend
from tonopah.metrics import lower, show
from tonopah.spec.claim import BetweenParts, Bound, Claim, Comparison, Criterion, Difference, NotTestable, Order, Trend
from tonopah.spec.model import Part, StudySpec

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import Plan

WORST_FIRST = ("contradicted", "not supported", "not testable", "supported")


@dataclass(frozen=True)
class Judgement:
    """A test of a claim: its criterion, all readings, the verdict, and a sentence if the readings differ."""

    criterion: Criterion
    verdict: str
    readings: list[Outcome]
    note: str = ""

    @property
    def decisive(self) -> Outcome:
        """The decisive reading: the first of the worst."""
        return next((outcome for outcome in self.readings if outcome.verdict == self.verdict), self.readings[0])


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim, that of its worst test, with one sentence and all tests."""

    claim: Claim
    verdict: str
    sentence: str
    tests: list[Judgement] = field(default_factory=list)

    @property
    def decisive(self) -> Judgement | None:
        """The decisive test: the first of the worst."""
        return next((test for test in self.tests if test.verdict == self.verdict), None)


def judge(spec: StudySpec, plan: "Plan", tables: "dict[str, pd.DataFrame]") -> list[Verdict]:
    """Return the verdict on every claim of the study from the tables of runs of its parts."""
    evidence = Evidence(spec, plan, tables)
    outcomes = [[list(readings(criterion, evidence)) for criterion in claim.tests] for claim in spec.claims]
    flat = [outcome for claim in outcomes for test in claim for outcome in test]
    adjusted_for = stats.holm([outcome.p_for for outcome in flat])
    adjusted_against = stats.holm([outcome.p_against for outcome in flat])
    alpha = min((part.method.alpha for part in spec.parts), default=0.025)
    concluded = iter(conclude(*triple, alpha) for triple in zip(flat, adjusted_for, adjusted_against, strict=True))
    verdicts = []
    for claim, groups in zip(spec.claims, outcomes, strict=True):
        tests = [combine(test, [next(concluded) for _ in group]) for test, group in zip(claim.tests, groups, strict=True)]
        verdicts.append(decide(claim, tests))
    return verdicts


def comparisons(verdicts: list[Verdict]) -> int:
    """Return the number of tests that p values were adjusted for."""
    outcomes = (outcome for verdict in verdicts for test in verdict.tests for outcome in test.readings)
    return sum(not math.isnan(outcome.p_for) for outcome in outcomes)


def conclude(outcome: Outcome, p_for: float, p_against: float, alpha: float) -> Outcome:
    """Return the outcome with its verdict from the adjusted p values."""
    if math.isnan(p_for):
        return outcome
    verdict = "supported" if p_for < alpha else "contradicted" if p_against < alpha else "not supported"
    return replace(outcome, p_for=p_for, p_against=p_against, verdict=verdict)


def combine(criterion: Criterion, outcomes: list[Outcome]) -> Judgement:
    """Return a test with the verdict of its worst reading that could be tested, and a sentence if the readings differ."""
    testable = [outcome for outcome in outcomes if outcome.verdict != "not testable"]
    worst = min((outcome.verdict for outcome in testable), key=WORST_FIRST.index, default="not testable")
    verdicts = {outcome.verdict for outcome in outcomes}
    by_verdict = {kind: [o.reading for o in outcomes if o.verdict == kind] for kind in reversed(WORST_FIRST) if kind in verdicts}
    listed = "; ".join(f"{kind} by {', '.join(names)}" for kind, names in by_verdict.items())
    note = f"The answer depends on the reading: {listed}." if len(verdicts) > 1 else ""
    return Judgement(criterion, worst, outcomes, note)


def decide(claim: Claim, tests: list[Judgement]) -> Verdict:
    """Return the verdict on a claim from its tests."""
    if not tests:
        return Verdict(claim, "not testable", claim.not_testable or "The study has no test for it.")
    counted = [test for test in tests if not isinstance(test.criterion, NotTestable)]
    reasons = " ".join(test.criterion.not_testable for test in tests if isinstance(test.criterion, NotTestable))
    worst = min((test.verdict for test in counted), key=WORST_FIRST.index, default="not testable")
    if not counted:
        return Verdict(claim, worst, reasons, tests)
    decisive = next(test for test in counted if test.verdict == worst)
    if len(counted) == 1:
        sentence = decisive.note or decisive.decisive.sentence
    else:
        supported = sum(test.verdict == "supported" for test in counted)
        sentence = f"{supported} of {len(counted)} tests supported. "
        sentence += "The first: " if supported == len(counted) else f"{worst.capitalize()}: "
        sentence += f"{decisive.decisive.asked}. {decisive.note or decisive.decisive.sentence}"
    if reasons:
        sentence += f" Excluded: {reasons}"
    return Verdict(claim, worst, sentence, tests)


def readings(criterion: Criterion, evidence: Evidence) -> Iterator[Outcome]:
    """Yield the outcome of each reading of a criterion, not yet adjusted for the number of tests."""
    if isinstance(criterion, NotTestable):
        yield Outcome(criterion.not_testable, asked="Not a question for a simulator")
        return
    part, algorithms = evidence.spec.part(criterion.part), criterion.algorithms or ("",)
    several = [len(criterion.metrics) > 1, len(algorithms) > 1]
    for column, label in itertools.product(criterion.metrics, algorithms):
        name = ", ".join(text for text, many in zip((column, label), several, strict=True) if many)
        outcome = note_missing(evaluate(criterion, evidence, part, column, label), part)
        yield replace(outcome, asked=question(criterion, evidence.spec, part, column, label), reading=name)


def note_missing(outcome: Outcome, part: Part) -> Outcome:
    """Return the outcome with a sentence on the replicates that it does not include."""
    missing = part.replicates - outcome.effect.n
    if not outcome.effect.n or missing <= 0:
        return outcome
    have = "has" if missing == 1 else "have"
    note = f" {missing} of {part.replicates} replicates {have} no value and {'is' if missing == 1 else 'are'} excluded."
    return replace(outcome, sentence=outcome.sentence + note)


def evaluate(criterion: Testable, evidence: Evidence, part: Part, column: str, label: str) -> Outcome:
    """Return the outcome of one reading, without its question."""
    parts = [evidence.spec.part(name) for name in criterion.parts] if isinstance(criterion, BetweenParts) else [part]
    for one in parts:
        if column not in evidence.tables[one.id].columns:
            return Outcome(f"The runs have no metric {column}.")
        if not evidence.points(one, criterion):
            return Outcome("This point is not among those that were run (--quick may leave it out).")
    match criterion:
        case Trend() | Bound():
            return evaluate_one(criterion, evidence.data(part, criterion, column, label))
        case Order():
            group = [evidence.data(part, criterion, column, name) for name in criterion.order]
            return order(criterion, group) if all(len(data.values) for data in group) else NO_REPLICATES
        case Difference():
            pair = [evidence.data(part, criterion, column, name) for name in (label, criterion.to)]
            names = label, criterion.to
        case BetweenParts():
            pair = [evidence.data(one, criterion, column, label or one.baseline) for one in parts]
            names = parts[0].title, parts[1].title
    if pair[0].labels != pair[1].labels:
        return Outcome("The two parts do not have the same points.")
    return difference(criterion, pair[0], pair[1], names) if all(len(one.values) for one in pair) else NO_REPLICATES


NO_REPLICATES = Outcome("0 complete replicates; at least 2 are needed.")


def evaluate_one(criterion: Trend | Bound, data: Data) -> Outcome:
    """Return the outcome of a reading of one variant."""
    count = len(data.values)
    if count < 2:
        return Outcome(f"{count} complete replicate{'s' * (count != 1)}; at least 2 are needed.")
    return trend(criterion, data) if isinstance(criterion, Trend) else threshold(criterion, data)


def question(criterion: Testable, spec: StudySpec, part: Part, column: str, label: str) -> str:
    """Return what a criterion asks, in words."""
    metric, where = part.metric(column), where_text(part, criterion)
    match criterion:
        case Order():
            mean = " (mean)" if criterion.over else ""
            text = f"{metric.label}: {' < '.join(criterion.order)}{where}{mean}"
        case BetweenParts():
            first, second = (spec.part(part_id).title for part_id in criterion.parts)
            return f'{metric.label}, "{first}" against "{second}": {condition(criterion)}{where}'
        case Difference():
            text = f"{metric.label} of {label} against {criterion.to}: {condition(criterion)}{where}"
        case Trend(trend="flat"):
            text = f"{metric.label} of {label} flat{where} (within ±{criterion.margin_percent:g} %)"
        case Trend():
            text = f"{metric.label} of {label} {criterion.trend}{where}"
        case Bound():
            limit = f"{show(criterion.limit * metric.factor)} {metric.unit}".rstrip()
            text = f"{metric.label} of {label} {criterion.side} {limit}{where}"
    return f"{part.title}: {lower(text)}" if len(spec.parts) > 1 else text


def condition(criterion: Comparison) -> str:
    """Return the condition on a difference in words."""
    percent = criterion.percent
    match criterion.bound:
        case "above":
            return f"more than {percent:+g} %" if percent else "higher"
        case "below":
            return f"less than {percent:+g} %" if percent else "lower"
        case "within":
            return f"equal within ±{percent:g} %"
        case _:
            return f"{percent:+g} % as published"
