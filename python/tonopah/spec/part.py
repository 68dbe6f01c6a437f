"""Makes the parts of a study: what a part does not state it takes from the top of the file; then figures meet sweeps."""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tonopah.errors import InputError, near_names
from tonopah.kernel.engines import SIMULATED, identity
from tonopah.runs.simulation import INTERNAL
from tonopah.spec.columns import check_figure, check_metric, own_columns, own_columns_of_flows
from tonopah.spec.derived import Derived, OverFlows
from tonopah.spec.figure import FigureTable
from tonopah.spec.model import Figure, Part
from tonopah.spec.schema import PartKeys, PartTable, Quick, StudyFile, Sweep
from tonopah.spec.series import recorded_series
from tonopah.spec.source import KEY, FromSource, Sourced, is_sourced, make
from tonopah.spec.validation import MAX_LISTED, cut, join, list_allowed, shorten
from tonopah.spec.vary import AS_SCRIPT, Vary, check_amounts
from tonopah.units import numbers

UNANSWERING = {"cdf", "ecdf", "table"}
"""Kinds of figures that compare no metric of runs, so that no answer can be read from them."""
USUAL_METRICS = ("goodput_bps", "delay_s", "loss_ratio")
REPRESENTATIVE = ("cwnd", "queue")
"""Series of the representative runs of a part that asks for no figure of series."""


@dataclass(frozen=True)
class PartReader:
    """Where a part is read from: its own table at `path`, and the top of the file for what it leaves out."""

    file: PartKeys
    own: PartTable | None = None
    path: str = ""

    def owns(self, key: str) -> bool:
        """Tell whether a key stands in the part's own table; a study without `[[part]]` has none."""
        return self.own is not None and key in self.own.model_fields_set

    def get(self, key: str) -> Any:
        """Return a value of the part, of the file, or its default."""
        return getattr(self.own if self.owns(key) else self.file, key)

    def at(self, key: str) -> str:
        """Return the path of a key where it stands; of one that is nowhere, where it should."""
        return join(self.path, (key,)) if self.owns(key) or key not in self.file.model_fields_set else key


def read_parts(file: StudyFile) -> list[Part]:
    """Return the parts; a file without `[[part]]` is one part. Raises InputError."""
    if not file.part:
        return [read_part(PartReader(file))]
    parts = [read_part(PartReader(file, own, f"part[{i}]")) for i, own in enumerate(file.part)]
    labels = list(dict.fromkeys(label for part in parts for label in part.labels))
    if file.baseline is not None and file.baseline not in labels:
        message = f"no part compares {shorten(file.baseline)}"
        raise InputError("baseline", message, list_allowed(labels, "labels", file.baseline))
    return parts


def read_part(reader: PartReader) -> Part:
    """Return one part."""
    for key in ("scenario", "compare"):
        if reader.get(key) is None:
            raise InputError(join(reader.path, (key,)), "is missing")
    own = reader.own
    scenario, sourced = read_scenario(reader)
    compare, sweeps = reader.get("compare"), list(reader.get("sweep"))
    labels = [variant.label for variant in compare.variants]
    figures = []
    derived: list[Derived] = [*reader.get("derived"), *([FromSource.of(sourced)] if sourced else [])]
    of_flows = own_columns_of_flows(derived)
    for i, metric in enumerate(derived):
        if isinstance(metric, OverFlows):
            check_metric(metric.metric, f"{reader.at('derived')}[{i}].metric", "flow", of_flows)
    columns = own_columns(derived, scenario)
    for i, table in enumerate(reader.get("figure")):
        check_figure(table.kind, table.y, f"{reader.at('figure')}[{i}]", columns, of_flows)
        if table.against:
            check_metric(table.against, f"{reader.at('figure')}[{i}].against", "run", columns)
        figures += read_figures(table, f"{reader.at('figure')}[{i}]", sweeps, scenario)
    kinds = {figure.kind for figure in figures}
    if kinds - {"series"} <= UNANSWERING and kinds != {"series"} and not getattr(reader.file, "claim", ()) and not sourced:
        figures += usual_figures(sweeps)
    if not any(figure.kind == "series" for figure in figures):
        figures.append(Figure("series", REPRESENTATIVE))
    return Part(
        id=own.id if own else "", title=(own.title or own.id) if own else "", baseline=choose_baseline(reader, labels),
        replicates=reader.get("replicates"), scenario=scenario, variants=compare.variants, statistic=reader.get("statistic"),
        sweeps=sweeps, figures=figures, derived=derived, assumed=list(own.assumed) if own else [],
        text=part_text(reader, sourced), quick=choose_quick(reader, sweeps), vary=choose_vary(reader, scenario, sourced),
        engine=choose_engine(reader, sourced),
    )  # fmt: skip


