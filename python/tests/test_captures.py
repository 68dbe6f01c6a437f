"""Captures as other programs write them: what stands before TCP, what is wrong with a file, and what a capture did not see.

All hold one transfer: 200 segments of 1000 bytes in windows of ten, RTT 20 ms, seen at its sender.
"""

import bz2
import gzip
import json
import lzma
import random
import struct

import pyarrow as pa
import pytest

from tonopah._core import CaptureReader
from tonopah.cli.main import main
from tonopah.errors import InputError
from tonopah.validate.trace import comparison as trace
from tonopah.validate.trace.page import shown

A, B = b"\x0a\0\0\1", b"\x0a\0\0\2"
SYN, ACK, FIN, ECE, CWR, AE = 2, 16, 1, 64, 128, 256
MAC = b"\2\0\0\0\0\1\2\0\0\0\0\2"


def tcp(of_a, seq, ack, flags, length=0, options=b"", ident=0, sport=40000, window=65535):
    """Return the headers of a segment, and the bytes of its IP packet."""
    ports = (sport, 80) if of_a else (80, sport)
    options += b"\0" * (-len(options) % 4)
    word = (20 + len(options)) // 4 << 12 | flags
    head = struct.pack(">HHIIHHHH", *ports, seq % 2**32, ack % 2**32, word, window, 0, 0) + options
    total = 20 + len(head) + length
    ends = (A, B) if of_a else (B, A)
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, total, ident, 0x4000, 64, 6, 0, *ends) + head, total


def transfer(t0=0.0, isn=1000, **more):
    mss, rtt = b"\x02\x04\x05\xb4", 0.02
    out = [
        (t0, *tcp(True, isn, 0, SYN, options=mss, **more)),
        (t0 + rtt, *tcp(False, 5000, isn + 1, SYN | ACK, options=mss, **more)),
        (t0 + rtt, *tcp(True, isn + 1, 5001, ACK, **more)),
    ]
    for n in range(0, 200, 10):
        t = t0 + rtt * (n // 10 + 1)
        for i in range(10):
            out.append((t + i * 1e-4, *tcp(True, isn + 1 + 1000 * (n + i), 5001, ACK, 1000, **more)))
            out.append((t + rtt + i * 1e-4, *tcp(False, 5001, isn + 1 + 1000 * (n + i + 1), ACK, **more)))
    return sorted(((round(t, 7), head, total) for t, head, total in out), key=lambda packet: packet[0])


def pcap(packets, link=101, front=b"", order="<", magic=0xA1B2C3D4, before=b"", ticks=10**6):
    data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for t, head, total in packets:
        s = int(t)
        sizes = len(front) + len(head), len(front) + total
        data += struct.pack(order + "IIII", s, round((t - s) * ticks), *sizes) + before + front + head
    return data


def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng(packets, kind=6, links=(101, 189)):
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + b"".join(
        block(1, struct.pack("<HHI", link, 0, 0)) for link in links
    )
    for t, head, total in packets:
        us = round(t * 1e6)
        number = struct.pack("<I", 0) if kind == 6 else struct.pack("<HH", 0, 7)
        data += block(kind, number + struct.pack("<IIII", us >> 32, us & 0xFFFFFFFF, len(head), total) + head)
    return data


def ipv6(packets, extension=b""):
    """Return the packets with IPv6 instead of IPv4."""
    kind = 0 if extension else 6
    for t, head, total in packets:
        ends = [b"\x20\x01\x0d\xb8" + bytes(8) + head[place : place + 4] for place in (12, 16)]
        size = total - 20 + len(extension)
        yield t, struct.pack(">IHBB", 6 << 28, size, kind, 64) + b"".join(ends) + extension + head[20:], size + 40


def udp(port):
    """Return IPv4 and UDP of a tunnel."""
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, 17, 0, b"\xc0\0\2\1", b"\xc0\0\2\2") + struct.pack(
        ">HHHH", 999, port, 0, 0
    )


