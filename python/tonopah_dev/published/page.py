"""The page docs/generated/validation-published.md and its results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.template import render, write_results
from tonopah_dev.published.comparison import COLUMNS, PublishedResult, biases, cells

HERE = Path(__file__).parent
PAGE = "validation-published.md"
TEMPLATE = HERE / "page.md.j2"


def write(results: Sequence[PublishedResult], folder: Path) -> Path:
    """Write the page and its results; return its path."""
    return write_results(folder / PAGE, TEMPLATE, facts(results))


def text(results: Sequence[PublishedResult]) -> str:
    """Return the page."""
    return render(TEMPLATE, **facts(results))


def facts(results: Sequence[PublishedResult]) -> dict[str, Any]:
    """Return what the page shows, and its results keep."""
    rows = [[*cells(result), result.case.source] for result in results]
    missed = {result.case.name: result.case.cause for result in results if not result.met}
    return {
        "command": "python -m tonopah_dev.published",
        "engine": engine_version(),
        "agreed": len(results) - len(missed),
        "columns": COLUMNS,
        "rows": rows,
        "missed": missed,
        "biases": [one.text for one in biases(results)],
    }
