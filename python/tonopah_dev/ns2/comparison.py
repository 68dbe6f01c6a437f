"""An ad hoc network of the engine's profiles `ns2` against ns-2 itself, over many placements: `python -m tonopah_dev.ns2`.

Both simulate the same stations at the same places with the same flows and start times. What is drawn else, backoffs and the
jitter of DSDV, is not the same, so a placement gives a pair of values and the comparison is over placements. Where ns-2 is
not installed, its stored values are taken.
"""

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tonopah.errors import InputError, RunFailedError
from tonopah.scenario.document import to_json
from tonopah.stats import mean_interval, or_none
from tonopah.terminal.grid import Grid
from tonopah.validate.frame import Case, CaseResult, Check, Comparison
from tonopah_dev.peers import ns2, world_file
from tonopah_dev.peers.outcome import PeerOutcome

STORED = Path(__file__).with_name("adhoc.json")
SEGMENT_BYTES = 1000
SCENARIO: dict[str, Any] = {
    "duration": "60s",
    "network": {
        "kind": "adhoc",
        "nodes": 40,
        "flows": 20,
        "area": {"x": "500m", "y": "500m"},
        "radio": {"profile": "ns2", "energy": {"profile": "ns2", "tx": "0.660W", "rx": "0.395W", "idle": "0.035W"}},
        "routing": {"kind": "dsdv"},
    },
    "tcp": {"profile": "ns2", "cc": "newreno", "mss": f"{SEGMENT_BYTES}B"},
    "traffic": {
        "app": {"kind": "cbr", "rate": "100pps", "size": f"{SEGMENT_BYTES}B", "transport": "tcp"},
        "start": "10s",
    },
}
"""ns-2's radio as it is without any setting: 1 Mb/s, RTS before each frame, two-ray ground. The seed draws the placement."""

COLUMNS = ("measure", "ours", "ns-2", "difference (95 %)", "goal", "")


@dataclass(frozen=True)
class PlacementResult:
    """What one run gave, over its whole length."""

    throughput_bps: float
    """Payload received by the sinks, duplicates included."""
    delay_s: float
    """Mean over data packets received, from their sending by TCP to their reception."""
    delivery_ratio: float
    """Data packets received / sent, retransmissions included."""
    energy_per_node_j: float
    """Consumed by all radios / stations."""


@dataclass(frozen=True)
class Measure:
    """A quantity that is compared, and what is allowed between the means over placements."""

    name: str
    title: str
    scale: float
    unit: str
    tolerance: float | None
    """Share of ns-2's mean if `relative`, else a difference; None if there is no goal."""
    relative: bool


MEASURES = (
    Measure("throughput_bps", "throughput", 1e-6, "Mb/s", 0.08, True),
    Measure("delay_s", "delay", 1.0, "s", None, True),
    Measure("delivery_ratio", "delivery ratio", 1.0, "", 0.02, False),
    Measure("energy_per_node_j", "energy", 1.0, "J/station", 0.05, True),
)


@dataclass(frozen=True)
class Placements:
    """Runs of both sides, placement by placement."""

    mine: Sequence[PlacementResult]
    theirs: Sequence[PlacementResult]
    version: str
    """Of ns-2."""
    stored: bool
    """ns-2's values were not computed now."""


def ours(summary: dict[str, Any]) -> PlacementResult:
    """Return what a run of ours gave."""
    network = summary["network"]
    return PlacementResult(
        throughput_bps=network["throughput_bps"],
        delay_s=network["delay_s"] if network["delay_s"] is not None else float("nan"),
        delivery_ratio=network["delivery_ratio"] if network["delivery_ratio"] is not None else float("nan"),
        energy_per_node_j=network["energy_j"] / len(summary["nodes"]),
    )


