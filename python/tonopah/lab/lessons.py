"""Lessons: Markdown files with a head in TOML between lines of `+++`, whose tasks are checked against a run.

The head has `title`, `scenario`, a `guess` and three `task`s. A task either asks to read a number from the run (`read`, a path
into its summary or `series.NAME.OWNER.max`, with `factor`, `unit` and the relative tolerance `within`), or to change the scenario
until the run is as it should be (`reach`, conditions by path; `change`, the keys that may be changed).
"""

import copy
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tomli
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tonopah.errors import InputError
from tonopah.lab.session import Session
from tonopah.scenario.paths import fetch, put, split_path

FOLDER = Path(__file__).parent / "lessons"
FENCE = "+++"
STATISTICS = {"max": np.nanmax, "min": np.nanmin, "mean": np.nanmean}


class Strict(BaseModel):
    """A table of the head of a lesson."""

    model_config = ConfigDict(extra="forbid")


class Guess(Strict):
    """A question before the run: a choice, of which `right` is the right one, or a number, which the run tells."""

    question: str
    choices: list[str] = []
    right: int = 0
    why: str = ""
    read: str | None = None
    least: float = 0.0
    most: float = 0.0
    factor: float = 1.0
    unit: str = ""

    @model_validator(mode="after")
    def check_form(self) -> "Guess":
        """Refuse a guess that is neither a choice nor a number."""
        if bool(self.choices) == bool(self.read) or (self.choices and not 0 <= self.right < len(self.choices)):
            raise ValueError("needs choices, one of which is right, or read")
        return self


class Condition(Strict):
    """What a run should be like: a number of it, divided by another, within bounds."""

    path: str
    over: str | None = None
    least: float = -math.inf
    most: float = math.inf


class Task(Strict):
    """A task, whose answer is checked against a run."""

    question: str
    hint: str
    right: str
    kind: Literal["read", "reach"]
    read: str | None = None
    over: str | None = None
    factor: float = 1.0
    unit: str = ""
    within: Annotated[float, Field(gt=0, le=0.5)] = 0.05
    reach: list[Condition] = []
    change: list[str] = []

    @model_validator(mode="after")
    def check_form(self) -> "Task":
        """Refuse a task that cannot be checked."""
        if (self.kind == "read") != bool(self.read) or (self.kind == "reach") != bool(self.reach and self.change):
            raise ValueError('kind = "read" needs read; kind = "reach" needs reach and change')
        return self


class Lesson(Strict):
    """The head of a lesson."""

    title: str
    summary: str
    scenario: dict[str, Any]
    guess: Guess
    task: Annotated[list[Task], Field(min_length=1)]
    phase: str | None = None
    """A series of which flow 1 is drawn over flow 0."""


@cache
def load() -> dict[str, tuple[Lesson, str]]:
    """Return head and text of each lesson by name, in the order of the numbers of their files. Raises InputError."""
    return {path.stem.partition("-")[2]: read(path) for path in sorted(FOLDER.glob("*.md"))}


def read(path: Path) -> tuple[Lesson, str]:
    """Return head and text of a lesson. Raises InputError."""
    _, head, text = path.read_text(encoding="utf-8").split(f"{FENCE}\n", 2)
    try:
        return Lesson.model_validate(tomli.loads(head)), text.strip()
    except (ValidationError, ValueError) as error:
        raise InputError("", f"is no lesson: {error}", None, str(path)) from None


def listed() -> list[dict[str, Any]]:
    """Return what the page shows of each lesson: everything but what a task is checked against."""
    return [
        {
            "name": name, "title": lesson.title, "summary": lesson.summary, "text": text, "scenario": lesson.scenario,
            "phase": lesson.phase, "guess": lesson.guess.model_dump(exclude={"right", "why"}),
            "tasks": [task.model_dump(include={"question", "kind", "unit", "change"}) for task in lesson.task],
        } for name, (lesson, text) in load().items()
    ]  # fmt: skip


def lesson_of(name: str) -> Lesson:
    """Return a lesson. Raises InputError."""
    if name not in load():
        raise InputError("lesson", f"there is no lesson {name!r}", ", ".join(load()))
    return load()[name][0]


def check_guess(lesson: Lesson, session: Session | None, answer: float) -> dict[str, Any]:
    """Return whether a guess was right, and why; a number is held against the run."""
    guess = lesson.guess
    if guess.read is None:
        return {"right": answer == guess.right, "told": guess.why, "value": None}
    value = measured(session, guess.read) * guess.factor
    near = abs(answer - value) <= 0.25 * abs(value)
    return {"right": near, "told": f"The run says {value:.3g} {guess.unit}. {guess.why}", "value": value}


def check_task(lesson: Lesson, number: int, session: Session | None, answer: float | None) -> dict[str, Any]:
    """Return whether an answer is right, and what to say. Raises InputError if there is no finished run."""
    if not 0 <= number < len(lesson.task):
        raise InputError("task", f"there is no task {number}", f"0 to {len(lesson.task) - 1}")
    task = lesson.task[number]
    if task.kind == "read":
        if answer is None:
            raise InputError("answer", "is missing", "a number")
        value = measured(session, task.read or "", task.over) * task.factor
        right = abs(answer - value) <= task.within * abs(value) + 1e-9
        return {"right": right, "told": task.right if right else f"Not what this run says. {task.hint}"}
    if unwanted := other_changes(lesson.scenario, session, task.change):
        return {"right": False, "told": f"Change only {', '.join(task.change)}: {unwanted} is different."}
    right = all(one.least <= measured(session, one.path, one.over) <= one.most for one in task.reach)
    return {"right": right, "told": task.right if right else f"Not yet. {task.hint}"}


def measured(session: Session | None, path: str, over: str | None = None) -> float:
    """Return a number of a finished run, divided by another if there is one. Raises InputError."""
    if session is None or session.summary is None:
        raise InputError("run", "there is no finished run", "wait until it is over, or run again")
    value = of_series(session, path) if path.startswith("series.") else fetch(session.summary, path)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InputError(path, "the run has no such number")
    return float(value) / measured(session, over) if over else float(value)


def of_series(session: Session, path: str) -> float | None:
    """Return the largest, smallest or mean sample of a series: `series.cwnd.0.max`."""
    _, name, owner, statistic = split_path(path)
    track = session.tracks.tracks.get((name, owner))  # pyright: ignore[reportArgumentType]
    return None if track is None or not track.count else float(STATISTICS[statistic](track.values[: track.count]))  # pyright: ignore[reportArgumentType]


def other_changes(scenario: Mapping[str, Any], session: Session | None, allowed: list[str]) -> str | None:
    """Return a key of the run that differs from the lesson's scenario and may not."""
    if session is None:
        return None
    before, now = copy.deepcopy(dict(scenario)), copy.deepcopy(dict(session.document))
    for document in (before, now):
        document.pop("record", None)
        for path in allowed:
            put(document, path, None)
    return next((key for key in sorted({*before, *now}) if before.get(key) != now.get(key)), None)
