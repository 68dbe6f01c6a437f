"""`tonopah coexist`: every pair of algorithms on one bottleneck, over lengths of its queue and round-trip times."""

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tonopah._core import engine_build, engine_version
from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series, as_numbers
from tonopah.errors import InputError, RunFailedError
from tonopah.judge.definitions import Experiment, Point, World
from tonopah.judge.effects import mostly
from tonopah.judge.harm import harm_less, harm_more
from tonopah.judge.scoreboard import number
from tonopah.judge.study import JudgedStudy, Place, Results, make_part
from tonopah.judge.subjects import Subject, make_subject, read_subject
from tonopah.judge.worlds import seconds
from tonopah.metrics import show
from tonopah.names import figure_id
from tonopah.report.document import render_page
from tonopah.report.panels import make_panels
from tonopah.runs.simulation import algorithms
from tonopah.stats import NOT_MEASURED, Estimate, mean_of
from tonopah.writing import replace_file, written_whole

BUFFERS, RTTS = (0.5, 1.0, 4.0), (("40ms", "40ms"), ("20ms", "80ms"), ("80ms", "20ms"))
USUAL = {"rate": "50Mbps", "duration": "60s", "warmup": "20s"}
QUICK = {"rate": "20Mbps", "duration": "40s", "warmup": "15s"}
REPLICATES, QUICK_REPLICATES = 5, 3
PAIRS, SOLO = "coexist", "alone"


@dataclass(frozen=True)
class Company:
    """The algorithms of a matrix; an arm names two of them by their places, "3:7", or one alone, "3"."""

    members: tuple[Subject, ...]

    def algorithms(self, arm: str, point: Point) -> list[Any] | None:
        """Return what the groups of an arm run; a pair of the same is run with the shorter round-trip time first."""
        places, rtts = [int(place) for place in arm.split(":")], dict(point.axes)["rtt"].split(":")
        if len(places) == 2 and places[0] == places[1] and seconds(rtts[0]) > seconds(rtts[1]):
            return None
        return [self.members[place].cc for place in places]


@dataclass(frozen=True)
class Cell:
    """What becomes of one algorithm beside another at one point: means over replicates, and intervals where there are enough."""

    row: str
    column: str
    buffer: float
    rtt: str
    share: Estimate
    goodput_bps: float
    harm: float
    """Of goodput: the share of what it has alone."""
    harm_delay: float
    loss: float
    qdelay_p95_s: float
    starved: bool
    n: int

    @property
    def flat(self) -> dict[str, Any]:
        """The row of a table."""
        found = asdict(self)
        share = found.pop("share")
        return found | {"share": share["value"], "share_low": share["low"], "share_high": share["high"]}

    @property
    def note(self) -> str:
        """What hovering shows besides the share."""
        harm = "" if math.isnan(self.harm) else f"; harm to it {self.harm:.2f}"
        starved = "; it starves" if self.starved else ""
        waits = f"queueing delay {1000 * self.qdelay_p95_s:.0f} ms (95th percentile)"
        taken = f"{self.row} beside {self.column}: {self.goodput_bps / 1e6:.2f} Mb/s{harm}"
        return f"{taken}; loss {100 * self.loss:.2f} %, {waits}{starved}"


@dataclass(frozen=True)
class Standing:
    """An algorithm in the whole matrix: mean harm done and suffered, its worst neighbour, and its mean share."""

    name: str
    done: float
    suffered: float
    worst_neighbour: str
    share: float


