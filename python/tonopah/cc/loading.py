"""Congestion controls written in Python: how a scenario names them, and how they are found, checked and described.

`cc` names one by a reference FILE.py:CLASS or MODULE:CLASS, by an entry point of the group `tonopah.algorithms`, or is the
class itself. The engine takes the class and the text of the scenario; here nothing is simulated.
"""

import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from tonopah._core import algorithms
from tonopah.cc.description import Found, digest_of, prepared
from tonopah.errors import InputError

GROUP = "tonopah.algorithms"
HINT = 'like python = "my_algorithm.py:MyCC"'


@cache
def listed() -> frozenset[str]:
    """Return the names of the algorithms in the engine."""
    return frozenset(entry["name"] for entry in json.loads(algorithms()))


@cache
def entries() -> dict[str, Any]:
    """Return the entry points of installed packages by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def load(reference: str, path: str, folder: Path = Path(), called: str = "") -> Found:
    """Return the class that a reference names, `called` so in the scenario if not by it. Raises InputError."""
    called = called or reference
    where, _, name = reference.rpartition(":")
    if not where or not name:
        raise InputError(path, f"{reference!r} does not name a class in a file", HINT)
    if not where.endswith(".py"):
        module = attempt(lambda: importlib.import_module(where), path, where)
        return prepared(member(module, name, path, where), called, path, reference)
    file = (folder / where).resolve()
    try:
        code = file.read_bytes()
    except OSError as error:
        raise InputError(path, f"{file} cannot be read: {(error.strerror or str(error)).lower()}", HINT) from None
    module = attempt(lambda: module_of(file, digest_of(code)), path, where)
    return prepared(member(module, name, path, where), called, path, f"{file}:{name}")


def load_entry(name: str, path: str) -> Found:
    """Return the class that an installed package offers under a name. Raises InputError."""
    entry = entries()[name]
    return prepared(attempt(entry.load, path, entry.value), name, path, name)


@cache
def module_of(file: Path, digest: str) -> ModuleType:
    """Return the module in a file; a changed file is another module."""
    name = f"tonopah_algorithm_{digest}_{digest_of(str(file).encode())}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec and spec.loader, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with neighbours(file.parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def neighbours(folder: Path) -> Iterator[None]:
    """Let what is imported be found in a folder, as Python does for a script."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def attempt(work: Callable[[], Any], path: str, what: str) -> Any:
    """Return what `work` gives; its failure is the user's, with the line."""
    try:
        return work()
    except Exception as error:
        line = error.lineno if isinstance(error, SyntaxError) else last_line(error, what)
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        at = f" (line {line})" if line else ""
        raise InputError(path, f"{what} cannot be loaded: {type(error).__name__}: {text}{at}") from error


def last_line(error: BaseException, file: str) -> int | None:
    """Return the last line in `file` that an exception came through."""
    frames = inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
    return next((frame.lineno for frame in reversed(frames) if frame.filename.endswith(file)), None)


def member(module: ModuleType, name: str, path: str, where: str) -> type:
    """Return a class of a module."""
    found: Any = module
    for step in name.split("."):
        found = getattr(found, step, None)
    if not isinstance(found, type):
        own = [key for key, value in vars(module).items() if isinstance(value, type) and value.__module__ == module.__name__]
        raise InputError(path, f"{where} has no class {name!r}", f"classes: {', '.join(own) or 'none'}")
    return found


def described(reference: str, path: str) -> dict[str, Any]:
    """Return the entry of a class in the list of algorithms. Raises InputError when it cannot be used."""
    return json.loads(load(reference, path).core.description)


def installed() -> list[dict[str, Any]]:
    """Return the entries of the algorithms that installed packages offer; one that cannot be used says why."""
    found = []
    for name in sorted(entries()):
        if name in listed():
            continue
        try:
            found.append(json.loads(load_entry(name, GROUP).core.description))
        except InputError as error:
            demands = {"owns_window": False, "ecn": None, "timestamps": False}
            found.append({"name": name, "title": f"cannot be used: {error.message}", "reference": entries()[name].value,
                          "demands": demands, "params": [], "profiles": []})  # fmt: skip
    return found
