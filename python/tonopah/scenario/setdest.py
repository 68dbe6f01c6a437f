"""Movement files of ns-2 (as `setdest` and BonnMotion write them), turned into what the engine takes.

`network.mobility = { kind = "setdest", file = "…" }` becomes a placement by list and orders for each station.
"""

import math
import re
from pathlib import Path
from typing import Any

from tonopah.errors import InputError

MAX_FILE_BYTES = 256 * 1024 * 1024
"""A larger file is not a movement file; refusing it keeps a wrong argument from filling the memory."""

PLACE = re.compile(r"\$node_\((\d+)\)\s+set\s+([XYZ])_\s+(\S+)")
ORDER = re.compile(r'\$ns_\s+at\s+(\S+)\s+"\$node_\((\d+)\)\s+setdest\s+(\S+)\s+(\S+)\s+(\S+?)"')
IGNORED = re.compile(r'#.*|\$god_\s.*|\$ns_\s+at\s+\S+\s+"\$god_\s.*')
"""Comments, and what the file tells ns-2's General Operations Director: distances in hops, which the engine finds itself."""


def inline_movement(scenario: dict[str, Any], folder: Path, source: str | None = None) -> None:
    """Replace a movement file named in `scenario` by what it says; its name is relative to `folder`."""
    network = scenario.get("network")
    mobility = network.get("mobility") if isinstance(network, dict) else None
    if not isinstance(mobility, dict) or mobility.get("kind") != "setdest" or not isinstance(mobility.get("file"), str):
        return
    if "placement" in network:
        raise InputError("network.placement", "the movement file says where stations are", "leave it out", source)
    if set(mobility) != {"kind", "file"}:
        raise InputError("network.mobility", "a movement file stands alone", "only kind and file", source)
    places, orders = read_movement(folder / mobility["file"])
    if network.setdefault("nodes", len(places)) != len(places):
        message = f"the movement file has {len(places)} stations"
        raise InputError("network.nodes", f"{network['nodes']!r} is not right: {message}", "leave it out", source)
    network["placement"] = {"kind": "list", "positions": places}
    network["mobility"] = {"kind": "fixed"}
    moving = {f"n{i}": {"kind": "setdest", "orders": own} for i, own in enumerate(orders) if own}
    network["own_mobility"] = {**moving, **network.get("own_mobility", {})}


def read_movement(path: Path) -> tuple[list[list[float]], list[list[dict[str, Any]]]]:
    """Return the places of all stations at first, and the orders of each in the order of time."""
    try:
        if (size := path.stat().st_size) > MAX_FILE_BYTES:
            raise InputError("", f"is too large for a movement file: {size} bytes", f"at most {MAX_FILE_BYTES}", str(path))
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError("", f"cannot be read: {(error.strerror or str(error)).lower()}", None, str(path)) from None
    axes: dict[int, dict[str, float]] = {}
    orders: dict[int, list[tuple[float, dict[str, Any]]]] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip().rstrip(";").rstrip()
        where = f"line {number}"
        if not line or IGNORED.fullmatch(line):
            continue
        if place := PLACE.fullmatch(line):
            node, axis, value = place.groups()
            axes.setdefault(int(node), {})[axis] = real(value, where, path)
        elif order := ORDER.fullmatch(line):
            at, x, y, speed = (real(order[i], where, path) for i in (1, 3, 4, 5))
            if at < 0 or speed < 0:
                raise InputError(where, "a time or a speed is below 0", None, str(path))
            told = {"at": f"{round(at * 1e9)}ns", "x": x, "y": y, "speed": f"{speed!r}m/s"}
            orders.setdefault(int(order[2]), []).append((at, told))
        else:
            hint = '$node_(i) set X_ v, or $ns_ at t "$node_(i) setdest x y v"'
            raise InputError(where, f"{line[:80]!r} is not a line of a movement file", hint, str(path))
    return assemble(axes, orders, path)


def assemble(
    axes: dict[int, dict[str, float]], orders: dict[int, list[tuple[float, dict[str, Any]]]], path: Path
) -> tuple[list[list[float]], list[list[dict[str, Any]]]]:
    """Return places and orders by station, numbered from 0 without a gap."""
    count = max([*axes, *orders], default=-1) + 1
    if not count:
        raise InputError("", "names no node", None, str(path))
    # What is there is counted, not the numbers: a file may name node 10^12.
    if len(axes) < count or any(not {"X", "Y"} <= axes[node].keys() for node in axes):
        missing = next(i for i in range(count) if not {"X", "Y"} <= axes.get(i, {}).keys())
        raise InputError("", f"does not say where node {missing} is at first", "X_ and Y_ of every node from 0 on", str(path))
    places = [[axes[i]["X"], axes[i]["Y"], *([axes[i]["Z"]] if axes[i].get("Z") else [])] for i in range(count)]
    sorted_orders = [[told for _, told in sorted(orders.get(i, []), key=lambda order: order[0])] for i in range(count)]
    return places, sorted_orders


def real(text: str, where: str, path: Path) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(where, f"{text!r} is not a number", None, str(path))
    return value
