"""The search from Python: `tonopah.counterexamples` and `tonopah.replay`."""

import html
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah._core import engine_build
from tonopah.breaking.classes import NAMES
from tonopah.breaking.folder import Folder, Question
from tonopah.breaking.page import write_page
from tonopah.breaking.runs import Runs
from tonopah.breaking.search import Clock, Search, State
from tonopah.breaking.space import read_space
from tonopah.breaking.told import Told, tell
from tonopah.breaking.trial import Trials
from tonopah.errors import InputError, RunFailedError
from tonopah.execution.options import cores
from tonopah.judge.subjects import read_algorithm
from tonopah.scenario.document import load
from tonopah.spec.validation import list_allowed
from tonopah.units import si

if TYPE_CHECKING:
    import pandas as pd

AGAINST = ("cubic", "reno", "bbr")
MOST = 12
BUDGET_S = 600.0
STORE_EVERY_S = 10.0


@dataclass(frozen=True)
class Counterexamples:
    """What a search found."""

    folder: Path
    findings: tuple[Told, ...]
    state: State = field(repr=False)
    complete: bool = True
    """Whether all worlds were tried; a budget that ended earlier leaves the rest."""
    axes: int = 0
    """Axes of the space."""

    def scenario(self, index: int) -> dict[str, Any]:
        """Return the scenario of a finding, by its place in `findings`. Raises InputError."""
        if not 0 <= index < len(self.findings):
            raise InputError("index", f"there is no finding {index!r}", f"0 to {len(self.findings) - 1}")
        return load(self.folder / self.findings[index].file)

    def table(self) -> "pd.DataFrame":
        """Return one row for each finding: class, kind, how often it fails, the sentence, the world, the file."""
        import pandas as pd

        rows = [
            {
                "class": one.finding.name, "kind": one.finding.kind, "fails": len(one.finding.fails),
                "seeds": len(one.finding.seeds), "edge": one.finding.edge, "confirmed": one.confirmed, "sentence": one.sentence,
                "world": one.axes, "file": one.file,
            }
            for one in self.findings
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{one.finding.kind} {one.finding.name}</td><td>{one.times}</td><td>{html.escape(one.sentence)}</td>"
            f"<td><code>{html.escape(one.axes)}</code></td></tr>"
            for one in self.findings
        )
        return f"<table><tr><th>class</th><th>fails</th><th>what</th><th>world</th></tr>{rows}</table>"


@dataclass(frozen=True)
class Progress:
    """What is told of a search while it runs."""

    changed: Callable[[State, float], None] = lambda state, elapsed_s: None
    """Gets the state after each world, and the time in seconds."""
    found: Callable[[Told], None] = lambda one: None
    """Gets each finding when it is confirmed."""


def counterexamples(
    cc: Any, *, worlds: int | None = None, budget_s: float | None = None, cpu: bool = False, out: str | Path | None = None,
    jobs: int | None = None, command: str = "", progress: Progress | None = None, **asked: Any,
) -> Counterexamples:  # fmt: skip
    """Search worlds in which an algorithm fails and others do not; each is confirmed on fresh seeds and as small as it can be.

    Parameters
    ----------
    cc : str, dict
        The algorithm, as a scenario takes it; names run in profile `linux`.
    worlds : int or None
        Worlds after the base world: decides the findings wherever it runs.
    budget_s : float or None
        Seconds after which no further world is tried; 600 where `worlds` is not given.
    cpu : bool
        Whether the budget is of CPU time, of all workers.
    out : path or None
        Folder of scenarios, findings.json and index.html; a search of the same that is there goes on.
    jobs : int or None
        Runs at a time; None for all cores. It decides nothing else.
    command : str
        What the page says of how it was made.
    progress : Progress or None
        Is told how the search goes.
    **asked
        `against`, `only`, `most`, `seed`, `margin` and `space`: fields of `Asked`.

    Raises
    ------
    InputError
        An argument is wrong, the folder holds another search, or two runs of the subject with one seed differ.
    RunFailedError
        A file cannot be written, or the subject raises in every world.
    """
    what = Asked(**asked)
    trials = what.trials(cc, jobs or cores())
    subject = trials.runs.algorithms[trials.subject].subject
    folder = Folder(Path(out) if out else Path("results") / f"break-{file_name(subject.name)}")
    question = what.question(trials)
    folder.began(trials, what.space)
    stored = folder.stored(question)
    state, before_s = stored or (State(), 0.0)
    limit_s = budget_s if budget_s is not None else None if worlds is not None else BUDGET_S
    clock = Clock(None if limit_s is None else limit_s - before_s, trials.runs, cpu)
    work = Work(folder, question, trials, clock, before_s, command, progress or Progress())
    with trials.runs.working():
        if not stored:
            trials.refuse_dice()
        try:
            complete = Search(trials, what.seed, what.most, tuple(what.only), state).run(worlds, clock.over, work.changed)
        except (KeyboardInterrupt, RunFailedError):
            work.finish(state)
            raise
        told = work.finish(state)
    return Counterexamples(folder.path, tuple(told), state, complete, len(trials.runs.space.axes))


