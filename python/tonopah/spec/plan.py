"""From a study to its runs. A run is a scenario and a seed; its id is a hash of what determines its result.

Replicate k has seed k for every algorithm, so that the same world (losses, placement, start times) meets each of them. Ids do
not depend on the study or its part, so that parts share runs.
"""

import copy
import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tonopah._core import check, engine_version, parse_quantity
from tonopah.cc.binding import BoundScenario, bind
from tonopah.cc.description import Provenance
from tonopah.digest import digest
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.scenario import paths
from tonopah.spec.derived import Derived
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.schema import Variant

MAX_RUNS = 1_000_000
"""More runs than this are a slip of the pen (a day has room for some 100,000 short ones)."""

REPRESENTATIVE_SAMPLES = 1000
"""Samples of a series over a representative run, where the study does not say how often."""


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


@dataclass
class PartPlan:
    """The runs of one part; `sweeps[i]` and `base` hold the ids that belong to sweep i and to the nominal point."""

    runs: dict[tuple[str, str], Run] = field(default_factory=dict)
    """By label and id, representative runs left out."""
    representative: dict[str, Run] = field(default_factory=dict)
    """The run with recorded series of each label."""
    sweeps: list[set[str]] = field(default_factory=list)
    base: set[str] = field(default_factory=set)
    graph: dict[str, Any] = field(default_factory=dict)

    @property
    def ids(self) -> set[str]:
        """Ids of all its runs, the representative ones included."""
        return {run.id for run in (*self.runs.values(), *self.representative.values())}


@dataclass
class Plan:
    """All runs of a study by id, and which of them belong to which part."""

    runs: dict[str, Run] = field(default_factory=dict)
    parts: dict[str, PartPlan] = field(default_factory=dict)

    @property
    def measured(self) -> int:
        """The number of runs that tables hold: those of any part that are not there for their series alone."""
        return len({run.id for part in self.parts.values() for run in part.runs.values()})


@dataclass(frozen=True)
class Point:
    """A scenario for one variant at one place of the axes, checked by the engine."""

    label: str
    values: dict[str, Any]
    bound: BoundScenario
    resolved: str
    derived: tuple[Derived, ...] = ()


def make_plan(spec: StudySpec, folder: str | Path = ".") -> Plan:
    """Return the runs of a study; paths in it start at `folder`.

    Raises InputError, with path, when the engine refuses one of its scenarios.
    """
    count = sum(size(part) * part.replicates for part in spec.parts)
    if count > MAX_RUNS:
        raise InputError("", f"the study has {count:,} runs", f"at most {MAX_RUNS:,}")
    plan = Plan()
    for part in spec.parts:
        try:
            mine = plan_part(part, folder)
        except InputError as error:
            raise relay(error, prefix=f"part {part.id}") if part.id else error from None
        plan.parts[part.id] = mine
        for run in (*mine.runs.values(), *mine.representative.values()):
            known = plan.runs.get(run.id)
            plan.runs[run.id] = replace(run, representative=run.representative or known.representative) if known else run
    return plan


def size(part: Part) -> int:
    """Return the number of points of a part, each for every variant."""
    return len(part.variants) * (1 + sum(product_size(sweep.vary) for sweep in part.sweeps))


def plan_part(part: Part, folder: str | Path) -> PartPlan:
    """Return the runs of one part."""
    plan = PartPlan()
    derived = tuple(metric for metric in part.derived if metric.from_series)
    scenario = record_derived(part.scenario, derived)
    first = check_point(scenario, part.variants[0], {}, folder)
    checked = json.loads(first.resolved)
    plan.graph = json.loads(check(first.bound.text, 1, first.bound.algorithms))["graph"]
    axes = list(dict.fromkeys(axis for sweep in part.sweeps for axis in sweep.vary))
    # A default that the scenario does not state is taken from the resolved one, so that every run has every axis.
    given = {axis: paths.fetch(part.scenario, axis) for axis in axes}
    defaults = {axis: paths.fetch(checked, axis) if value is None else value for axis, value in given.items()}
    seeds = range(1, part.replicates + 1)
    for variant in part.variants:
        plan.base |= add(plan, check_point(scenario, variant, {}, folder, derived), defaults, seeds)
    for sweep in part.sweeps:
        ids: set[str] = set()
        for variant, values in itertools.product(part.variants, cross(sweep.vary)):
            ids |= add(plan, check_point(scenario, variant, values, folder, derived), defaults, seeds)
        plan.sweeps.append(ids)
    for variant in part.variants:
        shown = check_point(record_representative(part, checked["duration"]), variant, {}, folder, derived)
        plan.representative[variant.label] = replace(next(runs_of(shown, defaults, range(1, 2))), representative=True)
    return plan


