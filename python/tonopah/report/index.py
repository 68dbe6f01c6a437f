"""The page of a folder of results: every study in it with its question, answer and verdicts, and every other report."""

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
    entries, others = index_entries(folder), other_reports(folder)
    if not entries and not others:
        return None
    text = template_environment().get_template("index.html.j2").render(
        entries=entries, others=others, version=engine_version(), folder=folder.resolve().name
    )  # fmt: skip
    try:
        replace_file(folder / FILE, text)
    except OSError as error:
        raise RunFailedError(f"{folder}: the index cannot be written: {error}") from error
    return folder / FILE


REPORTS = {"scoreboard.json": "evaluate", "compare.json": "compare", "coexist.json": "coexist"}
"""What a folder holds that is of no study, and the command that makes it."""


def other_reports(folder: Path) -> list[tuple[str, str]]:
    """Return the links and names of the reports that are of no study."""
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    made = [(name, command) for name in names for file, command in REPORTS.items() if (folder / name / file).is_file()]
    pages = [(name, command, "report.html" if command != "compare" else "compare.md") for name, command in made]
    return [(f"{quote(name)}/{page}", f"{name} ({command})") for name, command, page in pages if (folder / name / page).is_file()]


def index_entries(folder: Path) -> list[IndexEntry]:
    """Return the studies of a folder by name: folders with report and verdicts, and packed ones. Raises InputError."""
    found = []
    for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
        if name.endswith(pack.SUFFIX) and not pack.has_verdicts(folder / name):
            continue
        if name.endswith(pack.SUFFIX) and (facts := verdicts.parse(pack.read_member(folder / name))):
            report = folder / name.removesuffix(pack.SUFFIX)
            if not (report / "report.html").is_file():
                found.append(IndexEntry("", facts, name))
            continue
        facts = verdicts.read(folder / name)
        if facts is not None and (folder / name / "report.html").is_file():
            found.append(IndexEntry(f"{quote(name)}/report.html", facts))
    return found
