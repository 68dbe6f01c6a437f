"""Binds a scenario to the classes in Python that it names: the engine gets text with their names, and the classes beside it."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah._core import Algorithm, Transport
from tonopah.cc.description import LoadedAlgorithm, Provenance, loaded_for_a_run, prepare
from tonopah.cc.loading import HINT, engine_names, find_entry_points, load, load_entry, load_stored, load_transport
from tonopah.cc.naming import name_transports
from tonopah.cc.permission import permission
from tonopah.cc.process import ProcessEndedError, ask
from tonopah.cc.references import is_code, is_library, key_of, name_in
from tonopah.errors import AlgorithmError, InputError
from tonopah.scenario.document import to_json
from tonopah.scenario.paths import SCALARS, inner


@dataclass
class BoundScenario:
    """A scenario as the engine takes it: JSON text, and the algorithms in Python by the name that the text has for them."""

    text: str = ""
    path: str = ""
    """Of the text in the whole, if it is a part."""
    found: dict[str, LoadedAlgorithm] = field(default_factory=dict)

    @property
    def algorithms(self) -> dict[str, Algorithm | Transport]:
        """The algorithms, to check a scenario with."""
        return {name: found.core for name, found in self.found.items()}

    @property
    def origins(self) -> dict[str, Provenance]:
        """Where the algorithms are."""
        return {name: found.origin for name, found in self.found.items()}

    def for_a_run(self) -> AbstractContextManager[dict[str, Algorithm | Transport]]:
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

        If a library takes part it is called in a process of its own, and the summary of `run` is text; with `logs`, a folder and
        kinds of logs, transports in it write these. Raises AlgorithmError, with the path of its key, if the library ends that
        process.
        """
        origins = self.origins
        if not libraries(origins):
            options.pop("logs", None)
            with self.for_a_run() as algorithms:
                return function(self.text, seed, algorithms=algorithms, **options)
        if homeless := [name for name, origin in origins.items() if not origin.reference]:
            text = f"{homeless[0]} is a class of this program: the process in which a library runs does not have it"
            raise InputError(place_of(self.text, homeless[0], self.path), text, "write the class into a file")
        try:
            return ask("tonopah.cc.loading:call_engine", function.__name__, self.text, seed, origins, options)
        except ProcessEndedError as error:
            raise ended_by_library(self.text, origins, error.how) from None
        except AlgorithmError as error:
            raise with_place(error, self.text, origins) from None


def bind(scenario: Mapping[str, Any], folder: str | Path = ".", source: str | None = None, path: str = "") -> BoundScenario:
    """Return a scenario, or the part of it at `path`, with the algorithms in Python that it names, starting at `folder`.

    Classes in it become text. Raises InputError, with the path of the `cc` at fault, when a class cannot be used.
    """
    bound = BoundScenario(path=path)
    plain = copy_tables(scenario)
    if not path:
        name_transports(plain, Path(folder))
    for table, place in find_cc(plain, path):
        try:
            table["cc"] = resolve(bound, table["cc"], place, Path(folder))
        except InputError as error:
            error.source = error.source or source
            raise InputError(error.path, error.message, error.hint, error.source) from error.__cause__
    for table, place in find_transports(plain, path):
        try:
            resolve_transport(bound, table, f"{place}.native", Path(folder))
        except InputError as error:
            raise InputError(error.path, error.message, error.hint, error.source or source) from None
    bound.text = to_json(plain)
    return bound


def copy_tables(value: Any) -> Any:
    """Return tables and arrays as new ones; the rest is shared."""
    if isinstance(value, Mapping):
        return {key: copy_tables(below) for key, below in value.items()}
    if not isinstance(value, list | tuple):
        return value
    return [below if type(below) in SCALARS else copy_tables(below) for below in value]


def find_cc(value: Any, path: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every table that has a `cc`, with the path of it."""
    if isinstance(value, dict):
        for key, below in value.items():
            here = f"{path}.{key}" if path else str(key)
            if key == "cc":
                yield value, here
            elif key != "transport" or not isinstance(below, dict):
                # A transport in a library may have an option of this name.
                yield from find_cc(below, here)
    elif isinstance(value, list):
        for index, below in inner(value):
            yield from find_cc(below, f"{path}[{index}]")


def find_transports(value: Any, path: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every table that names a whole transport in a library, that for the sink's end too, with its path."""
    if isinstance(value, dict):
        for key, below in value.items():
            here = f"{path}.{key}" if path else str(key)
            if key == "transport" and isinstance(below, dict):
                yield below, here
                if isinstance(below.get("sink"), dict):
                    yield below["sink"], f"{here}.sink"
            else:
                yield from find_transports(below, here)
    elif isinstance(value, list):
        for index, below in inner(value):
            yield from find_transports(below, f"{path}[{index}]")


def resolve_transport(bound: BoundScenario, table: dict[str, Any], path: str, folder: Path) -> None:
    """Find the library of a transport. Raises InputError."""
    named = table.get("native")
    if named is None:
        # The engine tells what is missing.
        return
    if not is_library(named):
        raise InputError(path, f"{named!r} does not name a shared library", 'like native = "libmine.so"')
    found = load_transport(named, path, folder)
    if bound.found.setdefault(named, found).core is not found.core:
        raise InputError(path, f"{named} is a congestion control and a transport here", "copy it under another name")


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
    elif key == "transport":
        raise InputError(place, f"{named!r} is a transport, which no algorithm is", "tonopah run, studies, compare and coexist")
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
    transports = find_transports(json.loads(scenario), prefix)
    return next((path for table, path in transports if table.get("native") == name), "cc")


def ended_by_library(scenario: str, origins: Mapping[str, Provenance], how: str) -> AlgorithmError:
    """Return the error of a run whose process a library has ended, or does not let end; `how` in words."""
    named = libraries(origins)
    error = AlgorithmError(f"{' or '.join(Path(name).name for name in named)} {how}")
    error.algorithm, error.method, error.time_s = named[0], "", math.nan
    return with_place(error, scenario, origins)


def with_place(error: AlgorithmError, scenario: str, origins: Mapping[str, Provenance]) -> AlgorithmError:
    """Return an error of a library with the path of its key; there is no traceback in it to show."""
    # A transport says its file alone.
    named = next((name for name in libraries(origins) if error.algorithm in (name, Path(name).name)), None)
    if named is not None:
        error.args = (f"{place_of(scenario, named)}: {error}",)
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
    for table, _ in find_transports(scenario):
        if isinstance(table.get("native"), str):
            table["native"] = rebase_reference(table["native"], folder)


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
