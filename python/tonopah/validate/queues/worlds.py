"""A recorded bottleneck as scenario: sending hosts, a router, the link with the queue, and the receivers behind it."""

import itertools
import re
from collections.abc import Sequence
from typing import Any

from tonopah.validate.queues.recordings import QueueCase, QueueFlow

ACCESS = {"rate": "100Gbps", "queue": "1000000p"}
ETHERNET_BYTES = 14
"""The kernel counts the header of Ethernet with every packet, in the shaper and in every limit and quantum."""
IP_BYTES = 1500
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
CODEL_TICK_NS = 1024
"""The unit of CoDel's clock in Linux: 5 ms are 4882 of them, so that a wait of exactly 5 ms is above target."""
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
    made = DISCIPLINES[kind](dict(itertools.pairwise(words)), set(words))
    rate = {"rate": f"{rate_bps(case)}bps"}
    if case.shaper == "htb":
        return {"kind": "tbf", **rate, "burst": HTB_BURST, "debt": True, "queue": made}
    if bucket := re.fullmatch(r"tbf(\d+)([bk])", case.shaper):
        burst = int(bucket[1]) * (1024 if bucket[2] == "k" else 1)
        return {"kind": "tbf", **rate, "burst": f"{burst}B", "queue": made}
    return made | rate


def pfifo(options: dict[str, str], flags: set[str]) -> dict[str, Any]:
    """Return drop-tail."""
    return {"kind": "drop_tail", "limit": f"{options['limit']}p"}


def codel(options: dict[str, str], flags: set[str]) -> dict[str, Any]:
    """Return CoDel."""
    return {"kind": "codel", "ecn": "ecn" in flags} | control_law(options)


def fq_codel(options: dict[str, str], flags: set[str]) -> dict[str, Any]:
    """Return FQ-CoDel, which sees the hash of the senders here."""
    made: dict[str, Any] = {"kind": "fq_codel", "guarded": "all", "hash": "sender"} | control_law(options)
    made |= {"quantum": f"{options['quantum']}B"} if "quantum" in options else {}
    return made | ({"limit": f"{options['limit']}p"} if "limit" in options else {})


def control_law(options: dict[str, str]) -> dict[str, Any]:
    """Return the settings of CoDel as Linux computes it."""
    made = {"mtu": f"{IP_BYTES + ETHERNET_BYTES}B", "inverse_sqrt": "newton"}
    times = {"target": "5ms", "interval": "100ms"} | options
    return made | {key: in_ticks(times[key]) for key in ("target", "interval", "ce_threshold") if key in times}


def in_ticks(time: str) -> str:
    """Return a time in milliseconds as CoDel of Linux counts it: in whole units of 1024 ns."""
    nanos = round(1e6 * float(time.removesuffix("ms")))
    return f"{nanos // CODEL_TICK_NS * CODEL_TICK_NS}ns"


def pie(options: dict[str, str], flags: set[str]) -> dict[str, Any]:
    """Return PIE."""
    made: dict[str, Any] = {
        "kind": "pie", "ecn": "ecn" in flags, "mean_packet": f"{IP_BYTES + ETHERNET_BYTES}B", "derandomise": True,
    }  # fmt: skip
    made |= {"estimator": "departure_rate"} if "dq_rate_estimator" in flags else {}
    return made | {key: options[key] for key in ("target",) if key in options}


def red(options: dict[str, str], flags: set[str]) -> dict[str, Any]:
    """Return RED. `tc` gives the weight as a power of two, found from the burst that is to pass.

    `adaptative` changes nothing: `tc` of today passes it in an attribute of its own (TCA_RED_FLAGS), and the kernel looks only at
    the field of old when it starts the timer of the adaptation.
    """
    average = int(options["avpkt"])
    low, high = int(options["min"]), int(options["max"])
    return {
        "kind": "red", "limit": f"{options['limit']}B", "mean_packet": f"{average}B", "queue_in_bytes": True,
        "min_threshold": low / average, "max_threshold": high / average, "max_p": float(options["probability"]),
        "weight": red_weight(low, int(options["burst"]), average), "gentle": False, "wait": False,
        "adaptive": False, "ecn": "ecn" in flags, "hard_drop": False, "mark_p": 1.0,
    }  # fmt: skip


def red_weight(low_bytes: int, burst: int, average_bytes: int) -> float:
    """Return the greatest 2^-n with which `burst` packets at once raise the average from 0 to `low_bytes` at most (tc-red(8))."""
    needed = burst + 1 - low_bytes / average_bytes
    weights = (2.0**-power for power in range(1, 32))
    return next(w for w in weights if needed <= (1 - (1 - w) ** burst) / w)


def sfq(options: dict[str, str], flags: set[str]) -> dict[str, Any]:
    """Return SFQ."""
    return {"kind": "sfq"}


def fq(options: dict[str, str], flags: set[str]) -> dict[str, Any]:
    """Return FQ."""
    return {"kind": "fq"}


def cake(options: dict[str, str], flags: set[str]) -> dict[str, Any]:
    """Return CAKE, but for its rate."""
    made: dict[str, Any] = {"kind": "cake"} | {key: options[key] for key in ("rtt",) if key in options}
    made |= next(({"isolate": value} for word, value in ISOLATION.items() if word in flags), {})
    return made | ({"tins": "besteffort"} if "besteffort" in flags else {})


ISOLATION = {"dual-srchost": "dual_src", "dual-dsthost": "dual_dst", "flows": "flows", "triple-isolate": "triple"}
"""What CAKE isolates, by the words of `tc`."""
DISCIPLINES = {
    "pfifo": pfifo, "codel": codel, "fq_codel": fq_codel, "pie": pie, "red": red, "sfq": sfq, "fq": fq, "cake": cake,
}  # fmt: skip
"""How each discipline of `tc` is written in a scenario."""
