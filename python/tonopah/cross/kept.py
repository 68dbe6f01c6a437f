"""Replicates that an interrupted comparison has measured: a line of JSON each in its folder, so that the same command goes on.

The first replicate of each engine is run every time, for figures; what left late is not kept.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.digest import digest
from tonopah.scenario.document import to_json

FILE = "runs.jsonl"


class Kept:
    """What is known of replicates, by what determines them; without a folder nothing is."""

    def __init__(self, folder: Path | None):
        self.path = folder / FILE if folder else None
        self.found: dict[str, dict[str, Any]] = {}
        if self.path and self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    known = json.loads(line)
                    self.found[known["id"]] = known
                except (ValueError, LookupError, TypeError):
                    continue  # The line that an interruption cut.

    def get(self, id_: str) -> Mapping[str, Any] | None:
        """Return what is known of a replicate, if anything."""
        return self.found.get(id_)

    def add(self, id_: str, facts: Mapping[str, Any]) -> None:
        """Keep a replicate. Raises OSError."""
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"id": id_, **facts}) + "\n")


def id_of(engine: str, scenario: Mapping[str, Any], seed: int) -> str:
    """Return what names a replicate: this build, the engine, the world and the seed."""
    return digest(f"{engine_version()} {engine} {seed} {to_json(scenario)}")
