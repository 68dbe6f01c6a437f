"""A study after its file was read: parts with everything they take from the file, and claims that name their parts."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tonopah.metrics import metric, readable
from tonopah.metrics.metric import Metric
from tonopah.spec.claim import Claim, FigureName
from tonopah.spec.derived import Derived
from tonopah.spec.history import HistoryEntry
from tonopah.spec.published import UNITS, Column, Published
from tonopah.spec.schema import Assumption, Missing, Quick, Sweep, Variant
from tonopah.spec.vary import FIXED, Vary
from tonopah.stats import CONFIDENCE, Method


@dataclass(frozen=True)
class Figure:
    """One request for figures: one for each metric in `y`, and with `difference` one more against the baseline."""

    kind: str
    y: tuple[str, ...]
    x: str | None = None
    rows: str | None = None
    difference: bool = False
    median: bool = False
    flow: int | tuple[int, ...] = 0
    """One flow, of every algorithm in one panel; or several flows of one run in one panel, all of them if empty."""
    log: str = ""
    """The axes that are logarithmic: "", "x", "y" or "xy"."""
    title: str = ""
    against: str = ""
    """The metric of the horizontal axis of a scatter figure."""
    beside: tuple[str, ...] = ()
    """Parts whose nominal points stand beside that of this part."""
    path: str = field(default="", compare=False)
    """Its place in the study file."""


@dataclass(frozen=True)
class PrintedNumber:
    """A number of a published table that runs of a part are held against."""

    table: str
    label: str
    """Which of the compared it is about."""
    at: Mapping[str, Any]
    """Where on the axes; empty for the nominal point."""
    column: Column
    text: str
    """As printed."""

    @property
    def value(self) -> float:
        """Its value in the SI unit of the column of the runs."""
        return float(self.text) * UNITS[self.column.unit]


@dataclass(frozen=True)
class Drawn:
    """The world of one replicate: its scenario and seed, what is derived from its series, and what tables show of its summary."""

    scenario: dict[str, Any]
    seed: int
    read: Callable[[Mapping[str, Any]], dict[str, float]]
    derived: tuple[Derived, ...] = ()
    recorded: bool = False
    """Whether its series are kept."""


class Worlds(Protocol):
    """Where the scenarios of a part come from, if each replicate is a world of its own that all variants have in common."""

    def which(self, label: str, values: Mapping[str, Any], replicate: int) -> Hashable | None:
        """Return what tells the world of a variant at a point of a sweep from all others; None where the variant is not run."""
        ...

    def __call__(self, label: str, values: Mapping[str, Any], replicate: int) -> Drawn:
        """Return the world of a variant at a point of a sweep."""
        ...


@dataclass
class Part:
    """One network with its comparison, sweeps, figures and derived metrics; a study without `[[part]]` is one without id."""

    id: str
    title: str
    baseline: str
    replicates: int
    scenario: dict[str, Any]
    variants: list[Variant]
    statistic: str = "mean"
    sweeps: list[Sweep] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    derived: list[Derived] = field(default_factory=list)
    assumed: list[Assumption] = field(default_factory=list)
    text: Mapping[str, str] = field(default_factory=dict)
    quick: Quick = field(default_factory=Quick)  # pyright: ignore[reportArgumentType, reportCallIssue]
    printed: list[PrintedNumber] = field(default_factory=list)
    """What published tables say about it."""
    confidence: float = CONFIDENCE
    """Of every interval; higher than 95 % when replicates were added until the result was narrow enough (sequential.py)."""
    vary: Vary = FIXED
    """What varies between replicates beside what the scenario draws."""
    engine: str = ""
    """Who carries its flows, with release, such as "linux 6.18.44"; empty for our simulated senders."""
    first_seed: int = 1
    """Of its replicates, which have this seed and those that follow."""
    worlds: Worlds | None = None
    """Makes its scenarios, instead of `scenario` with the changes of variants and axes."""

    @property
    def seeds(self) -> range:
        """The seeds of its replicates."""
        return range(self.first_seed, self.first_seed + self.replicates)

    @property
    def labels(self) -> list[str]:
        """Names of the compared, in the order of the study file."""
        return [variant.label for variant in self.variants]

    @property
    def method(self) -> Method:
        """The statistic of this part and the confidence of its intervals."""
        return Method(self.statistic, self.confidence)

    def metric(self, name: str) -> Metric:
        """Return how to show a column: one of this part's derived metrics, or a metric of the engine."""
        own = {column: shown for derived in self.derived for column, shown in derived.columns().items()}
        return own.get(name) or metric(name)

    def axis_label(self, axis: str) -> str:
        """Return the name of an axis: the label of the sweep that varies it alone, else its path in words."""
        alone = self.sweep_over({axis})
        return self.sweeps[alone].own_label if alone is not None and self.sweeps[alone].own_label else readable(axis)

    def sweep_over(self, axes: set[str]) -> int | None:
        """Return the number of the sweep that varies these axes and no others."""
        return next((i for i, sweep in enumerate(self.sweeps) if set(sweep.vary) == axes), None)


@dataclass
class StudySpec:
    """A study, checked."""

    question: str
    title: str
    parts: list[Part]
    claims: list[Claim] = field(default_factory=list)
    published: list[Published] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    assumed: list[Assumption] = field(default_factory=list)
    text: Mapping[str, str] = field(default_factory=dict)
    headline: str | FigureName = ""
    """What the report answers first: the id of a claim, or a figure; the first of the claims, or of the figures, if empty."""
    history: list[HistoryEntry] = field(default_factory=list)
    criteria: str = ""
    """Hash of the criteria as the study file has them, whatever the size at which the study is run (criteria.py)."""

    def part(self, part_id: str) -> Part:
        """Return the part with this id."""
        return next(part for part in self.parts if part.id == part_id)
