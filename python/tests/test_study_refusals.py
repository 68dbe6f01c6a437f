"""What a study file may not contain, and the words in which it is refused: old keys, slips of the pen, and hostile values."""

import copy
import json
import math
import time

import pytest

import tonopah as tp
from tonopah.cli.main import main
from tonopah.scenario.paths import put
from tonopah.spec.reader import parse_spec
from tonopah.spec.schema import json_schema
from tonopah.spec.validation import RENAMED, RENAMED_METRICS


def refusal(document):
    with pytest.raises(tp.InputError) as caught:
        parse_spec(document)
    return str(caught.value)


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
@pytest.mark.parametrize("where", ["", "part[0]."])
def test_a_renamed_key_names_the_new_one(study_document, old, new, where):
    table = study_document
    if where:
        study_document["part"] = [{"id": "star"}]
        table = study_document["part"][0]
    table[old] = []
    assert refusal(study_document) == f"{where}{old}: has a new name (write {new})"
    assert new in json_schema()["properties"]


@pytest.mark.parametrize(("old", "new"), RENAMED_METRICS.items())
def test_a_renamed_metric_names_the_new_one(study_document, old, new):
    study_document["figure"][0]["y"] = ["goodput_bps", f"{old}.delay_s"]
    assert refusal(study_document) == f"figure[0].y: '{old}.delay_s' has a new name (write {new}.delay_s)"
    study_document["figure"][0]["y"] = ["goodput_bps"]
    study_document["claim"][0]["test"]["metric"] = old
    assert f"'{old}' has a new name (write {new})" in refusal(study_document)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("quetsion", "?", "quetsion: unknown key (allowed: question, title"),
        ("quetsion", "?", "; did you mean question?)"),
        (
            "figure.0.kind",
            "lines",
            "figure[0].kind: 'lines' is unknown (allowed: line, bar, scatter, ecdf, cdf, heatmap, series, table; did",
        ),
        ("figure.0.against", "delay_s", "figure[0].against: has no meaning for a line figure"),
        (
            "figure.3",
            {"kind": "scatter", "y": ["goodput_bps"]},
            "figure[3].against: is missing (of a scatter figure, `against` is the",
        ),
        (
            "figure.3",
            {"kind": "scatter", "y": ["goodput_bps"], "against": "delay"},
            "figure[3].against: 'delay' is unknown (did you mean delay_s",
        ),
        ("baseline", "newrenoo", "(allowed: newreno, cubic; did you mean newreno?)"),
        ("claim.0.test.margin", 3, "claim[0].test[0].margin: unknown key (allowed: metric, part, trend"),
        ("claim.0.test.paired", True, "claim[0].test[0].paired: has meaning between parts only (algorithms of a part are always"),
        ("claim.0.test.points", "each", "claim[0].test[0].points: has no meaning without difference or parts"),
        ("claim.0.test.above_percent", 3, "claim[0].test[0].above_percent: has no meaning without a difference"),
        ("claim.0.test.at", {"network.flows": 2}, "claim[0].test[0].at: unknown key"),
        (
            "claim.0.test",
            {"metric": "jain", "trend": "flat"},
            "claim[0].test[0].over: is missing (the axis along which the",
        ),
        ("claim.0.test", {"metric": "jain", "above": 1, "margin_percent": 1}, "margin_percent: has no meaning for a bound"),
        ("claim.0.test", {"above": 1}, "claim[0].test[0].metric: is missing"),
        ("claim.0.test", {"metric": [], "above": 1}, "claim[0].test[0].metric: is empty"),
        ("claim.0.test", {"metric": ["jain", 3], "above": 1}, "claim[0].test[0].metric[1]: 3 is not text"),
        ("claim.0.test", {"metric": "jain", "above": "1"}, "claim[0].test[0].above: '1' is not a number"),
        (
            "claim.0.test",
            {"metric": "jain", "above": 1, "algorithm": "vegas"},
            "claim[0].test[0]: 'vegas' is unknown (allowed:",
        ),
        ("claim.0.test", {"metric": "jain", "order": ["cubic"]}, "claim[0].test[0].order: needs two algorithms or more"),
        ("claim.0.test", {"metric": "jain", "difference": {"of": "cubic"}}, "claim[0].test[0]: needs exactly one bound of the"),
        ("claim.0.test", {"metric": "jain", "difference": {"to": "cubic"}, "above_percent": 0}, "difference.of: is missing"),
        ("claim.0.test", {"metric": "jain", "difference": {"of": "newreno"}, "above_percent": 0}, "compares newreno with itself"),
        (
            "claim.0.test",
            {"metric": "jain", "difference": {"of": "cubic"}, "above_percent": 0, "algorithm": "cubic"},
            "claim[0].test[0].algorithm: stands beside difference (difference.of names the algorithms)",
        ),
        (
            "claim.0.test",
            {"metric": "jain", "difference": {"of": "cubic"}, "within_percent": 0},
            "claim[0].test[0].within_percent: 0 is out of range (0.001 to 1000)",
        ),
        (
            "claim.0.test",
            {"metric": "jain", "difference": {"of": "cubic"}, "above_percent": 0, "points": "each"},
            "claim[0].test[0].points: has no meaning without over (the axis whose points are meant)",
        ),
        (
            "claim.0.test",
            {"metric": "jain", "above": 0, "over": "network.flows", "at": {"network.flows": 2}},
            "claim[0].test[0].at: stands beside over (one point, or all points of an axis)",
        ),
        ("claim.0.test", {"metric": "jain", "above": 0, "at": {"network.flows": 3}}, "test[0].at.network.flows: '3' is unknown"),
        (
            "claim.0.test",
            [{"not_testable": "x", "metric": "jain"}],
            "claim[0].test[0].metric: unknown key (allowed: not_test",
        ),
        ("claim.0.not_testable", "because", "claim[0].not_testable: stands beside tests"),
        ("derived", [{"kind": "jain"}], "derived[0].name: is missing"),
        ("derived", [{"name": "m"}], "derived[0].kind: is missing (allowed: recovery, outage"),
        (
            "derived",
            [{"name": "m", "kind": "mean", "series": "cwdn"}],
            "derived[0].series: 'cwdn' is unknown (did you mean cwnd? one of cwnd, ",
        ),
        ("derived", [{"name": "m", "kind": "jain", "series": "cwnd"}], "derived[0].series: unknown key (allowed: name, label"),
        ("derived", [{"name": "m", "kind": "jain"}] * 2, "derived: 'm' appears twice"),
        ("compare.variant", [{"label": "x", "set": {"a b": 1}}], "compare.variant[0].set.a b: is not a path (like network.flows"),
        ("figure.0.x", 3, "figure[0].x: 3 is not text"),
    ],
)
def test_what_is_wrong_is_named(study_document, path, value, message):
    put(study_document, path, value)
    assert message in refusal(study_document)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