def add(plan: PartPlan, point: Point, defaults: dict[str, Any], seeds: range) -> set[str]:
    """Add the replicates of a point to the plan and return their ids; runs that are there already are shared."""
    ids = set()
    for run in runs_of(point, defaults, seeds):
        known = plan.runs.get((run.algorithm, run.id))
        # The same value may be written in two ways ("1s", "1000ms"); the sweep's way counts, figures look for it.
        plan.runs[run.algorithm, run.id] = replace(run, values={**known.values, **point.values}) if known else run
        ids.add(run.id)
    return ids


def runs_of(point: Point, defaults: dict[str, Any], seeds: range) -> Iterable[Run]:
    """Yield the replicates of a point."""
    for seed in seeds:
        yield Run(
            run_id(point.resolved, seed), point.label, seed, {**defaults, **point.values}, point.bound.text, point.resolved,
            origins=point.bound.origins, derived=point.derived,
        )  # fmt: skip


def check_point(
    scenario: dict[str, Any], variant: Variant, values: dict[str, Any], folder: str | Path, derived: tuple[Derived, ...] = ()
) -> Point:
    """Return the scenario with the variant and the values of the axes in it, after the engine has accepted it.

    What identifies its runs holds digests of the sources of its algorithms in Python, and the metrics derived from its series:
    an edited one is run anew.
    """
    changed = copy.deepcopy(scenario)
    try:
        for path, value in (variant.changes | values).items():
            paths.put(changed, path, copy.deepcopy(value))
        bound = bind(changed, folder)
        resolved = json.loads(check(bound.text, 1, bound.algorithms))["resolved"]
    except ScenarioError as error:
        where = "".join(f", {axis} = {value}" for axis, value in values.items())
        what = "tcp.cc = " if set(variant.changes) == {"tcp.cc"} else ""
        raise relay(error, prefix="scenario", suffix=f" [with {what}{variant.label}{where}]") from None
    if bound.origins:
        resolved["sources"] = {name: origin.digest for name, origin in bound.origins.items()}
    if derived:
        resolved["derived"] = [metric.identity() for metric in derived]
    canonical = json.dumps(resolved, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return Point(variant.label, values, bound, canonical, derived)


def run_id(resolved: str, seed: int) -> str:
    """Return the id of a run: a hash of its resolved scenario, seed and engine version."""
    return digest(resolved, str(seed), engine_version())


def record_derived(scenario: dict[str, Any], derived: tuple[Derived, ...]) -> dict[str, Any]:
    """Return the scenario with only the series that derived metrics need: a study keeps series of representative runs only."""
    rest = {key: value for key, value in scenario.items() if key != "record"}
    needed = sorted({name for metric in derived for name in metric.needs})
    if not needed:
        return rest
    given = scenario.get("record") or {}
    times = {key: given[key] for key in ("every", "bin") if key in given}
    if times.get("every") == "change":
        # Averages over time need samples at equal distances.
        times["every"] = given.get("bin", "100ms")
    return {**rest, "record": {"series": needed, **times}}


def record_representative(part: Part, duration: str) -> dict[str, Any]:
    """Return the scenario of representative runs: with its own series, and those that its figures and derived metrics need."""
    record = part.scenario.get("record") or {}
    wanted = [name for figure in part.figures if figure.kind == "series" for name in figure.y]
    wanted += [name for metric in part.derived for name in metric.needs]
    series = list(dict.fromkeys([*record.get("series", []), *wanted]))
    seconds = parse_quantity(duration, "duration")
    every = {} if "every" in record else {"every": f"{max(1, round(1000 * seconds / REPRESENTATIVE_SAMPLES))}ms"}
    return {**part.scenario, "record": {**record, **every, "series": series}}


def cross(vary: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return all combinations of the values, the first axis slowest."""
    return [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]


def product_size(vary: dict[str, list[Any]]) -> int:
    """Return the number of combinations without making them."""
    size = 1
    for values in vary.values():
        size *= len(values)
    return size
