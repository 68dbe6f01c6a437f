"""Applications: what a run shows of them, and that the examples of docs/applications.md run."""

import json
import re
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.cli import main
from tonopah.metrics import METRICS
from tonopah.metrics.applications import APPLICATION_COLUMNS, APPLICATIONS
from tonopah.spec.columns import columns
from tonopah.terminal.grid import cells
from tonopah.terminal.run_tables import application_grids

PAGE = Path(__file__).parents[2] / "docs" / "applications.md"
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_every_metric_of_an_application_is_defined_and_shown():
    assert set(APPLICATIONS) <= set(columns().flows)
    assert all(METRICS[name].definition for name in APPLICATIONS)
    shown = {key for table in APPLICATION_COLUMNS.values() for _, key, _, _ in table}
    assert shown - {"breaker_rule"} <= set(APPLICATIONS)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: re.findall(r'kind = "(\w+)"', text)[-1])
def test_the_examples_of_the_page_run_and_show_what_they_measure(example, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "example.toml"
    path.write_text(example)
    assert main.main(["run", str(path), "--set", "duration=12s"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert main.main(["run", str(path), "--set", "duration=12s", "--json"]) == 0
    flows = json.loads(capsys.readouterr().out)["flows"]
    for app, table in APPLICATION_COLUMNS.items():
        for flow in (flow for flow in flows if flow["app"] == app and "connection_of" not in flow):
            assert all(value in out.split() or value == "–" for value in cells(flow, table))


def test_data_in_reverse_is_shown(dumbbell):
    app = {"kind": "transfer", "size": "50kB", "direction": "both"}
    summary = tp.run(dumbbell | {"flow": [{"from": "left0", "to": "right0", "app": app}]}).summary
    grids = application_grids(summary)
    assert [grid.title for grid in grids] == ["Data in reverse"]
    assert "50.00" in grids[0].rows[0]


def test_what_an_application_measured_is_in_the_typed_summary_of_its_flow():
    app = {"kind": "request_response", "requests": 5}
    network = {"kind": "dumbbell", "pairs": 1}
    flow = tp.run({"duration": "5s", "network": network, "flow": [{"from": "left0", "to": "right0", "app": app}]}).flow(0)
    assert flow.application["requests"] == 5 and flow.application["request_p50_s"] > 0 and hash(flow)
    bulk = tp.run({"duration": "1s", "network": network | {"flows": 1}}).flow(0)
    assert not {"requests", "mos"} & set(bulk.application)
