"""What `python -m tonopah.reports.validate` asks of our numbers."""

import json
import math
import pickle

import pytest

from tonopah._core import ScenarioError, run
from tonopah.cli.main import main
from tonopah.errors import InputError
from tonopah.reports import numbers
from tonopah.reports.validate import __main__ as command
from tonopah.reports.validate import judging, page
from tonopah.reports.validate.cases import all_cases, select
from tonopah.reports.validate.running import all_jobs


def test_what_is_stored_run_by_run_is_one_case_and_shares_the_runs_of_its_point():
    fifty, point = (
        next(case for case in all_cases() if case.name == name)
        for name in ("hystart/802.11 fifty runs/cubic/-/-", "hystart/802.11/cubic/tx_multiplier/3")
    )
    assert len(fifty.references["author"]["throughput"]) == 49
    assert len(all_jobs([fifty, point])) == len(all_jobs([point])) == 10
    assert len(select("asran/fairness/cubic*", full=False)[0].seeds) == 10


def numbers_of(name, **changed):
    case = next(case for case in all_cases() if case.name == name)
    return case, {metric: 1.0 for metric in case.network.columns} | changed


def test_a_number_may_be_held_against_another_of_ours():
    case, ours = numbers_of("hystart/802.11 fifty runs/cubic_hystart/-/-", throughput=1.021, delay=0.981)
    found = {row.metric: row for row in judging.judge(case, [ours], [numbers_of(case.name)[1]])}
    assert (found["throughput"].agrees, found["delay"].agrees, found["sent"].agrees) == (False, True, None)
    case, without = numbers_of("asran/uav, no A-MPDU/newreno/-/-", throughput_data_flow=4.0)
    found = [list(judging.judge(case, [without], [dict(without, throughput_data_flow=other)])) for other in (9.0, 13.0)]
    assert [rows[0].agrees for rows in found] == [True, False]


def test_the_sign_of_a_difference_counts_where_the_author_has_one():
    """At 10 flows of the mixed network EWPHCC carries 14 % more than Vegas; at 20 nodes the difference is 6 %."""
    case, ours = numbers_of("ewphcc/mixed/ewphcc/flows/10", throughput=1.1, delay=0.5)
    rows = list(judging.judge(case, [ours], [numbers_of(case.name)[1]]))
    assert {row.metric: row.agrees for row in rows if "less" in row.metric} == {
        "throughput less that of vegas": True,
        "delay less that of vegas": True,
    }
    case, ours = numbers_of("ewphcc/mixed/ewphcc/nodes/20")
    rows = list(judging.judge(case, [ours], [ours]))
    assert [(row.metric, row.agrees) for row in rows if "less" in row.metric] == [("delay less that of vegas", False)]


def test_a_median_is_held_beside_a_median():
    """Those of 802.11 too, though stock ns-2 with the script gives others."""
    case, ours = numbers_of("hystart/802.11/cubic/nodes/60")
    rows = judging.judge(case, [dict(ours, delay=delay) for delay in (0.1, 0.2, 0.9)])
    shown = {row.metric: (row.value, row.agrees) for row in rows}
    assert shown["delay_median10"] == (0.2, True)
    assert next(iter(judging.judge(case, [dict(ours, drop_ratio=0.5)] * 3))).agrees is False


def test_every_number_of_an_author_is_judged():
    """By a goal, else by the rule of the pages: within 5 %, or within our interval."""
    for name in ("ewphcc/wireless/tahoe/flows/10", "ewphcc/satellite/vegas/nodes/20", "asran/fairness/group labelled cubic/-/-"):
        case, ours = numbers_of(name)
        rows = [row for row in judging.judge(case, [ours] * 3, [ours] * 3) if row.author]
        assert rows and all(row.agrees is not None for row in rows), [row.metric for row in rows if row.agrees is None]


