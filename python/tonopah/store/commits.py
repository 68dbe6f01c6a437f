"""Group commit: a thread of its own commits results, and those that arrive while the disk is busy share the next commit.

A commit waits for the disk, a millisecond or several: longer than a very short run takes. The thread commits what is queued as
soon as the previous commit is on disk; it never waits for more.
"""

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = Sequence[Any]

MAX_QUEUED = 64
"""Capacity of the queue of results; when it is full, the next one waits for the disk."""


class Commits:
    """Passes rows to `write`, which commits all of them or raises. A failure is raised by the next call."""

    def __init__(self, write: Callable[[Sequence[Row]], None]):
        self.write = write
        self.queued: queue.Queue[Row | None] = queue.Queue(MAX_QUEUED)
        self.failure: Exception | None = None
        # A daemon thread, so that an unclosed writer does not block interpreter exit.
        self.thread = threading.Thread(target=self.work, name="commits", daemon=True)
        self.thread.start()

    def add(self, row: Row) -> None:
        """Queue a row. Raises the failure of an earlier commit."""
        self.queued.put(row)
        if self.failure:
            raise self.failure

    def close(self) -> None:
        """Return when everything is committed. Raises the failure of a commit."""
        if self.thread.is_alive():
            self.queued.put(None)
            self.thread.join()
        if self.failure:
            raise self.failure

    def work(self) -> None:
        """Commit until the end; after a failure only empty the queue, so that `add` does not block."""
        rows: list[Row | None] = []
        while None not in rows:
            rows = [self.queued.get()]
            while not self.queued.empty():
                rows.append(self.queued.get())
            finished = [row for row in rows if row is not None]
            if finished and not self.failure:
                try:
                    self.write(finished)
                except Exception as error:
                    self.failure = error