def gre(flags, kind, more=b""):
    """Return IPv4 and GRE of a tunnel."""
    outer = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, 47, 0, b"\xc0\0\2\1", b"\xc0\0\2\2")
    return outer + struct.pack(">HH", flags, kind) + more


ONE = transfer()
ETHER = MAC + b"\x08\0"
FILES = {
    "good": pcap(ONE),
    "big-endian, nanoseconds": pcap(ONE, order=">", magic=0xA1B23C4D, ticks=10**9),
    "Kuznetzov": pcap(ONE, magic=0xA1B2CD34, before=bytes(8)),
    "gzip": gzip.compress(pcap(ONE)),
    "xz": lzma.compress(pcap(ONE)),
    "bzip2": bz2.compress(pcap(ONE)),
    "zstd": pa.compress(pcap(ONE), "zstd", asbytes=True),
    "gzip of pcapng": gzip.compress(pcapng(ONE)),
    "pcapng, an interface without packets": pcapng(ONE),
    "pcapng, packet blocks": pcapng(ONE, kind=2),
    "Ethernet": pcap(ONE, 1, ETHER),
    "VLAN": pcap(ONE, 1, MAC + b"\x81\0\0\1\x08\0"),
    "QinQ 88a8": pcap(ONE, 1, MAC + b"\x88\xa8\0\1\x81\0\0\2\x08\0"),
    "QinQ 9100": pcap(ONE, 1, MAC + b"\x91\0\0\1\x81\0\0\2\x08\0"),
    "SNAP": pcap(ONE, 1, MAC + b"\0\x30\xaa\xaa\3\0\0\0\x08\0"),
    "PPPoE": pcap(ONE, 1, MAC + b"\x88\x64\x11\0\0\1\0\0\0\x21"),
    "PPP": pcap(ONE, 9, b"\xff\3\0\x21"),
    "PPP, short": pcap(ONE, 9, b"\x21"),
    "MPLS, two labels": pcap(ONE, 1, MAC + b"\x88\x47\0\1\0\x40\0\1\1\x40"),
    "MPLS, pseudowire": pcap(ONE, 1, MAC + b"\x88\x47\0\1\1\x40\0\0\0\0" + ETHER),
    "Linux cooked": pcap(ONE, 113, bytes(14) + b"\x08\0"),
    "Linux cooked, VLAN": pcap(ONE, 113, bytes(14) + b"\x81\0\0\1\x08\0"),
    "Linux cooked 2": pcap(ONE, 276, b"\x08\0" + bytes(18)),
    "loopback": pcap(ONE, 0, b"\2\0\0\0"),
    "OpenBSD loopback": pcap(ONE, 108, b"\0\0\0\2"),
    "raw IPv4": pcap(ONE, 228),
    "IPv6": pcap(ipv6(ONE), 1, MAC + b"\x86\xdd"),
    "IPv6, hop by hop and destination": pcap(ipv6(ONE, b"\x3c\0\1\4\0\0\0\0" + b"\6\0\1\4\0\0\0\0"), 101),
    "IPv4 in IPv4": pcap(ONE, 101, struct.pack(">BBHHHBBH8s", 0x45, 0, 0, 0, 0, 64, 4, 0, bytes(8))),
    "GRE": pcap(ONE, 101, gre(0, 0x800)),
    "GRE with key and number": pcap(ONE, 101, gre(0x3000, 0x800, bytes(8))),
    "ERSPAN II": pcap(ONE, 101, gre(0x1000, 0x88BE, bytes(12)) + ETHER),
    "VXLAN": pcap(ONE, 1, ETHER + udp(4789) + b"\x08" + bytes(7) + ETHER),
    "Geneve": pcap(ONE, 101, udp(6081) + b"\1\0\x65\x58" + bytes(8) + ETHER),
    "headers alone": pcap([(t, head[:40], total) for t, head, total in ONE]),
}


