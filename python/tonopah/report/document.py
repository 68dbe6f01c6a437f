"""A study as one self-contained HTML document, with its tables, the data of its figures and its verdicts beside it.

It runs no simulation: everything comes from the store. The page carries the data of its figures once and draws them itself:
no other process is needed, and a signal ends all of it.
"""

from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

import jinja2

from tonopah._core import engine_version
from tonopah.analysis import claims, consistency, reproduction, tables
from tonopah.analysis.answer import Answer, answer
from tonopah.analysis.figure_files import write_figures
from tonopah.analysis.figure_model import FigureData
from tonopah.analysis.paired import paired_differences
from tonopah.analysis.tables import PartTables
from tonopah.errors import RunFailedError
from tonopah.execution.progress import show_progress
from tonopah.metrics import count_text, duration_text
from tonopah.report import vendor, verdicts
from tonopah.report.claim_views import claim_views, find_figure, with_difference
from tonopah.report.embed import page_data
from tonopah.report.formatting import drawing, interval_text, p_text
from tonopah.report.panels import make_panels
from tonopah.report.part import PartReport, report_part
from tonopah.report.sensitivity_file import read as read_sensitivity
from tonopah.spec.criteria import changed_since
from tonopah.spec.library import shipped
from tonopah.spec.manifest import Manifest
from tonopah.spec.model import StudySpec
from tonopah.spec.plan import Plan
from tonopah.store.store import Store
from tonopah.writing import replace_file

Held: TypeAlias = dict[str, list[reproduction.Reproduced]]
"""By published table: its numbers beside ours."""
SCRIPTS = ("charts.js", "series.js", "tables.js", "page.js")
"""In the order in which the page loads them."""


def write(manifest: Manifest, spec: StudySpec, plan: Plan, store: Store, out: Path, quiet: bool = True) -> Path:
    """Write report.html, verdicts.json, tables/ and figures/ into `out` and return the path of the report.

    `spec` and `plan` are those of the study as it was run, with its confidence levels and numbers of replicates. Unless `quiet`,
    progress is shown on standard error.
    """
    sources = [read_part(spec, plan, part.id, store) for part in spec.parts]
    tables.require_runs(sources, store)
    try:
        return write_files(manifest, spec, plan, store, sources, out, quiet)
    except OSError as error:
        raise RunFailedError(f"{out}: the report cannot be written: {error}") from error


def write_files(
    manifest: Manifest, spec: StudySpec, plan: Plan, store: Store, sources: list[PartTables], out: Path, quiet: bool
) -> Path:
    """Write what `write` promises. Raises OSError."""
    (out / "tables").mkdir(parents=True, exist_ok=True)
    tables.write(tables.concatenate([source.runs for source in sources]), out / "tables", "runs")
    tables.write(tables.concatenate([source.flows for source in sources]), out / "tables", "flows")
    parts = []
    with show_progress(len(sources), 0, quiet, "parts of the report") as on_progress:
        for source in sources:
            parts.append(report_part(source, sources))
            on_progress()
    write_figures((figure for part in parts for figure in part.figures), out / "figures")
    runs = {source.part.id: source.runs for source in sources}
    found = claims.judge(spec, plan, runs, manifest.quick)
    differences = [] if found else list(paired_differences(spec, plan, runs, manifest.quick))
    answered = answer(spec, plan, runs, found, manifest.quick, differences)
    facts = describe(manifest, spec) | {"sensitivity": read_sensitivity(store.folder, manifest)}
    facts |= {"spent": spent_text(store), "runs": plan.measured, "size": plan.size, "engines": plan.engines}
    facts["carried"] = carried_text(plan, store)
    held: Held = {}
    for source in sources:
        for entry in reproduction.reproduced(source.part, source.plan, source.runs):
            held.setdefault(entry.printed.table, []).append(entry)
    about = study_facts(manifest, spec, facts, store) | against_original(held)
    replace_file(out / verdicts.FILE, verdicts.verdicts_json(about, answered, found, differences))
    replace_file(out / "report.html", render(spec, found, answered, parts, held, facts | {"differences": differences}))
    return out / "report.html"


def answer_of(manifest: Manifest, spec: StudySpec, plan: Plan, store: Store) -> Answer:
    """Return what the report of a study says first, without writing it."""
    sources = [read_part(spec, plan, part.id, store) for part in spec.parts]
    tables.require_runs(sources, store)
    runs = {source.part.id: source.runs for source in sources}
    return answer(spec, plan, runs, claims.judge(spec, plan, runs, manifest.quick), manifest.quick)


def read_part(spec: StudySpec, plan: Plan, part_id: str, store: Store) -> PartTables:
    """Return the data of a part."""
    part, part_plan = spec.part(part_id), plan.parts[part_id]
    return PartTables(part, part_plan, *tables.part_tables(part, part_plan, store), store)


def study_facts(manifest: Manifest, spec: StudySpec, facts: dict[str, Any], store: Store) -> dict[str, Any]:
    """Return what verdicts.json says of the study besides its answer."""
    return {
        "study": manifest.name, "title": spec.title, "question": spec.question, "quick": manifest.quick,
        "criteria": {
            "hash": spec.criteria, "date": str(spec.history[-1].date) if spec.history else "",
            "changed": bool(facts["criteria_changed"]), "history": len(spec.history),
        },
        "runs": facts["runs"], "replicates": {part.id: part.replicates for part in spec.parts},
        "command": facts["command"], "finished": store.last_finished(), "tonopah": engine_version(),
        **({"engines": facts["engines"]} if facts["engines"] else {}),
    }  # fmt: skip


