"""Distributions over packets: from the engine's counts to a table and to figures of kind `cdf`."""

import json

import numpy as np
import pytest

import tonopah as tp
from tonopah.analysis.figure_data import study_figures
from tonopah.errors import InputError
from tonopah.report.embed import page_figure
from tonopah.store.store import Store

FLOWS = [
    {"from": "left0", "to": "right0", "start_jitter": "100ms"},
    {"from": "left1", "to": "right1", "start_jitter": "100ms", "name": "beside"},
]
SCENARIO = {
    "duration": "4s",
    "warmup": "1s",
    "network": {"kind": "dumbbell", "pairs": 2, "bottleneck": {"rate": "10Mbps", "delay": "19ms", "queue": "50p"}},
    "tcp": {"profile": "linux"},
    "flow": FLOWS,
}


def study_of(figures, tmp_path, **more):
    study = tp.Study(
        question="How is the delay distributed?", scenario=SCENARIO, compare=["reno", "vegas"], replicates=5, figure=figures,
        **more,
    )  # fmt: skip
    study.run(quiet=True, out=tmp_path)
    return study


def figures_of(study):
    with Store(study.folder, create=False) as store:
        return study_figures(study.spec, study.plan, store)


def test_a_result_has_the_distribution_that_its_percentiles_are_of():
    result = tp.run({**SCENARIO, "record": {"distributions": ["delay"]}})
    table = result.distribution("delay", "beside")
    assert table["count"].sum() == result.flow("beside").received_packets and table["share"].iloc[-1] == 1
    assert table.loc[(table["share"] >= 0.95).idxmax(), "value_s"] == result.flow(1).delay_p95_s
    both = result.distribution("delay")
    assert both["count"].sum() == sum(result.flow(i).received_packets for i in range(2))
    assert both.equals(result.distribution("delay", [0, "beside"]))
    assert not [name for name in result.flows if name.startswith("distributions")]
    for ask, words in (
        (lambda: result.distribution("dealy"), "one of delay, app_delay, rtt"),
        (lambda: result.distribution("rtt"), 'add "rtt" to record.distributions'),
        (lambda: result.distribution("delay", "besides"), "names: beside"),
        (lambda: result.flow("besides"), "names: beside"),
    ):
        with pytest.raises(InputError, match=words):
            ask()


def test_a_figure_is_the_mean_of_the_replicates_with_an_interval(tmp_path):
    study = study_of(
        [{"kind": "cdf", "y": ["delay"], "flow": "beside"}, {"kind": "cdf", "y": ["rtt"], "flow": "all", "log": "xy"}], tmp_path
    )
    figures = figures_of(study)
    of_delay, above = (
        next(one for one in figures.values() if one.kind == "cdf" and one.y.key == key) for key in ("delay", "rtt")
    )
    assert "beside" in of_delay.caption and "packets" in of_delay.y.label and of_delay.x.title == "One-way delay (ms)"
    with Store(study.folder, create=False) as store:
        part = study.spec.parts[0]
        runs = {run.id: run for run in study.plan.parts[part.id].runs.values() if run.algorithm == part.labels[0]}
        flows = [summary["flows"][1]["distributions"]["delay"] for _, summary in store.summaries(runs)]
    one = of_delay.series[0]
    for x, share in list(zip(one.x, one.y, strict=True))[:: len(one.x) // 7]:
        below = [np.sum(np.array(flow["counts"])[1000 * np.array(flow["values_s"]) <= x]) / sum(flow["counts"]) for flow in flows]
        assert share == pytest.approx(np.mean(below)) and len(flows) == 5
    assert one.y[-1] == 1 and all(low is None or 0 <= low <= share for low, share in zip(one.low, one.y, strict=True))
    assert (
        above.y.log
        and above.x.log
        and above.series[0].y[-1] == 0
        and above.series[0].y == sorted(above.series[0].y, reverse=True)
    )
    json.dumps(page_figure(of_delay), allow_nan=False)
    # The study compares what most ask first besides: a distribution is no answer.
    assert {"bar--goodput_bps", "bar--delay_s"} <= set(figures) and "Goodput" in study.answer


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ({"kind": "cdf", "y": ["delay_s"]}, "is no distribution.*delay, app_delay, rtt"),
        ({"kind": "cdf", "y": ["delay"], "x": "network.bottleneck.delay"}, "it shows the nominal point"),
        ({"kind": "cdf", "y": ["delay"], "flow": "besides"}, "is the name of no flow"),
        ({"kind": "cdf", "y": ["delay"], "difference": True}, "has no meaning for a cdf figure"),
        ({"kind": "cdf", "y": ["delay"], "median": True}, "has no meaning for a cdf figure"),
        ({"kind": "bar", "y": ["delay_s"], "difference": True}, "has no meaning for a bar figure"),
    ],
)
def test_what_a_figure_cannot_show_is_refused(figure, words, tmp_path):
    with pytest.raises(InputError, match=words):
        study_of([figure], tmp_path)
