"""The runs of an evaluation: each experiment at its points, for every arm and replicate.

Replicate k has seed k and draws of its own, which all arms of a point share. A run's id does not depend on who is the subject,
so that the runs of the baselines serve every report that uses the same folder, and equal arms are run once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tonopah.errors import InputError, relay
from tonopah.evaluate.definitions import Experiment, Mode, Point, points
from tonopah.evaluate.draws import Draws
from tonopah.evaluate.subjects import Cast, Casting
from tonopah.evaluate.traces import traces_of
from tonopah.evaluate.worlds import Built, build
from tonopah.scenario.document import to_toml
from tonopah.spec.plan import Plan, Run, check_point, runs_of
from tonopah.spec.schema import Variant
from tonopah.store.store import Store

REPLICATES: dict[Mode, int] = {"quick": 5, "full": 10, "tcpeval": 2}
NOT_IN_DRAWS = ("flows", "other")
"""Axes that do not change the draws: the first flow of a world has the same whoever is beside it."""


@dataclass(frozen=True)
class Cell:
    """One run in its place: which point of which experiment, which arm, which replicate."""

    point: Point
    arm: str
    replicate: int
    run: str
    built: Built

    @property
    def experiment(self) -> str:
        """Id of its experiment."""
        return self.point.experiment.id


@dataclass
class EvaluationPlan:
    """All runs of an evaluation, and the cells that they fill."""

    runs: Plan
    cells: list[Cell] = field(default_factory=list)
    example: dict[str, str] = field(default_factory=dict)
    """Scenario of one run of each experiment, as TOML."""


def make_plan(
    cast: Cast,
    experiments: Sequence[Experiment],
    mode: Mode,
    replicates: int,
    folder: str | Path = ".",
    on_experiment: Callable[[], None] = lambda: None,
    apart: int = 0,
    own: Mapping[str, int] | None = None,
) -> EvaluationPlan:
    """Return the runs of experiments; `own` has the replicates of those that have another number of them.

    The subject has seeds of its own if it is to be `apart`, so far from those of the others.

    Raises InputError when the engine refuses one of their scenarios.
    """
    plan = EvaluationPlan(Plan())
    for experiment in experiments:
        count = (own or {}).get(experiment.id, replicates)
        for point in points(experiment, mode):
            for arm in experiment.arms:
                for replicate in range(1, min(count, experiment.most or count) + 1):
                    add_run(plan, cast, point, arm, replicate, folder, apart if arm.startswith("S") else 0)
        on_experiment()
    # Two replicates of everything come first, so that a broken algorithm is seen soon.
    return order_runs(plan, lambda cell: cell.replicate > 2)


def order_runs(plan: EvaluationPlan, key: Callable[[Cell], int]) -> EvaluationPlan:
    """Return the plan with its runs in the order of a key of their cells; a run of several cells goes by the first."""
    order = {cell.run: key(cell) for cell in reversed(plan.cells)}
    plan.runs.runs = dict(sorted(plan.runs.runs.items(), key=lambda item: order[item[0]]))
    return plan


def add_run(
    plan: EvaluationPlan, casting: Casting, point: Point, arm: str, replicate: int, folder: str | Path = ".", apart: int = 0
) -> None:
    """Add one run; one that is there already is shared."""
    run, built = make_run(casting, point, arm, replicate + apart, folder)
    known = plan.runs.runs.get(run.id)
    plan.runs.runs[run.id] = replace(run, representative=run.representative or known.representative) if known else run
    plan.cells.append(Cell(point, arm, replicate, run.id, built))
    if point.experiment.id not in plan.example:
        plan.example[point.experiment.id] = to_toml(built.scenario)


def make_run(casting: Casting, point: Point, arm: str, replicate: int, folder: str | Path) -> tuple[Run, Built]:
    """Return a run and what is known of its world."""
    experiment = point.experiment
    axes = "/".join(f"{axis}={value!r}" for axis, value in point.axes if axis not in NOT_IN_DRAWS)
    draws = Draws(f"{experiment.draws or experiment.id}/{axes}/{replicate}")
    built = build(point.world, casting.algorithms(arm, point.world.other), draws)
    traces = traces_of(point.world, built)
    series = sorted({name for trace in traces for name in trace.needs} | set(experiment.series))
    if series:
        built.scenario["record"] = {**built.scenario.get("record", {}), "series": series, "every": point.world.sample}
    try:
        checked = check_point(built.scenario, Variant(label=arm, set={}), {}, folder, tuple(traces))
    except InputError as error:
        raise relay(error, suffix=f" [experiment {experiment.id}, {point.label}, {arm}]") from None
    run = next(iter(runs_of(checked, {}, range(replicate, replicate + 1))))
    values = {"experiment": experiment.id, "point": point.label, "arm": arm}
    shown = bool(experiment.series) and replicate == 1
    return replace(run, algorithm=arm, values=values, representative=shown), built


def count_missing(plan: EvaluationPlan, folder: Path) -> int:
    """Return how many runs of a plan are not in a folder."""
    if not (folder / "runs.sqlite").is_file():
        return len(plan.runs.runs)
    with Store(folder, create=False) as store:
        return len(set(plan.runs.runs) - store.ids())
