"""Series that a study names: those of the engine, and as `cc.NAME` the variables of algorithms."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

from tonopah.errors import near_names
from tonopah.runs.simulation import INTERNAL, SERIES, algorithms
from tonopah.spec.validation import refuse, shorten


def to_series(name: str) -> str:
    """Refuse a name that is no series."""
    if name in SERIES or (name.removeprefix(INTERNAL).isidentifier() and name.startswith(INTERNAL)):
        return name
    near = near_names(name, SERIES)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise refuse(f"{shorten(name)} is unknown", f"{hint}one of {', '.join(SERIES)}, or cc.NAME, a variable of an algorithm")


SeriesName = Annotated[str, AfterValidator(to_series)]


def recorded_series(scenario: Mapping[str, Any]) -> list[str]:
    """Return the series that a scenario records; the engine says what is wrong with them."""
    record = scenario.get("record")
    series = record.get("series") if isinstance(record, Mapping) else None
    internals = record.get("internals") if isinstance(record, Mapping) else None
    if internals == "all":
        internals = list(dict.fromkeys(shown["name"] for entry in algorithms() for shown in entry.get("internals") or ()))
    found = [name for name in series if isinstance(name, str)] if isinstance(series, list) else []
    return found + ([f"{INTERNAL}{name}" for name in internals] if isinstance(internals, list) else [])


def recording(names: Iterable[str]) -> dict[str, Any]:
    """Return what `record` needs for series; of algorithms it is all, since each has other variables."""
    names = dict.fromkeys(names)
    internals = {"internals": "all"} if any(name.startswith(INTERNAL) for name in names) else {}
    return {"series": [name for name in names if not name.startswith(INTERNAL)], **internals}
