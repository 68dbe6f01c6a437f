"""The lock of a results folder: one process at a time writes to it."""

import datetime
import fcntl
import json
import os
import socket
import sys
import time
from pathlib import Path

from tonopah.errors import RunFailedError

POLL_S = 0.2
"""Interval between attempts of a waiting process."""


class Lock:
    """Exclusive right of this process to write to a folder, until `release` or the end of the process, however it ends.

    The kernel holds the lock (flock), so a killed process leaves nothing to clean up; the file only names the holder. It is no
    link: what is written into a folder from elsewhere stays in it.
    """

    def __init__(self, folder: Path, wait: bool = False):
        self.path = folder / ".lock"
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        announced = False
        while not self.try_lock():
            holder = self.holder()
            if not wait:
                os.close(self.file)
                hint = "wait until it ends, use another --out, or add --wait"
                raise RunFailedError(f"{folder}: in use by {holder} ({hint})")
            if not announced:
                print(f"{folder}: waiting for {holder}", file=sys.stderr, flush=True)
                announced = True
            time.sleep(POLL_S)
        since = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        text = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since})
        os.ftruncate(self.file, 0)
        os.pwrite(self.file, text.encode(), 0)

    def try_lock(self) -> bool:
        """Lock the folder unless another process holds it; tell whether it is locked now."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def holder(self) -> str:
        """Return which process holds the lock."""
        try:
            who = json.loads(os.pread(self.file, 1000, 0))
            return f"process {who['pid']} on {who['host']} since {who['since']}"
        except (OSError, ValueError, KeyError):
            return "another process"

    def release(self) -> None:
        """Release the lock."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1
