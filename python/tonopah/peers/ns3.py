"""ns-3: a program in C++ that reads a scenario as lines (world.cc), compiled once against the libraries of the machine.

Its TCP has the settings of the scenario that are attributes of its sockets (`attributes_of`), and its own loss recovery, with
PRR. Drop-tail is the queue of a device; every other discipline stands before one of a single packet, without which ns-3 has none.
"""

import math
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tonopah.errors import RunFailedError
from tonopah.peers import compiled, plan
from tonopah.peers.outcome import Counted, Samples, grid_of, result_of
from tonopah.peers.plan import ANY, MOST_BYTES, Able, Direction, Flow, PeerPlan, bytes_of
from tonopah.runs.simulation import RunResult
from tonopah.units import si
from tonopah.writing import replace_file

NAME = "ns-3"
SOURCE = Path(__file__).with_name("world.cc")
MODULES = ("core", "internet", "network", "nix-vector-routing", "traffic-control")
CONTROLS = {
    "reno": "LinuxReno", "newreno": "NewReno", "cubic": "Cubic", "bic": "Bic", "highspeed": "HighSpeed", "htcp": "Htcp",
    "hybla": "Hybla", "illinois": "Illinois", "scalable": "Scalable", "vegas": "Vegas", "veno": "Veno", "lp": "Lp",
    "westwood": "Westwood[ProtocolType=WestwoodPlus]", "yeah": "Yeah", "bbr": "Bbr", "dctcp": "Dctcp", "ledbat": "Ledbat",
}  # fmt: skip
RED = ("profile", "limit", "min_threshold", "max_threshold", "weight", "max_p", "gentle", "wait", "mean_packet", "target_delay")
UNUSED = ("mark_p", "hard_drop", "interval")
"""Keys of RED that say nothing without marks and without adaptation."""
CODEL = dict.fromkeys(("limit", "target", "interval", "ecn", "inverse_sqrt"), ANY)
ABLE = Able(
    NAME,
    controls={name: f"ns3::Tcp{theirs}" for name, theirs in CONTROLS.items()},
    queues={
        "drop_tail": {"limit": ANY},
        "red": dict.fromkeys((*RED, *UNUSED), ANY),
        "codel": {**CODEL, "mtu": ANY},
        # What it guards from drops is a flow's own backlog, as RFC 8289 has it.
        "fq_codel": {
            **CODEL, "queues": ANY, "quantum": ANY, "guarded": ANY,
            "mtu": ("1500B",), "hash": ("header",), "memory_limit": (f"{32 << 20}B",),
        },
    },
    tcp={"ecn": ("off", "classic", "dctcp")},
    follows=(
        *("mss", "initial_window", "initial_ssthresh", "send_buffer", "recv_buffer", "ack_every", "ack_delay", "rto_min"),
        *("rto_initial", "syn_retries", "retries2", "sack", "timestamps", "window_scale", "dup_thresh", "limited_transmit"),
    ),
    in_packets=("red", "fq_codel"),
)  # fmt: skip
planned = partial(plan.planned, ABLE)
"""How ns-3 carries a scenario."""


def lacking() -> str | None:
    """Return what the machine lacks, with the remedy."""
    return None if compiled.is_installed(MODULES) else compiled.MISSING


def run(scenario: Mapping[str, Any], name: str | None, seed: int, keep: Path | None = None) -> RunResult:
    """Run a scenario that was read from the file `name`: links and starts as we draw them with `seed`, all other draws its own.

    `keep` is a file that keeps the world; the program in C++ is put beside it. Raises InputError for what ns-3 cannot do,
    RunFailedError if it fails.
    """
    world = planned(scenario, name, seed)
    text = "\n".join(lines_of(world, seed)) + "\n"
    if keep:
        replace_file(keep, text)
        replace_file(keep.with_name(SOURCE.name), SOURCE.read_bytes())
    program = compiled.kept_program(SOURCE, MODULES)
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder, "world"), Path(folder, "result")
        given.write_text(text, encoding="ascii")
        done = subprocess.run([str(program), str(given), str(result)], capture_output=True, text=True, check=False)
        if done.returncode or not result.exists():
            said = (done.stderr or done.stdout).strip()[-300:] or f"exit code {done.returncode}"
            raise RunFailedError(f"{NAME} failed: {said}")
        with result.open(encoding="ascii") as lines:
            counted, series = read(lines)
    return result_of(world, counted, series, f"{NAME} {compiled.version()}")


def lines_of(world: PeerPlan, seed: int) -> Iterator[str]:
    """Yield the lines of a world, as world.cc describes them."""
    times = f"{world.duration_s!r} {world.warmup_s!r} {world.every_s!r} {len(grid_of(world))}"
    yield f"world {times} {seed} {len(world.nodes)}"
    yield from map(link_line, world.links)
    for flow in world.flows:
        stop = world.duration_s if flow.stop_s is None else flow.stop_s
        ends = f"{flow.source} {flow.sink} {flow.start_s!r} {stop!r} {flow.payload_bytes}"
        if flow.cc:
            pairs = " ".join(f"{name}={value}" for name, value in attributes_of(flow).items())
            yield f"tcp {ends} {flow.cc} {pairs}"
        else:
            yield f"udp {ends} {8 * flow.packet_bytes / flow.rate_bps!r}"


