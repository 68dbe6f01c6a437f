"""Derived metrics (`[[derived]]`): numbers that a study computes from each run, beside those of the engine.

`recovery`, `outage`, `mean` and `exit` read series, which the runs of their part then record; `jain`, `average` and `ratio` read
the flows of the summary, or series with a `window`. What is asked stands here, how it is computed in measures.py.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from tonopah.metrics import METRICS, metric, show
from tonopah.metrics.kinds import EVENTS
from tonopah.metrics.metric import Metric
from tonopah.spec.series import SeriesName
from tonopah.spec.validation import (
    Interval,
    Many,
    Model,
    Seconds,
    between,
    check_table,
    list_allowed,
    refuse,
    shorten,
    tagged_union,
)
from tonopah.stats import kinds

VERSION = 3
"""Of the definitions here and in measures.py, part of the id of every run that they read series of. Raise it on purpose, when a
value changes: such runs are then done again."""

SUMMED = ("sending_rate", "throughput", "goodput", "retransmits", "acked", "energy", "queue")
"""Series of which several flows (links, nodes) add up; of others the mean is taken."""

STARTS = {
    "instant": "{}",
    "loss": "the first retransmission after {}",
    "outage": "the end of the longest outage after {}",
}
"""From when a recovery counts, by `after`."""


def to_column(name: str) -> str:
    """Refuse a name that cannot be the name of a column."""
    if name in METRICS or not name.isidentifier():
        raise refuse(f"{shorten(name)} cannot be the name of a column", "a new name of letters, digits and _")
    return name


Flows = Many[int]

SHARE = (0.0, 1.0)
"""Bounds of a share of runs, and of Jain's index."""


class Derived(Model):
    """What every derived metric has."""

    name: Annotated[str, AfterValidator(to_column)] = Field(description="Its column in the tables.")
    label: str = Field("", description="Its name in figures; made from `name` if absent.")
    flows: Flows = Field((), description="Numbers or names of the flows that it reads; all if absent.")

    @property
    def from_series(self) -> bool:
        """Whether it reads series, so that runs have to record them."""
        return bool(self.needs)

    @property
    def title(self) -> str:
        """Its label, or its name in words."""
        return self.label or self.name.replace("_", " ").capitalize()

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        return ()

    def identity(self) -> dict[str, Any]:
        """Return what determines its value: everything but its label, and the version of the definitions."""
        return self.model_dump(mode="json", exclude={"label"}) | {"version": VERSION}

    @property
    def at_nominal(self) -> bool:
        """Whether it is wanted at the nominal point, whatever figures ask for."""
        return True

    @property
    def flow_columns(self) -> Mapping[str, Metric]:
        """Columns that it adds to the table of flows."""
        return {}

    def value_columns(self) -> dict[str, Metric]:
        """Return the columns that hold the values, and how they are shown."""
        raise NotImplementedError

    def columns(self) -> dict[str, Metric]:
        """Return all columns that it makes, and how they are shown."""
        return self.value_columns()

    def column(self, ending: str, label: str, unit: str, factor: float, definition: str, **more: Any) -> dict[str, Metric]:
        """Return one column: `NAME`, or `NAME.ENDING`; `more` are kind and bounds of its values."""
        name = f"{self.name}.{ending}" if ending else self.name
        return {name: Metric(label, unit, factor, definition, name, **more)}

    def outcome(self, ending: str, label: str, definition: str) -> dict[str, Metric]:
        """Return the column `NAME.ENDING` of something that a run does (1) or does not (0)."""
        name = f"{self.name}.{ending}"
        return {name: Metric(label, "%", 100.0, definition, name, SHARE, "outcome")}


class OwnValues(Derived):
    """A derived metric of other commands, which brings its own computation; study files have none of this kind."""

    def values(self, series: Mapping[str, Mapping[str, Any]]) -> tuple[float | None, ...]:
        """Return the values of its columns from the series of a run."""
        raise NotImplementedError


class OverTime(Derived):
    """A derived metric of a series that may be limited to runs in which its flows received something."""

    carrying_s: Interval | None = Field(
        None, alias="carrying",
        description="Leave out runs whose `flows` received nothing in this interval; `NAME.carried` is the share of the others.",
    )  # fmt: skip

    if TYPE_CHECKING:
        # Each of its kinds has its own default.
        series: str

    @property
    def subject(self) -> str:
        """The series and the flows in words."""
        return f"{metric(self.series).label.lower()} of {owners(self.flows)}"

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        return (self.series, *(("throughput",) if self.carrying_s else ()))

    def columns(self) -> dict[str, Metric]:
        """Return all columns that it makes, and how they are shown."""
        made = self.value_columns()
        if self.carrying_s:
            start, end = self.carrying_s
            label = f"{next(iter(made.values())).label}: runs that carried"
            text = f"Share of runs in which {owners(self.flows)} received anything from {start:g} s to {end:g} s, the others"
            made |= self.outcome("carried", label, f"{text} have no value")
        return made