class Coexistence(JudgedStudy):
    """The study of all pairs, and of each alone."""

    def __init__(
        self, company: Company, buffers: Sequence[float], rtts: Sequence[tuple[str, str]], replicates: int,
        world: Mapping[str, Any], flows: tuple[int, int], out: Path, store: str | Path | None,
    ):  # fmt: skip
        self.company, self.buffers, self.rtts, self.replicates = company, buffers, rtts, replicates
        self.world, self.flows = world, flows
        count = len(company.members)
        pairs = [f"{i}:{j}" for i, j in itertools.combinations_with_replacement(range(count), 2)]
        alone = [(rtt,) for rtt in sorted({rtt for pair in rtts for rtt in pair})]
        both = ((PAIRS, pairs, rtts, list(flows)), (SOLO, [str(i) for i in range(count)], alone, [1]))
        parts = []
        for name, arms, cases, groups in both:
            experiment = Experiment(id=name, title="Two algorithms on one bottleneck", draws=PAIRS, arms=arms)
            points = [self.point(experiment, *at, groups) for at in itertools.product(buffers, cases)]
            parts.append(make_part(experiment, points, company, replicates))
        super().__init__(PAIRS, parts, (), out, store)

    def point(self, experiment: Experiment, buffer: float, rtts: Sequence[str], flows: list[int]) -> Point:
        """Return a place of the matrix."""
        rtt = rtts[0] if len(set(rtts)) == 1 else list(rtts)
        world = World.model_validate({**self.world, "buffer": buffer, "buffer_rtt": "40ms", "rtt": rtt, "flows": flows})
        text = ":".join(rtts if len(rtts) > 1 else (rtts[0], SOLO))
        return Point(experiment, (("buffer", buffer), ("rtt", text), ("flows", len(flows))), world)

    def cells(self) -> list[Cell]:
        """Return both directions of every pair that has a run."""
        results, found = self.measured(), []
        for place in results.at(PAIRS):
            rtts = dict(place.point.axes)["rtt"].split(":")
            for arm in dict.fromkeys(place.table["algorithm"]):
                i, j = (int(one) for one in arm.split(":"))
                sides = [(i, j, "x", rtts), *([(j, i, "y", rtts[::-1])] if i != j or rtts[0] != rtts[1] else [])]
                found += [self.cell(results, place, arm, *side) for side in sides]
        return found

    def cell(self, results: Results, place: Place, arm: str, row: int, column: int, group: str, rtts: list[str]) -> Cell:
        """Return what becomes of one side of a pair."""
        buffer = place.point.world.buffer
        x_share = list(place.metric(arm, "x_share").values())
        # Of equal flows both directions count: the mean over replicates is about one half.
        shares = x_share if group == "x" else [1 - share for share in x_share]
        goodput, delay = (place.mean(arm, f"{group}_{name}") for name in ("goodput_bps", "qdelay_p95_s"))
        alone = results.at(SOLO, {"buffer": [buffer], "rtt": [f"{rtts[0]}:{SOLO}"]})[0]
        solo, solo_delay = (alone.mean(str(row), name) for name in ("goodput_bps", "qdelay_p95_s"))
        return Cell(
            self.company.members[row].label,
            self.company.members[column].label,
            buffer,
            ":".join(rtts),
            mean_of(shares).interval(0.95),
            goodput,
            harm_more(solo, goodput / self.flows[0 if group == "x" else 1]),
            harm_less(solo_delay, delay),
            place.mean(arm, f"{group}_loss"),
            delay,
            mostly(list(place.metric(arm, f"{group}_starved").values())),
            len(shares),
        )

    def facts(self, cells: Sequence[Cell]) -> dict[str, Any]:
        """Return the matrix for programs."""
        return {
            "format": 1,
            "engine": {"version": engine_version(), "build": engine_build()},
            "world": dict(self.world),
            "flows": list(self.flows),
            "replicates": self.replicates,
            "command": self.command,
            "cells": [plain(cell.flat) for cell in cells],
            "algorithms": [plain(asdict(one)) for one in standings(cells)],
        }

    def write(self, cells: Sequence[Cell], order: str) -> Path:
        """Write report.html, coexist.json and coexist.parquet, and return the path of the page."""
        import pandas as pd

        standing = standings(cells)
        names = [one.name for one in standing]
        names = clustered(cells, names) if order == "cluster" else names
        figures = [*heat_maps(cells, names), harm_figure(standing)]
        *maps, scatter = make_panels(figures)
        text = render_page(
            "coexist.html.j2", figures, "tonopah.judge", {"show": show}, matrix=self, maps=maps, scatter=scatter,
            standing=standing, names=names, replicates=sorted({cell.n for cell in cells}),
        )  # fmt: skip
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            with written_whole(self.out / "coexist.parquet") as file:
                pd.DataFrame([cell.flat for cell in cells]).to_parquet(file, index=False)
            replace_file(self.out / "coexist.json", json.dumps(self.facts(cells), allow_nan=False) + "\n")
            replace_file(self.out / "report.html", text)
        except OSError as error:
            raise RunFailedError(f"{self.out}: the report cannot be written: {error}") from error
        return self.out / "report.html"


def plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts as JSON can hold them."""
    return {key: number(value) if isinstance(value, float) else value for key, value in facts.items()}


def standings(cells: Sequence[Cell]) -> list[Standing]:
    """Return the algorithms, the one that takes most first."""
    found = []
    for name in dict.fromkeys(cell.row for cell in cells):
        mine = [cell for cell in cells if cell.row == name and cell.column != name]
        others = [cell for cell in cells if cell.column == name and cell.row != name]
        worst = max(mine, key=lambda cell: cell.harm, default=None)
        done, suffered = mean(cell.harm for cell in others), mean(cell.harm for cell in mine)
        found.append(Standing(name, done, suffered, worst.column if worst else "", mean(cell.share.value for cell in mine)))
    return sorted(found, key=lambda one: -one.share if not math.isnan(one.share) else 0.0)


def mean(values: Any) -> float:
    """Return the mean of what was measured; NaN of nothing."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def clustered(cells: Sequence[Cell], names: Sequence[str]) -> list[str]:
    """Return the names so that algorithms that fare alike stand beside each other (average linkage of their shares)."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(names) < 3:
        return list(names)
    places = list(dict.fromkeys((cell.column, cell.buffer, cell.rtt) for cell in cells))
    values = {(cell.row, cell.column, cell.buffer, cell.rtt): cell.share.value for cell in cells}
    table = np.array([[values.get((name, *place), 0.5) for place in places] for name in names])
    return [names[int(i)] for i in leaves_list(linkage(np.nan_to_num(table, nan=0.5), "average"))]


def heat_maps(cells: Sequence[Cell], names: Sequence[str]) -> list[FigureData]:
    """Return a figure for each length of the queue and case of round-trip times: whose share is it, beside whom."""
    places, ticks = [float(i) for i in range(len(names))], [name.removesuffix(" (linux)") for name in names]
    across, down = FigureAxis("column", "beside", "", places, ticks), FigureAxis("row", "row", "", places, ticks[::-1])
    made = []
    for buffer, rtt in sorted({(cell.buffer, cell.rtt) for cell in cells}):
        mine = {(cell.row, cell.column): cell for cell in cells if (cell.buffer, cell.rtt) == (buffer, rtt)}
        # The first row stands at the top.
        found = [mine.get((row, column)) for row in reversed(names) for column in names]
        shares = [cell.share.scaled(100.0) if cell else NOT_MEASURED for cell in found]
        series = Series(
            "Share of the row beside the column", 0, as_numbers(places * len(names)), as_numbers(one.value for one in shares),
            as_numbers(one.low for one in shares), as_numbers(one.high for one in shares), [one.n for one in shares],
            row=as_numbers(place for place in places for _ in names),
            notes=[cell.note if cell else "" for cell in found], marked=[bool(cell and cell.starved) for cell in found],
        )  # fmt: skip
        title = f"Queue {buffer:g} BDP, round-trip times {rtt}"
        scale = FigureScale("share", title, "%", 0.0, 100.0, middle=50.0)
        name, wide = figure_id(PAIRS, "heatmap", f"{buffer:g}", rtt.replace(":", "-")), len(names) > 12
        made.append(FigureData(name, PAIRS, "heatmap", title, "", across, scale, [series], down, wide=wide))
    return made


def harm_figure(standing: Sequence[Standing]) -> FigureData:
    """Return the figure of mean harm done over mean harm suffered."""
    series = [
        Series(one.name.removesuffix(" (linux)"), number, as_numbers([one.suffered]), as_numbers([one.done]))
        for number, one in enumerate(standing)
    ]
    across, up = FigureAxis("suffered", "mean harm suffered"), FigureScale("done", "mean harm done")
    return FigureData(figure_id(PAIRS, "scatter", "harm"), PAIRS, "scatter", up.label, "", across, up, series, diagonal=True)


def begin(
    named: Sequence[str] = (),
    buffers: Sequence[float] = (),
    rtts: Sequence[tuple[str, str]] = (),
    replicates: int = 0,
    quick: bool = False,
    queue: Mapping[str, Any] | None = None,
    flows: tuple[int, int] = (1, 1),
    ecn: bool = False,
    out: str | Path | None = None,
    store: str | Path | None = None,
) -> Coexistence:
    """Return a matrix as the command line names it. Raises InputError.

    Without names it is of all algorithms of the engine but those that are kept to repeat the results of other simulators.
    """
    ours = [entry["name"] for entry in algorithms() if ":" not in entry["name"] and not entry.get("compat", False)]
    members = tuple(read_subject(name) for name in named) or tuple(make_subject(name) for name in ours)
    if len({member.label for member in members}) < len(members):
        raise InputError("ALGORITHM", "the same algorithm is named twice", "each once")
    world: dict[str, Any] = dict(QUICK if quick else USUAL)
    if queue:
        world["queue"] = dict(queue)
    if ecn:
        world["ecn"] = ["classic"]
    count = replicates or (QUICK_REPLICATES if quick else REPLICATES)
    folder = Path(out) if out else Path("results") / "coexist"
    return Coexistence(Company(members), buffers or BUFFERS, rtts or RTTS, count, world, flows, folder, store)
