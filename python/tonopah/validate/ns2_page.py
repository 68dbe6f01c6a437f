"""What `tonopah validate ns2` shows: a table for the terminal, and the page docs/generated/validation-ns2.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.template import render, write_results
from tonopah.terminal.grid import Grid
from tonopah.validate.ns2 import MEASURES, SCENARIO, Comparison, Measure, judge

HERE = Path(__file__).parent
PAGE = "validation-ns2.md"
TEMPLATE = HERE / "ns2.md.j2"
COLUMNS = ("measure", "ours", "ns-2", "difference (95 %)", "goal", "")


def rows(comparison: Comparison) -> list[list[str]]:
    """Return the cells of the table, a row for each measure."""
    found = []
    for measure, row in zip(MEASURES, judge(comparison), strict=True):
        name = f"{measure.title}, {measure.unit}" if measure.unit else measure.title
        values = [f"{row[side] * measure.scale:.4g}" for side in ("ours", "ns2")]
        verdict = {None: "", True: "pass", False: "MISS"}[row["met"]]
        found.append([name, *values, difference(row), goal(measure), verdict])
    return found


def difference(row: Mapping[str, Any]) -> str:
    """Return a mean difference with its interval; a single placement has none."""
    scale, unit = (100, " %") if row["relative"] else (1, "")
    if row["difference"] is None:
        return "unknown"
    text = f"{row['difference'] * scale:+.2g}{unit}"
    if row["low"] is None:
        return text
    return f"{text} ({row['low'] * scale:+.2g} … {row['high'] * scale:+.2g})"


def goal(measure: Measure) -> str:
    """Return what is allowed."""
    if measure.tolerance is None:
        return "none"
    return f"± {100 * measure.tolerance:g} %" if measure.relative else f"± {measure.tolerance:g}"


def title(comparison: Comparison) -> str:
    """Return what was compared and where ns-2's values come from."""
    network = SCENARIO["network"]
    source = "stored values, not run now" if comparison.stored else "run now"
    size = f"{network['nodes']} stations, {network['flows']} flows, {len(comparison.mine)} placements"
    return f"{size}; ns-2 {comparison.version}: {source}"


def table(comparison: Comparison) -> Grid:
    """Return the comparison."""
    return Grid(title(comparison), COLUMNS, rows(comparison), keys=1)


def placement_rows(comparison: Comparison) -> list[list[str]]:
    """Return a row for each placement: both values of each measure."""
    found: list[list[str]] = []
    for seed, pair in enumerate(zip(comparison.mine, comparison.theirs, strict=True), 1):
        found.append([str(seed), *(" / ".join(f"{getattr(side, m.name) * m.scale:.4g}" for side in pair) for m in MEASURES)])
    return found


def write(comparison: Comparison, folder: Path) -> Path:
    """Write the page and its results; return its path."""
    return write_results(folder / PAGE, TEMPLATE, facts(comparison))


def text(comparison: Comparison) -> str:
    """Return the page."""
    return render(TEMPLATE, **facts(comparison))


def facts(comparison: Comparison) -> dict[str, Any]:
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
