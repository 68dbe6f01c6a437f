"""Topologies that others wrote: GraphML, GML (Topology Zoo), SNDlib's XML and lists of edges, as nodes and links of a graph.

What a file leaves open is assumed, and said: rates, delays, names. Delays come from attributes, from a length, or from the great
circle between coordinates at two thirds of the speed of light.
"""

import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah.errors import InputError
from tonopah.scenario.link_files import MOST_BPS, MOST_DELAY_S, read_text
from tonopah.scenario.setdest import named_by

RATE, DELAY, QUEUE = "10Gbps", "1ms", "1000p"
"""What a link has that the file says nothing of."""

FIBRE_M_S = 299_792_458 * 2 / 3
EARTH_M = 6_371_008.8
"""Mean radius of the Earth (IUGG)."""

RATES = ("LinkSpeedRaw", "capacity", "bandwidth", "bw", "rate", "speed", "LinkSpeed")
DELAYS = ("delay", "latency")
LENGTHS = ("length", "distance", "dist")
FORMATS = {".graphml": "graphml", ".gml": "gml", ".xml": "sndlib", ".txt": "edges", ".edges": "edges", ".csv": "edges"}
"""Formats by how the file's name ends."""

QUANTITY = re.compile(r"\s*([0-9.eE+-]+)\s*([A-Za-zµ/]*)\s*")
BITS = {"": 1e6, "b": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
SECONDS = {"": 1e-3, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
"""Units of numbers; one without a unit is in Mb/s, or in milliseconds."""


@dataclass
class Topology:
    """Nodes and links of a scenario, and what was assumed of them."""

    nodes: list[dict[str, Any]]
    links: list[dict[str, Any]]
    told: list[str] = field(default_factory=list)


@dataclass
class Edge:
    """An edge as the file has it."""

    ends: tuple[str, str]
    attributes: dict[str, Any]

    def __str__(self) -> str:
        return f"the edge between {' and '.join(self.ends)}"


@dataclass
class Read:
    """What a file holds: labels and coordinates (latitude, longitude) of nodes by id, and edges."""

    labels: dict[str, str]
    places: dict[str, tuple[float, float]]
    edges: list[Edge]


def read_topology(text: str, kind: str, source: str, defaults: dict[str, str]) -> Topology:
    """Return the topology in a text. Raises InputError with what was expected."""
    read = {"graphml": read_graphml, "gml": read_gml, "sndlib": read_sndlib, "edges": read_edges}[kind](text, source)
    counts: Counter[str] = Counter()
    used: dict[frozenset[str], dict[str, Any]] = {}
    names = named(read)
    for edge in read.edges:
        pair = frozenset(edge.ends)
        if len(pair) == 1 or pair in used:
            counts["edges are left out: loops, and second ones between two nodes"] += 1
            continue
        first, second = edge.ends
        used[pair] = {"from": names[first], "to": names[second], **link_of(edge, read, defaults, counts, source)}
    if not used:
        raise InputError("", f"has no edges of a {kind} file between two nodes", None, source)
    joined = {end for pair in used for end in pair}
    if alone := len(read.labels) - len(joined):
        counts["nodes without an edge are left out"] += alone
    told = [f"{count:,} {what}" for what, count in counts.items()]
    return Topology([{"name": names[node]} for node in read.labels if node in joined], list(used.values()), told)


def named(read: Read) -> dict[str, str]:
    """Return the names of nodes: labels, with the id where two have one label."""
    often = Counter(read.labels.values())
    return {node: label if often[label] == 1 else f"{label} ({node})" for node, label in read.labels.items()}


def link_of(edge: Edge, read: Read, defaults: dict[str, str], counts: Counter[str], source: str) -> dict[str, Any]:
    """Return the keys of a link; `counts` has what was assumed."""
    bps = quantity(edge, RATES, BITS, source)
    delay_s = quantity(edge, DELAYS, SECONDS, source)
    if bps is None:
        counts[f"links have no rate in the file: {defaults['rate']}"] += 1
    if delay_s is None:
        delay_s = flight(edge, read, counts, source)
    if delay_s is None:
        counts[f"links have neither delay nor places: {defaults['delay']}"] += 1
    for value, most, unit in ((bps, MOST_BPS, "bit/s"), (delay_s, MOST_DELAY_S, "s")):
        if value is not None and value > most:
            raise InputError("", f"{edge} has {value:g} {unit}", f"at most {most:g} {unit}", source)
    rate = defaults["rate"] if bps is None else f"{round(bps)}bps"
    delay = defaults["delay"] if delay_s is None else f"{round(delay_s * 1e9)}ns"
    return {"rate": rate, "delay": delay, "queue": defaults["queue"]}


def quantity(edge: Edge, keys: Sequence[str], units: dict[str, float], source: str) -> float | None:
    """Return a rate in bit/s or a delay in s, if the edge has one above 0."""
    found = next(((key, edge.attributes[key]) for key in keys if edge.attributes.get(key) not in (None, "")), None)
    if found is None:
        return None
    key, value = found
    match = QUANTITY.fullmatch(str(value))
    unit = match[2].lower() if match else ""
    if units is BITS:
        unit = str(edge.attributes.get("LinkSpeedUnits", "")).lower() if key == "LinkSpeed" and not unit else unit
        unit = "b" if key == "LinkSpeedRaw" or unit in ("b", "bps", "bit/s", "b/s") else unit[:1]
    try:
        number = float(match[1]) * units[unit] if match else math.nan
    except (KeyError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise InputError("", f"{key} of {edge} is {str(value)[:40]!r}", "a number and a unit, like 10Gbps", source)
    return number if number >= (1.0 if units is BITS else 0.0) else None


def flight(edge: Edge, read: Read, counts: Counter[str], source: str) -> float | None:
    """Return the time of light in fibre over the length of an edge in km, or between its ends."""
    for key in LENGTHS:
        if edge.attributes.get(key) not in (None, ""):
            try:
                metres = 1e3 * float(edge.attributes[key])
            except ValueError:
                metres = math.nan
            if not (math.isfinite(metres) and metres >= 0):
                raise InputError("", f"{key} of an edge is {edge.attributes[key]!r}", "a number of kilometres", source)
            counts["links have a delay by their length in km, at 2/3 of the speed of light"] += 1
            return metres / FIBRE_M_S
    if not all(end in read.places for end in edge.ends):
        return None
    counts["links have a delay by the great circle, at 2/3 of the speed of light"] += 1
    first, second = (read.places[end] for end in edge.ends)
    return great_circle_m(first, second) / FIBRE_M_S


def great_circle_m(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the distance of two places, each latitude and longitude in degrees (haversine)."""
    (lat1, lon1), (lat2, lon2) = (tuple(map(math.radians, place)) for place in (first, second))
    half = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_M * math.asin(min(1.0, math.sqrt(half)))


def read_graphml(text: str, source: str) -> Read:
    """Read GraphML by networkx."""
    nx = networkx(source)
    return of_networkx(lambda: nx.parse_graphml(text, force_multigraph=True), "GraphML", source)


def read_gml(text: str, source: str) -> Read:
    """Read GML by networkx. The Topology Zoo has several edges between two nodes and does not say so."""
    nx = networkx(source)
    if not re.search(r"^\s*multigraph\s+1", text, re.MULTILINE):
        text = re.sub(r"\bgraph\s*\[", "graph [\n  multigraph 1\n", text, count=1)
    # Edges of a multigraph have no key there.
    return of_networkx(lambda: nx.parse_gml(text, label="id"), "GML", source)


def networkx(source: str) -> Any:
    """Import networkx, which an extra brings."""
    try:
        import networkx as nx
    except ImportError:
        raise InputError("", "needs the package networkx", "pip install '.[topologies]' in the checkout", source) from None
    return nx


def of_networkx(parse: Any, what: str, source: str) -> Read:
    """Return what networkx reads."""
    try:
        graph = parse()
    except Exception as error:
        # It raises what its parsers do: of XML, of numbers, its own.
        reason = str(error).split("\n")[0][:200] or type(error).__name__
        raise InputError("", f"is not {what}: {reason}", None, source) from None
    # An edge may write the number of a node in another way: 0 and -0.0 are one node.
    names = {node: str(node) for node in graph.nodes()}
    labels = {names[node]: str(data.get("label") or node) for node, data in graph.nodes(data=True)}
    places = {names[node]: place for node, data in graph.nodes(data=True) if (place := place_of(data))}
    edges = [Edge((names[first], names[second]), dict(data)) for first, second, data in graph.edges(data=True)]
    return Read(labels, places, edges)


def place_of(data: dict[str, Any]) -> tuple[float, float] | None:
    """Return latitude and longitude, if a node has both."""
    known = {str(key).lower(): value for key, value in data.items()}
    try:
        lat, lon = (
            float(known[long] if long in known else known[short]) for long, short in (("latitude", "lat"), ("longitude", "lon"))
        )
    except (KeyError, OverflowError, TypeError, ValueError):
        return None
    return (lat, lon) if abs(lat) <= 90 and abs(lon) <= 180 else None


def read_sndlib(text: str, source: str) -> Read:
    """Read the `networkStructure` of SNDlib's XML (Orlowski et al. 2010): rates are capacities of modules, in Mb/s."""
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise InputError(f"line {error.position[0]}", f"is not XML: {error}", "SNDlib's format", source) from None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    nodes = root.find(".//nodes")
    if nodes is None or root.find(".//links") is None:
        raise InputError("", "has no networkStructure with nodes and links", "SNDlib's format", source)
    geographical = nodes.get("coordinatesType", "geographical") == "geographical"
    labels, places, edges = {}, {}, []
    for node in nodes.iter("node"):
        name = node.get("id", "")
        labels[name] = name
        place = place_of({"lat": node.findtext(".//y"), "lon": node.findtext(".//x")}) if geographical else None
        places.update({name: place} if place else {})
    for link in root.iter("link"):
        first, second = (str(link.findtext(end, "")).strip() for end in ("source", "target"))
        if first not in labels or second not in labels:
            raise InputError("", f"link {link.get('id')!r} names a node that is not there", None, source)
        capacity = link.findtext("preInstalledModule/capacity") or link.findtext(".//addModule/capacity")
        edges.append(Edge((first, second), {"capacity": (capacity or "").strip()}))
    return Read(labels, places, edges)


def read_edges(text: str, source: str) -> Read:
    """Read a list of edges: two nodes a line, apart by blanks, commas or bars, as CAIDA's relations are; `#` begins a comment.

    A first line `from to …` or `source target …` names the columns.
    """
    lines = [(number, cells) for number, line in enumerate(text.splitlines(), 1) if (cells := cells_of(line))]
    header: list[str] = []
    if lines and [cell.lower() for cell in lines[0][1][:2]] in (["from", "to"], ["source", "target"]):
        header = lines.pop(0)[1][2:]
    labels: dict[str, str] = {}
    edges = []
    for number, cells in lines:
        if len(cells) < 2 or not all(cells[:2]):
            raise InputError(f"line {number}", f"{cells[0][:40]!r} is no edge", "two nodes, and perhaps more", source)
        labels |= {cell: cell for cell in cells[:2]}
        edges.append(Edge((cells[0], cells[1]), dict(zip(header, cells[2:], strict=False))))
    return Read(labels, {}, edges)


def cells_of(line: str) -> list[str]:
    """Return the cells of a line of edges without its comment: apart by bars, commas or semicolons, or else by blanks."""
    text = line.partition("#")[0].strip()
    mark = next((mark for mark in "|,;" if mark in text), None)
    return [cell.strip() for cell in text.split(mark)] if text else []


def inline_topology(scenario: dict[str, Any], folder: Path, source: str | None = None) -> str:
    """Give a graph the nodes and links of `network.file`, and return what was assumed."""
    network = scenario.get("network")
    if not isinstance(network, dict) or network.get("kind") != "graph" or not isinstance(network.get("file"), str):
        return ""
    path = folder / network.pop("file")
    defaults = {key: network.pop(key, default) for key, default in (("rate", RATE), ("delay", DELAY), ("queue", QUEUE))}
    if beside := [key for key in ("node", "link") if scenario.get(key)]:
        raise InputError(beside[0], "the file of the topology gives nodes and links", "remove it, or the file", source)
    kind = FORMATS.get(path.name.removesuffix(".gz")[path.name.removesuffix(".gz").rfind(".") :].lower())
    if kind is None:
        raise InputError(
            "network.file", f"{path.name!r} is no known topology", f"a name that ends in {', '.join(FORMATS)}", source
        )
    try:
        topology = read_topology(read_text(str(path)), kind, str(path), defaults)
    except InputError as error:
        raise named_by(error, "network.file", source) from None
    scenario["node"], scenario["link"] = topology.nodes, topology.links
    return f"{path}: {'; '.join(topology.told)}" if topology.told else ""
