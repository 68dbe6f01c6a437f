"""The picture of a network, from the graph that `check` returns. Wireless networks are drawn by `plot.wireless`.

One or two inner nodes (a star, a dumbbell): senders left, receivers right, long columns thinned out. Otherwise: nodes at
their coordinates if they have any, else on circles.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tonopah import units
from tonopah.metrics import count_text
from tonopah.plot import satellites, style, wireless
from tonopah.plot.layout import circle_positions, find_inner, find_neighbours, given_positions
from tonopah.plot.sketch import Sketch, text_width

MAX_IN_COLUMN = 6
MAX_LABELS = 40
ROW_PX = 32.0
HOSTS_APART_PX = 190.0
HUBS_APART_PX = 210.0
ROOM_PX = 70.0
"""Between a label and the boxes at the ends of its line."""
ABOVE_PX = 13.0
"""Of a label over its line."""
WIDTH_PX, MIN_HEIGHT_PX, MAX_HEIGHT_PX = 660.0, 160.0, 520.0


def draw(graph: dict[str, Any]) -> str:
    """Return the network as SVG text."""
    if graph.get("channel"):
        return style.adaptive(wireless.draw(graph))
    if graph["network"]["kind"] == "constellation":
        return style.adaptive(satellites.draw_map(satellites.ground_tracks(graph, until_s=0.0)))
    nodes = {node["name"]: node for node in graph.get("node", [])}
    links = [link for link in graph.get("link", []) if link["from"] in nodes and link["to"] in nodes]
    neighbours = find_neighbours(links)
    inner = find_inner(nodes, neighbours)
    sketch = (
        draw_columns(graph, nodes, links, inner, neighbours)
        if 1 <= len(inner) <= 2
        else draw_mesh(nodes, links, inner, neighbours)
    )
    return sketch.svg()


def describe(graph: dict[str, Any]) -> str:
    """Return the size of the network in words."""
    if graph["network"]["kind"] == "constellation":
        terminals = len(graph["network"]["terminals"])
        return f"{terminals} terminals, {len(graph['node']) - terminals} satellites, {len(graph.get('flow', []))} flows"
    pairs = {frozenset((link["from"], link["to"])) for link in graph.get("link", [])}
    radios = sum(len(channel["stations"]) for channel in graph.get("channel", []))
    wireless = f"{radios} of them with radio, " if radios else ""
    counted = ((len(pairs), "link"), (len(graph.get("flow", [])), "flow"))
    size = [count_text(n, what) for n, what in counted if n or what == "flow"]
    if worst := oversubscription(graph):
        size.append(f"oversubscription {worst:.3g}")
    return f"{len(graph.get('node', []))} nodes, {wireless}{', '.join(size)}"


def oversubscription(graph: dict[str, Any]) -> float | None:
    """Return the rate of a switch's hosts over that of its links to several other switches, where it is largest."""
    roles = {node["name"]: node.get("role", "host") for node in graph.get("node", [])}
    rates: dict[str, dict[str, list[float]]] = defaultdict(lambda: {"host": [], "switch": []})
    for link in graph.get("link", []):
        for switch, other in ((link["from"], link["to"]), (link["to"], link["from"])):
            if roles.get(switch) == "switch" and roles.get(other) in ("host", "switch"):
                rates[switch][roles[other]].append(units.si(link["rate"]))
    ratios = [sum(of["host"]) / sum(of["switch"]) for of in rates.values() if of["host"] and len(of["switch"]) > 1]
    return max(ratios, default=None)


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


def draw_columns(graph: dict[str, Any], nodes: Any, links: list[Any], inner: list[str], neighbours: Any) -> Sketch:
    """Draw inner nodes in the middle, and their hosts in columns left and right of them."""
    by_pair = {(link["from"], link["to"]): link for link in links} | {(link["to"], link["from"]): link for link in links}
    middle = link_text(by_pair.get((inner[0], inner[-1]), {}))
    hubs = {inner[0]: 0.0, inner[-1]: max(HUBS_APART_PX, text_width(middle) + ROOM_PX) if len(inner) == 2 else 0.0}
    right, columns = receivers(graph, nodes), defaultdict(list)
    for name in nodes:
        if name not in hubs and neighbours[name]:
            hub = next(iter(neighbours[name]))
            # Of two inner nodes the first has its hosts on the left, whatever they do.
            columns[(hub, hub == inner[-1] if len(inner) == 2 else name in right)].append(name)
    sketch = Sketch()
    if len(inner) == 2 and middle:
        sketch.line((0.0, 0.0), (hubs[inner[-1]], 0.0), 3.0, strong=True)
        sketch.label((hubs[inner[-1]] / 2, -ABOVE_PX), middle, soft=False)
    for (hub, is_right), names in columns.items():
        draw_column(sketch, hubs[hub], 1 if is_right else -1, {name: link_text(by_pair[(name, hub)]) for name in names}, nodes)
    for name, x in hubs.items():
        sketch.box((x, 0.0), name, nodes[name].get("role", "host"))
    return sketch


def draw_column(sketch: Sketch, hub: float, side: int, texts: dict[str, str], nodes: Any) -> None:
    """Draw the hosts of one inner node on one side: one label over the first link if all are alike, else one beside each."""
    shown, alike = abbreviate(list(texts)), len(set(texts.values())) == 1
    longest = max(text_width(text) for text in texts.values())
    names = max(text_width(name) for name in texts)
    x = hub + side * max(HOSTS_APART_PX, (longest if alike else 0.0) + names + ROOM_PX)
    for i, name in enumerate(shown):
        y = ROW_PX * (i - (len(shown) - 1) / 2)
        if name is None:
            sketch.label((x, y), f"… {len(texts) - len(shown) + 1} more")
            continue
        sketch.line((x, y), (hub, 0.0))
        sketch.box((x, y), name, nodes[name].get("role", "host"))
        if not alike:
            outside = max(30.0, names + 14) / 2 + text_width(texts[name]) / 2 + 8
            sketch.label((x + side * outside, y), texts[name])
        elif i == 0:
            # The line rises below the label: its outer end must not touch it.
            above = ABOVE_PX + text_width(texts[name]) / 2 * abs(y / (hub - x))
            sketch.label(((x + hub) / 2, y / 2 - above), texts[name])


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


def draw_mesh(nodes: Any, links: list[Any], inner: list[str], neighbours: Any) -> Sketch:
    """Draw nodes at their coordinates; without any, inner nodes on a circle and their hosts outside of it."""
    given = given_positions(nodes) or circle_positions(list(nodes), inner, neighbours)
    place, sketch = fit(given), Sketch()
    for pair in dict.fromkeys(frozenset((link["from"], link["to"])) for link in links):
        ends = sorted(pair)
        sketch.line(place[ends[0]], place[ends[-1]])
    for name, node in nodes.items():
        role = node.get("role", "host")
        if len(nodes) <= MAX_LABELS or (role != "host" and len(inner) <= MAX_LABELS):
            sketch.box(place[name], name, role)
        else:
            sketch.dot(place[name], name)
    return sketch


def fit(place: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return places in pixels, y downwards: as wide as a page, and as high as the coordinates ask for, within limits."""
    left, right = min(x for x, _ in place.values()), max(x for x, _ in place.values())
    low, high = min(y for _, y in place.values()), max(y for _, y in place.values())
    width, depth = right - left or 1.0, high - low or 1.0
    height = min(MAX_HEIGHT_PX, max(MIN_HEIGHT_PX, WIDTH_PX * depth / width)) if high > low else 0.0
    return {name: ((x - left) / width * WIDTH_PX, (high - y) / depth * height) for name, (x, y) in place.items()}


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
