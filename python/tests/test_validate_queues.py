"""Queue disciplines against Linux: the recordings, the goals on known values, a few short cases, the command line."""

import itertools
import json
import re
from pathlib import Path

import pytest

from tonopah._core import trace
from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.validate.frame import compare, select
from tonopah.validate.queues import comparison as queues
from tonopah.validate.queues import worlds as queues_worlds
from tonopah.validate.queues.comparison import QueueResult, QueueRun
from tonopah.validate.queues.recordings import shipped
from tonopah_dev.pages import validation_queues as queues_page

AGAINST = queues.AgainstLinuxQueues(shipped())


def chosen(pattern):
    """The recorded cases that match."""
    return select(AGAINST, pattern)


SHORT = ("codel-5m-40ms-1cubic", "fqcodel-5m-100ms-2cubic", "pie-5m-40ms-1cubic")


def case(name):
    return chosen(name)[0]


def results(names):
    cases = [case(name) for name in names]
    return compare(queues.AgainstLinuxQueues(shipped()), cases, 2)


def test_of_the_table_of_flows_every_column_is_read():
    (one,), table = chosen("fqcodel-5m-100ms-2cubic"), shipped().flows()

    def reads(flows):
        queues.jobs_of(flows, one)
        queues.recorded(flows, one)

    reads(table)
    for column in table:
        with pytest.raises(KeyError, match=column):
            reads(table.drop(columns=column))


def test_every_recording_is_there_with_its_runs_and_flows():
    table = shipped().flows()
    for one in shipped().cases:
        rows = table[table["case"] == one.number]
        assert set(rows.groupby("rep").size()) == {len(one.flows)} and rows["rep"].nunique() in (6, 10), one.name
        assert len(queues.recorded(table, one)) == rows["rep"].nunique()


def test_the_numbers_of_a_recording_are_those_of_its_index():
    # index.json of the recordings: drop_rate 0.0004 of 42,000 packets, mean wait 1.5 ms, 16.3 Mb/s.
    runs = queues.recorded(shipped().flows(), case("codel-20m-40ms-1reno"))
    assert [run.drops for run in runs[:2]] == [17, 18]
    assert runs[0].wait_s == pytest.approx(1.532e-3, abs=1e-6) and runs[0].goodput_bps == pytest.approx(16.28e6, rel=0.01)


def test_a_case_becomes_a_world_with_the_rate_and_delay_of_the_recording():
    world = queues_worlds.scenario(case("codel-20m-40ms-1reno"), [0.1, 0.2])
    bottleneck, *hosts = world["link"]
    assert (bottleneck["rate"], bottleneck["overhead"]) == ("100Gbps", "14B")
    shaper = bottleneck["queue"]
    assert (shaper["kind"], shaper["rate"], shaper["burst"], shaper["debt"]) == ("tbf", "20186667bps", "16B", True)
    assert shaper["queue"]["kind"] == "codel" and hosts[0]["reverse"]["delay"] == "40000000ns"
    assert [flow["start"] for flow in world["flow"]] == ["100000us", "200000us"]


def test_a_queue_that_shapes_stands_before_a_fast_link():
    world = queues_worlds.scenario(case("codel-tbf1600-20m-40ms-8cubic"), [0.1] * 9)
    bottleneck, host, *_ = world["link"]
    assert bottleneck["rate"] == "100Gbps" and host["reverse"]["delay"] == "40000000ns"
    assert (bottleneck["queue"]["kind"], bottleneck["queue"]["burst"]) == ("tbf", "1600B")
    assert queues_worlds.queue(case("cake-dsthost-20m-40ms-8v1")) == {
        "kind": "cake", "isolate": "dual_dst", "rate": "20186667bps",
    }  # fmt: skip


def test_packets_leave_as_the_shaper_of_the_recordings_lets_them():
    # README: a gap of 600.0 us, and 594.4 us after a pause, by the 16 bytes of the bucket less what the clock's grain takes.
    world = queues_worlds.scenario(case("fqcodel-ce1ms-20m-10ms-2dctcp"), [0.1, 0.1, 0.1])
    world["duration"], world["warmup"] = "130ms", "0s"
    left = [
        event["t_s"]
        for event in map(json.loads, trace(json.dumps(world), 1, json=True).splitlines())
        if event["event"] == "transmitted" and event["link"] == 0 and event["towards"] == "sink" and event["size_bytes"] == 1500
    ]
    gaps = [round(1e9 * (later - sooner)) for sooner, later in itertools.pairwise(left[:10])]
    assert gaps[0] == pytest.approx(593_659, abs=2) and gaps[1:] == pytest.approx([600_000] * 8, abs=2)


