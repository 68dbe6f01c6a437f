"""Runs what the store lacks, on all cores; an interruption loses only the runs that were under way."""

import os
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from tonopah import _core, processes
from tonopah.errors import AlgorithmError, RunFailedError, ScenarioError, relay
from tonopah.plan import Plan, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonopah.store import Store

REPORT_EVERY = 0.1
"""Without a terminal, progress is one line for each tenth of the work."""


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_missing(
    plan: Plan, store: "Store", jobs: int | None = None, quiet: bool = False, shown: Callable[[], None] | None = None
) -> int:
    """Run every run of the plan that the store lacks, on `jobs` threads (default: all cores); return how many that were.

    `shown` is called after each run instead of showing the progress of this plan alone.

    Runs with an algorithm in Python come last, in so many processes: Python runs on one core of a process at a time.
    Raises KeyboardInterrupt after an interruption, InputError when a scenario turns out impossible, AlgorithmError when
    an algorithm in Python raised, RunFailedError when a result cannot be stored; finished runs are in the store in every case.
    """
    done = store.ids()
    # The sort keeps the order of each kind.
    todo = sorted((run for run in plan.runs.values() if run.id not in done), key=lambda run: bool(run.origins))
    if not todo:
        return 0
    started = time.monotonic()
    failure: list[BaseException] = []
    whole = progress(len(plan.runs), len(plan.runs) - len(todo), quiet) if shown is None else nullcontext(shown)
    with whole as advance:

        def on_done(index: int, outcome: str | Exception, series: dict[str, Any] | None) -> bool:
            # The engine calls this between runs; an exception is kept and raised when the others have finished.
            try:
                if isinstance(outcome, ScenarioError):
                    raise relay(outcome, prefix="scenario", suffix=describe(todo[index]))
                if isinstance(outcome, AlgorithmError):
                    outcome.args = (f"{outcome}{describe(todo[index])}",)
                if isinstance(outcome, Exception):
                    raise outcome
                store.put(todo[index], outcome, series, time.monotonic() - started)
                advance()
            except BaseException as error:
                failure.append(error)
                return False
            return True

        plain = [(run.scenario, run.seed) for run in todo if not run.origins]
        own = [processes.Job(run.scenario, run.seed, run.origins) for run in todo[len(plain) :]]
        if plain:
            _core.run_many(plain, jobs or cores(), on_done)
        if own and not failure:
            processes.run_many(own, jobs or cores(), lambda index, *outcome: on_done(len(plain) + index, *outcome))
    if failure:
        raise failure[0]
    missing = len(set(plan.runs) - store.ids())
    if missing:
        raise RunFailedError(f"{missing} runs did not finish")
    return len(todo)


def describe(run: Run) -> str:
    """Return what is special about a run, for an error message."""
    return f" [with {run.algorithm}, seed {run.seed}" + "".join(f", {k} = {v}" for k, v in run.values.items()) + "]"


@contextmanager
def progress(total: int, done: int, quiet: bool) -> "Iterator[Callable[[], None]]":
    """Show progress on standard error: a bar on a terminal, otherwise a line now and then. Yields the step function."""
    if quiet:
        yield lambda: None
    elif sys.stderr.isatty():
        with bar(total, done) as advance:
            yield advance
    else:
        yield Lines(total, done)


@contextmanager
def bar(total: int, done: int) -> "Iterator[Callable[[], None]]":
    """Show a progress bar with the time that is left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("runs"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task("runs", total=total, completed=done)
        yield lambda: shown.advance(task)


class Lines:
    """Progress as plain lines, for logs."""

    def __init__(self, total: int, done: int):
        self.total, self.done, self.first, self.started = total, done, done, time.monotonic()
        self.next = done + max(1, round((total - done) * REPORT_EVERY))
        print(f"{total - done} of {total} runs to do", file=sys.stderr, flush=True)

    def __call__(self) -> None:
        """Count one run."""
        self.done += 1
        if self.done < self.next and self.done < self.total:
            return
        self.next = self.done + max(1, round((self.total - self.first) * REPORT_EVERY))
        elapsed = time.monotonic() - self.started
        left = elapsed / (self.done - self.first) * (self.total - self.done)
        print(f"{self.done} of {self.total} runs, {elapsed:.0f} s, about {left:.0f} s left", file=sys.stderr, flush=True)
