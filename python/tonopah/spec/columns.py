"""The columns of tables: which metrics runs have and which flows, and what a name that is neither is answered.

The engine's summary defines them: worlds of a millisecond, one wired whose flow has an end, one with radios, one
with every application, one whose link reorders and copies and whose receiver misleads and whose window jumps, and one with a
workload, show every name that there is, but for those of whole transports, which need a library.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tonopah.errors import InputError, near_names
from tonopah.metrics import METRICS, metric, readable
from tonopah.metrics.metric import Metric
from tonopah.metrics.transports import TRANSPORTS
from tonopah.runs.distribution import DISTRIBUTIONS
from tonopah.runs.simulation import INTERNAL, SERIES, run_prepared
from tonopah.runs.summary import flatten, workload_columns
from tonopah.scenario.document import prepare
from tonopah.spec.derived import Derived
from tonopah.spec.validation import list_allowed
from tonopah.units import si

APPLICATIONS: tuple[dict[str, Any], ...] = (
    {"kind": "transfer", "size": "1B", "direction": "both"},
    {"kind": "request_response"},
    {"kind": "incast"},
    {"kind": "page"},
    {"kind": "responsiveness"},
    {"kind": "video"},
    {"kind": "rtc"},
    {"kind": "voice"},
)
"""Applications with metrics of their own."""
USERS = {
    "transfer": {"kind": "transfer"},
    "request_response": {"kind": "request_response"},
    "page": {"kind": "page", "protocol": "h2"},
}
"""Applications of workloads."""
FAST = {"rate": "100Gbps", "delay": "0ms"}
"""A link on which much happens within a millisecond."""
WORLDS: tuple[dict[str, Any], ...] = (
    {
        "duration": "1ms",
        "network": {"kind": "dumbbell", "pairs": 1, "flows": 1},
        "traffic": {"app": {"kind": "bulk", "bytes": "1kB"}},
    },
    {
        "duration": "1ms",
        "network": {"kind": "adhoc", "nodes": 2, "flows": 1, "area": {"x": "10m", "y": "10m"}},
    },
    {
        "duration": "1ms",
        "network": {"kind": "dumbbell", "pairs": 1, "bottleneck": FAST, "access": FAST},
        "flow": [{"from": "left0", "to": "right0", "app": app} for app in APPLICATIONS],
    },
    {
        "duration": "1ms",
        "network": {
            "kind": "dumbbell",
            "pairs": 1,
            "access": FAST,
            "bottleneck": FAST | {"duplicate": {"p": 1.0}, "jitter": {"kind": "uniform", "max": "10us", "reorder": True}},
        },
        "flow": [{"from": "left0", "to": "right0", "tcp": {"receiver": {"kind": "optimistic"}, "start": "jump"}}],
    },
    {"duration": "1us", "network": {"kind": "fat_tree", "k": 2, "flows": 1}},
    {
        "duration": "1ms",
        "network": {"kind": "dumbbell", "pairs": 1},
        "workload": [
            {
                "name": kind,
                "from": ["left0"],
                "to": ["right0"],
                "classes": ["1kB"],
                "arrivals": {"kind": "constant", "interval": "100us"},
                "size": {"kind": "constant", "bytes": "1kB"},
                "app": app,
            }
            for kind, app in USERS.items()
        ],
    },
)
MADE_IN_TABLES = ("goodput_per_node_bps", "jain_hosts", "energy_power_w", "events")
"""Columns of runs that analysis/tables.py adds to those of the engine."""
CLASSES = ("10kB", "100kB", "1MB", "10MB")
"""Upper edges of the classes of sizes of a workload that gives none."""
SIZES = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1))
KEYS = ("flow", "connection_of")
"""Columns of numbers that say whose row it is."""
FIGURES_OF_FLOWS = ("ecdf", "table")
"""Kinds of figures that show flows; the others show runs."""

LIST = "`tonopah metrics` lists all"


@dataclass(frozen=True)
class Columns:
    """Names of the metrics of runs and of flows."""

    runs: tuple[str, ...]
    flows: tuple[str, ...]
    workloads: Mapping[str, tuple[str, ...]]
    """What a workload has, by its application; its classes of sizes have those after `classes`."""
    classes: tuple[str, ...]

    def owners(self, name: str) -> tuple[str, ...]:
        """Return what has this metric: `run`, `flow`, both, or for a time series `series`."""
        kinds = (("run", self.runs), ("flow", self.flows), ("workload", self.of_workloads), ("series", SERIES))
        return tuple(owner for owner, names in kinds if name in names) or (("series",) if name.startswith(INTERNAL) else ())

    @property
    def of_workloads(self) -> tuple[str, ...]:
        """What workloads have, whatever their application."""
        return tuple(dict.fromkeys(name for names in self.workloads.values() for name in names))

    @property
    def all(self) -> tuple[str, ...]:
        """All names, time series included; none twice."""
        return tuple(dict.fromkeys((*self.runs, *self.flows, *self.of_workloads, *SERIES)))


@cache
def columns() -> Columns:
    """Return the metrics that there are."""
    runs: dict[str, Any] = {}
    flows: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for world in WORLDS:
        summary = run_prepared(*prepare(world, None), seed=1).summary
        runs |= flatten(summary["network"]) | flatten({"conservation": summary["conservation"]})
        for flow in summary["flows"]:
            flows |= flatten(flow)
        found |= workload_columns(summary)
    runs |= dict.fromkeys(MADE_IN_TABLES)
    flows |= dict.fromkeys(TRANSPORTS)
    numbers = [name for name, value in flows.items() if not isinstance(value, str) and name not in (*KEYS, "cc", "cc_profile")]
    of_class = [name.rpartition(".")[2] for name in found if name.startswith("workload.transfer.class.1kB.")]
    of_all = {
        kind: in_order(
            name.removeprefix(f"workload.{kind}.")
            for name in found
            if name.startswith(f"workload.{kind}.") and ".class." not in name
        )
        for kind in USERS
    }
    return Columns(in_order(runs), in_order(numbers), of_all, in_order(of_class))


def of_workloads(scenario: Mapping[str, Any]) -> list[str]:
    """Return the metrics that runs have by the workloads of their scenario."""
    names = []
    workloads = scenario.get("workload")
    for workload in workloads if isinstance(workloads, list) else []:
        prefix = f"workload.{workload.get('name')}." if isinstance(workload, Mapping) else ""
        edges = workload.get("classes", CLASSES) if prefix else []
        app = workload.get("app", {}) if prefix else None
        kind = app.get("kind", "transfer") if isinstance(app, Mapping) else ""
        names += [f"{prefix}{key}" for key in columns().workloads.get(kind, ())]
        for edge in [*map(edge_name, edges), "larger"] if isinstance(edges, list | tuple) and prefix else []:
            names += [f"{prefix}class.{edge}.{key}" for key in columns().classes]
    return names


def edge_name(edge: Any) -> str:
    """Return the upper edge of a class as the engine writes it, in the largest unit of which it is a whole number."""
    try:
        size = round(si(edge))
    except ValueError:
        return str(edge)
    unit, factor = next((unit, factor) for unit, factor in SIZES if size % factor == 0)
    return f"{size // factor}{unit}"


def own_columns(derived: Iterable[Derived], scenario: Mapping[str, Any]) -> list[str]:
    """Return the metrics that runs of a part have besides those of every run."""
    return [*(column for metric in derived for column in metric.columns()), *of_workloads(scenario)]


def own_columns_of_flows(derived: Iterable[Derived]) -> list[str]:
    """Return the metrics that flows of a part have besides those of every flow."""
    return [column for metric in derived for column in metric.flow_columns]


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return names in the order of `METRICS`, then those that it does not have."""
    names = dict.fromkeys(names)
    return (*(name for name in METRICS if name in names), *(name for name in names if name not in METRICS))


