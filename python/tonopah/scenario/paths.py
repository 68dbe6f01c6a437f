"""Paths into a scenario: find and set values by `flow.0.cc` or `flow[0].cc`."""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

import tomli

from tonopah.errors import InputError

MAX_STEPS = 40
MAX_LETTERS = 1000
"""Limits of a path; the longest in a scenario has about six steps."""
MAX_DIGITS = 18
"""Digits of the number of an entry."""

SCALARS = frozenset((str, int, float, bool, type(None)))


def split_path(path: str) -> list[str | int]:
    """Return the steps of a path: `flow[0].cc` and `flow.0.cc` both give `["flow", 0, "cc"]`."""
    steps = re.sub(r"\[(\d+)\]", r".\1", path[: MAX_LETTERS + 1]).split(".")
    if len(path) > MAX_LETTERS or len(steps) > MAX_STEPS:
        raise InputError(f"{path[:40]}...", "is too long for a path", f"at most {MAX_STEPS} steps and {MAX_LETTERS} letters")
    if not all(re.fullmatch(r"[A-Za-z0-9_-]+", step) for step in steps):
        raise InputError(path, "is not a path", "like network.flows, flow.0.cc or flow[0].cc")
    return [int(step) if step.isascii() and step.isdigit() and len(step) <= MAX_DIGITS else step for step in steps]


def put(scenario: dict[str, Any], path: str, value: Any, source: str | None = None) -> None:
    """Set the value at `path`. A table that is missing on the way is made; the engine then judges its name."""
    steps = split_path(path)
    place: Any = scenario
    for depth, step in enumerate(steps):
        if isinstance(place, dict) and isinstance(step, str):
            if depth == len(steps) - 1:
                place[step] = value
            elif step not in place and isinstance(steps[depth + 1], int):
                hint = (
                    "network.flows makes flows without an entry; `tcp` and `traffic` are for all flows"
                    if path.startswith("flow")
                    else None
                )
                raise InputError(place_of(steps, depth + 1), "is not listed: it has no entries", hint, source)
            else:
                place = place.setdefault(step, {})
        elif isinstance(place, list) and isinstance(step, int):
            if step >= len(place):
                raise InputError(place_of(steps, depth), f"has no entry {step}", f"it has {len(place)}, numbered from 0", source)
            if depth == len(steps) - 1:
                place[step] = value
            else:
                place = place[step]
        else:
            raise InputError(place_of(steps, depth), f"{kind_of(place)} has no entry {step!r}", f"in {path}", source)


def put_all(scenario: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at every place that `path` names: `link.*.queue` is the queue of every link."""
    before, star, after = path.partition(".*")
    if not star:
        put(scenario, path, copy.deepcopy(value))
        return
    entries = fetch(scenario, before)
    if not isinstance(entries, list) or not entries:
        raise InputError(before, "has no entries", f"in {path}: * stands for every entry of an array")
    for number in range(len(entries)):
        put_all(scenario, f"{before}.{number}{after}", value)


def place_of(steps: list[str | int], depth: int) -> str:
    """Return the path of the value at which the first `depth` steps end."""
    return ".".join(str(step) for step in steps[: max(depth, 1)])


def kind_of(value: Any) -> str:
    """Return what kind of value this is, in the words of TOML."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array (entries are chosen by number)"
    return f"the value {value!r}"


def fetch(scenario: Mapping[str, Any], path: str) -> Any:
    """Return the value at `path`, or None when there is none; `*` stands for the first entry of an array."""
    path = path.replace(".*", ".0")
    place: Any = scenario
    for step in split_path(path):
        if isinstance(place, Mapping) and isinstance(step, str):
            place = place.get(step)
        elif isinstance(place, list) and isinstance(step, int) and step < len(place):
            place = place[step]
        else:
            return None
    return place


def parse_assignment(text: str) -> tuple[str, Any]:
    """Return path and value of `PATH=VALUE`. VALUE is read as TOML where it is TOML (`10`, `true`, `[1, 2]`), else as text."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise InputError("--set", f"{text!r} is not PATH=VALUE", "like network.flows=20 or tcp.cc=cubic")
    value = value.strip()
    try:
        document = tomli.loads(f"value = {value}")
    except (ValueError, RecursionError):
        # Also a whole number of thousands of digits, which Python does not read: the engine then says what it expects.
        return path.strip(), value
    return path.strip(), document["value"] if set(document) == {"value"} else value


def inner(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the tables in a table or array, and the arrays that may hold some, each with the key or number that leads to it.

    A list of a million arrivals is a row of texts each: they are passed over at once.
    """
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in steps:
        if isinstance(below, dict) or (isinstance(below, list) and not SCALARS.issuperset(map(type, below))):
            yield step, below
