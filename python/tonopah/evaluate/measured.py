"""The metrics of all runs that an evaluation has, by experiment, point, arm and replicate."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tonopah.evaluate.definitions import Point, Term
from tonopah.evaluate.metrics import Values, measure
from tonopah.evaluate.plan import EvaluationPlan
from tonopah.evaluate.worlds import seconds
from tonopah.store.store import Store

Replicates = dict[int, Values]


@dataclass
class PointValues:
    """What was measured at one point: for each arm, the metrics of each replicate."""

    point: Point
    arms: dict[str, Replicates] = field(default_factory=dict)

    def metric(self, arm: str, name: str) -> dict[int, float]:
        """Return a metric of an arm by replicate."""
        return {k: values[name] for k, values in self.arms.get(arm, {}).items() if name in values}

    def mean(self, arm: str, name: str) -> float:
        """Return the mean of a metric over replicates; NaN if there is none."""
        found = list(self.metric(arm, name).values())
        return float(np.mean(found)) if found else math.nan


@dataclass
class Measured:
    """The points of every experiment."""

    points: dict[str, list[PointValues]] = field(default_factory=dict)
    looks: int = 1
    """How often the data may be looked at before more replicates are added."""

    def at(self, experiment: str, where: Mapping[str, list[Any]]) -> list[PointValues]:
        """Return the points of an experiment that have these values of axes."""
        return [one for one in self.points.get(experiment, []) if one.point.matches(where)]

    def effect(self, term: Term, arm: str, against: str) -> dict[int, float]:
        """Return, by replicate, the mean over points of the difference of two arms; positive is better for the first."""
        points = self.at(term.experiment, term.where)
        by_point = [self.differences(term, one, arm, against) for one in points]
        common = set.intersection(*(set(found) for found in by_point)) if by_point else set()
        return {k: float(np.mean([found[k] for found in by_point])) for k in sorted(common)}

    def differences(self, term: Term, point: PointValues, arm: str, against: str) -> dict[int, float]:
        """Return, by replicate, the difference of two arms at a point."""
        mine, theirs = point.metric(arm, term.metric), point.metric(against, term.metric)
        sign = -1.0 if term.better == "less" else 1.0
        return {k: sign * compared(term.kind, term.metric, mine[k], theirs[k]) for k in sorted(set(mine) & set(theirs))}


def compared(kind: str, metric: str, mine: float, theirs: float) -> float:
    """Return how much one value is above another: the difference, or the logarithm of the ratio."""
    if kind == "difference":
        return mine - theirs
    least = smallest(metric)
    return math.log((mine + least) / (theirs + least))


def smallest(metric: str) -> float:
    """Return what is added to both sides of a ratio, so that a value of 0 has a logarithm."""
    if metric.endswith(("loss", "retx")):
        return 1e-4
    if metric.endswith("_s"):
        return 1e-3
    return 0.0 if "slowdown" in metric or metric.endswith("ratio") else 1e-9 if "j_per" in metric else 1.0


def collect(plan: EvaluationPlan, store: Store) -> Measured:
    """Return the metrics of all runs of a plan that are stored."""
    summaries = {run.id: summary for run, summary in store.summaries(plan.runs.runs)}
    found = Measured()
    places: dict[int, PointValues] = {}
    for cell in plan.cells:
        if id(cell.point) not in places:
            places[id(cell.point)] = PointValues(cell.point)
            found.points.setdefault(cell.experiment, []).append(places[id(cell.point)])
        if cell.run in summaries:
            values = measure(cell.built, summaries[cell.run], seconds(cell.point.world.warmup))
            places[id(cell.point)].arms.setdefault(cell.arm, {})[cell.replicate] = values
    return found


def mean_of_terms(effects: Iterable[Mapping[int, float]]) -> tuple[float, ...]:
    """Return, for each replicate that all terms have, their mean."""
    found: Sequence[Mapping[int, float]] = list(effects)
    common = set.intersection(*(set(one) for one in found)) if found else set()
    return tuple(float(np.mean([one[k] for one in found])) for k in sorted(common))
