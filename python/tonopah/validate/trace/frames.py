"""Finds the frames of a capture: pcap in its forms, and pcapng (draft-ietf-opsawg-pcapng), of either byte order.

Captures come from anywhere, so nothing in them is believed: every length is held against what is left, and an error
names the byte. A last packet that is cut short ends the file, with a note. Of the kept libraries scapy has a licence that the
package cannot have, dpkt makes an object of each packet (20 us, where 100 MB/s of headers leave 1 us), and pcap-parser and
etherparse would bring files into the engine, which has none: frames are found here, and looked at many at a time by numpy.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tonopah.errors import InputError
from tonopah.export.pcapng import BYTE_ORDER, INTERFACE, PACKET, RESOLUTION, SECTION

PCAP_MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 10**6, 16), b"\xa1\xb2\xc3\xd4": (">", 10**6, 16),
    b"\x4d\x3c\xb2\xa1": ("<", 10**9, 16), b"\xa1\xb2\x3c\x4d": (">", 10**9, 16),
    b"\x34\xcd\xb2\xa1": ("<", 10**6, 24), b"\xa1\xb2\xcd\x34": (">", 10**6, 24),
}  # fmt: skip
"""First bytes of a pcap file: byte order, parts of a second in its times, bytes before each packet (24: Kuznetzov's)."""
OTHERS = {
    b"snoop\0\0\0": "snoop", b"GMBU": "Microsoft Network Monitor", b"RTSS": "Microsoft Network Monitor", b"XCP\0": "NetXRay",
}  # fmt: skip
"""Captures of other programs."""
OLD_PACKET, SIMPLE_PACKET = 2, 3
OFFSET = 14
"""Option of an interface: seconds to add to its times."""
MAX_PACKET = 1 << 24
MAX_BLOCK = MAX_PACKET + (1 << 20)
LAST_S = 1 << 33
"""Seconds since 1970 that no capture reaches (the year 2242): 64-bit nanoseconds hold them."""
PADDING = bytes(128)
"""Behind each part, so that a header may be read without looking where the part ends."""


class Frames(NamedTuple):
    """Frames of a part of a file, one entry of each array for each."""

    data: np.ndarray
    """The bytes of the part."""
    at: np.ndarray
    captured: np.ndarray
    size: np.ndarray
    """Bytes that it had before the capture cut it."""
    t_ns: np.ndarray
    link: np.ndarray
    """Its LINKTYPE."""


@dataclass
class Reading:
    """What is noted of a file while it is read."""

    source: str
    cut: str = ""
    """Where the file ends too early."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Frames that give no TCP segment, by the reason."""


@dataclass
class CaptureInterface:
    """What a section of a pcapng file says of an interface."""

    link: int
    ticks: int = 10**6
    offset_s: int = 0


@dataclass
class CaptureSection:
    """Byte order and interfaces of a section of a pcapng file."""

    order: str = "<"
    interfaces: list[CaptureInterface] = field(default_factory=list)


def read_frames(content: Iterable[bytes], reading: Reading) -> Iterator[Frames]:
    """Yield the frames of a capture, part by part. Raises InputError for what is no capture, with the byte."""
    source = iter(content)
    head = b""
    while len(head) < 24 and (more := next(source, b"")):
        head += more
    if head[:4] in PCAP_MAGIC:
        yield from pcap_frames(head, source, reading)
    elif head[:4] == struct.pack("<I", SECTION):
        yield from pcapng_frames(head, source, reading)
    else:
        other = next((name for magic, name in OTHERS.items() if head.startswith(magic)), "")
        said = f"a capture of {other}, which is not read" if other else "no capture: it begins like neither pcap nor pcapng"
        raise InputError("", f"is {said}", "a file of tcpdump, Wireshark (editcap -F pcap) or --pcap", reading.source)


def wrong(source: str, offset: int, text: str) -> InputError:
    """Return the error of a file at a byte."""
    return InputError("", f"at byte {offset:,}: {text}", None, source)


def pcap_frames(head: bytes, content: Iterator[bytes], reading: Reading) -> Iterator[Frames]:
    """Yield the frames of a pcap file."""
    order, ticks, before = PCAP_MAGIC[head[:4]]
    if len(head) < 24:
        raise wrong(reading.source, len(head), "the file ends in its header")
    link, passed, data = struct.unpack_from(f"{order}I", head, 20)[0] & 0xFFFF, 24, head[24:]
    captured_at = struct.Struct(f"{order}I").unpack_from
    more = b""
    while data or more:
        places: list[int] = []
        at, end, add = 0, len(data), places.append
        while (start := at + before) <= end:
            (captured,) = captured_at(data, at + 8)
            if captured > MAX_PACKET:
                raise wrong(reading.source, passed + at, f"a packet of {captured:,} bytes, at most {MAX_PACKET:,}")
            if (following := start + captured) > end:
                break
            add(at)
            at = following
        if places:
            yield pcap_part(data, np.array(places, dtype=np.int64), f"{order}u4", ticks, before, link)
        passed, data, more = passed + at, data[at:], next(content, b"")
        if data and not more:
            reading.cut = reading.cut or f"cut short in the last packet, at byte {passed:,}: what is before is read"
            return
        data += more


def pcap_part(data: bytes, places: np.ndarray, word: str, ticks: int, before: int, link: int) -> Frames:
    """Return the frames whose headers begin at `places`."""
    padded = np.frombuffer(data + PADDING, dtype=np.uint8)
    heads = rows_at(padded, places, 16).view(word).astype(np.int64)
    t_ns = heads[:, 0] * 10**9 + heads[:, 1] * (10**9 // ticks)
    return Frames(padded, places + before, heads[:, 2], heads[:, 3], t_ns, np.full(len(places), link, dtype=np.int64))


def rows_at(data: np.ndarray, places: np.ndarray, width: int) -> np.ndarray:
    """Return the bytes at each place as the rows of a matrix."""
    return np.lib.stride_tricks.sliding_window_view(data, width)[places]


def pcapng_frames(head: bytes, content: Iterator[bytes], reading: Reading) -> Iterator[Frames]:
    """Yield the frames of a pcapng file. A block that describes ends what is looked at together."""
    section, passed, data, more = CaptureSection(), 0, head, head
    while data:
        at, packets = 0, []
        while len(data) - at >= 12:
            if data[at : at + 4] == struct.pack("<I", SECTION):
                yield from pcapng_part(data, packets, section, reading, passed)
                packets, section = [], CaptureSection(section_order(data[at + 8 : at + 12], reading.source, passed + at))
            kind, length = struct.unpack_from(f"{section.order}II", data, at)
            left = len(data) - at
            if length < 12 or length % 4 or length > MAX_BLOCK:
                raise wrong(reading.source, passed + at, f"a block of {length:,} bytes, {left:,} are left of what was read")
            if length > left:
                break
            if struct.unpack_from(f"{section.order}I", data, at + length - 4)[0] != length:
                raise wrong(reading.source, passed + at + length - 4, "a block ends with another length than it begins with")
            if kind == INTERFACE:
                yield from pcapng_part(data, packets, section, reading, passed)
                packets = []
                section.interfaces.append(interface(section, data[at + 8 : at + length - 4], reading.source, passed + at))
            elif kind in (PACKET, OLD_PACKET):
                packets.append(at)
            elif kind == SIMPLE_PACKET:
                reading.skipped["in simple packet blocks, which have no time"] += 1
            at += length
        yield from pcapng_part(data, packets, section, reading, passed)
        passed, data, more = passed + at, data[at:], next(content, b"")
        if data and not more:
            if not passed:
                raise wrong(reading.source, 0, f"a block of more than the {len(data):,} bytes that are left")
            reading.cut = reading.cut or f"cut short in the last block, at byte {passed:,}: what is before is read"
            return
        data += more


def section_order(mark: bytes, source: str, at: int) -> str:
    """Return the byte order of a section."""
    for order in "<>":
        if mark == struct.pack(f"{order}I", BYTE_ORDER):
            return order
    raise wrong(source, at + 8, "a section without the mark of its byte order")


def interface(section: CaptureSection, body: bytes, source: str, at: int) -> CaptureInterface:
    """Return what a block says of an interface."""
    if len(body) < 8:
        raise wrong(source, at, "the block of an interface is too short")
    found = CaptureInterface(struct.unpack_from(f"{section.order}H", body)[0])
    place = 8
    while len(body) - place >= 4:
        code, length = struct.unpack_from(f"{section.order}HH", body, place)
        value = body[place + 4 : place + 4 + length]
        if len(value) < length:
            raise wrong(source, at + 8 + place, f"an option of {length} bytes, {len(value)} are left")
        if code == RESOLUTION and length == 1:
            found.ticks = (2 if value[0] & 0x80 else 10) ** min(value[0] & 0x7F, 63)
        elif code == OFFSET and length == 8:
            found.offset_s = struct.unpack(f"{section.order}q", value)[0]
        place += 4 + length + -length % 4
    return found


def pcapng_part(data: bytes, places: list[int], section: CaptureSection, reading: Reading, passed: int) -> Iterator[Frames]:
    """Yield the packets whose blocks begin at `places`."""
    if not places:
        return
    padded, at = np.frombuffer(data + PADDING, dtype=np.uint8), np.array(places, dtype=np.int64)
    heads = rows_at(padded, at, 28).view(f"{section.order}u4").astype(np.int64)
    short = rows_at(padded, at + 8, 2).view(f"{section.order}u2").astype(np.int64)[:, 0]
    # A packet block of the first pcapng (2) has the interface in 16 bits, and a count of drops behind it.
    number = np.where(heads[:, 0] == OLD_PACKET, short, heads[:, 2])
    for bad, text in (
        (heads[:, 1] < 32, "the block of a packet is too short"),
        (
            number >= len(section.interfaces),
            f"a packet of an interface that is not there: the section has {len(section.interfaces)}",
        ),
        (heads[:, 5] > heads[:, 1] - 32, "a packet of more bytes than its block has"),
    ):
        if bad.any():
            raise wrong(reading.source, passed + int(at[bad.argmax()]), text)
    t_ns, link = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int64)
    for index in np.unique(number):
        rows, of = number == index, section.interfaces[index]
        t_ns[rows], link[rows] = nanoseconds(heads[rows, 3:5], of, reading.source, passed + places[0]), of.link
    yield Frames(padded, at + 28, heads[:, 5], heads[:, 6], t_ns, link)


def nanoseconds(words: np.ndarray, of: CaptureInterface, source: str, at: int) -> Any:
    """Return times of an interface, given as their upper and lower halves, in nanoseconds."""
    ticks = words[:, 0].astype(np.uint64) << np.uint64(32) | words[:, 1].astype(np.uint64)
    if not 0 <= int(ticks.max()) // of.ticks + of.offset_s < LAST_S or int(ticks.min()) // of.ticks + of.offset_s < 0:
        raise wrong(source, at, "packets behind it have times that are not between 1970 and 2242")
    if 10**9 % of.ticks == 0:
        return ticks.astype(np.int64) * (10**9 // of.ticks) + of.offset_s * 10**9
    return np.array([int(Fraction(int(tick) * 10**9, of.ticks)) for tick in ticks], dtype=np.int64) + of.offset_s * 10**9
