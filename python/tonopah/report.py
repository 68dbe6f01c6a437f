"""A study as one self-contained HTML document, with its tables and figures beside it.

Nothing here runs a simulation: everything comes from the store.
"""

import base64
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from tonopah import claims, figures, handover, picture, table
from tonopah._core import engine_version
from tonopah.axes import numbers
from tonopah.errors import InputError, RunFailedError
from tonopah.figures import Drawing
from tonopah.metrics import metric, show
from tonopah.study_file import Figure, Sweep

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.plan import Run
    from tonopah.store import Store
    from tonopah.study import Study


@dataclass
class Section:
    """One sweep (or the default point) in the report: its drawings and its table."""

    anchor: str
    title: str
    note: str
    drawings: list[Drawing] = field(default_factory=list)
    table: dict[str, Any] | None = None


def write(study: "Study", store: "Store", out: Path) -> Path:
    """Write report.html, tables/ and figures/ into `out` and return the path of the report."""
    runs, flows = table.run_table(study.plan, store), table.flow_table(study.plan, store)
    if runs.empty:
        raise InputError("", "holds no finished run to report on", None, str(store.folder))
    try:
        for folder in ("tables", "figures"):
            (out / folder).mkdir(parents=True, exist_ok=True)
        table.write(runs, out / "tables", "runs")
        table.write(flows, out / "tables", "flows")
        sections = [*sweep_sections(study, runs), default_section(study, store, runs, flows)]
        for drawing in (drawing for section in sections for drawing in section.drawings):
            (out / "figures" / f"{drawing.name}.svg").write_text(drawing.svg, encoding="utf-8")
            drawing.data.to_csv(out / "figures" / f"{drawing.name}.csv", index=False)
        target = out / "report.html"
        temporary = target.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(render(study, store, runs, sections), encoding="utf-8")
        temporary.replace(target)
    except OSError as error:
        raise RunFailedError(f"{out}: the report cannot be written: {error}") from error
    return target


def sweep_sections(study: "Study", runs: "pd.DataFrame") -> Iterator[Section]:
    """Yield a section for each sweep, with the figures that the study file asks for."""
    labels, baseline = algorithm_labels(study), study.spec.baseline
    for i, sweep in enumerate(study.spec.sweeps):
        mine = runs[runs["run"].isin(study.plan.sweeps[i])]
        wanted = [figure for figure in study.spec.figures if {figure.x, figure.rows} - {None} == set(sweep.vary)]
        section = Section(f"sweep-{i + 1}", sweep.label, sweep_note(study, sweep))
        for figure in wanted:
            section.drawings += draw(figure, sweep, mine, labels, baseline)
        shown = [name for name in dict.fromkeys(y for figure in wanted for y in figure.y) if name in runs.columns]
        points = [{axis: value} for axis, values in sweep.vary.items() for value in values] if len(sweep.vary) == 1 else []
        section.table = point_table(mine, points, shown, labels, baseline) if points and shown else None
        yield section


def draw(figure: Figure, sweep: Sweep, runs: "pd.DataFrame", labels: list[str], baseline: str) -> Iterator[Drawing]:
    """Yield the drawings of one request over a sweep; metrics that no run measured are left out."""
    axes = {key: figures.Axis(key, values, axis_label(sweep, key)) for key, values in sweep.vary.items()}
    for name in (name for name in figure.y if figures.has(runs, name, labels)):
        if figure.kind == "heatmap" and figure.x and figure.rows:
            yield from (figures.heatmap(runs, axes[figure.x], axes[figure.rows], name, label) for label in labels)
        elif figure.kind == "line" and figure.x:
            yield figures.line(runs, axes[figure.x], name, labels)
            if figure.difference and len(labels) > 1:
                yield figures.difference_line(runs, axes[figure.x], name, labels, baseline)


def default_section(study: "Study", store: "Store", runs: "pd.DataFrame", flows: "pd.DataFrame") -> Section:
    """Return the section on the default point: bars, distributions, time series and a table."""
    labels, baseline = algorithm_labels(study), study.spec.baseline
    at_base, flows_at_base = (frame[frame["run"].isin(study.plan.base)] for frame in (runs, flows))
    note = "Every axis at its default. Time series show one typical run of each algorithm (seed 1)."
    section = Section("default", "The default point", note)
    wanted = [figure for figure in study.spec.figures if figure.x is None]
    for figure in wanted:
        for name in figure.y:
            if figure.kind == "bar" and figures.has(at_base, name, labels):
                section.drawings.append(figures.bar(at_base, name, labels))
            elif figure.kind == "ecdf" and figures.has(flows_at_base, name, labels):
                section.drawings.append(figures.ecdf(flows_at_base, name, labels))
            elif figure.kind == "series":
                section.drawings += series_drawing(study, store, name)
    names = [y for figure in study.spec.figures if figure.kind != "series" for y in figure.y]
    shown = [name for name in dict.fromkeys(names) if name in runs.columns]
    section.table = point_table(at_base, [{}], shown, labels, baseline) if shown else None
    return section


