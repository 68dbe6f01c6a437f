"""The report in Chromium: what is drawn, and what the mouse does. `make test-browser` runs these alone."""

import json
import os
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.execution.options import ExecutionOptions
from tonopah.judge.coexist import begin as begin_matrix
from tonopah.judge.evaluation import begin
from tonopah.judge.page import write as write_evaluation
from tonopah.report.index import write_index
from tonopah_dev.browser.browser import Browser, find_chromium

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed (TONOPAH_CHROMIUM may name one)")

FOLDER = os.environ.get("TONOPAH_REPORTS")
REPORTS = sorted(Path(FOLDER).glob("*/report.html")) if FOLDER else [None]
"""Every report in the folder that TONOPAH_REPORTS names, such as results after `tonopah study run all --quick`."""
LINE = "line--network-flows--goodput_bps"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    from conftest import STUDY, toml

    folder = tmp_path_factory.mktemp("browser")
    claims = [STUDY["claim"][0] | {"mechanism": "More sources offer more."}, STUDY["claim"][1]]
    figures = [*STUDY["figure"], {"kind": "series", "y": ["cwnd"], "flow": "all"}]
    (folder / "small.toml").write_text(toml(STUDY | {"replicates": 5, "claim": claims, "figure": figures}))
    study = tp.Study.load(folder / "small.toml")
    study.run(quiet=True, out=folder / "results" / "small")
    return study.report(quiet=True)


@pytest.fixture(scope="module")
def browser():
    with Browser(PROGRAM) as opened:
        yield opened


@pytest.fixture
def page(browser, report):
    """The report, wide and light, with everything unfolded and drawn; no message may remain."""
    browser.messages.clear()
    browser.requests.clear()
    browser.open(report)
    unfold(browser)
    yield browser
    assert browser.messages == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in browser.requests)


