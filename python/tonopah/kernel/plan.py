"""Which flows of a scenario the kernel can carry, and how: what it cannot do is refused before anything starts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonopah._core import parse_quantity
from tonopah.cc.references import name_in
from tonopah.errors import InputError
from tonopah.kernel import conversations, tcp_info, workloads, writers
from tonopah.kernel.draws import seed_of
from tonopah.kernel.writers import seconds
from tonopah.runs import simulation
from tonopah.runs.simulation import OWNERS, engine_form
from tonopah.scenario.headers import IP_TCP_BYTES, TIMESTAMPS_BYTES

FIRST_PORT, FIRST_SERVER_PORT = 20_000, 30_000
"""Ports of sinks, by which the network knows flows, and of sources that their sinks connect to."""
MOST_FLOWS = 1000
LONGEST_MESSAGE_BYTES = 65_507
AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"
SETTABLE = ("mss", "nagle", "ecn", "sack", "timestamps", "recv_buffer", "initial_recv_window", "recv_autotune", "send_buffer")
"""Keys of `tcp` that the kernel is told; any other must be that of the profile `linux`."""
FLOW_KEYS = ("from", "to", "app", "start", "stop", "cc", "tcp", "name", "dscp")
DATAGRAMS = ("rate", "size", "transport", "on_full", "dscp", "ecn")
APPS = {
    "bulk": ("bytes",),
    "cbr": (*DATAGRAMS, "phases"),
    "on_off": (*DATAGRAMS, "on", "off"),
    "script": ("writes",),
    "transfer": ("size", "direction", "request"),
    "request_response": (
        *("requests", "request", "response", "responses", "request_writes", "response_writes"),
        *("think", "server_time", "per_connection"),
    ),
}
"""Applications that run on the kernel, with their keys besides `kind`."""
SHARED_SERIES = ("sending_rate", "throughput", "goodput", "path_delay", "route_hops")
"""Series of flows that our network knows of itself."""
NAMED_DSCP = {"DF": 0, "LE": 1, "TOS4": 4, "VA": 44, "EF": 46}
ECN = {"off": "0", "classic": "1"}
DATAGRAM_ECN = {"off": 0, "l4s": 1, "ect0": 2}
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
    app: Mapping[str, Any]
    """Its application, every default filled in."""
    stream: str
    """Name of the random stream of its application."""
    segment_bytes: int
    """What TCP is told for its MSS: payload and the option of timestamps."""
    nodelay: bool
    dscp: int
    ecn: int
    """ECN field of datagrams."""

    @property
    def port(self) -> int:
        """Port of its sink."""
        return FIRST_PORT + self.number

    @property
    def server_port(self) -> int:
        """Port of its source, if its sink connects."""
        return FIRST_SERVER_PORT + self.number

    @property
    def client(self) -> str:
        """Its end that connects."""
        return conversations.client_of(self.app)


@dataclass(frozen=True)
class Plan:
    """The flows, their hosts, and the sysctls of these."""

    flows: list[Flow]
    hosts: list[str]
    controls: dict[str, str]
    seed: int
    """Of its random streams."""
    text: str
    """The scenario as the engine takes it, the flows of workloads in its list."""
    transfers: Mapping[int, Mapping[str, Any]]
    """What is known of flows of workloads, by their numbers."""
    workloads: Sequence[Mapping[str, Any]]
    """Their summaries of a simulation."""
    duration_s: float
    warmup_s: float
    cooldown_s: float
    every_s: float

    @property
    def mtu(self) -> int:
        """The MTU of the hosts, in which every segment fits."""
        return max(1280, *(IP_TCP_BYTES + flow.segment_bytes for flow in self.flows))


def available() -> list[str]:
    """Return the algorithms that this kernel has."""
    try:
        return Path(AVAILABLE).read_text(encoding="ascii").split()
    except OSError:
        return []


def planned(scenario: Mapping[str, Any], name: str | None, seed: int, algorithms: Sequence[str] | None = None) -> Plan:
    """Return how a kernel with these algorithms, or this one, carries the flows of a scenario.

    Raises ScenarioError that names what it cannot do.
    """
    known = available() if algorithms is None else algorithms
    graph, text = simulation.checked_in(scenario, name, seed)["graph"], engine_form(scenario, name).text
    refuse_world(graph)
    listed = len(json.loads(text).get("flow", []))
    for index, workload in enumerate(graph.get("workload", [])):
        refuse_tcp(f"workload[{index}].tcp", workloads.tcp_of(workload), known)
    listing = workloads.Listing({}, {}, [])
    if graph.get("workload"):
        listing = workloads.listed(json.loads(text), graph, seed)
        world = listing.scenario
        graph, text = simulation.checked_in(world, None, seed)["graph"], json.dumps(world)
        refuse_number(graph)
        listed = len(world["flow"])
    if not graph.get("flow"):
        raise InputError("flow", "there is none that the kernel could carry", "[[flow]], network.flows or [[workload]]")
    flows = [flow_of(number, flow, graph, listed, known) for number, flow in enumerate(graph["flow"])]
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
        seed_of(seed, graph.get("vary", {})),
        text,
        listing.told,
        listing.summaries,
        seconds(graph["duration"]),
        seconds(graph["warmup"]),
        seconds(graph.get("cooldown", "0s")),
        0.01 if every == "change" else seconds(every),
    )


def refuse_number(graph: Mapping[str, Any]) -> None:
    """Raise InputError for more flows than the kernel carries here."""
    if (count := len(graph.get("flow", []))) > MOST_FLOWS:
        raise InputError("flow", f"{count} flows", f"at most {MOST_FLOWS} on the kernel")


def refuse_world(graph: Mapping[str, Any]) -> None:
    """Raise InputError for what of a scenario is not carried by the kernel."""
    refuse_number(graph)
    if graph.get("channel"):
        raise InputError("network", "has radios, which are simulated only", "a network of links")
    if graph.get("clock", "exact") != "exact":
        raise InputError("clock", "the kernel runs by a clock that is exact", "leave it out")
    if graph["record"].get("internals") or graph["record"].get("waits"):
        raise InputError("record", "the kernel shows nothing of the inside of algorithms, nor of waits", "series alone")
    for name in graph["record"]["series"]:
        if name not in known_series():
            raise InputError("record.series", f"{name!r} is not known of the kernel", ", ".join(sorted(known_series())))


def known_series() -> set[str]:
    """Return the series that a run on the kernel has: of its senders, and of our network."""
    return {*tcp_info.SERIES, *SHARED_SERIES, *OWNERS}


def flow_of(number: int, flow: Mapping[str, Any], graph: Mapping[str, Any], listed: int, known: Sequence[str]) -> Flow:
    """Return how the kernel carries a flow; those behind the `listed` ones are generated. Raises InputError."""
    path = f"flow[{number}]"
    refuse_keys(path, flow, FLOW_KEYS)
    app = flow["app"]
    refuse_app(f"{path}.app", app)
    tcp = flow.get("tcp") or graph["tcp"]
    transport = app.get("transport", "tcp")
    cc = refuse_tcp(f"{path}.tcp" if flow.get("tcp") else "tcp", tcp, known) if transport == "tcp" else ""
    duration = seconds(graph["duration"])
    return Flow(
        number,
        flow["from"],
        flow["to"],
        cc,
        seconds(flow["start"]),
        min(seconds(flow["stop"]) if flow.get("stop") else duration, duration),
        transport,
        app,
        f"flow/{number}/app" if number < listed else f"traffic/{number - listed}/app",
        round(parse_quantity(tcp["mss"], "size")) + TIMESTAMPS_BYTES * bool(tcp["timestamps"]),
        not tcp["nagle"],
        dscp_of(flow.get("dscp") or app.get("dscp") or "DF"),
        DATAGRAM_ECN[app.get("ecn") or "off"],
    )


def refuse_app(path: str, app: Mapping[str, Any]) -> None:
    """Raise InputError for an application that the kernel cannot carry as the scenario says."""
    if app["kind"] not in APPS:
        raise InputError(f"{path}.kind", f"{app['kind']!r} does not run on the kernel", ", ".join(APPS))
    refuse_keys(path, {key: value for key, value in app.items() if value is not None}, ("kind", *APPS[app["kind"]]))
    if app.get("on_full", "block") != "block" and app["transport"] == "tcp":
        raise InputError(f"{path}.on_full", "the kernel does not say whether a message fits", '"block"')
    if app.get("per_connection", "all") not in ("all", app.get("requests")):
        raise InputError(f"{path}.per_connection", "a flow of the kernel has one connection", '"all"')
    if app["kind"] in ("cbr", "on_off") and app["transport"] == "udp" and writers.size_of(app) > LONGEST_MESSAGE_BYTES:
        raise InputError(f"{path}.size", "is more than a datagram holds", f"at most {LONGEST_MESSAGE_BYTES} B")


def refuse_keys(path: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise InputError for a key that the kernel cannot follow."""
    for key in given:
        if key not in known:
            raise InputError(f"{path}.{key}", "cannot be carried by the kernel", f"keys: {', '.join(known)}")


