"""Reads the TCP connections of a capture, in two passes: which there are, and the packets of one of them.

The first pass keeps some numbers of each connection, the second the packets of one up to a time, an amount of data and
`MAX_PACKETS`: a file of any size is read in less than 1 GB of memory.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tonopah.errors import InputError
from tonopah.validate.trace.frames import Frames, Reading, read_frames
from tonopah.validate.trace.layers import ACK_NUMBER, ECN, FLAGS, IDENT, LENGTH, SEQ, SIZE, WINDOW, Segments, segments
from tonopah.validate.trace.opening import Progress, parts

MAX_PACKETS = 1_000_000
"""Packets of the connection that is looked at."""
MAX_CONNECTIONS = 500_000
LATE_NS = 10**9
"""How much later than its time a packet may stand in a file."""
FIN, SYN, RST, ACK, ECE, CWR, AE = 1, 2, 4, 16, 64, 128, 256
HASH = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""Odd numbers that spread the bits of addresses and ports."""


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


@dataclass
class Connection:
    """What the first pass notes of a connection."""

    turn: int
    """Which connection of these addresses and ports it is, from 0."""
    data_bytes: int = 0
    segments: int = 0
    """With data."""
    first_ns: int = 0
    last_ns: int = 0


class Numbering:
    """Gives each segment its connection. A SYN with another initial number begins a new one on the same addresses and ports."""

    def __init__(self) -> None:
        self.found: list[Connection] = []
        self.current: dict[int, int] = {}
        self.initial: dict[int, dict[bytes, int]] = {}
        """Numbers of the SYNs of a connection's ends."""
        self.turns: dict[int, int] = {}
        self.keys: list[int] = []
        self.left_out = 0

    def numbers(self, some: Segments) -> np.ndarray:
        """Return the number of the connection of each segment; -1 for those of too many."""
        keys = hashed(some)
        order = np.argsort(keys, kind="stable")
        begin = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
        length, syn = some.fields[:, LENGTH], some.fields[:, FLAGS] & SYN != 0
        result = np.full(len(keys), -1)
        sums = [np.add.reduceat(values[order], begin) for values in (length, length > 0, syn)] if len(begin) else [[], [], []]
        for place, after, data, with_data, syns in zip(begin, [*begin[1:], len(order)], *sums, strict=True):
            rows, key = order[place:after], int(keys[order[place]])
            if syns:
                for part in self.divided(key, rows, syn, some):
                    result[part] = self.note(key, part, int(length[part].sum()), int((length[part] > 0).sum()), some)
            else:
                result[rows] = self.note(key, rows, int(data), int(with_data), some)
        return result

    def divided(self, key: int, rows: np.ndarray, syn: np.ndarray, some: Segments) -> Iterator[np.ndarray]:
        """Yield the rows of each connection of the same addresses and ports in turn."""
        last = 0
        for place in np.flatnonzero(syn[rows]):
            row = rows[place]
            end, seq = some.source[row].tobytes(), int(some.fields[row, SEQ])
            known = self.initial.setdefault(key, {}).get(end)
            # An answer belongs to the SYN before it; where none was seen it begins something only if another answer came before.
            if known != seq and (known is not None or not some.fields[row, FLAGS] & ACK):
                if place > last:
                    yield rows[last:place]
                last = place
                self.current.pop(key, None)
                self.initial[key] = {}
            self.initial[key][end] = seq
        yield rows[last:]

    def note(self, key: int, rows: np.ndarray, data: int, with_data: int, some: Segments) -> int:
        """Count segments of a connection and return its number."""
        number = self.current.get(key)
        times = some.t_ns[rows]
        if number is None:
            if len(self.found) >= MAX_CONNECTIONS:
                self.left_out += len(rows)
                return -1
            number = self.current[key] = len(self.found)
            turn = self.turns.get(key, 0)
            self.turns[key] = turn + 1
            self.keys.append(key)
            self.found.append(Connection(turn, first_ns=int(times[0]), last_ns=int(times[0])))
        one = self.found[number]
        one.data_bytes += data
        one.segments += with_data
        one.first_ns, one.last_ns = min(one.first_ns, int(times.min())), max(one.last_ns, int(times.max()))
        return number


def hashed(some: Segments) -> np.ndarray:
    """Return a number of each segment's addresses and ports that is the same in both directions."""

    def mixed(end: np.ndarray) -> np.ndarray:
        wide = np.zeros((len(end), 24), dtype=np.uint8)
        wide[:, : end.shape[1]] = end
        words = wide.view(np.uint64)
        value = words[:, 0] * HASH[0] ^ (words[:, 1] + HASH[1]) * HASH[2] ^ (words[:, 2] + HASH[0]) * HASH[1]
        return (value ^ value >> np.uint64(29)) * HASH[1]

    one, other = mixed(some.source), mixed(some.target)
    return (one + other) ^ (one * other)


