"""Lessons: Markdown files with a head in TOML between lines of `+++`, whose tasks are checked against a run.

The head has `title`, `scenario`, a `guess` and three `task`s. A task either asks to read a number from the run (`read`, a path
into its summary or `series.NAME.OWNER.max`, with `factor`, `unit` and the relative tolerance `within`), or to change the scenario
until the run is as it should be (`reach`, conditions by path; `change`, the keys that may be changed).
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tonopah.errors import InputError

FOLDER = Path(__file__).parent / "lessons"
FENCE = "+++"


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
    least: float | None = None
    most: float | None = None


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
    """Return the lessons as the page has them, which holds answers against its run (static/judge.js)."""
    return [
        {"name": name, "text": text, **lesson.model_dump(exclude={"task"}), "tasks": [one.model_dump() for one in lesson.task]}
        for name, (lesson, text) in load().items()
    ]
