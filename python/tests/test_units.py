"""Quantities in Python: the engine has the grammar, Python shows numbers and labels."""

import argparse

import pytest

from tonopah import units
from tonopah._core import units as engine_units
from tonopah.cli import arguments


def test_every_kind_of_the_engine_has_an_si_unit():
    assert set(units.SI_UNITS) == set(engine_units())


@pytest.mark.parametrize(
    ("value", "number", "si"),
    [("20ms", (20, "ms"), 0.02), ("1min", (1, "min"), 60), ("2h", (2, "h"), 7200), ("1.5km", (1.5, "km"), 1500),
     ("1KB", (1, "KB"), 1000), ("36km/h", (36, "km/h"), 10), ("20dBm", (20, "dBm"), 0.1), (5, (5, ""), 5), ("7", (7, ""), 7),
     (" 3 s ", (3, "s"), 3), ("-2m", (-2, "m"), -2)],
)  # fmt: skip
def test_a_value_is_a_number_with_a_unit(value, number, si):
    assert units.split(value) == number
    assert units.si(value) == pytest.approx(si)


@pytest.mark.parametrize("value", [True, "far", "", "nan", "inf", "3 apples", "1.2.3", None, [1]])
def test_other_values_are_not_numbers(value):
    assert units.split(value) is None
    with pytest.raises(ValueError, match="is not a number with a unit"):
        units.si(value)


def test_values_of_one_kind_share_an_axis():
    assert units.numbers(["500ms", "2s"]) == ([0.5, 2.0], "s")
    assert units.numbers(["1p", "2p"]) == ([1.0, 2.0], "packets")
    assert units.numbers(["1p", "1500B"]) is None
    assert units.numbers([1, "2s"]) is None
    assert units.positions(["10p", "far"]) == ([0.0, 1.0], "")


def test_durations_of_the_command_line():
    assert [arguments.instant(text) for text in ("90", "90s", "1.5min", "5h", "0.5")] == [90, 90, 90, 18000, 0.5]
    assert [arguments.hours(text) for text in ("0.5", "12", "90min", "2h")] == [0.5, 12, 1.5, 2]
    for parse, text in ((arguments.instant, "5m"), (arguments.instant, "1e9"), (arguments.hours, "0"), (arguments.hours, "nan"),
                        (arguments.hours, "-1"), (arguments.instant, "soon")):  # fmt: skip
        with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}' is not a"):
            parse(text)
