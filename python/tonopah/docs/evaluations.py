"""The pages of docs/evaluations: `python -m tonopah.docs.evaluations FOLDER docs [NAME…]`.

Each algorithm is evaluated at quick size; runs that FOLDER has already are not repeated, and the runs of the baselines serve
all pages.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tonopah._core import engine_build, engine_version
from tonopah.docs.markdown import markdown_table
from tonopah.evaluate import board, page
from tonopah.evaluate.evaluation import begin
from tonopah.execution.options import ExecutionOptions


@dataclass(frozen=True)
class Page:
    """An algorithm as the command takes it, and what is to be said of it."""

    algorithm: str
    about: str = ""


STUDIED = "One of the algorithms of the [studies](../findings.md)."
HYSTART = "CUBIC of Linux 2.6, as in the study [hystart](../findings/hystart.md), {} HyStart."
PAGES = {
    "cubic": Page("cubic", "The baseline itself: its arms are the same runs, so that no row can differ."),
    "reno": Page("reno"),
    "bbr": Page("bbr"),
    "bbr3": Page("bbr3"),
    "copa": Page("copa"),
    "prague": Page("prague", "Its own conditions are DualPI2 in E31 and E32; elsewhere no queue marks, unless the row says so."),
    "ewphcc": Page("ewphcc", STUDIED),
    "fr": Page("fr", STUDIED),
    "asran": Page("asran", STUDIED),
    "hystart-off": Page('{ name = "cubic", profile = "linux26", hystart = false }', HYSTART.format("without")),
    "hystart-on": Page('{ name = "cubic", profile = "linux26", hystart = true }', HYSTART.format("with")),
}


def make_page(name: str, folder: Path, jobs: int | None = None) -> str:
    """Return the page of an algorithm; what its evaluation lacks is run first."""
    wanted = PAGES[name]
    evaluation = begin(wanted.algorithm, out=folder / name, store=folder / "runs")
    argument = f"'{wanted.algorithm}'" if " " in wanted.algorithm else wanted.algorithm
    evaluation.command = f"tonopah evaluate {argument}"
    evaluation.run(ExecutionOptions(jobs=jobs), quiet=True)
    measured = evaluation.measured()
    rows = evaluation.rows(measured)
    page.write(evaluation, measured, rows)
    made = f"Made by `{evaluation.command}` at quick size with engine {engine_version()} (build {engine_build()}).".replace(
        "|", "\\|"
    )
    title, _, rest = board.markdown(evaluation, rows).partition("\n\n")
    words = "[What the words mean](../evaluate.md#reading-the-scoreboard)."
    return "\n\n".join([title, " ".join(text for text in (made, wanted.about, words) if text), rest])


HEAD = """# Evaluations along RFC 9743

What [`tonopah evaluate`](../evaluate.md) says of these algorithms at quick size: 5 replicates of each run, against CUBIC and
Reno of Linux. It is evidence from simulation, no certificate. `python -m tonopah.docs.evaluations results/evaluations docs`
makes these pages; each names the command that makes its report.
"""


def index(folder: Path) -> str:
    """Return the page that lists the others, with how often each has which word."""
    rows = []
    for name in PAGES:
        if (path := folder / f"{name}.md").is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            counted = next((line for line in lines if line.startswith("Of ")), "")
            rows.append([f"[{lines[0].removeprefix('# ')}]({name}.md)", counted.partition(": ")[2].rstrip(".")])
    return HEAD + "\n" + markdown_table(["algorithm", "verdicts"], rows)


def main(arguments: Sequence[str]) -> None:
    """Write the pages with these names, all of them if none is given, and the list of all."""
    folder, pages = Path(arguments[0]), Path(arguments[1]) / "evaluations"
    for name in arguments[2:] or PAGES:
        (pages / f"{name}.md").write_text(make_page(name, folder), encoding="utf-8")
    (pages / "README.md").write_text(index(pages), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
