"""Whether a subject fails in a world: screening, confirmation on other seeds, and what chance would do.

A failure is *alone* if the subject fails beside every reference and *shared* if beside one at least. All decisions rest on counts
of runs with given seeds, never on time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tonopah.breaking.classes import HARM_REFERENCES, NAMES, margin, possible
from tonopah.breaking.observed import Observed
from tonopah.breaking.runs import Runs, Wanted
from tonopah.breaking.space import World
from tonopah.errors import InputError
from tonopah.judge.subjects import read_algorithm
from tonopah.stats import Share

Kind = Literal["alone", "shared"]
SCREEN = 1
STABLE_SEEDS, RARE_FIRST, RARE_SEEDS = (2, 3, 4), (2, 3, 4, 5, 6, 7), tuple(range(2, 12))
RARE_NEEDED, RARE_SCREENED = 3, 2
FRESH = {"stable": tuple(range(101, 111)), "rare": tuple(range(101, 131))}
FRESH_NEEDED = {"stable": 9, "rare": 6}
NEAR = tuple(range(201, 211))
NEAR_NEEDED = {"stable": 7, "rare": 2}
MOST_MARGIN = 99.0
"""Of what has no measure, like an exception."""
LEVEL = 0.01
"""Of the sign test: the same failure with roles exchanged is chance."""


@dataclass(frozen=True)
class Failure:
    """A subject fails in a class, in a world, with the seed of the screening."""

    name: str
    kind: Kind
    margin: float


@dataclass
class Count:
    """With which seeds a subject fails, and with which a reference does beside it."""

    seeds: tuple[int, ...]
    fails: list[int] = field(default_factory=list)
    exchanged: list[int] = field(default_factory=list)

    @property
    def by_chance(self) -> float:
        """Return the p value of the sign test: as many failures or more, if either side failed as often."""
        return sign_test(len(self.fails), len(self.exchanged))


def sign_test(fails: int, exchanged: int) -> float:
    """Return the p value of so many failures beside so many with roles exchanged; NaN of too few."""
    return Share(fails, fails + exchanged).p_greater(0.5)


class Trials:
    """Tries a subject beside references."""

    def __init__(self, runs: Runs, subject: str, references: Sequence[str], least: float = 0.0):
        self.runs, self.subject, self.references, self.least = runs, subject, tuple(references), least
        self.standards = [runs.add(read_algorithm(dict(one), "harm")) for one in HARM_REFERENCES]

    def references_of(self, name: str, world: World) -> tuple[str, ...]:
        """Return beside whom a class is judged in a world; nobody if it cannot be."""
        if name != "harm":
            return self.references
        setup = self.runs.setup(world, self.subject)
        if not setup or not setup.rival or self.subject in self.standards:
            return ()
        own = self.runs.add(read_algorithm(setup.rival, "rival"))
        return tuple(dict.fromkeys(one for one in (own, *self.standards) if one != self.subject))

    def margin_of(
        self, name: str, world: World, subject: Observed | None, reference: Observed | None, swap: bool = False
    ) -> float:
        """Return the margin by which the subject fails beside a reference; `swap`: the reference beside the subject."""
        setup = self.runs.setup(world, self.subject)
        if not setup or subject is None or reference is None:
            return -math.inf
        pair = (reference, subject) if swap else (subject, reference)
        return margin(name, setup, *pair) - self.least

    def screen(self, worlds: Sequence[World]) -> list[tuple[list[Failure], int] | None]:
        """Return, for each world, how the subject fails and the number of runs that it took; None for a world that is refused."""
        first = self.runs.all([Wanted(world, self.subject, SCREEN) for world in worlds])
        asked: list[Wanted] = []
        for world, run in zip(worlds, first, strict=True):
            names = self.possible(world, run)
            beside = dict.fromkeys(one for name in names for one in self.references_of(name, world))
            asked += [Wanted(world, one, SCREEN) for one in beside]
        found = dict(zip(asked, self.runs.all(asked), strict=True))
        answer: list[tuple[list[Failure], int] | None] = []
        for world, run in zip(worlds, first, strict=True):
            if run is None:
                answer.append(None)
                continue
            failures = []
            for name in self.possible(world, run):
                others = self.references_of(name, world)
                margins = [self.margin_of(name, world, run, found[Wanted(world, one, SCREEN)]) for one in others]
                if failure := as_failure(name, margins):
                    failures.append(failure)
            taken = 1 + sum(one.world == world for one in asked)
            answer.append((sorted(failures, key=lambda one: (-one.margin, one.name)), taken))
        return answer

    def possible(self, world: World, run: Observed | None) -> list[str]:
        """Return the classes in which the subject could fail."""
        setup = self.runs.setup(world, self.subject)
        return [name for name in NAMES if setup and run is not None and possible(name, setup, run)]

    def fails(self, world: World, name: str, kind: Kind, seeds: Sequence[int]) -> list[int]:
        """Return the seeds with which it fails in a class: beside all references, or for a shared failure beside one."""
        others = self.references_of(name, world)
        if not others or not self.runs.setup(world, self.subject):
            return []
        mine = dict(zip(seeds, self.runs.all([Wanted(world, self.subject, seed) for seed in seeds]), strict=True))
        left = [seed for seed, run in mine.items() if name in self.possible(world, run)]
        if kind == "alone":
            # A reference beside which it does not fail decides: the others need not run.
            for one in others:
                runs = self.runs.all([Wanted(world, one, seed) for seed in left])
                left = [s for s, run in zip(left, runs, strict=True) if self.margin_of(name, world, mine[s], run) >= 0]
            return left
        asked = [Wanted(world, one, seed) for seed in left for one in others]
        bad = {
            w.seed
            for w, run in zip(asked, self.runs.all(asked), strict=True)
            if self.margin_of(name, world, mine[w.seed], run) >= 0
        }
        return [seed for seed in left if seed in bad]

    def still(self, world: World, name: str, kind: Kind, how: str) -> bool:
        """Tell whether a simpler world still fails, with the seeds and the count of how it was confirmed."""
        if how == "stable":
            return bool(self.fails(world, name, kind, STABLE_SEEDS[:1])) and len(self.fails(world, name, kind, STABLE_SEEDS)) == 3
        return len(self.fails(world, name, kind, RARE_SEEDS)) >= RARE_NEEDED

    def how(self, world: World, failure: Failure) -> str:
        """Return whether a failure is stable or rare; empty if it is neither."""
        found = self.fails(world, failure.name, failure.kind, STABLE_SEEDS)
        if len(found) == len(STABLE_SEEDS):
            return "stable"
        if failure.kind == "shared" or failure.name == "harm":
            return ""
        return "rare" if len(self.fails(world, failure.name, failure.kind, RARE_FIRST)) >= RARE_SCREENED else ""

    def count(self, world: World, name: str, kind: Kind, seeds: tuple[int, ...]) -> Count:
        """Return with which seeds it fails and, of the others, with which a reference fails beside it; all references run."""
        others = self.references_of(name, world)
        mine = self.runs.all([Wanted(world, self.subject, seed) for seed in seeds])
        theirs = {one: self.runs.all([Wanted(world, one, seed) for seed in seeds]) for one in others}
        count = Count(seeds)
        for place, seed in enumerate(seeds):
            pairs = [(mine[place], runs[place]) for runs in theirs.values()]
            margins = [self.margin_of(name, world, *pair) for pair in pairs]
            failure = as_failure(name, margins)
            if failure and kind in (failure.kind, "shared"):
                count.fails.append(seed)
            elif any(self.margin_of(name, world, *pair, swap=True) >= 0 for pair in pairs):
                count.exchanged.append(seed)
        return count

    def refuse_dice(self) -> None:
        """Run the base world twice with one seed. Raises InputError if the two differ: nothing could be told of the subject."""
        wanted = Wanted(World(), self.subject, 1)
        first = self.runs.all([wanted])[0]
        self.runs.forget()
        second = self.runs.all([wanted])[0]
        assert first and second
        if first.error != second.error or first.flows != second.flows or not np.array_equal(first.bins, second.bins):
            raise InputError("SUBJECT", "not repeatable: two runs of one world with one seed differ", "draw from setup.seed")

    def near(self, world: World, name: str, kind: Kind) -> int:
        """Return in how many of ten worlds whose numbers are moved a little it fails."""
        return sum(bool(self.fails(self.runs.space.wobbled(world, seed), name, kind, [seed])) for seed in NEAR)


def as_failure(name: str, margins: Sequence[float]) -> Failure | None:
    """Return the failure that the margins beside all references show, if any."""
    bad = [one for one in margins if one >= 0]
    if not bad or (name == "harm" and len(bad) < len(margins)):
        return None
    return Failure(name, "alone" if len(bad) == len(margins) else "shared", min(MOST_MARGIN, *bad))
