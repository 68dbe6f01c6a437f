"""`tonopah study figure`: figures of a study for papers."""

import argparse
import fnmatch
import json
from dataclasses import replace
from pathlib import Path

from tonopah.analysis.figure_data import near_figures
from tonopah.analysis.figure_model import FigureData
from tonopah.cli.arguments import add_common, checked
from tonopah.cli.results import results_folder
from tonopah.errors import InputError, RunFailedError
from tonopah.execution.progress import show_progress
from tonopah.plot.look import FORMATS, PALETTES, Look, parse_font, parse_length, parse_size
from tonopah.plot.picture import write_picture
from tonopah.study.study import Study

EXAMPLES = (
    "tonopah study figure asran --list",
    "tonopah study figure asran 'fair--line--*' --format pdf --width 3.5in --font serif",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, draw_figures, *EXAMPLES)
    command.add_argument("study", metavar="NAME", help="study that was run: its name, or its results folder")
    command.add_argument("figures", nargs="*", metavar="FIGURE", help="ids of figures, * stands for any text (default: all)")
    command.add_argument("--list", action="store_true", help="print the ids and titles of the figures")
    command.add_argument(
        "--format", action="append", choices=FORMATS, help="format; may be repeated (default: pdf). PGF is for LaTeX's \\input"
    )
    command.add_argument(
        "--width", type=checked(parse_length), default=3.5, metavar="LENGTH", help="like 3.5in, 89mm or 252pt (default: 3.5in)"
    )
    command.add_argument("--height", type=checked(parse_length), metavar="LENGTH", help="height (default: from the width)")
    command.add_argument("--font", type=checked(parse_font), default="DejaVu Sans", metavar="NAME",
                         help="font, or serif, sans-serif, monospace (default: DejaVu Sans)")  # fmt: skip
    command.add_argument(
        "--font-size", type=checked(parse_size), metavar="POINTS", help="size of text (default: 8 below 4.5in of width, else 9)"
    )
    command.add_argument("--palette", choices=PALETTES, default="okabe-ito", help="colours (default: okabe-ito)")
    command.add_argument("--log", choices=("x", "y", "xy", "none"), help="axes that are logarithmic (default: as the study says)")
    command.add_argument("--common-scale", action="store_true", help="the same vertical axis for all figures of a metric")
    command.add_argument("--out", metavar="DIR", help="folder to write into (default: figures/ in the results folder)")


def draw_figures(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study figure`."""
    study = Study.open(results_folder(arguments.study))
    known = study.figures()
    chosen = choose(arguments.figures, known)
    if arguments.list:
        return print_list(chosen, arguments.json)
    look = Look(arguments.width, arguments.height, arguments.font, arguments.font_size, arguments.palette, arguments.common_scale)
    folder = Path(arguments.out) if arguments.out else study.folder / "figures"
    forms = list(dict.fromkeys(arguments.format or ["pdf"]))
    written = []
    try:
        with show_progress(len(chosen), 0, quiet=len(chosen) < 5, what="figures") as on_progress:
            for figure in chosen:
                asked = with_log(figure, arguments.log)
                written += [write_picture(asked, look, form, folder) for form in forms]
                on_progress()
    except OSError as error:
        raise RunFailedError(f"{folder}: the figures cannot be written: {error}") from error
    if arguments.json:
        print(json.dumps([str(path) for path in written]))
    else:
        print("\n".join(str(path) for path in written))
    return 0


def choose(wanted: list[str], known: dict[str, FigureData]) -> list[FigureData]:
    """Return the figures with these ids or patterns; all if there is none. Raises InputError."""
    if not wanted:
        return list(known.values())
    chosen: dict[str, FigureData] = {}
    for pattern in wanted:
        names = [name for name in known if fnmatch.fnmatchcase(name, pattern)]
        if not names:
            raise InputError("", f"there is no figure {pattern!r}", near_figures(pattern, known))
        chosen |= {name: known[name] for name in names}
    return list(chosen.values())


def with_log(figure: FigureData, log: str | None) -> FigureData:
    """Return a figure with other logarithmic axes, where it can have them: over numbers above zero."""
    if log is None:
        return figure
    places = figure.x.values or [x for one in figure.series for x in one.x if x is not None]
    x = "x" in log and figure.kind in ("line", "difference", "scatter", "ecdf", "cdf") and min(places, default=0.0) > 0
    y = "y" in log and figure.kind in ("line", "bar", "scatter", "series")
    return replace(figure, x=replace(figure.x, log=x), y=replace(figure.y, log=y))


def print_list(figures: list[FigureData], as_json: bool) -> int:
    """Print ids and titles."""
    if as_json:
        print(json.dumps([{"id": figure.id, "kind": figure.kind, "title": figure.title} for figure in figures]))
    else:
        width = max((len(figure.id) for figure in figures), default=0)
        print("\n".join(f"{figure.id:<{width}}  {figure.title}" for figure in figures))
    return 0
