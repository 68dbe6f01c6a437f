"""Movement files of ns-2 (as `setdest` and BonnMotion write them), and tables of movement, converted to keys of the scenario.

`network.mobility = { kind = "setdest", file = "…" }` becomes a placement by list and a list of orders for each station. A file
`….csv` has columns `node`, `x`, `y`, perhaps `z`, `at` and `speed`: a row without `at` is where a node stands at first, one with
it sends the node there from that time on.
"""

import math
import re
import warnings
from pathlib import Path
from typing import Any

from tonopah.errors import InputError, ScenarioWarning
from tonopah.scenario.csv_files import read_table
from tonopah.scenario.files import instant, read_file

MAX_FILE_BYTES = 256 * 1024 * 1024
"""Limit of the size of a movement file, so that a wrong argument does not exhaust memory."""

PLACE = re.compile(r"\$\w+\((\d{1,9})\)\s+set\s+([XYZ])_\s+(\S+)")
ORDER = re.compile(r'\$\w+\s+at\s+(\S+)\s+"\$\w+\((\d{1,9})\)\s+setdest\s+(\S+)\s+(\S+)\s+(\S+?)"')
IGNORED = re.compile(r'#.*|\$god_\s.*|\$\w+\s+at\s+\S+\s+"\$god_\s.*')
"""Comments, and commands to ns-2's General Operations Director: distances in hops, which the engine computes itself."""
LOOKS = r"(?:label|label-color|label-at|color|shape|add-mark|delete-mark|random-motion)\b"
WITHOUT_EFFECT = re.compile(
    rf"set\s+\w+(?:\([^)]*\))?\s+[^\[;]*|\$\w+\s+initial_node_pos\s.*|\$\w+\(\d+\)\s+{LOOKS}.*"
    rf'|\$\w+\s+at\s+\S+\s+"(?:\$\w+\(\d+\)\s+{LOOKS}|puts\s|\$\w+\s+(?:trace-annotate|set-animation-rate)\s).*"'
)
"""Known lines that move nothing: variables, and how nam shows a node."""


def inline_movement(scenario: dict[str, Any], folder: Path, source: str | None = None) -> None:
    """Replace a movement file named in `scenario` by its contents; its name is relative to `folder`."""
    network = scenario.get("network")
    if not isinstance(network, dict):
        return
    mobility = network.get("mobility")
    if not isinstance(mobility, dict) or mobility.get("kind") != "setdest" or not isinstance(mobility.get("file"), str):
        return
    if "placement" in network:
        raise InputError("network.placement", "the movement file gives the positions of stations", "remove it", source)
    if set(mobility) != {"kind", "file"}:
        raise InputError("network.mobility", "a movement file stands alone", "only kind and file", source)
    try:
        positions, orders = read_movement(folder / mobility["file"])
    except InputError as error:
        raise named_by(error, "network.mobility.file", source) from None
    if network.setdefault("nodes", len(positions)) != len(positions):
        message = f"the movement file has {len(positions)} stations"
        raise InputError("network.nodes", f"{network['nodes']!r} is wrong: {message}", "remove it", source)
    network["placement"] = {"kind": "list", "positions": positions}
    network["mobility"] = {"kind": "fixed"}
    moving = {f"n{i}": {"kind": "setdest", "orders": own} for i, own in enumerate(orders) if own}
    network["own_mobility"] = {**moving, **network.get("own_mobility", {})}


def named_by(error: InputError, key: str, source: str | None) -> InputError:
    """Return the error of a file that a key of another names: file, key, then what is wrong; an error in its lines stays."""
    if error.path:
        return error
    message = f"{error.source} {error.message}" if error.source else error.message
    return InputError(key, message, error.hint, source)


