"""The common style of all figures: colours for the colour-blind, line styles and markers that are distinct in greyscale."""

import io
import re
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


PAGE_COLOURS = {
    ("#ffffff", "white"): "paper",
    ("#000000", "#222222", "#333333", "#444444"): "ink",
    ("#555555", "#666666", "#888888", "#999999", "#9a9a9a"): "soft",
    ("#dddddd", "#e8e8e8", "#fbe3d0"): "wash",
}
"""The colours of pictures that a dark page needs otherwise, and what they are called then."""
VARIABLES = {colour: variable for colours, variable in PAGE_COLOURS.items() for colour in colours}
COLOUR = re.compile(r"(fill|stroke): (#[0-9a-f]{6}|white)\b", re.IGNORECASE)
DARK = "@media(prefers-color-scheme:dark){svg:root{--paper:#16191d;--ink:#e6e8eb;--soft:#a3abb5;--wash:#3a4149}}"


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
        mpl.rcParams.update(SETTINGS | dict(changes or {}))  # pyright: ignore[reportCallIssue, reportArgumentType]
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


def legend_below(figure: "Figure", axes: "Axes") -> None:
    """Put the legend below the figure."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    # An entry is its line and its text, about 0.075 inch a letter at this size.
    room = int(figure.get_size_inches()[0] / (0.65 + 0.075 * max(len(label) for label in labels)))
    ncols = max(1, min(4, len(handles), room))
    figure.legend(handles, labels, loc="outside lower center", ncols=ncols, handlelength=3.2)


def fix_layout(figure: "Figure") -> None:
    """Find the margins of a figure now, once: what needs its places may follow, and drawing it does not find them again."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
    for axes in figure.axes:
        # A fixed ratio of the scales moves everything inside, in the new margins again.
        axes.apply_aspect()


def svg(figure: "Figure") -> str:
    """Return the figure as SVG text; the same data give the same text."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    fix_layout(figure)
    buffer = io.StringIO()
    # `savefig` would draw it twice, the first time to find a layout.
    FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def adaptive(text: str) -> str:
    """Return SVG text of matplotlib that follows the light or dark preference of the reader, on the background of its page."""
    text = COLOUR.sub(variable_colour, text)
    # The first patch is the background of the whole figure.
    text = re.sub(r'(<g id="patch_1">\s*<path [^>]*style="fill: )[^;"]*', r"\1none", text, count=1)
    # Text without a colour of its own is black.
    return text.replace("<defs>", f"<style>{DARK}</style><defs>", 1).replace(
        'style="font', 'style="fill: var(--ink, #000000); font'
    )


def variable_colour(found: re.Match[str]) -> str:
    """Return a colour of SVG text as a variable of the page, if a dark page needs another one."""
    name = VARIABLES.get(found[2].lower())
    return f"{found[1]}: var(--{name}, {found[2].lower()})" if name else found[0]


def write_png(figure: "Figure", path: Path) -> None:
    """Write the figure as PNG with few colours, a third of the size."""
    from PIL import Image

    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=100, metadata={"Software": None})
    Image.open(buffer).convert("RGB").quantize(128, method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)
