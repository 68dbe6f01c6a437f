"""The last call into a library: noted in a page of memory that the process of a run shares with its parent, which outlives it."""

import ctypes
import mmap
import os
import struct
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tonopah._core import CALLS, CALLS_PAGE_BYTES, watch_calls

VIRTUAL = Path(__file__).resolve().parents[1] / "virtual.so"
"""Answers clocks and random numbers during calls of transports (`crates/virtual`)."""
CPU_LIMIT_S, CLOCK_LIMIT_S = 60.0, 600.0
"""How long a call may take: CPU time, and time of the clock."""
MOST_TEXT = 64
HEAD = struct.Struct("=QQQQ")
"""Number of calls, the call that is under way or 0, the simulated time in ns, and the length of the text after it."""


KEPT: list[mmap.mmap] = []
"""Pages in which calls of this process are noted: they stay mapped."""


class LastCall:
    """The page, and what is known of the call under way; `file` is what a process maps that is not forked."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115
        self.file.truncate(CALLS_PAGE_BYTES)
        self.page = mmap.mmap(self.file.fileno(), CALLS_PAGE_BYTES)
        self.seen = (-1, 0.0, 0.0)

    def __enter__(self) -> "LastCall":
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()
        self.file.close()

    def place(self) -> str:
        """Return where the call under way is, `on_datagram of b at 1.5 s`; nothing if none is."""
        _, call, now_ns, length = HEAD.unpack_from(self.page)
        if not 0 < call < len(CALLS):
            return ""
        text = self.page[HEAD.size : HEAD.size + min(length, MOST_TEXT)].decode(errors="replace")
        # Of a congestion control the text is the kind of its event.
        what = text if CALLS[call] == "event" else f"{CALLS[call]} of {text}"
        return f"{what} at {now_ns / 1e9:.6f} s"

    def overdue(self, pid: int) -> str:
        """Return how long a call has lasted that has taken too long, in words, and nothing if none has."""
        calls, call, *_ = HEAD.unpack_from(self.page)
        cpu_s, clock_s = cpu_of(pid), time.monotonic()
        if not call or self.seen[0] != calls:
            self.seen = (calls, cpu_s, clock_s)
            return ""
        for limit_s, since_s in ((CPU_LIMIT_S, cpu_s - self.seen[1]), (CLOCK_LIMIT_S, clock_s - self.seen[2])):
            if since_s >= limit_s:
                return f"has not returned from {self.place()} for {limit_s:.0f} s"
        return ""


def cpu_of(pid: int) -> float:
    """Return the CPU time of a process in seconds; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def note_calls_in(page: mmap.mmap) -> None:
    """Note the calls of this process from now on in a page, which stays mapped as long as the process lives."""
    KEPT.append(page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    watch_calls(address)
    with suppress(AttributeError):
        # Where `virtual.so` is preloaded.
        ctypes.CDLL(None).tonopah_virtual_watch(ctypes.c_void_p(address))


def virtual_environment() -> dict[str, str]:
    """Return what the environment of a process for runs has besides: `virtual.so`, if it is there and not TONOPAH_VIRTUAL=0."""
    if os.environ.get("TONOPAH_VIRTUAL") == "0" or not VIRTUAL.is_file():
        return {}
    return {"LD_PRELOAD": " ".join(filter(None, (str(VIRTUAL), os.environ.get("LD_PRELOAD"))))}
