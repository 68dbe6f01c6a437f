"""A kernel in virtual time, as a program that the machine runs: User-Mode Linux, which `tonopah kernel build` builds.

It sees the files of this machine with the rights of who calls it, has devices and namespaces of its own, and its clock jumps to
the next timer whenever nothing runs (`time-travel=inf-cpu`): computing takes none of its time, and no load of the machine shows.
"""

import fcntl
import os
import pickle
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah.errors import InputError, RunFailedError
from tonopah.kernel.isolation import isolated
from tonopah.writing import cache_folder

MISSING, BUILD = "no kernel in virtual time has been built", "tonopah kernel build"
PROGRAM, ALGORITHMS = "linux", "algorithms"
"""Files of the folder of a kernel, which has the name of its release."""
MEMORY_BYTES = 4 << 30
"""Of a guest, at most; what it does not touch takes none of the machine's."""
SHARED_MEMORY = "/dev/shm"
FOLDER = "tonopah-uml-"
"""How the names of guests' folders begin, among the temporary ones."""
JOB, RESULT, OUTPUT, ERRORS, CONSOLE, INIT = "job", "result", "stdout", "stderr", "console", "init"
"""Files of a guest's folder."""
OPTIONS = ("rootfstype=hostfs", "rootflags=/", "rw", "quiet", "panic=-1", "time-travel=inf-cpu", "con=null", "con0=null,fd:1")
LINES = 5
"""Of the console that an error shows."""


@dataclass(frozen=True)
class Job:
    """What a guest is to do: a function of `tonopah.kernel.guest` and its arguments."""

    function: str
    arguments: tuple[Any, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def cache() -> Path:
    """Return the folder of kernels that have been built."""
    return cache_folder("kernels")


def kernels() -> list[Path]:
    """Return the folders of the kernels that have been built, the newest first."""

    def version(folder: Path) -> list[tuple[bool, int, str]]:
        return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in folder.name.replace("-", ".").split(".")]

    return sorted((file.parent for file in cache().glob(f"[0-9]*/{PROGRAM}")), key=version, reverse=True)


def lacking() -> str | None:
    """Return what keeps a kernel in virtual time from running here and what to do, if anything does."""
    return None if kernels() else f"{MISSING} ({BUILD}: about 10 minutes, once)"


def newest() -> Path:
    """Return the newest kernel that has been built. Raises InputError if there is none."""
    if found := kernels():
        return found[0]
    raise InputError("", MISSING, BUILD)


def algorithms(kernel: Path) -> list[str]:
    """Return the algorithms that a kernel has."""
    return (kernel / ALGORITHMS).read_text(encoding="ascii").split()


def execute(job: Job, kernel: Path) -> Any:
    """Let a guest do a job; return what it gives, or raise what it raises. Raises RunFailedError if it ends before its time."""
    with guest_folder() as folder:
        (folder / JOB).write_bytes(pickle.dumps(job))
        write_init(folder)
        allowed = sorted(os.sched_getaffinity(0))
        processor = allowed[os.getpid() % len(allowed)]
        try:
            isolated(lambda: run(kernel, folder, processor))
        except InputError:
            # Without the right to namespaces two of its processes sleep on if this one is killed.
            run(kernel, folder, processor)
        for file, stream in ((OUTPUT, sys.stdout), (ERRORS, sys.stderr)):
            if (folder / file).exists():
                stream.write((folder / file).read_text(encoding="utf-8", errors="replace"))
                stream.flush()
        return answer(folder)


@contextmanager
def guest_folder() -> Iterator[Path]:
    """Give a guest's folder, which is there as long as the work is; those of processes that were killed are removed first."""
    for left in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        remove_if_left(left)
    with tempfile.TemporaryDirectory(prefix=FOLDER) as name:
        lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # Before anything lies in it: an empty folder is nobody's to remove.
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield Path(name)
        finally:
            os.close(lock)


def remove_if_left(folder: Path) -> None:
    """Remove a guest's folder that no process has locked, if it is ours: locks end with their processes, however these end."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock).st_uid == os.getuid() and any(folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass
    finally:
        os.close(lock)


def write_init(folder: Path) -> None:
    """Write the guest's first program."""
    path = ":".join(filter(None, sys.path))
    command = shlex.join([sys.executable, "-m", "tonopah.kernel.guest", str(folder)])
    file = folder / INIT
    file.write_text(
        f"#!/bin/sh\ncd {shlex.quote(os.getcwd())}\nPYTHONPATH={shlex.quote(path)} exec {command}\n", encoding="utf-8"
    )
    file.chmod(0o700)


def run(kernel: Path, folder: Path, processor: int) -> None:
    """Run a guest to its end, on one processor."""
    memory = min(MEMORY_BYTES, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    command = [str(kernel / PROGRAM), f"mem={memory >> 20}M", *OPTIONS, f"init={folder / INIT}"]
    environment = {**os.environ, "TMPDIR": memory_folder(memory)}
    with (folder / CONSOLE).open("wb") as console:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, env=environment)
    try:
        # Its processes take turns: on one processor they find one another's data, and wake one another sooner.
        os.sched_setaffinity(process.pid, {processor})
        process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise


def memory_folder(size: int) -> str:
    """Return where a guest's memory lies: in the machine's, if there is room."""
    try:
        room = os.statvfs(SHARED_MEMORY)
    except OSError:
        return tempfile.gettempdir()
    return SHARED_MEMORY if room.f_bavail * room.f_frsize >= size // 2 else tempfile.gettempdir()


def answer(folder: Path) -> Any:
    """Return what a guest gave. Raises what it raised, RunFailedError if it gave nothing."""
    try:
        kind, value = pickle.loads((folder / RESULT).read_bytes())
    except OSError:
        last = (folder / CONSOLE).read_text(encoding="utf-8", errors="replace").splitlines()[-LINES:]
        raise RunFailedError(f"the kernel in virtual time ended before its time: {' | '.join(last)}") from None
    if kind == "error":
        raise value
    return value
