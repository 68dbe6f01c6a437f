"""What may be executed of the code that scenarios name: one rule, which the loader asks at the moment at which it would load.

The form of a text in a file says little of what the loader makes of it, and files change between a look and a load: so nobody
looks before. What an installed package offers by an entry point, its owner has installed; no file can name a place of such code.
Reading results asks neither: algorithms and what sources made are stored with them.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah.cc.references import is_library
from tonopah.errors import InputError


@dataclass(frozen=True)
class StoredAlgorithm:
    """What results tell of an algorithm that is code: the digest of its source, and its description as JSON text."""

    digest: str
    description: str


@dataclass(frozen=True)
class Permission:
    """What may be executed: anything, which is what the owner of the files gets, or less."""

    limited: bool = False
    below: Path | None = None
    """If it is limited: Python files below this folder are allowed all the same."""
    who: str = "which is not executed here"
    hint: str | None = None
    stored: Mapping[str, StoredAlgorithm] | None = None
    """When results are read: their algorithms by name. Nothing is executed then."""
    sources: Mapping[str, Any] = field(default_factory=dict)
    """When results are read: what sources made of their scenarios (spec/source.py)."""

    def check(self, reference: str, path: str, file: Path | None = None) -> None:
        """Raise InputError unless the code of a reference, in a Python file with this real path, may be executed."""
        if not self.limited:
            return
        if is_library(reference):
            raise InputError(path, f"{reference!r} is a library, {self.who}", "tonopah run does")
        if self.below is None:
            raise InputError(path, f"{reference!r} is an algorithm in Python, {self.who}", self.hint)
        if file is None or not file.is_relative_to(os.path.realpath(self.below)):
            raise InputError(path, f"{reference!r} does not name a class in a file of the folder", f"a file below {self.below}")


ANY = Permission()
NONE = Permission(limited=True, hint="--code any executes it")
_now: ContextVar[Permission] = ContextVar("permission", default=ANY)


def of_results(stored: Mapping[str, StoredAlgorithm], sources: Mapping[str, Any]) -> Permission:
    """Return what may be executed to read results: nothing; algorithms and sources are known by what is stored of them."""
    return Permission(limited=True, who="and reading results executes nothing", stored=stored, sources=sources)


def permission() -> Permission:
    """Return what may be executed now."""
    return _now.get()


@contextmanager
def permitting(what: Permission) -> Iterator[None]:
    """Let no more than this be executed meanwhile, in this thread; what is limited already stays so."""
    before = _now.set(_now.get() if _now.get().limited and not what.limited else what)
    try:
        yield
    finally:
        _now.reset(before)
