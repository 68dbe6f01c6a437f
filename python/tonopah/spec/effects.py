"""Refuses what a study sets and what changes nothing: its runs would be one, under several names."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from tonopah.errors import InputError


class Placed(Protocol):
    """A scenario of one of the compared at one place of the axes."""

    @property
    def label(self) -> str:
        """Which of the compared it is."""
        ...

    @property
    def values(self) -> dict[str, Any]:
        """The value of each axis."""
        ...

    @property
    def resolved(self) -> str:
        """The scenario with all defaults."""
        ...


def without_draws(resolved: str) -> str:
    """Return a scenario without the name of the draws that `[vary]` gives each point."""
    found = json.loads(resolved)
    found.get("vary", {}).pop("draws", None)
    return json.dumps(found, sort_keys=True)


def refuse_flat_axes(vary: Mapping[str, list[Any]], points: Iterable[Placed]) -> None:
    """Raise InputError for an axis of a sweep whose values all give one scenario, whatever else varies."""
    bare = [(point, without_draws(point.resolved)) for point in points]
    for axis, values in vary.items():
        made: dict[str, set[str]] = {}
        for point, scenario in bare:
            beside = {name: value for name, value in point.values.items() if name != axis}
            made.setdefault(f"{point.label} {json.dumps(beside, default=str)}", set()).add(scenario)
        if len(values) > 1 and all(len(scenarios) == 1 for scenarios in made.values()):
            message = f"has no effect: its {len(values)} values give the same scenario with all that are compared"
            raise InputError(f"scenario.{axis}", message, "a key that the flows or links do not state for themselves")
