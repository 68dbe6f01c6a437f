"""Points of the reports' networks that no report has, here and in stock ns-2: `python -m tonopah_dev.ns2.reports`.

ns-2 runs the author's own script with other arguments and other random numbers. A number agrees if the mean of our runs lies
within what the runs of ns-2 span. ns-2's numbers are stored; `--scripts` computes them anew.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import tomli

from tonopah._core import engine_version
from tonopah.errors import InputError, RunFailedError
from tonopah.reports.networks import network
from tonopah.reports.networks.model import Network
from tonopah.scenario.document import to_json
from tonopah.template import write_results
from tonopah.terminal.grid import Grid
from tonopah.validate.frame import Case, CaseResult, Check, Comparison, goal_table
from tonopah_dev.command import add_page_arguments, compare_and_write, run_command
from tonopah_dev.peers import ns2, process

HERE = Path(__file__).parent
CASES, STORED, TEMPLATE = HERE / "reports.toml", HERE / "reports.json", HERE / "reports.md.j2"
PAGE = "validation-ns2-reports.md"
RUNS = 10
METRICS = ("throughput", "delay", "delivery_ratio", "drop_ratio")
SIMULATOR = "set ns [new Simulator]"
OPTIONS = {"tahoe": 1, "vegas": 3}
"""The argument of the EWPHCC report's scripts: 2 is its own algorithm, which stock ns-2 has not."""


@dataclass(frozen=True)
class Script:
    """The script of a report's network."""

    folder: str
    """Of its repository."""
    name: str
    counter: str
    arguments: Callable[[Mapping[str, Any]], Sequence[Any]]
    """What the script is given for a point."""
    seed: str
    """What a run begins with, with `{seed}`."""


EWPHCC = "EWPHCC-Congestion-Control-NS2-Project"
SCRIPTS = {
    "ewphcc-wireless": Script(
        f"{EWPHCC}/Wireless/codes", "1805004_main.tcl", "1805004_parse.awk",
        lambda p: (p["nodes"], p["flows"], p["packets_per_s"], p["speed"], OPTIONS[p["algorithm"]]), "ns-random {seed}",
    ),
    "ewphcc-mixed": Script(
        f"{EWPHCC}/bonus_Wired_cum_Wireless/codes", "1805004_main.tcl", "1805004_parse.awk",
        lambda p: (p["nodes"], p["flows"], p["packets_per_s"], OPTIONS[p["algorithm"]]), "ns-random {seed}",
    ),
    "hystart-lrwpan": Script(
        "BUET_CSE_3_2/CSE322_Network/Term_Project/1805053/mobile_802_15_4", "mobile802_15.tcl", "parse.awk",
        lambda p: (500, p["nodes"], p["flows"], p["packets_per_s"], 1), "expr {{srand({seed})}}",
    ),
}  # fmt: skip
"""The places of `hystart-lrwpan` are new in every run, those of the others are the same in all runs of a point."""

PRINTED = re.compile(r"^(?:throughput|average delay|(?:packet )?(?:delivery|drop) ratio):? +(\S+)", re.IGNORECASE | re.MULTILINE)
"""The four numbers, in the order of `METRICS`, as the counters of both authors print them."""

Numbers = dict[str, float]


@dataclass(frozen=True)
class Point(Case):
    """A point of a network."""

    network: Network
    given: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its network and parameters."""
        return " ".join([self.name, *(f"{key}={value}" for key, value in self.given.items())])


@dataclass
class PointResult(CaseResult[Point]):
    """A point with the runs of both sides."""

    mine: Sequence[Numbers] = ()
    theirs: Sequence[Numbers] = ()
    rows: list[list[str]] = field(default_factory=list)


def points() -> list[Point]:
    """Return the points of the file."""
    cases = tomli.loads(CASES.read_text(encoding="utf-8"))["case"]
    return [Point(case["network"], network(case["network"]), case["point"]) for case in cases]


def changed(script: str, point: Mapping[str, Any], start: str) -> str:
    """Return an author's script with other random numbers, and without its animation."""
    script = re.sub(r"open \w+\.nam w", "open /dev/null w", script)
    script = re.sub(r"^\$ns namtrace.*$", "", script, flags=re.MULTILINE)
    if "srand" in point:
        script = script.replace("srand(19)", f"srand({point['srand']})")
    return script.replace(SIMULATOR, f"{start}\n{SIMULATOR}", 1)


