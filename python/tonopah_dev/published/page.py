"""The page docs/validation-published.md."""

from collections.abc import Sequence
from pathlib import Path

from tonopah.template import render
from tonopah_dev.published.comparison import COLUMNS, PublishedResult, cells

HERE = Path(__file__).parent
PAGE = "validation-published.md"


def write(results: Sequence[PublishedResult], folder: Path) -> Path:
    """Write the page; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    path.write_text(text(results), encoding="utf-8")
    return path


def text(results: Sequence[PublishedResult]) -> str:
    """Return the page."""
    rows = [[*cells(result), result.case.source] for result in results]
    missed = [result.case for result in results if not result.met]
    agreed = len(results) - len(missed)
    return render(HERE / "page.md.j2", rows=rows, agreed=agreed, columns=COLUMNS, missed=missed)
