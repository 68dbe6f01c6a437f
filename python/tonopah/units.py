"""Values along the axes of a study: text with a unit becomes a number with a label."""

import re
from typing import Any

UNITS = {
    "ns": (1e-9, "s"), "us": (1e-6, "s"), "ms": (1e-3, "s"), "s": (1.0, "s"), "min": (60.0, "s"),
    "bps": (1.0, "b/s"), "kbps": (1e3, "b/s"), "Mbps": (1e6, "b/s"), "Gbps": (1e9, "b/s"),
    "B": (1.0, "bytes"), "kB": (1e3, "bytes"), "KB": (1e3, "bytes"), "MB": (1e6, "bytes"), "KiB": (1024.0, "bytes"),
    "MiB": (1048576.0, "bytes"), "p": (1.0, "packets"), "pps": (1.0, "packets/s"),
    "m": (1.0, "m"), "km": (1e3, "m"), "m/s": (1.0, "m/s"), "km/h": (1 / 3.6, "m/s"),
}  # fmt: skip
SHOWN = {
    "kbps": "kb/s",
    "Mbps": "Mb/s",
    "Gbps": "Gb/s",
    "bps": "b/s",
    "us": "µs",
    "p": "packets",
    "pps": "packets/s",
    "B": "bytes",
}


def split(value: Any) -> tuple[float, str] | None:
    """Return number and unit of a value (`"20ms"` gives 20 and "ms"), or None when it is not a number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value), ""
    found = re.fullmatch(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z/]*)\s*", str(value))
    if not found or (found[2] and found[2] not in UNITS):
        return None
    try:
        return float(found[1]), found[2]
    except ValueError:
        return None


def number(value: Any) -> float:
    """Return a value in the base unit of its kind: "1.5km" is 1500; raise ValueError when it is not a number."""
    found = split(value)
    if found is None:
        raise ValueError(f"{value!r} is not a number with a unit")
    return found[0] * UNITS[found[1]][0] if found[1] else found[0]


def numbers(values: list[Any]) -> tuple[list[float], str] | None:
    """Return the values as numbers in one unit, and that unit for people; None when one of them is not a number."""
    parts = [split(value) for value in values]
    if any(part is None for part in parts):
        return None
    units = {part[1] for part in parts if part}
    if len(units) == 1:
        unit = units.pop()
        return [part[0] for part in parts if part], SHOWN.get(unit, unit)
    if "" in units or len({UNITS[unit][1] for unit in units}) > 1:
        return None
    scaled = [part[0] * UNITS[part[1]][0] for part in parts if part]
    return scaled, UNITS[units.pop()][1]


def positions(values: list[Any]) -> tuple[list[float], str]:
    """Return where the values stand on an axis: as numbers with their unit, or one after the other."""
    return numbers(values) or ([float(i) for i in range(len(values))], "")
