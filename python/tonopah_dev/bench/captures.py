"""Reading speed of captures: `python -m tonopah_dev.bench.captures [MB]` writes files of 1000 MB, reads them and deletes them.

One TCP connection over Ethernet with timestamps, an ACK for every second segment: with full-size packets, with headers alone as
pcap and as pcapng. CPU time is that of `tonopah validate trace` whole, and of its reading alone.
"""

import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tonopah.validate.trace.capture import packets, survey
from tonopah.validate.trace.comparison import MAX_BYTES, MAX_SECONDS

MSS, WINDOW, RTT_NS, GAP_NS = 1448, 100, 20_000_000, 12_000
SNAP = 66
"""Bytes of the headers."""


def segment(numbers: tuple[int, int], flags: int, length: int, t_ns: int, *, of_a: bool) -> bytes:
    """Return the headers of a segment between two hosts."""
    ends, ports = (b"\x0a\0\0\1\x0a\0\0\2", (40000, 80)) if of_a else (b"\x0a\0\0\2\x0a\0\0\1", (80, 40000))
    stamps = b"\1\1\x08\x0a" + struct.pack(">II", t_ns // 10**6 % 2**32, (t_ns - RTT_NS) // 10**6 % 2**32)
    tcp = struct.pack(">HHIIHHHH", *ports, *(number % 2**32 for number in numbers), 8 << 12 | flags, 65535, 0, 0) + stamps
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 52 + length, 0, 0x4000, 64, 6, 0) + ends
    return b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" + ip + tcp


def transfer() -> Iterator[tuple[int, bytes, int]]:
    """Yield time, headers and payload of each packet, without end."""
    yield 10**12, segment((0, 0), 2, 0, 10**12, of_a=True), 0
    yield 10**12 + RTT_NS, segment((0, 1), 18, 0, 10**12, of_a=False), 0
    t_ns, sent, acked = 10**12 + RTT_NS, 1, 1
    while True:
        before = sent
        for place in range(WINDOW):
            at = t_ns + place * GAP_NS
            yield at, segment((sent, 1), 16, MSS, at, of_a=True), MSS
            sent += MSS
            if place % 2 and acked < before:
                acked += 2 * MSS
                yield at + 1000, segment((1, acked), 16, 0, at, of_a=False), 0
        t_ns += RTT_NS


def block(kind: int, body: bytes) -> bytes:
    """Return a block of a pcapng file."""
    size = len(body) + -len(body) % 4 + 12
    return struct.pack("<II", kind, size) + body + bytes(-len(body) % 4) + struct.pack("<I", size)


def write(path: Path, size: int, whole: bool) -> None:
    """Write a capture of so many bytes, as pcapng if its name says so."""
    new = path.suffix == ".pcapng"
    head = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    if new:
        head = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        head += block(1, struct.pack("<HHIHHB3xHH", 1, 0, 0, 9, 1, 9, 0, 0))
    with path.open("wb", buffering=1 << 22) as file:
        file.write(head)
        for t_ns, headers, payload in transfer():
            data = headers + bytes(payload) if whole else headers[:SNAP]
            sizes = len(data), len(headers) + payload
            if new:
                file.write(block(6, struct.pack("<IIIII", 0, t_ns >> 32, t_ns & 0xFFFFFFFF, *sizes) + data))
            else:
                file.write(struct.pack("<IIII", t_ns // 10**9, t_ns % 10**9, *sizes) + data)
            if file.tell() >= size:
                return


def measure(path: Path) -> None:
    """Print what reading a file takes, and the whole command."""
    began = time.process_time()
    packets(survey(path), 0, round(MAX_SECONDS * 1e9), MAX_BYTES)
    reading = time.process_time() - began
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "tonopah", "validate", "trace", str(path), "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = path.stat().st_size / 1e6
    print(
        f"{path.name}: {size:,.0f} MB read in {reading:.2f} s of CPU, {size / reading:,.0f} MB/s; "
        f"all of validate trace {whole:.2f} s, {after.ru_maxrss / 1e3:,.0f} MB of memory at most"
    )


def main(size: int) -> None:
    """Write, measure and delete the three files in turn."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("full-size.pcap", "headers.pcap", "headers.pcapng"):
            path = Path(folder, name)
            write(path, size, whole=name.startswith("full"))
            measure(path)
            path.unlink()


if __name__ == "__main__":
    main(int(float(sys.argv[1] if len(sys.argv) > 1 else 1000) * 1e6))
