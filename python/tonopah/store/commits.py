"""Commits results in a thread of its own, so that runs that finish while the disk is busy share the next commit.

A commit waits for the disk, a millisecond or several: longer than a very short run takes. Nothing waits for company: the thread
commits what there is as soon as the disk has the results before.
"""

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = Sequence[Any]

MOST = 64
"""So many results wait at most; the next one then waits for the disk."""


class Commits:
    """Hands rows to `write`, which commits all of them or raises. A failure is raised by the next call."""

    def __init__(self, write: Callable[[Sequence[Row]], None]):
        self.write = write
        self.waiting: queue.Queue[Row | None] = queue.Queue(MOST)
        self.failure: Exception | None = None
        # Who forgets to close is not kept from exiting.
        self.thread = threading.Thread(target=self.work, name="commits", daemon=True)
        self.thread.start()

    def add(self, row: Row) -> None:
        """Have a row committed soon. Raises what kept an earlier one from it."""
        self.waiting.put(row)
        if self.failure:
            raise self.failure

    def close(self) -> None:
        """Return when everything is committed. Raises what kept a row from it."""
        if self.thread.is_alive():
            self.waiting.put(None)
            self.thread.join()
        if self.failure:
            raise self.failure

    def work(self) -> None:
        """Commit until the end; after a failure only take, so that nobody waits for room."""
        rows: list[Row | None] = []
        while None not in rows:
            rows = [self.waiting.get()]
            while not self.waiting.empty():
                rows.append(self.waiting.get())
            finished = [row for row in rows if row is not None]
            if finished and not self.failure:
                try:
                    self.write(finished)
                except Exception as error:
                    self.failure = error
