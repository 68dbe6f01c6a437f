"""`tonopah coexist`: every pair of algorithms on one bottleneck, over lengths of its queue and round-trip times."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tonopah.errors import InputError
from tonopah.evaluate.definitions import Experiment, Point, World
from tonopah.evaluate.harm import harm_less, harm_more
from tonopah.evaluate.measured import Measured, PointValues, collect
from tonopah.evaluate.plan import EvaluationPlan, add_run, count_missing, order_runs
from tonopah.evaluate.subjects import Subject, make_subject, read_subject
from tonopah.evaluate.verdict import starved_mostly
from tonopah.evaluate.worlds import seconds
from tonopah.execution import runner
from tonopah.execution.options import ExecutionOptions
from tonopah.simulation import algorithms
from tonopah.spec.plan import Plan
from tonopah.stats import Estimate, mean_of
from tonopah.store.store import Store

EXPERIMENT = Experiment(id="coexist", title="Two algorithms on one bottleneck")
BUFFERS, RTTS = (0.5, 1.0, 4.0), (("40ms", "40ms"), ("20ms", "80ms"), ("80ms", "20ms"))
USUAL = {"rate": "50Mbps", "duration": "60s", "warmup": "20s"}
QUICK = {"rate": "20Mbps", "duration": "40s", "warmup": "15s"}
REPLICATES, QUICK_REPLICATES = 5, 3
SOLO = "alone"


@dataclass(frozen=True)
class Company:
    """The algorithms of a matrix; an arm names two of them by their places, "3:7", or one alone, "3"."""

    members: tuple[Subject, ...]

    def algorithms(self, arm: str, other: str) -> list[Any]:
        """Return what the groups of an arm run."""
        return [self.members[int(place)].cc for place in arm.split(":")]


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


@dataclass
class Coexistence:
    """A matrix: who, where, and how often."""

    company: Company
    buffers: Sequence[float] = BUFFERS
    rtts: Sequence[tuple[str, str]] = RTTS
    replicates: int = REPLICATES
    world: Mapping[str, Any] = field(default_factory=lambda: dict(USUAL))
    flows: tuple[int, int] = (1, 1)
    folder: Path = Path()
    store_folder: Path = Path()
    command: str = ""
    made: EvaluationPlan | None = None

    def plan(self) -> EvaluationPlan:
        """Return all runs, by replicate, so that an interrupted matrix is a whole one with fewer replicates."""
        if self.made is None:
            plan = EvaluationPlan(Plan())
            count = len(self.company.members)
            for buffer, rtts in itertools.product(self.buffers, self.rtts):
                point = self.point(buffer, rtts, list(self.flows))
                for i, j in itertools.combinations_with_replacement(range(count), 2):
                    if i < j or seconds(rtts[0]) <= seconds(rtts[1]):
                        self.add(plan, point, f"{i}:{j}")
            for buffer, rtt in itertools.product(self.buffers, sorted({rtt for pair in self.rtts for rtt in pair})):
                point = self.point(buffer, (rtt,), [1])
                for i in range(count):
                    self.add(plan, point, str(i))
            self.made = order_runs(plan, lambda cell: cell.replicate)
        return self.made

    def point(self, buffer: float, rtts: tuple[str, ...], flows: list[int]) -> Point:
        """Return a place of the matrix."""
        rtt = rtts[0] if len(set(rtts)) == 1 else list(rtts)
        world = World.model_validate({**self.world, "buffer": buffer, "buffer_rtt": "40ms", "rtt": rtt, "flows": flows})
        return Point(EXPERIMENT, (("buffer", buffer), ("rtt", rtt_text(rtts)), ("flows", len(flows))), world)

    def add(self, plan: EvaluationPlan, point: Point, arm: str) -> None:
        """Add the replicates of an arm."""
        for replicate in range(1, self.replicates + 1):
            add_run(plan, self.company, point, arm, replicate)

    def run(self, options: ExecutionOptions, quiet: bool = False) -> int:
        """Run what the folder lacks, and return how many runs that were."""
        with Store(self.store_folder, wait=options.wait) as store:
            return runner.run_missing(self.plan().runs, store, quiet=quiet, options=options)

    def counted(self) -> tuple[int, int]:
        """Return how many runs there are, and how many are not stored."""
        return len(self.plan().runs.runs), count_missing(self.plan(), self.store_folder)

    def cells(self) -> list[Cell]:
        """Return the cells that have a run."""
        with Store(self.store_folder, create=False) as store:
            return read_cells(self, collect(self.plan(), store))


def rtt_text(rtts: Sequence[str]) -> str:
    """Return a case of round-trip times: that of the row, then that of the column."""
    return ":".join(rtts if len(rtts) > 1 else (rtts[0], SOLO))


def read_cells(matrix: Coexistence, measured: Measured) -> list[Cell]:
    """Return both directions of every pair."""
    points = {(one.point.world.buffer, dict(one.point.axes)["rtt"]): one for one in measured.points.get(EXPERIMENT.id, [])}
    found = []
    for (buffer, _), point in points.items():
        rtts = [point.point.world.rtt] if isinstance(point.point.world.rtt, str) else point.point.world.rtt
        for arm in point.arms:
            if ":" not in arm:
                continue
            i, j = (int(place) for place in arm.split(":"))
            pair = (rtts[0], rtts[-1])
            sides = [(i, j, "x", pair), *([(j, i, "y", pair[::-1])] if i != j or pair[0] != pair[1] else [])]
            for row, column, group, case in sides:
                alone = points.get((buffer, rtt_text((case[0],))))
                found.append(read_cell(matrix, point, arm, (row, column, group, case), alone))
    return found


def read_cell(
    matrix: Coexistence, point: PointValues, arm: str, place: tuple[int, int, str, tuple[str, str]], alone: PointValues | None
) -> Cell:
    """Return what becomes of one side of a pair."""
    row, column, group, case = place
    x_share = list(point.metric(arm, "x_share").values())
    shares = x_share if group == "x" else [1 - share for share in x_share]
    if row == column and case[0] == case[1]:
        # Of equal flows both directions count: the mean over replicates is about one half.
        shares = x_share
    goodput, delay = (point.mean(arm, f"{group}_{name}") for name in ("goodput_bps", "qdelay_p95_s"))
    solo = alone.mean(str(row), "goodput_bps") if alone else math.nan
    solo_delay = alone.mean(str(row), "qdelay_p95_s") if alone else math.nan
    return Cell(
        matrix.company.members[row].label,
        matrix.company.members[column].label,
        point.point.world.buffer,
        ":".join(case),
        mean_of(shares).interval(0.95),
        goodput,
        harm_more(solo, goodput / matrix.flows[0 if group == "x" else 1]),
        harm_less(solo_delay, delay),
        point.mean(arm, f"{group}_loss"),
        delay,
        starved_mostly(list(point.metric(arm, f"{group}_starved").values())),
        len(shares),
    )


@dataclass(frozen=True)
class Standing:
    """An algorithm in the whole matrix: mean harm done and suffered, its worst neighbour, and what it is called by rule."""

    name: str
    done: float
    suffered: float
    worst_neighbour: str
    share: float


def standings(cells: Sequence[Cell]) -> list[Standing]:
    """Return the algorithms, the one that takes most first."""
    names = list(dict.fromkeys(cell.row for cell in cells))
    found = []
    for name in names:
        mine = [cell for cell in cells if cell.row == name and cell.column != name]
        others = [cell for cell in cells if cell.column == name and cell.row != name]
        worst = max(mine, key=lambda cell: cell.harm, default=None)
        found.append(
            Standing(
                name,
                mean(cell.harm for cell in others),
                mean(cell.harm for cell in mine),
                worst.column if worst else "",
                mean(cell.share.value for cell in mine),
            )
        )
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
    if named:
        members = tuple(read_subject(name) for name in named)
    else:
        ours = [entry for entry in algorithms() if ":" not in entry["name"] and not entry.get("compat", False)]
        members = tuple(make_subject(entry["name"]) for entry in ours)
    if len({member.label for member in members}) < len(members):
        raise InputError("ALGORITHM", "the same algorithm is named twice", "each once")
    world: dict[str, Any] = dict(QUICK if quick else USUAL)
    if queue:
        world["queue"] = dict(queue)
    if ecn:
        world["ecn"] = ["classic"]
    folder = Path(out) if out else Path("results") / "coexist"
    return Coexistence(
        Company(members),
        buffers or BUFFERS,
        rtts or RTTS,
        replicates or (QUICK_REPLICATES if quick else REPLICATES),
        world,
        flows,
        folder,
        Path(store) if store else folder,
    )
