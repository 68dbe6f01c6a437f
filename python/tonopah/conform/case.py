"""What a case is: a function that runs worlds and holds what they show against bounds."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tonopah.conform.observed import Observed, Stay
from tonopah.conform.words import DEVIATES, HOLDS, CaseEndedError, DeviatesError, DoesNotBindError, NotObservableError

if TYPE_CHECKING:
    from tonopah.conform.runs import Runs

Body = Callable[["Trial"], None]


@dataclass(frozen=True)
class Case:
    """A case of a specification."""

    id: str
    title: str
    """As short as a line of a terminal wants it."""
    source: str
    """Sections."""
    body: Body
    outside: Body | None = None
    """The same by packets and window alone."""
    note: str = ""


@dataclass(frozen=True)
class Spec:
    """A specification: what its cases are read from."""

    name: str
    title: str
    text_of: str
    """Which text, and its date."""
    subject: str
    """An algorithm that has what it is about."""
    reading: str = ""
    """What its cases are, where they are more than a sample of a text."""
    takes: tuple[str, ...] = ("algorithm",)
    """What it can be held against: an `algorithm`, a whole `transport` in a library, or both."""
    cases: list[Case] = field(default_factory=list)

    def case(self, id: str, title: str, source: str, outside: Body | None = None, note: str = "") -> Callable[[Body], Body]:
        """Make a function a case."""

        def add(body: Body) -> Body:
            self.cases.append(Case(id, title, source, body, outside, note))
            return body

        return add


@dataclass(frozen=True)
class Measure:
    """A number that a case read, and what it is to be."""

    name: str
    value: float
    low: float | None
    high: float | None

    @property
    def holds(self) -> bool:
        """Tell whether it lies within its bounds; NaN does not."""
        low, high = self.low if self.low is not None else -math.inf, self.high if self.high is not None else math.inf
        return low <= self.value <= high


@dataclass
class Outcome:
    """What a case gave."""

    case: Case
    verdict: str
    measures: list[Measure]
    form: str
    note: str = ""
    moment_s: float | None = None
    """Of the first deviation."""
    run: Observed | None = None
    """Where it was seen; without a deviation the last run."""
    worlds: list[dict[str, Any]] = field(default_factory=list)
    packets: list[dict[str, Any]] = field(default_factory=list)
    """Around the moment."""


class Trial:
    """A case under way: its runs and measures."""

    def __init__(self, runs: "Runs"):
        self.runs = runs
        self.measures: list[Measure] = []
        self.made: list[Observed] = []
        self.moments: list[tuple[float, Observed]] = []

    def run(self, world: dict[str, Any]) -> Observed:
        """Run a world with the subject."""
        self.made.append(self.runs.run(world))
        return self.made[-1]

    def packets(self, end: float, start: float = 0.0) -> list[dict[str, Any]]:
        """Return what the source of the last run has sent and received in a stretch of time."""
        return self.runs.packets(self.made[-1].scenario, start, end)

    def check(
        self, name: str, value: float, low: float | None = None, high: float | None = None, at: float | None = None
    ) -> None:
        """Hold a number of the last run against bounds; `at` is when it shows."""
        measure = Measure(name, float(value), low, high)
        self.measures.append(measure)
        if not measure.holds and at is not None and math.isfinite(at):
            self.moments.append((float(at), self.made[-1]))

    def near(self, name: str, value: float, wanted: float, share: float, at: float | None = None) -> None:
        """Hold a number against one, within a share of it."""
        self.check(name, value, wanted * (1 - share), wanted * (1 + share), at)

    def binds(self, condition: bool, otherwise: str) -> None:
        """Raise DoesNotBindError unless the world brought about what the case is about."""
        if not condition:
            raise DoesNotBindError(otherwise)

    def stay(self, run: Observed, word: str, number: int = 0, after: float = -math.inf) -> Stay:
        """Return the stay `number` in a state that begins after a time. Raises DoesNotBindError if there is none."""
        found = [stay for stay in run.stays if stay.word == word and stay.begin > after]
        self.binds(len(found) > number, f"{word} is entered {len(found)} times, {number + 1} are needed")
        return found[number]

    def must_stay(self, run: Observed, word: str, number: int = 0, after: float = -math.inf) -> Stay:
        """As `stay` of a state that the case is about: without it, it deviates."""
        try:
            return self.stay(run, word, number, after)
        except DoesNotBindError as error:
            raise DeviatesError(str(error)) from None

    def follows(self, run: Observed, stay: Stay, words: tuple[str, ...]) -> None:
        """Hold the state that follows a stay against those allowed."""
        place = run.stays.index(stay) + 1
        after = run.stays[place].word if place < len(run.stays) else "the end"
        name = f"{stay.word}_then_{'_or_'.join(words).replace(' ', '_')}"
        self.check(name, float(after in words), 1, 1, stay.end if math.isfinite(stay.end) else stay.begin)


def judge(case: Case, runs: "Runs") -> Outcome:
    """Try a case, from inside if the subject shows what it reads, else from outside where that is possible."""
    trial = Trial(runs)
    note = ""
    try:
        try:
            case.body(trial)
        except NotObservableError:
            if case.outside is None:
                raise
            trial = Trial(runs)
            case.outside(trial)
        verdict = HOLDS if all(measure.holds for measure in trial.measures) else DEVIATES
    except CaseEndedError as error:
        deviated = any(not measure.holds for measure in trial.measures)
        verdict, note = DEVIATES if deviated else error.verdict, str(error)
    form = "internals" if any(run.reads_internals for run in trial.made) else "outside"
    moment, seen = min(trial.moments, key=lambda one: one[0]) if trial.moments else (None, trial.made[-1] if trial.made else None)
    worlds = [dict(run.scenario) for run in trial.made]
    return Outcome(case, verdict, trial.measures, form, note, moment, seen, worlds)