def without_last_energies(trace: str) -> str:
    """Return a trace up to its last line with a time: the EWPHCC report's counter would take `-t` of an energy line for one."""
    lines = trace.splitlines(keepends=True)
    while lines and lines[-1].startswith("N "):
        lines.pop()
    return "".join(lines)


def theirs(case: Point, seed: int, scripts: Path) -> Numbers:
    """Run a point in ns-2 by the author's script, and return what his counter prints."""
    whole, own = case.network.complete(case.given), SCRIPTS[case.name]
    folder = scripts / own.folder
    if not (folder / own.name).exists():
        raise InputError("--scripts", f"{folder / own.name} does not exist", f"a folder with a clone of {case.network.source}")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        text = changed((folder / own.name).read_text(encoding="utf-8"), case.given, own.seed.format(seed=seed))
        (place / "script.tcl").write_text(text, encoding="utf-8")
        command = ["env", "-C", name, "ns", "script.tcl", *map(str, own.arguments(whole))]
        done = process.run(command)
        if done.code:
            raise RunFailedError(f"ns-2, {case.id}, run {seed}: {done.errors.strip()[-300:]}")
        trace = place / "trace.tr"
        trace.write_text(without_last_energies(trace.read_text(encoding="utf-8")), encoding="utf-8")
        counted = process.run(["awk", "-f", str((folder / own.counter).resolve()), str(trace)])
    found = PRINTED.findall(counted.output)
    if len(found) != len(METRICS):
        raise RunFailedError(f"ns-2, {case.id}, run {seed}: the author's counter prints {counted.output[-300:]!r}")
    return dict(zip(METRICS, map(float, found), strict=True))


def check(metric: str, mine: Sequence[Numbers], others: Sequence[Numbers]) -> Check:
    """Hold the mean of our runs against what the runs of ns-2 span, to the six digits that the counters print."""
    values = [run[metric] for run in mine if not isnan(run[metric])]
    mean = float(f"{np.mean(values):.6g}") if values else nan
    # A run in which nothing arrives has no delay.
    span = [run[metric] for run in others if not isnan(run[metric])]
    low, high = min(span), max(span)
    # What is no number is no agreement.
    return Check(metric.replace("_", " "), f"{mean:.4g}", f"{np.mean(span):.4g}", f"{low:.4g} … {high:.4g}", low <= mean <= high)


class AgainstScripts(Comparison[Point, PointResult]):
    """The points; ns-2's runs are taken from the file unless there is a folder of `scripts`."""

    def __init__(self, scripts: Path | None):
        self.scripts = scripts
        document = json.loads(STORED.read_text(encoding="utf-8"))
        self.version, self.known = document["version"] if scripts is None else ns2.version(), document["runs"]

    def cases(self) -> Sequence[Point]:
        """Return the points of the file."""
        return points()

    def jobs(self, case: Point) -> Sequence[tuple[str, int]]:
        """Return our runs."""
        return [(to_json(case.network.scenario(case.given)), seed) for seed in range(1, RUNS + 1)]

    def read(self, case: Point, index: int, summary: str, series: Any) -> Numbers:
        """Return what the author's script would print of a run of ours."""
        numbers = case.network.numbers(*self.jobs(case)[index], summary, series).run
        return {metric: numbers[metric] for metric in METRICS}

    def judge(self, case: Point, runs: Sequence[Numbers]) -> PointResult:
        """Return the comparison of a point."""
        if self.scripts is not None:
            self.known[case.id] = [theirs(case, seed, self.scripts) for seed in range(1, RUNS + 1)]
        if case.id not in self.known:
            raise RunFailedError(f"no run of ns-2 is stored for {case.id}: give --scripts and --store")
        others = self.known[case.id]
        return PointResult(case, None, [check(metric, runs, others) for metric in METRICS], runs, others)

    def refuse(self, case: Point, reason: str) -> PointResult:
        """Raise an error: every point is one that runs here."""
        raise RunFailedError(f"{case.id}: {reason}")

    def facts(self, result: PointResult) -> dict[str, Any]:
        """Return the runs of both sides."""
        return {"version": self.version, "ours": list(result.mine), "ns2": list(result.theirs)}

    def tables(self, results: Sequence[PointResult]) -> list[Grid]:
        """Return how many agree, and every number."""
        rows = [[metric, *counts] for metric, counts in agreed(results).items()]
        return [goal_table(results, "ns-2", every=True), Grid("Within ns-2's runs", ("metric", *networks(results)), rows, keys=1)]


