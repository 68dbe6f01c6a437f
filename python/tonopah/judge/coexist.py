"""`tonopah coexist`: every pair of algorithms on one bottleneck, over lengths of its queue and round-trip times.

Every pair is run in both orders, since the first flow of a world has starts and delays of its own, and as long as its
sharing takes to settle (length.py).
"""

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tonopah._core import engine_build, engine_version
from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series, as_numbers
from tonopah.analysis.telling import Found, tell
from tonopah.errors import InputError, RunFailedError
from tonopah.judge.definitions import Experiment, Point, World
from tonopah.judge.effects import mostly
from tonopah.judge.harm import harm_less, harm_more
from tonopah.judge.study import JudgedStudy, Place, Results, make_part
from tonopah.judge.subjects import Subject, make_subject, read_subject
from tonopah.judge.worlds import seconds
from tonopah.metrics import show
from tonopah.names import figure_id
from tonopah.report.document import render_page
from tonopah.report.panels import make_panels
from tonopah.runs.simulation import algorithms
from tonopah.stats import NOT_MEASURED, Estimate, mean_of, or_none
from tonopah.writing import replace_file, written_whole

BUFFERS, RTTS = (0.5, 1.0, 4.0), (("40ms", "40ms"), ("20ms", "80ms"), ("80ms", "20ms"))
USUAL = {"rate": "50Mbps", "duration": "60s", "warmup": "20s"}
QUICK = {"rate": "20Mbps", "duration": "40s", "warmup": "15s"}
LONG_RUN = {"settles": True, "traces": ["sharing"]}
"""What the worlds of pairs have besides."""
FORMAT = 2
MOST_LISTED = 400
"""Cells that the page lists one by one; the files have all."""
REPLICATES, QUICK_REPLICATES = 5, 4
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
class Side:
    """An algorithm in one order of a pair: the place and arm of its runs, and its group in them."""

    place: Place
    arm: str
    group: str

    @property
    def shares(self) -> dict[int, float]:
        """Its share by replicate."""
        first = self.place.metric(self.arm, "x_share")
        return first if self.group == "x" else {k: 1 - share for k, share in first.items()}

    def mean(self, name: str) -> float:
        """Return the mean of a metric of its group."""
        return self.place.mean(self.arm, f"{self.group}_{name}")


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
    excess: float
    """This harm less what an equal would do to it: one half where one flow meets one."""
    harm_delay: float
    loss: float
    qdelay_p95_s: float
    starved: bool
    settled: bool
    """Whether its runs tell of the long run."""
    n: int

    @property
    def share_text(self) -> str:
        """The share in percent with its interval."""
        found = self.share.scaled(100.0)
        ends = "" if math.isnan(found.low) else f" [{show(found.low, 3)}, {show(found.high, 3)}]"
        return f"{show(found.value, 3)}{ends} %{'' if self.settled else ', not converged'}"

    @property
    def flat(self) -> dict[str, Any]:
        """The row of a table."""
        found = asdict(self)
        share = found.pop("share")
        return found | {"share": share["value"], "share_low": share["low"], "share_high": share["high"]}

    @property
    def note(self) -> str:
        """What hovering shows besides the share."""
        harm = "" if math.isnan(self.harm) else f"; harm to it {self.harm:.2f}, {self.excess:+.2f} beyond an equal's"
        starved = ("; it starves" if self.starved else "") + ("" if self.settled else "; not converged")
        waits = f"queueing delay {1000 * self.qdelay_p95_s:.0f} ms (95th percentile)"
        taken = f"{self.row} beside {self.column}: {self.goodput_bps / 1e6:.2f} Mb/s{harm}"
        return f"{taken}; loss {100 * self.loss:.2f} %, {waits}{starved}"


@dataclass(frozen=True)
class Standing:
    """An algorithm in the whole matrix: mean excess harm done and suffered, its worst neighbour, and its mean share."""

    name: str
    done: float
    """Beyond what an equal does."""
    suffered: float
    worst_neighbour: str
    share: float


