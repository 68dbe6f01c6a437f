"""Numbers derived from series: on made-up series whose answer is known, and in a study."""

import math

import numpy as np
import pytest

import tonopah as tp
from tonopah.spec import measures
from tonopah.spec.derived import AnyDerived, Jain
from tonopah.spec.reader import parse_spec
from tonopah.spec.validation import validate
from tonopah.study.study import Study


def series(**tracks):
    """Return series of flow 0 sampled every second from 1 s on."""
    return {name: {"t_s": np.arange(1, len(v) + 1.0), "id": np.zeros(len(v), int), "value": np.array(v, float)}
            for name, v in tracks.items()}  # fmt: skip


def parse(**fields):
    return validate(AnyDerived, fields, "derived[0]")


def value_of(name="m", **fields):
    data = fields.pop("data")
    return measures.from_series([parse(name=name, **fields)], data)


@pytest.mark.parametrize(
    ("cwnd", "expected"),
    [
        ([10, 10, 10, 2, 4, 8, 9, 10], (4.0, 0.0)),  # before 3 s: 10; at 7 s again 9
        ([10, 10, 10, 10, 10, 10], (0.0, 0.0)),  # never below
        ([10, 10, 10, 2, 3, 4], (3.0, 1.0)),  # not back at the end: a lower bound, marked
        ([10, 10, 10, 12, 2, 9], (3.0, 0.0)),  # falls later
    ],
)
def test_recovery_is_the_time_until_the_level_before(cwnd, expected):
    found = value_of(kind="recovery", at="3s", before="2s", data=series(cwnd=cwnd))
    assert (found["m"], found["m.censored"]) == expected


def test_recovery_from_the_first_loss_after_the_instant():
    data = series(cwnd=[10, 10, 10, 10, 2, 5, 10], retransmits=[3, 3, 3, 3, 4, 4, 4])
    assert value_of(kind="recovery", at="3s", after="loss", data=data)["m"] == 2.0
    quiet = series(cwnd=[10, 10, 10, 10], retransmits=[3, 3, 3, 3])
    assert value_of(kind="recovery", at="3s", after="loss", data=quiet)["m"] is None


def test_outage_is_the_longest_interval_without_throughput():
    data = series(throughput=[0, 0, 5, 5, 0, 0, 0, 5, 0])
    # A bin is named by its end: bins 5 to 7 reach from 4 s to 7 s.
    assert list(value_of(kind="outage", data=data).values()) == [4.0, 7.0, 3.0]
    assert list(value_of(kind="outage", window=["0s", "4s"], data=data).values()) == [0.0, 2.0, 2.0]
    assert list(value_of(kind="outage", data=series(throughput=[1, 1])).values()) == [None, None, 0.0]


@pytest.mark.parametrize(
    ("ssthresh", "retransmits", "state", "expected"),
    [
        ([20, 20, 12, 12], [0, 0, 0, 0], [0, 0, 0, 0], [1.0, 1.0]),  # HyStart
        ([20, 20, 12, 12], [0, 0, 1, 1], [0, 0, 3, 3], [0.0, 0.0]),  # a loss
        ([20, 12, 12, 6], [0, 1, 1, 1], [0, 0, 0, 0], [1.0, 1.0]),  # a loss, and later an exit
        ([20, 20, 30, 30], [0, 0, 0, 0], [0, 0, 0, 0], [0.0, 0.0]),  # undone: ssthresh rises
        ([20, 20, 12, 12], [0, 0, 0, 0], [0, 4, 4, 0], [0.0, 0.0]),  # a time-out whose retransmission has not left yet
    ],
)
def test_an_exit_is_a_fall_of_ssthresh_without_a_loss(ssthresh, retransmits, state, expected):
    data = series(ssthresh=ssthresh, retransmits=retransmits, state=state)
    assert list(value_of(kind="exit", data=data).values()) == expected
    other = {name: {**columns, "id": columns["id"] + 1} for name, columns in data.items()}
    both = {name: {key: np.concatenate([data[name][key], other[name][key]]) for key in data[name]} for name in data}
    assert value_of(kind="exit", data=both)["m"] == 2 * expected[0]
    assert value_of(kind="exit", flows=[1], data=both)["m"] == expected[0]


def test_an_outage_may_bear_a_little_and_must_last():
    data = series(throughput=[9, 0, 9, 0, 1, 0, 0, 9, 9])
    # Bins 4 to 7 carry 1 at most.
    assert list(value_of(kind="outage", quiet=1.0, data=data).values()) == [3.0, 7.0, 4.0]
    assert list(value_of(kind="outage", at_least="2s", data=data).values()) == [5.0, 7.0, 2.0]
    assert list(value_of(kind="outage", at_least="3s", data=data).values()) == [None, None, 0.0]


def test_recovery_from_the_end_of_an_outage():
    data = series(cwnd=[9, 9, 1, 1, 1, 5, 9, 9], throughput=[5, 5, 0, 0, 0, 5, 5, 5])
    assert value_of(kind="recovery", at="2s", after="outage", data=data)["m"] == 2.0
    assert value_of(kind="recovery", at="2s", after="outage", at_least="4s", data=data)["m"] is None


