"""Congestion controls written in Python: how a scenario names them, and how they are found, checked and described.

`cc` names one by a reference FILE.py:CLASS or MODULE:CLASS, by an entry point of the group `tonopah.algorithms`, or is the
class itself. The engine takes the class and the text of the scenario; here nothing is simulated.
"""

import hashlib
import importlib
import importlib.util
import inspect
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from tonopah import _core
from tonopah.congestion_control import CongestionControl
from tonopah.errors import AlgorithmError, InputError, ScenarioError
from tonopah.metrics import parameter_range

GROUP = "tonopah.algorithms"
HINT = 'like python = "my_algorithm.py:MyCC"'
ECN_MODES = (None, "off", "classic", "dctcp", "accecn", "l4s")
REQUIRED = {"on_ack": 2, "on_congestion": 2, "window": 0}
OPTIONAL = {
    "on_recovery_end": 1, "on_undo": 2, "on_sent": 1, "on_lost": 2, "on_idle": 2, "on_timer": 1, "next_timer": 0,
    "head_timeout": 0, "pacing_rate": 0, "observe": 0,
}  # fmt: skip
"""Methods and the number of their arguments."""


@dataclass(frozen=True)
class Origin:
    """Where a class is, in a form that another process can use, and a digest of its source."""

    place: str
    digest: str


@dataclass(frozen=True)
class Found:
    """A class that can be run: the engine's form of it, and where it came from."""

    core: _core.Algorithm
    origin: Origin


@dataclass
class Bound:
    """A scenario as the engine takes it: JSON text, and the algorithms in Python by the name that the text has for them."""

    text: str = ""
    algorithms: dict[str, _core.Algorithm] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)


def bind(scenario: Mapping[str, Any], folder: str | Path = ".", source: str | None = None, path: str = "") -> Bound:
    """Return a scenario, or the part of it at `path`, with the algorithms in Python that it names, starting at `folder`.

    Classes in it become text. Raises InputError, with the path of the `cc` at fault, when a class cannot be used.
    """
    # That module uses this one.
    from tonopah.scenario import to_json

    bound = Bound()
    plain = copied(scenario)
    for table, place in places(plain, path):
        try:
            table["cc"] = take(bound, table["cc"], place, Path(folder))
        except InputError as error:
            error.source = error.source or source
            raise InputError(error.path, error.message, error.hint, error.source) from error.__cause__
    bound.text = to_json(plain)
    return bound


def copied(value: Any) -> Any:
    """Return tables and arrays as new ones; the rest is shared."""
    if isinstance(value, Mapping):
        return {key: copied(below) for key, below in value.items()}
    return [copied(below) for below in value] if isinstance(value, list | tuple) else value


