"""A scenario as a program in ns-2's Tcl, all in one file: `ns world.tcl EVENTS WINDOWS` writes both traces."""

import re
from collections.abc import Iterator

from tonopah.peers.plan import Direction, Flow, PeerPlan
from tonopah.scenario.headers import IP_TCP_BYTES, TIMESTAMPS_BYTES
from tonopah.units import si

HEAD = """\
# Made by `tonopah cross`, for ns-2.35: ns world.tcl EVENTS WINDOWS
set ns [new Simulator]
ns-random {seed}
set events [open [lindex $argv 0] w]
set windows [open [lindex $argv 1] w]
$ns trace-all $events
"""
END = """
$ns at {duration!r} "$ns flush-trace; close $events; close $windows; exit 0"
$ns run
"""


def program(plan: PeerPlan, seed: int) -> str:
    """Return the program of a scenario; `seed` is that of ns-2's own draws."""
    # Its first draws hardly differ between small seeds, so they are spread; it takes 31 bits.
    lines = [HEAD.format(seed=(seed * 7919 + 104729) % (2**31 - 1)), "# " + re.sub(r"[^\w ,.-]", "-", ", ".join(plan.nodes))]
    lines += [f"set n{number} [$ns node]" for number in range(len(plan.nodes))]
    size = max(flow.packet_bytes for flow in plan.flows)
    for link in plan.links:
        lines += ["", *link_lines(link, size)]
    for flow in plan.flows:
        lines += ["", *(datagram_lines(flow) if not flow.cc else tcp_lines(flow))]
    return "\n".join(lines) + "\n" + END.format(duration=plan.duration_s)


def link_lines(link: Direction, packet_bytes: int) -> Iterator[str]:
    """Yield the lines of a simplex link."""
    ends, kind = f"$n{link.source} $n{link.sink}", "RED" if link.queue["kind"] == "red" else "DropTail"
    yield f"$ns simplex-link {ends} {link.rate_bps!r} {link.delay_s!r} {kind}"
    yield f"$ns queue-limit {ends} {limit_of(link.queue['limit'], packet_bytes)}"
    if kind == "RED":
        yield f"set red [[$ns link {ends}] queue]"
        for name, value in red_settings(link).items():
            yield f"$red set {name} {value}"
    if link.loss:
        yield "set errors [new ErrorModel]"
        yield "$errors unit pkt"
        yield f"$errors set rate_ {link.loss!r}"
        yield "$errors ranvar [new RandomVariable/Uniform]"
        yield "$errors drop-target [new Agent/Null]"
        yield f"$ns link-lossmodel $errors {ends}"


def limit_of(limit: str, packet_bytes: int) -> int:
    """Return the limit of a queue in packets, of one in bytes as many as have room."""
    return int(limit[:-1]) if limit.endswith("p") else max(1, int(si(limit) // packet_bytes))


def red_settings(link: Direction) -> dict[str, str]:
    """Return RED's variables; what the scenario leaves to the engine ns-2 chooses by the same rules (0 and -1)."""
    red = link.queue
    lower, upper = red.get("min_threshold", 0), red.get("max_threshold", 0)
    chosen = {
        "thresh_": lower, "maxthresh_": upper, "q_weight_": red.get("weight", -1), "linterm_": 1 / red["max_p"],
        "gentle_": red["gentle"], "wait_": red["wait"], "bytes_": red["byte_mode"], "queue_in_bytes_": red["queue_in_bytes"],
        "mean_pktsize_": round(si(red["mean_packet"])), "targetdelay_": si(red["target_delay"]), "setbit_": False,
        "adaptive_": 0,
    }  # fmt: skip
    return {name: str(value).lower() for name, value in chosen.items()}


def tcp_lines(flow: Flow) -> Iterator[str]:
    """Yield the lines of a bulk transfer."""
    agent, sink, number = f"$a{flow.number}", f"$s{flow.number}", flow.number
    timestamps = flow.packet_bytes > flow.payload_bytes + IP_TCP_BYTES
    yield f"set a{number} [new Agent/TCP/Linux]"
    settings = {
        "fid_": number, "useHeaders_": "false", "packetSize_": flow.packet_bytes, "window_": flow.window_packets,
        "windowInit_": flow.first_window_packets, "timestamps_": str(timestamps).lower(),
    }  # fmt: skip
    for name, value in settings.items():
        yield f"{agent} set {name} {value}"
    yield f"set s{number} [new Agent/TCPSink/Sack1{'/DelAck' if flow.tcp['ack_every'] == 2 else ''}]"
    yield f"{sink} set packetSize_ {IP_TCP_BYTES + TIMESTAMPS_BYTES * timestamps}"
    yield f"{sink} set ts_echo_rfc1323_ true"
    yield from attached(flow)
    yield f'$ns at 0 "{agent} select_ca {flow.cc}"'
    yield f"set p{number} [new Application/FTP]"
    yield from started(flow)
    yield f"{agent} attach $windows"
    yield f"{agent} trace cwnd_"
    yield f'puts "flow {number} [{agent} set agent_addr_] [{agent} set agent_port_]"'


def datagram_lines(flow: Flow) -> Iterator[str]:
    """Yield the lines of datagrams at a constant rate."""
    yield f"set a{flow.number} [new Agent/UDP]"
    yield f"$a{flow.number} set fid_ {flow.number}"
    yield f"$a{flow.number} set packetSize_ {flow.packet_bytes}"
    yield f"set s{flow.number} [new Agent/Null]"
    yield from attached(flow)
    yield f"set p{flow.number} [new Application/Traffic/CBR]"
    yield f"$p{flow.number} set packetSize_ {flow.packet_bytes}"
    yield f"$p{flow.number} set rate_ {flow.rate_bps!r}"
    yield from started(flow)


def attached(flow: Flow) -> Iterator[str]:
    """Yield the lines that put the agents of a flow on their nodes."""
    yield f"$ns attach-agent $n{flow.source} $a{flow.number}"
    yield f"$ns attach-agent $n{flow.sink} $s{flow.number}"
    yield f"$ns connect $a{flow.number} $s{flow.number}"


def started(flow: Flow) -> Iterator[str]:
    """Yield the lines that start the application of a flow, and stop it."""
    yield f"$p{flow.number} attach-agent $a{flow.number}"
    yield f'$ns at {flow.start_s!r} "$p{flow.number} start"'
    if flow.stop_s is not None:
        yield f'$ns at {flow.stop_s!r} "$p{flow.number} stop"'
