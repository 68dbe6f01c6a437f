"""Packet logs: ours from the engine's trace, the kernel's from the recording, side by side."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from tonopah.validate.linux.worlds import MSS_BYTES

if TYPE_CHECKING:
    import pandas as pd

SENT = re.compile(r"(\S+) sent +flow=0 ([<>]) \d+B \S* ?(\d+):(\d+)\((\d+)\)(?:.*? ack (\d+))?")
DROPPED = re.compile(r"(\S+) dropped +flow=0 > \d+B \S* ?(\d+):")
TOLERANCE_S = 0.0005
"""Packets further apart in time than this are a divergence: the recordings in real time are noisy to about 0.1 ms."""


@dataclass(frozen=True)
class LoggedPacket:
    """A packet that enters the link; `data` tells the direction. Sequence numbers count from the SYN, which is 0."""

    t_s: float
    data: bool
    seq: int
    ack: int
    length: int
    again: bool
    """Its payload was sent before."""
    dropped: bool

    @property
    def number(self) -> float:
        """Segment that it carries, or up to which it acknowledges, from 0."""
        return ((self.seq if self.data else self.ack) - 1) / MSS_BYTES

    @property
    def key(self) -> tuple[bool, int, int]:
        """What has to agree on both sides: direction, sequence number (data) or acknowledgment, length."""
        return self.data, self.seq if self.data else self.ack, self.length


def kernel_packets(log: "pd.DataFrame") -> list[LoggedPacket]:
    """Return a recorded packet log."""
    rows = zip(*(log[name] for name in ("t_us", "dir", "seq", "ack", "len", "dropped")), strict=True)
    return mark_again([LoggedPacket(t / 1e6, d == 0, s, a, n, False, x > 0) for t, d, s, a, n, x in rows])


def our_packets(trace: str) -> list[LoggedPacket]:
    """Return the packets of flow 0 from an event log of the engine."""
    found: list[LoggedPacket] = []
    for line in trace.splitlines():
        if match := SENT.match(line):
            t, way, seq, _, length, ack = match.groups()
            found.append(LoggedPacket(float(t), way == ">", int(seq), int(ack or 0), int(length), False, False))
        elif (match := DROPPED.match(line)) and found:
            mark_dropped(found, int(match[2]))
    return mark_again(found)


def mark_dropped(packets: list[LoggedPacket], seq: int) -> None:
    """Mark the last packet with this sequence number as dropped."""
    for i in range(len(packets) - 1, -1, -1):
        packet = packets[i]
        if packet.data and packet.seq == seq:
            packets[i] = replace(packet, dropped=True)
            return


def mark_again(packets: list[LoggedPacket]) -> list[LoggedPacket]:
    """Return the packets with `again` set where the payload does not go beyond what was sent before."""
    highest, found = 0, []
    for packet in packets:
        again = packet.data and packet.length > 0 and packet.seq + packet.length <= highest
        if packet.data:
            highest = max(highest, packet.seq + packet.length)
        found.append(replace(packet, again=again))
    return found


def retransmitted(packets: list[LoggedPacket]) -> list[int]:
    """Return the numbers of the segments that were retransmitted, from 0, in the order of sending."""
    return [int(packet.number) for packet in packets if packet.again]


def acked_s(packets: Sequence[LoggedPacket], payload: int) -> float | None:
    """Return when the receiver first acknowledged so many bytes of payload."""
    return next((packet.t_s for packet in packets if not packet.data and packet.ack > payload), None)


def pairs(
    kernel: list[LoggedPacket], ours: list[LoggedPacket], data: bool
) -> Iterator[tuple[LoggedPacket | None, LoggedPacket | None]]:
    """Yield the k-th packet of one direction of both sides. Only what carries payload counts as data."""
    theirs, mine = ([p for p in side if p.data == data and (p.length > 0 or not data)] for side in (kernel, ours))
    return zip_longest(theirs, mine)


def divergences(kernel: list[LoggedPacket], ours: list[LoggedPacket]) -> list[str]:
    """Return, for each direction, which packet is the first to have another number, and the first that is off in time."""
    found = []
    for data, what in ((True, "data"), (False, "ACK")):
        number = time = None
        for i, (theirs, mine) in enumerate(pairs(kernel, ours, data)):
            here = f"{what} {i}: kernel {show(theirs)} | ours {show(mine)}"
            if theirs is None or mine is None or theirs.key != mine.key:
                number = f"first other number: {here}"
                break
            if time is None and abs(mine.t_s - theirs.t_s) > TOLERANCE_S:
                time = f"first {1000 * TOLERANCE_S:g} ms apart: {here}"
        found += [text for text in (time, number) if text]
    return found


def side_by_side(kernel: list[LoggedPacket], ours: list[LoggedPacket]) -> Iterator[str]:
    """Yield the two logs in two columns: the k-th packet of a direction beside the other side's k-th, by kernel time."""
    yield f"  {'way':4} {'k':>6}  {'kernel: s, segment, number':<46} {'ours':<46} {'ours - kernel':>14}"
    rows = []
    for data in (True, False):
        for i, (theirs, mine) in enumerate(pairs(kernel, ours, data)):
            at = theirs.t_s if theirs else mine.t_s if mine else 0.0
            rows.append((at, not data, i, theirs, mine))
    for _, ack, i, theirs, mine in sorted(rows, key=lambda row: row[:3]):
        mark, apart = "#", ""
        if theirs is not None and mine is not None:
            late = mine.t_s - theirs.t_s
            apart = f"{1000 * late:+.3f} ms"
            mark = "#" if theirs.key != mine.key else "~" if abs(late) > TOLERANCE_S else " "
        yield f"{mark} {'ack' if ack else 'data':4} {i:>6}  {show(theirs):<46} {show(mine):<46} {apart:>14}".rstrip()


def show(packet: LoggedPacket | None) -> str:
    """Return time, number of the segment (data) or of the next one expected (ACK), and what is special about it."""
    if packet is None:
        return "–"
    special = " ".join(word for word, is_so in (("again", packet.again), ("dropped", packet.dropped)) if is_so)
    value = f"{packet.seq if packet.data else packet.ack}"
    return f"{packet.t_s:10.6f} {packet.number:9.7g} {value:>9} {special}".rstrip()
