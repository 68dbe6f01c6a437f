"""Applications of flows that the kernel carries, and studies of such flows. Nothing asks how fast or how late a machine is."""

import json
import sys
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel carries flows on Linux alone")

from kernel_worlds import real, tonopah, world, written  # noqa: E402

from tonopah import Study, run  # noqa: E402
from tonopah.errors import InputError, RunFailedError, ScenarioError  # noqa: E402
from tonopah.execution.options import ExecutionOptions  # noqa: E402
from tonopah.kernel import classes, draws, engines, linux, machine, plan, ranks, writers  # noqa: E402


def asking(**more):
    """Return a flow of requests."""
    think, work = {"kind": "exponential", "mean": "20ms"}, {"kind": "pareto", "mean": "5ms", "shape": 1.5}
    app = {"kind": "request_response", "requests": 4, "responses": ["20kB", "5kB"], "response_writes": ["200B"]}
    return {"from": "left0", "to": "right0", "app": app | {"think": think, "server_time": work} | more}


TALK = {"kind": "on_off", "rate": "400kbps", "size": "500B", "on": "300ms", "off": {"kind": "exponential", "mean": "100ms"}}


@real
def test_applications_write_and_answer_as_those_of_a_simulation(tmp_path):
    """The same messages at the same draws: bytes are equal, times are the kernel's."""
    document = world(pairs=2, flows=0) | {"tcp": {"profile": "linux", "cc": "cubic"}, "duration": "4s"}
    both = {"kind": "both", "up": "50kB", "down": "20kB"}
    apps = [TALK, {**TALK, "transport": "udp", "ecn": "ect0"}]
    apps += [{"kind": "script", "writes": [["100ms", "20kB"], ["300ms", "1448B", {"every": "100ms", "until": "700ms"}]]}]
    apps += [{"kind": "transfer", "size": "30kB", "direction": {"kind": "down"}}, {"kind": "transfer", "size": "30kB"}]
    apps += [{"kind": "transfer", "direction": both}]
    flows = [{"from": "left0", "to": "right0", "app": app, "stop": "1300ms"} for app in apps]
    document["flow"] = [*flows, asking(), {**asking(requests=1000), "stop": "1s"}]
    done = tonopah("run", written(tmp_path, document), "--on", "linux", "--keep-late", "--json", "--seed", "3")
    assert done.returncode == 0, done.stderr
    found, simulated = json.loads(done.stdout), run(document, seed=3).summary
    known = [[flow["delivered_bytes"] for flow in one["flows"]] for one in (found, simulated)]
    # The last one asks until it stops.
    assert known[0][:-1] == known[1][:-1]
    assert [flow["completion_s"] is None for flow in found["flows"]] == [True, True, True, False, False, False, False, True]
    backwards = [[(flow.get("reverse") or {}).get("delivered_bytes") for flow in one["flows"][:-1]] for one in (found, simulated)]
    assert backwards[0] == backwards[1]
    *_, requests, endless = found["flows"]
    assert (requests["requests"], requests["connections_opened"], requests["request_p99_s"]) == (4, 1, None)
    assert 0 < requests["request_s"] <= requests["request_max_s"] < requests["completion_s"]
    assert requests["request_cwnd_bytes"] >= 1448
    assert 0 < endless["requests"] < 1000
    assert endless["unfinished_s"] > 0
    assert (found["network"]["flows_unfinished"], found["network"]["completion_known_share"]) == (1, 0.8)
    assert found["network"]["completion_max_s"] >= endless["unfinished_s"] > found["network"]["completion_p50_s"] > 0


WORKLOAD = {
    "name": "w",
    "from": ["left*"],
    "to": ["right*"],
    "arrivals": {"kind": "poisson", "rate": "8/s"},
    "size": {"kind": "exponential", "mean": "10kB"},
    "stop": "1s",
}


