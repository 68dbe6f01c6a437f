"""A recorded bottleneck as scenario: sending hosts, a router, the link with the queue, and the receivers behind it."""

import re
from collections.abc import Sequence
from typing import Any

from tonopah.errors import InputError
from tonopah.validate.queues.disciplines import DISCIPLINES, ETHERNET_BYTES, IP_BYTES, read
from tonopah.validate.queues.recordings import QueueCase, QueueFlow

ACCESS = {"rate": "100Gbps", "queue": "1000000p"}
UDP_BYTES = 28
"""Headers of IP and UDP."""
TCP = {
    "profile": "linux", "recv_buffer": "16777216B", "initial_recv_window": "65535B", "tso_fill": False, "read_interval": "50ms",
}  # fmt: skip
"""Packets for the network card end with a buffer in 6.1, as in `worlds.KERNEL`.

How far the kernel's receive window opens shows in the samples of `delivered`: up to segment 5770 each changes its parity at
random, an ACK for every segment, and then no longer. (2^24 - 65535) / 2896 is 5770.

How often the application reads shows there too: an ACK for PSH, which changes the parity, is sent when all has been read. Of 0,
20, 30, 40 and 50 ms, 50 ms fits best how often the parity changes (docs/generated/validation-queues.md)."""
HTB_BURST = "16B"
BOTTLENECK = 0
"""Number of the link with the queue."""


def rate_bps(case: QueueCase) -> int:
    """Return the rate of the shaper, which counts Ethernet's header."""
    return round(case.mbps * 1e6 * (IP_BYTES + ETHERNET_BYTES) / IP_BYTES)


def missing(case: QueueCase) -> str | None:
    """Return why a case cannot be expressed here, or None."""
    kind = case.qdisc.split()[0]
    return None if kind in DISCIPLINES else f"there is no {kind} here"


def scenario(case: QueueCase, starts_s: Sequence[float]) -> dict[str, Any]:
    """Return the case as scenario, with these starts of its flows."""
    hosts = {flow.host: flow.rtt_ms for flow in case.flows}
    receivers = sorted({flow.dst for flow in case.flows})
    bottleneck = {
        "from": "router",
        "to": "far",
        "rate": ACCESS["rate"],
        "overhead": f"{ETHERNET_BYTES}B",
        "delay": "0s",
        "queue": queue(case),
        "reverse": ACCESS | {"overhead": "0B"},
    }
    return {
        "duration": f"{case.secs:g}s",
        "warmup": f"{case.warm_s:g}s",
        "network": {"kind": "graph"},
        "node": [{"name": name} for name in ("router", "far", *hosts, *(f"d{number}" for number in receivers))],
        "link": [
            bottleneck,
            *(host_link(case, host, rtt_ms) for host, rtt_ms in hosts.items()),
            *({"from": "far", "to": f"d{number}", "delay": "0s"} | ACCESS for number in receivers),
        ],
        "tcp": TCP,
        "flow": [flow_of(case, flow, start_s) for flow, start_s in zip(case.flows, starts_s, strict=True)],
    }


def host_link(case: QueueCase, host: str, rtt_ms: float) -> dict[str, Any]:
    """Return the link of a sending host: all delay is on the way of the ACKs.

    Jitter is uniform about the delay, as netem draws it: packets may overtake each other.
    """
    least_s = max(rtt_ms - case.jitter_ms, 0.0) / 1e3
    back: dict[str, Any] = {"delay": f"{1e9 * least_s:.0f}ns"}
    if case.jitter_ms:
        back["jitter"] = {"kind": "uniform", "max": f"{2e6 * case.jitter_ms:.0f}ns", "reorder": True}
    return {"from": host, "to": "router", "delay": "0s", "reverse": back} | ACCESS


def flow_of(case: QueueCase, flow: QueueFlow, start_s: float) -> dict[str, Any]:
    """Return a flow of the scenario."""
    ends = {"from": flow.host, "to": f"d{flow.dst}", "start": f"{1e6 * start_s:.0f}us"}
    if flow.kind == "tcp":
        ecn = {"tcp": {"ecn": "dctcp" if flow.cc == "dctcp" else "classic"}} if case.ecn else {}
        return ends | {"cc": {"name": flow.cc, "profile": "linux"}, "app": {"kind": "bulk"}} | ecn
    payload = flow.ip_bytes - UDP_BYTES
    packets = flow.hz or flow.mbps * 1e6 / (8 * flow.ip_bytes)
    app = {"kind": "cbr", "transport": "udp", "size": f"{payload}B", "rate": f"{packets * payload * 8:.3f}bps"}
    return ends | {"app": app}


def queue(case: QueueCase) -> dict[str, Any]:
    """Return the discipline with its shaper as a scenario writes it: in the recordings no link has a rate.

    `htb` asks its queue only when it sends; the 16 bytes of its bucket make the first gap after a pause shorter by their time.
    """
    kind, *words = case.qdisc.split()
    options, flags = read(case, words)
    made = DISCIPLINES[kind](options, flags)
    rate = {"rate": f"{rate_bps(case)}bps"}
    if case.shaper == "htb":
        return {"kind": "tbf", **rate, "burst": HTB_BURST, "debt": True, "queue": made}
    if bucket := re.fullmatch(r"tbf(\d+)([bk])", case.shaper):
        burst = int(bucket[1]) * (1024 if bucket[2] == "k" else 1)
        return {"kind": "tbf", **rate, "burst": f"{burst}B", "queue": made}
    if case.shaper != "cake":
        hint = "htb, cake, or tbf with its burst, such as tbf1600b"
        raise InputError(f"{case.name}.shaper", f"{case.shaper!r} is not known", hint)
    return made | rate