@dataclass(frozen=True)
class Capture:
    """The connections of a capture, that with the most data first, and what was noted while it was read."""

    path: Path
    reading: Reading
    connections: list[tuple[int, Connection]]
    """Each with its number."""
    turns: list[int]
    """Connections that had the addresses and ports of each."""
    left_out: int


def survey(path: Path) -> Capture:
    """Look which connections a capture has. Raises InputError."""
    reading, numbering = Reading(str(path)), Numbering()
    for some in all_segments(path, reading, "connections"):
        numbering.numbers(some)
    found = sorted(enumerate(numbering.found), key=lambda one: -one[1].data_bytes)
    turns = [numbering.turns[numbering.keys[number]] for number, _ in found]
    if not found:
        why = "; ".join(f"{count:,} frames {text}" for text, count in reading.skipped.most_common(5))
        raise InputError("", "no TCP segment was captured in it with its headers" + (f": {why}" if why else ""), None, str(path))
    return Capture(path, reading, found, turns, numbering.left_out)


def packets(capture: Capture, place: int, until_ns: int, most_bytes: int) -> list[CapturedPacket]:
    """Return the packets of a connection in the order of time, up to a time since its first or to an amount of data."""
    number, connection = capture.connections[place]
    until, data, numbering = connection.first_ns + until_ns, 0, Numbering()
    found: list[CapturedPacket] = []
    for some in all_segments(capture.path, Reading(str(capture.path)), "packets"):
        if data > most_bytes or len(found) >= MAX_PACKETS or int(some.t_ns.min()) > connection.last_ns + LATE_NS:
            break
        rows = np.flatnonzero((numbering.numbers(some) == number) & (some.t_ns <= until))
        data += int(some.fields[rows, LENGTH].sum())
        found.extend(captured(some, rows))
    return sorted(found[:MAX_PACKETS], key=lambda packet: packet.t_ns)


def all_segments(path: Path, reading: Reading, what: str) -> Iterator[Segments]:
    """Yield the TCP segments of a capture, part by part."""
    progress = Progress(what)

    def counted() -> Iterator[bytes]:
        for part in parts(path, lambda text: setattr(reading, "cut", text)):
            progress.add(len(part))
            yield part

    for frames in read_frames(counted(), reading):
        some = segments(frames, reading)
        if len(some.t_ns):
            yield some
    progress.end()


def captured(some: Segments, rows: np.ndarray) -> list[CapturedPacket]:
    """Return some of the segments one by one."""
    ends: dict[tuple[int, bytes], tuple[str, int]] = {}
    result = []
    for row in rows:
        source, target = (named(int(some.version[row]), side[row].tobytes(), ends) for side in (some.source, some.target))
        fields = some.fields[row].tolist()
        mss, sack, scale, stamp = options(some.data[some.option_at[row] : some.option_end[row]].tobytes())
        result.append(CapturedPacket(
            int(some.t_ns[row]), source, target, fields[SEQ], fields[ACK_NUMBER], fields[FLAGS], fields[LENGTH], fields[SIZE],
            mss, sack, fields[WINDOW], fields[IDENT], fields[ECN], scale, stamp,
        ))  # fmt: skip
    return result


def named(version: int, end: bytes, known: dict[tuple[int, bytes], tuple[str, int]]) -> tuple[str, int]:
    """Return address and port as text and number; an IPv6 address stands in brackets (RFC 3986)."""
    if (found := known.get((version, end))) is None:
        address = f"[{IPv6Address(end[:16])}]" if version == 6 else str(IPv4Address(end[:4]))
        found = known[version, end] = (address, int.from_bytes(end[16:], "big"))
    return found


def options(written: bytes) -> tuple[int, tuple[tuple[int, int], ...], int | None, tuple[int, int] | None]:
    """Return maximum segment size, SACK blocks, window scale and timestamps; what is wrong ends the options."""
    mss, sack, scale, stamp, place = 0, (), None, None, 0
    while place < len(written) and written[place]:
        if written[place] == 1:
            place += 1
            continue
        length = written[place + 1] if place + 1 < len(written) else 0
        if length < 2 or place + length > len(written):
            break
        kind, value = written[place], written[place + 2 : place + length]
        if kind == 2 and len(value) == 2:
            mss = int.from_bytes(value, "big")
        elif kind == 3 and len(value) == 1:
            scale = min(value[0], 14)
        elif kind == 5 and len(value) % 8 == 0:
            sack = tuple(struct.iter_unpack(">II", value))
        elif kind == 8 and len(value) == 8:
            stamp = struct.unpack(">II", value)
        place += length
    return mss, sack, scale, stamp


def packets_of(frames: Frames) -> list[CapturedPacket]:
    """Return the TCP segments of frames, in their order."""
    some = segments(frames, Reading("frames"))
    return captured(some, np.arange(len(some.t_ns)))
