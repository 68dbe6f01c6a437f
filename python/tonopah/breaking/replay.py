"""The findings of a folder tried again: which still fail, which are mended, and which cannot be told."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tonopah._core import engine_build
from tonopah.breaking.folder import read_findings
from tonopah.breaking.runs import Runs
from tonopah.breaking.space import World, read_space
from tonopah.breaking.trial import Trials
from tonopah.errors import InputError
from tonopah.judge.subjects import Algorithm, read_algorithm

MENDED = 0.25
"""Share of the seeds of then with which a mended finding may still fail."""
Word = Literal["fails", "mended", "unclear", "refused"]
UNTOLD = ("unclear", "refused")
"""What says neither that a finding fails nor that it is mended."""


@dataclass(frozen=True)
class Replayed:
    """A finding and what it is now."""

    number: int
    name: str
    kind: str
    axes: str
    word: Word
    then: int
    now: int
    seeds: int
    accepted: str | None

    @property
    def counts(self) -> bool:
        """Tell whether it fails and nobody has accepted that."""
        return self.word == "fails" and not self.accepted

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        found = dict(vars(self))
        return {"class": found.pop("name"), **found}


@dataclass(frozen=True)
class Replay:
    """All findings of a folder, and what has changed since they were found."""

    found: Sequence[Replayed]
    changed: tuple[str, ...]

    @property
    def status(self) -> int:
        """Exit status: 1 if one fails, 3 if one is unclear or refused."""
        return 1 if any(one.counts for one in self.found) else 3 if any(one.word in UNTOLD for one in self.found) else 0


def replay(folder: str | Path, cc: Any = None, *, space: str | Path | None = None, jobs: int = 1) -> Replay:
    """Run the fresh seeds of every finding of a folder again, with its subject or with another algorithm.

    Parameters
    ----------
    folder : path
        A folder that `tonopah break` wrote.
    cc : str, dict or None
        The algorithm, as a scenario takes it; None for the one that the folder is of.
    space : path or None
        The file of the space, if the search had one.
    jobs : int
        Runs at a time.

    Returns
    -------
    Replay
        For each finding *fails* (as it was confirmed), *mended* (at most a quarter of the seeds of then), *unclear*, *refused*:
        the engine does not run this subject in its world.

    Raises
    ------
    InputError
        The folder holds no findings, or the algorithm is unknown.
    """
    folder = Path(folder)
    facts = read_findings(folder)
    known = read_space(space)
    asked = facts["question"]
    if known.digest != asked["space"]:
        raise InputError("--space", "the space is not the one of the findings", "the file that the search was given")
    runs = Runs(known, jobs)
    subject = read_algorithm(cc, "SUBJECT") if cc is not None else own_subject(folder, facts)
    label = runs.add(subject)
    references = [runs.add(read_algorithm(one, "--against", folder)) for one in facts["references"]]
    trials = Trials(runs, label, [one for one in references if one != label], math.log2(asked["margin"]))
    with runs.working():
        trials.refuse_dice()
        found = [one_replayed(trials, one) for one in facts["findings"]]
    return Replay(found, changed(asked, subject))


def own_subject(folder: Path, facts: dict[str, Any]) -> Algorithm:
    """Return the algorithm that a folder is of. Raises InputError."""
    try:
        return read_algorithm(facts["cc"], "SUBJECT", folder)
    except InputError as error:
        raise InputError("SUBJECT", f"the subject of the folder: {error.message}", error.hint or "name it as SUBJECT") from None


def one_replayed(trials: Trials, one: dict[str, Any]) -> Replayed:
    """Return a finding and what it is now."""
    world, then = World.of(one["world"]), len(one["fails"])
    count = trials.count(world, one["class"], one["kind"], tuple(one["seeds"]))
    now = len(count.fails)
    needed = 0.9 * then
    word: Word = "fails" if now >= needed and now else "mended" if now <= MENDED * then else "unclear"
    if trials.runs.setup(world, trials.subject) is None:
        word = "refused"
    return Replayed(
        one["number"], one["class"], one["kind"], one["axes"], word, then, now, len(one["seeds"]), one.get("accepted")
    )


def changed(asked: dict[str, Any], subject: Algorithm) -> tuple[str, ...]:
    """Return what is not as it was when the findings were made."""
    found, now = [], subject.subject
    if asked["digest"] != now.source or asked["subject"] != now.label:
        found.append(f"another subject: {now.label}, then {asked['subject']}")
    if asked["engine"] != engine_build():
        found.append("the engine is another one")
    return tuple(found)
