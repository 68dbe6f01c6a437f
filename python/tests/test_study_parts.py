"""Studies of several parts: what a part takes from the file, variants, shared runs, and errors that name the part."""

import copy

import pytest

import tonopah as tp
from tonopah.scenario.paths import put
from tonopah.spec.part import merge
from tonopah.spec.plan import make_plan
from tonopah.spec.reader import parse_spec, reduce_spec


@pytest.fixture
def parts(study_document):
    """Two parts: the star of the file with two sweeps, and a dumbbell of its own."""
    document = study_document
    document["claim"] = []
    sweeps = copy.deepcopy(document["sweep"][:2])
    document["part"] = [
        {"id": "star", "title": "Star", "sweep": sweeps, "figure": document["figure"][:2], "replicates": 2},
        {
            "id": "pairs", "scenario": {"network": {"kind": "dumbbell", "pairs": 2, "flows": 2}, "record": {"every": "20ms"}},
            "compare": {"variant": [
                {"label": "cubic + newreno", "set": {"tcp.cc": "newreno", "network.pairs": 2}},
                {"label": "no hystart", "set": {"tcp.cc": {"name": "cubic", "hystart": False}}},
            ]},
            "sweep": [], "figure": [], "statistic": "median",
        },
    ]  # fmt: skip
    return document


def test_a_part_has_what_it_states_and_else_what_the_file_states(parts):
    star, pairs = parse_spec(parts).parts
    assert (star.replicates, pairs.replicates) == (2, 3)
    assert star.labels == ["newreno", "cubic"]
    assert pairs.labels == ["cubic + newreno", "no hystart"]
    # The file's baseline is not compared here, so the first is taken.
    assert (star.baseline, pairs.baseline) == ("newreno", "cubic + newreno")
    assert pairs.scenario["duration"] == "2s"
    # A table of another kind replaces the file's; others are merged.
    assert set(pairs.scenario["network"]) == {"kind", "pairs", "flows"}
    assert pairs.scenario["record"] == {"series": ["cwnd", "queue"], "every": "20ms"}
    assert star.method.statistic == "mean" and pairs.method.statistic == "median"


def test_merging_leaves_both_as_they_were():
    default, own = {"a": {"kind": "x", "b": [1]}, "c": {"d": 1, "e": 2}}, {"a": {"kind": "y"}, "c": {"e": 3}}
    assert merge(default, own) == {"a": {"kind": "y"}, "c": {"d": 1, "e": 3}}
    assert default["c"]["e"] == 2


def test_without_figures_of_series_the_representative_runs_show_window_and_queue(parts):
    parts["part"][1]["scenario"]["record"] = {"series": []}
    plan = make_plan(parse_spec(parts))
    run = plan.parts["pairs"].representative["no hystart"]
    assert '"series": ["cwnd", "queue"]' in run.scenario
    assert parse_spec(parts).parts[1].figures[-1].kind == "series"


def test_parts_share_their_runs(parts):
    parts["part"].append({**parts["part"][0], "id": "again", "compare": {"variant": [
        {"label": "the same", "set": {"tcp.cc": "newreno"}}, {"label": "twice", "set": {"tcp.cc": "newreno"}},
    ]}})  # fmt: skip
    plan = make_plan(parse_spec(parts))
    star, again = plan.parts["star"], plan.parts["again"]
    assert {run.id for run in again.runs.values()} < {run.id for run in star.runs.values()}
    # Each label has its own row of the run that both are.
    assert {label for label, _ in again.runs} == {"the same", "twice"}
    assert len(again.runs) == len(star.runs)


def test_a_variant_changes_any_path(parts):
    parts["part"][1]["compare"]["variant"][0]["set"] = {"flow.0.cc": "reno"}
    with pytest.raises(tp.InputError, match=r"part pairs.*with cubic \+ newreno"):
        make_plan(parse_spec(parts))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("part.1.id", "star", "part: two parts have the same id"),
        ("part.0.sceanrio", {}, "part[0].sceanrio: unknown key"),
        ("part.0.sweep.0.vary", {}, "part[0].sweep[0].vary: varies nothing"),
        ("part.0.statistic", "mode", "part[0].statistic: 'mode' is unknown (allowed: mean, median)"),
        ("part.1.baseline", "vegas", "part[1].baseline: 'vegas' is unknown"),
        ("part.1.compare", {}, "part[1].compare.cc: is missing"),
        ("part.1.compare.variant.0.set", {"tcp..cc": 1}, "tcp..cc: is not a path"),
        ("part.1.compare.variant.1.label", "cubic + newreno", "appears twice"),
        ("part.1.derived", [{"name": "m", "kind": "mode"}], "part[1].derived[0].kind: 'mode' is unknown (allowed: recovery"),
        ("part.1.derived", [{"name": "m", "kind": "recovery"}], "part[1].derived[0].at: is missing"),
        ("part.1.derived", [{"name": "delay_s", "kind": "jain"}], "'delay_s' cannot be the name of a column"),
        ("part.1.derived", [{"name": "m", "kind": "outage", "window": ["5s", "2s"]}], "window: ends before it begins"),
        ("part.1.derived", [{"name": "m", "kind": "mean", "series": "cwnd", "window": ["5", "9s"]}], "'5' is not a time"),
        ("part.0.figure.0.x", ["network.flows", "tcp.mss"], "no sweep varies tcp.mss alone"),
        ("claim", [{"id": "C", "text": "t", "test": {"metric": "jain", "above": 0}}], "test[0].part: is missing (parts"),
        ("missing", [{"what": "figure 3"}], "missing[0].reason: is missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_part(parts, path, value, message):
    put(parts, path, value)
    with pytest.raises(tp.InputError) as caught:
        make_plan(parse_spec(parts))
    assert message in str(caught.value)


def test_one_request_draws_over_several_axes(study_document):
    study_document["figure"] = [{"kind": "line", "x": ["network.flows", "traffic.app.rate"], "y": ["delay_s"]}]
    assert [figure.x for figure in parse_spec(study_document).parts[0].figures] == ["network.flows", "traffic.app.rate", None]


def test_quick_may_change_any_path_and_skips_axes_that_a_part_lacks(parts):
    parts["quick"] = {"values": {"network.flows": [2]}, "set": {"duration": "500ms"}}
    star, pairs = reduce_spec(parse_spec(parts)).parts
    assert star.sweeps[0].vary == {"network.flows": [2]}
    assert pairs.scenario["duration"] == "500ms"
    assert parts["scenario"]["duration"] == "2s"


def test_a_study_of_parts_runs_and_reports_each(parts, tmp_path):
    from conftest import toml

    (tmp_path / "two.toml").write_text(toml(parts))
    study = tp.Study.load(tmp_path / "two.toml")
    study.run(quiet=True, quick=True, out=tmp_path / "out")
    table = study.table()
    assert list(table.columns[:4]) == ["part", "run", "algorithm", "seed"]
    assert set(table["part"]) == {"star", "pairs"}
    # An axis that a part does not have is empty there.
    assert table[table["part"] == "pairs"]["traffic.app.rate"].isna().all()
    text = study.report().read_text()
    assert 'id="part--star--sweep-1"' in text and 'id="part--pairs--default"' in text
    assert (tmp_path / "out" / "figures" / "star--line--network-flows--goodput_bps.csv").is_file()
    assert tp.Study.open(tmp_path / "out").missing() == 0
