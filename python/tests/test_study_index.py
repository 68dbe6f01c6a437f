"""The page over all studies of a folder: written where studies are kept together, and nowhere else."""

import json

import pytest

from tonopah.cli import main
from tonopah.report.index import write_index


@pytest.fixture
def folder(study_document, tmp_path, monkeypatch):
    from conftest import toml

    monkeypatch.chdir(tmp_path)
    study_document |= {"sweep": [], "figure": [{"kind": "bar", "y": ["goodput_bps"]}], "claim": [], "quick": {}}
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(toml(study_document))
    return tmp_path


def test_a_study_in_results_is_in_the_index(folder, capsys):
    assert main.main(["study", "run", "one.toml", "--replicates", "1"]) == 0
    assert f"index: {folder / 'results' / 'index.html'}" in capsys.readouterr().out
    assert main.main(["study", "run", "two.toml", "--replicates", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["index"] == str(folder / "results" / "index.html")
    page = (folder / "results" / "index.html").read_text()
    assert 'href="one/report.html"' in page and 'href="two/report.html"' in page
    (folder / "results" / "index.html").unlink()
    assert main.main(["study", "report", "results/one"]) == 0
    assert 'href="two/report.html"' in (folder / "results" / "index.html").read_text()


def test_elsewhere_nothing_is_written_until_it_is_asked_for(folder, capsys):
    assert main.main(["study", "run", "one.toml", "--replicates", "1", "--out", "mine/one"]) == 0
    assert [path.name for path in (folder / "mine").iterdir()] == ["one"]
    assert "index:" not in capsys.readouterr().out
    assert main.main(["study", "index", "mine"]) == 0
    (folder / "mine" / "index.html").write_text((folder / "mine" / "index.html").read_text() + "<!-- old -->")
    # From now on it is kept up to date.
    assert main.main(["study", "report", "mine/one"]) == 0
    assert "<!-- old -->" not in (folder / "mine" / "index.html").read_text()


def test_a_page_of_somebody_else_is_left_alone(folder):
    (folder / "mine").mkdir()
    (folder / "mine" / "index.html").write_text("<p>my own page</p>")
    assert main.main(["study", "run", "one.toml", "--replicates", "1", "--out", "mine/one"]) == 0
    assert (folder / "mine" / "index.html").read_text() == "<p>my own page</p>"


def test_a_folder_without_a_study_is_an_error(folder, capsys):
    assert main.main(["study", "index"]) == 2
    assert "results: contains no study with a report" in capsys.readouterr().err


def test_a_neighbour_with_odd_verdicts_is_left_out(tmp_path):
    for name, text in (("cut", '{"format": 1}'), ("odd", '{"format": 1, "title": [], "counts": 3}'), ("list", "[]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.html").write_text("x")
        (tmp_path / name / "verdicts.json").write_text(text)
    assert write_index(tmp_path) is None
