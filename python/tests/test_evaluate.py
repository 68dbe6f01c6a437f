"""`tonopah evaluate`: worlds and their draws, metrics, rules of the words, and one criterion from end to end."""

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tonopah.cli.main import main
from tonopah.errors import InputError
from tonopah.execution.options import ExecutionOptions
from tonopah.judge import bounds, workload
from tonopah.judge.definitions import World, definitions, points, tcpeval_definitions
from tonopah.judge.effects import effect_of, mostly
from tonopah.judge.evaluation import begin
from tonopah.judge.harm import harm_less, harm_more
from tonopah.judge.metrics import opinion_score, slowdowns
from tonopah.judge.statement import read_statement
from tonopah.judge.study import JudgedStudy, axes_of, make_part, placed
from tonopah.judge.subjects import Cast, read_subject
from tonopah.judge.traces import breaker_trips, starves
from tonopah.judge.words import worst_word
from tonopah.judge.workload import Draws
from tonopah.judge.worlds import build, queue_limit, rate_walk
from tonopah.spec import plan
from tonopah.stats import Estimate
from tonopah.store.store import Store


def cast_of(name):
    return Cast(read_subject(name), read_subject("cubic"), read_subject("reno"))


def plan_of(cast, experiments, mode, replicates):
    parts = [make_part(one, points(one, mode), cast, replicates) for one in experiments]
    return JudgedStudy("test", parts, (), Path(), None).plan.runs


def test_harm_is_a_share_of_what_a_victim_has_alone():
    assert harm_more(47.7, 4.1) == pytest.approx(0.9140, abs=5e-5)
    assert harm_less(30.0, 58.0) == pytest.approx(0.4828, abs=5e-5)
    assert harm_more(47.7, 23.8) == pytest.approx(0.5010, abs=5e-5)
    assert harm_more(24.0, 25.0) == pytest.approx(-0.0417, abs=5e-5)


def test_opinion_score_follows_the_e_model():
    for (delay_ms, loss), score in {(20, 0): 4.400, (150, 1): 4.228, (60, 5): 3.863, (400, 0.2): 3.014}.items():
        assert opinion_score(delay_ms, loss) == pytest.approx(score, abs=5e-4)
    assert opinion_score(5000, 50) == 1.0


def test_an_effect_has_students_interval_and_two_one_sided_tests():
    sure = effect_of((0.41, 0.43, 0.39, 0.42, 0.40), 0.10)
    assert sure.estimate.value == pytest.approx(0.41)
    assert sure.estimate.half_width == pytest.approx(0.01963, abs=1e-5)
    small = (0.02, -0.01, 0.03, 0.00, 0.01)
    assert effect_of(small, 0.05).quantity.interval(0.90).half_width == pytest.approx(0.0151, abs=1e-4)
    assert effect_of(small, 0.05).equivalent
    assert not effect_of(small, 0.02).equivalent


def test_starved_is_most_replicates():
    assert mostly([1, 1, 1, 0, 0])
    assert not mostly([1, 1, 0, 0, 0])


def test_the_worst_word_leads():
    assert worst_word(["better", "like CUBIC", "worse", "within bounds"]) == "worse"
    assert worst_word(["not tested", "like Reno"]) == "like Reno"
    assert worst_word(["not tested"]) == "not tested"


def test_workload_g_has_the_stated_distributions():
    assert pytest.approx((8.345905, 1.366037), abs=1e-6) == workload.FIRST
    assert pytest.approx((6.165703, 2.362531), abs=1e-6) == workload.NEXT
    assert workload.arrival_rate(0.85, 20e6) == pytest.approx(44.87, abs=0.005)
    assert workload.prefill(0.85) == 6
    assert workload.prefill(1.1) == 20
    stream = Draws("test").stream("sizes")
    assert np.mean([workload.bulk(stream) for _ in range(30_000)]) == pytest.approx(655_366, rel=0.1)
    made, offered = workload.connections(0.85, 20e6, (15.0, 60.0), Draws("test"))
    assert offered == pytest.approx(0.85, rel=0.05)
    assert sorted(one.start_s for one in made) == [one.start_s for one in made]