def numbers_of(tmp_path, data, number=0):
    file = tmp_path / "x.cap"
    file.write_bytes(data)
    found = trace.read_trace(file, number)
    return found, found.seen.numbers()


@pytest.mark.parametrize("name", FILES)
def test_every_form_of_a_capture_gives_the_same_transfer(tmp_path, name):
    found, numbers = numbers_of(tmp_path, FILES[name])
    assert found.taken_at == "sender" and found.connections == 1
    assert (numbers["data_segments"], numbers["retransmitted_segments"], numbers["in_flight_max_bytes"]) == (200, 0, 10_000)
    assert numbers["rtt_min_s"] == pytest.approx(0.02, abs=2e-6) and numbers["goodput_bps"] == pytest.approx(3.801e6, rel=1e-3)
    assert found.seen.name.startswith("[2001:db8::a00:1]:40000" if "IPv6" in name else "10.0.0.1:40000")
    assert len(found.notes) == 1


def test_fragments_are_put_together_by_their_numbers(tmp_path):
    """The second piece of each segment tells its length; without it the first alone counts, and is told of."""
    packets = []
    for number, (t, head, total) in enumerate(ONE):
        if total < 1000:
            packets.append((t, head, total))
            continue
        first, last = (struct.pack(">HHH", size, number, piece) for size, piece in ((620, 0x2000), (total - 600, 75)))
        packets.append((t, head[:2] + first + head[8:], 620))
        packets.append((t + 1e-6, head[:2] + last + head[8:20], total - 600))
    found, numbers = numbers_of(tmp_path, pcap(packets))
    assert (
        numbers["data_segments"] == 200 and numbers["retransmitted_segments"] == 0 and found.seen.sender.payload_bytes == 200_000
    )
    assert "200 frames that are later fragments of a packet are left out" in found.notes
    found, _ = numbers_of(tmp_path, pcap([packet for packet in packets if packet[2] != 440]))
    assert found.seen.sender.payload_bytes == 200 * 580
    assert any("last fragment" in note for note in found.notes)


def test_a_file_that_ends_too_early_is_read_up_to_there(tmp_path):
    for data in (pcap(ONE)[:-20], pcapng(ONE)[:-20], gzip.compress(pcap(ONE))[:-9], lzma.compress(pcap(ONE))[:-40]):
        found, numbers = numbers_of(tmp_path, data)
        assert 190 < numbers["data_segments"] <= 200 and "cut short" in found.notes[0], found.notes


def test_ports_that_are_used_again_are_other_connections(tmp_path):
    for isn in (400_001_000, 3_000_001_000, 2000):
        found, numbers = numbers_of(tmp_path, pcap(ONE + transfer(10.0, isn)), 1)
        assert found.connections == 2 and numbers["data_segments"] == 200 and numbers["in_flight_max_bytes"] == 10_000
        assert numbers["goodput_bps"] == pytest.approx(3.801e6, rel=1e-3)
        assert "the same addresses and ports had 2 connections, by their SYNs: this is number 2" in found.notes
    # A SYN that is sent again is none.
    again = [*ONE[:1], (1e-3, *ONE[0][1:]), *ONE[1:]]
    assert numbers_of(tmp_path, pcap(again))[0].connections == 1


def test_packets_captured_twice_are_told_from_retransmissions(tmp_path):
    twice = [packet for one in ONE for packet in (one, (one[0] + 2e-6, *one[1:]))]
    found, numbers = numbers_of(tmp_path, pcap(twice))
    assert numbers["data_segments"] == 200 and numbers["retransmitted_segments"] == 0 and numbers["rtt_samples"] == 200
    assert "403 packets were captured twice and are left out" in found.notes
    # Sent again after a round trip, with the same bytes: a retransmission.
    again = sorted([*ONE, *((t + 0.021, head, total) for t, head, total in ONE if total > 1000)], key=lambda packet: packet[0])
    found, numbers = numbers_of(tmp_path, pcap(again))
    assert numbers["retransmitted_segments"] == 200 and not any("twice" in note for note in found.notes)


