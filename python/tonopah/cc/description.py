"""Classes written in Python: checked, described as the engine describes its own algorithms, and put into its form."""

import hashlib
import inspect
import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tonopah._core import Algorithm
from tonopah.cc.base import CongestionControl
from tonopah.errors import AlgorithmError, InputError, ScenarioError
from tonopah.metrics import parameter_range

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

    core: Algorithm
    origin: Origin


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
    core = Algorithm(found, json.dumps(describe(found, name)))
    core.probe()
    return Found(core, Origin("", source_digest(found)))


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
