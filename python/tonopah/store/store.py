"""One folder per study: `runs.sqlite` with a row for each finished run, `series/ID.parquet` for recorded series.

Every run is committed, and on disk, as soon as it has finished, series first and by rename, so that a study can be killed at any
time and continued. Results belong to one build of the engine: those of another build count as missing.
docs/reliability.md lists the guarantees.
"""

import datetime
import json
import os
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah._core import engine_build, engine_version
from tonopah.digest import digest
from tonopah.errors import InputError, RunFailedError
from tonopah.simulation import OWNERS, series_frame
from tonopah.spec import measures
from tonopah.spec.plan import Run
from tonopah.store.commits import Row
from tonopah.store.lock import Lock

if TYPE_CHECKING:
    import pandas as pd

APPLICATION = 0x746E7068
"""Signature in the header of the database (`PRAGMA application_id`): the letters tnph."""
VERSION = 2
"""Version of the tables below (`PRAGMA user_version`). Version 1 had no signature, build, series and digest."""

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
    digest   TEXT NOT NULL DEFAULT ''   -- hash of id, seed, build, scenario and summary
);
CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
ADDED = (
    "ALTER TABLE runs ADD COLUMN build TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE runs ADD COLUMN series INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN digest TEXT NOT NULL DEFAULT ''",
)
COLUMNS = "id, seed, engine, scenario, summary, wall_s, finished, build, series, digest"


