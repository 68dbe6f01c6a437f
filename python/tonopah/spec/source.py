"""Scenarios from elsewhere: `scenario = { source = "PLUGIN:NAME", … }`.

A plug-in is an entry point of the group `tonopah.sources`. It gets the name and the other keys of the table, and returns the
scenario that they stand for, the columns that it adds to the tables, and the name of the function that observes each run. That
name comes from the plug-in alone: whatever a study file says, no code is imported by a name that stands in it.
"""

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import PrivateAttr

from tonopah.cc.binding import class_name, rebase
from tonopah.cc.permission import permission
from tonopah.digest import digest
from tonopah.errors import InputError, relay
from tonopah.metrics.metric import Metric
from tonopah.scenario.document import is_reference, read
from tonopah.scenario.paths import put
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
    lacks: str = ""
    """What the scenario alone does not hold of it."""
    warnings: tuple[str, ...] = ()
    """What is given and changes nothing, where the source wants it so."""
    idle: tuple[InputError, ...] = ()
    """What is given and should change something, and does not: refused, unless other points of a study need it."""
    effective: tuple[str, ...] = ()
    """Paths of what is given and changes something."""

    def refuse_idle(self, paths: Iterable[str]) -> None:
        """Raise InputError if one of these paths has no effect."""
        for error in self.idle:
            if any(error.path == path or error.path.startswith(f"{path}.") for path in paths):
                raise error

    def run_of(self) -> dict[str, Any]:
        """Return the scenario for a single run. Raises InputError for what has no effect in it."""
        for error in self.idle:
            raise error
        return copy.deepcopy(dict(self.scenario))


Maker: TypeAlias = Callable[[str, Mapping[str, Any], str], Sourced]
"""A source: gets the name behind the colon, the other keys of the table, and the path of the table for errors."""


def refuse_idle(points: Sequence[Sourced]) -> None:
    """Refuse what is given to the source of a part of a study and changes nothing at any of its points. Raises InputError."""
    effective = {path for one in points for path in one.effective}
    for error in (error for one in points for error in one.idle if error.path not in effective):
        raise relay(error, prefix="scenario")


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


def sourced(given: str | Path | Mapping[str, Any], changes: Mapping[str, Any]) -> Sourced:
    """Return what a source makes of a scenario that names one, with values changed by path.

    It is given as a reference such as `reports:tcp-fr-hosts`, or as a file or table with the key `source`. Raises InputError.
    """
    document, file = ({KEY: given}, None) if is_reference(given) else read(given)
    try:
        is_sourced(document, "")
        for path, value in changes.items():
            put(document, path, copy.deepcopy(value))
        rebase(document, Path(file).parent if file else Path())
        found = make(document, "")
        found.run_of()
    except InputError as error:
        raise relay(error, file) from None
    return found


@cache
def installed() -> Mapping[str, str]:
    """Return where the sources of installed packages are, by name. To look takes 10 ms, and each point of a study asks."""
    return {entry.name: entry.value for entry in entry_points(group=GROUP)}


def make(scenario: Mapping[str, Any], path: str = "scenario") -> Sourced:
    """Return what the source of a scenario makes of it. Raises InputError."""
    reference, where = scenario[KEY], f"{path}.{KEY}" if path else KEY
    plugin, colon, name = reference.partition(":") if isinstance(reference, str) else ("", "", "")
    if not colon:
        raise InputError(where, f"{shorten(reference)} is not a source", f"PLUGIN:NAME, such as {EXAMPLE}")
    places = installed()
    own, now = places.get(plugin, "").startswith("tonopah."), permission()
    if now.stored is not None and not own:
        return read_stored(scenario, where, now.sources)
    if plugin not in places:
        raise InputError(where, f"no plug-in {shorten(plugin)} is installed", list_allowed(sorted(places), "installed", plugin))
    maker: Maker = loaded(places[plugin])
    made = maker(name, {key: value for key, value in scenario.items() if key != KEY}, path)
    if not own:
        _made.get({})[key_of(scenario)] = json.loads(json.dumps(asdict(replace(made, idle=())), default=plain))
    return made


_made: ContextVar[dict[str, Any]] = ContextVar("made")


@contextmanager
def keeping() -> Iterator[dict[str, Any]]:
    """Yield what plug-ins of other packages make meanwhile, as results keep it: to read them imports no such package."""
    before = _made.set({})
    try:
        yield _made.get()
    finally:
        _made.reset(before)


def plain(value: Any) -> Any:
    """Return a mapping as a dictionary, and a class as the reference that stands for it."""
    return class_name(value) if isinstance(value, type) else dict(value)


def key_of(scenario: Mapping[str, Any]) -> str:
    """Return what stands in results for a table that names a source."""
    return digest(json.dumps(scenario, sort_keys=True))


def read_stored(scenario: Mapping[str, Any], path: str, stored: Mapping[str, Any]) -> Sourced:
    """Return what a source made of a table when the study was run. Raises InputError."""
    known = stored.get(key_of(scenario))
    if known is None:
        hint = "run the study again with their folder as --out, which keeps its results"
        raise InputError(path, "what it made is not in the results, and reading them imports no plug-in", hint)
    try:
        return Sourced(**known | {name: metrics_of(known[name]) for name in ("columns", "flow_columns")})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(path, f"what it made cannot be read in the results: {type(error).__name__}: {error}") from None


def metrics_of(stored: Mapping[str, Any]) -> dict[str, Metric]:
    """Return columns as they were stored."""
    return {name: Metric(**one | {"bounds": tuple(one["bounds"])}) for name, one in stored.items()}


@cache
def loaded(place: str) -> Any:
    """Return what stands at `module:attribute`."""
    return EntryPoint("", place, GROUP).load()
