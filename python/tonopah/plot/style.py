"""The common style of all figures: colours for the colour-blind, line styles and markers that are distinct in greyscale."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito, "Color universal design" (2008), without its yellow, which is too light on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo")

SETTINGS: dict[str, Any] = {
    "figure.dpi": 100, "savefig.dpi": 150, "svg.hashsalt": "tonopah", "svg.fonttype": "none", "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 9.5, "axes.labelsize": 9, "legend.fontsize": 8.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#555555", "axes.linewidth": 0.8,
    "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "xtick.color": "#333333", "ytick.color": "#333333", "lines.linewidth": 1.6, "lines.markersize": 5,
    "axes.formatter.useoffset": False, "legend.frameon": False, "figure.constrained_layout.use": True,
}  # fmt: skip


def line_style(index: int) -> dict[str, Any]:
    """Return colour, line style and marker of the index-th algorithm of a study; the same in all its figures."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": LINES[index % len(LINES)],
        "marker": MARKERS[index % len(MARKERS)],
        # Open markers, the first the largest: coinciding lines remain distinguishable.
        "markerfacecolor": "white",
        "markeredgewidth": 1.4,
        "markersize": max(4.0, 8.0 - 1.6 * index),
    }


@contextmanager
def settings(changes: Mapping[str, Any] | None = None) -> "Iterator[ModuleType]":
    """Yield `matplotlib.pyplot` with the common style and `changes` to it; nothing is shown on a screen.

    The style begins with matplotlib's own defaults: neither a matplotlibrc nor what a program has set changes a figure.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS | dict(changes or {}))
        yield plt


@contextmanager
def canvas(width: float = 5.4, height: float = 3.5, *, fitted: bool = True) -> "Iterator[tuple[Figure, Axes]]":
    """Yield an empty figure (inches) in the common style, and close it; `fitted` ones find their margins themselves."""
    with settings({"figure.constrained_layout.use": fitted}) as plt:
        figure, axes = plt.subplots(figsize=(width, height))
        try:
            yield figure, axes
        finally:
            plt.close(figure)


@contextmanager
def chart(width: float = 5.4, height: float = 3.5) -> "Iterator[tuple[Figure, Axes]]":
    """Yield an empty chart with fixed margins: a report draws hundreds, and finding margins takes as long as drawing."""
    with canvas(width, height, fitted=False) as (figure, axes):
        figure.subplots_adjust(left=0.82 / width, right=1 - 0.15 / width, top=1 - 0.12 / height, bottom=0.55 / height)
        yield figure, axes


def legend_below(figure: "Figure", axes: "Axes") -> None:
    """Put the legend below the figure; a chart gets room for its rows."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    width, height = figure.get_size_inches()
    # An entry is its line and its text, about 0.075 inch a letter at this size.
    room = int(width / (0.65 + 0.075 * max(len(label) for label in labels)))
    ncols = max(1, min(4, len(handles), room))
    fixed = figure.get_layout_engine() is None
    if fixed:
        figure.subplots_adjust(bottom=(0.62 + 0.19 * -(-len(handles) // ncols)) / height)
    figure.legend(handles, labels, loc="lower center" if fixed else "outside lower center", ncols=ncols, handlelength=3.2)


def svg(figure: "Figure") -> str:
    """Return the figure as SVG text; the same data give the same text."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def pdf(figure: "Figure") -> bytes:
    """Return the figure as PDF; the same data give the same bytes."""
    buffer = io.BytesIO()
    # The layout was made for the SVG; making it again takes as long as drawing.
    if figure.get_layout_engine() is not None:
        figure.set_layout_engine("none")
    figure.savefig(buffer, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return buffer.getvalue()


def write_png(figure: "Figure", path: Path) -> None:
    """Write the figure as PNG with few colours, a third of the size."""
    from PIL import Image

    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=100, metadata={"Software": None})
    Image.open(buffer).convert("RGB").quantize(128, method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)