def theirs(seed: int) -> PlacementResult:
    """Run the same placement in ns-2."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "events.tr")
        ended = ns2.run(SCENARIO, seed, trace=trace)
        if not isinstance(ended, PeerOutcome) or ended.energy_j is None:
            raise RunFailedError(f"ns-2 reported no energy on placement {seed}")
        received, delay_s, ratio = agents(trace)
    seconds = world_file.number(SCENARIO["duration"])
    return PlacementResult(received * SEGMENT_BYTES * 8 / seconds, delay_s, ratio, ended.energy_j / SCENARIO["network"]["nodes"])


def agents(trace: Path) -> tuple[int, float, float]:
    """Return data packets received, their mean delay, and received / sent, from the trace of ns-2's agents.

    A line is: event, time, node, layer, reason, number of the packet, type, size. Data is larger than SYN and acknowledgment.
    """
    sent: dict[str, float] = {}
    delays: list[float] = []
    with trace.open() as lines:
        for line in lines:
            field = line.split()
            if len(field) < 8 or field[3] != "AGT" or field[6] != "tcp" or int(field[7]) < SEGMENT_BYTES:
                continue
            if field[0] == "s":
                sent[field[5]] = float(field[1])
            elif field[0] == "r" and field[5] in sent:
                delays.append(float(field[1]) - sent[field[5]])
    if not sent:
        return 0, float("nan"), float("nan")
    return len(delays), float(np.mean(delays)) if delays else float("nan"), len(delays) / len(sent)


def world_digest(seed: int) -> str:
    """Return a digest of what ns-2 is given for a placement; it shows whether a stored result belongs to it."""
    return hashlib.sha256(world_file.write(SCENARIO, seed).encode()).hexdigest()[:16]


@dataclass
class Ns2Result(CaseResult[Case]):
    """The placements, and what was judged of them."""

    placements: Placements = field(default_factory=lambda: Placements([], [], "", stored=True))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each measure."""
        return judge(self.placements)


class AgainstNs2(Comparison[Case, Ns2Result]):
    """The comparison with ns-2 on the placements of seeds 1, 2, …; its stored values are taken if that is asked for."""

    def __init__(self, placements: int, stored: bool):
        self.placements, self.stored = placements, stored
        self.known, self.version = read_stored(placements) if stored else ([], ns2.version())

    def cases(self) -> Sequence[Case]:
        """Return the only case."""
        return [Case("adhoc")]

    def jobs(self, case: Case) -> Sequence[tuple[str, int]]:
        """Return our runs, one for each placement."""
        return [(to_json(SCENARIO), seed) for seed in range(1, self.placements + 1)]

    def read(self, case: Case, index: int, summary: str, series: Any) -> tuple[PlacementResult, PlacementResult]:
        """Return what a placement gave here and in ns-2."""
        return ours(json.loads(summary)), self.known[index] if self.stored else theirs(index + 1)

    def judge(self, case: Case, runs: Sequence[tuple[PlacementResult, PlacementResult]]) -> Ns2Result:
        """Return the comparison of all placements."""
        mine, others = zip(*runs, strict=True)
        result = Ns2Result(case, placements=Placements(mine, others, self.version, self.stored))
        texts = {row["measure"]: row for row in result.rows if row["met"] is not None}
        result.checks = [
            Check(name, f"{row['ours']:.4g}", f"{row['ns2']:.4g}", f"± {row['tolerance']:g}", row["met"])
            for name, row in texts.items()
        ]
        return result

    def refuse(self, case: Case, reason: str) -> Ns2Result:
        """Raise an error: every placement is one that runs here."""
        raise RunFailedError(reason)

    def facts(self, result: Ns2Result) -> dict[str, Any]:
        """Return what a program is told beside the goals."""
        held = result.placements
        pairs = enumerate(zip(held.mine, held.theirs, strict=True), 1)
        runs = [{"seed": seed, "ours": asdict(a), "ns2": asdict(b)} for seed, (a, b) in pairs]
        return {"version": held.version, "stored": held.stored, "measures": result.rows, "placements": runs}

    def tables(self, results: Sequence[Ns2Result]) -> list[Grid]:
        """Return the table of measures."""
        return [table(result.placements) for result in results]


