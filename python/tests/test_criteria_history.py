"""Criteria are frozen: their hash, the history of a study file, and what is said when the two do not fit."""

import json
import re
from pathlib import Path

import pytest

from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.scenario.document import parse
from tonopah.spec.criteria import changed_since
from tonopah.spec.library import shipped
from tonopah.spec.reader import parse_spec, read_spec, reduce_spec
from tonopah.study.study import Study

DERIVED = {"name": "share", "kind": "jain", "flows": [0, 1]}
TEST = {"metric": "goodput_bps", "difference": {"of": "cubic"}, "above_percent": 0, "over": "network.flows"}


def criteria(document, **changed):
    document = document | {"claim": [{"id": "C1", "text": "More.", "margin_percent": 1, "test": TEST}]} | changed
    return parse_spec(document).criteria


@pytest.mark.parametrize("name", shipped())
def test_shipped_studies_have_an_entry_for_their_criteria(name):
    spec = read_spec(shipped()[name])[0]
    assert spec.history, "a shipped study has a history"
    assert changed_since(spec) == "", f"write an entry with hash {spec.criteria}"


def test_the_changes_of_shipped_studies_are_listed():
    named = {
        name: {claim for entry in read_spec(path)[0].history[1:] for claim in entry.claims} for name, path in shipped().items()
    }
    assert named["hystart"] >= {"H2", "H3", "H5"}
    assert named["ewphcc"] >= {"E2", "E5", "E6"}
    assert named["tcp-fr"] >= {"F5", "F7"} and named["asran"] >= {"A3"}


def test_words_are_no_criteria(study_document):
    plain = criteria(study_document)
    claim = {"id": "C1", "text": "Other words.", "mechanism": "Why.", "margin_percent": 1, "test": TEST}
    assert criteria(study_document, claim=[claim], title="Another", question="Other?") == plain
    assert criteria(study_document, derived=[DERIVED]) == plain, "a derived metric that no claim reads"
    why = [claim | {"test": [TEST, {"not_testable": reason}]} for reason in ("It is hard.", "It is not.")]
    assert criteria(study_document, claim=[why[0]]) == criteria(study_document, claim=[why[1]]) != plain


def test_a_margin_may_stand_at_the_claim_or_at_its_criterion(study_document):
    moved = {"id": "C1", "text": "More.", "test": TEST | {"margin_percent": 1}}
    assert criteria(study_document, claim=[moved]) == criteria(study_document)


@pytest.mark.parametrize(
    "changed",
    [
        {"claim": [{"id": "C1", "text": "More.", "margin_percent": 2, "test": TEST}]},
        {"claim": [{"id": "C1", "text": "More.", "margin_percent": 1, "test": TEST | {"above_percent": 1}}]},
        {"claim": [{"id": "C1", "text": "More.", "margin_percent": 1, "test": TEST | {"metric": "delay_s"}}]},
        {"claim": [{"id": "C1", "text": "More.", "margin_percent": 1, "test": TEST | {"points": "any"}}]},
        {"replicates": 4},
        {"statistic": "median"},
        {"sweep": [{"vary": {"network.flows": [2, 4]}}, {"vary": {"traffic.app.rate": ["400pps", "600pps"]}},
                   {"vary": {"network.flows": [2, 4], "network.nodes": [8, 12]}}]},
    ],
)  # fmt: skip
def test_what_a_claim_is_judged_by_is_in_the_hash(study_document, changed):
    assert criteria(study_document, **changed) != criteria(study_document)


def test_a_derived_metric_that_a_claim_reads_is_in_the_hash(study_document):
    claim = [{"id": "C1", "text": "Fair.", "test": {"metric": "share", "above": 0.9}}]
    found = [
        criteria(study_document, claim=claim, derived=[DERIVED | more]) for more in ({}, {"flows": [0]}, {"label": "Fairness"})
    ]
    assert found[0] != found[1] and found[0] == found[2]


def test_the_size_of_a_run_does_not_change_the_hash(study_file):
    study = Study.load(study_file)
    before = study.spec.criteria
    study.resize(replicates=2)
    assert study.spec.criteria == reduce_spec(study.spec).criteria == before


