"""What of a scenario ns-2 carries: wires with drop-tail queues or RED, losses of packets, bulk transfers and datagrams.

Its TCP is TCP-Linux with selective acknowledgments and the agents' own loss recovery. Of `tcp` it follows the congestion control,
`mss`, `recv_buffer`, `initial_window` and `ack_every`; what the profile says beyond that is part of what is compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tonopah.cc.references import name_in
from tonopah.errors import InputError
from tonopah.runs import simulation
from tonopah.scenario.headers import IP_TCP_BYTES, IP_UDP_BYTES, TIMESTAMPS_BYTES
from tonopah.units import si

CONGESTION_CONTROLS = {
    "reno": "reno", "cubic": "cubic", "bic": "bic", "highspeed": "highspeed", "htcp": "htcp", "hybla": "hybla",
    "illinois": "illinois", "scalable": "scalable", "vegas": "vegas", "veno": "veno", "westwood": "westwood", "yeah": "yeah",
}  # fmt: skip
"""Congestion controls by our name: what TCP-Linux calls them."""
ROOT_KEYS = ("duration", "warmup", "network", "tcp", "traffic", "flow", "node", "link", "record", "vary")
WAY_KEYS = ("rate", "delay", "queue", "loss", "overhead")
LINK_KEYS = ("from", "to", "reverse", *WAY_KEYS)
FLOW_KEYS = ("from", "to", "app", "start", "stop", "tcp", "cc", "name")
APPS = {"bulk": ("kind",), "cbr": ("kind", "rate", "size", "transport")}
NOTHING = (None, "block", "none", False, {}, [])
"""Values that say what is so without them."""
NO_QUEUE, NO_LOSS = {"kind": "drop_tail"}, {"kind": "none"}
RED_KEYS = (
    "kind", "profile", "limit", "min_threshold", "max_threshold", "weight", "max_p", "gentle", "wait", "byte_mode",
    "queue_in_bytes", "mean_packet", "target_delay", "mark_p", "hard_drop", "interval",
)  # fmt: skip
MOST_FLOWS, MOST_NAMED = 1000, 9
Refusal = tuple[str, str]


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
    window_packets: int
    first_window_packets: int
    ack_every: int


@dataclass(frozen=True)
class PeerPlan:
    """A scenario as a peer carries it. Links are in the order of a summary: both directions of the first, then of the next."""

    nodes: list[str]
    links: list[Direction]
    flows: list[Flow]
    duration_s: float
    warmup_s: float
    every_s: float


def planned(scenario: Mapping[str, Any], name: str | None, seed: int) -> PeerPlan:
    """Return how the peer carries a scenario, drawn with `seed`. Raises InputError that names every key it cannot follow."""
    graph = simulation.checked_in(scenario, name, seed)["graph"]
    if refused := list(refusals(graph)):
        (path, text), more = refused[0], refused[1:]
        rest = "".join(f"; {other}: {said}" for other, said in more[:MOST_NAMED])
        rest += f"; and {len(more) - MOST_NAMED} more" if len(more) > MOST_NAMED else ""
        raise InputError(path, f"{text}{rest}", "wires, drop_tail or red, loss of packets, bulk, and cbr over udp", name)
    places = {node["name"]: number for number, node in enumerate(graph["node"])}
    return PeerPlan(
        list(places),
        [direction for link in graph["link"] for direction in directions(link, places)],
        [flow_of(number, flow, graph, places) for number, flow in enumerate(graph["flow"])],
        si(graph["duration"]),
        si(graph["warmup"]),
        si(graph["record"]["every"]),
    )


def refusals(graph: Mapping[str, Any]) -> Iterator[Refusal]:
    """Yield what ns-2 cannot do here, each with its path."""
    for key, value in graph.items():
        if key not in ROOT_KEYS and value not in NOTHING:
            yield key, "is not carried by ns-2 here"
    if (graph.get("vary") or {}).get("background"):
        yield "vary.background", "is not carried by ns-2 here"
    if graph["record"]["every"] == "change":
        yield "record.every", "'change' is not how ns-2 is sampled here"
    if not 0 < len(graph.get("flow", ())) <= MOST_FLOWS:
        yield "flow", f"{len(graph.get('flow', ()))} flows are not carried by ns-2 here"
    for number, link in enumerate(graph.get("link", ())):
        yield from link_refusals(f"link[{number}]", link, LINK_KEYS)
        if "reverse" in link:
            yield from link_refusals(f"link[{number}].reverse", link["reverse"], WAY_KEYS)
    seen = set()
    for number, flow in enumerate(graph.get("flow", ())):
        for path, text in flow_refusals(f"flow[{number}]", flow, graph):
            if path not in seen:
                seen.add(path)
                yield path, text


def link_refusals(path: str, link: Mapping[str, Any], keys: Sequence[str]) -> Iterator[Refusal]:
    """Yield what ns-2 cannot do of a link, or of what its reverse direction has otherwise."""
    for key, value in link.items():
        if key not in keys and value not in NOTHING:
            yield f"{path}.{key}", "is not carried by ns-2 here"
    if link.get("overhead", "0B") != "0B":
        yield f"{path}.overhead", "is not known to ns-2"
    queue, loss = link.get("queue", NO_QUEUE), link.get("loss", NO_LOSS)
    if loss["kind"] not in ("none", "packet") or loss.get("correlation"):
        yield f"{path}.loss", "only losses of single packets are carried by ns-2 here"
    if queue["kind"] not in ("drop_tail", "red"):
        yield f"{path}.queue.kind", f"{queue['kind']!r} is not carried by ns-2 here"
        return
    known = RED_KEYS if queue["kind"] == "red" else ("kind", "limit")
    for key, value in queue.items():
        if key not in known and value not in NOTHING:
            yield f"{path}.queue.{key}", "is not carried by ns-2 here"


def flow_refusals(path: str, flow: Mapping[str, Any], graph: Mapping[str, Any]) -> Iterator[Refusal]:
    """Yield what ns-2 cannot do of a flow; the path of a setting that all flows have is that of `tcp`."""
    for key, value in flow.items():
        if key not in FLOW_KEYS and value not in NOTHING:
            yield f"{path}.{key}", "is not carried by ns-2 here"
    app = flow["app"]
    if app["kind"] not in APPS:
        yield f"{path}.app.kind", f"{app['kind']!r} is not carried by ns-2 here"
        return
    for key, value in app.items():
        if key not in APPS[app["kind"]] and value not in NOTHING:
            yield f"{path}.app.{key}", "is not carried by ns-2 here"
    if app["kind"] == "cbr":
        if app["transport"] != "udp":
            yield f"{path}.app.transport", "only datagrams have a constant rate on ns-2 here"
        return
    own = "tcp" in flow
    tcp, where = settings_of(flow, graph), f"{path}.tcp" if own else "tcp"
    _, name = name_in(tcp["cc"])
    if name not in CONGESTION_CONTROLS:
        yield f"{where}.cc", f"ns-2 has no {name!r} (it has {', '.join(CONGESTION_CONTROLS)})"
    if tcp["ecn"] != "off":
        yield f"{where}.ecn", "is not carried by ns-2 here"
    if not tcp["sack"]:
        yield f"{where}.sack", "TCP-Linux of ns-2 has always SACK"
    if tcp["ack_every"] not in (1, 2):
        yield f"{where}.ack_every", "is 1 or 2 on ns-2"


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


def flow_of(number: int, flow: Mapping[str, Any], graph: Mapping[str, Any], places: Mapping[str, int]) -> Flow:
    """Return a flow as the peer sends it."""
    app, tcp = flow["app"], settings_of(flow, graph)
    ends = (places[flow["from"]], places[flow["to"]], si(flow["start"]), si(flow["stop"]) if flow.get("stop") else None)
    if app["kind"] == "cbr":
        size = round(si(app["size"]))
        packet = size + IP_UDP_BYTES
        rate = si(app["rate"]) * 8 * size if app["rate"].endswith("pps") else si(app["rate"])
        return Flow(number, *ends, "", size, packet, rate * packet / size, 0, 0, 1)
    segment = round(si(tcp["mss"]))
    packet = segment + IP_TCP_BYTES + TIMESTAMPS_BYTES * bool(tcp["timestamps"])
    received, first = (round(si(tcp[key])) if tcp[key] != "unlimited" else 1 << 30 for key in ("recv_buffer", "initial_window"))
    windows = max(1, received // segment), max(1, first // segment)
    return Flow(number, *ends, CONGESTION_CONTROLS[tcp["cc"]["name"]], segment, packet, 0.0, *windows, tcp["ack_every"])
