"""The folder of a search: where it stands, its findings as scenarios and as JSON, and what it was a search of."""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.breaking.classes import NAMES
from tonopah.breaking.search import State
from tonopah.breaking.space import World
from tonopah.breaking.told import Told
from tonopah.breaking.trial import Trials
from tonopah.cc.references import is_code
from tonopah.errors import InputError, RunFailedError, reading
from tonopah.judge.subjects import Algorithm, endpoint
from tonopah.scenario.document import to_toml
from tonopah.scenario.files import read_file
from tonopah.writing import replace_file

STATE, FINDINGS = "state.json", "findings.json"
FORMAT = 1
MAX_BYTES = 64 << 20
MOST_FACTOR = 1e6
"""Of --margin, in a file of somebody else."""
WHAT = {
    "subject": "the subject", "digest": "the source of the subject", "against": "the references", "seed": "--seed",
    "most": "--most", "only": "--only", "margin": "--margin", "space": "the space of worlds", "engine": "the engine",
}  # fmt: skip
"""What decides the findings, in words."""

DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What a file that is none of a search leads to where it is read."""


@dataclass(frozen=True)
class Question:
    """What a search is of: what decides its findings, besides the number of worlds."""

    subject: str
    digest: str
    against: tuple[str, ...]
    seed: int
    most: int
    only: tuple[str, ...]
    margin: float
    space: str
    engine: str

    @property
    def facts(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**vars(self), "against": list(self.against), "only": list(self.only)}


class Folder:
    """The files of a search."""

    def __init__(self, path: Path):
        self.path = path
        self.origin: dict[str, Any] = {}
        """What `--resume` asks anew: subject and references as they are named from here, and the file of the space."""

    def began(self, trials: Trials, space: str | Path | None) -> None:
        """Note how a search began."""
        named = {name: self.reference_from_here(one) for name, one in trials.runs.algorithms.items()}
        file = os.path.relpath(space, self.path) if space is not None else None
        self.origin = {"cc": named[trials.subject], "references": [named[one] for one in trials.references], "space": file}

    def asked(self) -> tuple[Any, dict[str, Any]]:
        """Return the subject of the search that is here, and what was asked, as `tonopah.counterexamples` takes it.

        Raises InputError.
        """
        try:
            facts = json.loads((self.path / STATE).read_text(encoding="utf-8"))
            question, origin = facts["question"], facts["origin"]
            asked = {key: question[key] for key in ("only", "most", "seed", "margin")}
            space = None if origin["space"] is None else self.path / origin["space"]
            references = [self.from_outside(one) for one in origin["references"]]
            return self.from_outside(origin["cc"]), {**asked, "against": references, "space": space}
        except FileNotFoundError:
            raise InputError("--resume", f"{self.path} holds no search", "a folder that `tonopah break` writes to") from None
        except DAMAGED as error:
            raise InputError(str(self.path / STATE), f"is damaged: {error}", "the command that began it") from None

    def from_outside(self, cc: Any) -> Any:
        """Return an algorithm that is named from here by the whole way to its file."""
        if isinstance(cc, Mapping):
            return {key: self.from_outside(one) if key in ("python", "native") else one for key, one in cc.items()}
        file, colon, name = cc.rpartition(":") if ":" in cc else (cc, "", "")
        path = self.path / file
        return f"{path.resolve()}{colon}{name}" if path.is_file() else cc

    def stored(self, asked: Question) -> tuple[State, float] | None:
        """Return where an earlier search of the same stopped, and its time; None if there is none.

        Raises InputError if the folder is of another search, and says what differs.
        """
        try:
            facts = json.loads((self.path / STATE).read_text(encoding="utf-8"))
            known = facts["question"]
            changed = [words for key, words in WHAT.items() if known.get(key) != asked.facts[key]]
            state, elapsed_s = State.of(facts["state"]), float(facts["elapsed_s"])
        except FileNotFoundError:
            return None
        except DAMAGED as error:
            raise InputError(str(self.path / STATE), f"is damaged: {error}", "another folder as --out") from None
        if changed:
            raise InputError("--out", f"{self.path} holds another search: {', '.join(changed)} changed", "another folder")
        return state, elapsed_s

    def store(self, asked: Question, state: State, elapsed_s: float) -> None:
        """Write where the search stands."""
        facts = {
            "format": FORMAT,
            "question": asked.facts,
            "state": state.as_json(),
            "elapsed_s": elapsed_s,
            "origin": self.origin,
        }
        self.write(STATE, json.dumps(facts, allow_nan=False))

    def write(self, name: str, text: str) -> None:
        """Write a file. Raises RunFailedError."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            replace_file(self.path / name, text)
        except OSError as error:
            raise RunFailedError(f"{self.path}: {name} cannot be written: {error.strerror or error}") from None

    def write_findings(self, asked: Question, trials: Trials, state: State, told: Sequence[Told]) -> None:
        """Write a scenario for each finding, and findings.json; scenarios of findings that are no more are removed."""
        names = {one.file for one in told}
        for old in self.path.glob("[0-9][0-9]-*.toml"):
            if old.name not in names:
                old.unlink(missing_ok=True)
        for one in told:
            self.write(one.file, self.scenario(asked, trials, one))
        counts = {"worlds": state.worlds, "runs": state.runs, "refused": state.refused, "explained": state.explained}
        counts |= {"not_confirmed": state.not_confirmed, "dropped": state.dropped}
        facts = {"format": FORMAT, "version": engine_version(), "question": asked.facts, **counts}
        facts |= {key: self.origin[key] for key in ("cc", "references")}
        facts["findings"] = [self.kept(one) for one in told]
        self.write(FINDINGS, json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n")

    def kept(self, one: Told) -> dict[str, Any]:
        """Return a finding for findings.json, with the `accepted` that its owner wrote into the file for the same world."""
        return one.as_json() | {"accepted": self.accepted().get((one.finding.name, one.finding.world))}

    def accepted(self) -> dict[tuple[str, str], str]:
        """Return the reasons that the owner of the folder gave, by class and world."""
        try:
            facts = json.loads((self.path / FINDINGS).read_text(encoding="utf-8"))
            return {(one["class"], one["world"]): one["accepted"] for one in facts["findings"] if one.get("accepted")}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def scenario(self, asked: Question, trials: Trials, one: Told) -> str:
        """Return a finding as a scenario whose head says what it shows."""
        setup = trials.runs.setup(one.finding.where, trials.subject)
        assert setup
        scenario = json.loads(json.dumps(setup.scenario))
        scenario["tcp"]["cc"] = endpoint(self.reference_from_here(trials.runs.algorithms[trials.subject]))["cc"]
        file, seed = shlex.quote(str(self.path / one.file)), one.finding.fails[0]
        other = trials.runs.algorithms[one.worst].subject
        keys = endpoint(other.cc)
        sets = [f"tcp.cc={keys['cc'] if isinstance(keys['cc'], str) else to_inline(keys['cc'])}"]
        if "tcp" in keys or any("tcp" in scenario["flow"][place] for place in setup.subjects):
            sets += [f"flow[{place}].tcp={to_inline(keys.get('tcp', {}))}" for place in setup.subjects]
        beside = " ".join(f"--set {shlex.quote(one)}" for one in sets)
        head = [
            f"{one.finding.kind} {one.finding.name}: {one.sentence}",
            f"It fails with {one.times} seeds that the search never saw: {', '.join(map(str, one.finding.fails))}.",
            f"From the base world differs: {one.axes}.",
            f"The subject: tonopah run {file} --seed {seed}",
            f"Beside it:   tonopah run {file} --seed {seed} {beside}",
            f"For CI:      tonopah break --replay {shlex.quote(str(self.path))}",
        ]
        return "".join(f"# {line}\n" for line in "\n".join(head).split("\n")) + "\n" + to_toml(scenario)

    def reference_from_here(self, algorithm: Algorithm) -> Any:
        """Return an algorithm as a scenario in this folder names it: a file by the way from here."""
        cc = algorithm.subject.cc
        if not is_code(cc):
            return cc
        reference = next(iter(algorithm.origins.values())).reference
        file, colon, name = reference.rpartition(":") if ":" in reference else (reference, "", "")
        found = f"{os.path.relpath(file, self.path)}{colon}{name}" if os.path.exists(file) else reference
        if isinstance(cc, Mapping):
            key = "python" if "python" in cc else "native"
            return {**cc, key: found}
        return found


def to_inline(table: Mapping[str, Any]) -> str:
    """Return a table as --set takes it."""
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + " }"


def read_findings(folder: Path) -> dict[str, Any]:
    """Return findings.json of a folder, of which every part that is used is what it should be. Raises InputError."""
    path = folder / FINDINGS
    if not path.is_file():
        raise InputError(str(folder), "holds no findings.json", "a folder that `tonopah break` wrote")
    with reading(str(path), "a file that `tonopah break` wrote"):
        facts: dict[str, Any] = json.loads(read_file(path, "findings", MAX_BYTES))
        for one in facts["findings"]:
            World.of(one["world"])
            names = one["class"] in NAMES and one["kind"] in ("alone", "shared") and isinstance(one["axes"], str)
            seeds = [seed for seed in (*one["seeds"], *one["fails"]) if type(seed) is not int or not 0 < seed < 1 << 63]
            if not names or seeds or type(one["number"]) is not int or not isinstance(one.get("accepted"), str | None):
                raise ValueError(f"{one['class']!r} is no finding")
        asked = facts["question"]
        if not 1 / MOST_FACTOR <= float(asked["margin"]) <= MOST_FACTOR:
            raise ValueError(f"the margin is {asked['margin']}")
        if missing := {"against", "space", "digest", "subject", "engine"} - asked.keys() | {"references", "cc"} - facts.keys():
            raise ValueError(f"there is no {min(missing)}")
        if not isinstance(facts["references"], list):
            raise ValueError("the references are no list")
    return facts
