"""How a scenario names a congestion control: one of the engine, a class in Python, or a shared library.

The engine has the same rule in `crates/sim/src/scenario/cc_choice.rs`.
"""

from collections.abc import Mapping
from typing import Any

SUFFIX = ".so"
"""Of a shared library."""


def name_in(cc: Any) -> tuple[str, Any]:
    """Return the key of a `cc` that says what it is, an algorithm or a transport, and its value; of a text the key for it."""
    if not isinstance(cc, Mapping):
        return key_of(cc), cc
    key = next((key for key in ("python", "native", "transport") if key in cc), "name")
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
