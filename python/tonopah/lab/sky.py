"""Where the satellites of a run are at a time, and the paths of its flows: lines on a map, longitude and latitude in degrees."""

import json
from functools import cache
from typing import Any

from tonopah.errors import InputError
from tonopah.lab.session import Session
from tonopah.plot import satellites

DIGITS = 2
"""Of a degree: less than a pixel of any screen."""


def sky(session: Session, at_s: float) -> dict[str, Any]:
    """Return the map of a constellation at a time, by the engine's own orbits and routes. Raises InputError."""
    if session.graph["network"]["kind"] != "constellation":
        raise InputError("run", "the network of this run has no satellites")
    view = satellites.ground_tracks(session.graph, session.seed, at_s, until_s=0.0)
    return {
        "caption": satellites.caption(view),
        "satellites": [[round(lon, DIGITS), round(lat, DIGITS)] for _, lat, lon in view["satellites"]],
        "terminals": [[one["name"], one["lon_deg"], one["lat_deg"]] for one in view["terminals"]],
        "tracks": [line for track in satellites.shown_tracks(view) for line in lines(track)],
        "paths": [[line for chord in path for line in lines(chord)] for path in satellites.shown_paths(view)],
    }


def lines(pieces: Any) -> list[list[list[float]]]:
    """Return pieces of a line, each as positions."""
    return [[[round(x, DIGITS), round(y, DIGITS)] for x, y in zip(lon, lat, strict=True)] for lon, lat in pieces]


@cache
def coast() -> list[list[list[float]]]:
    """Return the coastlines, each as positions."""
    return lines((line[0::2], line[1::2]) for line in json.loads(satellites.COAST.read_text(encoding="utf-8"))["lines"])
