"""A lesson held against its runs: whether what it says is true, what its tasks ask for, and a sheet to print."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tonopah.errors import InputError
from tonopah.lab.lessons import Condition, Lesson, Task
from tonopah.lab.session import recorded
from tonopah.metrics import show
from tonopah.runs.simulation import RunResult, run_prepared
from tonopah.scenario.paths import fetch, put, split_path

SEED = 1
"""Of every run of a lesson."""
ROOM = "\n\n\n\n\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_"
"""To write an answer into."""


@dataclass(frozen=True)
class Solution:
    """What is right: of the guess, or of a task."""

    question: str
    answer: str


def check_lesson(lesson: Lesson) -> list[Solution]:
    """Return what is right, guess first. Raises InputError where the runs say otherwise than the lesson."""
    run = run_of(lesson, {})
    for i, fact in enumerate(lesson.fact):
        require(run, [fact], f"fact[{i}]", f"the run does not do what the text says ({fact.says!r})")
    return [guessed(lesson, run), *(solved(lesson, task, run, f"task[{i}]") for i, task in enumerate(lesson.task))]


def run_of(lesson: Lesson, changes: Mapping[str, Any]) -> RunResult:
    """Return the run of the scenario, changed by paths, with the series that the page records."""
    document = copy.deepcopy(lesson.scenario)
    for path, value in changes.items():
        put(document, path, value)
    return run_prepared(recorded(document), None, SEED)


def measured(run: RunResult, path: str, over: str | None, where: str) -> float:
    """Return a number of a run, divided by another if there is one, as judge.js does. Raises InputError if it has none."""
    steps = split_path(path)
    if steps[0] == "series" and len(steps) == 4:
        value = of_series(run, str(steps[1]), int(steps[2]), str(steps[3]))
    else:
        value = fetch(run.summary, path)
    if not isinstance(value, float | int):
        raise InputError(
            where, f"{path}: the run has no such number", "a path into `tonopah run --json`, or series.NAME.OWNER.max"
        )
    return float(value) if over is None else float(value) / measured(run, over, None, where)


def of_series(run: RunResult, name: str, owner: int, statistic: str) -> float | None:
    """Return the largest, smallest or mean sample of a series; None if there is none."""
    if name not in run.names or statistic not in ("max", "min", "mean"):
        return None
    table = run.series(name)
    own = table[table.iloc[:, 1] == owner]["value"]
    return float(own.agg(statistic)) if len(own) else None


def fulfilled(run: RunResult, conditions: Sequence[Condition], where: str) -> list[str]:
    """Return the conditions that a run does not fulfil, in words."""
    missed = []
    for one in conditions:
        value = measured(run, one.path, one.over, where)
        if (one.least is not None and value < one.least) or (one.most is not None and value > one.most):
            bounds = [
                f"{word} {bound:g}" for word, bound in (("at least", one.least), ("at most", one.most)) if bound is not None
            ]
            missed.append(f"{one.path}{f' over {one.over}' if one.over else ''} is {show(value)}, not {' and '.join(bounds)}")
    return missed


def require(run: RunResult, conditions: Sequence[Condition], where: str, message: str) -> None:
    """Raise InputError unless a run fulfils conditions."""
    if missed := fulfilled(run, conditions, where):
        raise InputError(where, f"{message}: {'; '.join(missed)}")


def guessed(lesson: Lesson, run: RunResult) -> Solution:
    """Return what the right guess is."""
    guess = lesson.guess
    if guess.read:
        return Solution(
            guess.question, f"{show(measured(run, guess.read, None, 'guess.read') * guess.factor)} {guess.unit}".strip()
        )
    if not guess.holds:
        hint = 'holds = [{ path = "flows.0.goodput_bps", most = 1e6 }], of the run itself or, with `where`, of a changed one'
        raise InputError("guess.holds", "is missing: nothing says why the right choice is right", hint)
    chosen = guess.choices[guess.right]
    require(run_of(lesson, guess.where) if guess.where else run, guess.holds, "guess.holds", f"{chosen!r} is not right")
    return Solution(guess.question, chosen)


def solved(lesson: Lesson, task: Task, run: RunResult, where: str) -> Solution:
    """Return what solves a task."""
    if task.read:
        value = measured(run, task.read, task.over, f"{where}.read") * task.factor
        return Solution(task.question, f"{show(value)} {task.unit}".strip())
    if not task.solution:
        raise InputError(
            f"{where}.solution", "is missing: nothing shows that the task can be done", 'solution = { "tcp.cc" = "bbr" }'
        )
    allowed = [split_path(path) for path in task.change]
    if other := [path for path in task.solution if split_path(path) not in allowed]:
        raise InputError(f"{where}.solution", f"{other[0]} may not be changed", f"change has {', '.join(task.change)}")
    if not fulfilled(run, task.reach, f"{where}.reach"):
        raise InputError(f"{where}.reach", "the run is so before anything is changed")
    require(run_of(lesson, task.solution), task.reach, f"{where}.solution", "does not reach it")
    return Solution(task.question, ", ".join(f"{path} = {value!r}" for path, value in task.solution.items()))


def sheet(lesson: Lesson, text: str, solutions: Sequence[Solution]) -> str:
    """Return a lesson as Markdown to print: with room for the answers, or, for the teacher, with the solutions."""
    asked = [lesson.guess.question, *(task.question for task in lesson.task)]
    answers = [f"\n\n*{one.answer}*" for one in solutions] or [ROOM] * len(asked)
    choices = "".join(f"\n- [ ] {choice}" for choice in lesson.guess.choices)
    first = f"## Guess first\n\n{asked[0]}\n{choices}{answers[0]}"
    tasks = "\n\n".join(
        f"{i}. {question}{answer}" for i, (question, answer) in enumerate(zip(asked[1:], answers[1:], strict=True), 1)
    )
    return f"# {lesson.title}\n\n{lesson.summary}\n\n{first}\n\n{text}\n\n## Tasks\n\n{tasks}\n"
