"""Which flows of a scenario the kernel can carry, and how: what it cannot do is refused before anything starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tonopah._core import parse_quantity
from tonopah.cc.references import name_in
from tonopah.errors import InputError
from tonopah.kernel import tcp_info
from tonopah.runs import simulation
from tonopah.runs.simulation import OWNERS

FIRST_PORT = 20_000
MOST_FLOWS = 1000
AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"
SETTABLE = ("mss", "nagle", "ecn", "sack", "timestamps", "recv_buffer", "send_buffer")
"""Keys of `tcp` that the kernel is told; any other must be that of the profile `linux`."""
FLOW_KEYS = ("from", "to", "app", "start", "stop", "cc", "tcp", "name", "dscp")
APPS = {"bulk": ("kind", "bytes"), "cbr": ("kind", "rate", "size", "transport")}
"""Applications that run on the kernel, with their keys."""
SHARED_SERIES = ("sending_rate", "throughput", "goodput", "path_delay", "route_hops")
"""Series of flows that our network knows of itself."""
NAMED_DSCP = {"DF": 0, "LE": 1, "TOS4": 4, "VA": 44, "EF": 46}
ECN = {"off": "0", "classic": "1"}
TIMESTAMPS_BYTES, HEADERS_BYTES = 12, 40
"""Of the option in a segment (RFC 7323), and of IPv4 and TCP without it."""
WRITE_BYTES = 1 << 24
"""Send buffer at first: what the sockets of a busy machine are filled with now and then must last until the next time."""
UNLIMITED_BYTES = 1 << 28
"""A buffer that no flow fills."""


@dataclass(frozen=True)
class Flow:
    """A flow that the kernel carries."""

    number: int
    source: str
    sink: str
    cc: str
    start_s: float
    stop_s: float
    transport: str
    payload_bytes: int | None
    """Bytes to send; None without an end."""
    message_bytes: int | None
    interval_s: float | None
    segment_bytes: int
    """What TCP is told for its MSS: payload and the option of timestamps."""
    nodelay: bool
    dscp: int

    @property
    def port(self) -> int:
        """Port of its sink."""
        return FIRST_PORT + self.number


@dataclass(frozen=True)
class Plan:
    """The flows, their hosts, and the sysctls of these."""

    flows: list[Flow]
    hosts: list[str]
    controls: dict[str, str]
    duration_s: float
    warmup_s: float
    every_s: float

    @property
    def mtu(self) -> int:
        """The MTU of the hosts, in which every segment fits."""
        return max(1280, *(HEADERS_BYTES + flow.segment_bytes for flow in self.flows))


def available() -> list[str]:
    """Return the algorithms that this kernel has."""
    try:
        return Path(AVAILABLE).read_text(encoding="ascii").split()
    except OSError:
        return []


def planned(scenario: Mapping[str, Any], name: str | None, seed: int) -> Plan:
    """Return how the kernel carries the flows of a scenario. Raises ScenarioError that names what it cannot do."""
    graph = simulation.checked_in(scenario, name, seed)["graph"]
    refuse_world(graph)
    flows = [flow_of(number, flow, graph) for number, flow in enumerate(graph["flow"])]
    settings = [flow.get("tcp") or graph["tcp"] for flow in graph["flow"]]
    common = settings[0]
    for number, own in enumerate(settings):
        if different := [key for key in SETTABLE[2:] if own.get(key) != common.get(key)]:
            path = f"flow[{number}].tcp.{different[0]}"
            raise InputError(path, "differs between flows; on the kernel it is one sysctl of a host", "the same for all flows")
    every = graph["record"]["every"]
    return Plan(
        flows,
        list(dict.fromkeys(host for flow in flows for host in (flow.source, flow.sink))),
        controls_of(common),
        seconds(graph["duration"]),
        seconds(graph["warmup"]),
        0.01 if every == "change" else seconds(every),
    )


def refuse_world(graph: Mapping[str, Any]) -> None:
    """Raise InputError for what of a scenario is not carried by the kernel."""
    if graph.get("channel"):
        raise InputError("network", "has radios, which are simulated only", "a network of links")
    if graph.get("workload"):
        raise InputError("workload", "the kernel carries listed and generated flows only", "[[flow]]")
    if graph.get("clock", "exact") != "exact":
        raise InputError("clock", "the kernel runs by a clock that is exact", "leave it out")
    if len(graph["flow"]) > MOST_FLOWS:
        raise InputError("flow", f"{len(graph['flow'])} flows", f"at most {MOST_FLOWS} on the kernel")
    if graph["record"].get("internals") or graph["record"].get("waits"):
        raise InputError("record", "the kernel shows nothing of the inside of algorithms, nor of waits", "series alone")
    known = {*tcp_info.SERIES, *SHARED_SERIES}
    for name in graph["record"]["series"]:
        if name not in known and name not in OWNERS:
            raise InputError("record.series", f"{name!r} is not known of the kernel", ", ".join(sorted(known)))


def flow_of(number: int, flow: Mapping[str, Any], graph: Mapping[str, Any]) -> Flow:
    """Return how the kernel carries a flow. Raises InputError."""
    path = f"flow[{number}]"
    refuse_keys(path, flow, FLOW_KEYS)
    app = flow["app"]
    if app["kind"] not in APPS:
        raise InputError(f"{path}.app.kind", f"{app['kind']!r} does not run on the kernel", ", ".join(APPS))
    refuse_keys(f"{path}.app", {key: value for key, value in app.items() if value not in ("block", None)}, APPS[app["kind"]])
    tcp = flow.get("tcp") or graph["tcp"]
    transport = app.get("transport", "tcp")
    cc = refuse_tcp(f"{path}.tcp" if flow.get("tcp") else "tcp", tcp) if transport == "tcp" else ""
    size = round(parse_quantity(app["size"], "size")) if "size" in app else None
    duration = seconds(graph["duration"])
    return Flow(
        number,
        flow["from"],
        flow["to"],
        cc,
        seconds(flow["start"]),
        min(seconds(flow["stop"]) if flow.get("stop") else duration, duration),
        transport,
        round(parse_quantity(app["bytes"], "size")) if app.get("bytes") else None,
        size,
        size and interval_of(app["rate"], size),
        round(parse_quantity(tcp["mss"], "size")) + TIMESTAMPS_BYTES * bool(tcp["timestamps"]),
        not tcp["nagle"],
        dscp_of(flow.get("dscp", "DF")),
    )


def refuse_keys(path: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise InputError for a key that the kernel cannot follow."""
    for key in given:
        if key not in known:
            raise InputError(f"{path}.{key}", "cannot be carried by the kernel", f"keys: {', '.join(known)}")


