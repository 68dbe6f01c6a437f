"""The other views in Chromium: studies, algorithms, lessons, packets, comparison."""

import json
import re
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.lab import lessons
from tonopah.scenario.paths import fetch, split_path
from tonopah.validate.frame import compare
from tonopah.validate.linux import table as terminal
from tonopah.validate.linux.comparison import AgainstLinux
from tonopah.validate.linux.recordings import shipped

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
[[claim]]
id = "C1"
text = "On the longer path it gets more."
test = { metric = "goodput_bps", difference = { of = "cubic" }, above_percent = 0, at = { "network.bottleneck.delay" = "40ms" } }
"""
CROSSED = """question = "Does the queue matter as much on a longer path?"
baseline = "newreno"
replicates = 2
[scenario]
duration = "1s"
network = { kind = "dumbbell", pairs = 1, flows = 1, bottleneck = { rate = "4Mbps" } }
[compare]
cc = ["newreno", "cubic"]
[[part]]
id = "crossed"
[[part.sweep]]
vary = { "network.bottleneck.delay" = ["5ms", "40ms"], "network.bottleneck.queue" = ["5p", "20p", "80p"] }
[[part]]
id = "rates"
[[part.sweep]]
vary = { "network.bottleneck.rate" = ["2Mbps", "8Mbps"] }
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
    told = page.js("[...document.querySelector('#claims tbody tr').cells].map((cell) => cell.textContent)")
    (claim,) = json.loads((page.served.lab.folder / "results" / "delay" / "verdicts.json").read_text())["claims"]
    assert told[0].startswith("C1") and told[1:3] == [claim["verdict"], claim["sentence"]]
    assert told[3] == claim["tests"][0]["readings"][0]["test"] and told[4].endswith("%")
    assert page.complaints() == []
    page.set("#axis", "", "change")
    # The study has no figure of the nominal point, so it has no run there.
    page.until("document.querySelector('#explore').textContent.includes('No run has measured this')")
    page.set("#axis", "network.bottleneck.delay", "change")
    page.until("document.querySelectorAll('button.point').length === 4")
    # The last point that is drawn is of CUBIC at 40 ms; the table says the same.
    dots = "[...document.querySelectorAll('#explore .plot svg [aria-label=dot]')]"
    page.until(f"{dots}.length >= 2")
    page.browser.hover(*page.browser.centre(f"{dots}.at(-1)?.lastElementChild"))
    page.browser.click(f"{dots}.at(-1)?.lastElementChild")
    page.until("document.querySelectorAll('button.run').length === 3")
    assert page.text("#runs h3") == "Runs of cubic at network.bottleneck.delay = 40ms"
    page.click("#runs button.csv")
    page.click("button.point[data-label='cubic'][data-value='40ms']")
    page.until("document.querySelectorAll('button.run').length === 3")
    page.click("button.run[data-seed='2']")
    page.until("location.hash.startsWith('#bench/')")
    page.shown()
    assert page.js("document.querySelector('#seed').value") == "2"
    toml = page.js("document.querySelector('#toml').value")
    assert "40ms" in toml and "cubic" in toml
    listed = page.served.ask("studies")[1]
    assert next(one["state"] for one in listed["studies"] if one["name"] == "delay.toml") == "report"


