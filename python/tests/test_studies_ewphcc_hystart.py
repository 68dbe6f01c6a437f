"""The shipped studies ewphcc and hystart: reduced to a second they judge every claim by its name."""

import math

import pytest
from conftest import without_scripts

import tonopah as tp
from tonopah.analysis import claims, tables
from tonopah.spec.plan import Run
from tonopah.spec.reader import reduce_spec

CLAIMS = {"ewphcc": [f"E{i}" for i in range(1, 12)], "hystart": [f"H{i}" for i in range(1, 6)]}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_small_run_judges_every_claim(name, tmp_path):
    study = tp.Study.load(name)
    study.spec = without_scripts(reduce_spec(study.spec))
    for part in study.spec.parts:
        part.scenario["duration"] = "500ms"
        # Two of the values: enough for a trend.
        for sweep in part.sweeps:
            sweep.vary.update({axis: values[:2] for axis, values in sweep.vary.items()})
    study.run(quiet=True, out=tmp_path)
    tables = {part.id: study.part_table(part) for part in study.spec.parts}
    verdicts = claims.judge(study.spec, study.plan, tables)
    assert [verdict.claim.id for verdict in verdicts] == CLAIMS[name]
    # A part, metric or label that the runs do not have would leave a test without readings.
    assert all(test.readings for verdict in verdicts for test in verdict.tests)


def run_of(nodes) -> Run:
    return Run("id", "reno", 1, {}, "", f'{{"network": {{"nodes": {nodes}}}}}')


def test_power_and_goodput_per_node_follow_from_the_summary():
    summary = {"network": {"energy_j": 60.0, "goodput_bps": 8e5}, "window_s": [10.0, 30.0]}
    assert tables.network_ratios(run_of(40), summary) == {"energy_power_w": 3.0, "goodput_per_node_bps": 2e4}
    assert tables.network_ratios(run_of('["a", "b"]'), summary)["goodput_per_node_bps"] == 4e5
    wired = {"network": {"energy_j": None, "goodput_bps": 8e5}, "window_s": [0.0, 20.0]}
    assert tables.network_ratios(run_of("null"), wired) == {}


def test_columns_are_selected_by_algorithm_and_point():
    rows = [{"algorithm": a, "seed": s, "n": n, "x": 10 * s + len(a)} for a in ("reno", "cubic") for n in (1, 2) for s in (2, 1)]
    runs = tables.frame(rows, [])
    assert tables.values_at(runs, "x", "cubic", {"n": "2"}).to_dict() == {1: 15, 2: 25}
    assert tables.values_at(runs, "x", "reno", {}).index.tolist() == [1, 1, 2, 2]
    assert tables.values_at(runs, "y", "reno", {}).empty
    assert math.isnan(tables.values_at(tables.frame([{**rows[0], "x": None}], []), "x", "reno", {}).iloc[0])


def test_parts_of_hystart_have_the_windows_that_they_say():
    spec = tp.Study.load("hystart").spec
    own = {part.id: part.scenario["tcp"] for part in spec.parts if part.id in {"lrwpan", "connected", "wide"}}
    assert {name: (tcp["recv_buffer"], tcp["initial_ssthresh"]) for name, tcp in own.items()} == {
        "lrwpan": ("1600B", "1600B"), "connected": ("1600B", "1600B"), "wide": ("20000B", "20000B"),
    }  # fmt: skip
