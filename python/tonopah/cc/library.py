"""Congestion controls in shared libraries, for the interface that `include/tonopah.h` declares (docs/native.md).

A library is opened only in a process of its own (`process.py`, `execution/worker.py`), even to read what it says of itself.
"""

import ctypes
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tonopah._core import NATIVE_LAYOUT, NATIVE_VERSION, Algorithm, Transport
from tonopah.cc.description import (
    ECN_MODES,
    MOST_INTERNALS,
    LoadedAlgorithm,
    Maker,
    Provenance,
    is_variable,
    unit_of,
)
from tonopah.cc.process import ProcessEndedError, ask
from tonopah.cc.references import SUFFIX, is_of_transport
from tonopah.cc.shared_object import ALGORITHM as SYMBOL
from tonopah.cc.shared_object import (
    MAX_BYTES,
    TRANSPORT,
    check_count,
    check_distinct,
    limits,
    open_shared,
    symbol_in,
    text,
    version_of,
)
from tonopah.cc.transport import VERSION as TRANSPORT_VERSION
from tonopah.cc.transport import TransportLibrary
from tonopah.digest import digest
from tonopah.errors import AlgorithmError, InputError
from tonopah.scenario.files import read_file

Kind: TypeAlias = Literal["native", "transport"]
"""What a library is: a congestion control or a transport, as the interface of either is called in digests."""
VERSIONS: Mapping[Kind, int] = {"native": NATIVE_VERSION, "transport": TRANSPORT_VERSION}
MAX_PARAMETERS = 64
ABSENT = math.nan


def get_include() -> str:
    """Return the folder of `tonopah.h`, the interface of congestion controls in C (docs/native.md)."""
    return str(Path(__file__).resolve().parents[1] / "include")


