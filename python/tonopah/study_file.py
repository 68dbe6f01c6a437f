"""The study file: a question as data (docs: README, "Write a study"). Reads TOML into the classes below and checks every key.

What the scenario inside may contain is the engine's business; everything around it is checked here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah import scenario as scenarios
from tonopah.algorithm import rebase
from tonopah.errors import InputError, relay
from tonopah.movement import inline_movement

FIGURE_KINDS = ("line", "bar", "ecdf", "heatmap", "series")
SERIES = (
    "cwnd", "ssthresh", "send_window", "srtt", "queue", "throughput", "state", "retransmits", "pipe", "rto", "acked",
    "energy", "position_x", "position_y", "position_z", "path_delay",
)  # fmt: skip
TRENDS = ("increasing", "decreasing", "flat", "saturating")
CONDITIONS = ("trend", "above", "below", "order")
MAX_REPLICATES = 100_000


@dataclass(frozen=True)
class Algorithm:
    """One of the compared algorithms: `label` names it everywhere, `cc` is what the scenario's `tcp.cc` becomes."""

    label: str
    cc: str | dict[str, Any]


@dataclass(frozen=True)
class Sweep:
    """Axes that vary together (crossed when there are several); everything else keeps its default."""

    vary: dict[str, list[Any]]
    label: str


@dataclass(frozen=True)
class Figure:
    """One request for figures: one for each metric in `y`, and with `difference` one more against the baseline."""

    kind: str
    y: tuple[str, ...]
    x: str | None = None
    rows: str | None = None
    difference: bool = False


@dataclass(frozen=True)
class Test:
    """One part of a claim: a metric and exactly one condition (`trend`, `above`, `below` or `order`)."""

    metric: str
    trend: str | None = None
    above: float | None = None
    below: float | None = None
    order: tuple[str, ...] = ()
    over: str | None = None
    algorithm: str | None = None
    margin_percent: float = 5.0

    # The name is the study file's; pytest is told that this is not one of its classes.
    __test__ = False


@dataclass(frozen=True)
class Claim:
    """A published claim and the tests that together stand for it."""

    id: str
    text: str
    tests: tuple[Test, ...]


@dataclass
class StudySpec:
    """A study file, checked."""

    question: str
    title: str
    baseline: str
    replicates: int
    scenario: dict[str, Any]
    algorithms: list[Algorithm]
    sweeps: list[Sweep] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    assumed: list[dict[str, str]] = field(default_factory=list)
    text: dict[str, str] = field(default_factory=dict)
    quick: dict[str, Any] = field(default_factory=dict)


TOP_KEYS = {
    "question": str, "title": str, "baseline": str, "replicates": int, "scenario": dict, "compare": dict, "sweep": list,
    "figure": list, "claim": list, "quick": dict, "assumed": list, "text": dict,
}  # fmt: skip
TYPE_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "an array",
    dict: "a table",
}


def read_spec(path: str | Path) -> tuple[StudySpec, dict[str, Any]]:
    """Return the study at `path`, and its text as a dictionary in which `scenario.file` is replaced by that file."""
    document = scenarios.load(path)
    try:
        inline_scenario(document, Path(path).parent)
        return parse_spec(document), document
    except InputError as error:
        raise relay(error, str(path)) from None


def inline_scenario(document: dict[str, Any], folder: Path) -> None:
    """Replace `scenario = {file = …}` and a movement file by the contents of those files: the study then stands alone."""
    scenario = document.get("scenario")
    if isinstance(scenario, dict) and "file" in scenario:
        keys(scenario, "scenario", {"file": str}, required=("file",))
        path = folder / scenario["file"]
        document["scenario"] = scenarios.load(path)
        rebase(document["scenario"], Path(scenario["file"]).parent)
        inline_movement(document["scenario"], path.parent, str(path))
    elif isinstance(scenario, dict):
        inline_movement(scenario, folder)


def parse_spec(document: Mapping[str, Any]) -> StudySpec:
    """Return a study given as dictionary; every key that has no meaning is an error that lists those that have one."""
    keys(document, "", TOP_KEYS, required=("question", "scenario", "compare"))
    algorithms = parse_compare(document["compare"], document["scenario"])
    labels = [algorithm.label for algorithm in algorithms]
    baseline = document.get("baseline", labels[0])
    one_of(baseline, "baseline", labels)
    replicates = document.get("replicates", 10)
    within(replicates, "replicates", 1, MAX_REPLICATES)
    sweeps = [parse_sweep(entry, f"sweep[{i}]") for i, entry in tables(document, "sweep")]
    figures = [parse_figure(entry, f"figure[{i}]", sweeps, document["scenario"]) for i, entry in tables(document, "figure")]
    claims = [parse_claim(entry, f"claim[{i}]", sweeps, labels) for i, entry in tables(document, "claim")]
    if len({claim.id for claim in claims}) < len(claims):
        raise InputError("claim", "two claims have the same id")
    for i, entry in tables(document, "assumed"):
        names = ("parameter", "value", "reason")
        keys(entry, f"assumed[{i}]", dict.fromkeys(names, str), required=names)
    for key, value in document.get("text", {}).items():
        keys({key: value}, "text", {key: str})
    return StudySpec(
        question=document["question"], title=document.get("title", document["question"]), baseline=baseline,
        replicates=replicates, scenario=document["scenario"], algorithms=algorithms, sweeps=sweeps, figures=figures,
        claims=claims, assumed=list(document.get("assumed", [])), text=dict(document.get("text", {})),
        quick=parse_quick(document.get("quick", {}), sweeps),
    )  # fmt: skip