def networks(results: Sequence[PointResult]) -> list[str]:
    """Return the names of the networks, in the order of the cases."""
    return list(dict.fromkeys(result.case.name for result in results))


def agreed(results: Sequence[PointResult]) -> dict[str, list[str]]:
    """Return by metric how many numbers of each network agree, like "3 of 4"."""
    found: dict[str, list[str]] = {}
    for index, metric in enumerate(METRICS):
        for name in networks(results):
            met = [result.checks[index].met for result in results if result.case.name == name]
            found.setdefault(metric.replace("_", " "), []).append(f"{sum(met)} of {len(met)}")
    return found


def facts(results: Sequence[PointResult], version: str) -> dict[str, Any]:
    """Return what the page shows, and its results keep."""
    checks = [one for result in results for one in result.checks]
    shown = [[result.case.id, *(cell(one) for one in result.checks)] for result in results]
    return {
        "command": "python -m tonopah_dev.ns2.reports", "engine": engine_version(), "version": version, "runs": RUNS,
        "goals": len(checks), "met": sum(one.met for one in checks), "networks": networks(results),
        "metrics": [metric.replace("_", " ") for metric in METRICS],
        "counts": [[metric, *counts] for metric, counts in agreed(results).items()], "rows": shown,
    }  # fmt: skip


def cell(one: Check) -> str:
    """Return a number beside ns-2's span, bold if it lies outside."""
    ours = one.ours if one.met else f"**{one.ours}**"
    return f"{ours} ({one.goal})"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_page_arguments(command)
    scripts = "run ns-2 with the authors' scripts; DIR holds clones of their repositories"
    command.add_argument("--scripts", metavar="DIR", type=Path, help=scripts)
    command.add_argument("--store", action="store_true", help="with --scripts: store what ns-2 gives")


def compare(arguments: argparse.Namespace) -> int:
    """Carry out the command."""
    if arguments.scripts is not None:
        ns2.require()
    elif arguments.store:
        raise InputError("--store", "needs runs of ns-2", "give --scripts")
    against = AgainstScripts(arguments.scripts)

    def write(results: Sequence[PointResult], folder: Path) -> Path:
        return write_results(folder / PAGE, TEMPLATE, facts(results, against.version))

    code = compare_and_write(against, write, arguments)
    if arguments.store:
        about = "ns-2 at the points of reports.toml, written by `python -m tonopah_dev.ns2.reports --scripts DIR --store`"
        document = {"about": about, "version": against.version, "runs": against.known}
        STORED.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return code


ABOUT = "Run networks of the reports at points that no report has, here and in ns-2 with the authors' scripts, ten times each."


def main(given: Sequence[str] | None = None) -> int:
    """Carry out the command and return its exit code."""
    return run_command(
        "ns2.reports", ABOUT, add_arguments, compare, "python -m tonopah_dev.ns2.reports --check",
        "python -m tonopah_dev.ns2.reports --scripts ~/clones --store", given=given,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
