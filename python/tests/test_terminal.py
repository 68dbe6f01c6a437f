"""What `tonopah run` and `tonopah metrics` show in terminals of any width: every number, none cut."""

import json

import pytest

import tonopah as tp
from tonopah.analysis.tables import part_tables
from tonopah.cli import main
from tonopah.metrics import METRICS, metric
from tonopah.metrics.applications import APPLICATIONS
from tonopah.metrics.transports import TRANSPORTS
from tonopah.scenario.document import to_toml
from tonopah.spec.columns import columns, describe, flatten
from tonopah.store.store import Store
from tonopah.terminal.grid import cell, cells, fit
from tonopah.terminal.run_tables import FLOW_COLUMNS, MARKED, NETWORK_COLUMNS, flow_grid

WIDTHS = (60, 80, 100, 160)


def show(capsys, monkeypatch, width, *arguments):
    monkeypatch.setenv("COLUMNS", str(width))
    assert main.main(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.fixture
def scenario(dumbbell, tmp_path):
    path = tmp_path / "dumbbell.toml"
    path.write_text(to_toml(dumbbell))
    return str(path)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_number_is_cut_at_any_width(capsys, monkeypatch, scenario, width):
    more = ("--set", "tcp.ecn=classic", "--set", "network.bottleneck.queue.mark_threshold=5", "--set", "network.flows=30")
    summary = json.loads(show(capsys, monkeypatch, width, "run", scenario, "--json", *more))
    out = show(capsys, monkeypatch, width, "run", scenario, *more)
    assert max(map(len, out.splitlines())) <= width
    assert out.count("…") == 1 and "12 more" in out
    words = out.split()
    for flow in summary["flows"][:20]:
        for value in cells(flow, [*FLOW_COLUMNS, MARKED]):
            assert value in words or value == "–"
        assert flow["from"] in out and flow["to"] in out and flow["cc"] in words
    for value in cells(summary["network"], NETWORK_COLUMNS):
        assert value in words
    for column in ("goodput", "p95", "retransm.", "srtt", "timeouts", "marked", "fairness", "utilisation"):
        assert column in words


def test_columns_that_do_not_fit_continue_below_with_the_number_of_the_flow(capsys, monkeypatch, scenario):
    wide, narrow = (show(capsys, monkeypatch, width, "run", scenario).splitlines() for width in (160, 60))
    assert [sum(line.split()[:1] == ["0"] for line in lines) for lines in (wide, narrow)] == [1, 2]


def test_long_names_are_folded_beside_their_numbers(dumbbell):
    summary = tp.run(dumbbell).summary
    summary["flows"][0]["from"] = "a" * 100
    grid = flow_grid(summary, 2)
    assert all(fit(grid, width) for width in WIDTHS)


def test_a_flow_that_ends_shows_when_it_was_complete(capsys, monkeypatch, scenario):
    assert "completion" not in show(capsys, monkeypatch, 80, "run", scenario)
    ends = ("--set", 'flow.0.app={ kind = "bulk", bytes = "20kB" }')
    summary = json.loads(show(capsys, monkeypatch, 80, "run", scenario, "--json", *ends))
    out = show(capsys, monkeypatch, 80, "run", scenario, *ends)
    assert "completion" in out
    assert cell(summary["flows"][0]["completion_s"], 1.0) in out.split()


def test_metrics_are_listed_with_unit_and_definition(capsys, monkeypatch):
    listed = json.loads(show(capsys, monkeypatch, 80, "metrics", "--json"))
    by_name = {entry["name"]: entry for entry in listed}
    assert "flow" in by_name["completion_s"]["of"] and by_name["completion_s"]["unit"] == "s"
    assert by_name["jain"]["of"] == ["run"] and by_name["cwnd"]["of"] == ["series"]
    assert all(entry["definition"] for entry in listed), [e["name"] for e in listed if not e["definition"]]
    out = show(capsys, monkeypatch, 80, "metrics")
    first_words = [line[:30].split()[:1] for line in out.splitlines()]
    assert {name: first_words.count([name]) for name in by_name} == dict.fromkeys(by_name, 1)
    assert "RFC 7679" in show(capsys, monkeypatch, 80, "metrics", "delay_p95_s")
    assert json.loads(show(capsys, monkeypatch, 80, "metrics", "jain", "--json")) == by_name["jain"]


@pytest.mark.parametrize(("written", "meant"), [("delay", "delay_s"), ("goodput_mbps", "goodput_bps"), ("dleay_s", "delay_s")])
def test_an_unknown_metric_is_answered_with_the_nearest(capsys, written, meant):
    assert main.main(["metrics", written]) == 2
    assert f"did you mean {meant}" in capsys.readouterr().err


def test_every_metric_that_the_package_defines_can_be_named_and_no_other():
    # What other tools count has their name before it: flowmonitor.drop_ratio.
    assert set(METRICS) - {"drop_ratio"} == set(columns().all)


def test_the_list_has_every_column_of_the_tables(study_file, tmp_path):
    study = tp.Study.load(study_file)
    study.run(quick=True, out=tmp_path / "out", quiet=True)
    part = study.spec.parts[0]
    with Store(study.folder, create=False) as store:
        runs, flows = part_tables(part, study.plan.parts[part.id], store)
    axes = {axis for sweep in part.sweeps for axis in sweep.vary}
    known = columns()
    assert set(runs.columns) - {"run", "algorithm", "seed"} - axes <= set(known.runs)
    texts = {"run", "algorithm", "seed", "flow", "from", "to", "cc", "cc_profile", "transport", "app"}
    of_links = {name for name in known.flows if name.startswith("reorder_")}
    of_links |= {"reordered_ratio", "duplicated_packets", "undelivered_bytes", "unfinished_s", *TRANSPORTS}
    of_links |= {"resumed", "jump_bytes", "retreats"}
    of_workloads = {"size_bytes", "fct_s", "ideal_fct_s", "slowdown", "handshake_s", "first_byte_s"}
    assert set(flows.columns) - texts - axes == set(known.flows) - of_links - of_workloads - set(APPLICATIONS)
    assert metric("delay_s").unit == "ms" and describe("delay_s")["unit"] == "s"
    assert flatten({"a": {"b": 1}, "c": 2}) == {"a.b": 1, "c": 2}


def test_an_algorithm_fits_eighty_columns_without_a_word_that_is_cut(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main.main(["algorithms", "cubic"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines) and "…" not in "".join(lines) and len(lines) < 120
    written = "".join(line.strip() for line in lines)
    assert 'profile = "linux"' in written and all(name in written for name in ("slow_start_at_threshold", "HYSTART_DELAY_THRESH"))