def test_what_a_constant_keeps_is_counted():
    _, ours = numbers_of("ewphcc/wired/tahoe/flows/10")
    cases = [numbers_of(f"ewphcc/wired/tahoe/flows/{flows}")[0] for flows in (10, 20, 30)]
    rows = [row for case in cases for row in judging.judge(case, [ours])]
    found = {row[0].partition(": ")[2]: row[1:] for row in page.power(rows)}
    assert found["throughput"] == ["3", "0", "1", "", ""]
    assert found["delivery ratio"] == ["3", "3", "3", "", "says little: a constant meets it"]


def test_what_another_algorithm_keeps_is_counted():
    """At 10 flows of the wired network Vegas and EWPHCC have 1372.87 kb/s, Tahoe 1428.89: each of the two keeps the other's."""
    ours = {"vegas": 1372.9, "ewphcc": 1372.9, "tahoe": 1428.9}
    both = [numbers_of(f"ewphcc/wired/{name}/flows/10", throughput=number) for name, number in ours.items()]
    rows = [row for case, numbers in both for row in judging.judge(case, [numbers]) if row.metric == "throughput"]
    assert page.power(rows)[0][4] == "1 of 2 (vegas)"
    assert page.exchanged(rows[:1]) == ""


def test_a_wrong_algorithm_may_be_run(capsys):
    assert command.main(["--algorithm", "bbr", "--case", "tcp-fr/two hosts/newreno/packets_per_second/100", "--json"]) == 0
    bbr = json.loads(capsys.readouterr().out)
    assert [row["agrees"] for row in bbr if row["metric"].startswith("throughput")] == [False]
    for words in (["--algorithm", "nosuch"], ["--algorithm", "bbr", "--check"]):
        assert command.main(words) == 2
        assert "--algorithm" in capsys.readouterr().err


def test_a_chaotic_number_agrees_by_its_interval_too():
    """Tahoe on the mixed network with 20 nodes: 3061.53 kb/s in the author's run, 2502 to 2886 in ten runs of stock ns-2."""
    case, ours = numbers_of("ewphcc/mixed/tahoe/nodes/20")
    found = [
        next(
            row
            for row in judging.judge(case, [dict(ours, throughput=mean + i) for i in (-60, 0, 60)])
            if row.metric == "throughput"
        )
        for mean in (2000.0, 2644.0)
    ]
    assert [(row.agrees, row.allowed) for row in found] == [(False, "±10 %"), (True, "intervals overlap")]


def test_medians_of_ten_of_our_runs_hold_the_authors():
    """Of 802.15.4 with 20 stations: 0.126 s. A run in which nothing arrives has no delay."""
    case, ours = numbers_of("hystart/802.15.4/cubic/nodes/20")
    around, beside = ([dict(ours, delay=mean + i / 1000) for i in range(-9, 10)] for mean in (0.127, 0.14))
    found = [
        {row.metric: row.agrees for row in judging.judge(case, [*runs, dict(ours, delay=math.nan)])} for runs in (around, beside)
    ]
    assert [one["delay_median10"] for one in found] == [True, False]


def test_the_page_says_what_it_leaves_out():
    assert [row for row in page.left_out() if not row[1]] == []


def test_an_error_comes_whole_out_of_another_process():
    with pytest.raises(ScenarioError) as unknown:
        run('{"nonsense": 1}', 1)
    for error in (unknown.value, InputError("network.flows", "is wrong", "1 to 9", "world.toml")):
        found = pickle.loads(pickle.dumps(error))
        assert (type(found), str(found), vars(found)) == (type(error), str(error), vars(error))


