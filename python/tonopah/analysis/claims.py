"""Judges the claims of a study: selects the rows of each criterion, and calls the test of its class.

What the verdicts mean and how that of a claim follows from those of its criteria is said in verdicts.py.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tonopah import stats
from tonopah.analysis.comparisons import difference, order
from tonopah.analysis.evidence import Data, Evidence, Outcome, Testable, where_text
from tonopah.analysis.trends import threshold, trend
from tonopah.analysis.verdicts import (
    Judgement,
    Verdict,
    combine,
    conclude,
    counted,
    decide,
    effects_only,
    p_contradicted,
    p_no_effect,
    p_supported,
)
from tonopah.metrics import lower, show
from tonopah.spec.claim import BetweenParts, Bound, ComparisonCriterion, Criterion, Difference, NotTestable, Order, Trend
from tonopah.spec.model import Part, StudySpec

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import Plan

__all__ = ["Judgement", "Verdict", "comparisons", "judge"]


def judge(
    spec: StudySpec, plan: "Plan", tables: "dict[str, pd.DataFrame]", quick: bool = False, left_out: int = 0
) -> list[Verdict]:
    """Return the verdict on every claim of the study from the tables of runs of its parts; with `quick` effects only.

    `left_out` is the number of claims of the study that are not asked for: p values are adjusted as if these came last.
    """
    evidence, claims = Evidence(spec, plan, tables), []
    for claim in spec.claims:
        outcomes = [[conclude(outcome) for outcome in readings(criterion, evidence)] for criterion in claim.tests]
        claims.append([combine(test, group) for test, group in zip(claim.tests, outcomes, strict=True)])
    if quick:
        return [effects_only(claim, tests, spec) for claim, tests in zip(spec.claims, claims, strict=True)]
    families = zip(*(adjusted(kind, claims, left_out) for kind in (p_supported, p_contradicted, p_no_effect)), strict=True)
    return [decide(*entry, spec) for entry in zip(spec.claims, claims, families, strict=True)]


def adjusted(p_value: Callable[[list[Judgement]], float], claims: list[list[Judgement]], left_out: int = 0) -> list[float]:
    """Return the p value of each claim for one verdict, adjusted for the number of claims."""
    return stats.holm([p_value(counted(tests)) for tests in claims] + [1.0] * left_out)[: len(claims)]


def comparisons(verdicts: list[Verdict]) -> int:
    """Return the number of claims that p values were adjusted for."""
    return sum(not math.isnan(verdict.p_for) for verdict in verdicts)


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
        outcome = adjust_for_looks(outcome, method_of(criterion, evidence.spec).confidence)
        kind = part.metric(column).kind
        yield replace(
            outcome, kind=kind, asked=question(criterion, evidence.spec, part, column, label), reading=name, label=label
        )


def method_of(criterion: Testable, spec: StudySpec) -> stats.Method:
    """Return the statistic of a criterion and the confidence of its intervals.

    With `--until` a part is looked at K times, each time at level 0.05 / K (sequential.py). Two parts may stop at any two of
    their looks, so that a comparison of them has the product of their numbers of looks.
    """
    method = spec.part(criterion.part).method
    if not isinstance(criterion, BetweenParts):
        return method
    errors = [1 - spec.part(name).confidence for name in criterion.parts]
    return replace(method, confidence=1 - errors[0] * errors[1] / (1 - stats.CONFIDENCE))


def adjust_for_looks(outcome: Outcome, confidence: float) -> Outcome:
    """Return the outcome with p values that hold wherever the study stopped: they agree with an interval of this confidence."""
    looks = (1 - stats.CONFIDENCE) / (1 - confidence)
    adjusted_p = (p if math.isnan(p) else min(1.0, p * looks) for p in (outcome.p_for, outcome.p_against, outcome.p_none))
    p_for, p_against, p_none = adjusted_p
    if looks > 1 + 1e-9 and not math.isnan(outcome.p_for):
        seen = f" {looks:g} looks at the data, at as many sizes, are counted in interval and p values."
        outcome = replace(outcome, sentence=outcome.sentence + seen)
    return replace(outcome, p_for=p_for, p_against=p_against, p_none=p_none, looks=looks)


def note_missing(outcome: Outcome, part: Part) -> Outcome:
    """Return the outcome with a sentence on the replicates that it does not include."""
    missing = part.replicates - outcome.effect.n
    if outcome.effect.n < 2 or missing <= 0:
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
            pair = [
                replace(evidence.data(one, criterion, column, label or one.baseline), method=method_of(criterion, evidence.spec))
                for one in parts
            ]
            names = parts[0].title, parts[1].title
    if pair[0].labels != pair[1].labels:
        return Outcome("The two parts do not have the same points.")
    return difference(criterion, pair[0], pair[1], names) if all(len(one.values) for one in pair) else NO_REPLICATES


NO_REPLICATES = Outcome(f"No replicate has a value; at least {stats.FEWEST} are needed.")


def evaluate_one(criterion: Trend | Bound, data: Data) -> Outcome:
    """Return the outcome of a reading of one variant."""
    if not len(data.values):
        return NO_REPLICATES
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
            text = f"{metric.label} of {label} flat{where} (within ±{criterion.margin:g} %)"
        case Trend():
            text = f"{metric.label} of {label} {criterion.trend}{where}"
        case Bound():
            limit = f"{show(criterion.limit * metric.factor)} {metric.unit}".rstrip()
            text = f"{metric.label} of {label} {criterion.side} {limit}{where}"
    return f"{part.title}: {lower(text)}" if len(spec.parts) > 1 else text


def condition(criterion: ComparisonCriterion) -> str:
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
