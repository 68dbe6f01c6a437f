"""Every statement of the five reports, with what can be said of it: by the author's own numbers, and by ours of his network.

A file for each report. `numbers` names network, axis and metric of `numbers.csv` or of a sweep of ours (sweeps.toml), `says` what
the statement says of them; the verdict of each column is computed from these numbers. `by` names the metric without the slip, or
network, axis and metric of a sweep without it. Words are a reading.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomli

from tonopah.errors import InputError
from tonopah.reports.numbers import stored

HEAD = ("statement", "the author's numbers", "his network, his metric", "without the slip", "sound experiment")
NOTHING, SAME = 0.5, 5.0
"""In percent: what counts as no difference, and what as the same."""
KEYS = ("no", "text", "claim", "numbers", "says", "by", "author", "script", "off", "sound")
SAYS = re.compile(r"(.+) (<|>|=) (.+)|(.+) (up|down|flat|peak|erratic)")
"""Of one algorithm and another (`vegas and tahoe`: each of them), or of one along the axis; a peak rises, then falls; what is
erratic goes both ways by more than `SAME`."""
RESULTS, SWEEPS = "generated/validation-authors/results.toml", "generated/validation-authors/sweeps.toml"
Points = dict[str, dict[str, float]]
"""By algorithm and value of an axis: a number."""


@dataclass(frozen=True)
class Known:
    """Where numbers are: the author's and a stock simulator's in the package, ours in the results of the validation."""

    results: Mapping[str, Any]
    """Rows of docs/generated/validation-authors/results.toml, by network."""
    sweeps: Mapping[str, Any] = field(default_factory=dict)
    """Rows of sweeps.toml beside it, by network: of what no number is stored."""

    def ours(self, report: str, path: str) -> Points:
        """Return ours of a network, axis and metric."""
        network, axis, metric = path.split("/")
        found: Points = {}
        for point, name, number, _ in self.sweeps.get(f"{report}, {network}", ()):
            algorithm, along, value = point.rsplit("/", 2)
            if along == axis and name == metric:
                found.setdefault(algorithm, {})[value] = number
        for point, name, *_, ours, _, _ in () if found else self.results.get(f"{report}, {network}", ()):
            algorithm, along, value = point.rsplit("/", 2)
            number = re.match(r"[-+.\de]+", ours)
            if along == axis and name == metric.replace("_", " ") and number:
                found.setdefault(algorithm, {})[value] = float(number[0])
        return found


def known(docs: Path) -> Known:
    """Return where numbers are."""
    results, sweeps = (tomli.loads((docs / path).read_text(encoding="utf-8"))["groups"] for path in (RESULTS, SWEEPS))
    return Known(results, sweeps)


def stored_points(report: str, path: str, origin: str) -> Points:
    """Return the stored numbers of a network, axis and metric: means where there are several runs."""
    network, axis, metric = path.split("/")
    found: Points = {}
    for (of, named, algorithm, along, value), by_origin in stored().items():
        numbers = by_origin.get(origin, {}).get(metric)
        if (of, named, along) == (report, network, axis) and numbers:
            found.setdefault(algorithm, {})[value] = sum(numbers) / len(numbers)
    return found


def statements(report: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what the file of a report says of all of them, and its statements. Raises InputError."""
    name = f"{report}.toml"
    found = tomli.loads((files("tonopah.reports.statements") / name).read_text(encoding="utf-8"))
    for i, one in enumerate(found["statement"]):
        if unknown := [key for key in one if key not in KEYS]:
            raise InputError(f"statement[{i}].{unknown[0]}", "is unknown", f"allowed: {', '.join(KEYS)}", name)
        if ("numbers" in one) != ("says" in one) or not SAYS.fullmatch(one.get("says", "a up")):
            raise InputError(f"statement[{i}].says", "does not fit", 'numbers and says = "ewphcc > vegas" or "newreno up"', name)
    return found, found["statement"]


def judged(says: str, points: Points) -> str:
    """Return what numbers say of a statement: true, false or mixed, and the numbers; empty without them."""
    found = SAYS.fullmatch(says)
    assert found
    if found[2]:
        return judged_beside(points.get(found[1], {}), [points.get(name, {}) for name in found[3].split(" and ")], found[2])
    values = [number for _, number in sorted(points.get(found[4], {}).items(), key=lambda pair: place(pair[0]))]
    if len(values) < 2 or not all(values):
        return ""
    return f"{along_axis(found[5], values)}: {', '.join(digits(value) for value in values)}"


