"""docs/reports.md is of the networks as they are, and the tables of the studies hold the numbers that are stored."""

import re
from pathlib import Path

import pytest
import tomli

import tonopah as tp
from tonopah.reports import docs
from tonopah.reports.mechanisms.model import MechanismFile
from tonopah.reports.networks import network
from tonopah.reports.networks.model import MEDIAN
from tonopah.reports.numbers import stored
from tonopah.spec.validation import validate

PAGE = (Path(__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")


def test_the_page_is_of_the_networks_as_they_are():
    assert docs.page(PAGE) == PAGE, "run `make docs`"


def test_the_examples_of_the_page_are_understood():
    study, mechanism = (tomli.loads(text) for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
    assert tp.Study.load(study).plan.runs
    assert validate(MechanismFile, mechanism).mechanism


def label_at(part, one, point, parameter):
    """Return what of a part has the parameters of a stored point, whatever the value on its axis."""
    wanted = one.complete(point)
    for variant in part.variants:
        here = part.scenario["script"] | {path.removeprefix("script."): value for path, value in variant.changes.items()}
        if all(here[key] == value for key, value in wanted.items() if key != parameter):
            return variant.label
    return None


def stored_cells(part, over, origin):
    """Return the stored numbers of the network of a part along an axis, as text by label, value and column."""
    one, parameter = network(part.scenario["source"].removeprefix("reports:")), over.removeprefix("script.")
    found = {}
    for (report, name, algorithm, axis, value), by_origin in stored().items():
        stands = report == one.report and name in one.stored_as() and one.axes.get(axis, "") == parameter
        point = one.point(algorithm, axis, value) if stands else None
        if point is None or origin not in by_origin:
            continue
        label = label_at(part, one, {**point, **one.stored_as()[name]}, parameter)
        for metric, numbers in by_origin[origin].items():
            if (known := metric.removesuffix(MEDIAN)) in one.columns:
                column = f"{one.metrics}.{one.columns[known][0]}"
                found[label, value if parameter else "", column] = f"{sum(numbers) / len(numbers):.8g}"
    return found


TYPED = "two hosts, the default seed"
"""A table beside a script whose numbers were typed from the report."""


@pytest.mark.parametrize("name", ["ewphcc", "tcp-fr", "hystart", "asran"])
def test_tables_of_stored_numbers_hold_what_is_stored(name):
    spec = tp.Study.load(name).spec
    tables = [table for table in spec.published if table.columns[0].name == "compared" and table.id != TYPED]
    assert tables
    for table in tables:
        part = spec.part(table.part)
        held = {
            (row[0], row[1] if table.over else "", column.metric): cell
            for row in table.rows
            for column, cell in zip(table.columns, row, strict=True)
            if column.metric and cell
        }
        origins = [stored_cells(part, table.over, origin) for origin in ("author", "stock")]
        assert any(held.items() <= cells.items() for cells in origins), table.id
