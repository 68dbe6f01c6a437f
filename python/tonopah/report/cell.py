"""Figures of a notebook, drawn by the scripts of the report: values under the pointer, zoom, algorithms on and off, CSV."""

from collections.abc import Sequence
from html import escape

from tonopah.analysis.figure_model import FigureData
from tonopah.report import vendor
from tonopah.report.document import SCRIPTS, page_file, template_environment
from tonopah.report.embed import page_data
from tonopah.report.panels import make_panels

PANEL_PX = 390
"""Height of a panel with its heading, legend and caption."""
TOOLS_PX = 60


def cell(figures: Sequence[FigureData]) -> str:
    """Return an inline frame that holds the figures and all that draws them: nothing is fetched, no style of a page enters."""
    panels = make_panels(figures)
    labels = list(dict.fromkeys(one.label for figure in figures for one in figure.series))
    page = template_environment().get_template("cell.html.j2").render(
        panels=panels, labels=labels, data=page_data(list(figures)), vendor=vendor.SCRIPTS, vendor_style=vendor.STYLE.text,
        scripts=[page_file(name) for name in SCRIPTS],
    )  # fmt: skip
    height = TOOLS_PX + PANEL_PX * len(panels)
    return f'<iframe srcdoc="{escape(page)}" style="width: 100%; height: {height}px; border: 0"></iframe>'
