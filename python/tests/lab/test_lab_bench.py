"""The bench in Chromium: sliders, TOML and form, plots, mistakes."""

import numpy as np
import pandas as pd
import pytest

from tonopah.cli.main import main
from tonopah.lab import presets

from .conftest import Page

TOML = """duration = "2s"

[network]
kind = "dumbbell"
pairs = 2
flows = 2
bottleneck = { rate = "4Mbps", delay = "10ms", queue = "20p" }

[tcp]
cc = "cubic"

[record]
series = ["cwnd", "ssthresh", "rtt", "queue", "goodput", "state", "drops"]
every = "10ms"
"""
DRAWN = "[...document.querySelectorAll('figure.series .plot')].map((e) => e.plot).filter(Boolean)"


@pytest.fixture
def bench(page):
    """The bench with a scenario of two seconds."""
    page.open("bench")
    page.shown()
    run_toml(page, TOML)
    return page


def run_toml(page, toml):
    """Write TOML and wait for its run."""
    page.mark()
    page.set("#toml", toml)
    page.changed()


def test_a_slider_changes_the_plots(bench):
    before = bench.js("document.querySelector('table.results').textContent")
    bench.mark()
    bench.set("input[data-path='network.bottleneck.rate']", "0.7")
    bench.changed()
    assert bench.js("document.querySelector('table.results').textContent") != before
    bench.until("document.querySelector('#toml').value.includes('rate = \"12.1Mbps\"')")
    assert bench.complaints() == []


def test_what_the_page_draws_is_what_the_command_writes(bench, tmp_path):
    (tmp_path / "scenario.toml").write_text(TOML)
    assert main(["run", str(tmp_path / "scenario.toml"), "--series", str(tmp_path / "out")]) == 0
    panels = {
        "cwnd": ("Congestion window", 1e-3),
        "ssthresh": ("Slow-start threshold", 1e-3),
        "rtt": (None, 1e3),
        "goodput": (None, 1e-6),
    }
    for name, (label, factor) in panels.items():
        table = pd.read_csv(tmp_path / "out" / f"{name}.csv")
        for flow, rows in table.groupby("flow"):
            wanted = f"{label}, flow {flow}" if label else f"flow {flow}"
            drawn = bench.js(
                f"(() => {{ const plot = document.querySelector(\"figure.series[data-series~='{name}'] .plot\").plot; "
                f"const i = plot.series.findIndex((one) => one.label === {wanted!r}); "
                "return Array.from(plot.data[0]).map((t, k) => [t, plot.data[i][k]]).filter(([, v]) => v !== undefined); })()"
            )
            t, v = (np.array(column, dtype=float) for column in zip(*drawn, strict=True))
            assert np.allclose(t, rows["t_s"], atol=1e-6), name
            assert np.allclose(v, rows["value"].to_numpy() * factor, rtol=1e-6, equal_nan=True), name
    queue = pd.read_csv(tmp_path / "out" / "queue.csv").query("link == 0")["value"] * 1e-3
    drawn = bench.js(
        "document.querySelector(\"figure.series[data-series~='queue'] .plot\").plot.data[1].filter((v) => v !== undefined)"
    )
    assert np.allclose(drawn, queue, rtol=1e-6)


def test_a_wrong_value_is_told_at_its_field_in_the_words_of_the_engine(bench):
    bench.js("document.querySelector('#form').open = true")
    bench.set("#toml", TOML.replace('"4Mbps"', '"fast"'))
    field = "document.getElementById('field-network.bottleneck.rate')"
    bench.until(f"{field}?.getAttribute('aria-invalid') === 'true'")
    told = bench.js("document.getElementById('field-network.bottleneck.rate-mistake').textContent")
    assert "fast" in told and "Mbps" in told
    assert bench.text("#toml-mistake").startswith("network.bottleneck.rate: ")
    # What it means and how it is written stands below the field that has the focus, also from the keyboard.
    help_of = "document.getElementById('field-network.bottleneck.rate-help')"
    bench.js(f"{field}.focus()")
    shown = bench.js(f"{help_of}.checkVisibility() && {help_of}.textContent")
    assert shown.endswith("It is a rate with unit Gbps, Mbps, kbps or bps.")
    assert bench.js(f"{field}.getAttribute('aria-describedby')").split() == [
        "field-network.bottleneck.rate-help", "field-network.bottleneck.rate-mistake"
    ]  # fmt: skip
    # Mended in the form, it runs again and the TOML has it.
    bench.mark()
    bench.js(f"{field}.value = '3Mbps'; {field}.dispatchEvent(new Event('change', {{ bubbles: true }}))")
    bench.changed()
    bench.until("document.querySelector('#toml').value.includes('3Mbps')")
    assert bench.text("#toml-mistake") == ""


