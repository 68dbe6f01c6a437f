"""What a capture shows besides its numbers, and a person has to know: copies, marks, where it was taken, what held the sender."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from tonopah.validate.trace.capture import ACK, AE, CWR, ECE, SYN, CapturedPacket
from tonopah.validate.trace.connection import Observed, ObservedSender

COPY_NS = 2_000_000
"""A packet without identification that comes again within this, and within half a round trip, was captured twice: a sender
knows of a loss after a round trip at the earliest."""
COPY_WITH_IDENT_NS = 10**9
"""The same identification is that of the same packet (RFC 6864 section 3), if it is not 0."""
ALIKE = itemgetter(*(CapturedPacket._fields.index(name) for name in CapturedPacket._fields if name not in {"t_ns", "ecn"}))
"""All of a packet but the time and the ECN field, which a router on the way may have set."""
AT_AN_END = 0.1
"""Part of the round trip that may lie between the capture and the end at which it was taken."""
HELD = 0.5
"""Share of the data that was sent when the receiver's window was full: then that window is what held the sender."""


@dataclass(frozen=True)
class Marks:
    """What a capture shows of ECN (RFC 3168, RFC 9768)."""

    mode: str
    """`off`, `classic` or `accecn`, as the SYNs agreed."""
    marked: int
    """Data segments with CE."""
    echoed: int
    """ACKs with ECE; with AccECN the marks that their counter tells."""


