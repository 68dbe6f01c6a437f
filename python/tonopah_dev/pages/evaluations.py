"""The page of evaluations and its results: `python -m tonopah_dev.pages.evaluations FOLDER docs/generated [NAME…]`.

It has a section for each algorithm, and one for all pairs (`coexist`). Each algorithm is evaluated at quick size; runs that
FOLDER has already are not repeated, and the runs of the baselines serve all sections. What is not made keeps its results.
"""

import itertools
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonopah._core import engine_build, engine_version
from tonopah.execution.options import ExecutionOptions
from tonopah.judge import page
from tonopah.judge.coexist import Cell, standings
from tonopah.judge.coexist import begin as begin_matrix
from tonopah.judge.evaluation import begin
from tonopah.judge.length import LIMIT_S
from tonopah.judge.worlds import seconds
from tonopah.template import RESULTS, read_results, write_results


@dataclass(frozen=True)
class Page:
    """An algorithm as the command takes it, and what is to be said of it."""

    algorithm: str
    about: str = ""
    criteria: tuple[str, ...] = ()
    """Only these, if not all of them are asked for."""
    tcp: tuple[tuple[str, str], ...] = ()
    """Settings as the command line has them: of its flows, and after a comma of those of the references."""
    title: str = ""
    """What its section is called, if not by the algorithm."""


HERE = Path(__file__).parent
TEMPLATE = HERE / "evaluations.md.j2"
NAME = "evaluations"
STUDIED = "One of the algorithms of the [studies](../findings.md)."
STARTS = "One start of connections beside another ([starts](../starts.md)): the references are CUBIC and Reno with HyStart++."
HYSTART = (
    "CUBIC of Linux 2.6, as in the study [hystart](../findings/hystart.md), {} HyStart. "
    "It keeps 0.8 of its window after a loss, today's 0.7."
)
MARKED = "Its own conditions alone: queues that mark, DualPI2 among them (E31, E32), networks that change marks, a data centre."
PAGES = {
    "cubic": Page("cubic", "The baseline itself: its arms are the same runs, so that no row can differ."),
    "reno": Page("reno"),
    "bbr": Page("bbr"),
    "bbr3": Page("bbr3"),
    "copa": Page("copa"),
    "search": Page("cubic", STARTS, ("C5", "C10", "C21"), (("start", "search,hystart++"),), "SEARCH or HyStart++?"),
    "prague": Page("prague", MARKED, ("C14", "C17", "C27")),
    "ewphcc": Page("ewphcc", STUDIED),
    "fr": Page("fr", STUDIED),
    "asran": Page("asran", STUDIED),
    "hystart-off": Page('{ name = "cubic", profile = "linux26", hystart = false }', HYSTART.format("without")),
    "hystart-on": Page('{ name = "cubic", profile = "linux26", hystart = true }', HYSTART.format("with")),
}


def evaluate(name: str, folder: Path, jobs: int | None = None) -> dict[str, Any]:
    """Return what the page says of an algorithm; what its evaluation lacks is run first."""
    wanted = PAGES[name]
    tcp = dict(wanted.tcp)
    evaluation = begin(wanted.algorithm, criteria=wanted.criteria, out=folder / name, store=folder / "runs", tcp=tcp)
    some = ["--criteria", ",".join(wanted.criteria)] if wanted.criteria else []
    given = [f"--tcp.{key}={value}" for key, value in wanted.tcp]
    evaluation.command = shlex.join(["tonopah", "evaluate", wanted.algorithm, *given, *some])
    evaluation.carry_out(ExecutionOptions(jobs=jobs), quiet=True)
    measured = evaluation.measured()
    rows = evaluation.rows(measured)
    page.write(evaluation, measured, rows)
    board = read_board(evaluation.markdown(rows))
    return {
        **board,
        "title": wanted.title or board["title"],
        "about": wanted.about,
        "command": evaluation.command,
        "engine": engine_version(),
        "build": engine_build(),
    }


def read_board(text: str) -> dict[str, Any]:
    """Return the parts of a scoreboard in Markdown: its title, how often it has which word, its sentences, its table."""
    lines = text.splitlines()
    table = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| C")]
    words = Counter(word for row in table for word in row[2].split(", "))
    return {
        "title": lines[0].removeprefix("# "),
        "verdicts": ", ".join(f"{count} {word}" for word, count in words.items()),
        "said": [line for line in lines if line.startswith("C")],
        "rows": table,
    }


