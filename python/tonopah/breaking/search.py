"""The search: worlds one after another, what fails is confirmed, shrunk, and confirmed on fresh seeds."""

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from tonopah.breaking.runs import Runs
from tonopah.breaking.space import Space, World
from tonopah.breaking.trial import (
    FRESH,
    FRESH_NEEDED,
    LEVEL,
    NEAR_NEEDED,
    Failure,
    Kind,
    Trials,
)
from tonopah.errors import RunFailedError

AHEAD = 16
"""Worlds that are screened together, whatever the number of jobs: so the same runs decide everywhere."""
SHARED_RUNS = 0.2
"""Shared failures take at most this share of all runs; one that comes too early is dropped."""
MANY = 5
"""So many findings of a class with one axis each are one weakness, which is told once."""
ERRORS_IN_A_ROW = 20


@dataclass
class Finding:
    """A failure that was confirmed, in a world from which nothing can be taken away."""

    name: str
    kind: Kind
    how: str
    """stable or rare."""
    world: str
    origin: int
    """Number of the world in which it was found; -1 is the base world."""
    origin_world: str
    margin: float
    fails: list[int]
    exchanged: list[int]
    seeds: list[int]
    near: int
    trials: int
    edge: bool = False
    explains: int = 0
    """Worlds that fail no more without what it needs."""

    @property
    def where(self) -> World:
        """Its world."""
        return World.of(self.world)


@dataclass
class State:
    """Where a search stands: written after every finding, and now and then."""

    next_world: int = -1
    findings: list[Finding] = field(default_factory=list)
    refused: int = 0
    runs: int = 0
    shared_runs: int = 0
    explained: int = 0
    not_confirmed: int = 0
    dropped: int = 0
    errors_in_a_row: int = 0
    error: str = ""
    """What the last run of the subject that raised said."""

    @property
    def worlds(self) -> int:
        """Worlds that were tried, the base world among them."""
        return self.next_world + 1

    def as_json(self) -> dict[str, Any]:
        """Return it for a file."""
        return asdict(self)

    @classmethod
    def of(cls, stored: dict[str, Any]) -> "State":
        """Return what a file holds."""
        return cls(**{**stored, "findings": [Finding(**one) for one in stored["findings"]]})