def test_keep_alive_probes_are_no_retransmissions(tmp_path):
    probes = [(1 + 5 * i, *tcp(True, 1000 + 200_000, 5001, ACK, 1)) for i in range(6)]
    answers = [(t + 0.02, *tcp(False, 5001, 1001 + 200_000, ACK)) for t, *_ in probes]
    found, numbers = numbers_of(tmp_path, pcap(sorted([*ONE, *probes, *answers], key=lambda packet: packet[0])))
    assert numbers["data_segments"] == 200 and numbers["retransmitted_segments"] == 0
    notes = " ".join(found.notes)
    assert "6 keep-alive probes" in notes and "nothing was in flight" in notes


def test_what_the_capture_lost_is_told(tmp_path):
    dropped = [packet for packet in ONE if packet[2] > 900][5::10]
    kept = [packet for packet in ONE if packet not in dropped]
    missing = len(ONE) - len(kept)
    found, numbers = numbers_of(tmp_path, pcap(kept))
    assert missing == 20 and numbers["not_captured_segments"] == missing and numbers["data_segments"] == 200
    assert numbers["retransmitted_segments"] == 0 and numbers["rtt_min_s"] == pytest.approx(0.02, abs=2e-6)
    assert any(note.startswith(f"{missing * 1000:,} bytes, about {missing} segments, were acknowledged") for note in found.notes)
    # The last segment of all, and no FIN.
    found, numbers = numbers_of(tmp_path, pcap([packet for packet in ONE if packet[1] != tcp(True, 200_001, 5001, ACK, 1000)[0]]))
    assert numbers["data_segments"] == 200 and numbers["not_captured_segments"] == 1


def test_a_hole_that_is_filled_was_lost_before_the_capture(tmp_path):
    one = [packet for packet in ONE if packet[2] > 900][45]
    late = sorted([*(packet for packet in ONE if packet is not one), (one[0] + 0.005, *one[1:])], key=lambda packet: packet[0])
    _, numbers = numbers_of(tmp_path, pcap(late))
    assert numbers["data_segments"] == 200 and numbers["retransmitted_segments"] == 1


def test_captures_of_the_middle_of_a_connection_and_of_one_direction(tmp_path):
    found, numbers = numbers_of(tmp_path, pcap(ONE[43:]))
    assert any("begins in the middle" in note for note in found.notes) and numbers["rtt_min_s"] == pytest.approx(0.02, abs=2e-6)
    found, numbers = numbers_of(tmp_path, pcap([packet for packet in ONE if packet[1][12:16] == A]))
    assert numbers["data_segments"] == 200 and any("only packets of the sender" in note for note in found.notes)
    assert numbers["in_flight_max_bytes"] is None and numbers["rtt_samples"] == 0
    with pytest.raises(InputError, match=r"carry no data \(its ACKs cover 199,000 bytes: capture both directions"):
        numbers_of(tmp_path, pcap([packet for packet in ONE if packet[1][12:16] == B]))


def test_where_it_was_taken(tmp_path):
    """Data comes 10 ms later to the receiver, and ACKs were there 10 ms earlier."""
    for part, place in ((1.0, "receiver"), (0.5, "middle")):
        moved = [(t + (0.01 if head[12:16] == A else -0.01) * part, head, total) for t, head, total in ONE]
        moved = sorted(((t + 1, head, total) for t, head, total in moved), key=lambda packet: packet[0])
        found, _ = numbers_of(tmp_path, pcap(moved))
        assert found.taken_at == place
    found, _ = numbers_of(tmp_path, pcap(moved[43:]))
    assert found.taken_at is None and any("cannot be told" in note for note in found.notes)


