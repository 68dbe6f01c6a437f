"""Runs the scenarios of a script and counts what it counts."""

import json
import math
from collections.abc import Sequence
from typing import Any

from tonopah._core import run, trace
from tonopah.authors.networks import network
from tonopah.authors.packets import Numbers, Seen


def seen(scenario: str, seed: int, summary: str, series: Any) -> Seen:
    """Return what a script sees of a run that gave this summary and these series; the same run again gives its packets."""
    return Seen(json.loads(scenario), trace(scenario, seed, json=True), json.loads(summary), series)


def observe(scenario: str, seed: int) -> Seen:
    """Run a scenario (JSON text) and return what a script sees of it."""
    summary, series = run(scenario, seed)
    return seen(scenario, seed, summary.json(), series)


def columns(name: str, runs: Sequence[Seen]) -> dict[str, float]:
    """Return the columns of the named network with their values, in SI units."""
    one = network(name)
    numbers: Numbers = one.count(runs)
    known = {key: number for key, number in numbers.items() if not math.isnan(number)}
    return {f"{one.metrics}.{column}": factor * known[key] for key, (column, factor) in one.columns.items() if key in known}
