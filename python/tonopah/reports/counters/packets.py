"""The packets of a run as the authors' scripts see them: one line for each sending, loss and reception of a TCP packet."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tonopah._core import run, trace
from tonopah.cc.loading import algorithms_of_run
from tonopah.reports.worlds import Scenario

Numbers = dict[str, float]


Sending = tuple[int, bool, float, int, int | None]
"""One sending of a packet: flow, direction, when, sequence number and acknowledgment number."""


class Packet(NamedTuple):
    """A line about a TCP packet."""

    time_s: float
    event: str
    """`sent`, `dropped` or `delivered`, or `transmitted` where a link begins with it."""
    flow: int
    to_sink: bool
    size_bytes: int
    seq: int
    payload_bytes: int
    syn: bool
    fin: bool
    ack: int | None
    sent_at_s: float = 0.0
    link: int | None = None
    """The link of a transmission or a loss."""
    reason: str = ""
    """Of a loss."""

    @property
    def is_data(self) -> bool:
        """It is what ns-2 calls a packet of type tcp: data, or a SYN. ns-2 has neither FIN nor bare ACK."""
        return self.to_sink and (self.payload_bytes > 0 or (self.syn and not self.fin))

    @property
    def sending(self) -> Sending:
        """What tells one sending of a packet from all others."""
        return self.flow, self.to_sink, self.sent_at_s, self.seq, self.ack


Lines = Sequence[Packet]


def pattern(events: str, rest: str) -> re.Pattern[str]:
    """Return what finds lines about these events of TCP packets, with what stands behind the acknowledgment number."""
    return re.compile(
        rf'"t_s":([^,]+),"event":"({events})","flow":(\d+),"towards":"(\w+)","size_bytes":(\d+),"sent_at_s":([^,]+),'
        r'[^\n]*?"transport":"tcp","flags":\[([^\]]*)\],"seq":(\d+),"payload_bytes":(\d+),"ack":(\w+)' + rest
    )


ENDS = pattern("sent|dropped|delivered", "()()")
"""Runs have a million lines: to read each as JSON takes five times as long."""
PLACES = pattern("sent|dropped|delivered|transmitted", r'(?:[^\n]*?"link":(\d+))?(?:[^\n]*?"reason":"(\w+)")?')


def packets(text: str, places: bool = False) -> list[Packet]:
    """Return the packets of the engine's JSON trace, in the order of time.

    With `places` there are transmissions on links too, and where and why a packet was lost.
    """
    made = [
        Packet(
            float(time_s), event, int(flow), towards == "sink", int(size), int(seq), int(payload), "syn" in flags,
            "fin" in flags, None if ack == "null" else int(ack), float(sent_s), int(link) if link else None, reason,
        )
        for time_s, event, flow, towards, size, sent_s, flags, seq, payload, ack, link, reason
        in (PLACES if places else ENDS).findall(text)
    ]  # fmt: skip
    # Drops may be known before their time.
    return sorted(made, key=lambda packet: packet.time_s)


FRAME = re.compile(
    r'"t_s":([^,]+),"event":"frame","channel":\d+,"from":(\d+),"to":(\d+|null),"kind":"(\w+)","sequence":(\d+),'
    r'"size_bytes":(\d+),[^\n]*?"airtime_s":([^,}]+)'
)


class Frame(NamedTuple):
    """A frame on the air."""

    start_s: float
    end_s: float
    source: str
    target: str
    kind: str
    sequence: str
    size_bytes: int


def frames(text: str) -> list[Frame]:
    """Return all frames, in the order of their starts."""
    return [
        Frame(float(start_s), float(start_s) + float(airtime_s), source, target, kind, sequence, int(size_bytes))
        for start_s, source, target, kind, sequence, size_bytes, airtime_s in FRAME.findall(text)
    ]


class Attempt(NamedTuple):
    """A data frame to one station, and what became of it."""

    frame: Frame
    received: bool
    """It reached the MAC, which acknowledges every frame."""
    duplicate: bool
    """The MAC had it already."""


def attempts(sent: Iterable[Frame]) -> list[Attempt]:
    """Return the data frames to single stations; a frame is received if the next of both stations to each other is its ACK."""
    newest: dict[tuple[str, str], Frame] = {}
    known: set[tuple[str, str, str]] = set()
    made: list[Attempt] = []
    for frame in sent:
        pair = (frame.source, frame.target)
        if frame.kind == "data" and frame.target != "null":
            if (before := newest.pop(pair, None)) is not None:
                made.append(Attempt(before, False, False))
            newest[pair] = frame
        elif frame.kind == "ack" and (before := newest.pop((frame.target, frame.source), None)) is not None:
            key = (before.source, before.target, before.sequence)
            made.append(Attempt(before, True, key in known))
            known.add(key)
    return made + [Attempt(frame, False, False) for frame in newest.values()]


@dataclass(frozen=True)
class Seen:
    """What a script sees of a run: the scenario, its trace, its summary, and the series that the scenario records."""

    scenario: Scenario
    trace: str
    summary: Mapping[str, Any]
    series: Mapping[str, Mapping[str, Any]]

    @cached_property
    def lines(self) -> Lines:
        """Its packets at their ends."""
        return packets(self.trace)

    @cached_property
    def places(self) -> Lines:
        """Its packets on links too, and where and why they were lost."""
        return packets(self.trace, places=True)


def as_in_ns2(lines: Iterable[Packet]) -> list[Packet]:
    """Return what ns-2's one-way agents would have sent: no FIN, none of its ACKs, no ACK towards the sink without data."""
    lines = list(lines)
    ends: dict[int, int] = {}
    for line in lines:
        if line.is_data:
            ends[line.flow] = max(ends.get(line.flow, 0), line.seq + line.payload_bytes + int(line.syn))
    return [
        line for line in lines
        if line.is_data or (not line.to_sink and not line.fin and (line.ack or 0) <= ends.get(line.flow, 0))
    ]  # fmt: skip


def seen(scenario: str, seed: int, summary: str, series: Any) -> Seen:
    """Return what a script sees of a run that gave this summary and these series; the same run again gives its packets."""
    return Seen(json.loads(scenario), trace(scenario, seed, algorithms_of_run(), json=True), json.loads(summary), series)


def run_seen(scenario: str, seed: int) -> Seen:
    """Run a scenario (JSON text) and return what a script sees of it."""
    summary, series = run(scenario, seed, algorithms_of_run())
    return seen(scenario, seed, summary.json(), series)
