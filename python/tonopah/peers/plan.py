"""What of a scenario a peer carries: wires with queues, losses of packets, bulk transfers and datagrams.

Of `tcp` a peer follows the congestion control and the settings that its module names; what the profile says beyond these, such as
loss recovery and the parameters of algorithms, is part of what is compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tonopah.cc.references import name_in
from tonopah.errors import InputError
from tonopah.runs import simulation
from tonopah.scenario.headers import IP_TCP_BYTES, IP_UDP_BYTES, TIMESTAMPS_BYTES
from tonopah.units import si

ROOT_KEYS = ("duration", "warmup", "network", "tcp", "traffic", "flow", "node", "link", "record", "vary")
WAY_KEYS = ("rate", "delay", "queue", "loss", "overhead")
LINK_KEYS = ("from", "to", "reverse", *WAY_KEYS)
FLOW_KEYS = ("from", "to", "app", "start", "stop", "tcp", "cc", "name")
APPS = {"bulk": ("kind",), "cbr": ("kind", "rate", "size", "transport")}
NOTHING = (None, "block", "none", False, {}, [])
"""Values that say what is so without them."""
NO_QUEUE, NO_LOSS = {"kind": "drop_tail"}, {"kind": "none"}
MOST_FLOWS, MOST_NAMED = 1000, 9
MOST_BYTES = 1 << 30
"""The largest window of TCP (RFC 7323 section 2.3)."""
Refusal = tuple[str, str]
ANY: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Able:
    """What a peer can do."""

    name: str
    controls: Mapping[str, str]
    """Congestion controls by our name: what the peer calls them."""
    queues: Mapping[str, Mapping[str, Sequence[Any]]]
    """Kinds of queues with the keys that it follows, and of each the values, or ANY."""
    tcp: Mapping[str, Sequence[Any]]
    """Settings of TCP that it follows for some values alone."""
    follows: Sequence[str]
    """Settings of TCP that it follows whatever their values; others have to be those of the profile."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Kinds of queues that it does not have, in words."""
    in_packets: Sequence[str] = ()
    """Kinds of queues whose limit is a number of packets alone."""

    @property
    def kinds(self) -> str:
        """The kinds of queues in words."""
        *others, last = self.queues
        return f"{', '.join(others)} or {last}"


@dataclass(frozen=True)
class Direction:
    """A simplex link, by the numbers of its nodes; its queue, and the share of packets that it loses."""

    source: int
    sink: int
    rate_bps: float
    delay_s: float
    queue: Mapping[str, Any]
    loss: float


