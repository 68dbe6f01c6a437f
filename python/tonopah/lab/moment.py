"""What a run shows at a moment: its packets, found by running up to there again, and where its satellites are.

Satellites, terminals and the paths of flows are lines on a map, longitude and latitude in degrees.
"""

import json
import time
from functools import cache
from typing import Any

from tonopah._core import Stepwise
from tonopah.errors import InputError, LimitError
from tonopah.lab.session import STEP_EVENTS, Session
from tonopah.plot import satellites

MOST_SECONDS = 2.0
MOST_EVENTS = 60_000
"""Of an excerpt; beyond it the page says that there are more."""
DIGITS = 2
"""Of a degree: less than a pixel of any screen."""


def excerpt(session: Session, from_s: float, until_s: float) -> dict[str, Any]:
    """Return the packet events of a run that has not begun, from one second to another. Raises InputError and LimitError."""
    if not 0 <= from_s < until_s or until_s - from_s > MOST_SECONDS:
        raise InputError("until_s", f"{from_s:g} s to {until_s:g} s cannot be shown", f"at most {MOST_SECONDS:g} s, from 0 s on")
    session.slots.take(session.cancelled)
    try:
        with session.bound.for_a_run() as algorithms:
            memory, wanted = session.limits.memory_bytes, (from_s, until_s, MOST_EVENTS)
            run = Stepwise(session.bound.text, session.seed, algorithms, None, memory, wanted)
            began, over = time.monotonic(), False
            while not over and (run.now_s or 0.0) < until_s:
                over = run.advance(until_s, STEP_EVENTS)
                run.series()
                if session.cancelled.is_set():
                    raise LimitError("the run was stopped")
                if time.monotonic() - began > session.limits.seconds:
                    raise LimitError(f"the run was stopped: {session.limits.seconds:g} s of computing are its limit")
            ended = run.finish()
    finally:
        session.slots.give()
    lines = ended[2].splitlines() if ended else []
    return {"events": [json.loads(line) for line in lines], "complete": len(lines) < MOST_EVENTS}


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
