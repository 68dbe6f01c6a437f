"""The verdict on each claim, and why: supported, contradicted, no effect, undecided or not testable.

A claim consists of criteria (its sub-claims), a criterion of readings. Every test works on replicates, never on packets or flows.
It has three p values: of "what is claimed holds", of "the opposite holds", and, where a margin is declared, of "the effect is
within the margin". Each is compared with 2.5 %, so that the verdict on a reading and its printed 95 % interval agree:

- *no effect*: the whole interval is within the margin (two one-sided tests), on whichever side of zero;
- else *supported*: the whole interval is where the claim puts the effect;
- else *contradicted*: the whole interval is on the other side;
- else *undecided*: the runs show none of these; `needed` says how many replicates would.

A claim joins its criteria by "and". So it is *contradicted* if one of them is, else of *no effect* if one of them is, else
*undecided* if one of them is, else *supported*: all of them are. What is declared not testable does not count.

Three rules keep the errors of a study at 5 % (docs/decisions/0012-what-a-verdict-rests-on.md):

- *supported* needs every criterion, so its p value is the largest of them, without adjustment (intersection-union test; R. L.
  Berger, Technometrics 24, 1982, 295-300). *Contradicted* and *no effect* need one of k, so theirs is k times the smallest
  (Bonferroni).
- A quantity under several definitions (an array of metrics) counts once: each verdict needs all definitions, and its p value
  is the largest. Several labels are several quantities.
- Holm's adjustment (Scand. J. Statist. 6, 1979, 65-70) covers the claims of the study: one p value for each claim and verdict.
  A claim may so be undecided although each of its criteria is supported by itself.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tonopah.analysis.evidence import VERDICTS, Outcome
from tonopah.metrics import count_text, show
from tonopah.spec.claim import Claim, Criterion, FigureName, NotTestable
from tonopah.spec.model import StudySpec
from tonopah.stats import CONFIDENCE, NOT_MEASURED, Estimate


def needs(one: "Outcome | Judgement") -> int:
    """Return the replicates that would decide it: a number stands beside the effect that it is of."""
    return one.needed or 0


@dataclass(frozen=True)
class Judgement:
    """A sub-claim: its criterion, all readings, the verdict, and a sentence if the readings differ."""

    criterion: Criterion
    verdict: str
    readings: list[Outcome]
    note: str = ""
    needed: int | None = None
    """Replicates that would decide it, where it is undecided."""

    @property
    def decisive(self) -> Outcome:
        """The decisive reading: of those with its verdict the one that needs the most replicates, else the first."""
        return max((one for one in self.readings if one.verdict == self.verdict), key=needs, default=self.readings[0])


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim with one sentence, its p values adjusted for the number of claims, and all sub-claims."""

    claim: Claim
    verdict: str
    sentence: str
    tests: list[Judgement] = field(default_factory=list)
    p_for: float = math.nan
    p_against: float = math.nan
    p_none: float = math.nan
    needed: int | None = None
    """Replicates that would decide it, where it is undecided."""
    adjusted: Estimate = NOT_MEASURED
    """The decisive effect with the interval of the level that Holm's adjustment leaves the claim, which agrees with the word."""
    figure: FigureName | None = None
    """The figure that decides it: that of the claim, or one of metric and axis of the decisive test."""

    @property
    def mechanism(self) -> str:
        """Why it is so, in the words of the study."""
        return self.claim.mechanism

    @property
    def decisive(self) -> Judgement | None:
        """The decisive sub-claim: of those with the worst verdict the one that needs most replicates.

        That is the claim's verdict, unless the number of claims in the study makes it undecided.
        """
        return min(counted(self.tests) or self.tests, key=lambda test: (RANKS.get(test.verdict, 0), -needs(test)), default=None)


RANKS = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
"""Of verdicts, the worst first."""
ALPHA = (1 - CONFIDENCE) / 2
"""Level of each one-sided test, so that it agrees with a two-sided interval."""


def conclude(outcome: Outcome) -> Outcome:
    """Return the outcome of a reading with its verdict."""
    if math.isnan(outcome.p_for) and outcome.verdict != "undecided":
        return outcome
    if outcome.p_none < ALPHA:
        # What is within the margin is no evidence for a claim, nor against it.
        return replace(outcome, p_for=1.0, p_against=1.0, verdict="no effect")
    if outcome.p_for < ALPHA:
        return replace(outcome, verdict="supported")
    if outcome.p_against < ALPHA:
        return replace(outcome, verdict="contradicted")
    needed = outcome.replicates_for(ALPHA / outcome.looks) if outcome.replicates_for else None
    return replace(outcome, verdict="undecided", needed=needed)