def series_drawing(study: "Study", store: "Store", name: str) -> list[Drawing]:
    """Return the drawing of a series: flow 0, or the link whose queue grew longest in the baseline's run."""
    frames: dict[str, Any] = {}
    owner, which = None, "flow 0"
    # The baseline chooses the link, so that all algorithms are seen at the same one.
    order = sorted(study.plan.typical.items(), key=lambda item: item[0] != study.spec.baseline)
    for label, run in order:
        if not store.series_path(run.id).is_file():
            continue
        frame = store.series(run.id, name)
        if frame.empty:
            continue
        column = "link" if "link" in frame.columns else "flow"
        if owner is None:
            owner = frame.loc[frame["value"].idxmax(), "link"] if column == "link" else 0
            which = f"link {owner} (the longest queue)" if column == "link" else "flow 0"
        frames[label] = frame[frame[column] == owner]
    ordered = {label: frames[label] for label in algorithm_labels(study) if label in frames}
    handovers = handover_times(store, study.plan.typical[study.spec.baseline]) if owner == 0 else []
    if not ordered:
        return []
    return [figures.series(ordered, name, which, handovers), *handover.around(ordered, name, which, handovers)]


def handover_times(store: "Store", run: "Run") -> list[float]:
    """Return when the ends of flow 0 changed their satellite; nothing for networks on the ground."""
    found = store.summaries({run.id: run})
    summary = found[0][1] if found else {}
    ends = [summary["flows"][0][end] for end in ("from", "to")] if summary.get("space") else []
    terminals = summary.get("space", {}).get("terminals", [])
    return sorted(time for terminal in terminals if terminal["terminal"] in ends for time in terminal["handover_times_s"])


def point_table(
    runs: "pd.DataFrame", points: list[dict[str, Any]], names: list[str], labels: list[str], baseline: str
) -> dict[str, Any]:
    """Return a table for people: a row for each point and algorithm, mean ± half the interval, difference to the baseline."""
    head = [*next(iter(points)), "algorithm", *(metric(name).axis for name in names), "n"]
    rows = []
    for where in points:
        for label in labels:
            cells = [(str(value), "") for value in where.values()] + [(label, "")]
            counts = []
            for name in names:
                mean = table.estimate(runs, name, label, where).scaled(metric(name).factor)
                counts.append(mean.n)
                change = table.difference(runs, name, label, baseline, where) if label != baseline else None
                cells.append((plus_minus(mean), difference_text(change)))
            rows.append([*cells, (str(max(counts)), "")])
    return {"head": head, "rows": rows}


def plus_minus(mean: Any) -> str:
    """Return mean ± half width, the mean to the digits that the interval allows."""
    if math.isnan(mean.low):
        return show(mean.value)
    half = mean.high - mean.value
    if half == 0 or not math.isfinite(half):
        return f"{show(mean.value, 5)} ± 0"
    digits = min(6, max(0, 1 - math.floor(math.log10(half))))
    return f"{mean.value:,.{digits}f} ± {half:,.{digits}f}"


def difference_text(change: Any) -> str:
    """Return a difference in percent with its interval, or nothing where it was not measured."""
    if change is None or math.isnan(change.value):
        return ""
    interval = f" [{change.low:+.2f}, {change.high:+.2f}]" if not math.isnan(change.low) else ""
    return f"{change.value:+.2f} %{interval}"


def sweep_note(study: "Study", sweep: Sweep) -> str:
    """Return what is varied, and what the study file says about it."""
    varied = "; ".join(f"{axis} = {', '.join(str(v) for v in values)}" for axis, values in sweep.vary.items())
    return f"Varied: {varied}. Everything else keeps its default."


def axis_label(sweep: Sweep, key: str) -> str:
    """Return an axis in words: the sweep's label when it has one axis."""
    return sweep.label if len(sweep.vary) == 1 else key


def algorithm_labels(study: "Study") -> list[str]:
    """Return the names of the compared algorithms in the order of the study file."""
    return [algorithm.label for algorithm in study.spec.algorithms]


