"""What is read of a sender, wherever it was seen: bytes outstanding, bytes delivered, RTT samples and retransmissions over time.

At the receiver the sender's window is read by timestamps (RFC 7323, section 4.1): a data segment echoes the TSval of the last ACK
that its sender had when it sent it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tonopah.errors import InputError
from tonopah.validate.trace.capture import ACK, SYN, CapturedPacket
from tonopah.validate.trace.comparison import NO_MARKS, file_notes, read_connection
from tonopah.validate.trace.connection import WRAP, Acknowledged, Observed, ends, unwrapped
from tonopah.validate.trace.diagnosis import Marks, marks, taken_at

Curve = NDArray[np.float64]
HEADERS = 52
"""Bytes of IP and TCP with timestamps."""
SINGLE = 0.5
"""Share of ACKs for one segment that parts a receiver which acknowledges each (1) from one that delays (0)."""
RECOVERY_RTTS = 2
"""So long after a retransmission nothing is said of the receiver: it acknowledges all that arrives out of order at once."""
MOST_EVERY = 64
QUICK_ENDS = range(16, 64)
"""Where the first delayed ACK of a Linux host that nobody has tuned is: after its 16 quick ACKs and before its window, which
auto-tuning opens once in a round trip, has opened often."""


@dataclass(frozen=True)
class Acking:
    """How the receiver acknowledges: each segment up to so many bytes, then every n-th.

    Linux does so while its window opens (`tcp_grow_window` asks for quick ACKs). Algorithms that count ACKs grow faster then.
    """

    singly_bytes: float = np.inf
    every: int = 2
    is_stock: bool = False
    """Whether it is a Linux host that nobody has tuned: it delays ACKs between its quick ACKs and the first opening of its
    window, so that HyStart sees no train of them there."""


@dataclass(frozen=True)
class Sending:
    """A sender over time; time 0 is its first data. Curves have rows of time in seconds and value."""

    outstanding: Curve
    """Bytes sent and acknowledged neither cumulatively nor selectively."""
    delivered: Curve
    """Bytes acknowledged, cumulatively or selectively; at the receiver those that arrived."""
    rtt: Curve
    """Samples in seconds, by Karn's rule."""
    retransmissions_s: NDArray[np.float64]
    mss_bytes: int
    seconds: float
    acking: Acking | None = None
    """Unknown of samples: two ACKs between them look like one."""

    def until(self, seconds: float) -> "Sending":
        """Return its beginning."""
        outstanding, delivered, rtt = (one[one[:, 0] <= seconds] for one in (self.outstanding, self.delivered, self.rtt))
        again = self.retransmissions_s[self.retransmissions_s <= seconds]
        return replace(
            self,
            outstanding=outstanding,
            delivered=delivered,
            rtt=rtt,
            retransmissions_s=again,
            seconds=min(self.seconds, seconds),
        )

    def below(self, most_bytes: float) -> "Sending":
        """Return it with no more outstanding than so much."""
        return replace(self, outstanding=np.minimum(self.outstanding, [np.inf, most_bytes]))

    def at(self, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the bytes outstanding at some times."""
        place = np.searchsorted(self.outstanding[:, 0], times_s, side="right") - 1
        return np.where(place >= 0, self.outstanding[np.maximum(place, 0), 1], 0.0)


@dataclass(frozen=True)
class Seen:
    """A connection of a file."""

    sending: Sending
    name: str
    connections: int
    captured_at: str
    """sender, receiver or between."""
    notes: tuple[str, ...] = ()
    handshake_s: float | None = None
    marks: Marks = NO_MARKS
    sampled: bool = False
    """Read at times of its own, with smoothed RTTs, and not from packets."""

    @property
    def marked(self) -> bool:
        """Tell whether the network marked, or the receiver said that it did."""
        return self.marks.mode != "off" and bool(self.marks.marked or self.marks.echoed)


def curve(times_s: ArrayLike, values: ArrayLike) -> Curve:
    """Return a curve of two lists."""
    return np.column_stack([np.asarray(times_s, float), np.asarray(values, float)]).reshape(-1, 2)


def acking_of(acked: Curve, sending: Sending) -> Acking:
    """Return how the receiver acknowledges, from bytes acknowledged over time, a row for each ACK.

    The change to delayed ACKs is where the sum of what differs from the threshold is largest (Page 1954).
    """
    steps = np.round(np.diff(acked[:, 1], prepend=0.0) / sending.mss_bytes).astype(int)
    again, rtt = np.sort(sending.retransmissions_s), float(np.max(sending.rtt[:, 1], initial=0.0))
    since = np.full(len(acked), np.inf)
    before = np.searchsorted(again, acked[:, 0], side="right") - 1
    since[before >= 0] = acked[before >= 0, 0] - again[before[before >= 0]]
    plain = (steps > 0) & (since > RECOVERY_RTTS * rtt)
    steps, known = steps[plain], acked[plain, 1]
    total = np.cumsum((steps == 1) - SINGLE)
    delayed = np.flatnonzero(steps == 2)
    is_stock = len(delayed) > 0 and int(delayed[0]) in QUICK_ENDS
    if not len(steps) or total.argmax() == len(steps) - 1:
        return Acking(is_stock=is_stock)
    place = int(total.argmax()) + 1 if total.max() > 0 else 0
    every = int(np.clip(np.median(steps[place:]), 2, MOST_EVERY))
    return Acking(float(known[place - 1]) if place else 0.0, every, is_stock)


def read(path: Path, number: int, seconds: float) -> Seen:
    """Return connection `number` of a capture or a qlog. Raises InputError."""
    one, source = read_connection(path, number, seconds), str(path)
    if not one.capture:
        return Seen(of_observed(one.seen), one.seen.name, 1, "sender")
    if not one.seen.sender.segments:
        raise InputError("", f"connection {number} has no data", None, source)
    (place, why), marked = taken_at(one.packets, one.seen.sender), marks(one.packets, one.seen.sender)
    about = tuple(file_notes(one.capture, number, one.seen, one.copies))
    if place == "receiver":
        return Seen(at_receiver(one.packets, source), one.seen.name, one.connections, place, about, marks=marked)
    between = place not in (None, "sender")
    notes = (*about, f"{why}: the curves are those that a sender there would have") if between else about
    handshake_s = one.seen.sender.handshake_ns / 1e9 or None
    side = "between" if between else "sender"
    return Seen(of_observed(one.seen), one.seen.name, one.connections, side, notes, handshake_s, marked)


def of_observed(seen: Observed) -> Sending:
    """Return what was seen at the sender."""
    sender = seen.sender
    first_ns = next((t_ns for t_ns, size in sender.outstanding if size > 0), seen.start_ns)

    again = (np.array(sender.retransmitted_ns, dtype=float) - first_ns) / 1e9
    outstanding, delivered = points(sender.outstanding, first_ns), points(sender.delivered, first_ns)
    rtt = points(sender.rtt, first_ns, 1e-9)
    found = Sending(outstanding, delivered, rtt, again, sender.mss_bytes, float(outstanding[-1, 0]))
    return replace(found, acking=acking_of(delivered, found))


def at_receiver(found: Sequence[CapturedPacket], source: str) -> Sending:
    """Return the sender as a capture at its receiver shows it. Raises InputError without timestamps."""
    end, _ = ends(list(found), source)
    first = next(packet for packet in found if packet.source == end)
    base, arrived = (first.seq + bool(first.flags & SYN)) % WRAP, Acknowledged()
    acks = Acks()
    high, mss, rows, delivered, rtt, again = 0, 0, [], [], [], []
    for packet in found:
        if packet.source != end:
            if packet.flags & ACK:
                acks.add(packet, base)
        elif packet.length:
            if packet.stamp is None:
                text = "captured at the receiver, without timestamps: the window cannot be seen from there"
                raise InputError("", text, "capture at the sender, or enable net.ipv4.tcp_timestamps", source)
            seq = unwrapped(packet.seq + bool(packet.flags & SYN) - base, high)
            mss = max(mss, packet.length)
            known, acked_ns, exact = acks.before(packet.stamp[1])
            # It was sent when the ACK that it echoes had come, a constant time after that left.
            sent_ns = acked_ns if acked_ns is not None else packet.t_ns
            if seq < high:
                again.append(sent_ns)
            high = max(high, seq + packet.length)
            arrived.add(max(seq, 0), seq + packet.length)
            rows.append((sent_ns, max(0, high - known)))
            delivered.append((packet.t_ns, arrived.total))
            if exact:
                rtt.append((packet.t_ns, packet.t_ns - sent_ns))
    if not rows:
        raise InputError("", "its TCP segments carry no data", None, source)
    start, arrival = rows[0][0], delivered[0][0]
    rows.sort(key=lambda row: row[0])
    sent = Sending(
        points(rows, start), points(delivered, arrival), points(rtt, arrival, 1e-9), (np.array(again, float) - start) / 1e9, mss,
        (rows[-1][0] - start) / 1e9,
    )  # fmt: skip
    return replace(sent, acking=acking_of(points(acks.acked, start), sent))


def points(rows: Sequence[tuple[int, float]], start_ns: int, unit: float = 1.0) -> Curve:
    """Return a curve of times in nanoseconds and values."""
    found = np.array(rows, dtype=float).reshape(-1, 2)
    return curve((found[:, 0] - start_ns) / 1e9, found[:, 1] * unit)


class Acks:
    """What a receiver had acknowledged, by the TSval of its ACKs."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self.known: list[int] = []
        """Bytes acknowledged, cumulatively or selectively, by the last ACK with each of the values."""
        self.times: list[int] = []
        """When the first ACK with each of them was sent."""
        self.found = Acknowledged()
        self.una = 0
        self.acked: list[tuple[int, int]] = []
        """Time of each ACK, and bytes acknowledged with it."""

    def add(self, packet: CapturedPacket, base: int) -> None:
        """Note an ACK."""
        if packet.stamp is None:
            return
        ack = unwrapped(packet.ack - base, self.una)
        if 0 < ack < self.una + WRAP // 4:
            self.una = max(self.una, ack)
            self.found.add(0, ack)
        for left, right in packet.sack:
            low, high = (unwrapped(edge - base, self.una) for edge in (left, right))
            if 0 <= low < high < self.una + WRAP // 4:
                self.found.add(low, high)
        self.acked.append((packet.t_ns, self.found.total))
        value = packet.stamp[0]
        if self.values and value <= self.values[-1]:
            self.known[-1] = self.found.total
        else:
            self.values.append(value)
            self.known.append(self.found.total)
            self.times.append(packet.t_ns)

    def before(self, echo: int) -> tuple[int, int | None, bool]:
        """Return what a sender that echoes a value knew to have arrived, when that ACK left, and whether it has the value."""
        place = bisect_right(self.values, echo) - 1
        if place < 0:
            return 0, None, False
        return self.known[place], self.times[place], self.values[place] == echo
