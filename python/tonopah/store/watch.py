"""Notices that the files of a store have gone while it is written.

A file that is deleted or moved stays open, so that SQLite goes on writing what nobody finds any more.
"""

from pathlib import Path

from tonopah.errors import RunFailedError


class Watch:
    """Knows a database, and its log from the first time that it is seen, by device and inode."""

    def __init__(self, database: Path):
        self.folder = database.parent
        self.files: dict[Path, tuple[int, int] | None] = {database: None, database.with_name(database.name + "-wal"): None}
        self.check()

    def check(self) -> None:
        """Raise RunFailedError, which says what is true, when a file is not where it was."""
        for path, known in self.files.items():
            found = identity(path)
            if known is None:
                self.files[path] = found
            elif found != known:
                raise RunFailedError(self.explain(path))

    def explain(self, path: Path) -> str:
        """Return what has happened, and what to do."""
        if self.folder.is_dir():
            return (
                f"{self.folder}: {path.name} was deleted, moved or replaced while the study was running; it took stored results "
                "with it, and nothing more is stored (run the same command again, which runs what is missing here)"
            )
        return (
            f"{self.folder}: the folder was deleted or moved while the study was running; it took all stored results with it, "
            "and nothing more is stored (if it was moved, continue with its new place as --out; else run the same command again)"
        )


def identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
