"""Scenarios from elsewhere: `scenario = { source = "PLUGIN:NAME", … }`.

A plug-in is an entry point of the group `tonopah.sources`. It gets the name and the other keys of the table, and returns the
scenario that they stand for, the columns that it adds to the tables, and the name of the function that observes each run. That
name comes from the plug-in alone: whatever a study file says, no code is imported by a name that stands in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, TypeAlias

from pydantic import PrivateAttr

from tonopah.errors import InputError
from tonopah.metrics.metric import Metric
from tonopah.spec.derived import Derived
from tonopah.spec.renamed import RENAMED_TABLES
from tonopah.spec.validation import list_allowed, shorten

GROUP = "tonopah.sources"
KEY = "source"
EXAMPLE = 'source = "reports:ewphcc-wired"'


@dataclass(frozen=True)
class Observed:
    """What an observer found in a run: values of columns of the run, and of each of its flows in their order."""

    run: Mapping[str, float]
    flows: tuple[Mapping[str, float | None], ...] = ()


@dataclass(frozen=True)
class Sourced:
    """What a source makes of a table of a study file."""

    given: Mapping[str, Any]
    """The keys of the table, those that it leaves out included."""
    scenario: Mapping[str, Any]
    observer: str = ""
    """`module:function`: gets scenario and seed, summary and series of a run, all but the seed as they are stored, and returns
    `Observed`; nothing if empty."""
    columns: Mapping[str, Metric] = field(default_factory=dict)
    flow_columns: Mapping[str, Metric] = field(default_factory=dict)
    identity: Mapping[str, Any] = field(default_factory=dict)
    """What determines its scenario and its columns; part of the ids of runs."""
    at_nominal: bool = True
    """Whether its columns are wanted at the nominal point, whatever figures ask for."""
    title: str = ""
    about: str = ""
    """A sentence for the report: where the scenario is from."""


Maker: TypeAlias = Callable[[str, Mapping[str, Any], str], Sourced]
"""A source: gets the name behind the colon, the other keys of the table, and the path of the table for errors."""


class FromSource(Derived):
    """The columns that a source adds; study files have none of this kind."""

    kind: Literal["source"] = "source"
    _columns: Mapping[str, Metric] = PrivateAttr(default_factory=dict)
    _flow_columns: Mapping[str, Metric] = PrivateAttr(default_factory=dict)
    _at_nominal: bool = PrivateAttr(True)

    @classmethod
    def of(cls, sourced: Sourced) -> "FromSource":
        """Return the columns of a source."""
        made = cls(name=KEY, label=sourced.title)  # pyright: ignore[reportCallIssue]
        made._columns, made._flow_columns, made._at_nominal = sourced.columns, sourced.flow_columns, sourced.at_nominal
        return made

    @property
    def at_nominal(self) -> bool:
        """Whether it is wanted at the nominal point, whatever figures ask for."""
        return self._at_nominal

    @property
    def flow_columns(self) -> Mapping[str, Metric]:
        """Its columns of flows."""
        return self._flow_columns

    def value_columns(self) -> dict[str, Metric]:
        """Return its columns of runs."""
        return dict(self._columns)


def is_sourced(scenario: Mapping[str, Any], path: str = "scenario") -> bool:
    """Tell whether a scenario is from a source. Raises InputError for what sources were in older study files."""
    for old, new in RENAMED_TABLES.items():
        if old in scenario:
            raise InputError(f"{path}.{old}", "has a new name", f"{EXAMPLE}, {new} = {{ nodes = 40 }}")
    return KEY in scenario


def make(scenario: Mapping[str, Any], path: str = "scenario") -> Sourced:
    """Return what the source of a scenario makes of it. Raises InputError."""
    reference, where = scenario[KEY], f"{path}.{KEY}" if path else KEY
    plugin, colon, name = reference.partition(":") if isinstance(reference, str) else ("", "", "")
    if not colon:
        raise InputError(where, f"{shorten(reference)} is not a source", f"PLUGIN:NAME, such as {EXAMPLE}")
    found = find(plugin, where)
    return found(name, {key: value for key, value in scenario.items() if key != KEY}, path)


def find(plugin: str, path: str) -> Maker:
    """Return the source of a plug-in. Raises InputError."""
    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if plugin not in known:
        raise InputError(path, f"no plug-in {shorten(plugin)} is installed", list_allowed(sorted(known), "installed", plugin))
    return loaded(known[plugin].value)


@cache
def loaded(place: str) -> Any:
    """Return what stands at `module:attribute`."""
    return EntryPoint("", place, GROUP).load()
