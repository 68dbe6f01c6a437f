"""The page of a folder of results: every study in it with its question, answer and verdicts."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tonopah._core import engine_version
from tonopah.errors import RunFailedError
from tonopah.report import verdicts
from tonopah.report.document import template_environment
from tonopah.store import pack
from tonopah.writing import replace_file

FILE = "index.html"


@dataclass(frozen=True)
class IndexEntry:
    """A study of the folder: where its report is, or else its packed file, and what verdicts.json says of it."""

    link: str
    facts: dict[str, Any]
    packed: str = ""


def write_index(folder: Path) -> Path | None:
    """Write `index.html` over all studies in a folder and return its path; None if no study in it has a report."""
    entries = index_entries(folder)
    if not entries:
        return None
    text = template_environment().get_template("index.html.j2").render(
        entries=entries, version=engine_version(), folder=folder.resolve().name
    )  # fmt: skip
    try:
        replace_file(folder / FILE, text)
    except OSError as error:
        raise RunFailedError(f"{folder}: the index cannot be written: {error}") from error
    return folder / FILE


def index_entries(folder: Path) -> list[IndexEntry]:
    """Return the studies of a folder by name: folders with report and verdicts, and packed ones. Raises InputError."""
    found = []
    for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
        if name.endswith(pack.SUFFIX) and (facts := verdicts.parse(pack.read_verdicts(folder / name))):
            report = folder / name.removesuffix(pack.SUFFIX)
            if not (report / "report.html").is_file():
                found.append(IndexEntry("", facts, name))
            continue
        facts = verdicts.read(folder / name)
        if facts is not None and (folder / name / "report.html").is_file():
            found.append(IndexEntry(f"{quote(name)}/report.html", facts))
    return found
