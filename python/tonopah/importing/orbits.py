"""The path of least delay over satellites of a TLE set, as the delays of a link: of each second all satellites in view are tried.

A file of two-line elements, with or without lines of names. If its first line has two numbers, planes and satellites in each,
as Hypatia (Kassing et al. 2020) writes it, satellites have links in a grid: to both neighbours in the plane, and to the same one
in both planes beside it. Without it the path has one satellite. Positions are SGP4's, turned from TEME by sidereal time.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tonopah.errors import InputError
from tonopah.importing.link import Imported, delays_of, scenario_of
from tonopah.importing.samples import Samples
from tonopah.scenario.link_files import read_text

LIGHT_M_S = 299_792_458.0
WGS84_M, FLATTENING = 6_378_137.0, 1 / 298.257_223_563
PLACE = re.compile(r"(?:(?P<name>[^=]+)=)?(?P<lat>-?[0-9.]+),(?P<lon>-?[0-9.]+)")
DAY_S = 86_400.0
MAX_SATELLITES = 20_000


class Place(NamedTuple):
    """A terminal: its name, where it is on the Earth in metres, and what is up there."""

    name: str
    at_m: Any
    up: Any


class Shell(NamedTuple):
    """Satellites, and the pairs of them that have a link."""

    satellites: Any
    epoch: tuple[float, float]
    pairs: Any


def import_orbits(names: Sequence[str], out: Path, options: dict[str, Any]) -> Imported:
    """Return the scenario of a path between two places. Raises InputError."""
    if len(names) != 1:
        raise InputError("FILE", f"tle is read from one file, {len(names)} are given")
    if missing := [key for key in ("start", "end", "rate") if not options[key]]:
        flag = {"start": "--from", "end": "--to", "rate": "--rate"}[missing[0]]
        raise InputError(flag, "is missing", "--from Manila=14.6,121 --to Dalian=38.9,121.6 --rate 10Mbps")
    ends = [place_of(options[key], flag) for key, flag in (("start", "--from"), ("end", "--to"))]
    shell = read_shell(read_text(names[0]), names[0])
    samples = Samples(length_s=float(options["seconds"]))
    for second in range(options["seconds"]):
        delay = least_delay(shell, ends, second, options["elevation"])
        if delay is None:
            samples.left_out += 1
        else:
            samples.add_delay(float(second), delay)
    if not samples.delays:
        raise InputError("", "no path at any second", "a lower --elevation, or places that satellites pass", names[0])
    rtts = [2e3 * delay for delay in samples.delays]
    told = [
        f"{len(shell.satellites):,} satellites, {'links in a grid' if len(shell.pairs) else 'no links between them'}",
        f"least delay over all in view above {options['elevation']:g} degrees, once a second: "
        f"round trips {min(rtts):.1f} to {max(rtts):.1f} ms, {sum(rtts) / len(rtts):.1f} in the mean",
    ]
    told += [f"{samples.left_out} seconds without a path keep the delay before them"] if samples.left_out else []
    link = {"rate": options["rate"]} | delays_of(samples, names[0])
    return Imported({out.name: scenario_of("tle", names, link, samples.length_s)}, told)


def place_of(text: str, flag: str) -> Place:
    """Return a place on the ellipsoid."""
    match = PLACE.fullmatch(text)
    try:
        lat, lon = (np.radians(float(match[key])) for key in ("lat", "lon")) if match else (np.nan, np.nan)
    except ValueError:
        lat = lon = np.nan
    if not (abs(lat) <= np.pi / 2 and abs(lon) <= 2 * np.pi):
        raise InputError(flag, f"{text[:40]!r} is no place", "NAME=LATITUDE,LONGITUDE in degrees, such as Manila=14.6,121")
    up = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    squared = FLATTENING * (2 - FLATTENING)
    across = WGS84_M / np.sqrt(1 - squared * np.sin(lat) ** 2)
    return Place(match["name"] or text if match else text, up * across * np.array([1, 1, 1 - squared]), up)


def read_shell(text: str, source: str) -> Shell:
    """Return the satellites of a file."""
    try:
        from sgp4.api import Satrec, SatrecArray
    except ImportError:
        raise InputError("", "needs the package sgp4", "pip install '.[topologies]' in the checkout", source) from None
    lines = [(number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    grid = re.fullmatch(r"(\d{1,4}) (\d{1,4})", lines[0][1]) if lines else None
    found: list[Any] = []
    first: tuple[int, str] | None = None
    for number, line in lines:
        if line.startswith("1 ") and len(line) >= 69:
            first = (number, line)
        elif line.startswith("2 ") and len(line) >= 69:
            if first is None:
                raise InputError(f"line {number}", "is a second line without a first", "pairs of lines 1 and 2", source)
            found.append(satellite(Satrec, first, line, source))
            first = None
    if not found or first is not None or len(found) > MAX_SATELLITES:
        hint = f"pairs of lines 1 and 2 of 69 letters, up to {MAX_SATELLITES:,}"
        raise InputError(f"line {first[0]}" if first else "", "holds no whole set of two-line elements", hint, source)
    pairs = np.empty((0, 2), dtype=int)
    if grid:
        planes, each = int(grid[1]), int(grid[2])
        if planes * each != len(found):
            message = f"says {planes} planes of {each}, and {len(found)} satellites follow"
            raise InputError("line 1", message, None, source)
        index = np.arange(planes * each).reshape(planes, each)
        along, beside = np.roll(index, -1, axis=1), np.roll(index, -1, axis=0)
        pairs = np.concatenate([np.stack([index, other], axis=-1).reshape(-1, 2) for other in (along, beside)])
    return Shell(SatrecArray(found), (found[0].jdsatepoch, found[0].jdsatepochF), pairs)


def satellite(kind: Any, first: tuple[int, str], second: str, source: str) -> Any:
    """Return the satellite of two lines."""
    try:
        made = kind.twoline2rv(first[1], second)
    except (ValueError, IndexError) as error:
        raise InputError(f"line {first[0]}", f"is no line of elements: {error}", None, source) from None
    if made.error:
        raise InputError(f"line {first[0]}", f"has elements that SGP4 refuses (error {made.error})", None, source)
    return made


def least_delay(shell: Shell, ends: Sequence[Place], second: int, elevation: float) -> float | None:
    """Return the least one-way delay between two places at a second, or None without a path."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra
    from sgp4.propagation import gstime

    whole, fraction = shell.epoch
    fraction += second / DAY_S
    wrong, places, _ = shell.satellites.sgp4(np.array([whole]), np.array([fraction]))
    angle = gstime(whole + fraction)
    turn = np.array([[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    at_m = 1e3 * places[:, 0] @ turn.T
    count = len(at_m)
    rows, columns, lengths = [shell.pairs[:, 0]], [shell.pairs[:, 1]], [np.linalg.norm(
        at_m[shell.pairs[:, 0]] - at_m[shell.pairs[:, 1]], axis=1)]  # fmt: skip
    for k, end in enumerate(ends):
        to = at_m - end.at_m
        distance = np.linalg.norm(to, axis=1)
        seen = np.flatnonzero((to @ end.up >= np.sin(np.radians(elevation)) * distance) & (wrong[:, 0] == 0))
        rows.append(np.full(len(seen), count + k))
        columns.append(seen)
        lengths.append(distance[seen])
    shape = (count + 2, count + 2)
    graph = csr_matrix((np.concatenate(lengths), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
    metres = dijkstra(graph, directed=False, indices=count)[count + 1]
    return float(metres) / LIGHT_M_S if np.isfinite(metres) else None
