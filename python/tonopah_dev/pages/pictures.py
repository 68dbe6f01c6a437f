"""Pictures of docs/findings that show many algorithms: `python -m tonopah_dev.pages.pictures STORE docs [FILE …]`.

Curves that would cover one another have a panel each, one below the other, with common axes; points that would crowd have a row
each. Only the runs of a picture are made; STORE is their folder. What is drawn is listed in pictures.toml.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli

from tonopah.analysis.figure_model import step_of
from tonopah.analysis.tables import estimate, part_tables
from tonopah.execution import runner
from tonopah.execution.options import ExecutionOptions
from tonopah.metrics import metric
from tonopah.plot import style
from tonopah.plot.picture import METADATA
from tonopah.spec.plan import Plan, Run
from tonopah.stats import Estimate
from tonopah.store.store import Store
from tonopah.study.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIST = Path(__file__).with_name("pictures.toml")
WIDTH, ROW, PANEL, HEAD = 7.2, 0.19, 0.85, 0.75
"""Inches: of a picture, a row, a panel, and what stands above and below."""
STEPS = {"after": "steps-post", "before": "steps-pre", "": "default"}


def carry_out(runs: Iterable[Run], store: Store, jobs: int | None) -> None:
    """Make the runs that the store lacks."""
    runner.run_missing(Plan({run.id: run for run in runs}), store, options=ExecutionOptions(jobs=jobs))


def samples(one: Mapping[str, Any], store: Store, jobs: int | None) -> "dict[str, pd.DataFrame]":
    """Return a series of the representative run of each algorithm, by its name in words: of a flow, or the longest queue."""
    shown = Study.load(one["study"]).plan.parts[one["part"]].representative
    carry_out(shown.values(), store, jobs)
    frames = {words: store.series(shown[label].id, one["series"]) for label, words in one["names"].items()}
    first = next(iter(frames.values()))
    key = "link" if "link" in first.columns else "flow"
    chosen = first.loc[first["value"].idxmax(), "link"] if key == "link" else one.get("flow", 0)
    return {words: frame[frame[key] == chosen] for words, frame in frames.items()}


def draw_panels(figure: "Figure", one: Mapping[str, Any], frames: "Mapping[str, pd.DataFrame]") -> None:
    """Draw a panel for each algorithm, with common axes."""
    shown = metric(one["series"])
    rows: list[Axes] = list(figure.subplots(len(frames), 1, sharex=True, sharey=True))
    for i, (axes, (words, frame)) in enumerate(zip(rows, frames.items(), strict=True)):
        colour = style.COLOURS[i % len(style.COLOURS)]
        drawstyle = STEPS[step_of(one["series"])]
        axes.plot(frame["t_s"], frame["value"] * shown.factor, color=colour, linewidth=1.0, drawstyle=drawstyle)
        axes.text(1.01, 0.5, words, transform=axes.transAxes, va="center", color=colour)
    # Once all are drawn: a bound that is set keeps the axes from growing.
    rows[0].set_ylim(bottom=0)
    rows[-1].set_xlabel("Time (s)")
    figure.supylabel(f"{shown.label} ({shown.unit})", fontsize=9)


def estimates(one: Mapping[str, Any], store: Store, jobs: int | None) -> dict[str, list[Estimate]]:
    """Return the metrics of every algorithm at one value of the part's axis."""
    study = Study.load(one["study"])
    part, plan = study.spec.part(one["part"]), study.plan.parts[one["part"]]
    runs = {name: run for name, run in plan.runs.items() if one["at"] in run.values.values()}
    carry_out(runs.values(), store, jobs)
    table = part_tables(part, replace(plan, runs=runs), store)[0]
    columns = [part.metric(name) for name in one["metrics"]]
    return {
        label: [estimate(table, column, label, {}, part.method).scaled(column.factor) for column in columns]
        for label in part.labels
    }


def draw_rows(figure: "Figure", one: Mapping[str, Any], found: Mapping[str, list[Estimate]]) -> None:
    """Draw a row for each algorithm, in the order of the first metric."""
    order = sorted(found, key=lambda label: found[label][0].value)
    panels: list[Axes] = list(figure.subplots(1, len(one["metrics"]), sharey=True))
    for i, (axes, name) in enumerate(zip(panels, one["metrics"], strict=True)):
        values = [found[label][i] for label in order]
        reach = [[value.value - value.low for value in values], [value.high - value.value for value in values]]
        known = [not value.unbounded for value in values]
        around = [[far if sure else 0.0 for far, sure in zip(side, known, strict=True)] for side in reach]
        axes.errorbar(
            [value.value for value in values], range(len(order)), xerr=around, fmt="o", markersize=4, linewidth=1.0,
            color=style.COLOURS[i],
        )  # fmt: skip
        axes.set_xlabel(f"{metric(name).label} ({metric(name).unit})")
        axes.set_yticks(range(len(order)), order)
        axes.set_xlim(left=0)


def draw(one: Mapping[str, Any], store: Store, folder: Path, form: str = "svg", jobs: int | None = None) -> Path:
    """Draw a picture of the list and return its path."""
    series = "series" in one
    found: Mapping[str, Any] = samples(one, store, jobs) if series else estimates(one, store, jobs)
    painter: Callable[..., None] = draw_panels if series else draw_rows
    target = folder / f"{one['file']}.{form}"
    with style.settings() as plt:
        figure = plt.figure(figsize=(WIDTH, HEAD + len(found) * (PANEL if series else ROW)))
        painter(figure, one, found)
        figure.suptitle(one["title"], x=0.01, ha="left", fontsize=9)
        figure.savefig(target, format=form, metadata=METADATA[form])
        plt.close(figure)
    return target


def main(words: list[str] | None = None) -> None:
    """Carry out the command line."""
    command = argparse.ArgumentParser(prog="python -m tonopah_dev.pages.pictures")
    command.add_argument("store", metavar="STORE")
    command.add_argument("docs", metavar="DOCS")
    command.add_argument("files", metavar="FILE", nargs="*", help="pictures to draw (default: all)")
    command.add_argument("--format", choices=["svg", "png"], default="svg")
    command.add_argument("--jobs", type=int, metavar="N")
    arguments = command.parse_args(words)
    listed = tomli.loads(LIST.read_text(encoding="utf-8"))["picture"]
    with Store(Path(arguments.store)) as store:
        for one in listed:
            if one["file"] in (arguments.files or [one["file"]]):
                print(draw(one, store, Path(arguments.docs, "findings"), arguments.format, arguments.jobs))


if __name__ == "__main__":
    main()