class Search:
    """Searches worlds until there are enough, or time is up."""

    def __init__(self, trials: Trials, seed: int, most: int, only: tuple[str, ...], state: State | None = None):
        self.trials, self.seed, self.most, self.only = trials, seed, most, only
        self.state = state or State()
        self.space: Space = trials.runs.space

    def run(self, worlds: int | None, over: Callable[[], bool], on_change: Callable[[State, bool], None]) -> bool:
        """Search until `worlds` have been tried or `over()`; return whether it came to its end.

        `on_change` gets the state after each world, and whether a finding is new.
        """
        state = self.state
        while worlds is None or state.next_world < worlds:
            last = state.next_world + AHEAD if worlds is None else min(worlds, state.next_world + AHEAD)
            batch = list(range(state.next_world, last))
            tried = [self.world(number) for number in batch]
            screened = self.trials.screen(tried)
            for number, world, found in zip(batch, tried, screened, strict=True):
                if over():
                    return False
                before = len(state.findings)
                self.take(number, world, found)
                state.next_world = number + 1
                on_change(state, len(state.findings) > before)
        return True

    def world(self, number: int) -> World:
        """Return a world by its number; the base world comes first."""
        return World() if number < 0 else self.space.world(self.seed, number)

    def take(self, number: int, world: World, found: tuple[list[Failure], int] | None) -> None:
        """Examine what fails in a world, the harshest class first."""
        state = self.state
        if found is None:
            state.refused += 1
            return
        failures, taken = found
        state.runs += taken
        raised = any(one.name == "error" for one in failures)
        state.errors_in_a_row = state.errors_in_a_row + 1 if raised else 0
        for failure in failures:
            if not self.only or failure.name in self.only:
                self.examine(number, world, failure)
        if state.errors_in_a_row >= ERRORS_IN_A_ROW:
            raise RunFailedError(f"the last {ERRORS_IN_A_ROW} worlds ended in an error of the algorithm; the findings say which")

    def examine(self, number: int, world: World, failure: Failure) -> None:
        """Confirm a failure and shrink its world, unless a finding explains it."""
        state, before = self.state, self.trials.runs.made
        if self.is_full(failure):
            return
        if failure.kind == "shared" and state.shared_runs > SHARED_RUNS * state.runs:
            state.dropped += 1
            return
        try:
            self.confirm(number, world, failure)
        finally:
            spent = self.trials.runs.made - before
            state.runs += spent
            state.shared_runs += spent if failure.kind == "shared" else 0

    def is_full(self, failure: Failure) -> bool:
        """Tell whether there are as many findings of a class and kind as are wanted; many with one axis count once."""
        found = [one for one in self.state.findings if (one.name, one.kind) == (failure.name, failure.kind) and not one.edge]
        single = sum(len(one.where.axes) <= 1 for one in found)
        return len(found) - (single - 1 if single >= MANY else 0) >= self.most

    def confirm(self, number: int, origin: World, failure: Failure) -> None:
        """Do it."""
        state, trials, name, kind = self.state, self.trials, failure.name, failure.kind
        world = self.unexplained(origin, failure)
        if world is None:
            return
        how = trials.how(world, failure)
        if not how:
            state.not_confirmed += 1
            return
        world, tried = self.shrink(world, name, kind, how)
        if same := next((one for one in self.of(failure) if one.where.shape == world.shape), None):
            same.explains += 1
            state.explained += 1
            return
        count = trials.count(world, name, kind, FRESH[how])
        if len(count.fails) < FRESH_NEEDED[how] or count.by_chance > LEVEL:
            state.not_confirmed += 1
            return
        near = trials.near(world, name, kind)
        finding = Finding(
            name,
            kind,
            how,
            world.id,
            number,
            origin.id,
            failure.margin,
            count.fails,
            count.exchanged,
            list(count.seeds),
            near,
            tried,
        )
        finding.edge = near < NEAR_NEEDED[how]
        state.findings.append(finding)

    def of(self, failure: Failure) -> list[Finding]:
        """Return the findings of the class and kind of a failure."""
        return [one for one in self.state.findings if (one.name, one.kind) == (failure.name, failure.kind)]

    def unexplained(self, world: World, failure: Failure) -> World | None:
        """Return the world without what findings need that it has; None if it fails no more, and so is explained."""
        for finding in self.of(failure):
            axes = finding.where.axes
            if not set(axes) <= set(world.axes):
                continue
            rest = self.allowed(world.without(*axes)) if axes else None
            if rest is None or not self.trials.fails(rest, failure.name, failure.kind, [1]):
                finding.explains += 1
                self.state.explained += 1
                return None
            world = rest
        return world

    def allowed(self, world: World) -> World:
        """Return a world without axes whose companion is missing."""
        known = set(world.axes)
        return world.without(*(name for name in world.axes if not self.space.has_company(name, known)))

    def shrink(self, world: World, name: str, kind: Kind, how: str) -> tuple[World, int]:
        """Return a world of which no simpler one fails, and how many were tried. The first simpler one that fails is taken."""
        tried, refuted = 0, set[str]()
        while True:
            for simpler in self.space.simpler(world):
                if simpler.id in refuted:
                    continue
                tried += 1
                if self.trials.still(simpler, name, kind, how):
                    world = simpler
                    break
                refuted.add(simpler.id)
            else:
                return world, tried


class Clock:
    """Tells when a budget of wall time, or of the CPU time of all workers, is used up."""

    def __init__(self, budget_s: float | None, runs: Runs, cpu: bool = False):
        self.budget_s, self.runs, self.cpu = budget_s, runs, cpu
        self.started = self.now()

    def now(self) -> float:
        """Return the time that counts, in seconds."""
        if not self.cpu:
            return time.monotonic()
        # Of this process and of its children that have ended, and of the workers, which have not.
        return sum(os.times()[:4]) + (self.runs.workers.cpu_s if self.runs.workers else 0.0)

    @property
    def elapsed_s(self) -> float:
        """Time since it was started."""
        return self.now() - self.started

    def over(self) -> bool:
        """Tell whether the budget is used up."""
        return self.budget_s is not None and self.elapsed_s >= self.budget_s
