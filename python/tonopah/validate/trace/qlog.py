"""The connection in a qlog as the comparison wants it: what was in flight, delivered, sampled and lost, over time.

In flight is what was sent, less what was acknowledged, less what was declared lost; where the log names no packets, its metric. A
log of TCP (`tonopah run --qlog`) is counted in payload, one of QUIC in datagrams.
"""

from collections.abc import Iterator
from pathlib import Path

from tonopah.errors import InputError
from tonopah.qlog.forms import RECORD_SEPARATOR
from tonopah.qlog.trace import SentPacket, Trace, read
from tonopah.validate.trace.connection import Observed, ObservedSender, observed

RECEIVER = "the log was made at the receiver of the data: RTT and window are not the sender's"


def is_qlog(start: bytes) -> bool:
    """Tell whether a file is a qlog by how it begins."""
    return start.lstrip()[:1] in (RECORD_SEPARATOR, b"{")


def observe_qlog(path: Path, number: int, until_s: float, most_bytes: int) -> tuple[Observed, Trace]:
    """Return what trace `number` of a log shows of its sender, and all that it says. Raises InputError."""
    trace = read(path, number, until_s)
    return observe_log(trace, str(path), until_s, most_bytes), trace


def observe_log(trace: Trace, source: str, until_s: float, most_bytes: int) -> Observed:
    """Return what a log shows of its sender. Raises InputError."""
    if not trace.data:
        raise InputError("", "the log has no packet with data", "the log of the end that sends", source)
    if trace.received_bytes > sum(one.payload for one in trace.data):
        trace.notes.append(RECEIVER)
    sender = ObservedSender(trace.title)
    for one in trace.data:
        if sender.payload_bytes > most_bytes:
            break
        sender.segments += 1
        sender.payload_bytes += one.payload
        sender.wire_bytes += one.size + trace.headers
        sender.mss_bytes = max(sender.mss_bytes, one.payload)
    sender.high = sender.payload_bytes
    for t_s, rtt in trace.rtt:
        sender.rtt.append((nanos(t_s), nanos(rtt)))
    for t_s, _, count, _ in trace.lost:
        sender.retransmitted_ns += [nanos(t_s)] * count
    in_flight(trace, sender)
    first = next(iter(trace.sent.values()))
    if first.space == "initial" and trace.first_received_s is not None:
        sender.handshake_ns = max(0, nanos(trace.first_received_s - first.t_s))
    return observed(sender, 0, nanos(trace.end_s), until_s)


def nanos(seconds: float) -> int:
    """Return a time in nanoseconds."""
    return round(seconds * 1e9)


def counted(trace: Trace, packet: SentPacket) -> int:
    """Return what a packet counts for in flight."""
    return packet.size if trace.headers else packet.payload


def steps(trace: Trace) -> Iterator[tuple[float, int, str, SentPacket]]:
    """Yield what happens to packets with data: when, the order at one time, what, which."""
    for packet in trace.data:
        yield packet.t_s, 2, "sent", packet
    for t_s, packets in trace.acks:
        for packet in packets:
            if packet.payload:
                yield t_s, 0, "acked", packet
    for t_s, lost, _, _ in trace.lost:
        if lost is not None and lost.payload:
            yield t_s, 1, "lost", lost


def in_flight(trace: Trace, sender: ObservedSender) -> None:
    """Fill in what was in flight and delivered."""
    metric = trace.metrics.get("bytes_in_flight", [])
    named = trace.has_acks and (not trace.lost or any(packet for _, packet, _, _ in trace.lost))
    now = delivered = 0
    gone: set[tuple[str, int]] = set()
    for t_s, _, what, packet in sorted(steps(trace), key=lambda step: step[:2]):
        key, size = (packet.space, packet.number), counted(trace, packet)
        if what == "sent":
            now += size
        elif key not in gone:
            now -= size
        gone |= {key} if what != "sent" else set()
        if what == "acked":
            delivered += packet.payload
            sender.delivered.append((nanos(t_s), delivered))
        if named:
            sender.flight.append((nanos(t_s), now))
    if not named:
        sender.flight = [(nanos(t_s), round(value)) for t_s, value in metric]
    if not trace.has_acks:
        without_acks(trace, sender)
    sender.outstanding = sender.flight


def without_acks(trace: Trace, sender: ObservedSender) -> None:
    """Fill in what was delivered where ACKs are not logged: sent, less lost, less in flight, at each metric."""
    sent, lost = iter(trace.data), iter(trace.lost)
    one, other, total, most = next(sent, None), next(lost, None), 0, 0
    for t_s, value in trace.metrics.get("bytes_in_flight", []):
        while one is not None and one.t_s <= t_s:
            total, one = total + counted(trace, one), next(sent, None)
        while other is not None and other[0] <= t_s:
            total, other = total - other[3], next(lost, None)
        most = max(most, total - round(value))
        sender.delivered.append((nanos(t_s), most))