class LibraryParameter(ctypes.Structure):
    """`struct tonopah_parameter`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("standard", ctypes.c_double),
        ("min", ctypes.c_double),
        ("max", ctypes.c_double),
        ("unit", ctypes.c_char_p),
        ("doc", ctypes.c_char_p),
    )


class LibraryInternal(ctypes.Structure):
    """`struct tonopah_internal`."""

    _fields_ = (("name", ctypes.c_char_p), ("doc", ctypes.c_char_p))


class Setup(ctypes.Structure):
    """`struct tonopah_setup`."""

    _fields_ = (
        ("now_s", ctypes.c_double),
        ("mss_bytes", ctypes.c_double),
        ("initial_window_bytes", ctypes.c_double),
        ("initial_ssthresh_bytes", ctypes.c_double),
        ("handshake_rtt_s", ctypes.c_double),
        ("paced", ctypes.c_double),
        ("seed", ctypes.c_uint64),
    )


class Descriptor2(ctypes.Structure):
    """`struct tonopah_algorithm` of version 2 of the interface."""

    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("wanted", ctypes.c_uint32),
        ("title", ctypes.c_char_p),
        ("reference", ctypes.c_char_p),
        ("ecn", ctypes.c_char_p),
        ("owns_window", ctypes.c_uint32),
        ("timestamps", ctypes.c_uint32),
        ("parameters", ctypes.POINTER(LibraryParameter)),
        ("parameter_count", ctypes.c_uint64),
        ("create", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Setup), ctypes.POINTER(ctypes.c_double))),
        ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("event", ctypes.c_void_p),
    )
    strict, internal_count, state_count, observe = 0, 0, 0, None


class Descriptor(Descriptor2):
    """`struct tonopah_algorithm`."""

    _fields_ = (
        ("strict", ctypes.c_uint32),
        ("internals", ctypes.POINTER(LibraryInternal)),
        ("internal_count", ctypes.c_uint64),
        ("states", ctypes.POINTER(ctypes.c_char_p)),
        ("state_count", ctypes.c_uint64),
        ("observe", ctypes.c_void_p),
    )


DESCRIPTORS = {2: Descriptor2, NATIVE_VERSION: Descriptor}
"""By version of the interface: a signal only grows at its end, so that a library of the version before reads what it knows."""


class Library:
    """An open library; called with a setup and parameters it makes the state of one end of a connection."""

    def __init__(self, file: Path):
        self.file, self.library = file, open_shared(file)
        abi = version_of(self.library, file, SYMBOL)
        if abi not in DESCRIPTORS:
            text = f"{file.name} has version {abi} of the interface, the engine has {NATIVE_VERSION}"
            raise InputError("", text, "compile it with the tonopah.h of this version")
        self.made = DESCRIPTORS[abi].in_dll(self.library, SYMBOL)
        for name in ("create", "destroy", "event"):
            if not getattr(self.made, name):
                raise InputError("", f"{file.name}: {SYMBOL}.{name} is NULL", "a function")
        if not self.made.wanted & 2 ** len(NATIVE_LAYOUT["kinds"]) - 2:
            raise InputError("", f"{file.name}: {SYMBOL}.wanted names no event that changes its window", "TONOPAH_WANTS(…)")
        self.internals, self.states = self.read_internals()
        count = check_count(self.made, "parameter", MAX_PARAMETERS, f"{file.name}: {SYMBOL}")
        self.parameters = [self.parameter(index) for index in range(count)]
        check_distinct("parameters", [about["name"] for about in self.parameters], file)

    def read_internals(self) -> tuple[list[dict[str, str]], list[str]]:
        """Return the variables that it shows, and the words of `state`."""
        made, where = self.made, f"{self.file.name}: {SYMBOL}"
        for name in ("internal", "state"):
            check_count(made, name, MOST_INTERNALS, where)
        if bool(made.internal_count) != bool(made.observe):
            raise InputError("", f"{where}: internals and observe need each other", "both, or neither")
        internals = [(text(made.internals[i].name), text(made.internals[i].doc)) for i in range(made.internal_count)]
        states = [text(made.states[i]) for i in range(made.state_count)]
        wrong = next((name for name in (*(name for name, _ in internals), *states) if not is_variable(name)), None)
        if wrong is not None:
            raise InputError("", f"{where}: {wrong!r} is no name of a variable or state", "an identifier of up to 40 letters")
        return [{"name": name, "unit": unit_of(name), "doc": doc} for name, doc in internals], states

    def parameter(self, index: int) -> dict[str, Any]:
        """Return the description of a parameter."""
        given = self.made.parameters[index]
        name, standard, low, high = text(given.name), given.standard, given.min, given.max
        about = {"unit": text(given.unit), "doc": text(given.doc), "source": ""}
        allowed = limits(name, standard, low, high, f"{self.file.name}: parameter {index}")
        return {"name": name, "default": standard, **allowed, **about}

    def describe(self, name: str) -> dict[str, Any]:
        """Return its entry in the list of algorithms."""
        made = self.made
        ecn = text(made.ecn) or None
        if ecn not in ECN_MODES:
            raise InputError("", f"{self.file.name}: {SYMBOL}.ecn = {ecn!r} is unknown", ", ".join(map(str, ECN_MODES)))
        return {
            "name": name,
            "title": text(made.title) or self.file.name,
            "reference": text(made.reference) or "a shared library",
            "requirements": {"owns_window": bool(made.owns_window), "ecn": ecn, "timestamps": bool(made.timestamps)},
            "strict": bool(made.strict),
            "params": self.parameters,
            "internals": self.internals,
            "states": self.states,
            "profiles": [{"name": "default", "set": {}, "recovery": None}],
        }

    def __call__(self, setup: Any, **parameters: float) -> "State":
        """Return the state of one end of a connection."""
        return State(self, setup, parameters)


class State:
    """The state of one end of a connection, which the library keeps."""

    def __init__(self, library: Library, setup: Any, parameters: dict[str, float]):
        facts = [
            ABSENT if value is None else float(value) for value in (getattr(setup, field[0]) for field in Setup._fields_[:-1])
        ]
        values = (ctypes.c_double * max(1, len(parameters)))(*(parameters[about["name"]] for about in library.parameters))
        self.made, self.shown = library.made, library.internals
        self.address = self.made.create(ctypes.byref(Setup(*facts, setup.seed)), values)
        if not self.address:
            raise RuntimeError("create gave NULL")

    @property
    def native_entry(self) -> tuple[int, int, int]:
        """What the engine calls: the function, the events that it wants, and the address of its state."""
        return self.made.event, self.made.wanted, self.address

    @property
    def native_internals(self) -> tuple[int, list[tuple[str, int]], list[float]]:
        """What shows its variables: the function, their names and places; a state is its number there already."""
        return self.made.observe or 0, [(shown["name"], i) for i, shown in enumerate(self.shown)], []

    def __del__(self) -> None:
        if getattr(self, "address", None):
            self.made.destroy(self.address)


def open_library(file: Path, name: str, content: bytes) -> LoadedAlgorithm:
    """Return the algorithm of a library, which is opened in this process; its mistakes have no path."""
    library = Library(file)
    description = json.dumps(library.describe(name))
    return LoadedAlgorithm(Algorithm(library, description), provenance("native", file, content), Maker(library))


def open_transport(file: Path, name: str, content: bytes) -> LoadedAlgorithm:
    """Return the transport of a library, which is opened in this process; its mistakes have no path."""
    library = TransportLibrary(file)
    core = Transport(library.address, json.dumps(library.describe(name)))
    return LoadedAlgorithm(core, provenance("transport", file, content), Maker(refuse))


OPENERS: Mapping[Kind, Callable[[Path, str, bytes], LoadedAlgorithm]] = {"native": open_library, "transport": open_transport}


def provenance(kind: Kind, file: Path, content: bytes) -> Provenance:
    """Return where a library is, with a digest of it and of its interface."""
    return Provenance(str(file), digest(kind, str(VERSIONS[kind]), digest(content)))


def describe(file: str, name: str, kind: Kind | None) -> str:
    """Return the description of a library of this kind, or of any, after a state of it or an end of each role has been tried."""
    found = OPENERS[kind or kind_of(Path(file))](Path(file), name, b"")
    found.core.probe()
    return found.core.description


def kind_of(file: Path) -> Kind:
    """Return what a library is by its symbol; one without any is refused as a congestion control."""
    return "transport" if symbol_in(open_shared(file)) == TRANSPORT else "native"


def refuse(setup: Any, **_: float) -> None:
    """Stand for code that is not loaded here."""
    raise RuntimeError("its code is not loaded here: a library runs in a process of its own, results are only read")


def asked(file: Path, name: str, kind: Kind | None) -> str:
    """Return what `describe` says of a library, in a process of its own. Raises InputError without a path."""
    try:
        return ask(f"{__name__}:{describe.__name__}", str(file), name, kind)  # type: ignore[no-any-return]
    except ProcessEndedError as error:
        raise InputError("", f"{file.name} {error.how.replace('of the run', 'that tried it')}") from None
    except AlgorithmError as error:
        # A transport says it in a sentence with its name.
        said = str(error) if kind == "transport" else f"{file.name} cannot be used: {error}"
        raise InputError("", said) from None


@cache
def described(kind: Kind, file: Path, name: str, origin: Provenance) -> LoadedAlgorithm:
    """Return a library as this process knows it: by its description. Raises InputError without a path."""
    description = asked(file, name, kind)
    return LoadedAlgorithm(known_code(description), replace(origin, description=description), Maker(refuse))


@contextmanager
def placed(path: str) -> Iterator[None]:
    """Give errors about a library the path of the key that names it."""
    try:
        yield
    except InputError as error:
        said = f"{error.source} {error.message}" if error.source else error.message
        raise InputError(path, said, error.hint or f'like native = "libmine{SUFFIX}"') from None


def find_library(kind: Kind, reference: str, path: str, folder: Path) -> LoadedAlgorithm:
    """Return the library that a reference names, starting at `folder`. Raises InputError."""
    with placed(path):
        file = (folder / reference).resolve()
        return described(kind, file, reference, provenance(kind, file, read_file(file, "a library", MAX_BYTES)))


def known_code(description: str) -> Algorithm | Transport:
    """Return what a description is of, which can be checked and not run. Raises ValueError."""
    if is_of_transport(description):
        return Transport(0, description)
    return Algorithm(refuse, description)


def describe_file(reference: str, path: str) -> dict[str, Any]:
    """Return what a library says of itself, whatever it is. Raises InputError."""
    with placed(path):
        file = Path(reference).resolve()
        read_file(file, "a library", MAX_BYTES)
        return json.loads(asked(file, reference, None))  # type: ignore[no-any-return]
