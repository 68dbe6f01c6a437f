"""What slips of the original's script do: a number with the slip beside the number without it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tonopah.analysis.tables import estimate
from tonopah.metrics import Metric
from tonopah.reports.mechanisms.model import Mechanism
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.plan import Plan
from tonopah.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Side:
    """One number with what it is."""

    part: str
    label: str
    metric: Metric
    found: Estimate
    """In the unit of reports."""


@dataclass(frozen=True)
class Shown:
    """A mechanism with its numbers: for each of the compared, with the slip and without it."""

    mechanism: Mechanism
    rows: list[tuple[Side, Side]]

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        rows = [
            {name: {"part": side.part, "of": side.label, "metric": side.metric.column, "value": side.found.value,
                    "unit": side.metric.unit, "n": side.found.n} for name, side in (("with", a), ("without", b))}
            for a, b in self.rows
        ]  # fmt: skip
        return {"id": self.mechanism.id, "text": self.mechanism.text, "numbers": rows}


def shown(mechanisms: Iterable[Mechanism], spec: StudySpec, plan: Plan, runs: "Mapping[str, pd.DataFrame]") -> list[Shown]:
    """Return mechanisms of a study with what was measured of their numbers."""
    made = []
    for one in mechanisms:
        part, other = spec.part(one.part), spec.part(one.without.part)
        rows = [
            (side(part, plan, runs, label, one.metric), side(other, plan, runs, without, one.without.metric))
            for label, without in one.pairs(part.labels)
        ]
        made.append(Shown(one, [row for row in rows if all(half.found.n for half in row)]))
    return made


def side(part: Part, plan: Plan, runs: "Mapping[str, pd.DataFrame]", label: str, name: str) -> Side:
    """Return a number at the nominal point of a part."""
    table, metric = runs[part.id], part.metric(name)
    at_base = table[table["run"].isin(plan.parts[part.id].base)]
    found = estimate(at_base, metric, label, {}, part.method).scaled(metric.factor)
    return Side(part.title or part.id, label, metric, found)
