"""What stays behind a run, the moment that moves, and many lines in few pixels, in Chromium."""

import tonopah
from tonopah.lab.session import recorded
from tonopah.scenario.document import to_toml
from tonopah_dev.browser.measure import TEN_FLOWS

RATE = "input[data-path='network.bottleneck.rate']"
TOML = """duration = "2s"
network = { kind = "dumbbell", pairs = 1, flows = 1, bottleneck = { rate = "4Mbps", delay = "10ms", queue = "20p" } }
"""
GHOST = "document.querySelector('#ghost')?.dataset.run ?? null"
PICTURE = "document.querySelector(\"figure.series[data-series~='cwnd'] canvas\").toDataURL()"
TIME = "Number(document.querySelector('#moment').value)"


def write(page, toml):
    page.mark()
    page.set("#toml", toml)
    page.changed()


def turn(page, at):
    """Move the slider of the rate, as a change of its own."""
    page.js("new Promise((done) => setTimeout(done, 1100))")
    page.mark()
    page.set(RATE, str(at))
    page.changed()


def test_the_run_before_stays_pale_until_it_is_let_go_and_a_kept_one_stays(page):
    page.open("bench")
    page.shown()
    write(page, TOML)
    page.js("new Promise((done) => setTimeout(done, 1100))")
    first = page.js("document.querySelector('#run-state').dataset.run")
    turn(page, 0.7)
    assert page.js(GHOST) == first and "+" in page.js("document.querySelector('table.results .change').textContent")
    page.click("#keep")
    kept = page.js(GHOST)
    assert kept == page.js("document.querySelector('#run-state').dataset.run")
    turn(page, 0.3)
    assert page.js(GHOST) == kept
    with_ghost = page.js(PICTURE)
    assert page.complaints() == []
    page.click("#let-go")
    page.until(f"{GHOST} === null")
    page.until(f"{PICTURE} !== {with_ghost!r}")
    assert page.js("document.querySelector('table.results .change') === null")
    # Another preset is another world: nothing of it stays behind.
    turn(page, 0.5)
    page.until(f"{GHOST} !== null")
    page.js("new Promise((done) => setTimeout(done, 1100))")
    page.mark()
    page.set("#preset", "bloated-dsl", "change")
    page.changed()
    assert page.js(GHOST) is None


def press(page, key):
    page.js(f"document.querySelector('#moment').dispatchEvent(new KeyboardEvent('keydown', {{ key: {key!r}, bubbles: true }}))")


def test_time_is_played_stopped_and_stepped_through(page):
    page.open("bench")
    page.shown()
    write(page, TOML)
    page.set("#moment", "0.5")
    page.until(f"{TIME} === 0.5")
    page.click("#play")
    page.until(f"{TIME} > 0.6 && {TIME} < 2")
    press(page, " ")
    page.until("document.querySelector('#play').getAttribute('aria-pressed') === 'false'")
    # The cursor of the plots stands there too, once the page has drawn the last moment.
    cursor = "(({ plot }) => plot.posToVal(plot.cursor.left, 'x'))(document.querySelector('.plot'))"
    # Read at one moment: a frame may be drawn between two questions.
    page.until(f"Math.abs({cursor} - {TIME}) < 0.01")
    here = page.js(TIME)
    press(page, "ArrowRight")
    page.until(f"{TIME} > {here}")
    after, plots = page.js(TIME), "[...document.querySelectorAll('.plot')].map((e) => e.plot.data[0])"
    assert page.js(f"{plots}.some((times) => times.some((t) => Math.abs(t - {after}) < 1e-9))")
    assert not page.js(f"{plots}.some((times) => times.some((t) => t > {here} + 1e-9 && t < {after} - 1e-9))")
    press(page, "ArrowLeft")
    page.until(f"{TIME} <= {here}")
    page.set("#speed", "10", "change")
    page.click("#play")
    page.until("document.querySelector('#play').getAttribute('aria-pressed') === 'false'")
    assert page.js(TIME) == 2


def test_many_lines_in_few_pixels_keep_their_peaks(page):
    page.open("bench")
    page.shown()
    world = {**TEN_FLOWS, "duration": "40s"}
    write(page, to_toml(world))
    plot = "document.querySelector(\"figure.series[data-series~='cwnd'] .plot\").plot"
    assert page.js(f"{plot}.data[0].length") <= 2 * (page.js(f"{plot}.width * devicePixelRatio") + 2)
    series = tonopah.run(recorded(world)).series("cwnd")
    for flow in range(10):
        drawn = page.js(f"{plot}.data[{plot}.series.findIndex((one) => one.label === 'Congestion window, flow {flow}')]")
        own = series[series["flow"] == flow]["value"] * 1e-3
        values = [one for one in drawn if one is not None]
        assert abs(max(values) - own.max()) < 1e-3 and abs(values[-1] - own.iloc[-1]) < 1e-3


def test_the_window_that_linux_had_stands_behind_a_run_of_a_recorded_world(page):
    page.open("bench")
    page.shown()
    names = page.js("[...document.querySelectorAll('#recording option')].map((one) => one.value)")
    assert "6.1/cubic-10mbit-40ms-1bdp" in names and len(names) > 100
    page.js(
        "(() => { const chosen = document.querySelector('#recording'); chosen.value = '6.1/cubic-10mbit-40ms-1bdp'; "
        "chosen.dispatchEvent(new Event('change')); })()"
    )
    page.until("document.querySelector('#recorded')?.textContent.includes('cubic, Linux 6.1')")
    page.shown()
    page.until("!document.querySelector('.shown.stale')")
    assert page.js("document.querySelector('#recording').value") == "6.1/cubic-10mbit-40ms-1bdp" and page.complaints() == []
    # It is of this world: any other has none, whatever is recorded of it.
    page.set("#seed", "2")
    page.until("document.querySelector('#run-state').dataset.phase === 'done'")
    assert "Linux 6.1" in page.text("#recorded")
    page.js(
        "(() => { const toml = document.querySelector('#toml'); toml.value = toml.value.replace('10Mbps', '11Mbps'); "
        "toml.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )
    page.until("!document.querySelector('#recorded')")
    assert page.js("document.querySelector('#recording').value") == ""


ENDS = [("begin", "up"), ("up", "end"), ("begin", "down"), ("down", "end")]
SQUARE = {
    "duration": "1s",
    "network": {"kind": "graph"},
    "node": [{"name": name} for name in ("end", "up", "down", "begin")],
    "link": [{"from": start, "to": end, "rate": "10Mbps", "delay": "1ms", "queue": "9p"} for start, end in ENDS],
    "flow": [{"from": "begin", "to": "end"}],
}


def test_a_network_without_places_stands_in_columns_by_hops_from_its_first_sender(page):
    page.open("bench")
    page.shown()
    page.set("#toml", to_toml(SQUARE))
    drawn = "[...document.querySelectorAll('figure.network text')]"
    page.until(f"{drawn}.some((one) => one.textContent === 'begin')")
    at = page.js(
        f"Object.fromEntries({drawn}.map((one) => [one.textContent, ['x', 'y'].map((axis) => Number(one.getAttribute(axis)))]))"
    )
    assert at["begin"][0] < at["up"][0] == at["down"][0] < at["end"][0]
    assert at["up"][1] < at["begin"][1] == at["end"][1] < at["down"][1]
    assert page.complaints() == []