def test_what_is_asked_run_by_run():
    """Of the author's numbers the means of all runs are asked too, by the rule of the pages."""
    case, ours = numbers_of("asran/uav/newreno/-/-")
    runs = [ours | {"cut_delay": delay, "cut_back": back} for delay, back in ((0.01, 16.0), (0.02, 17.1), (float("nan"),) * 2)]
    found = {row.metric: row for row in judging.judge(case, runs) if row.agrees is not None}
    printed = {"sent", "received", "delay", "throughput_mean_of_data_and_ack_flow", "delivery_ratio"}
    assert set(found) == printed | {f"cut_{name}, run by run" for name in (*printed, "back")}
    # 18.8 ms is between them; one of two outages ends too late.
    assert found["cut_delay, run by run"].agrees and not found["cut_back, run by run"].agrees
    assert found["cut_delay, run by run"].ours == "0.01 … 0.02 in 2 of 3 runs"
    nothing = [ours | {"cut_back": float("nan")}]
    assert not next(row for row in judging.judge(case, nothing) if row.metric == "cut_back, run by run").agrees


def test_an_index_of_two_groups_has_a_range():
    """The two runs of ns-3 have 0.276 and 0.472: an interval of their mean holds anything."""
    case, ours = numbers_of("asran/fairness/cubic everywhere/-/-", jain_group_1_3=0.51)
    for low, high, agrees in ((0.26, 0.51, True), (0.48, 0.51, False), (0.26, 0.53, False)):
        runs = [ours | {"jain_group_0_2": index} for index in (low, high)]
        found = {row.metric: row.agrees for row in judging.judge(case, runs)}
        assert found["jain_group_0_2, run by run"] == agrees
        assert found["jain_group_0_2"] is None
    labelled, _ = numbers_of("asran/fairness/group labelled cubic/-/-")
    # The printed index is one that a flow of two starves with: 0.2588.
    assert [row.agrees for row in judging.judge(labelled, runs) if row.agrees is not None] == [False]


@pytest.mark.parametrize(("last", "agrees"), [(2.0, True), (0.5, False)])
def test_a_number_goes_along_an_axis_where_that_of_ns3_goes(last, agrees):
    case, ours = numbers_of("tcp-fr/pan/newreno/nodes/100", throughput=last)
    assert case.first is not None and case.first.name == "tcp-fr/pan/newreno/nodes/20"
    assert len(all_jobs([case])) == 6
    rows = {row.metric: row.agrees for row in judging.judge(case, [ours], [numbers_of(case.name)[1]])}
    assert rows["throughput less that at 20"] == agrees
    assert numbers_of("tcp-fr/pan/newreno/nodes/80")[0].first is None


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        (("metric", "metrik"), "line 1", "'metrik' is unknown"),
        (("3248.0", "many"), "line 2: number", "'many' is not a number"),
        (("stock,", "mine,"), "line 2: origin", "'mine' is unknown"),
        ((",a,b", ",a,b,c"), "line 2", "more than 11 columns"),
        ((",number", ""), "line 1", "'number' is missing"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(change, place, message):
    text = f"{','.join(numbers.COLUMNS)}\nstock,000,wired,tahoe,flows,10,sent,packets,3248.0,a,b\n"
    assert [row["number"] for row in numbers.checked(text)] == ["3248.0"]
    with pytest.raises(InputError) as refused:
        list(numbers.checked(text.replace(*change)))
    assert refused.value.path == place
    assert message in str(refused.value)


def test_the_former_command_says_what_does_its_work_now(capsys):
    assert main(["validate", "authors", "--check"]) == 2
    assert "python -m tonopah.reports.validate" in capsys.readouterr().err


def test_a_comparison_runs_shows_and_tells_by_its_exit_code(capsys, tmp_path):
    """The wired network of the ASRAN report is one deterministic run; a page is of all cases."""
    assert command.main(["--case", "asran/wired/*", "--check", "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)
    assert {check["agrees"] for check in checks} == {True, None}
    assert command.main(["--case", "asran/wired/*", "--full", "--out", str(tmp_path)]) == 0
    assert "asran, wired" in (tmp_path / "validation-authors.md").read_text()
    assert command.main(["--case", "004/*"]) == 2
    assert "asran/wired/*" in capsys.readouterr().err
