"""From a study to its runs. A run is a scenario and a seed; its id is a hash of what determines its result.

Replicate k has seed k for every algorithm, so that the same world (losses, placement, start times) meets each of them; at another
point of a sweep it is another world. Ids do not depend on the study or its part, so that parts share runs.

Replicates have to differ (vary.py); a part in which the engine finds nothing random is run once at each point, since every seed
would give the same bits.
"""

import itertools
import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tonopah._core import check, engine_version
from tonopah.cc.description import Provenance
from tonopah.cc.permission import StoredAlgorithm
from tonopah.digest import digest
from tonopah.errors import InputError, relay
from tonopah.metrics import count_text
from tonopah.runs.simulation import OWNERS
from tonopah.scenario import paths
from tonopah.spec.claim import BetweenParts, NotTestable, Trend
from tonopah.spec.derived import Derived
from tonopah.spec.effects import refuse_flat_axes
from tonopah.spec.model import Drawn, Part, StudySpec, Worlds
from tonopah.spec.point import Point, check_point, record_derived, record_representative
from tonopah.spec.schema import Variant
from tonopah.spec.source import refuse_idle

MAX_RUNS = 1_000_000
"""More runs than this are a slip of the pen (a day has room for some 100,000 short ones)."""

LARGE_PLAN = 2_000
"""Points whose check takes seconds, so that progress is shown."""


@dataclass(frozen=True)
class Run:
    """One run: `values` holds every axis of its part, `representative` marks the run whose series are kept."""

    id: str
    algorithm: str
    seed: int
    values: dict[str, Any]
    scenario: str
    resolved: str
    representative: bool = False
    origins: dict[str, Provenance] = field(default_factory=dict)
    """Where its algorithms in Python are, by their names in the scenario."""
    derived: tuple[Derived, ...] = ()
    """What is derived from its series when it is stored."""
    observer: str = ""
    """What observes this run, as `module:function`, if anything: its source said so (source.py)."""
    engine: str = ""
    """The kernel that carries its flows, with its release, if one does: such runs go one at a time."""
    read: Callable[[Mapping[str, Any]], dict[str, float]] | None = field(default=None, repr=False, compare=False)
    """Makes its columns in tables from its summary; without it they are what the engine measured."""

    @property
    def apart(self) -> bool:
        """Whether Python works in it, for its algorithm, to observe it or to send: threads would wait for one another."""
        return bool(self.origins or self.observer or self.engine)


Known = dict[tuple[str, Hashable], Run]
"""Runs by part and by what tells a world from others."""


@dataclass
class PartPlan:
    """The runs of one part; `sweeps[i]` and `base` hold the ids that belong to sweep i and to the nominal point."""

    runs: dict[tuple[str, str], Run] = field(default_factory=dict)
    """By label and id, representative runs left out; where one run serves several points, by label, point and id."""
    representative: dict[str, Run] = field(default_factory=dict)
    """The run with recorded series of each label."""
    sweeps: list[set[str]] = field(default_factory=list)
    base: set[str] = field(default_factory=set)
    """Empty where no figure, table or claim asks for the nominal point and no sweep passes it."""
    graph: dict[str, Any] = field(default_factory=dict)
    nominal: dict[str, str] = field(default_factory=dict)
    """The resolved scenario of the nominal point, by label."""
    random: tuple[str, ...] = ()
    """What is random at any of its points, in words; where it is nothing, every point is run once."""
    replicates: int = 1
    owners: dict[str, int] = field(default_factory=dict)
    """Number of flows and of nodes at the nominal point, whose series figures show; the most of any variant."""
    warnings: list[str] = field(default_factory=list)
    """What its scenarios say and seldom mean, each with its place, once."""

    @property
    def ids(self) -> set[str]:
        """Ids of all its runs, the representative ones included."""
        return {run.id for run in (*self.runs.values(), *self.representative.values())}