HOSTILE = [
    None, True, 0, -1, 2**70, 2**100_000, 1e308, math.nan, math.inf, "", "x" * 10**6, "\x00", "\ud800", b"bytes", object(),
    [], [[]], {}, {"": 0}, {3: 4}, [None] * 10**5, list(range(10**5)), {str(i): i for i in range(10**4)}, nested(400),
    nested(20_000), [{"id": "a"}] * 10**4,
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_value_is_accepted_or_refused_in_short(study_document, value):
    study_document["derived"] = [{"name": "m", "kind": "recovery", "at": "1s"}]
    study_document["published"] = [{"id": "T", "caption": "c", "columns": [{"name": "a"}], "rows": [["x"]]}]
    places = [
        *study_document, "part", "sweep.0.vary", "sweep.0.label", "figure.0.x", "figure.0.y", "claim.0.test", "claim.0.test.over",
        "claim.0.test.metric", "compare.cc", "compare.variant", "quick.values", "quick.replicates", "derived.0.flows",
        "derived.0.at", "derived.0.kind", "derived.0.share", "derived.0.carrying", "published.0.rows", "published.0.given",
        "published.0.columns", "published.0.claims", "scenario.record", "text",
    ]  # fmt: skip
    for path in places:
        document = copy.deepcopy(study_document)
        put(document, path, value)  # not copied: it may be nested deeper than copying goes
        started = time.process_time()
        try:
            parse_spec(document)
        except tp.InputError as error:
            assert len(str(error)) < 2_000, path
            assert "Error" not in str(error), path
        assert time.process_time() - started < 2, path
    if not isinstance(value, dict):
        with pytest.raises(tp.InputError):
            parse_spec(value)


def test_a_refused_study_ends_the_command_with_2(study_document, tmp_path, capsys):
    from conftest import toml

    study_document["claim"][0]["test"]["trend"] = "up"
    path = tmp_path / "wrong.toml"
    path.write_text(toml(study_document))
    assert main(["check", str(path)]) == main(["study", "run", str(path)]) == 2
    assert f"error: {path}: claim[0].test[0].trend: 'up' is unknown (allowed: increasing," in capsys.readouterr().err


def test_the_schema_is_printed(capsys):
    assert main(["study", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["required"] == ["question"] and not schema["additionalProperties"]
    assert '"null"' not in json.dumps(schema)
