"""A study after its file was read: parts, sweeps, figures and claims. For the writer of a study: docs/studies.md."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tonopah.metrics import Metric, metric
from tonopah.spec.measures import Measure
from tonopah.stats import CONFIDENCE, Method

if TYPE_CHECKING:
    from tonopah.spec.published import Published


@dataclass(frozen=True)
class Variant:
    """One of the compared: `label` names it everywhere, `changes` (path to value) are made in the scenario."""

    label: str
    changes: dict[str, Any]


@dataclass(frozen=True)
class Sweep:
    """Axes that vary together (crossed when there are several); everything else keeps its default."""

    vary: dict[str, list[Any]]
    label: str


@dataclass(frozen=True)
class Figure:
    """One request for figures: one for each metric in `y`, and with `difference` one more against the baseline."""

    kind: str
    y: tuple[str, ...]
    x: str | None = None
    rows: str | None = None
    difference: bool = False
    median: bool = False
    flow: int = 0


@dataclass(frozen=True)
class Test:
    """One test of a claim: readings (metrics × algorithms) and exactly one condition; see docs/studies.md for each field."""

    metrics: tuple[str, ...] = ()
    part: str = ""
    algorithms: tuple[str, ...] = ()
    trend: str | None = None
    above: float | None = None
    below: float | None = None
    order: tuple[str, ...] = ()
    to: str | None = None
    parts: tuple[str, ...] = ()
    paired: bool = False
    above_percent: float | None = None
    below_percent: float | None = None
    within_percent: float | None = None
    published_percent: float | None = None
    over: str | None = None
    at: dict[str, Any] = field(default_factory=dict)
    points: str = "mean"
    margin_percent: float = 5.0
    not_testable: str | None = None

    # The name is the study file's; pytest is told that this is not one of its classes.
    __test__ = False


@dataclass(frozen=True)
class Claim:
    """A published claim and the tests that together stand for it."""

    id: str
    text: str
    tests: tuple[Test, ...]
    not_testable: str | None = None


@dataclass
class Part:
    """One network with its comparison, sweeps, figures and measures; a study without `[[part]]` is one part without id."""

    id: str
    title: str
    baseline: str
    replicates: int
    scenario: dict[str, Any]
    variants: list[Variant]
    statistic: str = "mean"
    sweeps: list[Sweep] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    assumed: list[dict[str, str]] = field(default_factory=list)
    text: dict[str, str] = field(default_factory=dict)
    quick: dict[str, Any] = field(default_factory=dict)
    confidence: float = CONFIDENCE
    """Of every interval; higher than 95 % when replicates were added until the result was narrow enough (sequential.py)."""

    @property
    def labels(self) -> list[str]:
        """Names of the compared, in the order of the study file."""
        return [variant.label for variant in self.variants]

    @property
    def method(self) -> Method:
        """The statistic of this part and the confidence of its intervals."""
        return Method(self.statistic, self.confidence)

    def metric(self, name: str) -> Metric:
        """Return how to show a column: one of this part's measures, or a metric of the engine."""
        own = {column: shown for measure in self.measures for column, shown in measure.columns().items()}
        return own.get(name) or metric(name)

    def sweep_over(self, axes: set[str]) -> int | None:
        """Return the number of the sweep that varies these axes and no others."""
        return next((i for i, sweep in enumerate(self.sweeps) if set(sweep.vary) == axes), None)


@dataclass
class StudySpec:
    """A study file, checked."""

    question: str
    title: str
    parts: list[Part]
    claims: list[Claim] = field(default_factory=list)
    published: list["Published"] = field(default_factory=list)
    missing: list[dict[str, str]] = field(default_factory=list)
    assumed: list[dict[str, str]] = field(default_factory=list)
    text: dict[str, str] = field(default_factory=dict)

    def part(self, part_id: str) -> Part:
        """Return the part with this id."""
        return next(part for part in self.parts if part.id == part_id)
