"""The records of a qlog, whatever its form: a JSON text sequence (RFC 7464), a line each (NDJSON), or one JSON document.

Records are read one by one, those of a document too, so that memory stays within a few times the file.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tonopah.errors import InputError

RECORD_SEPARATOR = b"\x1e"
MAX_EVENTS = 10_000_000
MAX_DEPTH = 64
"""Objects and arrays in one another."""
EVENTS = re.compile(r'"events"\s*:\s*\[')
SPACE = re.compile(r"[\s,]*")
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
CLOSING = {"[": "]", "{": "}"}
NOT_QLOG = "no qlog: s2n-quic, msquic and lsquic write none"
CUT = "its last record is cut off and left out"


@dataclass
class Records:
    """A file: what stands before its events, and the events, each with the byte at which it begins."""

    form: str
    header: dict[str, Any]
    events: Iterator[tuple[int, Any]]
    notes: list[str] = field(default_factory=list)


def records(data: bytes, trace: int, source: str) -> Records:
    """Return the records of trace number `trace`. Raises InputError, with the byte, where the file is none."""
    start = data.lstrip()
    if start.startswith(RECORD_SEPARATOR):
        return sequence(data, trace, source, RECORD_SEPARATOR, "JSON-SEQ")
    if not start.startswith(b"{"):
        raise InputError("", NOT_QLOG, "a qlog of QUIC, or of tonopah run", source)
    first = start.split(b"\n", 1)[0]
    if b'"events"' not in first and b'"traces"' not in first and is_json(first):
        return sequence(data, trace, source, b"\n", "NDJSON")
    return document(data, trace, source)


def is_json(text: bytes) -> bool:
    """Tell whether a text is a JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def sequence(data: bytes, trace: int, source: str, separator: bytes, form: str) -> Records:
    """Return the records of a sequence, whose first one is the header."""
    if trace:
        raise InputError("--trace", f"{trace}: this form has one trace", "0", source)
    found = Records(form, {}, iter(()))
    pieces = parsed(data, separator, source, found)
    at, header = next(pieces, (0, None))
    if not isinstance(header, dict):
        raise InputError("", f"at byte {at:,}: a header that is no object", None, source)
    found.header, found.events = header, pieces
    if "qlog_version" not in header and "file_schema" not in header and "trace" not in header:
        raise InputError("", NOT_QLOG, "its first record has `qlog_version` or `file_schema`", source)
    return found


def parsed(data: bytes, separator: bytes, source: str, found: Records) -> Iterator[tuple[int, Any]]:
    """Yield the records between separators. The last may be cut off."""
    at, count = 0, 0
    while at < len(data):
        end = data.find(separator, at)
        end = len(data) if end < 0 else end
        text = data[at:end]
        if text.strip():
            count += 1
            if count > MAX_EVENTS:
                raise InputError("", f"more than {MAX_EVENTS:,} events", "a shorter log", source)
            try:
                yield at, shallow(json.loads(text), text)
            except (ValueError, RecursionError) as error:
                # The header alone is no log.
                if data.find(separator, end) < 0 and count > 1:
                    found.notes.append(CUT)
                    return
                raise InputError("", f"at byte {at:,}: no JSON: {str(error)[:100]}", None, source) from None
        at = end + len(separator)


def shallow(value: Any, text: bytes | str) -> Any:
    """Return a value. Raises ValueError if it is nested too deeply."""
    opening = ("[", "{") if isinstance(text, str) else (b"[", b"{")
    if sum(text.count(one) for one in opening) > MAX_DEPTH and depth(value) > MAX_DEPTH:  # type: ignore[arg-type]
        raise ValueError(f"nested in more than {MAX_DEPTH} levels")
    return value


def depth(value: Any) -> int:
    """Return how many objects and arrays stand in one another."""
    deepest, left = 0, [(value, 1)]
    while left:
        one, level = left.pop()
        if isinstance(one, dict | list):
            deepest = max(deepest, level)
            left += [(below, level + 1) for below in (one.values() if isinstance(one, dict) else one)]
    return deepest


def document(data: bytes, trace: int, source: str) -> Records:
    """Return the records of one JSON document, whose traces have arrays of events."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError("", f"at byte {error.start:,}: no UTF-8 text", None, source) from None
    at, found = 0, None
    if trace < 0:
        raise InputError("--trace", f"{trace} is not there", "0 is the first", source)
    for number in range(trace + 1):
        found = EVENTS.search(text, at)
        if found is None:
            if number:
                raise InputError("--trace", f"{trace} is not there", f"0 to {number - 1}", source)
            raise InputError("", f"{NOT_QLOG}: this JSON has no `events`", "a qlog of QUIC, or of tonopah run", source)
        if number < trace:
            at = found.end()
            for place, _ in elements(text, found.end(), source, None):
                at = place
    assert found is not None
    records = Records("JSON", header_of(text[: found.start()], source), iter(()))
    records.events = elements(text, found.end(), source, records)
    return records


def header_of(text: str, source: str) -> dict[str, Any]:
    """Return what stands before the events of the last trace of a text."""
    open_ones: list[str] = []
    for one in BRACKETS.finditer(text):
        if one[0] in CLOSING:
            open_ones.append(one[0])
        elif one[0] in "]}" and open_ones:
            open_ones.pop()
    try:
        whole = json.loads(text.rstrip().rstrip(",") + "".join(CLOSING[one] for one in reversed(open_ones)))
    except (ValueError, RecursionError) as error:
        raise InputError("", f"what stands before its events is no JSON: {str(error)[:100]}", None, source) from None
    traces = whole.get("traces") if isinstance(whole, dict) else None
    last = traces[-1] if isinstance(traces, list) and traces else {}
    return {**whole, "trace": last} if isinstance(whole, dict) and isinstance(last, dict) else {}


def is_cut_off(text: str, at: int) -> bool:
    """Tell whether the value that begins at a place is still open where the text ends."""
    level = 0
    for one in BRACKETS.finditer(text, at):
        level += (one[0] in "[{") - (one[0] in "]}")
        if level <= 0 and one[0] in "]}":
            return False
    return True


def elements(text: str, at: int, source: str, found: Records | None) -> Iterator[tuple[int, Any]]:
    """Yield the elements of the array that begins at a place. The last may be cut off."""
    decoder, count = json.JSONDecoder(), 0
    while True:
        space = SPACE.match(text, at)
        at = space.end() if space else at
        if at < len(text) and text[at] == "]":
            return
        count += 1
        if count > MAX_EVENTS:
            raise InputError("", f"more than {MAX_EVENTS:,} events", "a shorter log", source)
        try:
            value, end = decoder.raw_decode(text, at)
            yield at, shallow(value, text[at:end])
        except (ValueError, RecursionError) as error:
            if count > 1 and is_cut_off(text, at):
                if found is not None:
                    found.notes.append(CUT)
                return
            raise InputError("", f"at byte {at:,}: no JSON: {str(error)[:100]}", None, source) from None
        at = end
