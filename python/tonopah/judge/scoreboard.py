"""The scoreboard: for each criterion what was found, and the word that follows by rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tonopah.judge import bounds, words
from tonopah.judge.definitions import Criterion
from tonopah.judge.effects import Effect, average
from tonopah.judge.findings import Finding, of_term
from tonopah.judge.harm import harm_findings, starving, victims
from tonopah.judge.metrics import label
from tonopah.judge.often import Often, possible, sure
from tonopah.judge.study import Place, Results
from tonopah.judge.subjects import Cast
from tonopah.stats import or_none

YIELDS = 0.35
"""Below this share of its fair share the subject yields."""


@dataclass
class Row:
    """A line of the scoreboard, and what stands behind it."""

    criterion: Criterion
    word: str = "not tested"
    second_word: str = ""
    reason: str = ""
    findings: list[Finding] = field(default_factory=list)
    """Of every metric that has a word, at every place."""
    secondary: list[Finding] = field(default_factory=list)
    decides: Finding | None = None
    """That from which the word follows, or which stands in its way."""
    starved: list[Often] = field(default_factory=list)
    limits: list[bounds.BoundLine] = field(default_factory=list)
    runs: int = 0

    @property
    def colour(self) -> str:
        """Colour of its word."""
        return words.colour(self.word)

    @property
    def is_undecided(self) -> bool:
        """Tell whether its findings say nothing yet, so that more replicates could help."""
        return bool(self.findings) and self.word == "unclear"

    @property
    def primary(self) -> Effect | None:
        """The effect that decides."""
        return self.decides.shown if self.decides else None

    @property
    def n(self) -> int:
        """Replicates that its effect rests on."""
        return self.primary.estimate.n if self.primary else 0

    @property
    def suspects(self) -> list[Finding]:
        """What the first set says is worse by its margin, the largest excess first."""
        return sorted((one for one in self.findings if one.suspicious), key=lambda one: -one.excess(one.first))

    @property
    def candidate(self) -> Finding | None:
        """What the second set is asked: the surest of what is worse, or else of what is better."""
        if suspects := self.suspects:
            return max(suspects, key=lambda one: one.sure_excess)
        return min((one for one in self.findings if one.promising), key=lambda one: one.sure_excess, default=None)

    @property
    def unsettled(self) -> list[str]:
        """Places whose runs have not settled at the longest length."""
        return list(dict.fromkeys(one.where for one in self.findings if not one.settled))


def judge(criteria: Sequence[Criterion], results: Results, cast: Cast, family: int) -> list[Row]:
    """Return the rows of the scoreboard, in the order of the criteria; `family` is the number of questions that are asked."""
    rows = [read_row(criterion, results, cast, family) for criterion in criteria]
    for row in rows:
        decide(row, results, cast)
    for row in (row for row in rows if row.criterion.rule == "roll_up"):
        below = [other for other in rows if other.criterion.id in row.criterion.of]
        row.word = words.worst_word([other.word for other in below])
        row.reason = ", ".join(f"{other.criterion.id} {other.word}" for other in below)
    return rows


def read_row(criterion: Criterion, results: Results, cast: Cast, family: int) -> Row:
    """Return a row with its findings, before the words."""
    row = Row(criterion, reason=criterion.gap)
    row.runs = sum(len(place.table) for name in criterion.experiments for place in results.at(name))
    row.findings = [found for term in criterion.terms for found in of_term(term, results, family)]
    row.secondary = [found for term in criterion.secondary for found in of_term(term, results, family)]
    if criterion.harm:
        row.findings += harm_findings(criterion.harm, results, cast, family)
        found = starving(criterion.harm, results, cast)
        row.starved = sure(found) or possible(found)
    if criterion.bound:
        row.limits = bounds.lines(criterion.bound, results)
    return row


def wanted_again(row: Row, count: int) -> Mapping[tuple[str, str], int]:
    """Return the points that the second set of seeds is drawn at, and how often, for the word of a row.

    Twice as often where something is said to be worse or better, which that set alone decides; else, where nothing differs,
    wherever the row looks.
    """
    found: dict[tuple[str, str], int] = {}
    candidate = row.candidate
    if candidate is None or not candidate.suspicious:
        found |= {(one.place.experiment, one.place.label): count for one in row.findings if one.settled}
    if candidate:
        found[candidate.place.experiment, candidate.place.label] = 2 * count
    places = [(one.experiment, one.point) for one in row.starved]
    places += [(line.experiment, line.point.removesuffix(", beside the baseline")) for line in row.limits if not line.kept]
    return found | dict.fromkeys(places, 2 * count)


def wanted_everywhere(row: Row, count: int) -> Mapping[tuple[str, str], int]:
    """Return the points that a row looks at, with so many replicates of the second set."""
    return {(one.place.experiment, one.place.label): count for one in row.findings if one.settled}


def decide(row: Row, results: Results, cast: Cast) -> None:
    """Set the words of a row: the first rule that holds."""
    rule = row.criterion.rule
    if rule == "marks" and not cast.subject.takes_marks:
        row.word, row.reason = "not applicable", f"{cast.subject.label} asks for no explicit signals"
    elif rule in ("measured", "marks"):
        row.word = measured_word(row, cast)
        row.second_word = second_word(row.criterion, results)
    else:
        row.word = words.UNJUDGED.get(rule, row.word)


def measured_word(row: Row, cast: Cast) -> str:
    """Return the word of a criterion that was measured, and set what decides it."""
    candidate = row.candidate
    row.decides = candidate or max(row.findings, key=lambda one: one.excess(one.both), default=None)
    if row.starved:
        return "starves others" if row.starved[0].is_sure else "may starve"
    if candidate and candidate.suspicious and candidate.is_worse:
        return candidate.word
    if not all(line.kept for line in row.limits):
        return "worse" if row.criterion.bound == "receivers" else "out of bounds"
    if not row.findings:
        return "within bounds" if row.limits else "not tested"
    return undecided_word(row, candidate, cast)


def undecided_word(row: Row, candidate: Finding | None, cast: Cast) -> str:
    """Return the word of a row in which nothing is surely worse."""
    settled = [one for one in row.findings if one.settled]
    if 2 * len(settled) < len(row.findings):
        row.decides = max(row.findings, key=lambda one: one.excess(one.both))
        return "not converged"
    if candidate and candidate.suspicious:
        row.reason = f"the second set of seeds does not confirm what the first says. {row.reason}".strip()
        return "unclear"
    if all(one.is_like for one in settled):
        row.decides = max(settled, key=lambda one: abs(one.excess(one.against_baseline))).beside_baseline()
        return "within bounds" if row.limits and row.criterion.bound != "receivers" else f"like {cast.baseline.name}"
    doubtful = [one for one in settled if not one.is_no_worse]
    if not doubtful:
        if candidate and candidate.is_better:
            return "gentler" if candidate.metric == "left" or candidate.of else "better"
        row.decides = candidate or max(settled, key=lambda one: one.excess(one.both))
        return "no worse"
    row.decides = max(doubtful, key=lambda one: one.excess(one.both))
    return "unclear"


def second_word(criterion: Criterion, results: Results) -> str:
    """Return what happens to the subject itself beside others."""
    harm = criterion.harm
    pairs: list[tuple[Place, str]] = [
        (place, victim.subject)
        for place, victim in (victims(harm, results) if harm else ())
        if victim.group == "y" and place.metric(victim.subject, "x_fair_share")
    ]
    if not pairs:
        return ""
    starved = [sum(values) > len(values) / 2 for place, arm in pairs if (values := place.metric(arm, "x_starved").values())]
    if sum(starved) > len(starved) / 2:
        return "is starved"
    return "yields" if average([place.mean(arm, "x_fair_share") for place, arm in pairs]) < YIELDS else ""


def by_setting(rows: Sequence[Row], cast: Cast) -> dict[str, dict[str, str]]:
    """Return the table of criteria and scenarios: the worst word of each in each setting where it was measured."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        for one in row.findings:
            word = one.word if one is row.decides and row.word == one.word else quick_word(one, cast)
            name = f"{row.criterion.id} {row.criterion.name}"
            cell = found.setdefault(name, {})
            setting = one.place.point.experiment.setting
            cell[setting] = words.worst_word([word, cell[setting]]) if setting in cell else word
    return found