def read_movement(path: Path) -> tuple[list[list[float]], list[list[dict[str, Any]]]]:
    """Return the initial positions of all stations, and the orders of each, sorted by time."""
    if path.suffix.lower() == ".csv":
        return read_movement_table(path)
    text = read_file(path, "a movement file", MAX_FILE_BYTES).decode("utf-8", errors="replace")
    axes: dict[int, dict[str, float]] = {}
    orders: dict[int, list[tuple[float, dict[str, Any]]]] = {}
    left_out: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip().rstrip(";").rstrip()
        where = f"line {number}"
        if not line or IGNORED.fullmatch(line):
            continue
        if place := PLACE.fullmatch(line):
            node, axis, value = place.groups()
            axes.setdefault(int(node), {})[axis] = finite(value, where, path)
        elif order := ORDER.fullmatch(line):
            at, x, y, speed = (finite(order[i], where, path) for i in (1, 3, 4, 5))
            orders.setdefault(int(order[2]), []).append((at, order_of(at, x, y, speed, where, path)))
        elif WITHOUT_EFFECT.fullmatch(line):
            left_out.append(f"{where}: {line[:80]!r}")
        else:
            hint = '$node_(i) set X_ v, or $ns_ at t "$node_(i) setdest x y v"'
            raise InputError(where, f"{line[:80]!r} is not a line of a movement file", hint, str(path))
    if left_out:
        text = f"{path}: {left_out[0]}: moves nothing and is left out"
        warnings.warn(text + (f", as {len(left_out) - 1} more lines" if left_out[1:] else ""), ScenarioWarning, stacklevel=2)
    return assemble(axes, orders, path)


NODE = re.compile(r"n?(\d{1,9})")
COLUMNS = ("node", "x", "y", "z", "at", "speed")


def read_movement_table(path: Path) -> tuple[list[list[float]], list[list[dict[str, Any]]]]:
    """Return what a table of movement says, as `read_movement`."""
    axes: dict[int, dict[str, float]] = {}
    orders: dict[int, list[tuple[float, dict[str, Any]]]] = {}
    for where, row in read_table(path):
        if unknown := [name for name in row if name not in COLUMNS]:
            raise InputError("line 1", f"{unknown[0][:40]!r} is unknown", f"columns: {', '.join(COLUMNS)}", str(path))
        node = NODE.fullmatch(row.get("node", ""))
        if node is None:
            raise InputError(where, f"{row.get('node', '')[:40]!r} is not a node", "n0, n1 and so on, or its number", str(path))
        x, y = (finite(row.get(key, ""), where, path) for key in ("x", "y"))
        if not row.get("at"):
            height = finite(row["z"], where, path) if row.get("z") else 0.0
            axes[int(node[1])] = {"X": x, "Y": y, "Z": height}
            continue
        at, speed = (finite(row.get(key, ""), where, path) for key in ("at", "speed"))
        orders.setdefault(int(node[1]), []).append((at, order_of(at, x, y, speed, where, path)))
    return assemble(axes, orders, path)


def order_of(at: float, x: float, y: float, speed: float, where: str, path: Path) -> dict[str, Any]:
    """Return an order to go somewhere. Raises InputError."""
    if speed < 0:
        raise InputError(where, f"the speed {speed:g} is below 0", None, str(path))
    return {"at": instant(at, where, path), "x": x, "y": y, "speed": f"{speed!r}m/s"}


def assemble(
    axes: dict[int, dict[str, float]], orders: dict[int, list[tuple[float, dict[str, Any]]]], path: Path
) -> tuple[list[list[float]], list[list[dict[str, Any]]]]:
    """Return positions and orders by station, numbered from 0 without a gap."""
    count = max([*axes, *orders], default=-1) + 1
    if not count:
        raise InputError("", "names no node", None, str(path))
    # Entries are counted rather than trusting the highest number: a file may name node 10^12.
    if len(axes) < count or any(not {"X", "Y"} <= axes[node].keys() for node in axes):
        missing = next(i for i in range(count) if not {"X", "Y"} <= axes.get(i, {}).keys())
        raise InputError("", f"gives no initial position of node {missing}", "X_ and Y_ of every node from 0 on", str(path))
    positions = [[axes[i]["X"], axes[i]["Y"], *([axes[i]["Z"]] if axes[i].get("Z") else [])] for i in range(count)]
    sorted_orders = [[entry for _, entry in sorted(orders.get(i, []), key=lambda order: order[0])] for i in range(count)]
    return positions, sorted_orders


def finite(text: str, where: str, path: Path) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(where, f"{text!r} is not a number", None, str(path))
    return value
