"""The picture of a network, from the graph that `check` returns. Wireless networks are drawn by `plot.wireless`.

One or two inner nodes (a star, a dumbbell): senders left, receivers right, long columns thinned out. Otherwise: nodes at
their coordinates if they have any, else on circles.
"""

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tonopah import units
from tonopah.plot import satellites, style, wireless
from tonopah.plot.layout import circle_positions, find_inner, find_neighbours, given_positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_IN_COLUMN = 6
MAX_LABELS = 40
NODE_STYLES = {
    "host": {"boxstyle": "round,pad=0.25", "facecolor": "#ffffff", "edgecolor": "#0072B2"},
    "router": {"boxstyle": "circle,pad=0.3", "facecolor": "#e8e8e8", "edgecolor": "#222222"},
    "switch": {"boxstyle": "square,pad=0.3", "facecolor": "#f4f4f4", "edgecolor": "#222222"},
    "gateway": {"boxstyle": "circle,pad=0.3", "facecolor": "#fbe3d0", "edgecolor": "#D55E00"},
}


def draw(graph: dict[str, Any]) -> str:
    """Return the network as SVG text."""
    if graph.get("channel"):
        return wireless.draw(graph)
    if graph["network"]["kind"] == "constellation":
        return satellites.draw_map(satellites.ground_tracks(graph, until_s=0.0))
    nodes = {node["name"]: node for node in graph.get("node", [])}
    links = [link for link in graph.get("link", []) if link["from"] in nodes and link["to"] in nodes]
    neighbours = find_neighbours(links)
    inner = find_inner(nodes, neighbours)
    with style.canvas(7.2, 3.4 if len(inner) <= 2 else 5.4) as (figure, axes):
        figure.set_layout_engine("none")
        axes.set_position((0, 0, 1, 1))
        axes.set_axis_off()
        axes.grid(visible=False)
        if 1 <= len(inner) <= 2:
            draw_columns(axes, graph, nodes, links, inner, neighbours)
        else:
            draw_mesh(axes, nodes, links, inner, neighbours)
        return style.svg(figure)


def describe(graph: dict[str, Any]) -> str:
    """Return the size of the network in words."""
    if graph["network"]["kind"] == "constellation":
        terminals = len(graph["network"]["terminals"])
        return f"{terminals} terminals, {len(graph['node']) - terminals} satellites, {len(graph.get('flow', []))} flows"
    pairs = {frozenset((link["from"], link["to"])) for link in graph.get("link", [])}
    radios = sum(len(channel["stations"]) for channel in graph.get("channel", []))
    wireless = f"{radios} of them with radio, " if radios else ""
    counted = ((len(pairs), "link"), (len(graph.get("flow", [])), "flow"))
    size = [f"{n} {what}{'s' * (n != 1)}" for n, what in counted if n or what == "flow"]
    return f"{len(graph.get('node', []))} nodes, {wireless}{', '.join(size)}"


def legend(graph: dict[str, Any]) -> str:
    """Return the legend of the picture in words."""
    if graph["network"]["kind"] == "constellation":
        return (
            "Squares are satellites, dotted lines the tracks of those that serve a terminal, the thick line the path of the "
            "flows when the run starts. Coastlines: Natural Earth, public domain."
        )
    if graph.get("channel"):
        return (
            "Stations where they are when the run starts. A ring and an arrow of the same colour are the ends of a flow, the "
            "line between them its way over the fewest hops, which the routing of the run need not take."
        )
    nodes = {node["name"]: node for node in graph.get("node", [])}
    labelled = len(find_inner(nodes, find_neighbours(graph.get("link", [])))) in (1, 2)
    return "Labels give rate, propagation delay and loss of a link." if labelled else ""