@real
def test_flows_of_a_workload_arrive_as_in_a_simulation(tmp_path):
    document = world(pairs=2, flows=1) | {"tcp": {"profile": "linux", "cc": "cubic"}, "duration": "3s"}
    down = {"kind": "transfer", "direction": "down"}
    document |= {"workload": [WORKLOAD, {**WORKLOAD, "name": "d", "app": down, "dscp": "AF11"}], "warmup": "500ms"}
    done = tonopah("run", written(tmp_path, document), "--on", "linux", "--keep-late", "--json")
    assert done.returncode == 0, done.stderr
    carried, simulation = json.loads(done.stdout), run(document).summary
    found = [flow for flow in carried["flows"] if flow.get("workload")]
    simulated = [flow for flow in run(document | {"warmup": "0s"}).summary["flows"] if flow.get("workload")]
    said = ("from", "to", "start_s", "app", "size_bytes", "workload", "class", "ideal_fct_s")
    assert len(found) > 8
    assert [[flow[key] for key in said] for flow in found] == [[flow[key] for key in said] for flow in simulated]
    assert all(flow["fct_s"] > (flow["ideal_fct_s"] or 0) / 2 for flow in found)
    assert all(flow["slowdown"] == flow["fct_s"] / flow["ideal_fct_s"] for flow in found if flow["workload"] == "w")
    for own, theirs in zip(carried["workloads"], simulation["workloads"], strict=True):
        assert list(own) == list(theirs)
        for key in (
            "name",
            "app",
            "arrived",
            "arrival_rate_per_s",
            "size_mean_bytes",
            "started",
            "bytes",
            "finished",
            "offered_bps",
        ):
            assert own[key] == theirs[key], key
        assert own["fct_s"] <= own["fct_p95_s"] <= own["fct_max_s"]
        assert [(one["class"], one["started"]) for one in own["classes"]] == [
            (one["class"], one["started"]) for one in theirs["classes"]
        ]
    assert "completion_s" not in carried["network"]
    assert carried["network"]["flows_alive_max"] >= carried["workloads"][0]["alive_max"] >= 1


def test_flows_of_a_workload_are_summarized_by_class_and_time():
    flows = [
        {"start_s": start, "fct_s": fct, "slowdown": fct, "ideal_fct_s": 1.0, "size_bytes": 1000, "workload": "w"}
        for start, fct in ((0.5, 1.0), (1.5, 0.5), (1.75, 1.0), (3.0, 0.5))
    ]
    times = SimpleNamespace(warmup_s=1.0, duration_s=4.0, cooldown_s=0.5)
    assert classes.alive(flows, times) == (2, (0.5 + 0.5 + 1.0 + 0.5) / 3)
    # The first arrived in the warm-up.
    assert classes.together(flows, times) == {"slowdown_mean": pytest.approx(2 / 3), "flows_alive_max": 2}
    known = classes.of_flows(flows, times)
    assert (known["fct_s"], known["fct_p50_s"], known["fct_max_s"], known["fct_p99_s"]) == (0.75, 0.5, 1.0, None)
    assert (known["finished"], known["unfinished"], known["fct_known_share"]) == (4, 0, 1.0)
    late = classes.of_flows([*flows, {**flows[0], "start_s": 3.5, "fct_s": None, "slowdown": None}], times)
    assert (late["finished"], late["unfinished"], late["unfinished_age_max_s"]) == (4, 1, 0.5)
    assert (late["fct_p50_s"], late["fct_max_s"], late["fct_known_share"]) == (1.0, 1.0, 0.8)


