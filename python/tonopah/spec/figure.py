"""Requests for figures as a study file has them: `[[figure]]`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from tonopah.spec.validation import CurrentMetrics, Filled, Model, Texts, distinct, refuse, shorten

FIGURE_KINDS = ("line", "bar", "scatter", "ecdf", "cdf", "heatmap", "series", "table")
LOG_AXES = {
    "line": ("x", "y", "xy"),
    "bar": ("y",),
    "scatter": ("x", "y", "xy"),
    "ecdf": ("x",),
    "cdf": ("x", "y", "xy"),
    "heatmap": (),
    "series": ("y",),
    "table": (),
}
"""By kind of figure: the axes that can be logarithmic."""
OF_FLOWS = ("series", "cdf")
"""Kinds of figures that are of a flow, or of several."""
MAX_FLOW = 1_000_000


def to_flows(value: Any) -> Any:
    """Return a flow, an array of flows, or "all"; refuse anything else."""
    entries = list(value) if isinstance(value, list | tuple) else [value]
    if value == "all":
        return value
    if not entries:
        raise refuse("is empty", 'an array of flows, or "all"')
    for i, entry in enumerate(entries):
        at = (i,) if isinstance(value, list | tuple) else ()
        if isinstance(entry, bool) or not isinstance(entry, int):
            raise refuse(f"{shorten(entry)} is not a flow", 'a whole number, an array of them, or "all"', at)
        if not 0 <= entry <= MAX_FLOW:
            raise refuse(f"{entry} is out of range", f"0 to {MAX_FLOW}", at)
    return distinct(tuple(entries)) if isinstance(value, list | tuple) else value


FlowChoice = Annotated[
    Any,
    BeforeValidator(to_flows),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MAX_FLOW},
                {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": MAX_FLOW}, "minItems": 1},
                {"const": "all"},
            ]
        }
    ),
]
"""A flow, several, or all."""


class FigureTable(Model):
    """One request for figures: one for each axis in `x` and each metric in `y`."""

    kind: Literal[*FIGURE_KINDS] = Field(description="What is drawn (above).")  # pyright: ignore[reportInvalidTypeForm]
    y: Annotated[Filled[str], CurrentMetrics] = Field(
        description="Metrics (columns of `tables/`, derived ones included); for `series`, recorded series; "
        "for `cdf`, `delay`, `app_delay` or `rtt`."
    )
    x: Texts | None = Field(None, description="Axis, or an array of them: one figure for each.")
    against: str | None = Field(None, description="Of `scatter`: the metric of the horizontal axis.")
    rows: str | None = Field(None, description="Second axis of a heat map.")
    beside: Texts | None = Field(
        None, description="Of `bar`: parts whose nominal points stand beside that of this part, each a place of the axis."
    )
    difference: bool = Field(False, description="Add the paired difference to the baseline in percent.")
    median: bool = Field(False, description="Draw medians, with intervals of order statistics, in a part of means.")
    flow: FlowChoice = Field(
        0,
        description='Of `series`: a flow, by number or name, of every algorithm in one panel; or an array of flows, or `"all"`, '
        "of one run in one panel, with a panel for each algorithm. Of `cdf`: whose packets, of every algorithm in one panel.",
    )
    log: Literal["x", "y", "xy"] | None = Field(None, description="Axes that are logarithmic.")
    title: str = Field("", description="Its title; made from metric and axis if absent.")

    @property
    def flows(self) -> int | tuple[int, ...]:
        """The flow, or the flows in one panel; empty for all."""
        return () if self.flow == "all" else self.flow

    @model_validator(mode="after")
    def check_log(self) -> "FigureTable":
        """Refuse a logarithmic axis that a kind does not have, and flows of what is not a series."""
        if self.kind not in OF_FLOWS and "flow" in self.model_fields_set:
            raise refuse(f"has no meaning for a {self.kind} figure", f"only {' and '.join(OF_FLOWS)} are of a flow", ("flow",))
        if self.log and self.log not in LOG_AXES[self.kind]:
            allowed = " or ".join(f'"{axis}"' for axis in LOG_AXES[self.kind])
            has = f"its axes: {allowed}" if allowed else "it has none"
            raise refuse(f"{shorten(self.log)} has no meaning for a {self.kind} figure", has, ("log",))
        return self

    @model_validator(mode="after")
    def check_axes(self) -> "FigureTable":
        """Refuse a kind without its axes, and axes without meaning."""
        if self.kind in ("line", "heatmap") and self.x is None:
            raise refuse("is missing", f"a {self.kind} figure needs an axis that a sweep varies", ("x",))
        if self.kind not in ("line", "scatter", "heatmap", "table") and self.x is not None:
            raise refuse(f"has no meaning for a {self.kind} figure", "it shows the nominal point", ("x",))
        if (self.against is None) == (self.kind == "scatter"):
            wrong = "is missing" if self.kind == "scatter" else f"has no meaning for a {self.kind} figure"
            raise refuse(wrong, "of a scatter figure, `against` is the metric of the horizontal axis", ("against",))
        if self.beside is not None and self.kind != "bar":
            raise refuse(f"has no meaning for a {self.kind} figure", "only bars are of nominal points", ("beside",))
        for key, has in (("difference", ("line", "heatmap")), ("median", ("line", "bar", "scatter", "heatmap"))):
            if getattr(self, key) and self.kind not in has:
                raise refuse(f"has no meaning for a {self.kind} figure", f"only {', '.join(has)} have it", (key,))
        if self.kind == "heatmap" and self.rows is None:
            raise refuse("is missing", "the second axis of a crossed sweep", ("rows",))
        return self
