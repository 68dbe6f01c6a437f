"""Figures that a study file need not ask for: a metric over any axis of its sweeps, or at the nominal point."""

from dataclasses import replace
from typing import TYPE_CHECKING

from tonopah.analysis.figure_data import part_figures, part_sources, request_of
from tonopah.analysis.figure_model import FigureData
from tonopah.analysis.figure_scale import common_ranges, scale_key
from tonopah.analysis.figure_values import SweptAxis, line
from tonopah.analysis.tables import PartTables, equals, is_measured
from tonopah.errors import InputError
from tonopah.names import figure_id
from tonopah.spec.model import Part
from tonopah.spec.part import asked_figure
from tonopah.spec.plan import Plan

if TYPE_CHECKING:
    from tonopah.spec.model import StudySpec
    from tonopah.store.store import Store


def asked_figures(
    spec: "StudySpec", plan: Plan, store: "Store", name: str, x: str | None, facet: str | None = None
) -> list[FigureData]:
    """Return a metric over an axis, or as bars at the nominal point.

    There is a figure for each part that has metric and sweep; with `facet`, an axis that a sweep crosses with `x`, one for
    each of its values. Raises InputError if no part has them.
    """
    sources = part_sources(having(spec.parts, name, x, facet), plan, store)
    if facet:
        return [made for source in sources for made in facets(source)]
    return [made for source in sources for section in part_figures(source) for made in section.figures]


def having(parts: list[Part], name: str, x: str | None, facet: str | None) -> list[Part]:
    """Return the parts with metric and sweep, with the request as their only figure. Raises InputError if there is none."""
    found, mistakes = [], []
    for part in parts:
        try:
            found.append(replace(part, figures=[asked_figure(part, name, x, facet)]))
        except InputError as error:
            mistakes.append(error)
    if not found:
        raise mistakes[0]
    return found


def facets(source: PartTables) -> list[FigureData]:
    """Return small multiples with one scale in place of the heat map that is the only figure of a part."""
    part, (figure,) = source.part, source.part.figures
    x, rows, (name,) = figure.x or "", figure.rows or "", figure.y
    index = part.sweep_over({x, rows})
    if index is None or not is_measured(source.runs, name, part.labels):
        return []
    vary, made = part.sweeps[index].vary, []
    runs = source.runs[source.runs["run"].isin(source.plan.sweeps[index])]
    for value in vary[rows]:
        at = replace(source, runs=runs[equals(runs[rows], value)])
        # What the original printed is not of this value alone.
        drawn = line(replace(request_of(at, figure, name), printed=lambda _: []), SweptAxis(x, vary[x], part.axis_label(x)))
        title = f"{part.axis_label(rows)} = {value}"
        facet = figure_id("", drawn.id, rows, str(value))
        made.append(replace(drawn, id=facet, title=title, caption=f"{title}: {drawn.caption}"))
    ranges = common_ranges(made)
    return [replace(one, y=ranges[scale_key(one)].applied(one.y)) for one in made]
