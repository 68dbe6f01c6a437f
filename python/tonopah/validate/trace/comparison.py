"""A recorded TCP connection beside a simulation of its link: `tonopah validate trace FILE`.

The link is estimated from the trace or given. The simulated sender is seen by the same code as the recorded one, from a capture
of the same form, so that every number has one definition.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tonopah._core import capture, captured_packets, parse_quantity
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.qlog.trace import Trace as QlogTrace
from tonopah.runs.simulation import engine_form
from tonopah.scenario.document import prepare
from tonopah.validate.trace.capture import (
    MAX_CONNECTIONS,
    Capture,
    CapturedPacket,
    packet_of,
    packets,
    survey,
    without_collector,
)
from tonopah.validate.trace.connection import Observed, observe
from tonopah.validate.trace.diagnosis import HELD, Marks, held_by_window, marks, notes_of, taken_at, without_copies
from tonopah.validate.trace.opening import parts
from tonopah.validate.trace.qlog import RECEIVER, is_qlog, observe_qlog

MAX_SECONDS = 300.0
MAX_BYTES = 256_000_000
"""Of data: of a longer trace the beginning is compared."""
WINDOW_RTTS, MIN_WINDOW_S = 10, 0.05
"""Interval over which the rate of the link is the largest rate of delivery."""
ACK_BYTES = 52
MAX_RATE = 1e12
MAX_REASONS = 5
"""Reasons for frames without a segment that are named."""
FAR = 2.0
"""Ratio of a simulated number to the recorded one, or its inverse, beyond which it is said that the world is another."""
ACCESS_FACTOR = 100
NO_MARKS = Marks("off", 0, 0)
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


@dataclass(frozen=True)
class Trace:
    """A recorded connection and what was found of it."""

    seen: Observed
    connections: int = 1
    taken_at: str | None = "sender"
    marks: Marks = NO_MARKS
    held: tuple[float, int] | None = None
    """Share of the data that met a full window of the receiver, and that window."""
    notes: tuple[str, ...] = ()
    log: QlogTrace | None = None
    """What a qlog says besides."""

    def numbers(self) -> dict[str, Any]:
        """Return what the table shows, and of a qlog what only a log has."""
        found: dict[str, Any] = self.seen.numbers()
        if self.log:
            windows = [value for _, value in self.log.metrics.get("congestion_window", [])]
            found |= {
                "lost_packets": self.log.lost_packets,
                "cwnd_max_bytes": max(windows, default=None),
                "cwnd_last_bytes": windows[-1] if windows else None,
                "form": self.log.form,
                "rtt_unit": self.log.rtt_unit,
            }
        return found


@dataclass(frozen=True)
class Recording:
    """A connection as its file has it."""

    seen: Observed
    packets: list[CapturedPacket] = field(default_factory=list)
    """Those of a capture, without copies; a qlog has none."""
    capture: Capture | None = None
    copies: int = 0
    log: QlogTrace | None = None
    """What a qlog says."""

    @property
    def connections(self) -> int:
        """Connections of the file."""
        return len(self.capture.connections) if self.capture else 1


@without_collector()
def read_connection(path: Path, number: int = 0, until_s: float = MAX_SECONDS, log_trace: int = 0) -> Recording:
    """Return connection `number` of a capture, in the order of their data, or a trace of a qlog. Raises InputError."""
    source, until = str(path), min(until_s, MAX_SECONDS)
    if is_qlog(next(parts(path, lambda _: None), b"")):
        if number:
            raise InputError(
                "--connection", f"{number}: a qlog has one connection", "--trace counts those of a file of several", source
            )
        seen, log = observe_qlog(path, log_trace, until, MAX_BYTES)
        return Recording(seen, log=log)
    if log_trace:
        raise InputError("--trace", "has no effect on a capture", "--connection", source)
    capture = survey(path)
    if not 0 <= number < len(capture.connections):
        raise InputError("--connection", f"{number} is not there", f"0 to {len(capture.connections) - 1}", source)
    found, copies = without_copies(packets(capture, number, round(until * 1e9), MAX_BYTES))
    return Recording(observe(found, source, until, MAX_BYTES), found, capture, copies)


def read_trace(path: Path, number: int = 0, until_s: float = MAX_SECONDS, log_trace: int = 0) -> Trace:
    """Return a connection with what is to be said of it. Raises InputError."""
    one = read_connection(path, number, until_s, log_trace)
    if one.log or not one.capture:
        notes = tuple(one.log.notes) if one.log else ()
        return Trace(one.seen, taken_at="receiver" if RECEIVER in notes else "sender", notes=notes, log=one.log)
    sender = one.seen.sender
    place, why = taken_at(one.packets, sender)
    notes = [*file_notes(one.capture, number, one.seen, one.copies), why, *notes_of(one.seen, one.packets)]
    held = held_by_window(one.packets, sender)
    return Trace(one.seen, one.connections, place, marks(one.packets, sender), held, tuple(notes))


def file_notes(capture: Capture, number: int, seen: Observed, copies: int) -> Iterator[str]:
    """Yield what is to be said of the file, and of the part of it that is compared."""
    _, connection = capture.connections[number]
    if capture.cut:
        yield capture.cut
    for text, count in capture.skipped[:MAX_REASONS]:
        yield f"{count:,} frames {text} are left out"
    if capture.left_out:
        yield f"{capture.left_out:,} packets of more than {MAX_CONNECTIONS:,} connections were not looked at"
    if connection.turns > 1:
        yield (
            f"the same addresses and ports had {connection.turns:,} connections, by their SYNs: this is number "
            f"{connection.turn + 1}"
        )
    if copies:
        yield f"{copies:,} packets were captured twice and are left out"
    whole = (connection.last_ns - connection.first_ns) / 1e9
    counted = seen.sender.segments + seen.sender.keep_alives
    if whole > seen.duration_s + 1e-6 and connection.segments - copies > counted:
        yield (
            f"of {whole:,.4g} s the first {seen.duration_s:,.4g} s are compared, {counted:,} of {connection.segments:,} data "
            f"segments of both directions"
        )


def estimate(trace: Trace, given: Mapping[str, str | int | None], source: str) -> Link:
    """Return the link of the trace in `source` from what was given, and for the rest from what was seen. Raises InputError."""
    seen, sender = trace.seen, trace.seen.sender
    # Away from the sender the RTT of data is that of a part of the path.
    rtts = seen.rtt[:, 1] if trace.taken_at in (None, "sender") else seen.rtt[:0, 1]
    # What was captured before the network card cut it has fewer headers than the link carries.
    packet = min(round(sender.wire_bytes / sender.segments), sender.mss_bytes + ACK_BYTES)
    samples: list[float] = [*rtts, *([sender.handshake_ns / 1e9] if sender.handshake_ns else [])]
    least = min(samples, default=None)
    if least is None and given.get("delay") is None:
        raise InputError("--delay", f"{seen.name} has no RTT sample to estimate it from", "like --delay 20ms", source)
    headers = packet / min(sender.payload_bytes / sender.segments, sender.mss_bytes)
    rate = quantity(given, "rate") or delivery_rate(seen, least or MIN_WINDOW_S) * headers
    if not 1 <= rate <= MAX_RATE:
        amount = "too little" if rate < 1 else "more than a link can"
        raise InputError("--rate", f"{seen.name} delivers {amount} to estimate it from", "like --rate 10Mbps", source)
    serialisation = 8 * (packet + ACK_BYTES) / rate
    delay = quantity(given, "delay")
    if delay is None:
        # The least sample is of data where there is one; of a handshake it has no serialisation to speak of.
        delay = max(0.0, (float(rtts.min()) - serialisation if len(rtts) else least or 0.0) / 2)
    queue = given.get("queue")
    if queue is None:
        # Where nothing was lost the queue held all that was in flight, and the largest RTT says how much waited.
        lost = bool(len(seen.retransmissions_s))
        waited = float(np.quantile(rtts, 0.99 if lost else 1.0)) - 2 * delay - serialisation if len(rtts) else 2 * delay
        queue = max(2, math.ceil(waited * rate / 8 / packet))
        if not lost:
            queue = max(queue, math.ceil(float(seen.flight[:, 1].max(initial=0.0)) / max(1, sender.mss_bytes)))
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
        return 8 * float(total.max(initial=0.0)) / rtt_s
    window = min(max(WINDOW_RTTS * rtt_s, MIN_WINDOW_S), float(times[-1] - times[0]))
    begin = np.searchsorted(times, times - window, side="right") - 1
    whole = begin >= 0
    spans = times[whole] - times[begin[whole]]
    rates = 8 * (total[whole] - total[begin[whole]])[spans > 0] / spans[spans > 0]
    return float(rates.max()) if len(rates) else 8 * float(total.max()) / rtt_s


def world(trace: Trace, link: Link) -> tuple[dict[str, Any], list[str]]:
    """Return the scenario of a trace's link and sender, and what of it the capture made necessary."""
    seen, marked = trace.seen, trace.marks.marked or trace.marks.echoed
    queue: dict[str, Any] = {"kind": "drop_tail", "limit": f"{link.queue_packets}p"}
    tcp: dict[str, Any] = {"profile": "linux", "cc": "cubic", "mss": f"{seen.sender.mss_bytes}B"}
    notes = []
    if trace.marks.mode != "off" and marked:
        waited = float(np.median(seen.rtt[:, 1])) - 2 * link.delay_s if len(seen.rtt) and trace.taken_at != "receiver" else 0.0
        queue["mark_threshold"] = max(1, math.ceil(waited * link.rate_bps / 8 / link.packet_bytes))
        tcp["ecn"] = trace.marks.mode
        notes.append(
            f"ECN ({trace.marks.mode}): {trace.marks.marked:,} data segments have CE, {trace.marks.echoed:,} marks or ACKs with "
            f"ECE come back; the simulated queue marks above {queue['mark_threshold']:,} packets, which the median RTT says"
        )
    share, window = trace.held or (0.0, 0)
    most = int(seen.flight[:, 1].max(initial=0.0))
    if share > HELD and window:
        tcp["recv_buffer"] = f"{max(window, 2 * seen.sender.mss_bytes)}B"
        notes.append(f"{share:.0%} of the data met a full window of the receiver ({window:,} B), which the simulated one has too")
    elif not len(seen.retransmissions_s) and not marked and "queue" in link.estimated and most:
        tcp["recv_buffer"] = f"{max(most, 2 * seen.sender.mss_bytes)}B"
        notes.append(
            f"nothing was lost or marked, so that the limit of the queue is not seen: the simulated sender is held to the "
            f"{most:,} B in flight that the capture shows, and the queue holds them"
        )
    end = {"rate": f"{round(min(ACCESS_FACTOR * link.rate_bps, 1e12))}bps", "delay": "0s"}
    # Of a capture that begins later the simulated handshake is added.
    before = 0.0 if seen.sender.handshake_ns else 4 * (2 * link.delay_s + 8 * (link.packet_bytes + ACK_BYTES) / link.rate_bps)
    scenario = {
        "duration": f"{max(1, math.ceil((seen.duration_s + before) * 1e9))}ns",
        "network": {
            "kind": "dumbbell", "pairs": 1, "flows": 0, "access": end,
            "bottleneck": {"rate": f"{round(link.rate_bps)}bps", "delay": f"{round(link.delay_s * 1e9)}ns", "queue": queue},
        },
        "tcp": tcp,
        "flow": [{"from": "left0", "to": "right0", "app": {"kind": "bulk", "bytes": f"{max(1, seen.sender.high)}B"}}],
    }  # fmt: skip
    return scenario, notes


