"""What threads make of one run: wall-clock time on one and on all cores, in turn."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from tonopah._core import run_on_threads
from tonopah.errors import RunFailedError
from tonopah.execution.options import cores
from tonopah.scenario.document import to_json
from tonopah_dev.bench.measure import spread
from tonopah_dev.bench.scenarios import SEED, fat_tree, parking_lot, satellites

WORLDS: Mapping[str, tuple[str, Callable[[float], dict[str, Any]], float]] = {
    "parking16": ("parking lot, 16 hops, 100 Mb/s", lambda seconds: parking_lot(16, seconds), 30.0),
    "fattree8": ("fat tree, 128 hosts, web search at load 0.6", lambda seconds: fat_tree(8, 56_000, seconds), 0.04),
    "leo200": ("Iridium, 400 terminals, 200 flows", lambda seconds: satellites(200, seconds), 100.0),
}
"""By name: what it is, its scenario, and how many seconds are simulated."""


def measure_threads(
    turns: int, step: Callable[[], None] = lambda: None, seconds: float | None = None, threads: int | None = None
) -> dict[str, Any]:
    """Return wall-clock seconds on one thread and on `threads` (all cores if absent), and how many times faster that is.

    Reading, building and summary are included. `step` is called after each world and turn.
    """
    count = threads or cores()
    texts = {name: to_json(build(seconds or own)) for name, (_, build, own) in WORLDS.items()}
    found: dict[str, dict[str, list[float]]] = {name: {"one_s": [], "all_s": [], "ratio": []} for name in WORLDS}
    for _ in range(turns):
        for name, text in texts.items():
            (one_s, alone), (all_s, together) = wall_clock(text, 1), wall_clock(text, count)
            if alone != together:
                raise RunFailedError(f"{name}: {count} threads give another summary than one")
            for key, value in (("one_s", one_s), ("all_s", all_s), ("ratio", one_s / all_s)):
                found[name][key].append(value)
            step()
    rows = {
        name: {"title": WORLDS[name][0]} | {key: spread(values) for key, values in one.items()} for name, one in found.items()
    }
    return {"threads": count, "worlds": rows}


def wall_clock(text: str, threads: int) -> tuple[float, str]:
    """Return the wall-clock seconds of a run, and its summary."""
    start = time.perf_counter()
    summary = run_on_threads(text, SEED, threads)[0].json()
    return time.perf_counter() - start, summary
