"""Engines held against one another: the words, what is absent, what is refused, and what is written.

Engines that differ by a known share stand for those that a machine lacks: what is equal is equivalent, what is not different.
"""

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cross_worlds import FIXED, refusal, world, written

from tonopah.cli.main import main
from tonopah.cross import comparison, engines, figures, measures, told
from tonopah.cross.engines import ENGINES, Engine, Options
from tonopah.cross.worlds import worlds_of
from tonopah.errors import InputError
from tonopah.kernel import plan as kernel_plan
from tonopah.peers import ns2, ns3
from tonopah.runs.simulation import RunResult, run_prepared
from tonopah_dev.pages import cross as page

ROOT = Path(__file__).parents[2]


def altered(change):
    """Return what runs a world as the simulation and changes the summary after it."""

    def run(one, seed, _):
        result = run_prepared(one.scenario, one.name, seed)
        summary = copy.deepcopy(result.summary)
        change(summary)
        return RunResult(summary, result._series)

    return run


def faster(share):
    """Return what gives every flow this share of its goodput."""

    def change(summary):
        for flow in summary["flows"]:
            flow["goodput_bps"] *= share

    return change


@pytest.fixture
def stand_in(monkeypatch):
    """Return what adds an engine that changes what the simulation measured."""

    def add(name, change=lambda summary: None, deterministic=True, **more):
        monkeypatch.setitem(ENGINES, name, Engine(name, "a stand-in", altered(change), deterministic, **more))

    return add


def compared(document, names, replicates=6, changes=None):
    """Return a comparison that was carried out."""
    table, worlds = worlds_of(document, changes or {})
    found = comparison.begin(table, worlds, engines.chosen(names), replicates, 1)
    found.carry_out(Options(), lambda: None)
    return found


def words(found, engine):
    """Return the words on an engine by metric, of the first world."""
    return {row.metric.key: row.word for row in found.worlds[0].rows if row.engine == engine}


def test_the_same_engine_is_equivalent_and_a_biased_one_is_different(stand_in):
    stand_in("same")
    stand_in("fast", faster(1.2))
    stand_in("slow", faster(0.8))
    stand_in("near", faster(1.02))
    found = compared(world(), ["tonopah", "same", "fast", "slow", "near"])
    assert {words(found, name)["goodput_bps.0"] for name in ("same", "near")} == {"equivalent"}
    assert {words(found, name)["goodput_bps.0"] for name in ("fast", "slow")} == {"different"}
    same = words(found, "same")
    assert same["queueing_s"] == same["cwnd_mean_bytes"] == same["queueing_p95_s"] == "equivalent"
    assert set(same) == {row.metric.key for row in found.worlds[0].rows} and "jain" not in same
    assert "different" not in same.values()


def test_the_table_cross_sets_the_margins(stand_in):
    stand_in("fast", faster(1.2))
    assert words(compared(world(cross={"goodput": 30}), ["tonopah", "fast"]), "fast")["goodput_bps.0"] == "equivalent"
    assert words(compared(world(), ["tonopah", "fast"], changes={"cross.goodput": 25}), "fast")["goodput_bps.0"] == "equivalent"
    near = compared(world(cross={"goodput": 19}), ["tonopah", "fast"])
    assert words(near, "fast")["goodput_bps.0"] == "different" and told.facts(near, "")["margins"]["goodput"] == 19


def test_a_world_in_which_nothing_is_random_is_run_once_where_the_engine_is_deterministic(stand_in):
    stand_in("noisy", deterministic=False)
    found = compared(world(traffic=FIXED), ["tonopah", "noisy"], replicates=4)
    assert [len(arm.values) for arm in found.worlds[0].arms] == [1, 4]
    assert compared(world(), ["tonopah", "noisy"], replicates=4).runs == 8


def test_what_an_engine_does_not_tell_is_absent_with_the_reason_and_not_zero(stand_in):
    def forget(summary):
        for flow in summary["flows"]:
            flow["cwnd_mean_bytes"] = None
        summary["network"]["retransmitted_packets"] = None

    stand_in("silent", forget)
    found = compared(world(traffic=FIXED), ["tonopah", "silent"])
    assert {"cwnd_mean_bytes", "retransmitted_packets"}.isdisjoint(words(found, "silent"))
    facts = told.facts(found, "")["worlds"][0]
    window = next(metric for metric in facts["metrics"] if metric["metric"] == "cwnd_mean_bytes")
    assert list(window["engines"]) == ["tonopah"]
    reasons = {one["metric"]: one["reason"] for one in facts["absent"]}
    assert reasons["cwnd_mean_bytes"] == measures.NO_WINDOW and set(reasons) == {"cwnd_mean_bytes", "retransmitted_packets"}
    row = next(row for row in told.world_grid(found.worlds[0]).rows[::-1] if row[3] == "absent")
    assert row[1] == "–"
    assert any(measures.NO_WINDOW in note for note in told.notes(found))


