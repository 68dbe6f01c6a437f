"""What lies beside a report: verdicts.json and the index; and what an interrupted one leaves: nothing."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.report import verdicts
from tonopah.report.index import write_index


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with the results of a study of two parts."""
    from conftest import STUDY, toml

    folder = tmp_path_factory.mktemp("files")
    parts = [{"id": name, "title": f"Part {name}"} for name in ("a b", "a-b")]
    test = {"metric": "goodput_bps", "above": 1e6, "over": "network.flows"}
    claims = [{"id": "C1", "text": "More than nothing", "part": "a-b", "test": test}, STUDY["claim"][1]]
    document = STUDY | {"part": parts, "replicates": 6, "claim": claims}
    (folder / "two.toml").write_text(toml(document))
    study = tp.Study.load(folder / "two.toml")
    study.run(quiet=True, out=folder / "results" / "two")
    study.report(quiet=True)
    return study.folder


def test_verdicts_are_there_for_programs(results):
    found = json.loads((results / "verdicts.json").read_text())
    assert set(found) == {
        "format", "study", "title", "question", "quick", "runs", "replicates", "command", "finished", "tonopah", "answer",
        "counts", "claims", "criteria", "published", "differences",
    }  # fmt: skip
    assert (found["format"], found["study"], found["replicates"]) == (verdicts.FORMAT, "two", {"a b": 6, "a-b": 6})
    assert found["differences"] == [], "they are of studies without claims"
    assert len(found["answer"]) >= 1 and sum(found["counts"].values()) == 2
    claim, untested = found["claims"]
    assert (claim["id"], claim["verdict"]) == ("C1", "supported") and untested["verdict"] == "not testable"
    reading = claim["tests"][0]["readings"][0]
    assert reading["effect"]["low"] < reading["effect"]["value"] < reading["effect"]["high"]
    assert reading["effect"]["n"] == 6 and reading["p_for"] < 0.025
    page = (results / "report.html").read_text()
    assert all(sentence.replace("&", "&amp;")[:40] in page for sentence in found["answer"])


def test_parts_whose_ids_look_alike_have_their_own_anchors_and_figures(results):
    page = (results / "report.html").read_text()
    sections = re.findall(r'<section id="(part--[^"]*)"', page)
    assert len(sections) == len(set(sections)) == 2 and "part--a-b" in sections
    assert len(list((results / "figures").iterdir())) == 2 * len(list((results / "figures").glob("a-b--*")))


def test_the_index_has_every_study_with_a_report(results):
    other = results.parent / "no-study"
    other.mkdir()
    (other / verdicts.FILE).write_text("{ broken")
    page = write_index(results.parent).read_text()
    assert page.count("<section>") == 1
    assert 'href="two/report.html"' in page and "Does the number of flows matter?" in page and "not testable" in page
    found = json.loads((results / "verdicts.json").read_text())
    assert found["finished"][:10] in page


def test_a_folder_without_studies_has_no_index(tmp_path):
    assert write_index(tmp_path) is None and write_index(tmp_path / "nowhere") is None
    assert list(tmp_path.iterdir()) == []


def test_progress_is_shown_while_a_report_is_written(results, capsys):
    tp.Study.open(results).report()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "2 of 2 parts of the report to do" and lines[-1].startswith("2 of 2 parts of the report")


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found in /proc")
def test_sigterm_leaves_no_process_and_no_half_written_file(results):
    before = {path for path in results.rglob("*") if "runs.sqlite" not in path.name}
    page = (results / "report.html").read_bytes()
    # The report waits in its second part, where another process used to draw.
    code = (
        "import sys, time\n"
        "from tonopah.report import document\n"
        "from tonopah.cli.main import main\n"
        "made, whole = [], document.report_part\n"
        "def slow(*sources):\n"
        "    made.append(whole(*sources))\n"
        "    print('waiting', flush=True)\n"
        "    time.sleep(3600 * (len(made) - 1))\n"
        "    return made[-1]\n"
        "document.report_part = slow\n"
        "sys.exit(main(['study', 'report', sys.argv[1]]))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(results)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert [process.stdout.readline().strip() for _ in range(2)] == ["waiting", "waiting"]
    assert children(process.pid) == []
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 1 and "error: interrupted" in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert {path for path in results.rglob("*") if "runs.sqlite" not in path.name} == before
    assert (results / "report.html").read_bytes() == page


def children(pid):
    """Return the processes that a process has started."""
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