class Store:
    """The results of one study in `folder`. Use it as a context manager, or close it.

    With `create` it can be written, by one process at a time; without, it is only read, also while it is written.
    """

    def __init__(self, folder: str | Path, create: bool = True, wait: bool = False):
        self.folder = Path(folder)
        self.path = self.folder / "runs.sqlite"
        self.lock: Lock | None = None
        if not create and not self.path.is_file():
            raise InputError("", "contains no study (no runs.sqlite)", None, str(folder))
        try:
            if create:
                (self.folder / "series").mkdir(parents=True, exist_ok=True)
                self.lock = Lock(self.folder, wait)
            self.database = self.open_for_writing() if create else self.open_for_reading()
        except (OSError, sqlite3.Error) as error:
            self.unlock()
            raise InputError("", f"cannot be used as a store: {explain_error(error)}", None, str(folder)) from None
        except BaseException:
            self.unlock()
            raise

    def open_for_writing(self) -> sqlite3.Connection:
        """Return the database, created or migrated; files that a killed process left incomplete are removed."""
        # commits.py writes from a thread of its own; no other thread uses the connection meanwhile.
        database = sqlite3.connect(self.path, isolation_level=None, timeout=30, check_same_thread=False)
        try:
            version = self.read_version(database)
            if version and (fault := database.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise sqlite3.DatabaseError(f"the database is malformed: {' '.join(fault.split())}")
            database.execute("PRAGMA journal_mode = WAL")
            # Each commit is on disk, even if the machine loses power.
            database.execute("PRAGMA synchronous = FULL")
            if version < VERSION:
                added = "; ".join(ADDED) + ";" if version == 1 else ""
                head = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
                database.executescript(f"BEGIN IMMEDIATE; {added} {SCHEMA} {head} COMMIT;")
        except BaseException:
            database.close()
            raise
        for incomplete in (self.folder / "series").glob("*.tmp"):
            incomplete.unlink(missing_ok=True)
        return database

    def open_for_reading(self) -> sqlite3.Connection:
        """Return the database for reading, also from a folder that cannot be written."""
        place = self.path.absolute().as_uri()
        log = self.path.with_name(self.path.name + "-wal")
        # Without write access SQLite cannot create its log; an immutable file is read without one.
        mode = "?mode=ro" if os.access(self.folder, os.W_OK, effective_ids=True) or log.exists() else "?mode=ro&immutable=1"
        database = sqlite3.connect(place + mode, uri=True, isolation_level=None, timeout=30)
        try:
            if self.read_version(database) == VERSION:
                return database
        except BaseException:
            database.close()
            raise
        database.close()
        # An older store is migrated first.
        self.open_for_writing().close()
        return sqlite3.connect(place + mode, uri=True, isolation_level=None, timeout=30)

    def read_version(self, database: sqlite3.Connection) -> int:
        """Return the version of the tables, 0 for a new database. Raises InputError for a file not written by Tonopah."""
        head, version = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if head == APPLICATION and version > VERSION:
            message = f"was written by a newer Tonopah (tables of version {version}, this one knows {VERSION})"
            raise InputError("", message, None, str(self.path))
        if head == APPLICATION:
            return version
        if not tables and head == 0:
            return 0
        # Version 1 had no signature.
        if head == 0 and tables == {"runs", "study"}:
            columns = {row[1] for row in database.execute("PRAGMA table_info(runs)")}
            if columns == {"id", "seed", "engine", "scenario", "summary", "wall_s", "finished"}:
                return 1
        raise InputError("", "cannot be used as a store: a database of another program", "use another folder", str(self.path))

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self.database.close()
        self.unlock()

    def unlock(self) -> None:
        """Release the lock of the folder."""
        if self.lock:
            self.lock.release()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a statement. Raises RunFailedError when the database is damaged or the disk refuses."""
        try:
            return self.database.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise RunFailedError(f"{self.path}: {explain_error(error)}") from error

    def ids(self, verify: bool = False) -> set[str]:
        """Return the ids of all finished runs of this build of the engine.

        A run whose series are missing does not count, nor, with `verify`, one whose row is damaged: it is repeated.
        """
        build = (engine_build(),)
        rows = self.execute("SELECT id, series FROM runs WHERE build = ?", build)
        found = {run_id for run_id, recorded in rows if not recorded or self.series_path(run_id).is_file()}
        if verify:
            every = self.execute("SELECT id, seed, build, scenario, summary, digest FROM runs WHERE build = ?", build)
            found -= {row[0] for row in every if row[5] != checksum(*row[:5])}
        return found

    def other_builds(self) -> dict[str, int]:
        """Return the number of runs of other builds of the engine, by version and build; they are not used."""
        rows = self.execute("SELECT engine, build, COUNT(*) FROM runs WHERE build != ? GROUP BY 1, 2", (engine_build(),))
        return {f"{engine} ({build or 'build unknown'})": count for engine, build, count in rows}

    def put(self, run: Run, summary: str, series: Mapping[str, Mapping[str, Any]] | None, wall_s: float) -> None:
        """Store a finished run. Raises RunFailedError when the disk refuses."""
        self.write([self.prepare_row(run, summary, series, wall_s)])

    def prepare_row(self, run: Run, summary: str, series: Mapping[str, Mapping[str, Any]] | None, wall_s: float) -> Row:
        """Store the series of a finished run and return its row for `write`. Raises RunFailedError when the disk refuses."""
        derived = measures.from_series(run.derived, series) if run.derived else None
        text, build = stored_summary(summary, derived), engine_build()
        finished = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        recorded = bool(run.representative and series)
        mark = checksum(run.id, run.seed, build, run.resolved, text)
        if recorded:
            try:
                self.put_series(run.id, series)
            except OSError as error:
                raise self.storage_error(error) from error
        return run.id, run.seed, engine_version(), run.resolved, text, wall_s, finished, build, recorded, mark

    def write(self, rows: Sequence[Row]) -> None:
        """Store rows in one commit, all or none, in place of those with the same ids. Raises RunFailedError when it fails."""
        try:
            self.database.execute("BEGIN IMMEDIATE")
            try:
                for row in rows:
                    self.insert(row)
                self.database.execute("COMMIT")
            finally:
                if self.database.in_transaction:
                    self.database.execute("ROLLBACK")
        except (OSError, sqlite3.Error) as error:
            raise self.storage_error(error) from error

    def storage_error(self, error: Exception) -> RunFailedError:
        """Return the error of a result that cannot be stored."""
        hint = "stored results are kept; run the same command to continue once this is fixed"
        return RunFailedError(f"{self.folder}: a result cannot be stored: {explain_error(error)} ({hint})")

    def insert(self, row: Row) -> None:
        """Store a row, in place of the one with the same id."""
        self.database.execute(f"INSERT OR REPLACE INTO runs ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def put_series(self, run_id: str, series: Mapping[str, Mapping[str, Any]]) -> None:
        """Store all series of a run in one Parquet file: columns series, t_s, flow, link, value."""
        import pandas as pd

        frames = [series_frame(name, columns).assign(series=name) for name, columns in sorted(series.items())]
        temporary = self.series_path(run_id).with_suffix(f".{os.getpid()}.tmp")
        table = pd.concat(frames, ignore_index=True).reindex(columns=["series", "t_s", "flow", "link", "value"])
        table.astype({"flow": "Int64", "link": "Int64"}).to_parquet(temporary, index=False)
        commit_file(temporary, self.series_path(run_id))

    def series_path(self, run_id: str) -> Path:
        """Return the file of the series of a run."""
        return self.folder / "series" / f"{run_id}.parquet"

    def series(self, run_id: str, name: str) -> "pd.DataFrame":
        """Return one series of a run: t_s, flow (or link, or node), value."""
        import pandas as pd

        try:
            table = pd.read_parquet(self.series_path(run_id))
        except (OSError, ValueError) as error:
            message = f"the series of run {run_id} cannot be read: {error}; delete this file and run the study again"
            raise RunFailedError(f"{self.series_path(run_id)}: {message}") from error
        owner = OWNERS.get(name, "flow")
        return table[table["series"] == name][["t_s", owner, "value"]].reset_index(drop=True)

    def summaries(self, wanted: Mapping[str, Run]) -> list[tuple[Run, dict[str, Any]]]:
        """Return run and summary of every finished run in `wanted`, in the order of `wanted`.

        Raises RunFailedError when one of them is damaged.
        """
        rows = {}
        for run_id, seed, build, scenario, summary, mark in self.execute(
            "SELECT id, seed, build, scenario, summary, digest FROM runs WHERE build = ?", (engine_build(),)
        ):
            if run_id not in wanted:
                continue
            if mark != checksum(run_id, seed, build, scenario, summary):
                message = f"the result of run {run_id} is damaged; run the study again, which repeats only this run"
                raise RunFailedError(f"{self.path}: {message}")
            rows[run_id] = summary
        return [(run, json.loads(rows[run_id])) for run_id, run in wanted.items() if run_id in rows]

    def wall_times(self) -> list[float]:
        """Return, in storage order, the seconds from the start of the batch to the end of each run."""
        return [row[0] or 0.0 for row in self.database.execute("SELECT wall_s FROM runs ORDER BY rowid")]

    def last_finished(self) -> str:
        """Return when the last run was finished: UTC, ISO 8601; empty if there is none."""
        return self.database.execute("SELECT max(finished) FROM runs").fetchone()[0] or ""

    def merge(self, other: "Store") -> int:
        """Copy all runs of another store into this one and return the number of new ones.

        Raises RunFailedError when the two stores have different results of one run of the same engine.
        """
        here = {row[0]: row[1:] for row in self.execute("SELECT id, build, digest FROM runs")}
        new = 0
        for row in other.execute(f"SELECT {COLUMNS} FROM runs ORDER BY id"):
            run_id, build, recorded, mark = row[0], row[7], row[8], row[9]
            if mark != checksum(run_id, row[1], build, row[3], row[4]):
                raise RunFailedError(f"{other.path}: the result of run {run_id} is damaged; run that shard again")
            if run_id in here:
                if here[run_id] != (build, mark):
                    raise RunFailedError(f"{other.path}: run {run_id} has a different result than in {self.path}")
                continue
            try:
                if recorded:
                    temporary = self.series_path(run_id).with_suffix(f".{os.getpid()}.tmp")
                    shutil.copyfile(other.series_path(run_id), temporary)
                    commit_file(temporary, self.series_path(run_id))
                self.insert(row)
            except (OSError, sqlite3.Error) as error:
                raise RunFailedError(f"{self.folder}: a result cannot be stored: {explain_error(error)}") from error
            new += 1
        return new

    def remember(self, key: str, value: Any) -> None:
        """Store a fact about the study (its file, its options) with its results."""
        self.execute("INSERT OR REPLACE INTO study VALUES (?, ?)", (key, json.dumps(value)))

    def recall(self, key: str) -> Any:
        """Return a fact about the study, or None."""
        rows = self.execute("SELECT value FROM study WHERE key = ?", (key,))
        return json.loads(rows[0][0]) if rows else None


def stored_summary(summary: str, derived: Mapping[str, float | None] | None) -> str:
    """Return a summary without its last key, the resolved scenario, which has a column of its own.

    It is cut as text: parsing and writing JSON took a third of the time to store a small run.
    """
    # No text in the summary can contain this, since quotation marks inside a text are escaped.
    text, found, _ = summary.partition(',"resolved":')
    text = text if found else text.removesuffix("}")
    return text + ("" if derived is None else f',"derived":{json.dumps(derived)}') + "}"


def checksum(run_id: str, seed: int, build: str, scenario: str, summary: str) -> str:
    """Return the hash that detects a damaged result."""
    return digest(run_id, str(seed), build, scenario, summary)


def commit_file(temporary: Path, target: Path) -> None:
    """Rename a finished file to its final name, after its content is on disk."""
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(target)


def explain_error(error: Exception) -> str:
    """Return an error of the disk or of SQLite with what the user can do."""
    text = str(error)
    if "malformed" in text or "not a database" in text or "corrupt" in text:
        rescue = "move runs.sqlite away, or save the readable part with `sqlite3 runs.sqlite .recover`"
        return f"{text}; nothing was changed: {rescue}"
    if "readonly" in text or "read-only" in text:
        return f"{text}; the folder cannot be written"
    return text
