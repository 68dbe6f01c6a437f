"""A published claim against the measured effect: supported, not supported, contradicted or not testable, and why.

Every test works on replicates (never on packets or flows). It has two p values: of the claimed direction, and of the opposite
one. Both families are adjusted for the number of tests in the report (Holm 1979), each reading counted; a test is *supported*
when the first is below 2.5 %, *contradicted* when the second is, and otherwise *not supported*. A claim is as good as its worst
test, a test with several readings as its worst reading; what is declared not to be testable does not count.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tonopah import stats
from tonopah.analysis.comparisons import test_difference, test_order
from tonopah.analysis.evidence import Data, Evidence, Outcome, points_of, where_text
from tonopah.analysis.trends import test_flat, test_saturating, test_slope, test_threshold
from tonopah.metrics import lower, show
from tonopah.spec.claim import Claim, Criterion
from tonopah.spec.model import Part, StudySpec

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import Plan

WORST_FIRST = ("contradicted", "not supported", "not testable", "supported")


@dataclass(frozen=True)
class Judged:
    """A test with all its readings, its verdict, and a sentence when they differ."""

    test: Criterion
    verdict: str
    readings: list[Outcome]
    note: str = ""

    @property
    def decisive(self) -> Outcome:
        """The reading that decides: the first of the worst."""
        return next((outcome for outcome in self.readings if outcome.verdict == self.verdict), self.readings[0])


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim: its worst test's verdict, one sentence, and all tests."""

    claim: Claim
    verdict: str
    sentence: str
    tests: list[Judged] = field(default_factory=list)

    @property
    def decisive(self) -> Judged | None:
        """The test that decides: the first of the worst."""
        return next((test for test in self.tests if test.verdict == self.verdict), None)


def judge(spec: StudySpec, plan: "Plan", tables: "dict[str, pd.DataFrame]") -> list[Verdict]:
    """Return the verdict on every claim of the study from the tables of runs of its parts."""
    evidence = Evidence(spec, plan, tables)
    outcomes = [[list(readings(test, evidence)) for test in claim.tests] for claim in spec.claims]
    flat = [outcome for claim in outcomes for test in claim for outcome in test]
    adjusted_for = stats.holm([outcome.p_for for outcome in flat])
    adjusted_against = stats.holm([outcome.p_against for outcome in flat])
    alpha = min((part.method.alpha for part in spec.parts), default=0.025)
    judged = iter(conclude(*triple, alpha) for triple in zip(flat, adjusted_for, adjusted_against, strict=True))
    verdicts = []
    for claim, tests in zip(spec.claims, outcomes, strict=True):
        mine = [combine(test, [next(judged) for _ in group]) for test, group in zip(claim.tests, tests, strict=True)]
        verdicts.append(decide(claim, mine))
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


def combine(test: Criterion, outcomes: list[Outcome]) -> Judged:
    """Return a test with the verdict of its worst reading that could be tested, and a sentence when they differ."""
    testable = [outcome for outcome in outcomes if outcome.verdict != "not testable"]
    worst = min((outcome.verdict for outcome in testable), key=WORST_FIRST.index, default="not testable")
    kinds = {outcome.verdict for outcome in outcomes}
    by_verdict = {kind: [o.reading for o in outcomes if o.verdict == kind] for kind in reversed(WORST_FIRST) if kind in kinds}
    listed = "; ".join(f"{kind} by {', '.join(names)}" for kind, names in by_verdict.items())
    note = f"The answer depends on the reading: {listed}." if len(kinds) > 1 else ""
    return Judged(test, worst, outcomes, note)


def decide(claim: Claim, tests: list[Judged]) -> Verdict:
    """Return the verdict on a claim from its tests."""
    if not tests:
        return Verdict(claim, "not testable", claim.not_testable or "The study has no test for it.")
    counted = [test for test in tests if not test.test.not_testable]
    declared = [test.test.not_testable for test in tests if test.test.not_testable]
    worst = min((test.verdict for test in counted), key=WORST_FIRST.index, default="not testable")
    if not counted:
        return Verdict(claim, worst, " ".join(str(reason) for reason in declared), tests)
    decisive = next(test for test in counted if test.verdict == worst)
    if len(counted) == 1:
        sentence = decisive.note or decisive.decisive.sentence
    else:
        supported = sum(test.verdict == "supported" for test in counted)
        sentence = f"{supported} of {len(counted)} tests supported. "
        sentence += "The first: " if supported == len(counted) else f"{worst.capitalize()}: "
        sentence += f"{decisive.decisive.asked}. {decisive.note or decisive.decisive.sentence}"
    if declared:
        sentence += f" Left out: {' '.join(str(reason) for reason in declared)}"
    return Verdict(claim, worst, sentence, tests)


