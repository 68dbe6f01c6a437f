"""How a scenario names a congestion control: one of the engine, a class in Python, or a shared library.

The engine has the same rule in `crates/sim/src/scenario/cc_choice.rs`.
"""

import inspect
import json
import os
from collections.abc import Mapping
from typing import Any

SUFFIX = ".so"
"""Of a shared library."""


def reference_of(cls: type) -> str:
    """Return what names a class so that any process finds it: its module or file; empty for one of the program or a function.

    To load the file of a program would run the program again.
    """
    if cls.__module__ == "__main__" or "." in cls.__qualname__:
        return ""
    if cls.__module__.startswith("tonopah."):
        return f"{cls.__module__}:{cls.__name__}"
    try:
        file = inspect.getsourcefile(cls)
    except TypeError:
        file = None
    return f"{os.path.realpath(file)}:{cls.__name__}" if file and os.path.isfile(file) else ""


def name_in(cc: Any) -> tuple[str, Any]:
    """Return the key of a `cc` that says what it is, an algorithm or a transport, and its value; of a text the key for it."""
    if not isinstance(cc, Mapping):
        return key_of(cc), cc
    # `native` of vegas is a parameter.
    references = (key for key in ("python", "native", "transport") if key in cc and not isinstance(cc[key], bool))
    key = next(references, "name")
    return key, cc.get(key)


def key_of(reference: Any) -> str:
    """Return the key under which a table has a reference."""
    if isinstance(reference, str) and ":" in reference:
        return "python"
    return "native" if is_library(reference) else "name"


def is_code(cc: Any) -> bool:
    """Tell whether a `cc` names a class in Python or a library, and not an algorithm of the engine."""
    key, named = name_in(cc)
    return key != "name" or key_of(named) != "name"


def is_library(reference: Any) -> bool:
    """Tell whether a reference names a shared library."""
    return isinstance(reference, str) and reference.endswith(SUFFIX)


def is_of_transport(description: str) -> bool:
    """Tell whether a description, as JSON text, is that of a transport. Raises ValueError."""
    return bool(json.loads(description).get("kind") == "transport")
