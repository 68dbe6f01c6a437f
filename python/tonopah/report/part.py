"""One part of a study in its report: network, parameters, validity checks, figures and tables."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tonopah.analysis import tables
from tonopah.analysis.figure_data import FigureData, FigureSection, part_figures
from tonopah.analysis.tables import PartTables, is_measured
from tonopah.names import slug
from tonopah.plot import network
from tonopah.report.formatting import sweep_values, value_text
from tonopah.report.panels import PageSection, make_panels
from tonopah.report.tables import WITHOUT_PATH, ReportTable, flow_tables, point_table
from tonopah.spec.derived import Recovery
from tonopah.spec.model import Part
from tonopah.spec.schema import Sweep

if TYPE_CHECKING:
    import pandas as pd


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
    sections: list[PageSection]
    figures: list[FigureData]


def report_part(source: PartTables, others: Iterable[PartTables] = ()) -> PartReport:
    """Return the report on one part; its figures may show `others` beside it."""
    part, graph = source.part, source.plan.graph
    anchor = f"part--{slug(part.id)}" if part.id else "part"
    found = part_figures(source, others)
    sections = [
        PageSection(f"{anchor}--{one.anchor}", one.title, one.note, make_panels(one.figures), section_tables(source, one, i))
        for i, one in enumerate(found)
    ]
    return PartReport(
        part=part, anchor=anchor, title=part.title or "Network and results", runs=len(source.runs), picture=network.draw(graph),
        network=network.describe(graph), legend=network.legend(graph), parameters=parameters(source),
        axes=[(sweep, sweep_values(sweep)) for sweep in part.sweeps], validity_checks=validity_checks(source),
        sections=sections, figures=[figure for one in found for figure in one.figures],
    )  # fmt: skip


def section_tables(source: PartTables, section: FigureSection, index: int) -> list[ReportTable]:
    """Return the tables of a section: those of flows that the study file asks for, and one of all metrics shown."""
    return sweep_tables(source, section.sweep, index) if section.sweep else default_tables(source)


def sweep_tables(source: PartTables, sweep: Sweep, index: int) -> list[ReportTable]:
    """Return the tables of the index-th sweep; crossed axes have none."""
    part, made = source.part, []
    runs, flows = (frame[frame["run"].isin(source.plan.sweeps[index])] for frame in (source.runs, source.flows))
    wanted = [figure for figure in part.figures if figure.x and {figure.x, figure.rows} - {None} == set(sweep.vary)]
    points = [{axis: value} for axis, values in sweep.vary.items() for value in values] if len(sweep.vary) == 1 else []
    for figure in wanted:
        made += flow_tables(part, figure, flows, points) if figure.kind == "table" else []
    names = dict.fromkeys(y for figure in wanted if figure.kind != "table" for y in figure.y)
    shown = [name for name in names if is_measured(runs, name, part.labels)]
    return made + ([point_table(part, runs, points, shown)] if points and shown else [])


def default_tables(source: PartTables) -> list[ReportTable]:
    """Return the tables of the nominal point: all metrics that are shown anywhere, and derived ones."""
    part, made = source.part, []
    runs, flows = (frame[frame["run"].isin(source.plan.base)] for frame in (source.runs, source.flows))
    for figure in part.figures:
        made += flow_tables(part, figure, flows, [{}]) if figure.x is None and figure.kind == "table" else []
    names = [y for figure in part.figures if figure.kind not in ("series", "table") for y in figure.y]
    names += [column for derived in part.derived for column in derived.columns()]
    shown = [name for name in dict.fromkeys(names) if is_measured(runs, name, part.labels)]
    return made + ([point_table(part, runs, [{}], shown)] if shown else [])


def parameters(source: PartTables) -> list[tuple[str, list[str]]]:
    """Return the resolved scenario of the nominal point: key, and one value or, where they differ, one for each algorithm."""
    resolved = [json.loads(source.plan.nominal[label]) for label in source.part.labels]
    columns = [tables.flatten(one) | of_listed(one, "flow") | of_listed(one, "workload") for one in resolved]
    rows = []
    for key in sorted({key for column in columns for key in column}):
        texts = [value_text(column.get(key)) for column in columns]
        if any(texts):
            rows.append((key, texts if len(set(texts)) > 1 else texts[:1]))
    return rows


def of_listed(resolved: Mapping[str, Any], what: str) -> dict[str, str]:
    """Return the settings that flows or workloads have of their own, one row for all of them: `flow.*.tcp.sack`."""
    entries = [tables.flatten(entry.get("tcp", {}), "tcp.") for entry in resolved.get(what, ())]
    values: dict[str, list[str]] = {}
    for key, value in ((key, value_text(value)) for entry in entries for key, value in entry.items()):
        values.setdefault(f"{what}.*.{key}", []).append(value)
    return {key: ", ".join(dict.fromkeys(found)) for key, found in values.items()}


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
    else:
        seeds = source.part.seeds
        draws = "; each point of a sweep has draws of its own" if source.part.vary.points and source.part.sweeps else ""
        numbers = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
        notes.append(f"What differs between replicates ({numbers}): {', '.join(source.plan.random)}{draws}.")
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
