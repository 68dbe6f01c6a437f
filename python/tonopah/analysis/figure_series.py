"""Figures of series: one flow of every algorithm, several flows of one run, and the time around handovers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Mark, Series, as_numbers, step_of
from tonopah.analysis.tables import PartTables
from tonopah.metrics import Metric, metric
from tonopah.names import figure_id
from tonopah.scenario.flow_names import called
from tonopah.spec.model import Figure

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import Run
    from tonopah.store.store import Store

MAX_FLOWS = 24
"""More flows in one panel could not be told apart."""
MAX_HANDOVERS = 4
"""More panels side by side could not be read."""
BEFORE_S = 10.0
AFTER_S = 20.0
MARGIN_S = 1.0
"""Beyond the edges of a panel, so that lines reach them."""


@dataclass(frozen=True)
class Sampled:
    """A series of the representative runs: the samples of each algorithm, and the column that says whose they are."""

    name: str
    frames: Mapping[str, "pd.DataFrame"]
    column: str

    @property
    def metric(self) -> Metric:
        """How it is shown."""
        return metric(self.name)


def series_figures(source: PartTables, figure: Figure, name: str) -> list[FigureData]:
    """Return the figures of a series; none if it has no sample, or no queue was ever filled."""
    sampled = read_samples(source, name)
    if not sampled.frames:
        return []
    if isinstance(figure.flow, tuple) and sampled.column != "link":
        return list(owners_together(source, figure, sampled))
    return one_owner(source, figure, sampled, figure.flow if isinstance(figure.flow, int) else 0)


def read_samples(source: PartTables, name: str) -> Sampled:
    """Return the samples of the representative run of each algorithm."""
    part, frames = source.part, {}
    for label in part.labels:
        run = source.plan.representative.get(label)
        if run and source.store.series_path(run.id).is_file() and not (frame := source.store.series(run.id, name)).empty:
            frames[label] = frame
    column = next(
        (key for key in ("link", "node", "workload", "flow") if any(key in frame.columns for frame in frames.values())), "flow"
    )
    return Sampled(name, frames, column)


def one_owner(source: PartTables, figure: Figure, sampled: Sampled, flow: int) -> list[FigureData]:
    """Return a series of one flow, or of the link with the longest queue, with all algorithms in one panel."""
    part, owner, which, keys = source.part, flow, f"{sampled.column} {flow}", [f"{sampled.column}{flow}"] * bool(flow)
    if sampled.column == "link":
        # The baseline determines the link, so that all are shown at the same one; if its queues are empty, the next algorithm.
        order = sorted(sampled.frames, key=lambda label: label != part.baseline)
        filled = (label for label in order if sampled.frames[label]["value"].max() > 0)
        if (longest := next(filled, None)) is None:
            return []
        frame = sampled.frames[longest]
        owner, keys = int(frame.loc[frame["value"].idxmax(), "link"]), []
        which = f"link {link_name(source, owner)} (the longest queue)"
    ids = {sampled.column: owner} if sampled.column in ("flow", "link") else {}
    shown = [
        as_series(label, part.labels.index(label), mine, sampled.metric, **ids)
        for label, frame in sampled.frames.items()
        if len(mine := frame[frame[sampled.column] == owner])
    ]
    if not shown:
        return []
    times = handover_times(source.store, source.plan.representative[part.baseline], flow) if sampled.column == "flow" else []
    title = f"{sampled.metric.label} over time"
    caption = (
        f"{sampled.metric.label} of {which} over time, one representative run (nominal point, seed 1) of each algorithm."
        + (" Dotted: handovers to another satellite." if times else "")
    )
    made = over_time(part.id, [sampled.name, *keys], title, caption, sampled, shown, figure.log)
    made = replace(made, marks=[Mark(time, "handover") for time in times])
    return [made, *around_handovers(made, which, times)]


def owners_together(source: PartTables, figure: Figure, sampled: Sampled) -> Iterator[FigureData]:
    """Yield for each algorithm a panel with several flows (or nodes) of its representative run."""
    part, wanted = source.part, figure.flow
    for label, frame in sampled.frames.items():
        found = sorted(int(owner) for owner in frame[sampled.column].unique() if not wanted or owner in wanted)
        names = flow_names(source, source.plan.representative[label]) if sampled.column == "flow" else {}
        shown = [
            as_series(names.get(owner, f"{sampled.column} {owner}"), i, frame[frame[sampled.column] == owner], sampled.metric,
                      owner if sampled.column == "flow" else None)
            for i, owner in enumerate(found[:MAX_FLOWS])
        ]  # fmt: skip
        if not shown:
            continue
        rest = f" Shown are the first {MAX_FLOWS} of {len(found)}." if len(found) > MAX_FLOWS else ""
        title = f"{sampled.metric.label} of the {sampled.column}s, {label}"
        caption = f"{title}: one run (nominal point, seed 1), all in one panel.{rest}"
        which = "all" if not wanted else "-".join(str(owner) for owner in wanted)  # pyright: ignore[reportGeneralTypeIssues]
        yield over_time(part.id, [sampled.name, f"{sampled.column}s.{which}", label], title, caption, sampled, shown, figure.log)


def over_time(
    part: str, keys: list[str], title: str, caption: str, sampled: Sampled, shown: list[Series], log: str
) -> FigureData:
    """Return a figure over time."""
    scale = FigureScale(sampled.name, sampled.metric.label, sampled.metric.unit, log="y" in log)
    axis = FigureAxis("t_s", "Time", "s")
    return FigureData(figure_id(part, "series", *keys), part, "series", title, caption, axis, scale, shown,
                      step=step_of(sampled.name), wide=True)  # fmt: skip


def as_series(
    label: str, style: int, frame: "pd.DataFrame", shown: Metric, flow: int | None = None, link: int | None = None
) -> Series:
    """Return samples in the unit of the axis."""
    return Series(label, style, as_numbers(frame["t_s"]), as_numbers(frame["value"] * shown.factor), flow=flow, link=link)


def around_handovers(made: FigureData, which: str, times: Sequence[float]) -> Iterator[FigureData]:
    """Yield a panel for each of the first handovers, with time counted from it."""
    count = len(times)
    number = f"the first {MAX_HANDOVERS}" if count > MAX_HANDOVERS else f"all {count}" if count > 1 else "the only one"
    for i, time in enumerate(times[:MAX_HANDOVERS]):
        caption = f"{made.y.label} of {which} around the handover at {time:.1f} s ({number}): the same run of each algorithm."
        yield replace(
            made,
            id=figure_id(made.part, "handover", made.y.key, str(i + 1)),
            title=f"{made.y.label} around the handover at {time:.1f} s",
            caption=caption,
            x=FigureAxis("since_s", "Since handover", "s"),
            series=[near(one, time) for one in made.series],
            marks=[Mark(0.0, "handover")],
            wide=False,
        )


def near(one: Series, time: float) -> Series:
    """Return the samples around a time, counted from it."""
    low, high = time - BEFORE_S - MARGIN_S, time + AFTER_S + MARGIN_S
    kept = [(x - time, y) for x, y in zip(one.x, one.y, strict=True) if x is not None and low <= x <= high]
    return replace(one, x=[x for x, _ in kept], y=[y for _, y in kept])


def summary_of(store: "Store", run: "Run") -> dict[str, Any]:
    """Return the summary of a run; empty if it is not stored."""
    found = store.summaries({run.id: run})
    return found[0][1] if found else {}


def flow_names(source: PartTables, run: "Run") -> dict[int, str]:
    """Return what flows of a run are called: by name, or number and ends; with the algorithm where there are different ones."""
    flows = summary_of(source.store, run).get("flows", [])
    names, several = called(flows, json.loads(run.scenario)), len({flow.get("cc") for flow in flows}) > 1
    return {flow["flow"]: names[flow["flow"]] + (f", {flow['cc']}" if several and flow.get("cc") else "") for flow in flows}


def link_name(source: PartTables, link: int) -> str:
    """Return the name of a link from its ends; its number if no summary has them."""
    links = summary_of(source.store, source.plan.representative[source.part.baseline]).get("links", [])
    return next((f"{one['from']} → {one['to']}" for one in links if one["link"] == link), str(link))


def handover_times(store: "Store", run: "Run", flow: int) -> list[float]:
    """Return the times of the handovers of the ends of a flow, in seconds; none for networks on the ground."""
    summary = summary_of(store, run)
    if not summary.get("space") or flow >= len(summary["flows"]):
        return []
    ends = [summary["flows"][flow][end] for end in ("from", "to")]
    terminals = summary["space"].get("terminals", [])
    return sorted(time for terminal in terminals if terminal["terminal"] in ends for time in terminal["handover_times_s"])
