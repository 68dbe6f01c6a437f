"""A recorded TCP connection beside a simulation of its link: `tonopah validate trace FILE`.

The link is estimated from the trace or given. The simulated sender is seen by the same code as the recorded one, from a capture
of the same form, so that every number has one definition.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tonopah._core import capture, parse_quantity
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.runs.simulation import engine_form
from tonopah.scenario.document import prepare
from tonopah.scenario.files import read_file
from tonopah.validate.trace.connection import Observed, connections, observe
from tonopah.validate.trace.packets import read_packets, tcp_of
from tonopah.validate.trace.qlog import RECORD_SEPARATOR, observe_qlog

MAX_FILE_BYTES = 1 << 30
MAX_SECONDS = 300.0
MAX_BYTES = 256_000_000
"""Of data: of a longer trace the beginning is compared."""
WINDOW_RTTS, MIN_WINDOW_S = 10, 0.05
"""Interval over which the rate of the link is the largest rate of delivery."""
ACK_BYTES = 52
WITHOUT_LOSS = 10_000
"""Packets that fit the queue where nothing was lost: its limit is unknown."""
ACCESS_FACTOR = 100
AWAY = "the RTT of data is less than half of that of the handshake: the trace was hardly recorded at the sender of the data"
GIVEN = {"rate": "rate", "delay": "duration"}


@dataclass(frozen=True)
class Link:
    """The link of a trace: rate and delay of one direction, and how many packets its queue holds."""

    rate_bps: float
    delay_s: float
    queue_packets: int
    packet_bytes: int
    estimated: tuple[str, ...]
    """What was not given."""


def read_trace(path: Path, number: int = 0, until_s: float = MAX_SECONDS) -> tuple[Observed, int]:
    """Return connection `number` of a capture or qlog, in the order of their data, and how many there are. Raises InputError."""
    source = str(path)
    data = read_file(path, "a capture", MAX_FILE_BYTES)
    until = min(until_s, MAX_SECONDS)
    if data[:1] == RECORD_SEPARATOR:
        if number:
            raise InputError("--connection", f"{number}: a qlog has one connection", "0", source)
        return observe_qlog(data, source, until, MAX_BYTES), 1
    found = connections(read_packets(data, source))
    if not found:
        raise InputError("", "no TCP segment was captured in it with its headers", None, source)
    if not 0 <= number < len(found):
        raise InputError("--connection", f"{number} is not there", f"0 to {len(found) - 1}", source)
    return observe(found[number], source, until, MAX_BYTES), len(found)


def estimate(seen: Observed, given: Mapping[str, str | int | None], source: str) -> Link:
    """Return the link of the trace in `source` from what was given, and for the rest from what was seen. Raises InputError."""
    sender, rtts = seen.sender, seen.rtt[:, 1]
    # What was captured before the network card cut it has fewer headers than the link carries.
    packet = min(round(sender.wire_bytes / sender.segments), sender.mss_bytes + ACK_BYTES)
    samples: list[float] = [*rtts, *([sender.handshake_ns / 1e9] if sender.handshake_ns else [])]
    least = min(samples, default=None)
    if least is None and given.get("delay") is None:
        raise InputError("--delay", f"{seen.name} has no RTT sample to estimate it from", "like --delay 20ms", source)
    headers = packet / min(sender.payload_bytes / sender.segments, sender.mss_bytes)
    rate = quantity(given, "rate") or delivery_rate(seen, least or MIN_WINDOW_S) * headers
    if not rate >= 1:
        raise InputError("--rate", f"{seen.name} delivers too little to estimate it from", "like --rate 10Mbps", source)
    serialisation = 8 * (packet + ACK_BYTES) / rate
    delay = quantity(given, "delay")
    if delay is None:
        # The least sample is of data where there is one; of a handshake it has no serialisation to speak of.
        delay = max(0.0, (float(rtts.min()) - serialisation if len(rtts) else least or 0.0) / 2)
    queue = given.get("queue")
    if queue is None:
        waited = float(np.quantile(rtts, 0.99)) - 2 * delay - serialisation if len(rtts) else 0.0
        queue = max(2, math.ceil(waited * rate / 8 / packet)) if len(seen.retransmissions_s) else WITHOUT_LOSS
    return Link(rate, delay, int(queue), packet, tuple(name for name in ("rate", "delay", "queue") if given.get(name) is None))


def quantity(given: Mapping[str, str | int | None], name: str) -> float | None:
    """Return a quantity of the command line in SI units. Raises InputError."""
    written = given.get(name)
    if written is None:
        return None
    try:
        return parse_quantity(str(written), GIVEN[name])
    except ValueError as error:
        raise InputError(f"--{name}", str(error)) from None


def delivery_rate(seen: Observed, rtt_s: float) -> float:
    """Return the largest rate at which data was acknowledged over an interval of some RTTs, in bit/s."""
    times, total = seen.delivered[:, 0], seen.delivered[:, 1]
    if len(times) < 2:
        return seen.goodput_bps
    window = min(max(WINDOW_RTTS * rtt_s, MIN_WINDOW_S), float(times[-1] - times[0]))
    begin = np.searchsorted(times, times - window, side="right") - 1
    whole = begin >= 0
    spans = times[whole] - times[begin[whole]]
    rates = 8 * (total[whole] - total[begin[whole]])[spans > 0] / spans[spans > 0]
    return float(rates.max()) if len(rates) else seen.goodput_bps


def simulate(seen: Observed, link: Link, changes: Mapping[str, Any]) -> tuple[Observed, dict[str, Any]]:
    """Return what a sender over such a link shows, and the scenario. Raises ScenarioError where that cannot be run."""
    end = {"rate": f"{round(min(ACCESS_FACTOR * link.rate_bps, 1e12))}bps", "delay": "0s"}
    queue = {"kind": "drop_tail", "limit": f"{link.queue_packets}p"}
    rate = f"{round(link.rate_bps)}bps"
    scenario: dict[str, Any] = {
        "duration": f"{max(1, math.ceil(seen.duration_s * 1e9))}ns",
        "network": {
            "kind": "dumbbell", "pairs": 1, "flows": 0, "access": end,
            "bottleneck": {"rate": rate, "delay": f"{round(link.delay_s * 1e9)}ns", "queue": queue},
        },
        "tcp": {"profile": "linux", "cc": "cubic", "mss": f"{seen.sender.mss_bytes}B"},
        "flow": [{"from": "left0", "to": "right0", "app": {"kind": "bulk", "bytes": f"{max(1, seen.sender.high)}B"}}],
    }  # fmt: skip
    made, name = prepare(scenario, changes)
    try:
        summary, _, rows = engine_form(made, name).call(capture, 1)
    except ScenarioError as error:
        raise relay(error, "the simulation") from None
    source = next(index for index, node in enumerate(json.loads(summary)["nodes"]) if node["node"] == "left0")
    packets = []
    for row in rows.splitlines()[1:]:
        point, link_type, t_ns, size, headers = row.split(",")
        packet = tcp_of(int(t_ns), int(link_type), bytes.fromhex(headers), int(size)) if int(point) == source else None
        if packet:
            packets.append(packet)
    return observe(packets, "the simulation", seen.duration_s, MAX_BYTES), made


def compare(path: Path, given: Mapping[str, str | int | None], changes: Mapping[str, Any], number: int = 0) -> dict[str, Any]:
    """Return a trace, its link and the simulation of it, with the curves of both as `Observed`. Raises InputError."""
    seen, count = read_trace(path, number)
    link = estimate(seen, given, str(path))
    simulated, scenario = simulate(seen, link, changes)
    notes = [AWAY] if seen.sender.handshake_ns / 1e9 > 2 * float(seen.rtt[:, 1].min(initial=np.inf)) else []
    return {
        "notes": notes, "file": path.name, "connection": seen.name, "connections": count,
        "link": asdict(link), "scenario": scenario,
        "trace": seen.numbers(), "simulation": simulated.numbers(), "curves": (seen, simulated),
    }  # fmt: skip
