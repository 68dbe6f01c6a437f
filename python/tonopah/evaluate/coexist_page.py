"""The page, the table and the JSON of a matrix of coexistence."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from tonopah._core import engine_build, engine_version
from tonopah.errors import RunFailedError
from tonopah.evaluate.coexist import Cell, Coexistence, Standing, clustered, standings
from tonopah.metrics import show
from tonopah.report.document import template_environment
from tonopah.report.files import replace_file

CELL, LEFT, TOP = 17, 118, 104
MARGIN, RIGHT = 6, 48
HALF = 0.5


@dataclass(frozen=True)
class HeatMap:
    """A panel: one length of the queue, one case of round-trip times."""

    title: str
    picture: Markup


def write(matrix: Coexistence, cells: Sequence[Cell], order: str) -> Path:
    """Write report.html, coexist.json and coexist.parquet, and return the path of the page."""
    import pandas as pd

    standing = standings(cells)
    names = [one.name for one in standing]
    if order == "cluster":
        names = clustered(cells, names)
    try:
        matrix.folder.mkdir(parents=True, exist_ok=True)
        pd.DataFrame([flat(cell) for cell in cells]).to_parquet(matrix.folder / "coexist.parquet", index=False)
        replace_file(matrix.folder / "coexist.json", json.dumps(facts(matrix, cells, standing), allow_nan=False) + "\n")
        replace_file(matrix.folder / "report.html", render(matrix, cells, names, standing))
    except OSError as error:
        raise RunFailedError(f"{matrix.folder}: the report cannot be written: {error}") from error
    return matrix.folder / "report.html"


def flat(cell: Cell) -> dict[str, Any]:
    """Return a cell as a row of a table."""
    found = asdict(cell)
    share = found.pop("share")
    return found | {"share": share["value"], "share_low": share["low"], "share_high": share["high"]}


def facts(matrix: Coexistence, cells: Sequence[Cell], standing: Sequence[Standing]) -> dict[str, Any]:
    """Return the matrix for programs."""
    rows = [{key: none_if_nan(value) for key, value in flat(cell).items()} for cell in cells]
    return {
        "format": 1,
        "engine": {"version": engine_version(), "build": engine_build()},
        "world": dict(matrix.world),
        "flows": list(matrix.flows),
        "replicates": matrix.replicates,
        "command": matrix.command,
        "cells": rows,
        "algorithms": [{key: none_if_nan(value) for key, value in asdict(one).items()} for one in standing],
    }


def none_if_nan(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def render(matrix: Coexistence, cells: Sequence[Cell], names: Sequence[str], standing: Sequence[Standing]) -> str:
    """Return the HTML document."""
    panels = list(dict.fromkeys((cell.buffer, cell.rtt) for cell in cells))
    maps = []
    for buffer, rtt in sorted(panels):
        mine = [cell for cell in cells if (cell.buffer, cell.rtt) == (buffer, rtt)]
        maps.append(HeatMap(f"Queue {buffer:g} BDP, round-trip times {rtt}", heat_map(mine, names)))
    style = resources.files("tonopah.evaluate").joinpath("evaluation.css").read_text(encoding="utf-8")
    environment = template_environment("tonopah.evaluate")
    environment.filters |= {"show": show}
    return environment.get_template("coexist.html.j2").render(
        maps=maps,
        standing=standing,
        scatter=scatter(standing),
        matrix=matrix,
        version=engine_version(),
        names=names,
        replicates=sorted({cell.n for cell in cells}),
        style=style,
    )


def heat_map(cells: Sequence[Cell], names: Sequence[str]) -> Markup:
    """Return a panel: rows are who is looked at, columns who is beside it, the colour its share."""
    places = {name: i for i, name in enumerate(names)}
    width, height = LEFT + CELL * len(names) + RIGHT, TOP + CELL * len(names) + MARGIN
    drawn = []
    for name, i in places.items():
        at = i * CELL + CELL / 2
        drawn.append(f'<text x="{LEFT - 5}" y="{TOP + at + 4:.0f}" text-anchor="end">{escape(short(name))}</text>')
        turned = f'transform="translate({LEFT + at + 4:.0f},{TOP - 5}) rotate(-60)"'
        drawn.append(f"<text {turned}>{escape(short(name))}</text>")
    for cell in cells:
        x, y = LEFT + places[cell.column] * CELL, TOP + places[cell.row] * CELL
        box = f'x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}" fill="{colour(cell.share.value)}"'
        drawn.append(f"<rect {box}><title>{escape(told(cell))}</title></rect>")
        if cell.starved:
            middle = f'cx="{x + (CELL - 1) / 2}" cy="{y + (CELL - 1) / 2}" r="2.2"'
            drawn.append(f'<circle {middle} fill="#fff" stroke="#000" stroke-width="0.6"/>')
    return picture(width, height, "Share of the row beside the column", drawn)


def picture(width: int, height: int, label: str, drawn: Sequence[str]) -> Markup:
    """Return elements as a picture."""
    frame = f'viewBox="0 0 {width} {height}" style="max-width:{1.4 * width:.0f}px"'
    return Markup(f'<svg {frame} role="img" aria-label="{label}" class="heat">{"".join(drawn)}</svg>')


def short(name: str) -> str:
    """Return a name without its profile where that is the usual one."""
    return name.removesuffix(" (linux)")


def told(cell: Cell) -> str:
    """Return what hovering shows."""
    interval = "" if math.isnan(cell.share.low) else f" [{100 * cell.share.low:.0f}, {100 * cell.share.high:.0f}]"
    harm = "" if math.isnan(cell.harm) else f"; harm to it {cell.harm:.2f}"
    starved = "; it starves" if cell.starved else ""
    taken = f"{100 * cell.share.value:.0f} %{interval} of the payload, {cell.goodput_bps / 1e6:.2f} Mb/s{harm}"
    waits = f"queueing delay {1000 * cell.qdelay_p95_s:.0f} ms (95th percentile)"
    return f"{cell.row} beside {cell.column}: {taken}; loss {100 * cell.loss:.2f} %, {waits}{starved}; n = {cell.n}"


LOW, MIDDLE, HIGH = (165, 58, 12), (238, 238, 238), (13, 88, 145)


def colour(share: float) -> str:
    """Return the colour of a share: diverging from one half."""
    if math.isnan(share):
        return "none"
    end, depth = (LOW, HALF - share) if share < HALF else (HIGH, share - HALF)
    mixed = [round(m + (e - m) * min(1.0, 2 * depth)) for m, e in zip(MIDDLE, end, strict=True)]
    return f"rgb({','.join(map(str, mixed))})"


SIDE = 420


LETTER, LINE = 6.0, 11.0
"""Width of a letter and height of a line of the names."""


def scatter(standing: Sequence[Standing]) -> Markup:
    """Return mean harm done over mean harm suffered."""
    known = [one for one in standing if not math.isnan(one.done) and not math.isnan(one.suffered)]
    if not known:
        return Markup("")
    top = max(0.1, *(max(one.done, one.suffered) for one in known)) * 1.08
    low = min(0.0, *(min(one.done, one.suffered) for one in known))

    def place(value: float) -> float:
        return 46 + (SIDE - 66) * (value - low) / (top - low)

    ends = f'x1="{place(low):.0f}" y1="{SIDE - place(low):.0f}" x2="{place(top):.0f}" y2="{SIDE - place(top):.0f}"'
    drawn = [
        f'<line {ends} stroke="var(--line)"/>',
        f'<text x="{SIDE / 2}" y="{SIDE - 6}" text-anchor="middle">mean harm suffered</text>',
        f'<text transform="translate(12,{SIDE / 2}) rotate(-90)" text-anchor="middle">mean harm done</text>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        if low <= tick <= top:
            drawn.append(f'<text x="{place(tick):.0f}" y="{SIDE - 24}" text-anchor="middle">{tick:g}</text>')
            drawn.append(f'<text x="40" y="{SIDE - place(tick) + 4:.0f}" text-anchor="end">{tick:g}</text>')
    named: list[tuple[float, float, float]] = []
    for one in known:
        x, y, name = place(one.suffered), SIDE - place(one.done), short(one.name)
        drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="var(--s0)"><title>{escape(one.name)}</title></circle>')
        width = LETTER * len(name)
        # A name that would cover another is left to the pointer.
        if all(abs(y - above) >= LINE or x >= right or x + width <= left for left, right, above in named):
            named.append((x, x + width, y))
            drawn.append(f'<text x="{x + 6:.1f}" y="{y + 4:.1f}">{escape(name)}</text>')
    return picture(SIDE + 60, SIDE, "mean harm done and suffered", drawn)
