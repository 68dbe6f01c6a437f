"""Whole transports in shared libraries, for the interface that `include/tonopah_transport.h` declares (docs/transport.md)."""

import ctypes
from pathlib import Path
from typing import Any

from tonopah.cc.description import MOST_INTERNALS, is_variable
from tonopah.cc.shared_object import TRANSPORT, check_count, check_distinct, limits, open_shared, text, version_of
from tonopah.errors import InputError

VERSION = 1
"""Of the interface."""
MOST_OPTIONS = 64
MOST_WORDS = 64
FUNCTIONS = (
    "create", "destroy", "on_datagram", "on_timeout", "next_timeout", "poll_transmit", "poll_event", "open", "write", "read",
    "close", "stats", "observe",
)  # fmt: skip
"""In their order; `observe` may be NULL."""


class TransportOption(ctypes.Structure):
    """`struct tonopah_option`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("standard", ctypes.c_double),
        ("min", ctypes.c_double),
        ("max", ctypes.c_double),
        ("unit", ctypes.c_char_p),
        ("doc", ctypes.c_char_p),
        ("words", ctypes.POINTER(ctypes.c_char_p)),
    )


class TransportDescriptor(ctypes.Structure):
    """`struct tonopah_transport`."""

    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("title", ctypes.c_char_p),
        ("reference", ctypes.c_char_p),
        ("protocol", ctypes.c_uint32),
        ("max_streams", ctypes.c_uint32),
        ("options", ctypes.POINTER(TransportOption)),
        ("option_count", ctypes.c_uint64),
        ("states", ctypes.POINTER(ctypes.c_char_p)),
        ("state_count", ctypes.c_uint64),
        *((name, ctypes.c_void_p) for name in FUNCTIONS),
    )


class TransportLibrary:
    """An open library with a transport."""

    def __init__(self, file: Path):
        self.file, self.where = file, f"{file.name}: {TRANSPORT}"
        self.library = open_shared(file)
        abi = version_of(self.library, file, TRANSPORT)
        if abi != VERSION:
            said = f"{file.name} has version {abi} of the interface, the engine has {VERSION}"
            raise InputError("", said, "compile it with the tonopah_transport.h of this version")
        self.made = TransportDescriptor.in_dll(self.library, TRANSPORT)
        size = ctypes.sizeof(TransportDescriptor)
        if self.made.size != size:
            said = f"{file.name} was compiled with a header whose struct has {self.made.size} bytes, the engine's has {size}"
            raise InputError("", said, "compile it with the tonopah_transport.h of this version")
        if missing := next((name for name in FUNCTIONS[:-1] if not getattr(self.made, name)), None):
            raise InputError("", f"{self.where}.{missing} is NULL", "a function")
        self.check_numbers()
        self.options = [self.option(self.made.options[index], index) for index in range(self.made.option_count)]
        check_distinct("options", [option["name"] for option in self.options], file)
        self.states = [text(self.made.states[index]) for index in range(self.made.state_count)]
        if wrong := next((word for word in self.states if not is_variable(word)), None):
            raise InputError("", f"{self.where}: {wrong!r} is no name of a state", "an identifier of up to 40 letters")

    @property
    def address(self) -> int:
        """Where its struct is."""
        return ctypes.addressof(self.made)

    def check_numbers(self) -> None:
        """Raise InputError for a number of its struct that cannot be."""
        for name, least, most in (("protocol", 1, 255), ("max_streams", 1, 2**32 - 1)):
            if not least <= getattr(self.made, name) <= most:
                raise InputError("", f"{self.where}.{name} = {getattr(self.made, name)}", f"{least} to {most}")
        for name, most in (("option", MOST_OPTIONS), ("state", MOST_INTERNALS)):
            check_count(self.made, name, most, self.where)

    def option(self, given: TransportOption, index: int) -> dict[str, Any]:
        """Return the description of an option."""
        name, standard = text(given.name), given.standard
        words = self.words(given, name)
        low, high = (0.0, len(words) - 1.0) if words else (given.min, given.max)
        allowed = limits(name, standard, low, high, f"{self.file.name}: option {index}")
        if words and standard != int(standard):
            raise InputError("", f"{self.file.name}: option {name!r} has the standard {standard}", "the place of a word")
        return {"name": name, "default": standard, **allowed, "unit": text(given.unit), "doc": text(given.doc), "words": words}

    def words(self, given: TransportOption, name: str) -> list[str]:
        """Return the words of an option, if a scenario writes words."""
        found: list[str] = []
        while given.words and given.words[len(found)]:
            found.append(text(given.words[len(found)]))
            if len(found) > MOST_WORDS or not is_variable(found[-1].replace("-", "_")):
                allowed = f"up to {MOST_WORDS} words of letters, digits, `_` and `-`, and NULL after the last"
                raise InputError("", f"{self.file.name}: option {name!r} has the word {found[-1]!r}", allowed)
        return found

    def describe(self, name: str) -> dict[str, Any]:
        """Return all that it says of itself."""
        return {
            "kind": "transport",
            "name": name,
            "title": text(self.made.title) or self.file.name,
            "reference": text(self.made.reference) or "a shared library",
            "protocol": self.made.protocol,
            "max_streams": self.made.max_streams,
            "options": self.options,
            "states": self.states,
        }