def test_the_queueing_delay_is_what_a_packet_waits():
    app = {"kind": "cbr", "rate": "1Mbps", "size": "500B", "transport": "udp"}
    document = world(flow=[{"from": "left0", "to": "right0", "app": app}])
    del document["network"]["flows"]
    [one] = worlds_of(document, {})[1]
    found = measures.measured(run_prepared(one.scenario, None, 1), one)
    assert found["queueing_s"] == pytest.approx(0.0, abs=2e-6) and found["cwnd_mean_bytes"] is None
    filled = measures.measured(run_prepared(worlds_of(world(), {})[1][0].scenario, None, 1), worlds_of(world(), {})[1][0])
    assert filled["queueing_s"] > 0.005 and filled["queueing_p95_s"] > filled["queueing_s"]


def test_drops_within_a_round_trip_are_one_episode():
    columns = {
        "t_s": np.array([0.5, 1.1, 1.12, 1.14, 1.5, 1.6, 1.5]),
        "id": np.array([0, 0, 0, 0, 0, 0, 1]),
        "value": np.array([3.0, 4.0, 6.0, 6.0, 7.0, 7.0, 1.0]),
    }
    result = RunResult({}, {"drops": columns})
    assert measures.episodes(result, (1.0, 2.0), 0.05) == 3
    assert measures.episodes(result, (1.0, 2.0), 0.01) == 4
    assert measures.episodes(result, (0.0, 2.0), 0.05) == 4
    assert measures.episodes(RunResult({}, {}), (0.0, 2.0), 0.05) is None


def test_what_cannot_be_compared_is_refused_before_anything_runs(tmp_path, capsys, stand_in):
    file = written(tmp_path, world())
    assert "'ns4' is no engine" in refusal(capsys, file, "--on", "tonopah,ns4")
    assert "two engines or more" in refusal(capsys, file, "--on", "tonopah")
    assert "two engines or more" in refusal(capsys, file, "--on", "tonopah,tonopah")
    stand_in("gone", lacking=lambda: "install it: apt-get install it")
    assert "--on gone: install it: apt-get install it" in refusal(capsys, file, "--on", "tonopah,gone")
    for path, value, text in (
        ("cross.goodput", 0, "cross.goodput: 0 is out of range"),
        ("cross.speed", 5, "cross.speed: unknown key"),
        ("cross.replicates", 0, "cross.replicates: 0 is out of range"),
        ("cross.sweep", '[{ vary = { "network.nosuch" = [1] } }]', "network.nosuch"),
        ("tcp.cc", "nosuch", "nosuch"),
    ):
        assert text in refusal(capsys, file, "--on", "tonopah,linux", "--set", f"{path}={value}"), path


@pytest.mark.parametrize("refuse", [ns2.planned, ns3.planned, kernel_plan.planned])
def test_an_algorithm_of_the_user_is_refused_by_its_name(refuse):
    own = {"profile": "linux", "cc": {"python": "tonopah.examples.reno:Reno"}}
    [one] = worlds_of(world(tcp=own), {})[1]
    with pytest.raises(InputError, match=r"tcp\.cc: .* has no 'tonopah.examples.reno:Reno'"):
        refuse(one.scenario, None, 1)


SWEEP = {"sweep": [{"vary": {"tcp.cc": ["cubic", "reno"], "network.bottleneck.delay": ["5ms", "10ms"]}}]}


