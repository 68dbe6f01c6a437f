"""What `tonopah validate queues` shows: tables for the terminal, and the page docs/generated/validation-queues.md."""

from collections.abc import Sequence
from pathlib import Path

from tonopah._core import engine_version
from tonopah.template import render
from tonopah.terminal.grid import Grid
from tonopah.validate import queues_worlds as worlds
from tonopah.validate.queues import CaseResult
from tonopah.validate.queues_recordings import Case, Library

HERE = Path(__file__).parent
PAGE = "validation-queues.md"
COLUMNS = ("wait, ms", "goodput, Mb/s", "drops", "marks", "drops of CBR", "share, %")
"""The goals, each a column: ours / kernel's."""


def cells(result: CaseResult) -> list[str]:
    """Return the row of a case: ours / kernel's for each goal, those that are missed in bold."""
    found = {check.name: check for check in result.checks}
    made = []
    for name in COLUMNS:
        check = found.get(name)
        text = f"{check.ours} / {check.kernel}" if check else ""
        made.append(text if check is None or check.met else f"**{text}**")
    return [result.case.name, *made, verdict(result)]


def verdict(result: CaseResult) -> str:
    """Return how many of the goals are missed, if any."""
    missed = sum(not check.met for check in result.checks)
    return f"MISS {missed}/{len(result.checks)}" if missed else "pass"


def compared(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Return the results of the cases that were run."""
    return [result for result in results if result.refused is None]


def table(results: Sequence[CaseResult]) -> Grid:
    """Return the comparison for a terminal."""
    run = compared(results)
    met = sum(result.met for result in run)
    title = f"Queue disciplines of Linux 6.1: {met} of {len(run)} cases meet all goals (ours / kernel)"
    columns = tuple(name.replace(", ", "\n") for name in ("case", *COLUMNS, "goals"))
    return Grid(title, columns, [[cell.replace("**", "") for cell in cells(result)] for result in run], keys=1)


def refusals(results: Sequence[CaseResult]) -> list[str]:
    """Return a line for each case that was not compared."""
    return [f"{result.case.name}: {result.refused}" for result in results if result.refused is not None]


def write(library: Library, results: Sequence[CaseResult], folder: Path) -> Path:
    """Write the page; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    path.write_text(text(library, results), encoding="utf-8")
    return path


def text(library: Library, results: Sequence[CaseResult]) -> str:
    """Return the page."""
    run = compared(results)
    return render(
        HERE / "queues.md.j2",
        engine=engine_version(),
        kernel=library.index["recorded"]["kernel"],
        passed=sum(result.met for result in run),
        compared=len(run),
        goals=sum(len(result.checks) for result in run),
        goals_met=sum(check.met for result in run for check in result.checks),
        columns=COLUMNS,
        rows=[cells(result) for result in run],
        missed=[(result.case.name, check) for result in run for check in result.checks if not check.met],
        refused=refusals(results),
        worlds=[(result.case.name, about(result.case), result.case.qdisc, written(result.case)) for result in run],
        differences=(HERE / "queues_differences.md").read_text(encoding="utf-8").strip(),
    )


def written(case: Case) -> str:
    """Return the queue as a scenario writes it."""
    return toml(worlds.queue(case))


def toml(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def about(case: Case) -> str:
    """Return the flows and the rate of a case in words."""
    groups: dict[str, int] = {}
    for number in case.tcp:
        flow = case.flows[number]
        groups[f"{flow.cc} at {flow.rtt_ms:g} ms"] = groups.get(f"{flow.cc} at {flow.rtt_ms:g} ms", 0) + 1
    words = [f"{case.mbps:g} Mb/s", *(f"{count} {name}" for name, count in groups.items())]
    words += [f"CBR of {case.cbr_mbps:g} Mb/s"] if case.cbr else []
    return ", ".join([*words, *(["ECN"] if case.ecn else [])])