def unfold(browser):
    browser.js("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    # Figures are drawn when they come into view.
    browser.js("document.querySelectorAll('.chart').forEach((one) => drawn.has(one) || draw(one))")
    browser.until("[...document.querySelectorAll('.chart .plot')].every((one) => one.childElementCount > 0)")


def panel(figure):
    return f"document.getElementById({json.dumps(figure)})"


def button(inside, text):
    return f"[...{inside}.querySelectorAll('button')].find((one) => one.textContent.includes({json.dumps(text)}))"


def marker(figure, series, index):
    """The index-th marker of a series in a panel."""
    return f"[...{panel(figure)}.querySelectorAll('.plot svg g[aria-label=dot]')][{series}].children[{index}]"


def lines(browser, figure):
    return browser.js(f"{panel(figure)}.querySelectorAll('.plot svg g[aria-label=line] path').length")


def test_every_figure_is_drawn_and_the_first_screen_answers(page):
    kinds = set(page.js("Object.values(FIGURES).map((one) => one.kind)"))
    assert kinds == {"line", "difference", "bar", "scatter", "ecdf", "heatmap", "series"}
    assert page.js("document.querySelectorAll('.plot svg').length") > 5
    assert page.js("document.querySelectorAll('.plot canvas').length") >= 4
    assert page.js("document.querySelector('.answer').getBoundingClientRect().bottom") < 900
    assert page.js("document.querySelector('.answer .plot svg') !== null")
    assert page.js("document.body.innerText.split('Does the number of flows matter?').length - 1") == 1
    assert "More sources offer more." in page.js("document.querySelector('.claim').innerText")


def test_a_point_without_an_interval_breaks_the_band(page):
    one, values = f"FIGURES[{json.dumps(LINE)}].series[1]", "[...{}].map((path) => path.getAttribute('d').split('M').length - 1)"
    pieces = values.format(f"{panel(LINE)}.querySelectorAll('.plot svg g[aria-label=area] path')")
    whole, kept = page.js(pieces), page.js(f"({{ low: {one}.low, high: {one}.high }})")
    page.js(f"{one}.low = {one}.low.map((value, i) => (i === 1 ? null : value)); draw({panel(LINE)})")
    assert page.js(pieces)[1] == whole[1] + 1
    page.js(f"{one}.low = {json.dumps(kept['low'])}; draw({panel(LINE)})")
    assert page.js(pieces) == whole


def test_hovering_shows_value_interval_and_replicates(page):
    page.hover(*page.centre(marker(LINE, 1, 2)))
    tip = f"[...{panel(LINE)}.querySelectorAll('.plot svg g[aria-label=tip]')].map((one) => one.textContent).join('')"
    page.until(f"{tip}.includes('n = 5')")
    text = page.js(tip)
    value = page.js(f"FIGURES[{json.dumps(LINE)}].series[1]")
    assert "cubic" in text and "Flows: 6" in text and "Mb/s" in text
    shown = {key: page.js(f"show({value[key][2]})") for key in ("y", "low", "high")}
    assert f"{shown['y']} [{shown['low']}, {shown['high']}] Mb/s" in text


def test_algorithms_are_switched_off_everywhere_and_on_again(page):
    assert lines(page, LINE) == 2
    page.click(button(f"{panel(LINE)}.closest('.group')", "cubic"))
    assert lines(page, LINE) == 1
    pressed = "[...document.querySelectorAll('button.algorithm[data-label=cubic]')].map((one) => one.ariaPressed)"
    assert set(page.js(pressed)) == {"false"}
    bars = "document.getElementById('bar--goodput_bps').querySelectorAll('g[aria-label=bar] rect').length"
    assert page.js(bars) == 1
    page.click(button(f"{panel(LINE)}.closest('.group')", "cubic"))
    assert lines(page, LINE) == 2 and page.js(bars) == 2


OUTSIDE = """[...document.querySelectorAll('.plot > svg')].flatMap((svg) => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('circle, path, rect, text, line')].map((one) => [one, one.getBoundingClientRect()]).filter(
        ([, mine]) => mine.width + mine.height > 0 && (mine.left < box.left - 2 || mine.right > box.right + 2
            || mine.top < box.top - 2 || mine.bottom > box.bottom + 2)
    ).map(([one]) => svg.ariaLabel + ': ' + one.outerHTML.slice(0, 120));
})"""


def test_nothing_is_drawn_outside_its_panel(page):
    assert page.js(OUTSIDE) == []
    # Replicates far from their mean, and a long label: what is drawn makes room for them.
    page.js(f"FIGURES[{json.dumps(LINE)}].series[0].points = {{ x: [2, 4], y: [0.01, 1000] }}")
    page.js("FIGURES['bar--goodput_bps'].series[1].label = 'hystart_report hystart_ack_delta=2 curr_rtt_bug=True'")
    for figure in (LINE, "bar--goodput_bps"):
        page.js(f"draw({panel(figure)})")
    assert page.js(OUTSIDE) == []
    assert page.js(f"{panel(LINE)}.querySelectorAll('.plot svg g[aria-label=dot] circle').length") >= 2


def test_a_switch_shows_the_difference_to_the_baseline(page):
    group = f"{panel(LINE)}.closest('.group')"
    assert page.js(f"{panel(LINE)}.querySelector('.name').textContent") == "Goodput (Mb/s)"
    page.click(button(group, "difference to the baseline"))
    assert page.js(f"{panel(LINE)}.querySelector('.name').textContent") == "Goodput: difference to newreno (%)"
    assert lines(page, LINE) == 1
    page.click(button(group, "difference to the baseline"))
    assert lines(page, LINE) == 2


def test_panels_of_a_metric_get_one_scale(page):
    other = "line--traffic-app-rate--goodput_bps"

    def ticks(figure):
        return page.js(
            f"[...{panel(figure)}.querySelectorAll('g[aria-label=\"y-axis tick label\"] text')].map((t) => t.textContent)"
        )

    assert ticks(LINE) != ticks(other)
    page.click(button(f"{panel(LINE)}.closest('.group')", "one scale"))
    assert ticks(LINE) == ticks(other)
    page.click(button(f"{panel(LINE)}.closest('.group')", "one scale"))
    assert ticks(LINE) != ticks(other)


def test_a_series_is_zoomed_by_dragging_and_shows_values(page):
    over = f"{panel('series--cwnd')}.querySelector('.u-over')"
    x, y = page.centre(over)
    length = f"(() => {{ const s = drawn.get({panel('series--cwnd')}).scales.x; return s.max - s.min; }})()"
    whole = page.js(length)
    page.hover(x, y)
    page.until(f"{panel('series--cwnd')}.querySelector('.u-legend').textContent.includes('kB')")
    page.drag(x - 80, y, x + 80)
    page.until(f"{length} < {whole} / 2")
    page.click(button(f"{panel('series--cwnd')}.closest('.group')", "whole length"))
    page.until(f"Math.abs({length} - {whole}) < 1e-9")


def test_all_flows_of_a_run_are_in_one_panel(page):
    found = page.js("Object.values(FIGURES).filter((one) => one.kind === 'series' && one.series.every((s) => s.flow !== null))")
    panels = [one for one in found if "of the flows" in one["title"]]
    assert len(panels) == 2
    shown = page.js(f"{panel(panels[0]['id'])}.querySelectorAll('.u-legend .u-series').length")
    assert shown == 1 + len(panels[0]["series"]) == 3


def test_tables_are_sorted_by_a_click_on_a_heading(page):
    table = "[...document.querySelectorAll('.numbers table')].find((one) => one.tHead.textContent.includes('Delay'))"
    column = page.js(f"[...{table}.tHead.rows[0].cells].findIndex((one) => one.textContent.includes('Delay'))")
    cells = f"[...{table}.tBodies[0].rows].map((row) => sortKey(row.cells[{column}])[1])"
    before = page.js(cells)
    for expected in (sorted(before), sorted(before, reverse=True)):
        page.click(f"{table}.tHead.rows[0].cells[{column}].querySelector('button')")
        assert page.js(cells) == expected
    assert page.js(f"{table}.tHead.rows[0].cells[{column}].ariaSort") == "descending"


def test_links_lead_to_something_and_open_what_is_folded(browser, report):
    browser.open(report)
    targets = browser.js("[...document.querySelectorAll('a[href^=\"#\"]')].map((one) => one.hash.slice(1))")
    ids = browser.js("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    assert len(targets) > 10 and set(targets) <= set(ids)
    group = browser.js("[...document.querySelectorAll('details.group:not(.plain)')].filter((one) => !one.open)[0].id")
    browser.click(f"document.querySelector('nav a[href=\"#{group}\"]')")
    browser.until(f"document.getElementById({json.dumps(group)}).open")
    browser.until(f"[...document.getElementById({json.dumps(group)}).querySelectorAll('.plot')].some((p) => p.childElementCount)")


def test_downloads_come_from_the_page_itself(page):
    text = page.js(f"csvOf(FIGURES[{json.dumps(LINE)}])")
    rows = [line.split(",") for line in text.strip().split("\r\n")]
    assert rows[0] == ["series", "network.flows", "goodput_bps", "low", "high", "n"]
    assert len(rows) == 1 + 2 * 3 and rows[1][0] == "newreno" and rows[1][1] == "2" and rows[1][5] == "5"
    assert page.js("csvCell('=1+1')") == "'=1+1" and page.js("csvCell(-1.5)") == "-1.5"
    page.js("window.taken = []; download = (name, text) => taken.push(name)")
    page.click(f"{panel(LINE)}.querySelector('button.csv')")
    assert page.js("taken") == [f"{LINE}.csv"]


def test_the_page_holds_the_series_that_were_recorded(page, report):
    import pandas as pd

    recorded = pd.read_csv(report.parent / "figures" / "series--cwnd.csv")
    mine = recorded[recorded.iloc[:, 0] == "cubic"]
    shown = page.js("samplesOf(FIGURES['series--cwnd'].series.find((one) => one.label === 'cubic'))")
    # Equal neighbours are left out: a value holds until the next sample.
    kept = dict(zip(shown["x"], shown["y"], strict=True))
    last = None
    for _, time, value in mine.itertuples(index=False):
        last = next((v for t, v in kept.items() if abs(t - time) < 1e-9), last)
        assert last == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (1400, "dark"), (500, "light"), (500, "dark")])
