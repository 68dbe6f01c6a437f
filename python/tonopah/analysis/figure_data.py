"""The figures of a part as data: one section for each sweep and one for the nominal point, with the figures of the study file.

A report draws them in its page, `tonopah study figure` with matplotlib; figures/ holds their numbers. All come from here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from tonopah.analysis.figure_distribution import cdf_figures
from tonopah.analysis.figure_model import FigureData
from tonopah.analysis.figure_scale import common_ranges, scale_key
from tonopah.analysis.figure_series import series_figures
from tonopah.analysis.figure_values import (
    Request,
    SweptAxis,
    bar,
    difference_line,
    ecdf,
    heatmap,
    heatmap_difference,
    line,
    parts_line,
    scatter,
)
from tonopah.analysis.reproduction import published_points
from tonopah.analysis.tables import PartTables, is_measured, part_tables, require_runs
from tonopah.errors import near_names
from tonopah.spec.model import Figure, Part, StudySpec
from tonopah.spec.plan import Plan
from tonopah.spec.schema import Sweep

if TYPE_CHECKING:
    from tonopah.store.store import Store

__all__ = ["FigureData", "FigureSection", "part_figures"]


MAX_NEAR = 3


@dataclass
class FigureSection:
    """The figures over one sweep, or at the nominal point (`sweep` is None)."""

    anchor: str
    """`sweep-1`, `sweep-2` and so on, or `default`."""
    title: str
    note: str
    sweep: Sweep | None
    figures: list[FigureData] = field(default_factory=list)


def part_figures(source: PartTables, others: Iterable[PartTables] = ()) -> list[FigureSection]:
    """Return the figures of a part by section, in the order of the study file, with one scale for all that show the same.

    `others` are the parts that figures of this one may show beside it.
    """
    sections = [*sweep_sections(source), default_section(source, {other.part.id: other for other in others})]
    distinct_figures(sections)
    ranges = common_ranges(figure for section in sections for figure in section.figures)
    for section in sections:
        section.figures = [replace(figure, y=ranges[scale_key(figure)].applied(figure.y)) for figure in section.figures]
    return sections


def part_sources(parts: Iterable[Part], plan: Plan, store: "Store") -> list[PartTables]:
    """Return the tables of parts."""
    return [PartTables(part, plan.parts[part.id], *part_tables(part, plan.parts[part.id], store), store) for part in parts]


def study_figures(spec: StudySpec, plan: Plan, store: "Store") -> dict[str, FigureData]:
    """Return all figures of a study by their ids. Raises InputError if it has no finished run."""
    sources = part_sources(spec.parts, plan, store)
    require_runs(sources, store)
    sections = (section for source in sources for section in part_figures(source, sources))
    return {figure.id: figure for section in sections for figure in section.figures}


def near_figures(name: str, known: Iterable[str]) -> str:
    """Return a hint with the figures whose ids are most like a wrong one, or that contain it."""
    names = list(known)
    near = [one for one in names if name.strip("*") and name.strip("*") in one]
    near += near_names(name, names, MAX_NEAR)
    listed = ", ".join(dict.fromkeys(near[:MAX_NEAR])) or ", ".join(names[:MAX_NEAR])
    return f"{'near names' if near else 'some of them'}: {listed}; `tonopah study figure NAME --list` has all {len(names)}"


def sweep_sections(source: PartTables) -> Iterator[FigureSection]:
    """Yield a section for each sweep."""
    for i, sweep in enumerate(source.part.sweeps):
        mine = source.runs[source.runs["run"].isin(source.plan.sweeps[i])]
        varied = "; ".join(f"{axis} = {', '.join(str(v) for v in values)}" for axis, values in sweep.vary.items())
        section = FigureSection(f"sweep-{i + 1}", sweep.label, f"Varied: {varied}. All other values are the defaults.", sweep)
        for figure in source.part.figures:
            if figure.x and {figure.x, figure.rows} - {None} == set(sweep.vary):
                swept = replace(source, runs=mine)
                section.figures += [titled(figure, made) for made in sweep_figures(swept, figure, sweep)]
        yield section


def sweep_figures(source: PartTables, figure: Figure, sweep: Sweep) -> Iterator[FigureData]:
    """Yield the figures of one request over a sweep, without metrics that no run measured."""
    part = source.part
    axes = {key: SweptAxis(key, values, part.axis_label(key)) for key, values in sweep.vary.items()}
    for name in (name for name in figure.y if is_measured(source.runs, name, part.labels)):
        request = request_of(source, figure, name)
        if figure.kind == "heatmap" and figure.x and figure.rows:
            yield heatmap(request, axes[figure.x], axes[figure.rows])
            changes = [heatmap_difference(request, axes[figure.x], axes[figure.rows])] if len(part.labels) > 1 else []
        elif figure.kind == "line" and figure.x:
            yield line(request, axes[figure.x])
            wanted = figure.difference and len(part.labels) > 1
            changes = [difference_line(request, axes[figure.x])] if wanted else []
        elif figure.kind == "scatter" and figure.x and is_measured(source.runs, figure.against, part.labels):
            against, axis = request_of(source, figure, figure.against), axes[figure.x]
            yield from (scatter(request, against, axis, value) for value in axis.values)
            changes = []
        else:
            continue
        # Against a baseline of zero nothing is left to draw.
        yield from (change for change in changes if not change.is_empty())


def default_section(source: PartTables, others: Mapping[str, PartTables]) -> FigureSection:
    """Return the section on the nominal point: bars, distributions and time series."""
    part = source.part
    note = "Every axis has its default value. Time series show one representative run of each algorithm (seed 1)."
    section = FigureSection("default", "The nominal point", note, None)
    at_base = nominal(source)
    runs, flows = at_base.runs, at_base.flows
    for figure in (figure for figure in part.figures if figure.x is None):
        for name in figure.y:
            made: list[FigureData] = []
            if figure.beside and all(name in others for name in figure.beside):
                shown = [at_base, *(nominal(others[name]) for name in figure.beside)]
                titles = [one.part.title or one.part.id for one in shown]
                made = [parts_line([request_of(one, figure, name) for one in shown], titles)]
            elif figure.kind == "bar" and is_measured(runs, name, part.labels):
                made = [bar(request_of(at_base, figure, name))]
            elif figure.kind == "scatter" and all(is_measured(runs, one, part.labels) for one in (name, figure.against)):
                made = [scatter(request_of(at_base, figure, name), request_of(at_base, figure, figure.against))]
            elif figure.kind == "ecdf" and is_measured(flows, name, part.labels):
                made = [ecdf(replace(request_of(at_base, figure, name), table=flows))]
            elif figure.kind == "cdf":
                made = cdf_figures(source, figure, name)
            elif figure.kind == "series":
                made = series_figures(source, figure, name)
            section.figures += [titled(figure, one) for one in made]
    return section


def nominal(source: PartTables) -> PartTables:
    """Return a part with the runs of its nominal point alone."""
    runs, flows = (frame[frame["run"].isin(source.plan.base)] for frame in (source.runs, source.flows))
    return replace(source, runs=runs, flows=flows)


def request_of(source: PartTables, figure: Figure, name: str) -> Request:
    """Return what the figures of one metric need."""
    part = source.part
    method = replace(part.method, statistic="median") if figure.median else part.method
    metric = part.metric(name)
    printed = partial(published_points, part, metric)
    return Request(part.id, source.runs, metric, part.labels, part.baseline, method, figure.log, printed)


def titled(figure: Figure, made: FigureData) -> FigureData:
    """Return a figure with the title of the study file, and with a name of its own if it shows medians among means."""
    suffix = "--median" if figure.median else ""
    if not figure.title:
        return replace(made, id=made.id + suffix)
    title = figure.title if len(figure.y) == 1 and made.kind not in ("difference", "scatter") else f"{figure.title}: {made.title}"
    return replace(made, id=made.id + suffix, title=title)


def distinct_figures(sections: list[FigureSection]) -> None:
    """Leave out what is asked for twice; number figures of the same id that differ, in log axes or title."""
    seen: dict[str, list[FigureData]] = defaultdict(list)
    for section in sections:
        kept = []
        for figure in section.figures:
            if figure in seen[figure.id]:
                continue
            seen[figure.id].append(figure)
            count = len(seen[figure.id])
            kept.append(figure if count == 1 else replace(figure, id=f"{figure.id}--{count}"))
        section.figures = kept
