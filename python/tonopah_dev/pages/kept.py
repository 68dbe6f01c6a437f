"""Makes pages from results that git keeps: `python -m tonopah_dev.pages.kept docs/generated [NAME…]`, part of `make docs`.

A comparison that takes long leaves `NAME/results.toml`: its numbers, the engine's version, the command. The page follows from
that and from its template, without a run. `make site` makes these pages by itself.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from tonopah.template import RESULTS, read_results, render

PACKAGES = Path(__file__).parents[2]
TEMPLATES = {
    "counterexamples": PACKAGES / "tonopah_dev/pages/counterexamples.md.j2",
    "cross": PACKAGES / "tonopah_dev/pages/cross.md.j2",
    "evaluations": PACKAGES / "tonopah_dev/pages/evaluations.md.j2",
    "validation-authors": PACKAGES / "tonopah/reports/validate/page.md.j2",
    "validation-ns2": PACKAGES / "tonopah_dev/ns2/page.md.j2",
    "validation-ns2-reports": PACKAGES / "tonopah_dev/ns2/reports.md.j2",
    "validation-published": PACKAGES / "tonopah_dev/published/page.md.j2",
}
"""The names of the pages, and where the words around their numbers are."""


def kept_page(folder: Path, name: str) -> str:
    """Return a page, from its results in the folder of generated pages."""
    return render(TEMPLATES[name], **read_results(folder / name / RESULTS))


def main(arguments: Sequence[str]) -> None:
    """Write the pages with these names into the folder, all of them if none is given."""
    folder = Path(arguments[0])
    for name in arguments[1:] or TEMPLATES:
        path = folder / f"{name}.md"
        path.write_text(kept_page(folder, name), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
