"""What a metric is: its label, its unit and its definition."""

import math
from dataclasses import dataclass


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
    outcomes: bool = False
    """Whether a run has one of the two bounds and nothing between: its mean is the share of runs with the upper one."""

    @property
    def axis(self) -> str:
        """Label with unit, for an axis or a column."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


MBPS, MS, PERCENT, COUNT = ("Mb/s", 1e-6), ("ms", 1e3), ("%", 100.0), ("packets", 1.0)
