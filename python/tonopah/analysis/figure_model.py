"""What a figure shows, as data without a drawing: page, files and pictures are made from the same object.

Values are in the units of the axes. A value that was not measured is None in lists and null in JSON.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tonopah.runs.simulation import BINNED

Kind = Literal["line", "difference", "bar", "scatter", "ecdf", "cdf", "heatmap", "series"]
Step = Literal["", "after", "before"]
"""Whether a value holds until the next sample, or is that of the time since the sample before."""
Numbers = list[float | None]


def step_of(series: str) -> Step:
    """Return how the samples of a series are joined."""
    return "before" if series in BINNED else "after"


def spread(count: int, most: int) -> NDArray[np.int_]:
    """Return the places of at most so many of `count` entries, at equal distances, the ends among them."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).round().astype(int))


def as_numbers(values: Iterable[Any]) -> Numbers:
    """Return values as JSON can hold them: finite numbers, None for all others."""
    return [value if math.isfinite(value) else None for value in np.asarray(list(values), dtype=float).tolist()]


@dataclass(frozen=True)
class FigureAxis:
    """A horizontal axis, or the rows of a heat map: positions, and the text of the tick at each."""

    key: str
    """Column of the tables, or t_s."""
    label: str
    unit: str = ""
    values: list[float] = field(default_factory=list)
    """Positions; none where the series have their own (time, distributions)."""
    ticks: list[str] = field(default_factory=list)
    log: bool = False

    @property
    def title(self) -> str:
        """Label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit and self.unit not in self.label else self.label


@dataclass(frozen=True)
class FigureScale:
    """A vertical axis, or the colours of a heat map. `min` and `max` are common to all figures of a part that show the same."""

    key: str
    label: str
    unit: str = ""
    min: float | None = None
    max: float | None = None
    log: bool = False
    middle: float | None = None
    """Of a heat map: the value at which two colours meet; None for one colour. Those of a difference meet at zero."""

    @property
    def title(self) -> str:
        """Label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Points:
    """Single replicates, shown where they are too few for an interval."""

    x: Numbers
    y: Numbers


@dataclass(frozen=True)
class Series:
    """What is shown of one algorithm, or of one flow: all lists have one entry for each point."""

    label: str
    style: int
    """Number of its colour, line style and marker: the same in all figures of a part."""
    x: Numbers
    y: Numbers
    low: Numbers = field(default_factory=list)
    high: Numbers = field(default_factory=list)
    n: list[int] = field(default_factory=list)
    """Replicates behind each point; of a distribution, its number of flows."""
    row: Numbers = field(default_factory=list)
    """Of a heat map: positions of the cells in `rows`. `x` is their position in the columns, `y` the value."""
    x_low: Numbers = field(default_factory=list)
    """Of a scatter figure: the interval of `x`, which is a metric too."""
    x_high: Numbers = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Of a heat map: what is said of each cell besides its value."""
    marked: list[bool] = field(default_factory=list)
    """Of a heat map: the cells that have a dot."""
    points: Points | None = None
    flow: int | None = None
    link: int | None = None


@dataclass(frozen=True)
class Mark:
    """A vertical line at a place of the horizontal axis, or a stretch of it that is shaded."""

    x: float
    label: str
    until: float | None = None
    """Where the stretch ends."""


@dataclass(frozen=True)
class PublishedPoints:
    """Numbers that the original printed."""

    label: str
    x: Numbers
    y: Numbers
    style: int = 0
    """Number of the colour and marker of what they are about."""


@dataclass(frozen=True)
class FigureData:
    """A figure: its id (also its file name and its anchor), what it shows in words, axes, and one entry for each line."""

    id: str
    part: str
    kind: Kind
    title: str
    caption: str
    x: FigureAxis
    y: FigureScale
    series: list[Series]
    rows: FigureAxis | None = None
    marks: list[Mark] = field(default_factory=list)
    published: list[PublishedPoints] = field(default_factory=list)
    baseline: str = ""
    """What a difference is against."""
    step: Step = ""
    wide: bool = False
    diagonal: bool = False
    """Whether a scatter figure shows where both metrics are equal."""

    def as_json(self) -> dict[str, Any]:
        """Return the figure as JSON; what it does not have is null or empty."""
        return asdict(self)

    def is_empty(self) -> bool:
        """Tell whether there is nothing to draw."""
        return all(value is None for one in self.series for value in one.y)