def link_line(link: Direction) -> str:
    """Return the line of a direction: a queue discipline stands before a device's queue of one packet."""
    queue = link.queue
    own, discipline, quantum = size_of(queue["limit"]), "-", 0
    if queue["kind"] != "drop_tail":
        kind = {"red": "Red", "codel": "CoDel", "fq_codel": "FqCoDel"}[queue["kind"]]
        settings = {"MaxSize": own, **(red_settings(link) if kind == "Red" else codel_settings(queue))}
        discipline = f"ns3::{kind}QueueDisc[{'|'.join(f'{name}={value}' for name, value in settings.items())}]"
        own, quantum = "1p", round(si(queue.get("quantum", "0B")))
    delay = round(1e9 * link.delay_s)
    return f"link {link.source} {link.sink} {round(link.rate_bps)} {delay} {link.loss!r} {own} {discipline} {quantum}"


def size_of(limit: str) -> str:
    """Return the limit of a queue as ns-3 writes it."""
    return limit if limit.endswith("p") else f"{round(si(limit))}B"


def red_settings(link: Direction) -> dict[str, Any]:
    """Return RED's attributes; automatic thresholds and weight are those of the engine, by the same rules."""
    red = link.queue
    mean = round(si(red["mean_packet"]))
    lower = red.get("min_threshold") or max(5.0, si(red["target_delay"]) * link.rate_bps / (8 * mean) / 2)
    return {
        "MinTh": lower, "MaxTh": red.get("max_threshold") or 3 * lower, "QW": red.get("weight", -1), "LInterm": 1 / red["max_p"],
        "Gentle": truth(red["gentle"]), "Wait": truth(red["wait"]), "MeanPktSize": mean,
        "LinkBandwidth": f"{round(link.rate_bps)}bps", "LinkDelay": nanoseconds(link.delay_s),
    }  # fmt: skip


def codel_settings(queue: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of CoDel or FQ-CoDel."""
    found = {"Target": nanoseconds(si(queue["target"])), "Interval": nanoseconds(si(queue["interval"]))}
    own = {"Flows": queue["queues"]} if queue["kind"] == "fq_codel" else {"MinBytes": round(si(queue["mtu"]))}
    return {**found, "UseEcn": truth(queue["ecn"]), **own}


def attributes_of(flow: Flow) -> dict[str, Any]:
    """Return the attributes of a flow's sockets."""
    tcp = flow.tcp
    found = {
        "SegmentSize": flow.payload_bytes, "InitialCwnd": flow.first_window_packets,
        "SndBufSize": bytes_of(tcp["send_buffer"]), "RcvBufSize": bytes_of(tcp["recv_buffer"]),
        "DelAckCount": tcp["ack_every"], "DelAckTimeout": nanoseconds(si(tcp["ack_delay"])),
        "MinRto": nanoseconds(si(tcp["rto_min"])), "ConnTimeout": nanoseconds(si(tcp["rto_initial"])),
        # 0: it never gives up.
        "ConnCount": tcp["syn_retries"], "DataRetries": tcp["retries2"] or MOST_BYTES,
        "Sack": truth(tcp["sack"]), "Timestamp": truth(tcp["timestamps"]), "WindowScaling": truth(tcp["window_scale"]),
        "ReTxThreshold": tcp["dup_thresh"], "LimitedTransmit": truth(tcp["limited_transmit"]),
        "UseEcn": "Off" if tcp["ecn"] == "off" else "On",
    }  # fmt: skip
    if tcp["initial_ssthresh"] != "unlimited":
        found["InitialSlowStartThreshold"] = bytes_of(tcp["initial_ssthresh"])
    return found


def truth(value: bool) -> str:
    """Return a truth value as ns-3 writes it."""
    return str(bool(value)).lower()


def nanoseconds(seconds: float) -> str:
    """Return a time as ns-3 writes it."""
    return f"{math.floor(1e9 * seconds + 0.5)}ns"


def read(lines: Iterable[str]) -> tuple[dict[int, Counted], dict[str, Samples]]:
    """Return what was counted of each flow, and the samples, from the lines of a result: WHAT NUMBER VALUES."""
    counted: dict[int, Counted] = {}
    series: dict[str, dict[int, np.ndarray]] = {"cwnd": {}, "queue": {}, "drops": {}}
    for line in lines:
        what, number, *values = line.split()
        if what == "flow":
            sent, received, dropped, retransmitted, delivered = map(int, values)
            counted[int(number)] = Counted(sent, received, dropped, retransmitted, delivered)
        elif what == "delays":
            counted[int(number)].delays = [float(value) for value in values]
        else:
            series[what][int(number)] = np.array(values, dtype=float)
    return counted, dict(series)
