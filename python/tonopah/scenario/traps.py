"""What scenarios in profile `ns2` say and seldom mean: the traps that were met most often when scripts were ported."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from tonopah.units import si

USUAL_SIZES = ("210B", "500B", "512B", "1kB", "1024B", "1500B")
"""Sizes that `packetSize_` often has, 210 by default."""

FULL = 0.9
"""A window that carries less than this part of the slowest link is said."""


def traps(checked: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield warnings of a scenario that was checked: each with path and message."""
    resolved, graph = checked["resolved"], checked["graph"]
    tcp = resolved.get("tcp", {})
    if tcp.get("profile") != "ns2":
        return
    if tcp.get("sack") is False and tcp.get("recovery") == "sack":
        message = (
            "Agent/TCP/Sack1 before a plain TCPSink recovers as NewReno here, in ns-2 by many time-outs; TCPSink/Sack1 is true"
        )
        yield {"path": "tcp.sack", "message": message}
    for index, flow in enumerate(resolved.get("flow", [])):
        app = flow.get("app", {})
        if app.get("transport") == "udp" and app.get("size") in USUAL_SIZES:
            message = f"{app['size']} are payload, and 28 B come on top; packetSize_ of ns-2's UDP is the whole packet: 28 B less"
            yield {"path": f"flow[{index}].app.size", "message": message}
            break
    yield from window_trap(tcp, graph)


def window_trap(tcp: Mapping[str, Any], graph: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the warning of a window that carries less than the slowest link of a bulk flow's path."""
    window = quantity(tcp.get("recv_buffer"))
    limited = []
    for flow in graph.get("flow", []):
        if window is None or flow.get("app", {}).get("kind") != "bulk" or "recv_buffer" in flow.get("tcp", {}):
            continue
        if path := shortest(graph, flow["from"], flow["to"]):
            rate, rtt = min(path.rates), 2 * sum(path.delays)
            carried = 8 * window / max(rtt, 1e-9)
            limited += [(carried, rate)] if carried < FULL * rate else []
    if limited:
        carried, rate = limited[0]
        message = (
            f"a window of {tcp['recv_buffer']} carries {carried / 1e6:.3g} of {rate / 1e6:.3g} Mb/s over the path of "
            f"{len(limited)} flows: window_ of ns-2 is 20 packets unless set; give recv_buffer and initial_ssthresh"
        )
        yield {"path": "tcp.recv_buffer", "message": message}


class Path:
    """Rates in bit/s and one-way delays in s of the links of a path."""

    def __init__(self, links: list[Mapping[str, Any]]):
        self.rates = [rate for link in links if (rate := quantity(link.get("rate")))]
        self.delays = [quantity(link.get("delay")) or 0.0 for link in links]


def shortest(graph: Mapping[str, Any], start: str, end: str) -> Path | None:
    """Return the path with the fewest links, or None without one of wires."""
    near: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for link in graph.get("link", []):
        near.setdefault(link["from"], []).append((link["to"], link))
        near.setdefault(link["to"], []).append((link["from"], link))
    came: dict[str, tuple[str, Mapping[str, Any]] | None] = {start: None}
    waiting = deque([start])
    while waiting and end not in came:
        here = waiting.popleft()
        for other, link in near.get(here, []):
            if other not in came:
                came[other] = (here, link)
                waiting.append(other)
    links = []
    step = came.get(end)
    while step is not None:
        links.append(step[1])
        step = came[step[0]]
    path = Path(links)
    return path if path.rates else None


def quantity(text: Any) -> float | None:
    """Return a quantity of the engine in s, bit/s or bytes; None if it is none, such as "unlimited"."""
    try:
        return si(text)
    except ValueError:
        return None