def read_scenario(reader: PartReader) -> tuple[dict[str, Any], Sourced | None]:
    """Return the scenario of a part, its own and the file's as one, and what its source makes of it, if it has one.

    A scenario that names a source takes nothing from the file.
    """
    own, file = reader.own.scenario if reader.own else None, reader.file.scenario or {}
    scenario = merge(file, {}) if own is None else merge({} if is_sourced(own, reader.at("scenario")) else file, own)
    check_cc(reader, scenario)
    if not is_sourced(scenario, reader.at("scenario")):
        return scenario, None
    sourced = make(scenario, reader.at("scenario"))
    return {KEY: scenario[KEY], **sourced.given}, sourced


def usual_figures(sweeps: list[Sweep]) -> list[Figure]:
    """Return what a study without a claim or a figure that answers shows: what most ask first, over each axis, or as bars."""
    axes = [next(iter(sweep.vary)) for sweep in sweeps if len(sweep.vary) == 1]
    return [Figure("line", USUAL_METRICS, axis, difference=True) for axis in axes] or [Figure("bar", USUAL_METRICS)]


def choose_vary(reader: PartReader, scenario: Mapping[str, Any], sourced: Sourced | None) -> Vary:
    """Return what varies in a part; of a scenario from a source only what its own table asks for."""
    if sourced and not (reader.owns("vary") or (not reader.path and "vary" in reader.file.model_fields_set)):
        return AS_SCRIPT
    vary: Vary = reader.get("vary")
    check_amounts(vary, scenario, reader.at("vary"))
    return vary


def choose_engine(reader: PartReader, sourced: Sourced | None) -> str:
    """Return who carries the flows of a part, if a kernel does. Raises InputError where only our senders can."""
    if (name := reader.get("engine")) == SIMULATED:
        return ""
    if sourced:
        raise InputError(f"{reader.at('scenario')}.{KEY}", f"is simulated only, not carried by {name}", "leave engine out")
    try:
        return identity(name)
    except InputError as error:
        raise InputError(reader.at("engine"), error.message, error.hint) from None


def part_text(reader: PartReader, sourced: Sourced | None) -> dict[str, str]:
    """Return what the report says of a part; where its network is from a source, from which."""
    text = dict(reader.own.text) if reader.own else {}
    if sourced and sourced.about:
        text["network"] = f"{text.get('network', '')} {sourced.about}".strip()
    return text


def merge(default: Any, own: Any) -> Any:
    """Return a scenario changed by another: tables are merged; arrays, values and tables of another `kind` are replaced."""
    if not isinstance(default, Mapping) or not isinstance(own, Mapping):
        return copy.deepcopy(own)
    if "kind" in own and own["kind"] != default.get("kind"):
        return copy.deepcopy(dict(own))
    both = {key: copy.deepcopy(value) for key, value in default.items() if key not in own}
    return both | {key: merge(default.get(key), value) for key, value in own.items()}


def check_cc(reader: PartReader, scenario: Mapping[str, Any]) -> None:
    """Refuse a scenario in which no flow would follow `compare.cc`."""
    flows = scenario.get("flow")
    named = isinstance(flows, list) and flows and all(isinstance(flow, dict) and "cc" in flow for flow in flows)
    if named and reader.get("compare").cc:
        message = "has no effect: every flow of the scenario names its own cc"
        raise InputError(f"{reader.at('compare')}.cc", message, "leave out scenario.flow.N.cc")


def choose_baseline(reader: PartReader, labels: list[str]) -> str:
    """Return what the others are compared with: the part's own, the file's if it is compared here, else the first."""
    baseline = reader.get("baseline")
    if baseline in labels:
        return baseline
    if baseline is not None and (reader.owns("baseline") or not reader.path):
        raise InputError(reader.at("baseline"), f"{shorten(baseline)} is unknown", list_allowed(labels, value=baseline))
    return labels[0]


