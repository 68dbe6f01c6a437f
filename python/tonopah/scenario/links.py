"""A link is the experiment: scenario, seed and view, compressed behind the `#` of the address of a lab, which no server receives.

JSON as the lab writes it (`lab/static/share.js`): `{"document", "seed", "view"}`, raw DEFLATE (RFC 1951), base64url (RFC
4648 §5).
"""

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

from tonopah.errors import InputError
from tonopah.scenario.document import reject_unsupported_values

MARK = "#bench/"
MOST_BYTES = 4 * 1024 * 1024
"""Of a link and of what it holds: a megabyte may unpack to a thousand."""
MOST_SHOWN = 60


def is_link(given: str) -> bool:
    """Tell whether a text is a link with a scenario, and no name of a file."""
    return MARK in given


def write(document: Mapping[str, Any], seed: int, page: str) -> str:
    """Return the link of a scenario at the address of a page. Raises InputError if it is too large."""
    content = json.dumps(
        {"document": document, "seed": seed, "view": None}, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    packed = zlib.compress(content.encode(), 9, -zlib.MAX_WBITS)
    letters = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if max(len(content.encode()), len(letters)) > MOST_BYTES:
        raise InputError("", "is too large for a link", "at most 4 MiB: share the file")
    return f"{page.partition('#')[0]}{MARK}{letters}"


def read(link: str) -> tuple[dict[str, Any], int]:
    """Return scenario and seed of a link. Raises InputError."""
    name = f"{link[:MOST_SHOWN]}…" if len(link) > MOST_SHOWN else link
    letters = link.partition(MARK)[2]
    if len(letters) > MOST_BYTES:
        raise InputError("", "is longer than 4 MiB", None, name)
    content = unpacked(letters, name)
    try:
        # As the page does: JSON of bytes would also be UTF-16 or UTF-32.
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        found = None
    document = found.get("document") if isinstance(found, dict) else None
    if not isinstance(document, dict) or not document:
        raise InputError("", "holds no scenario", "was it cut off?", name)
    reject_unsupported_values(document, "", name)
    seed = found.get("seed", 1)  # pyright: ignore[reportOptionalMemberAccess]
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise InputError("seed", f"{str(seed)[:MOST_SHOWN]} is not a seed", "a whole number from 0 to 2^64 - 1", name)
    return document, seed


def unpacked(letters: str, name: str) -> bytes:
    """Return what the letters of a link hold. Raises InputError."""
    reader = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        if not re.fullmatch(r"[A-Za-z0-9_-]*", letters):
            raise ValueError(letters[:MOST_SHOWN])
        content = reader.decompress(base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4)), MOST_BYTES)
    except (ValueError, binascii.Error, zlib.error):
        raise InputError("", "cannot be unpacked", "was it cut off?", name) from None
    if reader.unconsumed_tail:
        raise InputError("", "holds more than 4 MiB", None, name)
    if not reader.eof or reader.unused_data:
        raise InputError("", "cannot be unpacked", "was it cut off?", name)
    return content
