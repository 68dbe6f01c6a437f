"""The picture of a wireless network: stations at their initial positions, in metres.

Grey lines join stations in reach of each other (with access points: a station and its own), black lines are wires.
Coloured lines are the shortest paths of the flows, from the hollow end to the arrow; a dashed red arrow is a flow without
a path. Isolated nodes are crossed out. A dotted arrow leads to each waypoint of a node. Names that would overlap are omitted.
"""

import itertools
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from tonopah import units
from tonopah._core import reach as engine_reach
from tonopah.cc.binding import copy_tables, find_cc
from tonopah.plot import layout, style
from tonopah.scenario.document import to_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LABELS = 60
MAX_FLOWS = len(style.COLOURS)
"""Number of distinguishable colours; of more flows only the first are drawn."""
MAX_DRAWN = 1000
"""With more nodes, links and paths are omitted: there would be millions of pairs."""
MAX_POINTS = 4
"""The movement of a node with more waypoints than this is not drawn."""
MAX_IN_ROW = 12
"""With more wired nodes at one height, their names are rotated."""
NODE_STYLES: dict[str, dict[str, Any]] = {
    "station": {"marker": "o", "markersize": 6, "markerfacecolor": "white", "color": "#333333"},
    "access point": {"marker": "^", "markersize": 11, "markerfacecolor": "#fbe3d0", "color": "#D55E00"},
    "base station": {"marker": "^", "markersize": 11, "markerfacecolor": "#fbe3d0", "color": "#D55E00"},
    "wired node": {"marker": "s", "markersize": 8, "markerfacecolor": "#e8e8e8", "color": "#222222"},
    "router": {"marker": "h", "markersize": 11, "markerfacecolor": "#e8e8e8", "color": "#222222"},
    "isolated": {"marker": "X", "markersize": 9, "markerfacecolor": "white", "color": "#cc0000"},
}
ROLE_KINDS = {"access_point": "access point", "base_station": "base station", "router": "router"}


def draw(graph: dict[str, Any]) -> str:
    """Return the network as SVG text."""
    names = [node["name"] for node in graph["node"]]
    place = layout.node_positions(graph)
    at = [place[name] for name in names]
    small = len(names) <= MAX_DRAWN
    reach = connectivity(graph)
    wired = {name for link in graph.get("link", []) for name in (link["from"], link["to"])}
    joined = {names[i] for pair in reach["links"] for i in pair} | wired
    with style.canvas(7.2, height(at)) as (figure, axes):
        draw_field(axes, graph)
        draw_links(axes, graph, reach["links"], place, at)
        shown = draw_flows(axes, graph, reach["paths"], at, place)
        draw_stations(axes, graph, place, joined if small else set(names))
        draw_moves(axes, graph)
        axes.set_aspect("equal")
        axes.set_xlabel("x (m)")
        axes.set_ylabel("y (m)")
        axes.margins(0.06)
        low, high = min(y for _, y in at), max(y for _, y in at)
        least = 0.2 * (max(x for x, _ in at) - min(x for x, _ in at))
        if high - low < least:
            axes.set_ylim((low + high - least) / 2, (low + high + least) / 2)
        flows = len(graph.get("flow", []))
        if 0 < shown < flows:
            axes.set_title(f"the first {shown} of {flows} flows", loc="right", fontsize=8)
        style.legend_below(figure, axes)
        style.fix_layout(figure)
        thin_names(axes)
        return style.svg(figure)


def height(at: list[tuple[float, float]]) -> float:
    """Return the height of the figure in inches: in proportion to the area, within limits."""
    width = max(x for x, _ in at) - min(x for x, _ in at) or 1.0
    depth = max(y for _, y in at) - min(y for _, y in at)
    # Below the area the axis and up to four rows of legend, above it a line of text.
    return min(7.2, max(3.0, 1.9 + 6.0 * depth / width))


def connectivity(graph: dict[str, Any]) -> dict[str, Any]:
    """Return links between stations in reach at the start, and shortest paths of the flows; empty if the network is too large."""
    small = len(graph["node"]) <= MAX_DRAWN
    return json.loads(engine_reach(to_json(without_algorithms(graph)))) if small else {"links": [], "paths": []}


def without_algorithms(graph: dict[str, Any]) -> dict[str, Any]:
    """Return the graph without its algorithms, which may be classes in Python and do not affect connectivity."""
    world = copy_tables(graph)
    for table, _ in list(find_cc(world)):
        del table["cc"]
    return world


def draw_field(axes: "Axes", graph: dict[str, Any]) -> None:
    """Draw the outline of the simulation area, if the graph has one."""
    from matplotlib.patches import Rectangle

    area = graph["network"].get("area")
    if area:
        width, depth = (units.si(area[side]) for side in ("x", "y"))
        outline = Rectangle((0, 0), width, depth, fill=False, edgecolor="#888888", linestyle=":", zorder=0, label="field")
        axes.add_patch(outline)


def draw_links(
    axes: "Axes", graph: dict[str, Any], pairs: list[list[int]], place: dict[str, Any], at: list[tuple[float, float]]
) -> None:
    """Draw lines between stations in reach, and the wires."""
    from matplotlib.collections import LineCollection

    if pairs:
        # The more lines, the lighter.
        strength = max(0.25, min(0.8, 60 / len(pairs)))
        lines = LineCollection([(at[a], at[b]) for a, b in pairs], colors="#999999", linewidths=0.7, alpha=strength, zorder=1)
        lines.set_label("in reach")
        axes.add_collection(lines)
    for i, link in enumerate(graph.get("link", [])):
        (x0, y0), (x1, y1) = place[link["from"]], place[link["to"]]
        axes.plot([x0, x1], [y0, y1], color="#222222", linewidth=1.8, zorder=2, label="wire" if i == 0 else None)


