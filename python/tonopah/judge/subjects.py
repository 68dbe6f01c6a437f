"""Who is judged, and beside whom: the algorithms of a report with the words that name them."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from tonopah.cc.binding import bind
from tonopah.cc.description import Provenance
from tonopah.cc.naming import LABEL
from tonopah.cc.references import is_code, is_library, name_in
from tonopah.errors import InputError
from tonopah.judge.definitions import Point
from tonopah.runs.simulation import algorithms
from tonopah.spec.validation import list_allowed

REFERENCES = ("cubic", "reno")
PROFILE = "linux"
"""Profile of an algorithm that is named without one, where it has this."""
OF_ITS_OWN = "of its own"
"""Congestion marks that a whole transport asks for."""
STARTS = {"standard": {}, "resume": {}, "rapid": {"growth": "rapid", "exit": "hystart++"}, "jump": {"jump": "2iw"}}
"""What names of `tcp.start` stand for that are not exits."""
OWN_EXITS = ("hystart", "hystart_plus_plus")
"""Parameters by which an algorithm itself ends slow start."""
TITLES = {"cubic": "CUBIC", "reno": "Reno", "newreno": "NewReno", "bbr": "BBRv1", "bbr3": "BBRv3", "ledbat": "LEDBAT"}


@dataclass(frozen=True)
class Subject:
    """An algorithm as a scenario takes it, and what is known of it."""

    cc: Any
    """Value of `cc`."""
    label: str
    """Name with profile and parameters, for people."""
    name: str
    """Name alone, as short as tables want it."""
    profile: str
    ecn: str | None
    """Congestion marks that it requires."""
    resumes: bool = False
    """Whether its connections can begin with a window that an earlier one left (`tcp.start = "resume"`)."""
    source: str = ""
    """Digest of its source, of a class in Python."""
    recovery: str | None = None
    """Loss recovery that its profile brings."""

    @property
    def takes_marks(self) -> bool:
        """Tell whether it asks for explicit signals."""
        return self.ecn not in (None, "off")


def read_subject(text: str, option: str = "ALGORITHM", folder: str | Path = ".") -> Subject:
    """Return the algorithm that a command line names: a name, a class in a file, or a table as in a scenario.

    Raises InputError when there is no such algorithm.
    """
    given: Any = text
    if text.lstrip().startswith("{"):
        try:
            given = tomllib.loads(f"cc = {text}")["cc"]
        except (ValueError, RecursionError) as error:
            raise InputError(option, f"{text!r} is not a table: {error}", '{ name = "cubic", profile = "rfc" }') from None
    return make_subject(given, option, folder)


@cache
def known_algorithms() -> Mapping[str, Mapping[str, Any]]:
    """Return the descriptions of all algorithms that have a name, by name; every flow of every world asks for one of them."""
    return {entry["name"]: entry for entry in algorithms()}


def make_subject(given: Any, option: str = "cc", folder: str | Path = ".") -> Subject:
    """Return the algorithm that a value of `cc` names. Raises InputError."""
    if isinstance(given, Mapping) and "tcp" in given:
        return variant(make_subject({key: value for key, value in given.items() if key != "tcp"}, option, folder), given["tcp"])
    named = str(name_in(given)[1] or "")
    if is_code(given):
        return own_subject(given, named, option, folder)
    known = known_algorithms()
    if named not in known:
        raise InputError(option, f"{named!r} is unknown", list_allowed(known, value=named))
    entry = known[named]
    profiles = [profile["name"] for profile in entry["profiles"]]
    table = {"name": named, **given} if isinstance(given, Mapping) else {"name": named}
    if "profile" not in table and any(profile["name"] == PROFILE and profile["of_stack"] for profile in entry["profiles"]):
        table["profile"] = PROFILE
    profile = table.get("profile", profiles[0] if profiles else "")
    own = "".join(f", {key} {value}" for key, value in table.items() if key not in ("name", "profile"))
    title = TITLES.get(named, named)
    label = f"{title} ({profile}{own})" if profile else title
    cc = table if len(table) > 1 else named
    recovery = next((one["recovery"] for one in entry["profiles"] if one["name"] == profile), None)
    return Subject(cc, label, title, profile, entry["requirements"]["ecn"], entry["starts"] != "none", recovery=recovery)


def variant(subject: Subject, tcp: Mapping[str, Any]) -> Subject:
    """Return an algorithm whose flows have settings of their own, such as another start."""
    if not tcp:
        return subject
    table = subject.cc if isinstance(subject.cc, Mapping) else dict([name_in(subject.cc)])
    words = ", ".join(f"{key} {value}" for key, value in tcp.items())
    return replace(subject, cc={**table, "tcp": dict(tcp)}, label=f"{subject.label}, {words}")


def resuming(cc: Any) -> Any:
    """Return an algorithm whose connections begin with what an earlier one left, where it takes that, and else as it says."""
    subject = make_subject(cc)
    keys = endpoint(subject.cc)
    settings = keys.get("tcp", {})
    start = settings.get("start", {})
    table = start if isinstance(start, Mapping) else STARTS.get(start, {"exit": start})
    # What of the algorithm's own ends slow start cannot stand beside `tcp.start`.
    ends = isinstance(keys["cc"], Mapping) and any(keys["cc"].get(switch) is True for switch in OWN_EXITS)
    if not subject.resumes or "jump" in table or ends:
        return cc
    return variant(subject, {**settings, "start": {**table, "resume": {}}}).cc


def endpoint(cc: Any) -> dict[str, Any]:
    """Return the keys of a flow that runs an algorithm: `cc`, and `tcp` where it has settings of its own."""
    if not isinstance(cc, Mapping) or "tcp" not in cc:
        return {"cc": cc}
    return {"cc": {key: value for key, value in cc.items() if key != "tcp"}, "tcp": dict(cc["tcp"])}


def own_subject(given: Any, named: str, option: str, folder: str | Path) -> Subject:
    """Return a class in Python or a library. Raises InputError when it cannot be used."""
    try:
        bound = bind({"tcp": {"cc": given}}, folder)
    except InputError as error:
        raise InputError(option, error.message, error.hint, error.source) from error.__cause__
    found = next(iter(bound.found.values()))
    described = json.loads(found.core.description)
    resumes = described.get("starts", False)
    # A whole transport sets the ECN field of its datagrams itself.
    ecn = OF_ITS_OWN if "requirements" not in described else described["requirements"]["ecn"]
    if isinstance(given, Mapping) and isinstance(given.get(LABEL), str):
        return Subject(given, given[LABEL], given[LABEL], "", ecn, resumes, found.origin.digest)
    own = {key: value for key, value in given.items() if key != name_in(given)[0]} if isinstance(given, Mapping) else {}
    name = named.rpartition(":")[2]
    label = f"{named}" + (f" ({', '.join(f'{key} {value}' for key, value in own.items())})" if own else "")
    return Subject(given, label, name, "", ecn, resumes, found.origin.digest)


@cache
def standard() -> Subject:
    """Return CUBIC as RFC 9438 has it."""
    return make_subject({"name": "cubic", "profile": "rfc"})


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as the engine takes it."""

    subject: Subject
    cc: Any
    origins: Mapping[str, Provenance] = field(default_factory=dict)

    @property
    def is_code(self) -> bool:
        """Tell whether it is no algorithm of the engine."""
        return bool(self.origins)


