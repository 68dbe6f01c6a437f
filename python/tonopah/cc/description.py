"""Checks a class written in Python, describes it as the engine describes its own algorithms, and registers it there."""

import inspect
import json
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tonopah._core import Algorithm, Transport
from tonopah.cc.base import CongestionControl
from tonopah.cc.importing import MODULE_PREFIX
from tonopah.cc.references import is_library, is_of_transport
from tonopah.cc.rewriting import CompileError
from tonopah.digest import digest
from tonopah.errors import AlgorithmError, InputError, ScenarioError
from tonopah.metrics import parameter_range

ECN_MODES = (None, "off", "classic", "dctcp", "accecn", "l4s")
REQUIRED = {"on_ack": 2, "on_congestion": 2, "window": 0}
OPTIONAL = {
    "on_recovery_end": 1, "on_undo": 2, "on_sent": 1, "on_lost": 2, "on_idle": 2, "on_timer": 1, "next_timer": 0,
    "pacing_rate": 0, "observe": 0, "begin": 1,
}  # fmt: skip
"""Methods with the number of their arguments."""
MOST_INTERNALS, LONGEST_NAME = 64, 40
"""Variables that an algorithm may show, and letters of a name; the engine refuses more."""
NO_SOURCES: Mapping[str, bytes] = MappingProxyType({})


@dataclass(frozen=True)
class Provenance:
    """Where a class comes from, as a reference that another process can load, and a digest of its source."""

    reference: str
    digest: str
    description: str = ""
    """As it is in the list of algorithms, in JSON text."""

    @property
    def is_library(self) -> bool:
        """Whether it is machine code, which runs in a process of its own only."""
        return is_library(self.reference)

    @property
    def is_transport(self) -> bool:
        """Whether it is a whole transport."""
        return self.is_library and bool(self.description) and is_of_transport(self.description)


ENTRIES = ("native_entry", "native_internals")
"""Attributes by which an object has machine code; the modules that may make them:"""
ENTRY_MAKERS = ("tonopah.cc.compiled", "tonopah.cc.library")


class Maker:
    """What the engine calls to make an object: the class that was loaded for the run in this thread, else the one checked."""

    def __init__(self, checked: Callable[..., Any]):
        self.checked, self.of_run = checked, threading.local()

    def __call__(self, setup: Any, **parameters: float | bool) -> Any:
        """Return an object for one end of a connection."""
        made = getattr(self.of_run, "cls", self.checked)(setup, **parameters)
        for name in ENTRIES:
            entry = inspect.getattr_static(made, name, None)
            # The engine calls what stands there as machine code, whatever it is.
            if entry is not None and getattr(getattr(entry, "fget", None), "__module__", "") not in ENTRY_MAKERS:
                raise TypeError(f"{name} is the name of what @tonopah.compiled makes: give it another name")
        return made

    @contextmanager
    def using(self, cls: type) -> Iterator[None]:
        """Make objects of this class meanwhile, in this thread."""
        self.of_run.cls = cls
        try:
            yield
        finally:
            del self.of_run.cls


@dataclass(frozen=True)
class LoadedAlgorithm:
    """A class, or a transport in a library, as the engine runs it, its provenance, and what makes its objects.

    `load_anew` loads the class again from its file, so that a run meets no state of another; None for a class of an installed
    package and for one that the caller made.
    """

    core: Algorithm | Transport
    origin: Provenance
    maker: Maker
    load_anew: Callable[[], type] | None = None


@contextmanager
def loaded_for_a_run(found: Mapping[str, LoadedAlgorithm]) -> Iterator[dict[str, Algorithm | Transport]]:
    """Yield the algorithms of one run by their names in the scenario, each loaded anew from its file."""
    with ExitStack() as stack:
        for algorithm in found.values():
            if algorithm.load_anew:
                stack.enter_context(algorithm.maker.using(algorithm.load_anew()))
        yield {name: algorithm.core for name, algorithm in found.items()}


