"""One part of a study in its report: network, parameters, validity checks, figures and tables."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tonopah.analysis import tables
from tonopah.analysis.tables import PartTables
from tonopah.plot import figures, handover, network
from tonopah.plot.figures import RenderedFigure, slug
from tonopah.report.formatting import sweep_values, value_text
from tonopah.report.tables import WITHOUT_PATH, ReportTable, flow_tables, point_table
from tonopah.spec.derived import Recovery
from tonopah.spec.model import Figure, Part
from tonopah.spec.plan import Run
from tonopah.spec.schema import Sweep
from tonopah.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Section:
    """One sweep (or the nominal point) in the report: its figures and its tables."""

    anchor: str
    title: str
    note: str
    figures: list[RenderedFigure] = field(default_factory=list)
    tables: list[ReportTable] = field(default_factory=list)


@dataclass
class PartReport:
    """The contents of the report on one part."""

    part: Part
    anchor: str
    title: str
    runs: int
    picture: str
    network: str
    legend: str
    parameters: list[tuple[str, list[str]]]
    axes: list[tuple[Sweep, str]]
    validity_checks: list[str]
    sections: list[Section]


def report_part(source: PartTables) -> PartReport:
    """Return the report on one part."""
    part, graph = source.part, source.plan.graph
    anchor = f"part-{slug(part.id)}" if part.id else "part"
    sections = [*sweep_sections(source), default_section(source)]
    for section in sections:
        section.anchor = f"{anchor}-{section.anchor}"
        prefix = f"{slug(part.id)}-" if part.id else ""
        section.figures = [replace(figure, name=prefix + figure.name) for figure in section.figures]
    return PartReport(
        part=part, anchor=anchor, title=part.title or "Network and results", runs=len(source.runs), picture=network.draw(graph),
        network=network.describe(graph), legend=network.legend(graph), parameters=parameters(source),
        axes=[(sweep, sweep_values(sweep)) for sweep in part.sweeps], validity_checks=validity_checks(source), sections=sections,
    )  # fmt: skip


def sweep_sections(source: PartTables) -> Iterator[Section]:
    """Yield a section for each sweep, with the figures of the study file."""
    part = source.part
    for i, sweep in enumerate(part.sweeps):
        mine = source.runs[source.runs["run"].isin(source.plan.sweeps[i])]
        wanted = [figure for figure in part.figures if figure.x and {figure.x, figure.rows} - {None} == set(sweep.vary)]
        varied = "; ".join(f"{axis} = {', '.join(str(v) for v in values)}" for axis, values in sweep.vary.items())
        section = Section(f"sweep-{i + 1}", sweep.label, f"Varied: {varied}. All other values are the defaults.")
        points = [{axis: value} for axis, values in sweep.vary.items() for value in values] if len(sweep.vary) == 1 else []
        for figure in wanted:
            section.figures += render_figure(part, figure, sweep, mine)
            if figure.kind == "table":
                at_sweep = source.flows[source.flows["run"].isin(source.plan.sweeps[i])]
                section.tables += flow_tables(part, figure, at_sweep, points)
        names = dict.fromkeys(y for figure in wanted if figure.kind != "table" for y in figure.y)
        shown = [name for name in names if figures.is_measured(mine, name, part.labels)]
        if points and shown:
            section.tables.append(point_table(part, mine, points, shown))
        yield section


def render_figure(part: Part, figure: Figure, sweep: Sweep, runs: "pd.DataFrame") -> Iterator[RenderedFigure]:
    """Render one figure of the study file over a sweep, without metrics that no run measured."""
    one = len(sweep.vary) == 1
    axes = {key: figures.Axis(key, values, sweep.label if one else key) for key, values in sweep.vary.items()}
    method = replace(part.method, statistic="median") if figure.median else part.method
    for name in (name for name in figure.y if figures.is_measured(runs, name, part.labels)):
        shown = part.metric(name)
        if figure.kind == "heatmap" and figure.x and figure.rows:
            yield from (figures.heatmap(runs, axes[figure.x], axes[figure.rows], shown, label, method) for label in part.labels)
        elif figure.kind == "line" and figure.x:
            rendered = [figures.line(runs, axes[figure.x], shown, part.labels, method)]
            if figure.difference and len(part.labels) > 1:
                changes = figures.difference_line(runs, axes[figure.x], shown, part.labels, part.baseline, method)
                # Against a baseline of zero nothing is left to draw.
                rendered += [changes] if changes.data["value"].notna().any() else []
            suffix = "-median" if figure.median and part.statistic != "median" else ""
            yield from (replace(figure, name=figure.name + suffix) for figure in rendered)


def default_section(source: PartTables) -> Section:
    """Return the section on the nominal point: bars, distributions, time series and tables."""
    part = source.part
    at_base, flows_at_base = (frame[frame["run"].isin(source.plan.base)] for frame in (source.runs, source.flows))
    note = "Every axis has its default value. Time series show one representative run of each algorithm (seed 1)."
    section = Section("default", "The nominal point", note)
    for figure in (figure for figure in part.figures if figure.x is None):
        method = replace(part.method, statistic="median") if figure.median else part.method
        if figure.kind == "table":
            section.tables += flow_tables(part, figure, flows_at_base, [{}])
        for name in figure.y:
            if figure.kind == "bar" and figures.is_measured(at_base, name, part.labels):
                section.figures.append(figures.bar(at_base, part.metric(name), part.labels, method))
            elif figure.kind == "ecdf" and figures.is_measured(flows_at_base, name, part.labels):
                section.figures.append(figures.ecdf(flows_at_base, part.metric(name), part.labels))
            elif figure.kind == "series":
                section.figures += series_figures(source, name, figure.flow if isinstance(figure.flow, int) else 0)
    names = [y for figure in part.figures if figure.kind not in ("series", "table") for y in figure.y]
    names += [column for derived in part.derived for column in derived.columns()]
    shown = [name for name in dict.fromkeys(names) if figures.is_measured(at_base, name, part.labels)]
    if shown:
        section.tables.append(point_table(part, at_base, [{}], shown))
    return section


def series_figures(source: PartTables, name: str, flow: int) -> list[RenderedFigure]:
    """Return the figures of a series: of a flow, or of the link with the longest queue; none if all queues stayed empty."""
    part, representative, frames = source.part, source.plan.representative, {}
    # The baseline determines the link, so that all algorithms are shown at the same one; if its queues are empty, the next one.
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
    return [figures.series(ordered, name, which, handovers), *handover.plot_around(ordered, name, which, handovers)]


def link_name(source: PartTables, link: int) -> str:
    """Return the name of a link from its ends; its number if no summary has them."""
    run = source.plan.representative[source.part.baseline]
    links = [one for _, summary in source.store.summaries({run.id: run}) for one in summary["links"]]
    return next((f"{one['from']} → {one['to']}" for one in links if one["link"] == link), str(link))


def handover_times(store: Store, run: Run, flow: int) -> list[float]:
    """Return the times of the handovers of the ends of a flow, in seconds; none for networks on the ground."""
    found = store.summaries({run.id: run})
    summary = found[0][1] if found else {}
    ends = [summary["flows"][flow][end] for end in ("from", "to")] if summary.get("space") else []
    terminals = summary.get("space", {}).get("terminals", [])
    return sorted(time for terminal in terminals if terminal["terminal"] in ends for time in terminal["handover_times_s"])


def parameters(source: PartTables) -> list[tuple[str, list[str]]]:
    """Return the resolved scenario of the nominal point: key, and one value or, where they differ, one for each algorithm."""
    columns = [tables.flatten(json.loads(source.plan.nominal[label])) for label in source.part.labels]
    rows = []
    for key in sorted({key for column in columns for key in column}):
        texts = [value_text(column.get(key)) for column in columns]
        if any(texts):
            rows.append((key, texts if len(set(texts)) > 1 else texts[:1]))
    return rows


def validity_checks(source: PartTables) -> list[str]:
    """Return the findings that decide whether the numbers can be trusted."""
    runs, planned = source.runs, len(source.plan.runs)
    notes = []
    if len(runs) < planned:
        notes.append(f"{planned - len(runs)} of {planned} runs are missing: the study is not complete.")
    if not source.plan.random:
        notes.append(
            "Nothing in this scenario is random: every seed gives the same run, so n is 1, without intervals and p values."
        )
    if runs.empty:
        return notes
    wanted = [f"conservation.{name}" for name in ("sent", "delivered", "dropped", "in_flight")]
    if set(wanted) <= set(runs.columns):
        sent, *ends = (runs[name] for name in wanted)
        wrong = int((sent != sum(ends)).sum())
        good = "In every run, packets sent = delivered + dropped + in flight at the end."
        notes.append(good if wrong == 0 else f"Packet conservation violated in {wrong} runs: the results are invalid.")
    notes += partitions(runs)
    if "flows_without_delivery" in runs.columns and runs["flows_without_delivery"].sum() > 0:
        share = runs["flows_without_delivery"].sum() / runs["flows"].sum()
        notes.append(f"{100 * share:.2f} % of all flows delivered nothing; their delay and ratios are not measured.")
    for derived in source.part.derived:
        if isinstance(derived, Recovery) and (late := runs[f"{derived.name}.censored"].sum()) > 0:
            notes.append(
                f"{derived.name}: in {late:.0f} of {len(runs)} runs the series did not recover before the end (right-censored)."
            )
    if source.part.replicates < 2:
        notes.append("One replicate: no intervals and no tests.")
    return notes


def partitions(runs: "pd.DataFrame") -> list[str]:
    """Return how many runs and flows a partition of the network affected; with random placement it is part of the result."""
    notes = []
    if WITHOUT_PATH in runs.columns and (lost := runs[WITHOUT_PATH].sum()) > 0:
        share, hit = lost / runs["flows"].sum(), (runs[WITHOUT_PATH] > 0).sum()
        notes.append(
            f"Partitioned networks: {100 * share:.2f} % of all flows never had a path, in {hit} of {len(runs)} runs; "
            "tables show the share beside the numbers."
        )
    if "components" in runs.columns and (runs["components"] > 1).any():
        apart = (runs["components"] > 1).sum()
        notes.append(f"In {apart} of {len(runs)} runs the network was not connected at the start.")
    return notes