def test_the_dumbbell_has_its_delay_and_its_queue():
    world = World()
    draws = Draws("test")
    built = build(world, ["cubic"], draws)
    assert queue_limit(world) == 167
    assert queue_limit(World(buffer=0.25)) == 42
    assert built.base_delay_s[0] == pytest.approx(0.02036, abs=0.016 * 0.02)
    delays = [float(link["delay"].removesuffix("s")) for link in built.scenario["link"][1:3]]
    assert built.base_delay_s[0] == pytest.approx(sum(delays) + 0.004 + 0.00024 + 0.00012)


def test_connections_of_the_workload_are_flows_of_the_engine():
    built = build(World(rate="20Mbps", load=0.3, duration="20s", warmup="5s"), ["cubic", "reno"], Draws("test"))
    both = {one["name"]: one for one in built.scenario["workload"]}
    assert sorted(both) == ["mss1460", "mss496"]
    assert sum(len(one["size"]["bytes"]) for one in both.values()) == built.connections
    assert all(len(one["arrivals"]["at"]) == len(one["size"]["bytes"]) for one in both.values())
    assert {one["cc"] for one in both.values()} == {"reno"}
    assert (built.groups[0], built.groups[1]) == ([0], [])


def test_slowdowns_are_those_of_connections_of_the_interval():
    def connection(start_s, took_s, size=1000):
        return {"workload": "w", "start_s": start_s, "completion_s": took_s, "size_bytes": size, "ideal_fct_s": 0.1}

    flows = [{"start_s": 6.0}, connection(4.9, 9.0), connection(5.0, 0.2), connection(7.0, None), connection(9.0, 0.1)]
    found = slowdowns([*flows, connection(6.0, 0.3, 2_000_000)], 5.0, 10.0)
    assert found["slowdown_S_p50"] == pytest.approx(2.0)
    assert found["slowdown_S_p99"] == pytest.approx(30.0), "one that is not finished counts with its time so far"
    assert found["slowdown_L_p99"] == pytest.approx(3.0)
    assert "slowdown_M_p50" not in found


def test_flows_ask_for_marks_unless_their_algorithm_asks_for_its_own():
    world = World(flows=[1, 1], ecn=["classic", "off"])
    asked = [
        [flow.get("tcp") for flow in build(world, pair, Draws("x")).scenario["flow"][:2]]
        for pair in (["cubic"] * 2, ["dctcp"] * 2)
    ]
    assert asked == [[{"ecn": "classic"}, {"ecn": "off"}], [None, None]]


def test_a_variant_runs_with_settings_of_its_own():
    """`--tcp.start=search`: the flows of the subject have it, beside what the world asks for; the references have not."""
    evaluation = begin("cubic", criteria=["C5"], tcp={"start": "search"})
    subject = evaluation.cast.subject
    assert subject.label == "CUBIC (linux), start search" and "cubic-search" in str(evaluation.folder)
    world = World(flows=[1, 1], ecn=["classic", "off"])
    flows = build(world, [subject.cc, "cubic"], Draws("x")).scenario["flow"][:2]
    assert [flow["tcp"] for flow in flows] == [{"start": "search", "ecn": "classic"}, {"ecn": "off"}]
    assert [flow["cc"] for flow in flows] == [{"name": "cubic", "profile": "linux"}, "cubic"]
    table = read_subject("{ name = 'reno', tcp = { cwnd_validation = 'ratelimited' } }")
    assert table.cc["tcp"] == {"cwnd_validation": "ratelimited"} and read_subject("reno").cc == {
        "name": "reno",
        "profile": "linux",
    }


def test_networks_that_change_marks_are_only_for_those_who_ask_for_marks():
    def run(name):
        return {part.id for part in begin(name, criteria=["C14"]).spec.parts}

    assert (run("prague"), run("bbr")) == ({"E34"}, set())


