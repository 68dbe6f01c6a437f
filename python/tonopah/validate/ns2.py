"""An ad hoc network of the engine's profiles `ns2` against ns-2 itself, over many placements: `tonopah validate ns2`.

Both simulate the same stations at the same places with the same flows and start times. What is drawn else, backoffs and the
jitter of DSDV, is not the same, so a placement gives a pair of values and the comparison is over placements. Where ns-2 is
not installed, its stored values are taken.
"""

import hashlib
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from tonopah._core import run
from tonopah.errors import InputError, RunFailedError
from tonopah.peers import ns2, world_file
from tonopah.peers.outcome import Outcome
from tonopah.scenario.document import to_json
from tonopah.stats import mean_interval

STORED = "data/ns2/adhoc.json"
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


@dataclass(frozen=True)
class Result:
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
class Comparison:
    """Runs of both sides, placement by placement."""

    mine: Sequence[Result]
    theirs: Sequence[Result]
    version: str
    """Of ns-2."""
    stored: bool
    """ns-2's values were not computed now."""


def ours(seed: int) -> Result:
    """Run a placement here."""
    summary = json.loads(run(to_json(SCENARIO), seed)[0].json())
    network = summary["network"]
    return Result(
        throughput_bps=network["throughput_bps"],
        delay_s=network["delay_s"] if network["delay_s"] is not None else float("nan"),
        delivery_ratio=network["delivery_ratio"] if network["delivery_ratio"] is not None else float("nan"),
        energy_per_node_j=network["energy_j"] / len(summary["nodes"]),
    )


def theirs(seed: int) -> Result:
    """Run the same placement in ns-2."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "events.tr")
        ended = ns2.run(SCENARIO, seed, trace=trace)
        if not isinstance(ended, Outcome) or ended.energy_j is None:
            raise RunFailedError(f"ns-2 reported no energy on placement {seed}")
        received, delay_s, ratio = agents(trace)
    seconds = world_file.number(SCENARIO["duration"])
    return Result(received * SEGMENT_BYTES * 8 / seconds, delay_s, ratio, ended.energy_j / SCENARIO["network"]["nodes"])


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


def compare(placements: int, stored: bool, step: Callable[[], None] = lambda: None) -> Comparison:
    """Run the placements with seeds 1, 2, … here, and in ns-2 unless its stored values are to be taken."""
    seeds = range(1, placements + 1)
    known, version = read_stored(placements) if stored else ([], ns2.version())
    mine, others = [], []
    for seed in seeds:
        mine.append(ours(seed))
        others.append(known[seed - 1] if stored else theirs(seed))
        step()
    return Comparison(mine, others, version, stored)


def read_stored(placements: int) -> tuple[list[Result], str]:
    """Return ns-2's stored values for the first placements, and its version; raise an error if they do not belong to these."""
    document = json.loads((files("tonopah") / STORED).read_text(encoding="utf-8"))
    entries = document["results"]
    if placements > len(entries):
        raise InputError(
            "--placements", f"{placements} is too many without ns-2", f"{len(entries)} are stored; Debian: apt-get install ns2"
        )
    for seed, entry in enumerate(entries[:placements], 1):
        if entry.pop("world") != world_digest(seed):
            raise RunFailedError(
                f"the stored values of ns-2 belong to another world than placement {seed}: with ns-2 installed, "
                "`tonopah validate ns2 --store FILE` computes them anew"
            )
    return [Result(**entry) for entry in entries[:placements]], document["version"]


def as_stored(comparison: Comparison) -> str:
    """Return ns-2's results as they are kept in the package."""
    entries = [{"world": world_digest(seed), **asdict(result)} for seed, result in enumerate(comparison.theirs, 1)]
    about = (
        "ns-2 on placements 1, 2, … of `tonopah validate ns2`, written by its --store; `world` is a digest of the input of ns-2"
    )
    return json.dumps({"about": about, "version": comparison.version, "results": entries}, indent=1, ensure_ascii=False) + "\n"


def judge(comparison: Comparison) -> list[dict[str, Any]]:
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
                "difference": finite(difference.value),
                "low": finite(difference.low),
                "high": finite(difference.high),
                "relative": measure.relative,
                "tolerance": goal,
                # Not a number is no agreement.
                "met": None if goal is None else bool(abs(difference.value) <= goal),
            }
        )
    return rows


def finite(value: float) -> float | None:
    """Return a number, or None for what is not one: a single placement has no interval."""
    return value if math.isfinite(value) else None
