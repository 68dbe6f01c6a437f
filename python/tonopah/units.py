"""Values along the axes of a study: text with a unit becomes a number with a label. The engine has the grammar and the units."""

import math
from typing import Any

from tonopah._core import parse_quantity, split_quantity

SI_UNITS = {
    "duration": "s", "rate": "b/s", "size": "bytes", "packets": "packets", "packet_rate": "packets/s", "event_rate": "1/s",
    "bdp": "BDP", "length": "m", "speed": "m/s", "power": "W", "consumption": "W", "energy": "J", "frequency": "Hz",
    "current": "A", "voltage": "V",
}  # fmt: skip
"""Unit of `si` for each kind of quantity of the engine."""
SYMBOLS = {
    "kbps": "kb/s", "Mbps": "Mb/s", "Gbps": "Gb/s", "bps": "b/s", "us": "µs", "p": "packets", "pps": "packets/s", "B": "bytes",
    "bdp": "BDP",
}  # fmt: skip
"""Units whose symbol in figures and reports is not the one of scenarios."""


def split(value: Any) -> tuple[float, str] | None:
    """Return number and unit of a value: 20 and "ms" of "20ms", 5 and "" of 5; None when it is not a number."""
    if isinstance(value, bool):
        return None
    if quantity := split_quantity(str(value)):
        return quantity[0], quantity[1]
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return (number, "") if math.isfinite(number) else None


def si(value: Any) -> float:
    """Return a value in SI units: 1500 of "1.5km", 5 of 5; raise ValueError when it is not a number."""
    if quantity := split_quantity(str(value)):
        return parse_quantity(str(value), quantity[2])
    if plain := split(value):
        return plain[0]
    raise ValueError(f"{value!r} is not a number with a unit")


def numbers(values: list[Any]) -> tuple[list[float], str] | None:
    """Return the values as numbers in one unit, and its symbol; None when they are not numbers of one kind."""
    parts = [part for value in values if (part := split(value)) is not None]
    units = {unit for _, unit in parts}
    if len(parts) < len(values):
        return None
    if len(units) == 1:
        unit = units.pop()
        return [number for number, _ in parts], SYMBOLS.get(unit, unit)
    kinds = {quantity[2] if (quantity := split_quantity(str(value))) else "" for value in values}
    if len(kinds) > 1:
        return None
    return [si(value) for value in values], SI_UNITS[kinds.pop()]


def positions(values: list[Any]) -> tuple[list[float], str]:
    """Return the positions of the values on an axis: numbers with their unit, or 0, 1, 2 and so on for other values."""
    return numbers(values) or ([float(i) for i in range(len(values))], "")
