"""The page docs/generated/validation-queues.md: `python -m tonopah_dev.pages.validation_queues docs/generated`."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tonopah._core import engine_version
from tonopah.template import render
from tonopah.validate.queues import worlds
from tonopah.validate.queues.comparison import COLUMNS, AgainstLinuxQueues, QueueResult, cells
from tonopah.validate.queues.recordings import QueueCase, QueueLibrary, shipped
from tonopah_dev.command import write_page

HERE = Path(__file__).parent
PAGE = "validation-queues.md"


def write(library: QueueLibrary, results: Sequence[QueueResult], folder: Path) -> Path:
    """Write the page; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    path.write_text(text(library, results), encoding="utf-8")
    return path


def text(library: QueueLibrary, results: Sequence[QueueResult]) -> str:
    """Return the page."""
    run = [result for result in results if result.refused is None]
    return render(
        HERE / "validation_queues.md.j2",
        engine=engine_version(),
        kernel=library.index["recorded"]["kernel"],
        passed=sum(result.met for result in run),
        compared=len(run),
        goals=sum(len(result.checks) for result in run),
        goals_met=sum(check.met for result in run for check in result.checks),
        columns=COLUMNS,
        rows=[cells(result) for result in run],
        missed=[(result.case.name, check) for result in run for check in result.checks if not check.met],
        refused=AgainstLinuxQueues(library).notes(results),
        worlds=grouped([result.case for result in run]),
        differences=(HERE / "queues_differences.md").read_text(encoding="utf-8").strip(),
    )


def grouped(cases: Sequence[QueueCase]) -> list[tuple[str, str, str]]:
    """Return what `tc` was told, the queue that a scenario writes for it, and the cases that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        found.setdefault((case.qdisc, written(case)), []).append(f"{case.name} ({about(case)})")
    return [(tc, queue, "; ".join(names)) for (tc, queue), names in found.items()]


def written(case: QueueCase) -> str:
    """Return the queue as a scenario writes it; its rate is R."""
    return toml(worlds.queue(case)).replace(f'"{worlds.rate_bps(case)}bps"', "R")


def toml(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def about(case: QueueCase) -> str:
    """Return the flows and the rate of a case in words."""
    groups: dict[str, int] = {}
    for number in case.tcp:
        flow = case.flows[number]
        groups[f"{flow.cc} at {flow.rtt_ms:g} ms"] = groups.get(f"{flow.cc} at {flow.rtt_ms:g} ms", 0) + 1
    words = [f"{case.mbps:g} Mb/s", *(f"{count} {name}" for name, count in groups.items())]
    words += [f"CBR of {case.cbr_mbps:g} Mb/s"] if case.cbr else []
    return ", ".join([*words, *(["ECN"] if case.ecn else [])])


def main(given: Sequence[str] | None = None) -> int:
    """Carry out the command and return its exit code."""
    library = shipped()
    return write_page("validation_queues", AgainstLinuxQueues(library), partial(write, library), given)


if __name__ == "__main__":
    sys.exit(main())
