"""Writes docs/generated/validation.md and its figures."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.errors import InputError
from tonopah.template import render
from tonopah.validate import linux, measures, overlay, terminal
from tonopah.validate.measures import CaseResult
from tonopah.validate.recordings import Case, Library

HERE = Path(__file__).parent
FIGURES = "validation"
"""Folder of the figures beside the page."""
SHARES = "linux-beside.svg"
"""The figure of the cases that were recorded several times."""
GOALS = "goals.csv"
"""Every case with its world and its goals, beside the figures."""


def default_folder() -> Path:
    """Return the folder `docs/generated` of the checkout that this package was installed from or that is the current folder."""
    for root in (Path.cwd(), HERE.parents[2]):
        if (root / "docs").is_dir() and (root / "crates" / "tcp").is_dir():
            return root / "docs" / "generated"
    raise InputError("--out", "this is not a checkout, so there is no folder for the page", "name one, or use --check")


def write(library: Library, results: Sequence[CaseResult], folder: Path) -> Path:
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


def text(library: Library, results: Sequence[CaseResult]) -> str:
    """Return the page."""
    compared = [result for result in results if result.refused is None and result.beside is None]
    several = [result for result in results if result.beside is not None]
    return render(
        HERE / "page.md.j2",
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


def windows(results: Sequence[CaseResult]) -> dict[str, list[CaseResult]]:
    """Return the cases that have windows to show, by kernel."""
    found: dict[str, list[CaseResult]] = {}
    for result in results:
        if result.flows:
            found.setdefault(result.case.kernel, []).append(result)
    return found


def goals_text(results: Sequence[CaseResult]) -> str:
    """Return every goal of every case as CSV."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["kernel", "case", "world", "goal", "ours", "kernel's", "allowed", "met"])
    for result in results:
        for check in result.checks:
            verdict = "pass" if check.met else "MISS"
            table.writerow(
                [result.case.kernel, result.case.name, about(result), check.name, check.ours, check.kernel, check.goal, verdict]
            )
    return text.getvalue()


def several_part(results: Sequence[CaseResult]) -> dict[str, Any] | None:
    """Return what the page says about the cases that were recorded several times, or None if there are none."""
    if not results:
        return None
    return {
        "count": len(results),
        "passed": sum(result.met for result in results),
        "about": sorted({about(result) for result in results}),
        "columns": terminal.BESIDE_COLUMNS,
        "rows": [terminal.beside_cells(result) for result in results],
        "figure": f"{FIGURES}/{SHARES}",
        "missed": [(result.case.name, check) for result in results for check in result.checks if not check.met],
    }


def random_losses(library: Library) -> dict[str, str]:
    """Return what the page says about the random losses of the recordings."""
    numbers = library.index["drawn"]
    return {"drawn": str(len(numbers)), "drawn_until": f"{max(numbers, default=-1) + 1:,}"}


def twins(library: Library) -> list[tuple[Case, Case]]:
    """Return the cases that were recorded in the same world with two kernels."""
    worlds: dict[Case, list[Case]] = {}
    for case in library.cases:
        worlds.setdefault(replace(case, kernel="", name="", packets=False), []).append(case)
    return [(same[0], same[1]) for same in worlds.values() if len(same) > 1]


def twin_rows(library: Library, first: Case, second: Case) -> list[list[str]]:
    """Return the measures of one kernel against the other, a row for each flow."""
    pairs = zip(linux.kernel_tracks(library, first), linux.kernel_tracks(library, second), strict=True)
    flows = [measures.compare_flow(first.algorithm(i), theirs, ours) for i, (theirs, ours) in enumerate(pairs)]
    return [[first.name if i == 0 else "", f"{i} {flow.algorithm}", *terminal.cells(flow)] for i, flow in enumerate(flows)]


def kernel_part(entry: dict[str, Any], results: Sequence[CaseResult]) -> dict[str, Any]:
    """Return what the page says about one kernel."""
    mine = [result for result in results if result.case.kernel == entry["kernel"]]
    return {
        "name": entry["kernel"],
        "release": entry["release"],
        "rows": [row for result in mine for row in rows(result)],
        "missed": [(result.case.name, check) for result in mine for check in result.checks if not check.met],
        "figure": f"{FIGURES}/{figure_name(entry['kernel'])}",
    }


def rows(result: CaseResult) -> list[list[str]]:
    """Return the rows of a case in the table of measures, one for each flow."""
    found = []
    for index, flow in enumerate(result.flows):
        name = result.case.name if index == 0 else ""
        which = f"{index} {flow.algorithm}" if len(result.flows) > 1 else flow.algorithm
        found.append([name, which, *terminal.cells(flow), terminal.verdict(result) if index == 0 else ""])
    return found


def about(result: CaseResult) -> str:
    """Return the link and the losses of a case in words."""
    case = result.case
    words = [f"{case.mbps:g} Mb/s, {2 * case.owd_ms:g} ms base RTT, queue of {case.queue} packets"]
    if case.drop:
        words.append(f"data packets dropped: {', '.join(str(number) for number in case.drop)}")
    if case.loss:
        words.append(f"random loss {100 * case.loss:g} %")
    if case.bytes is not None:
        words.append(f"transfer of {case.bytes:,} B")
    if case.starts_ms:
        starts = ", ".join(f"{start / 1000:g}" for start in case.starts_ms)
        words.append(f"{case.secs:g} s; flow 1 starts {starts} s after flow 0")
    elif case.flows > 1:
        words.append(f"{case.flows} flows, {case.stagger_ms / 1000:g} s apart")
    if not case.sack:
        words.append("without SACK")
    return "; ".join(words)


def figure_name(kernel: str) -> str:
    """Return the file name of the windows of a kernel's cases."""
    return f"linux-{kernel}.svg"