def test_times_of_what_has_not_ended_count_as_longer():
    """Remission times of 21 patients (Freireich et al. 1963), as in crates/sim/src/metrics/product_limit.rs."""
    times = ranks.Times([6] * 3 + [7, 10, 13, 16, 22, 23], [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35])
    surviving = [round(left, 3) for time, left in times.steps if time > 6 or left < 0.86]
    assert surviving == [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448]
    assert (times.known, times.longest) == (9 / 21, 35)
    assert [times.quantile(share) for share in (0.25, 0.5, 0.9)] == [13, 16, 32]
    assert [ranks.Times([1, 2, 3], []).quantile(share) for share in (0.5, 0.99)] == [2, 3]
    assert (ranks.Times([1, 2, 3], []).mean(), ranks.Times([1, 1], [3]).mean()) == (2, pytest.approx(5 / 3))
    assert (ranks.Times([], []).mean(), ranks.Times([], []).quantile(0.5)) == (None, None)


WORKLOADS_REFUSED = (
    ({"arrivals": {"kind": "closed", "users": 2, "think": "1s"}}, "workload[0].arrivals.kind"),
    ({"app": {"kind": "request_response"}}, "workload[0].app.kind"),
    ({"priority": 0}, "workload[0].priority"),
    ({"tcp": {"initial_window": "20000B"}}, "workload[0].tcp.initial_window"),
    ({"arrivals": {"kind": "constant", "rate": "2000/s"}, "size": {"kind": "constant", "bytes": "1B"}}, "flow"),
)


@pytest.mark.parametrize(("more", "path"), WORKLOADS_REFUSED)
def test_a_workload_that_waits_for_the_network_or_that_no_kernel_can_carry_is_refused(more, path, monkeypatch):
    monkeypatch.setattr(plan, "available", lambda: ["reno", "cubic"])
    document = world(pairs=2, flows=0) | {"tcp": {"profile": "linux", "cc": "cubic"}, "workload": [{**WORKLOAD, **more}]}
    with pytest.raises(ScenarioError) as refused:
        plan.planned(document, None, 1)
    assert refused.value.path == path


def study_of(scenario=None, **more):
    """Return a study by the kernel: a world of one flow, two algorithms."""
    network = {"kind": "dumbbell", "pairs": 1, "flows": 1, "bottleneck": {"rate": "5Mbps", "delay": "5ms"}}
    own = {"duration": "1s", "tcp": {"profile": "linux"}, "network": network} | (scenario or {})
    document = {"question": "Does it?", "engine": "linux", "replicates": 2, "vary": False, "scenario": own}
    return Study.load(document | {"compare": {"cc": ["cubic", "reno"]}} | more)


def test_runs_by_the_kernel_are_others_than_simulated_ones_and_than_those_of_another_kernel(monkeypatch):
    found = [study_of().plan, study_of(engine="tonopah").plan]
    monkeypatch.setattr(linux.platform, "release", lambda: "9.9")
    found.append(study_of().plan)
    assert len({run for plan in found for run in plan.runs}) == sum(len(plan.runs) for plan in found)
    assert [len(plan.engines) for plan in found] == [1, 0, 1]
    assert found[2].engines == ["linux 9.9"]
    # Nothing else is random in this world.
    assert [plan.parts[""].replicates for plan in found] == [2, 2, 2]
    quiet = {"traffic": {"start_jitter": "0s"}}
    assert [study_of(quiet, engine=engine).plan.parts[""].replicates for engine in ("linux", "tonopah")] == [2, 1]
    parts = study_of(part=[{"id": "a"}, {"id": "b", "engine": "tonopah"}]).plan.parts
    assert [{run.engine for run in parts[part].runs.values()} for part in "ab"] == [{"linux 9.9"}, {""}]


REFUSED_STUDIES = (
    ({"scenario": {"tcp": {"profile": "rfc"}}}, {}, "scenario.tcp.profile"),
    ({"scenario": {"flow": [{"from": "left0", "to": "right0", "app": {"kind": "page"}}]}}, {}, "scenario.flow[0].app.kind"),
    ({"scenario": {"record": {"series": ["send_window"]}}}, {}, "scenario.record.series"),
    ({"compare": {"cc": ["cubic", {"python": "tonopah.examples.reno:Reno"}]}}, {}, "scenario.tcp.cc"),
    ({"engine": "windows"}, {}, "engine"),
    ({}, {"executor": "dask"}, "executor"),
)