def places(value: Any, path: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every table that has a `cc`, with the path of it."""
    if isinstance(value, dict):
        for key, below in value.items():
            here = f"{path}.{key}" if path else str(key)
            if key == "cc":
                yield value, here
            else:
                yield from places(below, here)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from places(below, f"{path}[{index}]")


def take(bound: Bound, cc: Any, path: str, folder: Path) -> Any:
    """Return a `cc` as the engine reads it, after its class, if it has one, has been found."""
    table = dict(cc) if isinstance(cc, dict) else None
    key = "python" if table and "python" in table else "name"
    named = table.get(key) if table is not None else cc
    place = f"{path}.{key}" if table is not None else path
    if isinstance(named, type):
        reference, found = class_name(named), prepared(named, class_name(named), place)
    elif not isinstance(named, str):
        if key == "python":
            raise InputError(place, f"{named!r} does not name a class in a file", HINT)
        return cc
    elif key == "python" or ":" in named:
        reference, found = named, load(named, place, folder)
    elif named in entries() and named not in listed():
        reference, found = named, load_entry(named, place)
    else:
        return cc
    if bound.algorithms.setdefault(reference, found.core) is not found.core:
        raise InputError(place, f"two different classes are called {reference}", "rename one")
    bound.origins[reference] = found.origin
    if table is None:
        return reference
    rest = {other: value for other, value in table.items() if other != key}
    return {"python" if ":" in reference else "name": reference, **rest}


def rebase(scenario: dict[str, Any], folder: Path) -> None:
    """Let references of a scenario that start at its own file start where `folder` does."""
    for table, _ in places(scenario):
        cc = table["cc"]
        if isinstance(cc, dict) and isinstance(cc.get("python"), str):
            table["cc"] = cc | {"python": moved(cc["python"], folder)}
        elif isinstance(cc, str):
            table["cc"] = moved(cc, folder)


def moved(reference: str, folder: Path) -> str:
    """Return a reference to a file that starts one folder higher up."""
    return (folder / reference).as_posix() if ".py:" in reference else reference


def class_name(found: type) -> str:
    """Return the reference that stands for a class."""
    return f"{found.__module__}:{found.__qualname__}"


@cache
def listed() -> frozenset[str]:
    """Return the names of the algorithms in the engine."""
    return frozenset(entry["name"] for entry in json.loads(_core.algorithms()))


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


def digest_of(code: bytes) -> str:
    """Return a digest of source text."""
    return hashlib.blake2b(code, digest_size=16).hexdigest()


def source_digest(found: type) -> str:
    """Return a digest of the files that a class and its bases are written in."""
    files = set()
    for base in found.__mro__:
        if base not in (object, CongestionControl):
            with suppress(OSError, TypeError):
                files.add(inspect.getsourcefile(base))
    return digest_of(b"\n".join(Path(file).read_bytes() for file in sorted(filter(None, files)) if Path(file).is_file()))


@cache
def form(found: type, name: str) -> Found:
    """Return the engine's form of a class that has been checked; made once, since the engine keeps it for ever."""
    core = _core.Algorithm(found, json.dumps(describe(found, name)))
    core.probe()
    return Found(core, Origin("", source_digest(found)))


def described(reference: str, path: str) -> dict[str, Any]:
    """Return the entry of a class in the list of algorithms. Raises InputError when it cannot be used."""
    return json.loads(load(reference, path).core.description)


def prepared(found: Any, name: str, path: str, place: str = "") -> Found:
    """Return a class in the engine's form. Raises InputError when it cannot be used."""
    if not isinstance(found, type):
        raise InputError(path, f"{name} is no class")
    check_methods(found, path)
    try:
        made = form(found, name)
    except AlgorithmError as error:
        cause = error.__cause__
        text = f"{found.__name__} cannot be used: {error.method}: {type(cause).__name__}: {cause}"
        raise InputError(path, text) from cause
    except InputError as error:
        raise InputError(path, error.message, error.hint) from None
    except ScenarioError as error:
        raise InputError(path, f"{found.__name__}: {error.path}: {error.message}") from None
    return Found(made.core, Origin(place, made.origin.digest))


def check_methods(found: type, path: str) -> None:
    """Refuse a class whose methods are missing or take other arguments."""
    for name, count in {**REQUIRED, **OPTIONAL}.items():
        method = getattr(found, name, None)
        own = method is not getattr(CongestionControl, name) or name == "window"
        if name in REQUIRED and (method is None or not own):
            raise InputError(path, f"{found.__name__} has no method {name!r}", f"required: {', '.join(REQUIRED)}")
        if method is None:
            continue
        if not callable(method):
            raise InputError(path, f"{found.__name__}.{name} is not a method")
        try:
            inspect.signature(method).bind(None, *range(count))
        except TypeError:
            wanted = str(inspect.signature(getattr(CongestionControl, name)))
            text = f"{found.__name__}.{name} does not take the arguments it is called with"
            raise InputError(path, text, f"{name}{wanted}") from None


def describe(found: type, name: str) -> dict[str, Any]:
    """Return the entry of a class in the list of algorithms."""
    ecn = getattr(found, "ecn", None)
    if ecn not in ECN_MODES:
        raise InputError("", f"{found.__name__}.ecn = {ecn!r} is unknown", ", ".join(str(mode) for mode in ECN_MODES))
    first = (inspect.getdoc(found) if "__doc__" in vars(found) else None) or found.__name__
    return {
        "name": name,
        "title": getattr(found, "title", "") or first.splitlines()[0],
        "reference": getattr(found, "reference", "") or "written in Python",
        "demands": {
            "owns_window": bool(getattr(found, "owns_window", False)),
            "ecn": ecn,
            "timestamps": bool(getattr(found, "timestamps", False)),
        },
        "params": params(found),
        "profiles": [{"name": "default", "set": {}, "recovery": None}],
    }


def params(found: type) -> list[dict[str, Any]]:
    """Return the parameters of a class: its keyword arguments with a number or a truth value as default."""
    told = getattr(found, "parameters", {})
    listed = []
    for number, argument in enumerate(inspect.signature(found).parameters.values()):
        if number == 0 or argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        if argument.default is argument.empty:
            text = f"{found.__name__} has no default for its argument {argument.name!r}"
            raise InputError("", text, f"def __init__(self, setup, *, {argument.name}=1.0)")
        if isinstance(argument.default, bool | int | float):
            about = {"min": None, "max": None, "unit": "", "doc": "", "source": ""} | dict(told.get(argument.name, {}))
            refuse_others(about, f"{found.__name__}.parameters[{argument.name!r}]")
            low, high = about["min"], about["max"]
            if (low is not None and argument.default < low) or (high is not None and argument.default > high):
                text = f"{found.__name__}.parameters: the default of {argument.name!r}, {argument.default}, is out of range"
                raise InputError("", text, parameter_range(about))
            listed.append({"name": argument.name, "default": argument.default, **about})
    unknown = set(told) - {entry["name"] for entry in listed}
    # What is inherited may have lost its arguments.
    if unknown and "parameters" in vars(found):
        raise InputError("", f"{found.__name__}.parameters: no argument {sorted(unknown)[0]!r} with a number as default")
    return listed


def refuse_others(about: Mapping[str, Any], place: str) -> None:
    """Refuse what a parameter cannot have."""
    for key, value in about.items():
        number = isinstance(value, int | float) and math.isfinite(value)
        if key not in ("min", "max", "unit", "doc", "source"):
            raise InputError("", f"{place} has an unknown key {key!r}", "min, max, unit, doc, source")
        if not (number or value is None if key in ("min", "max") else isinstance(value, str)):
            raise InputError("", f"{place}: {key} = {value!r} is not {'a number' if key in ('min', 'max') else 'text'}")


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
