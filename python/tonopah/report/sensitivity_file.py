"""Where the sensitivity of a study is stored, and whether it fits the study's report."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.digest import digest
from tonopah.spec.manifest import Manifest

FILE = "sensitivity.json"
FORMAT = 1
"""Raised when the meaning of a key changes or a key goes."""


def study_digest(document: Mapping[str, Any]) -> str:
    """Return what tells a study file from one that was edited since."""
    return digest(json.dumps(document, sort_keys=True))


def read(folder: Path, manifest: Manifest) -> dict[str, Any] | None:
    """Return the sensitivity of the study whose results are in `folder`, from the folder beside it.

    None if there is none, or if it is one of another study file, of another size or of another version of this program.
    """
    try:
        content = json.loads((beside(folder) / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    wanted = {"format": FORMAT, "file": study_digest(manifest.document), "quick": manifest.quick, "tonopah": engine_version()}
    fits = isinstance(content, dict) and all(content.get(key) == value for key, value in wanted.items())
    return content if fits else None


def beside(folder: Path) -> Path:
    """Return the folder of the sensitivity of a study whose results are in `folder`."""
    return folder.with_name(f"{folder.name}-sensitivity")