@dataclass(frozen=True)
class Asked:
    """What decides the findings of a subject, besides the number of worlds."""

    against: Sequence[Any] = AGAINST
    """References; the subject itself is left out."""
    only: Sequence[str] = ()
    """Classes of failure that are looked for; all without one."""
    most: int = MOST
    """Findings of a class that are made, alone and shared ones each."""
    seed: int = 1
    """Of the search: it draws the worlds."""
    margin: float = 1.0
    """By what factor every threshold has to be exceeded."""
    space: str | Path | None = None
    """A file that changes the space of worlds."""

    def __post_init__(self) -> None:
        for name in self.only:
            if name not in NAMES:
                raise InputError("--only", f"there is no class {name!r}", list_allowed(NAMES, value=name))
        if not self.margin > 0 or math.isinf(self.margin):
            raise InputError("--margin", f"{self.margin!r} is no factor", "a number above 0, like 2")

    def trials(self, cc: Any, jobs: int) -> Trials:
        """Return the subject beside the references. Raises InputError."""
        subject = read_algorithm(cc, "SUBJECT")
        runs = Runs(read_space(self.space), jobs)
        label = runs.add(subject)
        references = [one for one in (read_algorithm(given, "--against") for given in self.against) if one.subject.label != label]
        if not references:
            raise InputError("--against", "nothing left but the subject", "another algorithm")
        return Trials(runs, label, [runs.add(one) for one in references], math.log2(self.margin))

    def question(self, trials: Trials) -> Question:
        """Return what the folder of a search remembers of it."""
        subject = trials.runs.algorithms[trials.subject].subject
        return Question(
            trials.subject, subject.source, trials.references, self.seed, self.most, tuple(self.only), self.margin,
            trials.runs.space.digest, engine_build(),
        )  # fmt: skip


@dataclass
class Work:
    """Stores where a search stands, and writes what it found."""

    folder: Folder
    asked: Question
    trials: Trials
    clock: Clock
    before_s: float
    command: str
    progress: Progress
    stored_at: float = -math.inf

    def changed(self, state: State, is_new: bool) -> None:
        """Handle the end of a world."""
        elapsed_s = self.before_s + self.clock.elapsed_s
        now = time.monotonic()
        if is_new or now - self.stored_at > STORE_EVERY_S:
            self.folder.store(self.asked, state, elapsed_s)
            self.stored_at = now
        if is_new:
            self.progress.found(tell(self.trials, state.findings[-1:])[0])
        self.progress.changed(state, elapsed_s)

    def finish(self, state: State) -> list[Told]:
        """Write everything, and return the findings."""
        self.folder.store(self.asked, state, self.before_s + self.clock.elapsed_s)
        told = tell(self.trials, state.findings)
        self.folder.write_findings(self.asked, self.trials, state, told)
        write_page(self.folder, self.asked, self.trials, state, told, self.command)
        return told


def file_name(name: str) -> str:
    """Return the name of an algorithm as a folder can have it."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-").lower() or "algorithm"


def budget(text: str | None) -> tuple[float | None, bool]:
    """Return a budget in seconds, and whether it is of CPU time. Raises InputError."""
    if text is None:
        return None, False
    cpu = text.startswith("cpu:")
    try:
        seconds = si(text.removeprefix("cpu:"))
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise InputError("--budget", f"{text!r} is no time", "like 10min, 30s or cpu:10min")
    return seconds, cpu