class Recovery(OverTime):
    """Seconds from `at` until `series` is back at `share` of its mean over the time `before` `at`.

    0 if it never fell below; the time to the end of the run if it never came back, which `NAME.censored` counts.
    """

    kind: Literal["recovery"]
    series: SeriesName = Field("cwnd", description="Series that it reads.")  # pyright: ignore[reportInvalidTypeForm]
    at_s: Seconds = Field(alias="at", description="Instant of the disturbance.")
    after: Literal["instant", "loss", "outage"] = Field(
        "instant",
        description='Start of the count: `at`, with `"loss"` the first retransmission after it, with `"outage"` the end of the '
        "longest outage after it.",
    )
    share: Annotated[float, *between(0.01, 10.0)] = Field(0.9, description="Share of the level before that counts as recovered.")
    before_s: Seconds = Field(
        1.0,
        alias="before",
        description="Length of the interval before `at` whose mean is the level.",
        json_schema_extra={"default": "1s"},
    )
    at_least_s: Seconds = Field(
        0.0, alias="at_least", description="Shortest outage that counts.", json_schema_extra={"default": "0s"}
    )
    quiet: float = Field(0.0, description="Throughput up to which there is an outage, in b/s.")

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        silent = self.carrying_s or self.after == "outage"
        return (self.series, *(("retransmits",) if self.after == "loss" else ()), *(("throughput",) if silent else ()))

    def value_columns(self) -> dict[str, Metric]:
        """Return the time, and the share of runs in which the series did not come back."""
        since = STARTS[self.after].format(f"{self.at_s:g} s")
        text = (
            f"Time from {since} until the {self.subject} is back at {100 * self.share:g} % of its mean over the "
            f"{self.before_s:g} s before {self.at_s:g} s; 0 if it never fell below, the time to the end of the run if it never "
            "came back"
        )
        shares = "Share of runs in which it did not come back before the end"
        made = self.column("", self.title, "s", 1.0, text, kind="time")
        return made | self.outcome("censored", f"{self.title}: not before the end", shares)


class Outage(OverTime):
    """`NAME.start_s`, `NAME.end_s`, `NAME.length_s` of the longest interval in which `series` is not above `quiet`."""

    kind: Literal["outage"]
    series: SeriesName = Field("throughput", description="Series that it reads.")  # pyright: ignore[reportInvalidTypeForm]
    window_s: Interval | None = Field(None, alias="window", description="Interval that it reads; the whole run if absent.")
    at_least_s: Seconds = Field(
        0.0, alias="at_least", description="Shortest outage that counts.", json_schema_extra={"default": "0s"}
    )
    quiet: float = Field(0.0, description="Value up to which there is an outage, in the SI unit of the series.")

    def value_columns(self) -> dict[str, Metric]:
        """Return start, end and length."""
        shown = metric(self.series)
        most = f" of more than {show(self.quiet * shown.factor)} {shown.unit}" if self.quiet else ""
        text = f"The longest interval with no {self.subject}{most}{span(self.window_s)}"
        text += f", of {self.at_least_s:g} s at least: its" if self.at_least_s else ": its"
        made: dict[str, Metric] = {}
        for end in ("start", "end", "length"):
            made |= self.column(f"{end}_s", f"{self.title}: {end}", "s", 1.0, f"{text} {end}")
        return made


class Mean(OverTime):
    """Time average of `series`; several flows add up for throughput and other amounts, else their mean is taken."""

    kind: Literal["mean"]
    series: SeriesName = Field(description="Series that it reads.")  # pyright: ignore[reportInvalidTypeForm]
    window_s: Interval | None = Field(None, alias="window", description="Interval that it reads; the whole run if absent.")

    def value_columns(self) -> dict[str, Metric]:
        """Return the mean."""
        shown = metric(self.series)
        sum_or_mean = "sum" if self.series in SUMMED else "mean"
        text = f"Time average of the {self.subject} ({sum_or_mean}){span(self.window_s)}"
        kind = "positive" if kinds.KINDS[shown.kind].events else shown.kind
        return self.column("", self.title, shown.unit, shown.factor, text, bounds=shown.bounds, kind=kind)


class Exit(Derived):
    """Number of exits from slow start that no loss caused.

    A fall of `ssthresh` of a flow between two samples, with no retransmission and no recovery, is one. `NAME.any` is the share of
    runs with one.
    """

    kind: Literal["exit"]

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        return ("ssthresh", "retransmits", "state")

    def value_columns(self) -> dict[str, Metric]:
        """Return their number, and the share of runs with one."""
        what = f"{metric('ssthresh').label.lower()} of {owners(self.flows)}"
        text = f"Falls of the {what} between two samples with no retransmission and no recovery: exits from slow start"
        number = self.column("", self.title, "", 1.0, f"{text} that no loss caused", kind="count")
        return number | self.outcome("any", f"{self.title}: any", f"Share of runs with at least one. {text}")


RATES = {"goodput_bps": "goodput", "throughput_bps": "throughput"}
"""Metrics of a flow that have a value in any interval, and the series that hold it."""


