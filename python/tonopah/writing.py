"""Writing files so that a failure or an interruption leaves neither a part of a file nor a temporary one; the user's cache."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Yield a file to write into, which takes the place of `target` at the end; what is no regular file is written itself.

    An OSError, such as that of a full disk, which names no file, names the target.
    """
    regular = not target.exists() or target.is_file()
    temporary = target.with_name(f".{target.stem[:100]}.{os.getpid()}.tmp") if regular else target
    try:
        try:
            yield temporary
            if regular:
                temporary.replace(target)
        finally:
            if regular:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        if error.filename not in (None, str(temporary)):
            raise
        raise OSError(error.errno or 0, os.strerror(error.errno) if error.errno else str(error), str(target)) from error


def replace_file(target: Path, content: str | bytes) -> None:
    """Write a file as a whole or not at all. Raises OSError."""
    with written_whole(target) as file:
        file.write_bytes(content.encode() if isinstance(content, str) else content)


def cache_folder(name: str) -> Path:
    """Return the folder of what is built on this machine, such as "kernels", in the user's cache (XDG_CACHE_HOME)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tonopah", name)
