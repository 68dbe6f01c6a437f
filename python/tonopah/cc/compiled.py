"""`@tonopah.compiled`: a congestion control in Python whose methods run as machine code, with the same bits.

`__init__` runs in Python, once for each end of a connection. What it leaves in `self` are the numbers, truth values and words
that the other methods work with, as doubles; these methods become one C function (numba), which the engine calls for each event.
"""

import ast
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from tonopah._core import NATIVE_LAYOUT
from tonopah.cc.base import CongestionControl
from tonopah.cc.rewriting import CompileError, Rewritten, Words, as_double
from tonopah.errors import InputError

Class = TypeVar("Class", bound=type[CongestionControl])

ANSWERING = ("next_timer", "pacing_rate")
"""Methods that answer, in the order of the answers after the two windows."""
ARGUMENTS = {
    "on_ack": "ack", "on_congestion": "event", "on_undo": "before", "on_sent": "sent", "on_lost": "lost", "on_idle": "idle_s",
}  # fmt: skip
"""Events with a signal, and what it is called."""
WITHOUT_VIEW = ("on_sent",)
NOISE = re.compile(
    r"Failed in|- Resolution|During:|Enable|There are|File |.*candidate impl|Traceback|\s*\^|<source|\s+- Of which"
)
"""Lines of numba's messages that say nothing of the class."""
ALWAYS = ("on_ack", "on_congestion", "on_undo")


def compiled(cls: Class) -> Class:
    """Let the methods of a congestion control run as machine code: `@tonopah.compiled` above the class.

    The results have the same bits as without it. Needs the extra `compiled` (numba). What `__init__` leaves in `self` may be
    numbers, truth values, words and None; whole numbers up to 2^53. Methods may call each other, `super()`, functions of the
    module, and `math`; what is absent is compared with None before it is used. `observed` names what it shows, not `observe`.

    Raises
    ------
    InputError
        If the class is not derived from CongestionControl; and when a scenario uses the class and a method cannot be compiled:
        the message names the line.
    """
    if not issubclass(cls, CongestionControl):
        raise InputError("", f"{cls.__name__} is not derived from tonopah.CongestionControl, and cannot be compiled")
    cls.native_entry = property(entry_of)  # type: ignore[attr-defined]
    cls.native_internals = property(internals_of)  # type: ignore[attr-defined]
    return cls


@dataclass(frozen=True)
class CompiledCode:
    """A C function: its address, the events that it handles as bits, and what keeps it in memory."""

    address: int
    wanted: int
    kept: Any


@dataclass(frozen=True)
class Prepared:
    """The code of a class whose objects hold certain fields."""

    fields: tuple[str, ...]
    words: Words
    code: CompiledCode


_codes: dict[str, CompiledCode] = {}
"""Machine code by what it was made from: a class that is loaded anew for a run is not compiled anew."""
_prepared: WeakKeyDictionary[type, Prepared] = WeakKeyDictionary()
"""By class, as long as there is one: those of a file are loaded anew for each run."""


def entry_of(algorithm: Any) -> tuple[int, int, list[float]]:
    """Return what the engine runs instead of an object: an address, the events that it wants, and its first state."""
    held = vars(algorithm)
    known = _prepared.get(type(algorithm))
    if not known or any(name not in held for name in known.fields):
        known = _prepared[type(algorithm)] = prepare(type(algorithm), held)
    state = [as_double(held[name], known.words) for name in known.fields]
    if None in state:
        name = known.fields[state.index(None)]
        raise CompileError("", f"self.{name} = {held[name]!r} is no number that a double holds exactly")
    return known.code.address, known.code.wanted, [value for value in state if value is not None]


def internals_of(algorithm: Any) -> tuple[int, list[tuple[str, int]], list[float]]:
    """Return what the engine shows of an object: no function, the places of its variables, the numbers of words of `state`."""
    cls = type(algorithm)
    known = _prepared[cls]
    missing = next((name for name in cls.observed if name not in known.fields), None)
    if missing:
        raise CompileError("", f"{cls.__name__}.observed: {missing!r} is no number, truth value or word that __init__ sets")
    words = [known.words.number(word) for word in cls.states]
    return 0, [(name, known.fields.index(name)) for name in cls.observed], words


def prepare(cls: type, held: Mapping[str, Any]) -> Prepared:
    """Return the code of a class whose `__init__` leaves these attributes."""
    words = Words(NATIVE_LAYOUT["words"])
    fields = tuple(name for name, value in held.items() if as_double(value, words) is not None)
    if cls.observe is not CongestionControl.observe:  # type: ignore[attr-defined]
        raise CompileError(
            "", f"{cls.__name__}.observe gives a dictionary, and cannot be compiled", "observed = (…), the names of attributes"
        )
    found = Rewritten(cls, fields, words)
    events = [name for name in NATIVE_LAYOUT["kinds"][1:] if name in ALWAYS or overridden(cls, name)]
    asked = [name for name in ANSWERING if overridden(cls, name)]
    names = {name: found.method(name) for name in (*events, *asked, "window")}
    # Before the translation, which adds to the globals of the functions.
    key = found.key
    if key not in _codes:
        _codes[key] = translate(found, names, events)
    return Prepared(fields, words, _codes[key])


