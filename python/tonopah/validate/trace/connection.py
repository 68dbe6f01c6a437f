"""What a capture shows of the sender of one TCP connection: bytes in flight, RTT samples, retransmissions.

All of it is as seen where the capture was made; at the sender it is what the sender knew.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

import numpy as np

from tonopah.errors import InputError
from tonopah.validate.trace.capture import ACK, FIN, LENGTH, SOURCE, SYN, CapturedPacket

WRAP = 1 << 32
TIMESTAMPS = 12
"""Bytes of the option, padded."""
MAX_JUMP = 1 << 30
"""Largest window that TCP can announce (RFC 7323 section 2.3): a number further away belongs to no segment of the connection."""


class Acknowledged:
    """The bytes that were acknowledged, as intervals in order without overlap."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Add an interval."""
        if start == 0 and self.starts == [0]:
            self.ends[0] = max(self.ends[0], end)
            return
        low, high = bisect_left(self.ends, start), bisect_left(self.starts, end + 1)
        if low < high:
            start, end = min(start, self.starts[low]), max(end, self.ends[high - 1])
        self.starts[low:high], self.ends[low:high] = [start], [end]

    @property
    def selective(self) -> int:
        """All but the bytes from 0 on without a gap."""
        if self.starts == [0]:
            return 0
        return self.total - (self.ends[0] if self.starts and self.starts[0] == 0 else 0)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.ends) - sum(self.starts)


@dataclass
class ObservedSender:
    """What is seen of a sender, segment by segment: times in nanoseconds, data counted from 0."""

    name: str
    end: tuple[str, int] = ("", 0)
    """Its address and port; a qlog has none."""
    peer: tuple[str, int] = ("", 0)
    """Those of the other end."""
    segments: int = 0
    payload_bytes: int = 0
    wire_bytes: int = 0
    mss_bytes: int = 0
    retransmitted_ns: list[int] = field(default_factory=list)
    flight: list[tuple[int, int]] = field(default_factory=list)
    """Time and bytes sent and not cumulatively acknowledged (FlightSize of RFC 5681), after each event."""
    outstanding: list[tuple[int, int]] = field(default_factory=list)
    """Time and bytes sent and acknowledged neither cumulatively nor selectively, after each event."""
    sacked: int = 0
    rtt: list[tuple[int, int]] = field(default_factory=list)
    """Time and nanoseconds since the last-sent segment that an ACK covers was sent; none was sent twice (Karn)."""
    delivered: list[tuple[int, int]] = field(default_factory=list)
    """Time and bytes acknowledged, cumulatively or selectively."""
    handshake_ns: int = 0
    """From the SYN to the ACK that completes the handshake: a round trip, wherever it is seen."""
    una: int = 0
    high: int = 0
    # Segments of new data, in order: their ends, times, and whether any part was sent again.
    ends: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    again: list[bool] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """Data below the highest byte that was not seen and not acknowledged yet."""
    missed_bytes: int = 0
    """Acknowledged without having been seen: lost by the capture, not by the network."""
    missed_segments: int = 0
    """About as many: of the largest size."""
    keep_alives: int = 0
    """Probes of a byte that was acknowledged before (RFC 9293 section 3.8.4): no retransmissions."""
    closed: int | None = None
    """Number of its FIN."""

    def from_it(self, packet: CapturedPacket, seq: int) -> None:
        """Note a segment of the sender."""
        if packet.flags & FIN:
            self.closed = seq + packet.length
        if packet.length == 1 and seq + 1 == self.una == self.high:
            self.keep_alives += 1
        elif packet.length:
            self.sent(packet.t_ns, seq, packet.length, packet.size)

    def sent(self, t_ns: int, start: int, length: int, size: int) -> None:
        """Note a segment with data."""
        self.segments += 1
        self.payload_bytes += length
        self.wire_bytes += size
        end, again = start + length, start < self.high
        self.mss_bytes = max(self.mss_bytes, length)
        if again:
            self.retransmitted_ns.append(t_ns)
            for place in range(bisect_right(self.ends, start), min(bisect_left(self.ends, end) + 1, len(self.ends))):
                self.again[place] = True
            self.fill(start, end)
        if end > self.high:
            if start > self.high:
                self.gaps.append((self.high, start))
            self.ends.append(end)
            self.times.append(t_ns)
            self.again.append(again)
            self.high = end
        flight = self.high - self.una
        self.flight.append((t_ns, flight))
        self.outstanding.append((t_ns, flight - self.sacked))

    def fill(self, start: int, end: int) -> None:
        """Note that data below the highest byte is seen now."""
        left = ((piece, low, high) for low, high in self.gaps for piece in ((low, min(high, start)), (max(low, end), high)))
        self.gaps = sorted({piece for piece, low, high in left if low <= piece[0] < piece[1] <= high})

    def miss(self, ack: int, seen: int) -> bool:
        """Note what an ACK covers and the capture did not see, and tell whether there is some behind the last segment `seen`."""
        gaps = [*self.gaps, (self.high, ack)] if ack > self.high else self.gaps
        covered = [(low, min(high, ack)) for low, high in gaps if low < ack]
        self.missed_bytes += sum(high - low for low, high in covered)
        self.gaps = [(max(low, ack), high) for low, high in self.gaps if high > ack]
        return any(low >= seen for low, _ in covered)

    def acknowledged(self, t_ns: int, ack: int, sacked: int = 0) -> None:
        """Note an ACK, and the bytes above it that its SACK blocks cover."""
        if ack > self.una:
            first, last = bisect_right(self.ends, self.una), bisect_right(self.ends, ack)
            # What was sent last may be what the capture did not see.
            unseen = bool(self.gaps or ack > self.high) and self.miss(ack, self.ends[last - 1] if last else 0)
            if first < last and not any(self.again[first:last]) and not unseen:
                self.rtt.append((t_ns, t_ns - self.times[last - 1]))
            self.una, self.high = ack, max(self.high, ack)
            self.flight.append((t_ns, self.high - self.una))
        self.sacked = min(sacked, self.high - self.una)
        self.outstanding.append((t_ns, self.high - self.una - self.sacked))
        before, now = self.delivered[-1][1] if self.delivered else 0, self.una + sacked
        self.delivered.append((t_ns, now if now > before else before))


