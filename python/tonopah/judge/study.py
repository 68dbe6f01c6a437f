"""Studies made in memory: an experiment is a part, an arm a variant, a point a sweep, a criterion a claim.

Replicate k has a world of its own, which all arms of a point share, and a seed for each point, so that what an algorithm draws
itself is drawn anew at each. The id of a run does not depend on who is the subject, so that the runs of the baselines serve every
report that uses the same folder, and equal arms are run once.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING, Any

from tonopah._core import engine_version
from tonopah.analysis.tables import KEYS, frame, key_columns, reading, sample_at
from tonopah.digest import digest
from tonopah.execution.machine import machine
from tonopah.execution.options import ExecutionOptions
from tonopah.execution.progress import show_progress
from tonopah.judge.definitions import Experiment, Point, shown
from tonopah.judge.effects import MARGINS
from tonopah.judge.length import first_length_s, has_settled, next_length_s, of_length
from tonopah.judge.metrics import Values, measure
from tonopah.judge.subjects import Casting
from tonopah.judge.traces import traces_of
from tonopah.judge.workload import Draws
from tonopah.judge.worlds import build, seconds
from tonopah.scenario.document import to_toml
from tonopah.spec.claim import Claim
from tonopah.spec.model import Drawn, Part, StudySpec
from tonopah.spec.plan import LARGE_PLAN, Known, Plan, count_points, make_plan
from tonopah.spec.schema import Sweep, Variant
from tonopah.store.store import Store
from tonopah.study import sources_of_runs
from tonopah.study.study import Study

if TYPE_CHECKING:
    import pandas as pd

NOT_IN_DRAWS = ("flows", "other")
"""Axes that do not change the draws: the first flow of a world has the same whoever is beside it."""


SEED_BITS = 32
"""A seed is the replicate, and so many bits that belong to the point."""


def seed_of(experiment: Experiment, point: Point, replicate: int) -> int:
    """Return the seed of a replicate at a point, of which no other point has the same."""
    name = f"{experiment.draws or experiment.id}/{point.axes!r}"
    return (replicate << SEED_BITS) + int(digest(name)[: SEED_BITS // 4], 16)


def replicate_of(seed: int) -> int:
    """Return the replicate that a seed belongs to; a smaller one is the replicate itself."""
    return seed >> SEED_BITS or seed


def axes_of(point: Point) -> dict[str, Any]:
    """Return the axes of a point as tables hold them: numbers, and everything else as text."""
    return {axis: value if isinstance(value, int | float) else shown(value) for axis, value in point.axes}


@dataclass
class ExperimentWorlds:
    """The worlds of an experiment, by point."""

    experiment: Experiment
    points: Mapping[str, Point]
    casting: Casting
    apart: int = 0
    """Added to the replicate of the subject: draws of its own."""
    first: int = 1
    """Of the replicates: with another one all draws are others."""
    lengths: dict[tuple[str, str], float] = field(default_factory=dict)
    """How long the runs of points and arms are that settle, in seconds."""
    everywhere: int = 0
    """Replicates of the first set, which every point has; 0 for all that there are."""
    again: dict[str, int] = field(default_factory=dict)
    """Replicates of points that are drawn beyond the first set."""

    def which(self, label: str, values: Mapping[str, Any], replicate: int) -> Hashable | None:
        """Return what tells the world of an arm at a point from all others; None where the arm is not run."""
        key = repr(dict(values))
        if self.everywhere and replicate > self.everywhere + self.again.get(key, 0):
            return None
        if self.casting.algorithms(label, self.points[key]) is None:
            return None
        return label, key, replicate, self.first, self.length_s(key, label)

    def __call__(self, label: str, values: Mapping[str, Any], replicate: int) -> Drawn:
        """Return the world of an arm at a point where it is run."""
        key = repr(dict(values))
        point, turn = self.points[key], replicate + self.first - 1 + (self.apart if label.startswith("S") else 0)
        algorithms = self.casting.algorithms(label, point)
        assert algorithms is not None
        axes = "/".join(f"{axis}={value!r}" for axis, value in point.axes if axis not in NOT_IN_DRAWS)
        world = of_length(point.world, self.length_s(key, label)) if point.world.settles else point.world
        built = build(world, algorithms, Draws(f"{self.experiment.draws or self.experiment.id}/{axes}/{turn}"))
        traces = tuple(traces_of(world, built))
        if series := sorted({name for trace in traces for name in trace.needs} | set(self.experiment.series)):
            built.scenario["record"] = {**built.scenario.get("record", {}), "series": series, "every": world.sample}
        read = partial(measure, built, warmup_s=seconds(world.warmup))
        seed = seed_of(self.experiment, point, turn)
        return Drawn(built.scenario, seed, read, traces, bool(self.experiment.series) and turn == self.first)

    def length_s(self, key: str, label: str) -> float:
        """Return how long the runs of an arm at a point are."""
        return self.lengths.get((key, label)) or first_length_s(self.points[key].world)


def make_part(experiment: Experiment, points: Sequence[Point], casting: Casting, replicates: int, apart: int = 0) -> Part:
    """Return an experiment as a part of a study."""
    by_axes = {repr(axes_of(point)): point for point in points}
    return Part(
        id=experiment.id,
        title=experiment.title,
        baseline=experiment.arms[0],
        replicates=min(replicates, experiment.most or replicates),
        scenario={},
        variants=[Variant(label=arm, set={}) for arm in experiment.arms],
        # Axes of experiments are no paths in a scenario.
        sweeps=[Sweep.model_construct(vary={axis: [value] for axis, value in axes_of(point).items()}) for point in points],
        worlds=ExperimentWorlds(experiment, by_axes, casting, apart),
    )


@dataclass(frozen=True)
class Place:
    """A point of an experiment and what was measured there."""

    point: Point
    table: "pd.DataFrame"
    """A row for each arm and replicate."""
    apart: int = 0

    @property
    def experiment(self) -> str:
        """Id of the experiment."""
        return self.point.experiment.id

    @property
    def label(self) -> str:
        """The axes in words."""
        return self.point.label

    @property
    def arms(self) -> list[str]:
        """The arms that were run here."""
        return list(dict.fromkeys(self.table["algorithm"])) if len(self.table) else []

    def metric(self, arm: str, name: str) -> dict[int, float]:
        """Return a metric of an arm by replicate."""
        found, apart = sample_at(self.table, name, arm, {}), self.apart if arm.startswith("S") else 0
        both = zip(found.seeds.tolist(), found.values.tolist(), strict=True)
        return {replicate_of(seed) - apart: value for seed, value in both if not math.isnan(value)}

    def has_settled(self, arm: str) -> bool:
        """Tell whether the runs of an arm are long enough to tell of the long run, as far as they are to (length.py)."""
        if not self.point.world.settles or not (counts := self.metric(arm, "epochs")):
            return True
        halves = (self.metric(arm, name) for name in ("share_1", "share_2"))
        first, second = ([one[k] for k in sorted(one)] for one in halves)
        return has_settled(list(counts.values()), first, second, MARGINS["x_share"])

    def next_length_s(self, arms: Sequence[str], length_s: float) -> float | None:
        """Return how long the runs of arms are to be that have this length; None if that will do, or no longer one is allowed."""
        counts = [median_high(self.metric(arm, "epochs").values()) for arm in arms if not self.has_settled(arm)]
        return next_length_s(self.point.world, length_s, min(counts)) if counts else None

    def mean(self, arm: str, name: str) -> float:
        """Return the mean of a metric over replicates; NaN if there is none."""
        import numpy as np

        found = list(self.metric(arm, name).values())
        return float(np.mean(found)) if found else math.nan


@dataclass(frozen=True)
class Results:
    """What was measured, by experiment and point."""

    places: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    looks: int = 1
    """How often the data may be looked at before more replicates are added."""
    first: int = 0
    """Replicates of the first set; those beyond are drawn after it, to confirm what it says."""
    scale: float = 1.0
    """Of all margins."""

    def at(self, experiment: str, where: Mapping[str, list[Any]] | None = None) -> list[Place]:
        """Return the points of an experiment that have these values of axes."""
        return [one for one in self.places.get(experiment, ()) if one.point.matches(where or {})]


def worlds_of(part: Part) -> ExperimentWorlds:
    """Return the worlds of a part that is an experiment."""
    assert isinstance(part.worlds, ExperimentWorlds)
    return part.worlds


def placed(parts: Sequence[Part], tables: "Mapping[str, pd.DataFrame]", looks: int = 1) -> Results:
    """Return the results of experiments from the tables of their runs."""
    found = {}
    for part in parts:
        worlds, table, of_points = worlds_of(part), tables[part.id], []
        for point in worlds.points.values():
            here = table
            for axis, value in axes_of(point).items():
                here = here[[one == value or str(one) == str(value) for one in here[axis].tolist()]] if len(here) else here
            of_points.append(Place(point, here, worlds.apart))
        found[part.id] = of_points
    return Results(found, looks)


class JudgedStudy(Study):
    """A study that a command makes: its runs are in `folder`, its report in `out`."""

    kind = "evaluate"
    """The command that makes it."""
    command = ""
    looks = 1
    seeds = 1
    """The first of the replicates, which have this number and those that follow."""
    arms_compared = True
    """Whether the arms of a point are compared with one another, and so have one length."""

    def __init__(self, name: str, parts: list[Part], claims: Sequence[Claim], out: Path, store: str | Path | None):
        self._begin(name, StudySpec("", name, parts, list(claims)), {}, name)
        self.out, self.folder, self.home = out, Path(store) if store else out, Path()
        self.quiet = True
        self._known: Known = {}
        self._read: dict[tuple[str, ...], Values] = {}

    @property
    def plan(self) -> Plan:
        """All runs, checked by the engine. Raises InputError."""
        if self._plan is None:
            count = count_points(self.spec)
            with show_progress(count, 0, self.quiet or count < LARGE_PLAN, "worlds") as on_point:
                self._plan = make_plan(self.spec, self.home, on_point, self._known)
        return self._plan

    def draw_from(self, first: int) -> None:
        """Let the replicates be those from `first` on: another set of draws."""
        self.seeds, self._plan = first, None
        for part in self.spec.parts:
            worlds_of(part).first = first

    def carry_out(self, options: ExecutionOptions, quiet: bool = False) -> int:
        """Run what the folder lacks, longer where runs have not settled, and return how many runs that were.

        A shard, which does not see all runs, is of the first lengths. Raises as `Study.run`.
        """
        self.quiet = quiet
        with self.writing(options):
            done = self.run(out=self.folder, quiet=quiet, options=options)
            while not options.shard and self.lengthen():
                self._plan = None
                done += self.run(out=self.folder, quiet=quiet, options=options)
        return done

    def lengthen(self) -> bool:
        """Give the runs that have not settled their next length; tell whether there are any."""
        parts = [part for part in self.spec.parts if any(point.world.settles for point in worlds_of(part).points.values())]
        found, results = False, self.measured() if parts else Results()
        for part in parts:
            worlds = worlds_of(part)
            for key, place in zip(worlds.points, results.at(part.id), strict=True):
                for arms in filter(None, [place.arms] if self.arms_compared else [[arm] for arm in place.arms]):
                    if length_s := place.next_length_s(arms, worlds.length_s(key, arms[0])):
                        worlds.lengths |= dict.fromkeys([(key, arm) for arm in arms], length_s)
                        found = True
        return found

    def remember(self, store: Store) -> None:
        """Store what the folder is of, which is no study file: how it was asked for, and who was judged."""
        facts = {"subject": self.name, "engine": engine_version(), "seeds": self.seeds, "kind": self.kind}
        asked = {"command": self.command, "home": str(Path().resolve())}
        algorithms = {name: {"digest": one.digest, "description": one.description} for name, one in self.plan.algorithms.items()}
        store.remember("evaluation", facts | asked | {"algorithms": algorithms})
        store.remember("machine", machine())
        sources_of_runs.remember(store, self.plan.algorithms, Path())

    def counted(self) -> tuple[int, int]:
        """Return how many runs there are, and how many are not stored. Raises InputError where nothing is."""
        return len(self.plan.runs), self.missing()

    def tables_of_runs(self) -> "dict[str, pd.DataFrame]":
        """Return the metrics of all stored runs, by experiment: a row for each arm and replicate. Each run is read once."""
        keys = ["part", *KEYS]
        planned = {part: {(part, *key): run for key, run in made.runs.items()} for part, made in self.plan.parts.items()}
        new = {key: run for runs in planned.values() for key, run in runs.items() if key not in self._read}
        with Store(self.folder, create=False) as store:
            found = {run.id: summary for run, summary in store.summaries({run.id: run for run in new.values()})}
            for key, run in new.items():
                if run.read and run.id in found:
                    with reading(run, store):
                        self._read[key] = run.read(found[run.id])
        return {
            part: frame([{**key_columns(run, part), **self._read[key]} for key, run in runs.items() if key in self._read], keys)
            for part, runs in planned.items()
        }

    def measured(self) -> Results:
        """Return the metrics of the stored runs."""
        return placed(self.spec.parts, self.tables_of_runs(), self.looks)

    def example(self, experiment: str) -> str:
        """Return the scenario of the first run of an experiment, as TOML."""
        part = self.spec.part(experiment)
        assert part.worlds
        first = {axis: values[0] for axis, values in part.sweeps[0].vary.items()}
        drawn = next(drawn for label in part.labels if (drawn := part.worlds(label, first, 1)))
        return to_toml(drawn.scenario)
