"""The holes of a choice: what is drawn, how it becomes text, and what is milder than a value."""

import math
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tonopah._core import parse_quantity, split_quantity
from tonopah.errors import InputError

DIGITS = 2
WOBBLE = 0.02
"""By how much numbers of a finding are moved to see whether it stands on an edge."""
PREFIXES = {
    "rate": (("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)),
    "duration": (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)),
    "size": (("MB", 1e6), ("kB", 1e3), ("B", 1.0)),
}
Value = float | str
"""Of a range a number in SI units, of a list one of its texts."""


@dataclass(frozen=True)
class Range:
    """A number between a mild and a harsh end, on a logarithmic scale; `kind` is that of its unit, empty for a plain number."""

    mild: float
    harsh: float
    kind: str
    unit: str
    whole: bool

    def draw(self, rng: random.Random) -> Value:
        """Return a number of two digits."""
        place = rng.random()
        return self.rounded(math.exp((1 - place) * math.log(self.mild) + place * math.log(self.harsh)))

    def rounded(self, value: float) -> float:
        """Return a number with as many digits as are drawn."""
        short = float(f"{value:.{DIGITS - 1}e}")
        return float(max(1, round(short))) if self.whole else short

    def wobbled(self, value: Value, rng: random.Random) -> Value:
        """Return a number near this one, with all its digits."""
        moved = float(value) * rng.uniform(1 - WOBBLE, 1 + WOBBLE)
        return float(max(1, round(moved))) if self.whole else moved

    def milder(self, value: Value) -> Iterator[Value]:
        """Yield milder numbers, the mildest first: the mild end, the middle, and the next of 1, 2, 5 · 10^n on the way to it."""
        now = float(value)
        tried = {now}
        for found in (self.mild, self.rounded(math.sqrt(now * self.mild)), self.next_round(now)):
            if found not in tried and min(self.mild, now) <= found <= max(self.mild, now):
                tried.add(found)
                yield found

    def next_round(self, now: float) -> float:
        """Return the next of 1, 2, 5 · 10^n towards the mild end."""
        ten = math.floor(math.log10(now))
        steps = sorted(digit * 10.0**power for power in (ten - 1, ten, ten + 1) for digit in (1, 2, 5))
        if self.mild < now:
            return max(step for step in steps if step < now * (1 - 1e-9))
        return min(step for step in steps if step > now * (1 + 1e-9))

    def shown(self, value: Value) -> Any:
        """Return the value as a scenario has it."""
        number = float(value)
        if not self.kind:
            return int(number) if self.whole else float(f"{number:.12g}")
        for unit, factor in PREFIXES.get(self.kind, ((self.unit, 1.0),)):
            if number >= factor:
                return f"{number / factor:.9g}{unit}"
        return f"{number:.9g}{self.unit if self.kind not in PREFIXES else PREFIXES[self.kind][-1][0]}"


@dataclass(frozen=True)
class Listed:
    """One of some values, the mildest first."""

    options: tuple[str, ...]

    def draw(self, rng: random.Random) -> Value:
        """Return one of them."""
        return rng.choice(self.options)

    def wobbled(self, value: Value, rng: random.Random) -> Value:
        """Return the value: it is no number."""
        return value

    def milder(self, value: Value) -> Iterator[Value]:
        """Yield those before it."""
        yield from self.options[: self.options.index(str(value))]

    def shown(self, value: Value) -> Any:
        """Return the value as a scenario has it."""
        if value in ("true", "false"):
            return value == "true"
        return int(value) if re.fullmatch("[0-9]{1,18}", str(value)) else value


Hole = Range | Listed


def hole_in(text: str, place: str) -> Hole | None:
    """Return the hole that a text is; None if it is none. Raises InputError for a range without ends."""
    if "|" in text:
        options = tuple(part.strip() for part in text.split("|"))
        if not all(options):
            raise InputError(place, f"{text!r} is a list with an empty value", '"mild|other"')
        return Listed(options)
    if ".." not in text:
        return None
    ends = text.split("..")
    parts = [split_quantity(end) for end in ends]
    kinds, unit, numbers = ["", ""], "", []
    try:
        if len(ends) == 2 and all(parts):
            kinds = [part[2] for part in parts if part]
            numbers = [parse_quantity(end, kind) for end, kind in zip(ends, kinds, strict=True)]
            unit = parts[0][1] if parts[0] else ""
        else:
            numbers = [float(end) for end in ends]
    except ValueError:
        # Text, or a number that is too large for its unit.
        pass
    if len(numbers) != 2 or kinds[0] != kinds[1] or not all(0 < number < math.inf for number in numbers):
        raise InputError(place, f"{text!r} is no range", 'two numbers above zero with units of one kind, like "10ms..200ms"')
    whole = kinds[0] == "packets" or (not kinds[0] and all(end.isdigit() for end in ends))
    return Range(numbers[0], numbers[1], kinds[0], unit, whole)


def holes_of(value: Any, place: str) -> list[Hole]:
    """Return the holes of a value, in the order in which they stand in it."""
    if isinstance(value, str):
        found = hole_in(value, place)
        return [found] if found else []
    if isinstance(value, Mapping):
        return [hole for key, part in value.items() for hole in holes_of(part, f"{place}.{key}")]
    if isinstance(value, list):
        return [hole for number, part in enumerate(value) for hole in holes_of(part, f"{place}.{number}")]
    return []


def filled(value: Any, shown: Iterator[Any], place: str = "") -> Any:
    """Return a value whose holes are filled, in order, with what is shown."""
    if isinstance(value, str):
        return next(shown) if hole_in(value, place) else value
    if isinstance(value, Mapping):
        return {key: filled(part, shown) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part, shown) for part in value]
    return value
