"""Finds and imports congestion controls written in Python.

A scenario names one by a reference FILE.py:CLASS or MODULE:CLASS or by an entry point of the group `tonopah.algorithms`.
"""

import importlib
import importlib.util
import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from tonopah._core import Algorithm, Transport, algorithms, capture, log_transports, run, trace, transmissions
from tonopah.cc.description import LoadedAlgorithm, Maker, Provenance, make, prepare
from tonopah.cc.importing import LoadedFile, load_file
from tonopah.cc.library import describe_file, find_library, known_code, open_library, open_transport, refuse
from tonopah.cc.permission import StoredAlgorithm, permission
from tonopah.cc.references import is_library
from tonopah.errors import InputError
from tonopah.scenario.files import read_file

GROUP = "tonopah.algorithms"
CALLABLE = {"capture": capture, "run": run, "trace": trace, "transmissions": transmissions}
"""Functions of the engine that run a scenario."""
MAX_FILE_BYTES = 16 * 1024 * 1024
"""Limit of the size of an algorithm's file, so that a wrong name does not exhaust memory."""
HINT = 'like python = "my_algorithm.py:MyCC"'
NO_ALGORITHMS: Mapping[str, Provenance] = MappingProxyType({})


@cache
def engine_names() -> frozenset[str]:
    """Return the names of the algorithms in the engine."""
    return frozenset(entry["name"] for entry in json.loads(algorithms()))


@cache
def find_entry_points() -> dict[str, Any]:
    """Return the entry points of installed packages by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def load(reference: str, path: str, folder: Path = Path(), called: str = "") -> LoadedAlgorithm:
    """Return the class that a reference names; a scenario may give it another name, `called`. Raises InputError."""
    called = called or reference
    if is_library(reference):
        permission().check(reference, path)
        return find_library("native", reference, path, folder)
    where, _, name = reference.rpartition(":")
    if not where or not name:
        raise InputError(path, f"{reference!r} does not name a class in a file", HINT)
    if where.endswith(".js"):
        raise InputError(path, f"{reference!r} is a class in JavaScript, which runs in the lab as a page alone", "docs/lab.md")
    if not where.endswith(".py"):
        # Before a look for the module: that of a package imports the package.
        permission().check(reference, path)
        if where in engine_names() and not is_module(where):
            hint = f'a profile is written {{ name = "{where}", profile = "{name}" }}'
            raise InputError(path, f"{reference!r} is no class in Python: {where} is an algorithm of the engine", hint)
        if not is_module(where) and os.path.isfile(folder / f"{where}.py"):
            raise InputError(path, f"there is no module {where}", f"the class of a file is written {where}.py:{name}")
        module = attempt(lambda: importlib.import_module(where), path, where)
        return prepare(find_class(module, name, path, where), called, path, reference)
    file = Path(os.path.realpath(folder / where)) if "\0" not in where else Path(where)
    permission().check(reference, path, file)
    try:
        code = read_file(file, "an algorithm", MAX_FILE_BYTES)
    except InputError as error:
        raise InputError(path, f"{error.source or where} {error.message}", error.hint or HINT) from None
    loaded = attempt(lambda: load_once(file, code), path, where)
    found = prepare(find_class(loaded.module, name, path, where), called, path, f"{file}:{name}", loaded.sources)
    return replace(found, load_anew=lambda: find_class(load_file(file, code).module, name, path, where))


def is_module(name: str) -> bool:
    """Tell whether Python can import a module of this name."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def load_transport(reference: str, path: str, folder: Path) -> LoadedAlgorithm:
    """Return the transport in a library that a reference names. Raises InputError."""
    stored = permission().stored
    if stored is not None:
        return load_stored(reference, path, stored)
    permission().check(reference, path)
    return find_library("transport", reference, path, folder)


def load_entry(name: str, path: str) -> LoadedAlgorithm:
    """Return the class that an installed package offers under a name. Raises InputError."""
    entry = find_entry_points()[name]
    return prepare(attempt(entry.load, path, entry.value), name, path, name)


def load_stored(name: str, path: str, stored: Mapping[str, StoredAlgorithm]) -> LoadedAlgorithm:
    """Return an algorithm as the results that are read describe it; no code of it is looked at. Raises InputError."""
    if name not in stored:
        hint = "run the study again with their folder as --out, which keeps its results"
        raise InputError(path, f"{name!r} is not described in the results, and reading them executes nothing", hint)
    try:
        return known_by_description(name, stored[name])
    except ValueError as error:
        raise InputError(path, f"the description of {name!r} in the results cannot be read: {error}") from None


@cache
def known_by_description(name: str, known: StoredAlgorithm) -> LoadedAlgorithm:
    """Return an algorithm that can be checked and not run. Raises ValueError."""
    origin = Provenance(name, known.digest, known.description)
    return LoadedAlgorithm(known_code(known.description), origin, Maker(refuse))