@dataclass(frozen=True)
class Observed:
    """What was seen of a connection, as numbers and curves; times in seconds since its first packet."""

    name: str
    sender: ObservedSender
    start_ns: int
    duration_s: float
    flight: np.ndarray
    rtt: np.ndarray
    delivered: np.ndarray
    retransmissions_s: np.ndarray

    @property
    def goodput_bps(self) -> float:
        """Bytes acknowledged from the first to the last packet, as a rate."""
        return 8 * float(self.delivered[-1, 1]) / self.duration_s if len(self.delivered) and self.duration_s else 0.0

    def numbers(self) -> dict[str, float | int | None]:
        """Return what the table shows."""
        rtt, flight = self.rtt[:, 1], self.flight[:, 1]
        # Of the sender's packets alone nothing is known to have arrived.
        flight = flight if len(self.delivered) else flight[:0]
        weights = np.diff(self.flight[: len(flight), 0], append=self.duration_s) if len(flight) else flight
        return {
            "duration_s": self.duration_s,
            "goodput_bps": self.goodput_bps,
            "data_segments": self.sender.segments + self.sender.missed_segments,
            "not_captured_segments": self.sender.missed_segments,
            "retransmitted_segments": len(self.retransmissions_s),
            "rtt_samples": len(rtt),
            "rtt_min_s": float(rtt.min()) if len(rtt) else None,
            "rtt_median_s": float(np.median(rtt)) if len(rtt) else None,
            "rtt_p95_s": float(np.quantile(rtt, 0.95)) if len(rtt) else None,
            "in_flight_mean_bytes": float(np.average(flight, weights=weights)) if weights.sum() > 0 else None,
            "in_flight_max_bytes": int(flight.max()) if len(flight) else None,
        }


def observed(sender: ObservedSender, start_ns: int, end_ns: int, until_s: float) -> Observed:
    """Return a sender's curves up to `until_s` after the start."""

    def curve(points: list[tuple[int, int]], unit: float = 1.0) -> np.ndarray:
        whole = np.array(points, dtype=np.int64).reshape(-1, 2)
        found = np.column_stack(((whole[:, 0] - start_ns) / 1e9, whole[:, 1] * unit))
        return found[found[:, 0] <= until_s]

    again = np.array([(t - start_ns) / 1e9 for t in sender.retransmitted_ns])
    duration = min((end_ns - start_ns) / 1e9, until_s)
    curves = curve(sender.flight), curve(sender.rtt, 1e-9), curve(sender.delivered)
    return Observed(sender.name, sender, start_ns, duration, *curves, again[again <= until_s])


