"""The other views in Chromium: studies, algorithms, lessons, packets, comparison."""

from pathlib import Path

import pytest

from tonopah.lab import lessons
from tonopah.validate import linux, terminal
from tonopah.validate.recordings import shipped

from .conftest import Page

STUDY = """question = "Does CUBIC use a longer path better than NewReno?"
baseline = "newreno"
replicates = 3
[scenario]
duration = "2s"
network = { kind = "dumbbell", pairs = 1, flows = 1, bottleneck = { rate = "4Mbps", queue = "20p" } }
[compare]
cc = ["newreno", "cubic"]
[[sweep]]
vary = { "network.bottleneck.delay" = ["5ms", "40ms"] }
[[figure]]
kind = "line"
x = "network.bottleneck.delay"
y = ["goodput_bps", "delay_s"]
"""


@pytest.fixture(scope="module")
def study_page(browser, serve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    (folder / "delay.toml").write_text(STUDY)
    (folder / "no-study.toml").write_text('duration = "1s"\n')
    return Page(browser, serve(folder))


def test_a_shipped_study_is_started_stopped_and_goes_on(study_page):
    page = study_page
    page.open("studies/asran")
    page.until("document.querySelector('#start') && !document.querySelector('#start').disabled")
    stored = "Number(document.querySelector('#progress').dataset.stored)"
    page.click("#start")
    page.until(f"{stored} > 0 && document.querySelector('#progress').dataset.running === 'true'")
    page.click("#stop")
    page.until("document.querySelector('#progress').dataset.running === 'false'")
    kept = page.js(stored)
    assert kept > 0 and page.text(".mistake") == ""
    # What is finished stays, and the same study goes on from there.
    assert page.text("#start") == "go on"
    page.click("#start")
    page.until(f"{stored} > {kept}")
    page.click("#stop")
    page.until("document.querySelector('#progress').dataset.running === 'false'")


def test_a_study_of_the_folder_is_run_read_and_opened_on_the_bench(study_page):
    page = study_page
    page.open("studies")
    page.until("document.querySelector('.studies a')")
    names = page.js("[...document.querySelectorAll('.studies a')].map((a) => a.textContent)")
    assert names[0] == "delay.toml" and "asran" in names and "no-study.toml" not in names
    page.open("studies/delay.toml")
    page.until("document.querySelector('#quick')")
    page.until("document.querySelector('#progress')")
    page.click("#quick")
    page.until("document.querySelector('#progress')?.dataset.quick === 'false' && !document.querySelector('#start').disabled")
    page.click("#start")
    page.until("document.querySelector('#report') && document.querySelector('#progress').dataset.running === 'false'")
    page.until("document.querySelector('#explore .plot svg')")
    assert page.complaints() == []
    page.set("#axis", "", "change")
    # The study has no figure of the nominal point, so it has no run there.
    page.until("document.querySelector('#explore').textContent.includes('No run has measured this')")
    page.set("#axis", "network.bottleneck.delay", "change")
    page.until("document.querySelectorAll('button.point').length === 4")
    page.click("button.point[data-label='cubic'][data-value='40ms']")
    page.until("document.querySelectorAll('button.run').length === 3")
    page.click("button.run[data-seed='2']")
    page.until("location.hash.startsWith('#bench/')")
    page.shown()
    assert page.js("document.querySelector('#seed').value") == "2"
    toml = page.js("document.querySelector('#toml').value")
    assert "40ms" in toml and "cubic" in toml


def test_a_report_has_an_origin_of_its_own(study_page):
    page = study_page
    status, headers, body = page.served.request("GET", "/report/results/delay/report.html")
    assert status == 200 and b"<html" in body.lower()
    assert "sandbox" in headers["content-security-policy"] and "connect-src" not in headers["content-security-policy"]
    assert page.served.request("GET", "/report/results/../delay.toml")[0] == 404
    page.browser.open(f"http://{page.served.host}/report/results/delay/report.html")
    page.until("document.querySelector('.plot svg')")
    assert page.js("self.origin") == "null"


def test_a_study_with_python_is_refused(serve, tmp_path):
    (tmp_path / "mine.toml").write_text(STUDY.replace('"cubic"]', '"mine.py:Mine"]'))
    (tmp_path / "mine.py").write_text("from pathlib import Path\nPath(__file__).with_name('executed').touch()\n")
    lab = serve(tmp_path)
    for action in ("look", "start"):
        status, answer = lab.ask("study", name="mine.toml", do=action)
        assert status == 422 and "--allow-python" in answer["error"]["hint"]
    assert not (tmp_path / "executed").exists()
    for name in ("../mine.toml", "/etc/passwd", "nothing"):
        assert lab.ask("study", name=name)[0] == 422


def test_algorithms_are_listed_and_one_is_measured(page):
    page.open("algorithms")
    page.until("document.querySelectorAll('table a').length > 20")
    assert page.complaints() == []
    page.open("algorithms/reno")
    page.shown()
    assert "RFC 5681" in page.text("main")
    page.click("#measure")
    page.until("document.querySelectorAll('#response-table tbody tr').length >= 3")
    cells = "(row) => [...row.cells].map((cell) => Number(cell.textContent.replace(',', '')))"
    rows = page.js(f"[...document.querySelectorAll('#response-table tbody tr')].map({cells})")
    for _, window, law in rows:
        assert 0.6 < window / law < 1.4
    assert page.complaints() == []


def test_an_algorithm_is_held_against_recordings_of_linux(page):
    case = next(case for case in shipped().cases if case.id == "6.1/dctcp-50mbit-10ms-mark20")
    (result,) = linux.validate(shipped(), [case])
    page.open("algorithms/dctcp")
    page.until("document.querySelector('#against-linux')")
    page.click("#against-linux")
    page.until("document.querySelector('#linux-table tbody tr')")
    row = page.js("[...document.querySelector('#linux-table tbody tr').cells].map((cell) => cell.textContent)")
    assert row[0].startswith(case.id) and row[1:] == [*terminal.cells(result.flows[0]), "pass"]
    assert page.complaints() == []
    assert page.served.ask("linux", cc="dctcp", case="6.1/reno-drop-one")[0] == 422
    assert page.served.ask("linux", cc="copa")[1]["cases"] == []


def test_a_class_in_the_folder_runs_again_when_its_file_is_saved(browser, serve, tmp_path):
    from tonopah.examples import reno

    text = Path(reno.__file__).read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(text)
    page = Page(browser, serve(tmp_path, allow_python=True))
    page.open("algorithms")
    page.until("document.querySelector('table a')?.textContent === 'mine.py:Reno'")
    page.js("document.querySelector('table a').click()")
    page.shown()
    before = page.text("table.results tbody")
    (tmp_path / "mine.py").write_text(text.replace("beta: float = 0.5", "beta: float = 0.2"))
    page.until(f"document.querySelector('table.results tbody')?.textContent !== {before!r} && {SHOWN}")


SHOWN = "document.querySelector('#run-state')?.dataset.seen === 'true'"


@pytest.mark.parametrize("name", list(lessons.load()))
def test_a_lesson_can_be_done_in_the_page(page, name):
    page.open(f"lessons/{name}")
    page.until("document.querySelector('#skip-guess')")
    page.click("#skip-guess")
    page.shown()
    page.js("document.querySelector('#task-0-answer').scrollIntoView()")
    page.set("#task-0-answer", "123456789")
    page.click("#task-0 button")
    page.until("document.querySelector('#task-0 .told')?.classList.contains('wrong')")
    assert "Not what this run says" in page.text("#task-0 .told")
    session = page.served.lab.runs.sessions
    lesson, _ = lessons.load()[name]
    task = lesson.task[0]
    value = lessons.measured(list(session.values())[-1], task.read, task.over) * task.factor
    page.set("#task-0-answer", f"{value:.4g}")
    page.click("#task-0 button")
    page.until("document.querySelector('#task-0 .told')?.classList.contains('right')")


def test_packets_are_shown_below_two_seconds_and_one_is_followed(page):
    page.open("bench")
    page.shown()
    assert page.js("document.querySelector('#packets')") is None
    page.js("document.querySelector('.zoom button').focus()")
    for _ in range(5):
        page.click("[aria-label='zoom in']")
    page.until("document.querySelectorAll('button.packet').length > 20")
    page.click("button.packet")
    page.until("document.querySelectorAll('#life li').length >= 2")
    assert "sent" in page.text("#life") or "transmitted" in page.text("#life")
    page.browser.call("Emulation.setDeviceMetricsOverride", width=390, height=900, deviceScaleFactor=1, mobile=False)
    page.until("innerWidth === 390 && document.querySelector('.split .plot').plot.width < 390")
    assert page.js("document.documentElement.scrollWidth") <= 390
    assert page.complaints() == []


def test_a_comparison_says_whether_a_difference_is_real(page):
    page.open("bench")
    page.shown()
    page.js("document.querySelector('.comparing').open = true")
    page.set("#compare-path", "network.bottleneck.rate")
    page.set("#compare-value", "5Mbps")
    page.click("#is-it-real")
    page.until("document.querySelector('#compared')?.textContent.includes('95 %')")
    first = page.js("[...document.querySelector('#compared tbody tr').cells].map((c) => c.textContent)")
    assert first[0].startswith("Goodput") and float(first[3]) < -4 and first[5] == "< 0.0001"
    page.click("#compare")
    page.until("document.querySelectorAll('.comparing figure.series .plot').length >= 3")
    page.until("!document.querySelector('#compare').disabled")
    page.set("#compare-path", "network.nothing")
    page.click("#compare")
    page.until("document.querySelector('.comparing .mistake')?.textContent.length > 5")


@pytest.mark.parametrize("view", ["studies", "algorithms/cubic", "lessons", "lessons/two-flows"])
@pytest.mark.parametrize(("width", "dark"), [(390, True), (800, False), (1400, True)])
def test_it_fits_and_can_be_used_by_everybody(page, view, width, dark):
    page.open(view, width, dark=dark)
    page.until("document.querySelector('main.reading h1')")
    if "two" in view:
        page.until("document.querySelector('#skip-guess')")
        page.click("#skip-guess")
    if "/" in view:
        page.shown()
    assert page.js("document.documentElement.scrollWidth") <= width
    assert page.complaints() == []
