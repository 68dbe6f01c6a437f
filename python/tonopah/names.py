"""Names of files, anchors and figures that follow from ids: readable, safe everywhere, and one-to-one.

A name has only lower-case ASCII letters, digits, "_" and "-": it is a file name where case does not count, a fragment of an
address, and text that LaTeX includes. An id that is such a name is its own name; any other gets a digest of itself at its
end, and so does a name that ends like a digest. Two ids have two names, unless two digests of 48 bits are equal.
"""

import re
import unicodedata

from tonopah.digest import digest

DIGEST_DIGITS = 12
MAX_READABLE = 40
"""Longer ids are cut and get a digest; a file name of four parts stays below the 255 bytes of file systems."""

PLAIN = re.compile(r"[a-z0-9_]+(?:-[a-z0-9_]+)*")
DOTTED = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*")
LIKE_DIGEST = re.compile(rf"(?:.*-)?[0-9a-f]{{{DIGEST_DIGITS}}}")


def slug(text: str) -> str:
    """Return the name of an id, such as that of a part: `wifi-grows` is itself, `A b` is `a-b-` and a digest."""
    return text if is_own_name(text, PLAIN) else readable(text) + digest(text)[:DIGEST_DIGITS]


def key_slug(key: str) -> str:
    """Return the name of a key with dots, a path or a metric: `network.flows` is `network-flows`."""
    return key.replace(".", "-") if is_own_name(key, DOTTED) else readable(key) + digest(key)[:DIGEST_DIGITS]


def figure_id(part: str, kind: str, *keys: str) -> str:
    """Return the id of a figure: its part (if the study has parts), its kind and its keys, such as axis and metric."""
    return "--".join([*([slug(part)] if part else []), kind, *(key_slug(key) for key in keys)])


def is_own_name(text: str, pattern: re.Pattern[str]) -> bool:
    """Tell whether an id can be its own name."""
    return len(text) <= MAX_READABLE and bool(pattern.fullmatch(text)) and not LIKE_DIGEST.fullmatch(text.replace(".", "-"))


def readable(text: str) -> str:
    """Return what can be shown of a text, with the hyphen before its digest; nothing if no letter or digit can."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9_]+", "-", ascii_text.lower()).strip("-")[:MAX_READABLE].strip("-")
    return f"{words}-" if words else ""


def listed(text: str | None) -> list[str]:
    """Return the parts of a list with commas; what stands in braces or brackets is one part."""
    parts, depth, part = [], 0, ""
    for letter in text or "":
        depth += (letter in "{[") - (letter in "}]")
        if letter == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [one for one in (*parts, part.strip()) if one]
