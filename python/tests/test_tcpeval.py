"""`tonopah evaluate --tcpeval`: the scenarios of draft-irtf-iccrg-tcpeval, and connections that the engine draws."""

import json

import numpy as np
import pytest

from tonopah.cli.main import main
from tonopah.errors import ScenarioWarning
from tonopah.judge import workload
from tonopah.judge.definitions import World, points, tcpeval_definitions
from tonopah.judge.evaluation import begin
from tonopah.judge.metrics import measure
from tonopah.judge.workload import Draws
from tonopah.judge.worlds import build
from tonopah.study.run import run


def test_the_distribution_of_sizes_is_that_of_the_draws():
    values, shares = np.array(workload.sizes()).T
    assert np.all(np.diff(shares) > 0)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    mean = np.sum(np.diff(shares) * (values[1:] + values[:-1]) / 2)
    assert mean == pytest.approx(workload.MEAN_BYTES, rel=0.02)
    stream = Draws("another").stream("connections")
    drawn = np.sort([workload.one_connection(0.0, stream).size for _ in range(10_000)])
    apart = np.abs(np.interp(drawn, values, shares) - (np.arange(10_000) + 0.5) / 10_000)
    assert apart.max() < 0.0163 + 0.0052, "Kolmogorov's bound at 1 % for 10 000 draws, and the distance of the points"


def test_every_scenario_is_accepted_and_every_term_reads_one():
    suite = tcpeval_definitions()
    evaluation = begin("bbr3", mode="tcpeval", replicates=1)
    # The access scenario at a load of 85 % with its queue of 100 ms is one of B1 and of B2, with seeds of their own.
    assert len(evaluation.plan.runs) == 3 * (15 + 5 + 3 + 2 + 36)
    for criterion in suite.criteria.values():
        assert criterion.gap if criterion.rule == "gap" else criterion.terms
        for term in (*criterion.terms, *criterion.secondary, *criterion.figures):
            assert set(term.arms) <= set(suite.experiments[term.experiment].arms)
            assert any(point.matches(term.where) for point in points(suite.experiments[term.experiment], "tcpeval"))


def test_connections_that_the_engine_draws_have_the_load_and_metrics_of_their_group():
    world = World(
        rate="20Mbps", limit=167, flows=0, background=False, loads=[0.4, 0.1], duration="30s", warmup="5s",
        edges=[["0ms"], ["10ms", "20ms"]],
    )  # fmt: skip
    built = build(world, ["cubic", "reno"], Draws("x"))
    assert [one["cc"] for one in built.scenario["workload"]] == ["cubic", "cubic", "reno", "reno"]
    summary = run(built.scenario, seed=1).summary
    assert summary["flows"] == []
    arrived = {one["name"]: one["arrived"] for one in summary["workloads"]}
    for name, share in (("x-mss1460", 0.9 * 0.4), ("x-mss496", 0.1 * 0.4), ("y-mss1460", 0.9 * 0.1)):
        expected = 30 * share * 20e6 / (8 * workload.MEAN_BYTES * workload.HEADERS)
        assert abs(arrived[name] - expected) < 4 * expected**0.5, name
    values = measure(built, summary, 5.0)
    full = next(one for one in summary["workloads"] if one["name"] == "x-mss1460")
    assert values["slowdown_S_p50"] == full["classes"][0]["slowdown_p50"] >= 0.99
    assert values["x_each_goodput_bps"] == full["goodput_mean_bps"]
    assert {"y_each_goodput_bps", "y_slowdown_S_p50", "y_unfinished", "link_wait_s"} <= set(values)


def test_datagrams_in_steps_start_one_after_the_other_and_count_as_one():
    app = {"kind": "cbr", "transport": "udp", "rate": "2Mbps", "size": "1472B"}
    world = World(rate="2Mbps", background=False, cross=[{"app": app, "start": "1s", "count": 2, "every": "4s"}])
    built = build(world, ["cubic"], Draws("x"))
    assert [float(flow["start"].removesuffix("s")) for flow in built.scenario["flow"][1:]] == [1.0, 5.0]
    # Together they exceed the line, and nothing moves their phase.
    with pytest.warns(ScenarioWarning, match="constant-rate sources"):
        summary = run(built.scenario, seed=1).summary
    one, two = (flow["loss_ratio"] for flow in summary["flows"][1:])
    assert one != two
    assert measure(built, summary, 10.0)["cross_loss"] == pytest.approx((one + two) / 2)


def test_the_command_names_the_draft_and_refuses_what_does_not_go_with_it(tmp_path, capsys):
    assert main(["evaluate", "reno", "--tcpeval", "--size", "full", "--out", str(tmp_path)]) == 2
    assert "--tcpeval" in capsys.readouterr().err
    assert main(["evaluate", "reno", "--tcpeval", "--criteria", "C2", "--out", str(tmp_path)]) == 2
    assert "T1" in capsys.readouterr().err
    assert main(["evaluate", "reno", "--tcpeval", "--criteria", "T3", "--json", "--out", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["document"], found["criteria"][0]["verdict"]) == ("draft-irtf-iccrg-tcpeval-01", "not tested")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "along draft-irtf-iccrg-tcpeval-01" in page
    assert "For your specification" not in page
