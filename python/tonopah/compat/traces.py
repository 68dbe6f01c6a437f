"""ASCII traces of ns-2 (wired, and wireless in both formats) and ns-3: the metrics of `tonopah run`, of an old trace.

A line of ns-2 is `+ 0.1 0 2 tcp 1040 ------- 1 0.0 3.0 5 12` (event, time, link, type, bytes, flags, flow, source, destination,
sequence number, unique id), `s 0.1 _0_ AGT --- 5 cbr 512 [0 0 0 0] ------- [0:0 1:0 32 0] [3] 0 0` or, with `use-newtrace`,
`s -t 0.1 -Hs 0 … -Nl AGT … -Is 0.0 -Id 1.0 -It cbr -Il 512 -If 0 -Ii 5 -Iv 32 -Pn cbr -Pi 3 …`; one of ns-3 is
`+ 2.0 /NodeList/0/…/Enqueue ns3::PppHeader (…) ns3::Ipv4Header (… id 7 … length: 576 10.1.1.1 > 10.1.2.2) ns3::TcpHeader
(49153 > 9 [ACK] Seq=1 …) Payload (size=536)` (the manuals of both, chapters on tracing).
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tonopah.errors import InputError
from tonopah.scenario.link_files import read_text

TCP_BYTES, UDP_BYTES = 40, 28
"""Headers in the sizes of ns-2, whose packets have no options."""

WIRED = re.compile(r"([+\-rd]) (\S+) (\d+) (\d+) (\S+) (\d+) \S+ \d+ (\d+)\.(\d+) (\d+)\.(\d+) (-?\d+) (\d+)\s*")
WIRELESS = re.compile(
    r"(?P<what>[srfD]) (?P<at_s>\S+) _\d+_ +(?P<layer>\w+) +\S+ (?P<uid>\d+) (?P<kind>\S+) (?P<size>\d+) \[[^\]]*\] \S+"
    r" \[(?P<start>-?\d+:-?\d+) (?P<end>-?\d+:-?\d+) [^\]]*\](?: \[(?P<sequence>\d+)[^\]]*\])?.*"
)
NEW_WIRELESS = re.compile(
    r"(?P<what>[srfd]) -t (?P<at_s>\S+) .*?-Nl (?P<layer>\w+) .*?-Is (?P<start>-?\d+\.-?\d+) -Id (?P<end>-?\d+\.-?\d+)"
    r" -It (?P<kind>\S+) -Il (?P<size>\d+) .*?-Ii (?P<uid>\d+)(?: .*?-P[is] (?P<sequence>\d+))?(?: .*)?"
)
NS3 = re.compile(
    r"([+\-rd]) (\S+) /NodeList/(\d+)/.*?ns3::Ipv4Header \(.*?id (\d+) .*?length: (\d+) (\S+) > ([^)\s]+)\)"
    r" ns3::(Tcp|Udp)Header \((?:length: \d+ )?(\d+) > (\d+)(?:[^)]*?Seq=(\d+))?[^)]*\)(.*)"
)
MOST_DIGITS = 18
PAYLOAD = re.compile(r"Payload \(size=(\d+)\)|Payload Fragment \[(\d+):(\d+)\]")


class Event(NamedTuple):
    """A data packet at a place: `sent`, `received` or `dropped`."""

    what: str
    at_s: float
    flow: tuple[str, str]
    packet: tuple[Any, ...]
    sequence: int
    """First byte, or number of the packet."""
    step: int
    """How far the sequence goes on behind it; 0 for datagrams, each of which is new."""
    payload: int


@dataclass
class TraceFlow:
    """A flow of a trace."""

    source: str
    sink: str
    first_s: float = math.inf
    sent: int = 0
    retransmitted: int = 0
    dropped: int = 0
    received: int = 0
    goodput_bytes: int = 0
    delays: list[float] = field(default_factory=list)
    began: dict[tuple[Any, ...], float] = field(default_factory=dict)
    """When packets that are under way were sent."""
    seen: set[int] = field(default_factory=set)
    arrived: dict[int, int] = field(default_factory=dict)
    following: int | None = None

    def take(self, event: Event) -> None:
        """Count an event."""
        if event.what == "sent":
            self.first_s = min(self.first_s, event.at_s)
            self.sent += 1
            self.retransmitted += bool(event.step) and event.sequence in self.seen
            self.seen.add(event.sequence)
            self.began[event.packet] = event.at_s
            self.following = event.sequence if self.following is None else self.following
        elif event.packet in self.began:
            since = self.began.pop(event.packet)
            if event.what == "dropped":
                self.dropped += 1
                return
            self.received += 1
            self.delays.append(event.at_s - since)
            self.deliver(event)

    def deliver(self, event: Event) -> None:
        """Count new payload in order: of datagrams all."""
        if not event.step:
            self.goodput_bytes += event.payload
            return
        if event.sequence >= (self.following or 0):
            self.arrived[event.sequence] = event.payload
        while (payload := self.arrived.pop(self.following or 0, None)) is not None:
            self.goodput_bytes += payload
            self.following = (self.following or 0) + (payload if event.step > 1 else 1)

    def metrics(self, end_s: float) -> dict[str, Any]:
        """Return what `tonopah run` says of a flow, by the same names."""
        life, count = end_s - self.first_s, len(self.delays)
        delays = sorted(self.delays)
        return {
            "from": self.source,
            "to": self.sink,
            "goodput_bps": 8 * self.goodput_bytes / life if life > 0 else None,
            "delay_s": sum(delays) / count if count else None,
            "delay_p95_s": delays[min(count - 1, math.ceil(0.95 * count) - 1)] if count else None,
            "sent_packets": self.sent,
            "received_packets": self.received,
            "dropped_packets": self.dropped,
            "retransmitted_packets": self.retransmitted,
            "delivery_ratio": self.received / self.sent,
        }


def read_trace_flows(path: Path) -> list[dict[str, Any]]:
    """Return the flows of a trace. Raises InputError with the line that is none, and what was expected."""
    lines = read_text(str(path)).splitlines()
    reader = next((reader for line in lines[:1000] for form, reader in READERS if form.fullmatch(line)), None)
    if reader is None:
        hint = "wired or wireless of ns-2, or EnableAscii of ns-3"
        raise InputError("", "has no line of an ASCII trace", hint, str(path))
    flows: dict[tuple[str, str], TraceFlow] = {}
    end_s = 0.0
    for event in reader(lines, str(path)):
        end_s = max(end_s, event.at_s)
        flows.setdefault(event.flow, TraceFlow(*event.flow)).take(event)
    if not flows:
        raise InputError("", "has no data packet from its source to its destination", None, str(path))
    return [flow.metrics(end_s) for flow in flows.values() if flow.sent]


def wired(lines: list[str], source: str) -> Iterator[Event]:
    """Read a wired trace of ns-2: `+` at the source, `r` at the destination, `d` anywhere."""
    for number, line in enumerate(lines, 1):
        match = matched(WIRED, line, number, source)
        if match is None or match[5] == "ack":
            continue
        what, at_s, start, end, kind, size, source_node, source_port, sink_node, sink_port, sequence, uid = match.groups()
        here = {"+": start == source_node, "r": end == sink_node, "d": True, "-": False}[what]
        if here:
            flow = (f"{source_node}.{source_port}", f"{sink_node}.{sink_port}")
            yield data(
                what,
                seconds(at_s, number, source),
                flow,
                (uid,),
                whole(sequence, number, source),
                kind,
                whole(size, number, source),
            )


def wireless(form: re.Pattern[str], lines: list[str], source: str) -> Iterator[Event]:
    """Read a wireless trace of ns-2 in one of its forms: `s` and `r` of agents, drops anywhere."""
    sizes: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        match = matched(form, line, number, source)
        if match is None or match["kind"] in ("ack", "AODV", "DSR", "DSDV", "message", "ARP", "RTS", "CTS", "ACK"):
            continue
        what, uid, size = match["what"].lower(), match["uid"], whole(match["size"], number, source)
        if match["layer"] != "AGT" and what != "d":
            continue
        flow = (match["start"].replace(":", "."), match["end"].replace(":", "."))
        # Routing adds headers on the way: the size is that of the source.
        sent = sizes.setdefault(uid, size) if what == "s" else sizes.get(uid, size)
        at_s = seconds(match["at_s"], number, source)
        sequence = whole(match["sequence"] or "0", number, source)
        yield data({"s": "+"}.get(what, what), at_s, flow, (uid,), sequence, match["kind"], sent)


def data(what: str, at_s: float, flow: tuple[str, str], packet: tuple[Any, ...], sequence: int, kind: str, size: int) -> Event:
    """Return the event of a packet of ns-2, whose sequence counts packets."""
    is_tcp = kind == "tcp"
    payload = max(0, size - (TCP_BYTES if is_tcp else UDP_BYTES))
    return Event(WHAT[what], at_s, flow, packet, sequence, int(is_tcp), payload)


WHAT = {"+": "sent", "r": "received", "d": "dropped"}


def ns3_events(lines: list[str], source: str) -> Iterator[Event]:
    """Read a trace of ns-3: a packet is sent at its first `+`, and received at the last `r` that no `+` follows."""
    begun: set[tuple[Any, ...]] = set()
    waiting: dict[tuple[Any, ...], Event] = {}
    for number, line in enumerate(lines, 1):
        match = matched(NS3, line, number, source)
        if match is None or match[1] == "-":
            continue
        what, at_s, _, packet_id, _, start, end, kind, source_port, sink_port, sequence, rest = match.groups()
        found = [[whole(part or "0", number, source) for part in parts] for parts in PAYLOAD.findall(rest)]
        sizes = [size or last - first for size, first, last in found]
        if not sum(sizes):
            continue
        packet = (start, end, kind, packet_id, sequence)
        flow = (f"{start}:{source_port}", f"{end}:{sink_port}")
        step = 2 if kind == "Tcp" else 0
        first = whole(sequence or "0", number, source)
        event = Event(WHAT[what], seconds(at_s, number, source), flow, packet, first, step, sum(sizes))
        if what == "r":
            waiting[packet] = event
        elif what == "d":
            waiting.pop(packet, None)
            yield event
        elif packet in begun:
            waiting.pop(packet, None)
        else:
            begun.add(packet)
            yield event
    yield from sorted(waiting.values(), key=lambda event: event.at_s)


Reader = Callable[[list[str], str], Iterator[Event]]
READERS: list[tuple[re.Pattern[str], Reader]] = [
    (WIRED, wired), (WIRELESS, partial(wireless, WIRELESS)), (NEW_WIRELESS, partial(wireless, NEW_WIRELESS)), (NS3, ns3_events),
]  # fmt: skip


def matched(form: re.Pattern[str], line: str, number: int, source: str) -> re.Match[str] | None:
    """Return the match of a line; None for one that tells of something else. Raises InputError for one that is cut."""
    match = form.fullmatch(line)
    if match is None and form is WIRED and line.strip() and not line.startswith(("v", "#", "h")):
        raise InputError(f"line {number}", f"{line[:60]!r} is no line of this trace", "12 fields: + 0.1 0 2 tcp 1040 …", source)
    return match


def whole(text: str, number: int, source: str) -> int:
    """Return a size or a sequence number. Raises InputError for one that no packet has."""
    if len(text) > MOST_DIGITS:
        raise InputError(f"line {number}", f"{text[:40]!r} is no number of a packet", f"at most {MOST_DIGITS} digits", source)
    return int(text)


def seconds(text: str, number: int, source: str) -> float:
    """Return a time. Raises InputError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"line {number}", f"the time {text[:40]!r} is no number of seconds", None, source)
    return value
