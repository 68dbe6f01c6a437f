"""What a folder of results says about its study: the file as it was run, its size, and how narrow intervals were to become."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeVar

from tonopah.cc.permission import StoredAlgorithm
from tonopah.errors import InputError
from tonopah.scenario.files import check_name

VERSION = 2
"""Of the manifest. Version 1 had no version, and a study file with older keys."""


@dataclass(frozen=True)
class Target:
    """The half-width in percent that is asked for, the most replicates for it, and the metrics (none: those of the figures)."""

    percent: float
    at_most: int = 100
    metrics: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reached:
    """How a part ended: its widest interval in percent and where it is, after which look of how many."""

    half_width: float
    where: str
    look: int
    looks: int
    replicates: int
    narrow: bool


@dataclass(frozen=True)
class Manifest:
    """A study as it was run: name, study file as dictionary and its path, folder of its scenarios, and size."""

    name: str
    document: dict[str, Any]
    source: str
    home: str
    quick: bool
    replicates: dict[str, int]
    """By part."""
    target: Target | None = None
    reached: dict[str, Reached] = field(default_factory=dict)
    """By part: how the search for narrow intervals ended, if there was one."""
    version: int = VERSION
    algorithms: dict[str, StoredAlgorithm] = field(default_factory=dict)
    """Those that are code, by the name that the study has for them: to read results executes none of it."""
    sources: dict[str, Any] = field(default_factory=dict)
    """What plug-ins of other packages made of its scenarios (source.py): to read results imports none of them."""

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as data of JSON."""
        facts = {key: value for key, value in asdict(self).items() if key not in ("target", "reached")}
        if self.target:
            facts |= {"target": asdict(self.target), "reached": {part: asdict(end) for part, end in self.reached.items()}}
        return facts

    @classmethod
    def from_json(cls, facts: Any, folder: str) -> "Manifest":
        """Return the manifest that `folder` holds. Raises InputError when it is not one."""
        if facts is None:
            raise InputError("", "contains no prepared study", "run the study with this folder as --out", folder)
        try:
            target, replicates = facts.get("target"), counts(facts["replicates"])
            reached = {part: typed(Reached, end) for part, end in facts["reached"].items()} if target else {}
            if target and set(reached) != set(replicates):
                raise ValueError("the precision that was reached is not given by part")
            for path in (str(facts["source"]), str(facts.get("home", ""))):
                check_name(path)
            return cls(
                name=str(facts["name"]), document=dict(facts["document"]), source=str(facts["source"]),
                home=str(facts.get("home", "")), quick=bool(facts["quick"]), replicates=replicates,
                target=typed(Target, target | {"metrics": tuple(target["metrics"])}) if target else None,
                version=int(facts.get("version", 1)),
                algorithms={str(name): StoredAlgorithm(str(one["digest"]), str(one["description"]))
                            for name, one in facts.get("algorithms", {}).items()},
                sources=dict(facts.get("sources", {})),
                reached=reached,
            )  # fmt: skip
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            message = f"contains a study that this version cannot read: {type(error).__name__}: {error}"
            raise InputError("", message, "run the study again, into another folder", folder) from None


Table = TypeVar("Table", Target, Reached)


def typed(kind: type[Table], facts: Mapping[str, Any]) -> Table:
    """Return a table of the manifest; raise TypeError or ValueError when a value is not what it has to be."""
    made = kind(**facts)
    for name, wanted in ((one.name, one.type) for one in fields(kind)):
        value = getattr(made, name)
        kinds = {float: (float, int), int: int, str: str, bool: bool}.get(wanted, tuple)  # type: ignore[call-overload]
        if not isinstance(value, kinds) or (isinstance(value, bool) and wanted is not bool):
            raise TypeError(f"{name} is {type(value).__name__}")
        if wanted is int and value < 1:
            raise ValueError(f"{name} is {value}")
    return made


def counts(replicates: Any) -> dict[str, int]:
    """Return the number of replicates of each part; raise ValueError when one is not a positive whole number."""
    if not isinstance(replicates, Mapping):
        raise TypeError("replicates are not given by part")
    for part, count in replicates.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"{count!r} replicates of part {part!r}")
    return dict(replicates)
