"""What a qlog says of a connection: packets sent, ACKs, losses, metrics and states, by the names of one table (dialects.toml)."""

import gzip
import io
import math
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah.errors import InputError
from tonopah.qlog.forms import Records, records
from tonopah.scenario.files import read_file

MAX_FILE_BYTES = 1 << 30
MAX_RANGE = 1_000_000
"""Packets that one frame acknowledges."""
MAX_NUMBER = 2.0**63
"""A number from here on stands for none."""
UDP_HEADERS = 28
"""Of IP and UDP; a log of QUIC counts what is in the datagram."""
FEWEST_BYTES = 100
"""Of a packet with data, where the log does not say what is in it."""
FAR = 5.0
"""Ratio from which on no unit fits."""
RTTS = ("smoothed_rtt", "latest_rtt", "min_rtt", "rtt_variance")
DIALECTS = tomllib.loads(Path(__file__).with_name("dialects.toml").read_text(encoding="utf-8"))
EVENTS = {name: own for own, others in DIALECTS["events"].items() for name in (own, *others)}
METRICS = {name: own for own, others in DIALECTS["metrics"].items() for name in (own, *others)}
KEYS: dict[str, list[str]] = DIALECTS["keys"]
UNITS: dict[str, float] = DIALECTS["units"]


@dataclass(frozen=True)
class SentPacket:
    """A packet that was sent."""

    t_s: float
    space: str
    number: int
    size: int
    """Bytes as the log counts them."""
    payload: int
    """Data; 0 without."""


