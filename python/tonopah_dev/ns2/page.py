"""The page docs/generated/validation-ns2.md and its results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.template import render, write_results
from tonopah_dev.ns2.comparison import COLUMNS, MEASURES, Placements, judge, rows

HERE = Path(__file__).parent
PAGE = "validation-ns2.md"
TEMPLATE = HERE / "page.md.j2"


def placement_rows(comparison: Placements) -> list[list[str]]:
    """Return a row for each placement: both values of each measure."""
    found: list[list[str]] = []
    for seed, pair in enumerate(zip(comparison.mine, comparison.theirs, strict=True), 1):
        found.append([str(seed), *(" / ".join(f"{getattr(side, m.name) * m.scale:.4g}" for side in pair) for m in MEASURES)])
    return found


def write(comparison: Placements, folder: Path) -> Path:
    """Write the page and its results; return its path."""
    return write_results(folder / PAGE, TEMPLATE, facts(comparison))


def text(comparison: Placements) -> str:
    """Return the page."""
    return render(TEMPLATE, **facts(comparison))


def facts(comparison: Placements) -> dict[str, Any]:
    """Return what the page shows, and its results keep."""
    goals: Sequence[Any] = [row["met"] for row in judge(comparison) if row["met"] is not None]
    return {
        "command": "python -m tonopah_dev.ns2",
        "engine": engine_version(),
        "version": comparison.version,
        "placements": len(comparison.mine),
        "goals": len(goals),
        "met": sum(goals),
        "columns": COLUMNS,
        "rows": rows(comparison),
        "measures": [f"{m.title}, {m.unit}" if m.unit else m.title for m in MEASURES],
        "placement_rows": placement_rows(comparison),
    }