@dataclass(frozen=True)
class Flow:
    """A flow: numbers of its nodes, and what it sends."""

    number: int
    source: int
    sink: int
    start_s: float
    stop_s: float | None
    cc: str
    """Of datagrams nothing."""
    payload_bytes: int
    packet_bytes: int
    rate_bps: float
    """Of datagrams, headers included."""
    tcp: Mapping[str, Any]
    """The settings of its sockets; of datagrams none."""

    @property
    def window_packets(self) -> int:
        """The receiver's window."""
        return max(1, bytes_of(self.tcp["recv_buffer"]) // self.payload_bytes)

    @property
    def first_window_packets(self) -> int:
        """The initial window."""
        return max(1, bytes_of(self.tcp["initial_window"]) // self.payload_bytes)


@dataclass(frozen=True)
class PeerPlan:
    """A scenario as a peer carries it. Links are in the order of a summary: both directions of the first, then of the next."""

    nodes: list[str]
    links: list[Direction]
    flows: list[Flow]
    duration_s: float
    warmup_s: float
    every_s: float


def planned(able: Able, scenario: Mapping[str, Any], name: str | None, seed: int) -> PeerPlan:
    """Return how a peer carries a scenario, drawn with `seed`. Raises InputError that names every key it cannot follow."""
    graph = simulation.checked_in(scenario, name, seed)["graph"]
    if refused := list(refusals(able, graph)):
        (path, text), more = refused[0], refused[1:]
        rest = "".join(f"; {other}: {said}" for other, said in more[:MOST_NAMED])
        rest += f"; and {len(more) - MOST_NAMED} more" if len(more) > MOST_NAMED else ""
        raise InputError(path, f"{text}{rest}", f"wires, {able.kinds}, loss of packets, bulk, and cbr over udp", name)
    places = {node["name"]: number for number, node in enumerate(graph["node"])}
    return PeerPlan(
        list(places),
        [direction for link in graph["link"] for direction in directions(link, places)],
        [flow_of(able, number, flow, graph, places) for number, flow in enumerate(graph["flow"])],
        si(graph["duration"]),
        si(graph["warmup"]),
        si(graph["record"]["every"]),
    )


def refusals(able: Able, graph: Mapping[str, Any]) -> Iterator[Refusal]:
    """Yield what a peer cannot do here, each with its path."""
    no = f"is not carried by {able.name} here"
    for key, value in graph.items():
        if key not in ROOT_KEYS and value not in NOTHING:
            yield key, no
    if (graph.get("vary") or {}).get("background"):
        yield "vary.background", no
    if graph["record"]["every"] == "change":
        yield "record.every", f"'change' is not how {able.name} is sampled here"
    if not 0 < len(graph.get("flow", ())) <= MOST_FLOWS:
        yield "flow", f"{len(graph.get('flow', ()))} flows: 1 to {MOST_FLOWS} are carried by {able.name} here"
    for number, link in enumerate(graph.get("link", ())):
        yield from link_refusals(able, f"link[{number}]", link, LINK_KEYS)
        if "reverse" in link:
            yield from link_refusals(able, f"link[{number}].reverse", link["reverse"], WAY_KEYS)
    seen = set()
    for number, flow in enumerate(graph.get("flow", ())):
        for path, text in flow_refusals(able, f"flow[{number}]", flow, graph):
            if path not in seen:
                seen.add(path)
                yield path, text


def link_refusals(able: Able, path: str, link: Mapping[str, Any], keys: Sequence[str]) -> Iterator[Refusal]:
    """Yield what a peer cannot do of a link, or of what its reverse direction has otherwise."""
    no = f"is not carried by {able.name} here"
    for key, value in link.items():
        if key not in keys and value not in NOTHING:
            yield f"{path}.{key}", no
    if link.get("overhead", "0B") != "0B":
        yield f"{path}.overhead", f"is not known to {able.name}"
    queue, loss = link.get("queue", NO_QUEUE), link.get("loss", NO_LOSS)
    if loss["kind"] not in ("none", "packet") or loss.get("correlation"):
        yield f"{path}.loss", f"only losses of single packets are carried by {able.name} here"
    kind = queue["kind"]
    if kind not in able.queues:
        yield f"{path}.queue.kind", able.lacks.get(kind, f"{kind!r} {no}")
        return
    if kind in able.in_packets and not queue["limit"].endswith("p"):
        yield f"{path}.queue.limit", f"of {kind} is a number of packets on {able.name}"
    known = {"kind": ANY, **able.queues[kind]}
    for key, value in queue.items():
        if key not in known and value not in NOTHING:
            yield f"{path}.queue.{key}", no
        elif known.get(key) and value not in known[key]:
            yield f"{path}.queue.{key}", f"is {alternatives(known[key])} on {able.name}"


def flow_refusals(able: Able, path: str, flow: Mapping[str, Any], graph: Mapping[str, Any]) -> Iterator[Refusal]:
    """Yield what a peer cannot do of a flow; the path of a setting that all flows have is that of `tcp`."""
    no = f"is not carried by {able.name} here"
    for key, value in flow.items():
        if key not in FLOW_KEYS and value not in NOTHING:
            yield f"{path}.{key}", no
    app = flow["app"]
    if app["kind"] not in APPS:
        yield f"{path}.app.kind", f"{app['kind']!r} {no}"
        return
    for key, value in app.items():
        if key not in APPS[app["kind"]] and value not in NOTHING:
            yield f"{path}.app.{key}", no
    if app["kind"] == "cbr":
        if app["transport"] != "udp":
            yield f"{path}.app.transport", f"only datagrams have a constant rate on {able.name} here"
        return
    yield from tcp_refusals(able, f"{path}.tcp" if "tcp" in flow else "tcp", settings_of(flow, graph))


def tcp_refusals(able: Able, where: str, tcp: Mapping[str, Any]) -> Iterator[Refusal]:
    """Yield what a peer cannot do of settings of TCP: what it does not follow has to be as it is in their profile."""
    _, name = name_in(tcp["cc"])
    if name not in able.controls:
        yield f"{where}.cc", f"{able.name} has no {name!r} (it has {', '.join(able.controls)})"
    usual = simulation.settings_of_profile(tcp["profile"], str(name), tcp["cc"].get("profile"))
    for key, value, _ in simulation.departures(tcp, where, usual, (*able.tcp, *able.follows)):
        yield key, f"{alternatives([value])} is not followed by {able.name} here"
    for key, values in able.tcp.items():
        if tcp[key] not in values:
            yield f"{where}.{key}", f"is {alternatives(values)} on {able.name}"
        elif key == "ecn" and "dctcp" in (name, tcp[key]) and name != tcp[key]:
            yield f"{where}.ecn", f"is dctcp with the algorithm dctcp, and with no other, on {able.name}"


def alternatives(values: Sequence[Any]) -> str:
    """Return values in words, as a scenario has them."""
    return " or ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in values)


def settings_of(flow: Mapping[str, Any], graph: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of TCP that a flow has: its own, or the common ones."""
    found: Mapping[str, Any] = flow.get("tcp") or graph["tcp"]
    return found


def directions(link: Mapping[str, Any], places: Mapping[str, int]) -> Sequence[Direction]:
    """Return both directions of a link; its own losses are those of the forward one."""
    near, far, back = places[link["from"]], places[link["to"]], {**link, "loss": NO_LOSS, **link.get("reverse", {})}
    return Direction(near, far, *way_of(link)), Direction(far, near, *way_of(back))


def way_of(link: Mapping[str, Any]) -> tuple[float, float, Mapping[str, Any], float]:
    """Return rate, delay, queue and loss of a direction."""
    return si(link["rate"]), si(link["delay"]), link["queue"], float(link["loss"].get("p", 0.0))


def flow_of(able: Able, number: int, flow: Mapping[str, Any], graph: Mapping[str, Any], places: Mapping[str, int]) -> Flow:
    """Return a flow as the peer sends it."""
    app, tcp = flow["app"], settings_of(flow, graph)
    ends = (places[flow["from"]], places[flow["to"]], si(flow["start"]), si(flow["stop"]) if flow.get("stop") else None)
    if app["kind"] == "cbr":
        size = round(si(app["size"]))
        packet = size + IP_UDP_BYTES
        rate = si(app["rate"]) * 8 * size if app["rate"].endswith("pps") else si(app["rate"])
        return Flow(number, *ends, "", size, packet, rate * packet / size, {})
    segment = round(si(tcp["mss"]))
    packet = segment + IP_TCP_BYTES + TIMESTAMPS_BYTES * bool(tcp["timestamps"])
    return Flow(number, *ends, able.controls[tcp["cc"]["name"]], segment, packet, 0.0, tcp)


def bytes_of(text: str) -> int:
    """Return a size that may be unlimited: as much as a window of TCP can be."""
    return MOST_BYTES if text == "unlimited" else round(si(text))
