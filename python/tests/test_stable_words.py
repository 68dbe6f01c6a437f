"""Whether words of evaluations with several sets of seeds are counted as they should be."""

import json
from pathlib import Path

from tonopah_dev.stable_words import told


def stored(folder: Path, name: str, *verdicts: str) -> Path:
    """Return the folder of an evaluation that says these words."""
    folder.mkdir()
    criteria = [{"id": f"C{i}", "name": "Some", "verdict": verdict} for i, verdict in enumerate(verdicts, 1)]
    (folder / "scoreboard.json").write_text(json.dumps({"subject": {"name": name}, "criteria": criteria}), encoding="utf-8")
    return folder


def test_what_is_decided_otherwise_is_named_and_what_is_not_decided_does_not_count(tmp_path: Path) -> None:
    sets = [("worse", "better"), ("worse", "unclear"), ("like CUBIC", "better"), ("worse", "not converged")]
    folders = [stored(tmp_path / f"a{i}", "Reno", *verdicts) for i, verdicts in enumerate(sets)]
    folders.append(stored(tmp_path / "b", "Copa", "better", "not applicable"))
    assert list(told(folders)) == ["Reno, C1 Some: 3 worse, 1 like CUBIC", "6 of 7 decided words are the same, 85.7%"]
