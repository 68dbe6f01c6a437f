"""What differs between results and those of a repetition: words, numbers, and what made them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NO_RESULT = (
    "tonopah",
    "engine",
    "build",
    "command",
    "report",
    "run_now",
    "folder",
    "file",
    "wall_s",
    "machine",
    "source",
    "finished",
)
"""Keys that say how a result was made."""


@dataclass(frozen=True)
class Difference:
    """A place of the results, and what stands there in the pack and in the repetition."""

    path: str
    packed: Any
    again: Any


def differences(packed: Any, again: Any, path: str = "", skip: Collection[str] = NO_RESULT) -> Iterator[Difference]:
    """Yield every place at which two results differ; entries of lists are named by their id where they have one."""
    if isinstance(packed, Mapping) and isinstance(again, Mapping):
        for key in [*packed, *(key for key in again if key not in packed)]:
            if key not in skip:
                yield from differences(packed.get(key), again.get(key), f"{path}.{key}" if path else str(key), skip)
    elif isinstance(packed, list) and isinstance(again, list) and len(packed) == len(again):
        for number, (one, other) in enumerate(zip(packed, again, strict=True)):
            name = one.get("id", number) if isinstance(one, Mapping) else number
            yield from differences(one, other, f"{path}[{name}]", skip)
    elif packed != again:
        yield Difference(path, packed, again)


def leaves(value: Any) -> int:
    """Return how many values results have."""
    if isinstance(value, Mapping):
        return sum(leaves(below) for key, below in value.items() if key not in NO_RESULT)
    return sum(map(leaves, value)) if isinstance(value, list) else 1
