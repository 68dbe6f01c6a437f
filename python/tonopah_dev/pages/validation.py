"""Writes docs/generated/validation.md and its figures: `python -m tonopah_dev.pages.validation docs/generated`."""

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.template import render
from tonopah.validate.linux import comparison as linux
from tonopah.validate.linux import measures
from tonopah.validate.linux import table as terminal
from tonopah.validate.linux.measures import LinuxResult
from tonopah.validate.linux.recordings import LinuxCase, LinuxLibrary, shipped
from tonopah_dev.command import write_page
from tonopah_dev.pages import overlay

HERE = Path(__file__).parent
FIGURES = "validation"
"""Folder of the figures beside the page."""
SHARES = "linux-beside.svg"
"""The figure of the cases that were recorded several times."""
GOALS = "goals.csv"
"""Every case with its world and its goals, beside the figures."""


def write(library: LinuxLibrary, results: Sequence[LinuxResult], folder: Path) -> Path:
    """Write the page and its figures; return the path of the page."""
    figures = folder / FIGURES
    figures.mkdir(parents=True, exist_ok=True)
    compared = [result for result in results if result.refused is None]
    for kernel, found in windows(compared).items():
        overlay.draw(found, figures / figure_name(kernel))
    if several := [result for result in compared if result.beside is not None]:
        overlay.draw_shares(several, figures / SHARES)
    (figures / GOALS).write_text(goals_text(compared), encoding="utf-8")
    path = folder / "validation.md"
    path.write_text(text(library, results), encoding="utf-8")
    return path


def text(library: LinuxLibrary, results: Sequence[LinuxResult]) -> str:
    """Return the page."""
    compared = [result for result in results if result.refused is None and result.beside is None]
    several = [result for result in results if result.beside is not None]
    return render(
        HERE / "validation.md.j2",
        engine=engine_version(),
        goals_file=f"{FIGURES}/{GOALS}",
        kernels=[kernel_part(entry, compared) for entry in library.index["kernels"]],
        passed=sum(result.met for result in compared),
        compared=len(compared),
        goals=sum(len(result.checks) for result in compared),
        goals_met=sum(check.met for result in compared for check in result.checks),
        several=several_part(several),
        single=sum(result.case.kind == "shared" for result in compared),
        **random_losses(library),
        twins=[row for pair in twins(library) for row in twin_rows(library, *pair)],
        not_compared=terminal.not_compared(results),
        differences=(HERE / "differences.md").read_text(encoding="utf-8").strip(),
    )


def windows(results: Sequence[LinuxResult]) -> dict[str, list[LinuxResult]]:
    """Return the cases that have windows to show, by kernel."""
    found: dict[str, list[LinuxResult]] = {}
    for result in results:
        if result.flows:
            found.setdefault(result.case.kernel, []).append(result)
    return found


def goals_text(results: Sequence[LinuxResult]) -> str:
    """Return every goal of every case as CSV."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["kernel", "case", "world", "goal", "ours", "kernel's", "allowed", "met"])
    for result in results:
        for check in result.checks:
            verdict = "pass" if check.met else "MISS"
            table.writerow(
                [
                    result.case.kernel,
                    result.case.name,
                    terminal.about(result.case),
                    check.name,
                    check.ours,
                    check.theirs,
                    check.goal,
                    verdict,
                ]
            )
    return text.getvalue()


def several_part(results: Sequence[LinuxResult]) -> dict[str, Any] | None:
    """Return what the page says about the cases that were recorded several times, or None if there are none."""
    if not results:
        return None
    return {
        "count": len(results),
        "passed": sum(result.met for result in results),
        "about": sorted({terminal.about(result.case) for result in results}),
        "columns": terminal.BESIDE_COLUMNS,
        "rows": [terminal.beside_cells(result) for result in results],
        "figure": f"{FIGURES}/{SHARES}",
        "missed": [(result.case.name, check) for result in results for check in result.checks if not check.met],
    }


def random_losses(library: LinuxLibrary) -> dict[str, str]:
    """Return what the page says about the random losses of the recordings."""
    numbers = library.index["drawn"]
    return {"drawn": str(len(numbers)), "drawn_until": f"{max(numbers, default=-1) + 1:,}"}


def twins(library: LinuxLibrary) -> list[tuple[LinuxCase, LinuxCase]]:
    """Return the cases that were recorded in the same world with two kernels."""
    worlds: dict[LinuxCase, list[LinuxCase]] = {}
    for case in library.cases:
        worlds.setdefault(replace(case, kernel="", name="", packets=False), []).append(case)
    return [(same[0], same[1]) for same in worlds.values() if len(same) > 1]


def twin_rows(library: LinuxLibrary, first: LinuxCase, second: LinuxCase) -> list[list[str]]:
    """Return the measures of one kernel against the other, a row for each flow."""
    pairs = zip(linux.kernel_tracks(library, first), linux.kernel_tracks(library, second), strict=True)
    flows = [measures.compare_flow(first.algorithm(i), theirs, ours) for i, (theirs, ours) in enumerate(pairs)]
    return [[first.name if i == 0 else "", f"{i} {flow.algorithm}", *terminal.cells(flow)] for i, flow in enumerate(flows)]


def kernel_part(entry: dict[str, Any], results: Sequence[LinuxResult]) -> dict[str, Any]:
    """Return what the page says about one kernel."""
    mine = [result for result in results if result.case.kernel == entry["kernel"]]
    return {
        "name": entry["kernel"],
        "release": entry["release"],
        "rows": [row for result in mine for row in rows(result)],
        "missed": [(result.case.name, check) for result in mine for check in result.checks if not check.met],
        "figure": f"{FIGURES}/{figure_name(entry['kernel'])}",
    }


def rows(result: LinuxResult) -> list[list[str]]:
    """Return the rows of a case in the table of measures, one for each flow."""
    found = []
    for index, flow in enumerate(result.flows):
        name = result.case.name if index == 0 else ""
        which = f"{index} {flow.algorithm}" if len(result.flows) > 1 else flow.algorithm
        found.append([name, which, *terminal.cells(flow), result.verdict if index == 0 else ""])
    return found


def figure_name(kernel: str) -> str:
    """Return the file name of the windows of a kernel's cases."""
    return f"linux-{kernel}.svg"


def main(given: Sequence[str] | None = None) -> int:
    """Carry out the command and return its exit code."""
    library = shipped()
    return write_page("validation", linux.AgainstLinux(library), partial(write, library), given)


if __name__ == "__main__":
    sys.exit(main())
