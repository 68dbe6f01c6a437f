"""A comparison of engines over some worlds: which engine carries which world, its runs, and what follows from them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tonopah.analysis.evidence import Outcome
from tonopah.cross.engines import Engine, Options
from tonopah.cross.judging import UNDECIDED, judge, word_of
from tonopah.cross.kept import Kept, id_of
from tonopah.cross.measures import Compared, Measured, compared, measured
from tonopah.cross.worlds import CrossTable, World
from tonopah.errors import InputError, RunFailedError, ScenarioError, relay
from tonopah.runs.simulation import RunResult, checked_seed
from tonopah.stats import CONFIDENCE, NOT_MEASURED, Estimate, mean_of
from tonopah.stats.estimate import without_interval


@dataclass
class Arm:
    """The replicates of an engine in a world."""

    engine: Engine
    certain: bool
    """Whether one run says all: nothing in the world is random, and the engine is deterministic."""
    seeds: Sequence[int]
    refused: str = ""
    """What of the world the engine cannot do."""
    values: list[Measured] = field(default_factory=list)
    first: RunResult | None = None
    """Its first run, which figures show."""
    version: str = ""
    late: int = 0
    """Runs in real time whose packets left too late."""

    def of(self, key: str) -> list[float]:
        """Return the values of a metric, one for each replicate; nothing if one of them does not have it."""
        found = [one.get(key) for one in self.values]
        known = [float(value) for value in found if value is not None and math.isfinite(value)]
        return known if len(known) == len(found) else []

    def estimate(self, metric: Compared) -> Estimate:
        """Return the mean of a metric with its interval, in its unit."""
        values = self.of(metric.key)
        if not values:
            return NOT_MEASURED
        if self.certain:
            return without_interval(values[0] * metric.factor, 1)
        bounds = (0.0, 1.0) if metric.kind in ("share", "proportion") else (0.0, math.inf)
        return mean_of(values, bounds, metric.kind).interval(CONFIDENCE).scaled(metric.factor)


@dataclass(frozen=True)
class Row:
    """A metric of an engine beside that of the first."""

    metric: Compared
    engine: str
    found: Outcome

    @property
    def word(self) -> str:
        """Whether they agree."""
        return word_of(self.found)

    @property
    def needed(self) -> int | None:
        """The replicates that would decide it, where it is undecided."""
        return self.found.needed if self.word == UNDECIDED else None


@dataclass(frozen=True)
class Absent:
    """A metric that an engine does not have in a world, or a world that it does not carry, and why."""

    engine: str
    metric: str
    """Empty for the whole world."""
    reason: str


@dataclass
class Compare:
    """A world with all of its engines, the first of them that with which the others are compared."""

    world: World
    metrics: list[Compared]
    arms: list[Arm]

    @property
    def carried(self) -> list[Arm]:
        """The engines that carry the world."""
        return [arm for arm in self.arms if not arm.refused]

    @cached_property
    def rows(self) -> list[Row]:
        """Every metric of every engine beside the first."""
        first, *others = self.carried
        found = []
        for metric in self.metrics:
            theirs = first.of(metric.key)
            for arm in others:
                if theirs and (mine := arm.of(metric.key)):
                    events = sum(sum(one.of("dropped_packets")) for one in (first, arm))
                    found.append(Row(metric, arm.engine.name, judge(metric, mine, theirs, (arm.certain, first.certain), events)))
        return found

    @property
    def absent(self) -> list[Absent]:
        """What is in no row, and why."""
        whole = [Absent(arm.engine.name, "", arm.refused) for arm in self.arms if arm.refused]
        return whole + [
            Absent(arm.engine.name, metric.key, metric.absent or "this engine does not tell it, or not in every replicate")
            for metric in self.metrics
            for arm in self.carried
            if not arm.of(metric.key)
        ]


@dataclass
class Comparison:
    """A comparison of engines."""

    table: CrossTable
    engines: Sequence[Engine]
    worlds: list[Compare]
    seed: int

    @property
    def runs(self) -> int:
        """The number of runs."""
        return sum(len(arm.seeds) for one in self.worlds for arm in one.carried)

    @property
    def versions(self) -> dict[str, str]:
        """What the engines say they are, by name."""
        return {arm.engine.name: arm.version for one in self.worlds for arm in one.arms if arm.version}

    @property
    def late(self) -> dict[str, int]:
        """The number of late runs of engines in real time, of those that have any."""
        counts = {engine.name: 0 for engine in self.engines}
        for one in self.worlds:
            for arm in one.arms:
                counts[arm.engine.name] += arm.late
        return {name: count for name, count in counts.items() if count}

    def carry_out(self, options: Options, step: Callable[[], None], folder: Path | None = None) -> None:
        """Run everything, one run at a time: engines in real time have the machine for themselves. Raises what a run raises.

        What a former run left in the folder, but for first replicates, is not run again.
        """
        kept = Kept(folder)
        for one in self.worlds:
            for arm in one.carried:
                for seed in arm.seeds:
                    run_once(one.world, arm, seed, options, kept)
                    step()


def begin(table: CrossTable, worlds: Sequence[World], engines: Sequence[Engine], replicates: int | None, seed: int) -> Comparison:
    """Return a comparison before its runs. Raises InputError for an engine that carries none of the worlds, the first not all."""
    checked_seed(seed + (replicates or max(world.replicates for world in worlds)))
    made = []
    for world in worlds:
        arms, count = [], replicates or world.replicates
        for engine in engines:
            certain = engine.deterministic and not world.random
            refusal = refused(engine, world)
            if refusal and (engine is engines[0] or len(worlds) == 1):
                raise relay(refusal, world.name, suffix=f" [on {engine.name}]")
            arms.append(Arm(engine, certain, range(seed, seed + (1 if certain else count)), reason_of(refusal)))
        made.append(Compare(world, compared(world, table), arms))
    for place, engine in enumerate(engines):
        if all(one.arms[place].refused for one in made):
            raise InputError(f"--on {engine.name}", f"carries none of the worlds: {made[0].arms[place].refused}")
    return Comparison(table, engines, made, seed)


def refused(engine: Engine, world: World) -> ScenarioError | None:
    """Return what of a world an engine cannot do, if anything."""
    try:
        engine.refuse(world)
    except ScenarioError as error:
        return error
    return None


def reason_of(refusal: ScenarioError | None) -> str:
    """Return what a refusal says, without the file that all worlds are from."""
    return f"{refusal.path}: {refusal.message}" if refusal else ""


def run_once(world: World, arm: Arm, seed: int, options: Options, kept: Kept) -> None:
    """Run a replicate. Raises ScenarioError, RunFailedError that say of which engine and world."""
    id_ = id_of(arm.engine.name, world.scenario, seed)
    if arm.first and (known := kept.get(id_)):
        arm.values.append(known["values"])
        return
    where = f" [on {arm.engine.name}, seed {seed}{', ' if world.label else ''}{world.label}]"
    try:
        result = arm.engine.run(world, seed, options)
    except ScenarioError as error:
        raise relay(error, world.name, suffix=where) from None
    except RunFailedError as error:
        raise RunFailedError(f"{error}{where}") from None
    values = measured(result, world)
    arm.values.append(values)
    arm.first = arm.first or result
    arm.version = str(result.summary["engine"])
    if lateness_of(result):
        arm.late += 1
    elif kept.get(id_) is None:
        kept.add(id_, {"engine": arm.version, "seed": seed, "values": values})


def lateness_of(result: RunResult) -> bool:
    """Tell whether the packets of a run in real time left too late."""
    report: Mapping[str, Any] = result.summary.get("emulation") or {}
    return bool((report.get("lateness") or {}).get("late"))