def entry(date="2026-11-20", digits="0123456789abcdef", **more):
    return {"date": date, "hash": digits, "reason": "Because."} | more


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ([entry("yesterday")], r"history\[0\].date: 'yesterday' is not a date \(like"),
        ([entry("2026-13-01")], r"history\[0\].date: '2026-13-01' is not a date"),
        ([entry(digits="xyz")], r"history\[0\].hash: 'xyz' is not a hash \(16 hexadecimal digits, as `tonopah study criteria`"),
        ([entry(claims=["C3"])], r"history\[0\].claims: 'C3' is unknown \(claims: C1, C2"),
        ([entry(), entry("2026-11-19", "f" * 16)], r"history\[1\].date: 2026-11-19 is before the entry above it"),
        ([entry(), entry()], r"history\[1\].hash: is that of the entry above it"),
        ([{"date": "2026-11-20", "hash": "f" * 16}], r"history\[0\].reason: is missing"),
    ],
)  # fmt: skip
def test_a_wrong_history_is_an_error_with_its_place(study_document, history, message):
    with pytest.raises(InputError, match=message):
        parse_spec(study_document | {"history": history})


def write(path, document):
    from conftest import toml

    path.write_text(toml(document), encoding="utf-8")
    return str(path)


def test_check_and_criteria_say_when_the_criteria_changed(study_document, tmp_path, capsys):
    path = write(tmp_path / "s.toml", study_document | {"history": [entry()]})
    assert main.main(["check", path]) == 0
    assert "note: criteria changed since 2026-11-20 without an entry in [[history]]" in capsys.readouterr().out
    assert main.main(["study", "criteria", path]) == 0
    printed = capsys.readouterr().out
    assert "criteria changed since 2026-11-20" in printed
    digits = re.search(r'^hash   = "(\w+)"$', printed, re.MULTILINE)[1]
    # The entry that was printed puts it in order.
    path = write(tmp_path / "s.toml", study_document | {"history": [entry(), entry("2026-11-21", digits, claims=["C1"])]})
    assert main.main(["check", path, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["criteria"] == {"hash": digits, "changed": False} and not any("criteria" in note for note in facts["notes"])
    assert main.main(["study", "criteria", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["history"][1]["claims"] == ["C1"]


def test_the_report_lists_the_changes_and_what_has_no_entry(study_document, tmp_path):
    study_document |= {"sweep": [], "figure": [{"kind": "bar", "y": ["goodput_bps"]}], "quick": {}}
    study_document["claim"] = [{"id": "C1", "text": "More.", "test": {"metric": "goodput_bps", "above": 1e6}}]
    history = [entry(), entry("2026-11-21", "f" * 16, claims=["C1"]) | {"reason": "The first was <wrong>."}]
    study = Study.load(write(tmp_path / "s.toml", study_document | {"history": history}))
    study.run(out=tmp_path / "out", replicates=2, quiet=True)
    page = study.report(quiet=True).read_text()
    assert "The first was &lt;wrong&gt;." in page and "Criteria changed since 2026-11-21 without an entry in [[history]]" in page
    facts = json.loads((tmp_path / "out" / "verdicts.json").read_text())
    assert facts["criteria"] == {"hash": study.spec.criteria, "date": "2026-11-21", "changed": True, "history": 2}
    # With an entry for the criteria as they are, nothing is said.
    history[1]["hash"] = study.spec.criteria
    study = Study.load(write(tmp_path / "s.toml", study_document | {"history": history}))
    study.run(out=tmp_path / "out", replicates=2, quiet=True)
    page = study.report(quiet=True).read_text()
    assert "riteria changed since" not in page and "History of the criteria" in page


def test_the_example_of_the_manual_has_the_hash_of_its_criteria():
    text = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    examples = [parse(example) for example in re.findall(r"```toml\n(.*?)```", text, re.DOTALL) if "[[history]]" in example]
    assert examples
    for example in examples:
        assert changed_since(parse_spec(example)) == ""
