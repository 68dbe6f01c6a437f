"""What `tonopah validate published` shows: a table for the terminal, and the page docs/generated/validation-published.md."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.template import render, write_results
from tonopah.terminal.grid import Grid
from tonopah.validate.published import Result

HERE = Path(__file__).parent
PAGE = "validation-published.md"
TEMPLATE = HERE / "published.md.j2"
COLUMNS = ("case", "quantity", "reference", "allowed", "ours (95 %)", "")


def cells(result: Result) -> list[str]:
    """Return a row of the table."""
    case, estimate = result.case, result.estimate
    ours = f"{estimate.value:.4g}"
    if case.seeds > 1 and not estimate.unbounded:
        ours += f" ({estimate.low:.4g} … {estimate.high:.4g})"
    verdict = "agrees" if result.agrees else "DISAGREES"
    return [case.name, case.quantity, f"{case.reference:.4g}", f"{case.low:.4g} … {case.high:.4g}", ours, verdict]


def table(results: Sequence[Result]) -> Grid:
    """Return the comparison for a terminal."""
    agreed = sum(result.agrees for result in results)
    title = f"Laws and published results: {agreed} of {len(results)} agree"
    return Grid(title, COLUMNS, [cells(result) for result in results], keys=2)


def write(results: Sequence[Result], folder: Path) -> Path:
    """Write the page and its results; return its path."""
    return write_results(folder / PAGE, TEMPLATE, facts(results))


def text(results: Sequence[Result]) -> str:
    """Return the page."""
    return render(TEMPLATE, **facts(results))


def facts(results: Sequence[Result]) -> dict[str, Any]:
    """Return what the page shows, and its results keep."""
    rows = [[*cells(result), result.case.source] for result in results]
    missed = {result.case.name: result.case.cause for result in results if not result.agrees}
    return {
        "command": "python -m tonopah_dev.published",
        "engine": engine_version(),
        "agreed": len(results) - len(missed),
        "columns": COLUMNS,
        "rows": rows,
        "missed": missed,
    }
