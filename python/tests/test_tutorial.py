"""docs/python-algorithm.md: its files, commands and examples, carried out in the order of the page."""

import doctest
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.analysis.claims import judge
from tonopah.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "python-algorithm.md"
BLOCK = re.compile(r"^```(\w+)( fails)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Write the files of the page into a folder and go there; return the page's commands as (line, whether it fails)."""
    folder = tmp_path_factory.mktemp("tutorial")
    text = PAGE.read_text(encoding="utf-8")
    commands = []
    for block in BLOCK.finditer(text):
        kind, fails, inside = block.groups()
        named = re.findall(r"`([\w.]+\.(?:py|toml))`", text[: block.start()])
        if kind in ("python", "toml") and not inside.startswith((">>>", "[project")):
            (folder / named[-1]).write_text(inside, encoding="utf-8")
        if kind == "sh":
            commands += [(line, bool(fails)) for line in inside.splitlines()]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        yield commands
    sys.modules.pop("careful", None)


def test_every_command_does_what_the_page_says(page, capsys):
    assert len(page) == 9
    text = PAGE.read_text(encoding="utf-8")
    for command, fails in page:
        program, *arguments = shlex.split(command)
        assert program == "tonopah"
        code = main.main(arguments)
        shown = capsys.readouterr()
        if fails:
            assert code == 2 and f"```text\n{shown.err}```" in text
        else:
            assert code == 0, shown.err


def test_every_example_gives_what_the_page_says(page):
    assert doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8").failed == 0


def test_the_study_finds_what_the_page_hopes_for(page):
    study = tp.Study.open("results/careful")
    assert study.missing() == 0
    runs = study.table()
    delay = runs[runs["network.flows"] == 2].groupby("algorithm")["delay_s"].mean()
    assert delay["Careful"] < 0.7 * min(delay["reno"], delay["cubic"])
    assert [verdict.verdict for verdict in judge(study.spec, study.plan, {"": runs})] == ["supported"]
    report = Path("results/careful/report.html").read_text(encoding="utf-8")
    assert "Careful" in report and "sources.careful.py:Careful" in report
    assert json.loads(next(iter(study.plan.runs.values())).resolved)["tcp"]["recovery"] == "rack"