def test_runs_that_carried_nothing_before_are_left_out():
    asked = {"kind": "outage", "window": ["3s", "6s"], "carrying": ["1s", "3s"]}
    carried = value_of(**asked, data=series(throughput=[0, 0, 4, 0, 0, 4]))
    assert carried == {"m.start_s": 3.0, "m.end_s": 5.0, "m.length_s": 2.0, "m.carried": 1.0}
    idle = value_of(**asked, data=series(throughput=[0, 0, 0, 0, 0, 4]))
    assert idle == {"m.start_s": None, "m.end_s": None, "m.length_s": None, "m.carried": 0.0}


def test_mean_adds_throughput_and_averages_windows():
    two = {"t_s": np.array([1.0, 1, 2, 2]), "id": np.array([0, 1, 0, 1]), "value": np.array([1.0, 3, 5, 7])}
    assert value_of(kind="mean", series="throughput", data={"throughput": two})["m"] == 8.0
    assert value_of(kind="mean", series="cwnd", data={"cwnd": two})["m"] == 4.0
    assert value_of(kind="mean", series="cwnd", flows=[1], window=["1s", "2s"], data={"cwnd": two})["m"] == 7.0


def test_jain_of_a_group():
    flows = [{"flow": i, "goodput_bps": x} for i, x in enumerate((1.0, 5.0, 3.0, 5.0))]
    of = [
        Jain(name="two", kind="jain", flows=[1, 3]),
        Jain(name="all", kind="jain"),
        Jain(name="gone", kind="jain", flows=[0, 9]),
    ]
    found = measures.from_flows(of, flows)
    assert found == {"two": pytest.approx(1.0), "all": pytest.approx(14**2 / (4 * 60)), "gone": None}


def test_average_counts_every_flow_once():
    flows = [{"flow": i, "app_delay_s": x} for i, x in enumerate((1.0, 5.0))]
    of = parse(name="delay", kind="average", metric="app_delay_s")
    assert measures.from_flows([of], flows) == {"delay": 3.0}
    assert measures.from_flows([of], [{"flow": 0, "app_delay_s": None}, flows[1]]) == {"delay": None}


def test_ratio_of_two_sides():
    flows = [{"flow": i, "goodput_bps": x} for i, x in enumerate((3.0, 5.0, 2.0, 0.0))]
    of = [
        parse(name="pair", kind="ratio", flows=[0, 1], to=[2]),
        parse(name="gone", kind="ratio", flows=[0], to=[9]),
        parse(name="nothing", kind="ratio", flows=[0], to=[3]),
    ]
    assert measures.from_flows(of, flows) == {"pair": 2.0, "gone": None, "nothing": None}
    data = rates(a=[8e6, 8e6, 4e6, 4e6], b=[0, 0, 2e6, 6e6])
    assert value_of(kind="ratio", flows=[1], to=[0], window=["1s", "3s"], data=data)["m"] == pytest.approx(1 / 6)
    assert "over flow 1 / that over flow 0" in parse(name="m", kind="ratio", flows=[1], to=[0]).columns()["m"].definition
    for keys, said in ({"flows": [0]}, "to"), ({"to": [0]}, "flows"), ({"flows": [0], "to": []}, "to"):
        with pytest.raises(tp.InputError, match=said):
            parse(name="m", kind="ratio", **keys)


def test_without_the_series_nothing_is_measured():
    found = value_of(kind="outage", data={})
    assert found == {"m.start_s": None, "m.end_s": None, "m.length_s": None}


def test_measures_say_what_they_are():
    recovery = parse(name="back", kind="recovery", at="9.1s", label="Window back")
    shown = recovery.columns()["back"]
    assert (shown.axis, shown.factor) == ("Window back (s)", 1.0)
    assert "from 9.1 s until the congestion window of all flows is back at 90 %" in shown.definition


def test_a_study_stores_them_as_columns(study_document, tmp_path):
    from conftest import toml

    study_document |= {
        "sweep": [],
        "claim": [],
        "quick": {},
        "replicates": 2,
        "figure": [{"kind": "bar", "y": ["early", "fair"]}],
    }
    study_document["derived"] = [
        {"name": "early", "kind": "mean", "series": "throughput", "window": ["1s", "2s"], "label": "Late throughput"},
        {"name": "fair", "kind": "jain", "flows": [0, 1]},
    ]
    (tmp_path / "m.toml").write_text(toml(study_document))
    study = tp.Study.load(tmp_path / "m.toml")
    study.run(quiet=True, out=tmp_path / "out")
    table = study.table()
    assert (table["early"] > 0).all() and table["fair"].between(0.5, 1).all()
    # Runs that are there for their measures keep no series.
    assert len(list((tmp_path / "out" / "series").iterdir())) == 2
    text = study.report().read_text()
    assert "Late throughput" in text and "Time average of the throughput of all flows (sum) from 1 s to 2 s" in text
    before = set(study.plan.runs)
    # Another window is another run; another label is not.
    study.spec.parts[0].derived[0] = parse(**study_document["derived"][0] | {"label": "?"})
    study.resize()
    assert set(study.plan.runs) == before
    study.spec.parts[0].derived[0] = parse(**study_document["derived"][0] | {"window": ["0s", "2s"]})
    study.resize()
    assert not set(study.plan.runs) & before
    assert not math.isnan(table["early"].iloc[0])


