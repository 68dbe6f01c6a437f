"""Commands and programs in README and docs: every one is understood, those of the pages below are carried out in order."""

import argparse
import os
import re
import shlex
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.cli import main

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/generated").glob("*.md")]
)
CARRIED_OUT = ("README.md", "files.md", "first-steps.md", "from-flent-mahimahi.md", "from-ns2.md", "from-ns3.md", "python.md")
LONG = ("serve", "validate", "study run all")
"""Commands that take minutes: they are understood, and tests of their own carry them out."""
FILE = re.compile(r"[Ss]ave this as `([\w.]+)`(?:(?!```).)*```(?:toml|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *(?:\$ )?(?:\.venv/bin/)?(tonopah|make) (.*)$", re.MULTILINE)
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```\w*\n.*?^```$|^ {4}.*$", re.MULTILINE | re.DOTALL)


def commands(page):
    """Return the commands of a page as lists of words, without what they are piped into."""
    found = []
    for code in CODE.findall(page.read_text(encoding="utf-8")):
        for program, line in COMMAND.findall(code):
            words = shlex.split(line, comments=True)
            found.append([program, *(words[: words.index("|")] if "|" in words else words)])
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_understood(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for program, *words in commands(page):
        if program == "make":
            assert {word for word in words if "=" not in word} <= targets, words
        else:
            assert main.build_parser().parse_args(words).action, words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_has_a_head(page):
    lines = ["", *re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL).splitlines()]
    begins = [i for i, line in enumerate(lines) if line.startswith("|") and not lines[i - 1].startswith("|")]
    assert [lines[i] for i in begins if not re.fullmatch(r"[|: -]+", lines[i + 1])] == []


def test_the_readme_shows_what_the_first_run_prints(tmp_path, monkeypatch, capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"^    \$ \.venv/bin/tonopah (run dumbbell\.toml)\n(.*?)^    …$", text, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for file, content in FILE.findall(text):
        (tmp_path / file).write_text(content, encoding="utf-8")
    assert main.main(shown[1].split()) == 0
    printed = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    expected = [line.strip() for line in shown[2].splitlines() if line.strip()]
    assert printed[: len(expected)] == expected


def test_the_readme_compares_a_goodput_that_is_so():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    stated = re.search(r"one flow on 100 Mb/s, 44 ms, a queue of one BDP, .*?: goodput \| ([\d.]+) Mb/s", text)
    bottleneck = {"rate": "100Mbps", "delay": "20ms", "queue": "1bdp"}
    network = {"kind": "dumbbell", "pairs": 1, "flows": 1, "access": {"rate": "1Gbps", "delay": "1ms"}, "bottleneck": bottleneck}
    found = tp.run({"duration": "60s", "network": network}).flow(0).goodput_bps
    assert f"{found / 1e6:.1f}" == stated[1]


def test_the_readme_compares_what_the_pages_say():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    stated = re.search(r"recordings of Linux's own TCP \| (\d+ of \d+) \|", text)[1]
    page = (ROOT / "docs" / "generated" / "validation.md").read_text(encoding="utf-8")
    assert f"{stated} cases with one recording meet all their goals" in page
    number = int(re.search(r"the (\d+) algorithms", text)[1])
    assert number == len(tp.algorithms())


@pytest.mark.parametrize("name", CARRIED_OUT)
def test_a_page_does_what_it_says(name, tmp_path_factory, monkeypatch, capsys):
    page = next(page for page in PAGES if page.name == name)
    text = page.read_text(encoding="utf-8")
    folder = tmp_path_factory.mktemp(page.stem)
    monkeypatch.chdir(folder)
    files = {**dict(FILE.findall((ROOT / "README.md").read_text(encoding="utf-8"))), **dict(FILE.findall(text))}
    for file, content in files.items():
        (folder / file).write_text(content, encoding="utf-8")
    for program, *words in commands(page):
        if program == "tonopah" and not " ".join(words).startswith(LONG):
            assert main.main(words) == 0, (words, capsys.readouterr().err)
    # In one namespace: a block may go on with what an earlier one has made.
    names = {"__name__": "page"}
    for block in PROGRAM.findall(text):
        exec(compile(block, str(page), "exec"), names)
    assert len(os.listdir(folder)) >= len(files) > 0


def examples_of(parser):
    """Yield the examples in the help of all commands, as lists of words, without remarks and what they are piped into."""
    parser.load()
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for inner in {id(inner): inner for group in groups for inner in group.choices.values()}.values():
        yield from examples_of(inner)
    for line in (parser.epilog or "").removeprefix("example: ").splitlines():
        if "COMMAND" not in line and (found := re.match(r" *(?:examples?: +)?tonopah (\S.*?)(?:   .*| [|>#] .*)?$", line)):
            yield shlex.split(found[1], comments=True)


def test_every_example_in_the_help_is_understood_and_the_quick_ones_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (dumbbell,) = (
        text for name, text in FILE.findall((ROOT / "README.md").read_text(encoding="utf-8")) if name == "dumbbell.toml"
    )
    (tmp_path / "dumbbell.toml").write_text(dumbbell, encoding="utf-8")
    found, carried_out = list(examples_of(main.build_parser())), 0
    for words in found:
        assert main.build_parser().parse_args(words).action, words
        needs = [word for word in words if word.endswith((".toml", ".pcapng", ".tr")) or word.startswith("reports:")]
        quick = words[0] in ("run", "check", "metrics", "algorithms") or words[:2] in (["study", "list"], ["study", "criteria"])
        if quick and set(needs) <= {"dumbbell.toml"}:
            carried_out += 1
            assert main.main(words) == 0, (words, capsys.readouterr().err)
    assert len(found) > 50 and carried_out > 6