@dataclass
class Plan:
    """All runs of a study by id, and which of them belong to which part."""

    runs: dict[str, Run] = field(default_factory=dict)
    parts: dict[str, PartPlan] = field(default_factory=dict)
    sources: dict[str, Any] = field(default_factory=dict)
    """What results keep of what sources made (source.py)."""

    @property
    def algorithms(self) -> dict[str, StoredAlgorithm]:
        """What results keep of the algorithms that are code, by name."""
        found = {name: origin for run in self.runs.values() for name, origin in run.origins.items()}
        return {name: StoredAlgorithm(origin.digest, origin.description) for name, origin in sorted(found.items())}

    @property
    def measured(self) -> int:
        """The number of runs that tables hold: those of any part that are not there for their series alone."""
        return len({run.id for part in self.parts.values() for run in part.runs.values()})

    @property
    def size(self) -> str:
        """The number of runs in words."""
        recorded = len(self.runs) - self.measured
        runs = count_text(len(self.runs), "run")
        return f"{runs}: {self.measured:,} measured, {recorded:,} for time series" if recorded else runs

    @property
    def warnings(self) -> list[str]:
        """What scenarios of the study say and seldom mean, each with its place."""
        of_parts = {f"part {part}." if part else "": plan.warnings for part, plan in self.parts.items()}
        return [f"{place}{text}" for place, texts in of_parts.items() for text in texts]

    @property
    def engines(self) -> list[str]:
        """The kernels that carry flows of its runs, each with its release."""
        return sorted({run.engine for run in self.runs.values() if run.engine})

    def notes(self) -> list[str]:
        """Return what is to be known before the runs: the parts in which nothing is random."""
        fixed = [part for part, plan in self.parts.items() if not plan.random]
        where = f"in {'part' if len(fixed) == 1 else 'parts'} {', '.join(fixed)}" if any(fixed) else "in this scenario"
        once = "every seed gives the same run, so each point is run once, without intervals and p values"
        return [f"nothing {where} is random: {once}"] if fixed else []


def count_points(spec: StudySpec) -> int:
    """Return how often `make_plan` calls `on_point`: for each point of a sweep and variant, for each world of a replicate."""
    return sum(
        len(part.variants) * (part.replicates if part.worlds else 1) * sum(product_size(sweep.vary) for sweep in part.sweeps)
        for part in spec.parts
    )


def make_plan(
    spec: StudySpec, folder: str | Path = ".", on_point: Callable[[], None] = lambda: None, known: Known | None = None
) -> Plan:
    """Return the runs of a study; paths in it start at `folder`. `on_point` is called after each point of a sweep.

    `known` are runs of worlds of a plan before, which are not made again; new ones are added to it.

    Raises InputError, with path, when the engine refuses one of its scenarios.
    """
    count = sum(size(part) * part.replicates for part in spec.parts)
    if count > MAX_RUNS:
        raise InputError("", f"the study has {count:,} runs", f"at most {MAX_RUNS:,}")
    plan = Plan()
    for part in spec.parts:
        try:
            if part.worlds:
                mine = plan_worlds(part, part.worlds, folder, on_point, {} if known is None else known)
            else:
                mine = plan_part(part, folder, needs_nominal_point(part, spec), on_point)
        except InputError as error:
            raise relay(error, prefix=f"part {part.id}") if part.id else error from None
        check_shown_flows(part, mine)
        plan.parts[part.id] = mine
        for run in (*mine.runs.values(), *mine.representative.values()):
            plan.runs[run.id] = joined(plan.runs[run.id], run) if run.id in plan.runs else run
    if any(part.worlds for part in spec.parts):
        # Stopped, such a study is a whole one with fewer replicates.
        plan.runs = dict(sorted(plan.runs.items(), key=lambda item: item[1].seed))
    return plan


def joined(known: Run, run: Run) -> Run:
    """Return a run that is planned twice: its series are kept, and it is observed, if either asks for it."""
    both = known.representative or run.representative
    return replace(run, representative=both, observer=known.observer or run.observer)


