"""What a report leaves out because it would say nothing: digits that are noise, ratios to zero, empty figures, wrong legends."""

import math

import pandas as pd
import pytest

import tonopah as tp
from tonopah import metrics
from tonopah.analysis.comparisons import published_note
from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series
from tonopah.analysis.figure_values import Request, SweptAxis, difference_line
from tonopah.plot.chart import drawn
from tonopah.plot.look import Look
from tonopah.plot.network import describe, legend
from tonopah.report.formatting import difference_text, interval_text
from tonopah.stats import Estimate, Method


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (373.9, 355.1, 395.6, "374 [355, 396] %"),
        (0.0611, -0.03145, 0.1552, "0.061 [-0.031, 0.155] %"),
        (-9.7e-6, -0.002915, 0.002862, "0.0000 [-0.0029, 0.0029] %"),
        (-1.396, -2.812, 0.0262, "-1.40 [-2.81, 0.03] %"),
        (0.0, 0.0, 0.0, "0 [0, 0] %"),
        (12.345, math.nan, math.nan, "12.35 %"),
    ],
)
def test_an_effect_has_the_digits_that_its_interval_allows(value, low, high, text):
    assert interval_text(Estimate(value, low, high, 10), "%") == text


def test_a_difference_without_bounds_is_not_shown():
    assert difference_text(Estimate(99000.0, math.nan, math.nan, 10)) == ""
    assert difference_text(Estimate(5.0, math.nan, math.nan, 1)) == "+5.00 %"


def test_differences_to_a_baseline_near_zero_are_not_drawn():
    # In nine of ten replicates the baseline loses nothing: its mean cannot be told from zero, and Fieller has no interval.
    rows = [
        {"algorithm": label, "seed": k, "x": x, "loss_ratio": loss}
        for k in range(10)
        for x in (1, 2)
        for label, loss in (("a", (1e-6 if k == 0 else 0.0) if x == 1 else 0.01 + k * 1e-4), ("b", 0.02 + k * 1e-4))
    ]
    loss = metrics.metric("loss_ratio")
    made = difference_line(Request("", pd.DataFrame(rows), loss, ["a", "b"], "a", Method()), SweptAxis("x", [1, 2], "X"))
    assert made.series[0].y[0] is None and made.series[0].low[0] is None
    assert made.series[0].y[1] == pytest.approx(95.75, abs=0.01)
    assert "no bounds" in made.caption


def test_the_axis_of_a_share_ends_at_none_and_all():
    one = Series("a", 0, [1.0, 2.0], [0.0, 100.0], [0.0, 100.0], [0.0, 100.0], [5, 5])
    axis = FigureAxis("x", "X", "", [1.0, 2.0], ["1", "2"])
    share = FigureData("line--x--loss_ratio", "", "line", "", "", axis, FigureScale("loss_ratio", "Loss ratio", "%"), [one])
    with drawn(share, Look()) as made:
        assert made.axes[0].get_ylim() == pytest.approx((-5, 105))


def test_a_published_effect_that_no_replicate_shows_has_no_sign():
    note = published_note(6.5, Estimate(0.0, 0.0, 0.0, 50))
    assert note == "the published +6.5 % is absent: no replicate has any difference"


def test_the_legend_speaks_of_labels_only_where_there_are_any():
    star = {"kind": "star", "nodes": 8, "flows": 2, "source": {"rate": "2Mbps", "delay": "1ms"}}
    star["sink"] = {"rate": "2Mbps", "delay": "1ms"}
    mesh = {"kind": "random_wired", "nodes": 5, "flows": 2}
    cell = {"kind": "adhoc", "nodes": 5, "flows": 2, "area": {"x": "100m", "y": "100m"}}
    for world, labelled in ((star, True), (mesh, False), (cell, False)):
        graph = tp.check({"duration": "1s", "network": world})["graph"]
        assert ("Labels give" in legend(graph)) is labelled
        assert "0 links" not in describe(graph)


def test_figures_that_would_be_empty_are_left_out_and_links_have_names(study_document, tmp_path):
    from conftest import toml

    study_document |= {
        "sweep": study_document["sweep"][:1], "quick": {}, "claim": [],
        "figure": [
            {"kind": "line", "x": "network.flows", "y": ["loss_ratio"], "difference": True},
            {"kind": "series", "y": ["queue"]},
        ],
    }  # fmt: skip
    del study_document["scenario"]["network"]["sink"]["loss"]
    for rate, empty in (("2pps", True), ("600pps", False)):
        study_document["scenario"]["traffic"]["app"]["rate"] = rate
        (tmp_path / f"{rate}.toml").write_text(toml(study_document))
        study = tp.Study.load(tmp_path / f"{rate}.toml")
        study.run(quiet=True, out=tmp_path / rate)
        text = study.report().read_text()
        names = {path.stem for path in (tmp_path / rate / "figures").glob("*.csv")}
        assert ("difference--network-flows--loss_ratio" not in names) is empty
        assert "line--network-flows--loss_ratio" in names
        assert ("series--queue" not in names) is empty
        assert ("Queue of link" in text) is not empty
    assert "→ gateway (the longest queue)" in text
