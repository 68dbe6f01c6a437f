"""Errors that a user can cause. Any other exception is a defect of this package."""

import difflib
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from tonopah._core import AlgorithmError, EngineError, LimitError, ScenarioError

__all__ = [
    "CONTROL",
    "AlgorithmError",
    "EngineError",
    "InputError",
    "LimitError",
    "RunFailedError",
    "ScenarioError",
    "ScenarioWarning",
    "limit_text",
    "near_names",
    "plain",
    "reading",
    "relay",
    "traceback_of",
    "warning_texts",
]


CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, or lets text run backwards; not tabs and ends of lines."""

MAX_PATH, MAX_TEXT = 300, 2000
"""Letters of a path and of a text in a message: a value of any length may be repeated in it."""


def plain(text: str) -> str:
    """Return text with its control characters as they are written in programs."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def limit_text(text: str, most: int = MAX_TEXT) -> str:
    """Return text as it is; of one that is too long beginning and end, and how much is left out."""
    if len(text) <= most:
        return text
    return f"{text[: most // 3]}… ({len(text) - 2 * (most // 3):,} letters) …{text[-(most // 3) :]}"


class InputError(ScenarioError):
    """Input that cannot be used.

    Parameters
    ----------
    path : str
        Place of the mistake, such as "network.flows"; empty if it is the whole input.
    message : str
        What is wrong.
    hint : str, optional
        What is allowed.
    source : str, optional
        File that contains the mistake.
    """

    def __init__(self, path: str, message: str, hint: str | None = None, source: str | None = None):
        self.path, self.message = limit_text(path, MAX_PATH), limit_text(message)
        self.hint, self.source = hint and limit_text(hint), source and limit_text(source, MAX_PATH)
        super().__init__(str(self))

    def __str__(self) -> str:
        text = ": ".join(part for part in (self.source, self.path, self.message) if part)
        return f"{text} ({self.hint})" if self.hint else text

    def __reduce__(self) -> tuple[type["InputError"], tuple[str | None, ...]]:
        return type(self), (self.path, self.message, self.hint, self.source)


class ScenarioWarning(UserWarning):
    """What a scenario may say and seldom means. It changes nothing of a run."""


class RunFailedError(RuntimeError):
    """A study that could not be finished: it was interrupted, or its store cannot be written."""


def relay(error: ScenarioError, source: str | None = None, prefix: str = "", suffix: str = "") -> InputError:
    """Return `error` with its file, and with `prefix` before its path and `suffix` after its message."""
    # Most commands end without one.
    from tonopah.near_units import near_quantity

    hint, meant = error.hint, None if error.hint else near_quantity(error.message)
    if meant:
        hint = f"did you mean {meant}?"
    return InputError(below(prefix, error.path), f"{error.message}{suffix}", hint, getattr(error, "source", None) or source)


def warning_texts(found: Iterable[Mapping[str, str]], source: str | None = None, prefix: str = "") -> list[str]:
    """Return the engine's warnings with their places, as `relay` gives those of errors."""
    of_file = [source] if source else []
    return [": ".join([*of_file, below(prefix, one["path"]), one["message"]]) for one in found]


def below(prefix: str, path: str) -> str:
    """Return a path below another; either may be empty, the whole."""
    return ".".join(part for part in (prefix, path) if part)


@contextmanager
def reading(source: str, hint: str | None = None, path: str = "") -> Iterator[None]:
    """Let what another wrote, and is not what it should be, be an error of its file. Raises InputError."""
    try:
        yield
    except (ScenarioError, RunFailedError):
        raise
    except (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        said = f"cannot be read: {type(error).__name__}: {limit_text(str(error), MAX_PATH)}"
        raise InputError(path, said, hint, source) from None


MAX_COMPARED = 60
"""Longer words are no slip of the pen: no similar one is sought."""


def near_names(written: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names that are most like what was written, whatever its case."""
    if not written or len(written) > MAX_COMPARED:
        return []
    by_lower = {name.lower(): name for name in known}
    return [by_lower[name] for name in difflib.get_close_matches(written.lower(), by_lower, most, 0.7)]


def traceback_of(error: AlgorithmError) -> str:
    """Return the traceback of an exception in an algorithm, in this process or another."""
    stored = getattr(error, "traceback", None)
    if stored is None and error.__cause__ is not None:
        stored = "".join(traceback.format_exception(error.__cause__))
    return stored or ""
