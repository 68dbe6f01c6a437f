"""Writing files so that an interruption leaves neither half a file nor a temporary one."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


def replace_file(target: Path, text: str) -> None:
    """Write a file as a whole or not at all. Raises OSError."""
    temporary = target.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM, which `timeout`, Slurm and Docker send, interrupt as Ctrl-C does, so that what was begun is removed.

    A program that has its own handler keeps it; only the main thread can set one.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