def load_again(reference: str, path: str, called: str) -> LoadedAlgorithm:
    """Return the class that a reference to a file names, loaded anew for one run; it was checked when the run was planned."""
    where, _, name = reference.rpartition(":")
    code = read(Path(where))
    if code is None:
        raise InputError(path, f"{where} cannot be read")
    loaded = attempt(lambda: load_file(Path(where), code), path, where)
    return make(find_class(loaded.module, name, path, where), called, reference, loaded.sources)


def load_planned(name: str, origin: Provenance) -> LoadedAlgorithm:
    """Return an algorithm in a process of its own. Raises InputError when it is not the one that the run was planned with."""
    reference = origin.reference
    if origin.is_library:
        opened = open_transport if origin.is_transport else open_library
        algorithm = opened(Path(reference), name, read(Path(reference)) or b"")
    elif ".py:" in reference:
        algorithm = load_again(reference, "cc", name)
    else:
        algorithm = load(reference, "cc", called=name) if ":" in reference else load_entry(reference, "cc")
    if algorithm.origin.digest != origin.digest:
        raise InputError("cc", f"{name} has been edited since the study was started", "run the study again")
    return algorithm


_of_run: ContextVar[Mapping[str, Provenance]] = ContextVar("of_run", default=NO_ALGORITHMS)


@contextmanager
def observing(origins: Mapping[str, Provenance]) -> Iterator[None]:
    """Let an observer meanwhile run its scenario again with these algorithms."""
    before = _of_run.set(origins)
    try:
        yield
    finally:
        _of_run.reset(before)


def algorithms_of_run() -> dict[str, Algorithm | Transport]:
    """Return the algorithms that are code of the run that is observed, each loaded anew: nothing of the run is left in them."""
    return {name: load_planned(name, origin).core for name, origin in _of_run.get().items()}


def call_engine(function: str, scenario: str, seed: int, origins: dict[str, Provenance], options: dict[str, Any]) -> Any:
    """Call a function of the engine with a scenario and its algorithms, which are loaded into this process.

    Option `logs`: a folder, and the kinds of logs that transports write there.
    """
    algorithms = {name: load_planned(name, origin).core for name, origin in origins.items()}
    if logs := options.pop("logs", None):
        log_transports(*logs)
    answer = CALLABLE[function](scenario, seed, algorithms=algorithms, **options)
    return (answer[0].json(), *answer[1:]) if function == "run" else answer


_loaded: dict[Path, LoadedFile] = {}
"""Modules that were loaded to check and describe their classes, by file."""


def load_once(file: Path, code: bytes) -> LoadedFile:
    """Return the module in a file. It is loaded again when its code or that of a module beside it has changed."""
    known = _loaded.get(file)
    if not known or known.files[file] != code or any(read(other) != source for other, source in known.files.items()):
        known = _loaded[file] = load_file(file, code)
    return known


def read(file: Path) -> bytes | None:
    """Return the content of a file; None if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return None


def attempt(work: Callable[[], Any], path: str, what: str) -> Any:
    """Return the result of `work`; report its failure as an error of the user, with the line."""
    try:
        return work()
    except (Exception, SystemExit) as error:
        # Also sys.exit() in the file: it must not end this program.
        line = error.lineno if isinstance(error, SyntaxError) else last_line(error, what)
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        at = f" (line {line})" if line else ""
        raise InputError(path, f"{what} cannot be loaded: {type(error).__name__}: {text}{at}") from error


def last_line(error: BaseException, file: str) -> int | None:
    """Return the last line in `file` in the traceback of an exception."""
    frames = inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
    return next((frame.lineno for frame in reversed(frames) if frame.filename.endswith(file)), None)


def find_class(module: ModuleType, name: str, path: str, where: str) -> type:
    """Return a class of a module."""
    cls: Any = module
    for step in name.split("."):
        cls = getattr(cls, step, None)
    if not isinstance(cls, type):
        own = [key for key, value in vars(module).items() if isinstance(value, type) and value.__module__ == module.__name__]
        raise InputError(path, f"{where} has no class {name!r}", f"classes: {', '.join(own) or 'none'}")
    return cls


def describe_reference(reference: str, path: str) -> dict[str, Any]:
    """Return the description of a class or library as in the list of algorithms. Raises InputError when it cannot be used."""
    if is_library(reference):
        permission().check(reference, path)
        return describe_file(reference, path)
    return json.loads(load(reference, path).core.description)


def list_installed() -> list[dict[str, Any]]:
    """Return the descriptions of the algorithms of installed packages; one that cannot be used gives the reason."""
    found = []
    for name in sorted(find_entry_points()):
        if name in engine_names():
            continue
        try:
            found.append(json.loads(load_entry(name, GROUP).core.description))
        except InputError as error:
            requirements = {"owns_window": False, "ecn": None, "timestamps": False}
            found.append({"name": name, "title": f"cannot be used: {error.message}", "reference": find_entry_points()[name].value,
                          "requirements": requirements, "params": [], "profiles": []})  # fmt: skip
    return found
