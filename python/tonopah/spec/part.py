"""Reads one part of a study file: its scenario, comparison, sweeps, figures, measures and quick size.

What a part does not state it takes from the top of the file.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tonopah.errors import InputError
from tonopah.metrics import METRICS
from tonopah.scenario import paths
from tonopah.spec.measures import KINDS, OF_FLOWS, STARTS, Measure
from tonopah.spec.model import Figure, Part, Sweep, Variant
from tonopah.spec.validation import below, distinct, filled, keys, one_of, seconds, tables, texts, typed, within

FIGURE_KINDS = ("line", "bar", "ecdf", "heatmap", "series", "table")
SERIES = (
    "cwnd", "ssthresh", "send_window", "srtt", "queue", "throughput", "state", "retransmits", "pipe", "rto", "acked",
    "energy", "position_x", "position_y", "position_z", "route_hops", "path_delay",
)  # fmt: skip
TYPICAL = ("cwnd", "queue")
"""Series of the typical runs of a part that asks for no figure of series."""
STATISTICS = ("mean", "median")
MAX_REPLICATES = 100_000

PART_KEYS = {
    "baseline": str, "replicates": int, "statistic": str, "scenario": dict, "compare": dict, "sweep": list, "figure": list,
    "measure": list, "quick": dict, "assumed": list,
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Where a part is read from: its own table at `path`, and the top of the file for what it leaves out."""

    defaults: Mapping[str, Any]
    own: Mapping[str, Any]
    path: str

    def get(self, key: str, default: Any) -> Any:
        """Return a value of the part, of the file, or `default`."""
        return self.own.get(key, self.defaults.get(key, default))

    def at(self, key: str) -> str:
        """Return the path of a key where it stands."""
        return below(self.path, key) if key in self.own or key not in self.defaults else key

    def listed(self, key: str) -> list[tuple[str, Mapping[str, Any]]]:
        """Return path and table of every entry of `[[key]]`."""
        if key in self.own:
            return [(f"{self.path}.{key}[{i}]", entry) for i, entry in tables(self.own, key, self.path)]
        return [(f"{key}[{i}]", entry) for i, entry in tables(self.defaults, key)]


def parse_part(entry: Mapping[str, Any], source: Source, part_id: str) -> Part:
    """Return one part."""
    for key in ("scenario", "compare"):
        if source.get(key, None) is None:
            raise InputError(below(source.path, key), "is missing")
    scenario = merged(source.defaults.get("scenario", {}), source.own.get("scenario", {}))
    variants = parse_compare(source.get("compare", {}), source.at("compare"), scenario)
    labels = [variant.label for variant in variants]
    replicates = source.get("replicates", 10)
    within(replicates, source.at("replicates"), 1, MAX_REPLICATES)
    statistic = source.get("statistic", "mean")
    one_of(statistic, source.at("statistic"), STATISTICS)
    sweeps = [parse_sweep(table, path) for path, table in source.listed("sweep")]
    figures = [figure for path, table in source.listed("figure") for figure in parse_figures(table, path, sweeps, scenario)]
    if not any(figure.kind == "series" for figure in figures):
        figures.append(Figure("series", TYPICAL))
    measures = [parse_measure(table, path) for path, table in source.listed("measure")]
    distinct([measure.name for measure in measures], below(source.path, "measure"))
    for key, value in entry.get("text", {}).items():
        keys({key: value}, f"{source.path}.text", {key: str})
    return Part(
        id=part_id, title=entry.get("title", part_id), baseline=parse_baseline(source, labels), replicates=replicates,
        scenario=scenario, variants=variants, statistic=statistic, sweeps=sweeps, figures=figures, measures=measures,
        assumed=list(entry.get("assumed", [])), text=dict(entry.get("text", {})), quick=parse_quick(source, sweeps),
    )  # fmt: skip


def merged(default: Any, own: Any) -> Any:
    """Return a scenario changed by another: tables are merged; arrays, values and tables of another `kind` are replaced."""
    if not isinstance(default, Mapping) or not isinstance(own, Mapping):
        return copy.deepcopy(own)
    if "kind" in own and own["kind"] != default.get("kind"):
        return copy.deepcopy(dict(own))
    both = {key: copy.deepcopy(value) for key, value in default.items() if key not in own}
    return both | {key: merged(default.get(key), value) for key, value in own.items()}


def parse_baseline(source: Source, labels: list[str]) -> str:
    """Return what the others are compared with: the part's own, the file's if it is compared here, else the first."""
    if "baseline" in source.own or not source.path:
        baseline = source.get("baseline", labels[0])
        one_of(baseline, source.at("baseline"), labels)
        return baseline
    baseline = source.defaults.get("baseline")
    return baseline if baseline in labels else labels[0]