def quick_word(one: Finding, cast: Cast) -> str:
    """Return the word of one finding alone."""
    if not one.settled:
        return "not converged"
    if one.suspicious:
        return one.word if one.is_worse else "unclear"
    return f"like {cast.baseline.name}" if one.is_like else "no worse" if one.is_no_worse else "unclear"


def row_facts(row: Row) -> dict[str, Any]:
    """Return a row for programs."""
    criterion = row.criterion
    return {
        "id": criterion.id,
        "section": criterion.section,
        "level": criterion.level,
        "name": criterion.name,
        "verdict": row.word,
        "second_word": row.second_word or None,
        "primary": finding_facts(row.decides) if row.decides else None,
        "also": [finding_facts(one) for one in row.suspects if one is not row.decides],
        "starved": [
            {
                "victim": one.of,
                "place": one.place,
                "count": one.count,
                "runs": one.runs,
                "low": one.bounds[0],
                "high": one.bounds[1],
            }
            for one in row.starved
        ],
        "not_converged": row.unsettled,
        "secondary": [finding_facts(one) for one in row.secondary],
        "bound": [line_facts(line) for line in row.limits] or None,
        "experiments": criterion.experiments,
        "gap": row.reason or None,
        "runs": row.runs,
    }


def line_facts(line: bounds.BoundLine) -> dict[str, Any]:
    """Return a bound for programs."""
    facts = {key: value for key, value in vars(line).items() if key != "often"}
    broken = {"broken_in": line.often.count, "runs": line.often.runs} if line.often else {}
    return {**facts, "value": or_none(line.value), "baseline": or_none(line.baseline), **broken}


def finding_facts(one: Finding) -> dict[str, Any]:
    """Return a finding for programs: what decides, and the first set beside it."""
    shown, known = one.shown, label(one.metric)
    found, first = shown.estimate, one.first
    return {
        "metric": one.metric,
        "of": one.of or None,
        "experiment": one.place.experiment,
        "point": one.place.label,
        "kind": shown.kind,
        "unit": known.unit,
        "value_subject": or_none(shown.subject * known.factor),
        "value_reference": or_none(shown.baseline * known.factor),
        "effect": or_none(found.value),
        "low": or_none(found.low),
        "high": or_none(found.high),
        "p": or_none(shown.p),
        "margin": shown.margin,
        "least": one.least or None,
        "n": found.n,
        "first_set": {"effect": or_none(first.estimate.value), "n": first.estimate.n},
        "converged": one.settled,
    }


def finding_table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return what is found of every metric at every place, for programs."""
    return [{"criterion": row.criterion.id, **finding_facts(one)} for row in rows for one in row.findings]