@dataclass
class Trace:
    """A connection as its log has it; times in seconds from its first event."""

    form: str = ""
    title: str = ""
    headers: int = UDP_HEADERS
    """What a packet has on the wire besides."""
    sent: dict[tuple[str, int], SentPacket] = field(default_factory=dict)
    acks: list[tuple[float, list[SentPacket]]] = field(default_factory=list)
    """What each acknowledges for the first time."""
    rtt: list[tuple[float, float]] = field(default_factory=list)
    lost: list[tuple[float, SentPacket | None, int, int]] = field(default_factory=list)
    """When, which if it is said, how many packets and bytes."""
    metrics: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    states: list[tuple[float, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rtt_unit: str = "ms"
    received_bytes: int = 0
    first_received_s: float | None = None
    has_acks: bool = False
    end_s: float = 0.0

    @property
    def data(self) -> list[SentPacket]:
        """The packets with data, in the order in which they were sent."""
        return [one for one in self.sent.values() if one.payload]

    @property
    def lost_packets(self) -> int:
        """How many were declared lost."""
        return sum(count for _, _, count, _ in self.lost)


def read(path: Path, trace: int = 0, until_s: float = math.inf) -> Trace:
    """Return what a log says of trace number `trace`. Raises InputError, with the byte, where it cannot be read."""
    data, source = read_file(path, "a qlog", MAX_FILE_BYTES), str(path)
    if data.startswith(b"\x1f\x8b"):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as unpacked:
                data = unpacked.read(MAX_FILE_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError("", f"is no gzip file: {error}", None, source) from None
        if len(data) > MAX_FILE_BYTES:
            raise InputError("", "is too large for a qlog", f"at most {MAX_FILE_BYTES:,} bytes", source)
    return Reader(records(data, trace, source), source).read(until_s)


class Reader:
    """Reads the events of a trace one after the other."""

    def __init__(self, found: Records, source: str):
        self.found, self.source = found, source
        header = found.header
        of_trace = header.get("trace") if isinstance(header.get("trace"), dict) else {}
        self.common = {**table(header, "common_fields"), **table(of_trace, "common_fields")}
        settings = {**table(header, "configuration"), **table(of_trace, "configuration")}
        self.unit = UNITS.get(str(settings.get("time_units", "ms")), 1e-3)
        self.unit_name = next(name for name, seconds in UNITS.items() if seconds == self.unit)
        fields = of_trace.get("event_fields") if isinstance(of_trace, dict) else None
        self.columns = [str(one).lower() for one in fields] if isinstance(fields, list) else []
        style = str(self.common.get("time_format", of_trace.get("time_format", "") if isinstance(of_trace, dict) else ""))
        self.adds_up = style in ("relative_to_previous_event", "delta") or "delta_time" in self.columns
        version = str(header.get("qlog_version", "main schema"))
        title = str(header.get("title") or (of_trace or {}).get("title") or "the sender of the log")
        protocols = self.common.get("protocol_types") or []
        tcp = isinstance(protocols, list) and "TCP" in protocols
        self.trace = Trace(
            f"{version}, {found.form}", title, 0 if tcp else UDP_HEADERS, notes=found.notes, rtt_unit=self.unit_name
        )
        self.clock = 0.0
        self.start: float | None = None
        self.acked: set[tuple[str, int]] = set()
        self.largest: dict[str, int] = {}

    def read(self, until_s: float) -> Trace:
        """Return what all events say, up to a time. Raises InputError."""
        for at, record in self.found.events:
            try:
                event = self.row(record)
                name = EVENTS.get(str(first(event, "name", "")).lower().rpartition(":")[2])
                t_s = self.time(event)
                if t_s > until_s:
                    break
                data = event.get("data")
                if name and isinstance(data, dict):
                    self.trace.end_s = max(self.trace.end_s, t_s)
                    getattr(self, name)(t_s, data)
            except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
                text = f"at byte {at:,}: an event {named(record)} that cannot be read: {type(error).__name__} {str(error)[:100]}"
                raise InputError("", text, None, self.source) from None
        self.scale()
        return self.trace

    def row(self, record: Any) -> dict[str, Any]:
        """Return an event as a table; in drafts 00 and 01 it is a row."""
        if isinstance(record, list) and self.columns:
            return {**self.common, **dict(zip(self.columns, record, strict=False))}
        if not isinstance(record, dict):
            raise ValueError("it is no object")
        return record

    def time(self, event: Mapping[str, Any]) -> float:
        """Return when an event was, in seconds from the first."""
        value = float(first(event, "time", 0))
        if not math.isfinite(value):
            raise ValueError(f"a time of {value}")
        self.clock = self.clock + value if self.adds_up else value
        self.start = self.clock if self.start is None else self.start
        return (self.clock - self.start) * self.unit

    def packet(self, data: Mapping[str, Any]) -> tuple[str, int | None, int]:
        """Return space, number and size of a packet."""
        header = table(data, "header")
        kind = str(first(header, "type", first(data, "type", "1RTT"))).lower()
        space = kind if kind in ("initial", "handshake") else "1rtt"
        number = first(header, "number", first(data, "number", None))
        size = first(table(data, "raw"), "length", first(header, "length", first(data, "length", 0)))
        return space, None if number is None else whole(number), whole(size)

    def packet_sent(self, t_s: float, data: Mapping[str, Any]) -> None:
        """Note a packet that was sent."""
        space, number, size = self.packet(data)
        if number is None:
            return
        frames = data.get("frames")
        if isinstance(frames, list):
            payload = payload_of(frames)
        elif space == "1rtt" and size >= FEWEST_BYTES:
            payload = size
        else:
            payload = 0
        self.trace.sent[space, number] = SentPacket(t_s, space, number, size, payload)

    def packet_received(self, t_s: float, data: Mapping[str, Any]) -> None:
        """Note a packet that was received, and what it acknowledges."""
        trace = self.trace
        if trace.first_received_s is None:
            trace.first_received_s = t_s
            self.forget_guesses()
        space, _, size = self.packet(data)
        frames = data.get("frames")
        for frame in frames if isinstance(frames, list) else ():
            if frame.get("frame_type") == "ack":
                trace.has_acks = True
                self.acknowledge(t_s, space, frame.get("acked_ranges", ()))
        if isinstance(frames, list):
            trace.received_bytes += payload_of(frames)
        elif space == "1rtt" and size >= FEWEST_BYTES:
            trace.received_bytes += size

    def acknowledge(self, t_s: float, space: str, ranges: Any) -> None:
        """Note what an ACK covers for the first time; an RTT sample if its largest is among it (RFC 9002 5.1)."""
        new: list[int] = []
        for one in ranges:
            low, high = sorted((whole(one[0]), whole(one[-1])))
            if high - low > MAX_RANGE:
                raise ValueError(f"a range of {high - low:,} packets")
            new += [number for number in range(low, high + 1) if (space, number) not in self.acked]
        if not new:
            return
        self.acked.update((space, number) for number in new)
        known = [packet for number in sorted(new) if (packet := self.trace.sent.get((space, number)))]
        self.trace.acks.append((t_s, known))
        largest = max(new)
        if largest > self.largest.get(space, -1):
            self.largest[space] = largest
            packet = self.trace.sent.get((space, largest))
            if packet and packet.payload:
                self.trace.rtt.append((t_s, t_s - packet.t_s))

    def packet_lost(self, t_s: float, data: Mapping[str, Any]) -> None:
        """Note a packet that was declared lost, or how many were."""
        if "lost_packets" in data:
            self.trace.lost.append((t_s, None, whole(data["lost_packets"]), whole(data.get("lost_bytes", 0))))
            return
        space, number, size = self.packet(data)
        packet = self.trace.sent.get((space, number)) if number is not None else None
        self.trace.lost.append((t_s, packet, 1, packet.size if packet else size))

    def metrics_updated(self, t_s: float, data: Mapping[str, Any]) -> None:
        """Note metrics; what is no number, or stands for none, is absent."""
        for key, value in data.items():
            name = METRICS.get(str(key).lower())
            if name is None or isinstance(value, bool):
                continue
            number = float(value)
            if math.isfinite(number) and 0 <= number < MAX_NUMBER:
                self.trace.metrics.setdefault(name, []).append((t_s, number))

    def congestion_state_updated(self, t_s: float, data: Mapping[str, Any]) -> None:
        """Note a state."""
        self.trace.states.append((t_s, str(data.get("new", ""))))

    def forget_guesses(self) -> None:
        """Leave out the RTTs up to now: before anything is received they are guesses (kInitialRtt)."""
        for name in RTTS:
            self.trace.metrics.pop(name, None)

    def scale(self) -> None:
        """Bring RTTs to seconds, in the unit that brings the least nearest to the time to the first answer."""
        trace = self.trace
        if trace.sent and trace.first_received_s is None:
            self.forget_guesses()
        found = [
            value for name in ("latest_rtt", "min_rtt", "smoothed_rtt") for _, value in trace.metrics.get(name, ()) if value > 0
        ]
        first_sent = min((one.t_s for one in trace.sent.values()), default=0.0)
        answer = (trace.first_received_s or 0.0) - first_sent
        unit = self.unit_name
        if found and answer > 0:
            ratios = {name: abs(math.log(min(found) * UNITS[name] / answer)) for name in ("s", "ms", "us")}
            unit = min(ratios, key=lambda name: ratios[name])
            if ratios[unit] > math.log(FAR):
                unit = "ms"
                trace.notes.append("no unit of RTTs fits the time to the first answer: they are taken for milliseconds")
        if unit != self.unit_name and found:
            words = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
            trace.notes.append(f"RTTs are in {words[unit]}, not in {words[self.unit_name]} as the schema says")
        trace.rtt_unit = unit
        for name in RTTS:
            if name in trace.metrics:
                trace.metrics[name] = [(t_s, value * UNITS[unit]) for t_s, value in trace.metrics[name]]
        if not trace.has_acks:
            trace.rtt = trace.metrics.get("latest_rtt", [])


def named(record: Any) -> str:
    """Return the name of an event, as far as it has one."""
    return str(first(record, "name", ""))[:60] if isinstance(record, dict) else "of a row"


def table(values: Any, key: str) -> dict[str, Any]:
    """Return the table at a key, or an empty one."""
    found = values.get(key) if isinstance(values, dict) else None
    return found if isinstance(found, dict) else {}


def first(values: Mapping[str, Any], key: str, otherwise: Any) -> Any:
    """Return the value of the first of the names of a key that is there."""
    return next((values[name] for name in (key, *KEYS.get(key, ())) if name in values), otherwise)


def whole(value: Any) -> int:
    """Return a count, which may be written as text. Raises ValueError below 0 and beyond what a count can be."""
    number = int(value)
    if not 0 <= number < MAX_NUMBER:
        raise ValueError(f"a count of {number}")
    return number


def payload_of(frames: list[Any]) -> int:
    """Return the bytes of streams in frames. Raises ValueError."""
    total = 0
    for frame in frames:
        if frame.get("frame_type") == "stream":
            raw = table(frame, "raw")
            total += whole(frame["length"] if "length" in frame else raw.get("payload_length", raw.get("length", 0)))
    if total > 1 << 24:
        raise ValueError(f"a packet with {total:,} bytes of data")
    return total