def readings(test: Criterion, evidence: Evidence) -> Iterator[Outcome]:
    """Yield the outcome of each reading of a test, not yet adjusted for the number of tests."""
    if test.not_testable:
        yield Outcome("Not a question for a simulator", test.not_testable)
        return
    part = evidence.spec.part(test.part)
    algorithms = test.algorithms or ("" if test.order or test.parts else part.baseline,)
    several = [len(test.metrics) > 1, len(algorithms) > 1]
    for column, label in itertools.product(test.metrics, algorithms):
        name = ", ".join(text for text, many in zip((column, label), several, strict=True) if many)
        yield replace(complete(reading(test, evidence, part, column, label), part), reading=name)


def complete(outcome: Outcome, part: Part) -> Outcome:
    """Return the outcome with a word on replicates in which something was not measured: they are not in the numbers."""
    lost = part.replicates - outcome.effect.n
    if not outcome.effect.n or lost <= 0:
        return outcome
    note = f" {lost} of {part.replicates} replicates lack a value and are left out."
    return replace(outcome, sentence=outcome.sentence + note)


def reading(test: Criterion, evidence: Evidence, part: Part, column: str, label: str) -> Outcome:
    """Return the outcome of one reading."""
    asked = ask(test, evidence.spec, part, column, label)
    for part_id in test.parts or (part.id,):
        if column not in evidence.tables[part_id].columns:
            return Outcome(asked, f"The runs have no metric {column}.")
        if not points_of(evidence, evidence.spec.part(part_id), test):
            return Outcome(asked, "This point is not among those that were run (it may be left out with --quick).")
    if test.order:
        group = [evidence.data(part, test, column, name) for name in test.order]
        return test_order(test, group, asked) if all(len(data.values) for data in group) else nothing(asked)
    if test.parts:
        both = [evidence.spec.part(part_id) for part_id in test.parts]
        data = [evidence.data(one, test, column, label or one.baseline) for one in both]
        return between(test, data, (both[0].title, both[1].title), asked)
    if test.to:
        return between(test, [evidence.data(part, test, column, name) for name in (label, test.to)], (label, test.to), asked)
    return alone(test, evidence.data(part, test, column, label), asked)


def between(test: Criterion, data: list[Data], names: tuple[str, str], asked: str) -> Outcome:
    """Return the outcome of a difference, where both have the same points."""
    if data[0].labels != data[1].labels:
        return Outcome(asked, "The two parts do not have the same points.")
    return test_difference(test, data[0], data[1], names, asked) if all(len(one.values) for one in data) else nothing(asked)


def nothing(asked: str) -> Outcome:
    """Return the outcome of a test for which nothing was measured."""
    return Outcome(asked, "0 complete replicates; at least 2 are needed.")


def alone(test: Criterion, data: Data, asked: str) -> Outcome:
    """Return the outcome of a test of one variant."""
    if len(data.values) < 2:
        return Outcome(asked, f"{len(data.values)} complete replicate{'s' * (len(data.values) != 1)}; at least 2 are needed.")
    if test.trend and len(data.at) < (3 if test.trend == "saturating" else 2):
        return Outcome(asked, f"{len(data.at)} points are too few for a trend.")
    tests: dict[str | None, Callable[[Criterion, Data, str], Outcome]] = {
        "increasing": test_slope, "decreasing": test_slope, "flat": test_flat, "saturating": test_saturating,
        None: test_threshold,
    }  # fmt: skip
    return tests[test.trend](test, data, asked)


def ask(test: Criterion, spec: StudySpec, part: Part, column: str, label: str) -> str:
    """Return what a test asks, in words."""
    shown, where = part.metric(column), where_text(part, test)
    if test.order:
        mean = " (mean)" if test.over else ""
        text = f"{shown.label}: {' < '.join(test.order)}{where}{mean}"
    elif test.to or test.parts:
        if test.parts:
            of, to = (spec.part(part_id).title for part_id in test.parts)
            return f'{shown.label}, "{of}" against "{to}": {condition(test)}{where}'
        return lead(spec, part, f"{shown.label} of {label} against {test.to}: {condition(test)}{where}")
    elif test.trend == "flat":
        text = f"{shown.label} of {label} flat{where} (within ±{test.margin_percent:g} %)"
    elif test.trend:
        text = f"{shown.label} of {label} {test.trend}{where}"
    else:
        side, bound = ("above", test.above) if test.above is not None else ("below", test.below)
        assert bound is not None
        text = f"{shown.label} of {label} {side} {show(bound * shown.factor)} {shown.unit}".rstrip() + where
    return lead(spec, part, text)


def lead(spec: StudySpec, part: Part, text: str) -> str:
    """Return text with the part that it is about, where there are several."""
    return f"{part.title}: {lower(text)}" if len(spec.parts) > 1 else text


def condition(test: Criterion) -> str:
    """Return the condition on a difference in words."""
    if test.above_percent is not None:
        return f"more than {test.above_percent:+g} %" if test.above_percent else "higher"
    if test.below_percent is not None:
        return f"less than {test.below_percent:+g} %" if test.below_percent else "lower"
    if test.within_percent is not None:
        return f"equal within ±{test.within_percent:g} %"
    return f"{test.published_percent:+g} % as published"