@pytest.mark.parametrize(("gain", "kept"), [(1.0, True), (1.05, True), (1.3, False)])
def test_a_receiver_that_misleads_may_gain_little_more_than_beside_the_baseline(gain, kept):
    def at(case, factor):
        arms = {"S": factor, "B": 1.2 if factor > 1 else 1.0}
        return [
            {"algorithm": arm, "seed": k, "case": case, "x_goodput_bps": 5e6 * times * (1 + 0.01 * k)}
            for arm, times in arms.items()
            for k in range(5)
        ]

    experiment = definitions().experiments["E33"]
    part = make_part(experiment, points(experiment, "quick"), cast_of("bbr"), 5)
    table = pd.DataFrame([*at("honest", 1.0), *at("8 ACKs a segment", 1.2 * gain * (1 + 1e-9))])
    lines = bounds.lines("receivers", placed([part], {"E33": table}))
    assert [(line.point, line.kept) for line in lines] == [("8 ACKs a segment", kept)]
    assert lines[0].value == pytest.approx(1.2 * gain)


def test_draws_belong_to_the_point_and_not_to_the_algorithm_or_its_neighbours():
    one, two = (build(World(flows=flows), ["cubic", "reno"][: len(flows)], Draws("x")) for flows in ([1], [1, 1]))
    assert one.scenario["flow"][0] == two.scenario["flow"][0]
    other = build(World(flows=[1]), ["cubic"], Draws("y"))
    assert other.scenario["flow"][0]["start"] != one.scenario["flow"][0]["start"]


def test_a_rate_walk_stays_within_its_bounds():
    walk = World(walk={"low": "1Mbps", "high": "40Mbps"}).walk
    rates = [rate for _, rate in rate_walk(walk, 20e6, 60.0, Draws("walk").stream("walk"))]
    assert len(rates) == 600
    assert min(rates) >= 1e6 * (1 - 1e-9)
    assert max(rates) <= 40e6 * (1 + 1e-9)
    steps = np.diff(np.log2(rates))
    assert np.std(steps) == pytest.approx(0.5, abs=0.08)


def test_the_breaker_trips_after_three_windows_of_loss():
    times = np.arange(0, 41.0)
    acked = np.array([np.minimum(times, 40) * 1448 * 100])
    lossy = np.array([np.clip(times - 10, 0, 15) * 20])
    assert breaker_trips(times, acked, lossy)[0] == 1
    assert breaker_trips(times, acked, lossy)[1] == pytest.approx(100 / 600)
    assert breaker_trips(times, acked, np.array([np.clip(times - 10, 0, 10) * 20]))[0] == 0


def test_a_flow_starves_that_has_less_than_its_share_for_ten_seconds():
    times = np.arange(0, 31.0)
    steady = times * 1000.0
    assert not starves(times, steady, 7999.0)
    assert starves(times, steady, 8001.0)
    # Nothing from 12 s to 22 s, and nine seconds of nothing only.
    assert starves(times, np.where(times < 12, steady, np.where(times < 22, 12e3, 12e3 + (times - 22) * 1000)), 800.0)
    assert not starves(times, np.where(times < 12, steady, np.where(times < 20, 12e3, 12e3 + (times - 20) * 1000)), 800.0)


def test_quick_runs_are_as_many_as_specified_and_shared():
    chosen = definitions()
    wanted = {"E1": 120, "E2": 120, "E3": 160, "E4": 80, "E5": 40, "E6": 40, "E8": 60, "E9": 45, "E12": 200}
    for name, count in wanted.items():
        assert len(plan_of(cast_of("bbr"), [chosen.experiments[name]], "quick", 5)) == count, name
    pairs = [chosen.experiments["E3"]]
    own = set(plan_of(cast_of("vegas"), pairs, "quick", 5)) & set(plan_of(cast_of("bbr"), pairs, "quick", 5))
    assert len(own) == 120, "runs of the baselines do not depend on the subject"
    assert len(plan_of(cast_of("cubic"), pairs, "quick", 5)) == 120
    feedback = chosen.experiments_of(chosen.chosen(["C8"]))
    assert len(plan_of(cast_of("bbr"), feedback, "quick", 5)) == 45