def test_the_page_fits_its_window_in_both_schemes(browser, report, width, scheme):
    browser.messages.clear()
    browser.open(report, width, features={"prefers-color-scheme": scheme})
    unfold(browser)
    assert browser.js("document.documentElement.scrollWidth") <= width
    outside = "[...document.querySelectorAll('.plot svg')].filter((s) => s.getBoundingClientRect().right > innerWidth + 1).length"
    assert browser.js(outside) == 0
    dark = browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(22, 25, 29)"
    assert dark == (scheme == "dark")
    stroke = browser.js(f"getComputedStyle({panel(LINE)}.querySelector('g[aria-label=line]')).stroke")
    assert stroke == ("rgb(75, 163, 220)" if dark else "rgb(0, 114, 178)")
    assert browser.messages == []


def test_print_shows_what_is_unfolded_on_white(browser, report):
    browser.messages.clear()
    browser.open(report, features={"prefers-color-scheme": "dark"})
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.js("getComputedStyle(document.querySelector('nav')).display") == "none"
    # The switches of algorithms are the legend; all other tools are gone.
    shown = browser.js(
        "[...document.querySelectorAll('.tools > *')].filter((one) => one.checkVisibility()).map((one) => one.innerText)"
    )
    assert {text.strip() for text in shown} == {"newreno", "cubic"}
    browser.until(f"{panel(LINE)}.querySelector('svg') !== null")
    assert browser.js(f"getComputedStyle({panel(LINE)}.querySelector('g[aria-label=line]')).stroke") == "rgb(0, 114, 178)"
    assert len(browser.call("Page.printToPDF")["data"]) > 50_000
    assert browser.messages == []


