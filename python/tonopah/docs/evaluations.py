"""The pages of docs/evaluations: `python -m tonopah.docs.evaluations FOLDER docs [NAME…]`.

There is one for each algorithm, and one for all pairs (`coexist`). Each algorithm is evaluated at quick size; runs that FOLDER
has already are not repeated, and the runs of the baselines serve all pages.
"""

import itertools
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tonopah._core import engine_build, engine_version
from tonopah.docs.markdown import markdown_table
from tonopah.execution.options import ExecutionOptions
from tonopah.judge import page
from tonopah.judge.coexist import Cell, standings
from tonopah.judge.coexist import begin as begin_matrix
from tonopah.judge.evaluation import begin
from tonopah.judge.worlds import seconds


@dataclass(frozen=True)
class Page:
    """An algorithm as the command takes it, and what is to be said of it."""

    algorithm: str
    about: str = ""
    criteria: tuple[str, ...] = ()
    """Only these, if not all of them are asked for."""


STUDIED = "One of the algorithms of the [studies](../findings.md)."
HYSTART = "CUBIC of Linux 2.6, as in the study [hystart](../findings/hystart.md), {} HyStart."
MARKED = "Its own conditions alone: queues that mark, DualPI2 among them (E31, E32), networks that change marks, a data centre."
PAGES = {
    "cubic": Page("cubic", "The baseline itself: its arms are the same runs, so that no row can differ."),
    "reno": Page("reno"),
    "bbr": Page("bbr"),
    "bbr3": Page("bbr3"),
    "copa": Page("copa"),
    "prague": Page("prague", MARKED, ("C14", "C17", "C27")),
    "ewphcc": Page("ewphcc", STUDIED),
    "fr": Page("fr", STUDIED),
    "asran": Page("asran", STUDIED),
    "hystart-off": Page('{ name = "cubic", profile = "linux26", hystart = false }', HYSTART.format("without")),
    "hystart-on": Page('{ name = "cubic", profile = "linux26", hystart = true }', HYSTART.format("with")),
}


def make_page(name: str, folder: Path, jobs: int | None = None) -> str:
    """Return the page of an algorithm; what its evaluation lacks is run first."""
    wanted = PAGES[name]
    evaluation = begin(wanted.algorithm, criteria=wanted.criteria, out=folder / name, store=folder / "runs")
    some = ["--criteria", ",".join(wanted.criteria)] if wanted.criteria else []
    evaluation.command = shlex.join(["tonopah", "evaluate", wanted.algorithm, *some])
    evaluation.carry_out(ExecutionOptions(jobs=jobs), quiet=True)
    measured = evaluation.measured()
    rows = evaluation.rows(measured)
    page.write(evaluation, measured, rows)
    made = f"Made by `{evaluation.command}` at quick size with engine {engine_version()} (build {engine_build()}).".replace(
        "|", "\\|"
    )
    title, _, rest = evaluation.markdown(rows).partition("\n\n")
    words = "[What the words mean](../evaluate.md#reading-the-scoreboard)."
    return "\n\n".join([title, " ".join(text for text in (made, wanted.about, words) if text), rest])


HEAD = """# Evaluations along RFC 9743

What [`tonopah evaluate`](../evaluate.md) says of these algorithms at quick size: 5 replicates of each run, against CUBIC and
Reno of Linux. It is evidence from simulation, no certificate. `python -m tonopah.docs.evaluations results/evaluations docs`
makes these pages; each names the command that makes its report.
"""


