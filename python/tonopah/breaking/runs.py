"""The runs of a search: subject and references in worlds, on all cores, each made once as long as it is remembered."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tonopah._core import run_many
from tonopah.breaking.observed import Observed, observe
from tonopah.breaking.scenario import Setup, set_up
from tonopah.breaking.space import Space, World
from tonopah.cc.binding import bind
from tonopah.cc.description import Provenance
from tonopah.cc.references import is_code, is_library, name_in
from tonopah.errors import InputError, RunFailedError, ScenarioError
from tonopah.execution.options import Limits
from tonopah.execution.processes import Job, Workers
from tonopah.judge.subjects import Subject, make_subject, read_subject

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


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as the engine takes it."""

    subject: Subject
    cc: Any
    origins: Mapping[str, Provenance] = field(default_factory=dict)

    @property
    def is_code(self) -> bool:
        """Tell whether it is no algorithm of the engine."""
        return bool(self.origins)


def read_algorithm(text: Any, option: str, folder: str | Path = ".") -> Algorithm:
    """Return an algorithm by what a command line or a scenario names. Raises InputError."""
    subject = read_subject(text, option, folder) if isinstance(text, str) else make_subject(text, option, folder)
    if is_code(subject.cc):
        # Named from the folder of its file, it has one name and one digest wherever it is called from.
        given, folder = from_its_folder(subject.cc, Path(folder))
        subject = make_subject(given, option, folder)
    bound = bind({"tcp": {"cc": subject.cc}}, folder)
    if homeless := [name for name, origin in bound.origins.items() if not origin.reference]:
        raise InputError(option, f"{homeless[0]} is a class of this program, which no other process has", "write it into a file")
    return Algorithm(subject, json.loads(bound.text)["tcp"]["cc"], bound.origins)


def from_its_folder(cc: Any, folder: Path) -> tuple[Any, Path]:
    """Return what names an algorithm in a file, without the way to it, and the folder of the file; others as they are."""
    key, named = name_in(cc)
    if not isinstance(named, str):
        return cc, folder
    file, colon, name = named.rpartition(":") if not is_library(named) else (named, "", "")
    path = folder / file
    if not path.is_file():
        return cc, folder
    short = f"{path.name}{colon}{name}"
    return ({**cc, key: short} if isinstance(cc, Mapping) else short), path.parent


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
                self.setups[key] = set_up(self.space, world, self.algorithms[cc].cc)
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