def combine(criterion: Criterion, outcomes: list[Outcome]) -> Judgement:
    """Return a sub-claim with its verdict, and a sentence if its readings differ."""
    testable = [outcome for outcome in outcomes if outcome.verdict != "not testable"]
    verdicts = [joint({outcome.verdict for outcome in same}) for same in by_label(testable)]
    worst = min(verdicts, key=VERDICTS.index, default="not testable")
    if worst in ("contradicted", "no effect") and len(verdicts) > 1:
        # One of several labels is enough, so it has to be seen although one looked several times.
        p_value = p_contradicted if worst == "contradicted" else p_no_effect
        if not p_value([Judgement(criterion, worst, outcomes)]) < ALPHA:
            worst = "undecided"
    found = {outcome.verdict for outcome in outcomes}
    by_verdict = {kind: [o.reading for o in outcomes if o.verdict == kind] for kind in reversed(VERDICTS) if kind in found}
    listed = "; ".join(f"{kind} by {', '.join(names)}" for kind, names in by_verdict.items())
    note = f"The answer depends on the reading: {listed}." if len(found) > 1 else ""
    return Judgement(criterion, worst, outcomes, note, most(o.needed for o in testable if o.verdict == worst == "undecided"))


def by_label(outcomes: list[Outcome]) -> list[list[Outcome]]:
    """Return the readings of each label: definitions of one quantity."""
    return [[o for o in outcomes if o.label == label] for label in dict.fromkeys(o.label for o in outcomes)]


def joint(verdicts: set[str]) -> str:
    """Return the verdict on a quantity under several definitions: theirs if they agree."""
    return next(iter(verdicts)) if len(verdicts) == 1 else "undecided"


def most(numbers: Iterable[int | None]) -> int | None:
    """Return the largest number; None if there is none, or if one of them is unknown."""
    found = list(numbers)
    return None if None in found else max((n for n in found if n is not None), default=None)


def counted(tests: list[Judgement]) -> list[Judgement]:
    """Return the sub-claims that count: those that are not declared to be beyond a simulator."""
    return [test for test in tests if not isinstance(test.criterion, NotTestable)]


def quantities(tests: list[Judgement]) -> list[list[Outcome]]:
    """Return the quantities of a claim that could be tested, each with its definitions."""
    tested = [[o for o in test.readings if not math.isnan(o.p_for)] for test in tests]
    return [same for outcomes in tested for same in by_label(outcomes)]


def p_supported(tests: list[Judgement]) -> float:
    """Return the p value of "all of them hold": the largest."""
    return max((o.p_for for same in quantities(tests) for o in same), default=math.nan)


def p_contradicted(tests: list[Judgement]) -> float:
    """Return the p value of "the opposite of one of them holds": the smallest, times the number of looks."""
    found = quantities(tests)
    looks = sum(max(o.sides for o in same) for same in found)
    return min((min(1.0, looks * max(o.p_against for o in same)) for same in found), default=math.nan)


def p_no_effect(tests: list[Judgement]) -> float:
    """Return the p value of "one of them has no effect": the smallest, times their number; 1 where no margin is declared."""
    found = [[1.0 if math.isnan(o.p_none) else o.p_none for o in same] for same in quantities(tests)]
    looks = sum(max(same) < 1 for same in found)
    return min((min(1.0, max(1, looks) * max(same)) for same in found), default=math.nan)


def decide(claim: Claim, tests: list[Judgement], p_values: tuple[float, float, float], spec: StudySpec) -> Verdict:
    """Return the verdict on a claim from its sub-claims and its adjusted p values."""
    if not tests:
        return Verdict(claim, "not testable", claim.not_testable or "The study has no test for it.")
    if not counted(tests):
        return Verdict(claim, "not testable", reasons(tests), tests)
    p_for, p_against, p_none = p_values
    alone = min((test.verdict for test in counted(tests)), key=VERDICTS.index)
    verdict = alone
    if p_against < ALPHA:
        verdict = "contradicted"
    elif p_none < ALPHA:
        verdict = "no effect"
    elif (alone == "supported" and not p_for < ALPHA) or alone in ("contradicted", "no effect"):
        verdict = "undecided"
    found = Verdict(claim, verdict, "", tests, p_for, p_against, p_none, figure=figure_of(claim, verdict, tests, spec))
    if verdict == "undecided":
        level = ALPHA / max(1, len(spec.claims))
        found = replace(found, needed=claim_needed(tests, alone, level))
    found = replace(found, adjusted=adjusted_interval(found, len(spec.claims)))
    return replace(found, sentence=sentence_of(found, alone))


def adjusted_interval(verdict: Verdict, claims: int) -> Estimate:
    """Return the effect of the decisive reading with the interval that agrees with the word on the claim.

    Its error is divided by what Holm multiplied the p value with; by the number of claims where nothing is decided.
    """
    outcome = verdict.decisive.decisive if verdict.decisive else None
    if outcome is None or outcome.interval_at is None:
        return outcome.effect if outcome else NOT_MEASURED
    of = {"supported": (verdict.p_for, p_supported), "contradicted": (verdict.p_against, p_contradicted)}
    p, raw = of.get(verdict.verdict, (math.nan, p_no_effect))
    before = raw(counted(verdict.tests))
    factor = p / before if verdict.verdict in of and before > 0 and p < 1 else claims
    return outcome.interval_at(1 - (1 - CONFIDENCE) / max(1.0, factor) / outcome.looks)


