"""Opens the database of a store: its tables, their versions, and folders that cannot be written."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path

from tonopah.digest import digest
from tonopah.errors import InputError

APPLICATION = 0x746E7068
"""Signature in the header of the database (`PRAGMA application_id`): the letters tnph."""
VERSION = 3
"""Version of the tables below (`PRAGMA user_version`). Version 1 had no signature, build, series and digest; version 2 had no
digest of series and of what the table `study` holds, and that of a run did not cover all of its columns."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id       TEXT PRIMARY KEY,  -- hash of resolved scenario, seed and engine version
    seed     INTEGER NOT NULL,
    engine   TEXT NOT NULL,     -- version of the engine
    scenario TEXT NOT NULL,     -- resolved scenario, JSON
    summary  TEXT NOT NULL,     -- results of the run, JSON
    wall_s   REAL,              -- seconds from the start of the batch to the end of this run
    finished TEXT NOT NULL,     -- UTC
    build    TEXT NOT NULL DEFAULT '',  -- build of the engine, a hash of its sources
    series   INTEGER NOT NULL DEFAULT 0,  -- 1 if series were stored
    digest   TEXT NOT NULL DEFAULT '',  -- hash of all other columns
    series_digest TEXT NOT NULL DEFAULT ''  -- hash of the file of the series
);
CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT NOT NULL, digest TEXT NOT NULL DEFAULT '');
"""
ADDED = {
    1: (
        "ALTER TABLE runs ADD COLUMN build TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE runs ADD COLUMN series INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE runs ADD COLUMN digest TEXT NOT NULL DEFAULT ''",
    ),
    2: (
        "ALTER TABLE runs ADD COLUMN series_digest TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE study ADD COLUMN digest TEXT NOT NULL DEFAULT ''",
    ),
}
"""What each version lacks of the next one."""
BUSY_S = 30
"""How long a reader or writer waits for another process that writes."""
CLOSING_MS = 1000
"""How long a writer that closes waits for readers, to leave the database without a log."""


class NoStudyError(InputError):
    """A folder in which no study has been begun, or in which one is about to store its first run."""


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Return the database, created or migrated."""
    # commits.py writes from a thread of its own; no other thread uses the connection meanwhile.
    database = sqlite3.connect(path, isolation_level=None, timeout=BUSY_S, check_same_thread=False)
    try:
        version = read_version(database, path)
        if version and (fault := database.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise sqlite3.DatabaseError(f"the database is malformed: {' '.join(fault.split())}")
        database.execute("PRAGMA journal_mode = WAL")
        # Each commit is on disk, even if the machine loses power.
        database.execute("PRAGMA synchronous = FULL")
        if version < VERSION:
            migrate(database, path)
    except BaseException:
        database.close()
        raise
    return database


def migrate(database: sqlite3.Connection, path: Path) -> None:
    """Create the tables, or bring those of an older version up to date."""
    database.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done so since.
        version = read_version(database, path)
        for older in range(version or VERSION, VERSION):
            for statement in ADDED[older]:
                database.execute(statement)
        for statement in SCHEMA.strip().removesuffix(";").split(";\n"):
            database.execute(statement)
        for key, value in database.execute("SELECT key, value FROM study WHERE digest = ''").fetchall():
            database.execute("UPDATE study SET digest = ? WHERE key = ?", (checksum(key, value), key))
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {VERSION}")
        database.execute("COMMIT")
    finally:
        if database.in_transaction:
            database.execute("ROLLBACK")


def close_after_writing(database: sqlite3.Connection) -> None:
    """Close the database and leave one file, without a log beside it, which can be read from a medium that is read-only."""
    with suppress(sqlite3.Error):
        database.execute(f"PRAGMA busy_timeout = {CLOSING_MS}")
        database.execute("PRAGMA journal_mode = DELETE")
    database.close()


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Return the database for reading, also from a folder that cannot be written."""
    place = path.absolute().as_uri()
    writable = os.access(path.parent, os.W_OK, effective_ids=True)
    interrupted = any(is_filled(path.with_name(path.name + kind)) for kind in ("-wal", "-journal"))
    # SQLite cannot create its log there; an immutable file is read without one.
    mode = "?mode=ro" if writable or interrupted else "?mode=ro&immutable=1"
    database = sqlite3.connect(place + mode, uri=True, isolation_level=None, timeout=BUSY_S)
    try:
        version = read_version(database, path)
        if version == VERSION:
            return database
        if not version:
            # A study is about to create the tables, or was killed before: a reader that created them would be in its way.
            raise NoStudyError("", "contains no study", "its runs.sqlite is empty: running the study fills it", str(path.parent))
    except sqlite3.OperationalError as error:
        database.close()
        # A study was killed while it created or closed the database: who may write takes the unfinished change back.
        unfinished = error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK
        if writable and unfinished:
            close_after_writing(open_for_writing(path))
            return open_for_reading(path)
        if writable or not (unfinished or "unable to open" in str(error)):
            raise
        # SQLite cannot do so here, nor create the index of a log.
        return copy_to_memory(path)
    except BaseException:
        database.close()
        raise
    database.close()
    # An older store is migrated first.
    close_after_writing(open_for_writing(path))
    return sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True, isolation_level=None, timeout=BUSY_S)


def copy_to_memory(path: Path) -> sqlite3.Connection:
    """Return a copy of the database with what stands in its log, or without a change that was never finished."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    with tempfile.TemporaryDirectory(prefix="tonopah-") as folder:
        for file in path.parent.glob(f"{path.name}*"):
            if not file.name.endswith("-shm"):
                shutil.copyfile(file, Path(folder) / file.name)
        database = sqlite3.connect(Path(folder) / path.name)
        try:
            database.backup(copy)
        finally:
            database.close()
    read_version(copy, path)
    return copy


def is_filled(file: Path) -> bool:
    """Tell whether a file is there and not empty."""
    try:
        return file.stat().st_size > 0
    except OSError:
        return False


def read_version(database: sqlite3.Connection, path: Path) -> int:
    """Return the version of the tables, 0 for a new database. Raises InputError for a file not written by Tonopah."""
    database.text_factory = decode
    # In one transaction: another process may create the tables between these questions.
    begun = not database.in_transaction
    if begun:
        database.execute("BEGIN")
    try:
        head, version = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        kinds = dict(database.execute("SELECT name, type FROM sqlite_master WHERE type != 'index'").fetchall())
        columns = {row[1] for row in database.execute("PRAGMA table_info(runs)")}
    finally:
        if begun and database.in_transaction:
            database.execute("ROLLBACK")
    tables = {name for name, kind in kinds.items() if kind == "table"}
    database.text_factory = str
    # A view may have rows without end, and a trigger change what is written.
    if odd := sorted(kinds.keys() - tables):
        raise InputError("", f"cannot be used as a store: it has the {kinds[odd[0]]} {odd[0]!r}", "use another folder", str(path))
    if head == APPLICATION and version > VERSION:
        message = f"was written by a newer Tonopah (tables of version {version}, this one knows {VERSION})"
        raise InputError("", message, None, str(path))
    if head == APPLICATION and version > 0 and tables >= {"runs", "study"}:
        return version
    if not tables and head == 0:
        return 0
    # Version 1 had no signature.
    first = {"id", "seed", "engine", "scenario", "summary", "wall_s", "finished"}
    if head == 0 and tables == {"runs", "study"} and columns == first:
        return 1
    raise InputError("", "cannot be used as a store: a database of another program", "use another folder", str(path))


def decode(text: bytes) -> str:
    """Return a stored text, also a damaged one that is not UTF-8: it then differs from every text that was stored."""
    return text.decode("utf-8", "surrogateescape")


def checksum(*columns: object) -> str:
    """Return the hash that detects a damaged row. Columns count with their types and lengths."""
    texts = [column if isinstance(column, str) else repr(column) for column in columns]
    kinds = "".join(type(column).__name__[0] for column in columns)
    return digest(kinds, *(field for text in texts for field in (str(len(text)), text)))


def explain_error(error: Exception) -> str:
    """Return an error of the disk or of SQLite with what the user can do."""
    text = " ".join(str(error).split())
    if isinstance(error, UnicodeError):
        text = "the database is malformed: a text is not UTF-8"
    if "malformed" in text or "not a database" in text or "corrupt" in text:
        rescue = "move runs.sqlite away, or save the readable part with `sqlite3 runs.sqlite .recover`"
        return f"{text}; nothing was changed: {rescue}"
    if "readonly" in text or "read-only" in text:
        return f"{text}; the folder cannot be written"
    return text