@pytest.fixture(scope="module", params=REPORTS, ids=lambda path: path.parent.name if path else "beside-cubic")
def shipped_report(request, tmp_path_factory):
    """A report of a shipped study: one of the folder of reports, or that of a study of a few seconds at its quick size."""
    if request.param:
        return request.param
    study = tp.Study.load("beside-cubic")
    study.run(quiet=True, quick=True, out=tmp_path_factory.mktemp("shipped") / "beside-cubic")
    return study.report(quiet=True)


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (500, "dark")])
def test_a_shipped_study_is_drawn_fits_its_window_and_prints(browser, shipped_report, width, scheme):
    browser.messages.clear()
    browser.open(shipped_report, width, features={"prefers-color-scheme": scheme})
    unfold(browser)
    assert browser.js("document.documentElement.scrollWidth") <= width
    outside = "[...document.querySelectorAll('.plot svg')].filter((s) => s.getBoundingClientRect().right > innerWidth + 1).length"
    assert browser.js(outside) == 0
    targets = browser.js("[...document.querySelectorAll('a[href^=\"#\"]')].map((one) => one.hash.slice(1))")
    assert set(targets) <= set(browser.js("[...document.querySelectorAll('[id]')].map((one) => one.id)"))
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": scheme}])
    assert browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(browser.call("Page.printToPDF")["data"]) > 50_000
    assert browser.messages == []


@pytest.fixture(scope="module")
def scoreboard(tmp_path_factory):
    """The report of an evaluation of two criteria, one of which no measurement answers."""
    evaluation = begin("bbr", criteria=["C11", "C20"], replicates=2, out=tmp_path_factory.mktemp("evaluation"))
    evaluation.command = "tonopah evaluate bbr --criteria " + ",".join(f"C{number}" for number in range(1, 28))
    evaluation.carry_out(ExecutionOptions(), quiet=True)
    measured = evaluation.measured()
    return write_evaluation(evaluation, measured, evaluation.rows(measured))


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (500, "dark")])
def test_a_scoreboard_fits_its_window_and_names_its_lines(browser, scoreboard, width, scheme):
    browser.messages.clear()
    browser.open(scoreboard, width, features={"prefers-color-scheme": scheme})
    unfold(browser)
    assert browser.js("document.documentElement.scrollWidth") <= width
    rows = browser.js("[...document.querySelectorAll('#scoreboard tbody tr')].map((row) => row.innerText)")
    assert [word in row for word, row in zip(("author states", "like CUBIC"), rows, strict=True)] == [True, True]
    assert "constrained nodes (E21)" in rows[1]
    assert "µJ at E21, 802.15.4 (against CUBIC)" in rows[1]
    assert browser.js("[...document.querySelectorAll('#C20 .tools button')].map((one) => one.innerText)")[:3] == [
        "BBRv1",
        "CUBIC",
        "Reno",
    ]
    assert browser.messages == []


def test_a_matrix_draws_its_cells_and_names_its_algorithms(browser, tmp_path_factory):
    matrix = begin_matrix(
        ["cubic", "vegas"], (1.0,), (("40ms", "40ms"),), replicates=1, quick=True, out=tmp_path_factory.mktemp("matrix")
    )
    matrix.carry_out(ExecutionOptions(), quiet=True)
    browser.messages.clear()
    browser.open(matrix.write(matrix.cells(), "share"), 900)
    unfold(browser)
    heat, scatter = browser.js("[...document.querySelectorAll('.plot')].map((one) => one.innerHTML)")
    assert heat.count("<rect ") == 4
    assert [name in heat and name in scatter for name in ("CUBIC", "vegas")] == [True, True]
    assert browser.js("document.documentElement.scrollWidth") <= 900
    assert browser.messages == []


def test_without_script_tables_show_and_a_note_says_why(browser, report):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.call("Page.navigate", url=report.resolve().as_uri())
        # The protocol's own scripts still run.
        browser.until("document.readyState === 'complete' && document.querySelector('noscript') !== null")
        assert "switched off" in browser.js("document.querySelector('noscript').textContent")
        assert browser.js("getComputedStyle(document.querySelector('.plot')).display") == "none"
        assert browser.js("document.querySelector('table.tests').getBoundingClientRect().height") > 20
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_the_index_leads_to_the_report(browser, report):
    browser.messages.clear()
    browser.open(write_index(report.parent.parent))
    assert "Does the number of flows matter?" in browser.js("document.body.innerText")
    browser.click("document.querySelector('h2 a')")
    browser.until("location.pathname.endsWith('/small/report.html') && document.readyState === 'complete'")
    assert browser.messages == []
