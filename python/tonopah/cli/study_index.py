"""`tonopah study index`: one page over all studies of a folder."""

import argparse
import json
from pathlib import Path

from tonopah.cli.arguments import add_common
from tonopah.cli.results import RESULTS
from tonopah.errors import InputError
from tonopah.report.index import FILE, write_index


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, index_studies, "tonopah study index results")
    command.add_argument("folder", nargs="?", default=RESULTS, metavar="DIR", help="folder of results folders (default: results)")


def index_studies(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study index`."""
    folder = Path(arguments.folder)
    path = write_index(folder)
    if path is None:
        hint = "a folder of results folders; `tonopah study report DIR` writes the report of one"
        raise InputError("", "contains no study with a report", hint, str(folder))
    print(json.dumps({"index": str(path)}) if arguments.json else f"index: {path.resolve()}")
    return 0


def index_around(study: Path, *, always: bool = False) -> Path | None:
    """Write the page of the folder that a study's results are in, and return its path.

    Only where studies are kept together: in `results`, or where such a page is already. Elsewhere nothing is written.
    """
    folder = study.resolve().parent
    return write_index(folder) if always or folder.name == RESULTS or is_ours(folder / FILE) else None


def is_ours(page: Path) -> bool:
    """Tell whether a page was written by this program."""
    try:
        with page.open(encoding="utf-8") as file:
            return '<meta name="generator" content="Tonopah' in file.read(2000)
    except (OSError, UnicodeDecodeError):
        return False