def with_changes(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the facts of an algorithm with the words that another engine had said; made again by the same, those stay."""
    if before is None or before["engine"] == now["engine"]:
        kept = before or {"since": "", "changed": []}
        return {**now, "since": kept["since"], "changed": kept["changed"]}
    # Until 0.11.0 a place followed the word.
    said = {row[0]: row[2].partition(", at ")[0] for row in before["rows"]}
    changed = [[row[0], said[row[0]], row[2]] for row in now["rows"] if said.get(row[0], row[2]) != row[2]]
    return {**now, "since": before["engine"], "changed": [f"{name}: *{old}*, now *{new}*" for name, old, new in changed]}


def pairs(folder: Path, jobs: int | None = None) -> dict[str, Any]:
    """Return what the page says of all pairs at all points, at quick size as all of it."""
    matrix = begin_matrix(quick=True, out=folder / "coexist")
    matrix.carry_out(ExecutionOptions(jobs=jobs), quiet=True)
    cells = matrix.cells()
    ranked = standings(cells)
    names = [one.name for one in ranked]
    points = itertools.product(("40ms:40ms", "20ms:80ms"), matrix.buffers)
    return {
        "command": "tonopah coexist --quick",
        "engine": engine_version(),
        "build": engine_build(),
        "rate": matrix.world["rate"].replace("Mbps", " Mb/s"),
        "seconds": f"{seconds(matrix.world['duration']):g}",
        "replicates": matrix.replicates,
        "runs": f"{len(matrix.plan.runs):,}",
        "longest": f"{LIMIT_S:g}",
        "unsettled": f"{100 * sum(not cell.settled for cell in cells) / len(cells):.0f}",
        "standings": [
            [one.name, f"{one.share:.2f}", f"{one.done:z.2f}", f"{one.suffered:z.2f}", one.worst_neighbour] for one in ranked
        ],
        "shares": {f"{place(rtt)}, queue of {buffer:g} BDP": shares(cells, names, rtt, buffer) for rtt, buffer in points},
    }


def place(rtt: str) -> str:
    """Return the round-trip times of a point in words."""
    return rtt.replace("ms", " ms").replace(":", " beside ")


def shares(cells: Sequence[Cell], names: Sequence[str], rtt: str, buffer: float) -> list[str]:
    """Return the shares of all pairs at one point in percent, a line for each row, marked where it starves or drifts."""
    shown = {
        (cell.row, cell.column): f"{100 * cell.share.value:.0f}{'*' if cell.starved else ''}{'' if cell.settled else '~'}"
        for cell in cells
        if (cell.rtt, cell.buffer) == (rtt, buffer)
    }
    return [" ".join(shown.get((name, one), "–") for one in names) for name in names]


def joined(evaluated: Mapping[str, Mapping[str, Any]], coexist: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of the page: by kind, then by algorithm. Its version is the oldest of them all."""
    versions = [*(one["engine"] for one in evaluated.values()), coexist["engine"]]
    kinds = ("title", "verdicts", "about", "command", "engine", "build", "said", "rows", "since", "changed")
    return {
        "command": "python -m tonopah_dev.pages.evaluations results/evaluations docs/generated",
        "engine": min(versions, key=lambda version: [int(part) for part in version.split(".")]),
        "algorithms": list(evaluated),
        **{f"{kind}_of": {name: one[kind] for name, one in evaluated.items()} for kind in kinds},
        "coexist": {key: value for key, value in coexist.items() if key != "shares"},
        "shares": coexist["shares"],
    }


def parted(facts: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what `joined` joined: the facts of each algorithm, and those of all pairs."""
    kinds = [key for key in facts if key.endswith("_of")]
    evaluated = {name: {kind.removesuffix("_of"): facts[kind][name] for kind in kinds} for name in facts["algorithms"]}
    return {**evaluated, "coexist": {**facts["coexist"], "shares": facts["shares"]}}


def main(arguments: Sequence[str]) -> None:
    """Make the sections with these names, all of them if none is given, and write the page with its results."""
    folder, pages = Path(arguments[0]), Path(arguments[1])
    results = pages / NAME / RESULTS
    kept = parted(read_results(results)) if results.is_file() else {}
    wanted = arguments[2:] or [*PAGES, "coexist"]
    made = {name: with_changes(evaluate(name, folder), kept.get(name)) for name in wanted if name != "coexist"}
    made |= {"coexist": pairs(folder)} if "coexist" in wanted else {}
    found = {**kept, **made}
    facts = joined({name: found[name] for name in PAGES if name in found}, found["coexist"])
    print(write_results(pages / f"{NAME}.md", TEMPLATE, facts))


if __name__ == "__main__":
    main(sys.argv[1:])
