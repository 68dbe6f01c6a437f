"""`python -m tonopah.reports.statements.panels docs [FILE …]`: all panels of the authors' networks, their numbers beside ours.

Ours are those of docs/generated/validation-authors, by the script's own definitions; nothing is run. What is drawn is listed in
panels.toml.
"""

import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli

from tonopah.plot import style
from tonopah.plot.picture import METADATA
from tonopah.reports.networks import network
from tonopah.reports.networks.model import MEDIAN
from tonopah.reports.statements import Known, Points, known, place, stored_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIST = "panels.toml"
LEFT, COLUMN, ROW, HEAD = 0.7, 1.55, 1.1, 0.8
"""Inches: of the labels, a column, a row, and what stands above and below."""
LEAST = 0.04
"""Height of a panel as a share of its values: less is no difference to see."""
SMALL = {"font.size": 7, "axes.labelsize": 7, "xtick.labelsize": 6.5, "ytick.labelsize": 6.5, "legend.fontsize": 7.5}


def listed() -> list[dict[str, Any]]:
    """Return the networks that are drawn."""
    return list(tomli.loads((files("tonopah.reports.statements") / LIST).read_text(encoding="utf-8"))["network"])


def points(one: Mapping[str, Any], axis: Mapping[str, Any], metric: str, held: Known) -> tuple[Points, Points]:
    """Return the author's numbers of a panel and ours; an axis without effect has one of them at each of its values."""
    report = network(one["network"]).report
    path = f"{axis['path']}/{metric}{MEDIAN if axis.get('median') else ''}"
    found = stored_points(report, path, "author"), held.ours(report, path)
    if "at" not in axis:
        return found
    ours = {name: {str(value): at[axis["at"]] for value in axis["values"]} for name, at in found[1].items() if axis["at"] in at}
    return {}, ours


def runs(one: Mapping[str, Any], axis: Mapping[str, Any], held: Known) -> int:
    """Return of how many runs ours over an axis are."""
    of = network(one["network"])
    name, along = axis["path"].split("/")
    rows = held.sweeps.get(f"{of.report}, {name}", ())
    return next((n for point, _, _, n in rows if point.split("/")[-2] == along), of.runs)


def title(one: Mapping[str, Any], held: Known) -> str:
    """Return the title of a network with n, by axis where it differs."""
    counts: dict[int, list[str]] = {}
    for axis in one["axes"]:
        counts.setdefault(runs(one, axis, held), []).append(axis["label"].partition(" (")[0].lower())
    by_axis = "; ".join(f"{n} over {', '.join(names)}" if len(counts) > 1 else str(n) for n, names in counts.items())
    author = any(points(one, axis, metric, held)[0] for axis in one["axes"] for metric in one["metrics"])
    return f"{one['title']}; n = {by_axis}" + ("" if author else "; its author printed no numbers")


def panel(axes: "Axes", names: Mapping[str, str], author: Points, ours: Points) -> Iterator[str]:
    """Draw one panel, and yield the words of what it has: a line for ours, crosses for what was printed."""
    for i, (name, words) in enumerate(names.items()):
        for found, shown in ((ours, words), (author, f"{words}, printed")):
            along = sorted(found.get(name, {}).items(), key=lambda pair: place(pair[0]))
            if not along:
                continue
            look: dict[str, Any] = (
                style.line_style(i) | {"linewidth": 1.1, "markersize": 4.5 - i, "markeredgewidth": 0.9} if found is ours
                else {"color": style.COLOURS[i], "marker": "x", "linestyle": "none", "markersize": 5.5, "markeredgewidth": 1.1}
            )  # fmt: skip
            axes.plot([place(value) for value, _ in along], [number for _, number in along], label=shown, **look)
            yield shown
    axes.margins(x=0.08, y=0.15)
    low, high = axes.get_ylim()
    short = max(0.0, LEAST * abs(high + low) / 2 - (high - low)) / 2
    axes.set_ylim(low - short, high + short)
    axes.locator_params(axis="y", nbins=4)


def draw(one: Mapping[str, Any], held: Known, figure: "Figure") -> None:
    """Draw the panels of a network."""
    grid = figure.subplots(len(one["metrics"]), len(one["axes"]), squeeze=False, sharex="col")
    shown: dict[str, Any] = {}
    for row, (metric, label) in zip(grid, one["metrics"].items(), strict=True):
        for axes, axis in zip(row, one["axes"], strict=True):
            author, ours = points(one, axis, metric, held)
            if not list(panel(axes, one["names"], author, ours)):
                raise ValueError(f"{one['file']}: nothing is known of {axis['path']}/{metric}")
            ticks = axis.get("values") or sorted({place(value) for of in ours.values() for value in of})
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            shown.update((words, handle) for handle, words in zip(*axes.get_legend_handles_labels(), strict=True))
        row[0].set_ylabel(label)
    for axes, axis in zip(grid[-1], one["axes"], strict=True):
        axes.set_xlabel(axis["label"])
    figure.align_ylabels(grid[:, 0])
    figure.legend(shown.values(), shown, loc="outside lower center", ncols=3)


def picture(one: Mapping[str, Any], held: Known, folder: Path) -> Path:
    """Write the panels of a network and return their path."""
    target = folder / f"{one['file']}.svg"
    with style.settings(SMALL) as plt:
        width, height = LEFT + COLUMN * max(3, len(one["axes"])), HEAD + ROW * len(one["metrics"])
        figure = plt.figure(figsize=(width, height))
        draw(one, held, figure)
        figure.suptitle(title(one, held), x=0.01, ha="left", fontsize=8)
        figure.savefig(target, format="svg", metadata=METADATA["svg"])
        plt.close(figure)
    return target


def main(docs: str, *chosen: str) -> None:
    """Draw the panels of all networks, or of those whose files are named."""
    held = known(Path(docs))
    for one in listed():
        if one["file"] in (chosen or [one["file"]]):
            print(picture(one, held, Path(docs, "findings")))


if __name__ == "__main__":
    main(*sys.argv[1:])