def overridden(cls: type, name: str) -> bool:
    """Tell whether a class has a method of its own."""
    return getattr(cls, name) is not getattr(CongestionControl, name)


@cache
def toolkit() -> dict[str, Any]:
    """Return the names that compiled code uses. Raises CompileError where numba is missing."""
    try:
        import numba
        from numba.core import types
        from numba.extending import overload
    except ImportError:
        raise CompileError("", "compiled classes need numba", "pip install '.[compiled]' in the checkout") from None

    def is_absent(value):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    # Without annotations, for numba compares the signatures.
    def is_absent_number(value):  # type: ignore[no-untyped-def]
        if isinstance(value, types.Float):
            return lambda value: math.isnan(value)  # noqa: PLW0108
        if isinstance(value, types.Record):
            # The one record that may be absent as a whole, `ack.rate`, then has no field.
            return lambda value: math.isnan(value.delivered_bytes)
        return lambda value: False

    def is_true(value):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def is_true_number(value):  # type: ignore[no-untyped-def]
        if isinstance(value, types.Float):
            return lambda value: not math.isnan(value) and value != 0.0
        if isinstance(value, types.Record):
            return lambda value: not math.isnan(value.delivered_bytes)
        return lambda value: bool(value)  # noqa: PLW0108

    overload(is_absent)(is_absent_number)
    overload(is_true)(is_true_number)
    import numpy as np

    return {"ABSENT": math.nan, "is_absent": is_absent, "is_true": is_true, "carray": numba.carray, "float64": np.float64}  # pyright: ignore[reportPrivateImportUsage]


def record(names: Collection[str]) -> Any:
    """Return a record of doubles; `rate.x` is the field x of the record `rate`."""
    import numpy as np

    plain = [(name, "f8") for name in names if "." not in name]
    below = [(name.partition(".")[2], "f8") for name in names if "." in name]
    return np.dtype([*plain, ("rate", below)] if below else plain)


def translate(found: Rewritten, names: Mapping[str, str], events: list[str]) -> CompiledCode:
    """Return the C function of a class."""
    space = dict(toolkit())
    import numba

    for name, tree in found.functions.items():
        # Each in globals of its own; functions that it calls are added when all are there.
        own = {**found.values[name], **space}
        exec(compile(ast.Module([tree], []), found.files[name], "exec"), own)
        found.values[name] = own
    made = {name: numba.njit(found.values[name][name]) for name in found.functions}
    for own in found.values.values():
        own.update(made)
    space |= made | {"VIEW": record(NATIVE_LAYOUT["view"]), "STATE": record(found.fields)}
    space |= {f"SIGNAL_{name}": record(NATIVE_LAYOUT[name]) for name in events if name in NATIVE_LAYOUT}
    exec(dispatcher(names, events), space)
    pointer, number = numba.types.voidptr, numba.types.int32
    signature = numba.types.void(number, pointer, pointer, pointer, numba.types.CPointer(numba.types.float64))
    try:
        made_code = numba.cfunc(signature)(space["dispatch"])
    except Exception as error:
        # Not all that numba cannot do is an error of its own kind.
        raise CompileError("", explain(error, set(found.files.values()))) from error
    kinds = NATIVE_LAYOUT["kinds"]
    return CompiledCode(made_code.address, sum(1 << kinds.index(name) for name in events), made_code)  # pyright: ignore[reportArgumentType]


def dispatcher(names: Mapping[str, str], events: list[str]) -> str:
    """Return the source of the C function: it calls the method of an event, then asks for the answers."""
    lines = ["def dispatch(kind, state, signal, view, answers):", "    self = carray(state, 1, STATE)[0]"]
    for name in events:
        argument, given = ARGUMENTS.get(name), []
        lines.append(f"    if kind == {NATIVE_LAYOUT['kinds'].index(name)}:")
        if name in NATIVE_LAYOUT:
            lines.append(f"        given = carray(signal, 1, SIGNAL_{name})[0]")
            given = ["given"]
        elif argument:
            lines.append("        numbers = carray(signal, 2, float64)")
            given = ["(numbers[0], numbers[1])"] if name == "on_undo" else ["numbers[0]"]
        if name not in WITHOUT_VIEW:
            given.append("carray(view, 1, VIEW)[0]")
        lines.append(f"        {names[name]}({', '.join(['self', *given])})")
    lines.append(f"    answers[0], answers[1] = {names['window']}(self)")
    for number, name in enumerate(ANSWERING, 2):
        if name in names:
            lines.append(f"    answers[{number}] = {names[name]}(self)")
    return "\n".join([*lines, f"    answers[{len(ANSWERING) + 2}] = 1.0", ""])


def explain(error: Exception, files: set[str]) -> str:
    """Return what numba says of the innermost place in the files of the class, in a sentence, with its line."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    places = [int(line) for file, line in re.findall(r'File "([^"]+)", line (\d+)', text) if any(f.endswith(file) for f in files)]
    said = [line.strip() for line in text.splitlines() if line.strip() and not NOISE.match(line)]
    return (f"line {places[0]}: " if places else "") + (" ".join([type(error).__name__, *said[:3]]))