def draw_columns(axes: "Axes", graph: dict[str, Any], nodes: Any, links: list[Any], inner: list[str], neighbours: Any) -> None:
    """Draw inner nodes in the middle, and their hosts in columns left and right."""
    place = {name: (5.0 if len(inner) == 1 else 3.6 + 2.8 * i, 0.0) for i, name in enumerate(inner)}
    right = receivers(graph, nodes)
    columns: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for name in nodes:
        if name not in place and neighbours[name]:
            columns[(next(iter(neighbours[name])), name in right)].append(name)
    height = max((min(len(names), MAX_IN_COLUMN) for names in columns.values()), default=1)
    by_pair = {(link["from"], link["to"]): link for link in links} | {(link["to"], link["from"]): link for link in links}
    for (hub, is_right), names in columns.items():
        shown = abbreviate(names)
        x = 9.0 if is_right else 1.0
        for i, name in enumerate(shown):
            y = (len(shown) - 1) / 2 - i
            if name is None:
                axes.text(x, y, f"… {len(names) - len(shown) + 1} more", ha="center", va="center", color="#444444", fontsize=8)
                continue
            axes.plot([x, place[hub][0]], [y, place[hub][1]], color="#999999", linewidth=1, zorder=1)
            draw_node(axes, name, nodes[name], (x, y))
        text = link_text(next((by_pair[(a, b)] for a in names for b in (hub,) if (a, b) in by_pair), {}))
        axes.text((x + place[hub][0]) / 2, height / 2 + 0.25, text, ha="center", va="bottom", fontsize=8, color="#222222")
    if len(inner) == 2 and (inner[0], inner[1]) in by_pair:
        axes.plot([place[name][0] for name in inner], [0, 0], color="#333333", linewidth=2.5, zorder=1)
        axes.text(5.0, -0.35, link_text(by_pair[(inner[0], inner[1])]), ha="center", va="top", fontsize=8, color="#222222")
    for name in inner:
        draw_node(axes, name, nodes[name], place[name])
    axes.set_xlim(0, 10)
    axes.set_ylim(-height / 2 - 0.3, height / 2 + 1.0)


def receivers(graph: dict[str, Any], nodes: Any) -> set[str]:
    """Return the hosts drawn on the right: those that flows go to, and their namesakes without a flow."""
    ends = {flow["to"] for flow in graph.get("flow", [])} - {flow["from"] for flow in graph.get("flow", [])}
    stems = {re.sub(r"\d+$", "", name) for name in ends} - {re.sub(r"\d+$", "", flow["from"]) for flow in graph.get("flow", [])}
    return {name for name in nodes if name in ends or re.sub(r"\d+$", "", name) in stems}


def abbreviate(names: list[str]) -> list[str | None]:
    """Return the names that are drawn; None stands for the omitted ones."""
    if len(names) <= MAX_IN_COLUMN:
        return list(names)
    return [*names[: MAX_IN_COLUMN - 2], None, names[-1]]


def draw_mesh(axes: "Axes", nodes: Any, links: list[Any], inner: list[str], neighbours: Any) -> None:
    """Draw nodes at their coordinates; without any, inner nodes on a circle and their hosts outside of it."""
    place = given_positions(nodes) or circle_positions(list(nodes), inner, neighbours)
    for link in links:
        (x0, y0), (x1, y1) = place[link["from"]], place[link["to"]]
        axes.plot([x0, x1], [y0, y1], color="#999999", linewidth=1, zorder=1)
    for name, node in nodes.items():
        if len(nodes) <= MAX_LABELS or (node.get("role", "host") != "host" and len(inner) <= MAX_LABELS):
            draw_node(axes, name, node, place[name])
        else:
            axes.plot(*place[name], marker="o", color="#0072B2", markerfacecolor="white", markersize=5, zorder=3)
    axes.margins(0.08)


def draw_node(axes: "Axes", name: str, node: dict[str, Any], at: tuple[float, float]) -> None:
    """Draw one node with its name."""
    node_style = NODE_STYLES.get(node.get("role", "host"), NODE_STYLES["host"])
    axes.text(*at, name, ha="center", va="center", fontsize=8, bbox=node_style, zorder=3)


def link_text(link: dict[str, Any]) -> str:
    """Return rate, delay and loss of a link for people."""
    parts = [readable(link[key]) for key in ("rate", "delay") if isinstance(link.get(key), str)]
    loss = link.get("loss")
    if isinstance(loss, dict) and loss.get("kind") == "packet":
        parts.append(f"loss {loss['p']:g}")
    elif isinstance(loss, dict) and loss.get("kind", "none") != "none":
        parts.append(f"{loss['kind']} loss")
    return ", ".join(parts)


def readable(value: str) -> str:
    """Return a value with unit for people: "2Mbps" as 2 Mb/s."""
    found = units.split(value)
    return f"{found[0]:g} {units.SYMBOLS.get(found[1], found[1])}".strip() if found else value