def refuse_tcp(path: str, tcp: Mapping[str, Any]) -> str:
    """Return the congestion control of a flow. Raises InputError unless it is as the kernel has it."""
    if tcp["profile"] != "linux":
        raise InputError(f"{path}.profile", f"{tcp['profile']!r} is not how the kernel's TCP works", 'tcp.profile = "linux"')
    (_, name), known = name_in(tcp["cc"]), available()
    if name not in known:
        raise InputError(
            f"{path}.cc", f"this kernel has no {name!r}", f"it has {', '.join(known) or 'none'}; modprobe tcp_{name}"
        )
    kernels = kernels_tcp(name)
    for table, own, theirs in ((path, tcp, kernels), (f"{path}.cc", tcp["cc"], kernels["cc"])):
        for key, value in own.items():
            if key not in ("cc", *SETTABLE) and theirs.get(key) != value:
                text = f"{value} is not what the kernel has, {theirs.get(key)}"
                raise InputError(f"{table}.{key}", text, f"leave it out; {', '.join(SETTABLE)} can be set")
    if tcp["ecn"] not in ECN:
        raise InputError(f"{path}.ecn", f"{tcp['ecn']!r} is not carried by the kernel here", ", ".join(ECN))
    return str(name)


@cache
def kernels_tcp(cc: str) -> Mapping[str, Any]:
    """Return the settings of the profile `linux` with an algorithm: those of the kernel."""
    network = {"kind": "dumbbell", "pairs": 1, "flows": 1}
    scenario = {"duration": "1s", "tcp": {"profile": "linux", "cc": cc}, "network": network}
    settings: Mapping[str, Any] = simulation.check(scenario, 1)["graph"]["tcp"]
    return settings


def controls_of(tcp: Mapping[str, Any]) -> dict[str, str]:
    """Return the sysctls of the hosts."""
    receive, send = (size_of(tcp[key]) for key in ("recv_buffer", "send_buffer"))
    # Without tuning as one that has received for long, which announces its window at once; with it half is overhead.
    opens = f"{2 * size_of(tcp['initial_recv_window'])} {2 * receive}" if tcp["recv_autotune"] else f"{receive} {receive}"
    return {
        "net.ipv4.tcp_rmem": f"4096 {opens}",
        "net.ipv4.tcp_wmem": f"4096 {min(send, WRITE_BYTES)} {send}",
        "net.ipv4.tcp_sack": str(int(tcp["sack"])),
        "net.ipv4.tcp_timestamps": str(int(tcp["timestamps"])),
        "net.ipv4.tcp_ecn": ECN.get(tcp["ecn"], "0"),
        # Each flow begins as if it were the first.
        "net.ipv4.tcp_no_metrics_save": "1",
    }


def size_of(text: str) -> int:
    """Return the size of a buffer in bytes."""
    return UNLIMITED_BYTES if text == "unlimited" else min(round(parse_quantity(text, "size")), UNLIMITED_BYTES)


def seconds(text: str) -> float:
    """Return a time in seconds."""
    return parse_quantity(text, "duration")


def interval_of(rate: str, size: int) -> float:
    """Return the time between two messages of a rate in messages or bits per second."""
    if rate.endswith("pps"):
        return 1 / float(rate.removesuffix("pps"))
    return 8 * size / parse_quantity(rate, "rate")


def dscp_of(name: str) -> int:
    """Return a code point, as a resolved scenario has it, as a number: CS1 is 8, AF41 is 34 (RFC 2474, RFC 2597)."""
    if name in NAMED_DSCP:
        return NAMED_DSCP[name]
    if name.startswith("CS"):
        return 8 * int(name[2])
    if name.startswith("AF"):
        return 8 * int(name[2]) + 2 * int(name[3])
    return int(name)
