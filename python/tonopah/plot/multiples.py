"""Small multiples as SVG: many panels of lines on one sheet, each with its own axes, in few bytes.

A panel is as wide as it has columns: a line has one point for each column. Lines of one sheet are told apart by their `look`.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

COLUMNS = 6
"""Panels side by side."""
WIDTH = 150
HEIGHT = 90
TITLE = 24
GAP = 14
STYLE = (
    "text{font:11px sans-serif;fill:#1b1f24}.s{font-size:9px;fill:#667}path{fill:none;stroke-linejoin:round}.axis{stroke:#99a}"
    ".kernel0{stroke:#56b4e9;stroke-width:4}.ours0{stroke:#003a5c}.kernel1{stroke:#f2b366;stroke-width:4}.ours1{stroke:#8a3a00}"
    ".missed{fill:#c00}@media(prefers-color-scheme:dark){text{fill:#e6e8eb}.s{fill:#a3abb5}.missed{fill:#ff8080}"
    ".kernel0{stroke:#1f5f85}.ours0{stroke:#bfe6ff}.kernel1{stroke:#8a5a1a}.ours1{stroke:#ffe0b8}}"
)


@dataclass(frozen=True)
class SheetLine:
    """Instants and the values from then on; instants at which something happened, as ticks above the panel."""

    look: str
    t_s: np.ndarray
    values: np.ndarray
    ticks_s: Sequence[float] = ()


@dataclass(frozen=True)
class SheetPanel:
    """Lines over one range of time."""

    title: str
    lines: Sequence[SheetLine]
    end_s: float
    unit: str
    stressed: bool = False


def sheet(panels: Sequence[SheetPanel]) -> str:
    """Return the sheet with these panels, row by row."""
    rows = -(-len(panels) // COLUMNS)
    width, height = COLUMNS * (WIDTH + GAP), rows * (TITLE + HEIGHT + GAP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"><style>{STYLE}</style>']
    for index, panel in enumerate(panels):
        row, column = divmod(index, COLUMNS)
        parts.append(f'<g transform="translate({column * (WIDTH + GAP) + GAP // 2} {row * (TITLE + HEIGHT + GAP)})">')
        parts += [drawn(panel), "</g>"]
    return "\n".join([*parts, "</svg>\n"])


def drawn(panel: SheetPanel) -> str:
    """Return one panel."""
    times = (np.arange(WIDTH) + 0.5) * panel.end_s / WIDTH
    held = [line.values[np.maximum(np.searchsorted(line.t_s, times, side="right") - 1, 0)] for line in panel.lines]
    top = max(1.0, *(float(values.max()) for values in held))
    stress = ' class="missed"' if panel.stressed else ""
    found = [
        f'<text y="11"{stress}>{escape(panel.title)}</text>',
        f'<text y="21" class="s">up to {top:.0f} {escape(panel.unit)}, {panel.end_s:.3g} s</text>',
        f'<path class="axis" d="M0 {TITLE + 8}V{TITLE + HEIGHT}H{WIDTH}"/>',
    ]
    for line, values in zip(panel.lines, held, strict=True):
        found.append(f'<path class="{line.look}" d="{path(values, top)}"/>')
    for height, line in enumerate(line for line in panel.lines if line.ticks_s):
        places = sorted({round(WIDTH * tick / panel.end_s) for tick in line.ticks_s if tick <= panel.end_s})
        ticks = "".join(f"M{place} {TITLE + 2 * height}v2" for place in places)
        found.append(f'<path class="{line.look}" style="stroke-width:1.5" d="{ticks}"/>')
    return "\n".join(found)


def path(values: np.ndarray, top: float) -> str:
    """Return the line through the values, one for each column, as steps to the right from each to the next."""
    heights = [round(TITLE + HEIGHT - (HEIGHT - 8) * float(value) / top) for value in values]
    steps, run = [f"M0 {heights[0]}"], 0
    for before, after in itertools.pairwise(heights):
        if after == before:
            run += 1
            continue
        steps.append(f"h{run}l1 {after - before}" if run else f"l1 {after - before}")
        run = 0
    steps.append(f"h{run}" if run else "")
    return "".join(steps).replace(" -", "-")