def test_every_point_of_a_sweep_is_a_world_and_an_engine_is_absent_where_it_cannot(stand_in):
    def refuse(one):
        if one.values["tcp.cc"] == "reno":
            raise InputError("tcp.cc", "has no reno")

    stand_in("some", refuse=refuse)
    found = compared(world(cross=SWEEP), ["tonopah", "some"])
    assert [one.world.label for one in found.worlds][:2] == ["cc cubic, delay 5ms", "cc cubic, delay 10ms"]
    assert [bool(one.rows) for one in found.worlds] == [True, True, False, False]
    assert told.notes(found) == ["not on some, 2 worlds: tcp.cc: has no reno"]
    assert len(told.grids(found)[0].rows) == 4 and "in 2 of 2 worlds" in told.answer(found)[0]
    with pytest.raises(InputError, match="has no reno"):
        compared(world(cross=SWEEP), ["some", "tonopah"])
    with pytest.raises(InputError, match=r"carries none of the worlds: tcp\.cc: has no reno"):
        compared(
            world(cross=SWEEP), ["tonopah", "some"], changes={"cross.sweep.0.vary": {"tcp.cc": ["reno"], "network.flows": [1, 2]}}
        )


def test_worlds_of_a_sweep_may_have_replicates_of_their_own_and_the_option_sets_all(stand_in):
    stand_in("same")
    delays = [{"vary": {"network.bottleneck.delay": ["5ms"]}, "replicates": 3}, {"vary": {"network.bottleneck.delay": ["10ms"]}}]
    document = world(cross={"sweep": delays, "replicates": 2})
    assert [len(arm.values) for one in compared(document, ["tonopah", "same"], None).worlds for arm in one.arms] == [3, 3, 2, 2]
    table, worlds = worlds_of(document, {})
    assert comparison.begin(table, worlds, engines.chosen(["tonopah", "same"]), 5, 1).runs == 20
    assert "replicates" not in worlds[0].label


