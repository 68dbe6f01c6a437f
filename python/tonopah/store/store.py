"""One folder per study: `runs.sqlite` with a row for each finished run, `series/ID.parquet` for recorded series.

Every run is committed, and on disk, as soon as it has finished, series first and by rename, so that a study can be killed at any
time and continued. Results belong to one build of the engine: those of another build count as missing. A digest covers every
column of a row and every byte of a file of series; what differs from its digest is not used and counts as missing.
docs/reliability.md lists the guarantees.
"""

import datetime
import io
import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah._core import engine_build, engine_version
from tonopah.digest import digest
from tonopah.errors import InputError, RunFailedError
from tonopah.runs.simulation import INTERNAL, OWNERS, series_frame
from tonopah.spec import measures
from tonopah.spec.plan import Run
from tonopah.store.commits import Row
from tonopah.store.database import (
    NoStudyError,
    checksum,
    close_after_writing,
    decode,
    explain_error,
    open_for_reading,
    open_for_writing,
)
from tonopah.store.lock import Lock
from tonopah.store.watch import Watch

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = "id, seed, engine, scenario, summary, wall_s, finished, build, series, series_digest, digest"
"""Columns of a run; the last one is the digest of the others."""
RUN_ID = re.compile("[0-9a-f]{32}", re.ASCII)
RESULT = (1, 3, 4, 7)
"""Those that are equal when a run is repeated: seed, scenario, summary and build."""
AT_ONCE = 500
"""Rows that are looked up by one statement; SQLite takes 999 values everywhere."""