def refuse_tcp(path: str, tcp: Mapping[str, Any], known: Sequence[str]) -> str:
    """Return the congestion control of a flow. Raises InputError unless it is as the kernel has it; it knows these."""
    if tcp["profile"] != "linux":
        raise InputError(f"{path}.profile", f"{tcp['profile']!r} is not how the kernel's TCP works", 'tcp.profile = "linux"')
    _, name = name_in(tcp["cc"])
    if name not in known:
        raise InputError(f"{path}.cc", f"this kernel has no {name!r}", f"it has {', '.join(known) or 'none'}")
    for key, value, theirs in simulation.departures(tcp, path, simulation.settings_of_profile("linux", name), SETTABLE):
        raise InputError(key, f"{value} is not what the kernel has, {theirs}", f"leave it out; {', '.join(SETTABLE)} can be set")
    if tcp["ecn"] not in ECN:
        raise InputError(f"{path}.ecn", f"{tcp['ecn']!r} is not carried by the kernel here", ", ".join(ECN))
    return str(name)


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


def dscp_of(name: str) -> int:
    """Return a code point, as a resolved scenario has it, as a number: CS1 is 8, AF41 is 34 (RFC 2474, RFC 2597)."""
    if name in NAMED_DSCP:
        return NAMED_DSCP[name]
    if name.startswith("CS"):
        return 8 * int(name[2])
    if name.startswith("AF"):
        return 8 * int(name[2]) + 2 * int(name[3])
    return int(name)
