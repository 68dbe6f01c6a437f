"""The page docs/validation-ns2.md."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah.template import render
from tonopah_dev.ns2.comparison import COLUMNS, MEASURES, Placements, judge, rows

HERE = Path(__file__).parent
PAGE = "validation-ns2.md"


def placement_rows(comparison: Placements) -> list[list[str]]:
    """Return a row for each placement: both values of each measure."""
    found: list[list[str]] = []
    for seed, pair in enumerate(zip(comparison.mine, comparison.theirs, strict=True), 1):
        found.append([str(seed), *(" / ".join(f"{getattr(side, m.name) * m.scale:.4g}" for side in pair) for m in MEASURES)])
    return found


def write(comparison: Placements, folder: Path) -> Path:
    """Write the page; return its path."""
    path = folder / PAGE
    path.write_text(text(comparison), encoding="utf-8")
    return path


def text(comparison: Placements) -> str:
    """Return the page."""
    goals: Sequence[Any] = [row["met"] for row in judge(comparison) if row["met"] is not None]
    return render(
        HERE / "page.md.j2",
        version=comparison.version,
        placements=len(comparison.mine),
        goals=len(goals),
        met=sum(goals),
        columns=COLUMNS,
        rows=rows(comparison),
        measures=[f"{m.title}, {m.unit}" if m.unit else m.title for m in MEASURES],
        placement_rows=placement_rows(comparison),
    )