def against_original(held: Held) -> dict[str, Any]:
    """Return what verdicts.json says of the original: how much of each table is reproduced."""
    tables_held = {
        table: dict(zip(("reproduced", "judged"), reproduction.counts(entries), strict=True)) for table, entries in held.items()
    }
    return {"published": tables_held}


def used_metrics(spec: StudySpec) -> list[tuple[str, str, str]]:
    """Return name, label and definition of every metric that the study shows or tests, derived metrics included."""
    found = {}
    for part in spec.parts:
        names = [y for figure in part.figures for y in figure.y]
        names += [name for claim in spec.claims for test in claim.tests if test.part == part.id for name in test.metrics]
        names += [column for derived in part.derived for column in derived.columns()]
        found |= {name: part.metric(name) for name in names}
    return [(name, shown.axis, shown.definition) for name, shown in found.items() if shown.definition]


def render(
    spec: StudySpec, found: list[claims.Verdict], answered: Answer, parts: list[PartReport], held: Held, facts: dict[str, Any]
) -> str:
    """Return the HTML document."""
    figures = {figure.id: figure for part in parts for figure in part.figures}
    views = claim_views(spec, found, figures)
    first = find_figure(answered.figure, figures) or next(iter(figures.values()), None)
    levels = sorted({f"{100 * part.confidence:.4g} %" for part in spec.parts})
    return render_page(
        "report.html.j2", figures.values(),
        spec=spec, parts=parts, verdicts=found, claims=views, answer=answered, counts=counted(answered),
        comparisons=claims.comparisons(found), metrics=used_metrics(spec),
        headline=make_panels(with_difference(first, figures))[0] if first else None,
        headline_labels=spec.part(first.part).labels if first else [],
        findings=[(one, consistency.check(one), held.get(one.id, [])) for one in spec.published],
        statistics={part.statistic for part in spec.parts} | {"median" for p in spec.parts for f in p.figures if f.median},
        confidence=" and ".join(levels), medians=any(part.statistic == "median" for part in spec.parts),
        **facts,
    )  # fmt: skip


def render_page(
    template: str, figures: Iterable[FigureData], package: str = "", filters: Mapping[str, Any] | None = None, **values: Any
) -> str:
    """Return a page that draws its figures itself: of a template of this package or another, with filters of its own."""
    environment = template_environment(*([package] if package else []))
    environment.filters |= filters or {}
    return environment.get_template(template).render(
        version=engine_version(), data=page_data(figures), vendor=vendor.SCRIPTS, vendor_style=vendor.STYLE.text,
        scripts=[page_file(name) for name in SCRIPTS], **values,
    )  # fmt: skip


def template_environment(*packages: str) -> jinja2.Environment:
    """Return what templates of pages are rendered with: those of these packages, and those of this one."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name, ".") for name in (*packages, "tonopah.report")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"drawing": drawing, "interval": interval_text, "p": p_text}
    return environment


def page_file(name: str) -> str:
    """Return a script of the page."""
    return resources.files("tonopah.report").joinpath("page", name).read_text(encoding="utf-8")


def counted(answered: Answer) -> list[tuple[str, int]]:
    """Return the verdicts that were given, with their numbers."""
    return [(verdict, count) for verdict, count in answered.counts.items() if count]


def describe(manifest: Manifest, spec: StudySpec) -> dict[str, Any]:
    """Return how the study was run, for provenance."""
    return {
        "source": Path(manifest.source).name,
        "name": manifest.name,
        "quick": manifest.quick,
        "replicates": replicates_text(spec),
        "target": manifest.target,
        "reached": manifest.reached,
        "command": command(manifest, spec),
        "criteria_changed": changed_since(spec),
    }


def replicates_text(spec: StudySpec) -> str:
    """Return the number of replicates, or its range over the parts."""
    counts = sorted({part.replicates for part in spec.parts})
    return f"{counts[0]} to {counts[-1]} replicates" if len(counts) > 1 else count_text(counts[0], "replicate")


def carried_text(plan: Plan, store: Store) -> str:
    """Return which kernels carried flows, of which parts, and how many of these runs were late; empty if none did."""
    kernels = {id_: run for id_, run in plan.runs.items() if run.engine}
    if not kernels:
        return ""
    parts = [(part, {run.engine for run in own.runs.values()}) for part, own in plan.parts.items()]
    named = [f"{part}: {', '.join(sorted(found - {''}))}" for part, found in parts if found != {""}]
    late = sum(summary["emulation"]["lateness"]["late"] for _, summary in store.summaries(kernels))
    by = "; ".join(named) if len(plan.engines) > 1 or len(named) < len(parts) else plan.engines[0]
    return f"flows carried by {by}" + (f" ({late} of {len(kernels)} runs late)" if late else "")


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
    options += f" --seeds {manifest.seeds}" if manifest.seeds != 1 else ""
    known, source = shipped().get(manifest.name), Path(manifest.source)
    name = manifest.name if known and known.resolve() == source.resolve() else source.name
    return f"tonopah study run {name}{options}"