def check_shown_flows(part: Part, plan: PartPlan) -> None:
    """Refuse the figure of a series whose flow (or node) the scenario does not have."""
    for figure in (figure for figure in part.figures if figure.kind == "series" and figure.path):
        wanted = figure.flow if isinstance(figure.flow, tuple) else (figure.flow,)
        for kind in dict.fromkeys(OWNERS.get(name, "flow") for name in figure.y):
            # Flows that arrive during the run are not known before.
            count = plan.owners.get(kind, 0)
            if count and (wrong := [flow for flow in wanted if flow >= count]):
                message = f"there is no {kind} {wrong[0]}: the scenario has {count_text(count, kind)}"
                raise InputError(f"{figure.path}.flow", message, f"0 to {count - 1}" if count > 1 else "0")


def size(part: Part) -> int:
    """Return the number of points of a part, each for every variant."""
    return len(part.variants) * (1 + sum(product_size(sweep.vary) for sweep in part.sweeps))


def needs_nominal_point(part: Part, spec: StudySpec) -> bool:
    """Tell whether anything shows or tests the nominal point of a part: its default values, where no axis varies."""
    if not part.sweeps or any(metric.at_nominal for metric in part.derived):
        return True
    if any(figure.x is None and figure.kind != "series" for figure in part.figures) or any(not one.at for one in part.printed):
        return True
    if any(part.id in figure.beside for other in spec.parts for figure in other.figures):
        return True
    tests = [test for claim in spec.claims for test in claim.tests if not isinstance(test, NotTestable | Trend)]
    parts = [(test, test.parts if isinstance(test, BetweenParts) else (test.part,)) for test in tests]
    return any(part.id in named and not test.over and not test.at for test, named in parts)


def plan_part(part: Part, folder: str | Path, with_nominal: bool = True, on_point: Callable[[], None] = lambda: None) -> PartPlan:
    """Return the runs of one part; `with_nominal` asks for the nominal point even where no sweep passes it."""
    plan = PartPlan()
    derived = tuple(metric for metric in part.derived if metric.from_series)
    scenario = record_derived(part, derived)
    pointed = partial(check_point, engine=part.engine)
    first = pointed(scenario, part.variants[0], {}, folder, vary=part.vary)
    checked = json.loads(first.resolved)
    # As it is given: a picture of it shows no draw.
    given = check_point(scenario, part.variants[0], {}, folder)
    plan.graph = json.loads(check(given.bound.text, 1, given.bound.algorithms))["graph"]
    axes = list(dict.fromkeys(axis for sweep in part.sweeps for axis in sweep.vary))
    # A default that the scenario does not state is taken from the resolved one, so that every run has every axis.
    stated = {axis: paths.fetch(part.scenario, axis) for axis in axes}
    defaults = {axis: paths.fetch(checked, axis) if value is None else value for axis, value in stated.items()}
    base = [pointed(scenario, variant, {}, folder, derived, part.vary) for variant in part.variants]
    plan.nominal = {point.label: point.resolved for point in base}
    plan.owners = {what: max(point.owners[what] for point in base) for what in ("flow", "node")}
    sweeps: list[list[Point]] = []
    for sweep in part.sweeps:
        named = [(values, draws_at(part, scenario, values, checked, folder)) for values in cross(sweep.vary)]
        sweeps.append([])
        for one, (values, draws) in itertools.product(part.variants, named):
            sweeps[-1].append(pointed(scenario, one, values, folder, derived, part.vary, draws))
            on_point()
    swept = [point for points in sweeps for point in points]
    for sweep, points in zip(part.sweeps, sweeps, strict=True):
        refuse_flat_axes(sweep.vary, points)
    refuse_idle([point.sourced for point in [*base, *swept] if point.sourced])
    if not with_nominal and not set(plan.nominal.values()) <= {point.resolved for point in swept}:
        base = []
    plan.random = tuple(dict.fromkeys(name for point in [*base, *swept] for name in point.random))
    plan.warnings = list(dict.fromkeys(text for point in [*base, *swept] for text in point.warnings))
    plan.replicates = part.replicates if plan.random else 1
    seeds = part.seeds[: plan.replicates]
    for point in base:
        plan.base |= add(plan, point, defaults, seeds)
    for points in sweeps:
        plan.sweeps.append({run for point in points for run in add(plan, point, defaults, seeds)})
    for variant in part.variants:
        shown = pointed(record_representative(part, checked["duration"]), variant, {}, folder, derived, part.vary)
        # No table has it, so that nothing need be observed.
        run = next(runs_of(shown, defaults, seeds[:1]))
        plan.representative[variant.label] = replace(run, representative=True, observer="")
    return plan


