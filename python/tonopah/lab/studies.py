"""The studies of the folder and the shipped ones: run in processes of their own, read from their results.

A study runs as `tonopah study run` does; stopping it is Ctrl-C, so what is finished stays and the same study goes on from there.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah.analysis.asked_figures import asked_figures
from tonopah.errors import InputError
from tonopah.lab.security import below, code_of, confine
from tonopah.report import verdicts
from tonopah.report.embed import page_figure
from tonopah.scenario.document import is_study, load
from tonopah.spec.library import shipped
from tonopah.store.store import Store
from tonopah.study.stored import stored_runs
from tonopah.study.study import Study

Stamp = tuple[int, ...]
RESULTS = "results"
MOST_FILES = 500
"""TOML files of the folder that are looked at."""
MOST_RUNS = 200
"""Runs of a point that are listed."""
KEPT_OUTPUT = 2000
STATES = ("", "begun", "report", "running")
"""How far a size of a study is; the later, the more there is to look at."""
MOST_AXES = 2
"""Of a sweep that is drawn: along the one, a figure for each value of the other."""
DRAWN = ("line", "bar", "heatmap")
"""Kinds of figures whose metrics are offered."""


@dataclass
class StudyJob:
    """A study that runs."""

    process: "subprocess.Popen[bytes]"
    before: int
    """Runs that were stored when it began."""
    total: int
    log: Path
    began: float = field(default_factory=time.monotonic)


class Studies:
    """The studies that this server knows."""

    def __init__(self, folder: Path, allow_python: bool):
        self.folder, self.allow_python = folder, allow_python
        self.jobs: dict[tuple[str, bool], StudyJob] = {}
        self.read: dict[tuple[str, bool], tuple[Stamp, Study]] = {}
        self.key_of: Callable[[str], str] = lambda folder: folder
        """What is in the address of a report besides its folder."""

    def listed(self) -> list[dict[str, Any]]:
        """Return name, title and question of every study, the shipped ones last."""
        own = [self.entry(path.name, path) for path in sorted(self.folder.glob("*.toml"))[:MOST_FILES]]
        return [
            *(entry for entry in own if entry),
            *(entry for name, path in shipped().items() if (entry := self.entry(name, path))),
        ]

    def entry(self, name: str, path: Path) -> dict[str, Any] | None:
        """Return one study; None if the file is none."""
        try:
            document = load(below(self.folder, name) if path.parent == self.folder else path)
        except InputError:
            return None
        if not is_study(document):
            return None
        question = str(document.get("question", ""))
        return {
            "name": name,
            "title": str(document.get("title") or question),
            "question": question,
            "own": path.parent == self.folder,
            "state": self.told_state(name, path.stem),
        }

    def state(self, name: str, stem: str, quick: bool) -> str:
        """Return how far a size of a study is, from the files that it has written; empty if it was not begun here."""
        job, folder = self.jobs.get((name, quick)), self.results(stem, quick)
        if job is not None and job.process.poll() is None:
            return "running"
        return "report" if (folder / "report.html").is_file() else "begun" if (folder / "runs.sqlite").is_file() else ""

    def told_state(self, name: str, stem: str) -> str:
        """Return how far a study is in the size of which there is more."""
        full, quick = (self.state(name, stem, size) for size in (False, True))
        return f"{quick}, quick size" if STATES.index(quick) > STATES.index(full) else full

    def results(self, stem: str, quick: bool) -> Path:
        """Return the folder of the results of a study."""
        return self.folder / RESULTS / f"{stem}{'-quick' if quick else ''}"

    def study(self, name: str, quick: bool) -> Study:
        """Return a study that may be run here, with the folder of its results. Raises InputError."""
        path = shipped().get(name) or below(self.folder, name)
        changed = stamp(path)
        known = self.read.get((name, quick))
        if known and known[0] == changed:
            return known[1]
        if name not in shipped():
            confine_study(load(path), self.folder)
        study = Study.load(path)
        if name not in shipped():
            study.code = code_of(self.folder, self.allow_python)
        if quick:
            study.resize(quick=True)
        study.folder = self.results(study.name, quick)
        try:
            below(self.folder, str(study.folder))
        except InputError as error:
            raise InputError(RESULTS, f"leads out of the folder that is served: {error.message}") from None
        # Planning checks every run: not again at each look, unless the file has changed.
        self.read[name, quick] = changed, study
        return study

    def size_to_show(self, name: str) -> bool:
        """Tell whether a study is shown in its quick size: unless the full size has more to read."""
        full, quick = (self.state(name, Path(name).stem if name not in shipped() else name, size) for size in (False, True))
        return STATES.index(quick) >= STATES.index(full)

    def status(self, name: str, quick: bool | None) -> dict[str, Any]:
        """Return how far a study is, and what there is to read of it; of no size that of which there is more."""
        quick = self.size_to_show(name) if quick is None else quick
        study = self.study(name, quick)
        total, stored = len(study.plan.runs), stored_runs(study)
        job = self.jobs.get((name, quick))
        running = job is not None and job.process.poll() is None
        found = verdicts.read(study.folder)
        report = study.folder / "report.html"
        return {
            "name": name, "quick": quick, "title": study.spec.title or study.name, "question": study.spec.question,
            "total": total, "stored": stored, "running": running, "left_s": left_s(job, stored) if running and job else None,
            "error": None if job is None or running or job.process.returncode in (0, -signal.SIGINT) else last_error(job.log),
            "report": f"/report/{self.key_of(study.folder.name)}/{report.relative_to(self.folder)}" if report.is_file() else None,
            "claims": found["claims"] if found else [], "answer": found["answer"] if found else [],
            **(choices(study) if stored else {"parts": []}),
        }  # fmt: skip

    def start(self, name: str, quick: bool) -> None:
        """Run what is missing of a study. Raises InputError if it runs already."""
        study, key = self.study(name, quick), (name, quick)
        if key in self.jobs and self.jobs[key].process.poll() is None:
            raise InputError("name", f"{name} is running", "stop it first")
        # A study that may not run is refused before anything begins.
        total = len(study.plan.runs)
        study.folder.mkdir(parents=True, exist_ok=True)
        before = stored_runs(study)
        log = study.folder / "lab.log"
        command = [sys.executable, "-m", "tonopah", "study", "run", name if name in shipped() else study.source]
        command += ["--out", str(study.folder), "--max-memory", "2GB", *(["--quick"] if quick else [])]
        if name not in shipped():
            # It reads the files anew: they may have changed since they were looked at.
            command += ["--code", str(self.folder) if self.allow_python else "none"]
        with log.open("wb") as written:
            process = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=written, stderr=written, start_new_session=True
            )
        self.jobs[key] = StudyJob(process, before, total, log)

    def stop(self, name: str, quick: bool) -> None:
        """Let the runs under way end and start no other; what is finished stays."""
        job = self.jobs.get((name, quick))
        if job is not None and job.process.poll() is None:
            job.process.send_signal(signal.SIGINT)

    def stop_all(self) -> None:
        """Stop every study: the server ends."""
        for name, quick in self.jobs:
            self.stop(name, quick)

    def write_report(self, name: str, quick: bool) -> None:
        """Write the report of what is stored."""
        Study.open(self.study(name, quick).folder).report(quiet=True)

    def explore(self, name: str, quick: bool, metric: str, x: str | None, facet: str | None) -> dict[str, Any]:
        """Return a metric over an axis as the figures of a report, for each part that has it and each value of `facet`."""
        study = Study.open(self.study(name, quick).folder)
        with Store(study.folder, create=False) as store:
            found = asked_figures(study.spec, study.plan, store, metric, x, facet)
        return {"figures": [page_figure(figure) for figure in found]}

    def runs(self, name: str, quick: bool, part: str, algorithm: str, where: dict[str, Any]) -> dict[str, Any]:
        """Return the runs of a point, the values of its axes; the nominal point has none. Each has seed and scenario."""
        study = Study.open(self.study(name, quick).folder)
        chosen = next((one for one in study.spec.parts if one.id == part), study.spec.parts[0])
        plan = study.plan.parts[chosen.id]
        sweep = chosen.sweep_over(set(where))
        if where and sweep is None:
            raise InputError("where", f"no sweep varies {' and '.join(where)} alone")
        ids = plan.base if sweep is None else plan.sweeps[sweep]
        found = [
            {"run": run.id, "seed": run.seed, "algorithm": run.algorithm, "document": json.loads(run.scenario)}
            for (label, run_id), run in plan.runs.items()
            if run_id in ids
            and label == algorithm
            and all(str(run.values.get(axis)) == str(value) for axis, value in where.items())
        ]
        return {"runs": sorted(found, key=lambda run: run["seed"])[:MOST_RUNS]}


def stamp(path: Path) -> Stamp:
    """Return what changes when a study does: the times of its file and of the scenarios that it names."""
    document = load(path)
    tables = [table for table in (document, *document.get("part", [])) if isinstance(table, dict)]
    scenarios = [table["scenario"] for table in tables if isinstance(table.get("scenario"), dict)]
    names = [scenario["file"] for scenario in scenarios if isinstance(scenario.get("file"), str)]
    return tuple(changed_at(file) for file in (path, *(path.parent / name for name in names)))


def changed_at(file: Path) -> int:
    """Return when a file was changed, in nanoseconds; 0 if there is none."""
    try:
        return file.stat().st_mtime_ns
    except (OSError, ValueError):
        return 0


def choices(study: Study) -> dict[str, Any]:
    """Return what can be explored: of each part its sweeps of one or two axes, algorithms and metrics."""
    return {
        "parts": [
            {
                "id": part.id,
                "title": part.title or part.id,
                "algorithms": list(part.labels),
                "sweeps": [sweep.vary for sweep in part.sweeps if len(sweep.vary) <= MOST_AXES],
                # The study's own order: what it asks for first is what it is about.
                "metrics": list(dict.fromkeys(name for figure in part.figures if figure.kind in DRAWN for name in figure.y)),
            }
            for part in study.spec.parts
        ]
    }


def left_s(job: StudyJob, stored: int) -> float | None:
    """Return how long a study still takes, from the runs since it began."""
    done = stored - job.before
    return None if done < 1 else (time.monotonic() - job.began) / done * (job.total - stored)


def last_error(log: Path) -> str | None:
    """Return what a study that failed wrote last: its message, or else its last line."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace")[-KEPT_OUTPUT:].splitlines()
    except OSError:
        return None
    said = [line for line in lines if line.startswith("error:")] or [line for line in lines if line.strip()]
    return said[-1] if said and "interrupted" not in said[-1] else None


def confine_study(document: dict[str, Any], folder: Path) -> None:
    """Refuse a study that names files outside the folder, itself or in a scenario that it names. Raises InputError."""
    confine(document, folder)
    for table in (document, *document.get("part", [])):
        scenario = table.get("scenario") if isinstance(table, dict) else None
        if isinstance(scenario, dict) and isinstance(scenario.get("file"), str):
            confine(load(below(folder, scenario["file"])), folder)
