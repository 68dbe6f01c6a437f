"""The experiments and criteria of `experiments.toml` and `criteria.toml`, and of `tcpeval.toml`, as models.

Mistakes are refused with their place.
"""

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError

from tonopah._core import parse_quantity
from tonopah.errors import InputError
from tonopah.spec.claim import Claim
from tonopah.spec.validation import Model, list_allowed, refuse

Mode = Literal["quick", "full", "tcpeval"]
REPLICATES: dict[Mode, int] = {"quick": 5, "full": 10, "tcpeval": 2}
TRACES = ("breaker", "outage", "release", "fairness", "windows", "sharing")


def quantity(kind: str) -> AfterValidator:
    """Refuse what is no quantity of this kind."""

    def checked(text: str) -> str:
        try:
            parse_quantity(text, kind)
        except ValueError as error:
            raise refuse(str(error), None) from None
        return text

    return AfterValidator(checked)


Duration = Annotated[str, quantity("duration")]
Rate = Annotated[str, quantity("rate")]


class Cross(Model):
    """A flow of datagrams whose ends are 1 ms away from the bottleneck."""

    app: dict[str, Any]
    role: str = "cross"
    start: Duration = "0s"
    stop: Duration | None = None
    count: int = 1
    every: Duration = "0s"
    """So many of them, each that much later than the one before."""


class Detour(Model):
    """A second way from r0 to r1, by rx, whose two links have half of `delay` each."""

    delay: Duration
    rate: Rate


class Walk(Model):
    """A rate that takes a random step in the logarithm to base 2, normal with deviation `step`, each `every`."""

    step: float = 0.5
    every: Duration = "100ms"
    low: Rate
    high: Rate


class World(Model):
    """The dumbbell D(C, R, b), or any other scenario, and what happens in it. docs/evaluate.md draws it."""

    rate: Rate = "50Mbps"
    rtt: Duration | list[Duration] = "40ms"
    buffer: float = 1.0
    """Limit of the queue in bandwidth-delay products at `buffer_rtt`."""
    buffer_rtt: Duration = ""
    limit: int | None = None
    queue: dict[str, Any] = Field(default_factory=lambda: {"kind": "drop_tail"})
    flows: int | list[int] = 1
    """Flows of each group: the first runs the first algorithm of an arm, the second the second."""
    other: str = ""
    """The algorithm that an arm calls O."""
    starts: list[Duration] = Field(default_factory=list)
    spread: Duration = "1s"
    """Flows without an entry in `starts` start at a random time up to this."""
    app: dict[str, Any] = Field(default_factory=dict)
    """What the flows of the first group send; without it as much as they can."""
    bytes: str = ""
    rounds: int = 1
    every: Duration = "0s"
    """Each flow is repeated as a new connection `rounds` times, so far apart."""
    duration: Duration = "30s"
    warmup: Duration = "10s"
    settles: bool = False
    """Whether its runs are made longer until they tell of the long run (length.py); `duration` is then the least."""
    background: bool = True
    link: dict[str, Any] = Field(default_factory=dict)
    tcp: dict[str, Any] = Field(default_factory=dict)
    tcp_of: list[dict[str, Any]] = Field(default_factory=list)
    """Settings of the flows of each group."""
    ecn: list[str] = Field(default_factory=list)
    """Marks that the flows of each group ask for, unless their algorithm asks for its own form; the last holds for the rest."""
    far: dict[str, Any] = Field(default_factory=dict)
    """Settings of the links from r1 to the receivers."""
    cross: list[Cross] = Field(default_factory=list)
    detour: Detour | None = None
    walk: Walk | None = None
    load: float = 0.0
    """Load of the workload G, beside the first group; its connections are the second group."""
    resumes: bool = False
    """Whether these connections begin with what the last one of their pair of nodes left, where their algorithm takes that."""
    loads: list[float] = Field(default_factory=list)
    """Load of a workload G of each group whose connections the engine draws, instead of a list: for long runs."""
    edges: list[list[Duration]] = Field(default_factory=lambda: [["0ms", "12ms", "25ms"], ["2ms", "37ms", "75ms"]])
    """Delay of the links of the hosts of a workload, on the side of its senders and on the other."""
    scenario: dict[str, Any] = Field(default_factory=dict)
    """A whole scenario instead of the dumbbell."""
    sample: Duration = "1s"
    traces: list[Literal[*TRACES]] = Field(default_factory=list)  # pyright: ignore[reportInvalidTypeForm]
    at: Duration = "0s"
    until: Duration = "0s"
    """The event that traces look at: from when, until when."""
    windows: list[list[Duration]] = Field(default_factory=list)
    """Intervals whose goodput the trace `windows` reads: `w0_bps`, `w1_bps`."""
    then_rate: Rate = ""
    """Rate that is free for the flows after the event."""


