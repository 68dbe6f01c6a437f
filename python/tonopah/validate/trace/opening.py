"""Opens the file of a capture, compressed or not, and hands it on in parts, so that a file of any size takes little memory.

What a file is compressed with is read from its first bytes (gzip, xz, bzip2, zstd, lz4), whatever its name says.
"""

import bz2
import gzip
import lzma
import os
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tonopah.errors import InputError
from tonopah.scenario.files import KINDS, read_file

PART_BYTES = 1 << 23
"""What is read at a time; whole frames of it are looked at together."""
PIECE_BYTES = 1 << 16
REPORT_S = 1.0
"""Seconds between two lines of progress."""


def arrow(codec: str) -> Callable[[BinaryIO], Any]:
    """Return a reader of what Arrow can decompress (it is here already, and knows zstd, which Python 3.11 does not)."""

    def opened(file: BinaryIO) -> Any:
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec)

    return opened


COMPRESSED: dict[bytes, tuple[str, Callable[[BinaryIO], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda file: gzip.GzipFile(fileobj=file)),
    b"\xfd7zXZ\x00": ("xz", lzma.LZMAFile),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\x28\xb5\x2f\xfd": ("zstd", arrow("zstd")),
    b"\x04\x22\x4d\x18": ("lz4", arrow("lz4")),
}
"""By the first bytes: the name, and what opens it."""
DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""What the readers raise where a file ends too early or is no such file."""


def parts(path: Path, on_cut: Callable[[str], None]) -> Iterator[bytes]:
    """Yield the content of a regular file in parts; `on_cut` is told where a compressed one ends too early. Raises InputError."""
    source = str(path)
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        regular = False
    if not regular:
        # It says what is wrong with the name.
        read_file(path, "a capture", 0)
        raise InputError("", f"is no regular file, but one of {', '.join(words for _, words in KINDS)}", None, source)
    try:
        with open(path, "rb", buffering=0) as file:
            head = file.read(8)
            file.seek(0)
            name, opened = next((found for magic, found in COMPRESSED.items() if head.startswith(magic)), ("", None))
            yield from decompressed(opened(file), name, source, on_cut) if opened else iter(lambda: file.read(PART_BYTES), b"")
    except OSError as error:
        raise InputError("", f"cannot be read: {(error.strerror or str(error)).lower()}", None, source) from None


def decompressed(reader: Any, name: str, source: str, on_cut: Callable[[str], None]) -> Iterator[bytes]:
    """Yield what a reader decompresses, up to where it cannot."""
    at, part, more = 0, bytearray(), b" "
    # What `read` would have to wait for is given away if an error comes before it.
    some = getattr(reader, "read1", reader.read)
    while more:
        try:
            more = some(PIECE_BYTES)
        except DAMAGED as error:
            if not at + len(part):
                raise InputError("", f"is no {name} file that can be read: {error}", None, source) from None
            text = (
                f"the {name} file is cut short or damaged after {at + len(part):,} bytes of its content: what is before is read"
            )
            on_cut(text)
            more = b""
        part += more
        if len(part) >= PART_BYTES or (part and not more):
            at += len(part)
            yield bytes(part)
            part.clear()


class Progress:
    """Says on a terminal how much of a large file is read."""

    def __init__(self, what: str) -> None:
        self.what, self.done, self.next = what, 0, time.monotonic() + REPORT_S
        self.shown = sys.stderr.isatty()

    def add(self, number: int) -> None:
        """Note that some more bytes were read."""
        self.done += number
        if self.shown and time.monotonic() >= self.next:
            self.next = time.monotonic() + REPORT_S
            print(f"\r{self.what}: {self.done / 1e6:,.0f} MB", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line."""
        if self.shown and self.done > PART_BYTES:
            print(file=sys.stderr)