def read_figures(table: FigureTable, path: str, sweeps: list[Sweep], scenario: Mapping[str, Any]) -> list[Figure]:
    """Return the requests of one `[[figure]]`: one for each axis in `x`."""
    if table.kind == "series":
        known = recorded_series(scenario)
        for i, name in enumerate(table.y):
            if name not in known:
                where = "internals" if name.startswith(INTERNAL) else "series"
                hint = list_allowed(known, f"recorded by scenario.record.{where}", name)
                raise InputError(f"{path}.y[{i}]", f"{shorten(name)} is unknown", hint)
    for x in table.x or (None,):
        check_axes(x, table.rows, path, sweeps)
        check_log(table, x, path, sweeps)
    return [
        Figure(
            table.kind,
            table.y,
            x,
            table.rows,
            table.difference,
            table.median,
            table.flows,
            table.log or "",
            table.title,
            table.against or "",
            table.beside or (),
            path,
        )
        for x in table.x or (None,)
    ]


def check_axes(x: str | None, rows: str | None, path: str, sweeps: list[Sweep]) -> None:
    """Refuse axes that no sweep varies by themselves."""
    axes = {axis for axis in (x, rows) if axis is not None}
    if axes and not any(set(sweep.vary) == axes for sweep in sweeps):
        raise InputError(path, f"no sweep varies {cut(' and '.join(sorted(axes)))} alone", axes_hint(sweeps, axes))


def asked_figure(part: Part, name: str, x: str | None, rows: str | None) -> Figure:
    """Return a request that the study file need not have. Raises InputError if the part has no such metric or sweep."""
    kind = "heatmap" if rows else "line" if x else "bar"
    check_figure(kind, [name], "figure", own_columns(part.derived, part.scenario))
    check_axes(x, rows, "figure", part.sweeps)
    # An axis is as the study's own figures have it.
    own = next((figure for figure in part.figures if x and figure.x == x and "x" in (figure.log or "")), None)
    return Figure(kind, (name,), x, rows, log="x" if own and kind == "line" else "")


def check_log(table: FigureTable, x: str | None, path: str, sweeps: list[Sweep]) -> None:
    """Refuse a logarithmic axis over values that are not positive numbers; that of a metric shows what it can."""
    x = x if table.kind != "scatter" else None
    values = next((sweep.vary[x] for sweep in sweeps if set(sweep.vary) == {x}), []) if x and "x" in (table.log or "") else []
    found = numbers(values) if values else None
    if values and (found is None or min(found[0]) <= 0):
        wrong = next((value for value in values if (number := numbers([value])) is None or number[0][0] <= 0), values[0])
        raise InputError(f"{path}.log", f"x cannot be logarithmic: {shorten(wrong)} is not above zero on {cut(x or '')}")


def axes_hint(sweeps: list[Sweep], wanted: Iterable[str] = ()) -> str:
    """Return a hint that lists the axes of the study, and those that are like the wanted ones."""
    known = {axis for sweep in sweeps for axis in sweep.vary}
    near = [name for axis in wanted if axis not in known for name in near_names(axis, known)]
    hint = "sweeps: " + ("; ".join(cut(" × ".join(sweep.vary)) for sweep in sweeps[:MAX_LISTED]) or "none")
    return f"did you mean {' or '.join(near)}? {hint}" if near else hint


def choose_quick(reader: PartReader, sweeps: list[Sweep]) -> Quick:
    """Return the reduced size of a part, with values of its own axes only."""
    quick: Quick = reader.get("quick")
    axes = sorted({axis for sweep in sweeps for axis in sweep.vary})
    # The file's own [quick] is shared by parts that have different axes.
    if reader.owns("quick") or not reader.path:
        for axis in quick.values:
            if axis not in axes:
                hint = list_allowed(axes, value=axis)
                raise InputError(f"{reader.at('quick')}.values", f"{shorten(axis)} is unknown", hint)
    return quick.model_copy(update={"values": {axis: values for axis, values in quick.values.items() if axis in axes}})
