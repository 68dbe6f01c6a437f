"""Progress of a study on standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REPORT_EVERY = 0.1
"""Share of the work between two lines of progress where standard error is no terminal."""


@contextmanager
def show_progress(total: int, done: int, quiet: bool, what: str = "runs") -> "Iterator[Callable[[], None]]":
    """Show progress on standard error, as a bar on a terminal and as lines elsewhere; yield the function that counts one.

    `what` is counted: runs, or parts of a report.
    """
    if quiet:
        yield lambda: None
    elif in_notebook():
        yield NotebookBar(total, done, what)
    elif sys.stderr.isatty():
        with bar(total, done, what) as on_progress:
            yield on_progress
    else:
        yield Lines(total, done, what)


@contextmanager
def bar(total: int, done: int, what: str = "runs") -> "Iterator[Callable[[], None]]":
    """Show a progress bar with the remaining time."""
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
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total, completed=done)
        yield lambda: progress.advance(task)


def in_notebook() -> bool:
    """Tell whether a notebook runs this program, whose output is no terminal and can be changed afterwards."""
    found = sys.modules.get("IPython")
    shell = found.get_ipython() if found else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class NotebookBar:
    """Progress as a bar below the cell of a notebook."""

    def __init__(self, total: int, done: int, what: str = "runs"):
        from IPython.display import HTML, display  # pyright: ignore[reportMissingImports]

        self.total, self.done, self.first, self.what, self.started = total, done, done, what, time.monotonic()
        self.html, self.shown = HTML, display(HTML(self.text()), display_id=True)
        self.next = 0.0

    def __call__(self) -> None:
        """Count one; the page is changed five times a second at most."""
        self.done += 1
        now = time.monotonic()
        if now >= self.next or self.done >= self.total:
            self.next = now + 0.2
            self.shown.update(self.html(self.text()))

    def text(self) -> str:
        """Return the bar as HTML."""
        elapsed, counted = time.monotonic() - self.started, self.done - self.first
        left = f", about {elapsed / counted * (self.total - self.done):.0f} s left" if counted and self.done < self.total else ""
        count = f"{self.done} of {self.total} {self.what}, {elapsed:.0f} s{left}"
        return f'<progress max="{self.total}" value="{self.done}"></progress> {count}'


class Lines:
    """Progress as plain lines, for logs."""

    def __init__(self, total: int, done: int, what: str = "runs"):
        self.total, self.done, self.first, self.what, self.started = total, done, done, what, time.monotonic()
        self.next = done + max(1, round((total - done) * REPORT_EVERY))
        print(f"{total - done} of {total} {what} to do", file=sys.stderr, flush=True)

    def __call__(self) -> None:
        """Count one."""
        self.done += 1
        if self.done < self.next and self.done < self.total:
            return
        self.next = self.done + max(1, round((self.total - self.first) * REPORT_EVERY))
        elapsed = time.monotonic() - self.started
        left = elapsed / (self.done - self.first) * (self.total - self.done)
        print(f"{self.done} of {self.total} {self.what}, {elapsed:.0f} s, about {left:.0f} s left", file=sys.stderr, flush=True)