def test_what_a_scenario_seldom_means_is_told_beside_its_run(bench):
    assert bench.js("document.querySelectorAll('.warning').length") == 0
    run_toml(bench, TOML.replace('"20p"', '{ kind = "cake", rate = "20Mbps" }'))
    labels = bench.js("[...document.querySelectorAll('.slider label')].map((one) => one.textContent)")
    assert {"bottleneck rate", "queue rate", "delay"} <= set(labels)
    assert bench.text(".warning").startswith(
        "Warning: network.bottleneck.queue.rate: 20Mbps is above the rate of the link (4Mbps)"
    )
    run_toml(bench, TOML)
    assert bench.js("document.querySelectorAll('.warning').length") == 0


def test_what_is_no_toml_is_told_below_it(bench):
    bench.set("#toml", TOML.replace('"2s"', "2s"))
    bench.until("document.querySelector('#toml-mistake').textContent.includes('TOML')")
    assert "quotes" in bench.text("#toml-mistake")


def test_a_key_is_added_and_removed_in_the_form(bench):
    bench.js("document.querySelector('#form').open = true")
    bench.mark()
    adder = "document.querySelector(\"[aria-label='add a key to tcp']\")"
    bench.js(f"{adder}.value = 'mss'; {adder}.dispatchEvent(new Event('change', {{ bubbles: true }}))")
    bench.until("document.querySelector('#toml').value.includes('mss')")
    bench.js("document.querySelector(\"[aria-label='remove tcp.mss']\").click()")
    bench.until("!document.querySelector('#toml').value.includes('mss')")


def test_dragging_zooms_all_plots_and_a_double_click_goes_back(bench):
    x, y, width, height = bench.browser.box("document.querySelector('.u-over')")
    bench.browser.drag(x + 0.25 * width, y + height / 2, x + 0.5 * width)
    scales = f"{DRAWN}.map((plot) => [plot.scales.x.min, plot.scales.x.max].map((v) => Math.round(v * 10)).join())"
    bench.until(f"new Set({scales}).size === 1 && {scales}[0] === '5,10'")
    bench.js("document.querySelector('.u-over').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))")
    bench.until(f"new Set({scales}).size === 1 && {scales}[0] === '0,20'")


def test_a_reload_shows_the_shared_scenario(bench):
    bench.mark()
    bench.set("input[data-path='network.bottleneck.delay']", "0.8")
    bench.changed()
    bench.until("document.querySelector('#toml').value.includes('[network.bottleneck]')")
    wanted = bench.js("document.querySelector('#toml').value")
    bench.js("document.querySelector('.share').open = true")
    bench.click("#share")
    bench.until("location.hash.length > 40")
    bench.js("window.old = true; setTimeout(() => location.reload()); 1")
    bench.until("!window.old && document.readyState === 'complete' && document.querySelector('#toml')?.value")
    bench.shown()
    assert bench.js("document.querySelector('#toml').value") == wanted


def test_a_reload_takes_the_run_up_again(browser, serve):
    bench = Page(browser, serve())
    bench.open("bench")
    bench.shown()
    run_toml(bench, TOML)
    # The differences to the run before are not kept.
    numbers = "[...document.querySelectorAll('table.results td')].map((cell) => cell.firstChild.textContent)"
    facts = f"[document.querySelector('#run-state').dataset.run, ...{numbers}]"
    before = bench.js(facts)
    bench.js("window.old = true; setTimeout(() => location.reload()); 1")
    bench.until("!window.old && document.readyState === 'complete'")
    bench.shown()
    assert bench.js(facts) == before
    bench.until("document.querySelector('#toml').value.includes('4Mbps')")
    # Forgotten by the server, it is run again; what is opened anew begins anew.
    bench.served.lab.runs.sessions.clear()
    bench.js("window.old = true; setTimeout(() => location.reload()); 1")
    bench.until("!window.old && document.readyState === 'complete'")
    bench.shown()
    again = bench.js(facts)
    assert again[0] != before[0] and again[1] == before[1]
    bench.open("bench")
    bench.shown()
    assert "10Mbps" in bench.js("document.querySelector('#toml').value")
    assert bench.complaints() == []


def test_listed_flows_have_sliders_of_their_starts(page):
    page.open("bench")
    page.shown()
    page.mark()
    page.set("#preset", "two-rtts", "change")
    page.changed()
    page.mark()
    page.set("input[data-path='flow[1].start']", "0.5")
    page.changed()
    page.until("document.querySelector('#toml').value.includes('start = ')")
    assert page.text("label[title='flow[1].start'] ~ output") == "30s"


@pytest.mark.parametrize("preset", [one["name"] for one in presets.load()])
def test_each_preset_runs(page, preset):
    if page.js("location.hash") != "#bench":
        page.open("bench")
        page.shown()
    page.mark()
    page.set("#preset", preset, "change")
    page.changed()
    assert page.js("document.querySelector('#preset').value") == preset
    assert page.js("document.querySelector('#run-state').dataset.phase") == "done"
    assert page.js(f"{DRAWN}.some((plot) => plot.data[0].length > 10)")
    assert page.text("#toml-mistake") == "" and page.text("#run-error") == ""


@pytest.mark.parametrize("width", [390, 800, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_and_can_be_used_by_everybody(page, width, dark):
    page.open("bench", width, dark=dark)
    page.shown()
    page.js("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.js("document.documentElement.scrollWidth") <= width
    assert page.complaints() == []
