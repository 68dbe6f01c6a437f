"""What a metric is: its label, its unit and its definition."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from tonopah.stats.kinds import KindName


@dataclass(frozen=True)
class Metric:
    """Label and display unit of a metric: `value * factor` is in `unit`; `definition` says what it is and cites its source."""

    label: str
    unit: str
    factor: float
    definition: str = ""
    column: str = ""
    """Name of its column in the tables."""
    bounds: tuple[float, float] = (0.0, math.inf)
    """Bounds of its values in the unit of the column; intervals stay within them."""
    kind: KindName = "positive"
    """What its values are, which decides how they are compared (stats/kinds.py)."""

    @property
    def outcomes(self) -> bool:
        """Whether a run has one of the two bounds and nothing between: its mean is the share of runs with the upper one."""
        return self.kind == "outcome"

    @property
    def axis(self) -> str:
        """Label with unit, for an axis or a column."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Group:
    """Metrics that something else than the engine counts: the columns `NAME.METRIC`."""

    name: str
    how: str
    """How it counts, behind the label of the metric."""
    whose: str
    """Who counts, behind the label in brackets."""
    own: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By metric: label and definition of what only it has, or counts otherwise."""
    in_kilobits: bool = False
    """Whether rates are shown in kb/s."""
    folded: bool = False
    """Whether reports fold its figures: they are other definitions of what the engine measures."""
    kinds: Mapping[str, KindName] = field(default_factory=dict)
    """By metric: what its values are, if that is not what the engine's metric of this key says."""

    def metric(self, key: str, known: Metric) -> Metric:
        """Return its metric of this key; `known` is that of the engine."""
        label, text = self.own.get(key, (f"{known.label} [{self.whose}]", f"{known.label} {self.how}"))
        unit, factor = ("kb/s", 1e-3) if self.in_kilobits and known.unit == "Mb/s" else (known.unit, known.factor)
        kind = self.kinds.get(key, known.kind)
        bounds = (0.0, math.inf if kind == "count" else 1.0) if key in self.kinds else known.bounds
        return Metric(label, unit, factor, text, f"{self.name}.{key}", bounds, kind)


MBPS, MS, PERCENT, COUNT = ("Mb/s", 1e-6), ("ms", 1e3), ("%", 100.0), ("packets", 1.0)
