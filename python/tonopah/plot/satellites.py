"""The picture of a constellation: ground tracks, terminals and the current path on a map, and the delay over a day.

The engine computes positions and paths (`_core.ground_tracks`); this file only draws. Coastlines: Natural Earth, public domain
(data/earth/coast.json names the source).
"""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah._core import ground_tracks as engine_ground_tracks
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.plot import style
from tonopah.runs.simulation import check
from tonopah.scenario.document import prepare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COAST = Path(__file__).parents[1] / "data" / "earth" / "coast.json"
DAY_S = 86_400.0
STEP_S = 60.0
"""Sampling interval of the delay."""
MAX_TRACKS = 8
"""More ground tracks would hide the map."""
MAX_PATHS = 5
CHORD_POINTS = 40
"""Points of a line between two nodes."""
Line = tuple[list[float], list[float]]
"""Longitudes and latitudes of a line that does not cross the edge of the map."""
MAX_NAMES = 20
"""Names of more terminals would overlap."""


def ground_tracks(
    graph: Mapping[str, Any], seed: int = 1, at_s: float = 0.0, until_s: float = DAY_S, step_s: float = STEP_S
) -> dict[str, Any]:
    """Return where the satellites of an expanded scenario are at `at_s`, and the delay of its paths from 0 to `until_s`."""
    ends = [{"from": flow["from"], "to": flow["to"]} for flow in graph.get("flow", [])]
    world = {"duration": graph["duration"], "network": {**graph["network"], "flows": 0}, "flow": ends}
    return json.loads(engine_ground_tracks(json.dumps(world), seed, at_s, until_s, step_s))


def find_ground_tracks(source: Any, seed: int, set: Mapping[str, Any] | None, at_s: float) -> dict[str, Any]:
    """Return the ground tracks of a scenario file or dictionary."""
    graph = check(source, seed, set)["graph"]
    name = source if isinstance(source, str) else None
    if graph["network"]["kind"] != "constellation":
        # The expanded network is a graph, whatever the file says.
        kind = prepare(source, set)[0]["network"]["kind"]
        raise InputError("network.kind", f"{kind!r} has no map", 'only "constellation" has one', name)
    try:
        return ground_tracks(graph, seed, at_s)
    except ScenarioError as error:
        raise relay(error, name) from None


def draw(view: Mapping[str, Any]) -> str:
    """Return the picture as SVG text: the map, and below it the delay over a day."""
    with style.canvas(7.6, 6.6) as (figure, unused):
        unused.remove()
        world, delay = figure.subplots(2, 1, height_ratios=(2.3, 1))
        draw_world(world, view)
        draw_delay(delay, view)
        text = style.svg(figure)
    return text


def draw_map(view: Mapping[str, Any]) -> str:
    """Return the map alone as SVG text."""
    with style.canvas(7.2, 3.9) as (figure, axes):
        draw_world(axes, view)
        return style.svg(figure)


def draw_world(axes: "Axes", view: Mapping[str, Any]) -> None:
    """Draw coastlines, tracks, satellites, the current paths and the terminals."""
    axes.set(xlim=(-180, 180), ylim=(-90, 90), aspect="equal", xticks=range(-180, 181, 60), yticks=range(-90, 91, 30))
    axes.set_xlabel("Longitude (degrees)")
    axes.set_ylabel("Latitude (degrees)")
    for line in json.loads(COAST.read_text(encoding="utf-8"))["lines"]:
        axes.plot(line[0::2], line[1::2], color="#9a9a9a", linewidth=0.6, zorder=1)
    for track in shown_tracks(view):
        for lon, lat in track:
            axes.plot(lon, lat, color="#56B4E9", linewidth=0.9, linestyle=":", zorder=2)
    satellites = satellites_of(view)
    size = 14 if len(satellites) <= 200 else 2
    axes.scatter(*zip(*satellites.values(), strict=True), s=size, color="#666666", marker="s", linewidth=0, zorder=3)
    terminals = terminals_of(view)
    for i, path in enumerate(shown_paths(view)):
        line_style = style.line_style(i)
        for chord in path:
            for lon, lat in chord:
                axes.plot(lon, lat, color=line_style["color"], linestyle=line_style["linestyle"], linewidth=1.8, zorder=4)
    marker_size = 6 if len(terminals) <= MAX_NAMES else 4
    for name, (lon, lat) in terminals.items():
        axes.plot(lon, lat, marker="o", color="#000000", markerfacecolor="#E69F00", markersize=marker_size, zorder=5)
        if len(terminals) <= MAX_NAMES:
            axes.annotate(name, (lon, lat), (4, 4), textcoords="offset points", fontsize=8, zorder=6)
    axes.set_title(caption(view))