def parse_compare(compare: Mapping[str, Any], path: str, scenario: Mapping[str, Any]) -> list[Variant]:
    """Return what is compared; refuse a scenario in which no flow would follow `cc`."""
    keys(compare, path, {"cc": list, "variant": list})
    if not compare:
        raise InputError(f"{path}.cc", "is missing", 'cc = ["newreno", "cubic"], or [[compare.variant]]')
    variants = []
    if "cc" in compare:
        filled(compare["cc"], f"{path}.cc")
        flows = scenario.get("flow")
        if isinstance(flows, list) and flows and all(isinstance(flow, dict) and "cc" in flow for flow in flows):
            raise InputError(
                f"{path}.cc", "has no effect: every flow of the scenario names its own cc", "leave out scenario.flow.N.cc"
            )
    for i, cc in enumerate(compare.get("cc", [])):
        label = label_of(cc)
        if label is None:
            hint = 'a name, { name = "cubic", profile = "linux" }, or { python = "my_algorithm.py:MyCC" }'
            raise InputError(f"{path}.cc[{i}]", f"{cc!r} is not an algorithm", hint)
        variants.append(Variant(label, {"tcp.cc": cc}))
    for i, entry in tables(compare, "variant", path):
        here = f"{path}.variant[{i}]"
        keys(entry, here, {"label": str, "set": dict}, required=("label", "set"))
        for key in entry["set"]:
            paths.split_path(key)
        variants.append(Variant(entry["label"], dict(entry["set"])))
    distinct([variant.label for variant in variants], f"{path}.{'cc' if 'cc' in compare else 'variant'}")
    return variants


def label_of(cc: Any) -> str | None:
    """Return what a compared algorithm is called: its name or class, then its form and its parameters."""
    if isinstance(cc, dict):
        name = cc.get("python", cc.get("name"))
        rest = [f"{key}={value}" for key, value in cc.items() if key not in ("name", "python", "profile")]
        more = [*([str(cc["profile"])] if "profile" in cc else []), *rest]
    else:
        name, more = cc, []
    return " ".join([name.rpartition(":")[2], *more]) if isinstance(name, str) else None


def parse_sweep(entry: Mapping[str, Any], path: str) -> Sweep:
    """Return one `[[sweep]]`."""
    keys(entry, path, {"vary": dict, "label": str}, required=("vary",))
    if not entry["vary"]:
        raise InputError(f"{path}.vary", "varies nothing", 'vary = { "network.flows" = [10, 20] }')
    for key, values in entry["vary"].items():
        paths.split_path(key)
        keys({key: values}, f"{path}.vary", {key: list})
        filled(values, f"{path}.vary.{key}")
        distinct(values, f"{path}.vary.{key}")
    return Sweep(dict(entry["vary"]), entry.get("label", " × ".join(entry["vary"])))


def parse_figures(entry: Mapping[str, Any], path: str, sweeps: list[Sweep], scenario: Mapping[str, Any]) -> list[Figure]:
    """Return the requests of one `[[figure]]`: one for each axis in `x`."""
    axes = entry.get("x")
    # The other keys are checked with each of them.
    xs = texts(axes, f"{path}.x") if isinstance(axes, list) else (axes,)
    return [parse_figure({**entry, **({} if x is None else {"x": x})}, path, sweeps, scenario) for x in xs]


def parse_figure(entry: Mapping[str, Any], path: str, sweeps: list[Sweep], scenario: Mapping[str, Any]) -> Figure:
    """Return one request for figures."""
    allowed = {"kind": str, "x": str, "rows": str, "y": list, "difference": bool, "median": bool, "flow": int}
    keys(entry, path, allowed, required=("kind", "y"))
    one_of(entry["kind"], f"{path}.kind", FIGURE_KINDS)
    filled(entry["y"], f"{path}.y")
    kind, x, rows = entry["kind"], entry.get("x"), entry.get("rows")
    for i, name in enumerate(entry["y"]):
        keys({"y": name}, f"{path}.y[{i}]", {"y": str})
        if kind == "series":
            one_of(name, f"{path}.y[{i}]", recorded(scenario), "recorded by scenario.record.series")
    if kind in ("line", "heatmap") and x is None:
        raise InputError(f"{path}.x", "is missing", f"a {kind} figure needs an axis that a sweep varies")
    if kind not in ("line", "heatmap", "table") and x is not None:
        raise InputError(f"{path}.x", f"has no meaning for a {kind} figure", "it shows the default point")
    if kind == "heatmap" and rows is None:
        raise InputError(f"{path}.rows", "is missing", "the second axis of a crossed sweep")
    wanted = {axis for axis in (x, rows) if axis is not None}
    if wanted and not any(set(sweep.vary) == wanted for sweep in sweeps):
        raise InputError(path, f"no sweep varies {' and '.join(sorted(wanted))} alone", axes_hint(sweeps))
    flow = entry.get("flow", 0)
    within(flow, f"{path}.flow", 0, 1_000_000)
    return Figure(kind, tuple(entry["y"]), x, rows, entry.get("difference", False), entry.get("median", False), flow)