def test_marks_are_seen_and_simulated(tmp_path, capsys):
    def marked(packet, first, flags):
        t, head, total = packet
        return (
            t,
            head[:33] + bytes([head[33] | (ECE | CWR if packet is ONE[0] else flags if head[12:16] == B else 0)]) + head[34:],
            total,
        )

    file = tmp_path / "marked.pcap"
    file.write_bytes(pcap([marked(packet, 0, ECE) for packet in ONE]))
    assert main(["validate", "trace", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ecn"] == {"mode": "classic", "marked": 0, "echoed": 200} and found["scenario"]["tcp"]["ecn"] == "classic"
    assert found["scenario"]["network"]["bottleneck"]["queue"]["mark_threshold"] >= 1
    assert any("200 marks or ACKs with ECE" in note for note in found["notes"])


def test_the_counter_of_accecn_is_followed(tmp_path):
    """RFC 9768 section 3.2: three bits that begin at 5; every second ACK tells of one more mark."""
    packets, count = [], 0
    for t, head, total in ONE:
        from_b, syn = head[12:16] == B, head[33] & SYN
        count += bool(from_b and not syn)
        ace = 7 if syn and not from_b else 2 if syn else (5 + count // 2) % 8 if from_b else 5
        packets.append((t, head[:32] + bytes([head[32] & 0xF0 | ace >> 2, head[33] | (ace & 3) << 6]) + head[34:], total))
    assert numbers_of(tmp_path, pcap(packets))[0].marks == trace.Marks("accecn", 0, 100)


def test_a_window_that_is_full_is_simulated(tmp_path, capsys):
    file = tmp_path / "window.pcap"
    file.write_bytes(pcap(transfer(window=10_000)))
    assert main(["validate", "trace", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scenario"]["tcp"]["recv_buffer"] == "10000B" and any("full window" in note for note in found["notes"])


def test_data_of_a_syn_alone_and_two_packets(tmp_path, capsys):
    syn = [
        (0.0, *tcp(True, 0, 0, SYN, 4)), (0.02, *tcp(False, 0, 5, SYN | ACK)), (0.02, *tcp(True, 5, 1, ACK)),
        (1.0, *tcp(True, 5, 1, FIN | ACK)),
    ]  # fmt: skip
    two = [(0.0, *tcp(True, 7000, 9000, ACK, 1000)), (0.02, *tcp(False, 9000, 8000, ACK))]
    for packets, options in ((syn, []), (two, ["--delay", "20ms", "--rate", "1Mbps"])):
        file = tmp_path / "small.pcap"
        file.write_bytes(pcap(packets))
        assert main(["validate", "trace", str(file), "--json", *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["trace"]["data_segments"] == 1 and found["trace"]["rtt_min_s"] == pytest.approx(0.02)
        assert any("few to estimate" in note for note in found["notes"])


def test_parts_of_a_unit_are_of_times_alone():
    """A connection with little data has a mean of a part of a byte in flight."""
    assert [shown(0.08, unit) for unit in ("B", "bit/s", "s")] == ["0.08 B", "0.08 bit/s", "80 ms"]
    assert [shown(8e4, "B"), shown(2e-6, "s"), shown(None, "B"), shown(1200, "")] == ["80 kB", "2 µs", "–", "1,200"]


def test_frames_that_give_nothing_are_counted_by_reason(tmp_path):
    others = [(0.1, MAC + b"\x08\x06" + bytes(28), 42)] * 3 + [(0.1, ETHER + udp(53) + bytes(20), 62)] * 2
    data = pcap([*((t, ETHER + head, total + 14) for t, head, total in ONE), *others], 1)
    notes = numbers_of(tmp_path, data)[0].notes
    assert notes[:2] == ("3 frames of EtherType 0x0806 are left out", "2 frames of UDP are left out")
    with pytest.raises(InputError, match=r"with its headers: 3 frames of EtherType 0x0806; 2 frames of UDP"):
        numbers_of(tmp_path, pcap(others, 1))
    with pytest.raises(InputError, match="403 frames of link type 189"):
        numbers_of(tmp_path, pcap(ONE, 189))
    with pytest.raises(InputError, match="a capture of snoop, which is not read"):
        numbers_of(tmp_path, b"snoop\0\0\0" + bytes(40))
    with pytest.raises(InputError, match="snap length"):
        numbers_of(tmp_path, pcap([(t, head[:30], total) for t, head, total in ONE]))


def test_changed_bytes_of_every_form_give_a_trace_or_a_sentence(tmp_path):
    draw = random.Random(11)
    for data in FILES.values():
        for _ in range(4):
            changed = bytearray(data[:6000])
            for _ in range(draw.randint(1, 20)):
                changed[draw.randrange(len(changed))] = draw.choice((0, 1, 127, 255, draw.randrange(256)))
            try:
                numbers_of(tmp_path, bytes(changed))
            except InputError as error:
                assert str(error)


TAGS = (b"\x81\0\0\7", b"\x88\xa8\0\7", b"\x91\0\0\7")
"""Any number of them may stand between addresses and type."""


def random_packet(draw, number):
    """Return headers of a segment with random fields, and what should be read of it."""
    from_a, flags, ecn = draw.random() < 0.5, draw.randrange(512) & ~SYN, draw.randrange(4)
    ident, window = draw.randrange(1 << 16), draw.randrange(1 << 16)
    seq, ack, length = draw.randrange(2**32), draw.randrange(2**32), draw.choice((0, 1, 700, 1448, 9000))
    sack = tuple((draw.randrange(2**32), draw.randrange(2**32)) for _ in range(draw.randrange(3)))
    stamp = (draw.randrange(2**32), number) if draw.random() < 0.5 else None
    options = b"".join(struct.pack(">II", *block) for block in sack)
    options = (b"\1\1\5" + bytes([2 + len(options)]) + options) if sack else b""
    options += b"\1\1\x08\x0a" + struct.pack(">II", *stamp) if stamp else b""
    head, total = tcp(from_a, seq, ack, flags, length, options, ident, window=window)
    ends = [("10.0.0.1", 40000), ("10.0.0.2", 80)]
    expected = (*(ends if from_a else ends[::-1]), seq, ack, flags, length, total, 0, sack, window, ident, ecn, None, stamp)
    return head[:1] + bytes([head[1] | ecn]) + head[2:], total, expected


def test_random_segments_behind_random_layers_are_read_as_they_were_written(tmp_path):
    """Every field, whatever stands before TCP, however the file is cut into parts, in both forms and compressed."""
    draw = random.Random(29)
    for turn in range(60):
        front = ETHER
        for _ in range(draw.randrange(4)):
            front = front[:12] + draw.choice(TAGS) + front[12:]
        front += draw.choice((b"", gre(0x2000, 0x6558, bytes(4)) + ETHER, udp(8472) + bytes(8) + ETHER, gre(0, 0x800)))
        packets, expected = [], []
        for number in range(draw.randint(1, 300)):
            head, total, fields = random_packet(draw, number)
            packets.append((number / 64, front + head, total + len(front)))
            expected.append((number * 10**9 // 64, *fields))
        data = pcapng(packets, links=(1,)) if turn % 2 else pcap(packets, 1)
        file = tmp_path / "x.cap"
        file.write_bytes(gzip.compress(data) if turn % 3 == 0 else data)
        assert [tuple(packet) for packet in trace.packets(trace.survey(file), 0, 10**12, 10**9)] == expected
        for part in (1, 17, 4096):
            reader, found = CaptureReader((0, 1 << 62)), []
            for at in range(0, len(data), part):
                found += reader.feed(data[at : at + part])
            assert found == expected and reader.end() is None and not reader.skipped()