def caption(view: Mapping[str, Any]) -> str:
    """Return the contents of the map in words."""
    text = f"{len(view['satellites'])} satellites at {view['at_s']:g} s"
    if view["current"]:
        path = view["current"][0]
        found = path["delay_s"] is not None
        text += f"; {path['from']} to {path['to']}: "
        text += f"{len(path['nodes']) - 1} links, {1e3 * path['delay_s']:.1f} ms" if found else "no path"
    return text


def draw_delay(axes: "Axes", view: Mapping[str, Any]) -> None:
    """Draw the one-way propagation delay of the paths over time; a gap is a time without a path."""
    for i, path in enumerate(view["paths"][:MAX_PATHS]):
        delays = [math.nan if delay is None else 1e3 * delay for delay in path["delay_s"]]
        hours = [t_s / 3600.0 for t_s in path["t_s"]]
        line_style = style.line_style(i)
        label = f"{path['from']} to {path['to']}"
        axes.plot(hours, delays, label=label, color=line_style["color"], linestyle=line_style["linestyle"], linewidth=0.9)
    axes.axvline(view["at_s"] / 3600.0, color="#333333", linewidth=0.8, linestyle="--")
    axes.set(xlim=(0, DAY_S / 3600.0), xticks=range(0, 25, 3), xlabel="Time (h)", ylabel="Propagation delay,\none way (ms)")
    axes.set_ylim(bottom=0)
    style.legend_below(axes.figure, axes)  # pyright: ignore[reportArgumentType]


def satellites_of(view: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return longitude and latitude of each satellite."""
    return {name: (lon, lat) for name, lat, lon in view["satellites"]}


def terminals_of(view: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return longitude and latitude of each terminal."""
    return {terminal["name"]: (terminal["lon_deg"], terminal["lat_deg"]) for terminal in view["terminals"]}


def shown_tracks(view: Mapping[str, Any]) -> list[list[Line]]:
    """Return the pieces of each track that a map has room for."""
    return [list(pieces(track["lon_deg"], track["lat_deg"])) for track in view["tracks"][:MAX_TRACKS]]


def shown_paths(view: Mapping[str, Any]) -> list[list[list[Line]]]:
    """Return the pieces of each link of the current paths that a map has room for."""
    place = satellites_of(view) | terminals_of(view)
    return [[list(great_circle(place[a], place[b])) for a, b in pairwise(path["nodes"])] for path in view["current"][:MAX_PATHS]]


def pieces(lon: list[float], lat: list[float]) -> Iterator[Line]:
    """Yield the parts of a line between its crossings of the map's edge."""
    start = 0
    for i in range(1, len(lon) + 1):
        if i == len(lon) or abs(lon[i] - lon[i - 1]) > 180:
            yield lon[start:i], lat[start:i]
            start = i


def great_circle(a: tuple[float, float], b: tuple[float, float]) -> Iterator[Line]:
    """Yield the great circle between two positions (longitude, latitude), cut at the edge of the map."""
    ends = []
    for lon, lat in (a, b):
        x, y = math.radians(lon), math.radians(lat)
        ends.append((math.cos(y) * math.cos(x), math.cos(y) * math.sin(x), math.sin(y)))
    lons, lats = [], []
    for step in range(CHORD_POINTS):
        share = step / (CHORD_POINTS - 1)
        x, y, z = (start * (1 - share) + end * share for start, end in zip(*ends, strict=True))
        lons.append(math.degrees(math.atan2(y, x)))
        lats.append(math.degrees(math.atan2(z, math.hypot(x, y))))
    yield from pieces(lons, lats)
