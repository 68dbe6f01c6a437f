"""Reads packets of TCP from a capture: pcap, and pcapng (draft-ietf-opsawg-pcapng), of either byte order.

Captures come from anywhere, so nothing in them is believed: every length is held against what is left, and an error
names the byte.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from tonopah.errors import InputError
from tonopah.export.pcapng import BYTE_ORDER, INTERFACE, PACKET, RESOLUTION, SECTION

PCAP_MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 10**6), b"\xa1\xb2\xc3\xd4": (">", 10**6),
    b"\x4d\x3c\xb2\xa1": ("<", 10**9), b"\xa1\xb2\x3c\x4d": (">", 10**9),
}  # fmt: skip
"""First bytes of a pcap file: byte order, and parts of a second in its times."""
RAW_IP = 101
"""LINKTYPE_RAW: a packet begins with its IP header."""
LINK_HEADERS = {0: 4, 1: 14, 12: 0, 14: 0, RAW_IP: 0, 108: 4, 113: 16, 228: 0, 229: 0, 276: 20}
"""Bytes before the IP header by LINKTYPE; Ethernet may have tags besides."""
ETHERNET, VLAN = 1, (0x8100, 0x88A8)
IPV6_EXTENSIONS = (0, 43, 60)
TCP = 6
OFFSET = 14
"""Option of an interface: seconds to add to its times."""
MAX_PACKET = 1 << 24
FIN, SYN, RST, ACK = 1, 2, 4, 16


@dataclass(frozen=True)
class CapturedPacket:
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


@dataclass
class CaptureInterface:
    """What a section of a pcapng file says of an interface."""

    link: int
    ticks: int = 10**6
    offset_s: int = 0


@dataclass
class CaptureSection:
    """Byte order and interfaces of a section of a pcapng file."""

    order: str
    interfaces: list[CaptureInterface] = field(default_factory=list)


def read_packets(data: bytes, source: str) -> Iterator[CapturedPacket]:
    """Yield the TCP segments of a capture in its order. Raises InputError for what is no capture, with the byte."""
    if data[:4] in PCAP_MAGIC:
        frames = pcap_frames(data, source)
    elif data[:4] == struct.pack("<I", SECTION):
        frames = pcapng_frames(data, source)
    else:
        raise InputError(
            "", "is no capture: it begins like neither pcap nor pcapng", "a file of tcpdump, Wireshark or --pcap", source
        )
    for t_ns, link, frame, size in frames:
        packet = tcp_of(t_ns, link, frame, size)
        if packet:
            yield packet


def wrong(source: str, offset: int, text: str) -> InputError:
    """Return the error of a file at a byte."""
    return InputError("", f"at byte {offset:,}: {text}", None, source)


def pcap_frames(data: bytes, source: str) -> Iterator[tuple[int, int, bytes, int]]:
    """Yield time, link type, bytes and original length of the packets of a pcap file."""
    order, ticks = PCAP_MAGIC[data[:4]]
    if len(data) < 24:
        raise wrong(source, len(data), "the file ends in its header")
    link, at = struct.unpack_from(f"{order}I", data, 20)[0] & 0xFFFF, 24
    check_link(link, source, 20)
    while at < len(data):
        if len(data) - at < 16:
            raise wrong(source, at, f"a packet's header has 16 bytes, {len(data) - at} are left")
        seconds, parts, captured, size = struct.unpack_from(f"{order}IIII", data, at)
        if captured > MAX_PACKET or captured > len(data) - at - 16:
            raise wrong(source, at, f"a packet of {captured:,} bytes, {len(data) - at - 16:,} are left")
        yield seconds * 10**9 + parts * (10**9 // ticks), link, data[at + 16 : at + 16 + captured], size
        at += 16 + captured


def pcapng_frames(data: bytes, source: str) -> Iterator[tuple[int, int, bytes, int]]:
    """Yield time, link type, bytes and original length of the packets of a pcapng file."""
    section, at = CaptureSection("<"), 0
    while at < len(data):
        if len(data) - at < 12:
            raise wrong(source, at, f"a block has at least 12 bytes, {len(data) - at} are left")
        if data[at : at + 4] == struct.pack("<I", SECTION):
            section = CaptureSection("<" if data[at + 8 : at + 12] == struct.pack("<I", BYTE_ORDER) else ">")
            if section.order == ">" and data[at + 8 : at + 12] != struct.pack(">I", BYTE_ORDER):
                raise wrong(source, at + 8, "a section without the mark of its byte order")
        kind, length = struct.unpack_from(f"{section.order}II", data, at)
        if length < 12 or length % 4 or length > len(data) - at:
            raise wrong(source, at, f"a block of {length:,} bytes, {len(data) - at:,} are left")
        if struct.unpack_from(f"{section.order}I", data, at + length - 4)[0] != length:
            raise wrong(source, at + length - 4, "a block ends with another length than it begins with")
        body = data[at + 8 : at + length - 4]
        if kind == INTERFACE:
            section.interfaces.append(interface(section, body, source, at))
        elif kind == PACKET:
            yield enhanced_packet(section, body, source, at)
        at += length


def interface(section: CaptureSection, body: bytes, source: str, at: int) -> CaptureInterface:
    """Return what a block says of an interface."""
    if len(body) < 8:
        raise wrong(source, at, "the block of an interface is too short")
    found = CaptureInterface(struct.unpack_from(f"{section.order}H", body)[0])
    check_link(found.link, source, at)
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


def enhanced_packet(section: CaptureSection, body: bytes, source: str, at: int) -> tuple[int, int, bytes, int]:
    """Return time, link type, bytes and original length of a packet."""
    if len(body) < 20:
        raise wrong(source, at, "the block of a packet is too short")
    number, high, low, captured, size = struct.unpack_from(f"{section.order}IIIII", body)
    if number >= len(section.interfaces):
        raise wrong(source, at, f"a packet of interface {number}, the section has {len(section.interfaces)}")
    if captured > len(body) - 20:
        raise wrong(source, at, f"a packet of {captured:,} bytes in a block that has {len(body) - 20:,} for it")
    of = section.interfaces[number]
    t_ns = int(Fraction((high << 32 | low) * 10**9, of.ticks)) + of.offset_s * 10**9
    return t_ns, of.link, body[20 : 20 + captured], size


def check_link(link: int, source: str, at: int) -> None:
    """Refuse a link type whose frames are not understood."""
    if link not in LINK_HEADERS:
        known = "Ethernet, Linux cooked, loopback and raw IP are"
        raise InputError("", f"at byte {at:,}: link type {link} is not understood", known, source)


def tcp_of(t_ns: int, link: int, frame: bytes, size: int) -> CapturedPacket | None:
    """Return the TCP segment in a frame; None if there is none, or too little of it was captured."""
    skip = LINK_HEADERS[link]
    if link == ETHERNET:
        while int.from_bytes(frame[skip - 2 : skip], "big") in VLAN and skip < 30:
            skip += 4
    packet, size = frame[skip:], max(0, size - skip)
    if len(packet) < 20:
        return None
    if packet[0] >> 4 == 4:
        head, total = (packet[0] & 15) * 4, int.from_bytes(packet[2:4], "big")
        if packet[9] != TCP or int.from_bytes(packet[6:8], "big") & 0x1FFF or head < 20:
            return None
        ends = [".".join(map(str, packet[place : place + 4])) for place in (12, 16)]
    elif packet[0] >> 4 == 6 and len(packet) >= 40:
        head, total, following = 40, 40 + int.from_bytes(packet[4:6], "big"), packet[6]
        while following in IPV6_EXTENSIONS and len(packet) >= head + 8:
            following, head = packet[head], head + 8 + 8 * packet[head + 1]
        if following != TCP:
            return None
        ends = [packet[place : place + 16].hex(":", 2) for place in (8, 24)]
    else:
        return None
    # A segment that the network card will cut has no length in its IPv4 header, or is larger than it can say.
    return segment(t_ns, packet[head:], ends, head, total if total >= head + 20 else size)


def segment(t_ns: int, tcp: bytes, ends: list[str], head: int, total: int) -> CapturedPacket | None:
    """Return the segment whose TCP header these bytes begin with."""
    if len(tcp) < 20:
        return None
    source, target, seq, ack, offset, flags = struct.unpack_from(">HHIIBB", tcp)
    data = (offset >> 4) * 4
    if data < 20 or total < head + data:
        return None
    mss, sack = options(tcp[20:data])
    return CapturedPacket(t_ns, (ends[0], source), (ends[1], target), seq, ack, flags, total - head - data, total, mss, sack)


def options(written: bytes) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return maximum segment size and SACK blocks; what is wrong ends the options."""
    mss, sack, place = 0, (), 0
    while place < len(written) and written[place]:
        if written[place] == 1:
            place += 1
            continue
        length = written[place + 1] if place + 1 < len(written) else 0
        if length < 2 or place + length > len(written):
            break
        value = written[place + 2 : place + length]
        if written[place] == 2 and len(value) == 2:
            mss = int.from_bytes(value, "big")
        elif written[place] == 5 and len(value) % 8 == 0:
            sack = tuple(struct.iter_unpack(">II", value))
        place += length
    return mss, sack