ATLAS = """# Who takes what from whom

Every pair of the {count} algorithms of the engine, one flow each, on a dumbbell of {rate} for {seconds:g} s: with queues of
{buffers} BDP at 40 ms, both flows at 40 ms, and one at 20 ms beside one at 80 ms; {replicates} replicates, {runs} runs.
Made by `{command}` with engine {version} (build {build}).

Each has its profile `linux`, where there is one: the `lp` of the kernel does not yield, that of the paper does
([why](../models.md#congestion-control-and-recovery)).

## In all points

The order is that of the mean share. Harm is the share of its goodput alone that a flow loses; means over all others. It is
negative where a flow has more beside another than alone: EWPHCC fills a twentieth of this link. NewReno is without SACK, and
with Linux's timer, which every partial ACK restarts, it repairs one loss per round trip: after a slow start into 4 BDP that
outlasts the run, unless another flow has ended that slow start early.
"""
SHARES = """Share of the row beside the column in percent, mean over replicates; * is a row that starves. {diagonal}
"""
DIAGONALS = {
    True: "The same algorithm beside itself has the share of the first of its two flows.",
    False: "Here the row has the shorter path, also beside itself.",
}
ATLAS_COMMAND = "tonopah coexist"


def make_atlas(folder: Path, jobs: int | None = None) -> str:
    """Return the page of all pairs at all points."""
    matrix = begin_matrix(out=folder / "coexist")
    matrix.carry_out(ExecutionOptions(jobs=jobs), quiet=True)
    cells = matrix.cells()
    ranked = standings(cells)
    head = ATLAS.format(
        count=len(ranked),
        rate=matrix.world["rate"].replace("Mbps", " Mb/s"),
        seconds=seconds(matrix.world["duration"]),
        buffers=" and ".join([", ".join(f"{one:g}" for one in matrix.buffers[:-1]), f"{matrix.buffers[-1]:g}"]),
        replicates=matrix.replicates,
        runs=f"{len(matrix.plan.runs):,}",
        command=ATLAS_COMMAND,
        version=engine_version(),
        build=engine_build(),
    )
    rows = [[one.name, f"{one.share:.2f}", f"{one.done:.2f}", f"{one.suffered:.2f}", one.worst_neighbour] for one in ranked]
    standing = markdown_table(["algorithm", "mean share", "harm done", "harm suffered", "worst neighbour"], rows)
    names = [one.name for one in ranked]
    places = itertools.product(("40ms:40ms", "20ms:80ms"), matrix.buffers)
    return "\n".join([head, standing, *(shares_section(cells, names, rtt, buffer) for rtt, buffer in places)])


def shares_section(cells: Sequence[Cell], names: Sequence[str], rtt: str, buffer: float) -> str:
    """Return the shares of all pairs at one point, algorithms in the order of these names."""
    shown = {
        (cell.row, cell.column): f"{100 * cell.share.value:.0f}{'*' if cell.starved else ''}"
        for cell in cells
        if (cell.rtt, cell.buffer) == (rtt, buffer)
    }
    mine, other = rtt.replace("ms", " ms").split(":")
    title = f"\n## {mine} beside {other}, queue of {buffer:g} BDP\n"
    lines = [[f"{i} {name}", *(shown.get((name, one), "") for one in names)] for i, name in enumerate(names, 1)]
    table = markdown_table(["", *(str(i) for i in range(1, len(names) + 1))], lines)
    return "\n".join([title, SHARES.format(diagonal=DIAGONALS[mine == other]), table])


def index(folder: Path) -> str:
    """Return the page that lists the others, with how often each has which word."""
    rows = []
    for name in PAGES:
        if (path := folder / f"{name}.md").is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            counted = next((line for line in lines if line.startswith("Of ")), "")
            rows.append([f"[{lines[0].removeprefix('# ')}]({name}.md)", counted.partition(": ")[2].rstrip(".")])
    atlas = "\n[All algorithms of the engine beside one another](coexist.md).\n" if (folder / "coexist.md").is_file() else ""
    return HEAD + "\n" + markdown_table(["algorithm", "verdicts"], rows) + atlas


def main(arguments: Sequence[str]) -> None:
    """Write the pages with these names, all of them if none is given, and the list of all."""
    folder, pages = Path(arguments[0]), Path(arguments[1]) / "evaluations"
    for name in arguments[2:] or [*PAGES, "coexist"]:
        made = make_atlas(folder) if name == "coexist" else make_page(name, folder)
        (pages / f"{name}.md").write_text(made, encoding="utf-8")
    (pages / "README.md").write_text(index(pages), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