def parse_compare(compare: Mapping[str, Any], scenario: Mapping[str, Any]) -> list[Algorithm]:
    """Return the compared algorithms; refuse a scenario in which no flow would follow the comparison."""
    keys(compare, "compare", {"cc": list}, required=("cc",))
    filled(compare["cc"], "compare.cc")
    flows = scenario.get("flow")
    if isinstance(flows, list) and flows and all(isinstance(flow, dict) and "cc" in flow for flow in flows):
        raise InputError(
            "compare.cc", "has no effect: every flow of the scenario names its own cc", "leave out scenario.flow.N.cc"
        )
    algorithms = []
    for i, cc in enumerate(compare["cc"]):
        label = label_of(cc)
        if label is None:
            hint = 'a name, { name = "cubic", profile = "linux" }, or { python = "my_algorithm.py:MyCC" }'
            raise InputError(f"compare.cc[{i}]", f"{cc!r} is not an algorithm", hint)
        algorithms.append(Algorithm(label, cc))
    distinct([algorithm.label for algorithm in algorithms], "compare.cc")
    return algorithms


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
        scenarios.split_path(key)
        keys({key: values}, f"{path}.vary", {key: list})
        filled(values, f"{path}.vary.{key}")
        distinct(values, f"{path}.vary.{key}")
    return Sweep(dict(entry["vary"]), entry.get("label", " × ".join(entry["vary"])))


def parse_figure(entry: Mapping[str, Any], path: str, sweeps: list[Sweep], scenario: Mapping[str, Any]) -> Figure:
    """Return one `[[figure]]`."""
    allowed = {"kind": str, "x": str, "rows": str, "y": list, "difference": bool}
    keys(entry, path, allowed, required=("kind", "y"))
    one_of(entry["kind"], f"{path}.kind", FIGURE_KINDS)
    filled(entry["y"], f"{path}.y")
    kind, x, rows = entry["kind"], entry.get("x"), entry.get("rows")
    for i, name in enumerate(entry["y"]):
        keys({"y": name}, f"{path}.y[{i}]", {"y": str})
        if kind == "series":
            one_of(
                name,
                f"{path}.y[{i}]",
                recorded(scenario),
                "recorded by scenario.record.series",
            )
    if kind in ("line", "heatmap") and x is None:
        raise InputError(f"{path}.x", "is missing", f"a {kind} figure needs an axis that a sweep varies")
    if kind == "heatmap" and rows is None:
        raise InputError(f"{path}.rows", "is missing", "the second axis of a crossed sweep")
    wanted = {axis for axis in (x, rows) if axis is not None}
    if wanted and not any(set(sweep.vary) == wanted for sweep in sweeps):
        raise InputError(path, f"no sweep varies {' and '.join(sorted(wanted))} alone", axes_hint(sweeps))
    return Figure(kind, tuple(entry["y"]), x, rows, entry.get("difference", False))


def recorded(scenario: Mapping[str, Any]) -> list[str]:
    """Return the series that a scenario records; the engine says what is wrong with them."""
    record = scenario.get("record")
    series = record.get("series") if isinstance(record, Mapping) else None
    return [name for name in series if isinstance(name, str)] if isinstance(series, list) else []


def parse_claim(entry: Mapping[str, Any], path: str, sweeps: list[Sweep], labels: list[str]) -> Claim:
    """Return one `[[claim]]`; its `test` is one table or an array of tables."""
    if isinstance(entry.get("test"), dict):
        entry = {**entry, "test": [entry["test"]]}
    keys(entry, path, {"id": str, "text": str, "test": list}, required=("id", "text"))
    tests = tuple(parse_test(test, f"{path}.test[{i}]", sweeps, labels) for i, test in tables(entry, "test", path))
    return Claim(entry["id"], entry["text"], tests)


