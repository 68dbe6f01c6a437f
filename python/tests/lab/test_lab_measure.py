"""`python -m tonopah_dev.bench --only lab`: what it measures of the server and the page."""

import os

import pytest

from tonopah.errors import InputError
from tonopah_dev.browser import measure
from tonopah_dev.browser.measure import Bench, LabMeasure


def test_a_turn_takes_time_of_both_sides(page, lab):
    bench = Bench(page.browser, os.getpid(), lab.address)
    usable = bench.middle("usable", 2.0, "s", 1, bench.open)
    assert 0 < bench.first_paint_s() < usable.value
    before = page.text("table.results")
    moved = bench.middle("slider", 300.0, "ms", 1, lambda _: bench.turn(0.7))
    assert page.text("table.results") != before and moved.value > 0
    assert moved.server_cpu_s > 0 and moved.browser_cpu_s > 0
    assert all(measure.private_mib(process) > 5 for process in page.browser.processes("renderer"))


def test_a_page_that_does_not_answer_is_an_error(page, lab, monkeypatch):
    bench = Bench(page.browser, os.getpid(), lab.address)
    bench.open(0)
    monkeypatch.setattr(measure, "NEVER_S", 0.5)
    with pytest.raises(InputError, match=r"has not answered within 0\.5 s"):
        bench.change("#toml", "duration = 1")


def test_turns_end_when_their_time_is_over(page, lab, monkeypatch):
    monkeypatch.setattr(measure, "MOST_TURNS_S", 0.0)
    turns = []
    Bench(page.browser, os.getpid(), lab.address).middle("nothing", 1.0, "s", 9, lambda n: turns.append(n) or 0.0)
    assert turns == [0]


def test_a_line_tells_the_limit_and_when_it_is_exceeded():
    assert LabMeasure("paint", 0.5, "s", 1.0).line() == "paint: 0.5 s (limit 1 s)"
    assert LabMeasure("paint", 2.0, "s", 1.0, 0.25, 0.5).line() == (
        "paint: 2 s (limit 1 s; exceeded); CPU 0.25 s server, 0.50 s browser"
    )
