"""Reads the connection in a qlog as `tonopah run --qlog` writes it: JSON text sequences with packets and their acknowledgments.

qlog speaks of numbered packets. The bytes that each carried give back the cumulative ACK: the first byte that no acknowledged
packet had.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tonopah.errors import InputError
from tonopah.validate.trace.connection import Acknowledged, Observed, ObservedSender, observed

RECORD_SEPARATOR = b"\x1e"
SENT = ("transport:packet_sent", "quic:packet_sent")
RECEIVED = ("transport:packet_received", "quic:packet_received")
"""By the names of qlog 0.3, and of the draft for QUIC."""
MAX_RANGE = 1_000_000
"""Packets that one frame acknowledges."""


def observe_qlog(data: bytes, source: str, until_s: float, most_bytes: int) -> Observed:
    """Return what the log shows of its sender, up to a time or a number of bytes. Raises InputError, with the byte."""
    sender, found = ObservedSender("the sender of the log"), Acknowledged()
    packets: dict[int, tuple[int, int]] = {}
    start, last = None, 0
    for at, event in records(data, source):
        if "trace" in event and isinstance(event.get("title"), str):
            sender.name = event["title"]
        if event.get("name") not in (*SENT, *RECEIVED):
            continue
        try:
            t_ns = round(event["time"] * 1e6)
            start = t_ns if start is None else start
            if t_ns - start > until_s * 1e9 or sender.payload_bytes > most_bytes:
                break
            last = t_ns
            note(sender, found, packets, t_ns, event)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            text = f"at byte {at:,}: an event {event['name']} that cannot be read: {type(error).__name__} {error}"
            raise InputError("", text, None, source) from None
    if not sender.segments:
        raise InputError("", "the log has no packet with data", "a file of tonopah run --qlog", source)
    return observed(sender, start or 0, last, until_s)


def note(
    sender: ObservedSender, found: Acknowledged, packets: dict[int, tuple[int, int]], t_ns: int, event: Mapping[str, Any]
) -> None:
    """Note a packet that was sent, or what one that was received acknowledges."""
    for frame in event["data"]["frames"]:
        if event["name"] in SENT and frame["frame_type"] == "stream":
            offset, length = int(frame["offset"]), int(frame["raw"]["payload_length"])
            if offset < 0 or not 0 < length <= 1 << 24:
                raise ValueError(f"offset {offset}, length {length}")
            packets[int(event["data"]["header"]["packet_number"])] = offset, length
            sender.sent(t_ns, offset, length, int(event["data"]["raw"]["length"]))
        elif event["name"] in RECEIVED and frame["frame_type"] == "ack":
            for first, *more in frame["acked_ranges"]:
                until = more[0] if more else first
                if until - first > MAX_RANGE:
                    raise ValueError(f"a range of {until - first:,} packets")
                for number in range(first, until + 1):
                    offset, length = packets.get(number, (0, 0))
                    if length:
                        found.add(offset, offset + length)
            sender.acknowledged(t_ns, found.cumulative, found.total - found.cumulative)


def records(data: bytes, source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of a JSON text sequence (RFC 7464), each with the byte at which it begins."""
    at = 0
    for text in data.split(RECORD_SEPARATOR):
        if text.strip():
            try:
                event = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise InputError("", f"at byte {at:,}: no JSON: {str(error)[:100]}", None, source) from None
            if not isinstance(event, dict):
                raise InputError("", f"at byte {at:,}: a record that is no object", None, source)
            yield at, event
        at += len(text) + 1
