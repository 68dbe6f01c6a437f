"""Reads the files that a user names: regular ones only, up to a limit, and a message for everything else.

A pipe would be waited for, and a device like /dev/zero never ends: their size is 0, so that only their kind tells.
"""

import errno
import itertools
import os
import stat
from pathlib import Path

from tonopah.errors import InputError, near_names

MAX_NEIGHBOURS = 1000
"""Files of a folder that are looked at for a name like the one that is missing."""

MAX_TIME_S = 1e9
"""Longest time that a file may name: what follows is beyond every run, and would not fit the engine's nanoseconds."""

KINDS = (
    (stat.S_ISDIR, "is a folder"), (stat.S_ISFIFO, "is a pipe"), (stat.S_ISSOCK, "is a socket"), (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)  # fmt: skip
"""What is not a regular file, in words."""


def read_file(path: str | Path, what: str, most_bytes: int) -> bytes:
    """Return the content of a regular file, which is `what`.

    Raises InputError, whose source is the file, if there is none, it is no regular file, or it is larger than `most_bytes`.
    """
    source = str(path)
    check_name(source)
    try:
        # O_NONBLOCK: opening a pipe without a writer would wait for one.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        hint = where_looked(Path(path)) if error.errno == errno.ENOENT else None
        raise InputError("", f"cannot be read: {(error.strerror or str(error)).lower()}", hint, source) from None
    try:
        mode = os.fstat(number).st_mode
        if not stat.S_ISREG(mode):
            kind = next((words for test, words in KINDS if test(mode)), "is not a regular file")
            raise InputError("", f"{kind}, not {what}", None, source)
        with os.fdopen(number, "rb", closefd=False) as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise InputError("", f"cannot be read: {(error.strerror or str(error)).lower()}", None, source) from None
    finally:
        os.close(number)
    if len(data) > most_bytes:
        raise InputError("", f"is too large for {what}", f"at most {most_bytes:,} bytes", source)
    return data


def instant(at_s: float, where: str, source: str | Path) -> str:
    """Return a time of a file as the engine takes it. Raises InputError for one that no run reaches."""
    if not 0 <= at_s <= MAX_TIME_S:
        raise InputError(where, f"the time {at_s:g} is wrong", f"from 0 to {MAX_TIME_S:g} s", str(source))
    return f"{round(at_s * 1e9)}ns"


def check_name(name: str) -> None:
    """Refuse the name of a file that no file can have, or that cannot be written as text."""
    if "\0" in name:
        raise InputError("", f"{name!r} is not the name of a file: it holds a null byte")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError("", f"{name!r} is not the name of a file that can be used", "a name in UTF-8") from None


def where_looked(path: Path) -> str:
    """Return a hint that names the folder in which a missing file was looked for, and files there with names like its own."""
    return "; ".join(filter(None, [f"looked in {path.absolute().parent}", near_files(path)]))


def near_files(path: Path) -> str | None:
    """Return a hint that names the files beside a missing one whose names are like its own."""
    try:
        with os.scandir(path.parent) as entries:
            found = [Path(entry.name) for entry in itertools.islice(entries, MAX_NEIGHBOURS)]
    except OSError:
        return None
    near = near_names(path.stem, sorted(other.stem for other in found if other.suffix == path.suffix), 2)
    return f"did you mean {' or '.join(stem + path.suffix for stem in near)}?" if near else None
