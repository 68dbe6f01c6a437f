"""The runs of a search: subject and references in worlds, on all cores, each made once as long as it is remembered."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from tonopah._core import run_many
from tonopah.breaking.observed import Observed, observe
from tonopah.breaking.scenario import Setup, set_up
from tonopah.breaking.space import Space, World
from tonopah.errors import InputError, RunFailedError, ScenarioError
from tonopah.execution.options import Limits
from tonopah.execution.processes import Job, Workers
from tonopah.judge.subjects import Algorithm

MOST_EVENTS = 6_000_000
"""A run of 20 s takes a hundredth of them; one that is not over then will never be."""
PATIENCE_S = 60.0
REMEMBERED = 20_000
"""Runs that are kept; an examination takes a hundred."""


class Wanted(NamedTuple):
    """A run: a world, who is the subject in it, and the seed."""

    world: World
    cc: str
    """Label of an algorithm of the runs."""
    seed: int


class Runs:
    """Makes runs and remembers them. `made` counts those that were asked for, whoever else had asked before."""

    def __init__(self, space: Space, jobs: int):
        self.space, self.jobs = space, jobs
        self.algorithms: dict[str, Algorithm] = {}
        self.known: dict[tuple[str, str, int], Observed] = {}
        self.setups: dict[tuple[str, str], Setup | None] = {}
        self.workers: Workers | None = None
        self.made = 0

    @contextmanager
    def working(self) -> Iterator["Runs"]:
        """Have the processes that algorithms in Python need."""
        if not any(one.is_code for one in self.algorithms.values()):
            yield self
            return
        with Workers(self.jobs, PATIENCE_S) as self.workers:
            yield self

    def add(self, algorithm: Algorithm) -> str:
        """Add an algorithm and return its label."""
        label = algorithm.subject.label
        self.algorithms[label] = algorithm
        return label

    def setup(self, world: World, cc: str) -> Setup | None:
        """Return a world as a scenario with a subject; None if the engine refuses it."""
        key = (world.id, cc)
        if key not in self.setups:
            if len(self.setups) > REMEMBERED:
                self.setups.clear()
            try:
                self.setups[key] = set_up(self.space, world, self.algorithms[cc])
            except ScenarioError as error:
                if world.axes:
                    self.setups[key] = None
                else:
                    raise InputError(error.path, error.message, error.hint) from None
        return self.setups[key]

    def forget(self) -> None:
        """Forget all runs, so that they are made anew."""
        self.known.clear()

    def refuse(self, world: World) -> None:
        """Remember that the engine refuses a world."""
        for cc in self.algorithms:
            self.setups[world.id, cc] = None

    def all(self, wanted: Sequence[Wanted]) -> list[Observed | None]:
        """Return what was observed in each run; None where the engine refuses the world."""
        self.made += len(wanted)
        missing = list(dict.fromkeys(one for one in wanted if self.key(one) not in self.known and self.setup(one.world, one.cc)))
        if len(self.known) > REMEMBERED:
            kept = {self.key(one) for one in wanted}
            self.known = {key: run for key, run in self.known.items() if key in kept}
        native = [one for one in missing if not self.algorithms[one.cc].is_code]
        self.make(native, lambda jobs, done: run_many(jobs, self.jobs, done, MOST_EVENTS, None))
        apart = [one for one in missing if self.algorithms[one.cc].is_code]
        if apart:
            assert self.workers
            workers = self.workers
            origins = [dict(self.algorithms[one.cc].origins) for one in apart]
            limits = Limits(events=MOST_EVENTS)
            self.make(
                apart,
                lambda jobs, done: workers.run(
                    [Job(text, seed, origin, limits) for (text, seed), origin in zip(jobs, origins, strict=True)], done
                ),
            )
        return [self.known.get(self.key(one)) for one in wanted]

    def make(self, wanted: Sequence[Wanted], execute: Any) -> None:
        """Make runs. Raises what is the fault of neither algorithm nor world."""
        failures: list[Exception] = []

        def done(index: int, outcome: str | Exception, series: Any) -> bool:
            one = wanted[index]
            setup = self.setup(one.world, one.cc)
            try:
                if setup:
                    self.known[self.key(one)] = observe(outcome, series, setup.duration_s)
            except ScenarioError as error:
                if not one.world.axes:
                    failures.append(error)
                    return False
                self.refuse(one.world)
            except Exception as error:
                failures.append(RunFailedError(f"{error} [{self.space.text(one.world)}, {one.cc}, seed {one.seed}]"))
                return False
            return True

        jobs = []
        for one in wanted:
            setup = self.setup(one.world, one.cc)
            assert setup
            jobs.append((json.dumps(setup.scenario), one.seed))
        if jobs:
            execute(jobs, done)
        if failures:
            raise failures[0]

    @staticmethod
    def key(one: Wanted) -> tuple[str, str, int]:
        """Return what tells runs apart."""
        return one.world.id, one.cc, one.seed