def claim_needed(tests: list[Judgement], alone: str, level: float) -> int | None:
    """Return the replicates that would decide a claim: those of its undecided sub-claims, or of all at a level of many."""
    if alone == "undecided":
        return most(test.needed for test in counted(tests) if test.verdict == "undecided")
    asked = [o for same in quantities(tests) for o in same]
    return most(o.replicates_for(level / o.looks) for o in asked if o.replicates_for)


def effects_only(claim: Claim, tests: list[Judgement], spec: StudySpec) -> Verdict:
    """Return a claim with the effects of its sub-claims, not judged: `--quick` looks whether a study works."""
    found = [replace(test, verdict=unjudged(test.verdict), readings=[blank(o) for o in test.readings]) for test in tests]
    found = [replace(test, note="", needed=None) for test in found]
    verdict = "not judged" if any(test.verdict == "not judged" for test in found) else "not testable"
    made = Verdict(claim, verdict, "", found, figure=figure_of(claim, verdict, found, spec))
    if not counted(found):
        return replace(made, sentence=reasons(found) or claim.not_testable or "The study has no test for it.")
    decisive = made.decisive
    return replace(made, sentence=f"Not judged with --quick. {decisive.decisive.sentence}" if decisive else "")


def unjudged(verdict: str) -> str:
    """Return what `--quick` says instead of a verdict."""
    return verdict if verdict == "not testable" else "not judged"


def blank(outcome: Outcome) -> Outcome:
    """Return an outcome with its effect only."""
    none = math.nan
    return replace(outcome, p_for=none, p_against=none, p_none=none, verdict=unjudged(outcome.verdict), needed=None)


def reasons(tests: list[Judgement]) -> str:
    """Return why parts of a claim are beyond a simulator."""
    return " ".join(test.criterion.not_testable for test in tests if isinstance(test.criterion, NotTestable))


def sentence_of(found: Verdict, alone: str) -> str:
    """Return the sentence on a claim: how many sub-claims have which verdict, the decisive one, and what is left out."""
    tests, decisive = counted(found.tests), found.decisive
    assert decisive is not None
    said = decisive.note or decisive.decisive.sentence
    sentence = said
    if len(tests) > 1:
        judged = f"Of {count_text(len(tests), 'test')}: {tally(tests)}"
        sentence = f"{judged}. {found.verdict.capitalize()}: {decisive.decisive.asked}. {said}"
        if found.verdict == "supported":
            every = "Both" if len(tests) == 2 else f"All {len(tests)}"
            sentence = f"{every} tests are supported. The first: {decisive.decisive.asked}. {said}"
    if found.verdict == "undecided" and alone != "undecided":
        p_value = {"supported": found.p_for, "contradicted": found.p_against}.get(alone, found.p_none)
        sentence += f" By itself the claim is {alone}; with the number of claims in this study accounted for, p = {p_value:.2g}."
    seen = decisive.decisive
    if found.verdict in ("undecided", "no effect") and seen.shows is not None and math.isfinite(seen.shows):
        sentence += (
            f" With 80 % probability, {seen.effect.n} replicates show {show(seen.shows, 2)} {seen.unit}".rstrip() + " or more."
        )
    if found.needed is not None:
        sentence += f" About {count_text(found.needed, 'replicate')} would decide."
    elif found.verdict == alone == "undecided" and not decisive.note and decisive.decisive.replicates_for:
        sentence += " More replicates would hardly decide it: the effect is too near to the bound."
    if why := reasons(found.tests):
        sentence += f" Excluded: {why}"
    return sentence


def tally(tests: Iterable[Judgement]) -> str:
    """Return how many sub-claims have which verdict, the best first."""
    words = [test.verdict for test in tests]
    return ", ".join(f"{words.count(word)} {word}" for word in reversed(VERDICTS) if word in words)


def figure_of(claim: Claim, verdict: str, tests: list[Judgement], spec: StudySpec) -> FigureName | None:
    """Return the figure that decides a claim: the one that it names, else one of the decisive test that its part draws."""
    if claim.figure:
        return claim.figure
    ranked = sorted(counted(tests), key=lambda test: test.verdict != verdict)
    for criterion in (test.criterion for test in ranked):
        drawn = [figure for figure in spec.part(criterion.part).figures if figure.kind != "series"]
        over = getattr(criterion, "over", None) or ""
        axes = (over,) if over else ("", *getattr(criterion, "at", {}))
        for metric, axis in itertools.product(criterion.metrics, axes):
            if any(metric in figure.y and (figure.x or "") == axis for figure in drawn):
                return FigureName(metric=metric, over=axis, part=criterion.part)
    return None