class OverFlows(Derived):
    """A number made of one metric of several flows, each over its own life, or over one interval for all."""

    metric: str = Field("goodput_bps", description="Metric of a flow.")
    window_s: Interval | None = Field(
        None, alias="window",
        description="Interval that it reads, of `goodput_bps` or `throughput_bps`; then every flow counts, also one that carries "
        "nothing in it. Each flow over its own life if absent.",
    )  # fmt: skip

    @model_validator(mode="after")
    def check_window(self) -> "OverFlows":
        """Refuse an interval for a metric that has one value for the whole run."""
        if self.window_s and self.metric not in RATES:
            raise refuse(f"has no meaning for {shorten(self.metric)}", f"metric = {' or '.join(RATES)}", ("window",))
        return self

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads: none without an interval."""
        return (RATES[self.metric],) if self.window_s else ()

    @property
    def until_the_end(self) -> bool:
        """Whether it is made of times from the start of a flow to its end, which some flows may not have reached."""
        return self.metric in ("completion_s", "fct_s")

    def columns(self) -> dict[str, Metric]:
        """Return its value; of proportions of events also their number, of times to the end of a flow how many had not ended."""
        made = self.value_columns()
        if (event := EVENTS.get(self.metric)) and not self.from_series:
            text = f"{metric(event).label} of the flows of {self.name}"
            return made | self.column("events", f"{self.title}: events", "packets", 1.0, text, kind="count")
        if not self.until_the_end:
            return made
        text = f"Flows of {self.name} that had not ended: they count with what they had lasted"
        return made | self.column("unfinished", f"{self.title}: unfinished", "flows", 1.0, text, kind="count")

    @property
    def read(self) -> tuple[int, ...]:
        """Numbers of all flows that it reads; all if none."""
        return self.flows

    @property
    def subject(self) -> str:
        """The metric and the flows in words."""
        return f"{metric(self.metric).label.lower()}{span(self.window_s)} over {owners(self.flows)}"


class Jain(OverFlows):
    """Jain's index of `metric` over `flows`, over their lives or in a `window`."""

    kind: Literal["jain"]

    def value_columns(self) -> dict[str, Metric]:
        """Return the index."""
        what = self.subject
        text = f"Jain's index (sum x)² / (n · sum x²) of {what} (DEC TR-301)"
        return self.column("", self.title, "", 1.0, text, bounds=SHARE, kind="share")


class Average(OverFlows):
    """Mean of `metric` over `flows`, each counted once, over their lives or in a `window`."""

    kind: Literal["average"]

    def value_columns(self) -> dict[str, Metric]:
        """Return the mean."""
        shown = metric(self.metric)
        text = f"Mean of {self.subject}, each counted once"
        return self.column("", self.title, shown.unit, shown.factor, text, bounds=shown.bounds, kind=shown.kind)


class Ratio(OverFlows):
    """Mean of `metric` over `flows`, divided by that over the flows `to`, over their lives or in a `window`."""

    kind: Literal["ratio"]
    to: Flows = Field(description="Numbers or names of the flows that it divides by.")

    HINTS: ClassVar[Mapping[str, str]] = {"to": "to = [1], with flows = [0]"}

    @model_validator(mode="after")
    def check_sides(self) -> "Ratio":
        """Refuse a side without flows."""
        for side in ("flows", "to"):
            if not getattr(self, side):
                raise refuse("names no flows", "numbers of flows, such as [0]", (side,))
        return self

    @property
    def read(self) -> tuple[int, ...]:
        """Numbers of the flows of both sides."""
        return tuple(dict.fromkeys((*self.flows, *self.to)))

    def value_columns(self) -> dict[str, Metric]:
        """Return the ratio."""
        return self.column("", self.title, "", 1.0, f"Mean of {self.subject} / that over {owners(self.to)}")


KINDS: dict[str, type[Derived]] = {
    "recovery": Recovery, "outage": Outage, "mean": Mean, "exit": Exit, "jain": Jain, "average": Average, "ratio": Ratio,
}  # fmt: skip


def check_kind(table: Any) -> Any:
    """Refuse a derived metric of no known kind; pydantic then finds its class."""
    if isinstance(table, Derived):
        return table
    check_table(table, list(dict.fromkeys(["kind", *(key for kind in KINDS.values() for key in kind.known_keys())])), {})
    if "kind" not in table:
        raise refuse("is missing", list_allowed(KINDS), ("kind",))
    if not isinstance(table["kind"], str) or table["kind"] not in KINDS:
        raise refuse(f"{shorten(table['kind'])} is unknown", list_allowed(KINDS, value=table["kind"]), ("kind",))
    return table


if TYPE_CHECKING:
    AnyDerived = Derived
else:
    AnyDerived = tagged_union(KINDS, lambda table: table["kind"], check_kind)
"""A derived metric as a field of a model."""


def owners(flows: tuple[int, ...]) -> str:
    """Return the flows that are read in words."""
    if not flows:
        return "all flows"
    return f"flow {flows[0]}" if len(flows) == 1 else f"flows {', '.join(map(str, flows))}"


def span(interval: tuple[float, float] | None) -> str:
    """Return an interval of time in words."""
    return f" from {interval[0]:g} s to {interval[1]:g} s" if interval else ""
