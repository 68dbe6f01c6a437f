"""Binds a scenario to the classes in Python that it names: the engine gets text with their names, and the classes beside it."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah._core import Algorithm
from tonopah.cc.description import LoadedAlgorithm, Provenance, loaded_for_a_run, prepare
from tonopah.cc.loading import HINT, engine_names, find_entry_points, load, load_entry
from tonopah.errors import InputError
from tonopah.scenario.document import to_json


@dataclass
class BoundScenario:
    """A scenario as the engine takes it: JSON text, and the algorithms in Python by the name that the text has for them."""

    text: str = ""
    found: dict[str, LoadedAlgorithm] = field(default_factory=dict)

    @property
    def algorithms(self) -> dict[str, Algorithm]:
        """The algorithms, to check a scenario with."""
        return {name: found.core for name, found in self.found.items()}

    @property
    def origins(self) -> dict[str, Provenance]:
        """Where the algorithms are."""
        return {name: found.origin for name, found in self.found.items()}

    def for_a_run(self) -> AbstractContextManager[dict[str, Algorithm]]:
        """Load the algorithms anew from their files, for one run meanwhile: it meets nothing that another run left in them."""
        return loaded_for_a_run(self.found)


def bind(scenario: Mapping[str, Any], folder: str | Path = ".", source: str | None = None, path: str = "") -> BoundScenario:
    """Return a scenario, or the part of it at `path`, with the algorithms in Python that it names, starting at `folder`.

    Classes in it become text. Raises InputError, with the path of the `cc` at fault, when a class cannot be used.
    """
    bound = BoundScenario()
    plain = copy_tables(scenario)
    for table, place in find_cc(plain, path):
        try:
            table["cc"] = resolve(bound, table["cc"], place, Path(folder))
        except InputError as error:
            error.source = error.source or source
            raise InputError(error.path, error.message, error.hint, error.source) from error.__cause__
    bound.text = to_json(plain)
    return bound


def copy_tables(value: Any) -> Any:
    """Return tables and arrays as new ones; the rest is shared."""
    if isinstance(value, Mapping):
        return {key: copy_tables(below) for key, below in value.items()}
    return [copy_tables(below) for below in value] if isinstance(value, list | tuple) else value


def find_cc(value: Any, path: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every table that has a `cc`, with the path of it."""
    if isinstance(value, dict):
        for key, below in value.items():
            here = f"{path}.{key}" if path else str(key)
            if key == "cc":
                yield value, here
            else:
                yield from find_cc(below, here)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from find_cc(below, f"{path}[{index}]")


def resolve(bound: BoundScenario, cc: Any, path: str, folder: Path) -> Any:
    """Return a `cc` as the engine reads it, after its class, if it has one, has been found."""
    table = dict(cc) if isinstance(cc, dict) else None
    key = "python" if table and "python" in table else "name"
    named = table.get(key) if table is not None else cc
    place = f"{path}.{key}" if table is not None else path
    if isinstance(named, type):
        reference, found = class_name(named), prepare(named, class_name(named), place)
    elif not isinstance(named, str):
        if key == "python":
            raise InputError(place, f"{named!r} does not name a class in a file", HINT)
        return cc
    elif key == "python" or ":" in named:
        reference, found = named, load(named, place, folder)
    elif named in find_entry_points() and named not in engine_names():
        reference, found = named, load_entry(named, place)
    else:
        return cc
    if bound.found.setdefault(reference, found).core is not found.core:
        raise InputError(place, f"two different classes are called {reference}", "rename one")
    if table is None:
        return reference
    rest = {other: value for other, value in table.items() if other != key}
    return {"python" if ":" in reference else "name": reference, **rest}


def rebase(scenario: dict[str, Any], folder: Path) -> None:
    """Let references of a scenario that start at its own file start where `folder` does."""
    for table, _ in find_cc(scenario):
        cc = table["cc"]
        if isinstance(cc, dict) and isinstance(cc.get("python"), str):
            table["cc"] = cc | {"python": rebase_reference(cc["python"], folder)}
        elif isinstance(cc, str):
            table["cc"] = rebase_reference(cc, folder)


def rebase_reference(reference: str, folder: Path) -> str:
    """Return a reference to a file that starts one folder higher up."""
    return (folder / reference).as_posix() if ".py:" in reference else reference


def class_name(found: type) -> str:
    """Return the reference that stands for a class."""
    return f"{found.__module__}:{found.__qualname__}"
