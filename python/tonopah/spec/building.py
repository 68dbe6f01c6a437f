"""A study written in Python instead of a file: the dictionary that its file would be."""

import copy
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tonopah.cc.references import reference_of
from tonopah.errors import InputError
from tonopah.spec.reader import inline_scenarios

ScenarioSource: TypeAlias = str | os.PathLike[str] | Mapping[str, Any]
"""A scenario: its file, or a dictionary of the same structure."""
Compared: TypeAlias = Sequence[str | type | Mapping[str, Any]] | str | type | Mapping[str, Any]
"""What is compared: algorithms by name, as tables or as classes that were imported; or the table `compare` itself."""
MAX_NAME = 40
"""Letters of a name that is made from a question."""


def build(
    question: str,
    scenario: ScenarioSource,
    compare: Compared,
    sweep: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | None,
    replicates: int | None,
    keys: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the study as its file would have it; nothing is checked but what the file could not say."""
    if not isinstance(scenario, str | os.PathLike | Mapping):
        raise InputError("scenario", f"{scenario!r} is no scenario", "a file, or a dictionary of its structure")
    document: dict[str, Any] = {"question": question}
    document["scenario"] = dict(scenario) if isinstance(scenario, Mapping) else {"file": os.fspath(scenario)}
    algorithms = [compare] if isinstance(compare, str | type) else compare
    document["compare"] = dict(algorithms) if isinstance(algorithms, Mapping) else {"cc": list(algorithms)}
    if sweep:
        document["sweep"] = [{"vary": dict(sweep)}] if isinstance(sweep, Mapping) else list(sweep)
    if replicates is not None:
        document["replicates"] = replicates
    return complete(document | dict(keys))


def complete(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a study given as a dictionary that needs no other file; files are found from the working directory."""
    own = {key: plain(value) for key, value in copy.deepcopy(dict(document)).items()}
    inline_scenarios(own, Path())
    return own


def plain(value: Any) -> Any:
    """Return a value with dictionaries and lists, as TOML would give them, in place of their likes; a class by its name."""
    if isinstance(value, type):
        return reference_of(value) or value
    if isinstance(value, Mapping):
        return {key: plain(below) for key, below in value.items()}
    return [plain(below) for below in value] if isinstance(value, list | tuple | range) else value


def name_from(question: Any) -> str:
    """Return a name for a study, made from its question; it names the folder of the results."""
    words = re.findall(r"[a-z0-9]+", str(question).lower())
    name = ""
    for word in words:
        if len(name) + len(word) >= MAX_NAME:
            break
        name = f"{name}-{word}" if name else word
    return name or "study"