def test_the_weight_of_red_is_the_power_of_two_of_tc():
    # tc-red(8): burst 50 of 1000 B and min 30000 B give 2^-5.
    assert queues_worlds.red_weight(30_000, 50, 1000) == 2**-5
    assert queues_worlds.red_weight(30_000, 31, 1000) == 2**-2


def run(wait_s=0.005, drops=100, marks=0, goodputs=(5e6, 5e6), cbr=0):
    return QueueRun(wait_s, drops, marks, tuple(goodputs), cbr)


@pytest.mark.parametrize(
    ("ours", "missed"),
    [
        ({}, []),
        ({"wait_s": 0.0054}, []),
        ({"wait_s": 0.0056}, ["wait, ms"]),
        ({"drops": 114}, []),
        ({"drops": 84}, ["drops"]),
        ({"marks": 1}, []),
        ({"marks": 2}, ["marks"]),
        ({"goodputs": (5.15e6, 5.15e6)}, ["goodput, Mb/s"]),
        ({"goodputs": (4.8e6, 5.2e6)}, ["share, %"]),
        ({"cbr": 9}, ["drops of CBR"]),
    ],
)
def test_each_goal_is_missed_beyond_its_tolerance(ours, missed):
    kernel = [run(goodputs=(5e6 - i * 1e4, 5e6 + i * 1e4)) for i in range(6)]
    result = QueueResult(case("codel-20m-10ms-2reno"), ours=[run(**ours)] * 6, kernel=kernel)
    assert [check.name for check in queues.checks(result) if not check.met] == missed


def test_flows_that_differ_in_nothing_are_compared_by_rank():
    two = case("codel-20m-10ms-2reno")
    assert run(goodputs=(6e6, 4e6)).shares(two) == run(goodputs=(4e6, 6e6)).shares(two) == [0.4, 0.6]
    unequal = case("codel-20m-unequal")
    assert run(goodputs=(4e6, 3e6, 2e6, 1e6)).shares(unequal) == [0.4, 0.3, 0.2, 0.1]


def test_a_part_of_the_cases_agrees():
    assert [result.case.name for result in results(SHORT) if not result.met] == []


def test_a_queue_that_is_another_disagrees(monkeypatch):
    monkeypatch.setitem(queues_worlds.DISCIPLINES, "fq_codel", lambda options, flags: {"kind": "fq_codel"})
    (result,) = results(["fqcodel-5m-100ms-2cubic"])
    assert not result.met, "CoDel's guard counted the flow's own queue, as RFC 8289 has it"


def test_the_command_prints_json_and_fails_only_with_check(capsys, monkeypatch):
    command = ["validate", "queues", "--case", "codel-5m-40ms-1cubic", "--json"]
    assert main.main([*command, "--check"]) == 0
    row = json.loads(capsys.readouterr().out)[0]
    assert row["met"] and row["runs"] == 10 and {goal["goal"] for goal in row["goals"]} >= {"wait, ms", "drops"}
    monkeypatch.setattr(queues, "WAIT", 0.0)
    assert main.main([*command, "--check"]) == 1
    assert main.main(command) == 0


def test_a_case_that_does_not_exist_is_an_error_with_those_that_come_close():
    with pytest.raises(InputError, match="matches no case") as raised:
        chosen("codel-5m-40ms-1qubic")
    assert "codel-5m-40ms-1cubic" in raised.value.hint


def test_what_cannot_be_expressed_is_said():
    choke, other = case("choke-20m-40ms-mixed"), case("fqpie-20m-40ms-8cubic")
    found = compare(AGAINST, [choke, other])
    page = queues_page.text(shipped(), found)
    assert "choke-20m-40ms-mixed: there is no choke here" in page and "there is no fq_pie here" in page


def test_the_page_has_every_case_and_explains_each_that_is_missed():
    page = Path(__file__).parents[2] / "docs" / queues_page.PAGE
    if not page.is_file():
        pytest.skip("no checkout")
    text = page.read_text()
    rows = dict(re.findall(r"^\| (\S+) \|.*\| (pass|MISS \d/\d) \|$", text, re.MULTILINE))
    compared = [one.name for one in shipped().cases if queues_worlds.missing(one) is None]
    assert list(rows) == compared
    findings = text.partition("## Findings")[2].partition("## Definitions")[0]
    assert [name for name, verdict in rows.items() if verdict != "pass" and f"`{name}`" not in findings] == []
