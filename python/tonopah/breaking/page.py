"""The page of a search: each finding with its sentence, its world, and subject and reference over time."""

import json
from collections.abc import Sequence
from typing import Any

from tonopah._core import run
from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Mark, Series, as_numbers, step_of
from tonopah.breaking.folder import Folder, Question
from tonopah.breaking.observed import Observed, longest_stretch, observe
from tonopah.breaking.runs import Runs
from tonopah.breaking.scenario import BIN_S, WARMUP_S, Setup
from tonopah.breaking.search import State
from tonopah.breaking.told import Told, least_share_bps, recovery_s, short, weaknesses
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
    made = {name: recorded(runs, name, setup, seed) for name, setup in setups.items() if setup}
    series = {name: columns for name, (_, columns) in made.items()}
    setup, (own, _) = setups[trials.subject], made[trials.subject]
    assert setup
    other = next((seen for name, (seen, _) in made.items() if name == one.worst and not seen.failed), None)
    marks = [] if own.failed else [stretch(setup, one, own, other)]
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


def recorded(runs: Runs, label: str, setup: Setup, seed: int) -> tuple[Observed, Any]:
    """Return what is read of a run, and its series; None in the place of those if it ended with an error."""
    algorithm = runs.algorithms[label]
    scenario = {**setup.scenario, "record": {"series": list(SHOWN), "every": "100ms"}}
    try:
        loaded = {name: load_planned(name, origin).core for name, origin in algorithm.origins.items()}
        summary, columns = run(json.dumps(scenario), seed, loaded)[:2]
    except (AlgorithmError, LimitError) as error:
        return observe(error, None, setup.duration_s), None
    return observe(summary.json(), columns, setup.duration_s), columns


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


def stretch(setup: Setup, one: Told, own: Observed, other: Observed | None) -> Mark:
    """Return the stretch of time in which the subject fails: what its class counts."""
    name, flows, end_s = one.finding.name, setup.subjects, setup.duration_s
    # Beside itself a run counts as it does alone.
    beside = other or own
    if name == "recovery":
        return Mark(setup.last_change_s, "not recovered", setup.last_change_s + recovery_s(setup, own, beside))
    if name == "stall":
        first = own.start_bin(flows)
        begin, end = longest_stretch(own.together(flows)[first:] <= 0)
        return Mark(BIN_S * (first + begin), "no byte", BIN_S * (first + end))
    if name in ("starvation", "yields"):
        _, begin, end = own.starved(flows, least_share_bps(setup, own, beside))
        return Mark(BIN_S * begin, "starved", BIN_S * end)
    if name in ("slow", "unfinished"):
        start_s = own.value(flows[0], "start_s")
        ended = setup.app == "transfer" and own.ended(setup)
        return Mark(start_s, "waits", start_s + own.value(flows[0], "completion_s") if ended else end_s)
    return Mark(WARMUP_S, "counted", end_s)