def test_the_command_prints_json_and_writes_figures(tmp_path, capsys, stand_in):
    stand_in("fast", faster(1.2))
    out = tmp_path / "out"
    options = ["--on", "tonopah,fast", "--replicates", "6", "--json", "--out", str(out), "--seed", "3"]
    arguments = [written(tmp_path, world()), *options]
    assert main(["cross", *arguments]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == json.loads((out / "cross.json").read_text(encoding="utf-8"))
    goodput = facts["worlds"][0]["metrics"][0]["engines"]
    assert goodput["fast"]["verdict"] == "different" and goodput["fast"]["difference"]["value"] == pytest.approx(20)
    assert "verdict" not in goodput["tonopah"] and goodput["tonopah"]["n"] == 6 and facts["seed"] == 3
    assert {path.name for path in out.iterdir()} == {"cross.json", "runs.jsonl", "cwnd.svg", "cwnd.csv", "queue.svg", "queue.csv"}
    drawn = (out / "queue.svg").read_text(encoding="utf-8")
    assert "tonopah" in drawn and "fast" in drawn


def test_tables_fit_80_columns(tmp_path, capsys, stand_in, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    stand_in("fast", faster(1.2))
    assert main(["cross", written(tmp_path, world()), "--on", "tonopah,fast", "--replicates", "4"]) == 0
    printed = capsys.readouterr().out
    table = printed[: printed.index("\n  fast, ")] if "\n  fast, " in printed else printed
    assert max(map(len, table.splitlines())) <= 80 and printed.count("verdict") == 1
    assert "different" in printed and "fast against tonopah" in printed


def late(summary):
    summary["emulation"] = {"lateness": {"late": True}}


def test_late_runs_of_real_time_are_said_and_fail(tmp_path, capsys, stand_in):
    stand_in("linux", late, deterministic=False)
    arguments = ["cross", written(tmp_path, world(traffic=FIXED)), "--on", "tonopah,linux", "--replicates", "4"]
    assert main(arguments) == 1 and "error: linux: packets left too late in 4 runs" in capsys.readouterr().err
    assert main([*arguments, "--keep-late", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["late"] == {"linux": 4}


@pytest.mark.parametrize("option", ["--spin", "--keep-late"])
def test_options_of_real_time_are_refused_where_no_engine_runs_in_it(option, tmp_path, capsys, stand_in):
    stand_in("same")
    said = refusal(capsys, written(tmp_path, world()), "--on", "tonopah,same", option)
    assert f"{option}: has no effect without --on linux" in said


def test_the_kernel_in_virtual_time_is_asked_by_its_own_module(monkeypatch):
    asked = []

    def run(scenario, name, seed):
        asked.append(seed)
        return run_prepared(scenario, name, seed)

    uml = pytest.importorskip("tonopah.kernel.uml", reason="Linux alone")
    for name, stands_in in (("run", run), ("lacking", lambda: None), ("planned_here", lambda *_: None)):
        monkeypatch.setattr(uml, name, stands_in)
    found = compared(world(), ["tonopah", "uml"])
    assert asked == [1, 2, 3, 4, 5, 6] and words(found, "uml")["goodput_bps.0"] == "equivalent"
    monkeypatch.setattr(uml, "lacking", lambda: "build it: tonopah kernel build")
    with pytest.raises(InputError, match="--on uml: build it"):
        engines.chosen(["tonopah", "uml"])


def test_the_shipped_worlds_are_24():
    table, worlds = worlds_of(ROOT / "studies" / "cross.toml", {})
    assert len(worlds) == len({one.label for one in worlds}) == 24 and table.replicates == 10
    assert {one.scenario["tcp"]["cc"] for one in worlds} == {"reno", "cubic", "bbr"}
    assert {len(one.graph["flow"]) for one in worlds} == {1, 2} and all(one.random for one in worlds)


def test_a_figure_shows_every_engine(stand_in):
    stand_in("same")
    found = compared(world(), ["tonopah", "same"], replicates=1)
    [one] = found.worlds
    data = figures.figure(one, one.arms, "cwnd", range(1))
    assert [line.label for line in data.series] == ["tonopah", "same"] and not data.is_empty()
    assert replace(data, series=[]).is_empty() and figures.busiest(one.arms[0].first) == 0


def test_an_interrupted_comparison_goes_on(tmp_path, capsys, monkeypatch):
    ran = []

    def run(one, seed, _):
        if len(ran) == 3 and "broken" not in ran:
            ran.append("broken")
            raise KeyboardInterrupt
        ran.append(seed)
        return run_prepared(one.scenario, one.name, seed)

    monkeypatch.setitem(ENGINES, "brittle", Engine("brittle", "a stand-in", run, deterministic=True))
    out = tmp_path / "out"
    arguments = ["cross", written(tmp_path, world()), "--on", "tonopah,brittle", "--replicates", "6", "--out", str(out)]
    assert main(arguments) == 1 and f"what was measured is in {out}" in capsys.readouterr().err
    with (out / "runs.jsonl").open("a") as file:
        file.write('{"id": "cut')
    assert main(arguments) == 0 and ran == [1, 2, 3, "broken", 1, 4, 5, 6]
    facts = json.loads((out / "cross.json").read_text(encoding="utf-8"))
    values = {name: found["values"] for name, found in facts["worlds"][0]["metrics"][0]["engines"].items()}
    assert values["brittle"] == values["tonopah"] and len(values["tonopah"]) == 6


def test_the_page_has_a_line_for_each_world_and_says_why_engines_differ(tmp_path, capsys, stand_in):
    stand_in("fast", faster(1.2))
    sweep = {"sweep": [{"vary": {"network.bottleneck.delay": ["5ms", "10ms"]}}]}
    out = tmp_path / "out"
    arguments = [written(tmp_path, world(cross=sweep)), "--on", "tonopah,fast", "--replicates", "6", "--out", str(out)]
    assert main(["cross", *arguments]) == 0
    page.main([str(out), str(tmp_path)])
    text = (tmp_path / "cross.md").read_text(encoding="utf-8")
    assert "| delay 5ms | different; goodput 0 +20 |" in text and "| delay 10ms | different; goodput 0 +20 |" in text
    assert f"- fast, goodput 0 (2): {page.OPEN}" in text and (tmp_path / "cross" / "results.toml").exists()
    found = json.loads((out / "cross.json").read_text(encoding="utf-8"))
    reasons = {"fast": [{"metric": "goodput", "worlds": ["5ms"], "reason": "it is made so"}]}
    assert [row[1:] for row in page.facts_of(found, reasons)["reasons"]] == [[1, "it is made so"], [1, page.OPEN]]
    found["worlds"][1]["replicates"] = {"tonopah": 9, "fast": 9}
    [goodput] = [one["engines"]["fast"] for one in found["worlds"][1]["metrics"] if one["metric"].startswith("goodput")]
    goodput |= {"verdict": "undecided", "needed": 9, "why": "about 9 replicates would decide"}
    told_now = page.facts_of(found, {})
    assert told_now["rows"][1][1] == "undecided (about 9 replicates would decide)"
    assert (told_now["replicates"], told_now["more"]) == (6, [[9, "delay 10ms"]])