def parse_test(entry: Mapping[str, Any], path: str, sweeps: list[Sweep], labels: list[str]) -> Test:
    """Return one test of a claim."""
    allowed = {
        "metric": str,
        "trend": str,
        "above": float,
        "below": float,
        "order": list,
        "over": str,
        "algorithm": str,
    }
    keys(entry, path, {**allowed, "margin_percent": float}, required=("metric",))
    if sum(condition in entry for condition in CONDITIONS) != 1:
        raise InputError(path, "needs exactly one condition", f"one of {', '.join(CONDITIONS)}")
    if "trend" in entry:
        one_of(entry["trend"], f"{path}.trend", TRENDS)
        if "over" not in entry:
            raise InputError(f"{path}.over", "is missing", "the axis along which the trend is")
    if "over" in entry and not any(set(sweep.vary) == {entry["over"]} for sweep in sweeps):
        raise InputError(f"{path}.over", f"no sweep varies {entry['over']} alone", axes_hint(sweeps))
    for label in [*entry.get("order", []), *([entry["algorithm"]] if "algorithm" in entry else [])]:
        one_of(label, path, labels)
    if "order" in entry and len(entry["order"]) < 2:
        raise InputError(f"{path}.order", "needs two algorithms or more")
    return Test(**{**entry, "order": tuple(entry.get("order", ()))})


def parse_quick(entry: Mapping[str, Any], sweeps: list[Sweep]) -> dict[str, Any]:
    """Return `[quick]`: what a study is reduced to with `--quick`."""
    keys(entry, "quick", {"replicates": int, "duration": str, "values": dict})
    within(entry.get("replicates", 1), "quick.replicates", 1, MAX_REPLICATES)
    for key, values in entry.get("values", {}).items():
        one_of(key, "quick.values", sorted({axis for sweep in sweeps for axis in sweep.vary}))
        keys({key: values}, "quick.values", {key: list})
        filled(values, f"quick.values.{key}")
    return dict(entry)


def reduce_spec(spec: StudySpec) -> StudySpec:
    """Return the study at the size of its `[quick]` section (by default: 3 replicates, everything else as it is)."""
    values = spec.quick.get("values", {})
    reduced = StudySpec(**vars(spec))
    reduced.replicates = spec.quick.get("replicates", 3)
    reduced.sweeps = [Sweep({key: values.get(key, all_) for key, all_ in s.vary.items()}, s.label) for s in spec.sweeps]
    if "duration" in spec.quick:
        reduced.scenario = {**spec.scenario, "duration": spec.quick["duration"]}
    return reduced


def keys(table: Mapping[str, Any], path: str, allowed: Mapping[str, type], required: tuple[str, ...] = ()) -> None:
    """Raise InputError unless `table` has only `allowed` keys, each of its type, and all `required` ones."""
    if not isinstance(table, Mapping):
        raise InputError(path, f"{table!r} is not a table")
    for key, value in table.items():
        here = f"{path}.{key}" if path else key
        if key not in allowed:
            raise InputError(here, "unknown key", f"allowed: {', '.join(allowed)}")
        wanted = allowed[key]
        number = wanted is float and isinstance(value, int)
        if not (isinstance(value, wanted) or number) or (isinstance(value, bool) and wanted is not bool):
            raise InputError(here, f"{value!r} is not {TYPE_NAMES[wanted]}")
    for key in required:
        if key not in table or table[key] == "":
            raise InputError(f"{path}.{key}" if path else key, "is missing")


def tables(document: Mapping[str, Any], key: str, path: str = "") -> list[tuple[int, Mapping[str, Any]]]:
    """Return the numbered entries of `[[key]]`."""
    entries = list(enumerate(document.get(key, [])))
    for i, entry in entries:
        if not isinstance(entry, Mapping):
            raise InputError(f"{path}.{key}[{i}]".lstrip("."), f"{entry!r} is not a table")
    return entries


def one_of(value: Any, path: str, allowed: Any, what: str = "allowed") -> None:
    """Raise InputError unless `value` is one of `allowed`."""
    if value not in allowed:
        raise InputError(path, f"{value!r} is unknown", f"{what}: {', '.join(allowed) or 'nothing'}")


def within(value: int, path: str, low: int, high: int) -> None:
    """Raise InputError unless low <= value <= high."""
    if not low <= value <= high:
        raise InputError(path, f"{value} is out of range", f"{low} to {high}")


def filled(values: list[Any], path: str) -> None:
    """Raise InputError when the array is empty."""
    if not values:
        raise InputError(path, "is empty")


def distinct(values: list[Any], path: str) -> None:
    """Raise InputError when two entries are the same."""
    seen: list[Any] = []
    for value in values:
        if value in seen:
            raise InputError(path, f"{value!r} appears twice")
        seen.append(value)


def axes_hint(sweeps: list[Sweep]) -> str:
    """Return a hint that lists the axes of the study."""
    return "sweeps: " + ("; ".join(" × ".join(sweep.vary) for sweep in sweeps) or "none")


def slug(text: str) -> str:
    """Return text as part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
