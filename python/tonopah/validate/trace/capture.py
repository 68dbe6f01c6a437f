"""Reads the TCP connections of a capture, in two passes: which there are, and the packets of one of them.

The first pass keeps some numbers of each connection, the second the packets of one up to a time, an amount of data and
`MAX_PACKETS`: a file of any size is read in less than 1 GB of memory. What the bytes say is found by crates/captures: of the
kept libraries scapy has a licence that the package cannot have, dpkt makes an object of each packet (20 us, where 100 MB/s of
headers leave 1 us), and pcap-parser and etherparse know neither what is cut short nor half of the layers that captures have.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from tonopah._core import CaptureReader
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.validate.trace.opening import Progress, parts

MAX_PACKETS = 1_000_000
"""Packets of the connection that is looked at."""
MAX_CONNECTIONS = 500_000
"""Of a file; crates/captures looks at no more."""
LATE_NS = 10**9
"""How much later than its time a packet may stand in a file."""
FIN, SYN, RST, ACK, ECE, CWR, AE = 1, 2, 4, 16, 64, 128, 256


class CapturedPacket(NamedTuple):
    """A TCP segment as it was captured; sequence numbers as in the header."""

    t_ns: int
    source: tuple[str, int]
    target: tuple[str, int]
    seq: int
    ack: int
    flags: int
    length: int
    """Payload in bytes, whether captured or not."""
    size: int
    """Of the IP packet in bytes."""
    mss: int = 0
    """Option of a SYN; 0 without it."""
    sack: tuple[tuple[int, int], ...] = ()
    window: int = 0
    """As in the header."""
    ident: int = 0
    """Identification of the IP packet, 0 if it has none."""
    ecn: int = 0
    """Field of the IP header (RFC 3168): 3 is a mark."""
    scale: int | None = None
    """Window scale of a SYN."""
    stamp: tuple[int, int] | None = None
    """Timestamp and its echo."""


packet_of: Callable[[tuple[object, ...]], CapturedPacket] = partial(tuple.__new__, CapturedPacket)
"""Makes a packet of its fields as the engine returns them; `_make`, which counts them, takes four times as long."""
TIME, SOURCE, LENGTH = map(itemgetter, map(CapturedPacket._fields.index, ("t_ns", "source", "length")))
"""Fields of packets, for what goes through all of them."""


class Connection(NamedTuple):
    """What the first pass notes of a connection."""

    turn: int
    """Which connection of these addresses and ports it is, from 0."""
    turns: int
    """How many they had."""
    data_bytes: int
    segments: int
    """With data."""
    first_ns: int
    last_ns: int


@dataclass(frozen=True)
class Capture:
    """The connections of a capture, that with the most data first, and what was noted while it was read."""

    path: Path
    connections: list[tuple[int, Connection]]
    """Each with its number."""
    cut: str
    """Where the file ends too early."""
    skipped: list[tuple[str, int]]
    """Frames that give no TCP segment, by the reason; that of the most first."""
    left_out: int


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep Python from looking for cycles: packets that stay have none, and looking through them takes a fifth of all time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def survey(path: Path) -> Capture:
    """Look which connections a capture has. Raises InputError."""
    reader, cuts = CaptureReader(), list[str]()
    for _ in read(path, reader, "connections", cuts.append):
        pass
    try:
        cuts.extend(filter(None, [reader.end()]))
    except ScenarioError as error:
        raise relay(error, str(path)) from None
    found = sorted(enumerate(map(Connection._make, reader.connections())), key=lambda one: -one[1].data_bytes)
    skipped = sorted(reader.skipped(), key=lambda one: -one[1])
    if not found:
        why = "; ".join(f"{count:,} frames {text}" for text, count in skipped[:5])
        raise InputError("", "no TCP segment was captured in it with its headers" + (f": {why}" if why else ""), None, str(path))
    return Capture(path, found, cuts[0] if cuts else "", skipped, reader.left_out())


def packets(capture: Capture, place: int, until_ns: int, most_bytes: int) -> list[CapturedPacket]:
    """Return the packets of a connection in the order of time, up to a time since its first or to an amount of data."""
    number, connection = capture.connections[place]
    reader, data = CaptureReader((number, connection.first_ns + until_ns)), 0
    found: list[CapturedPacket] = []
    for some in read(capture.path, reader, "packets", lambda _: None):
        if reader.least_ns() > connection.last_ns + LATE_NS:
            break
        found.extend(some)
        data += sum(map(LENGTH, some))
        if data > most_bytes or len(found) >= MAX_PACKETS:
            break
    return sorted(found[:MAX_PACKETS], key=TIME)


def read(path: Path, reader: CaptureReader, what: str, on_cut: Callable[[str], None]) -> Iterator[list[CapturedPacket]]:
    """Yield the packets that a reader keeps of each part of a capture. Raises InputError."""
    progress = Progress(what)
    try:
        for part in parts(path, on_cut):
            progress.add(len(part))
            yield list(map(packet_of, reader.feed(part)))
    except ScenarioError as error:
        raise relay(error, str(path)) from None
    progress.end()
