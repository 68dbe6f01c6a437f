"""The cases of `tonopah validate authors`: a point of a sweep, the runs that it needs, and what is allowed of each number.

Tolerances were fixed before the first run: deterministic networks to a percent, chaotic ones by intervals.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

from tonopah.validate import authors_metrics as metrics
from tonopah.validate import authors_worlds as worlds
from tonopah.validate.authors_metrics import Numbers, Packet
from tonopah.validate.authors_worlds import Scenario

DATA = "data/authors"
Lines = Sequence[Packet]


@dataclass(frozen=True)
class Goal:
    """How far ours may be from the reference."""

    relative: float = 0.0
    absolute: float = 0.0

    def met(self, ours: float, reference: float) -> bool:
        """Whether a number is close enough; the last digit printed is no difference."""
        return abs(ours - reference) <= self.absolute + self.relative * abs(reference) + 1e-12

    @property
    def text(self) -> str:
        """The goal in words."""
        return f"±{100 * self.relative:g} %" if self.relative else f"±{self.absolute:g}"


@dataclass(frozen=True)
class Case:
    """One point of a sweep with one algorithm."""

    name: str
    """Seed, network, algorithm, axis, value."""
    scenarios: Sequence[Scenario]
    seeds: Sequence[int]
    measure: Callable[[Sequence[Lines]], Numbers]
    """From the packets of the scenarios of one seed."""
    goals: Mapping[str, Goal]
    overlap: Sequence[str] = ()
    """Metrics whose mean over seeds must have an interval that meets that of the stock simulator."""
    references: Mapping[str, Mapping[str, Sequence[float]]] | None = None
    """By origin, `author` or `stock`, and metric: the stored numbers, one for each run."""


@cache
def stored() -> dict[tuple[str, ...], dict[str, dict[str, list[float]]]]:
    """Return the stored numbers by seed, network, algorithm, axis and value; then by origin and metric."""
    found: dict[tuple[str, ...], dict[str, dict[str, list[float]]]] = {}
    text = (files("tonopah") / DATA / "numbers.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        key = tuple(row[name] for name in ("seed", "network", "algorithm", "axis", "value"))
        by_metric = found.setdefault(key, {}).setdefault(row["origin"], {})
        by_metric.setdefault(row["metric"], []).append(float(row["number"]))
    return found


def all_cases() -> list[Case]:
    """Return the cases in the order of the page."""
    groups = (wired_000, satellite_000, hosts_001, wired_004)
    return [case for group in groups for case in group()]


def points(seed: str, network: str, axes: Sequence[str]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the stored points of a network on the axes of its sweeps."""
    for key, references in stored().items():
        if key[:2] == (seed, network) and key[3] in axes:
            yield key, references


WIRED = {
    "throughput": Goal(relative=0.01), "delay": Goal(relative=0.01), "delivery_ratio": Goal(absolute=0.005),
    "drop_ratio": Goal(absolute=0.005), "all_goodput": Goal(relative=0.01), "all_delay": Goal(relative=0.03),
}  # fmt: skip
WIRED_DEFAULT = {"nodes": 40, "flows": 40, "rate": 200}
SWEEPS = {"nodes": "nodes", "flows": "flows", "packets_per_second": "rate"}
TRAFFIC_S = 19.0
"""From the first write of author 000 to the end of the run."""


def wired_000() -> Iterator[Case]:
    """Private pairs: every number is deterministic."""
    for key, references in points("000", "wired", tuple(SWEEPS)):
        _, _, algorithm, axis, value = key
        point = WIRED_DEFAULT | {SWEEPS[axis]: int(value)}
        pairs = worlds.wired_pairs(point["nodes"], point["flows"])
        scenario = worlds.wired_000(algorithm, point["nodes"], point["flows"], point["rate"])
        measure = partial(measure_wired, counted=metrics.first_flows(pairs))
        yield Case("/".join(key), [scenario], (1,), measure, WIRED, references=references)


def measure_wired(runs: Sequence[Lines], counted: set[int]) -> Numbers:
    """Return the author's numbers and those of all flows."""
    lines = metrics.as_in_ns2(runs[0])
    return metrics.author_000_wired(lines, counted) | metrics.all_flows(lines, TRAFFIC_S)


SATELLITE = {
    "throughput": Goal(relative=0.01),
    "delay": Goal(relative=0.02),
    "sent": Goal(absolute=1),
    "dropped": Goal(absolute=1),
}
SATELLITE_COUNTS = {"tahoe": {"sent": 457.0}, "vegas": {"sent": 898.0}, "ewphcc": {"sent": 898.0}}
"""Packets sent, the same at every point."""


def satellite_000() -> Iterator[Case]:
    """Nobody answers."""
    for key, references in points("000", "satellite", ("nodes", "altitude_km")):
        _, _, algorithm, axis, value = key
        satellites, altitude_km = (int(value), 780.0) if axis == "nodes" else (40, float(value))
        scenarios = [worlds.geo_000(algorithm), worlds.plane_000(algorithm, satellites, altitude_km)]
        own = {metric: [number] for metric, number in SATELLITE_COUNTS[algorithm].items()}
        both = references | {"stock": references.get("stock", {}) | own}
        yield Case("/".join(key), scenarios, (1,), measure_satellite, SATELLITE, references=both)


def measure_satellite(runs: Sequence[Lines]) -> Numbers:
    """Return the author's numbers over the flows of both runs, which share nothing."""
    apart = [Packet(**vars(line) | {"flow": line.flow + 100 * number}) for number, run in enumerate(runs) for line in run]
    return metrics.author_000_satellite(sorted(apart, key=lambda line: line.time_s))


AUTHOR_CLASS = {"newreno": "newreno", "fr (author class)": "fr"}
SEEDS_001 = tuple(range(1, 21))


def hosts_001() -> Iterator[Case]:
    """Two hosts with errors per byte."""
    for key, references in points("001", "two hosts", ("packets_per_second",)):
        scenario = worlds.hosts_001(AUTHOR_CLASS[key[2]], int(key[4]))
        name = "throughput_sum_of_data_and_ack_flow"
        yield Case("/".join(key), [scenario], SEEDS_001, measure_hosts, {}, (name,), references)


def measure_hosts(runs: Sequence[Lines]) -> Numbers:
    """Return the author's sum of integer rates, and the counts of both directions."""
    flows = metrics.directions(runs[0])
    pooled = metrics.author_ns3(flows, 10.0)
    return {
        "throughput_sum_of_data_and_ack_flow": metrics.sum_of_integer_rates(flows),
        "sent": pooled["sent"], "received": pooled["received"], "delay": pooled["delay"],
    }  # fmt: skip


WIRED_004 = {"throughput": Goal(relative=0.02), "delay": Goal(relative=0.1), "delivery_ratio": Goal(absolute=0.5)}


def wired_004() -> Iterator[Case]:
    """Pairs behind one gateway."""
    for key, references in points("004", "wired", ("-",)):
        yield Case("/".join(key), [worlds.wired_004(20, 20)], (1,), measure_wired_004, WIRED_004, references=references)


def measure_wired_004(runs: Sequence[Lines]) -> Numbers:
    """Return the pooled numbers of data and ACK flows."""
    return metrics.author_ns3(metrics.directions(runs[0]), 50.0)