def draw_flows(
    axes: "Axes", graph: dict[str, Any], paths: list[list[int]], at: list[tuple[float, float]], place: dict[str, Any]
) -> int:
    """Draw the paths of the first flows and return their number; paths over the same hop are drawn side by side."""
    flows = list(zip(graph.get("flow", []), paths, strict=False))[:MAX_FLOWS]
    used: Counter[tuple[int, int]] = Counter()
    lost = 0
    for i, (flow, path) in enumerate(flows):
        colour = style.COLOURS[i % len(style.COLOURS)]
        if not path:
            label = "flow without a path" if lost == 0 else None
            arrow(axes, place[flow["from"]], place[flow["to"]], {"color": "#cc0000", "linestyle": "--", "linewidth": 1.2}, label)
            lost += 1
            continue
        for hop in itertools.pairwise(path):
            side = used[(min(hop), max(hop))]
            used[(min(hop), max(hop))] += 1
            bend = 0.06 * ((side + 1) // 2) * (1 if side % 2 else -1) * (1 if hop[0] < hop[1] else -1)
            line = {"color": colour, "linewidth": 1.6, "connectionstyle": f"arc3,rad={bend}"}
            arrow(axes, at[hop[0]], at[hop[1]], line, None)
        label = f"{flow['from']} → {flow['to']}"
        axes.plot(*at[path[0]], marker="o", markersize=13, markerfacecolor="none", color=colour, linestyle="none", zorder=4)
        axes.plot([], [], color=colour, linewidth=1.6, label=label)
    return len(flows)


def arrow(axes: "Axes", start: tuple[float, float], end: tuple[float, float], line: dict[str, Any], label: str | None) -> None:
    """Draw an arrow that stops short of the marks at its ends."""
    from matplotlib.patches import FancyArrowPatch

    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, shrinkA=4, shrinkB=4, zorder=3, **line))
    if label:
        axes.plot([], [], color=line["color"], linestyle=line["linestyle"], label=label)


def draw_moves(axes: "Axes", graph: dict[str, Any]) -> None:
    """Draw the waypoints of nodes with their times."""
    label = "place after a move"
    for node in graph["node"]:
        points = node.get("mobility", {}).get("points", [])
        at = (node.get("x"), node.get("y"))
        for point in points if len(points) <= MAX_POINTS else []:
            to = (point["x"], point["y"])
            arrow(axes, at, to, {"color": "#666666", "linestyle": ":", "linewidth": 1.2}, None)
            axes.plot(*to, marker="o", markersize=6, markerfacecolor="none", color="#999999", linestyle="none", label=label)
            when = f"{node['name']} from {units.si(point['at']):g} s"
            axes.annotate(when, to, xytext=(5, 5), textcoords="offset points", fontsize=7, color="#222222", zorder=6)
            at, label = to, None


def thin_names(axes: "Axes") -> None:
    """Remove names that would overlap an earlier one."""
    from matplotlib.text import Annotation

    drawn: list[Any] = []
    for text in [child for child in axes.get_children() if isinstance(child, Annotation)]:
        box = text.get_window_extent()
        if any(box.overlaps(other) for other in drawn):
            text.remove()
        else:
            drawn.append(box)


def draw_stations(axes: "Axes", graph: dict[str, Any], place: dict[str, Any], joined: set[str]) -> None:
    """Draw the nodes: access points and other roles as squares, those without a neighbour as crosses."""
    kinds: dict[str, list[str]] = {kind: [] for kind in NODE_STYLES}
    radios = {name for channel in graph["channel"] for name in channel["stations"]}
    for node in graph["node"]:
        name, role = node["name"], node.get("role", "host")
        kind = "station" if name in radios else "wired node"
        kind = ROLE_KINDS.get(role, kind)
        kinds["isolated" if name not in joined else kind].append(name)
    for kind, names in kinds.items():
        if names:
            x, y = [place[name][0] for name in names], [place[name][1] for name in names]
            axes.plot(x, y, linestyle="none", label=kind, zorder=5, **NODE_STYLES[kind])
    busy = {flow[end] for flow in graph.get("flow", []) for end in ("from", "to")}
    few = len(place) <= MAX_LABELS
    always = {name for kind in ROLE_KINDS.values() for name in kinds[kind]}
    in_row = Counter(place[name][1] for name in kinds["wired node"])
    upright = {name for name in kinds["wired node"] if in_row[place[name][1]] > MAX_IN_ROW}
    behind = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    # The most important names come first: names that they overlap are removed.
    for name in sorted(place, key=lambda name: (name not in always, name not in busy)):
        x, y = place[name]
        if few or (name in busy and len(busy) <= MAX_LABELS) or name in always:
            label_style: dict[str, Any] = (
                {"xytext": (0, 7), "rotation": 90, "ha": "center"} if name in upright else {"xytext": (5, 5)}
            )
            label_style["bbox"] = behind if name in kinds["router"] else None
            axes.annotate(name, (x, y), textcoords="offset points", fontsize=7, color="#222222", zorder=6, **label_style)