def test_every_scenario_of_full_is_accepted_by_the_engine():
    chosen = definitions()
    small = [one for one in chosen.experiments.values() if one.id not in ("E7", "E8", "E28")]
    assert plan_of(cast_of("bbr"), small, "full", 1)
    assert [one.label for one in points(chosen.experiments["E8"], "full")][-1].strip() == "1000 flows"


@pytest.mark.parametrize("suite", [definitions(), tcpeval_definitions()], ids=["RFC 9743", "tcpeval"])
def test_points_of_an_experiment_differ_as_tables_hold_them(suite):
    for experiment in suite.experiments.values():
        for mode in ("quick", "full"):
            found = [repr(axes_of(point)) for point in points(experiment, mode)]
            assert len(set(found)) == len(found), (experiment.id, mode)


def test_every_criterion_reads_what_its_experiments_have():
    chosen = definitions()
    assert list(chosen.criteria) == [f"C{number}" for number in range(1, 28)]
    for criterion in chosen.criteria.values():
        assert set(criterion.experiments) <= set(chosen.experiments)
        for term in (*criterion.terms, *criterion.secondary, *criterion.figures):
            experiment = chosen.experiments[term.experiment]
            assert experiment.id in criterion.experiments
            assert set(term.arms) <= set(experiment.arms)
            matching = [point for mode in ("quick", "full") for point in points(experiment, mode) if point.matches(term.where)]
            assert matching, f"{criterion.id} reads no point of {experiment.id}"
        if criterion.rule == "gap":
            assert criterion.gap


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("bbr5", "'bbr5' is unknown"),
        ("{ name = 'cubic', beta = }", "is not a table"),
        (f"{{ beta = {'[' * 5000}", "is not a table"),
        ("nowhere.py:Foo", "nowhere.py"),
    ],
)
def test_a_wrong_algorithm_is_an_error_with_what_is_allowed(given, message):
    with pytest.raises(InputError, match=message):
        begin(given)


def test_wrong_options_are_errors(tmp_path, capsys):
    assert main(["evaluate", "reno", "--criteria", "C99", "--out", str(tmp_path)]) == 2
    assert "C99" in capsys.readouterr().err
    (tmp_path / "words.toml").write_text('ecn = "none"\nunknown = "x"\n')
    assert main(["evaluate", "reno", "--statement", str(tmp_path / "words.toml"), "--out", str(tmp_path / "o")]) == 2
    assert "unknown" in capsys.readouterr().err
    (tmp_path / "words.toml").write_text('deviations = "None that we know."\n')
    assert read_statement(tmp_path / "words.toml")["deviations"] == "None that we know."


