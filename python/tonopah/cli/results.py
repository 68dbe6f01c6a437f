"""Where the results of studies are: folders by default, and what a name on the command line means."""

from pathlib import Path

from tonopah.errors import InputError
from tonopah.spec.validation import list_allowed

RESULTS = "results"
"""Folder of the results, unless --out says otherwise."""


def results_folder(name: str) -> Path:
    """Return the folder of a study's results: a folder as it is, else `results/NAME`; of a study file that of its name."""
    study = Path(name).stem if name.endswith(".toml") else name
    for folder in (Path(name), Path(RESULTS) / study):
        if (folder / "runs.sqlite").is_file():
            return folder
    beside = sorted(path.parent.name for path in Path(RESULTS).glob("*/runs.sqlite"))
    hint = list_allowed(beside, f"in {RESULTS}/", name) if beside else f"tonopah study run {name}"
    raise InputError("", "has no results", hint, name)
