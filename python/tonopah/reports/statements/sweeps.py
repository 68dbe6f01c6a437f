"""`python -m tonopah.reports.statements.sweeps docs [REPORT …]`: runs authors' networks where no number is stored.

Over axes that an author drew and did not store, and of the same networks without a slip. What is kept is the mean of each number
that a statement names, in the unit of its script.
"""

import sys
from dataclasses import dataclass, field
from importlib.resources import files
from math import isnan
from pathlib import Path
from typing import Any

import tomli

from tonopah._core import engine_version
from tonopah.execution.progress import show_progress
from tonopah.reports.networks import network
from tonopah.reports.networks.model import Network
from tonopah.reports.statements import SWEEPS
from tonopah.reports.validate.running import Job, job, numbers_of
from tonopah.template import results_text

FILE = "sweeps.toml"


@dataclass(frozen=True)
class Sweep:
    """A sweep of an author's network: each algorithm at each value, with as many seeds as `runs`."""

    report: str
    name: str
    """Of the network in the path of a statement."""
    axis: str
    values: list[Any]
    runs: int
    network: str = ""
    """The script's, if `name` is another."""
    set: dict[str, Any] = field(default_factory=dict)
    algorithms: list[str] = field(default_factory=list)
    """Those of the script if there are none."""

    @property
    def of(self) -> Network:
        """The network of the script. Raises InputError."""
        return network(f"{self.report}-{self.network or self.name}")

    def jobs(self) -> dict[tuple[str, Any], list[Job]]:
        """Return the runs by algorithm and value. Raises InputError."""
        algorithms = self.algorithms or self.of.parameters["algorithm"].choices
        points = [(algorithm, value) for algorithm in algorithms for value in self.values]
        return {
            (algorithm, value): [
                job(self.of, {"algorithm": algorithm, **self.set, self.axis: value}, seed) for seed in range(1, self.runs + 1)
            ]
            for algorithm, value in points
        }


def sweeps() -> list[Sweep]:
    """Return the sweeps of all reports."""
    found = tomli.loads((files("tonopah.reports.statements") / FILE).read_text(encoding="utf-8"))
    return [Sweep(**one) for one in found["sweep"]]


def named(report: str) -> set[str]:
    """Return the metrics that statements of a report name."""
    text = tomli.loads((files("tonopah.reports.statements") / f"{report}.toml").read_text(encoding="utf-8"))
    paths = [one[key] for one in text["statement"] for key in ("numbers", "by") if key in one]
    return {path.rpartition("/")[2] for path in paths}


def measured(chosen: list[Sweep], processes: int | None = None) -> dict[str, list[list[Any]]]:
    """Run them, and return by report and network a row for each point and number: its mean, and of how many runs."""
    planned = [(sweep, point, runs) for sweep in chosen for point, runs in sweep.jobs().items()]
    jobs = list(dict.fromkeys(one for _, _, runs in planned for one in runs))
    with show_progress(len(jobs), 0, quiet=not sys.stderr.isatty()) as step:
        found = numbers_of(jobs, processes, step)
    groups: dict[str, list[list[Any]]] = {}
    for sweep, (algorithm, value), runs in planned:
        rows = groups.setdefault(f"{sweep.report}, {sweep.name}", [])
        label = {own: stored for stored, own in sweep.of.labels.items()}.get(algorithm, algorithm)
        for metric in sorted(named(sweep.report) & set(found[runs[0]])):
            numbers = [number for number in (found[one][metric] for one in runs) if not isnan(number)]
            if numbers:
                mean = float(f"{sum(numbers) / len(numbers):.6g}")
                rows.append([f"{label}/{sweep.axis}/{value:g}", metric, mean, len(numbers)])
    return groups


def main(docs: str, *reports: str) -> None:
    """Run the sweeps of these reports, of all if none is named, and write what they gave; that of the others stays."""
    path = Path(docs, SWEEPS)
    before = tomli.loads(path.read_text(encoding="utf-8"))["groups"] if reports else {}
    kept = {group: rows for group, rows in before.items() if group.partition(",")[0] not in reports}
    made = measured([one for one in sweeps() if one.report in reports or not reports])
    facts = {"command": "python -m tonopah.reports.statements.sweeps docs", "engine": engine_version()}
    path.write_text(results_text({**facts, "groups": dict(sorted((kept | made).items()))}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
