"""One process at a time writes into the folder of a study."""

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
"""How often a process that waits looks again."""


class Lock:
    """A folder that is written by this process alone, until `release` or the end of the process, however it ends.

    The kernel holds it (flock), so nothing has to be cleaned up after a kill; the file only says who it is.
    """

    def __init__(self, folder: Path, wait: bool = False):
        self.path = folder / ".lock"
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        told = False
        while not self.tried():
            holder = self.holder()
            if not wait:
                os.close(self.file)
                hint = "wait for it, take another --out, or let this one wait with --wait"
                raise RunFailedError(f"{folder}: in use by {holder} ({hint})")
            if not told:
                print(f"{folder}: waiting for {holder}", file=sys.stderr, flush=True)
                told = True
            time.sleep(POLL_S)
        since = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        text = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since})
        os.ftruncate(self.file, 0)
        os.pwrite(self.file, text.encode(), 0)

    def tried(self) -> bool:
        """Return whether the folder is ours now."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def holder(self) -> str:
        """Return who has it."""
        try:
            who = json.loads(os.pread(self.file, 1000, 0))
            return f"process {who['pid']} on {who['host']} since {who['since']}"
        except (OSError, ValueError, KeyError):
            return "another process"

    def release(self) -> None:
        """Let others have it."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1
