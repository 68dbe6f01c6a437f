"""Shared libraries: what both interfaces, that of congestion controls and that of whole transports, have in common.

A library is opened only in a process of its own (`process.py`, `execution/worker.py`), even to read what it says of itself.
"""

import ctypes
import math
from collections.abc import Sequence
from pathlib import Path

from tonopah.errors import InputError, plain

ALGORITHM, TRANSPORT = "tonopah_algorithm", "tonopah_transport"
KINDS = {ALGORITHM: ("a congestion control", "cc"), TRANSPORT: ("a transport", "transport")}
"""By symbol: what a library with it is, and the key that names it in a scenario."""
MAX_BYTES = 512 * 1024 * 1024
"""Of the file of a library."""


def open_shared(file: Path) -> ctypes.CDLL:
    """Return an open library. Raises InputError without a path."""
    try:
        return ctypes.CDLL(str(file))
    except OSError as error:
        raise InputError("", f"{file.name} cannot be opened: {error}", "a shared library for this machine") from None


def symbol_in(library: ctypes.CDLL) -> str | None:
    """Return the symbol by which a library says what it is; that of a congestion control if it has both."""
    return next((symbol for symbol in KINDS if hasattr(library, symbol)), None)


def version_of(library: ctypes.CDLL, file: Path, symbol: str) -> int:
    """Return the version of its interface, the first field of its struct. Raises InputError if it has none of this name."""
    try:
        return ctypes.c_uint32.in_dll(library, symbol).value
    except ValueError:
        pass
    other = symbol_in(library)
    if other is None:
        hint = f"docs/{'native' if symbol == ALGORITHM else 'transport'}.md: const struct {symbol} {symbol} = {{ … }}"
        raise InputError("", f"{file.name} has no symbol {symbol}", hint)
    what, key = KINDS[other]
    raise InputError("", f"{file.name} is {what} (it has {other})", f'{key} = {{ native = "{file.name}" }}')


def text(written: bytes | None) -> str:
    """Return text of a library, in which a terminal finds nothing to obey."""
    return plain((written or b"").decode(errors="replace"))


def check_count(made: ctypes.Structure, name: str, most: int, where: str) -> int:
    """Return the length of an array of the struct `where`, its `name`_count. Raises InputError if that cannot be."""
    count: int = getattr(made, f"{name}_count")
    if count > most or (count and not getattr(made, f"{name}s")):
        raise InputError("", f"{where}.{name}_count = {count}", f"0 to {most}, and an array")
    return count


def check_distinct(what: str, names: Sequence[str], file: Path) -> None:
    """Raise InputError if two of a list have one name."""
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError("", f"{file.name}: two {what} are called {twice!r}", "a name for each")


def limits(name: str, standard: float, low: float, high: float, where: str) -> dict[str, float | None]:
    """Return the range of a parameter or option. Raises InputError if its name or its standard value is none."""
    if not name.isidentifier() or not (math.isfinite(standard) and low <= standard <= high):
        raise InputError("", f"{where}, {name!r} = {standard} from {low} to {high}", "a name, and min ≤ standard ≤ max")
    return {key: value if math.isfinite(value) else None for key, value in (("min", low), ("max", high))}