def digits(value: float) -> str:
    """Return a number with four digits, a large one whole."""
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def judged_beside(mine: Mapping[str, float], others: Sequence[Mapping[str, float]], sign: str) -> str:
    """Return what numbers say of one algorithm beside others: beside that of them which is nearest to refute it."""
    shared = sorted((value for value in mine if all(one.get(value) for one in others)), key=place)
    changes = [[100 * (mine[value] / one[value] - 1) for one in others] for value in shared]
    nearest = {">": min, "<": max, "=": lambda row: max(row, key=abs)}[sign]
    worst = [nearest(row) for row in changes]
    return f"{verdict(sign, worst)}: {', '.join(signed(one) for one in worst)} %" if worst else ""


def along_axis(shape: str, values: Sequence[float]) -> str:
    """Return whether numbers along an axis go as said."""
    if shape == "peak":
        top = max(values)
        sides = [100 * (top / values[0] - 1), 100 * (top / values[-1] - 1)]
        return "true" if min(sides) > NOTHING else "false"
    if shape == "erratic":
        steps = [100 * (after / before - 1) for before, after in pairwise(values)]
        return "true" if min(steps) < -SAME and max(steps) > SAME else "false"
    mean = sum(values) / len(values)
    sign = {"up": ">", "down": "<"}.get(shape)
    whole = [100 * (values[-1] / values[0] - 1)] if sign else [100 * (value / mean - 1) for value in values]
    return verdict(sign or "=", whole)


def place(value: str) -> float:
    """Return where a value stands on its axis."""
    return float(value) if re.fullmatch(r"[\d.]+", value) else 0.0


def verdict(sign: str, changes: Sequence[float]) -> str:
    """Return whether differences in percent are all as said, none of them, or some."""
    if sign == "=":
        return "true" if all(abs(one) <= SAME for one in changes) else "false"
    along = [one if sign == ">" else -one for one in changes]
    if max(along) <= NOTHING:
        return "false"
    return "true" if min(along) >= -NOTHING else "mixed"


def signed(change: float) -> str:
    """Return a difference in percent, 0 where there is none."""
    return f"{change:+.1f}" if abs(change) >= 0.05 else "0"


def rows(report: str, known: Known, verdicts: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each statement of a report, or for all of which the same is known.

    `verdicts` are those on the claims of its study.
    """
    whole, found = statements(report)
    same: dict[tuple[str, ...], list[str]] = {}
    for one in found:
        same.setdefault(columns(one, whole, report, known, verdicts), []).append(f"{one['no']} {one['text']}")
    for cells, texts in same.items():
        yield "; ".join(texts), *cells


def columns(
    one: Mapping[str, Any], whole: Mapping[str, Any], report: str, known: Known, verdicts: Mapping[str, str]
) -> tuple[str, ...]:
    """Return what is known of a statement."""
    sound = one.get("sound") or f"{one['claim']} {verdicts[one['claim']]}"
    without = off(one, report, known) or str(whole.get("off_none", "–"))
    return author(one, whole, report), script(one, whole, report, known), without, sound


def author(one: Mapping[str, Any], whole: Mapping[str, Any], report: str) -> str:
    """Return what the author's own numbers say."""
    said = judged(one["says"], stored_points(report, one["numbers"], "author")) if "numbers" in one else ""
    return one.get("author") or said or str(whole["none"])


def script(one: Mapping[str, Any], whole: Mapping[str, Any], report: str, known: Known) -> str:
    """Return what ours say by his metric on his network; where ours are not kept, what a stock simulator with his script says."""
    if "script" in one or "numbers" not in one:
        return str(one.get("script", whole.get("script_none", "–")))
    ours = judged(one["says"], known.ours(report, one["numbers"]))
    stock = judged(one["says"], stored_points(report, one["numbers"], "stock"))
    return ours or (f"{stock} (stock simulator)" if stock else "–")


def off(one: Mapping[str, Any], report: str, known: Known) -> str:
    """Return what is so without the slip."""
    said = ""
    if "by" in one:
        path = one["by"] if "/" in one["by"] else f"{one['numbers'].rpartition('/')[0]}/{one['by']}"
        said = judged(one["says"], known.ours(report, path))
    return "; ".join(part for part in (said, one.get("off", "")) if part)
