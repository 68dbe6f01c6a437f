"""The numbers that the authors printed, and those of stock ns-2.35 and ns-3.37 with their scripts."""

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from tonopah.errors import InputError

NUMBERS = "numbers.csv"
By = dict[str, dict[str, list[float]]]
"""By origin, `author` or `stock`, and metric: the stored numbers, one for each run."""


COLUMNS = ("origin", "seed", "network", "algorithm", "axis", "value", "metric", "unit", "number", "run", "point")
ORIGINS = ("author", "stock")
REPORTS = {"000": "ewphcc", "001": "tcp-fr", "002": "hystart", "004": "asran"}
"""Names of the reports, by their numbers in the column `seed`."""


def rows() -> Iterator[dict[str, str]]:
    """Yield the rows of the file. Raises InputError, which names the line."""
    yield from checked((files("tonopah.reports.numbers") / NUMBERS).read_text(encoding="utf-8"))


def checked(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of such a file. Raises InputError, which names the line."""
    reader = csv.DictReader(text.splitlines(), restkey="further", restval="")
    if unknown := [name for name in reader.fieldnames or () if name not in COLUMNS]:
        raise InputError("line 1", f"column {unknown[0]!r} is unknown", f"allowed: {', '.join(COLUMNS)}", NUMBERS)
    if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
        raise InputError("line 1", f"column {missing[0]!r} is missing", None, NUMBERS)
    for row in reader:
        place = f"line {reader.line_num}"
        if "further" in row:
            raise InputError(place, f"has more than {len(COLUMNS)} columns", None, NUMBERS)
        if row["origin"] not in ORIGINS:
            raise InputError(f"{place}: origin", f"{row['origin']!r} is unknown", f"allowed: {', '.join(ORIGINS)}", NUMBERS)
        try:
            float(row["number"])
        except ValueError:
            raise InputError(f"{place}: number", f"{row['number']!r} is not a number", None, NUMBERS) from None
        yield row


@cache
def stored_units() -> dict[tuple[str, str], str]:
    """Return the unit of each metric of a report."""
    return {(REPORTS[row["seed"]], row["metric"]): row["unit"] for row in rows()}


@cache
def stored() -> dict[tuple[str, ...], By]:
    """Return the stored numbers by report, network, algorithm, axis and value; what is stored run by run is one point."""
    found: dict[tuple[str, ...], By] = {}
    for row in rows():
        sweep = ("-", "-") if row["axis"] == "run" else (row["axis"], row["value"])
        key = (REPORTS[row["seed"]], row["network"], row["algorithm"], *sweep)
        by_metric = found.setdefault(key, {}).setdefault(row["origin"], {})
        by_metric.setdefault(row["metric"], []).append(float(row["number"]))
    return found