@pytest.mark.parametrize(("more", "options", "path"), REFUSED_STUDIES)
def test_a_study_that_no_kernel_carries_is_refused_before_anything_starts(more, options, path, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "available", lambda: ["reno", "cubic"])
    monkeypatch.setattr(machine, "lacking", lambda: pytest.fail("the machine is asked last"))
    with pytest.raises(InputError) as refused:
        study_of(**more).run(out=tmp_path / "results", quiet=True, options=ExecutionOptions(**options))
    assert refused.value.path == path
    assert not list(tmp_path.glob("results/series/*"))


@real
def test_a_study_runs_by_the_kernel_and_its_report_says_so(tmp_path):
    study, options = study_of(), ExecutionOptions(keep_late=True)
    # Two algorithms, two replicates each, and one run each for its series.
    assert study.run(out=tmp_path, quiet=True, options=options) == 6
    assert study.run(out=tmp_path, quiet=True, options=options) == 0
    (engine,) = study.plan.engines
    page = study.report(quiet=True).read_text(encoding="utf-8")
    assert f"flows carried by {engine}" in page
    assert json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))["engines"] == [engine]
    table = study.table()
    assert list(table["algorithm"]) == ["cubic", "cubic", "reno", "reno"]
    assert (table["delivered_bytes"] > 0).all()


def test_a_run_of_a_study_whose_packets_were_late_has_failed_unless_it_is_kept(monkeypatch):
    report = {"lateness": {"late": True, "p99_s": 0.01, "bound_s": 0.001}}
    result = SimpleNamespace(summary={"resolved": {}, "flows": []}, columns={}, report=report)
    monkeypatch.setattr(engines, "module_of", lambda _: SimpleNamespace(run=lambda *_: result))
    with pytest.raises(RunFailedError, match="99 of 100 packets were up to 10 ms late"):
        engines.carry("linux 9.9", "{}", 1, False)
    assert engines.carry("linux 9.9", "{}", 1, True) == ('{"flows":[],"resolved":{}}', {})


def test_random_numbers_are_those_of_the_engine():
    stream = draws.Stream(1, "x")
    stream.state = [1, 2, 3, 4]
    # From the generator's published definition, as in crates/tcp/src/rng.rs.
    assert [stream.bits() for _ in range(4)] == [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]
    assert draws.seed_of(7, {}) == 7
    assert draws.seed_of(7, {"draws": "a"}) != 7


def ticks(writer, start, number):
    """Return the times of so many writes after the first, in milliseconds after the start."""
    writer.start(start)
    now, found = start, []
    while len(found) < number and (after := writer.next(now)):
        now = after[0]
        found.append(round(1e3 * (now - start)))
    return found


def test_writers_write_at_the_times_of_the_engine():
    """As in the tests of crates/sim/src/host/app."""
    pause = {"kind": "constant", "length": "10ms"}
    messages = {"rate": "250pps", "size": "100B"}
    on_off = writers.OnOff({**messages, "on": pause, "off": pause}, draws.Stream(1, "app"))
    assert ticks(on_off, 0.0, 6) == [4, 8, 20, 24, 28, 40]
    phases = [{"at": "250ms"}, {"at": "1s", "rate": "100pps"}]
    cbr = {"rate": "10pps", "size": "100B", "phases": phases}
    assert ticks(writers.Cbr(cbr), 5.0, 4) == [100, 200, 1000, 1010]
    late = writers.Cbr(cbr)
    late.start(0.0)
    assert round(1e3 * late.next(1.203)[0]) == 1210
    script = {"writes": [["0s", "7B"], ["10ms", "1B", {"every": "5ms", "until": "25ms"}], ["12ms", "2B"]]}
    assert ticks(writers.Script(script), 5.0, 9) == [10, 12, 15, 20, 25]
    assert writers.Script(script).start(5.0) == 7
