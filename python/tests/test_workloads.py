"""Workloads from Python: files, tables, metrics of studies and what the terminal shows."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

import tonopah as tp
from tonopah.errors import InputError, LimitError
from tonopah.metrics import metric
from tonopah.runs.summary import workload_columns
from tonopah.scenario.workload_files import read_arrivals, read_sizes
from tonopah.spec.columns import check_metric, of_workloads
from tonopah.spec.reader import parse_spec
from tonopah.terminal.run_tables import run_tables, workload_grids

WORLD: dict[str, Any] = {
    "duration": "8s",
    "warmup": "1s",
    "network": {"kind": "dumbbell", "pairs": 3, "bottleneck": {"rate": "10Mbps", "delay": "5ms"}},
    "tcp": {"cc": "cubic"},
    "record": {"series": ["alive", "arrivals", "offered", "carried"], "every": "1s"},
    "workload": [
        {
            "name": "web", "from": ["left*"], "to": ["right*"], "size": {"kind": "exponential", "mean": "20kB"},
            "arrivals": {"kind": "poisson", "load": 0.5, "link": ["r0", "r1"]},
        }
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def result() -> tp.Result:
    return tp.run(WORLD)


def test_a_result_has_tables_of_workloads_and_series_that_agree(result):
    table = result.workloads
    assert list(table["class"]) == ["all", "10kB", "100kB", "1MB", "10MB", "larger"]
    every = result.workload("web")
    assert every.started == table["started"][1:].sum() and every.finished + every.unfinished == every.started
    assert every.slowdown > 1 and result.workload("web", "10kB").slowdown > 1
    with pytest.raises(InputError, match="there is no class 'huge' of a workload 'web'"):
        result.workload("web", "huge")
    flow = result.flow(0)
    assert flow.workload == "web" and flow.slowdown == pytest.approx(flow.fct_s / flow.ideal_fct_s)
    arrivals, offered, carried = (result.series(name) for name in ("arrivals", "offered", "carried"))
    # The bins from the warm-up to the last sample, 1 s to 7 s.
    flows = result.flows[result.flows["start_s"] <= 7]
    assert arrivals["value"][1:].sum() == len(flows)
    assert offered["value"][1:].sum() == 8 * flows["size_bytes"].sum()
    assert carried["value"][1:].mean() == pytest.approx(result.summary["workloads"][0]["carried_bps"], rel=0.1)
    assert list(arrivals.columns) == ["t_s", "workload", "value"]
    assert result.series("alive")["value"].max() <= result.summary["workloads"][0]["alive_max"]


def test_a_report_draws_series_of_workloads(study_document, tmp_path):
    scenario = WORLD | {"duration": "2s", "record": {"series": ["alive", "queue"], "every": "10ms"}}
    figure = {"kind": "series", "y": ["alive", "queue"], "flow": "all"}
    study_document |= {"scenario": scenario, "sweep": [], "claim": [], "quick": {}, "replicates": 1, "figure": [figure]}
    study = tp.Study.of("web", parse_spec(study_document), study_document, "web.toml")
    study.folder = tmp_path
    study.run(quiet=True)
    assert {key.split("--")[1] for key in study.figures()} == {"alive", "queue"}


def test_metrics_of_workloads_have_names_labels_and_definitions(result):
    measured, known = workload_columns(result.summary), of_workloads(WORLD)
    assert set(measured) == set(known), "what runs have is what claims may name"
    assert "workload.web.class.10kB.slowdown_p99" in known and "workload.web.fct_p50_s" in known
    assert all(metric(name).definition for name in known)
    shown = metric("workload.web.class.10kB.slowdown_p99")
    assert shown.label == "Slowdown, 99th percentile [web, up to 10kB]" and shown.bounds == (0.0, float("inf"))
    assert of_workloads({"workload": [{"name": "w", "classes": ["1.5kB"]}]})[-1].startswith("workload.w.class.larger.")
    assert "workload.w.class.1500B.fct_s" in of_workloads({"workload": [{"name": "w", "classes": ["1.5kB"]}]})
    with pytest.raises(InputError, match=r"is unknown.*workload\.web.class.10kB.slowdown_p99"):
        check_metric("workload.web.class.10kb.slowdown_p99", "claim[0].metric", "run", known)


@pytest.mark.parametrize(
    ("app", "prefix", "words"),
    [
        ({"kind": "request_response", "requests": 2}, "request", "request "),
        ({"kind": "page", "protocol": "h2", "objects": 4, "html": "2kB"}, "page_load", "page load "),
    ],
)
def test_users_have_the_metrics_of_their_application(app, prefix, words):
    world = {**WORLD, "record": {}, "workload": [{**WORLD["workload"][0], "app": app}]}
    summary = tp.run(world).summary
    measured = workload_columns(summary)
    assert set(measured) == set(of_workloads(world))
    mean, p95 = (measured[f"workload.web.{prefix}{part}_s"] for part in ("", "_p95"))
    assert 0.01 < mean < p95 <= measured["workload.web.fct_max_s"], "at least the round trip of 10 ms"
    assert all(metric(name).definition for name in measured)
    assert words in workload_grids(summary)[0].note and measured["workload.web.slowdown"] is None


def test_a_study_judges_completion_times(tmp_path):
    study = tp.Study(
        question="Are small flows slow?",
        scenario={**WORLD, "record": {}},
        compare={"cc": ["cubic", "reno"]},
        replicates=6,
        claim=[{"id": "C1", "text": "not very", "test": {"metric": "workload.web.class.10kB.slowdown", "below": 50}}],
        figure=[{"kind": "ecdf", "y": ["slowdown"]}, {"kind": "bar", "y": ["workload.web.slowdown_p95"]}],
    )
    study.run(out=tmp_path)
    study.report(quiet=True)
    verdicts = json.loads((tmp_path / "verdicts.json").read_text())
    assert "workload.web.class.10kB.slowdown" in study.table().columns
    assert {"workload", "class", "slowdown"} <= set(study.table("flow").columns)
    assert [claim["verdict"] for claim in verdicts["claims"]] == ["supported"]


def test_the_terminal_shows_a_table_of_each_workload_within_80_columns(result):
    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, width=80)
    for table in run_tables(result.summary, 80):
        console.print(table)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "Workload web" in text and "≤ 10kB" in text and "load offered 0." in text
    assert "flow  from" not in text, "flows of workloads are not listed one by one"


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("0 0\n1000 0.5\n3000 1\n", [[0, 0], [1000, 0.5], [3000, 1]]),
        ("# sizes\n1000,50\n3000,100\n", [[1000, 0.5], [3000, 1]]),
        ("1 1 0.15\n2 2 1.0\n", [[1, 0.15], [2, 1]]),
    ],
)
def test_files_of_sizes(text, points):
    assert read_sizes(text.encode(), "sizes.txt") == points


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 0\n1000 0.5\n", "line 2.*the last probability is 0.5"),
        ("1000 0.5\n900 1\n", "line 2.*is below the line before it"),
        ("1000 0.5\n\n2000 0.4\n3000 1\n", "line 3.*is below"),
        ("1000 1\n", "has 1 points"),
        ("0 0\n2e12 1\n", "line 2.*the size 2e.12 is wrong"),
        ("0 0\nabc 1\n", "line 2.*is not a size and a probability"),
        ("0 0\nnan 1\n", "line 2.*is not a size"),
        ("", "has 0 points"),
        ("0 0\n5 101\n", "line 2.*the last probability is 101"),
    ],
)
def test_wrong_files_of_sizes(text, message):
    with pytest.raises(InputError, match=message):
        read_sizes(text.encode(), "sizes.txt")


def test_files_of_arrivals():
    rows = read_arrivals(b"t_s,from,bytes\n0.5,left1,1000\n\n0.5,,2000\n", "a.csv")
    assert rows == [["500000000ns", "left1", None, "1000B"], ["500000000ns", None, None, "2000B"]]
    for text, message in [
        ("time\n1\n", "line 1: 'time' is not the header"),
        ("t_s,t_s\n", "line 1"),
        ("t_s\n1\n0.5\n", "line 3: '0.5' is wrong"),
        ("t_s,bytes\n1,1.5\n", "line 2: the size '1.5' is wrong"),
        ("t_s,bytes\n1\n", "line 2"),
        ("t_s\n", "has 0 arrivals"),
        ("t_s\n-1\n", "line 2"),
    ]:
        with pytest.raises(InputError, match=message):
            read_arrivals(text.encode(), "a.csv")


def test_a_scenario_reads_its_files(tmp_path: Path):
    (tmp_path / "sizes.txt").write_text("1000 0.5\n3000 1\n")
    (tmp_path / "arrivals.csv").write_text("t_s,to\n0.25,right2\n0.5,right0\n")
    workload = {
        "name": "web", "from": ["left0"], "to": ["right*"], "size": {"kind": "cdf", "file": "sizes.txt"},
        "arrivals": {"kind": "list", "file": "arrivals.csv"},
    }  # fmt: skip
    path = tmp_path / "world.toml"
    from tonopah.scenario.document import to_toml

    path.write_text(to_toml({"duration": "2s", "network": {"kind": "dumbbell", "pairs": 3}, "workload": [workload]}))
    summary = tp.run(path).summary
    assert [flow["to"] for flow in summary["flows"]] == ["right2", "right0"]
    assert summary["workloads"][0]["size_mean_bytes"] == 1500.0
    assert len(summary["resolved"]["workload"][0]["size"]["sha256"]) == 64
    (tmp_path / "sizes.txt").write_text("1000 0.5\n3000 0.9\n")
    with pytest.raises(InputError, match=r"line 2.*the last probability is 0.9"):
        tp.run(path)
    (tmp_path / "sizes.txt").unlink()
    with pytest.raises(InputError, match=r"workload\[0\].size.file.*sizes.txt cannot be read"):
        tp.run(path)


def test_too_many_flows_end_a_run_with_its_time():
    flood = {
        **WORLD["workload"][0], "arrivals": {"kind": "constant", "rate": "1000000/s"},
        "size": {"kind": "constant", "bytes": "1MB"},
    }  # fmt: skip
    with pytest.raises(LimitError, match=r"too_many_alive: 100000 flows exist at once at 0\.10"):
        tp.run({**WORLD, "record": {}, "workload": [flood]})