class Coexistence(JudgedStudy):
    """The study of all pairs, and of each alone."""

    kind = "coexist"
    arms_compared = False

    def __init__(
        self, company: Company, buffers: Sequence[float], rtts: Sequence[tuple[str, str]], replicates: int,
        world: Mapping[str, Any], flows: tuple[int, int], out: Path, store: str | Path | None,
    ):  # fmt: skip
        rtts = list(dict.fromkeys(case for pair in rtts for case in (pair, (pair[1], pair[0]))))
        self.company, self.buffers, self.rtts, self.replicates = company, buffers, rtts, replicates
        self.world, self.flows = world, flows
        count = len(company.members)
        pairs = [f"{i}:{j}" for i, j in itertools.product(range(count), repeat=2)]
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
        pair = LONG_RUN if experiment.id == PAIRS else {}
        world = World.model_validate({**self.world, **pair, "buffer": buffer, "buffer_rtt": "40ms", "rtt": rtt, "flows": flows})
        text = ":".join(rtts if len(rtts) > 1 else (rtts[0], SOLO))
        return Point(experiment, (("buffer", buffer), ("rtt", text), ("flows", len(flows))), world)

    def cells(self) -> list[Cell]:
        """Return both directions of every pair that has a run."""
        results, found = self.measured(), defaultdict[tuple[int, int, float, str], list[Side]](list)
        for place in results.at(PAIRS):
            buffer, rtts = place.point.world.buffer, dict(place.point.axes)["rtt"].split(":")
            for arm in place.arms:
                i, j = (int(one) for one in arm.split(":"))
                found[i, j, buffer, ":".join(rtts)].append(Side(place, arm, "x"))
                # Of an algorithm beside itself the two directions are one where the round-trip times are.
                if i != j or rtts[0] != rtts[1]:
                    found[j, i, buffer, ":".join(rtts[::-1])].append(Side(place, arm, "y"))
        return [self.cell(results, *key, sides) for key, sides in sorted(found.items())]

    def cell(self, results: Results, row: int, column: int, buffer: float, rtt: str, sides: "list[Side]") -> Cell:
        """Return what becomes of one side of a pair, over both of its orders."""
        by_order = [side.shares for side in sides]
        shares = [mean(order[k] for order in by_order) for k in sorted(set.intersection(*map(set, by_order)))]
        goodput, delay, loss = (mean(side.mean(name) for side in sides) for name in ("goodput_bps", "qdelay_p95_s", "loss"))
        alone = results.at(SOLO, {"buffer": [buffer], "rtt": [f"{rtt.partition(':')[0]}:{SOLO}"]})[0]
        solo, solo_delay = (alone.mean(str(row), name) for name in ("goodput_bps", "qdelay_p95_s"))
        harm = harm_more(solo, mean(side.mean("goodput_bps") / self.flows[side.group == "y"] for side in sides))
        return Cell(
            self.company.members[row].label,
            self.company.members[column].label,
            buffer,
            rtt,
            mean_of(shares, (0.0, 1.0)).interval(0.95),
            goodput,
            harm,
            harm - (1 - 1 / sum(self.flows)),
            harm_less(solo_delay, delay),
            loss,
            delay,
            mostly([value for side in sides for value in side.place.metric(side.arm, f"{side.group}_starved").values()]),
            all(side.place.has_settled(side.arm) for side in sides),
            len(shares),
        )

    def facts(self, cells: Sequence[Cell]) -> dict[str, Any]:
        """Return the matrix for programs."""
        return {
            "format": FORMAT,
            "engine": {"version": engine_version(), "build": engine_build()},
            "world": dict(self.world),
            "flows": list(self.flows),
            "replicates": self.replicates,
            "seeds": self.seeds,
            "command": self.command,
            "cells": [plain(cell.flat) for cell in cells],
            "algorithms": [plain(asdict(one)) for one in standings(cells)],
            "answer": answer(cells),
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
            standing=standing, names=names, answer=answer(cells), replicates=sorted({cell.n for cell in cells}),
            listed=[cell for cell in cells if cell.row != cell.column] if len(cells) <= MOST_LISTED else [],
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


HALVES = ("more than half", "less than half", "not told from half", "unknown")
"""What a share is, by its interval."""


def answer(cells: Sequence[Cell]) -> list[str]:
    """Return who takes most and least of the link beside the others, and whom somebody starves.

    Of a few algorithms then a sentence for each pair: in which places who takes more than half, and how much where it is most.
    """
    standing = [one for one in standings(cells) if not math.isnan(one.share)]
    if len(standing) < 2:
        return []
    first, last = ((one.name, f"{show(100 * one.share, 3)} %") for one in (standing[0], standing[-1]))
    starved = sorted({f"{cell.row} beside {cell.column}" for cell in cells if cell.starved})
    more = f" and {len(starved) - MOST_TOLD} more" if len(starved) > MOST_TOLD else ""
    verb = "starves" if len(starved) == 1 else "starve"
    hungry = f"{', '.join(starved[:MOST_TOLD])}{more} {verb}" if starved else "nobody starves"
    whole = f"On average {first[0]} takes most, {first[1]} of what the pair gets, and {last[0]} least, {last[1]}; {hungry}."
    pairs = list(itertools.combinations([one.name for one in standing], 2))
    return [whole, *([pair_text(one, other, cells) for one, other in pairs] if len(pairs) <= MOST_TOLD else [])]


MOST_TOLD = 3
"""So many pairs have a sentence each, and so many starved ones are named."""


def pair_text(one: str, other: str, cells: Sequence[Cell]) -> str:
    """Return where one takes more than half beside another."""
    mine = [cell for cell in cells if (cell.row, cell.column) == (one, other)]
    found = [
        Found(half(cell.share), f"{cell.buffer:g} BDP, {cell.rtt}", cell.share_text, abs(cell.share.value - 0.5)) for cell in mine
    ]
    return f"Beside {other}, {one} gets {tell(found, HALVES)}; {max(cell.n for cell in mine)} replicates."


def half(share: Estimate) -> str:
    """Return what a share is beside one half, by its interval."""
    if math.isnan(share.value) or math.isnan(share.low):
        return HALVES[3]
    return HALVES[0] if share.low > 0.5 else HALVES[1] if share.high < 0.5 else HALVES[2]


def plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts as JSON can hold them."""
    return {key: or_none(value) for key, value in facts.items()}


def standings(cells: Sequence[Cell]) -> list[Standing]:
    """Return the algorithms, the one that takes most first."""
    found = []
    for name in dict.fromkeys(cell.row for cell in cells):
        mine = [cell for cell in cells if cell.row == name and cell.column != name]
        others = [cell for cell in cells if cell.column == name and cell.row != name]
        worst = max(mine, key=lambda cell: cell.excess, default=None)
        done, suffered = mean(cell.excess for cell in others), mean(cell.excess for cell in mine)
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
    """Return the figure of mean excess harm done over that suffered."""
    series = [
        Series(one.name.removesuffix(" (linux)"), number, as_numbers([one.suffered]), as_numbers([one.done]))
        for number, one in enumerate(standing)
    ]
    across, up = FigureAxis("suffered", "mean excess harm suffered"), FigureScale("done", "mean excess harm done")
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
    if len(named) == 1:
        raise InputError("ALGORITHM", f"{named[0]!r} has nobody beside it", "two or more, or none for all")
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
