"""Finds slips of the pen in a class of an algorithm when it is defined: an output whose name is mistyped is set in vain.

`self.cwnd_byts = …` makes an attribute that nobody reads, and a window that never grows. The methods are looked through once, so
that a run pays nothing.
"""

import difflib
import dis
from collections.abc import Iterator
from types import FunctionType

OUTPUTS = ("cwnd_bytes", "ssthresh_bytes")
"""Attributes that the engine reads after each call."""
SHORT_FORMS = {"cwnd": "cwnd_bytes", "ssthresh": "ssthresh_bytes"}
"""Names without the unit."""
GONE = {"head_timeout": "the age of the oldest segment counts for the engine's own Vegas alone"}
"""Callbacks of earlier versions."""
ALIKE = 0.85
"""Ratio of difflib from which a name is taken for a slip; `max_cwnd_bytes` has less."""


def check_names(cls: type, base: type) -> None:
    """Refuse a class that sets an attribute almost called like an output, or has a method almost called like a callback."""
    gone = next((name for name in GONE if name in vars(cls)), None)
    if gone:
        raise AttributeError(f"{cls.__name__}.{gone} is never called: {GONE[gone]}")
    callbacks = [name for name in vars(base) if name.startswith("on_")]
    for name, function in vars(cls).items():
        meant = near(name, callbacks) if name.startswith("on_") and isinstance(function, FunctionType) else None
        if meant:
            raise AttributeError(f"{cls.__name__}.{name} is never called: did you mean {meant}? (other methods: another name)")
    if cls.__dict__.get("window") or any("window" in vars(other) for other in cls.__mro__ if is_below(other, base)):
        return  # It reports its windows itself; what they are called is its own business.
    declared = declarations(cls, base)
    for name, function in vars(cls).items():
        for attribute, line in stores(function):
            meant = SHORT_FORMS.get(attribute) or near(attribute, OUTPUTS)
            if meant and attribute not in declared:
                where = f"{cls.__name__}.{name} sets self.{attribute} (line {line})"
                raise AttributeError(
                    f"{where}, which nobody reads: did you mean {meant}? (an attribute of its own: set it in __init__)"
                )


def near(name: str, known: tuple[str, ...] | list[str]) -> str | None:
    """Return the known name that is almost the same; None if it is the same, or none is."""
    found = difflib.get_close_matches(name, known, 1, ALIKE) if name not in known else []
    return found[0] if found else None


def is_below(cls: type, base: type) -> bool:
    """Tell whether a class is derived from `base`."""
    return cls is not base and issubclass(cls, base)


def declarations(cls: type, base: type) -> set[str]:
    """Return the attributes that a class declares: in its body, in `__init__`, and in the methods that `__init__` calls."""
    found: set[str] = set()
    for other in cls.__mro__:
        slots = vars(other).get("__slots__", ())
        found |= {*vars(other), *getattr(other, "__annotations__", {}), *((slots,) if isinstance(slots, str) else slots)}
        todo, seen = ["__init__"] if is_below(other, base) else [], set()
        while todo:
            name = todo.pop()
            function = getattr(cls, name, None) if name != "__init__" else vars(other).get(name)
            if name in seen or not isinstance(function, FunctionType):
                continue
            seen.add(name)
            found |= {attribute for attribute, _ in stores(function)}
            todo += function.__code__.co_names
    return found


def stores(function: object) -> Iterator[tuple[str, int]]:
    """Yield the attributes of `self` that a function sets, with the lines."""
    if not isinstance(function, FunctionType) or not function.__code__.co_argcount:
        return
    own = function.__code__.co_varnames[0]
    line, loaded, copied = function.__code__.co_firstlineno, "", ""
    for step in dis.get_instructions(function):
        line = (step.positions and step.positions.lineno) or line
        # `self.x = …` loads the object just before; `self.x += …` loads it, copies it, and reads x first.
        if (step.opname == "STORE_ATTR" and loaded == own) or (step.opname == "LOAD_ATTR" and copied == own):
            yield str(step.argval), line
        copied = loaded if step.opname == "COPY" else ""
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        loaded = str(names[-1]) if step.opname.startswith("LOAD_FAST") else ""