def rates(**by_flow):
    """Goodput of flows 0, 1, … sampled every second from 1 s on."""
    columns = {"t_s": [], "id": [], "value": []}
    for flow, values in enumerate(by_flow.values()):
        columns["t_s"] += range(1, len(values) + 1)
        columns["id"] += [flow] * len(values)
        columns["value"] += values
    return {"goodput": columns}


def test_jain_and_average_in_an_interval():
    data = rates(a=[8e6, 8e6, 4e6, 4e6], b=[0, 0, 2e6, 6e6], c=[0, 0, 0, 0])
    late = ["2s", "4s"]
    assert value_of(kind="jain", flows=[0, 1], window=late, data=data)["m"] == 1.0
    assert value_of(kind="jain", window=late, data=data)["m"] == pytest.approx(2 / 3)
    assert value_of(kind="average", window=late, data=data)["m"] == pytest.approx(8e6 / 3)
    assert value_of(kind="jain", flows=[0, 1], window=["0s", "2s"], data=data)["m"] == 0.5
    # Without a sample in the interval, or of a flow, there is no value.
    assert value_of(kind="jain", window=["8s", "9s"], data=data)["m"] is None
    assert value_of(kind="average", flows=[0, 7], window=late, data=data)["m"] is None


def test_only_rates_have_a_value_in_any_interval():
    assert parse(name="m", kind="jain", window=["0s", "2s"], metric="throughput_bps").needs == ("throughput",)
    with pytest.raises(tp.InputError, match=r"window.*delay_s.*goodput_bps or throughput_bps"):
        parse(name="m", kind="average", window=["0s", "2s"], metric="delay_s")


def test_windows_of_metrics_over_flows_in_a_study(study_document, tmp_path):
    study_document |= {"sweep": [], "claim": [], "replicates": 2, "quick": {}}
    study_document["scenario"] = {
        "duration": "6s",
        "network": {"kind": "dumbbell", "pairs": 2, "bottleneck": {"rate": "5Mbps", "delay": "5ms", "queue": "20p"}},
        "flow": [{"from": "left0", "to": "right0"}, {"from": "left1", "to": "right1", "start": "3s"}],
    }
    study_document["figure"] = [{"kind": "bar", "y": ["alone", "both", "jain"]}]
    study_document["derived"] = [
        {"name": "alone", "kind": "jain", "window": ["0s", "3s"]},
        {"name": "both", "kind": "average", "window": ["4s", "6s"]},
    ]
    study = Study.of("windows", parse_spec(study_document), study_document, "windows.toml")
    study.folder = tmp_path
    study.run(quiet=True)
    table = study.table()
    assert table["alone"].between(0.4999, 0.5001).all()
    assert (table["both"] * 2 / 5e6).between(0.85, 1.0).all()


def test_completion_times_are_figures_tables_and_claims(study_document, tmp_path):
    flows = [
        {"from": "left0", "to": "right0", "start": f"{i}s", "app": {"kind": "bulk", "bytes": f"{20 * (i + 1)}kB"}}
        for i in range(4)
    ]
    study_document |= {"sweep": [], "replicates": 3, "quick": {}}
    study_document["scenario"] = {
        "duration": "8s", "network": {"kind": "dumbbell", "bottleneck": {"rate": "5Mbps", "delay": "20ms"}}, "flow": flows,
    }  # fmt: skip
    study_document["figure"] = [
        {"kind": "bar", "y": ["completion_s", "completion_p95_s"]},
        {"kind": "ecdf", "y": ["completion_s"]},
    ]
    test = {"metric": "completion_max_s", "difference": {"of": "cubic"}, "above_percent": 0}
    study_document["claim"] = [{"id": "C1", "text": "Slower", "test": test}]
    study = Study.of("fct", parse_spec(study_document), study_document, "fct.toml")
    study.folder = tmp_path
    study.run(quiet=True)
    runs, each = study.table(), study.table("flow")
    mean = each.groupby(["algorithm", "seed"])["completion_s"].mean()
    of_runs = runs.set_index(["algorithm", "seed"])["completion_s"].sort_index()
    assert list(of_runs) == pytest.approx(list(mean.sort_index()))
    assert (runs["completion_max_s"] >= runs["completion_p50_s"]).all()
    assert (runs["flows_unfinished"] == 0).all()
    text = study.report().read_text(encoding="utf-8")
    assert "Completion time" in text
    assert "not testable" not in text
