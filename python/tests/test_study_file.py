"""Study files: every key is checked, and every error names its place."""

import pytest

import tonopah as tp
from tonopah.scenario.paths import put
from tonopah.spec.reader import parse_spec, reduce_spec


def test_a_study_is_read(study_document):
    spec = parse_spec(study_document)
    assert spec.parts[0].labels == ["newreno", "cubic"]
    assert spec.parts[0].sweeps[0].vary == {"network.flows": [2, 4, 6]}
    assert spec.parts[0].figures[0].difference
    assert spec.claims[0].tests[0].trend == "increasing"
    assert spec.claims[1].tests == ()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("quetsion", "?", "quetsion: unknown key (allowed: question, title, headline, text, scenario, compare, baseline"),
        ("baseline", "vegas", "baseline: 'vegas' is unknown (allowed: newreno, cubic)"),
        ("replicates", 0, "replicates: 0 is out of range"),
        ("replicates", True, "replicates: True is not a whole number"),
        ("replicates", 10**9, "replicates: 1000000000 is out of range"),
        ("compare.cc", [], "compare.cc: is empty"),
        ("compare.cc", ["newreno", "newreno"], "compare.cc: 'newreno' appears twice"),
        ("compare.cc", ["newreno", 3], "compare.cc[1]: 3 is not an algorithm"),
        ("sweep.0.vary", {}, "sweep[0].vary: varies nothing"),
        ("sweep.0.vary", {"network.flows": 3}, "sweep[0].vary.network.flows: 3 is not an array"),
        ("sweep.0.valeus", [1], "sweep[0].valeus: unknown key (allowed: vary, label)"),
        ("figure.0.kind", "pie", "figure[0].kind: 'pie' is unknown (allowed: line, bar"),
        ("figure.0.x", "network.nodes", "figure[0]: no sweep varies network.nodes alone (sweeps: network.flows; "),
        ("figure.7.y", ["srtt"], "figure[7].y[0]: 'srtt' is unknown (recorded by scenario.record.series: cwnd, queue)"),
        ("claim.0.test.trend", "up", "claim[0].test[0].trend: 'up' is unknown"),
        ("claim.0.test.above", 1, "claim[0].test[0]: needs exactly one condition"),
        ("claim.0.test.over", "tcp.mss", "claim[0].test[0].over: no sweep varies tcp.mss alone"),
        ("claim.1.id", "C1", "claim: two claims have the same id"),
        ("assumed", [{"parameter": "x", "value": "1"}], "assumed[0].reason: is missing"),
        ("quick.values", {"tcp.mss": [1]}, "quick.values: 'tcp.mss' is unknown"),
        (
            "scenario.flow",
            [{"from": "a", "to": "b", "cc": "reno"}],
            "compare.cc: has no effect: every flow of the scenario",
        ),
    ],
)
def test_what_is_wrong_is_named(study_document, path, value, message):
    put(study_document, path, value)
    with pytest.raises(tp.InputError) as caught:
        parse_spec(study_document)
    assert message in str(caught.value)


def test_an_algorithm_may_be_a_table(study_document):
    study_document["compare"]["cc"] = ["newreno", {"name": "cubic", "profile": "linux", "beta": 0.8}]
    assert parse_spec(study_document).parts[0].labels[1] == "cubic linux beta=0.8"


def test_quick_reduces_replicates_values_and_duration(study_document):
    reduced = reduce_spec(parse_spec(study_document)).parts[0]
    assert reduced.replicates == 2
    assert reduced.scenario["duration"] == "1s"
    assert reduced.sweeps[0].vary == {"network.flows": [2, 6]}
    assert reduced.sweeps[1].vary == {"traffic.app.rate": ["400pps", "600pps"]}


def test_a_scenario_in_a_file_of_its_own(study_document, tmp_path):
    from tonopah.scenario.document import to_toml

    (tmp_path / "world.toml").write_text(to_toml(study_document["scenario"]))
    study_document["scenario"] = {"file": "world.toml"}
    path = tmp_path / "study.toml"
    path.write_text(to_toml(study_document))
    assert tp.Study.load(path).spec.parts[0].scenario["duration"] == "2s"
    (tmp_path / "world.toml").unlink()
    with pytest.raises(tp.InputError, match=r"scenario.file: .*world.toml cannot be read: no such file"):
        tp.Study.load(path)
