"""One folder per study: `runs.sqlite` with a row for each finished run, `series/ID.parquet` for recorded series.

Every run is committed when it finishes, series first and by rename, so that a study can be killed at any moment and
goes on where it was.
"""

import datetime
import json
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah import measure
from tonopah.errors import InputError, RunFailedError
from tonopah.plan import Run
from tonopah.result import OWNERS, series_frame

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id       TEXT PRIMARY KEY,  -- hash of resolved scenario, seed and engine version
    seed     INTEGER NOT NULL,
    engine   TEXT NOT NULL,     -- version of the engine
    scenario TEXT NOT NULL,     -- resolved scenario, JSON
    summary  TEXT NOT NULL,     -- what the run measured, JSON
    wall_s   REAL,              -- seconds from the start of the batch to the end of this run
    finished TEXT NOT NULL      -- UTC
);
CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Store:
    """The results of one study in `folder`. Use it as a context manager, or close it."""

    def __init__(self, folder: str | Path, create: bool = True):
        self.folder = Path(folder)
        database = self.folder / "runs.sqlite"
        if not create and not database.is_file():
            raise InputError("", "holds no study (there is no runs.sqlite in it)", None, str(folder))
        try:
            (self.folder / "series").mkdir(parents=True, exist_ok=True)
            self.database = sqlite3.connect(database, isolation_level=None, timeout=30)
            self.database.execute("PRAGMA journal_mode = WAL")
            self.database.execute("PRAGMA synchronous = NORMAL")
            self.database.executescript(SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise InputError("", f"cannot be used as a store: {error}", None, str(folder)) from None

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def ids(self) -> set[str]:
        """Return the ids of all finished runs."""
        return {row[0] for row in self.database.execute("SELECT id FROM runs")}

    def put(self, run: Run, summary: str, series: Mapping[str, Mapping[str, Any]] | None, wall_s: float) -> None:
        """Store a finished run. Raises RunFailedError when the disk refuses."""
        measured = json.loads(summary)
        # The resolved scenario has a column of its own.
        measured.pop("resolved", None)
        if run.measures:
            measured["measures"] = measure.from_series(run.measures, series)
        finished = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        row = (run.id, run.seed, measured.get("engine", ""), run.resolved, json.dumps(measured), wall_s, finished)
        try:
            if run.typical and series:
                self.put_series(run.id, series)
            self.database.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        except (OSError, sqlite3.Error) as error:
            raise RunFailedError(f"{self.folder}: a result cannot be stored: {error}") from error

    def put_series(self, run_id: str, series: Mapping[str, Mapping[str, Any]]) -> None:
        """Store all series of a run in one Parquet file: columns series, t_s, flow, link, value."""
        import pandas as pd

        frames = [series_frame(name, columns).assign(series=name) for name, columns in sorted(series.items())]
        target = self.series_path(run_id)
        temporary = target.with_suffix(f".{os.getpid()}.tmp")
        table = pd.concat(frames, ignore_index=True).reindex(columns=["series", "t_s", "flow", "link", "value"])
        table.astype({"flow": "Int64", "link": "Int64"}).to_parquet(temporary, index=False)
        temporary.replace(target)

    def series_path(self, run_id: str) -> Path:
        """Return where the series of a run are."""
        return self.folder / "series" / f"{run_id}.parquet"

    def series(self, run_id: str, name: str) -> "pd.DataFrame":
        """Return one series of a run: t_s, flow (or link, or node), value."""
        import pandas as pd

        table = pd.read_parquet(self.series_path(run_id))
        owner = OWNERS.get(name, "flow")
        return table[table["series"] == name][["t_s", owner, "value"]].reset_index(drop=True)

    def summaries(self, wanted: Mapping[str, Run]) -> list[tuple[Run, dict[str, Any]]]:
        """Return run and summary of every finished run in `wanted`, in the order of `wanted`."""
        rows = {row[0]: row[1] for row in self.database.execute("SELECT id, summary FROM runs") if row[0] in wanted}
        return [(run, json.loads(rows[run_id])) for run_id, run in wanted.items() if run_id in rows]

    def wall_times(self) -> list[float]:
        """Return for every run, in the order of storing, the seconds from the start of its batch to its end."""
        return [row[0] or 0.0 for row in self.database.execute("SELECT wall_s FROM runs ORDER BY rowid")]

    def remember(self, key: str, value: Any) -> None:
        """Keep a fact about the study (its file, its options) with its results."""
        self.database.execute("INSERT OR REPLACE INTO study VALUES (?, ?)", (key, json.dumps(value)))

    def recall(self, key: str) -> Any:
        """Return a fact about the study, or None."""
        row = self.database.execute("SELECT value FROM study WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None
