"""Figures of a notebook, drawn by the scripts of the report: values under the pointer, zoom, algorithms on and off, CSV."""

from collections.abc import Sequence
from html import escape

from tonopah.analysis.figure_model import FigureData
from tonopah.report.document import render_page
from tonopah.report.panels import make_panels

PANEL_PX = 390
"""Height of a panel with its heading, legend and caption."""
TOOLS_PX = 60


def cell(figures: Sequence[FigureData]) -> str:
    """Return an inline frame that holds the figures and all that draws them: nothing is fetched, no style of a page enters."""
    panels = make_panels(figures)
    labels = list(dict.fromkeys(one.label for figure in figures for one in figure.series))
    page = render_page("cell.html.j2", figures, panels=panels, labels=labels)
    height = TOOLS_PX + PANEL_PX * len(panels)
    return f'<iframe srcdoc="{escape(page)}" style="width: 100%; height: {height}px; border: 0"></iframe>'
