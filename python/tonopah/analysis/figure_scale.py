"""One scale for all figures that show the same quantity: the range of their values."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tonopah.analysis.figure_model import FigureData, FigureScale, Series


@dataclass
class Range:
    """The range of values of all figures that show the same quantity."""

    low: float = math.inf
    high: float = -math.inf
    positive: float = math.inf
    """The least value above zero, where a logarithmic axis begins."""

    def include(self, values: Iterable[float | None]) -> None:
        """Extend the range."""
        for value in values:
            if value is not None:
                self.low, self.high = min(self.low, value), max(self.high, value)
                self.positive = min(self.positive, value) if value > 0 else self.positive

    def applied(self, scale: FigureScale) -> FigureScale:
        """Return a vertical axis with this range; one without values, or with a range of its own, as it is."""
        if self.low > self.high or scale.min is not None:
            return scale
        # Zero cannot be shown on a logarithmic axis.
        low = self.positive if scale.log and self.positive <= self.high else self.low
        return replace(scale, min=low, max=self.high, log=scale.log and self.positive <= self.high)


def scale_key(figure: FigureData) -> tuple[str, str, str]:
    """Return what figures of one scale have in common: bars begin at zero, lines do not."""
    return ("heatmap-difference" if figure.kind == "heatmap" and figure.baseline else figure.kind, figure.y.key, figure.y.unit)


def common_ranges(figures: Iterable[FigureData]) -> dict[tuple[str, str, str], Range]:
    """Return the ranges of the quantities that figures show."""
    ranges: dict[tuple[str, str, str], Range] = defaultdict(Range)
    for figure in figures:
        found = ranges[scale_key(figure)]
        for one in figure.series:
            found.include(drawn_values(figure, one))
        for printed in figure.published:
            found.include(printed.y)
        if figure.kind in ("bar", "series", "difference"):
            found.include([0.0])
    for (kind, _, unit), found in ranges.items():
        if kind == "heatmap-difference" and found.low <= found.high:
            # The colour of no difference is in the middle.
            found.low, found.high = (sign * max(abs(found.low), abs(found.high)) for sign in (-1, 1))
        elif kind == "line" and found.low <= found.high:
            widen(found, unit)
    return ranges


def drawn_values(figure: FigureData, one: Series) -> list[float | None]:
    """Return all values that a figure shows of one series; intervals of heat maps are not drawn."""
    points = one.points.y if one.points else []
    return [*one.y, *points] if figure.kind == "heatmap" else [*one.y, *one.low, *one.high, *points]


def widen(found: Range, unit: str) -> None:
    """Keep noise from filling a figure: the axis spans at least 2 % of the values (ratios: 0.2 percentage points)."""
    least = 0.2 if unit == "%" else 0.02 * max(abs(found.low), abs(found.high))
    if found.high - found.low < least:
        middle, bounds = (found.low + found.high) / 2, (0.0, 100.0) if unit == "%" else (-math.inf, math.inf)
        found.low, found.high = max(bounds[0], middle - least / 2), min(bounds[1], middle + least / 2)
