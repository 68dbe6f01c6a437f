"""The picture of a constellation: tracks over the ground, terminals and the path of this instant on a map, and delay over a day.

The engine says where everything is (`_core.ground_tracks`); this file only draws. Coastlines: Natural Earth, public domain
(data/earth/coast.json names the source).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah import _core, style
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.scenario import check

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COAST = Path(__file__).parent / "data" / "earth" / "coast.json"
DAY_S = 86_400.0
STEP_S = 60.0
"""Distance of the samples of the delay."""
MOST_TRACKS = 8
"""More ground tracks would hide the map."""
MOST_PATHS = 5
MOST_NAMES = 20
"""Names of more terminals would hide one another."""


def survey(
    graph: Mapping[str, Any], seed: int = 1, at_s: float = 0.0, until_s: float = DAY_S, step_s: float = STEP_S
) -> dict[str, Any]:
    """Return where the satellites of an expanded scenario are at `at_s`, and the delay of its paths from 0 to `until_s`."""
    ends = [{"from": flow["from"], "to": flow["to"]} for flow in graph.get("flow", [])]
    world = {"duration": graph["duration"], "network": {**graph["network"], "flows": 0}, "flow": ends}
    return json.loads(_core.ground_tracks(json.dumps(world), seed, at_s, until_s, step_s))


def survey_of(source: Any, seed: int, set: Mapping[str, Any] | None, at_s: float) -> dict[str, Any]:
    """Return the survey of a scenario file or dictionary."""
    graph = check(source, seed, set)["graph"]
    name = source if isinstance(source, str) else None
    if graph["network"]["kind"] != "constellation":
        raise InputError("network.kind", f"{graph['network']['kind']!r} has no map", 'only "constellation" has one', name)
    try:
        return survey(graph, seed, at_s)
    except ScenarioError as error:
        raise relay(error, name) from None


def draw(surveyed: Mapping[str, Any]) -> str:
    """Return the picture as SVG text: the map, and below it the delay over a day."""
    import matplotlib.pyplot as plt

    with style.canvas(7.6, 6.6) as (figure, unused):
        unused.remove()
        world, delay = figure.subplots(2, 1, height_ratios=(2.3, 1))
        draw_world(world, surveyed)
        draw_delay(delay, surveyed)
        text = style.svg(figure)
        plt.close(figure)
    return text


def draw_map(surveyed: Mapping[str, Any]) -> str:
    """Return the map alone as SVG text."""
    with style.canvas(7.2, 3.9) as (figure, axes):
        draw_world(axes, surveyed)
        return style.svg(figure)


def draw_world(axes: "Axes", surveyed: Mapping[str, Any]) -> None:
    """Draw coastlines, tracks, satellites, the current paths and the terminals."""
    axes.set(xlim=(-180, 180), ylim=(-90, 90), aspect="equal", xticks=range(-180, 181, 60), yticks=range(-90, 91, 30))
    axes.set_xlabel("Longitude (degrees)")
    axes.set_ylabel("Latitude (degrees)")
    for line in json.loads(COAST.read_text(encoding="utf-8"))["lines"]:
        axes.plot(line[0::2], line[1::2], color="#9a9a9a", linewidth=0.6, zorder=1)
    for track in surveyed["tracks"][:MOST_TRACKS]:
        for lon, lat in pieces(track["lon_deg"], track["lat_deg"]):
            axes.plot(lon, lat, color="#56B4E9", linewidth=0.9, linestyle=":", zorder=2)
    satellites = {name: (lon, lat) for name, lat, lon in surveyed["satellites"]}
    size = 14 if len(satellites) <= 200 else 2
    axes.scatter(*zip(*satellites.values(), strict=True), s=size, color="#666666", marker="s", linewidth=0, zorder=3)
    terminals = {terminal["name"]: (terminal["lon_deg"], terminal["lat_deg"]) for terminal in surveyed["terminals"]}
    place = satellites | terminals
    for i, path in enumerate(surveyed["current"][:MOST_PATHS]):
        look = style.look(i)
        for a, b in zip(path["nodes"], path["nodes"][1:], strict=False):
            for lon, lat in great_circle(place[a], place[b]):
                axes.plot(lon, lat, color=look["color"], linestyle=look["linestyle"], linewidth=1.8, zorder=4)
    marker_size = 6 if len(terminals) <= MOST_NAMES else 4
    for name, (lon, lat) in terminals.items():
        axes.plot(lon, lat, marker="o", color="#000000", markerfacecolor="#E69F00", markersize=marker_size, zorder=5)
        if len(terminals) <= MOST_NAMES:
            axes.annotate(name, (lon, lat), (4, 4), textcoords="offset points", fontsize=8, zorder=6)
    axes.set_title(caption(surveyed))


def caption(surveyed: Mapping[str, Any]) -> str:
    """Return what the map shows in words."""
    text = f"{len(surveyed['satellites'])} satellites at {surveyed['at_s']:g} s"
    if surveyed["current"]:
        path = surveyed["current"][0]
        found = path["delay_s"] is not None
        text += f"; {path['from']} to {path['to']}: "
        text += f"{len(path['nodes']) - 1} links, {1e3 * path['delay_s']:.1f} ms" if found else "no path"
    return text


def draw_delay(axes: "Axes", surveyed: Mapping[str, Any]) -> None:
    """Draw the one-way propagation delay of the paths over time; a gap is a time without a path."""
    for i, path in enumerate(surveyed["paths"][:MOST_PATHS]):
        delays = np.array([np.nan if delay is None else 1e3 * delay for delay in path["delay_s"]])
        hours = np.array(path["t_s"]) / 3600.0
        look = style.look(i)
        label = f"{path['from']} to {path['to']}"
        axes.plot(hours, delays, label=label, color=look["color"], linestyle=look["linestyle"], linewidth=0.9)
    axes.axvline(surveyed["at_s"] / 3600.0, color="#333333", linewidth=0.8, linestyle="--")
    axes.set(xlim=(0, DAY_S / 3600.0), xticks=range(0, 25, 3), xlabel="Time (h)", ylabel="Propagation delay,\none way (ms)")
    axes.set_ylim(bottom=0)
    style.legend_below(axes.figure, axes)


def pieces(lon: list[float], lat: list[float]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the parts of a line between its crossings of the map's edge."""
    start = 0
    for i in range(1, len(lon) + 1):
        if i == len(lon) or abs(lon[i] - lon[i - 1]) > 180:
            yield lon[start:i], lat[start:i]
            start = i


def great_circle(a: tuple[float, float], b: tuple[float, float]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the ground below the line between two places (longitude, latitude), cut at the map's edge."""
    ends = []
    for lon, lat in (a, b):
        x, y = np.radians(lon), np.radians(lat)
        ends.append(np.array([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)]))
    share = np.linspace(0, 1, 40)[:, None]
    points = ends[0] * (1 - share) + ends[1] * share
    lon = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
    lat = np.degrees(np.arctan2(points[:, 2], np.hypot(points[:, 0], points[:, 1])))
    yield from pieces(lon.tolist(), lat.tolist())
