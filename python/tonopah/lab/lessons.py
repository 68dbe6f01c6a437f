"""Lessons: Markdown files with a head in TOML between lines of `+++`, whose tasks are checked against a run.

The head has `title`, `scenario`, a `guess` and three `task`s. A task either asks to read a number from the run (`read`, a path
into its summary or `series.NAME.OWNER.max`, with `factor`, `unit` and the relative tolerance `within`), or to change the scenario
until the run is as it should be (`reach`, conditions by path; `change`, the keys that may be changed). What a teacher has besides
does not reach the page: `solution` of a task, `holds` of a guess, and `fact`, what the text says of the run (lesson_check.py).
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tonopah.errors import InputError
from tonopah.lab.security import below
from tonopah.scenario.document import parse

FOLDER = Path(__file__).parent / "lessons"
FENCE = "+++"
MOST_FILES = 500
"""Markdown files of a folder that are looked at,"""
MOST_HEAD = 100_000
"""and bytes of each."""


class Strict(BaseModel):
    """A table of the head of a lesson."""

    model_config = ConfigDict(extra="forbid")


class Condition(Strict):
    """What a run should be like: a number of it, divided by another, within bounds."""

    path: str
    over: str | None = None
    least: float | None = None
    most: float | None = None

    @model_validator(mode="after")
    def check_form(self) -> "Condition":
        """Refuse a condition that everything fulfils."""
        if self.least is None and self.most is None:
            raise ValueError("needs least or most")
        return self


class Fact(Condition):
    """What the text says of the run, in its words, and how the run is held against it."""

    says: str


class Guess(Strict):
    """A question before the run: a choice, of which `right` is the right one, or a number, which the run tells."""

    question: str
    choices: list[str] = []
    right: int = 0
    holds: list[Condition] = []
    """What makes the right choice right, in the run of the scenario changed by `where`."""
    where: dict[str, Any] = {}
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
    solution: dict[str, Any] = {}
    """Of `reach`: a change, by path, after which the run is so."""

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
    fact: list[Fact] = []


def load(folder: Path | None = None) -> dict[str, tuple[Lesson, str]]:
    """Return head and text of each lesson by name, in the order of the numbers of their files. Raises InputError.

    Those of a folder are its files with such a head that has a guess, since pages of others have heads too. They follow the
    shipped ones, and may stand in their place.
    """
    files = [] if folder is None else [below(folder, path.name) for path in sorted(folder.glob("*.md"))[:MOST_FILES]]
    return {**shipped(), **{path.stem: read(path) for path in files if is_lesson(path)}}


@cache
def shipped() -> dict[str, tuple[Lesson, str]]:
    """Return the lessons of the package."""
    return {path.stem.partition("-")[2]: read(path) for path in sorted(FOLDER.glob("*.md"))}


def is_lesson(path: Path) -> bool:
    """Tell whether a Markdown file begins as a lesson does."""
    try:
        with path.open("rb") as file:
            head = file.read(MOST_HEAD)
            return head.startswith(FENCE.encode()) and b"\n[guess" in head
    except OSError:
        return False


def read(path: Path) -> tuple[Lesson, str]:
    """Return head and text of a lesson. Raises InputError with the file and what is wrong in it."""
    try:
        before, *rest = path.read_text(encoding="utf-8").split(f"{FENCE}\n", 2)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("", f"cannot be read: {getattr(error, 'strerror', None) or 'is not UTF-8'}", None, str(path)) from None
    if before or len(rest) < 2:
        raise InputError("", "is no lesson", f"a head in TOML between two lines of {FENCE}, then the text", str(path))
    try:
        return Lesson.model_validate(parse(rest[0], str(path))), rest[1].strip()
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"]).lstrip(".")
        raise InputError(where, first["msg"].removeprefix("Value error, "), None, str(path)) from None


TEACHERS = {"fact": True, "task": True, "guess": {"holds", "where"}}
"""What the page does not get: the tasks come in another form, without their solutions."""


def listed(folder: Path | None = None) -> list[dict[str, Any]]:
    """Return the lessons as the page has them, which holds answers against its run (static/judge.js)."""
    return [
        {
            "name": name,
            "text": text,
            **lesson.model_dump(exclude=TEACHERS),
            "tasks": [one.model_dump(exclude={"solution"}) for one in lesson.task],
        }
        for name, (lesson, text) in load(folder).items()
    ]
