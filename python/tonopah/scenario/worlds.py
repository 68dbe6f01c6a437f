"""Scenarios around one bottleneck, from its rate, delay and queue, and the flows: what comparisons, measurements and pages run.

`dumbbell` is for pairs of hosts that are alike, `Graph` for flows whose paths differ.
"""

from collections.abc import Mapping
from typing import Any

PACKET_BYTES = 1500
"""A full packet of IP."""


def bdp_packets(rate_bps: float, rtt_s: float, packet_bytes: int = PACKET_BYTES) -> float:
    """Return the bandwidth-delay product of a path in packets."""
    return rate_bps * rtt_s / (8 * packet_bytes)


def drop_tail(packets: int | str, **more: Any) -> dict[str, Any]:
    """Return a drop-tail queue of so many packets."""
    limit = packets if isinstance(packets, str) else f"{packets}p"
    return {"kind": "drop_tail", "limit": limit, **more}


def link(rate: str, delay: str, queue: Any, **more: Any) -> dict[str, Any]:
    """Return a link without its ends."""
    return {"rate": rate, "delay": delay, "queue": queue, **more}


def bulk(size: int | str | None = None) -> dict[str, Any]:
    """Return an application that sends so many bytes, or without end."""
    return {"kind": "bulk"} if size is None else {"kind": "bulk", "bytes": size if isinstance(size, str) else f"{size}B"}


def dumbbell(duration: str, bottleneck: Mapping[str, Any], tcp: Mapping[str, Any], **keys: Any) -> dict[str, Any]:
    """Return pairs of hosts around one link. `pairs`, `flows` and `access` belong to the network, other keys to the scenario."""
    own = {name: keys.pop(name) for name in ("pairs", "flows", "access") if name in keys}
    network = {"kind": "dumbbell", **own, "bottleneck": bottleneck}
    return {"duration": duration, "network": network, "tcp": tcp, **keys}


class Graph:
    """Collects the nodes, links and flows of a network."""

    def __init__(self, *names: str):
        self.nodes: list[dict[str, Any]] = [{"name": name} for name in names]
        self.links: list[dict[str, Any]] = []
        self.flows: list[dict[str, Any]] = []

    def connect(self, start: str, end: str, **keys: Any) -> dict[str, Any]:
        """Add a link and return it."""
        self.links.append({"from": start, "to": end, **keys})
        return self.links[-1]

    def add_host(self, name: str, router: str, **keys: Any) -> dict[str, Any]:
        """Add a host and the link from it to a router, which is returned."""
        self.nodes.append({"name": name})
        return self.connect(name, router, **keys)

    def add_flow(self, source: str, sink: str, **keys: Any) -> None:
        """Add a flow."""
        self.flows.append({"from": source, "to": sink, **keys})

    def scenario(self, duration: str, tcp: Mapping[str, Any], **keys: Any) -> dict[str, Any]:
        """Return the scenario."""
        parts = {"node": self.nodes, "link": self.links, "tcp": tcp, "flow": self.flows}
        return {"duration": duration, "network": {"kind": "graph"}, **parts, **keys}