def recorded(scenario: Mapping[str, Any]) -> list[str]:
    """Return the series that a scenario records; the engine says what is wrong with them."""
    record = scenario.get("record")
    series = record.get("series") if isinstance(record, Mapping) else None
    return [name for name in series if isinstance(name, str)] if isinstance(series, list) else []


def axes_hint(sweeps: list[Sweep]) -> str:
    """Return a hint that lists the axes of the study."""
    return "sweeps: " + ("; ".join(" × ".join(sweep.vary) for sweep in sweeps) or "none")


MEASURE_KEYS = {
    "recovery": {
        "series": str, "flows": list, "at": str, "after": str, "share": float, "before": str, "carrying": list, "at_least": str,
        "quiet": float,
    },
    "outage": {"series": str, "flows": list, "window": list, "carrying": list, "at_least": str, "quiet": float},
    "mean": {"series": str, "flows": list, "window": list, "carrying": list},
    "exit": {"flows": list},
    "jain": {"flows": list, "metric": str},
    "average": {"flows": list, "metric": str},
}  # fmt: skip
DEFAULT_SERIES = {"recovery": "cwnd", "outage": "throughput", "exit": "ssthresh"}


def parse_measure(entry: Mapping[str, Any], path: str) -> Measure:
    """Return one `[[measure]]`."""
    one_of(entry.get("kind"), f"{path}.kind", KINDS)
    kind = entry["kind"]
    required = {"recovery": ("at",), "mean": ("series",)}.get(kind, ())
    keys(entry, path, {"name": str, "kind": str, "label": str, **MEASURE_KEYS[kind]}, required=("name", *required))
    name = entry["name"]
    if name in METRICS or not name.isidentifier():
        raise InputError(f"{path}.name", f"{name!r} cannot be the name of a column", "a new name of letters, digits and _")
    series = entry.get("series", DEFAULT_SERIES.get(kind, ""))
    if kind not in OF_FLOWS:
        one_of(series, f"{path}.series", SERIES)
    one_of(entry.get("after", "instant"), f"{path}.after", STARTS)
    for i, flow in enumerate(entry.get("flows", [])):
        typed(flow, f"{path}.flows[{i}]", int)
    share = entry.get("share", 0.9)
    within(share, f"{path}.share", 0.01, 10.0)
    return Measure(
        name=name, kind=kind, series=series, flows=tuple(entry.get("flows", ())),
        at_s=seconds(entry["at"], f"{path}.at") if "at" in entry else 0.0, after=entry.get("after", "instant"),
        share=float(share), before_s=seconds(entry.get("before", "1s"), f"{path}.before"),
        window_s=parse_window(entry["window"], f"{path}.window") if "window" in entry else None,
        carrying_s=parse_window(entry["carrying"], f"{path}.carrying") if "carrying" in entry else None,
        at_least_s=seconds(entry["at_least"], f"{path}.at_least") if "at_least" in entry else 0.0,
        quiet=float(entry.get("quiet", 0.0)), metric=entry.get("metric", "goodput_bps"), label=entry.get("label", ""),
    )  # fmt: skip


def parse_window(value: list[Any], path: str) -> tuple[float, float]:
    """Return start and end of a window of time."""
    if len(value) != 2:
        raise InputError(path, f"{value!r} is not a window", 'two times, like ["5s", "30s"]')
    start, end = (seconds(time, f"{path}[{i}]") for i, time in enumerate(value))
    if not start < end:
        raise InputError(path, "ends before it begins", 'like ["5s", "30s"]')
    return start, end


def parse_quick(source: Source, sweeps: list[Sweep]) -> dict[str, Any]:
    """Return `[quick]`: what a part is reduced to with `--quick`."""
    entry, path = source.get("quick", {}), source.at("quick")
    keys(entry, path, {"replicates": int, "duration": str, "values": dict, "set": dict})
    within(entry.get("replicates", 1), f"{path}.replicates", 1, MAX_REPLICATES)
    axes = sorted({axis for sweep in sweeps for axis in sweep.vary})
    reduced = {**entry, "values": {}}
    for key, values in entry.get("values", {}).items():
        # The file's own [quick] is shared by parts that have different axes.
        if "quick" in source.own or not source.path:
            one_of(key, f"{path}.values", axes)
        keys({key: values}, f"{path}.values", {key: list})
        filled(values, f"{path}.values.{key}")
        if key in axes:
            reduced["values"][key] = values
    return reduced
