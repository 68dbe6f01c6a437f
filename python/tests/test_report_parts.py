"""What a report shows beyond figures: published tables and their findings, claims with readings, partitions, all studies."""

import json
import time

import pandas as pd
import pytest

import tonopah as tp
from tonopah.cli import main, study_run
from tonopah.report.part import partitions
from tonopah.report.tables import without_path


@pytest.fixture
def document(study_document):
    study_document |= {"sweep": study_document["sweep"][:1], "figure": [study_document["figure"][3]], "quick": {}}
    return study_document


def load(document, tmp_path, name="small"):
    from conftest import toml

    (tmp_path / f"{name}.toml").write_text(toml(document))
    study = tp.Study.load(tmp_path / f"{name}.toml")
    study.folder = tmp_path / name
    return study


def test_published_tables_claims_and_what_is_missing_are_shown(document, tmp_path):
    document["claim"] = [
        {"id": "R1", "text": "Read twice", "test": {"metric": ["goodput_bps", "energy_j"], "above": 1}},
        {"id": "R2", "text": "Why", "not_testable": "No simulator models that."},
    ]
    document["missing"] = [{"what": "Figure 24", "reason": "Its numbers are blank."}]
    document["published"] = [{
        "id": "T1", "caption": "Fifty iterations", "columns": [
            {"name": "algorithm"}, {"name": "delivery", "is": "delivery"}, {"name": "drop", "is": "drop"}],
        "rows": [["Base", 0.81554, 0.2396], ["HyStart", "0.90", ""]],
    }]  # fmt: skip
    study = load(document, tmp_path)
    study.run(quiet=True)
    text = study.report().read_text()
    for words in ("Read twice", "The answer depends on the reading", "No simulator models that.", "Figure 24",
                  "Its numbers are blank.", "0.81554 + 0.2396 = 105.51 %"):  # fmt: skip
        assert words in text, words
    assert "<td>0.90</td><td>–</td>" in text


def test_tables_of_flows_have_a_row_for_each(document, tmp_path):
    document["figure"] = [{"kind": "table", "x": "network.flows", "y": ["goodput_bps", "delay_s"]}]
    document["claim"] = []
    study = load(document, tmp_path)
    study.run(quiet=True)
    text = study.report().read_text()
    assert "<h4>cubic, network.flows = 6</h4>" in text


def test_partitioned_networks_are_never_averaged_in_silence():
    runs = pd.DataFrame({"algorithm": ["a", "a", "b"], "flows": [10, 10, 10], "flows_without_path": [5, 0, 0],
                         "components": [3, 1, 1], "x": [1, 1, 2]})  # fmt: skip
    notes = partitions(runs)
    assert notes[0].startswith("Partitioned networks: 16.67 % of all flows never had a path, in 1 of 3 runs")
    assert notes[1] == "In 1 of 3 runs the network was not connected at the start."
    assert (without_path(runs, "a", {}), without_path(runs, "a", {"x": 1}), without_path(runs, "b", {"x": 1})) == (
        "25.0 %",
        "25.0 %",
        "–",
    )
    assert partitions(runs[runs["algorithm"] == "b"]) == []


def ship_two(document, folder, monkeypatch):
    """Make two small studies the shipped ones, and their folder the current one."""
    monkeypatch.chdir(folder)
    document["claim"] = []
    for name in ("one", "two"):
        load(document, folder, name)
    paths = {name: folder / f"{name}.toml" for name in ("one", "two")}
    monkeypatch.setattr(study_run, "shipped", lambda: paths)
    monkeypatch.setattr("tonopah.spec.library.shipped", lambda: paths)


def test_all_studies_run_with_one_progress(document, tmp_path, monkeypatch, capsys):
    ship_two(document, tmp_path, monkeypatch)
    code = main.main(["study", "run", "all", "--out", str(tmp_path / "out"), "--replicates", "1", "--json"])
    captured = capsys.readouterr()
    facts = json.loads(captured.out)
    assert code == 0
    assert [fact["study"] for fact in facts] == ["one", "two"]
    runs = sum(fact["runs"] for fact in facts)
    assert sum(fact["run_now"] for fact in facts) == runs
    # One line of progress at the end counts the runs of both.
    assert f"{runs} of {runs} runs" in captured.err
    assert (tmp_path / "out" / "two" / "report.html").is_file()


def test_a_study_that_fails_does_not_stop_the_others(document, tmp_path, monkeypatch, capsys):
    ship_two(document, tmp_path, monkeypatch)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "one").write_text("in the way")
    code = main.main(["study", "run", "all", "--out", str(tmp_path / "out"), "--replicates", "1"])
    assert code == 1
    out = capsys.readouterr().out
    assert "one: " in out and "cannot be used as a store" in out
    assert (tmp_path / "out" / "two" / "report.html").is_file()


def test_the_hours_are_for_all_studies_together(document, tmp_path, monkeypatch, capsys):
    ship_two(document, tmp_path, monkeypatch)
    given = []
    monkeypatch.setattr("tonopah.study.study.Study.run", lambda _, options, **others: given.append(options.max_hours) or 0)
    monkeypatch.setattr("tonopah.study.study.Study.report", lambda _, out, quiet: time.sleep(0.02) or tmp_path)
    assert main.main(["study", "run", "all", "--out", str(tmp_path / "out"), "--max-hours", "1"]) == 0
    assert given[1] <= given[0] - 0.02 / 3600 and 0.9 < given[1] < given[0] <= 1
    monkeypatch.undo()
    ship_two(document, tmp_path, monkeypatch)
    assert main.main(["study", "run", "all", "--out", str(tmp_path / "late"), "--max-hours", "1e-9", "--replicates", "1"]) == 1
    out = capsys.readouterr().out
    assert out.count("stopped: --max-hours 1e-09 reached") == 2 and "to continue" in out
