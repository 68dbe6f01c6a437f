"""Files of a run of the bench: the run is repeated, within the limits of every run, and written as the command line writes it."""

import io
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tonopah.cc.permission import permitting
from tonopah.errors import InputError, LimitError
from tonopah.export import pcapng
from tonopah.export.tables import write_series, write_tables
from tonopah.lab.security import code_of
from tonopah.lab.session import Session, checked_document
from tonopah.study.run import Result

FORMS = ("csv", "parquet", "svg", "pcapng")
MOST_CAPTURED = 1_000_000
"""Packets of a run whose captures are made."""


class SeriesColumns:
    """Series as the engine gives them, for files: in full precision."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Mapping[str, Any]]] = {}
        self.samples = 0

    def extend(self, series: Mapping[str, Mapping[str, Any]]) -> None:
        """Add what the engine has recorded since the last time."""
        for name, columns in series.items():
            self.parts.setdefault(name, []).append(columns)
            self.samples += len(columns["t_s"])

    def whole(self) -> dict[str, dict[str, Any]]:
        """Return the series of the run."""
        keys = ("t_s", "id", "value")
        return {name: {key: np.concatenate([part[key] for part in parts]) for key in keys} for name, parts in self.parts.items()}


def export(session: Session, form: str, folder: Path, allow_python: bool) -> tuple[bytes, str]:
    """Return a file of a run that has not begun, and its media type. Raises InputError and LimitError."""
    if form not in FORMS:
        raise InputError("form", f"{form!r} is no form of a file", ", ".join(FORMS))
    session.tracks = recorder = SeriesColumns()  # pyright: ignore[reportAttributeAccessIssue]
    session.start()
    session.thread.join()
    if session.error or session.summary is None:
        error = session.error or {"message": "the run was stopped"}
        raise LimitError(error["message"])
    result = Result(session.summary, recorder.whole())
    with tempfile.TemporaryDirectory(prefix="tonopah-lab-") as made:
        out = Path(made)
        if form == "svg":
            result.plot().save(out / "run.svg")
            return (out / "run.svg").read_bytes(), "image/svg+xml"
        if form == "csv":
            write_series(result, out)
        elif form == "parquet":
            write_tables(result, out)
        else:
            capture(session, folder, allow_python, out)
        return archive(out), "application/zip"


def capture(session: Session, folder: Path, allow_python: bool, out: Path) -> None:
    """Write captures of a run whose size is known."""
    packets = session.summary["conservation"]["sent"]  # pyright: ignore[reportOptionalSubscript]
    if packets > MOST_CAPTURED:
        raise LimitError(f"the run has {packets:,} packets; captures are made of at most {MOST_CAPTURED:,}: make it shorter")
    session.slots.take(session.cancelled)
    try:
        scenario = checked_document(session.document, folder)
        with permitting(code_of(folder, allow_python)):
            pcapng.run(scenario, str(folder / "scenario.toml"), session.seed, out)
    finally:
        session.slots.give()


def archive(folder: Path) -> bytes:
    """Return the files of a folder as a ZIP archive; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.iterdir()):
            packed.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