def read_algorithm(text: Any, option: str, folder: str | Path = ".") -> Algorithm:
    """Return an algorithm by what a command line or a scenario names. Raises InputError."""
    subject = read_subject(text, option, folder) if isinstance(text, str) else make_subject(text, option, folder)
    if is_code(subject.cc):
        # Named from the folder of its file, it has one name and one digest wherever it is called from.
        given, folder = from_its_folder(subject.cc, Path(folder))
        subject = make_subject(given, option, folder)
    bound = bind({"tcp": {"cc": subject.cc}}, folder)
    if any(origin.is_transport for origin in bound.origins.values()):
        raise InputError(
            option, f"{subject.name} is a whole transport, and an algorithm is wanted here", "compare and coexist take it"
        )
    if homeless := [name for name, origin in bound.origins.items() if not origin.reference]:
        raise InputError(option, f"{homeless[0]} is a class of this program, which no other process has", "write it into a file")
    return Algorithm(subject, json.loads(bound.text)["tcp"]["cc"], bound.origins)


def from_its_folder(cc: Any, folder: Path) -> tuple[Any, Path]:
    """Return what names an algorithm in a file, without the way to it, and the folder of the file; others as they are."""
    key, named = name_in(cc)
    if not isinstance(named, str):
        return cc, folder
    file, colon, name = named.rpartition(":") if not is_library(named) else (named, "", "")
    path = folder / file
    if not path.is_file():
        return cc, folder
    short = f"{path.name}{colon}{name}"
    return ({**cc, key: short} if isinstance(cc, Mapping) else short), path.parent


class Casting(Protocol):
    """Who runs in which arm."""

    def algorithms(self, arm: str, point: Point) -> list[Any] | None:
        """Return what the groups of an arm run at a point; None where it is not run."""
        ...


@dataclass(frozen=True)
class Cast:
    """The algorithms of a report by the letters of arms: S the subject, B the baseline, R the second reference, C CUBIC (rfc)."""

    subject: Subject
    baseline: Subject
    second: Subject

    @property
    def by_letter(self) -> dict[str, Subject]:
        """The algorithms by letter."""
        return {"S": self.subject, "B": self.baseline, "R": self.second, "C": standard()}

    def algorithms(self, arm: str, point: Point) -> list[Any] | None:
        """Return the algorithms of the two groups of an arm: "S:B", or one for both. O is the algorithm that the point names."""
        first, _, second = arm.partition(":")
        known = self.by_letter
        return [known[one].cc if one in known else make_subject(point.world.other).cc for one in (first, second or first)]

    def arm(self, arm: str) -> str:
        """Return an arm as people read it: who runs in it, beside whom."""
        names = [self.by_letter[one].name if one in self.by_letter else "the other" for one in arm.split(":")]
        return " beside ".join(names)
