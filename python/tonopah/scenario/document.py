"""Scenarios as Python dictionaries: read from TOML, changed by path, written as TOML or as JSON for the engine.

The engine alone knows what a scenario may contain; this file rejects only values that cannot be passed to it.
"""

import copy
import datetime
import json
import math
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli
import tomli_w

from tonopah.errors import CONTROL, InputError
from tonopah.scenario.files import read_file
from tonopah.scenario.paths import put
from tonopah.scenario.tables import inline_files

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Limit of the size of a scenario file, so that a wrong argument does not exhaust memory."""

MAX_DEPTH = 60
"""Tables and arrays in one another; the engine reads twice as many, and scenarios have less than ten."""

MAX_LINE = 1000
MAX_SHOWN = 80
"""Letters of a line of TOML that are looked at for a value without quotes, and of one that is repeated in a message."""

MAX_BITS = 128
"""A larger whole number is no quantity, and of some thousand bits it cannot even be printed."""


def load(path: str | Path) -> dict[str, Any]:
    """Read a scenario from a file.

    Parameters
    ----------
    path : str or path
        A TOML file (docs/generated/scenario.md).

    Returns
    -------
    dict
        The scenario, not yet checked: `check` and `run` do that.

    Raises
    ------
    InputError
        The file is missing, empty, binary, not UTF-8 or not TOML (with line and column), or contains a value that has no
        meaning in a scenario (not-a-number, infinity, a date).
    """
    return decoded(read_file(path, "a scenario or study", MAX_FILE_BYTES), str(path))


def decoded(data: bytes, source: str) -> dict[str, Any]:
    """Return the content of the TOML file `source` as a dictionary. Raises InputError."""
    if b"\0" in data:
        raise InputError("", "is a binary file, not TOML", None, source)
    try:
        return parse(data.decode("utf-8-sig"), source)
    except UnicodeDecodeError as error:
        raise InputError("", f"is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}", None, source) from None


def parse(text: str, source: str | None = None) -> dict[str, Any]:
    """Return TOML `text` as a dictionary; `source` names it in errors."""
    if not text.strip():
        raise InputError("", "is empty", None, source)
    try:
        document = tomli.loads(text)
    except ValueError as error:
        # Also what Python itself refuses: a whole number of thousands of digits.
        raise InputError("", f"is not valid TOML: {error}", toml_hint(text, error), source) from None
    except RecursionError:
        raise InputError("", "is nested too deeply", None, source) from None
    if not document:
        raise InputError("", "holds only comments", None, source)
    reject_unsupported_values(document, "", source)
    return document


BARE = re.compile(r"(?P<before>(?:^|[\[{,])\s*[A-Za-z0-9_.\"-]+\s*=\s*)(?P<value>[-+]?[0-9]*\.?[0-9]*[A-Za-zµ%][^\s,\]}#\"']*)")
"""A value without quotes that is no number: `30s`, `10Mbps`, `cubic`."""


def toml_hint(text: str, error: ValueError) -> str | None:
    """Return what to write in the line that is no TOML, if a value in it lacks its quotes."""
    if "Unescaped '\\'" in str(error) or "Invalid escape" in str(error):
        return "in a path write / instead of \\ (C:/data/d.toml), or put the text in single quotes"
    found = re.search(r"at line (\d+)", str(error))
    lines = text.split("\n")
    line = lines[int(found[1]) - 1] if found and int(found[1]) <= len(lines) else ""
    for bare in BARE.finditer(line[:MAX_LINE]):
        value = bare["value"]
        if value not in ("true", "false", "inf", "nan") and len(value) <= MAX_SHOWN:
            key = bare["before"].strip(" \t[{,")
            what = "a value with a unit" if value[0] in "+-.0123456789" else "text"
            return f'{what} needs quotes: {key} "{value}"'
    return None


def reject_unsupported_values(value: Any, path: str, source: str | None = None, depth: int = 0) -> None:
    """Raise InputError for a value below `path` that TOML or Python can hold and a scenario cannot."""
    if depth > MAX_DEPTH:
        raise InputError(
            path[:MAX_SHOWN], "is nested too deeply", f"at most {MAX_DEPTH} tables and arrays in one another", source
        )
    if isinstance(value, Mapping):
        for key, below in value.items():
            reject_odd_text(key, path, source)
            reject_unsupported_values(below, f"{path}.{key}" if path else str(key), source, depth + 1)
    elif isinstance(value, list | tuple):
        for index, below in enumerate(value):
            reject_unsupported_values(below, f"{path}[{index}]", source, depth + 1)
    elif isinstance(value, str):
        reject_odd_text(value, path, source)
    elif isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise InputError(path, f"a whole number of {value.bit_length()} bits has no meaning here", None, source)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(path, f"{value} is not a finite number", None, source)
    elif isinstance(value, datetime.date | datetime.time):
        raise InputError(path, f"{value} is a date or a time of day", 'write durations as text, like "20ms"', source)
    elif isinstance(value, type) and re.search(r"(^|\.)cc(\.python)?$", path):
        pass  # an algorithm in Python
    elif not isinstance(value, str | int | float | bool | None):
        raise of_no_meaning(value, path, source)


def of_no_meaning(value: Any, path: str, source: str | None) -> InputError:
    """Return the error for what only Python can hold."""
    if isinstance(value, type) and hasattr(value, "on_ack"):
        # It fits where runs are of this process; a study names it, so that any process finds it.
        hint = f'write it into a file and import it, or name it: "FILE.py:{value.__name__}"; a notebook writes with %%writefile'
        return InputError(path, f"the class {value.__name__} is in no file from which a study could run it again", hint, source)
    hint = "give the class, not an object of it" if hasattr(value, "on_ack") else None
    return InputError(path, f"a value of type {type(value).__name__} has no meaning here", hint, source)


def reject_odd_text(text: Any, path: str, source: str | None) -> None:
    """Raise InputError for text of bytes that are not UTF-8, as a command line may have them, or that a terminal would obey."""
    if not isinstance(text, str) or (text.isascii() and text.isprintable()):
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(path, f"{text!r} is not UTF-8 text", None, source) from None
    if found := CONTROL.search(text):
        raise InputError(path, f"{text!r} holds the control character U+{ord(found[0]):04X}", "text that can be printed", source)


def read(source: str | Path | Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return a scenario given as file or dictionary as a fresh dictionary, and the name to use in errors."""
    if isinstance(source, Mapping):
        reject_unsupported_values(source, "")
        return copy.deepcopy(dict(source)), None
    return load(source), str(source)


