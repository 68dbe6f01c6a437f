"""Comparison of the reports' networks with ns-2 at points of our own: scripts, counters, what agrees, stored runs."""

import json
import math

import pytest

from tonopah.errors import RunFailedError
from tonopah_dev.ns2 import reports
from tonopah_dev.ns2.reports import METRICS, RUNS, PointResult, check, points
from tonopah_dev.peers import ns2 as peer

SCRIPT = """set ns [new Simulator]
set nam_file [open animation.nam w]
$ns namtrace-all-wireless $nam_file 500 500
expr { srand(19) }
$ns run
"""
COUNTED = """Throughput:  301.92 kbits/sec
Average Delay:  0.187492 seconds
Delivery ratio:  0.982587
Drop ratio:  0.0161692
Energy consumption per packet:  11.3032 Joules
"""
COUNTED_OF_HYSTART = """28.1 100 20 80 417644 0.798 0.868 0.19
throughput 417644
average delay 0.798
packet delivery ratio 0.868
packet drop ratio 0.19
node_id ------ throughput
"""


def runs(*values, metric="delay"):
    return [{metric: value} for value in values]


def test_a_script_gets_other_places_and_other_random_numbers_and_writes_no_animation():
    text = reports.changed(SCRIPT, {"srand": 3}, "ns-random 7")
    assert text.splitlines()[:2] == ["ns-random 7", "set ns [new Simulator]"]
    assert "srand(3)" in text
    assert "open /dev/null w" in text
    assert "namtrace" not in text
    assert "srand(19)" in reports.changed(SCRIPT, {}, "ns-random 7")


def test_the_counters_of_both_authors_are_read():
    assert reports.PRINTED.findall(COUNTED) == ["301.92", "0.187492", "0.982587", "0.0161692"]
    assert reports.PRINTED.findall(COUNTED_OF_HYSTART) == ["417644", "0.798", "0.868", "0.19"]


def test_energies_at_the_end_of_a_trace_have_no_time():
    assert reports.without_last_energies("N -t 1 -n 2\nr 19.9 _2_\nN -t 20 -n 1\nN -t 20 -n 2\n") == "N -t 1 -n 2\nr 19.9 _2_\n"


@pytest.mark.parametrize(("mine", "met"), [((1.0, 2.0), True), ((2.0, 2.2), False), ((0.8, 0.8), False), ((math.nan,), False)])
def test_the_mean_of_our_runs_agrees_within_what_the_runs_of_ns2_span(mine, met):
    assert check("delay", runs(*mine), runs(1.0, 1.4, 2.0)).met is met


def test_the_digits_that_a_counter_does_not_print_are_no_difference():
    assert check("delay", runs(0.12345649), runs(0.123456, 0.123456)).met
    assert not check("delay", runs(0.123457), runs(0.123456, 0.123456)).met


def test_every_point_has_ten_stored_runs_of_ns2():
    stored = json.loads(reports.STORED.read_text(encoding="utf-8"))["runs"]
    assert set(stored) == {point.id for point in points()}
    assert {len(kept) for kept in stored.values()} == {RUNS}
    numbers = [
        run[metric] for kept in stored.values() for run in kept for metric in METRICS if metric != "delay" or run[metric] > 0
    ]
    assert all(math.isfinite(number) for number in numbers)


def test_agreement_is_counted_by_metric_and_network():
    first, second = points()[0], points()[-1]
    ours = [dict.fromkeys(METRICS, 1.0)]
    theirs = [dict.fromkeys(METRICS, 1.0) | {"delay": 2.0}]
    results = [PointResult(p, None, [check(m, ours, theirs) for m in METRICS], ours, theirs) for p in (first, second)]
    assert reports.agreed(results)["delay"] == ["0 of 1", "0 of 1"]
    assert reports.agreed(results)["throughput"] == ["1 of 1", "1 of 1"]
    facts = reports.facts(results, "2.35")
    assert (facts["met"], facts["goals"]) == (6, 8)
    assert facts["rows"][0][2] == "**1** (2 … 2)"


def test_a_point_without_stored_runs_needs_the_scripts(monkeypatch):
    against = reports.AgainstScripts(None)
    monkeypatch.setattr(against, "known", {})
    with pytest.raises(RunFailedError, match="--scripts"):
        against.judge(points()[0], [])


def test_storing_needs_runs_of_ns2(capsys, monkeypatch):
    monkeypatch.setattr(peer, "is_installed", lambda: False)
    assert reports.main(["--store", "--check"]) == 2
    assert "give --scripts" in capsys.readouterr().err
    assert reports.main(["--scripts", "x", "--check"]) == 1
    assert "apt-get install ns2" in capsys.readouterr().err