def describe(name: str) -> dict[str, Any]:
    """Return what a metric is: its name, label, unit in tables and in reports, owners and definition."""
    shown = metric(name)
    return {
        "name": name, "label": shown.label, "unit": si_unit(name, shown), "shown_in": shown.unit,
        "of": list(columns().owners(name)), "definition": shown.definition,
    }  # fmt: skip


def si_unit(name: str, shown: Metric) -> str:
    """Return the unit of a column; its name ends in it, and where it does not, it is that of reports without a prefix."""
    units = {"_bps": "b/s", "_s": "s", "_bytes": "B", "_j": "J", "_w": "W", "_ratio": "1"}
    for suffix, unit in units.items():
        if name.endswith(suffix):
            return unit
    if shown.factor == 1.0:
        return shown.unit or "1"
    return {"%": "1", "kB": "B", "Mb/s": "b/s", "ms": "s", "kb/s": "b/s"}.get(shown.unit, shown.unit)


def near_metrics(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are most like a wrong one: those that it begins, or whose label it is, then similar ones."""
    names, wanted = list(known), name.lower()
    begun = [other for other in names if other.startswith(f"{wanted}_")] if len(wanted) > 2 else []
    labelled = [other for other in names if metric(other).label.lower() == readable(wanted).lower()]
    return list(dict.fromkeys((*labelled, *begun, *near_names(name, names))))[:4]


def check_metric(name: str, path: str, kind: str, own: Iterable[str] = ()) -> None:
    """Refuse the name of a metric that a `kind` (`run` or `flow`) does not have, beside its `own` derived ones."""
    mine = (*(columns().runs if kind == "run" else columns().flows), *own)
    if name in mine:
        return
    near = near_metrics(name, mine)
    hint = f"did you mean {' or '.join(near)}? {LIST}" if near else LIST
    others = [owner for owner in columns().owners(name) if owner != kind]
    if not others:
        raise InputError(path, f"{name!r} is unknown", hint)
    ways = {
        "flow": '[[derived]] kind = "average" makes it one of runs; figures of the kinds ecdf and table show flows',
        "run": "bar, line, scatter and heatmap show runs",
        "series": 'figures of the kind series show it; [[derived]] kind = "mean" makes it a metric of runs',
    }
    better = f"did you mean {' or '.join(near)}? " if near and others == ["series"] else ""
    what = "a time series" if others == ["series"] else f"a metric of {others[0]}s"
    raise InputError(path, f"{name!r} is {what}, not a metric of {kind}s", f"{better}{ways[others[0]]}")


def check_figure(kind: str, names: Iterable[str], path: str, own: Iterable[str], own_of_flows: Iterable[str] = ()) -> None:
    """Refuse a metric, or a distribution, that a figure cannot show; series are checked with what the scenario records."""
    own, own_of_flows = tuple(own), tuple(own_of_flows)
    if kind == "cdf":
        for i, name in enumerate(names):
            if name not in DISTRIBUTIONS:
                raise InputError(f"{path}.y[{i}]", f"{name!r} is no distribution", list_allowed(list(DISTRIBUTIONS), value=name))
        return
    for i, name in enumerate(names if kind != "series" else ()):
        of_flows = kind in FIGURES_OF_FLOWS
        check_metric(name, f"{path}.y[{i}]", "flow" if of_flows else "run", own_of_flows if of_flows else own)
