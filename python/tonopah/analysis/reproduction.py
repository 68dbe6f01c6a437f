"""Whether the runs reproduce what published tables say: each printed number beside ours."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonopah.analysis.figure_model import PublishedPoints, as_numbers
from tonopah.analysis.tables import estimate
from tonopah.metrics import Metric
from tonopah.spec.model import Part, PrintedNumber
from tonopah.spec.plan import PartPlan
from tonopah.spec.published import UNITS
from tonopah.stats import Estimate
from tonopah.stats.estimate import FEWEST
from tonopah.units import numbers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Reproduced:
    """A printed number and ours, in the unit of the table."""

    printed: PrintedNumber
    ours: Estimate
    agrees: bool | None
    """None where nothing is allowed and ours has no interval."""

    @property
    def verdict(self) -> str:
        """In words."""
        return "not judged" if self.agrees is None else "reproduced" if self.agrees else "not reproduced"


def reproduced(part: Part, plan: PartPlan, runs: "pd.DataFrame") -> list[Reproduced]:
    """Return every printed number of a part that was measured."""
    measured = [printed for printed in part.printed if printed.column.metric in runs.columns]
    found = [one(part, runs[runs["run"].isin(runs_of(part, plan, printed))], printed) for printed in measured]
    return [entry for entry in found if entry.ours.n]


def runs_of(part: Part, plan: PartPlan, printed: PrintedNumber) -> set[str]:
    """Return the runs of the sweep that a number is from: others have its value on that axis too, at their own points."""
    sweep = part.sweep_over(set(printed.at)) if printed.at else None
    return plan.base if sweep is None else plan.sweeps[sweep]


def one(part: Part, runs: "pd.DataFrame", printed: PrintedNumber) -> Reproduced:
    """Return a printed number beside ours.

    It is reproduced if ours is as near as the table allows, or if our interval holds it: a printed number is one draw of what
    is random.
    """
    column = printed.column
    ours = estimate(runs, part.metric(column.metric), printed.label, printed.at, part.method).scaled(1 / UNITS[column.unit])
    value = float(printed.text)
    bounded = ours.n >= FEWEST and not ours.unbounded and ours.low < ours.high
    inside = bounded and ours.low <= value <= ours.high
    judged = bool(column.allowed) or bounded
    near = bool(column.allowed) and column.agrees(ours.value, value)
    return Reproduced(printed, ours, (near or inside) if judged else None)


def counts(entries: Iterable[Reproduced]) -> tuple[int, int]:
    """Return how many numbers are reproduced, of how many that are judged."""
    judged = [entry for entry in entries if entry.agrees is not None]
    return sum(bool(entry.agrees) for entry in judged), len(judged)


def published_points(part: Part, metric: Metric, axis: str) -> list[PublishedPoints]:
    """Return the printed numbers of a metric along an axis, in the unit of figures, for each of the compared that has some."""
    made = []
    for style, label in enumerate(part.labels):
        mine = [p for p in part.printed if (p.column.metric, p.label) == (metric.column, label) and list(p.at) == [axis]]
        places = numbers([p.at[axis] for p in mine]) if mine else None
        if places:
            values = as_numbers(p.value * metric.factor for p in mine)
            made.append(PublishedPoints(f"{label}, printed", as_numbers(places[0]), values, style))
    return made