def parameters(study: "Study") -> list[tuple[str, list[str]]]:
    """Return the resolved scenario of the default point: key, and one value or, where they differ, one for each algorithm."""
    labels = algorithm_labels(study)
    of = {run.algorithm: run.resolved for run in study.plan.runs.values() if run.id in study.plan.base}
    columns = [table.flatten(json.loads(of[label])) for label in labels]
    rows = []
    for key in sorted({key for column in columns for key in column}):
        texts = [value_text(column.get(key)) for column in columns]
        if any(texts):
            rows.append((key, texts if len(set(texts)) > 1 else texts[:1]))
    return rows


def value_text(value: Any) -> str:
    """Return a resolved value for people; lists of nodes, links and flows are counted."""
    if isinstance(value, list):
        entries = all(isinstance(entry, dict) for entry in value)
        return "" if not value else f"{len(value)} entries" if entries else ", ".join(str(v) for v in value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def health(study: "Study", runs: "pd.DataFrame") -> list[str]:
    """Return what a reader must know before trusting the numbers."""
    planned = sum(not run.typical for run in study.plan.runs.values())
    notes = []
    if len(runs) < planned:
        notes.append(f"{planned - len(runs)} of {planned} runs are missing: the study was not finished.")
    wanted = [f"conservation.{name}" for name in ("sent", "delivered", "dropped", "in_flight")]
    if set(wanted) <= set(runs.columns):
        sent, *ends = (runs[name] for name in wanted)
        wrong = int((sent != sum(ends)).sum())
        good = "In every run, packets sent = delivered + dropped + in flight at the end."
        notes.append(good if wrong == 0 else f"Packets are not conserved in {wrong} runs: do not trust this report.")
    if "flows_without_delivery" in runs.columns and runs["flows_without_delivery"].sum() > 0:
        share = runs["flows_without_delivery"].sum() / runs["flows"].sum()
        notes.append(f"{100 * share:.2f} % of all flows delivered nothing; their delay and ratios are not measured.")
    if study.spec.replicates < 2:
        notes.append("One replicate: there are no intervals and no tests.")
    return notes


def used_metrics(study: "Study") -> list[tuple[str, str, str]]:
    """Return name, label and definition of every metric that the study shows or tests."""
    names = [y for figure in study.spec.figures for y in figure.y]
    names += [test.metric for claim in study.spec.claims for test in claim.tests]
    return [(name, metric(name).axis, metric(name).definition) for name in dict.fromkeys(names) if metric(name).definition]


def render(study: "Study", store: "Store", runs: "pd.DataFrame", sections: list[Section]) -> str:
    """Return the HTML document."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tonopah", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"image": image, "interval": interval_text, "p": p_text}
    return environment.get_template("report.html.j2").render(
        spec=study.spec, source=Path(study.source).name, quick=study.quick, labels=algorithm_labels(study), runs=len(runs),
        verdicts=claims.judge(study.spec, study.plan, runs), picture=picture.draw(study.plan.graph),
        network=picture.describe(study.plan.graph), legend=picture.legend(study.plan.graph),
        parameters=parameters(study), sections=sections, health=health(study, runs),
        metrics=used_metrics(study), version=engine_version(), seeds=study.spec.replicates, confidence="95 %",
        command=command(study), axes=[(sweep, sweep_values(sweep)) for sweep in study.spec.sweeps],
    )  # fmt: skip


def command(study: "Study") -> str:
    """Return the command that repeats the study."""
    from tonopah.study import shipped

    options = " --quick" if study.quick else ""
    options += f" --replicates {study.spec.replicates}"
    known = shipped().get(study.name)
    what = study.name if known and known.resolve() == Path(study.source).resolve() else Path(study.source).name
    return f"tonopah study run {what}{options}"


def sweep_values(sweep: Sweep) -> str:
    """Return the values of a sweep in words."""
    parts = []
    for values in sweep.vary.values():
        found = numbers(values)
        parts.append(", ".join(f"{v:g}" for v in found[0]) + f" {found[1]}".rstrip() if found else ", ".join(map(str, values)))
    return " × ".join(parts)


def interval_text(effect: Any, unit: str) -> str:
    """Return effect and interval for the table of claims."""
    if math.isnan(effect.value):
        return "–"
    interval = f" [{show(effect.low)}, {show(effect.high)}]" if not math.isnan(effect.low) else ""
    return f"{show(effect.value)}{interval} {unit}".rstrip()


def p_text(p: float) -> str:
    """Return a p value for people."""
    return "–" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def image(svg: str) -> str:
    """Return SVG text as the source of an image, so that the names inside it cannot meet those of another figure."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
