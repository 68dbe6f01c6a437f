"""`tonopah map`."""

import argparse
import json
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import add_common, add_set, changes, instant, seed
from tonopah.errors import InputError
from tonopah.plot import network, satellites
from tonopah.simulation import check

EXAMPLE = "tonopah map leo.toml --at 10min --out leo.svg"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `map`."""
    add_common(command, draw_map, EXAMPLE)
    command.add_argument("scenario", help="scenario (TOML)")
    command.add_argument(
        "--at", type=instant, default=0.0, metavar="TIME", help="time of a map of satellites, like 90s, 10min or 5h (default: 0s)"
    )
    command.add_argument("--out", default="map.svg", metavar="FILE", help="picture to write (SVG; default: map.svg)")
    command.add_argument(
        "--seed", type=seed, default=1, help="random seed; it shifts the times at which terminals choose satellites (default: 1)"
    )
    add_set(command)


def draw_map(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah map`."""
    graph = check(arguments.scenario, arguments.seed, changes(arguments))["graph"]
    if graph["network"]["kind"] != "constellation":
        return draw_network(arguments, graph)
    tracks = satellites.find_ground_tracks(arguments.scenario, arguments.seed, changes(arguments), arguments.at)
    Path(arguments.out).write_text(satellites.draw(tracks), encoding="utf-8")
    if arguments.json:
        print(json.dumps(tracks))
    else:
        print(f"{satellites.caption(tracks)}\nmap: {Path(arguments.out).resolve()}")
    return 0


def draw_network(arguments: argparse.Namespace, graph: dict[str, Any]) -> int:
    """Draw nodes and links where no satellites move."""
    if arguments.at:
        raise InputError("--at", "is for constellations; the picture of another network has no time")
    Path(arguments.out).write_text(network.draw(graph), encoding="utf-8")
    if arguments.json:
        print(json.dumps(graph))
    else:
        print(f"{network.describe(graph)}\nmap: {Path(arguments.out).resolve()}")
    return 0
