"""Progress of a study on standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REPORT_EVERY = 0.1
"""Without a terminal, progress is one line for each tenth of the work."""


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