def prepare(source: str | Path | Mapping[str, Any], changes: Mapping[str, Any] | None) -> tuple[dict[str, Any], str | None]:
    """Return the scenario with `changes` (path to value) made in it, and the name to use in errors."""
    scenario, name = read(source)
    if is_study(scenario):
        command = f"tonopah study run {shlex.quote(name)}" if name else "tonopah.Study"
        raise InputError("", "is a study, not a scenario", command, name)
    for path, value in (changes or {}).items():
        reject_unsupported_values(value, path, name)
        put(scenario, path, copy.deepcopy(value), name)
    folder = Path(name).parent if name else Path()
    inline_files(scenario, folder, name)
    return scenario, name


REFERENCE = re.compile(r"[A-Za-z_][\w-]*:[\w-]+")
"""What stands for the scenario of a source (spec/source.py) where a file may stand."""


def is_reference(given: Any) -> bool:
    """Tell whether this stands for the scenario of a source, and is no file."""
    return isinstance(given, str) and bool(REFERENCE.fullmatch(given)) and not Path(given).exists()


def names_source(given: str | Path | Mapping[str, Any]) -> bool:
    """Tell whether a scenario is from a source. Raises InputError."""
    return is_reference(given) or not {"source", "author"}.isdisjoint(read(given)[0])


def is_study(document: Mapping[str, Any]) -> bool:
    """Tell whether a document is a study by the keys that every study has and no scenario."""
    return "question" in document or "compare" in document


def to_json(scenario: Mapping[str, Any]) -> str:
    """Return the scenario as the engine takes it."""
    return json.dumps(scenario, allow_nan=False, ensure_ascii=False)


def to_toml(scenario: Mapping[str, Any]) -> str:
    """Return a scenario as TOML; keys whose value is None are omitted. Raises InputError for what TOML has not."""
    try:
        return tomli_w.dumps(omit_none(scenario))
    except TypeError as error:
        raise InputError("", f"cannot be written as TOML: {error}", "text, numbers, booleans, arrays and tables") from None


def omit_none(value: Any) -> Any:
    """Return tables without the keys whose value is None, at every depth."""
    if isinstance(value, Mapping):
        return {key: omit_none(below) for key, below in value.items() if below is not None}
    return [omit_none(below) for below in value] if isinstance(value, list | tuple) else value