def simulate(trace: Trace, scenario: dict[str, Any], changes: Mapping[str, Any]) -> tuple[Observed, dict[str, Any]]:
    """Return what a sender in a world shows, and the scenario. Raises ScenarioError where that cannot be run."""
    made, name = prepare(scenario, changes)
    try:
        summary, _, rows = engine_form(made, name).call(capture, 1)
    except ScenarioError as error:
        raise relay(error, "the simulation") from None
    # Both are seen at the same end.
    end = "right0" if trace.taken_at == "receiver" else "left0"
    source = next(index for index, node in enumerate(json.loads(summary)["nodes"]) if node["node"] == end)
    seen = list(map(packet_of, captured_packets(frames_of(rows, source))))
    later = not trace.seen.sender.handshake_ns
    if not any(packet.length for packet in seen):
        text = f"in {trace.seen.duration_s:.3g} s no data is sent: the handshake takes longer over that link"
        raise InputError("the simulation", text, "--rate and --delay, or a longer capture")
    return observe(seen, "the simulation", trace.seen.duration_s, MAX_BYTES, from_data=later), made


def frames_of(rows: str, source: int) -> list[tuple[int, int, int, bytes]]:
    """Return what the engine captured at a host: time in nanoseconds, link type, size and headers of each packet."""
    kept = (row.split(",") for row in rows.splitlines() if row.startswith(f"{source},"))
    return [(int(t_ns), int(link), int(size), bytes.fromhex(headers)) for _, link, t_ns, size, headers in kept]


