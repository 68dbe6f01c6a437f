"""The page of a search: each finding with its sentence, its world, and subject and reference over time."""

import json
from collections.abc import Sequence
from typing import Any

from tonopah._core import run
from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Mark, Series, as_numbers, step_of
from tonopah.breaking.folder import Folder, Question
from tonopah.breaking.observed import observe
from tonopah.breaking.runs import Runs
from tonopah.breaking.scenario import Setup
from tonopah.breaking.search import State
from tonopah.breaking.told import Told, short, weaknesses
from tonopah.breaking.trial import Trials
from tonopah.cc.loading import load_planned
from tonopah.errors import AlgorithmError, LimitError
from tonopah.metrics import metric, show
from tonopah.names import figure_id
from tonopah.report.document import render_page
from tonopah.report.panels import make_panels
from tonopah.runs.simulation import OWNERS

SHOWN = ("goodput", "cwnd", "queue")


def write_page(folder: Folder, asked: Question, trials: Trials, state: State, told: Sequence[Told], command: str) -> None:
    """Write index.html. The runs that are drawn are made anew, with the series that a picture needs."""
    sections = []
    figures: list[FigureData] = []
    for one in told:
        drawn = pictures(trials, one) if one.finding.name != "error" else []
        figures += drawn
        sections.append({"one": one, "panels": make_panels(drawn), "rows": rows(trials, one)})
    text = render_page(
        "page.html.j2", figures, "tonopah.breaking", {"show": show}, sections=sections, asked=asked, state=state,
        command=command, name=short(trials, trials.subject), space=trials.runs.space,
        groups=weaknesses(told, len(trials.runs.space.axes)),
    )  # fmt: skip
    folder.write("index.html", text)


def rows(trials: Trials, one: Told) -> list[tuple[str, list[str]]]:
    """Return the numbers of all seeds, a row for each algorithm."""
    return [(short(trials, name), [show(value, 3) for value in values]) for name, values in one.values.items()]


def pictures(trials: Trials, one: Told) -> list[FigureData]:
    """Return goodput, window and queue of subject and nearest reference, with a seed that fails."""
    runs, seed, world = trials.runs, one.finding.fails[0], one.finding.where
    setups = {name: runs.setup(world, name) for name in (trials.subject, one.worst)}
    series = {name: recorded(runs, name, setup, seed) for name, setup in setups.items() if setup}
    setup = setups[trials.subject]
    assert setup
    marks = stretch(setup, one, series[trials.subject])
    found = []
    for kind in SHOWN:
        shown = metric(kind)
        lines: list[Series] = []
        for label, columns in series.items():
            if columns is not None and kind in columns:
                lines += lines_of(kind, columns[kind], setup, short(trials, label), len(lines))
        if lines:
            name = figure_id(f"finding{one.number}", "series", kind)
            scale = FigureScale(kind, shown.label, shown.unit)
            across = FigureAxis("t_s", "Time", "s")
            found.append(FigureData(name, "", "series", shown.label, "", across, scale, lines, marks=marks, step=step_of(kind)))
    return found


def recorded(runs: Runs, label: str, setup: Setup, seed: int) -> Any:
    """Return the series of a run; None if it ended with an error."""
    algorithm = runs.algorithms[label]
    scenario = {**setup.scenario, "record": {"series": list(SHOWN), "every": "100ms"}}
    try:
        loaded = {name: load_planned(name, origin).core for name, origin in algorithm.origins.items()}
        return run(json.dumps(scenario), seed, loaded)[1]
    except (AlgorithmError, LimitError):
        return None


def lines_of(kind: str, columns: Any, setup: Setup, name: str, style: int) -> list[Series]:
    """Return the lines of a series: of a flow of the subject's or of the rivals', and of the line that all share."""
    factor = metric(kind).factor
    wanted = {flow: f"{name}, flow {number + 1}" if number else name for number, flow in enumerate(setup.subjects)}
    wanted |= {flow: f"{setup.rival} beside {name}" for flow in setup.rivals} if kind == "goodput" else {}
    if OWNERS.get(kind) == "link":
        wanted = {bottleneck_of(columns): name}
    made = []
    for owner, label in wanted.items():
        mine = columns["id"] == owner
        if mine.any():
            made.append(
                Series(label, style + len(made), as_numbers(columns["t_s"][mine]), as_numbers(columns["value"][mine] * factor))
            )
    return made


def bottleneck_of(columns: Any) -> int:
    """Return the link whose queue is the longest on average: the one that all share."""
    import numpy as np

    owners = np.unique(columns["id"])
    return int(max(owners, key=lambda owner: float(columns["value"][columns["id"] == owner].mean())))


def stretch(setup: Setup, one: Told, columns: Any) -> list[Mark]:
    """Return where it fails by the series of the subject, where that is a stretch of time."""
    if one.finding.name == "recovery":
        return [Mark(setup.last_change_s, "the line changes")]
    if one.finding.name == "stall" and columns is not None:
        seen = observe(json.dumps({"flows": [{"start_s": 0.0}] * (1 + max(columns["goodput"]["id"]))}), columns, setup.duration_s)
        silent = seen.together(setup.subjects) <= 0
        ends = [place for place in range(1, len(silent)) if silent[place] and not silent[place - 1]]
        return [Mark(0.1 * ends[-1], "silent from here")] if ends else []
    return []