def observe(packets: list[CapturedPacket], source: str, until_s: float, most_bytes: int, from_data: bool = False) -> Observed:
    """Return what is seen of the end that sends more data, until a time or a number of bytes. Raises InputError.

    With `from_data` time begins with the first segment that has data, as in a capture that begins in the middle.
    """
    end, peer = ends(packets, source)
    sender = ObservedSender(f"{end[0]}:{end[1]} → {peer[0]}:{peer[1]}", end, peer)
    first = next(packet for packet in packets if packet.source == end)
    start = next(packet.t_ns for packet in packets if packet.length and packet.source == end) if from_data else packets[0].t_ns
    last = start
    # A SYN takes a number before the first byte.
    base = (first.seq + bool(first.flags & SYN)) % WRAP
    sender.handshake_ns, found = handshake(packets), Acknowledged()
    offered = min((packet.mss for packet in packets if packet.mss), default=0)
    until_ns = start + int(until_s * 1e9)
    for packet in packets:
        if packet.t_ns > until_ns or sender.payload_bytes > most_bytes:
            break
        last = packet.t_ns
        if packet.source == end:
            seq = unwrapped((packet.seq + 1 if packet.flags & SYN else packet.seq) - base, sender.high)
            if seq - sender.una + MAX_JUMP >= -1 and seq < sender.high + MAX_JUMP:
                sender.from_it(packet, seq)
        elif packet.flags & ACK:
            acknowledge(sender, found, packet, base)
    if 0 < offered < sender.mss_bytes:
        # Captured before the network card cut it: what it sends fits the option, with timestamps.
        sender.mss_bytes = max(1, offered - TIMESTAMPS)
    sender.missed_segments += -(-sender.missed_bytes // max(sender.mss_bytes, 1))
    return observed(sender, start, max(last, start), until_s)


def ends(packets: list[CapturedPacket], source: str) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return the end that sends more data, and its peer. Raises InputError where none does."""
    data = dict.fromkeys(map(SOURCE, packets), 0)
    for source_of, length in zip(map(SOURCE, packets), map(LENGTH, packets), strict=True):
        if length:
            data[source_of] += length
    end = max(data, key=lambda of: data[of])
    if not data[end]:
        acked = [packet.ack for packet in packets if packet.flags & ACK and not packet.flags & SYN]
        hint = f"its ACKs cover {(acked[-1] - acked[0]) % WRAP:,} bytes: capture both directions" if acked else None
        raise InputError("", "its TCP segments carry no data", hint, source)
    return end, next((packet.target for packet in packets if packet.source == end), end)


def handshake(packets: list[CapturedPacket]) -> int:
    """Return the time in nanoseconds from a SYN to the ACK of the same end that completes the handshake; 0 if it was not seen."""
    first = next((packet for packet in packets if packet.flags & SYN and not packet.flags & ACK), None)
    if first is None:
        return 0
    done = (packet for packet in packets if packet.source == first.source and packet.flags & (SYN | ACK) == ACK)
    return next((packet.t_ns - first.t_ns for packet in done), 0)


def acknowledge(sender: ObservedSender, found: Acknowledged, packet: CapturedPacket, base: int) -> None:
    """Note an ACK of the peer. The number of a FIN is not data; what lies beyond what was sent is no ACK of it."""
    ack = unwrapped(packet.ack - base, sender.una)
    if not 0 <= ack <= sender.high + MAX_JUMP:
        return
    if ack == (sender.high if sender.closed is None else sender.closed) + 1:
        ack -= 1
    if ack:
        found.add(0, ack)
    for left, right in packet.sack:
        low, high = (unwrapped(edge - base, sender.una) for edge in (left, right))
        if 0 <= low < high <= sender.high + MAX_JUMP:
            found.add(low, high)
    sender.acknowledged(packet.t_ns, ack, found.selective)


def unwrapped(difference: int, near: int) -> int:
    """Return a difference of sequence numbers, modulo 2^32, as the number nearest to another."""
    low = difference % WRAP
    return low + (near - low + WRAP // 2) // WRAP * WRAP
