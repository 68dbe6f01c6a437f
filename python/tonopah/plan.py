"""From a study to its runs. A run is a scenario and a seed; its id is a hash of what determines its result.

Replicate k has seed k for every algorithm, so that the same world (losses, placement, start times) meets each of them.
"""

import copy
import hashlib
import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah import _core
from tonopah import scenario as scenarios
from tonopah.algorithm import Bound, Origin, bind
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.study_file import Algorithm, StudySpec

MAX_RUNS = 1_000_000
"""More runs than this are a slip of the pen (a day has room for some 100,000 short ones)."""


@dataclass(frozen=True)
class Run:
    """One run: `values` holds every axis of the study, `typical` marks the run whose series are recorded."""

    id: str
    algorithm: str
    seed: int
    values: dict[str, Any]
    scenario: str
    resolved: str
    typical: bool = False
    origins: dict[str, Origin] = field(default_factory=dict)
    """Where its algorithms in Python are, by their names in the scenario."""


@dataclass
class Plan:
    """All runs of a study; `sweeps[i]` and `base` hold the ids that belong to sweep i and to the default point."""

    runs: dict[str, Run] = field(default_factory=dict)
    sweeps: list[set[str]] = field(default_factory=list)
    base: set[str] = field(default_factory=set)
    resolved: dict[str, Any] = field(default_factory=dict)
    graph: dict[str, Any] = field(default_factory=dict)

    @property
    def typical(self) -> dict[str, Run]:
        """The run with recorded series of each algorithm."""
        return {run.algorithm: run for run in self.runs.values() if run.typical}


@dataclass(frozen=True)
class Point:
    """A scenario for one algorithm at one place of the axes, checked by the engine."""

    algorithm: str
    values: dict[str, Any]
    bound: Bound
    resolved: str


def make_plan(spec: StudySpec, folder: str | Path = ".") -> Plan:
    """Return the runs of a study; paths in it start at `folder`.

    Raises InputError, with path, when the engine refuses one of its scenarios.
    """
    points = len(spec.algorithms) * (1 + sum(product_size(sweep.vary) for sweep in spec.sweeps))
    if points * spec.replicates > MAX_RUNS:
        raise InputError("", f"the study has {points * spec.replicates:,} runs", f"at most {MAX_RUNS:,}")
    plan = Plan()
    first = check_point(spec.scenario, spec.algorithms[0], {}, folder)
    checked = json.loads(first.resolved)
    plan.resolved = checked
    plan.graph = json.loads(_core.check(first.bound.text, 1, first.bound.algorithms))["graph"]
    axes = list(dict.fromkeys(axis for sweep in spec.sweeps for axis in sweep.vary))
    # A default that the scenario does not state is taken from the resolved one, so that every run has every axis.
    given = {axis: scenarios.fetch(spec.scenario, axis) for axis in axes}
    defaults = {axis: scenarios.fetch(checked, axis) if value is None else value for axis, value in given.items()}
    seeds = range(1, spec.replicates + 1)
    for algorithm in spec.algorithms:
        plan.base |= add(plan, check_point(without_series(spec.scenario), algorithm, {}, folder), defaults, seeds)
    for sweep in spec.sweeps:
        ids: set[str] = set()
        for algorithm, values in itertools.product(spec.algorithms, crossed(sweep.vary)):
            ids |= add(plan, check_point(without_series(spec.scenario), algorithm, values, folder), defaults, seeds)
        plan.sweeps.append(ids)
    if any(figure.kind == "series" for figure in spec.figures):
        for algorithm in spec.algorithms:
            add(plan, check_point(spec.scenario, algorithm, {}, folder), defaults, range(1, 2), typical=True)
    return plan


def add(plan: Plan, point: Point, defaults: dict[str, Any], seeds: range, typical: bool = False) -> set[str]:
    """Add the replicates of a point to the plan and return their ids; runs that are there already are shared."""
    ids = set()
    for seed in seeds:
        run_id = identity(point.resolved, seed)
        # The same value may be written in two ways ("1s", "1000ms"); the sweep's way counts, figures look for it.
        known = plan.runs[run_id].values if run_id in plan.runs else defaults
        values = {**known, **point.values}
        bound = point.bound
        plan.runs[run_id] = Run(run_id, point.algorithm, seed, values, bound.text, point.resolved, typical, bound.origins)
        ids.add(run_id)
    return ids


def check_point(scenario: dict[str, Any], algorithm: Algorithm, values: dict[str, Any], folder: str | Path) -> Point:
    """Return the scenario with the algorithm and the values of the axes in it, after the engine has accepted it.

    What identifies its runs holds digests of the sources of its algorithms in Python: an edited one is run anew.
    """
    changed = copy.deepcopy(scenario)
    try:
        scenarios.put(changed, "tcp.cc", algorithm.cc)
        for axis, value in values.items():
            scenarios.put(changed, axis, value)
        bound = bind(changed, folder)
        resolved = json.loads(_core.check(bound.text, 1, bound.algorithms))["resolved"]
    except ScenarioError as error:
        where = "".join(f", {axis} = {value}" for axis, value in values.items())
        raise relay(error, prefix="scenario", suffix=f" [with tcp.cc = {algorithm.label}{where}]") from None
    if bound.origins:
        resolved["sources"] = {name: origin.digest for name, origin in bound.origins.items()}
    canonical = json.dumps(resolved, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return Point(algorithm.label, values, bound, canonical)


def identity(resolved: str, seed: int) -> str:
    """Return the id of a run: BLAKE2b (RFC 7693), 16 bytes, of its resolved scenario, seed and engine version."""
    text = "\n".join((resolved, str(seed), _core.engine_version()))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def without_series(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return the scenario without its series: a study keeps them for one typical run of each algorithm only."""
    return {key: value for key, value in scenario.items() if key != "record"}


def crossed(vary: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return all combinations of the values, the first axis slowest."""
    return [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]


def product_size(vary: dict[str, list[Any]]) -> int:
    """Return the number of combinations without making them."""
    size = 1
    for values in vary.values():
        size *= len(values)
    return size
