"""Lessons of one's own: held against their runs, shown by the server, printed."""

import pytest

from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.lab import lesson_check, lessons

from .conftest import Page

LESSON = """+++
title = "Mine"
summary = "A short one."

[scenario]
duration = "4s"
network = { kind = "dumbbell", pairs = 1, flows = 1, bottleneck = { rate = "4Mbps", delay = "10ms", queue = "20p" } }

[guess]
question = "How much of the 4 Mb/s?"
choices = ["nearly all", "half"]
right = 0
holds = [{ path = "flows.0.goodput_bps", least = 3e6 }]
why = "The queue is long enough."

[[fact]]
says = "the queue is full at times"
path = "series.queue.0.max"
least = 25e3

[[task]]
kind = "read"
question = "How much is it?"
read = "flows.0.goodput_bps"
factor = 1e-6
unit = "Mb/s"
hint = "The table."
right = "So it is."

[[task]]
kind = "reach"
question = "Make it 6."
reach = [{ path = "flows.0.goodput_bps", least = 6e6 }]
change = ["network.bottleneck.rate"]
solution = { "network.bottleneck.rate" = "8Mbps" }
hint = "The rate."
right = "Twice."
+++

## What happens

A window grows.
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.md"
    path.write_text(LESSON)
    return path


def test_a_true_lesson_is_checked_and_its_answers_told(mine, capsys):
    assert main.main(["lesson", "check", str(mine)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ok: Mine") and "Mb/s" in out and "nearly all" in out and "network.bottleneck.rate = '8Mbps'" in out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("least = 3e6", "most = 3e6", ["guess.holds", "'nearly all' is not right", "not at most 3e+06"]),
        ("least = 25e3", "least = 99e3", ["fact[0]", "the queue is full at times", "series.queue.0.max"]),
        ('"8Mbps"', '"5Mbps"', ["task[1].solution", "does not reach it"]),
        ("least = 6e6", "least = 1e6", ["task[1].reach", "before anything is changed"]),
        ('solution = { "network.bottleneck.rate"', 'solution = { "tcp.cc"', ["tcp.cc may not be changed"]),
        ('read = "flows.0.goodput_bps"', 'read = "flows.7.goodput_bps"', ["task[0].read", "no such number"]),
        ("holds = [{", "hold = [{", ["guess.hold"]),
        ("holds = [{ path = \"flows.0.goodput_bps\", least = 3e6 }]\n", "", ["guess.holds", "is missing"]),
        ('"4Mbps"', '"4Mpbs"', ["network.bottleneck.rate"]),
        ("+++\n\n## What", "\n\n## What", ["is no lesson"]),
    ],
)  # fmt: skip
def test_an_untrue_or_mistaken_lesson_is_refused_with_its_place(mine, old, new, words, capsys):
    assert old in LESSON
    mine.write_text(LESSON.replace(old, new))
    assert main.main(["lesson", "check", str(mine)]) == 2
    told = capsys.readouterr().err
    assert "mine.md" in told and all(word in told for word in words)


@pytest.mark.parametrize("name", list(lessons.shipped()))
def test_the_shipped_lessons_are_true(name):
    lesson, _ = lessons.shipped()[name]
    assert len(lesson_check.check_lesson(lesson)) == 4


def test_a_sheet_has_room_and_with_solutions_the_answers(mine, capsys):
    assert main.main(["lesson", "sheet", str(mine)]) == 0
    empty = capsys.readouterr().out
    assert main.main(["lesson", "sheet", str(mine), "--solutions"]) == 0
    solved = capsys.readouterr().out
    assert empty.count(lesson_check.ROOM) == 3 and lesson_check.ROOM not in solved
    assert "8Mbps" in solved and "8Mbps" not in empty and "- [ ] half" in empty
    assert main.main(["lesson", "check", str(mine), "--solutions"]) == 2


def test_the_page_gets_no_solutions(mine):
    for one in lessons.listed(mine.parent):
        assert not {"fact", "task"} & set(one) and not {"holds", "where"} & set(one["guess"])
        assert all("solution" not in task for task in one["tasks"])


def test_a_lesson_of_the_folder_is_shown_beside_the_shipped_ones(mine, serve, browser):
    (mine.parent / "notes.md").write_text("# No lesson\n")
    (mine.parent / "post.md").write_text('+++\ntitle = "Of a blog"\n+++\n')
    page = Page(browser, serve(mine.parent))
    page.open("lessons")
    page.until("document.querySelectorAll('ol.lessons li').length === 9")
    page.open("lessons/mine")
    page.until("document.querySelector('input[name=guess]')")
    page.click("input[name=guess]")
    page.click("#guessed")
    page.until("document.querySelector('.told.right')")
    assert page.complaints() == []


def test_a_broken_lesson_of_the_folder_is_told_with_its_name(mine):
    mine.write_text(LESSON.replace("summary =", "summary"))
    with pytest.raises(InputError) as refused:
        lessons.load(mine.parent)
    assert "mine.md" in str(refused.value)
