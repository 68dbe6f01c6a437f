"""Binds a scenario to the classes in Python that it names: the engine gets text with their names, and the classes beside it."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah._core import Algorithm
from tonopah.cc.description import LoadedAlgorithm, Provenance, loaded_for_a_run, prepare
from tonopah.cc.loading import HINT, engine_names, find_entry_points, load, load_entry, load_stored
from tonopah.cc.permission import permission
from tonopah.cc.process import ProcessEndedError, ask, status_text
from tonopah.cc.references import is_code, is_library, key_of, name_in
from tonopah.errors import AlgorithmError, InputError
from tonopah.scenario.document import to_json


@dataclass
class BoundScenario:
    """A scenario as the engine takes it: JSON text, and the algorithms in Python by the name that the text has for them."""

    text: str = ""
    path: str = ""
    """Of the text in the whole, if it is a part."""
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
        self.refuse_libraries()
        return loaded_for_a_run(self.found)

    def refuse_libraries(self) -> None:
        """Raise InputError if a library takes part: this process is not one of its own."""
        for name in libraries(self.origins):
            text = f"{name} is a library, which runs in a process of its own, and not here"
            raise InputError(place_of(self.text, name, self.path), text, "tonopah run, tonopah.run and studies give it one")

    def call(self, function: Callable[..., Any], seed: int, **options: Any) -> Any:
        """Return what a function of the engine gives for the scenario.

        If a library takes part it is called in a process of its own, and the summary of `run` is text. Raises AlgorithmError,
        with the path of its key, if the library ends that process.
        """
        origins = self.origins
        if not libraries(origins):
            with self.for_a_run() as algorithms:
                return function(self.text, seed, algorithms=algorithms, **options)
        if homeless := [name for name, origin in origins.items() if not origin.reference]:
            text = f"{homeless[0]} is a class of this program: the process in which a library runs does not have it"
            raise InputError(place_of(self.text, homeless[0], self.path), text, "write the class into a file")
        try:
            return ask("tonopah.cc.loading:call_engine", function.__name__, self.text, seed, origins, options)
        except ProcessEndedError as error:
            raise ended_by_library(self.text, origins, error.status) from None
        except AlgorithmError as error:
            raise with_place(error, self.text, origins) from None


def bind(scenario: Mapping[str, Any], folder: str | Path = ".", source: str | None = None, path: str = "") -> BoundScenario:
    """Return a scenario, or the part of it at `path`, with the algorithms in Python that it names, starting at `folder`.

    Classes in it become text. Raises InputError, with the path of the `cc` at fault, when a class cannot be used.
    """
    bound = BoundScenario(path=path)
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
    key, named = name_in(cc)
    place = f"{path}.{key}" if table is not None else path
    stored = permission().stored
    if isinstance(named, type):
        reference, found = class_name(named), prepare(named, class_name(named), place)
    elif not isinstance(named, str):
        if key == "python":
            raise InputError(place, f"{named!r} does not name a class in a file", HINT)
        return cc
    elif key == "native" and not is_library(named):
        raise InputError(place, f"{named!r} does not name a shared library", 'like native = "libmine.so"')
    elif stored is not None and (is_code(cc) or named in stored):
        reference, found = named, load_stored(named, place, stored)
    elif key == "python" or ":" in named or is_library(named):
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
    return {key_of(reference): reference, **rest}


def libraries(origins: Mapping[str, Provenance]) -> list[str]:
    """Return the names of the algorithms that are libraries."""
    return [name for name, origin in origins.items() if origin.is_library]


def place_of(scenario: str, name: str, prefix: str = "") -> str:
    """Return the path of the first key in a scenario (JSON text) that names an algorithm; `cc` if none does."""
    for table, path in find_cc(json.loads(scenario), prefix):
        key, named = name_in(table["cc"])
        if named == name:
            return f"{path}.{key}" if isinstance(table["cc"], dict) else path
    return "cc"


def ended_by_library(scenario: str, origins: Mapping[str, Provenance], status: int) -> AlgorithmError:
    """Return the error of a run whose process a library has ended with an exit code, below zero that of a signal."""
    named = libraries(origins)
    error = AlgorithmError(f"{' or '.join(named)} ended the process of the run: {status_text(status)}")
    error.algorithm, error.method, error.time_s = named[0], "", math.nan
    return with_place(error, scenario, origins)


def with_place(error: AlgorithmError, scenario: str, origins: Mapping[str, Provenance]) -> AlgorithmError:
    """Return an error of a library with the path of its key; there is no traceback in it to show."""
    if error.algorithm in libraries(origins):
        error.args = (f"{place_of(scenario, error.algorithm)}: {error}",)
        error.traceback = ""  # type: ignore[attr-defined]
    return error


def rebase(scenario: dict[str, Any], folder: Path) -> None:
    """Let references of a scenario that start at its own file start where `folder` does."""
    if "source" in scenario:
        # What its keys mean, the source alone knows.
        scenario.update({key: rebase_texts(value, folder) for key, value in scenario.items() if key != "source"})
    for table, _ in find_cc(scenario):
        cc = table["cc"]
        key, named = name_in(cc)
        if isinstance(cc, dict) and isinstance(named, str):
            table["cc"] = cc | {key: rebase_reference(named, folder)}
        elif isinstance(cc, str):
            table["cc"] = rebase_reference(cc, folder)


def rebase_texts(value: Any, folder: Path) -> Any:
    """Return a value in which all text that is a reference starts where `folder` does."""
    if isinstance(value, Mapping):
        return {key: rebase_texts(below, folder) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [rebase_texts(below, folder) for below in value]
    return rebase_reference(value, folder) if isinstance(value, str) else value


def rebase_reference(reference: str, folder: Path) -> str:
    """Return a reference to a file that starts one folder higher up."""
    return (folder / reference).as_posix() if ".py:" in reference or is_library(reference) else reference


def class_name(found: type) -> str:
    """Return the reference that stands for a class."""
    return f"{found.__module__}:{found.__qualname__}"