class Points(Model):
    """Points of an experiment: every combination of the values in `over`, with `set` in each."""

    over: dict[str, list[Any]] = Field(default_factory=dict)
    set: dict[str, Any] = Field(default_factory=dict)


class Experiment(Model):
    """A world, what varies in it, and the arms: which algorithms the flows run."""

    id: str
    title: str
    about: str = ""
    setting: Literal["wired", "AQM", "wireless", "satellite", "data centre", "other"] = "wired"
    """The column of the table of criteria and scenarios in which it stands."""
    arms: list[str] = Field(default_factory=lambda: ["S", "B", "R"])
    draws: str = ""
    """Experiments of the same name here share their random draws, so that solo runs of one serve the other."""
    world: dict[str, Any] = Field(default_factory=dict)
    case: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Named changes of the world, for the axis `case`."""
    quick: list[Points] = Field(default_factory=list)
    full: list[Points] = Field(default_factory=list)
    series: list[str] = Field(default_factory=list)
    """Recorded of replicate 1, for figures."""
    most: int | None = None
    """Replicates at most."""


class Term(Model):
    """What is read from one experiment: a metric at some points, and how two arms are compared by it."""

    experiment: str
    metric: str
    better: Literal["more", "less", "equal"] = "more"
    arms: list[str] = Field(default_factory=lambda: ["S", "B"])
    """The arm of the subject, and those that it is held against. It is worse where it is worse than the worst of them."""
    where: dict[str, list[Any]] = Field(default_factory=dict)
    margin: float | None = None
    """The effect that counts; that of the metric if absent."""
    word: str = "worse"
    """What it says where it is surely worse."""


class Victim(Model):
    """Who is harmed: the arm in which it is beside the subject, and those in which it is beside the references and itself."""

    name: str
    subject: str
    references: list[str]
    itself: str
    """Arm in which all flows run its algorithm: what each has there is a fair share."""
    group: Literal["x", "y"] = "y"
    """Its place in these arms."""


class Harm(Model):
    """Where harm to others is measured."""

    experiments: list[str]
    victims: list[Victim]
    costs: list[Literal["loss", "qdelay_p95_s"]] = Field(default_factory=list)
    """Of the victim, beside its goodput."""
    where: dict[str, list[Any]] = Field(default_factory=dict)


class Shown(Model):
    """A figure: a metric over an axis, one line for each arm; one figure for each combination of the other axes."""

    experiment: str
    metric: str
    x: str
    arms: list[str] = Field(default_factory=lambda: ["S", "B", "R"])
    where: dict[str, list[Any]] = Field(default_factory=dict)
    log: Literal["", "x", "y", "xy"] = ""
    title: str = ""


class Criterion(Claim):
    """A criterion of RFC 9743, the claim of a report: what is asked, what answers it, and what it leaves open."""

    section: str
    level: str
    name: str
    experiments: list[str] = Field(default_factory=list)
    terms: list[Term] = Field(default_factory=list)
    """Each has a word; the worst is that of the criterion."""
    secondary: list[Term] = Field(default_factory=list)
    """Shown, without a word."""
    harm: Harm | None = None
    bound: Literal["", "collapse", "feedback", "breaker", "receivers"] = ""
    of: list[str] = Field(default_factory=list)
    """Criteria that it sums up."""
    rule: Literal["measured", "author", "marks", "multipath", "roll_up", "gap"] = "measured"
    gap: str = ""
    """What is not covered, or why it is not tested."""
    figures: list[Shown] = Field(default_factory=list)
    """The first is also the small picture of the scoreboard."""


@dataclass(frozen=True)
class Point:
    """One place of an experiment: its axes, and its world."""

    experiment: Experiment
    axes: tuple[tuple[str, Any], ...]
    world: World

    @property
    def label(self) -> str:
        """The axes in words."""
        return ", ".join(AXES.get(axis, "{}").format(shown(value)) for axis, value in self.axes)

    def matches(self, where: Mapping[str, list[Any]]) -> bool:
        """Tell whether it has one of the values of every axis in `where`."""
        mine = dict(self.axes)
        return all(mine.get(axis) in values for axis, values in where.items())


AXES = {"flows": "{} flows", "buffer": "queue {} BDP", "rtt": "RTT {}", "other": "beside {}", "load": "load {}"}
"""Axes as labels show them; the values of others speak for themselves."""


def shown(value: Any) -> str:
    """Return a value of an axis as text."""
    if isinstance(value, list):
        return ":".join(shown(one) for one in value)
    if isinstance(value, dict):
        return str(value.get("kind", value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def points(experiment: Experiment, mode: Mode) -> list[Point]:
    """Return the points of an experiment in a mode; a mode without points of its own has those of `quick`."""
    found: dict[tuple[tuple[str, Any], ...], Point] = {}
    for grid in (experiment.full or experiment.quick) if mode == "full" else experiment.quick:
        for axes, changes in crossed(grid, experiment):
            world = check_world(experiment, experiment.world | grid.set | changes)
            found.setdefault(hashable(axes), Point(experiment, axes, world))
    return list(found.values())


def hashable(axes: tuple[tuple[str, Any], ...]) -> Any:
    """Return axes as the key of a dictionary."""
    return tuple((axis, repr(value)) for axis, value in axes)


def crossed(grid: Points, experiment: Experiment) -> Iterator[tuple[tuple[tuple[str, Any], ...], dict[str, Any]]]:
    """Yield every combination of the axes of a grid, with what it changes in the world."""
    for values in itertools.product(*grid.over.values()):
        axes = tuple(zip(grid.over, values, strict=True))
        changes: dict[str, Any] = {}
        for axis, value in axes:
            changes |= experiment.case[value] if axis == "case" else {axis: value}
        yield axes, changes


def check_world(experiment: Experiment, world: Mapping[str, Any]) -> World:
    """Return the world of a point. Raises InputError for keys and values that it cannot have."""
    try:
        return World.model_validate(dict(world))
    except ValidationError as error:
        raise InputError(f"{experiment.id}.{'.'.join(map(str, error.errors()[0]['loc']))}", error.errors()[0]["msg"]) from None


@dataclass(frozen=True)
class Definitions:
    """All experiments and criteria, by id and in the order of the files."""

    experiments: Mapping[str, Experiment]
    criteria: Mapping[str, Criterion]
    document: str = "RFC 9743"
    """What asks for them."""

    def chosen(self, wanted: list[str]) -> list[Criterion]:
        """Return the criteria with these ids, all of them for none; with those that they sum up. Raises InputError."""
        for name in wanted:
            if name not in self.criteria:
                raise InputError("--criteria", f"{name!r} is unknown", list_allowed(self.criteria, value=name))
        needed = set(wanted) | {below for name in wanted for below in self.criteria[name].of}
        return [criterion for criterion in self.criteria.values() if not wanted or criterion.id in needed]

    def experiments_of(self, criteria: list[Criterion]) -> list[Experiment]:
        """Return the experiments that criteria read."""
        needed = {name for criterion in criteria for name in criterion.experiments}
        return [experiment for experiment in self.experiments.values() if experiment.id in needed]


@cache
def definitions() -> Definitions:
    """Return the experiments and criteria of this version."""
    return defined(read("experiments.toml") | read("criteria.toml"))


@cache
def tcpeval_definitions() -> Definitions:
    """Return the suite of draft-irtf-iccrg-tcpeval: its scenarios as experiments, its sections as criteria."""
    return replace(defined(read("tcpeval.toml")), document="draft-irtf-iccrg-tcpeval-01")


def defined(tables: Mapping[str, Any]) -> Definitions:
    """Return the experiments and criteria of tables."""
    experiments = [Experiment.model_validate(table) for table in tables["experiment"]]
    criteria = [Criterion.model_validate(table) for table in tables["criterion"]]
    return Definitions({one.id: one for one in experiments}, {one.id: one for one in criteria})


def read(name: str) -> dict[str, Any]:
    """Return one of the files."""
    return tomllib.loads(resources.files("tonopah.judge").joinpath(name).read_text(encoding="utf-8"))