def read_stored(placements: int) -> tuple[list[PlacementResult], str]:
    """Return ns-2's stored values for the first placements, and its version; raise an error if they do not belong to these."""
    document = json.loads(STORED.read_text(encoding="utf-8"))
    entries = document["results"]
    if placements > len(entries):
        raise InputError(
            "--placements", f"{placements} is too many without ns-2", f"{len(entries)} are stored; Debian: apt-get install ns2"
        )
    for seed, entry in enumerate(entries[:placements], 1):
        if entry.pop("world") != world_digest(seed):
            raise RunFailedError(
                f"the stored values of ns-2 belong to another world than placement {seed}: with ns-2 installed, "
                "`python -m tonopah_dev.ns2 --store FILE` computes them anew"
            )
    return [PlacementResult(**entry) for entry in entries[:placements]], document["version"]


def as_stored(comparison: Placements) -> str:
    """Return ns-2's results as they are kept in the package."""
    entries = [{"world": world_digest(seed), **asdict(result)} for seed, result in enumerate(comparison.theirs, 1)]
    about = (
        "ns-2 on placements 1, 2, … of `python -m tonopah_dev.ns2`, written by its --store; `world`: digest of the input of ns-2"
    )
    return json.dumps({"about": about, "version": comparison.version, "results": entries}, indent=1, ensure_ascii=False) + "\n"


def judge(comparison: Placements) -> list[dict[str, Any]]:
    """Return a row for each measure: both means, the mean of the paired differences ours - ns-2's with its interval, the goal."""
    rows = []
    for measure in MEASURES:
        a, b = (np.array([getattr(r, measure.name) for r in side]) for side in (comparison.mine, comparison.theirs))
        base = float(np.mean(b)) if measure.relative else 1.0
        difference = mean_interval((a - b) / base)
        goal = measure.tolerance
        rows.append(
            {
                "measure": measure.name,
                "ours": float(np.mean(a)),
                "ns2": float(np.mean(b)),
                "difference": or_none(difference.value),
                "low": or_none(difference.low),
                "high": or_none(difference.high),
                "relative": measure.relative,
                "tolerance": goal,
                # Not a number is no agreement.
                "met": None if goal is None else bool(abs(difference.value) <= goal),
            }
        )
    return rows


def rows(comparison: Placements) -> list[list[str]]:
    """Return the cells of the table, a row for each measure."""
    found = []
    for measure, row in zip(MEASURES, judge(comparison), strict=True):
        name = f"{measure.title}, {measure.unit}" if measure.unit else measure.title
        values = [f"{row[side] * measure.scale:.4g}" for side in ("ours", "ns2")]
        verdict = {None: "", True: "pass", False: "MISS"}[row["met"]]
        found.append([name, *values, difference(row), goal(measure), verdict])
    return found


def difference(row: Mapping[str, Any]) -> str:
    """Return a mean difference with its interval; a single placement has none."""
    scale, unit = (100, " %") if row["relative"] else (1, "")
    if row["difference"] is None:
        return "unknown"
    text = f"{row['difference'] * scale:+.2g}{unit}"
    if row["low"] is None:
        return text
    return f"{text} ({row['low'] * scale:+.2g} … {row['high'] * scale:+.2g})"


def goal(measure: Measure) -> str:
    """Return what is allowed."""
    if measure.tolerance is None:
        return "none"
    return f"± {100 * measure.tolerance:g} %" if measure.relative else f"± {measure.tolerance:g}"


def title(comparison: Placements) -> str:
    """Return what was compared and where ns-2's values come from."""
    network = SCENARIO["network"]
    source = "stored values, not run now" if comparison.stored else "run now"
    size = f"{network['nodes']} stations, {network['flows']} flows, {len(comparison.mine)} placements"
    return f"{size}; ns-2 {comparison.version}: {source}"


def table(comparison: Placements) -> Grid:
    """Return the comparison."""
    return Grid(title(comparison), COLUMNS, rows(comparison), keys=1)
