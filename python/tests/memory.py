"""Memory that something takes, whatever tests of other files in the same process took before it."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def size_bytes(name: str) -> int:
    """Return a size of this process (proc(5)): `VmRSS` is what it has now, `VmHWM` the most that it had.

    Where there is no /proc, both are the most that it ever had.
    """
    if not STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    line = next(line for line in STATUS.read_text(encoding="ascii").splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


@contextmanager
def memory_taken() -> Iterator[SimpleNamespace]:
    """Give an object that has `bytes` afterwards: by how much the process was larger than at the beginning, at most."""
    before, taken = size_bytes("VmRSS"), SimpleNamespace()
    if RESET.exists():
        # The peak begins anew.
        RESET.write_text("5", encoding="ascii")
    yield taken
    taken.bytes = size_bytes("VmHWM") - before