def refuted(seen: Observed, simulated: Observed) -> Iterator[str]:
    """Yield where the capture shows another world than the simulated one."""
    recorded, other = seen.numbers(), simulated.numbers()
    for key, name in (("goodput_bps", "goodput"), ("rtt_median_s", "median RTT"), ("in_flight_max_bytes", "most in flight")):
        one, two = recorded[key], other[key]
        if one and two and not 1 / FAR <= two / one <= FAR:
            yield f"the capture refutes the simulated world: its {name} is {two / one:.3g} times the recorded one"
    lost, found = recorded["retransmitted_segments"], other["retransmitted_segments"]
    if bool(lost) != bool(found):
        yield f"the capture refutes the simulated world: {lost:,} segments were sent again in it, {found:,} in the simulation"


@without_collector()
def compare(
    path: Path, given: Mapping[str, str | int | None], changes: Mapping[str, Any], number: int = 0, log_trace: int = 0
) -> dict[str, Any]:
    """Return a trace, its link and the simulation of it, with the curves of both as `Observed`. Raises InputError."""
    trace = read_trace(path, number, log_trace=log_trace)
    seen, link = trace.seen, estimate(trace, given, str(path))
    scenario, notes = world(trace, link)
    simulated, scenario = simulate(trace, scenario, changes)
    notes = [*trace.notes, *notes, *refuted(seen, simulated)]
    return {
        "notes": notes, "file": path.name, "connection": seen.name, "connections": trace.connections, "taken_at": trace.taken_at,
        "ecn": asdict(trace.marks), "link": asdict(link), "scenario": scenario,
        "trace": trace.numbers(), "simulation": simulated.numbers(), "curves": (seen, simulated),
    }  # fmt: skip