class Store:
    """The results of one study in `folder`. Use it as a context manager, or close it.

    With `create` it can be written, by one process at a time; without, it is only read, also while it is written.
    """

    def __init__(self, folder: str | Path, create: bool = True, wait: bool = False):
        self.folder = Path(folder)
        self.path = self.folder / "runs.sqlite"
        self.lock: Lock | None = None
        self.watch: Watch | None = None
        if not create and not self.path.is_file():
            raise NoStudyError("", "contains no study", "it has no runs.sqlite: running the study makes it", str(folder))
        try:
            if create:
                (self.folder / "series").mkdir(parents=True, exist_ok=True)
                self.lock = Lock(self.folder, wait)
                self.database = open_for_writing(self.path)
                self.watch = Watch(self.path)
                # What a killed process left incomplete.
                for incomplete in (self.folder / "series").glob("*.tmp"):
                    incomplete.unlink(missing_ok=True)
            else:
                self.database = open_for_reading(self.path)
        except (OSError, sqlite3.Error, UnicodeError) as error:
            self.unlock()
            raise InputError("", f"cannot be used as a store: {explain_error(error)}", None, str(folder)) from None
        except BaseException:
            self.unlock()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        if self.lock:
            close_after_writing(self.database)
        else:
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
        except (sqlite3.Error, UnicodeError) as error:
            if "decode" in str(error) and self.database.text_factory is str:
                # A damaged text is not that of its digest: its run is done again.
                self.database.text_factory = decode
                return self.execute(sql, values)
            raise RunFailedError(f"{self.path}: {explain_error(error)}") from error

    def ids(self) -> set[str]:
        """Return the ids of all finished runs of this build of the engine. A run whose series are missing does not count."""
        rows = self.execute("SELECT id, series FROM runs WHERE build = ?", (engine_build(),))
        known = ((run_id, recorded) for run_id, recorded in rows if RUN_ID.fullmatch(str(run_id)))
        return {run_id for run_id, recorded in known if not recorded or self.series_path(run_id).is_file()}

    def rows_of(self, wanted: Collection[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of finished runs of this build, of those wanted by id; other studies may have runs in the same store."""
        ids = list(wanted)
        for start in range(0, len(ids), AT_ONCE):
            some = ids[start : start + AT_ONCE]
            places = ", ".join("?" * len(some))
            yield from self.execute(f"SELECT {COLUMNS} FROM runs WHERE build = ? AND id IN ({places})", (engine_build(), *some))

    def damaged(self, wanted: Collection[str]) -> set[str]:
        """Return the ids of finished runs, of those wanted, whose row or series differ from what was stored; to be repeated."""
        rows = self.rows_of(wanted)
        return {row[0] for row in rows if is_damaged(row) or (row[8] and self.read_series(row[0], row[9]) is None)}

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
        text = stored_summary(summary, derived)
        finished = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        series_digest = ""
        if run.representative and series:
            try:
                series_digest = self.put_series(run.id, series)
            except OSError as error:
                raise self.storage_error(error) from error
        recorded = int(bool(series_digest))
        row = (run.id, run.seed, engine_version(), run.resolved, text, wall_s, finished, engine_build(), recorded, series_digest)
        return *row, checksum(*row)

    def write(self, rows: Sequence[Row]) -> None:
        """Store rows in one commit, all or none, in place of those with the same ids. Raises RunFailedError when it fails."""
        try:
            self.watched().check()
            self.database.execute("BEGIN IMMEDIATE")
            try:
                for row in rows:
                    self.insert(row)
                self.database.execute("COMMIT")
            finally:
                if self.database.in_transaction:
                    self.database.execute("ROLLBACK")
            # What was written to a file that has gone meanwhile is lost.
            self.watched().check()
        except (OSError, sqlite3.Error) as error:
            raise self.storage_error(error) from error

    def watched(self) -> Watch:
        """Return what knows the files that are written."""
        assert self.watch, "only a store that was opened for writing is written"
        return self.watch

    def storage_error(self, error: Exception) -> RunFailedError:
        """Return the error of a result that cannot be stored."""
        try:
            self.watched().check()
        except RunFailedError as gone:
            return gone
        hint = "stored results are kept; run the same command to continue once this is fixed"
        return RunFailedError(f"{self.folder}: a result cannot be stored: {explain_error(error)} ({hint})")

    def insert(self, row: Row) -> None:
        """Store a row, in place of the one with the same id."""
        places = ", ".join("?" * len(row))
        self.database.execute(f"INSERT OR REPLACE INTO runs ({COLUMNS}) VALUES ({places})", row)

    def put_series(self, run_id: str, series: Mapping[str, Mapping[str, Any]]) -> str:
        """Store all series of a run in one Parquet file (columns series, t_s, value and those of owners); return its digest."""
        import pandas as pd

        frames = [series_frame(name, columns).assign(series=name) for name, columns in sorted(series.items())]
        owners = ["flow", "link", *sorted({OWNERS.get(name, "flow") for name in series} - {"flow", "link"})]
        words = ["word"] if any("word" in frame for frame in frames) else []
        table = pd.concat(frames, ignore_index=True).reindex(columns=["series", "t_s", *owners, "value", *words])
        file = io.BytesIO()
        table.astype(dict.fromkeys(owners, "Int64")).to_parquet(file, index=False)
        self.commit_series(run_id, file.getvalue())
        return digest(file.getvalue())

    def commit_series(self, run_id: str, content: bytes) -> None:
        """Write the file of the series of a run under another name, and rename it after its content is on disk."""
        temporary = self.series_path(run_id).with_suffix(f".{os.getpid()}.tmp")
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.series_path(run_id))

    def read_series(self, run_id: str, series_digest: str) -> bytes | None:
        """Return the content of the file of the series of a run; None if it is not the one that was stored."""
        try:
            content = self.series_path(run_id).read_bytes()
        except (OSError, ValueError):
            return None
        return content if digest(content) == series_digest else None

    def series_path(self, run_id: str) -> Path:
        """Return the file of the series of a run."""
        return self.folder / "series" / f"{run_id}.parquet"

    def series(self, run_id: str, name: str) -> "pd.DataFrame":
        """Return one series of a run: t_s, flow (or link, node or workload), value."""
        import pandas as pd

        found = self.execute("SELECT series_digest FROM runs WHERE id = ? AND build = ?", (run_id, engine_build()))
        content = self.read_series(run_id, found[0][0]) if found else None
        if content is None:
            message = f"the series of run {run_id} are missing or damaged; run the study again, which repeats only this run"
            raise RunFailedError(f"{self.series_path(run_id)}: {message}")
        table = pd.read_parquet(io.BytesIO(content))
        owner = OWNERS.get(name, "flow")
        word = ["word"] if "word" in table and name == f"{INTERNAL}state" else []
        return table[table["series"] == name][["t_s", owner, "value", *word]].reset_index(drop=True)

    def summaries(self, wanted: Mapping[str, Run]) -> list[tuple[Run, dict[str, Any]]]:
        """Return run and summary of every finished run in `wanted`, in the order of `wanted`.

        Raises RunFailedError when one of them is damaged.
        """
        rows = {}
        for row in self.rows_of(wanted):
            try:
                # The digest is right where somebody wrote both.
                rows[row[0]] = None if is_damaged(row) else json.loads(row[4])
            except (ValueError, RecursionError):
                rows[row[0]] = None
            if not isinstance(rows[row[0]], dict):
                message = f"the result of run {row[0]} is damaged; run the study again, which repeats only this run"
                raise RunFailedError(f"{self.path}: {message}")
        return [(run, rows[run_id]) for run_id, run in wanted.items() if run_id in rows]

    def wall_times(self) -> list[float]:
        """Return, in storage order, the seconds from the start of the batch to the end of each run."""
        rows = self.execute("SELECT wall_s FROM runs ORDER BY rowid")
        return [row[0] if isinstance(row[0], int | float) else 0.0 for row in rows]

    def last_finished(self) -> str:
        """Return when the last run was finished: UTC, ISO 8601; empty if there is none."""
        return self.database.execute("SELECT max(finished) FROM runs").fetchone()[0] or ""

    def merge(self, other: "Store", wanted: Collection[str] | None = None) -> int:
        """Copy all runs of another store, or those wanted, into this one and return the number of new ones.

        Raises RunFailedError when the two stores have different results of one run of the same engine.
        """
        here = {row[0]: row for row in self.execute(f"SELECT {COLUMNS} FROM runs")}
        new = 0
        for row in other.execute(f"SELECT {COLUMNS} FROM runs ORDER BY id"):
            run_id, recorded = row[0], row[8]
            if wanted is not None and run_id not in wanted:
                continue
            series = other.read_series(run_id, row[9]) if recorded else None
            if is_damaged(row) or (recorded and series is None):
                raise RunFailedError(f"{other.path}: the result of run {run_id} is damaged; run that shard again")
            known = here.get(run_id)
            if known and not is_damaged(known):
                if [known[column] for column in RESULT] != [row[column] for column in RESULT]:
                    raise RunFailedError(f"{other.path}: run {run_id} has a different result than in {self.path}")
                continue
            try:
                if series is not None:
                    self.commit_series(run_id, series)
            except OSError as error:
                raise self.storage_error(error) from error
            self.write([row])
            new += 1
        return new

    def remember(self, key: str, value: Any) -> None:
        """Store a fact about the study (its file, its options) with its results."""
        text = json.dumps(value)
        self.execute("INSERT OR REPLACE INTO study (key, value, digest) VALUES (?, ?, ?)", (key, text, checksum(key, text)))

    def recall(self, key: str) -> Any:
        """Return a fact about the study, or None. Raises RunFailedError when it is not what was stored."""
        rows = self.execute("SELECT key, value, digest FROM study WHERE key = ?", (key,))
        if not rows:
            return None
        try:
            if rows[0][2] == checksum(*rows[0][:2]) and isinstance(known := json.loads(rows[0][1]), dict | None):
                return known
        except (ValueError, TypeError, RecursionError):
            pass
        message = f"what is stored about the study is damaged; run it again with --out {self.folder}, which keeps its results"
        raise RunFailedError(f"{self.path}: {message}")


def stored_summary(summary: str, derived: Mapping[str, float | None] | None) -> str:
    """Return a summary without its last key, the resolved scenario, which has a column of its own.

    It is cut as text: parsing and writing JSON took a third of the time to store a small run.
    """
    # No text in the summary can contain this, since quotation marks inside a text are escaped.
    text, found, _ = summary.partition(',"resolved":')
    text = text if found else text.removesuffix("}")
    return text + ("" if derived is None else f',"derived":{json.dumps(derived)}') + "}"


def is_damaged(row: Sequence[Any]) -> bool:
    """Tell whether a row of a run is not what was stored; its id is the name of a file."""
    return row[-1] != checksum(*row[:-1]) or not RUN_ID.fullmatch(str(row[0]))
