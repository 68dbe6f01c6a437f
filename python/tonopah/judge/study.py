"""Studies made in memory: an experiment is a part, an arm a variant, a point a sweep, a criterion a claim.

Replicate k has seed k and a world of its own, which all arms of a point share. The id of a run does not depend on who is the
subject, so that the runs of the baselines serve every report that uses the same folder, and equal arms are run once.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah._core import engine_version
from tonopah.analysis.tables import part_tables, sample_at
from tonopah.execution.options import ExecutionOptions
from tonopah.execution.progress import show_progress
from tonopah.judge.definitions import Experiment, Point, Term, shown
from tonopah.judge.effects import compared, mean_of_terms
from tonopah.judge.metrics import measure
from tonopah.judge.subjects import Casting
from tonopah.judge.traces import traces_of
from tonopah.judge.workload import Draws
from tonopah.judge.worlds import build, seconds
from tonopah.scenario.document import to_toml
from tonopah.spec.claim import Claim
from tonopah.spec.model import Drawn, Part, StudySpec
from tonopah.spec.plan import Plan, make_plan
from tonopah.spec.schema import Sweep, Variant
from tonopah.store.store import Store
from tonopah.study.study import Study

if TYPE_CHECKING:
    import pandas as pd

NOT_IN_DRAWS = ("flows", "other")
"""Axes that do not change the draws: the first flow of a world has the same whoever is beside it."""


def axes_of(point: Point) -> dict[str, Any]:
    """Return the axes of a point as tables hold them: numbers, and everything else as text."""
    return {axis: value if isinstance(value, int | float) else shown(value) for axis, value in point.axes}


@dataclass(frozen=True)
class ExperimentWorlds:
    """The worlds of an experiment, by point."""

    experiment: Experiment
    points: Mapping[str, Point]
    casting: Casting
    apart: int = 0
    """Added to the seeds of the subject: draws of its own."""

    def __call__(self, label: str, values: Mapping[str, Any], replicate: int) -> Drawn | None:
        """Return the world of an arm at a point; None where the arm is not run."""
        point, seed = self.points[repr(dict(values))], replicate + (self.apart if label.startswith("S") else 0)
        if (algorithms := self.casting.algorithms(label, point)) is None:
            return None
        axes = "/".join(f"{axis}={value!r}" for axis, value in point.axes if axis not in NOT_IN_DRAWS)
        built = build(point.world, algorithms, Draws(f"{self.experiment.draws or self.experiment.id}/{axes}/{seed}"))
        traces = tuple(traces_of(point.world, built))
        if series := sorted({name for trace in traces for name in trace.needs} | set(self.experiment.series)):
            built.scenario["record"] = {**built.scenario.get("record", {}), "series": series, "every": point.world.sample}
        read = partial(measure, built, warmup_s=seconds(point.world.warmup))
        return Drawn(built.scenario, seed, read, traces, bool(self.experiment.series) and seed == 1)


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

    def metric(self, arm: str, name: str) -> dict[int, float]:
        """Return a metric of an arm by replicate."""
        found, apart = sample_at(self.table, name, arm, {}), self.apart if arm.startswith("S") else 0
        both = zip(found.seeds.tolist(), found.values.tolist(), strict=True)
        return {seed - apart: value for seed, value in both if not math.isnan(value)}

    def mean(self, arm: str, name: str) -> float:
        """Return the mean of a metric over replicates; NaN if there is none."""
        import numpy as np

        found = list(self.metric(arm, name).values())
        return float(np.mean(found)) if found else math.nan

    def differences(self, term: Term, arm: str, against: str) -> dict[int, float]:
        """Return, by replicate, the difference of two arms; positive is better for the first."""
        mine, theirs = self.metric(arm, term.metric), self.metric(against, term.metric)
        sign = -1.0 if term.better == "less" else 1.0
        return {k: sign * compared(term.kind, term.metric, mine[k], theirs[k]) for k in sorted(set(mine) & set(theirs))}


@dataclass(frozen=True)
class Results:
    """What was measured, by experiment and point."""

    places: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    looks: int = 1
    """How often the data may be looked at before more replicates are added."""

    def at(self, experiment: str, where: Mapping[str, list[Any]] | None = None) -> list[Place]:
        """Return the points of an experiment that have these values of axes."""
        return [one for one in self.places.get(experiment, ()) if one.point.matches(where or {})]

    def effect(self, term: Term, arm: str, against: str) -> dict[int, float]:
        """Return, by replicate, the mean over points of the difference of two arms; positive is better for the first."""
        by_point = [one.differences(term, arm, against) for one in self.at(term.experiment, term.where)]
        common = sorted(set.intersection(*(set(found) for found in by_point))) if by_point else []
        return dict(zip(common, mean_of_terms(by_point), strict=True))


def placed(parts: Sequence[Part], tables: "Mapping[str, pd.DataFrame]", looks: int = 1) -> Results:
    """Return the results of experiments from the tables of their runs."""
    found = {}
    for part in parts:
        assert isinstance(part.worlds, ExperimentWorlds)
        table, of_points = tables[part.id], []
        for point in part.worlds.points.values():
            here = table
            for axis, value in axes_of(point).items():
                here = here[[one == value or str(one) == str(value) for one in here[axis].tolist()]] if len(here) else here
            of_points.append(Place(point, here, part.worlds.apart))
        found[part.id] = of_points
    return Results(found, looks)


class JudgedStudy(Study):
    """A study that a command makes: its runs are in `folder`, its report in `out`."""

    command = ""
    looks = 1

    def __init__(self, name: str, parts: list[Part], claims: Sequence[Claim], out: Path, store: str | Path | None):
        self._begin(name, StudySpec("", name, parts, list(claims)), {}, name)
        self.out, self.folder, self.home = out, Path(store) if store else out, Path()
        self.quiet = True

    @property
    def plan(self) -> Plan:
        """All runs, checked by the engine. Raises InputError."""
        if self._plan is None:
            count = len(self.spec.parts)
            with show_progress(count, 0, self.quiet or count < 2, "experiments to plan") as on_part:
                self._plan = make_plan(self.spec, self.home, on_part)
        return self._plan

    def carry_out(self, options: ExecutionOptions, quiet: bool = False) -> int:
        """Run what the folder lacks, and return how many runs that were. Raises as `Study.run`."""
        self.quiet = quiet
        return self.run(out=self.folder, quiet=quiet, options=options)

    def remember(self, store: Store) -> None:
        """Store what the folder is of, which is no study file."""
        store.remember("evaluation", {"subject": self.name, "engine": engine_version()})

    def counted(self) -> tuple[int, int]:
        """Return how many runs there are, and how many are not stored. Raises InputError where nothing is."""
        return len(self.plan.runs), self.missing()

    def tables(self) -> "dict[str, pd.DataFrame]":
        """Return the metrics of all stored runs, by experiment."""
        with Store(self.folder, create=False) as store:
            stored = {run.id: summary for run, summary in store.summaries(self.plan.runs)}
            return {part.id: part_tables(part, self.plan.parts[part.id], store, stored)[0] for part in self.spec.parts}

    def measured(self) -> Results:
        """Return the metrics of the stored runs."""
        return placed(self.spec.parts, self.tables(), self.looks)

    def example(self, experiment: str) -> str:
        """Return the scenario of the first run of an experiment, as TOML."""
        part = self.spec.part(experiment)
        assert part.worlds
        first = {axis: values[0] for axis, values in part.sweeps[0].vary.items()}
        drawn = next(drawn for label in part.labels if (drawn := part.worlds(label, first, 1)))
        return to_toml(drawn.scenario)