def test_one_criterion_from_end_to_end(tmp_path, capsys):
    command = ["evaluate", "reno", "--criteria", "C8", "--replicates", "2", "--json", "--out", str(tmp_path)]
    assert main(command) == 0
    first = json.loads(capsys.readouterr().out)
    row = first["criteria"][0]
    assert (row["id"], row["verdict"], first["run_now"]) == ("C8", "within bounds", 12)
    assert all(line["kept"] for line in row["bound"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "within bounds" in page
    assert "Reno (linux)" in page
    assert (tmp_path / "scoreboard.md").read_text(encoding="utf-8").startswith("# Reno (linux)")
    # Nothing is run again, and the subject's name changes nothing: Reno is also the second reference.
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["run_now"] == 0
    assert not math.isnan(row["bound"][0]["value"])


def test_a_world_is_planned_once_and_read_once_unless_its_algorithm_may_change(tmp_path, monkeypatch):
    code = Path(__file__).parent / "planted" / "few_acks.py"
    evaluations = [begin(name, criteria=["C8"], replicates=1, out=tmp_path) for name in ("reno", f"{code}:FewAcks")]
    assert evaluations[0].carry_out(ExecutionOptions(jobs=1), quiet=True) > 0
    before, asked = evaluations[0].tables_of_runs(), []
    plans = [one.plan for one in evaluations]
    monkeypatch.setattr(plan, "check_point", lambda *given, make=plan.check_point: asked.append(given[1].label) or make(*given))
    monkeypatch.setattr(Store, "summaries", lambda _, wanted: [] if not wanted else pytest.fail("read twice"))
    for one, known in zip(evaluations, plans, strict=True):
        one._plan = None
        assert one.plan == known
    assert set(asked) == {"S"}
    assert all(before[part].equals(table) for part, table in evaluations[0].tables_of_runs().items())


def test_what_a_plan_does_not_want_is_not_checked(tmp_path):
    evaluation = begin("reno", criteria=["C8"], replicates=1, out=tmp_path)
    evaluation.carry_out(ExecutionOptions(jobs=1), quiet=True)
    with Store(tmp_path) as store:
        one, other = sorted(store.ids())[:2]
        store.execute("UPDATE runs SET wall_s = -1.0 WHERE id = ?", (one,))
        assert (store.damaged([other]), store.damaged([one, other])) == (set(), {one})


def test_a_stopped_evaluation_goes_on_and_gives_the_same_bytes(tmp_path, capsys):
    def command(folder, *more):
        return ["evaluate", "reno", "--criteria", "C20", "--replicates", "2", "--json", "--out", str(tmp_path / folder), *more]

    assert main(command("stopped", "--shard", "1/3")) == 0
    assert main(command("stopped", "--max-hours", "1e-9")) == 1
    assert "runs are stored in " in (said := capsys.readouterr().err) and "are missing; run the same command to continue" in said
    assert main(command("stopped")) == 0
    first = json.loads(capsys.readouterr().out)["run_now"]
    assert main(command("whole")) == 0
    assert 0 < first < json.loads(capsys.readouterr().out)["run_now"]
    files = ["scoreboard.json", "scoreboard.md", "tables/runs.csv"]
    files += [str(path.relative_to(tmp_path / "whole")) for path in (tmp_path / "whole/figures").glob("*.csv")]
    for name in files:
        assert (tmp_path / "stopped" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_replicates_are_added_where_a_row_is_unclear(tmp_path, capsys):
    command = ["evaluate", "reno", "--criteria", "C20", "--replicates", "2", "--json", "--out", str(tmp_path), "--until", "clear"]
    assert main([*command, "--at-most", "8"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["criteria"][0]["verdict"] == "like CUBIC"
    assert found["criteria"][0]["primary"]["n"] == found["replicates_most"] >= 4
    assert (found["replicates"], found["looks"]) == (2, 4)
    assert main([*command, "--shard", "1/2"]) == 2
    assert "--until" in capsys.readouterr().err


def test_several_looks_widen_intervals_and_multiply_p():
    samples = (0.41, 0.43, 0.39, 0.42, 0.40)
    one, three = effect_of(samples, 0.10), effect_of(samples, 0.10, looks=3)
    assert three.p == pytest.approx(3 * one.p)
    assert three.estimate.half_width == pytest.approx(0.01963 * 3.9608 / 2.7764, rel=1e-3), "Student's t at 1 - 0.05 / 3 / 2"
    assert effect_of((0.02, -0.01, 0.03, 0.00, 0.01), 0.03).equivalent
    assert not effect_of((0.02, -0.01, 0.03, 0.00, 0.01), 0.03, looks=3).equivalent


def test_an_interval_without_an_end_names_no_number_of_replicates():
    """What had not happened by the end of a run is only known to be later: an evaluation of BBR could not write its page."""
    found = effect_of((0.1, 0.3, 0.2, 0.4, 0.1, 0.2), 0.05)
    endless = SimpleNamespace(interval=lambda _: Estimate(0.2, 0.1, math.inf, 6))
    assert found.needed > 6 and replace(found, quantity=endless).needed == 0


@pytest.mark.parametrize(
    "given",
    ['{ name = "cubic", profile = "linux26", hystart = true }', '{ name = "cubic", profile = "rfc", hystart_plus_plus = true }'],
)
def test_a_cubic_that_ends_slow_start_itself_has_a_plan(given, tmp_path):
    short = begin(given, out=tmp_path / "out", store=tmp_path / "runs").plan.parts["E40"]
    assert short.runs