def source_digest(cls: type, description: str, sources: Mapping[str, bytes]) -> str:
    """Return a digest of all in Python that decides what a class does, the same wherever its folder is.

    That is `sources` by module, its base classes elsewhere, its description, and the base class of all, which the engine asks
    which methods do nothing even if the class is not derived from it.
    """
    files = dict(sources)
    for base in (*cls.__mro__, CongestionControl):
        if base is not object and base.__module__ not in sources and not base.__module__.startswith(MODULE_PREFIX):
            with suppress(OSError, TypeError):
                files[base.__module__] = Path(inspect.getsourcefile(base) or "").read_bytes()
    return digest(description, *(field for name in sorted(files) for field in (name, digest(files[name]))))


def make(cls: type, name: str, reference: str = "", sources: Mapping[str, bytes] = NO_SOURCES) -> LoadedAlgorithm:
    """Return a class as the engine runs it, unchecked; the engine keeps it for the life of the process.

    `sources` are those of its module, as "", and of the modules beside it by name, if the class was loaded from a file.
    """
    maker, description = Maker(cls), json.dumps(describe_class(cls, name))
    origin = Provenance(reference, source_digest(cls, description, sources), description)
    return LoadedAlgorithm(Algorithm(maker, description), origin, maker)


_registered: dict[tuple[type, str, str], LoadedAlgorithm] = {}
"""What was made and checked, by class, name and reference."""


def register(cls: type, name: str, reference: str, sources: Mapping[str, bytes]) -> LoadedAlgorithm:
    """Return a class as the engine runs it, after an object of it has been tried."""
    known = _registered.get((cls, name, reference))
    if not known:
        known = make(cls, name, reference, sources)
        known.core.probe()
        _registered[cls, name, reference] = known
    return known


def prepare(cls: Any, name: str, path: str, reference: str = "", sources: Mapping[str, bytes] = NO_SOURCES) -> LoadedAlgorithm:
    """Return a class as the engine runs it; for `sources` see `make`. Raises InputError when it cannot be used."""
    if not isinstance(cls, type):
        raise InputError(path, f"{name} is not a class")
    check_methods(cls, path)
    try:
        return register(cls, name, reference, sources)
    except AlgorithmError as error:
        cause = error.__cause__
        if isinstance(cause, CompileError):
            raise InputError(path, f"{cls.__name__} cannot be compiled: {cause.message}", cause.hint) from None
        text = f"{cls.__name__} cannot be used: {error.method}: {type(cause).__name__}: {cause}"
        raise InputError(path, text) from cause
    except InputError as error:
        raise InputError(path, error.message, error.hint) from None
    except ScenarioError as error:
        raise InputError(path, f"{cls.__name__}: {error.path}: {error.message}") from None


def check_methods(cls: type, path: str) -> None:
    """Raise InputError for a class that lacks a method or whose method has other arguments."""
    for name, count in {**REQUIRED, **OPTIONAL}.items():
        method = getattr(cls, name, None)
        own = method is not getattr(CongestionControl, name) or name == "window"
        if name in REQUIRED and (method is None or not own):
            raise InputError(path, f"{cls.__name__} has no method {name!r}", f"required: {', '.join(REQUIRED)}")
        if method is None:
            continue
        if not callable(method):
            raise InputError(path, f"{cls.__name__}.{name} is not a method")
        try:
            inspect.signature(method).bind(None, *range(count))
        except TypeError:
            wanted = str(inspect.signature(getattr(CongestionControl, name)))
            text = f"{cls.__name__}.{name} does not take the arguments it is called with"
            raise InputError(path, text, f"{name}{wanted}") from None


def describe_class(cls: type, name: str) -> dict[str, Any]:
    """Return the entry of a class in the list of algorithms."""
    ecn, internals = getattr(cls, "ecn", None), describe_internals(cls)
    if ecn not in ECN_MODES:
        raise InputError("", f"{cls.__name__}.ecn = {ecn!r} is unknown", ", ".join(str(mode) for mode in ECN_MODES))
    first = (inspect.getdoc(cls) if "__doc__" in vars(cls) else None) or cls.__name__
    return {
        "name": name,
        "title": getattr(cls, "title", "") or first.splitlines()[0],
        "reference": getattr(cls, "reference", "") or "written in Python",
        "requirements": {
            "owns_window": bool(getattr(cls, "owns_window", False)),
            "ecn": ecn,
            "timestamps": bool(getattr(cls, "timestamps", False)),
        },
        "strict": bool(getattr(cls, "strict", False)),
        **({"starts": True} if takes_starts(cls) else {}),
        "params": describe_parameters(cls),
        "internals": internals,
        # Elsewhere the attribute is the class's own business.
        "states": [] if internals == [] else names_of(cls, "states"),
        "profiles": [{"name": "default", "set": {}, "recovery": None}],
    }