def without_copies(packets: list[CapturedPacket]) -> tuple[list[CapturedPacket], int]:
    """Return the packets without those captured twice, and how many those are."""
    telling = [packet for packet in packets if packet.ident or packet.length or packet.flags & SYN]
    if len(set(map(ALIKE, telling))) == len(telling):
        return packets, 0
    limit = min(COPY_NS, round_trip_ns(packets) // 2) or COPY_NS // 2
    found, gaps = copies(packets, limit, "data")
    data = sum(1 for packet in packets if packet.length)
    if gaps and 2 * sum(1 for place in found if packets[place].length) >= 0.9 * data > 0:
        # All is captured twice, so that equal ACKs are no duplicate ACKs if they are as close.
        found |= copies(packets, max(1, min(limit, 4 * int(np.median(gaps)))), "acks")[0]
    return [packet for place, packet in enumerate(packets) if place not in found], len(found)


def copies(packets: list[CapturedPacket], limit_ns: int, of: Literal["data", "acks"]) -> tuple[set[int], list[int]]:
    """Return the places of packets that are equal to one shortly before, and how long before."""
    seen: dict[tuple[Any, ...], int] = {}
    found: set[int] = set()
    gaps: list[int] = []
    for place, packet in enumerate(packets):
        if not packet.ident and (of == "acks") == bool(packet.length or packet.flags & SYN):
            continue
        key = ALIKE(packet)
        gap = packet.t_ns - seen.get(key, -(1 << 62))
        if gap <= (COPY_WITH_IDENT_NS if packet.ident else limit_ns):
            found.add(place)
            gaps.append(gap)
        else:
            seen[key] = packet.t_ns
    return found, gaps


def round_trip_ns(packets: list[CapturedPacket]) -> int:
    """Return about how long data takes to be acknowledged, by the end for which it is longer; 0 if that is not seen."""
    sent: dict[tuple[tuple[str, int], int], int] = {}
    least: dict[tuple[str, int], int] = {}
    for packet in packets:
        number = (packet.seq + packet.length + bool(packet.flags & SYN)) & 0xFFFFFFFF
        if packet.length or packet.flags & SYN:
            sent.setdefault((packet.source, number), packet.t_ns)
        if packet.flags & ACK and (at := sent.get((packet.target, packet.ack))) is not None:
            least[packet.target] = min(least.get(packet.target, 1 << 62), packet.t_ns - at)
    return max(least.values(), default=0)


def loops(packets: list[CapturedPacket], sender: ObservedSender) -> tuple[int, int] | None:
    """Return the round trips from the capture to the sender and to the receiver, in ns: of the handshake, or of timestamps."""
    syn = next((packet for packet in packets if packet.flags & (SYN | ACK) == SYN), None)
    answer = next((packet for packet in packets if packet.flags & (SYN | ACK) == SYN | ACK), None)
    if syn and answer:
        begun = (packet.t_ns for packet in packets if packet.flags & (SYN | ACK) == SYN and packet.t_ns <= answer.t_ns)
        last = max(begun, default=answer.t_ns)
        third = (p.t_ns for p in packets if p.source == answer.target and p.flags & (SYN | ACK) == ACK and p.t_ns >= answer.t_ns)
        if (done := next(third, None)) is not None:
            to_server, to_client = answer.t_ns - last, done - answer.t_ns
            return (to_client, to_server) if syn.source == sender.end else (to_server, to_client)
    first: dict[tuple[tuple[str, int], int], int] = {}
    least: dict[tuple[str, int], int] = {}
    for packet in packets:
        if packet.stamp:
            first.setdefault((packet.source, packet.stamp[0]), packet.t_ns)
            at = first.pop((packet.target, packet.stamp[1]), None)
            if at is not None:
                least[packet.target] = min(least.get(packet.target, 1 << 62), packet.t_ns - at)
    # How long its own packets take to come back is the loop to the other end.
    return (least[sender.peer], least[sender.end]) if len(least) == 2 else None


def taken_at(packets: list[CapturedPacket], sender: ObservedSender) -> tuple[str | None, str]:
    """Return where the capture was taken (`sender`, `receiver`, `middle`), and why that is thought."""
    found = loops(packets, sender)
    if found is None or not sum(found):
        return None, "where it was taken cannot be told: it has neither a whole handshake nor timestamps of both ends"
    near, far = found
    share = near / (near + far)
    place = "sender" if share < AT_AN_END else "receiver" if share > 1 - AT_AN_END else "middle"
    where = {"sender": "at the sender of the data", "receiver": "at the receiver of the data", "middle": "between the ends"}[
        place
    ]
    return place, f"taken {where}: {near / 1e6:.3g} ms to the sender and back, {far / 1e6:.3g} ms to the receiver and back"


def marks(packets: list[CapturedPacket], sender: ObservedSender) -> Marks:
    """Return what a capture shows of ECN."""
    end = sender.end
    syn = next((packet.flags for packet in packets if packet.flags & (SYN | ACK) == SYN), 0)
    answer = next((packet.flags for packet in packets if packet.flags & (SYN | ACK) == SYN | ACK), 0)
    asked, agreed = syn & (AE | CWR | ECE), answer & (AE | CWR | ECE)
    accurate = asked == AE | CWR | ECE and agreed not in (0, ECE, AE | CWR | ECE)
    marked = sum(1 for packet in packets if packet.ecn == 3 and packet.length and packet.source == end)
    acks = [packet for packet in packets if packet.source != end and packet.flags & (SYN | ACK) == ACK]
    if not accurate:
        echoed = sum(1 for packet in acks if packet.flags & ECE)
        return Marks("classic" if agreed or echoed or marked else "off", marked, echoed)
    # The first ACK of a client encodes the handshake; afterwards the three bits count from 5 on (RFC 9768 section 3.2.1).
    by_client = next(packet.source for packet in packets if packet.flags & (SYN | ACK) == SYN) != end
    steps = np.diff([5, *(ace(packet) for packet in acks[by_client:])]) % 8
    return Marks("accecn", marked, int(steps[steps < 6].sum()))


def ace(packet: CapturedPacket) -> int:
    """Return the counter of marks in the flags of an ACK."""
    return bool(packet.flags & AE) << 2 | bool(packet.flags & CWR) << 1 | bool(packet.flags & ECE)


def held_by_window(packets: list[CapturedPacket], sender: ObservedSender) -> tuple[float, int] | None:
    """Return the share of the data that was sent while the receiver's window was full, and that window; None if unknown."""
    end = sender.end
    scales = {packet.source: packet.scale for packet in packets if packet.flags & SYN}
    if len(scales) < 2:
        return None
    shift = (scales[sender.peer] or 0) if None not in scales.values() else 0
    window = full = data = most = ack = 0
    mss = max(packet.length for packet in packets if packet.source == end)
    for packet in packets:
        if packet.source != end:
            window, ack = packet.window << (0 if packet.flags & SYN else shift), packet.ack
            most = max(most, window)
        elif packet.length and window:
            data += 1
            full += window - ((packet.seq + packet.length - ack) & 0xFFFFFFFF) < mss
    return (full / data, most) if data else None


def notes_of(seen: Observed, packets: list[CapturedPacket]) -> Iterator[str]:
    """Yield what else a capture shows, each with its numbers."""
    sender = seen.sender
    if sender.missed_bytes:
        yield (
            f"{sender.missed_bytes:,} bytes, about {sender.missed_segments:,} segments, were acknowledged and are not in the "
            f"capture: it lost them, not the network; they are counted as data segments"
        )
    if not any(packet.flags & SYN for packet in packets):
        yield "it begins in the middle of the connection: window and slow start of the simulation are not those of its beginning"
    if sender.keep_alives:
        yield f"{sender.keep_alives:,} keep-alive probes are no retransmissions and are left out"
    if not any(packet.source == sender.peer for packet in packets):
        yield "only packets of the sender were captured: RTT and bytes in flight cannot be seen"
    offered = min((packet.mss for packet in packets if packet.mss), default=9000)
    if large := sum(1 for packet in packets if packet.length > offered and packet.source == sender.end):
        yield (
            f"{large:,} of {sender.segments:,} data segments are larger than the largest that may be sent ({offered:,} B): they "
            f"were captured before the network card cut them, or after it joined them, and are counted as captured"
        )
    idle = pauses(seen)
    if seen.duration_s and idle > 0.1 * seen.duration_s:
        yield (
            f"for {idle:.3g} of {seen.duration_s:.3g} s nothing was in flight: the application paused, and the simulated one "
            f"does not"
        )
    if sender.segments < 20:
        yield f"data segments are few to estimate a link from: {sender.segments:,}"


def pauses(seen: Observed) -> float:
    """Return the seconds without anything in flight, beyond a round trip for each pause, after the first data."""
    times, flight = seen.flight[:, 0], seen.flight[:, 1]
    if not len(times):
        return 0.0
    spans = np.diff(times, append=seen.duration_s)
    least = float(seen.rtt[:, 1].min()) if len(seen.rtt) else 0.0
    return float(np.maximum(spans[flight == 0] - least, 0).sum())
