"""The space of worlds: axes with weights, and how a world is drawn from them, made milder and moved a little."""

import json
import random
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from tonopah.breaking.holes import Hole, Value, filled, holes_of
from tonopah.digest import digest
from tonopah.errors import InputError
from tonopah.scenario.document import MAX_FILE_BYTES, decoded
from tonopah.scenario.files import read_file
from tonopah.spec.validation import list_allowed

MOST_AXES = 10
BASE = "the base world"
"""A world without axes, in words."""
OWN = (
    "ecn", "app", "cross", "flows", "rival", "rivals", "late", "extra_rtt", "own_jitter",
)  # fmt: skip
"""Axes that set more than a key of the scenario: scenario.py has what each does."""
KEYS = ("weight", "sets", "choice", "source", "needs")


@dataclass(frozen=True)
class Choice:
    """One of the forms that an axis can take."""

    weight: float
    value: Any
    holes: tuple[Hole, ...]


@dataclass(frozen=True)
class Axis:
    """Something in which worlds differ."""

    name: str
    weight: float
    sets: str
    choices: tuple[Choice, ...]
    needs: tuple[str, ...] = ()
    """It has an effect only beside one of these axes."""
    source: str = ""


@dataclass(frozen=True)
class Setting:
    """The choice of an axis in a world, and what fills its holes."""

    choice: int
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class World:
    """What the axes of a world are set to, in the order of the space."""

    settings: tuple[tuple[str, Setting], ...] = ()

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of its axes."""
        return tuple(name for name, _ in self.settings)

    def without(self, *axes: str) -> "World":
        """Return the world without some axes."""
        return World(tuple(pair for pair in self.settings if pair[0] not in axes))

    def set(self, axis: str, setting: Setting) -> "World":
        """Return the world with another setting of an axis that it has."""
        return World(tuple((name, setting if name == axis else old) for name, old in self.settings))

    @property
    def id(self) -> str:
        """A text that tells worlds of one space apart."""
        return json.dumps([[name, one.choice, list(one.values)] for name, one in self.settings])

    @property
    def shape(self) -> tuple[tuple[str, int], ...]:
        """Its axes with their choices, whatever the numbers."""
        return tuple((name, one.choice) for name, one in self.settings)

    @classmethod
    def of(cls, text: str) -> "World":
        """Return the world that an id tells of."""
        return cls(tuple((name, Setting(choice, tuple(values))) for name, choice, values in json.loads(text)))


@dataclass(frozen=True)
class Space:
    """Axes, which of them exclude one another, and what the base world has in their place."""

    axes: Mapping[str, Axis]
    clash: tuple[tuple[str, str], ...]
    mean_axes: float
    base: Mapping[str, str]
    digest: str

    def world(self, seed: int, number: int) -> World:
        """Return a world of a search: the same for the same three."""
        rng = random.Random(f"{seed}/{number}")
        while True:
            count, stay = 1, 1 - 1 / self.mean_axes if self.mean_axes > 1 else 0.0
            while count < MOST_AXES and rng.random() < stay:
                count += 1
            if found := self.possible(self.drawn_axes(rng, count)):
                return World(tuple((name, self.drawn(self.axes[name], rng)) for name in found))

    def drawn_axes(self, rng: random.Random, count: int) -> list[str]:
        """Return so many different axes by weight."""
        left = list(self.axes.values())
        found = []
        for _ in range(min(count, len(left))):
            one = rng.choices(left, [axis.weight for axis in left])[0]
            left.remove(one)
            found.append(one.name)
        return found

    def possible(self, names: list[str]) -> list[str]:
        """Return axes in the order of the space, less those that another excludes or whose companion is missing."""
        known = set(names)
        for first, second in self.clash:
            if first in known and second in known:
                known.remove(second)
        return [name for name in self.axes if name in known and self.has_company(name, known)]

    def has_company(self, name: str, among: set[str]) -> bool:
        """Tell whether an axis has an effect among others."""
        needs = self.axes[name].needs
        return not needs or bool(among & set(needs))

    def drawn(self, axis: Axis, rng: random.Random) -> Setting:
        """Return a setting of an axis."""
        choice = rng.choices(range(len(axis.choices)), [one.weight for one in axis.choices])[0]
        return Setting(choice, tuple(hole.draw(rng) for hole in axis.choices[choice].holes))

    def value(self, name: str, setting: Setting) -> Any:
        """Return what an axis is set to, as a scenario has it."""
        choice = self.axes[name].choices[setting.choice]
        shown = [hole.shown(value) for hole, value in zip(choice.holes, setting.values, strict=True)]
        return filled(choice.value, iter(shown))

    def simpler(self, world: World) -> Iterator[World]:
        """Yield the worlds that are a step simpler: without an axis, and with a milder value of one."""
        for name in world.axes:
            rest = world.without(name)
            known = set(rest.axes)
            yield rest.without(*(other for other in rest.axes if not self.has_company(other, known)))
        for name, setting in world.settings:
            holes = self.axes[name].choices[setting.choice].holes
            for place, hole in enumerate(holes):
                for milder in hole.milder(setting.values[place]):
                    values = (*setting.values[:place], milder, *setting.values[place + 1 :])
                    yield world.set(name, replace(setting, values=values))

    def wobbled(self, world: World, seed: int) -> World:
        """Return the world with all its numbers moved a little."""
        rng = random.Random(f"{world.id}/{seed}")
        moved = []
        for name, setting in world.settings:
            holes = self.axes[name].choices[setting.choice].holes
            values = tuple(hole.wobbled(value, rng) for hole, value in zip(holes, setting.values, strict=True))
            moved.append((name, replace(setting, values=values)))
        return World(tuple(moved))

    def text(self, world: World) -> str:
        """Return the world in words: what its axes set."""
        return ", ".join(f"{name} = {inline(self.value(name, setting))}" for name, setting in world.settings) or BASE


def inline(value: Any) -> str:
    """Return a value as TOML has it in a line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {inline(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inline(part) for part in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def read_space(path: str | Path | None = None) -> Space:
    """Return the space of worlds, or that of a file which changes it. Raises InputError with the place of a mistake."""
    shipped = resources.files("tonopah.breaking").joinpath("space.toml").read_text(encoding="utf-8")
    own = tomllib.loads(shipped)
    axes = {name: axis_of(name, table, f"axis.{name}") for name, table in own["axis"].items()}
    world, texts = own["world"], [shipped]
    if path is None:
        return made(axes, world, texts)
    data = read_file(path, "a space of worlds", MAX_FILE_BYTES)
    given = decoded(data, str(path))
    try:
        return changed(axes, world, given, [*texts, data.decode("utf-8-sig")])
    except InputError as error:
        raise InputError(error.path, error.message, error.hint, str(path)) from None


def changed(axes: dict[str, Axis], world: dict[str, Any], given: Mapping[str, Any], texts: list[str]) -> Space:
    """Return the space with what a file of the user's adds, drops and keeps."""
    refuse_unknown(given, ("axis", "drop", "only", "base", "world"), "")
    for name, table in table_of(given, "axis", "").items():
        axes[name] = axis_of(name, table, f"axis.{name}")
    for key in ("drop", "only"):
        for name in listed(given, key):
            if name not in axes:
                raise InputError(key, f"there is no axis {name!r}", list_allowed(axes, value=name))
    only, drop = listed(given, "only") or list(axes), listed(given, "drop")
    kept = {name: axis for name, axis in axes.items() if name in only and name not in drop}
    base = table_of(given, "base", "")
    refuse_unknown(base, world["base"], "base")
    for name, value in base.items():
        if not isinstance(value, str):
            raise InputError(f"base.{name}", "is no text", f'like "{world["base"][name]}"')
    settings = table_of(given, "world", "")
    refuse_unknown(settings, ("mean_axes", "clash"), "world")
    return made(kept, {**world, **settings, "base": {**world["base"], **base}}, texts)


def made(axes: Mapping[str, Axis], world: Mapping[str, Any], texts: list[str]) -> Space:
    """Return a space. Raises InputError for one in which nothing can be drawn."""
    if not any(axis.weight > 0 and not axis.needs for axis in axes.values()):
        raise InputError("only", "leaves no axis that can be drawn", "an axis with a weight above 0 that needs no other")
    mean = world["mean_axes"]
    if isinstance(mean, bool) or not isinstance(mean, int | float) or not 1 <= mean <= MOST_AXES:
        raise InputError("world.mean_axes", f"{mean!r} is no number of axes", f"1 to {MOST_AXES}")
    clash = world["clash"]
    if not isinstance(clash, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in clash):
        raise InputError("world.clash", "is no list of pairs of axes", '[["ecn", "queue"]]')
    pairs = tuple((str(one), str(other)) for one, other in clash)
    return Space(axes, pairs, float(mean), world["base"], digest("\n".join(texts).encode()))


def axis_of(name: str, table: Any, place: str) -> Axis:
    """Return an axis of a file. Raises InputError."""
    if not isinstance(table, Mapping):
        raise InputError(place, "is no table")
    refuse_unknown(table, KEYS, place)
    sets = table.get("sets", "")
    if not isinstance(sets, str) or not sets:
        raise InputError(f"{place}.sets", "does not name a key of a scenario", 'like "network.bottleneck.rate"')
    choices = table.get("choice")
    if not isinstance(choices, list) or not choices:
        raise InputError(f"{place}.choice", "has no choices", '[{ weight = 1, value = "10ms..200ms" }]')
    needs = listed(table, "needs", place)
    weight = weight_of(table, place)
    found = tuple(choice_of(choice, f"{place}.choice.{number}") for number, choice in enumerate(choices))
    if weight and not any(choice.weight for choice in found):
        raise InputError(f"{place}.choice", "all weights are 0", "a weight above 0")
    return Axis(name, weight, sets, found, tuple(needs), str(table.get("source", "")))


def choice_of(table: Any, place: str) -> Choice:
    """Return a choice of an axis. Raises InputError."""
    if not isinstance(table, Mapping) or "value" not in table:
        raise InputError(place, "has no value", '{ weight = 1, value = "10ms..200ms" }')
    refuse_unknown(table, ("weight", "value"), place)
    return Choice(weight_of(table, place), table["value"], tuple(holes_of(table["value"], f"{place}.value")))


def weight_of(table: Mapping[str, Any], place: str) -> float:
    """Return a weight; 1 without one. Raises InputError."""
    weight = table.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < 1e9:
        raise InputError(f"{place}.weight", f"{weight!r} is no weight", "a number from 0 up")
    return float(weight)


def table_of(given: Mapping[str, Any], key: str, place: str) -> Mapping[str, Any]:
    """Return a table of a file; empty without one. Raises InputError."""
    found = given.get(key, {})
    if not isinstance(found, Mapping):
        raise InputError(f"{place}.{key}".lstrip("."), "is no table")
    return found


def listed(given: Mapping[str, Any], key: str, place: str = "") -> list[str]:
    """Return a list of names of a file; empty without one. Raises InputError."""
    found = given.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InputError(f"{place}.{key}".lstrip("."), "is no list of names", '["queue", "loss"]')
    return list(found)


def refuse_unknown(given: Mapping[str, Any], known: Any, place: str) -> None:
    """Raise InputError for a key that is not known."""
    for key in given:
        if key not in known:
            raise InputError(f"{place}.{key}".lstrip("."), "is unknown", list_allowed(known, value=key))
