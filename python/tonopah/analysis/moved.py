"""Worlds in which one number of a study is 1 % larger or smaller: a verdict that changes there hangs on what nobody chose."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tonopah.analysis.sensitivity import AlteredWorld, Place, changed_part
from tonopah.errors import InputError
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.point import check_point
from tonopah.spec.schema import Alternative, Assumption
from tonopah.units import split

MOVED_PERCENT = 1.0
WHOLE = ("p",)
"""Units of which there are whole numbers only: these are moved by one at least."""
NO_WORLD = ("record", "vary", "source")
"""Keys of a scenario whose numbers are none of its world."""
REASON = "A number of the world, moved by 1 %."


def moved_worlds(spec: StudySpec, folder: str | Path) -> list[AlteredWorld]:
    """Return two worlds for each number that the study states and no sweep varies, where the engine takes the other value.

    Parts that state the same number change together.
    """
    found: dict[tuple[str, str, str], AlteredWorld] = {}
    for part in spec.parts:
        swept = {axis for sweep in part.sweeps for axis in sweep.vary}
        nominal = check_point(part.scenario, part.variants[0], {}, folder).resolved
        for path, value in numbers_in({key: below for key, below in part.scenario.items() if key not in NO_WORLD}):
            if path in swept:
                continue
            for other in moved(value):
                key = path, str(value), str(other)
                alternative = Alternative(value=str(other), set={path: other}, reason=REASON)
                world = AlteredWorld(Assumption(parameter=path, value=str(value), reason=REASON), str(other), REASON, moved=True)
                place = Place(path, part.id, alternative)
                if matters(part, replace(world, places=[place]), nominal, folder):
                    found.setdefault(key, world).places.append(place)
    return list(found.values())


def matters(part: Part, world: AlteredWorld, nominal: str, folder: str | Path) -> bool:
    """Tell whether the engine takes a world, and whether it is another one."""
    try:
        return check_point(changed_part(part, world).scenario, part.variants[0], {}, folder).resolved != nominal
    except InputError:
        return False


def numbers_in(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every quantity and every number with a fraction in a scenario, with its path; whole numbers count something."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from numbers_in(below, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value):
        for i, entry in enumerate(value):
            yield from numbers_in(entry, f"{path}.{i}")
    elif isinstance(value, float) or (isinstance(value, str) and (parts := split(value)) and parts[1]):
        yield path, value


def moved(value: Any) -> list[Any]:
    """Return a number 1 % below and above its value, in its unit; nothing of zero."""
    number, unit = split(value) or (0.0, "")
    step = MOVED_PERCENT / 100 * number
    if unit in WHOLE:
        step = max(1, round(step))
    if not step:
        return []
    ends = (number - step, number + step)
    return [f"{end:.12g}{unit}" for end in ends] if isinstance(value, str) else list(ends)