def plan_worlds(part: Part, worlds: Worlds, folder: str | Path, on_point: Callable[[], None], known: Known) -> PartPlan:
    """Return the runs of a part whose replicates are worlds of their own."""
    plan = PartPlan(random=("the world of a replicate",), replicates=part.replicates)
    for number, sweep in enumerate(part.sweeps):
        plan.sweeps.append(set())
        replicates = range(1, part.replicates + 1)
        for values, variant, replicate in itertools.product(cross(sweep.vary), part.variants, replicates):
            on_point()
            if (which := worlds.which(variant.label, values, replicate)) is None:
                continue
            place = part.id, which
            run = known.get(place) or plan_world(worlds(variant.label, values, replicate), variant, values, folder)
            if not run.origins:
                # The file of an algorithm may be edited before the plan is made again.
                known[place] = run
            plan.runs[run.algorithm, f"{number}/{run.id}"] = run
            plan.sweeps[number].add(run.id)
    return plan


def plan_world(drawn: Drawn, variant: Variant, values: dict[str, Any], folder: str | Path) -> Run:
    """Return the run of the world of one replicate."""
    try:
        point = check_point(drawn.scenario, variant, {}, folder, drawn.derived)
    except InputError as error:
        raise relay(error, suffix=f" [{', '.join(f'{axis} = {value}' for axis, value in values.items())}]") from None
    run = next(runs_of(point, values, range(drawn.seed, drawn.seed + 1)))
    return replace(run, representative=drawn.recorded, read=drawn.read)


def add(plan: PartPlan, point: Point, defaults: dict[str, Any], seeds: range) -> set[str]:
    """Add the replicates of a point to the plan and return their ids; runs that are there already are shared."""
    ids = set()
    for run in runs_of(point, defaults, seeds):
        known = plan.runs.get((run.algorithm, run.id))
        # The same value may be written in two ways ("1s", "1000ms"); the sweep's way counts, figures look for it.
        plan.runs[run.algorithm, run.id] = replace(run, values={**known.values, **point.values}) if known else run
        ids.add(run.id)
    return ids


def runs_of(point: Point, defaults: dict[str, Any], seeds: range) -> Iterator[Run]:
    """Yield the replicates of a point."""
    for seed in seeds:
        yield Run(
            run_id(point.resolved, seed), point.label, seed, {**defaults, **point.values}, point.bound.text, point.resolved,
            origins=point.bound.origins, derived=point.derived, observer=point.sourced.observer if point.sourced else "",
            engine=point.engine,
        )  # fmt: skip


def draws_at(part: Part, scenario: dict[str, Any], values: dict[str, Any], nominal: Mapping[str, Any], folder: str | Path) -> str:
    """Return the name of the draws at a point of a sweep: its values where they are not the nominal ones, however written."""
    if not part.vary.points:
        return ""
    resolved = json.loads(check_point(scenario, part.variants[0], values, folder, vary=part.vary).resolved)
    pairs = ((axis, paths.fetch(resolved, axis), paths.fetch(nominal, axis)) for axis in values)
    # A value that the resolved scenario does not have as such is known as it is written.
    own = {axis: values[axis] if here is None else here for axis, here, there in pairs if here is None or here != there}
    return json.dumps(own, sort_keys=True, separators=(",", ":")) if own else ""


def run_id(resolved: str, seed: int) -> str:
    """Return the id of a run: a hash of its resolved scenario, seed and engine version."""
    return digest(resolved, str(seed), engine_version())


def cross(vary: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return all combinations of the values, the first axis slowest."""
    return [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]


def product_size(vary: dict[str, list[Any]]) -> int:
    """Return the number of combinations without making them."""
    size = 1
    for values in vary.values():
        size *= len(values)
    return size
