"""Random changes of files as bytes; of archives, databases and links also below their digests, as somebody can make them."""

import base64
import hashlib
import io
import json
import random
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path

from tonopah._core import engine_build, engine_version
from tonopah.errors import InputError
from tonopah.scenario import links
from tonopah.store import pack
from tonopah.store.database import checksum
from tonopah.store.store import COLUMNS

Tokens = tuple[bytes, ...]
LONGEST = 20_000
"""Bytes of an input; seeds are cut to it."""
LONGEST_WHOLE = 1 << 20
"""Of an archive or a database, which a cut would only break."""
WORDS: Tokens = tuple(value.to_bytes(4, "little") for value in (0, 1, 20, 2**16 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1))
TEXTS: Tokens = (
    b"null", b"-1", b"1e999", b"NaN", b"[" * 70, b"{}", b'""', b"18446744073709551615", b"\x1e", b"\n", b"1e308", b"-0.0",
    b"9" * 5000, b"[" * 5000, b"a.b" * 900, b"\xff", b"\0", b"\r", b'"', b",", b"<", b"=", "²".encode(), "٣".encode(),
    b"\x1b[2J", b"../x", b"\xef\xbb\xbf",
)  # fmt: skip


def changed(data: bytes, other: bytes, tokens: Tokens, draw: random.Random, longest: int = LONGEST) -> bytes:
    """Return an input with one to four changes: bytes, numbers and words put in, pieces left out, moved or of another input."""
    out = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at, length = draw.randrange(len(out) + 1), 1 << draw.randrange(10)
        kind = draw.randrange(8)
        if kind == 0:
            out[at : at + 1] = bytes([draw.randrange(256)])
        elif kind == 1:
            token = draw.choice(tokens)
            out[at : at + len(token)] = token
        elif kind == 2:
            out[at:at] = draw.choice(tokens)
        elif kind == 3:
            del out[at : at + length]
        elif kind == 4:
            out[at:at] = out[at : at + length]
        elif kind == 5:
            start = draw.randrange(len(other) + 1)
            out[at:] = other[start:]
        else:
            # A digit becomes another one, which leaves most texts what they are.
            digits = [place for place in range(at, min(at + 40, len(out))) if 48 <= out[place] < 58]
            if digits:
                out[digits[0]] = draw.randrange(48, 58)
    return bytes(out[:longest])


def change_pack(data: bytes, other: bytes, tokens: Tokens, draw: random.Random) -> bytes:
    """Return an archive with changed bytes or, more often, a whole one with a changed member, name or text of its database."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist() if name != pack.LIST}
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError):
        files = {}
    if not files or draw.random() < 0.2:
        return changed(data, other, tokens, draw, LONGEST_WHOLE)
    name = draw.choice([*files, *[pack.DATABASE] * (2 * (pack.DATABASE in files))])
    if name == pack.DATABASE:
        files[name] = change_store(files[name], files[name], tokens, draw)
    else:
        files[name] = changed(files[name], files[draw.choice([*files])], tokens, draw, LONGEST_WHOLE)
    if draw.random() < 0.05:
        files[changed(name.encode(), b"../x", tokens, draw).decode("latin-1")] = files.pop(name)
    return honest(files)


def honest(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of these members whose list has their true sizes and digests."""
    listed = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    facts = {"format": pack.FORMAT, "study": "small", "tonopah": engine_version(), "build": engine_build(), "files": listed}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, data in {pack.LIST: json.dumps(facts).encode(), **files}.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return written.getvalue()


def change_store(data: bytes, other: bytes, tokens: Tokens, draw: random.Random) -> bytes:
    """Return a database with changed bytes or, more often, with a changed row whose digest is right."""
    if draw.random() < 0.3:
        return changed(data, other, tokens, draw, LONGEST_WHOLE)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, pack.DATABASE)
        file.write_bytes(data)
        with closing(sqlite3.connect(file)) as database, suppress(sqlite3.Error, UnicodeError, IndexError), database:
            change_row(database, tokens, draw)
        return file.read_bytes()


def change_row(database: sqlite3.Connection, tokens: Tokens, draw: random.Random) -> None:
    """Change one value of a row of a store."""
    table, columns = draw.choice([("study", ["key", "value", "digest"]), ("runs", COLUMNS.split(", "))])
    row = list(draw.choice(database.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()))
    whose, column = row[0], draw.randrange(len(columns) - 1)
    if isinstance(row[column], str):
        text = changed(row[column].encode(), str(draw.choice(row)).encode(), tokens, draw, LONGEST_WHOLE)
        row[column] = text.decode("utf-8", errors="replace")
    else:
        row[column] = draw.choice([0, 1, -1, None, 1e300, 2**62, "", b"\xff"])
    row[-1] = checksum(*row[:-1])
    places = ", ".join(f"{name} = ?" for name in columns)
    database.execute(f"UPDATE {table} SET {places} WHERE {columns[0]} = ?", (*row, whose))


def change_link(data: bytes, other: bytes, tokens: Tokens, draw: random.Random) -> bytes:
    """Return the letters of a link with changes or, more often, those of a changed text."""
    try:
        text = links.unpacked(data.decode("latin-1"), "a link")
    except InputError:
        text = b""
    return changed(data, other, tokens, draw) if not text or draw.random() < 0.2 else letters(changed(text, text, tokens, draw))


def letters(text: bytes) -> bytes:
    """Return the letters of a link for what it holds."""
    return base64.urlsafe_b64encode(zlib.compress(text, 9, -zlib.MAX_WBITS)).rstrip(b"=")
