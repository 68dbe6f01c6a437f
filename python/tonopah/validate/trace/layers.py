"""Finds the TCP segment in each of many frames, through whatever stands before it: tags, labels, tunnels, extension headers.

All frames of a part are looked at together, one layer at a time: `kind` says what begins at `off` in each of them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tonopah.validate.trace.frames import Frames, Reading, rows_at

(
    ETHERNET, TYPE, VLAN, PPPOE, PPP, MPLS, NULL, SLL, SLL2, HDLC, IP, PROTOCOL, GRE, UDP, TCP, NONE,
) = range(16)  # fmt: skip
"""What begins at a place: `TYPE` is what an EtherType names, `PROTOCOL` what an IP protocol number names."""

LINKS = {
    0: NULL, 1: ETHERNET, 9: PPP, 12: IP, 14: IP, 50: PPP, 51: PPPOE, 101: IP, 104: HDLC, 108: NULL, 113: SLL, 228: IP, 229: IP,
    276: SLL2,
}  # fmt: skip
"""By LINKTYPE."""
RAW_IP = 101
ETHER_TYPES = {
    0x0800: IP, 0x86DD: IP, 0x8100: VLAN, 0x88A8: VLAN, 0x9100: VLAN, 0x9200: VLAN, 0x8864: PPPOE, 0x8847: MPLS, 0x8848: MPLS,
    0x6558: ETHERNET, 0x880B: PPP,
}  # fmt: skip
PPP_TYPES = {0x0021: IP, 0x0057: IP, 0x0281: MPLS, 0x0283: MPLS}
PROTOCOLS = {4: IP, 6: TCP, 17: UDP, 41: IP, 47: GRE}
EXTENSIONS = (0, 43, 60, 135, 139, 140)
"""Of IPv6, all of one form (RFC 6564); fragments (44) and AH (51) have their own."""
FRAGMENT, AUTHENTICATION = 44, 51
VXLAN, GENEVE = (4789, 8472), 6081
ERSPAN_II, ERSPAN_III = 0x88BE, 0x22EB
MAX_LAYERS = 24


class Segments(NamedTuple):
    """TCP segments, one row of each for each."""

    t_ns: np.ndarray
    source: np.ndarray
    """Address, port: 18 bytes."""
    target: np.ndarray
    version: np.ndarray
    """4 or 6."""
    fields: np.ndarray
    """seq, ack, flags (9 bits, with AE), window, payload bytes, bytes of the IP packet, identification, ECN field."""
    data: np.ndarray
    option_at: np.ndarray
    option_end: np.ndarray


SEQ, ACK_NUMBER, FLAGS, WINDOW, LENGTH, SIZE, IDENT, ECN = range(8)


def segments(frames: Frames, reading: Reading) -> Segments:
    """Return the TCP segments of some frames; what gives none is counted in `reading`."""
    return Layers(frames, reading).segments()


def present(numbers: np.ndarray) -> list[int]:
    """Return which small numbers are there, in order (`np.unique` takes ten times as long)."""
    return [int(number) for number in np.flatnonzero(np.bincount(numbers))]


class Layers:
    """Where each frame of a part has been understood up to."""

    def __init__(self, frames: Frames, reading: Reading) -> None:
        self.frames, self.reading, self.data = frames, reading, frames.data
        self.off, self.end = frames.at.copy(), frames.at + frames.captured
        self.kind = np.full(len(frames.at), NONE)
        self.ip = np.zeros(len(frames.at), dtype=np.int64)
        self.number = np.zeros(len(frames.at), dtype=np.int64)
        """EtherType, PPP type or IP protocol of what begins at `off`."""
        self.total = np.zeros(len(frames.at), dtype=np.int64)
        self.ident, self.ecn = self.total.copy(), self.total.copy()
        self.fragments: list[np.ndarray] = []
        """Rows, places in the datagram in bytes, whether more follow."""

    def segments(self) -> Segments:
        """Return the TCP segments."""
        for link in present(self.frames.link):
            rows = self.frames.link == link
            if link in LINKS:
                self.kind[rows] = LINKS[link]
            else:
                self.reading.skipped[f"of link type {link}"] += int(rows.sum())
        for _ in range(MAX_LAYERS):
            open_ones = [kind for kind in present(self.kind) if kind < TCP]
            if not open_ones:
                break
            for kind in open_ones:
                STEPS[kind](self, np.flatnonzero(self.kind == kind))
        self.refuse(np.flatnonzero(self.kind < TCP), "in more layers than are read")
        return self.tcp(np.flatnonzero(self.kind == TCP))

    def u8(self, rows: np.ndarray, place: int = 0) -> np.ndarray:
        """Return a byte of each row."""
        return self.data[self.off[rows] + place].astype(np.int64)

    def u16(self, rows: np.ndarray, place: int = 0) -> np.ndarray:
        """Return two bytes of each row."""
        return self.u8(rows, place) << 8 | self.u8(rows, place + 1)

    def refuse(self, rows: np.ndarray, why: str) -> None:
        """Note that these give no segment."""
        if len(rows):
            self.kind[rows] = NONE
            self.reading.skipped[why] += len(rows)

    def having(self, rows: np.ndarray, size: int) -> np.ndarray:
        """Return the rows of which so many bytes were captured."""
        short = self.off[rows] + size > self.end[rows]
        self.refuse(rows[short], "of which the capture has not the headers (its snap length)")
        return rows[~short]

    def go(self, rows: np.ndarray, numbers: np.ndarray, kinds: dict[int, int], name: str) -> None:
        """Go on with what numbers stand for."""
        for number in present(numbers):
            some = rows[numbers == number]
            if (kind := kinds.get(number)) is None:
                self.refuse(some, name.format(number))
            else:
                self.kind[some] = kind

    def ethernet(self, rows: np.ndarray) -> None:
        """Addresses and type; a length instead of the type is of IEEE 802.2, whose SNAP header has the type."""
        rows = self.having(rows, 14)
        self.number[rows] = self.u16(rows, 12)
        self.off[rows] += 14
        llc = self.having(rows[self.number[rows] < 1536], 8)
        snap = llc[(self.u16(llc) == 0xAAAA) & (self.u8(llc, 2) == 3)]
        self.number[snap] = self.u16(snap, 6)
        self.off[snap] += 8
        self.kind[rows[self.kind[rows] != NONE]] = TYPE

    def ether_type(self, rows: np.ndarray) -> None:
        """Go on with what an EtherType names."""
        self.go(rows, self.number[rows], ETHER_TYPES, "of EtherType 0x{:04x}")

    def header_with_type(self, rows: np.ndarray, place: int, size: int) -> None:
        """Go over a header that has an EtherType in it."""
        rows = self.having(rows, size)
        self.number[rows] = self.u16(rows, place)
        self.off[rows] += size
        self.kind[rows] = TYPE

    def pppoe(self, rows: np.ndarray) -> None:
        """Go over the header of a session (RFC 2516) to what PPP carries."""
        rows = self.having(rows, 8)
        self.off[rows] += 6
        self.kind[rows] = PPP

    def ppp(self, rows: np.ndarray) -> None:
        """Address and control where they are, then the protocol, in one byte if that is odd (RFC 1661 section 6.5)."""
        rows = self.having(rows, 4)
        self.off[rows[self.u16(rows) == 0xFF03]] += 2
        one = self.u8(rows) & 1
        numbers = np.where(one, self.u8(rows), self.u16(rows))
        self.off[rows] += 2 - one
        self.go(rows, numbers, PPP_TYPES, "of PPP protocol 0x{:04x}")

    def mpls(self, rows: np.ndarray) -> None:
        """One label (RFC 3032). Behind the last there is IP, or a control word and Ethernet (RFC 4448)."""
        rows = self.having(rows, 5)
        last = rows[self.u8(rows, 2) & 1 == 1]
        self.off[rows] += 4
        nibble = self.u8(last) >> 4
        self.kind[last] = np.where((nibble == 4) | (nibble == 6), IP, ETHERNET)
        self.off[last[nibble == 0]] += 4

    def null(self, rows: np.ndarray) -> None:
        """Go over the address family of a loopback, in the byte order of the machine: IP tells its version itself."""
        rows = self.having(rows, 5)
        self.off[rows] += 4
        self.kind[rows] = IP

    def ip_header(self, rows: np.ndarray) -> None:
        """IPv4 or IPv6."""
        rows = self.having(rows, 20)
        version = self.u8(rows) >> 4
        self.refuse(rows[(version != 4) & (version != 6)], "that should be IP and are not")
        self.ipv4(rows[version == 4])
        self.ipv6(rows[version == 6])

    def ipv4(self, rows: np.ndarray) -> None:
        """RFC 791."""
        size = (self.u8(rows) & 15) * 4
        self.refuse(rows[size < 20], "with a broken IPv4 header")
        rows, size = rows[size >= 20], size[size >= 20]
        self.ip[rows], self.total[rows] = self.off[rows], self.u16(rows, 2)
        self.ecn[rows], self.ident[rows], self.number[rows] = self.u8(rows, 1) & 3, self.u16(rows, 4), self.u8(rows, 9)
        piece = self.u16(rows, 6)
        self.kind[rows] = PROTOCOL
        self.off[rows] += size
        self.fragment(rows, (piece & 0x1FFF) * 8, piece & 0x2000 != 0)

    def ipv6(self, rows: np.ndarray) -> None:
        """RFC 8200."""
        rows = self.having(rows, 40)
        self.ip[rows], self.total[rows] = self.off[rows], 40 + self.u16(rows, 4)
        self.ecn[rows], self.ident[rows], self.number[rows] = self.u8(rows, 1) >> 4 & 3, 0, self.u8(rows, 6)
        self.kind[rows] = PROTOCOL
        self.off[rows] += 40

    def fragment(self, rows: np.ndarray, place: np.ndarray, more: np.ndarray) -> None:
        """Note pieces of datagrams: the first has the headers, the last tells the length."""
        piece = (place > 0) | more
        if piece.any():
            self.fragments.append(np.stack([rows[piece], place[piece], more[piece].astype(np.int64)]))
        self.refuse(rows[place > 0], "that are later fragments of a packet")

    def protocol(self, rows: np.ndarray) -> None:
        """Go on with what an IP protocol number names; the headers that IPv6 has between come first."""
        numbers = self.number[rows]
        between = np.isin(numbers, (*EXTENSIONS, FRAGMENT, AUTHENTICATION))
        self.go(rows[~between], numbers[~between], PROTOCOLS, "of IP protocol {}")
        rows = self.having(rows[between], 8)
        numbers, following, length = self.number[rows], self.u8(rows), self.u8(rows, 1)
        size = np.select([numbers == FRAGMENT, numbers == AUTHENTICATION], [8, 4 * length + 8], 8 * length + 8)
        pieces = rows[numbers == FRAGMENT]
        place = self.u16(pieces, 2)
        self.ident[pieces] = self.u16(pieces, 6)
        self.number[rows] = following
        self.off[rows] += size
        self.fragment(pieces, place & 0xFFF8, place & 1 != 0)

    def gre(self, rows: np.ndarray) -> None:
        """RFC 2784 and 2890; version 1 is of PPTP (RFC 2637); the types of ERSPAN are those of a mirrored port."""
        rows = self.having(rows, 4)
        flags, self.number[rows] = self.u16(rows), self.u16(rows, 2)
        optional = 4 * (flags >> 15) + 4 * (flags >> 13 & 1) + 4 * (flags >> 12 & 1)
        pptp = flags & 7 == 1
        self.off[rows] += np.where(pptp, 8 + 4 * (flags >> 12 & 1) + 4 * (flags >> 7 & 1), 4 + optional)
        mirrored = np.isin(self.number[rows], (ERSPAN_II, ERSPAN_III))
        self.kind[rows] = np.select([pptp, mirrored], [PPP, ETHERNET], TYPE)
        self.off[rows[mirrored & (flags >> 12 & 1 == 1)]] += 8
        self.off[rows[self.number[rows] == ERSPAN_III]] += 4

    def udp(self, rows: np.ndarray) -> None:
        """VXLAN (RFC 7348) and Geneve (RFC 8926) by their ports; other datagrams have no TCP."""
        rows = self.having(rows, 8)
        port = self.u16(rows, 2)
        tunnel = np.isin(port, VXLAN) | (port == GENEVE)
        self.refuse(rows[~tunnel], "of UDP")
        self.off[rows] += 8
        geneve = self.having(rows[port == GENEVE], 8)
        options = (self.u8(geneve) & 63) * 4
        self.number[geneve] = self.u16(geneve, 2)
        self.kind[geneve] = TYPE
        self.off[geneve] += 8 + options
        vxlan = self.having(rows[np.isin(port, VXLAN)], 8)
        self.kind[vxlan] = ETHERNET
        self.off[vxlan] += 8

    def tcp(self, rows: np.ndarray) -> Segments:
        """Return the segments that begin at these rows' places."""
        rows = self.having(rows, 20)
        offset = (self.u8(rows, 12) >> 4) * 4
        start = self.ip[rows]
        head = self.off[rows] - start
        # A segment that the network card will cut has no length in its IP header, or is larger than it can say.
        total = np.where(self.total[rows] >= head + 20, self.total[rows], self.frames.size[rows] - (start - self.frames.at[rows]))
        total = self.with_fragments(rows, total)
        right = (offset >= 20) & (total >= head + offset)
        self.refuse(rows[~right], "with a broken TCP header")
        rows, offset, head, total, start = (some[right] for some in (rows, offset, head, total, start))
        headers = rows_at(self.data, self.off[rows], 20)
        words, flags = headers.view(">u4").astype(np.int64), headers.view(">u2").astype(np.int64)
        fields = np.stack([
            words[:, 1], words[:, 2], flags[:, 6] & 0x1FF, flags[:, 7], total - head - offset, total, self.ident[rows],
            self.ecn[rows],
        ], axis=1)  # fmt: skip
        version = (self.data[start] >> 4).astype(np.int64)
        addresses = np.where((version == 6)[:, None], rows_at(self.data, start + 8, 32), self.ipv4_addresses(start))
        source = np.concatenate([addresses[:, :16], headers[:, 0:2]], axis=1)
        target = np.concatenate([addresses[:, 16:], headers[:, 2:4]], axis=1)
        ends = np.minimum(self.off[rows] + offset, self.end[rows])
        return Segments(self.frames.t_ns[rows], source, target, version, fields, self.data, self.off[rows] + 20, ends)

    def ipv4_addresses(self, start: np.ndarray) -> np.ndarray:
        """Return both addresses of IPv4 headers, each in 16 bytes."""
        both = np.zeros((len(start), 32), dtype=np.uint8)
        found = rows_at(self.data, start + 12, 8)
        both[:, 0:4], both[:, 16:20] = found[:, :4], found[:, 4:]
        return both

    def with_fragments(self, rows: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Return the bytes of IP packets, of which some are in fragments: as many as the last one ends at."""
        if not self.fragments:
            return total
        ends: dict[tuple[bytes, int], int] = {}
        first: dict[int, tuple[bytes, int]] = {}
        for row, place, more in np.concatenate(self.fragments, axis=1).T:
            start = int(self.ip[row])
            name = bytes(self.data[start + 8 : start + 40] if self.data[start] >> 4 == 6 else self.data[start + 12 : start + 20])
            if place == 0:
                first[int(row)] = name, int(self.ident[row])
            elif not more:
                ends[name, int(self.ident[row])] = int(place) + int(self.total[row]) - int(self.off[row] - start)
        total = total.copy()
        for index, row in enumerate(rows):
            if (end := ends.get(first.get(int(row), (b"", 0)))) is not None:
                total[index] = end + self.off[row] - self.ip[row]
            elif int(row) in first:
                self.reading.skipped["that are the last fragment of a packet, and not in the capture beside the first"] += 1
        return total


STEPS: dict[int, Callable[[Layers, np.ndarray], None]] = {
    ETHERNET: Layers.ethernet, TYPE: Layers.ether_type, PPPOE: Layers.pppoe, PPP: Layers.ppp, MPLS: Layers.mpls,
    NULL: Layers.null,
    VLAN: lambda layers, rows: layers.header_with_type(rows, 2, 4),
    SLL: lambda layers, rows: layers.header_with_type(rows, 14, 16),
    SLL2: lambda layers, rows: layers.header_with_type(rows, 0, 20),
    HDLC: lambda layers, rows: layers.header_with_type(rows, 2, 4),
    IP: Layers.ip_header, PROTOCOL: Layers.protocol, GRE: Layers.gre, UDP: Layers.udp,
}  # fmt: skip
