"""A study as one self-contained HTML document, with its tables and figures beside it.

It runs no simulation: everything comes from the store.
"""

import multiprocessing
import os
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from tonopah._core import engine_version
from tonopah.analysis import claims, consistency, tables
from tonopah.analysis.tables import PartTables
from tonopah.errors import InputError, RunFailedError
from tonopah.execution.options import cores
from tonopah.metrics import duration_text
from tonopah.report.formatting import image, interval_text, p_text
from tonopah.report.part import PartReport, report_part
from tonopah.spec.library import shipped
from tonopah.spec.manifest import Manifest
from tonopah.spec.model import StudySpec
from tonopah.spec.plan import Plan
from tonopah.store.store import Store

if TYPE_CHECKING:
    pass


def write(manifest: Manifest, spec: StudySpec, plan: Plan, store: Store, out: Path) -> Path:
    """Write report.html, tables/ and figures/ into `out` and return the path of the report.

    `spec` and `plan` are those of the study as it was run, with its confidence levels and numbers of replicates.
    """
    sources = []
    for part in spec.parts:
        part_plan = plan.parts[part.id]
        sources.append(PartTables(part, part_plan, *tables.part_tables(part, part_plan, store), store))
    if all(source.runs.empty for source in sources):
        raise InputError("", "contains no finished run", None, str(store.folder))
    try:
        for folder in ("tables", "figures"):
            (out / folder).mkdir(parents=True, exist_ok=True)
        tables.write(tables.concatenate([source.runs for source in sources]), out / "tables", "runs")
        tables.write(tables.concatenate([source.flows for source in sources]), out / "tables", "flows")
        parts = report_parts(sources)
        for figure in (figure for part in parts for section in part.sections for figure in section.figures):
            (out / "figures" / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
            (out / "figures" / f"{figure.name}.pdf").write_bytes(figure.pdf)
            figure.data.to_csv(out / "figures" / f"{figure.name}.csv", index=False)
        target = out / "report.html"
        temporary = target.with_suffix(f".{os.getpid()}.tmp")
        runs = {source.part.id: source.runs for source in sources}
        facts = describe(manifest, spec) | {"spent": spent_text(store), "runs": plan.measured, "size": plan.size}
        temporary.write_text(render(spec, claims.judge(spec, plan, runs, manifest.quick), parts, facts), encoding="utf-8")
        temporary.replace(target)
    except OSError as error:
        raise RunFailedError(f"{out}: the report cannot be written: {error}") from error
    return target


def report_parts(sources: list[PartTables]) -> list[PartReport]:
    """Return the report on each part; parts are rendered on all cores, since figures take longest."""
    processes = min(len(sources), cores())
    # A fork beside other threads may inherit a lock that is never released.
    if processes < 2 or sys.platform != "linux" or threading.active_count() > 1:
        return [report_part(source) for source in sources]
    forked = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, mp_context=forked, initializer=inherit, initargs=(sources,)) as pool:
        return list(pool.map(report_inherited, range(len(sources))))


inherited: list[PartTables] = []
"""Data of the parts for a forked process; too large for a pipe."""


def inherit(sources: list[PartTables]) -> None:
    """Initialize a forked process."""
    inherited.extend(sources)


def report_inherited(index: int) -> PartReport:
    """Return the report on a part in a forked process, which opens its own connection to the store."""
    source = inherited[index]
    with Store(source.store.folder, create=False) as store:
        return report_part(replace(source, store=store))


def used_metrics(spec: StudySpec) -> list[tuple[str, str, str]]:
    """Return name, label and definition of every metric that the study shows or tests, derived metrics included."""
    found = {}
    for part in spec.parts:
        names = [y for figure in part.figures for y in figure.y]
        names += [name for claim in spec.claims for test in claim.tests if test.part == part.id for name in test.metrics]
        names += [column for derived in part.derived for column in derived.columns()]
        found |= {name: part.metric(name) for name in names}
    return [(name, shown.axis, shown.definition) for name, shown in found.items() if shown.definition]


def render(spec: StudySpec, verdicts: list[claims.Verdict], parts: list[PartReport], facts: dict[str, Any]) -> str:
    """Return the HTML document."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tonopah.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"image": image, "interval": interval_text, "p": p_text}
    levels = sorted({f"{100 * part.confidence:.4g} %" for part in spec.parts})
    return environment.get_template("report.html.j2").render(
        spec=spec, parts=parts, verdicts=verdicts, comparisons=claims.comparisons(verdicts), metrics=used_metrics(spec),
        findings=[(published, consistency.check(published)) for published in spec.published],
        statistics={part.statistic for part in spec.parts} | {"median" for p in spec.parts for f in p.figures if f.median},
        confidence=" and ".join(levels), medians=any(part.statistic == "median" for part in spec.parts),
        version=engine_version(), **facts,
    )  # fmt: skip


def describe(manifest: Manifest, spec: StudySpec) -> dict[str, Any]:
    """Return how the study was run, for provenance."""
    return {
        "source": Path(manifest.source).name,
        "quick": manifest.quick,
        "replicates": replicates_text(spec),
        "target": manifest.target,
        "reached": manifest.reached,
        "command": command(manifest, spec),
    }


def replicates_text(spec: StudySpec) -> str:
    """Return the number of replicates, or its range over the parts."""
    counts = sorted({part.replicates for part in spec.parts})
    return f"{counts[0]} to {counts[-1]} replicates" if len(counts) > 1 else f"{counts[0]} replicate{'s' * (counts[0] != 1)}"


def spent_text(store: Store) -> str:
    """Return the time that the stored runs took."""
    # Each run holds the seconds since its batch began; where they fall, another batch began.
    times = store.wall_times()
    total = sum(now for now, after in zip(times, [*times[1:], 0.0], strict=True) if after < now)
    return duration_text(total)


def command(manifest: Manifest, spec: StudySpec) -> str:
    """Return the command that repeats the study."""
    options = " --quick" if manifest.quick else ""
    counts = {part.replicates for part in spec.parts}
    if manifest.target:
        options += f" --until {manifest.target.percent:g}% --at-most {manifest.target.at_most}"
        options += "".join(f" --metric {name}" for name in manifest.target.metrics)
    elif len(counts) == 1:
        options += f" --replicates {counts.pop()}"
    known, source = shipped().get(manifest.name), Path(manifest.source)
    name = manifest.name if known and known.resolve() == source.resolve() else source.name
    return f"tonopah study run {name}{options}"
