"""Results are committed in a thread: all of them, in order, together while the disk is busy, and a failure is told."""

import threading
import time

import pytest

from tonopah.store.commits import MAX_QUEUED, Commits


def test_rows_that_come_while_the_disk_is_busy_share_the_next_commit():
    busy, go_on, written = threading.Event(), threading.Event(), []

    def write(rows):
        written.append(list(rows))
        busy.set()
        assert go_on.wait(300)

    commits = Commits(write)
    commits.add((0,))
    assert busy.wait(300)
    for number in range(1, 5):
        commits.add((number,))
    go_on.set()
    commits.close()
    assert written == [[(0,)], [(1,), (2,), (3,), (4,)]]


def test_a_single_row_waits_for_no_other():
    written = threading.Event()
    commits = Commits(lambda rows: written.set())
    commits.add((1,))
    assert written.wait(300)
    commits.close()


def test_everything_is_written_when_closed():
    written = []

    def write(rows):
        time.sleep(0.001)
        written.extend(rows)

    commits = Commits(write)
    for number in range(10 * MAX_QUEUED):
        commits.add((number,))
    commits.close()
    assert written == [(number,) for number in range(10 * MAX_QUEUED)]
    assert not commits.thread.is_alive()


def test_a_failure_is_told_at_once_and_at_the_end_and_nothing_is_written_after_it():
    tried = []

    def write(rows):
        tried.append(rows)
        raise OSError("disk full")

    commits = Commits(write)
    with pytest.raises(OSError, match="disk full"):
        for number in range(10 * MAX_QUEUED):
            commits.add((number,))
    with pytest.raises(OSError, match="disk full"):
        commits.close()
    assert len(tried) == 1
    # Closed twice is closed.
    with pytest.raises(OSError, match="disk full"):
        commits.close()