def test_a_crossed_sweep_is_shown_as_facets_with_one_scale(study_page):
    page = study_page
    folder = page.served.lab.folder
    (folder / "crossed.toml").write_text(CROSSED)
    tp.Study.load(folder / "crossed.toml").run(out=folder / "results" / "crossed", quiet=True)
    # The size of which there is something to read opens.
    page.open("studies/crossed.toml")
    page.until("document.querySelectorAll('#explore .facets figure.chart .plot svg').length === 3")
    page.until("new Set([...document.querySelectorAll('.facets figcaption')].map((one) => one.textContent)).size === 3")
    assert page.js("document.querySelector('#facet').value") == "network.bottleneck.queue"
    # The ticks of the vertical axes, which say what the scale is.
    ticks = (
        "[...document.querySelectorAll('.facets .plot svg')]"
        ".map((svg) => svg.querySelector(\"[aria-label^='y-axis tick label']\")?.textContent)"
    )
    page.until(f"new Set({ticks}).size === 1 && {ticks}[0]")
    page.set("#axis", "network.bottleneck.queue", "change")
    page.until("document.querySelectorAll('#explore .facets figure.chart .plot svg').length === 2")
    page.click(".facets figure:nth-of-type(2) button.point[data-label='cubic'][data-value='20p']")
    page.until("document.querySelectorAll('button.run').length === 2")
    place = "network.bottleneck.queue = 20p, network.bottleneck.delay = 40ms"
    assert page.text("#runs h3") == f"Runs of cubic at {place}"
    assert page.complaints() == []
    # Another part has sweeps of its own.
    page.set("#part", "rates", "change")
    page.until("document.querySelectorAll('button.point').length === 4 && !document.querySelector('#facet')")
    status, answer = page.served.ask(
        "point", name="crossed.toml", part="crossed", algorithm="cubic",
        where={"network.bottleneck.queue": "20p", "network.bottleneck.delay": "40ms"},
    )  # fmt: skip
    assert status == 200
    for run in answer["runs"]:
        bottleneck = run["document"]["network"]["bottleneck"]
        assert (bottleneck["queue"], bottleneck["delay"]) == ("20p", "40ms")
    asked = {"name": "crossed.toml", "metric": "goodput_bps"}
    assert page.served.ask("explore", **asked, facet="network.bottleneck.queue")[0] == 422
    assert page.served.ask("explore", **asked, x="network.bottleneck.delay", facet="network.bottleneck.rate")[0] == 422
    assert page.served.ask("point", name="crossed.toml", part="rates", algorithm="cubic", where={"network.nodes": 3})[0] == 422


def test_a_report_has_an_origin_of_its_own(study_page):
    page = study_page
    report = page.served.ask("study", name="delay.toml")[1]["report"]
    status, headers, body = page.served.request("GET", report, headers={})
    assert status == 200 and b"<html" in body.lower()
    assert "sandbox" in headers["content-security-policy"] and "connect-src" not in headers["content-security-policy"]
    opened = report.removesuffix("report.html")
    assert page.served.request("GET", f"{opened}%2e%2e/%2e%2e/delay.toml")[0] == 404
    assert page.served.request("GET", f"/report/{'0' * 32}/results/delay/report.html")[0] == 403
    assert page.served.request("GET", report.replace("/delay/", "/other/"))[0] == 403
    page.browser.open(f"http://{page.served.host}{report}")
    page.until("document.querySelector('.plot svg')")
    assert page.js("self.origin") == "null"


def test_a_study_with_python_is_refused(serve, tmp_path):
    (tmp_path / "mine.toml").write_text(STUDY.replace('"cubic"]', '"mine.py:Mine"]').replace('"cubic"', '"Mine"'))
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
    (result,) = compare(AgainstLinux(shipped()), [case])
    page.open("algorithms/dctcp")
    page.until("document.querySelector('#against-linux')")
    # Plots that arrive move what is below them.
    page.shown()
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


def measured(session, path, over=None):
    """Return a number of a run as a lesson names it, divided by another if there is one."""
    first, *rest = split_path(path)
    value = session.tracks.statistic(*rest) if first == "series" else fetch(session.summary, path)
    return value / measured(session, over) if over else value


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
    session = list(page.served.lab.runs.sessions.values())[-1]
    lesson, _ = lessons.load()[name]
    task = lesson.task[0]
    value = measured(session, task.read, task.over) * task.factor
    page.set("#task-0-answer", f"{value:.4g}")
    page.click("#task-0 button")
    page.until("document.querySelector('#task-0 .told')?.classList.contains('right')")


