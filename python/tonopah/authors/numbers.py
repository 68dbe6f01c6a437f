"""The numbers that the authors printed, and those of stock ns-2.35 and ns-3.37 with their scripts."""

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

DATA = "data/authors"
By = dict[str, dict[str, list[float]]]
"""By origin, `author` or `stock`, and metric: the stored numbers, one for each run."""


def rows() -> Iterator[dict[str, str]]:
    """Yield the rows of the file."""
    yield from csv.DictReader((files("tonopah") / DATA / "numbers.csv").read_text(encoding="utf-8").splitlines())


@cache
def stored_units() -> dict[tuple[str, str], str]:
    """Return the unit of each metric of a seed."""
    return {(row["seed"], row["metric"]): row["unit"] for row in rows()}


@cache
def stored() -> dict[tuple[str, ...], By]:
    """Return the stored numbers by seed, network, algorithm, axis and value."""
    found: dict[tuple[str, ...], By] = {}
    for row in rows():
        key = tuple(row[name] for name in ("seed", "network", "algorithm", "axis", "value"))
        by_metric = found.setdefault(key, {}).setdefault(row["origin"], {})
        by_metric.setdefault(row["metric"], []).append(float(row["number"]))
    return found
