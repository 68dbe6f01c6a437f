"""Holds a subject against a specification: its cases, in processes or threads, and what they leave in a folder."""

import os
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tonopah.cc.binding import find_transports, rebase
from tonopah.conform.case import Case, Outcome, judge
from tonopah.conform.page import write_page
from tonopah.conform.report import Report, around, as_text
from tonopah.conform.runs import Runs
from tonopah.conform.specs import SPECS, cases_of, names_of, spec_of
from tonopah.conform.words import DEVIATES
from tonopah.errors import InputError
from tonopah.execution.options import cores
from tonopah.export import qlog, transport_logs
from tonopah.judge.subjects import read_subject
from tonopah.scenario.document import to_toml
from tonopah.writing import replace_file

KINDS = {"algorithm": "an algorithm", "transport": "a whole transport"}


def conform(
    subject: str,
    spec: str,
    *,
    case: list[str] | None = None,
    set: Mapping[str, Any] | None = None,
    map: list[str] | None = None,
    seed: int = 1,
    jobs: int | None = None,
    out: str | Path | None = None,
    qlogs: str | Path | None = None,
) -> Report:
    """Hold an algorithm (a name, FILE.py:Class, a library or a table as in a scenario) against a specification.

    Raises InputError where one is unknown, AlgorithmError when the algorithm raises.
    """
    found = spec_of(spec)
    cases, names = cases_of(found, case or []), names_of(map or [])
    one = read_subject(subject)
    runs = Runs(one.cc, Path(), seed, set or {}, names)
    if runs.kind not in found.takes:
        others = ", ".join(each.name for each in SPECS.values() if runs.kind in each.takes)
        raise InputError("--spec", f"{spec} has no cases for {one.name}, which is {KINDS[runs.kind]}", f"there are {others}")
    with ThreadPoolExecutor(jobs or cores()) as pool:
        outcomes = list(pool.map(lambda each: tried(each, runs), cases))
    report = Report(one.label, found, seed, outcomes)
    if out is not None:
        write(report, Path(out))
    if qlogs is not None:
        write_qlogs(report, Path(qlogs), seed)
    return report


def tried(case: Case, runs: Runs) -> Outcome:
    """Try a case; of one that deviates, with the packets around the moment."""
    outcome = judge(case, runs)
    if outcome.verdict == DEVIATES and outcome.moment_s is not None and outcome.run is not None:
        outcome.packets = around(runs, outcome.run, outcome.moment_s)
    return outcome


def worlds(report: Report) -> dict[str, dict[str, Any]]:
    """Return the worlds of all cases by the name of a file: `04` of the first run, `04-2` of the second."""
    named = {}
    for outcome in report.outcomes:
        for number, scenario in enumerate(outcome.worlds, 1):
            named[outcome.case.id + (f"-{number}" if number > 1 else "")] = scenario
    return named


def write(report: Report, folder: Path) -> None:
    """Write report, JSON and worlds into a folder. Each world runs as it stands."""
    target = folder / "worlds"
    target.mkdir(parents=True, exist_ok=True)
    for name, scenario in worlds(report).items():
        made = tomllib.loads(to_toml(scenario))
        rebase(made, Path(os.path.relpath(Path(), target)))
        replace_file(target / f"{name}.toml", to_toml(made))
    replace_file(folder / "conform.json", as_text(report))
    write_page(report, folder / "report.html")


def write_qlogs(report: Report, folder: Path, seed: int) -> None:
    """Write a qlog of each run; a whole transport writes what it logs to a folder of each. Raises InputError."""
    if folder.exists() and not folder.is_dir():
        raise InputError("--qlog", f"{folder} is no folder", "a folder, which may be new")
    folder.mkdir(parents=True, exist_ok=True)
    for name, scenario in worlds(report).items():
        if any(find_transports(scenario)):
            transport_logs.run(scenario, None, seed, folder / name)
        else:
            qlog.run(scenario, None, seed, folder / f"{name}.sqlog")