def test_satellites_and_the_path_stand_where_the_run_has_them(page):
    page.open("bench")
    page.shown()
    page.mark()
    page.set("#preset", "leo", "change")
    page.changed()
    page.until(
        "document.querySelectorAll('.sky .satellite').length === 66 && document.querySelector('.sky .coast').getAttribute('d')"
    )
    before = page.js("document.querySelector('.sky .path').getAttribute('d')")
    # The path that the run had: after 520 s it is another one, which another satellite begins.
    page.set(".cursor input", "560")
    page.until("document.querySelector('.sky figcaption').textContent.startsWith('66 satellites at 560 s')")
    assert page.js("document.querySelector('.sky .path').getAttribute('d')") != before
    session = page.served.lab.runs.sessions[page.js("document.querySelector('#run-state').dataset.run")]
    for name, shown in (("route_hops", r": (\d+) links"), ("path_delay", r"([\d.]+) ms")):
        value = float(session.tracks.tracks[name, 0].between(560.0, 560.0)[1][0])
        told = float(re.search(shown, page.text(".sky figcaption"))[1])
        assert told == pytest.approx(value if name == "route_hops" else 1e3 * value, abs=0.06), name
    assert page.complaints() == []
    assert page.served.ask("sky", run="none", at_s=1.0)[0] == 422
    assert page.served.ask("sky", run=session.id, at_s=-1.0)[0] == 422


def test_packets_are_shown_below_two_seconds_and_one_is_followed(page):
    page.open("bench")
    page.shown()
    assert page.js("document.querySelector('#packets')") is None
    page.js("document.querySelector('.zoom button').focus()")
    for _ in range(5):
        page.click("[aria-label='zoom in']")
    page.until("document.querySelectorAll('button.packet').length > 20")
    # The same packets move on the drawing: data in the colour of its flow, and further along at a later moment.
    places = """(() => {{ const moment = document.querySelector('#moment');
        const [from, until] = [Number(moment.min), Number(moment.max)];
        moment.value = from + {share} * (until - from);
        moment.dispatchEvent(new Event('input')); }})()"""
    page.js(places.format(share=0.5))
    page.until("document.querySelectorAll('#flights circle').length > 10")
    there = "[...document.querySelectorAll('#flights circle')].map((c) => c.getAttribute('cx')).join(' ')"
    first = page.js(there)
    page.js(places.format(share=0.501))
    page.until(f"{there} !== {first!r}")
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
    assert first[0].startswith("Goodput") and float(first[3]) < -4
    # Rates of full links agree in all replicates: the least that an exact test of ten gives, 2 / 2^10.
    assert first[5] == "0.002"
    page.click("#compare")
    page.until("document.querySelectorAll('.difference figure.series .uplot').length >= 3")
    # Side by side: each series once of either run, with one scale, on one time axis.
    page.until("document.querySelectorAll('.stack.two .uplot').length >= 8")
    found = page.js(
        "[...document.querySelectorAll('.stack.two figure')].map((one) => { const { scales } = one.querySelector('.plot').plot; "
        "return [one.dataset.series, one.dataset.side, one.getBoundingClientRect().top, one.getBoundingClientRect().left, "
        "scales.y.max, scales.x.max]; })"
    )
    for before, after in zip(found[::2], found[1::2], strict=True):
        assert (before[0], before[1], after[1]) == (after[0], "as it is", "changed")
        assert before[2] == after[2] and before[3] < after[3] and before[4:] == after[4:]
    # It follows a change of the scenario.
    as_it_is = "document.querySelector('#compared tbody tr')?.cells[1].textContent"
    before = page.js(as_it_is)
    page.mark()
    page.set("input[data-path='network.bottleneck.rate']", "0.6")
    page.changed()
    page.until(f"{as_it_is} && {as_it_is} !== {before!r} && document.querySelectorAll('.stack.two .uplot').length >= 8")
    page.click("#compare-end")
    page.until("!document.querySelector('.stack.two') && !document.querySelector('.difference')")
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
