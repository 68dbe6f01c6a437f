"""Checks of what a study file may contain; each raises InputError with the place, what is wrong and what is allowed."""

from collections.abc import Iterable, Mapping
from typing import Any

from tonopah._core import parse_quantity
from tonopah.errors import InputError

TYPE_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "an array",
    dict: "a table",
}


def keys(table: Mapping[str, Any], path: str, allowed: Mapping[str, type], required: tuple[str, ...] = ()) -> None:
    """Raise InputError unless `table` has only `allowed` keys, each of its type, and all `required` ones."""
    if not isinstance(table, Mapping):
        raise InputError(path, f"{table!r} is not a table")
    for key, value in table.items():
        here = below(path, key)
        if key not in allowed:
            raise InputError(here, "unknown key", f"allowed: {', '.join(allowed)}")
        typed(value, here, allowed[key])
    for key in required:
        if key not in table or table[key] == "":
            raise InputError(below(path, key), "is missing")


def typed(value: Any, path: str, wanted: type) -> None:
    """Raise InputError unless `value` is of the type; a whole number may stand for a number."""
    number = wanted is float and isinstance(value, int)
    if not (isinstance(value, wanted) or number) or (isinstance(value, bool) and wanted is not bool):
        raise InputError(path, f"{value!r} is not {TYPE_NAMES[wanted]}")


def tables(document: Mapping[str, Any], key: str, path: str = "") -> list[tuple[int, Mapping[str, Any]]]:
    """Return the numbered entries of `[[key]]`."""
    entries = list(enumerate(document.get(key, [])))
    for i, entry in entries:
        if not isinstance(entry, Mapping):
            raise InputError(below(path, f"{key}[{i}]"), f"{entry!r} is not a table")
    return entries


def texts(value: Any, path: str) -> tuple[str, ...]:
    """Return text, or an array of it, as a tuple."""
    entries = value if isinstance(value, list) else [value]
    filled(entries, path)
    for i, entry in enumerate(entries):
        typed(entry, f"{path}[{i}]" if isinstance(value, list) else path, str)
    distinct(entries, path)
    return tuple(entries)


def seconds(value: Any, path: str) -> float:
    """Return a time like "9.1s" in seconds."""
    try:
        return parse_quantity(value if isinstance(value, str) else repr(value), "duration")
    except ValueError:
        raise InputError(path, f"{value!r} is not a time", 'like "500ms", "9.1s" or "10min"') from None


def one_of(value: Any, path: str, allowed: Iterable[str], what: str = "allowed") -> None:
    """Raise InputError unless `value` is one of `allowed`."""
    known = list(allowed)
    if value not in known:
        raise InputError(path, f"{value!r} is unknown", f"{what}: {', '.join(known) or 'nothing'}")


def within(value: float, path: str, low: float, high: float) -> None:
    """Raise InputError unless low <= value <= high."""
    if not low <= value <= high:
        raise InputError(path, f"{value} is out of range", f"{low} to {high}")


def filled(values: list[Any], path: str) -> None:
    """Raise InputError when the array is empty."""
    if not values:
        raise InputError(path, "is empty")


def distinct(values: list[Any], path: str) -> None:
    """Raise InputError when two entries are the same."""
    seen: list[Any] = []
    for value in values:
        if value in seen:
            raise InputError(path, f"{value!r} appears twice")
        seen.append(value)


def below(path: str, key: str) -> str:
    """Return the path of a key inside a table."""
    return f"{path}.{key}" if path else key
