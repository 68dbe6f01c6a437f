"""One run."""

import json
import math
import pickle

import pytest

import tonopah as tp
from tonopah._core import run
from tonopah.runs.simulation import RunResult


def test_a_run_measures_its_flows(dumbbell):
    result = tp.run(dumbbell)
    flows, network = result.summary["flows"], result.summary["network"]
    assert len(flows) == 2
    # A flow over its own life, which began after 0 ms and 100 ms; all of them over the run.
    assert [flow["lifetime_s"] for flow in flows] == pytest.approx([3.0, 2.9])
    delivered = sum(flow["goodput_bps"] * flow["lifetime_s"] for flow in flows)
    assert network["goodput_bps"] == pytest.approx(delivered / 3.0)
    # Two bulk flows fill most of 2 Mb/s from the first second on.
    assert 1e6 < network["goodput_bps"] < 2e6
    kept = result.summary["conservation"]
    assert kept["sent"] == kept["delivered"] + kept["dropped"] + kept["in_flight"]


def test_the_same_seed_gives_the_same_summary(dumbbell):
    dumbbell["network"]["bottleneck"]["loss"] = {"kind": "packet", "p": 0.01}
    assert tp.run(dumbbell, seed=5).summary == tp.run(dumbbell, seed=5).summary
    assert tp.run(dumbbell, seed=5).summary["network"] != tp.run(dumbbell, seed=6).summary["network"]


def test_the_first_flows_are_those_of_the_whole_summary(dumbbell):
    result, again = tp.run(dumbbell), tp.run(dumbbell)
    first, none = result.summary_of_first(1), result.summary_of_first(0)
    assert (first["flows"], none["flows"], result.flow_count) == (again.summary["flows"][:1], [], 2)
    assert result.summary == again.summary == {**first, "flows": again.summary["flows"]}
    # Also once it was read, and in another process.
    assert pickle.loads(pickle.dumps(result)).summary_of_first(1) == first


def test_of_many_links_the_busiest_are_read(dumbbell):
    result, again = tp.run(dumbbell), tp.run(dumbbell)
    some = result.summary_of_first(1, 3)
    busiest = sorted(again.summary["links"], key=lambda link: -link["utilisation"])
    assert len(busiest) > 3 and some["links"] == busiest[:3]
    assert result.summary_of_first(1, len(busiest))["links"] == again.summary["links"] == result.summary["links"]
    assert result.summary_of_first(1, 3) == some, "also once it was read"
    without = {key: value for key, value in again.summary.items() if key != "links"}
    assert "links" not in RunResult(without, {}).summary_of_first(1, 3), "an engine that tells of no links"


def test_a_summary_in_a_file_is_the_text(dumbbell, tmp_path):
    summary, _ = run(json.dumps(dumbbell), 1)
    text = summary.json()
    summary.write(str(tmp_path / "summary.json"))
    assert (tmp_path / "summary.json").read_text() == text
    assert (json.loads(summary.network()), summary.events) == (json.loads(text)["network"], json.loads(text)["events"])
    with pytest.raises(FileNotFoundError):
        summary.write(str(tmp_path / "none" / "summary.json"))


def test_changes_by_path_reach_the_engine(dumbbell):
    result = tp.run(dumbbell, set={"flow[0].cc": "reno", "duration": "1s"})
    assert [flow["cc"] for flow in result.summary["flows"]] == ["reno", "newreno"]
    assert result.summary["duration_s"] == 1.0


def test_series_are_tables_in_time_order(dumbbell):
    result = tp.run(dumbbell, set={"record": {"series": ["cwnd", "queue"], "every": "50ms"}})
    assert result.names == ["cwnd", "queue"]
    cwnd, queue = result.series("cwnd"), result.series("queue")
    assert list(cwnd.columns) == ["t_s", "flow", "value"]
    assert list(queue.columns) == ["t_s", "link", "value"]
    assert set(cwnd["flow"]) == {0, 1}
    assert cwnd[cwnd["flow"] == 0]["t_s"].is_monotonic_increasing
    assert (cwnd["value"] >= 1000).all()
    # The queue holds 20 packets of at most 1060 bytes.
    assert 0 < queue["value"].max() <= 20 * 1060


def test_a_series_that_was_not_recorded_is_an_error(dumbbell):
    with pytest.raises(tp.InputError, match=r"'cwnd' was not recorded \(recorded: nothing"):
        tp.run(dumbbell).series("cwnd")


def test_errors_of_the_engine_name_file_and_path(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('duration = "1s"\n[network]\nkind = "dumbbell"\npairz = 2\n')
    with pytest.raises(tp.ScenarioError) as caught:
        tp.run(path)
    assert str(caught.value).startswith(f"{path}: network")
    assert "pairz" in str(caught.value)


def test_algorithms_have_sources():
    known = {entry["name"]: entry for entry in tp.algorithms()}
    assert {"newreno", "reno", "cubic"} <= set(known)
    for entry in known.values():
        assert entry["reference"]
        assert all(parameter["source"] for parameter in entry["params"])


def test_numbers_are_finite_or_missing(dumbbell):
    for flow in tp.run(dumbbell).summary["flows"]:
        for name, value in flow.items():
            assert not isinstance(value, float) or math.isfinite(value), name


def test_the_example_of_the_design_runs(tmp_path):
    """An inline table over several lines is TOML 1.1; profile linux takes the algorithm in its linux form."""
    path = tmp_path / "dumbbell.toml"
    path.write_text(
        """
duration = "10s"
[network]
kind       = "dumbbell"
pairs      = 2
access     = { rate = "1Gbps", delay = "1ms" }
bottleneck = { rate = "10Mbps", delay = "18ms",
               queue = { kind = "drop_tail", limit = "33p" },
               loss  = { kind = "nth", data_packets = [300, 303] } }
[tcp]
profile = "linux"
mss     = "1448B"
[[flow]]
from  = "left0"
to    = "right0"
cc    = "cubic"
app   = { kind = "bulk" }
start = "0s"
[record]
series = ["cwnd", "ssthresh", "send_window", "srtt", "queue"]
every  = "10ms"
"""
    )
    result = tp.run(path, seed=1)
    flow = result.summary["flows"][0]
    assert flow["cc_profile"] == "linux"
    assert flow["drops"]["loss"] == 2
    assert list(result.series("send_window").columns) == ["t_s", "flow", "value"]
