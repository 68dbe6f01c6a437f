"""What `python -m tonopah.reports.validate` shows: a table for the terminal, and docs/generated/validation-authors.md."""

from collections import Counter
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.reports.numbers import stored
from tonopah.reports.validate.cases import all_cases
from tonopah.reports.validate.judging import Check
from tonopah.template import render, write_results
from tonopah.terminal.grid import Grid

HERE = Path(__file__).parent
PAGE = "validation-authors.md"
TEMPLATE = HERE / "page.md.j2"
COLUMNS = ("point", "number", "author", "stock simulator", "ours", "allowed", "")


def cells(row: Check) -> list[str]:
    """Return a row of the table."""
    verdict = "" if row.agrees is None else "agrees" if row.agrees else "DISAGREES"
    return [row.case, row.metric.replace("_", " "), row.author, row.stock, row.ours, row.allowed, verdict]


def counts(rows: Sequence[Check]) -> tuple[int, int]:
    """Return how many rows agree, of how many that have a goal."""
    judged = [row for row in rows if row.agrees is not None]
    return sum(bool(row.agrees) for row in judged), len(judged)


def table(rows: Sequence[Check]) -> Grid:
    """Return the comparison for a terminal: what has a goal."""
    agreed, judged = counts(rows)
    title = f"The authors' numbers: {agreed} of {judged} agree"
    return Grid(title, COLUMNS, [cells(row) for row in rows if row.agrees is not None], keys=2)


POWER = ("network", "numbers", "agree", "a constant keeps", "another algorithm keeps", "")
WEAK = 0.9
"""Share of numbers from which on a goal that a constant keeps says so."""


def power(rows: Sequence[Check]) -> list[list[str]]:
    """Return by network and number how many rows agree, and how many a constant and another algorithm would keep."""
    groups: dict[tuple[str, str], list[Check]] = {}
    for row in (row for row in rows if row.agrees is not None and not isnan(row.low)):
        report, network, *_ = row.case.split("/")
        groups.setdefault((f"{report}, {network}", row.metric.replace("_", " ")), []).append(row)
    made = []
    for (network, metric), judged in groups.items():
        kept = max(sum(one.low <= end <= one.high for one in judged) for row in judged for end in (row.low, row.high))
        weak = "says little: a constant meets it" if len(judged) > 1 and kept >= WEAK * len(judged) else ""
        agreed = sum(bool(one.agrees) for one in judged)
        made.append([f"{network}: {metric}", str(len(judged)), str(agreed), str(kept), exchanged(judged), weak])
    return made


def exchanged(judged: Sequence[Check]) -> str:
    """Return how many numbers of the other algorithms one of the network would keep, where it is run at the same points."""
    at: dict[str, dict[str, Check]] = {}
    for row in judged:
        _, _, algorithm, point = row.case.split("/", 3)
        at.setdefault(algorithm, {})[point] = row
    found = []
    for name, mine in at.items():
        others = [pair for other, theirs in at.items() if other != name for pair in theirs.items()]
        pairs = [(row, mine[point]) for point, row in others if point in mine]
        if pairs:
            found.append((sum(row.low <= one.value <= row.high for row, one in pairs), len(pairs), name))
    if not found:
        return ""
    kept, of, name = max(found)
    return f"{kept} of {of} ({name})"


def power_table(rows: Sequence[Check]) -> Grid:
    """Return for a terminal what the agreements are worth."""
    return Grid("What a constant would keep", POWER, power(rows), keys=1)


def write(rows: Sequence[Check], folder: Path) -> Path:
    """Write the page and its results; return its path."""
    return write_results(folder / PAGE, TEMPLATE, facts(rows))


def left_out() -> list[tuple[str, str, int]]:
    """Return what is stored and in no row: network, metric (empty if no case repeats the point), and how many numbers."""
    known = {tuple(case.name.split("/")): case for case in all_cases()}
    missing: dict[tuple[str, str], int] = {}
    for key, by_origin in stored().items():
        for metric, values in ((metric, values) for by_metric in by_origin.values() for metric, values in by_metric.items()):
            if key not in known or known[key].network.own_name(key[2], metric) is None:
                place = (f"{key[0]}, {key[1]}", metric.replace("_", " ") if key in known else "")
                missing[place] = missing.get(place, 0) + len(values)
    return [(*place, count) for place, count in missing.items()]


def text(rows: Sequence[Check]) -> str:
    """Return the page."""
    return render(TEMPLATE, **facts(rows))


def facts(rows: Sequence[Check]) -> dict[str, Any]:
    """Return what the page shows, and its results keep: the numbers that have a goal."""
    agreed, judged = counts(rows)
    networks = dict.fromkeys(tuple(case.name.split("/")[:2]) for case in all_cases())
    groups: dict[str, list[list[str]]] = {}
    missed = Counter({name: 0 for report, network in networks for name in (report, f"{report}, {network}")})
    for row in rows:
        if row.agrees is None:
            continue
        report, network, *point = row.case.split("/")
        groups.setdefault(f"{report}, {network}", []).append(["/".join(point), *cells(row)[1:]])
        if not row.agrees:
            missed.update((report, f"{report}, {network}"))
    return {
        "command": "python -m tonopah.reports.validate --full",
        "engine": engine_version(),
        "agreed": agreed,
        "judged": judged,
        "columns": COLUMNS,
        "left_out": left_out(),
        "missed": missed,
        "groups": groups,
        "power_columns": POWER,
        "power": power(rows),
    }
