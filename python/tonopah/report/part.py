"""One part of a study in its report: network, parameters, what to know before trusting the numbers, figures and tables."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tonopah.analysis import tables
from tonopah.plot import figures, handover, network
from tonopah.plot.figures import Drawing, slug
from tonopah.report.formatting import sweep_values, value_text
from tonopah.report.tables import WITHOUT_PATH, Sheet, flow_sheets, point_sheet
from tonopah.spec.derived import Recovery
from tonopah.spec.model import Figure, Part
from tonopah.spec.schema import Sweep

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.spec.plan import PartPlan, Run
    from tonopah.store.store import Store


@dataclass
class Section:
    """One sweep (or the default point) in the report: its drawings and its tables."""

    anchor: str
    title: str
    note: str
    drawings: list[Drawing] = field(default_factory=list)
    sheets: list[Sheet] = field(default_factory=list)


@dataclass
class PartReport:
    """What the report shows of one part."""

    part: Part
    anchor: str
    title: str
    runs: int
    picture: str
    network: str
    legend: str
    parameters: list[tuple[str, list[str]]]
    axes: list[tuple[Sweep, str]]
    health: list[str]
    sections: list[Section]


@dataclass(frozen=True)
class Source:
    """What a part is reported from: its plan, its tables, and the store for series."""

    part: Part
    plan: "PartPlan"
    runs: "pd.DataFrame"
    flows: "pd.DataFrame"
    store: "Store"


def report_part(source: Source) -> PartReport:
    """Return what the report shows of a part."""
    part, graph = source.part, source.plan.graph
    anchor = f"part-{slug(part.id)}" if part.id else "part"
    sections = [*sweep_sections(source), default_section(source)]
    for section in sections:
        section.anchor = f"{anchor}-{section.anchor}"
        prefix = f"{slug(part.id)}-" if part.id else ""
        section.drawings = [replace(drawing, name=prefix + drawing.name) for drawing in section.drawings]
    return PartReport(
        part=part, anchor=anchor, title=part.title or "Network and results", runs=len(source.runs), picture=network.draw(graph),
        network=network.describe(graph), legend=network.legend(graph), parameters=parameters(source),
        axes=[(sweep, sweep_values(sweep)) for sweep in part.sweeps], health=health(source), sections=sections,
    )  # fmt: skip


def sweep_sections(source: Source) -> Iterator[Section]:
    """Yield a section for each sweep, with the figures that the study file asks for."""
    part = source.part
    for i, sweep in enumerate(part.sweeps):
        mine = source.runs[source.runs["run"].isin(source.plan.sweeps[i])]
        wanted = [figure for figure in part.figures if figure.x and {figure.x, figure.rows} - {None} == set(sweep.vary)]
        varied = "; ".join(f"{axis} = {', '.join(str(v) for v in values)}" for axis, values in sweep.vary.items())
        section = Section(f"sweep-{i + 1}", sweep.label, f"Varied: {varied}. Everything else keeps its default.")
        points = [{axis: value} for axis, values in sweep.vary.items() for value in values] if len(sweep.vary) == 1 else []
        for figure in wanted:
            section.drawings += draw(part, figure, sweep, mine)
            if figure.kind == "table":
                at_sweep = source.flows[source.flows["run"].isin(source.plan.sweeps[i])]
                section.sheets += flow_sheets(part, figure, at_sweep, points)
        names = dict.fromkeys(y for figure in wanted if figure.kind != "table" for y in figure.y)
        shown = [name for name in names if figures.has(mine, name, part.labels)]
        if points and shown:
            section.sheets.append(point_sheet(part, mine, points, shown))
        yield section


def draw(part: Part, figure: Figure, sweep: Sweep, runs: "pd.DataFrame") -> Iterator[Drawing]:
    """Yield the drawings of one request over a sweep; metrics that no run measured are left out."""
    one = len(sweep.vary) == 1
    axes = {key: figures.Axis(key, values, sweep.label if one else key) for key, values in sweep.vary.items()}
    method = replace(part.method, statistic="median") if figure.median else part.method
    for name in (name for name in figure.y if figures.has(runs, name, part.labels)):
        shown = part.metric(name)
        if figure.kind == "heatmap" and figure.x and figure.rows:
            yield from (figures.heatmap(runs, axes[figure.x], axes[figure.rows], shown, label, method) for label in part.labels)
        elif figure.kind == "line" and figure.x:
            drawings = [figures.line(runs, axes[figure.x], shown, part.labels, method)]
            if figure.difference and len(part.labels) > 1:
                changes = figures.difference_line(runs, axes[figure.x], shown, part.labels, part.baseline, method)
                # Against a baseline of zero nothing is left to draw.
                drawings += [changes] if changes.data["value"].notna().any() else []
            suffix = "-median" if figure.median and part.statistic != "median" else ""
            yield from (replace(drawing, name=drawing.name + suffix) for drawing in drawings)


def default_section(source: Source) -> Section:
    """Return the section on the default point: bars, distributions, time series and tables."""
    part = source.part
    at_base, flows_at_base = (frame[frame["run"].isin(source.plan.base)] for frame in (source.runs, source.flows))
    note = "Every axis at its default. Time series show one representative run of each algorithm (seed 1)."
    section = Section("default", "The default point", note)
    for figure in (figure for figure in part.figures if figure.x is None):
        method = replace(part.method, statistic="median") if figure.median else part.method
        if figure.kind == "table":
            section.sheets += flow_sheets(part, figure, flows_at_base, [{}])
        for name in figure.y:
            if figure.kind == "bar" and figures.has(at_base, name, part.labels):
                section.drawings.append(figures.bar(at_base, part.metric(name), part.labels, method))
            elif figure.kind == "ecdf" and figures.has(flows_at_base, name, part.labels):
                section.drawings.append(figures.ecdf(flows_at_base, part.metric(name), part.labels))
            elif figure.kind == "series":
                section.drawings += series_drawing(source, name, figure.flow)
    names = [y for figure in part.figures if figure.kind not in ("series", "table") for y in figure.y]
    names += [column for derived in part.derived for column in derived.columns()]
    shown = [name for name in dict.fromkeys(names) if figures.has(at_base, name, part.labels)]
    if shown:
        section.sheets.append(point_sheet(part, at_base, [{}], shown))
    return section


def series_drawing(source: Source, name: str, flow: int) -> list[Drawing]:
    """Return the drawing of a series: of a flow, or of the link whose queue grew longest; nothing if all stayed empty."""
    part, representative, frames = source.part, source.plan.representative, {}
    # The baseline chooses the link, so that all algorithms are seen at the same one; where it queues nothing, the next one.
    for label, run in sorted(representative.items(), key=lambda item: item[0] != part.baseline):
        if source.store.series_path(run.id).is_file() and not (frame := source.store.series(run.id, name)).empty:
            frames[label] = frame
    column = next((key for key in ("link", "node", "flow") if any(key in frame.columns for frame in frames.values())), "flow")
    owner, which = flow, f"{column} {flow}"
    if column == "link":
        longest = next(((frame["value"].idxmax(), frame) for frame in frames.values() if frame["value"].max() > 0), None)
        if longest is None:
            return []
        owner = longest[1].loc[longest[0], "link"]
        which = f"link {link_name(source, owner)} (the longest queue)"
    frames = {label: frame[frame[column] == owner] for label, frame in frames.items()}
    ordered = {label: frames[label] for label in part.labels if label in frames and len(frames[label])}
    handovers = handover_times(source.store, representative[part.baseline], flow) if owner == flow else []
    if not ordered:
        return []
    return [figures.series(ordered, name, which, handovers), *handover.around(ordered, name, which, handovers)]


def link_name(source: Source, link: int) -> str:
    """Return a link by its ends; by its number if no run tells them."""
    run = source.plan.representative[source.part.baseline]
    links = [one for _, summary in source.store.summaries({run.id: run}) for one in summary["links"]]
    return next((f"{one['from']} → {one['to']}" for one in links if one["link"] == link), str(link))


def handover_times(store: "Store", run: "Run", flow: int) -> list[float]:
    """Return when the ends of a flow changed their satellite; nothing for networks on the ground."""
    found = store.summaries({run.id: run})
    summary = found[0][1] if found else {}
    ends = [summary["flows"][flow][end] for end in ("from", "to")] if summary.get("space") else []
    terminals = summary.get("space", {}).get("terminals", [])
    return sorted(time for terminal in terminals if terminal["terminal"] in ends for time in terminal["handover_times_s"])


def parameters(source: Source) -> list[tuple[str, list[str]]]:
    """Return the resolved scenario of the default point: key, and one value or, where they differ, one for each algorithm."""
    of = {run.algorithm: run.resolved for run in source.plan.runs.values() if run.id in source.plan.base}
    columns = [tables.flatten(json.loads(of[label])) for label in source.part.labels]
    rows = []
    for key in sorted({key for column in columns for key in column}):
        texts = [value_text(column.get(key)) for column in columns]
        if any(texts):
            rows.append((key, texts if len(set(texts)) > 1 else texts[:1]))
    return rows


def health(source: Source) -> list[str]:
    """Return what a reader must know before trusting the numbers."""
    runs, planned = source.runs, len(source.plan.runs)
    notes = []
    if len(runs) < planned:
        notes.append(f"{planned - len(runs)} of {planned} runs are missing: the study was not finished.")
    if runs.empty:
        return notes
    wanted = [f"conservation.{name}" for name in ("sent", "delivered", "dropped", "in_flight")]
    if set(wanted) <= set(runs.columns):
        sent, *ends = (runs[name] for name in wanted)
        wrong = int((sent != sum(ends)).sum())
        good = "In every run, packets sent = delivered + dropped + in flight at the end."
        notes.append(good if wrong == 0 else f"Packets are not conserved in {wrong} runs: do not trust this report.")
    notes += partitions(runs)
    if "flows_without_delivery" in runs.columns and runs["flows_without_delivery"].sum() > 0:
        share = runs["flows_without_delivery"].sum() / runs["flows"].sum()
        notes.append(f"{100 * share:.2f} % of all flows delivered nothing; their delay and ratios are not measured.")
    for derived in source.part.derived:
        if isinstance(derived, Recovery) and (late := runs[f"{derived.name}.censored"].sum()) > 0:
            notes.append(
                f"{derived.name}: in {late:.0f} of {len(runs)} runs it did not come back; the time to the end is counted."
            )
    if source.part.replicates < 2:
        notes.append("One replicate: there are no intervals and no tests.")
    return notes


def partitions(runs: "pd.DataFrame") -> list[str]:
    """Return how many runs and flows a partitioned network hit; with random placement it is part of the result."""
    notes = []
    if WITHOUT_PATH in runs.columns and (lost := runs[WITHOUT_PATH].sum()) > 0:
        share, hit = lost / runs["flows"].sum(), (runs[WITHOUT_PATH] > 0).sum()
        notes.append(
            f"Partitioned networks: {100 * share:.2f} % of all flows had no path at any time, in {hit} of {len(runs)} runs; "
            "tables show the share beside the numbers."
        )
    if "components" in runs.columns and (runs["components"] > 1).any():
        apart = (runs["components"] > 1).sum()
        notes.append(f"In {apart} of {len(runs)} runs the nodes were not all connected at the start.")
    return notes
