"""What `tonopah validate published` shows: a table for the terminal, and the page docs/validation-published.md."""

from collections.abc import Sequence
from pathlib import Path

from tonopah.template import render
from tonopah.terminal.grid import Grid
from tonopah.validate.published import Result

HERE = Path(__file__).parent
PAGE = "validation-published.md"
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
    """Write the page; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    path.write_text(text(results), encoding="utf-8")
    return path


def text(results: Sequence[Result]) -> str:
    """Return the page."""
    rows = [[*cells(result), result.case.source] for result in results]
    missed = [result.case for result in results if not result.agrees]
    agreed = len(results) - len(missed)
    return render(HERE / "published.md.j2", rows=rows, agreed=agreed, columns=COLUMNS, missed=missed)
