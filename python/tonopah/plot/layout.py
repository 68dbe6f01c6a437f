"""Positions of the nodes of a network in its picture."""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any


def find_neighbours(links: list[Any]) -> dict[str, set[str]]:
    """Return the neighbours of each node."""
    neighbours: dict[str, set[str]] = defaultdict(set)
    for link in links:
        neighbours[link["from"]].add(link["to"])
        neighbours[link["to"]].add(link["from"])
    return neighbours


def find_inner(nodes: Mapping[str, Any], neighbours: Mapping[str, set[str]]) -> list[str]:
    """Return the nodes that forward packets."""
    return [name for name in nodes if len(neighbours.get(name, ())) > 1 or nodes[name].get("role", "host") != "host"]


def given_positions(nodes: Mapping[str, Any]) -> dict[str, tuple[float, float]] | None:
    """Return the coordinates of nodes as the scenario gives them; None if a node has none."""
    if not all(node.get("x") is not None and node.get("y") is not None for node in nodes.values()):
        return None
    return {name: (float(node["x"]), float(node["y"])) for name, node in nodes.items()}


def node_positions(graph: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return a position in metres for every node: as given, else in a row above the others, else on circles."""
    nodes = {node["name"]: node for node in graph["node"]}
    if (own := given_positions(nodes)) is not None:
        return own
    placed = given_positions({name: node for name, node in nodes.items() if node.get("x") is not None}) or {}
    if placed:
        left, right = min(x for x, _ in placed.values()), max(x for x, _ in placed.values())
        top = max(y for _, y in placed.values())
        others = [name for name in nodes if name not in placed]
        width = right - left or 1.0
        row = {name: (left + width * (i + 0.5) / len(others), top + 0.15 * width) for i, name in enumerate(others)}
        return placed | row
    neighbours = find_neighbours(graph.get("link", []))
    inner = [name for name in nodes if len(neighbours[name]) > 1]
    return {name: (100 * x, 100 * y) for name, (x, y) in circle_positions(list(nodes), inner, neighbours).items()}


def circle_positions(names: list[str], inner: list[str], neighbours: Any) -> dict[str, tuple[float, float]]:
    """Return positions on two circles: inner nodes on the inner one, the hosts of each fanned out behind it."""
    centre = inner or names
    place = {}
    for i, name in enumerate(centre):
        angle = 2 * math.pi * i / len(centre)
        place[name] = (math.cos(angle), math.sin(angle))
        hosts = sorted(neighbours[name] - set(centre))
        for j, host in enumerate(hosts):
            turn = angle + 2 * math.pi / len(centre) * 0.8 * ((j + 0.5) / len(hosts) - 0.5)
            place[host] = (2 * math.cos(turn), 2 * math.sin(turn))
    for i, name in enumerate(name for name in names if name not in place):
        place[name] = (2.5, i * 0.3)
    return place