def takes_starts(cls: type) -> bool:
    """Tell whether a class takes a start of the engine."""
    starts = bool(getattr(cls, "starts", False))
    if starts and hasattr(cls, "native_entry"):
        raise InputError("", f"{cls.__name__}.starts = True is not for machine code", "leave it out, or `@tonopah.compiled`")
    if starts and not hasattr(cls, "begin"):
        raise InputError("", f"{cls.__name__} has `starts` and no method 'begin'", "derive it from CongestionControl")
    return starts


def names_of(cls: type, attribute: str) -> list[str]:
    """Return the names that an attribute of a class gives."""
    names = getattr(cls, attribute, ())
    listed = isinstance(names, tuple | list) and all(isinstance(name, str) for name in names)
    if not listed or len(names) > MOST_INTERNALS or not all(is_variable(name) for name in names):
        allowed = f"up to {MOST_INTERNALS} identifiers of up to {LONGEST_NAME} letters"
        raise InputError("", f"{cls.__name__}.{attribute} = {names!r} is no list of names", allowed)
    return list(names)


def is_variable(name: str) -> bool:
    """Tell whether a variable, or a word of `state`, may be called so."""
    return name.isascii() and name.isidentifier() and len(name) <= LONGEST_NAME


def describe_internals(cls: type) -> list[dict[str, str]] | None:
    """Return the variables that objects of a class show; None if only its `observe` knows them."""
    observed = names_of(cls, "observed")
    if getattr(cls, "observe", CongestionControl.observe) is CongestionControl.observe:
        return [{"name": name, "unit": unit_of(name), "doc": ""} for name in observed]
    if observed:
        raise InputError("", f"{cls.__name__} has `observed` and `observe`", "one of them")
    return None


def unit_of(name: str) -> str:
    """Return the unit in which the name of a variable ends."""
    units = {"_bytes": "B", "_bps": "bit/s", "_s": "s"}
    return next((unit for end, unit in units.items() if name.endswith(end)), "")


def describe_parameters(cls: type) -> list[dict[str, Any]]:
    """Return the parameters of a class: its keyword arguments with a number or a truth value as default."""
    declared = getattr(cls, "parameters", {})
    entries = []
    for number, argument in enumerate(inspect.signature(cls).parameters.values()):
        if number == 0 or argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        if argument.default is argument.empty:
            text = f"{cls.__name__} has no default for its argument {argument.name!r}"
            raise InputError("", text, f"def __init__(self, setup, *, {argument.name}=1.0)")
        if isinstance(argument.default, bool | int | float):
            about = {"min": None, "max": None, "unit": "", "doc": "", "source": ""} | dict(declared.get(argument.name, {}))
            check_declaration(about, f"{cls.__name__}.parameters[{argument.name!r}]")
            low, high = about["min"], about["max"]
            if (low is not None and argument.default < low) or (high is not None and argument.default > high):
                text = f"{cls.__name__}.parameters: the default of {argument.name!r}, {argument.default}, is out of range"
                raise InputError("", text, parameter_range(about))
            entries.append({"name": argument.name, "default": argument.default, **about})
    unknown = set(declared) - {entry["name"] for entry in entries}
    # An inherited declaration may name arguments that the subclass no longer has.
    if unknown and "parameters" in vars(cls):
        raise InputError("", f"{cls.__name__}.parameters: no argument {sorted(unknown)[0]!r} with a number as default")
    return entries


def check_declaration(about: Mapping[str, Any], path: str) -> None:
    """Raise InputError for a key or value that the declaration of a parameter cannot have."""
    for key, value in about.items():
        number = isinstance(value, int | float) and math.isfinite(value)
        if key not in ("min", "max", "unit", "doc", "source"):
            raise InputError("", f"{path} has an unknown key {key!r}", "min, max, unit, doc, source")
        if not (number or value is None if key in ("min", "max") else isinstance(value, str)):
            raise InputError("", f"{path}: {key} = {value!r} is not {'a number' if key in ('min', 'max') else 'text'}")
